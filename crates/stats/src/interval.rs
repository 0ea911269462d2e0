//! Confidence intervals of one centre.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::number::as_f64;
use crate::{PValue, mean, standard_deviation};

/// A level of confidence strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence(f64);

/// A level of confidence outside (0, 1).
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a confidence level lies between 0 and 1, and {level} does not")]
pub struct ConfidenceError {
    /// The level that was asked for.
    pub level: f64,
}

impl Confidence {
    /// 95 %.
    pub const P95: Self = Self(0.95);

    /// Returns the level.
    ///
    /// # Errors
    /// When it does not lie strictly between 0 and 1.
    pub fn new(level: f64) -> Result<Self, ConfidenceError> {
        if level > 0.0 && level < 1.0 {
            Ok(Self(level))
        } else {
            Err(ConfidenceError { level })
        }
    }

    /// Returns the level as a number.
    pub fn level(self) -> f64 {
        self.0
    }

    /// Returns the two-sided quantile of Student's t with `freedom` degrees of freedom
    /// (which need not be whole); `None` unless `freedom` is positive and finite.
    pub fn t_quantile(self, freedom: f64) -> Option<f64> {
        let distribution = students_t(freedom)?;
        Some(distribution.inverse_cdf(0.5 + self.0 / 2.0))
    }

    /// Returns the two-sided quantile of the normal distribution.
    pub(crate) fn normal_quantile(self) -> f64 {
        Normal::standard().inverse_cdf(0.5 + self.0 / 2.0)
    }

    /// Returns what the level leaves on each side.
    pub fn tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }
}

/// Returns the t interval of an estimate with its standard error, and the two-sided p-value of "it is 0", which there is
/// only if the error is positive.
pub(crate) fn t_test(
    estimate: f64,
    error: f64,
    freedom: f64,
    confidence: Confidence,
) -> (Option<Interval>, Option<PValue>) {
    let quantile = confidence.t_quantile(freedom);
    let p_value = (error > 0.0).then(|| t_p_value(estimate / error, freedom));
    (
        quantile.map(|quantile| Interval::around(estimate, error * quantile)),
        p_value
            .flatten()
            .and_then(|p_value| PValue::new(p_value).ok()),
    )
}

/// Returns the two-sided p-value of a t statistic with `freedom` degrees of freedom.
pub(crate) fn t_p_value(statistic: f64, freedom: f64) -> Option<f64> {
    let distribution = students_t(freedom)?;
    Some((2.0 * distribution.sf(statistic.abs())).min(1.0))
}

fn students_t(freedom: f64) -> Option<StudentsT> {
    if !freedom.is_finite() || freedom <= 0.0 {
        return None;
    }
    StudentsT::new(0.0, 1.0, freedom).ok()
}

/// A range that covers the true value with a stated confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Interval {
    /// Returns the interval that reaches so far to both sides of a centre.
    pub fn around(centre: f64, reach: f64) -> Self {
        Self {
            lower: centre - reach,
            upper: centre + reach,
        }
    }

    /// Returns the interval of what a rising function makes of the values.
    #[must_use]
    pub fn map(self, function: impl Fn(f64) -> f64) -> Self {
        Self {
            lower: function(self.lower),
            upper: function(self.upper),
        }
    }

    /// Returns the distance between the ends.
    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// Returns whether `value` lies in the interval, its ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }
}

/// Returns the t interval of the mean of independent values: x̄ ± t · s / √n.
///
/// Give it one value per instance (its mean): iterations of one instance are not
/// independent, and an interval from them is too narrow (Kalibera & Jones 2013).
/// `None` below two values.
///
/// ```
/// use lapwing_stats::{Confidence, mean_interval};
/// let interval = mean_interval(&[1.0, 2.0, 3.0], Confidence::P95).expect("three values");
/// assert!((interval.lower - -0.484_137_711_731_464).abs() < 1e-9);
/// ```
pub fn mean_interval(values: &[f64], confidence: Confidence) -> Option<Interval> {
    let centre = mean(values)?;
    let deviation = standard_deviation(values)?;
    let n = as_f64(values.len());
    let half = confidence.t_quantile(n - 1.0)? * deviation / n.sqrt();
    Some(Interval::around(centre, half))
}

/// Returns the interval of the geometric mean of independent positive values: [`mean_interval`] of their logarithms.
///
/// `None` below two values, and if one is not positive.
///
/// ```
/// use lapwing_stats::{Confidence, geometric_mean_interval};
/// let interval = geometric_mean_interval(&[0.1, 5.0, 9.0], Confidence::P95).expect("three values");
/// // scipy 1.17.1: np.exp(stats.t.interval(0.95, 2, x.mean(), stats.sem(x))) of x = np.log([.1, 5, 9])
/// assert!((interval.lower / 0.003_792_008_953_205_971_5 - 1.0).abs() < 1e-9);
/// assert!((interval.upper / 718.796_005_727_721_8 - 1.0).abs() < 1e-9);
/// ```
pub fn geometric_mean_interval(values: &[f64], confidence: Confidence) -> Option<Interval> {
    if !values.iter().all(|value| *value > 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let interval = mean_interval(&logs, confidence)?;
    Some(Interval {
        lower: interval.lower.exp(),
        upper: interval.upper.exp(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_t_are_those_of_scipy() {
        // scipy 1.17.1: stats.t.ppf(0.975, df), stats.t.ppf(0.995, df)
        for (freedom, p95, p99) in T_QUANTILES {
            let confidence = Confidence::new(0.99).expect("a level");
            let error95 = Confidence::P95.t_quantile(freedom).expect("a quantile") / p95 - 1.0;
            let error99 = confidence.t_quantile(freedom).expect("a quantile") / p99 - 1.0;
            assert!(error95.abs() < 1e-9, "{freedom}: {error95}");
            assert!(error99.abs() < 1e-9, "{freedom}: {error99}");
        }
    }

    const T_QUANTILES: [(f64, f64, f64); 6] = [
        (1.0, 12.706204736174694, 63.656741162871526),
        (2.0, 4.302652729749462, 9.924843200918287),
        (2.5, 3.5746548420036817, 7.163728138948783),
        (4.0, 2.7764451051977934, 4.604094871349992),
        (7.3, 2.345066736547703, 3.451031655622185),
        (48.0, 2.010634757624232, 2.6822040269502154),
    ];

    #[test]
    fn the_interval_is_that_of_scipy() {
        // scipy 1.17.1: stats.t.interval(0.95, 4, loc=x.mean(), scale=stats.sem(x))
        let x = [1.31, 1.29, 1.35, 1.30, 1.42];
        let interval = mean_interval(&x, Confidence::P95).expect("five values");
        assert!((interval.lower - 1.2679462761007978).abs() < 1e-9);
        assert!((interval.upper - 1.4000537238992024).abs() < 1e-9);
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(mean_interval(&[1.0], Confidence::P95), None);
    }

    #[test]
    fn a_level_outside_zero_to_one_is_refused() {
        for level in [0.0, 1.0, -1.0, 95.0, f64::NAN] {
            assert!(Confidence::new(level).is_err(), "{level}");
        }
    }
}
