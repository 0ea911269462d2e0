//! The next stacks to measure: `lapwing advise --explore`.

use lapwing_model::text::counted;
use lapwing_study::{ExploredStack, StackModel};
use serde::Serialize;
use serde_json::{Value, json};

use super::{about, expected_text};
use crate::percent;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
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
    pub notes: Vec<String>,
}

#[derive(Default, Serialize)]
struct ExploredRow {
    stack: String,
    instances: usize,
    expected: Option<f64>,
    expected_improvement_percent: Option<f64>,
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
        let data = self.model.data;
        let rows = self.stacks.iter().map(|explored| {
            let prediction = explored.prediction;
            let improvement = prediction.map(|_| -(-explored.expected_improvement).exp_m1());
            let expected = data.only_goal().zip(prediction);
            ExploredRow {
                stack: data.text(&explored.stack),
                instances: self.model.instances(&explored.stack),
                expected: expected.map(|(goal, prediction)| goal.value(prediction.mean)),
                expected_improvement_percent: improvement.map(|share| 100.0 * share),
            }
        });
        rows.collect()
    }
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("advise-explore");

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
            let improvement = row.expected_improvement_percent;
            table.row(vec![
                row.stack,
                row.instances.to_string(),
                expected.unwrap_or_default(),
                improvement.map_or_else(|| "unknown".to_owned(), |it| percent(it / 100.0)),
            ]);
        }
        TextAnswer {
            headline: self.headline(),
            table,
            notes: uncoded(self.notes.clone()),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let mut json = about(self.model);
        json["is_done"] = json!(self.is_done());
        json["explore"] = json!(self.explored_rows());
        json["headline"] = json!(self.headline());
        json["notes"] = json!(self.notes);
        Ok(json)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.explored_rows())
    }
}
