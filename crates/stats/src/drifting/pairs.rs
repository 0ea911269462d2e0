//! The difference of two commits that are measured in turn: the same filter with a single place for the change.

use super::filter::ChangeFilter;
use super::speed::SpeedGrid;
use crate::describe::median;
use crate::number::as_f64;

/// Number of sizes that are tried.
const SIZES: usize = 41;
/// The machine's speed is within this of its first, as a logarithm.
const REACH: f64 = 0.3;
/// No noise is taken to be smaller.
const LEAST_NOISE: f64 = 1e-3;

/// The instances of two commits.
#[derive(Debug, Clone, Default)]
pub(super) struct CommitPairs {
    /// Whether each is of the later commit, and its logarithm.
    values: Vec<(bool, f64)>,
}

/// The difference of two commits, as far as their instances show it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairDifference {
    /// The difference of the logarithms, and its standard deviation.
    pub(super) size: f64,
    pub(super) deviation: f64,
    /// The standard deviation of an instance.
    pub(super) sigma: f64,
}

impl CommitPairs {
    pub(super) fn add(&mut self, is_later: bool, value: f64) {
        self.values.push((is_later, value));
    }

    /// Returns the number of instances of the side with fewer.
    pub(super) fn pairs(&self) -> usize {
        let later = self.values.iter().filter(|(is_later, _)| *is_later).count();
        later.min(self.values.len() - later)
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

    /// Returns the difference; `sigma` is the standard deviation of an instance if that is known better from elsewhere.
    pub(super) fn result(&self, sigma: Option<f64>) -> Option<PairDifference> {
        let [earlier, later] = [false, true].map(|it| self.side(it));
        let middles = [median(&earlier)?, median(&later)?];
        let sigma = sigma.unwrap_or_else(|| noise(&[&earlier, &later], middles));
        let middle = middles[1] - middles[0];
        let span = (4.0 * sigma).max(0.3 * middle.abs());
        let size = |at: usize| middle + span * (as_f64(at) / as_f64(SIZES - 1) * 2.0 - 1.0);
        let sides = [&earlier, &later].into_iter().zip(middles);
        let farthest =
            sides.flat_map(|(side, middle)| side.iter().map(move |it| (it - middle).abs()));
        let farthest = farthest.fold(0.0, f64::max);
        let reach = (farthest + 8.0 * sigma).min(REACH.max(6.0 * sigma));
        let grid = SpeedGrid::new(middles[0], reach, sigma);
        let mut filter = ChangeFilter::new(2, sigma, (0..SIZES).map(size).collect(), grid);
        for (is_later, value) in &self.values {
            filter.add(usize::from(*is_later), *value);
        }
        let (size, deviation) = filter.size();
        let sigma = filter.scale();
        Some(PairDifference {
            size,
            deviation,
            sigma,
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
    by_distance.min(by_step).max(LEAST_NOISE)
}
