//! The results of a session: `lapwing run` and `lapwing show`.

mod advice;
mod comparisons;
mod executions;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::clean::LeftOut;
use lapwing_analyse::explain::{SessionComparison, SessionResult, SessionResults};
use lapwing_analyse::judge::{CompareOptions, Verdict};
use lapwing_model::text::{counted, joined, plural};
use lapwing_model::{MetricName, Run, Session};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::table::SessionTable;
use super::audit::left_out_fields;
use super::compare::{ComparisonFields, RARE};
use super::detect::muted_note;
use super::earlier_note;
use crate::chart::{Chart, ComparedValue, comparison};
use crate::words::verdict::{is_unchanged, worst_verdict};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Curve, IntervalBar, MarkdownLayout, NextStep, Note, Picture,
    ReadyAnswer, TextAnswer, View, WriteError, csv_rows,
};
use crate::{EstimateText, VariantColours, VerdictCounts, verdicts_text};

/// The comparisons that explain the results of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// A suite: variants are compared, and its benchmarks are different things.
    Suite,
    /// Commands: without variants each is compared with the fastest one, or the reference.
    Commands,
    /// Configurations of a study, which no comparison of each with the first explains.
    Study,
}

/// The results of a session.
#[derive(Debug)]
pub struct SessionAnswer {
    /// The results.
    pub results: SessionResults,
    /// The comparisons that explain them.
    pub kind: SessionKind,
    /// The command that the others are compared with; by default the fastest.
    pub reference: Option<String>,
    /// Whether the figures of all executions of each command are shown.
    pub all_figures: bool,
    /// The session.
    pub session: Session,
    /// Number of its instances, without lost ones.
    pub instances: usize,
    /// Number of planned instances, if measuring was interrupted before all were measured.
    pub interrupted_of: Option<usize>,
    /// Further notes.
    pub notes: Vec<Note>,
    /// Commands that continue from here.
    pub next: Vec<NextStep>,
}

/// The results of a session for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionFields<'a> {
    session: SessionHead<'a>,
    /// The metric that is compared.
    metric: &'a str,
    results: Vec<ResultRow<'a>>,
    /// Confidence of the intervals.
    confidence: f64,
    /// The largest change that is none, as a share.
    band: f64,
    /// Number of comparisons.
    compared: usize,
    /// Number of comparisons by verdict.
    verdicts: VerdictCounts,
    comparisons: Vec<ComparisonFields<'a>>,
    /// Number of excluded iterations by rule.
    left_out: BTreeMap<&'static str, usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SessionHead<'a> {
    id: String,
    name: Option<&'a str>,
    suite: &'a str,
    started: String,
    tool: &'a str,
    instances: usize,
    /// Number of planned instances, if measuring was interrupted.
    interrupted_of: Option<usize>,
}

/// A metric of a benchmark.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct ResultRow<'a> {
    benchmark: &'a str,
    variant: &'a str,
    metric: &'a str,
    unit: &'a str,
    value: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// Whether the value is an upper bound: commands that need less memory than their launcher report as much.
    is_upper_bound: bool,
    instances: usize,
    /// Number of hosts, where these are the unit of replication: three or more, and some had several instances.
    hosts: Option<usize>,
    /// Number of iterations of all instances.
    iterations: usize,
    /// Number of iterations of the instance with the fewest.
    fewest_iterations: usize,
    /// Number of iterations of the instance with the most.
    most_iterations: usize,
    /// Coefficient of variation of the instance means.
    cv: Option<f64>,
    /// The noise between instances, and within them: only with `--full`.
    cv_between: Option<f64>,
    cv_within: Option<f64>,
    /// Number of excluded iterations.
    left_out: usize,
    failures: usize,
}

/// The kind of the answer that there is nothing to measure.
pub const NOTHING_KIND: AnswerKind = AnswerKind::of::<NothingFields>("run-nothing");

/// Nothing was measured.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct NothingFields {
    /// Number of measured instances.
    instances: usize,
}

/// Returns the answer that there is nothing to measure: every commit is measured.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn nothing_to_measure(next: Vec<NextStep>) -> Result<ReadyAnswer, WriteError> {
    let text = TextAnswer {
        headline: "nothing to measure: every commit is measured".to_owned(),
        next,
        ..TextAnswer::default()
    };
    let fields = NothingFields::default();
    ReadyAnswer::new(&NOTHING_KIND, text, &fields, &[NothingFields::default()])
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<SessionFields<'_>>("session")
    .listing("results")
    .with_rare(RARE);

impl Answer for SessionAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let compared = self.compared();
        let conclusion = self.conclusion(&compared);
        let table = table::table(self, &compared, view);
        let pictures = self.pictures(&compared, &table);
        let unseen = advice::unseen(&self.results, &compared);
        let mut sentences = comparisons::sentences(&self.results, compared, &table);
        let (headline, told_by_table) = match sentences.len() {
            _ if table.has_ratios => (conclusion, None),
            1 => (sentences.remove(0).text, None),
            _ => (String::new(), Some(conclusion)),
        };
        let mut notes = sentences;
        notes.extend(self.notes(unseen));
        TextAnswer {
            headline,
            told_by_table,
            table: table.table,
            below: table.below,
            notes,
            next: self.next.clone(),
            has_table_first: true,
            has_ranked_notes: true,
            pictures,
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let compared = self.compared();
        let session = &self.session;
        Ok(serde_json::to_value(SessionFields {
            session: SessionHead {
                id: session.id.to_string(),
                name: session.name.as_deref(),
                suite: &session.suite,
                started: session.started.to_string(),
                tool: &session.tool,
                instances: self.instances,
                interrupted_of: self.interrupted_of,
            },
            metric: &self.results.metric,
            results: self.result_rows(view.full),
            confidence: CompareOptions::default().confidence.level(),
            band: CompareOptions::default().band(),
            compared: compared.len(),
            verdicts: VerdictCounts::of(compared.iter().map(|it| &it.comparison)),
            comparisons: compared
                .iter()
                .map(|it| ComparisonFields::new(&it.comparison))
                .collect(),
            left_out: left_out_fields(&self.left_out()),
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.result_rows(true))
    }

    fn verdict(&self) -> Option<&'static str> {
        let compared = self.compared();
        let verdicts = compared.iter().map(|it| it.comparison.verdict);
        let lacks = self.results.has_failed() || self.results.is_empty();
        let lacking = lacks.then_some(Verdict::NotMeasured);
        let all = verdicts.chain(lacking);
        worst_verdict(all).map(Verdict::name)
    }

    fn charts(&self) -> Vec<Chart> {
        if self.results.is_empty() {
            return Vec::new();
        }
        vec![self.chart()]
    }

    fn markdown_layout(&self) -> MarkdownLayout {
        MarkdownLayout::List
    }
}

impl SessionAnswer {
    /// Returns the results, a row for each metric of a benchmark.
    fn result_rows(&self, is_full: bool) -> Vec<ResultRow<'_>> {
        let mut rows = Vec::new();
        for row in &self.results.rows {
            let empty = ResultRow {
                benchmark: &row.benchmark,
                variant: &row.variant,
                metric: &self.results.metric,
                unit: &row.metric.unit,
                left_out: row.side.cleaned.left_out.total(),
                failures: row.side.failures,
                ..ResultRow::default()
            };
            let estimates = self.results.estimates(row);
            if estimates.is_empty() {
                rows.push(empty);
                continue;
            }
            rows.extend(estimates.into_iter().map(|(metric, unit, it)| ResultRow {
                metric,
                unit,
                value: Some(it.value),
                lower: it.interval.map(|interval| interval.lower),
                upper: it.interval.map(|interval| interval.upper),
                is_upper_bound: metric == "peak_memory" && is_memory_bound(it.value),
                instances: it.size.instances,
                hosts: it.size.hosts,
                iterations: it.size.iterations,
                fewest_iterations: it.size.fewest_iterations,
                most_iterations: it.size.most_iterations,
                cv: it.cv,
                cv_between: it.between.filter(|_| is_full),
                cv_within: it.within.filter(|_| is_full),
                ..empty
            }));
        }
        rows
    }

    /// Returns the comparisons; none of a study.
    pub fn compared(&self) -> Vec<SessionComparison<'_>> {
        match self.kind {
            SessionKind::Study => Vec::new(),
            SessionKind::Suite | SessionKind::Commands if self.results.variants > 1 => {
                self.results.compare_variants()
            }
            SessionKind::Suite => Vec::new(),
            SessionKind::Commands => self.results.compare_benchmarks(self.reference.as_deref()),
        }
    }

    /// Returns the intervals of the comparisons; without any, the iterations of a single result, in the order in which
    /// they were measured.
    fn pictures(&self, compared: &[SessionComparison<'_>], table: &SessionTable) -> Vec<Picture> {
        let rows = &self.results.rows;
        let is_of_one = rows.iter().all(|row| row.benchmark == rows[0].benchmark);
        // What is unchanged has its ratio in the table, and would only fill the axis.
        let is_drawn =
            |pair: &&SessionComparison<'_>| !(table.has_ratios && is_unchanged(&pair.comparison));
        let bars = compared.iter().filter(is_drawn).filter_map(|pair| {
            let [_, candidate] = pair.names();
            // Commands are compared with the fastest one, which is the candidate.
            if !pair.is_of_variants {
                let bar = IntervalBar::of(pair.baseline.benchmark.clone(), &pair.comparison);
                return bar.map(IntervalBar::inverted);
            }
            let mut name = if is_of_one {
                candidate.to_owned()
            } else if self.results.variants == 2 {
                pair.candidate.benchmark.clone()
            } else {
                format!("{} {candidate}", pair.candidate.benchmark)
            };
            let metric = &pair.comparison.subject.metric;
            if *metric != self.results.metric {
                name = format!("{name} {metric}");
            }
            IntervalBar::of(name, &pair.comparison)
        });
        let bars: Vec<IntervalBar> = bars.collect();
        if !bars.is_empty() {
            return vec![Picture::Intervals(bars)];
        }
        let [row] = self.results.rows.as_slice() else {
            return Vec::new();
        };
        let instances = row.side.cleaned.instances.iter();
        let values: Vec<f64> = instances.flat_map(|it| it.values.clone()).collect();
        let curve = Curve {
            name: "iterations".to_owned(),
            values,
            change: None,
        };
        if curve.values.len() < 2 {
            Vec::new()
        } else {
            vec![Picture::Curve(curve)]
        }
    }

    /// Returns what the table and several comparisons come to.
    fn conclusion(&self, compared: &[SessionComparison<'_>]) -> String {
        if !compared.is_empty() {
            let number = counted(compared.len(), "comparison");
            let verdicts = verdicts_text(compared.iter().map(|it| &it.comparison));
            return format!("{number}: {verdicts}");
        }
        match self.results.rows.as_slice() {
            [] => "no results".to_owned(),
            [row] => match self.results.estimates(row).first() {
                Some((_, unit, estimate)) => {
                    format!("{}: {}", self.label(row), estimate.text(unit))
                }
                None => format!(
                    "{}: {}",
                    self.label(row),
                    table::NOTHING.trim_start_matches("–  ")
                ),
            },
            several => counted(several.len(), "result"),
        }
    }

    fn left_out(&self) -> LeftOut {
        let mut left_out = LeftOut::default();
        for row in &self.results.rows {
            left_out.add(&row.side.cleaned.left_out);
        }
        left_out
    }

    /// Returns advice, and notes on what is missing and excluded.
    fn notes(&self, unseen: Option<f64>) -> Vec<Note> {
        let label = |row: &SessionResult| self.label(row);
        let mut notes: Vec<Note> = self.interruption().into_iter().collect();
        notes.extend(advice::notes(&self.results.rows, unseen, label));
        notes.extend(self.jobs_note());
        notes.extend(hosts_note(
            self.results
                .rows
                .iter()
                .filter_map(|row| row.compared?.size.hosts),
        ));
        notes.extend(self.metric_note());
        notes.extend(self.summaries_note());
        // They are wall times.
        if self.all_figures || !self.results.is_of_other_metric() {
            notes.extend(executions::notes(
                &self.results.rows,
                self.all_figures,
                label,
            ));
        }
        notes.extend(earlier_note(self.results.earlier));
        notes.extend(muted_note(&self.results.muted()));
        notes.extend(self.exclusions());
        notes.extend(self.notes.clone());
        notes
    }

    fn interruption(&self) -> Option<Note> {
        let planned = self.interrupted_of?;
        let text = format!(
            "interrupted: {} of {} planned instances were measured",
            self.instances, planned
        );
        let note = Note::marked("interrupted", text).with("instances", self.instances);
        Some(note.with("planned_instances", planned))
    }

    /// Returns a note on a metric that no benchmark reported.
    fn metric_note(&self) -> Option<Note> {
        let results = &self.results;
        let has_it = results.rows.iter().any(|row| row.compared.is_some());
        if !results.is_of_other_metric() || has_it || results.is_empty() {
            return None;
        }
        let known: Vec<MetricName> = results.known_metrics().into_iter().collect();
        let text = format!(
            "no benchmark has metric `{}`: the metrics are {}",
            results.metric,
            known.join(", ")
        );
        Some(Note::marked("unknown_metric", text).with("metrics", known))
    }

    /// Returns the iterations that are excluded: `3 burn-in iterations excluded`.
    fn exclusions(&self) -> Option<Note> {
        let left_out = self.left_out();
        if left_out.is_empty() {
            return None;
        }
        let text = left_out.text();
        // `3 burn-in iterations`, but `3 in interrupted instances`.
        let is_adjective = ![" in ", " of ", " without "]
            .iter()
            .any(|word| text.contains(word));
        let iterations = plural(left_out.total(), "iteration", "iterations");
        let text = if is_adjective {
            format!("{text} {iterations} excluded")
        } else {
            format!("excluded {iterations}: {text}")
        };
        Some(Note::marked("excluded", text).with("iterations", left_out.total()))
    }

    /// Returns the chart of the values of the compared metric.
    pub fn chart(&self) -> Chart {
        let mut colours = VariantColours::default();
        let rows = self.results.rows.iter();
        let values = rows.filter_map(|row| {
            Some(ComparedValue {
                name: self.label(row),
                colour: colours.number(&row.variant),
                estimate: row.compared?,
            })
        });
        let values: Vec<ComparedValue> = values.collect();
        let unit = self
            .results
            .rows
            .first()
            .map_or("s", |row| &row.metric.unit);
        comparison(&self.results.metric, unit, &values)
    }

    /// Returns a note on results of which the source kept no samples.
    fn summaries_note(&self) -> Option<Note> {
        let rows = self.results.rows.iter();
        let of_summaries = rows.filter(|row| !row.centres.is_empty());
        let results = of_summaries.clone().count();
        let centres: BTreeSet<&str> = of_summaries
            .flat_map(|row| row.centres.iter().map(String::as_str))
            .collect();
        let text = format!(
            "the source kept no samples of {}: the values are its summaries ({})",
            counted(results, "result"),
            joined(&centres)
        );
        let note = Note::marked("summaries", text).with("results", results);
        (results > 0).then_some(note)
    }

    /// Returns a note on instances whose jobs did not end well.
    fn jobs_note(&self) -> Option<Note> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for state in self.results.rows.iter().flat_map(|row| &row.job_states) {
            *counts.entry(state).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        let states: Vec<String> = (counts.iter())
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        let text = format!(
            "{} did not end well: {}; `lapwing run --resume` measures those again that were lost or cancelled",
            counted(all, "instance"),
            states.join(", ")
        );
        let note = Note::marked("jobs", text).with("instances", all);
        (all > 0).then(|| note.with("states", serde_json::json!(counts)))
    }

    /// Returns the benchmark, and the variant where there are several.
    fn label(&self, row: &SessionResult) -> String {
        if self.results.variants == 1 || row.variant == Run::DEFAULT_VARIANT {
            row.benchmark.clone()
        } else {
            format!("{}  {}", row.benchmark, row.variant)
        }
    }
}

/// Returns a note on intervals whose unit of replication is the host, from the numbers of hosts of all results.
pub fn hosts_note(hosts: impl Iterator<Item = usize>) -> Option<Note> {
    let fewest = hosts.min()?;
    let text = format!(
        "some hosts had several instances, which may resemble each other: intervals count hosts ({fewest})"
    );
    Some(Note::new("hosts", text).with("hosts", fewest))
}

/// Returns whether a peak memory is exactly what commands that need less report.
fn is_memory_bound(bytes: f64) -> bool {
    bytes.log2().fract() == 0.0
}
