//! The hierarchical bootstrap: whole instances first, then iterations of each.

use super::Statistic;
use super::kernel::{draw, draw_sum, fill, middle};
use crate::number::as_f64;
use crate::subset::draw_below;
use crate::{Confidence, Interval, Seed};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The statistics of hierarchical resamples of two sides, drawn independently of each other.
#[derive(Debug, Clone, PartialEq)]
pub struct HierarchicalReplicates {
    /// The baseline's statistics, one for each replicate, in the unit of the values.
    pub baseline: Vec<f64>,
    /// The candidate's statistics.
    pub candidate: Vec<f64>,
}

impl HierarchicalReplicates {
    /// Draws `count` replicates of each side; see [`hierarchical_replicates`].
    #[must_use]
    pub fn draw(
        baseline: &[&[f64]],
        candidate: &[&[f64]],
        statistic: Statistic,
        count: usize,
        seed: Seed,
    ) -> Self {
        let side = |rows, name| hierarchical_replicates(rows, statistic, count, seed.split(name));
        Self {
            baseline: side(baseline, "baseline"),
            candidate: side(candidate, "candidate"),
        }
    }

    /// Returns the percentile interval of candidate / baseline.
    pub fn ratio(&self, confidence: Confidence) -> Option<Interval> {
        percentile_interval(quotients(&self.candidate, &self.baseline), confidence)
    }

    /// Returns the percentile interval of baseline / candidate, which is how Hail has it: below 1
    /// when the candidate is slower. For the asymmetry of the ends' positions it is not
    /// exactly the inverse of [`ratio`](Self::ratio).
    pub fn inverse_ratio(&self, confidence: Confidence) -> Option<Interval> {
        percentile_interval(quotients(&self.baseline, &self.candidate), confidence)
    }
}

fn quotients(above: &[f64], below: &[f64]) -> Vec<f64> {
    above.iter().zip(below).map(|(a, b)| a / b).collect()
}

/// Returns the statistics of `count` hierarchical resamples of a side, in the unit of the values.
///
/// `instances` holds the values of each instance's iterations. A resample draws as many instances as
/// there are, with replacement; for each one drawn, afresh even when drawn before, as many iterations
/// as it has, with replacement; and takes the mean or median of all drawn values pooled, so that
/// longer instances weigh more. A value that is `NaN` is a missing one: drawn like any other, and
/// left out of the statistic; that of none is `NaN`. No instances, no replicates.
///
/// **Percentile intervals of these are too narrow with few instances**: at ten per side they
/// cover 93–95 %, at five 87–92, at three 80–90 (`docs/calibration.md`).
///
/// Source: Davison & Hinkley, *Bootstrap Methods and their Application* 1997, §3.8; for benchmarks:
/// Kalibera & Jones 2013; Laaber et al. 2019.
///
/// ```
/// use lapwing_stats::{
///     Confidence, Seed, Statistic, hierarchical_replicates, percentile_interval,
/// };
/// let instances: [&[f64]; 3] = [&[1.0, 1.1], &[1.2, 1.3], &[0.9, 1.0]];
/// let means = hierarchical_replicates(&instances, Statistic::Mean, 1000, Seed(7));
/// let interval = percentile_interval(means, Confidence::P95).expect("replicates");
/// assert!(0.9 <= interval.lower && interval.upper <= 1.3);
/// ```
pub fn hierarchical_replicates(
    instances: &[&[f64]],
    statistic: Statistic,
    count: usize,
    seed: Seed,
) -> Vec<f64> {
    if instances.is_empty() {
        return Vec::new();
    }
    let mut replicates = vec![0.0; count];
    let mut pool = Vec::new();
    let mut values = instances.iter().copied().flatten();
    match statistic {
        Statistic::Mean if values.any(|value| value.is_nan()) => {
            fill(&mut replicates, seed, |random| {
                draw_defined(instances, random, &mut pool);
                pool.iter().sum::<f64>() / as_f64(pool.len())
            });
        }
        Statistic::Mean => fill(&mut replicates, seed, |random| {
            mean_of_all(instances, random)
        }),
        Statistic::Median => fill(&mut replicates, seed, |random| {
            draw_defined(instances, random, &mut pool);
            middle(&mut pool)
        }),
    }
    replicates
}

/// Picks an instance at random.
fn pick<'a>(instances: &[&'a [f64]], random: &mut Xoshiro256PlusPlus) -> &'a [f64] {
    instances[draw_below(instances.len(), random)]
}

fn mean_of_all(instances: &[&[f64]], random: &mut Xoshiro256PlusPlus) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for _ in instances {
        let instance = pick(instances, random);
        sum += draw_sum(instance, random);
        count += instance.len();
    }
    sum / as_f64(count)
}

/// Draws what [`mean_of_all`] would, and puts what is defined into the pool.
fn draw_defined(instances: &[&[f64]], random: &mut Xoshiro256PlusPlus, pool: &mut Vec<f64>) {
    pool.clear();
    for _ in instances {
        let instance = pick(instances, random);
        draw(instance, instance.len(), random, |value| {
            if !value.is_nan() {
                pool.push(value);
            }
        });
    }
}

/// Returns the percentile interval of replicates by the rule of Hail.
///
/// With c the confidence and B the number of replicates, the ends are the order statistics with the
/// positions trunc((1 − c) / 2 · B) and trunc((1 − (1 − c) / 2) · B), counted from 0, without
/// interpolation and in double precision: of 1,000 replicates the 26th and the 976th at 95 %. `NaN` counts
/// as larger than any number. `None` without replicates.
///
/// Source: Hail's `benchmark_in_batch` analysis; Efron, *Annals of Statistics* 1979.
pub fn percentile_interval(mut replicates: Vec<f64>, confidence: Confidence) -> Option<Interval> {
    let count = replicates.len();
    let tail = confidence.tail();
    let (low, high) = (position(tail, count)?, position(1.0 - tail, count)?);
    for value in &mut replicates {
        // The sign of an undefined number means nothing, but would sort.
        if value.is_nan() {
            *value = f64::NAN;
        }
    }
    let (_, upper, _) = replicates.select_nth_unstable_by(high, f64::total_cmp);
    let upper = *upper;
    let (_, lower, _) = replicates.select_nth_unstable_by(low, f64::total_cmp);
    Some(Interval {
        lower: *lower,
        upper,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the rule truncates a small positive number"
)]
pub(crate) fn position(share: f64, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(((share * as_f64(count)) as usize).min(last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn medians_are_those_of_the_pool() {
        let instances: [&[f64]; 3] = [&[1.0, 2.0, 4.0], &[8.0, 16.0], &[32.0]];
        let medians = hierarchical_replicates(&instances, Statistic::Median, 50, Seed(7));
        let mut random = Seed(7).block(0);
        for median in medians {
            let mut pool = Vec::new();
            draw_defined(&instances, &mut random, &mut pool);
            assert_eq!(Some(median), crate::median(&pool));
        }
    }

    #[test]
    fn the_ends_have_the_positions_that_hail_gives_them() {
        let ends = |count: u32, level| {
            let values = (0..count).rev().map(f64::from).collect();
            let confidence = Confidence::new(level).expect("a level");
            let interval = percentile_interval(values, confidence).expect("replicates");
            (interval.lower, interval.upper)
        };
        assert_eq!(ends(1000, 0.95), (25.0, 975.0));
        assert_eq!(ends(1000, 0.99), (5.0, 995.0));
        assert_eq!(ends(1000, 0.90), (49.0, 950.0));
        assert_eq!(ends(100, 0.95), (2.0, 97.0));
        assert_eq!(ends(1, 0.95), (0.0, 0.0));
        assert_eq!(percentile_interval(Vec::new(), Confidence::P95), None);
    }

    #[test]
    fn what_is_undefined_counts_as_largest() {
        let values = vec![-f64::NAN, 1.0, f64::NAN, 2.0];
        let interval = percentile_interval(values, Confidence::P95).expect("replicates");
        assert_eq!(interval.lower, 1.0);
        assert!(interval.upper.is_nan());
    }

    #[test]
    fn missing_values_are_drawn_and_left_out() {
        let missing: [&[f64]; 2] = [&[1.0, f64::NAN], &[f64::NAN, 1.0]];
        for mean in hierarchical_replicates(&missing, Statistic::Mean, 500, Seed(7)) {
            assert!(mean.is_nan() || mean == 1.0, "{mean}");
        }
        let never: [&[f64]; 1] = [&[f64::NAN]];
        for statistic in [Statistic::Mean, Statistic::Median] {
            let of = |rows: &[&[f64]]| hierarchical_replicates(rows, statistic, 1, Seed(7));
            assert!(of(&never)[0].is_nan());
            assert!(of(&[&[]])[0].is_nan());
            assert!(of(&[]).is_empty());
        }
    }

    #[test]
    fn both_ways_of_drawing_draw_the_same() {
        let instances: [&[f64]; 3] = [&[1.0, 2.0, 4.0], &[8.0, 16.0], &[32.0]];
        for index in 0..50 {
            let all = mean_of_all(&instances, &mut Seed(7).block(index));
            let mut pool = Vec::new();
            draw_defined(&instances, &mut Seed(7).block(index), &mut pool);
            assert_eq!(all, pool.iter().sum::<f64>() / as_f64(pool.len()));
        }
    }

    /// The variance of the resampled mean is known: with equal lengths J,
    /// (σ²_B + σ²_W / J) / I from population variances.
    #[test]
    fn the_spread_of_the_means_is_as_theory_has_it() {
        let instances: Vec<Vec<f64>> = (0..6)
            .map(|i| {
                (0..8)
                    .map(|j| f64::from(i * i) + f64::from(j * 5 % 8))
                    .collect()
            })
            .collect();
        let rows: Vec<&[f64]> = instances.iter().map(Vec::as_slice).collect();
        let population = |values: &[f64]| {
            let centre = crate::mean(values).expect("values");
            crate::mean(
                &values
                    .iter()
                    .map(|v| (v - centre).powi(2))
                    .collect::<Vec<_>>(),
            )
            .expect("values")
        };
        let centres: Vec<f64> = rows
            .iter()
            .map(|row| crate::mean(row).expect("values"))
            .collect();
        let within: Vec<f64> = rows.iter().map(|row| population(row)).collect();
        let expected = (population(&centres) + crate::mean(&within).expect("values") / 8.0) / 6.0;
        let means = hierarchical_replicates(&rows, Statistic::Mean, 40_000, Seed(7));
        let centre = crate::mean(&means).expect("replicates");
        let wanted = crate::mean(&centres).expect("values");
        // Five standard errors of a mean and of a variance.
        assert!((centre - wanted).abs() < 5.0 * (expected / 40_000.0).sqrt());
        assert!((population(&means) / expected - 1.0).abs() < 5.0 * (2.0_f64 / 40_000.0).sqrt());
    }

    proptest! {
        #[test]
        fn scaling_a_side_scales_its_replicates(
            values in prop::collection::vec(prop::collection::vec(0.5..2.0_f64, 1..6), 1..6),
        ) {
            let twice: Vec<Vec<f64>> =
                values.iter().map(|row| row.iter().map(|value| 2.0 * value).collect()).collect();
            let rows: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
            let doubled: Vec<&[f64]> = twice.iter().map(Vec::as_slice).collect();
            for statistic in [Statistic::Mean, Statistic::Median] {
                let one = hierarchical_replicates(&rows, statistic, 300, Seed(7));
                let other = hierarchical_replicates(&doubled, statistic, 300, Seed(7));
                let scaled: Vec<f64> = one.iter().map(|value| 2.0 * value).collect();
                prop_assert_eq!(scaled, other);
            }
        }
    }
}
