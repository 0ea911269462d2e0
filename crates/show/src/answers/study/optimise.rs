//! The best configuration of a search: `lapwing study optimise`.

use lapwing_model::text::{counted, first_names};
use lapwing_stats::{Interval, Ratio};
use lapwing_study::design::{BASE, SettingSummary, StudyConfiguration};
use lapwing_study::{
    OptimisationEnd, OptimisationResult, OptimisationState, StudyOptimisation, StudyScale,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::design::ConfigurationFields;
use super::or_dash;
use crate::study::StudyMetricText;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, NextStep, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Number of listed configurations.
const SHOWN: usize = 10;

/// The best configuration, and what else was measured.
#[derive(Debug)]
pub struct OptimisationAnswer {
    /// The result of the search.
    pub result: OptimisationResult,
    /// The reason for its end.
    pub end: OptimisationEnd,
    /// The command that explains the effects.
    pub findings: String,
}

/// The best configuration, and what else was measured.
#[derive(Debug, Serialize, JsonSchema)]
struct OptimisationFields<'a> {
    metric: &'a str,
    unit: String,
    best: ConfigurationFields<'a>,
    /// The final comparison of the best configuration with the base.
    comparison: Option<RatioFields>,
    /// `no-improvement`, `runs`, `budget` or `exhausted`.
    ended_by: &'static str,
    /// Number of instances and failed configurations of the search, without the final comparison.
    runs: usize,
    /// Number of measured instances.
    instances: usize,
    /// Number of measured configurations.
    measured: usize,
    /// Configurations without a usable value.
    failed: Vec<String>,
    number_of_failed: usize,
    /// Levels that never worked.
    broken_levels: Vec<String>,
    /// The best expected first.
    configurations: Vec<SettingRow>,
}

/// The best configuration relative to the base.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RatioFields {
    ratio: f64,
    lower: f64,
    upper: f64,
    p_value: f64,
    /// Number of instances of the base and of the best configuration.
    instances: [usize; 2],
    is_distinguishable: bool,
}

/// A measured configuration, with values in the unit.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct SettingRow {
    configuration: String,
    instances: usize,
    mean: f64,
    /// The mean that the model expects.
    expected: Option<f64>,
    /// Standard deviation of the expected logarithm.
    expected_deviation: Option<f64>,
    /// Difference of the expected logarithm from that of the base.
    change: Option<f64>,
    /// The same as a share.
    share: Option<f64>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<OptimisationFields<'_>>("study-optimise").listing("configurations");

impl Answer for OptimisationAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let mut notes = self.notes();
        let hidden = self.omitted_rows(view);
        if hidden > 0 {
            let text = format!("{hidden} more not shown (`--full` shows all)");
            notes.push(Note::new("not_shown", text).with("rows", hidden));
        }
        TextAnswer {
            headline: self.headline(),
            table: self.table(view),
            notes,
            next: vec![NextStep::new(&self.findings, "explains the effects")],
            ..TextAnswer::default()
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let result = &self.result;
        let failed = result.state.measured.failed.iter();
        let failed: Vec<String> = failed.map(|run| result.name(run)).collect();
        let mut configurations = self.setting_rows();
        configurations.truncate(self.listed(view));
        Ok(serde_json::to_value(OptimisationFields {
            metric: &result.metric.name,
            unit: result.metric.unit_of(StudyScale::Time),
            best: ConfigurationFields::new(&result.best),
            comparison: result
                .ratio
                .as_ref()
                .map(|ratio| RatioFields::new(ratio, result.compared)),
            ended_by: match self.end {
                OptimisationEnd::NoImprovement => "no-improvement",
                OptimisationEnd::Runs => "runs",
                OptimisationEnd::Budget => "budget",
                OptimisationEnd::Exhausted => "exhausted",
            },
            runs: result.state.runs,
            instances: result.state.measured.instances.len(),
            measured: result.summaries.len(),
            number_of_failed: failed.len(),
            failed,
            broken_levels: self.broken_levels(),
            configurations,
        })?)
    }

    fn verdict(&self) -> Option<&'static str> {
        let ratio = self.result.ratio?;
        let is_gain = self
            .result
            .metric
            .is_gain(StudyScale::Log, ratio.ratio.ln());
        Some(match (is_sure(&ratio), is_gain) {
            (false, _) => "inconclusive",
            (true, true) => "improvement",
            (true, false) => "regression",
        })
    }

    fn omitted_rows(&self, view: View) -> usize {
        self.result.summaries.len() - self.listed(view)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.setting_rows())
    }
}

impl OptimisationAnswer {
    /// Returns the number of configurations of a view.
    fn listed(&self, view: View) -> usize {
        let all = self.result.summaries.len();
        if view.full { all } else { all.min(SHOWN) }
    }

    /// Returns the levels that never worked.
    fn broken_levels(&self) -> Vec<String> {
        let broken = self.result.state.measured.broken_levels().into_iter();
        let names = broken.map(|(factor, level)| self.result.factors[factor].level_name(level));
        names.collect()
    }

    fn setting_rows(&self) -> Vec<SettingRow> {
        let OptimisationResult {
            metric, summaries, ..
        } = &self.result;
        let cost = |response: f64| StudyScale::Log.cost(metric.response_logarithm(response));
        let is_base = |summary: &&SettingSummary| summary.run.iter().all(|level| *level == 0);
        let base = summaries.iter().find(is_base);
        let base = base.and_then(|base| Some(base.expected?.mean));
        let rows = summaries.iter().map(|summary| {
            let expected = summary.expected;
            let change = expected
                .zip(base)
                .map(|(expected, base)| metric.response_logarithm(expected.mean - base));
            SettingRow {
                configuration: self.result.name(&summary.run),
                instances: summary.instances,
                mean: cost(summary.mean),
                expected: expected.map(|expected| cost(expected.mean)),
                expected_deviation: expected.map(|expected| expected.deviation),
                change,
                share: change.map(f64::exp_m1),
            }
        });
        rows.collect()
    }

    fn table(&self, view: View) -> Table {
        let metric = &self.result.metric;
        let mut table = Table::new(&[
            ("configuration", Left),
            ("instances", Right),
            ("mean", Right),
            ("expected", Right),
            ("against base", Right),
        ]);
        let value = |cost: f64| metric.value_text(StudyScale::Time, cost);
        let change = |change: f64| metric.change_text(StudyScale::Log, change);
        for row in self.setting_rows().into_iter().take(self.listed(view)) {
            table.row(vec![
                row.configuration,
                row.instances.to_string(),
                value(row.mean),
                or_dash(row.expected.map(value)),
                or_dash(row.change.map(change)),
            ]);
        }
        table
    }

    fn headline(&self) -> String {
        let OptimisationResult {
            metric,
            best: StudyConfiguration { name, .. },
            compared: [of_base, of_best],
            ..
        } = &self.result;
        if name == BASE {
            return "the base is the best configuration found".to_owned();
        }
        let Some(ratio) = self.result.ratio else {
            return format!("best configuration found: {name}; not compared with the base");
        };
        let change = ratio.ratio.ln();
        let interval = Interval {
            lower: ratio.interval.lower.ln(),
            upper: ratio.interval.upper.ln(),
        };
        let text = metric.change_with_interval(StudyScale::Log, change, Some(interval));
        let sizes = format!("{of_best} and {of_base} instances, alternately");
        match (is_sure(&ratio), metric.is_gain(StudyScale::Log, change)) {
            (false, _) => format!(
                "best configuration found: {name}, not distinguishable from the base: {text} ({sizes})"
            ),
            (true, true) => {
                format!("best configuration found: {name}, {text} against the base ({sizes})")
            }
            (true, false) => format!(
                "best configuration found: {name}, but worse than the base in the final comparison: {text} ({sizes})"
            ),
        }
    }

    fn notes(&self) -> Vec<Note> {
        let result = &self.result;
        let measured = &result.state.measured;
        let end = match self.end {
            OptimisationEnd::NoImprovement => "no further configuration is expected to be better",
            OptimisationEnd::Runs => "the number of runs is reached: --runs adds more",
            OptimisationEnd::Budget => "the time is over: the same command continues",
            OptimisationEnd::Exhausted => "every feasible configuration was measured",
        };
        let text = format!(
            "{} of {} measured; {end}",
            counted(measured.instances.len(), "instance"),
            counted(result.summaries.len(), "configuration"),
        );
        let mut notes = vec![Note::new("ended", text)];
        if !measured.failed.is_empty() {
            let names = measured.failed.iter().map(|run| result.name(run));
            let text = format!(
                "{} without a usable value: {}",
                counted(measured.failed.len(), "configuration"),
                first_names(names, 5)
            );
            notes.push(Note::new("failed", text).with("configurations", measured.failed.len()));
        }
        let broken = self.broken_levels();
        if !broken.is_empty() {
            let names = first_names(&broken, 5);
            let text = format!("never worked, so not tried any more: {names}");
            notes.push(Note::new("broken_levels", text).with("levels", broken));
        }
        let text = "`expected` is by the model of all results, which shrinks lucky values; the final comparison rests on its own instances alone";
        notes.push(Note::new("expected", text));
        notes
    }
}

impl RatioFields {
    /// Returns the fields of best / base, of so many instances of the base and of the best configuration.
    pub fn new(ratio: &Ratio, instances: [usize; 2]) -> Self {
        Self {
            ratio: ratio.ratio,
            lower: ratio.interval.lower,
            upper: ratio.interval.upper,
            p_value: ratio.p_value,
            instances,
            is_distinguishable: is_sure(ratio),
        }
    }
}

/// Returns whether a ratio differs from 1.
pub fn is_sure(ratio: &Ratio) -> bool {
    !ratio.interval.contains(1.0)
}

/// Returns the line before a round of so many configurations.
pub fn round_text(
    optimisation: &StudyOptimisation,
    state: &OptimisationState,
    configurations: usize,
) -> String {
    let summaries = optimisation.search.summaries(&state.measured);
    let best = summaries.first().zip(state.metric.as_ref());
    let best = best.map_or_else(String::new, |(best, metric)| {
        let name = StudyConfiguration::new(&optimisation.search.factors, &best.run).name;
        let logarithm = metric.response_logarithm(best.mean);
        let value = metric.value_text(StudyScale::Log, logarithm);
        format!("; best so far {name} ({value})")
    });
    format!(
        "round of {}, {} of at most {} runs measured{best}",
        counted(configurations, "configuration"),
        state.runs,
        optimisation.rules.runs
    )
}
