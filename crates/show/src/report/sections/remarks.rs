//! Annotations of a benchmark on its page.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;

use crate::sample::metric_title;
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::Id;
use lapwing_model::text::{counted, plural};
use lapwing_record::{Change, InstanceData, NameHistory, Remark, Retired, Retirement, TriageState};

/// Annotations, and the number of instances that they exclude.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportRemarks {
    /// All annotations, and which of them hold.
    pub all: Vec<Remark>,
    /// The number of retired instances that are not in the report.
    pub retired: u64,
    /// Whether retired instances are in the report.
    pub shown: Retired,
}

/// Returns the runs of which nothing counts any more by a metric.
pub(in crate::report) fn retired_runs(
    remarks: &ReportRemarks,
    data: &BenchmarkData,
    metric: &str,
) -> BTreeSet<Id> {
    let retirements = retirements(remarks, data);
    let of_metric = retirements.all.iter().filter(|(_, it)| {
        let retired = it.metric.as_deref();
        retired.is_none_or(|it| it == metric)
    });
    if of_metric.clone().next().is_none() {
        return BTreeSet::new();
    }
    let covered = |it: &&InstanceData| of_metric.clone().any(|one| retirements.cover(*one, it));
    let mut runs: BTreeSet<Id> = data.instances.iter().map(|it| it.run.id).collect();
    for it in data.instances.iter().filter(|it| !covered(it)) {
        runs.remove(&it.run.id);
    }
    runs
}

/// Returns how many instances of a benchmark are in the report though they are retired as a whole.
pub(in crate::report) fn shown_retired(remarks: &ReportRemarks, data: &BenchmarkData) -> usize {
    let retirements = retirements(remarks, data);
    let covered = |it: &&InstanceData| {
        let mut whole = retirements
            .all
            .iter()
            .filter(|(_, one)| one.metric.is_none());
        whole.any(|one| retirements.cover(*one, it))
    };
    data.instances.iter().filter(covered).count()
}

/// The retirements of what is in the report all the same.
struct ShownRetirements<'a> {
    suite: &'a str,
    names: NameHistory,
    all: Vec<(&'a Remark, &'a Retirement)>,
}

impl ShownRetirements<'_> {
    fn cover(&self, (remark, retirement): (&Remark, &Retirement), it: &InstanceData) -> bool {
        let recorded = &it.instance.benchmark.id;
        remark.is_about(&self.names, self.suite, recorded) && retirement.covers(it)
    }
}

fn retirements<'a>(remarks: &'a ReportRemarks, data: &'a BenchmarkData) -> ShownRetirements<'a> {
    let about = match remarks.shown {
        Retired::LeaveOut => Vec::new(),
        Retired::Show => about(remarks, data),
    };
    let retire = |remark: &'a Remark| match remark.active() {
        Some(Change::Retire(retirement)) => Some((remark, retirement)),
        Some(
            Change::Rename { .. }
            | Change::RenameMetric { .. }
            | Change::Triage(_)
            | Change::Restore { .. }
            | Change::Withdraw { .. },
        )
        | None => None,
    };
    let all: Vec<_> = about.into_iter().filter_map(retire).collect();
    ShownRetirements {
        suite: &data.suite,
        names: if all.is_empty() {
            NameHistory::default()
        } else {
            NameHistory::of(&remarks.all)
        },
        all,
    }
}

/// Returns what holds of what was said about a benchmark, the latest first.
pub(in crate::report) fn remarks_part(remarks: &ReportRemarks, data: &BenchmarkData) -> Markup {
    let about = about(remarks, data);
    html! {
        @if !about.is_empty() {
            section #annotations aria-labelledby="annotations-title" {
                h2 #annotations-title { "Annotations" }
                ul.annotations {
                    @for remark in about {
                        @let it = &remark.annotation;
                        li {
                            (what(remark, remarks.shown))
                            @if let Some(reason) = &it.reason { ": " (reason) }
                            " " span.hint { (it.by) ", " time { (it.at.strftime("%Y-%m-%d").to_string()) } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns how much of what was measured is not in the report, for the index.
pub(in crate::report) fn retired_sentence(remarks: &ReportRemarks, shown: usize) -> Markup {
    html! {
        @if shown > 0 {
            p.hint.retired {
                (counted(shown, "retired instance")) " " (plural(shown, "is", "are")) " in this report, because " code { "--where retired=yes" }
                " asked for it: marked as retired, pale and dotted in histories, and not compared with what counts. "
                code { "lapwing db annotations" } " says why."
            }
        }
        @if let Ok(number) = usize::try_from(remarks.retired) && number > 0 {
            p.hint.retired {
                (counted(number, "retired instance")) " " (plural(number, "is", "are")) " excluded: "
                code { "lapwing db annotations" } " says why, " code { "lapwing report --where retired=yes" } " shows what there is."
            }
        }
    }
}

fn about<'a>(remarks: &'a ReportRemarks, data: &BenchmarkData) -> Vec<&'a Remark> {
    // Nearly all stores have none.
    if remarks.all.is_empty() {
        return Vec::new();
    }
    let recorded = data.instances.iter().map(|it| &*it.instance.benchmark.id);
    let ids: BTreeSet<&str> = recorded.chain([&*data.benchmark.id]).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let all = remarks.all.iter().rev();
    all.filter(|remark| match (&remark.change, remark.undone_by) {
        (_, Some(_)) => false,
        (Some(change), None) => change.is_about(&data.suite, &ids),
        // This program does not act on it, but shows it.
        (None, None) => {
            let text = |key: &str| remark.annotation.target.get(key).and_then(Value::as_str);
            text("benchmark").is_some_and(|it| ids.contains(&it))
                && text("suite").is_none_or(|it| it == data.suite)
        }
    })
    .collect()
}

fn what(remark: &Remark, remarks_shown: Retired) -> Markup {
    html! {
        @match &remark.change {
            Some(Change::Rename { benchmark, new, .. }) => {
                strong { "Renamed" } " from " code { (benchmark) } " to " code { (new) }
            }
            Some(Change::RenameMetric { metric, new, .. }) => {
                strong { "Metric renamed" } " from " (metric_title(metric)) " to " (metric_title(new))
            }
            Some(Change::Retire(it)) => { (retired(it, remarks_shown)) }
            Some(Change::Triage(it)) => {
                strong { "Change " (it.state.name()) }
                @if let Some(metric) = &it.metric { " of " (metric_title(metric)) }
                @if let Some(version) = &it.version {
                    @if it.state == TriageState::Accepted { " until " } @else { " at " }
                    (version)
                }
                @if let Some(before) = &it.before { " before " (before.strftime("%Y-%m-%d %H:%M").to_string()) }
            }
            Some(Change::Restore { .. }) => { strong { "Restored" } }
            Some(Change::Withdraw { .. }) => { strong { "Withdrawn" } }
            None => { strong { (remark.annotation.action) } }
        }
    }
}

fn retired(it: &Retirement, shown: Retired) -> Markup {
    html! {
        strong { "Retired" } ": "
        @match &it.metric {
            Some(metric) => { (metric_title(metric)) " of what" },
            None => { "what" },
        }
        " was measured before " time { (it.before.strftime("%Y-%m-%d %H:%M").to_string()) }
        @if let Some(version) = &it.version { " of version " (version) }
        @match shown {
            Retired::LeaveOut => { " is excluded" },
            Retired::Show => { " is excluded from analysis, but shown here, marked, because of " code { "--where retired=yes" } },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_model::{Annotation, Benchmark, Id, Object};

    fn said(second: i64, action: &str, target: &Value, reason: &str) -> Annotation {
        Annotation {
            id: Id::derived(&[&second.to_le_bytes()]),
            at: jiff::Timestamp::from_second(second).expect("a time"),
            by: "Ada".to_owned(),
            action: action.to_owned(),
            target: target.as_object().cloned().unwrap_or_default(),
            reason: Some(reason.to_owned()),
            extra: Object::new(),
        }
    }

    #[test]
    fn what_holds_about_a_benchmark_is_told_latest_first() {
        let target = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        let retire = target(r#"{"benchmark": "b*", "before": "2026-03-01T00:00:00Z"}"#);
        let other = target(r#"{"benchmark": "other"}"#);
        let note = target(r#"{"benchmark": "b"}"#);
        let remarks = ReportRemarks {
            all: Remark::all(vec![
                said(1, "retire", &retire, "the data were <smaller>"),
                said(2, "retire", &other, "not this one"),
                said(3, "explain", &note, "a new compiler"),
            ]),
            retired: 2,
            shown: Retired::LeaveOut,
        };
        let data = BenchmarkData {
            suite: "s".to_owned(),
            benchmark: Benchmark {
                id: "b".to_owned(),
                ..Benchmark::default()
            },
            instances: Vec::new(),
        };
        let text = remarks_part(&remarks, &data).into_string();
        assert!(!text.contains("not this one"), "{text}");
        let explained = text.find("<strong>explain</strong>: a new compiler");
        let retired = text.find(
            "<strong>Retired</strong>: what was measured before <time>2026-03-01 00:00</time> is \
             excluded: the data were &lt;smaller&gt; <span class=\"hint\">Ada, <time>1970-01-01</time></span>",
        );
        assert!(explained.is_some() && explained < retired, "{text}");
        let left_out = retired_sentence(&remarks, 0).into_string();
        assert!(left_out.contains("2 retired instances are excluded"));
        let none = remarks_part(&ReportRemarks::default(), &data);
        assert_eq!(none.into_string(), "");
    }
}
