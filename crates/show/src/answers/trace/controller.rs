//! The phases of the controller: `lapwing trace show controller`.

use lapwing_model::text::counted;
use lapwing_trace::{ControllerTime, Trace};
use serde::Serialize;
use serde_json::{Value, json};

use super::with_defects;
use crate::percent;
use crate::trace::time;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};

/// What the controller does.
#[derive(Debug)]
pub struct ControllerAnswer<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// The time of the controller.
    pub controller: ControllerTime,
}

#[derive(Default, Serialize)]
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

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("trace-controller");

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
        let counts = (!counts.is_empty()).then(|| format!("counted: {}", counts.join(", ")));
        let answer = TextAnswer {
            headline: format!(
                "{} in {}: {} of tasks and transfers{}",
                counted(controller.iterations, "iteration"),
                time(self.trace.makespan()),
                counted(controller.events, "completion"),
                duty.unwrap_or_default()
            ),
            table,
            notes: uncoded(counts),
            next: Vec::new(),
            has_table_first: false,
        };
        with_defects([self.trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let controller = &self.controller;
        Ok(json!({
            "phases": self.phases(),
            "counts": controller.counts,
            "iterations": controller.iterations,
            "events": controller.events,
            "duty": controller.duty(),
            "busy_while_waiting": controller.busy_while_waiting,
        }))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.phases())
    }
}
