//! `lapwing study effects --show deltas`: every pair of settings that differ by one treatment.

use lapwing_model::text::{counted, grouped};
use lapwing_show::study::{StudyMetricText, chart};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::deltas::{Delta, DeltaPairing, MeasuredSets};
use lapwing_study::{StudyData, StudyScale};
use serde::Serialize;
use serde_json::json;

use super::answer::StudyAnswer;
use super::effects::StudyEffects;
use crate::error::CliError;

/// More deltas are not spelt out.
const SHOWN: usize = 30;

#[derive(Default, Serialize)]
pub struct DeltaRow {
    treatment: String,
    present: Vec<String>,
    before: f64,
    after: f64,
    delta: f64,
    runs_before: usize,
    runs_after: usize,
}

impl StudyEffects {
    /// Returns the deltas, the largest change first.
    pub fn deltas(
        &self,
        data: &StudyData,
        scale: StudyScale,
    ) -> Result<StudyAnswer<DeltaRow>, CliError> {
        let pairing = self.pairing();
        let mut deltas = deltas(data, scale, pairing)?;
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
            .filter(|own| data.metric.is_gain(scale, own.change()))
            .count();
        let mut notes = Vec::new();
        if deltas.len() > SHOWN {
            let rest = grouped(deltas.len() - SHOWN);
            notes.push(format!(
                "{rest} smaller ones are not shown; `--format csv` lists all"
            ));
        }
        let order: Vec<usize> = (0..data.treatments.len()).collect();
        let charts = if deltas.is_empty() {
            Vec::new()
        } else {
            vec![(
                "colour",
                chart::colour(
                    data,
                    &self::deltas(data, StudyScale::Time, pairing)?,
                    &order,
                ),
            )]
        };
        Ok(StudyAnswer {
            headline: format!(
                "{} of {}: {} better, {} worse or equal",
                counted(deltas.len(), "delta"),
                data.size_text(),
                grouped(better),
                grouped(deltas.len() - better)
            ),
            table,
            notes,
            rows: deltas.iter().map(|own| row(data, own)).collect(),
            key: "deltas",
            more: json!({}),
            charts,
        })
    }
}

fn row(data: &StudyData, own: &Delta) -> DeltaRow {
    let present = data.treatments.iter().enumerate();
    let present = present.filter(|(at, _)| own.set >> at & 1 == 1);
    DeltaRow {
        treatment: data.treatments[own.factor].name.clone(),
        present: present
            .map(|(_, treatment)| treatment.name.clone())
            .collect(),
        before: own.before,
        after: own.after,
        delta: own.change(),
        runs_before: own.runs[0],
        runs_after: own.runs[1],
    }
}

/// Returns the sets of a study on a scale.
pub fn measured(data: &StudyData, scale: StudyScale) -> Result<MeasuredSets, CliError> {
    let sets = data.sets(scale);
    if sets.is_empty() {
        return Err(CliError::not_enough(format!(
            "no value has a {} scale",
            scale.name()
        )));
    }
    MeasuredSets::new(&sets).ok_or_else(|| CliError::not_enough("values are not finite"))
}

/// Returns the deltas of a study on a scale.
pub fn deltas(
    data: &StudyData,
    scale: StudyScale,
    pairing: DeltaPairing,
) -> Result<Vec<Delta>, CliError> {
    Ok(measured(data, scale)?.deltas(pairing))
}
