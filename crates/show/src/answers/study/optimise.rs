//! The best configuration of a search: `lapwing study optimise`.

use lapwing_model::text::{counted, first_names};
use lapwing_stats::{Interval, Ratio};
use lapwing_study::design::{BASE, SettingSummary, StudyConfiguration};
use lapwing_study::{
    OptimisationEnd, OptimisationResult, OptimisationState, StudyOptimisation, StudyScale,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::or_dash;
use crate::study::StudyMetricText;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};

/// Maximum number of rows of the table.
const SHOWN: usize = 10;

/// The best configuration, and what else was measured.
#[derive(Debug)]
pub struct OptimisationAnswer {
    /// The result of the search.
    pub result: OptimisationResult,
    /// The reason for its end.
    pub end: OptimisationEnd,
    /// The beginning of a suggested command.
    pub program: String,
}

#[derive(Default, Serialize)]
struct SettingRow {
    configuration: String,
    instances: usize,
    mean: f64,
    expected: Option<f64>,
    expected_deviation: Option<f64>,
    change: Option<f64>,
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("study-optimise");

impl Answer for OptimisationAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        TextAnswer {
            headline: self.headline(),
            table: self.table(),
            notes: uncoded(self.notes()),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let result = &self.result;
        let failed = result.state.measured.failed.iter();
        let failed: Vec<String> = failed.map(|run| result.name(run)).collect();
        Ok(json!({
            "best": result.best,
            "metric": result.metric.name,
            "comparison": result.ratio.map(|ratio| json!({
                "ratio": ratio.ratio,
                "lower": ratio.interval.lower,
                "upper": ratio.interval.upper,
                "p_value": ratio.p_value,
                "instances": result.compared,
                "is_distinguishable": is_sure(&ratio),
            })),
            "ended_by": self.end,
            "runs": result.state.runs,
            "configurations": self.setting_rows(),
            "failed": failed,
        }))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.setting_rows())
    }
}

impl OptimisationAnswer {
    fn setting_rows(&self) -> Vec<SettingRow> {
        let OptimisationResult {
            metric, summaries, ..
        } = &self.result;
        let cost = |response: f64| StudyScale::Log.cost(metric.response_logarithm(response));
        let is_base = |summary: &&SettingSummary| summary.run.iter().all(|level| *level == 0);
        let base = summaries.iter().find(is_base);
        let base = base.and_then(|base| Some(base.expected?.mean));
        let rows = summaries.iter().map(|summary| SettingRow {
            configuration: self.result.name(&summary.run),
            instances: summary.instances,
            mean: cost(summary.mean),
            expected: summary.expected.map(|expected| cost(expected.mean)),
            expected_deviation: summary.expected.map(|expected| expected.deviation),
            change: summary
                .expected
                .zip(base)
                .map(|(expected, base)| metric.response_logarithm(expected.mean - base)),
        });
        rows.collect()
    }

    fn table(&self) -> Table {
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
        for row in self.setting_rows().into_iter().take(SHOWN) {
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

    fn notes(&self) -> Vec<String> {
        let result = &self.result;
        let measured = &result.state.measured;
        let end = match self.end {
            OptimisationEnd::NoImprovement => "no further configuration is expected to be better",
            OptimisationEnd::Runs => "the number of runs is reached: --runs adds more",
            OptimisationEnd::Budget => "the time is over: the same command continues",
            OptimisationEnd::Exhausted => "every feasible configuration was measured",
        };
        let mut notes = vec![format!(
            "{} of {} measured; {end}",
            counted(measured.instances.len(), "instance"),
            counted(result.summaries.len(), "configuration"),
        )];
        if !measured.failed.is_empty() {
            let names = measured.failed.iter().map(|run| result.name(run));
            notes.push(format!(
                "{} without a usable value: {}",
                counted(measured.failed.len(), "configuration"),
                first_names(names, 5)
            ));
        }
        let broken: Vec<String> = (measured.broken_levels().into_iter())
            .map(|(factor, level)| result.factors[factor].level_name(level))
            .collect();
        if !broken.is_empty() {
            notes.push(format!(
                "never worked, so not tried any more: {}",
                first_names(broken, 5)
            ));
        }
        notes.push("`expected` is by the model of all results, which shrinks lucky values; the final comparison rests on its own instances alone".to_owned());
        notes.push(format!(
            "`{} study findings` explains the effects",
            self.program
        ));
        notes
    }
}

fn is_sure(ratio: &Ratio) -> bool {
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
