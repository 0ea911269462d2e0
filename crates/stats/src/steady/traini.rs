//! The steady state as Traini et al. find it.
//!
//! Traini, Cortellessa, Di Pompeo & Tucci, *Towards effective assessment of steady state
//! performance in Java software: are we there yet?*, EMSE 2023. For comparisons with published
//! results; [`super::steady_state`] is what Lapwing uses.

use rand_chacha::rand_core::Rng;

use super::krun::without;
use super::number::whole;
use super::{Fences, outliers_of_any_window};
use crate::changepoint::{NormalMeanVariance, crops, elbow, pelt};
use crate::mean;
use crate::number::as_f64;

/// The limits of Traini et al.'s method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traini {
    /// The rule for outliers.
    pub fences: Fences,
    /// The smallest penalty that is looked at, in units of ln n.
    pub smallest_penalty: f64,
    /// The largest penalty that is looked at, in units of ln n.
    pub largest_penalty: f64,
    /// The penalty where the curve has no elbow, in units of ln n.
    pub fallback_penalty: f64,
    /// A segment whose mean differs by less than this share is equivalent to the last.
    pub margin: f64,
    /// The number of bootstrap resamples.
    pub resamples: u32,
    /// The last iteration at which the steady state may start.
    pub latest_start: usize,
}

impl Default for Traini {
    /// The published limits, for 3,000 iterations.
    fn default() -> Self {
        Self {
            fences: Fences::TRAINI,
            smallest_penalty: 4.0,
            largest_penalty: 100_000.0,
            fallback_penalty: 15.0,
            margin: 0.05,
            resamples: 10_000,
            latest_start: 2499,
        }
    }
}

/// The result of Traini et al.'s method for one fork.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainiState {
    /// The start of the steady state as they count it: the last iteration that differs, and 0
    /// when none does; `None` if it lies too late.
    pub start: Option<usize>,
    /// The last iteration of every segment, as they count; the last is that of the fork.
    pub segment_ends: Vec<usize>,
    /// The iterations excluded as outliers in the search for change points.
    pub outliers: Vec<usize>,
}

/// Returns the start of the steady state of one fork, from the times of its iterations.
///
/// Without outliers (any window, after the first ⌈200 / ln(1 + ⌈0.1 s / mean⌉)⌉ iterations), the
/// series is cut by PELT (normal mean and variance, at least two values) with the penalty
/// at the elbow of the number of change points over the penalty. From the end backwards, the
/// first segment differs for which the bootstrap interval (95 %, percentiles) of the last
/// segment's mean over its mean lies outside 1 ± margin. Means are over all iterations,
/// outliers included.
pub fn traini(seconds: &[f64], options: &Traini, random: &mut impl Rng) -> TrainiState {
    let outliers = outliers_of_any_window(seconds, skipped(seconds, options), &options.fences);
    let (kept, place) = without(seconds, &outliers);
    let mut segment_ends: Vec<usize> = change_points(&kept, options)
        .into_iter()
        .map(|at| place[at - 1])
        .collect();
    segment_ends.extend(place.last());
    let start = last_difference(seconds, &segment_ends, options, random);
    TrainiState {
        start: (start <= options.latest_start).then_some(start),
        segment_ends,
        outliers,
    }
}

/// The number of iterations at the beginning that no window covers.
fn skipped(seconds: &[f64], options: &Traini) -> usize {
    let calls = (0.1 / mean(seconds).unwrap_or(f64::INFINITY)).ceil();
    whole((as_f64(options.fences.window) / calls.ln_1p()).ceil())
}

/// The change points for the penalty at the elbow.
fn change_points(kept: &[f64], options: &Traini) -> Vec<usize> {
    let cost = NormalMeanVariance::as_in_r(kept);
    let unit = as_f64(kept.len()).ln();
    let ranges = crops(
        &cost,
        options.smallest_penalty * unit,
        options.largest_penalty * unit,
        2,
    );
    if let [only] = ranges.as_slice() {
        return only.best.change_points.clone();
    }
    let curve: Vec<(f64, f64)> = ranges
        .iter()
        .rev()
        .map(|range| (range.from, as_f64(range.best.change_points.len())))
        .collect();
    let penalty = elbow(&curve).map_or(options.fallback_penalty * unit, |at| curve[at].0);
    pelt(&cost, penalty, 2).change_points
}

/// The last iteration that is not equivalent to the last segment, or 0.
fn last_difference(
    seconds: &[f64],
    ends: &[usize],
    options: &Traini,
    random: &mut impl Rng,
) -> usize {
    let Some((_, earlier)) = ends.split_last() else {
        return 0;
    };
    let Some(last_end) = earlier.last() else {
        return 0;
    };
    let last = &seconds[last_end + 1..];
    for (k, end) in earlier.iter().enumerate().rev() {
        let start = if k == 0 { 0 } else { earlier[k - 1] + 1 };
        if *end > 0 && differ(last, &seconds[start..=*end], options, random) {
            return *end;
        }
    }
    0
}

/// Returns whether the bootstrap interval of the ratio of means lies outside 1 ± margin.
fn differ(last: &[f64], segment: &[f64], options: &Traini, random: &mut impl Rng) -> bool {
    let (Some(over), Some(under)) = (mean(last), mean(segment)) else {
        return false;
    };
    let inside = |ratio: f64| (ratio - 1.0).abs() < options.margin;
    // The interval holds the ratio itself: no resample can turn this.
    if inside(over / under) {
        return false;
    }
    let mut ratios: Vec<f64> = (0..options.resamples)
        .map(|_| resampled_mean(last, random) / resampled_mean(segment, random))
        .collect();
    ratios.sort_by(f64::total_cmp);
    if ratios.is_empty() {
        return true;
    }
    let low = super::outliers::quantile_of_sorted(&ratios, 0.025);
    let high = super::outliers::quantile_of_sorted(&ratios, 0.975);
    high <= 1.0 - options.margin || low >= 1.0 + options.margin
}

/// The mean of as many values, drawn with replacement.
fn resampled_mean(values: &[f64], random: &mut impl Rng) -> f64 {
    let n = values.len() as u64;
    let sum: f64 = (0..n)
        .map(|_| values[((u64::from(random.next_u32()) * n) >> 32) as usize])
        .sum();
    sum / as_f64(values.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::steady::tests::noisy;

    fn start_and_ends(seconds: &[f64]) -> (Option<usize>, Vec<usize>) {
        let options = Traini {
            resamples: 200,
            ..Traini::default()
        };
        let state = traini(seconds, &options, &mut Seed(7).stream("fork"));
        (state.start, state.segment_ends)
    }

    #[test]
    fn the_start_is_the_last_iteration_that_differs() {
        let seconds = noisy(&[(100, 2.0), (400, 1.0)], 0.01);
        assert_eq!(start_and_ends(&seconds), (Some(99), vec![99, 499]));
        let seconds = noisy(&[(100, 1.03), (400, 1.0)], 0.001);
        assert_eq!(start_and_ends(&seconds), (Some(0), vec![99, 499]));
    }

    #[test]
    fn a_late_start_is_none() {
        let seconds = noisy(&[(2600, 2.0), (150, 1.0)], 0.01);
        assert_eq!(start_and_ends(&seconds).0, None);
    }

    #[test]
    fn few_values_are_one_segment() {
        assert_eq!(start_and_ends(&[]), (Some(0), vec![]));
        assert_eq!(start_and_ends(&[1.0]), (Some(0), vec![0]));
        assert_eq!(start_and_ends(&[1.0, 2.0]), (Some(0), vec![1]));
    }
}
