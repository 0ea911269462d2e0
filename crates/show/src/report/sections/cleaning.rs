//! The page that says what was left out, step by step and by benchmark.

use std::collections::BTreeSet;

use lapwing_stats::as_f64;
use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;

use super::super::ReportSite;
use super::super::directory::DirectoryError;
use super::super::frame::{SitePage, url_part};
use super::super::headline::{Headline, News};
use super::super::index_parts::columns::{BenchmarkLink, columns};
use super::super::index_parts::listing::{
    Filters, ListingPage, MetricFilter, MetricRows, sorted, unsorted,
};
use crate::quantity::percent;
use crate::sample::{FIRST_METRIC, MetricSample, metric_title};
use lapwing_analyse::clean::{
    AuditStage, BenchmarkAudit, BurnInRule, BurnInSource, CleaningRules, FailureRule, Funnel,
    IterationState, LeftOut, Remaining, SteadyFrom,
};
use lapwing_model::JudgedFrom;
use lapwing_model::text::{counted, grouped, plural};

/// The values of a metric of a benchmark that count, and those that were left out.
#[derive(Debug, Clone, Serialize)]
pub(in crate::report) struct CleaningRow {
    #[serde(flatten)]
    benchmark: BenchmarkLink,
    #[serde(skip)]
    pub(in crate::report) metric: String,
    #[serde(skip)]
    pub(in crate::report) unit: String,
    /// The start of its steady state, and the source of this choice.
    start: String,
    recorded: usize,
    left: usize,
    instances: usize,
    left_out: String,
    /// The rules that left something out.
    rules: Vec<&'static str>,
    /// Why nothing of it is judged; empty when something is.
    reason: String,
    /// Whether most of its instances never become steady, judging by their values.
    never_steady: bool,
    #[serde(skip)]
    funnel: Funnel,
    #[serde(skip)]
    sum: LeftOut,
}

impl CleaningRow {
    pub(in crate::report) fn new(
        audit: BenchmarkAudit,
        sample: &MetricSample,
        benchmark: BenchmarkLink,
        never_steady: bool,
    ) -> Self {
        let stages: Vec<_> = audit.funnel.stages().collect();
        let first = stages.first().map(|(_, left)| *left).unwrap_or_default();
        let last = stages.last().map(|(_, left)| *left).unwrap_or_default();
        Self {
            benchmark,
            metric: sample.name.clone(),
            unit: sample.metric.unit.clone(),
            start: start_text(audit.policy.burn_in, audit.burn_in),
            recorded: first.iterations,
            left: last.iterations,
            instances: last.instances,
            left_out: audit.left_out.text(),
            rules: audit
                .left_out
                .reasons()
                .map(|(state, _)| state.key())
                .collect(),
            reason: audit.reason().unwrap_or_default(),
            never_steady,
            funnel: audit.funnel,
            sum: audit.left_out,
        }
    }
}

/// Returns who says where a benchmark is steady.
pub(in crate::report) fn source_text(source: BurnInSource) -> &'static str {
    match source {
        BurnInSource::Recorded => "as planned",
        BurnInSource::Given => "given for all",
        BurnInSource::Listed => "burn-in file",
        BurnInSource::NotListed => "not in the burn-in file",
        BurnInSource::Reviewed => "reviewed",
        BurnInSource::Found { .. } => "found from the values",
    }
}

/// Returns where a benchmark is taken to be steady: `from 5 on (detected from the values)`.
fn start_text(start: SteadyFrom, source: BurnInSource) -> String {
    let wanted = source.wanted();
    let mut source = source_text(source).to_owned();
    if let Some(wanted) = wanted {
        source.push_str(&format!("; wants {wanted}"));
    }
    match start {
        SteadyFrom::Recorded => "as planned".to_owned(),
        SteadyFrom::Index(0) => format!("from the first iteration on ({source})"),
        SteadyFrom::Index(first) => format!("from iteration {first} on ({source})"),
        SteadyFrom::Never => format!("never ({source})"),
        SteadyFrom::Unknown => source,
    }
}

fn burn_in_text(rule: &BurnInRule) -> String {
    let others = match rule.others {
        None => "The others are excluded.".to_owned(),
        Some(JudgedFrom::Recorded) => {
            "Burn-in is what was planned as burn-in; where the plan left it to the values, it is \
             detected from them."
                .to_owned()
        }
        Some(JudgedFrom::Auto) => {
            "Burn-in is detected from the values of each benchmark.".to_owned()
        }
        Some(JudgedFrom::Index(first)) => {
            format!("Burn-in is everything before iteration {first}.")
        }
    };
    let Some(starts) = &rule.listed else {
        return others;
    };
    let named = format!(
        "The burn-in of {} is as a file says.",
        counted(starts.len(), "benchmark")
    );
    match rule.others {
        Some(_) => format!("{named} Of the others: {others}"),
        None => format!("{named} {others}"),
    }
}

/// Returns what is left out by the rules, in a sentence each.
fn rules_text(rules: &CleaningRules) -> Vec<String> {
    let mut said = vec![burn_in_text(&rules.burn_in)];
    said.push(
        match rules.failures {
            FailureRule::Drop => {
                "Iterations that failed, timed out, were skipped or lost, or have no value do not count."
            }
            FailureRule::AsHail => {
                "As Hail's notebook does, of the failed iterations only those that timed out with a message are excluded."
            }
        }
        .to_owned(),
    );
    said.push(match rules.outliers {
        None => "No value is excluded for its size.".to_owned(),
        Some(rule) => format!(
            "Values {} times above or below the median of their instance do not count.",
            rule.factor
        ),
    });
    if rules.min_iterations > 1 {
        said.push(format!(
            "An instance needs {} that count.",
            counted(rules.min_iterations, "iteration")
        ));
    }
    if rules.min_instances > 1 {
        said.push(format!(
            "A benchmark needs {} that count.",
            counted(rules.min_instances, "instance")
        ));
    }
    said
}

/// The totals of the rows of one metric.
struct CleaningTotals {
    funnel: Funnel,
    left_out: LeftOut,
    not_judged: usize,
    never_steady: usize,
}

impl CleaningTotals {
    fn of(rows: &[CleaningRow]) -> Self {
        let mut totals = Self {
            funnel: Funnel::default(),
            left_out: LeftOut::default(),
            not_judged: rows.iter().filter(|it| !it.reason.is_empty()).count(),
            never_steady: rows.iter().filter(|it| it.never_steady).count(),
        };
        for row in rows {
            totals.funnel.add(&row.funnel);
            totals.left_out.add(&row.sum);
        }
        totals
    }

    fn left_at(&self, wanted: AuditStage) -> Remaining {
        let stage = self.funnel.stages().find(|(stage, _)| *stage == wanted);
        stage.map(|(_, left)| left).unwrap_or_default()
    }
}

/// Writes the page and its side files.
pub(in crate::report) fn write(
    site: &ReportSite,
    metrics: &MetricRows<CleaningRow>,
) -> Result<(), DirectoryError> {
    let reasons = metrics.rows().flat_map(|row| row.sum.reasons());
    let used: BTreeSet<IterationState> = reasons.map(|(state, _)| state).collect();
    let states = [
        ("out", "not analysed"),
        ("never", "hardly or never steady"),
        ("some", "exclusions besides burn-in"),
    ];
    let page = ListingPage {
        page: SitePage::Cleaning,
        headline: if metrics.is_empty() {
            Headline::new(
                News::Nothing,
                html! { "Nothing was recorded, so nothing was excluded" },
            )
        } else {
            metrics.headline(|name, rows| headline(name, &CleaningTotals::of(rows)))
        },
        above: html! {
            @if !metrics.is_empty() {
                (metrics.parts("Exclusions", |_, rows| funnel_table(&CleaningTotals::of(rows))))
                (rules_part(&site.options.rules))
                h2 { "By benchmark" }
            }
        },
        other: None,
        below: html! {},
        filters: Filters::of("Benchmarks", metrics.rows().map(|row| &row.benchmark))
            .by_metric(metrics.units(), MetricFilter::One)
            .by("state", "Show", states)
            .by(
                "rule",
                "Excluded as",
                used.into_iter().map(|it| (it.key(), it.name())),
            ),
        draw: None,
        caption: "Exclusions by benchmark",
        columns: vec![
            sorted("name", "benchmark", "name"),
            unsorted("steady", "wide"),
            sorted("recorded", "iterations", "number"),
            sorted("share", "iterations used", "number"),
            unsorted("excluded", "wide"),
            sorted("reason", "analysed", ""),
        ],
        guide: html! {},
    };
    let files = metrics.write_files(site, SitePage::Cleaning, columns, |_| None)?;
    page.write(site, &files, json!({}))
}

fn rules_part(rules: &CleaningRules) -> Markup {
    html! {
        details.guide {
            summary { "The rules" }
            ul { @for rule in rules_text(rules) { li { (rule) } } }
            p { "Nothing is deleted: measurements stay in the store, and other rules give another report. "
                "The options under " em { "Exclusions" } " of " code { "lapwing report --help" } " choose them." }
        }
    }
}

fn headline(metric: &str, totals: &CleaningTotals) -> Headline {
    let recorded = totals.left_at(AuditStage::Recorded);
    let left = totals.left_at(AuditStage::Viable);
    let link = |state: &str| format!("#metric={}&state={state}", url_part(metric));
    let answer = html! {
        (grouped(left.iterations)) " of " (counted(recorded.iterations, "iteration")) " " (plural(left.iterations, "counts", "count"))
        @if recorded.iterations > 0 { " (" (percent(share(left.iterations, recorded.iterations))) ")" }
        @if metric != FIRST_METRIC { ", by " (metric_title(metric)) }
    };
    let mut facts = Vec::new();
    facts.push(html! {
        @if totals.not_judged > 0 {
            a href=(link("out")) { (counted(totals.not_judged, "benchmark")) " " (plural(totals.not_judged, "is", "are")) " not analysed" } "."
        } @else {
            (counted(recorded.benchmarks, "benchmark")) ", all analysed."
        }
    });
    if totals.never_steady > 0 {
        facts.push(html! {
            a href=(link("never")) { (counted(totals.never_steady, "benchmark")) " hardly or never " (plural(totals.never_steady, "becomes", "become")) " steady" }
            ", and should be fixed or retired."
        });
    }
    Headline {
        facts,
        ..Headline::new(News::Nothing, answer)
    }
}

/// Returns the funnel: what is left after each step, and what the step left out.
fn funnel_table(totals: &CleaningTotals) -> Markup {
    let all = totals.left_at(AuditStage::Recorded).iterations;
    html! {
        div.scroll tabindex="0" role="region" aria-label="Step by step" {
        table.funnel {
            thead { tr {
                th scope="col" { "step" } th.number scope="col" { "benchmarks" } th.number scope="col" { "instances" }
                th.number scope="col" { "iterations left" } th scope="col" { span.unseen { "share" } } th scope="col" { "excluded here" }
            } }
            tbody {
                @for (stage, left) in totals.funnel.stages() {
                    tr {
                        th scope="row" { (stage.name()) }
                        td.number { (grouped(left.benchmarks)) }
                        td.number { (grouped(left.instances)) }
                        td.number { (grouped(left.iterations)) }
                        td { span.bar role="img" aria-label=(percent(share(left.iterations, all))) { span style=(format!("width:{:.1}%", 100.0 * share(left.iterations, all))) {} } }
                        td { (left_out_at(totals, stage)) }
                    }
                }
            }
        }
        }
    }
}

fn left_out_at(totals: &CleaningTotals, stage: AuditStage) -> String {
    let mut parts: Vec<String> = totals
        .left_out
        .reasons()
        .filter(|(state, _)| AuditStage::that_leaves_out(*state) == Some(stage))
        .map(|(state, number)| format!("{} {}", grouped(number), state.name()))
        .collect();
    let recorded = totals.left_at(AuditStage::Recorded).instances;
    let empty = recorded - totals.left_at(AuditStage::Known).instances;
    if stage == AuditStage::Known && empty > 0 && parts.is_empty() {
        // They came to nothing, or the source kept summaries.
        parts.push(format!("{} without iterations", counted(empty, "instance")));
    }
    if parts.is_empty() {
        "–".to_owned()
    } else {
        parts.join(", ")
    }
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 {
        0.0
    } else {
        as_f64(part) / as_f64(all)
    }
}
