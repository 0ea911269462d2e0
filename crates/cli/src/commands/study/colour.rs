//! `lapwing study effects --show colour`: all deltas at a glance.

use lapwing_model::text::counted;
use lapwing_show::study::{StudyMetricText, chart};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::deltas::DeltaPairing;
use lapwing_stats::mean;
use lapwing_study::{StudyData, StudyScale};
use serde::Serialize;
use serde_json::json;

use super::answer::StudyAnswer;
use super::deltas::deltas;
use super::effects::StudyEffects;
use super::means::no_deltas;
use crate::error::CliError;

#[derive(Default, Serialize)]
pub struct ColourRow {
    treatment: String,
    deltas: usize,
    better: usize,
    mean_log2_ratio: f64,
    fast_half_log2_ratio: Option<f64>,
    slow_half_log2_ratio: Option<f64>,
}

impl StudyEffects {
    /// Returns a row per treatment.
    pub fn colour(&self, data: &StudyData) -> Result<StudyAnswer<ColourRow>, CliError> {
        let scale = StudyScale::Time;
        let mut all = deltas(data, scale, DeltaPairing::Means)?;
        all.retain(|own| own.before > 0.0 && own.after > 0.0);
        if all.is_empty() {
            return Err(no_deltas());
        }
        let mut rows: Vec<(usize, ColourRow)> = Vec::new();
        for (treatment, known) in data.treatments.iter().enumerate() {
            let mut own: Vec<(f64, f64)> = (all.iter().filter(|it| it.factor == treatment))
                .map(|it| (0.5 * (it.before + it.after), (it.after / it.before).log2()))
                .collect();
            own.sort_by(|one, other| one.0.total_cmp(&other.0));
            let logs: Vec<f64> = own.iter().map(|(_, log)| *log).collect();
            let Some(centre) = mean(&logs) else { continue };
            let half = logs.len() / 2;
            rows.push((
                treatment,
                ColourRow {
                    treatment: known.name.clone(),
                    deltas: logs.len(),
                    better: logs
                        .iter()
                        .filter(|log| data.metric.is_gain(scale, **log))
                        .count(),
                    mean_log2_ratio: centre,
                    fast_half_log2_ratio: mean(&logs[..half]),
                    slow_half_log2_ratio: mean(&logs[logs.len() - half..]),
                },
            ));
        }
        rows.sort_by(|one, other| one.1.mean_log2_ratio.total_cmp(&other.1.mean_log2_ratio));
        let text = |log: f64| {
            data.metric
                .change_text(StudyScale::Log, log * std::f64::consts::LN_2)
        };
        let half = |log: Option<f64>| log.map_or("–".to_owned(), text);
        let mut table = Table::new(&[
            ("treatment", Left),
            ("mean change", Right),
            ("in the lower half", Right),
            ("in the upper half", Right),
            ("better", Right),
        ]);
        for (_, own) in &rows {
            table.row(vec![
                own.treatment.clone(),
                text(own.mean_log2_ratio),
                half(own.fast_half_log2_ratio),
                half(own.slow_half_log2_ratio),
                format!("{} of {}", own.better, own.deltas),
            ]);
        }
        let always = rows
            .iter()
            .filter(|(_, own)| own.better == own.deltas || own.better == 0)
            .count();
        let order: Vec<usize> = rows.iter().map(|(treatment, _)| *treatment).collect();
        Ok(StudyAnswer {
            headline: format!(
                "{} of {} have the same sign in every pair of settings",
                always,
                counted(rows.len(), "treatment")
            ),
            table,
            notes: vec!["halves: by the level of the two values that are compared".to_owned()],
            rows: rows.into_iter().map(|(_, own)| own).collect(),
            key: "colours",
            more: json!({}),
            charts: vec![("colour", chart::colour(data, &all, &order))],
        })
    }
}
