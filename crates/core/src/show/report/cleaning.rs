//! The page that says what was left out, step by step and by benchmark.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde::Serialize;

use super::Options;
use super::columns::{About, columns};
use super::directory::{Directory, DirectoryError};
use super::page::url_part;
use super::side_file;
use super::site::{
    Choice, Choices, Compared, MetricRows, Metrics, NothingMore, Settings, SitePage, filters,
    listing, shell,
};
use crate::clean::{
    BenchmarkAudit, BurnInRule, BurnInSource, Failures, Funnel, IterationState, LeftOut, Rules,
    Stage, SteadyFrom,
};
use crate::show::quantity::percent;
use crate::show::sample::{FIRST_METRIC, metric_title};
use crate::suite::JudgedFrom;
use crate::text::{counted, grouped, plural};
use lapwing_stats::as_f64;

/// What became of one benchmark's values of one metric.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CleaningRow {
    #[serde(flatten)]
    pub(super) about: About,
    /// Where it is taken to be steady, and who says so.
    start: String,
    recorded: usize,
    left: usize,
    instances: usize,
    left_out: String,
    /// The rules that left something out.
    rules: Vec<&'static str>,
    /// Why nothing of it is judged; empty when something is.
    reason: String,
    /// Whether most of its instances never get steady, by their own values.
    never_steady: bool,
    #[serde(skip)]
    funnel: Funnel,
    #[serde(skip)]
    sum: LeftOut,
}

impl CleaningRow {
    pub(super) fn new(audit: BenchmarkAudit, about: About, never_steady: bool) -> Self {
        let stages: Vec<_> = audit.funnel.stages().collect();
        let first = stages.first().map(|(_, left)| *left).unwrap_or_default();
        let last = stages.last().map(|(_, left)| *left).unwrap_or_default();
        Self {
            about,
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
pub(super) fn source_text(source: BurnInSource) -> &'static str {
    match source {
        BurnInSource::Recorded => "as planned",
        BurnInSource::Given => "given for all",
        BurnInSource::Listed => "burn-in file",
        BurnInSource::NotListed => "not in the burn-in file",
        BurnInSource::Reviewed => "reviewed",
        BurnInSource::Found { .. } => "found from the values",
    }
}

/// Returns where a benchmark is taken to be steady: `from 5 on (found from the values)`.
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
        None => "The others are left out.".to_owned(),
        Some(JudgedFrom::Recorded) => {
            "Burn-in is what was planned as burn-in; where the plan left it to the values, it is \
             found from them."
                .to_owned()
        }
        Some(JudgedFrom::Auto) => "Burn-in is found from the values of each benchmark.".to_owned(),
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
fn rules_text(rules: &Rules) -> Vec<String> {
    let mut said = vec![burn_in_text(&rules.burn_in)];
    said.push(
        match rules.failures {
            Failures::Drop => {
                "What failed, timed out, was skipped or lost, or has no value, does not count."
            }
            Failures::AsHail => {
                "As Hail's notebook does, only what timed out with a message is left out of what failed."
            }
        }
        .to_owned(),
    );
    said.push(match rules.outliers {
        None => "No value is left out for its size.".to_owned(),
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

/// What the page gathers while benchmarks are written.
#[derive(Debug, Default)]
pub(super) struct CleaningPage {
    metrics: BTreeMap<String, (String, Vec<CleaningRow>)>,
}

/// What the rows of one metric come to.
struct Totals {
    funnel: Funnel,
    left_out: LeftOut,
    not_judged: usize,
    never_steady: usize,
}

impl Totals {
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

    fn left_at(&self, wanted: Stage) -> crate::clean::Remaining {
        let stage = self.funnel.stages().find(|(stage, _)| *stage == wanted);
        stage.map(|(_, left)| left).unwrap_or_default()
    }
}

impl CleaningPage {
    pub(super) fn add(&mut self, metric: &str, unit: &str, row: CleaningRow) {
        let (_, rows) = self
            .metrics
            .entry(metric.to_owned())
            .or_insert_with(|| (unit.to_owned(), Vec::new()));
        rows.push(row);
    }

    /// Writes the page and its side files.
    pub(super) fn write(
        &self,
        directory: &Directory,
        options: &Options,
        compared: Compared,
    ) -> Result<(), DirectoryError> {
        let metrics = by_use(&self.metrics, |(_, rows)| rows.len());
        let mut files = Vec::new();
        for (number, (name, (_, rows))) in metrics.iter().enumerate() {
            let file = format!("cleaning.m{number}");
            let content = side_file(&file, &columns(rows));
            directory.write(&format!("data/{file}.js"), &content)?;
            files.push(MetricRows {
                name: (*name).clone(),
                file,
                chart: None,
            });
        }
        let settings = Settings {
            page: "cleaning",
            metrics: files,
            file: None,
            more: NothingMore {},
        };
        let main = self.main(&metrics, &options.rules);
        let page = shell(SitePage::Cleaning, compared, options, &settings, &main);
        directory.write(SitePage::Cleaning.file(), &page)
    }

    fn main(&self, metrics: &[(&String, &(String, Vec<CleaningRow>))], rules: &Rules) -> Markup {
        html! {
            @if metrics.is_empty() {
                p.answer { "Nothing was recorded, so nothing was left out." }
            } @else {
                @for (number, (name, (_, rows))) in metrics.iter().enumerate() {
                    @let totals = Totals::of(rows);
                    section.by-metric data-metric=(name) hidden[number > 0] aria-label=(format!("What was left out, by {}", metric_title(name))) {
                        (answer(name, &totals))
                        (funnel_table(&totals))
                    }
                }
                details.guide {
                    summary { "The rules" }
                    ul { @for rule in rules_text(rules) { li { (rule) } } }
                    p { "Nothing is deleted: measurements stay in the store, and other rules give another report. "
                        "The options under " em { "What is left out" } " of " code { "lapwing report --help" } " choose them." }
                }
                h2 { "By benchmark" }
                (filters("Benchmarks", &self.choices(metrics), Metrics::OneOf))
                (listing("What was left out of each benchmark", &[
                    ("name", "benchmark", "name"),
                    ("", "steady", "wide"),
                    ("recorded", "iterations", "number"),
                    ("share", "that count", "number"),
                    ("", "left out", "wide"),
                    ("reason", "judged", ""),
                ]))
            }
        }
    }

    fn choices(&self, metrics: &[(&String, &(String, Vec<CleaningRow>))]) -> Choices {
        let rows = || self.metrics.values().flat_map(|(_, rows)| rows);
        let used: BTreeSet<IterationState> = rows()
            .flat_map(|row| row.sum.reasons())
            .map(|(state, _)| state)
            .collect();
        let states = [
            ("out", "not judged"),
            ("never", "hardly or never steady"),
            ("some", "something left out besides burn-in"),
        ];
        Choices {
            metrics: metrics
                .iter()
                .map(|(name, (unit, _))| ((*name).clone(), unit.clone()))
                .collect(),
            suites: rows().map(|it| it.about.suite.clone()).collect(),
            tags: rows().flat_map(|it| it.about.tags.clone()).collect(),
            more: vec![
                Choice {
                    name: "state",
                    label: "Show",
                    values: states
                        .map(|(key, it)| (key.to_owned(), it.to_owned()))
                        .into(),
                },
                Choice {
                    name: "rule",
                    label: "Left out as",
                    values: used
                        .into_iter()
                        .map(|it| (it.key().to_owned(), it.name().to_owned()))
                        .collect(),
                },
            ],
        }
    }
}

fn answer(metric: &str, totals: &Totals) -> Markup {
    let recorded = totals.left_at(Stage::Recorded);
    let left = totals.left_at(Stage::Viable);
    let link = |state: &str| format!("#metric={}&state={state}", url_part(metric));
    html! {
        p.answer {
            "Of " (counted(recorded.iterations, "iteration")) " of " (counted(recorded.benchmarks, "benchmark"))
            " by " (metric_title(metric)) ", " strong { (grouped(left.iterations)) } " count"
            @if recorded.iterations > 0 { " (" (percent(share(left.iterations, recorded.iterations))) ")" }
            "."
            @if totals.not_judged > 0 {
                " " a href=(link("out")) { strong { (counted(totals.not_judged, "benchmark")) } " " (plural(totals.not_judged, "is", "are")) " not judged" } "."
            } @else {
                " Every benchmark can be judged."
            }
            @if totals.never_steady > 0 {
                " " a href=(link("never")) { strong { (counted(totals.never_steady, "benchmark")) } " hardly or never " (plural(totals.never_steady, "gets", "get")) " steady" }
                ": " (plural(totals.never_steady, "a candidate", "candidates")) " to fix or retire."
            }
        }
    }
}

/// Returns the funnel: what is left after each step, and what the step left out.
fn funnel_table(totals: &Totals) -> Markup {
    let all = totals.left_at(Stage::Recorded).iterations;
    html! {
        div.scroll tabindex="0" role="region" aria-label="Step by step" {
        table.funnel {
            thead { tr {
                th scope="col" { "step" } th.number scope="col" { "benchmarks" } th.number scope="col" { "instances" }
                th.number scope="col" { "iterations left" } th scope="col" { span.unseen { "share" } } th scope="col" { "left out here" }
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

fn left_out_at(totals: &Totals, stage: Stage) -> String {
    let mut parts: Vec<String> = totals
        .left_out
        .reasons()
        .filter(|(state, _)| Stage::that_leaves_out(*state) == Some(stage))
        .map(|(state, number)| format!("{} {}", grouped(number), state.name()))
        .collect();
    let recorded = totals.left_at(Stage::Recorded).instances;
    let empty = recorded - totals.left_at(Stage::Known).instances;
    if stage == Stage::Known && empty > 0 && parts.is_empty() {
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

/// Returns metrics in the order in which people look at them: the usual one, then by how many
/// benchmarks have it.
pub(super) fn by_use<T>(
    metrics: &BTreeMap<String, T>,
    used: impl Fn(&T) -> usize,
) -> Vec<(&String, &T)> {
    let mut metrics: Vec<(&String, &T)> = metrics.iter().collect();
    metrics.sort_by_key(|(name, metric)| (*name != FIRST_METRIC, usize::MAX - used(metric)));
    metrics
}
