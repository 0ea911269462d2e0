//! The phases of the controller: `lapwing trace controller`.

use std::collections::BTreeMap;

use lapwing_model::text::counted;
use lapwing_trace::{ControllerTime, Trace};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::with_defects;
use crate::percent;
use crate::trace::time;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// What the controller does.
#[derive(Debug)]
pub struct ControllerAnswer<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// The time of the controller.
    pub controller: ControllerTime,
}

/// The time of a controller, in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
struct ControllerFields<'c> {
    /// Time from the first event of the run to its end.
    makespan: i64,
    iterations: usize,
    /// Number of completions of tasks and transfers.
    events: usize,
    /// The share of the time in which the controller is busy.
    duty: Option<f64>,
    /// Time in which it is busy in a phase of waiting.
    busy_while_waiting: Option<i64>,
    /// What the controller counts: times in nanoseconds where the name ends in `Duration`.
    counts: &'c BTreeMap<String, i64>,
    phases: Vec<PhaseRow<'c>>,
}

/// A phase, with times in nanoseconds.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct PhaseRow<'c> {
    phase: &'c str,
    count: usize,
    sum: i64,
    max: i64,
}

impl ControllerAnswer<'_> {
    fn phases(&self) -> Vec<PhaseRow<'_>> {
        let phases = self.controller.phases.iter();
        let rows = phases.map(|(phase, time)| PhaseRow {
            phase,
            count: time.count,
            sum: time.sum,
            max: time.max,
        });
        rows.collect()
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<ControllerFields<'_>>("trace-controller").listing("phases");

impl Answer for ControllerAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let controller = &self.controller;
        let mut table = Table::new(&[
            ("phase", Left),
            ("number", Right),
            ("sum", Right),
            ("longest", Right),
        ]);
        for row in self.phases() {
            table.row(vec![
                row.phase.to_owned(),
                row.count.to_string(),
                time(row.sum),
                time(row.max),
            ]);
        }
        let duty = controller.duty();
        let duty = duty.map(|duty| format!(", busy {} of the time", percent(duty)));
        let counts = controller.counts.iter().map(|(name, count)| {
            if name.ends_with("Duration") {
                format!("{name} {}", time(*count))
            } else {
                format!("{name} {count}")
            }
        });
        let counts: Vec<String> = counts.collect();
        let text = format!("counted: {}", counts.join(", "));
        let counts = (!counts.is_empty()).then(|| Note::new("counted", text));
        let answer = TextAnswer {
            headline: format!(
                "{} in {}: {} of tasks and transfers{}",
                counted(controller.iterations, "iteration"),
                time(self.trace.makespan()),
                counted(controller.events, "completion"),
                duty.unwrap_or_default()
            ),
            table,
            notes: counts.into_iter().collect(),
            ..TextAnswer::default()
        };
        with_defects([self.trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let controller = &self.controller;
        Ok(serde_json::to_value(ControllerFields {
            makespan: self.trace.makespan(),
            iterations: controller.iterations,
            events: controller.events,
            duty: controller.duty(),
            busy_while_waiting: controller.busy_while_waiting,
            counts: &controller.counts,
            phases: self.phases(),
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.phases())
    }
}
