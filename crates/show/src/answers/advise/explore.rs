//! The next stacks to measure: `lapwing advise --explore`.

use lapwing_model::text::counted;
use lapwing_study::{ExploredStack, StackModel};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{ModelFields, expected, expected_text};
use crate::percent;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Below this expected improvement measuring more is hardly worth it.
const SMALLEST: f64 = 0.01;

/// The next stacks to measure, and what is expected of them.
#[derive(Debug)]
pub struct ExploreAnswer<'m> {
    /// The model of all measured stacks.
    pub model: &'m StackModel<'m>,
    /// The stacks.
    pub stacks: Vec<ExploredStack>,
    /// Notes on the data, and on files that were written.
    pub notes: Vec<Note>,
}

/// The next stacks to measure.
#[derive(Debug, Serialize, JsonSchema)]
struct ExploreFields<'m> {
    #[serde(flatten)]
    model: ModelFields<'m>,
    /// Whether no stack is expected to improve the goal by `smallest_improvement`.
    is_done: bool,
    /// Below this expected improvement, measuring more is hardly worth it, as a share.
    smallest_improvement: f64,
    /// Number of proposed stacks.
    stacks: usize,
    explore: Vec<ExploredRow>,
}

/// A stack to measure.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct ExploredRow {
    stack: String,
    /// Number of measured instances.
    instances: usize,
    /// Expected value of the only metric of the goal.
    expected: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// Expected improvement of the goal, as a share.
    expected_improvement: Option<f64>,
}

impl ExploreAnswer<'_> {
    /// Returns the stacks, one per line.
    pub fn lines(&self) -> String {
        let stacks = self.stacks.iter();
        let lines: Vec<String> = stacks
            .map(|explored| self.model.data.text(&explored.stack))
            .collect();
        format!("{}\n", lines.join("\n"))
    }

    fn is_done(&self) -> bool {
        let mut stacks = self.stacks.iter();
        stacks.all(|explored| explored.expected_improvement < SMALLEST)
    }

    fn headline(&self) -> String {
        if self.is_done() {
            "No stack is expected to improve the goal by 1 %: measuring more is hardly worth it"
                .to_owned()
        } else {
            format!("Measure next: {}", counted(self.stacks.len(), "stack"))
        }
    }

    fn explored_rows(&self) -> Vec<ExploredRow> {
        let rows = self.stacks.iter().map(|explored| {
            let prediction = explored.prediction;
            let improvement = prediction.map(|_| -(-explored.expected_improvement).exp_m1());
            let expectation = || self.model.expectation(&explored.stack);
            let expected = prediction.and_then(|_| expected(self.model, &expectation()));
            ExploredRow {
                stack: self.model.data.text(&explored.stack),
                instances: self.model.instances(&explored.stack),
                expected: expected.map(|[value, ..]| value),
                lower: expected.map(|[_, lower, _]| lower),
                upper: expected.map(|[.., upper]| upper),
                expected_improvement: improvement,
            }
        });
        rows.collect()
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<ExploreFields<'_>>("advise-explore").listing("explore");

impl Answer for ExploreAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut table = Table::new(&[
            ("stack", Left),
            ("instances", Right),
            ("expected", Right),
            ("expected improvement", Right),
        ]);
        for (row, explored) in self.explored_rows().into_iter().zip(&self.stacks) {
            let expected = explored.prediction.map(|_| {
                let expectation = self.model.expectation(&explored.stack);
                expected_text(self.model, &expectation)
            });
            let improvement = row.expected_improvement;
            table.row(vec![
                row.stack,
                row.instances.to_string(),
                expected.unwrap_or_default(),
                improvement.map_or_else(|| "unknown".to_owned(), percent),
            ]);
        }
        TextAnswer {
            headline: self.headline(),
            table,
            notes: self.notes.clone(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(ExploreFields {
            model: ModelFields::new(self.model),
            is_done: self.is_done(),
            smallest_improvement: SMALLEST,
            stacks: self.stacks.len(),
            explore: self.explored_rows(),
        })?)
    }

    fn verdict(&self) -> Option<&'static str> {
        Some(if self.is_done() { "done" } else { "measure" })
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.explored_rows())
    }
}
