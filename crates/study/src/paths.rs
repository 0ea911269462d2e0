//! From one setting to another: paths that change one treatment at a time, and what each is responsible for.

use std::collections::BTreeMap;

use lapwing_stats::shapley::{
    PathStep, best_first_path, model_attribution, path_of_order, shapley_values,
};
use lapwing_stats::{Confidence, Interval, as_f64, mean, pooled_variance};

use crate::data::StudyData;
use crate::fit::StudyFit;
use crate::scale::StudyScale;

/// With more treatments the cells of all sets would hardly ever be measured.
const MOST_EXACT: usize = 16;

/// The values of settings on a scale: measured, or else predicted by a model of logarithms.
#[derive(Debug)]
pub struct SettingValues<'a> {
    data: &'a StudyData,
    scale: StudyScale,
    measured: BTreeMap<u128, f64>,
    fit: Option<&'a StudyFit>,
}

impl<'a> SettingValues<'a> {
    /// Returns the values of a study; `fit` is a model of logarithms for settings that were not measured.
    pub fn new(data: &'a StudyData, scale: StudyScale, fit: Option<&'a StudyFit>) -> Self {
        Self {
            data,
            scale,
            measured: data.set_means(scale),
            fit: fit.filter(|fit| fit.options.scale == StudyScale::Log),
        }
    }

    /// Returns whether a setting was measured.
    pub fn is_measured(&self, set: u128) -> bool {
        self.measured.contains_key(&set)
    }

    /// Returns the value of a setting; `None` if there is none, such as of a factor with two levels at once.
    pub fn value(&self, set: u128) -> Option<f64> {
        if let Some(value) = self.measured.get(&set) {
            return Some(*value);
        }
        let fit = self.fit.filter(|_| self.data.is_possible(set))?;
        let predictions = fit.predict(self.data, &[self.data.levels_of(set)]).ok()?;
        let prediction = predictions.first().filter(|it| it.is_estimable)?;
        Some(self.scale.of(prediction.mean.exp()))
    }
}

/// In which order treatments are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathOrder {
    /// Always the best next step.
    BestFirst,
    /// The nicest treatments first, by these ranks of treatments; within a rank the best step.
    NicestFirst(Vec<usize>),
    /// In this order.
    Given(Vec<usize>),
}

/// A path from one setting to another.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyPath {
    /// Its steps.
    pub steps: Vec<PathStep>,
    /// Whether it ends where it should; else a setting on the way has no value.
    pub is_complete: bool,
}

/// Returns the path from one set to another.
pub fn study_path(
    values: &SettingValues<'_>,
    from: u128,
    to: u128,
    order: &PathOrder,
) -> StudyPath {
    // The steps are chosen by cost, whatever the scale; higher may be better.
    let gains = values.data.metric.is_gain(values.scale, 1.0);
    let sign = if gains { -1.0 } else { 1.0 };
    let signed = |set: u128| values.value(set).map(|value| sign * value);
    let mut steps = match order {
        PathOrder::BestFirst => best_first_path(from, to, &[], signed),
        PathOrder::NicestFirst(ranks) => best_first_path(from, to, ranks, signed),
        PathOrder::Given(order) => path_of_order(from, order, signed),
    };
    for step in &mut steps {
        step.before *= sign;
        step.after *= sign;
    }
    StudyPath {
        is_complete: steps.last().map_or(from, |step| step.set) == to,
        steps,
    }
}

/// What a treatment, or a factor, is responsible for.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    /// The name of each treatment or factor, its Shapley value and the interval of it.
    pub shares: Vec<(String, f64, Option<Interval>)>,
    /// Where the values come from.
    pub source: AttributionSource,
}

/// Where Shapley values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributionSource {
    /// The means of all sets between the two settings, which were all measured.
    Measured,
    /// The coefficients of the model.
    Model,
}

/// Returns the Shapley values of the step from one set to another, on a scale: exact from measured sets if all of
/// them were measured, else from a model on that scale. They sum to the difference.
pub fn attribution(
    data: &StudyData,
    scale: StudyScale,
    from: u128,
    to: u128,
    fit: Option<&StudyFit>,
    confidence: Confidence,
) -> Option<Attribution> {
    measured_attribution(data, scale, from, to, confidence).or_else(|| {
        let fit = fit.filter(|fit| fit.options.scale == scale)?;
        let ends = [from, to].map(|set| data.levels_of(set));
        let matrix = fit.matrix_of(data, &ends).ok()?;
        let shares = model_attribution(&fit.fit, &matrix, confidence).into_iter();
        let shares = shares.filter_map(|share| {
            let factor = data.factors.get(share.factor)?;
            let [from, to] = [0, 1].map(|end: usize| ends[end][share.factor]);
            (from != to).then(|| (factor.name.clone(), share.value.estimate, share.interval))
        });
        Some(Attribution {
            shares: shares.collect(),
            source: AttributionSource::Model,
        })
    })
}

fn measured_attribution(
    data: &StudyData,
    scale: StudyScale,
    from: u128,
    to: u128,
    confidence: Confidence,
) -> Option<Attribution> {
    let changed: Vec<usize> = (0..data.treatments.len())
        .filter(|at| (from ^ to) >> at & 1 == 1)
        .collect();
    if changed.len() > MOST_EXACT || changed.is_empty() {
        return None;
    }
    let values = data.set_values(scale);
    let cells: Vec<&Vec<f64>> = (0..1_usize << changed.len())
        .map(|cell| {
            let bits = changed.iter().enumerate();
            let flipped = bits.filter(|(at, _)| cell >> at & 1 == 1);
            let set = flipped.fold(from, |set, (_, bit)| set ^ 1 << bit);
            values.get(&set)
        })
        .collect::<Option<_>>()?;
    let means: Vec<f64> = cells.iter().filter_map(|values| mean(values)).collect();
    let shares = shapley_values(&means)?;
    // Of independent cell means the value is a weighted sum: its variance is that of a run times Σ w² / n.
    let noise = pooled_variance(values.values());
    let spread = spreads(&cells);
    let interval = |at: usize, share: f64| {
        let (variance, freedom) = noise?;
        let reach = confidence.t_quantile(freedom)? * (variance * spread[at]).sqrt();
        Some(Interval::around(share, reach))
    };
    let named = shares.into_iter().enumerate().map(|(at, share)| {
        let name = data.treatments[changed[at]].name.clone();
        (name, share, interval(at, share))
    });
    Some(Attribution {
        shares: named.collect(),
        source: AttributionSource::Measured,
    })
}

/// Returns Σ w² / n over all cells, of each factor.
fn spreads(cells: &[&Vec<f64>]) -> Vec<f64> {
    let factors = cells.len().trailing_zeros() as usize;
    let mut weights = vec![1.0 / as_f64(factors.max(1))];
    for size in 1..factors {
        // 1 / (k C(k − 1, s)) from the one before.
        weights.push(weights[size - 1] * as_f64(size) / as_f64(factors - size));
    }
    let spread = |factor: usize| {
        let parts = cells.iter().enumerate().map(|(cell, values)| {
            let size = (cell & !(1 << factor)).count_ones() as usize;
            weights[size].powi(2) / as_f64(values.len())
        });
        parts.sum()
    };
    (0..factors).map(spread).collect()
}
