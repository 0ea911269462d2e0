//! Centre and spread of a sample.

use crate::number::as_f64;

/// Returns the arithmetic mean, in the unit of the values; `None` for an empty sample.
///
/// Two passes: the second adds the mean of the residuals, so that rounding does
/// not grow with the size of the sample.
///
/// ```
/// assert_eq!(lapwing_stats::mean(&[1.0, 2.0, 6.0]), Some(3.0));
/// assert_eq!(lapwing_stats::mean(&[]), None);
/// ```
pub fn mean(values: &[f64]) -> Option<f64> {
    let first = plain_mean(values)?;
    let rest = values.iter().map(|value| value - first);
    let correction = rest.sum::<f64>() / as_f64(values.len());
    Some(if correction.is_finite() {
        first + correction
    } else {
        first
    })
}

fn plain_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / as_f64(values.len()))
}

/// Returns the sample standard deviation (divisor n − 1), in the unit of the values;
/// `None` below two values.
///
/// ```
/// assert_eq!(lapwing_stats::standard_deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
/// ```
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let squares = squares_around(values, mean(values)?);
    Some((squares / as_f64(values.len() - 1)).sqrt())
}

/// Returns the sum of squared distances from a centre.
pub(crate) fn squares_around(values: &[f64], centre: f64) -> f64 {
    values.iter().map(|value| (value - centre).powi(2)).sum()
}

/// Returns the variance of values around the mean of their group, in the unit of the values squared, and its degrees of
/// freedom; `None` with fewer than three of them, or with an empty group.
pub fn pooled_variance<'v>(groups: impl Iterator<Item = &'v Vec<f64>>) -> Option<(f64, f64)> {
    let (mut squares, mut freedom) = (0.0, 0);
    for values in groups {
        squares += squares_around(values, mean(values)?);
        freedom += values.len() - 1;
    }
    (freedom >= 3).then(|| (squares / as_f64(freedom), as_f64(freedom)))
}

/// Returns whether all values are positive and finite.
pub(crate) fn are_positive(values: &[f64]) -> bool {
    values.iter().all(|value| *value > 0.0 && value.is_finite())
}

/// Returns the logarithms of values; `None` unless all are positive and finite.
pub(crate) fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    are_positive(values).then(|| values.iter().map(|value| value.ln()).collect())
}

/// Returns the coefficient of variation: standard deviation / |mean|, without unit.
///
/// `None` below two values or when the mean is zero.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let deviation = standard_deviation(values)?;
    (centre != 0.0).then(|| deviation / centre.abs())
}

/// Returns the geometric mean, in the unit of the values; `None` for an empty
/// sample or one that is not positive throughout.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if !values.iter().all(|value| *value > 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logs).map(f64::exp)
}

/// Returns the `probability` quantile by linear interpolation between order
/// statistics (type 7 of Hyndman & Fan 1996, the default of R and numpy).
///
/// `None` for an empty sample or a probability outside [0, 1].
///
/// ```
/// assert_eq!(lapwing_stats::quantile(&[4.0, 1.0, 3.0, 2.0], 0.25), Some(1.75));
/// ```
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in a sample are small and not negative"
)]
pub fn quantile(values: &[f64], probability: f64) -> Option<f64> {
    if values.is_empty() || !(0.0..=1.0).contains(&probability) {
        return None;
    }
    let mut values = values.to_vec();
    let position = probability * as_f64(values.len() - 1);
    let below = position.floor();
    let (_, low, above) = values.select_nth_unstable_by(below as usize, f64::total_cmp);
    let low = *low;
    let high = if position > below {
        above.iter().copied().min_by(f64::total_cmp).unwrap_or(low)
    } else {
        low
    };
    Some(low + (position - below) * (high - low))
}

/// Returns the median: the quantile at one half.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // numpy 2.4.6: x = [0.31, 0.29, 0.35, 0.30, 0.42, 0.28, 0.33];
    // x.mean(), x.std(ddof=1), np.quantile(x, [.1, .5, .9]); scipy 1.17.1: stats.gmean(x)
    const X: [f64; 7] = [0.31, 0.29, 0.35, 0.30, 0.42, 0.28, 0.33];

    fn assert_close(actual: Option<f64>, expected: f64) {
        let actual = actual.expect("a value");
        let error = (actual - expected).abs() / expected.abs();
        assert!(error < 1e-12, "{actual} is not {expected}");
    }

    #[test]
    fn values_are_those_of_numpy_and_scipy() {
        assert_close(mean(&X), 0.3257142857142857);
        assert_close(standard_deviation(&X), 0.04790864322059324);
        assert_close(quantile(&X, 0.1), 0.286);
        assert_close(median(&X), 0.31);
        assert_close(quantile(&X, 0.9), 0.378);
        assert_close(geometric_mean(&X), 0.32294184474614496);
    }

    #[test]
    fn equal_values_have_no_spread() {
        assert_eq!(standard_deviation(&[0.1; 7]), Some(0.0));
        assert_eq!(coefficient_of_variation(&[0.1; 7]), Some(0.0));
    }

    #[test]
    fn too_little_gives_nothing() {
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(coefficient_of_variation(&[-1.0, 1.0]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
    }

    proptest! {
        #[test]
        fn the_coefficient_of_variation_is_scale_free(
            values in prop::collection::vec(0.1..10.0_f64, 2..40),
            scale in 1e-6..1e6_f64,
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
            let one = coefficient_of_variation(&values).expect("positive");
            let other = coefficient_of_variation(&scaled).expect("positive");
            prop_assert!((one - other).abs() <= 1e-12 + 1e-9 * one);
        }

        #[test]
        fn quantiles_rise_and_stay_inside(
            values in prop::collection::vec(-1e6..1e6_f64, 1..40),
            low in 0.0..1.0_f64,
            step in 0.0..1.0_f64,
        ) {
            let high = low + (1.0 - low) * step;
            let a = quantile(&values, low).expect("not empty");
            let b = quantile(&values, high).expect("not empty");
            let smallest = quantile(&values, 0.0).expect("not empty");
            let largest = quantile(&values, 1.0).expect("not empty");
            prop_assert!(smallest <= a && a <= b + 1e-9 && b <= largest + 1e-9);
        }
    }
}
