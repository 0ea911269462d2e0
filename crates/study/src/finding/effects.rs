//! The effect of each treatment, from the model or from deltas.

use lapwing_stats::deltas::MeanDelta;
use lapwing_stats::{Interval, mean};

use super::is_sure;
use crate::average::{AverageEffects, AverageTerm};
use crate::data::StudyData;
use crate::scale::StudyScale;

/// The effect of a treatment, from the model or from deltas.
#[derive(Debug, Clone, PartialEq)]
pub struct MainEffect {
    /// The number of the treatment.
    pub treatment: usize,
    /// The change.
    pub change: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// The settings that it is an average over.
    pub over: AveragedOver,
    /// The level that 5 % of it is compared with.
    pub level: f64,
    /// Whether it differs from none, after correction for all effects.
    pub is_sure: bool,
}

/// The settings that an effect is an average over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AveragedOver {
    /// All combinations of the other factors, by the model.
    Combinations,
    /// This number of pairs of measured settings.
    SettingPairs(usize),
}

/// Returns the effect of each treatment that has one, the largest first.
pub(super) fn main_effects(
    data: &StudyData,
    scale: StudyScale,
    average: Option<&AverageEffects>,
    means: &[MeanDelta],
) -> Vec<MainEffect> {
    let costs = data.instances.iter();
    let costs: Vec<f64> = costs.map(|instance| scale.of(instance.cost)).collect();
    let level = mean(&costs).unwrap_or(0.0).abs();
    let of_model = |treatment: usize| {
        let effect = average?
            .of_treatments()
            .find(|effect| effect.term == AverageTerm::One(treatment))?;
        Some(MainEffect {
            treatment,
            change: effect.coefficient?.estimate,
            interval: effect.interval,
            over: AveragedOver::Combinations,
            level,
            is_sure: effect.is_sure(),
        })
    };
    let of_deltas = |treatment: usize| {
        let delta = means.iter().find(|delta| delta.factor == treatment)?;
        Some(MainEffect {
            treatment,
            change: delta.mean,
            interval: delta.interval,
            over: AveragedOver::SettingPairs(delta.set_pairs),
            level: delta.mean_before.abs(),
            is_sure: is_sure(delta.adjusted_p_value),
        })
    };
    let treatments = 0..data.treatments.len();
    let effects = treatments.filter_map(|it| of_model(it).or_else(|| of_deltas(it)));
    let mut effects: Vec<MainEffect> = effects.collect();
    effects.sort_by(|one, other| other.change.abs().total_cmp(&one.change.abs()));
    effects
}
