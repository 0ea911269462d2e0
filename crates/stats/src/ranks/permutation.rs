//! The permutation test of a ratio.

use crate::describe::logarithms;
use crate::number::choices;
use crate::subset::{draw_subset, each_subset};
use crate::{Seed, mean};

/// Up to so many ways to deal the instances out (11 and 11 have 705,432) all are computed …
const ALL_PERMUTATIONS: f64 = 1_000_000.0;

/// … and of more, so many are drawn.
const DRAWN_PERMUTATIONS: u32 = 99_999;

/// How unusual a ratio is among those of the same instances dealt out to the sides at random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PermutationTest {
    /// Candidate / baseline: the ratio of the geometric means.
    pub ratio: f64,
    /// Two-sided p-value of "every instance could as well be on the other side".
    pub p_value: f64,
}

/// Returns the permutation test of the ratio, from one mean per instance and side.
///
/// The statistic is the absolute difference of the sides' mean logarithms. p is the share of
/// the C(N, n_b) ways to deal the instances out whose statistic is at least the observed one; with
/// more than 10⁶ ways it is (1 + #) / (B + 1) over B = 99,999 drawn by the seed.
///
/// Both slices hold positive values in the same unit; `None` if a side is empty or has a value
/// that is not positive. No p-value is below 1 / C(N, n_b): with three instances per side none
/// is below 0.1.
///
/// Source: Fisher, *The Design of Experiments* 1935; the random form: Phipson & Smyth, *Statistical
/// Applications in Genetics and Molecular Biology* 2010.
///
/// ```
/// use lapwing_stats::{Seed, permutation_test};
/// let test = permutation_test(&[1.0, 1.1, 0.9], &[2.0, 2.2, 1.8], Seed(7)).expect("positive");
/// assert_eq!(test.p_value, 0.1);
/// ```
pub fn permutation_test(
    baseline: &[f64],
    candidate: &[f64],
    seed: Seed,
) -> Option<PermutationTest> {
    if baseline.is_empty() || candidate.is_empty() {
        return None;
    }
    let mut logs = logarithms(&[baseline, candidate].concat())?;
    let centre = mean(&logs)?;
    // Around their centre the sums are small, and equal ones stay nearly equal.
    for value in &mut logs {
        *value -= centre;
    }
    let (before, after) = logs.split_at(baseline.len());
    Some(PermutationTest {
        ratio: (mean(after)? - mean(before)?).exp(),
        p_value: p_value(&logs, baseline.len(), seed),
    })
}

/// Counts how often the sum of a subset is as far from 0 as that of the first `size` values.
/// All values add up to 0, so that the difference of the sides' means is proportional to it.
fn p_value(centred: &[f64], size: usize, seed: Seed) -> f64 {
    let sum = |chosen: &[usize]| chosen.iter().map(|at| centred[*at]).sum::<f64>().abs();
    let observed: f64 = centred[..size].iter().sum();
    let scale: f64 = centred.iter().map(|value| value.abs()).sum();
    let limit = observed.abs() - 1e-12 * scale;
    let all = centred.len();
    let mut extreme = 0.0;
    let ways = choices(all, size);
    if ways <= ALL_PERMUTATIONS {
        each_subset(all, size, |chosen| {
            extreme += f64::from(u8::from(sum(chosen) >= limit));
        });
        return extreme / ways;
    }
    let mut random = seed.block(0);
    let mut positions: Vec<usize> = (0..all).collect();
    for _ in 0..DRAWN_PERMUTATIONS {
        draw_subset(&mut positions, size, &mut random);
        extreme += f64::from(u8::from(sum(&positions[..size]) >= limit));
    }
    (1.0 + extreme) / (1.0 + f64::from(DRAWN_PERMUTATIONS))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::{GOLDEN_SIDES, PERMUTATION, assert_relative};
    use crate::{Confidence, ratio_of_means};

    #[test]
    fn exact_values_are_those_of_scipy() {
        for ((name, baseline, candidate), expected) in GOLDEN_SIDES.iter().zip(PERMUTATION) {
            let Some(expected) = expected else { continue };
            let test = permutation_test(baseline, candidate, Seed(7)).expect("positive");
            assert_relative(name, test.p_value, expected, 1e-10);
        }
    }

    #[test]
    fn drawn_permutations_agree_with_welch_where_both_hold() {
        let baseline: Vec<f64> = (0..40)
            .map(|k| 1.0 + 0.01 * f64::from(k * 7 % 40))
            .collect();
        let candidate: Vec<f64> = baseline.iter().map(|value| value * 1.05).collect();
        let test = permutation_test(&baseline, &candidate, Seed(7)).expect("positive");
        let welch = ratio_of_means(&baseline, &candidate, Confidence::P95).expect("positive");
        assert!(
            (test.p_value - welch.p_value).abs() < 0.005,
            "{test:?} {welch:?}"
        );
        assert!((test.ratio - 1.05).abs() < 1e-12);
        let again = permutation_test(&baseline, &candidate, Seed(7)).expect("positive");
        assert_eq!(test, again);
    }

    #[test]
    fn what_is_not_positive_has_no_ratio() {
        assert_eq!(permutation_test(&[1.0], &[0.0], Seed(7)), None);
        assert_eq!(permutation_test(&[], &[1.0], Seed(7)), None);
    }

    proptest! {
        #[test]
        fn sides_and_units_do_not_matter(
            one in prop::collection::vec(0.5..2.0_f64, 1..7),
            other in prop::collection::vec(0.5..2.0_f64, 1..7),
            scale in 1e-9..1e9_f64,
        ) {
            let ahead = permutation_test(&one, &other, Seed(7)).expect("positive");
            let scaled = |side: &[f64]| side.iter().map(|value| value * scale).collect::<Vec<_>>();
            let back = permutation_test(&scaled(&other), &scaled(&one), Seed(7)).expect("positive");
            prop_assert!((ahead.p_value - back.p_value).abs() < 1e-12);
            prop_assert!((ahead.ratio * back.ratio - 1.0).abs() < 1e-9);
            let least = 1.0 / choices(one.len() + other.len(), one.len());
            prop_assert!(ahead.p_value >= least - 1e-12 && ahead.p_value <= 1.0);
        }
    }

    #[test]
    fn no_p_value_is_below_one_over_the_number_of_ways() {
        let test = permutation_test(&[1.0, 1.1], &[5.0], Seed(7)).expect("positive");
        assert!((test.p_value - 1.0 / choices(3, 1)).abs() < 1e-15);
    }
}
