//! First steady iterations, and the cost of burn-in: `lapwing burn-in` (`docs/burn-in.md`).

mod notes;
mod rows;
mod text;

use lapwing_analyse::clean::{BurnInSource, SteadyFrom};
use lapwing_analyse::explain::BenchmarkBurnIn;
use serde_json::{Value, json};

use self::rows::{BurnInDetails, BurnInFields};
use super::not_judged::NotJudged;
use crate::chart::{BurnInMarks, Chart, burn_in};
use crate::writing::{
    Answer, AnswerKind, CsvRows, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};

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
    /// Problems and advice, which people see beside the answer.
    pub notes: Vec<String>,
    /// Whether the columns are explained.
    pub has_legend: bool,
}

impl BurnInAnswer {
    /// Returns a chart for each benchmark.
    pub fn charts(&self) -> Vec<Chart> {
        let charts = self.rows.iter().map(|row| {
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
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("burn-in");

impl Answer for BurnInAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        TextAnswer {
            headline: text::headline(&self.rows),
            table: text::table(&self.rows),
            notes: uncoded(if self.has_legend {
                text::LEGEND.map(str::to_owned).to_vec()
            } else {
                Vec::new()
            }),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let rows: Vec<BurnInDetails> = self.rows.iter().map(BurnInDetails::new).collect();
        Ok(json!({
            "benchmarks": rows,
            "not_judged": self.not_judged,
            "notes": self.notes,
        }))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        let rows: Vec<BurnInFields> = self.rows.iter().map(BurnInFields::new).collect();
        csv_rows(&rows)
    }
}
