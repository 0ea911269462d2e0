//! The difference of two commits that are measured in turn: the same filter with a single place for the change.

use super::filter::ChangeFilter;
use super::speed::SpeedGrid;
use crate::describe::median;
use crate::interval::{Confidence, Interval};
use crate::number::as_f64;

/// The distance of sizes that are tried at first, and how far they reach beyond the differences of neighbours, in standard
/// deviations of an instance.
const COARSE: f64 = 0.5;
const BESIDE: f64 = 3.0;
/// The most of them.
const MOST_SIZES: usize = 120;
/// Number of sizes that are tried then, and how far they reach, in standard deviations of the difference.
const SIZES: usize = 41;
const FINE_REACH: f64 = 5.0;
/// The machine's speed is within this of its first, as a logarithm.
const REACH: f64 = 0.3;
/// No noise is taken to be smaller, nor smaller than this share of the difference: more precision answers nothing.
const LEAST_NOISE: f64 = 1e-6;
const LEAST_NOISE_SHARE: f64 = 1.0 / 40.0;

/// The instances of two commits.
#[derive(Debug, Clone, Default)]
pub(super) struct CommitPairs {
    /// Whether each is of the later commit, and its logarithm.
    values: Vec<(bool, f64)>,
    /// The number of instances, with those that failed.
    tried: usize,
}

/// The difference of two commits that were measured in turn, as far as their instances show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairDifference {
    /// The difference of the logarithms: the mean of its posterior.
    pub value: f64,
    /// The standard deviation of the posterior.
    pub deviation: f64,
    /// The standard deviation of the logarithm of an instance.
    pub noise: f64,
    /// The number of instances of each commit.
    pub instances: [usize; 2],
}

impl PairDifference {
    /// Returns the interval in which the difference is with this confidence, by the normal distribution.
    #[must_use]
    pub fn interval(&self, confidence: Confidence) -> Interval {
        Interval::around(self.value, self.deviation * confidence.normal_quantile())
    }

    /// Returns the standard deviations of this difference and another together.
    pub(super) fn gap(&self, other: &Self) -> f64 {
        self.deviation.hypot(other.deviation)
    }
}

/// Returns the smallest noise that matters beside a difference.
pub(super) fn least_noise(difference: f64) -> f64 {
    LEAST_NOISE.max(LEAST_NOISE_SHARE * difference.abs())
}

impl CommitPairs {
    /// Adds the logarithm of an instance; `None` if it failed.
    pub(super) fn add(&mut self, is_later: bool, value: Option<f64>) {
        self.tried += 1;
        self.values.extend(value.map(|value| (is_later, value)));
    }

    /// Returns the number of instances, with those that failed.
    pub(super) fn tried(&self) -> usize {
        self.tried
    }

    /// Returns the logarithms of a side, in the order of time.
    pub(super) fn side(&self, later: bool) -> Vec<f64> {
        let of_side = self
            .values
            .iter()
            .filter(|(is_later, _)| *is_later == later);
        of_side.map(|(_, value)| *value).collect()
    }

    /// Returns all values with their commits.
    pub(super) fn values_of(&self, commits: [usize; 2]) -> Vec<(usize, f64)> {
        let values = self.values.iter();
        let commit = |is_later: bool| commits[usize::from(is_later)];
        values
            .map(|(is_later, value)| (commit(*is_later), *value))
            .collect()
    }

    /// Returns the differences of neighbours in time, which have it whatever the machine did before and after.
    fn neighbours(&self) -> Vec<f64> {
        let neighbours = self.values.windows(2).filter_map(|pair| match pair {
            [(false, earlier), (true, later)] | [(true, later), (false, earlier)] => {
                Some(later - earlier)
            }
            _ => None,
        });
        neighbours.collect()
    }

    /// Returns the difference; `sigma` is the standard deviation of an instance if that is known better from elsewhere.
    pub(super) fn result(&self, sigma: Option<f64>) -> Option<PairDifference> {
        let [earlier, later] = [false, true].map(|it| self.side(it));
        let middles = [median(&earlier)?, median(&later)?];
        let neighbours = self.neighbours();
        let sigma = sigma.unwrap_or_else(|| noise(&[&earlier, &later], middles));
        let sigma = sigma.max(least_noise(median(&neighbours)?));
        let sides = [&earlier, &later].into_iter().zip(middles);
        let farthest =
            sides.flat_map(|(side, middle)| side.iter().map(move |it| (it - middle).abs()));
        let farthest = farthest.fold(0.0, f64::max);
        let reach = (farthest + 8.0 * sigma).min(REACH.max(6.0 * sigma));
        let filtered = |sizes: Vec<f64>| {
            let grid = SpeedGrid::new(middles[0], reach, sigma);
            let mut filter = ChangeFilter::new(&[1.0; 2], sigma, sizes, grid);
            for (is_later, value) in &self.values {
                filter.add(usize::from(*is_later), *value);
            }
            filter
        };
        // First coarsely, wherever it may be.
        let least = neighbours.iter().copied().fold(f64::INFINITY, f64::min) - BESIDE * sigma;
        let most = neighbours.iter().copied().fold(f64::NEG_INFINITY, f64::max) + BESIDE * sigma;
        let step = (COARSE * sigma).max((most - least) / as_f64(MOST_SIZES));
        let sizes = (0..=MOST_SIZES).map(|at| least + step * as_f64(at));
        let mut filter = filtered(sizes.take_while(|it| *it <= most + step / 2.0).collect());
        let (mut value, mut deviation) = filter.size();
        let span = FINE_REACH * deviation;
        if span < FINE_REACH * sigma {
            let size = |at: usize| value + span * (as_f64(at) / as_f64(SIZES - 1) * 2.0 - 1.0);
            filter = filtered((0..SIZES).map(size).collect());
            (value, deviation) = filter.size();
        }
        Some(PairDifference {
            value,
            deviation,
            noise: filter.scale(),
            instances: [earlier.len(), later.len()],
        })
    }
}

/// Returns the standard deviation of an instance, robustly: by the distances from the medians, or from one to the next, for
/// the machine may have moved.
fn noise(sides: &[&[f64]; 2], middles: [f64; 2]) -> f64 {
    let mut distances = Vec::new();
    let mut steps = Vec::new();
    for (side, middle) in sides.iter().zip(middles) {
        distances.extend(side.iter().map(|it| (it - middle).abs()));
        steps.extend(side.windows(2).map(|pair| (pair[1] - pair[0]).abs()));
    }
    // The medians for a normal distribution are 0.67 and 0.95 standard deviations; few values are nearer to their own median.
    let by_distance = median(&distances).unwrap_or_default() / 0.6;
    let by_step = median(&steps).unwrap_or(f64::INFINITY) / 0.95;
    by_distance.min(by_step)
}
