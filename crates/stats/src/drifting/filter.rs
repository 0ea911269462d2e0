//! The joint posterior of the change and of the machine.

use super::speed::{REGIMES, SpeedGrid};
use crate::number::as_f64;

/// The scales of the noise, in terms of what it was taken for.
const SCALES: [f64; 5] = [0.6, 0.85, 1.2, 1.7, 2.6];
/// The share of instances that are slow for a reason of their own, and the span of the logarithm by which.
const OUTLIERS: f64 = 0.05;
const OUTLIER_SPAN: f64 = 1.2;
/// The largest density of Student's t with five degrees of freedom: Γ(3) / (Γ(5/2) √(5π)).
const T5: f64 = 0.379_606_689_822_493_9;

/// Returns the density of Student's t with five degrees of freedom.
fn student(value: f64) -> f64 {
    T5 / (1.0 + value * value / 5.0).powi(3)
}

/// The posterior of where a change is among commits, of its size, and of the machine: weights of hypotheses.
///
/// A hypothesis is a range of commits that no measurement tells apart; for each there are weights over regimes,
/// sizes of the change, scales of the noise, and speeds of the machine, in this order.
#[derive(Debug, Clone)]
pub(super) struct ChangeFilter {
    /// The probability before anything was measured that the change is at or before each commit; 0 for the first.
    prior: Vec<f64>,
    /// The standard deviation that the scales are multiples of.
    pub(super) sigma: f64,
    /// The sizes that the change may have, as logarithms.
    sizes: Vec<f64>,
    /// A change that is known: its commit, and its size for each of `sizes`.
    known: Option<(usize, Vec<f64>)>,
    pub(super) grid: SpeedGrid,
    /// The first commit of each range.
    starts: Vec<usize>,
    weights: Vec<f64>,
    /// The instances so far: their commits and the logarithms of their values.
    pub(super) data: Vec<(usize, f64)>,
}

impl ChangeFilter {
    /// Returns what is known before anything is measured, of commits with these weights, of which the first does not
    /// count.
    pub(super) fn new(likely: &[f64], sigma: f64, sizes: Vec<f64>, grid: SpeedGrid) -> Self {
        let of_regime = sizes.len() * SCALES.len() * grid.values.len();
        let share = 1.0 / as_f64(of_regime);
        let weights = REGIMES
            .iter()
            .flat_map(|regime| std::iter::repeat_n(regime.prior * share, of_regime));
        let all: f64 = likely.iter().skip(1).sum();
        let mut sum = 0.0;
        let mut prior = vec![0.0];
        prior.extend(likely.iter().skip(1).map(|weight| {
            sum += weight / all;
            sum
        }));
        Self {
            prior,
            sigma,
            sizes,
            known: None,
            starts: vec![1],
            weights: weights.collect(),
            grid,
            data: Vec::new(),
        }
    }

    /// Returns what is known before anything is measured of another change than that of a commit: `sizes` has for each
    /// case the size of the known one, that of the other, and its probability.
    pub(super) fn beside(
        commit: usize,
        likely: &[f64],
        sigma: f64,
        sizes: &[(f64, f64, f64)],
        grid: SpeedGrid,
    ) -> Self {
        let others = sizes.iter().map(|(_, other, _)| *other).collect();
        let known = sizes.iter().map(|(known, ..)| *known).collect();
        let mut filter = Self::new(likely, sigma, others, grid);
        filter.known = Some((commit, known));
        let of_size = SCALES.len() * filter.points();
        for (at, row) in filter.weights.chunks_mut(of_size).enumerate() {
            let (.., share) = sizes[at % sizes.len()];
            row.iter_mut().for_each(|weight| *weight *= share);
        }
        filter
    }

    fn commits(&self) -> usize {
        self.prior.len()
    }

    fn points(&self) -> usize {
        self.grid.values.len()
    }

    /// Returns the number of weights of a hypothesis.
    fn of_hypothesis(&self) -> usize {
        REGIMES.len() * self.sizes.len() * SCALES.len() * self.points()
    }

    /// Returns the first commit after a range.
    fn end(&self, hypothesis: usize) -> usize {
        let next = self.starts.get(hypothesis + 1);
        next.copied().unwrap_or(self.commits())
    }

    /// Returns the probability of commits before anything was measured.
    pub(super) fn prior_of(&self, commits: std::ops::Range<usize>) -> f64 {
        self.prior[commits.end - 1] - self.prior[commits.start - 1]
    }

    /// Returns which part of the probability of a range is that of its commits before this one.
    fn part_before(&self, hypothesis: usize, commit: usize) -> f64 {
        let (start, end) = (self.starts[hypothesis], self.end(hypothesis));
        match commit {
            _ if commit <= start => 0.0,
            _ if commit >= end => 1.0,
            _ => self.prior_of(start..commit) / self.prior_of(start..end),
        }
    }

    /// Tells changes up to a commit from later ones.
    fn split(&mut self, commit: usize) {
        let at = commit + 1;
        if at <= 1 || at >= self.commits() || self.starts.contains(&at) {
            return;
        }
        let hypothesis = self.starts.partition_point(|start| *start < at) - 1;
        let share = self.part_before(hypothesis, at);
        let size = self.of_hypothesis();
        let range = hypothesis * size..(hypothesis + 1) * size;
        let later: Vec<f64> = self.weights[range.clone()]
            .iter()
            .map(|weight| weight * (1.0 - share))
            .collect();
        let end = range.end;
        for weight in &mut self.weights[range] {
            *weight *= share;
        }
        self.weights.splice(end..end, later);
        self.starts.insert(hypothesis + 1, at);
    }

    /// Moves the machine by one instance.
    fn step(&mut self) {
        let points = self.points();
        let mut moved = vec![0.0; points];
        let of_regime = self.sizes.len() * SCALES.len();
        for (at, row) in self.weights.chunks_mut(points).enumerate() {
            let regime = REGIMES[at / of_regime % REGIMES.len()];
            self.grid.step(regime, row, &mut moved);
        }
    }

    /// Returns the density of a value at each scale and speed, of a commit that differs by this from those before the
    /// change.
    fn densities(&self, value: f64, by: f64) -> Vec<f64> {
        let mut densities = Vec::with_capacity(SCALES.len() * self.points());
        for scale in SCALES {
            let sigma = scale * self.sigma;
            densities.extend(self.grid.values.iter().map(|speed| {
                let rest = value - speed - by;
                let slow = if rest > 0.0 {
                    OUTLIERS / OUTLIER_SPAN
                } else {
                    0.0
                };
                (1.0 - OUTLIERS) * student(rest / sigma) / sigma + slow
            }));
        }
        densities
    }

    /// Adds the logarithm of an instance.
    pub(super) fn add(&mut self, commit: usize, value: f64) {
        self.data.push((commit, value));
        self.split(commit);
        self.step();
        let known = self.known.as_ref().filter(|(from, _)| *from <= commit);
        let base = |at: usize| known.map_or(0.0, |(_, sizes)| sizes[at]);
        let at = 0..self.sizes.len();
        let before: Vec<Vec<f64>> = match known {
            Some(_) => at
                .clone()
                .map(|at| self.densities(value, base(at)))
                .collect(),
            None => vec![self.densities(value, 0.0)],
        };
        let after: Vec<Vec<f64>> = at
            .map(|at| self.densities(value, base(at) + self.sizes[at]))
            .collect();
        let rows = REGIMES.len() * self.sizes.len();
        let of_size = SCALES.len() * self.points();
        let mut total = 0.0;
        for (at, row) in self.weights.chunks_mut(of_size).enumerate() {
            let densities = match self.starts[at / rows] <= commit {
                true => &after[at % self.sizes.len()],
                false => &before[at % before.len()],
            };
            for (weight, density) in row.iter_mut().zip(densities) {
                *weight *= density;
                total += *weight;
            }
        }
        let total = total.max(f64::MIN_POSITIVE);
        for weight in &mut self.weights {
            *weight /= total;
        }
    }

    /// Returns the probability of each range.
    fn shares(&self) -> Vec<f64> {
        let ranges = self.weights.chunks(self.of_hypothesis());
        ranges.map(|weights| weights.iter().sum()).collect()
    }

    /// Returns the ranges of commits, from the first to the last one in each, with their probabilities.
    pub(super) fn ranges(&self) -> Vec<(usize, usize, f64)> {
        let shares = self.shares().into_iter().enumerate();
        shares
            .map(|(at, share)| (self.starts[at], self.end(at) - 1, share))
            .collect()
    }

    /// Returns for each commit the probability that it is the change.
    pub(super) fn probabilities(&self) -> Vec<f64> {
        let mut probabilities = vec![0.0];
        for (first, last, share) in self.ranges() {
            let all = self.prior_of(first..last + 1);
            let of_commit = |commit: usize| share * self.prior_of(commit..commit + 1) / all;
            probabilities.extend((first..=last).map(of_commit));
        }
        probabilities
    }

    /// Returns for each commit the probability that the change is at or before it.
    pub(super) fn after(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let mut after = vec![0.0];
        after.extend(self.probabilities().into_iter().skip(1).map(|share| {
            sum += share;
            sum
        }));
        after
    }

    /// Returns the probability of each size of the change.
    pub(super) fn size_shares(&self) -> Vec<f64> {
        let of_size = SCALES.len() * self.points();
        let mut shares = vec![0.0; self.sizes.len()];
        for (at, row) in self.weights.chunks(of_size).enumerate() {
            shares[at % self.sizes.len()] += row.iter().sum::<f64>();
        }
        shares
    }

    /// Returns the mean of the size of the change, and its standard deviation.
    pub(super) fn size(&self) -> (f64, f64) {
        let shares = self.size_shares();
        let moment = |power: i32| -> f64 {
            let sizes = self.sizes.iter().zip(&shares);
            sizes.map(|(size, share)| size.powi(power) * share).sum()
        };
        let mean = moment(1);
        (mean, (moment(2) - mean * mean).max(1e-12).sqrt())
    }

    /// Returns the probability that the machine's speed is in the outer tenth of the grid.
    pub(super) fn at_edge(&self) -> f64 {
        let points = self.points();
        let outer = points.div_ceil(20);
        let of_row = |row: &[f64]| -> f64 {
            let edges = row[..outer].iter().chain(&row[points - outer..]);
            edges.sum()
        };
        self.weights.chunks(points).map(of_row).sum()
    }

    /// Returns the mean of the standard deviation of an instance.
    pub(super) fn scale(&self) -> f64 {
        let rows = self.weights.chunks(self.points()).enumerate();
        let of_row =
            |(at, row): (usize, &[f64])| SCALES[at % SCALES.len()] * row.iter().sum::<f64>();
        rows.map(of_row).sum::<f64>() * self.sigma
    }

    /// Returns the information in bits that one instance of each of these commits gives about the place of the change,
    /// with all else unknown as it is.
    pub(super) fn information(&self, commits: &[usize]) -> Vec<f64> {
        let points = self.points();
        let mut next = self.clone();
        next.step();
        let [first, second, ..] = self.grid.values.as_slice() else {
            return vec![0.0; commits.len()];
        };
        // Every second point is fine enough to integrate over. Values after the change are beyond the speeds.
        let step = second - first;
        let width = 2.0 * step;
        let beyond = |is_above: bool| {
            let sizes = self.sizes.iter().map(|it| if is_above { *it } else { -it });
            let farthest = sizes.fold(0.0, f64::max);
            (0..)
                .find(|it| as_f64(*it) * width >= farthest)
                .unwrap_or(0_usize)
        };
        let [below, above] = [beyond(false), beyond(true)];
        let count = below + points.div_ceil(2) + above;
        let rows_of_hypothesis = REGIMES.len() * self.sizes.len() * SCALES.len();
        let mut before = vec![vec![0.0; count]; self.starts.len()];
        let mut after = before.clone();
        // By distance in points, of which values are twice as far apart as speeds.
        let kernel = |sigma: f64, by: f64| -> Vec<f64> {
            let nearest = as_f64(points - 1 + 2 * below);
            let distance = |at: usize| step * (as_f64(at) - nearest) - by;
            let density = |at: usize| (1.0 - OUTLIERS) * student(distance(at) / sigma) / sigma;
            (0..2 * count + points).map(density).collect()
        };
        for (at_size, size) in self.sizes.iter().enumerate() {
            for (at_scale, scale) in SCALES.iter().enumerate() {
                let sigma = scale * self.sigma;
                let kernels = [kernel(sigma, 0.0), kernel(sigma, *size)];
                for hypothesis in 0..self.starts.len() {
                    let mut weights = vec![0.0; points];
                    for regime in 0..REGIMES.len() {
                        let row = hypothesis * rows_of_hypothesis
                            + (regime * self.sizes.len() + at_size) * SCALES.len()
                            + at_scale;
                        let row = &next.weights[row * points..(row + 1) * points];
                        weights.iter_mut().zip(row).for_each(|(all, it)| *all += it);
                    }
                    let sums = [&mut before[hypothesis], &mut after[hypothesis]];
                    for (sums, kernel) in sums.into_iter().zip(&kernels) {
                        for (at, sum) in sums.iter_mut().enumerate() {
                            // The density of value `2 at` from speed `i` is that of a distance of `2 at − i` points.
                            let from = 2 * at + points - 1;
                            let of_speed = weights.iter().enumerate();
                            *sum += of_speed
                                .map(|(i, weight)| weight * kernel[from - i])
                                .sum::<f64>();
                        }
                    }
                }
            }
        }
        let shares = self.shares();
        let of_commit = |commit: &usize| {
            let mut bits = 0.0;
            for at in 0..count {
                let mut all = 0.0;
                let mut parts: Vec<(f64, f64)> = Vec::with_capacity(2 * shares.len());
                for (hypothesis, share) in shares.iter().enumerate() {
                    let changed = self.part_before(hypothesis, commit + 1);
                    for (part, density) in [
                        (changed, after[hypothesis][at]),
                        (1.0 - changed, before[hypothesis][at]),
                    ] {
                        if part > 0.0 && *share > 0.0 {
                            parts.push((density * part, density / share));
                            all += density * part;
                        }
                    }
                }
                let of_part = |(joint, given): &(f64, f64)| match *joint > 1e-300 && all > 1e-300 {
                    true => joint * (given / all).log2(),
                    false => 0.0,
                };
                bits += parts.iter().map(of_part).sum::<f64>();
            }
            (bits * width).max(0.0)
        };
        commits.iter().map(of_commit).collect()
    }
}
