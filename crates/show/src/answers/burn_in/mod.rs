//! First steady iterations, and the cost of burn-in: `lapwing burn-in` (`docs/burn-in.md`).

mod notes;
mod rows;
mod text;

use lapwing_analyse::clean::{BurnInSource, SteadyFrom};
use lapwing_analyse::explain::BenchmarkBurnIn;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::rows::{BurnInDetails, BurnInFields};
use self::text::BurnInCounts;
use super::not_judged::NotJudged;
use crate::chart::{BurnInMarks, Chart, burn_in};
use crate::writing::{Answer, AnswerKind, CsvRows, Note, TextAnswer, View, WriteError, csv_rows};

pub use notes::{UseOfStarts, burn_in_notes, why_not_written};
pub(crate) use text::with_wanted;
pub use text::{bias_text, cost_text, start_text};

/// The burn-in of all benchmarks.
#[derive(Debug)]
pub struct BurnInAnswer {
    /// The benchmarks.
    pub rows: Vec<BenchmarkBurnIn>,
    /// Benchmarks without values.
    pub not_judged: Vec<NotJudged>,
    /// Problems and advice.
    pub notes: Vec<Note>,
    /// Whether the columns are explained.
    pub has_legend: bool,
}

/// Burn-in for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct BurnInAnswerFields<'a> {
    counts: BurnInCounts,
    benchmarks: Vec<BurnInDetails<'a>>,
    not_judged: &'a [NotJudged],
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<BurnInAnswerFields<'_>>("burn-in").listing("benchmarks");

impl Answer for BurnInAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let legend = text::LEGEND.map(|line| Note::new("legend", line));
        let legend = legend.into_iter().filter(|_| self.has_legend);
        TextAnswer {
            headline: text::headline(&self.rows),
            table: text::table(&self.rows),
            notes: legend.chain(self.notes.clone()).collect(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let rows = self.rows.iter().map(|row| BurnInDetails::new(row, view));
        Ok(serde_json::to_value(BurnInAnswerFields {
            counts: BurnInCounts::of(&self.rows),
            benchmarks: rows.collect(),
            not_judged: &self.not_judged,
        })?)
    }

    fn charts(&self) -> Vec<Chart> {
        // What is steady from the first iteration on comes last.
        let mut rows: Vec<&BenchmarkBurnIn> = self.rows.iter().collect();
        rows.sort_by_key(|row| match row.steady_from() {
            SteadyFrom::Never => 0,
            SteadyFrom::Index(0) => 2,
            SteadyFrom::Index(_) | SteadyFrom::Recorded | SteadyFrom::Unknown => 1,
        });
        let charts = rows.into_iter().map(|row| {
            let marks = BurnInMarks {
                subject: &row.benchmark,
                unit: &row.unit,
                start: match row.source {
                    BurnInSource::Recorded => SteadyFrom::Recorded,
                    _ => row.steady_from(),
                },
                found: row.found,
            };
            burn_in(&row.steady, &marks)
        });
        charts.collect()
    }

    fn verdict(&self) -> Option<&'static str> {
        Some(BurnInCounts::of(&self.rows).verdict())
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        let rows: Vec<BurnInFields> = self.rows.iter().map(BurnInFields::new).collect();
        csv_rows(&rows)
    }
}
