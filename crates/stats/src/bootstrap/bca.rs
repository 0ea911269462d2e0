//! The bias-corrected and accelerated bootstrap of a ratio.

use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, Normal};

use super::Statistic;
use super::kernel::{draw, draw_sum, fill, middle};
use crate::describe::are_positive;
use crate::number::as_f64;
use crate::{Confidence, Interval, Ratio, Seed, mean, median, quantile};

/// Returns the ratio of candidate to baseline with a BCa interval, from one value (its mean, or
/// its median) per instance and side.
///
/// The ratio is that of the sides' means or medians. Of resamples with as many instances of each side as it
/// has come ratios θ*; with z₀ = Φ⁻¹(share of θ* below θ̂, equal ones counting one half) and the acceleration
/// a = Σ_sides Σ U³ / n³ / (6 (Σ_sides Σ U² / n²)^{3/2}) from U = (n − 1)(mean of the ratios without one
/// instance − ratio without instance i), the ends are the quantiles (type 7) of θ* at
/// Φ(z₀ + (z₀ ± z) / (1 − a (z₀ ± z))). p is the level at which an end would be 1; none is smaller than
/// about 1 / (B + 1).
///
/// Both slices hold positive values in the same unit. `None` if a side has fewer than two or one that
/// is not positive, and when the resampled ratios are all equal, or all on one side of the
/// observed one.
///
/// Source: Efron, *JASA* 1987; Efron & Tibshirani, *An Introduction to the Bootstrap* 1993, §14.3.
///
/// ```
/// use lapwing_stats::{Confidence, Seed, Statistic, bca_ratio};
/// let baseline: Vec<f64> = (0..20).map(|k| 1.0 + 0.01 * f64::from(k * 7 % 20)).collect();
/// let candidate: Vec<f64> = baseline.iter().map(|mean| 1.1 * mean).collect();
/// let ratio = bca_ratio(&baseline, &candidate, Statistic::Mean, Confidence::P95, 2999, Seed(7));
/// assert!(ratio.expect("twenty a side").interval.contains(1.1));
/// ```
pub fn bca_ratio(
    baseline: &[f64],
    candidate: &[f64],
    statistic: Statistic,
    confidence: Confidence,
    resamples: usize,
    seed: Seed,
) -> Option<Ratio> {
    let fits = |side: &[f64]| side.len() >= 2 && are_positive(side);
    if !fits(baseline) || !fits(candidate) {
        return None;
    }
    let mut ratios = vec![0.0; resamples];
    let mut pool = Vec::new();
    fill(&mut ratios, seed, |random| {
        let before = resampled(baseline, statistic, random, &mut pool);
        resampled(candidate, statistic, random, &mut pool) / before
    });
    estimate(baseline, candidate, statistic, &ratios, confidence)
}

fn resampled(
    side: &[f64],
    statistic: Statistic,
    random: &mut Xoshiro256PlusPlus,
    pool: &mut Vec<f64>,
) -> f64 {
    match statistic {
        Statistic::Mean => draw_sum(side, random) / as_f64(side.len()),
        Statistic::Median => {
            pool.clear();
            draw(side, side.len(), random, |value| pool.push(value));
            middle(pool)
        }
    }
}

fn of(side: &[f64], statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Mean => mean(side),
        Statistic::Median => median(side),
    }
}

/// Computes interval and p-value from the resampled ratios.
fn estimate(
    baseline: &[f64],
    candidate: &[f64],
    statistic: Statistic,
    ratios: &[f64],
    confidence: Confidence,
) -> Option<Ratio> {
    let (before, after) = (of(baseline, statistic)?, of(candidate, statistic)?);
    let ratio = after / before;
    let normal = Normal::standard();
    let share = share_below(ratios, ratio);
    let varies = ratios
        .windows(2)
        .any(|pair| pair[0].total_cmp(&pair[1]).is_ne());
    if !varies || share <= 0.0 || share >= 1.0 {
        return None;
    }
    let bias = normal.inverse_cdf(share);
    let of_baseline = influences(baseline, |rest| Some(after / of(rest, statistic)?))?;
    let of_candidate = influences(candidate, |rest| Some(of(rest, statistic)? / before))?;
    let acceleration = acceleration(&[of_baseline, of_candidate]);
    let z = confidence.normal_quantile();
    let end = |z: f64| {
        let shifted = bias + z;
        quantile(
            ratios,
            normal.cdf(bias + shifted / (1.0 - acceleration * shifted)),
        )
    };
    let interval = Interval {
        lower: end(-z)?,
        upper: end(z)?,
    };
    let least = 1.0 / as_f64(ratios.len() + 1);
    let at_one = normal.inverse_cdf(share_below(ratios, 1.0).clamp(least, 1.0 - least)) - bias;
    let level = normal.cdf(at_one / (1.0 + acceleration * at_one) - bias);
    Some(Ratio {
        ratio,
        interval,
        p_value: (2.0 * level.min(1.0 - level)).min(1.0),
    })
}

fn share_below(ratios: &[f64], limit: f64) -> f64 {
    let halves: usize = ratios
        .iter()
        .map(|ratio| usize::from(*ratio < limit) + usize::from(*ratio <= limit))
        .sum();
    as_f64(halves) / (2.0 * as_f64(ratios.len()))
}

/// Returns U of each instance: how the ratio would move without it, times n − 1.
fn influences(side: &[f64], ratio: impl Fn(&[f64]) -> Option<f64>) -> Option<Vec<f64>> {
    let without: Vec<f64> = (0..side.len())
        .map(|left_out| {
            let (before, after) = (&side[..left_out], &side[left_out + 1..]);
            ratio(&[before, after].concat())
        })
        .collect::<Option<_>>()?;
    let centre = mean(&without)?;
    let factor = as_f64(side.len() - 1);
    let influences = without.iter().map(|value| factor * (centre - value));
    Some(influences.collect())
}

fn acceleration(sides: &[Vec<f64>; 2]) -> f64 {
    let sum = |power: i32| -> f64 {
        sides
            .iter()
            .map(|side| {
                let total: f64 = side.iter().map(|influence| influence.powi(power)).sum();
                total / as_f64(side.len()).powi(power)
            })
            .sum()
    };
    let squares = sum(2);
    if squares > 0.0 {
        sum(3) / (6.0 * squares.powf(1.5))
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{BCA_MEAN, BCA_MEDIAN, GOLDEN_SIDES, assert_relative, positions};

    const CASES: [(Statistic, [[f64; 4]; 2]); 2] =
        [(Statistic::Mean, BCA_MEAN), (Statistic::Median, BCA_MEDIAN)];

    #[test]
    fn the_ends_are_those_of_scipy_for_the_same_resamples() {
        for (statistic, expected) in CASES {
            let sides = [GOLDEN_SIDES[4], GOLDEN_SIDES[6]];
            for ((name, baseline, candidate), [lower, upper, ..]) in sides.into_iter().zip(expected)
            {
                let mut state = 7;
                let mut draw = |side: &[f64]| {
                    let at = positions(&mut state, side.len());
                    let drawn: Vec<f64> = at.into_iter().map(|at| side[at]).collect();
                    of(&drawn, statistic).expect("values")
                };
                let ratios: Vec<f64> = (0..999)
                    .map(|_| {
                        let before = draw(baseline);
                        draw(candidate) / before
                    })
                    .collect();
                let actual = estimate(baseline, candidate, statistic, &ratios, Confidence::P95);
                let actual = actual.expect("an interval");
                assert_relative(name, actual.interval.lower, lower, 1e-8);
                assert_relative(name, actual.interval.upper, upper, 1e-8);
            }
        }
    }

    #[test]
    fn own_resamples_come_near_those_of_scipy() {
        for (statistic, expected) in CASES {
            let sides = [GOLDEN_SIDES[4], GOLDEN_SIDES[6]];
            for ((name, baseline, candidate), [.., lower, upper]) in sides.into_iter().zip(expected)
            {
                let actual = bca_ratio(
                    baseline,
                    candidate,
                    statistic,
                    Confidence::P95,
                    20_000,
                    Seed(7),
                );
                let actual = actual.expect("an interval").interval;
                let slack = 0.05 * (upper - lower);
                assert!(
                    (actual.lower - lower).abs() < slack,
                    "{name}: {actual:?} {lower}"
                );
                assert!(
                    (actual.upper - upper).abs() < slack,
                    "{name}: {actual:?} {upper}"
                );
            }
        }
    }

    #[test]
    fn the_p_value_is_the_level_at_which_an_end_is_one() {
        let (_, baseline, candidate) = GOLDEN_SIDES[4];
        let candidate: Vec<f64> = candidate.iter().map(|value| 0.93 * value).collect();
        let at = |confidence| {
            bca_ratio(
                baseline,
                &candidate,
                Statistic::Mean,
                confidence,
                20_000,
                Seed(7),
            )
            .expect("an interval")
        };
        let p_value = at(Confidence::P95).p_value;
        let interval = at(Confidence::new(1.0 - p_value).expect("a level")).interval;
        let nearest = (interval.lower - 1.0)
            .abs()
            .min((interval.upper - 1.0).abs());
        assert!(
            p_value > 0.005 && p_value < 0.3 && nearest < 1e-3,
            "{p_value} {interval:?}"
        );
    }

    #[test]
    fn without_variation_there_is_no_interval() {
        let ratio = bca_ratio(
            &[1.0; 5],
            &[1.1; 5],
            Statistic::Mean,
            Confidence::P95,
            99,
            Seed(7),
        );
        assert_eq!(ratio, None);
    }
}
