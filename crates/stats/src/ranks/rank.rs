//! Ranks, and how sums of ranks are distributed when the sides do not differ.

use crate::number::as_f64;

/// The ranks of a sample's values.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// The rank of each value, in the order of the sample: 1 for the smallest. Equal values
    /// share the mean of the ranks that they take up (mid-ranks).
    pub ranks: Vec<f64>,
    /// The sizes of the groups of equal values, from the smallest value on; groups of one
    /// are left out.
    pub ties: Vec<usize>,
}

/// Returns the mid-ranks of finite values; without unit.
///
/// Source: Kruskal & Wallis, *JASA* 1952.
///
/// ```
/// let ranked = lapwing_stats::mid_ranks(&[0.3, 0.1, 0.3, 0.2]);
/// assert_eq!(ranked.ranks, [3.5, 1.0, 3.5, 2.0]);
/// assert_eq!(ranked.ties, [2]);
/// ```
pub fn mid_ranks(values: &[f64]) -> Ranks {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut ranked = Ranks {
        ranks: vec![0.0; values.len()],
        ties: Vec::new(),
    };
    let mut before = 0;
    // Not by the bits: 0 and −0 are equal.
    for group in order.chunk_by(|(one, _), (other, _)| one >= other) {
        let rank = as_f64(before) + as_f64(group.len() + 1) / 2.0;
        for (_, position) in group {
            ranked.ranks[*position] = rank;
        }
        if group.len() > 1 {
            ranked.ties.push(group.len());
        }
        before += group.len();
    }
    ranked
}

/// Returns Spearman's rank correlation ρ of pairs of finite values: Pearson's correlation of their mid-ranks, between
/// −1 and 1.
///
/// `None` if the lengths differ, with fewer than three pairs, or if all values of a side are equal.
///
/// Source: Spearman, *American Journal of Psychology* 1904.
///
/// ```
/// use lapwing_stats::rank_correlation;
/// assert_eq!(rank_correlation(&[1.0, 2.0, 30.0], &[0.1, 0.2, 0.3]), Some(1.0));
/// ```
pub fn rank_correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    if one.len() != other.len() || one.len() < 3 {
        return None;
    }
    let centre = as_f64(one.len() + 1) / 2.0;
    let around = |values: &[f64]| -> Vec<f64> {
        let ranks = mid_ranks(values).ranks.into_iter();
        ranks.map(|rank| rank - centre).collect()
    };
    let (one, other) = (around(one), around(other));
    let products = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let scale = (products(&one, &one) * products(&other, &other)).sqrt();
    (scale > 0.0).then(|| products(&one, &other) / scale)
}

/// Returns the mid-ranks of the baseline's values followed by the candidate's.
pub(crate) fn pooled_ranks(baseline: &[f64], candidate: &[f64]) -> Ranks {
    mid_ranks(&[baseline, candidate].concat())
}

/// Up to so many pairs of a baseline's and a candidate's value (30 per side) rank sums are
/// counted out; that takes a millisecond at most.
pub(crate) const PAIRS_COUNTED_OUT: usize = 900;

/// How the rank sum of one side is distributed when every way to deal the ranks out to the
/// two sides is equally likely.
pub(crate) struct RankSums {
    /// The number of ways to get each sum, from the smallest possible sum on, in half ranks.
    ways: Vec<f64>,
    /// The smallest possible sum, in half ranks.
    smallest: usize,
    total: f64,
}

impl RankSums {
    /// Counts the subsets of `size` of the mid-ranks by their sum.
    ///
    /// By adding one rank after another: the ways to get a sum with `k` ranks are those
    /// without the new rank, and those with it and `k − 1` others. All numbers are sums of
    /// positive ones, so that rounding stays relative.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "twice a mid-rank is a small positive whole number"
    )]
    pub(crate) fn count(ranks: &[f64], size: usize) -> Self {
        let mut halves: Vec<usize> = ranks
            .iter()
            .map(|rank| (2.0 * rank).round() as usize)
            .collect();
        halves.sort_unstable();
        let smallest: usize = halves[..size].iter().sum();
        let largest: usize = halves[halves.len() - size..].iter().sum();
        let mut ways = vec![vec![0.0; largest + 1]; size + 1];
        ways[0][0] = 1.0;
        for (seen, half) in halves.iter().enumerate() {
            for chosen in (1..=size.min(seen + 1)).rev() {
                let (fewer, more) = ways.split_at_mut(chosen);
                let with = &fewer[chosen - 1][..=largest - half];
                for (way, add) in more[0][*half..].iter_mut().zip(with) {
                    *way += add;
                }
            }
        }
        let ways = ways.swap_remove(size).split_off(smallest);
        let total = ways.iter().sum();
        Self {
            ways,
            smallest,
            total,
        }
    }

    /// Returns P(sum ≤ `sum`).
    pub(crate) fn at_most(&self, sum: f64) -> f64 {
        let position = 2.0 * sum - as_f64(self.smallest);
        self.share(|at| as_f64(at) <= position + 0.25)
    }

    /// Returns P(sum ≥ `sum`).
    pub(crate) fn at_least(&self, sum: f64) -> f64 {
        let position = 2.0 * sum - as_f64(self.smallest);
        self.share(|at| as_f64(at) >= position - 0.25)
    }

    /// Returns how many sums, one whole rank apart and from the smallest on, have together a
    /// probability of at most `tail`. Meant for ranks without ties.
    pub(crate) fn within(&self, tail: f64) -> usize {
        let limit = tail * self.total;
        let cumulated = self.ways.iter().step_by(2).scan(0.0, |sum, ways| {
            *sum += ways;
            Some(*sum)
        });
        cumulated.take_while(|sum| *sum <= limit).count()
    }

    fn share(&self, counts: impl Fn(usize) -> bool) -> f64 {
        let ways = self.ways.iter().enumerate();
        let inside: f64 = ways
            .filter(|(at, _)| counts(*at))
            .map(|(_, ways)| ways)
            .sum();
        inside / self.total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::number::choices;

    #[test]
    fn zero_and_minus_zero_are_one_value() {
        assert_eq!(mid_ranks(&[0.0, -0.0]).ranks, [1.5, 1.5]);
    }

    /// R 4.2.2: `cor(x, y, method = "spearman")`.
    #[test]
    fn the_rank_correlation_is_that_of_r() {
        let x = [3.1, 2.7, 5.5, 5.5, 9.2, 0.4, 7.7];
        let y = [1.0, 4.2, 4.2, 3.3, 8.8, 2.2, 6.1];
        let found = rank_correlation(&x, &y).expect("they vary");
        assert!((found - 0.754_545_454_545_455).abs() < 1e-13, "{found}");
        assert_eq!(rank_correlation(&x, &y[..6]), None);
        assert_eq!(rank_correlation(&x, &[1.0; 7]), None);
    }

    #[test]
    fn sums_are_counted_as_by_hand() {
        // Two of {1, 2.5, 2.5, 4}: 3.5, 3.5, 5, 5, 6.5, 6.5.
        let sums = RankSums::count(&[1.0, 2.5, 2.5, 4.0], 2);
        assert_eq!(sums.total, 6.0);
        assert_eq!(sums.at_most(3.5), 2.0 / 6.0);
        assert_eq!(sums.at_most(4.5), 2.0 / 6.0);
        assert_eq!(sums.at_least(5.0), 4.0 / 6.0);
        assert_eq!(sums.at_least(7.0), 0.0);
    }

    #[test]
    fn sums_within_a_tail_are_counted_as_by_hand() {
        // Two of {1, 2, 3, 4}: 3, 4, 5, 5, 6, 7.
        let sums = RankSums::count(&[1.0, 2.0, 3.0, 4.0], 2);
        let within: Vec<usize> = [0.1, 0.2, 0.34, 0.5, 0.67]
            .map(|tail| sums.within(tail))
            .into();
        assert_eq!(within, [0, 1, 2, 2, 3]);
    }

    proptest! {
        #[test]
        fn every_subset_is_counted(
            values in prop::collection::vec(0..6_u8, 2..20),
            share in 0.0..1.0_f64,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let size = 1 + (0..values.len() - 1).filter(|k| as_f64(*k) < share * as_f64(values.len() - 1)).count() / 2;
            let ranked = mid_ranks(&values);
            let sums = RankSums::count(&ranked.ranks, size);
            prop_assert_eq!(sums.total, choices(values.len(), size));
        }

        #[test]
        fn ranks_add_up(values in prop::collection::vec(0..6_u8, 1..50)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let n = as_f64(values.len());
            prop_assert_eq!(mid_ranks(&values).ranks.iter().sum::<f64>(), n * (n + 1.0) / 2.0);
        }
    }
}
