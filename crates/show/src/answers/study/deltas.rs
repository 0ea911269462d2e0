//! Every pair of settings that differ by one treatment: `lapwing study effects --show deltas`.

use lapwing_model::text::{counted, grouped};
use lapwing_stats::deltas::{Delta, DeltaPairing};
use lapwing_study::{StudyData, StudyScale, measured_sets};
use serde::Serialize;
use serde_json::Value;

use super::{StudyAnswer, StudyAnswerError};
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

/// Maximum number of rows of the table.
const SHOWN: usize = 30;

#[derive(Default, Serialize)]
struct DeltaRow<'d> {
    treatment: &'d str,
    present: Vec<&'d str>,
    before: f64,
    after: f64,
    delta: f64,
    runs_before: usize,
    runs_after: usize,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the deltas, the largest change first.
    pub fn deltas(
        data: &'d StudyData,
        scale: StudyScale,
        pairing: DeltaPairing,
    ) -> Result<Self, StudyAnswerError> {
        let mut deltas = measured_sets(data, scale)?.deltas(pairing);
        deltas.sort_by(|one, other| other.change().abs().total_cmp(&one.change().abs()));
        let mut table = Table::new(&[
            ("treatment", Left),
            ("added to", Left),
            ("before", Right),
            ("after", Right),
            ("change", Right),
        ]);
        for delta in deltas.iter().take(SHOWN) {
            table.row(vec![
                data.treatments[delta.factor].name.clone(),
                data.set_text(delta.set),
                data.metric.value_text(scale, delta.before),
                data.metric.value_text(scale, delta.after),
                data.metric.change_text(scale, delta.change()),
            ]);
        }
        let better = deltas
            .iter()
            .filter(|delta| data.metric.is_gain(scale, delta.change()))
            .count();
        let mut notes = Vec::new();
        if deltas.len() > SHOWN {
            let rest = grouped(deltas.len() - SHOWN);
            notes.push(format!(
                "{rest} smaller ones are not shown; `--format csv` lists all"
            ));
        }
        let mut charts = Vec::new();
        if !deltas.is_empty() {
            let order: Vec<usize> = (0..data.treatments.len()).collect();
            let times = measured_sets(data, StudyScale::Time)?.deltas(pairing);
            charts.push(("colour", chart::colour(data, &times, &order)));
        }
        let rows: Vec<DeltaRow<'_>> = deltas.iter().map(|delta| row(data, delta)).collect();
        Ok(Self {
            headline: format!(
                "{} of {}: {} better, {} worse or equal",
                counted(deltas.len(), "delta"),
                data.size_text(),
                grouped(better),
                grouped(deltas.len() - better)
            ),
            table,
            notes,
            charts,
            ..Self::of_rows(data, scale, ("deltas", &rows), Value::Null)?
        })
    }
}

fn row<'d>(data: &'d StudyData, delta: &Delta) -> DeltaRow<'d> {
    let treatments = data.treatments.iter().enumerate();
    let present = treatments.filter(|(at, _)| delta.set >> at & 1 == 1);
    DeltaRow {
        treatment: &data.treatments[delta.factor].name,
        present: present
            .map(|(_, treatment)| treatment.name.as_str())
            .collect(),
        before: delta.before,
        after: delta.after,
        delta: delta.change(),
        runs_before: delta.runs[0],
        runs_after: delta.runs[1],
    }
}
