//! How fast a series changes.

use super::standardised::drawn_in;
use super::verdict::autocorrelation_around;
use crate::interval::{Confidence, Interval};
use crate::number::as_f64;

/// No interval is wider than that of so many degrees of freedom.
const LEAST_FREEDOM: f64 = 3.0;

/// How fast a series changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// The change per unit of time.
    pub per_unit: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// The autocorrelation of the values around the line, which the interval allows for.
    pub autocorrelation: f64,
}

/// Returns the slope of a line through values at times in order, whose unit is the caller's; none with fewer than three
/// values, or if all times are equal.
///
/// Least squares after far values are drawn in. The noise has autocorrelation ρ^|i − j| between values i and j, with
/// that of the residuals, less its bias. With its matrix R and the residual maker H, the variance is RSS / tr(H R),
/// the standard error squared s² wᵀ R w with w = t / Σ t², and Student's t has (n − 2)(1 − ρ) / (1 + ρ) degrees of
/// freedom, but at least 3. Where the line was chosen because it stood out, as by [`series_changes`], it is a little
/// too steep, and its interval a little too narrow.
///
/// [`series_changes`]: super::series_changes
pub fn slope(values: &[f64], times: &[f64]) -> Option<Slope> {
    if values.len() < 3 || values.len() != times.len() {
        return None;
    }
    let clipped = drawn_in(values);
    let [level, middle] = [crate::mean(&clipped)?, crate::mean(times)?];
    let times: Vec<f64> = times.iter().map(|time| time - middle).collect();
    let square: f64 = times.iter().map(|time| time * time).sum();
    if square <= 0.0 {
        return None;
    }
    let pairs = || times.iter().zip(&clipped);
    let per_unit = pairs()
        .map(|(time, value)| time * (value - level))
        .sum::<f64>()
        / square;
    let residuals: Vec<f64> = pairs()
        .map(|(time, value)| value - level - per_unit * time)
        .collect();
    let autocorrelation = autocorrelation_around(&residuals, 2);
    let count = as_f64(values.len());
    let of_times = quadratic_form(&times, autocorrelation);
    let of_level = quadratic_form(&vec![1.0; values.len()], autocorrelation);
    let trace = (count - of_level / count - of_times / square).max(1e-9);
    let rss: f64 = residuals.iter().map(|it| it * it).sum();
    let error = (rss / trace * of_times).sqrt() / square;
    let freedom = (count - 2.0) * (1.0 - autocorrelation) / (1.0 + autocorrelation);
    let quantile = Confidence::P95.t_quantile(freedom.max(LEAST_FREEDOM))?;
    Some(Slope {
        per_unit,
        interval: Interval::around(per_unit, quantile * error),
        autocorrelation,
    })
}

/// Returns xᵀ R x with R = ρ^|i − j|.
fn quadratic_form(values: &[f64], autocorrelation: f64) -> f64 {
    let (mut before, mut form) = (0.0, 0.0);
    for value in values {
        form += value * (value + 2.0 * before);
        before = autocorrelation * (before + value);
    }
    form
}
