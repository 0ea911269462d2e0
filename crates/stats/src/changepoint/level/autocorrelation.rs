//! Autocorrelation of the noise around a level that may change.

use crate::number::as_f64;

/// Differences count up to so many times the standard deviation of normal scores.
const LARGEST_DIFFERENCE: f64 = 3.0 * std::f64::consts::SQRT_2;
/// Shorter series have no estimate.
pub(super) const SHORTEST: usize = 12;
/// The largest autocorrelation that is removed. More would leave no level to look at.
pub(super) const LARGEST: f64 = 0.95;

/// Returns the lag-one autocorrelation of scores with a standard deviation of about 1: one less the mean squared
/// difference of neighbours in terms of that of values three to six apart, each difference limited, so that a few
/// changes of the level and outliers hardly matter. 0 for fewer than twelve values.
///
/// After the estimators from differences at several lags of Hall & Van Keilegom, *JRSS B* 2003.
pub(super) fn autocorrelation(scores: &[f64]) -> f64 {
    if scores.len() < SHORTEST {
        return 0.0;
    }
    let apart: f64 = (3..=6).map(|lag| squared_differences(scores, lag)).sum();
    let far = apart / 4.0;
    if far <= 0.0 {
        return 0.0;
    }
    1.0 - squared_differences(scores, 1) / far
}

/// Returns the autocorrelation to remove from scores: 0 if the estimate is within its standard error 1 / √n, else the
/// estimate plus that error.
pub(super) fn removable_autocorrelation(scores: &[f64]) -> f64 {
    let estimate = autocorrelation(scores);
    let error = as_f64(scores.len()).sqrt().recip();
    if estimate <= error {
        return 0.0;
    }
    (estimate + error).min(LARGEST)
}

/// Returns the part of each value that is not predicted by the value before it: xᵢ − ρ xᵢ₋₁.
pub(in crate::changepoint) fn innovations(values: &[f64], autocorrelation: f64) -> Vec<f64> {
    let first = values.first().map(|value| value * (1.0 - autocorrelation));
    let later = values
        .windows(2)
        .map(|pair| pair[1] - autocorrelation * pair[0]);
    first.into_iter().chain(later).collect()
}

fn squared_differences(scores: &[f64], lag: usize) -> f64 {
    let limit = LARGEST_DIFFERENCE * LARGEST_DIFFERENCE;
    let squares = scores.windows(lag + 1).map(|window| {
        let difference = window[lag] - window[0];
        (difference * difference).min(limit)
    });
    squares.sum::<f64>() / as_f64(scores.len() - lag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::testing::{Noise, series};

    #[test]
    fn it_is_estimated_with_and_without_a_change() {
        for (noise, expected) in [(Noise::Normal, 0.0), (Noise::Autocorrelated(0.3), 0.3)] {
            for step in [0.0, 2.0] {
                let mut values = series(noise, 4000, 3);
                for value in &mut values[2000..] {
                    *value += step;
                }
                let found = autocorrelation(&values);
                assert!((found - expected).abs() < 0.05, "{noise:?} {step}: {found}");
            }
        }
    }

    #[test]
    fn innovations_of_autocorrelated_noise_are_not_autocorrelated() {
        let values = series(Noise::Autocorrelated(0.6), 4000, 4);
        let left = autocorrelation(&innovations(&values, 0.6));
        assert!(left.abs() < 0.05, "{left}");
    }
}
