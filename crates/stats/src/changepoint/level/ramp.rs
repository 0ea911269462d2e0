//! Slow drifts, told from steps.

use std::ops::Range;

use super::noise::median_absolute;
use crate::describe::{median, squares_around};
use crate::number::as_f64;

/// More values than this are taken together, by medians.
const MOST_VALUES: usize = 200;
/// The number of places at which a drift may begin or end.
const KNOTS: usize = 24;
/// A value is a spike if its distance from the median of its neighbours is so many times the usual one.
const FAR: f64 = 6.0;
/// A drift has to be better than the steps by so much of Schwarz's criterion: positive evidence (Kass & Raftery, *JASA*
/// 1995).
const STRONG: f64 = 2.0;

/// Returns the indices between which the level drifts, if one even drift describes the values better than steps
/// at these indices, which are in order and inside the series: from the last value at the old level up to the first
/// one at the new level.
///
/// Both descriptions are fitted by least squares to values of which isolated ones are smoothed away, and compared by
/// Schwarz's criterion n ln(RSS / n) + k ln n, with the places of steps and the ends of the drift among the k
/// parameters.
pub fn drift(values: &[f64], steps: &[usize]) -> Option<Range<usize>> {
    let smooth = without_spikes(values);
    let width = values.len().div_ceil(MOST_VALUES).max(1);
    let bins: Vec<f64> = smooth.chunks(width).filter_map(median).collect();
    let count = as_f64(bins.len());
    let criterion = |rss: f64, parameters: usize| {
        count * (rss / count).max(1e-30).ln() + as_f64(parameters) * count.ln()
    };
    let places: Vec<usize> = steps.iter().map(|step| step / width).collect();
    let of_steps = criterion(squares_around_steps(&bins, &places), 2 * steps.len() + 1);
    let knot = |i: usize| i * (bins.len() - 1) / (KNOTS - 1);
    let shortest = (bins.len() / 6).max(3);
    let mut best: Option<(f64, Range<usize>)> = None;
    for first in 0..KNOTS {
        for last in first + 1..KNOTS {
            let (from, to) = (knot(first), knot(last));
            if to < from + shortest {
                continue;
            }
            let rss = ramp_rss(&bins, from, to);
            if best.as_ref().is_none_or(|(smallest, _)| rss < *smallest) {
                best = Some((rss, from..to));
            }
        }
    }
    let (rss, found) = best?;
    let is_drift = criterion(rss, 4) + STRONG < of_steps;
    is_drift.then(|| found.start * width..(found.end * width).min(values.len() - 1))
}

/// Returns the values with those replaced by the median of their neighbourhood that are far from it.
fn without_spikes(values: &[f64]) -> Vec<f64> {
    let near = |at: usize| {
        let from = at.saturating_sub(2);
        median(&values[from..(at + 3).min(values.len())]).unwrap_or(values[at])
    };
    let medians: Vec<f64> = (0..values.len()).map(near).collect();
    let pairs = values.iter().zip(&medians);
    let distances: Vec<f64> = pairs.clone().map(|(value, near)| value - near).collect();
    let limit = FAR * median_absolute(&distances);
    pairs
        .map(|(value, near)| {
            if (value - near).abs() > limit {
                *near
            } else {
                *value
            }
        })
        .collect()
}

/// Returns the sum of squares around the mean of each part between steps at these indices, which do not fall.
pub(crate) fn squares_around_steps(values: &[f64], steps: &[usize]) -> f64 {
    let (mut squares, mut start) = (0.0, 0);
    for end in steps.iter().copied().chain([values.len()]) {
        let part = &values[start.min(end)..end];
        let mean = part.iter().sum::<f64>() / as_f64(part.len().max(1));
        squares += squares_around(part, mean);
        start = end;
    }
    squares
}

/// The residual sum of squares of a level, an even drift and another level.
fn ramp_rss(values: &[f64], from: usize, to: usize) -> f64 {
    let height = |at: usize| {
        let along = (as_f64(at) - as_f64(from)) / as_f64(to - from);
        along.clamp(0.0, 1.0)
    };
    let count = as_f64(values.len());
    let (mut x, mut xx, mut y, mut xy, mut yy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let height = height(at);
        x += height;
        xx += height * height;
        y += value;
        xy += height * value;
        yy += value * value;
    }
    let (sxx, sxy, syy) = (xx - x * x / count, xy - x * y / count, yy - y * y / count);
    if sxx > 0.0 {
        (syy - sxy * sxy / sxx).max(0.0)
    } else {
        syy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::testing::{Noise, series};
    use crate::changepoint::level::{LevelOptions, level_changes};

    fn classified(values: &[f64]) -> Option<Range<usize>> {
        let found = level_changes(values, &LevelOptions::default());
        let steps: Vec<usize> = found.changes.iter().map(|change| change.index).collect();
        assert!(!steps.is_empty());
        drift(values, &steps)
    }

    #[test]
    fn a_slow_drift_is_one_and_a_step_is_none() {
        let (mut drifts, mut steps) = (0, 0);
        for seed in 0..100 {
            let mut values = series(Noise::Normal, 120, seed);
            for (at, value) in values.iter_mut().enumerate() {
                *value += 6.0 * ((as_f64(at) - 30.0) / 60.0).clamp(0.0, 1.0);
            }
            drifts += usize::from(classified(&values).is_some());
            let mut values = series(Noise::Normal, 120, seed);
            for value in &mut values[60..] {
                *value += 3.0;
            }
            steps += usize::from(classified(&values).is_none());
        }
        assert!(
            drifts >= 85 && steps >= 92,
            "{drifts} drifts, {steps} steps of 100"
        );
    }
}
