//! The effect of each treatment, from the model or from deltas.

use lapwing_model::text::counted;
use lapwing_stats::deltas::MeanDelta;
use lapwing_stats::{Interval, mean};

use super::is_sure;
use lapwing_study::StudyData;
use lapwing_study::StudyScale;
use lapwing_study::{AverageEffects, AverageTerm};

/// The effect of a treatment, from the model or from deltas.
pub(super) struct MainEffect {
    pub(super) treatment: usize,
    pub(super) value: f64,
    pub(super) interval: Option<Interval>,
    /// The settings that it is an average over, in words.
    pub(super) over: String,
    /// The level that 5 % of it is compared with.
    pub(super) level: f64,
    pub(super) is_sure: bool,
}

/// Returns the effect of each treatment that has one, the largest first.
pub(super) fn main_effects(
    data: &StudyData,
    scale: StudyScale,
    average: Option<&AverageEffects>,
    means: &[MeanDelta],
) -> Vec<MainEffect> {
    let costs: Vec<f64> = data
        .instances
        .iter()
        .map(|own| scale.of(own.cost))
        .collect();
    let level = mean(&costs).unwrap_or(0.0).abs();
    let of_model = |treatment: usize| {
        let own = average?
            .of_treatments()
            .find(|it| it.term == AverageTerm::One(treatment))?;
        Some(MainEffect {
            treatment,
            value: own.coefficient?.estimate,
            interval: own.interval,
            over: "on average over all combinations of the others".to_owned(),
            level,
            is_sure: own.is_sure(),
        })
    };
    let of_deltas = |treatment: usize| {
        let own = means.iter().find(|it| it.factor == treatment)?;
        Some(MainEffect {
            treatment,
            value: own.mean,
            interval: own.interval,
            over: format!(
                "on average over {} of settings",
                counted(own.set_pairs, "pair")
            ),
            level: own.mean_before.abs(),
            is_sure: is_sure(own.adjusted_p_value),
        })
    };
    let treatments = 0..data.treatments.len();
    let effects = treatments.filter_map(|it| of_model(it).or_else(|| of_deltas(it)));
    let mut effects: Vec<MainEffect> = effects.collect();
    effects.sort_by(|one, other| other.value.abs().total_cmp(&one.value.abs()));
    effects
}
