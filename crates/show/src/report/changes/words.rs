//! Changes in the words of the report.

use crate::FindingText;
use crate::MomentText;
use crate::explained_text;
use std::collections::BTreeSet;

use lapwing_stats::Interval;

use super::ChangesView;
use crate::quantity::{decimals, fixed, percent, quantity};
use crate::sample::metric_title;
use crate::{FIRST_METRIC, difference_text};
use lapwing_analyse::detect::{ChangeKind, ChangeSize, FAILURES, Finding, FindingGroup};
use lapwing_model::text::joined;
use lapwing_model::{Better, Metric};

/// From this ratio on a change is a factor and not a percentage.
const FACTOR: f64 = 2.0;

/// The words of the report for a change of a history.
pub(crate) trait FindingSentence {
    /// Returns `+14 %`, `−12 %`, `2.31×`, or a difference where there is no ratio.
    fn brief_text(&self) -> String;

    /// Returns `slower by 14 % [10, 19]`.
    fn sentence(&self) -> String;
}

impl FindingSentence for Finding {
    fn brief_text(&self) -> String {
        let size = &self.size;
        if self.subject.metric == FAILURES {
            return format!("fails {}", percent(size.after));
        }
        if !size.is_ratio {
            return difference_text(size.change, &self.metric.unit);
        }
        let Magnitude {
            text, is_factor, ..
        } = Magnitude::of(size.change, size.interval);
        match (is_factor, self.size.rises()) {
            (true, _) => text,
            (false, true) => format!("+{text}"),
            (false, false) => format!("−{text}"),
        }
    }

    fn sentence(&self) -> String {
        let size = &self.size;
        if self.subject.metric == FAILURES {
            let [before, after] = self.level_texts();
            return format!("fails in {after} of iterations instead of {before}");
        }
        let (word, text, interval) = size.words(&self.metric);
        let whole = format!("{word} by {text} {interval}");
        match self.rate_text() {
            Some(rate) => format!("{rate}, {whole} in all"),
            None => whole,
        }
    }
}

/// The words for the size of a change.
pub(crate) trait SizeWords {
    /// Returns `slower`, `14 %` and `[10, 19]`.
    fn words(&self, metric: &Metric) -> (&'static str, String, String);
}

impl SizeWords for ChangeSize {
    fn words(&self, metric: &Metric) -> (&'static str, String, String) {
        let is_time = metric.unit == "s" && metric.better == Some(Better::Lower);
        let none = if self.is_ratio { 1.0 } else { 0.0 };
        let rises = self.change > none;
        let word = match (is_time, rises) {
            (true, true) => "slower",
            (true, false) => "faster",
            (false, true) => "higher",
            (false, false) => "lower",
        };
        let Interval { lower, upper } = self.interval;
        if !self.is_ratio {
            let unit = &metric.unit;
            let [lower, upper] = if rises {
                [lower, upper]
            } else {
                [-upper, -lower]
            };
            let interval = format!("[{}, {}]", quantity(lower, unit), quantity(upper, unit));
            return (word, quantity(self.change.abs(), unit), interval);
        }
        let Magnitude { text, interval, .. } = Magnitude::of(self.change, self.interval);
        (word, text, interval)
    }
}

/// The size of a ratio: a percentage of the level before, or a factor.
struct Magnitude {
    text: String,
    interval: String,
    is_factor: bool,
}

impl Magnitude {
    fn of(ratio: f64, interval: Interval) -> Self {
        let Interval { lower, upper } = interval;
        if ratio >= FACTOR {
            return Self {
                text: format!("{}×", fixed(ratio, 2)),
                interval: format!("[{}, {}]", fixed(lower, 2), fixed(upper, 2)),
                is_factor: true,
            };
        }
        let [value, lower, upper] = if ratio > 1.0 {
            [ratio - 1.0, lower - 1.0, upper - 1.0]
        } else {
            [1.0 - ratio, 1.0 - upper, 1.0 - lower]
        };
        let width = upper - lower;
        let mut places = usize::from(width < 0.02) + usize::from(width < 0.002);
        if value > 0.0 && lower > 0.0 && fixed(100.0 * value, places) == fixed(0.0, places) {
            // A change that is certain is not one of 0 %.
            places = decimals(100.0 * value, 2);
        }
        let number = |share: f64| fixed(100.0 * share, places);
        Self {
            text: format!("{} %", number(value)),
            interval: format!("[{}, {}]", number(lower), number(upper)),
            is_factor: false,
        }
    }
}

/// Returns `new`, `until v61` of a change that was undone, or what people said about it:
/// `explained by Ada: another compiler`.
pub(super) fn state_text(view: &ChangesView, finding: &Finding) -> String {
    let back = finding
        .went_away
        .map(|back| format!("until {}", view.histories.moments[back].night_text()));
    let said = finding.triage.as_ref().map(|said| {
        let reason = said.reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        format!("{} by {}{reason}", said.state.name(), said.by)
    });
    let explained = finding.explained.as_ref().map(explained_text);
    let parts: Vec<String> = explained.into_iter().chain(back).chain(said).collect();
    if parts.is_empty() {
        "new".to_owned()
    } else {
        parts.join("; ")
    }
}

/// Returns the key of the state, to filter by.
pub(super) fn state_key(finding: &Finding) -> &'static str {
    match (&finding.triage, finding.went_away) {
        _ if finding.explained.is_some() => "explained",
        (Some(_), _) => "known",
        (None, Some(_)) => "undone",
        (None, None) => "new",
    }
}

/// Returns the version of a moment, and its date if that is known: `a1b2c3, 2026-09-14`.
pub(super) fn place_text(view: &ChangesView, moment: usize) -> String {
    let moment = &view.histories.moments[moment];
    joined([moment.label()].into_iter().chain(moment.date_text()))
}

/// Returns `since a1b2c3, 2026-09-14`, or for a drift that ended `from a1b2c3, 2026-06-14, to d4e5f6, 2026-09-14`.
pub(super) fn since_text(view: &ChangesView, finding: &Finding) -> String {
    let after = place_text(view, finding.first_after);
    match finding.kind {
        ChangeKind::Step | ChangeKind::Alarm => format!("since {after}"),
        ChangeKind::Drift => {
            let since = place_text(view, finding.since());
            let newest = view.histories.series[finding.series].points.last();
            if newest.is_none_or(|newest| newest.moment == finding.first_after) {
                format!("since {since}")
            } else {
                format!("from {since}, to {after}")
            }
        }
    }
}

/// Returns the moments of the versions that may have made the change, oldest first, one of each version.
pub(super) fn suspects(view: &ChangesView, group: &FindingGroup) -> Vec<usize> {
    let first = &view.detection.findings[group.findings[0]];
    let of_suite = view.histories.moments_of_suite(&first.subject.suite);
    let mut known = BTreeSet::new();
    let within = of_suite.range(group.range.clone()).copied();
    within
        .filter(|at| known.insert(view.histories.moments[*at].label()))
        .collect()
}

/// Returns what the open findings of a cause add to the wall time of a run of their benchmarks, in seconds; `None` if
/// none is about the wall time.
pub(super) fn cost(view: &ChangesView, group: &FindingGroup) -> Option<f64> {
    let mut of_time = group
        .findings
        .iter()
        .map(|at| &view.detection.findings[*at])
        .filter(|it| it.subject.metric == FIRST_METRIC && it.metric.unit == "s")
        .map(|it| it.size.after - it.size.before)
        .peekable();
    of_time.peek()?;
    Some(of_time.sum())
}

/// Returns `wall time`, or the metric with its setting: `wall time (fast)`.
pub(super) fn metric_text(finding: &Finding) -> String {
    let metric = metric_title(&finding.subject.metric);
    match finding.subject.setting.text() {
        Some(setting) => format!("{metric} ({setting})"),
        None => metric,
    }
}

/// Returns what is slower, where the sentence about it does not say it: `wall time `.
pub(super) fn subject_text(finding: &Finding) -> String {
    let is_about_failures = finding.subject.metric == FAILURES;
    match finding.subject.setting.text() {
        Some(setting) if is_about_failures => format!("({setting}) "),
        None if is_about_failures => String::new(),
        Some(_) | None => format!("{} ", metric_text(finding)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_analyse::detect::{ChangeSize, Direction, Evidence};
    use lapwing_analyse::sample::{Setting, Subject};
    use lapwing_model::Metric;

    fn finding(metric: &str, unit: &str, levels: [f64; 2], interval: [f64; 2]) -> Finding {
        let is_ratio = metric != FAILURES && levels[0] > 0.0;
        let metric_of = Metric::lower(unit);
        Finding {
            series: 0,
            subject: Subject {
                suite: "s".to_owned(),
                benchmark: "b".to_owned(),
                setting: Setting::default(),
                metric: metric.to_owned(),
            },
            kind: ChangeKind::Step,
            direction: Direction::of(&metric_of, levels[1] > levels[0]),
            metric: metric_of,
            last_before: 3,
            first_after: 4,
            range: 4..=4,
            good: 3,
            size: ChangeSize {
                before: levels[0],
                after: levels[1],
                change: if is_ratio {
                    levels[1] / levels[0]
                } else {
                    levels[1] - levels[0]
                },
                interval: Interval {
                    lower: interval[0],
                    upper: interval[1],
                },
                is_ratio,
            },
            rates: Vec::new(),
            explained: None,
            evidence: Evidence::Test {
                p_value: 0.0,
                p_adjusted: 0.0,
            },
            runs: [4, 4],
            went_away: None,
            environment: Vec::new(),
            triage: None,
            is_notified: false,
        }
    }

    #[test]
    fn a_change_is_said_as_people_say_it() {
        let said = |finding: &Finding| format!("{}; {}", finding.sentence(), finding.brief_text());
        let time = |after, interval| said(&finding("wall_time", "s", [2.0, after], interval));
        assert_eq!(time(2.28, [1.10, 1.19]), "slower by 14 % [10, 19]; +14 %");
        assert_eq!(time(1.72, [0.83, 0.90]), "faster by 14 % [10, 17]; −14 %");
        assert_eq!(
            time(2.02, [1.008, 1.012]),
            "slower by 1.0 % [0.8, 1.2]; +1.0 %"
        );
        assert_eq!(time(5.0, [2.4, 2.6]), "slower by 2.50× [2.40, 2.60]; 2.50×");
        assert_eq!(
            said(&finding("peak_memory", "B", [1e9, 1.5e9], [1.4, 1.6])),
            "higher by 50 % [40, 60]; +50 %"
        );
        assert_eq!(
            said(&finding("drops", "1", [0.0, 12.0], [10.0, 14.0])),
            "higher by 12.0 [10.0, 14.0]; +12.0"
        );
        assert_eq!(
            said(&finding(FAILURES, "1", [0.0, 0.4], [0.3, 0.5])),
            "fails in 40 % of iterations instead of 0 %; fails 40 %"
        );
    }
}
