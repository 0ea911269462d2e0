//! The tail of the largest standardised difference over many splits.

use std::ops::RangeInclusive;

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use crate::number::as_f64;

/// Up to so many splits are summed one by one.
const SUMMED: usize = 64;
/// The number of steps of Simpson's rule for more splits than that.
const STEPS: usize = 32;

/// Returns the probability that the standardised difference between the means before and
/// after a split reaches `bound` in absolute value at any of the splits, when the `length`
/// values are exchangeable. A split is the number of values before it.
///
/// b φ(b) Σₖ ν(b √w) w with w = n / (k (n − k)), and at most the number of splits times
/// 2 (1 − Φ(b)). Source: James, James & Siegmund, *Biometrika* 1987; ν as in Siegmund &
/// Yakir, *The Statistics of Gene Mapping*, 2007.
pub(super) fn scan_p_value(bound: f64, length: usize, splits: &RangeInclusive<usize>) -> f64 {
    if splits.is_empty() || bound <= 0.0 {
        return 1.0;
    }
    let normal = Normal::standard();
    let number = as_f64(splits.end() - splits.start() + 1);
    let one_by_one = 2.0 * normal.sf(bound) * number;
    let by_rate = bound * normal.pdf(bound) * weighted_splits(bound, length, splits);
    one_by_one.min(by_rate).min(1.0)
}

/// The sum Σₖ ν(b √w) w. For many splits it is the integral of 2 ν du over half the logit
/// u of k / n, in which the function is smooth.
fn weighted_splits(bound: f64, length: usize, splits: &RangeInclusive<usize>) -> f64 {
    let length = as_f64(length);
    let spread = |before: f64| length / (before * (length - before));
    let (first, last) = (as_f64(*splits.start()), as_f64(*splits.end()));
    if splits.end() - splits.start() < SUMMED {
        return splits
            .clone()
            .map(|before| {
                let spread = spread(as_f64(before));
                overshoot(bound * spread.sqrt()) * spread
            })
            .sum();
    }
    let logit = |before: f64| (before / (length - before)).ln();
    // A sum over whole numbers is close to the integral from half a step before the first
    // to half a step after the last.
    let (from, to) = (logit(first - 0.5), logit(last + 0.5));
    let step = (to - from) / as_f64(STEPS);
    let inner: f64 = (0..=STEPS)
        .map(|i| {
            let before = length / (1.0 + (-(from + step * as_f64(i))).exp());
            let weight = match i {
                0 | STEPS => 1.0,
                _ if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * overshoot(bound * spread(before).sqrt())
        })
        .sum();
    inner * step / 3.0
}

/// Siegmund's ν: how much rarer a walk crosses a bound that is only looked at in steps of
/// size x than in continuous time.
fn overshoot(x: f64) -> f64 {
    if x < 1e-3 {
        return 1.0;
    }
    let normal = Normal::standard();
    let (below, density) = (normal.cdf(x / 2.0), normal.pdf(x / 2.0));
    (2.0 / x) * (below - 0.5) / (x / 2.0 * below + density)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::prefix::ScoreSums;
    use crate::seed::Seed;
    use rand::RngExt;

    #[test]
    fn overshoot_is_near_its_exponential_approximation() {
        for x in [0.1_f64, 0.5, 1.0] {
            let approximation = (-0.583 * x).exp();
            assert!((overshoot(x) - approximation).abs() < 0.02, "{x}");
        }
    }

    #[test]
    fn summed_and_integrated_splits_agree() {
        for bound in [2.0, 3.5, 5.0] {
            let one_by_one: f64 = (3..=497)
                .map(|before| weighted_splits(bound, 500, &(before..=before)))
                .sum();
            let integrated = weighted_splits(bound, 500, &(3..=497));
            assert!(
                (integrated / one_by_one - 1.0).abs() < 0.01,
                "{bound}: {integrated}"
            );
        }
    }

    #[test]
    fn the_largest_of_exchangeable_differences_exceeds_the_bound_as_often_as_predicted() {
        let mut random = Seed(5).stream("scan");
        let scores: Vec<f64> = (1_u8..=60)
            .map(|rank| Normal::standard().inverse_cdf(f64::from(rank) / 61.0))
            .collect();
        let mut largest: Vec<f64> = (0..4000)
            .map(|_| {
                let mut shuffled = scores.clone();
                for i in (1..shuffled.len()).rev() {
                    let other = random.random_range(0..=i);
                    shuffled.swap(i, other);
                }
                let split = ScoreSums::of(&shuffled).largest_split(0, 60, &(3..=57));
                split.unwrap().z.abs()
            })
            .collect();
        largest.sort_by(f64::total_cmp);
        for (share, above) in [(0.1, 400), (0.05, 200), (0.01, 40)] {
            let bound = largest[4000 - above];
            let predicted = scan_p_value(bound, 60, &(3..=57));
            assert!(
                predicted > 0.8 * share && predicted < 1.7 * share,
                "{share}: {predicted}"
            );
        }
    }
}
