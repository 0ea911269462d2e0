//! A segment and the energy statistics of its splits, in the order of the series and permuted.

use std::ops::ControlFlow;

use rand_xoshiro::rand_core::Rng;

use super::EDivisivePoint;
use crate::number::as_f64;
use crate::subset::draw_subset;

/// How the largest statistic of a permutation compares with the observed one.
pub(super) enum QComparison {
    Below,
    /// Equal up to rounding, at these splits.
    Tied(Vec<usize>),
    Above,
}

/// The relative difference up to which two statistics may differ by rounding only.
const ROUNDING: f64 = 1e-9;

/// A segment: its values by rank, and their order.
///
/// The sum of the distances of one value from all others is the same in every order, so a
/// permutation only needs those from the values before it, and these come from the number and the
/// sum of the smaller ones, kept in a tree.
pub(super) struct EnergySegment {
    /// The values, rising.
    sorted: Vec<f64>,
    /// Their median. Sums are of differences from it, so that those of equal values are exactly 0.
    centre: f64,
    /// The sum of distances from all others, by rank.
    totals: Vec<f64>,
    /// The rank of each value, in the order of the series.
    pub(super) order: Vec<usize>,
    /// The same after a permutation.
    pub(super) permuted: Vec<usize>,
    tree: Vec<RankNode>,
    /// The best split, its index within the segment.
    pub(super) split: Option<EDivisivePoint>,
}

/// The number and the sum of some values, of consecutive ranks.
#[derive(Clone, Copy, Default)]
struct RankNode {
    count: f64,
    sum: f64,
}

impl EnergySegment {
    pub(super) fn new(values: &[f64]) -> Self {
        let mut segment = Self::unsplit(values);
        let mut best: Option<EDivisivePoint> = None;
        let _ = segment.visit(|index, q| {
            if index > 0 && best.is_none_or(|it| q > it.q) {
                best = Some(EDivisivePoint { index, q });
            }
            ControlFlow::Continue(())
        });
        segment.split = best;
        segment
    }

    pub(super) fn unsplit(values: &[f64]) -> Self {
        let mut by_value: Vec<usize> = (0..values.len()).collect();
        by_value.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
        let sorted: Vec<f64> = by_value.iter().map(|at| values[*at]).collect();
        let centre = sorted.get(values.len() / 2).copied().unwrap_or(0.0);
        let mut order = vec![0; values.len()];
        for (rank, at) in by_value.into_iter().enumerate() {
            order[at] = rank;
        }
        let sum: f64 = sorted.iter().map(|value| value - centre).sum();
        let mut below = 0.0;
        let mut totals = Vec::with_capacity(sorted.len());
        for (rank, value) in sorted.iter().map(|value| value - centre).enumerate() {
            let above = as_f64(sorted.len() - rank);
            totals.push(value * as_f64(rank) - below + (sum - below) - value * above);
            below += value;
        }
        Self {
            tree: vec![RankNode::default(); sorted.len() + 1],
            permuted: order.clone(),
            sorted,
            centre,
            totals,
            order,
            split: None,
        }
    }

    pub(super) fn permute(&mut self, random: &mut impl Rng) {
        let all = self.permuted.len();
        draw_subset(&mut self.permuted, all, random);
    }

    /// Compares the statistics of the permutation with `q`.
    pub(super) fn compare(&mut self, q: f64) -> QComparison {
        let mut tied = Vec::new();
        let outcome = self.visit(|index, statistic| {
            if statistic > q * (1.0 + ROUNDING) {
                return ControlFlow::Break(());
            }
            if statistic >= q * (1.0 - ROUNDING) {
                tied.push(index);
            }
            ControlFlow::Continue(())
        });
        match outcome {
            ControlFlow::Break(()) => QComparison::Above,
            ControlFlow::Continue(()) if tied.is_empty() => QComparison::Below,
            ControlFlow::Continue(()) => QComparison::Tied(tied),
        }
    }

    /// Computes the statistics of the permutation (at first the order of the series) at all indices in turn.
    pub(super) fn visit(
        &mut self,
        mut each: impl FnMut(usize, f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.tree.fill(RankNode::default());
        let mut sums = PairSums::new(self.totals.iter().sum::<f64>() / 2.0);
        let mut sum = 0.0;
        for (n, rank) in self.permuted.iter().enumerate() {
            each(n, sums.statistic(n, self.permuted.len() - n))?;
            let value = self.sorted[*rank] - self.centre;
            let smaller = count(&mut self.tree, *rank, value);
            let earlier = value * smaller.count - smaller.sum + (sum - smaller.sum)
                - value * (as_f64(n) - smaller.count);
            sums.move_value(earlier, self.totals[*rank] - earlier);
            sum += value;
        }
        ControlFlow::Continue(())
    }

    /// Returns the statistic at `index`, rounded as by the package: from sums of all distances, in
    /// its order.
    pub(super) fn plain(&self, order: &[usize], index: usize) -> f64 {
        let distance = |i: usize, k: usize| (self.sorted[order[i]] - self.sorted[order[k]]).abs();
        let later = |i: usize| (i..order.len()).map(|k| distance(i, k)).sum::<f64>();
        let mut sums = PairSums::new((0..order.len()).map(later).sum());
        for n in 0..index {
            let earlier = (0..n).map(|k| distance(k, n)).sum();
            sums.move_value(earlier, later(n));
        }
        sums.statistic(index, order.len() - index)
    }
}

/// The sums of the distances of the pairs between X and Y, within X and within Y.
struct PairSums {
    between: f64,
    x: f64,
    y: f64,
}

impl PairSums {
    /// All values are in Y.
    fn new(y: f64) -> Self {
        let (between, x) = (0.0, 0.0);
        Self { between, x, y }
    }

    /// Moves the first value of Y to X, with the sums of its distances from those before and
    /// after it.
    fn move_value(&mut self, earlier: f64, later: f64) {
        self.between = self.between - earlier + later;
        self.x += earlier;
        self.y -= later;
    }

    fn statistic(&self, n: usize, m: usize) -> f64 {
        if n == 0 {
            return 0.0;
        }
        let (n, m) = (as_f64(n), as_f64(m));
        let within = |sum: f64, size: f64| 2.0 * sum / (size * size);
        let energy = self.between * (2.0 / (n * m)) - within(self.x, n) - within(self.y, m);
        n * m / (n + m) * energy
    }
}

/// Adds the value of a rank to a binary indexed tree (Fenwick, *Software: Practice and
/// Experience* 1994), and returns number and sum of the smaller ones in it.
fn count(tree: &mut [RankNode], rank: usize, value: f64) -> RankNode {
    let mut smaller = RankNode::default();
    let mut at = rank;
    while at > 0 {
        smaller.count += tree[at].count;
        smaller.sum += tree[at].sum;
        at &= at - 1;
    }
    at = rank + 1;
    while at < tree.len() {
        tree[at].count += 1.0;
        tree[at].sum += value;
        at += at & at.wrapping_neg();
    }
    smaller
}
