//! How many repetitions at which level: Kalibera and Jones.

use crate::number::as_f64;
use crate::{Confidence, Interval, mean};

/// Variances at every level of a balanced experiment, from the lowest (iterations) up.
#[derive(Debug, Clone, PartialEq)]
pub struct KaliberaJones {
    /// The mean of all values.
    pub grand_mean: f64,
    /// S₁² …: the variance of the means at each level around those one level up.
    pub biased: Vec<f64>,
    /// T₁² …: what each level adds by itself; not cut off at 0, so that a negative one shows
    /// that the level adds nothing.
    pub unbiased: Vec<f64>,
    /// The t interval of the grand mean, from the highest level's variance.
    pub interval: Interval,
}

/// Returns the variances of Kalibera and Jones of a balanced experiment.
///
/// `values` holds every value, those of one instance next to each other, and `repetitions` how many there
/// are at each level from the lowest: `[iterations, instances]`, or `[iterations, instances, hosts]`.
/// With r the repetitions and Ȳ the means at each level,
/// Sᵢ² = 1/∏_{k>i} r_k · 1/(rᵢ − 1) · Σ (Ȳ_i − Ȳ_{i+1})², T₁² = S₁², Tᵢ² = Sᵢ² − S²ᵢ₋₁ / rᵢ₋₁, and the interval is
/// Ȳ ± t(r_n − 1) √(S_n² / r_n). In the unit of the values, or squared.
///
/// `None` when there are not as many values as the repetitions say, when a level has fewer than two, or
/// without a level.
///
/// Source: Kalibera & Jones, *Rigorous benchmarking in reasonable time*, ISMM 2013 (§6; printed
/// with T for S in the formula of Tᵢ²) and *Quantifying performance changes with effect size
/// confidence intervals*, TR 4-12, University of Kent 2012.
///
/// ```
/// use lapwing_stats::{Confidence, kalibera_jones};
/// // libkalibera's own example: two executions of three iterations.
/// let values = [4.0, 5.0, 6.0, 10.0, 11.0, 12.0];
/// let variances = kalibera_jones(&values, &[3, 2], Confidence::P95).expect("balanced");
/// assert_eq!(variances.biased, [1.0, 18.0]);
/// ```
pub fn kalibera_jones(
    values: &[f64],
    repetitions: &[usize],
    confidence: Confidence,
) -> Option<KaliberaJones> {
    let wanted = repetitions
        .iter()
        .try_fold(1_usize, |all, r| all.checked_mul(*r))?;
    if values.len() != wanted || repetitions.iter().any(|r| *r < 2) {
        return None;
    }
    let (mut means, mut biased) = (values.to_vec(), Vec::new());
    for size in repetitions {
        let groups = means.chunks(*size);
        let count = as_f64(groups.len());
        let centres: Vec<f64> = groups.clone().map(mean).collect::<Option<_>>()?;
        let squares: f64 = groups
            .zip(&centres)
            .flat_map(|(group, centre)| group.iter().map(move |value| (value - centre).powi(2)))
            .sum();
        biased.push(squares / (count * as_f64(size - 1)));
        means = centres;
    }
    let below = biased.iter().zip(repetitions).map(|(s, r)| s / as_f64(*r));
    let less: Vec<f64> = std::iter::once(0.0).chain(below).collect();
    let unbiased = biased.iter().zip(less).map(|(s, less)| s - less).collect();
    let (highest, grand_mean) = (as_f64(*repetitions.last()?), *means.first()?);
    let half = confidence.t_quantile(highest - 1.0)? * (biased.last()? / highest).sqrt();
    Some(KaliberaJones {
        grand_mean,
        biased,
        unbiased,
        interval: Interval {
            lower: grand_mean - half,
            upper: grand_mean + half,
        },
    })
}

/// Returns how many iterations an instance should have, for the narrowest interval at a given total
/// cost.
///
/// √((c_instance / c_iteration) · σ_W² / σ_B²), rounded up and at least 1. `instance_cost` is what one more
/// instance costs besides its iterations that count: its start and its burn-in; both costs in one unit.
/// `None` when σ_B² or a cost is not positive: then no number of iterations is too many.
///
/// Source: Kalibera & Jones 2013, §6.
///
/// ```
/// assert_eq!(lapwing_stats::best_iterations(4.0, 1.0, 16.0, 1.0), Some(8));
/// ```
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; of too large ones the largest is meant"
)]
pub fn best_iterations(within: f64, between: f64, instance_cost: f64, cost: f64) -> Option<usize> {
    let all = [between, instance_cost, cost];
    if !all.iter().all(|number| *number > 0.0 && number.is_finite()) || within < 0.0 {
        return None;
    }
    let best = (instance_cost / cost * within / between).sqrt();
    best.is_finite().then(|| (best.ceil() as usize).max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_levels_are_those_of_numpy() {
        // numpy 2.4.6, with x of shape (hosts 2, instances 2, iterations 3):
        // m1 = x.mean(2); m2 = m1.mean(1); S = x.var(2, ddof=1).mean(), m1.var(1, ddof=1).mean(),
        // m2.var(ddof=1); T = S[0], S[1] - S[0]/3, S[2] - S[1]/2
        let x = [1.0, 1.2, 1.1, 1.4, 1.3, 1.8, 2.0, 2.2, 2.1, 2.9, 2.5, 2.4];
        let actual = kalibera_jones(&x, &[3, 2, 2], Confidence::P95).expect("balanced");
        let biased = [0.04000000000000001, 0.10249999999999998, 0.55125];
        let unbiased = [0.04000000000000001, 0.08916666666666664, 0.5];
        for (actual, expected) in [(&actual.biased, biased), (&actual.unbiased, unbiased)] {
            for (actual, expected) in actual.iter().zip(expected) {
                assert!((actual - expected).abs() < 1e-12, "{actual} {expected}");
            }
        }
        assert_eq!(actual.biased.len(), 3);
    }

    #[test]
    fn what_is_not_balanced_gives_nothing() {
        assert_eq!(kalibera_jones(&[1.0; 5], &[3, 2], Confidence::P95), None);
        assert_eq!(kalibera_jones(&[1.0; 3], &[3, 1], Confidence::P95), None);
        assert_eq!(kalibera_jones(&[1.0], &[], Confidence::P95), None);
    }

    #[test]
    fn without_spread_between_no_number_of_iterations_is_best() {
        assert_eq!(best_iterations(1.0, 0.0, 1.0, 1.0), None);
        assert_eq!(best_iterations(0.0, 1.0, 1.0, 1.0), Some(1));
        assert_eq!(best_iterations(1.0, f64::NAN, 1.0, 1.0), None);
    }

    proptest! {
        #[test]
        fn two_levels_are_those_of_the_analysis_of_variance(
            values in prop::collection::vec(0.5..2.0_f64, 12..=12),
        ) {
            let rows: Vec<&[f64]> = values.chunks(4).collect();
            let one = kalibera_jones(&values, &[4, 3], Confidence::P95).expect("balanced");
            let other = crate::variance_components(&rows, Confidence::P95).expect("three");
            prop_assert!((one.unbiased[0] - other.within).abs() < 1e-12);
            prop_assert!((one.unbiased[1].max(0.0) - other.between).abs() < 1e-12);
        }
    }
}
