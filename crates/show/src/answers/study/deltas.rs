//! Every pair of settings that differ by one treatment: `lapwing study effects --show deltas`.

use lapwing_model::text::{counted, grouped};
use lapwing_stats::deltas::{Delta, DeltaPairing};
use lapwing_study::{StudyData, StudyScale, measured_sets};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{StudyFields, share, value};
use super::{StudyAnswer, StudyAnswerError};
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Table};

/// Number of listed pairs.
const SHOWN: usize = 30;

/// The deltas.
#[derive(Debug, Serialize, JsonSchema)]
struct DeltasFields<'d> {
    /// Number of pairs of settings that differ by one treatment.
    number_of_deltas: usize,
    /// Number of those that are better with the treatment.
    better: usize,
    worse_or_equal: usize,
    deltas: Vec<DeltaRow<'d>>,
}

/// A pair of settings that differ by one treatment.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct DeltaRow<'d> {
    treatment: &'d str,
    /// The other treatments of both settings.
    present: Vec<&'d str>,
    /// Value without the treatment, in the unit.
    before: f64,
    /// Value with the treatment, in the unit.
    after: f64,
    /// The change on the scale.
    delta: f64,
    /// On the scale `log`: the change as a share.
    share: Option<f64>,
    runs_before: usize,
    runs_after: usize,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, DeltasFields<'_>>>("study-deltas").listing("deltas");

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
        for delta in &deltas {
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
        let mut charts = Vec::new();
        if !deltas.is_empty() {
            let order: Vec<usize> = (0..data.treatments.len()).collect();
            let times = measured_sets(data, StudyScale::Time)?.deltas(pairing);
            charts.push(("colour", chart::colour(data, &times, &order)));
        }
        let rows = deltas.iter().map(|delta| row(data, scale, delta));
        let rows: Vec<DeltaRow<'_>> = rows.collect();
        let fields = DeltasFields {
            number_of_deltas: deltas.len(),
            better,
            worse_or_equal: deltas.len() - better,
            deltas: rows.clone(),
        };
        Ok(Self {
            headline: format!(
                "{} of {}: {} better, {} worse or equal",
                counted(deltas.len(), "delta"),
                data.size_text(),
                grouped(better),
                grouped(deltas.len() - better)
            ),
            table,
            shown: Some(SHOWN),
            charts,
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
}

fn row<'d>(data: &'d StudyData, scale: StudyScale, delta: &Delta) -> DeltaRow<'d> {
    let treatments = data.treatments.iter().enumerate();
    let present = treatments.filter(|(at, _)| delta.set >> at & 1 == 1);
    DeltaRow {
        treatment: &data.treatments[delta.factor].name,
        present: present
            .map(|(_, treatment)| treatment.name.as_str())
            .collect(),
        before: value(scale, delta.before),
        after: value(scale, delta.after),
        delta: delta.change(),
        share: share(scale, Some(delta.change())),
        runs_before: delta.runs[0],
        runs_after: delta.runs[1],
    }
}
