//! Spread with the divisor n, as Hail has it.

use crate::mean;

/// Returns the population standard deviation (divisor n), in the unit of the values; `None` for an
/// empty sample.
///
/// √(Σ(x − x̄)² / n) in two passes. It describes these values as all there are; to estimate the spread of
/// what they were drawn from, use [`standard_deviation`](crate::standard_deviation).
/// Hail computes √((Σx² − x̄ Σx) / n) in one pass, which is the same number but for rounding: of
/// seven times 0.1 that is 1.4e-9, and this is 0.
///
/// ```
/// assert_eq!(lapwing_stats::population_standard_deviation(&[1.0, 3.0]), Some(1.0));
/// ```
pub fn population_standard_deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let squares: Vec<f64> = values
        .iter()
        .map(|value| (value - centre).powi(2))
        .collect();
    mean(&squares).map(f64::sqrt)
}

/// Returns the population coefficient of variation, without unit: population standard deviation / mean,
/// negative when the mean is, as Hail has it.
///
/// `None` for an empty sample or when the mean is zero.
pub fn population_coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let deviation = population_standard_deviation(values)?;
    if centre == 0.0 {
        return None;
    }
    if (1e-140..1e150).contains(&deviation) {
        return Some(deviation / centre);
    }
    // Squares of very small numbers are hardly numbers, of very large ones infinite; of shares of the mean they
    // are neither.
    let shares: Vec<f64> = values.iter().map(|value| value / centre).collect();
    Some(population_standard_deviation(&shares)? * centre.signum())
}

/// How much a benchmark's values vary, as Hail describes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variability {
    /// The mean of all values pooled, in their unit.
    pub mean: f64,
    /// The coefficient of variation of all values pooled.
    pub total: f64,
    /// The mean, over instances, of each instance's own coefficient of variation.
    pub instance_mean: f64,
    /// The population standard deviation of these over instances.
    pub instance_deviation: f64,
}

/// Returns the variability of the values of several instances, in Hail's way.
///
/// All with the divisor n. In the pooled numbers each value weighs the same, in the others each instance. An
/// instance without values is passed over. `None` without any value, or when a mean is zero.
///
/// Source: Hail's `benchmark_in_batch` analysis; Laaber, Scheuner & Leitner, *EMSE* 2019.
///
/// ```
/// let instances: [&[f64]; 2] = [&[1.0, 3.0], &[2.0, 2.0]];
/// let variability = lapwing_stats::variability(&instances).expect("values");
/// assert_eq!((variability.mean, variability.instance_mean), (2.0, 0.25));
/// ```
pub fn variability(instances: &[&[f64]]) -> Option<Variability> {
    let pooled = instances.concat();
    let own: Vec<f64> = instances
        .iter()
        .filter(|values| !values.is_empty())
        .map(|values| population_coefficient_of_variation(values))
        .collect::<Option<_>>()?;
    Some(Variability {
        mean: mean(&pooled)?,
        total: population_coefficient_of_variation(&pooled)?,
        instance_mean: mean(&own)?,
        instance_deviation: population_standard_deviation(&own)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::assert_relative;

    #[test]
    fn values_are_those_of_numpy() {
        // numpy 2.4.6: x.std() / x.mean() of each row a, b and of both; then the mean and std of the former
        let instances: [&[f64]; 2] = [&[0.31, 0.29, 0.35, 0.30], &[0.42, 0.28, 0.33]];
        let actual = variability(&instances).expect("values");
        let expected = [
            0.3257142857142857,
            0.13617697101982476,
            0.1208016721660081,
            0.047918203532853705,
        ];
        assert_relative("mean", actual.mean, expected[0], 1e-12);
        assert_relative("total", actual.total, expected[1], 1e-12);
        assert_relative("instance mean", actual.instance_mean, expected[2], 1e-12);
        assert_relative(
            "instance deviation",
            actual.instance_deviation,
            expected[3],
            1e-12,
        );
    }

    #[test]
    fn the_coefficient_is_the_same_in_any_unit() {
        let values = [1.31, 1.29, 1.35, 1.30, 1.42];
        let expected = population_coefficient_of_variation(&values).expect("values");
        for factor in [1e-300, 1e-160, 1e160, 1e300, -1e300] {
            let scaled = values.map(|it| it * factor);
            let actual = population_coefficient_of_variation(&scaled).expect("values");
            assert_relative("cv", actual * factor.signum(), expected, 1e-9);
        }
    }

    #[test]
    fn equal_values_have_no_spread() {
        assert_eq!(population_standard_deviation(&[0.1; 7]), Some(0.0));
        assert_eq!(population_coefficient_of_variation(&[-1.0, 1.0]), None);
        assert_eq!(variability(&[]), None);
        assert_eq!(
            variability(&[&[], &[2.0]]).map(|it| it.instance_mean),
            Some(0.0)
        );
    }

    proptest! {
        #[test]
        fn it_is_the_sample_deviation_with_another_divisor(
            values in prop::collection::vec(0.1..10.0_f64, 2..40),
        ) {
            let n = crate::number::as_f64(values.len());
            let sample = crate::standard_deviation(&values).expect("two");
            let population = population_standard_deviation(&values).expect("two");
            prop_assert!((sample * ((n - 1.0) / n).sqrt() - population).abs() <= 1e-9 * sample + 1e-12);
        }
    }
}
