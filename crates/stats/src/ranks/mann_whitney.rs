//! The rank-sum test of Mann, Whitney and Wilcoxon.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::number::as_f64;
use crate::ranks::rank::{PAIRS_COUNTED_OUT, RankSums, pooled_ranks};

/// Whether one side tends to have larger values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// U: the number of pairs in which the candidate's value is the larger one; an equal
    /// pair counts one half. Between 0 and n_b · n_c.
    pub statistic: f64,
    /// Two-sided p-value of "every value could as well be on the other side".
    pub p_value: f64,
}

/// Returns the Mann–Whitney test of candidate against baseline.
///
/// U = Σ 1\[b < c\] + ½ · 1\[b = c\] over all pairs. With at most 900 pairs p is twice the
/// smaller tail of the exact distribution of the (mid-)ranks' sum, given which values are equal;
/// with more it is that of z = (|U − n_b n_c / 2| − ½) / σ with
/// σ² = n_b n_c / 12 · ((N + 1) − Σ(t³ − t) / (N (N − 1))), t the numbers of equal values.
///
/// The values are in one unit and finite; `None` if a side is empty or has a value that is
/// not finite. It asks whether the sides' distributions are the same: when they only differ in
/// spread it does not keep its level, and [`brunner_munzel`](crate::brunner_munzel()) does.
///
/// Source: Mann & Whitney, *Annals of Mathematical Statistics* 1947; Lehmann, *Nonparametrics* 1975.
///
/// ```
/// let test = lapwing_stats::mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).expect("three a side");
/// assert_eq!(test.statistic, 9.0);
/// assert!((test.p_value - 0.1).abs() < 1e-15);
/// ```
pub fn mann_whitney(baseline: &[f64], candidate: &[f64]) -> Option<MannWhitney> {
    let finite = |side: &[f64]| !side.is_empty() && side.iter().all(|value| value.is_finite());
    if !finite(baseline) || !finite(candidate) {
        return None;
    }
    let (before, after) = (as_f64(baseline.len()), as_f64(candidate.len()));
    let ranked = pooled_ranks(baseline, candidate);
    let sum: f64 = ranked.ranks[baseline.len()..].iter().sum();
    let statistic = sum - after * (after + 1.0) / 2.0;
    let p_value = if baseline.len() * candidate.len() <= PAIRS_COUNTED_OUT {
        exact_p_value(&ranked.ranks, baseline.len())
    } else {
        normal_p_value(statistic, before, after, &ranked.ties)
    };
    Some(MannWhitney { statistic, p_value })
}

/// Counts with the smaller side, which is quicker and gives the same p-value.
fn exact_p_value(ranks: &[f64], baseline: usize) -> f64 {
    let (first, last) = ranks.split_at(baseline);
    let smaller = if first.len() < last.len() {
        first
    } else {
        last
    };
    let sum: f64 = smaller.iter().sum();
    let sums = RankSums::count(ranks, smaller.len());
    (2.0 * sums.at_most(sum).min(sums.at_least(sum))).min(1.0)
}

fn normal_p_value(statistic: f64, before: f64, after: f64, ties: &[usize]) -> f64 {
    let all = before + after;
    let tied: f64 = ties
        .iter()
        .map(|size| as_f64(*size).powi(3) - as_f64(*size))
        .sum();
    let variance = before * after / 12.0 * ((all + 1.0) - tied / (all * (all - 1.0)));
    let distance = (statistic - before * after / 2.0).abs() - 0.5;
    if variance <= 0.0 || distance <= 0.0 {
        return 1.0;
    }
    2.0 * Normal::standard().sf(distance / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::{GOLDEN_SIDES, MANN_WHITNEY, assert_relative};

    #[test]
    fn values_are_those_of_scipy() {
        for ((name, baseline, candidate), (u, p)) in GOLDEN_SIDES.iter().zip(MANN_WHITNEY) {
            let test = mann_whitney(baseline, candidate).expect("a test");
            assert_eq!(test.statistic, u, "{name}");
            assert_relative(name, test.p_value, p, 1e-10);
        }
    }

    #[test]
    fn sides_of_one_value_do_not_differ() {
        let test = mann_whitney(&[1.0; 40], &[1.0; 40]).expect("a test");
        assert_eq!((test.statistic, test.p_value), (800.0, 1.0));
        let test = mann_whitney(&[1.0; 4], &[1.0; 4]).expect("a test");
        assert_eq!((test.statistic, test.p_value), (8.0, 1.0));
    }

    #[test]
    fn an_empty_side_gives_nothing() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn swapping_sides_keeps_p_and_mirrors_u(
            one in prop::collection::vec(0..9_u8, 1..40),
            other in prop::collection::vec(0..9_u8, 1..40),
        ) {
            let numbers = |side: &[u8]| side.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let (one, other) = (numbers(&one), numbers(&other));
            let ahead = mann_whitney(&one, &other).expect("a test");
            let back = mann_whitney(&other, &one).expect("a test");
            prop_assert_eq!(ahead.statistic + back.statistic, as_f64(one.len() * other.len()));
            prop_assert!((ahead.p_value - back.p_value).abs() < 1e-12);
            let moved: Vec<Vec<f64>> = [&one, &other]
                .map(|side| side.iter().map(|value| 3.0 * value + 8.0).collect())
                .into();
            prop_assert_eq!(mann_whitney(&moved[0], &moved[1]), Some(ahead));
        }
    }
}
