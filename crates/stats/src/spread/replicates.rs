//! One comparison: its replicates, the difference that they show, and how sure it is.

use crate::interval::t_p_value;
use crate::number::as_f64;
use crate::{Confidence, Interval, mean, standard_deviation};

/// The replicates of one comparison: one value each, usually the logarithm of an instance's mean.
#[derive(Debug, Clone, PartialEq)]
pub enum Replicates {
    /// Independent replicates of the baseline and of the candidate.
    Sides([Vec<f64>; 2]),
    /// The differences candidate − baseline of replicates that belong together, such as those of one block.
    Pairs(Vec<f64>),
}

/// Where the interval of a difference comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceMethod {
    /// Welch's t: each side has its own variance.
    Welch,
    /// Student's t: both sides have one variance.
    Student,
    /// Student's t of the differences of pairs.
    Paired,
}

/// The difference candidate − baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The difference of the means.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
    /// Two-sided p-value of "the difference is 0".
    pub p_value: f64,
    /// The method that gave the interval.
    pub method: DifferenceMethod,
}

/// A difference with the variance that both sides have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contrast {
    /// The difference of the means.
    pub(crate) difference: f64,
    /// The variance of one replicate, or of one pair's difference.
    pub(crate) variance: f64,
    /// Its degrees of freedom.
    pub(crate) freedom: f64,
    /// The variance of the difference, as a multiple of `variance`.
    pub(crate) scale: f64,
}

impl Replicates {
    /// Returns the difference with its interval; `None` below two replicates per side or two pairs.
    ///
    /// Of two sides the interval is the wider one of Welch's and Student's, and the p-value the larger one. With equal
    /// numbers this is Welch's. With 3 replicates against 20 Welch's interval misses the truth in up to a
    /// quarter of the cases where the noise has several modes, because three values can look alike by
    /// chance; and Student's misses it where the smaller side varies more.
    ///
    /// ```
    /// use lapwing_stats::{Confidence, DifferenceMethod, Replicates};
    /// let sides = Replicates::Sides([vec![1.0, 1.1, 0.9], vec![2.0, 2.1, 1.9]]);
    /// let difference = sides.difference(Confidence::P95).expect("three per side");
    /// assert_eq!(difference.method, DifferenceMethod::Welch);
    /// assert!(difference.p_value < 0.001);
    /// ```
    pub fn difference(&self, confidence: Confidence) -> Option<Difference> {
        let pooled = self.contrast()?;
        let variance = pooled.variance * pooled.scale;
        let method = match self {
            Self::Sides(_) => DifferenceMethod::Student,
            Self::Pairs(_) => DifferenceMethod::Paired,
        };
        let by_t = |variance: f64, freedom: f64, method: DifferenceMethod| {
            by_t(pooled.difference, variance, freedom, method, confidence)
        };
        let mut result = by_t(variance, pooled.freedom, method)?;
        if let Self::Sides([baseline, candidate]) = self {
            let [(one, one_share), (other, other_share)] =
                [error_of(baseline)?, error_of(candidate)?];
            let variance = one + other;
            // NaN where nothing varies; no t is needed then.
            let freedom = variance.powi(2) / (one_share + other_share);
            let welch = by_t(variance, freedom, DifferenceMethod::Welch)?;
            if welch.interval.width() >= result.interval.width() {
                result.interval = welch.interval;
                result.method = welch.method;
            }
            result.p_value = result.p_value.max(welch.p_value);
        }
        Some(result)
    }

    /// Returns whether no value differs from any other, on both sides: there is nothing to test.
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Sides(sides) => {
                let mut all = sides.iter().flatten();
                let first = all.next();
                all.all(|value| Some(value) == first)
            }
            Self::Pairs(differences) => differences.iter().all(|difference| *difference == 0.0),
        }
    }

    /// Returns the same replicates with a difference that is smaller by `border`, and 0 if it is not larger than
    /// that: what is left to test of "the difference is larger than the border".
    #[must_use]
    pub fn beyond(&self, border: f64) -> Self {
        let difference = match self {
            Self::Sides([baseline, candidate]) => mean(candidate).zip(mean(baseline)),
            Self::Pairs(differences) => mean(differences).zip(Some(0.0)),
        };
        let Some(difference) = difference.map(|(candidate, baseline)| candidate - baseline) else {
            return self.clone();
        };
        let shift = difference.clamp(-border, border);
        let shifted = |values: &[f64]| values.iter().map(|value| value - shift).collect();
        match self {
            Self::Sides([baseline, candidate]) => {
                Self::Sides([baseline.clone(), shifted(candidate)])
            }
            Self::Pairs(differences) => Self::Pairs(shifted(differences)),
        }
    }

    /// Returns the difference with the pooled variance; `None` below two replicates per side.
    pub(crate) fn contrast(&self) -> Option<Contrast> {
        match self {
            Self::Sides([baseline, candidate]) => {
                let squares = |side: &[f64]| -> Option<f64> {
                    Some(standard_deviation(side)?.powi(2) * (as_f64(side.len()) - 1.0))
                };
                let sizes = [as_f64(baseline.len()), as_f64(candidate.len())];
                let freedom = sizes[0] + sizes[1] - 2.0;
                Some(Contrast {
                    difference: mean(candidate)? - mean(baseline)?,
                    variance: (squares(baseline)? + squares(candidate)?) / freedom,
                    freedom,
                    scale: sizes[0].recip() + sizes[1].recip(),
                })
            }
            Self::Pairs(differences) => Some(Contrast {
                difference: mean(differences)?,
                variance: standard_deviation(differences)?.powi(2),
                freedom: as_f64(differences.len()) - 1.0,
                scale: as_f64(differences.len()).recip(),
            }),
        }
    }
}

/// Returns s²/n of a side, and its square over n − 1.
fn error_of(side: &[f64]) -> Option<(f64, f64)> {
    let error = standard_deviation(side)?.powi(2) / as_f64(side.len());
    Some((error, error.powi(2) / (as_f64(side.len()) - 1.0)))
}

fn by_t(
    value: f64,
    variance: f64,
    freedom: f64,
    method: DifferenceMethod,
    confidence: Confidence,
) -> Option<Difference> {
    if !value.is_finite() || !variance.is_finite() {
        return None;
    }
    let (half, p_value) = if variance == 0.0 {
        (0.0, if value == 0.0 { 1.0 } else { 0.0 })
    } else {
        let error = variance.sqrt();
        let half = confidence.t_quantile(freedom)? * error;
        (half, t_p_value(value / error, freedom)?)
    };
    Some(Difference {
        value,
        interval: Interval::around(value, half),
        p_value,
        method,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::assert_relative;

    fn logs(values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| value.ln()).collect()
    }

    const LOWER: f64 = 0.019_727_719_482_037_262;
    const UPPER: f64 = 0.192_590_983_363_961_7;
    const P_VALUE: f64 = 0.021_453_774_031_125_88;
    const PAIRED: [f64; 3] = [
        -0.003_865_662_816_394_513_4,
        0.071_865_662_816_394_52,
        0.067_268_073_156_149_72,
    ];

    const BASELINE: [f64; 3] = [4.12, 4.05, 4.20];
    const CANDIDATE: [f64; 8] = [4.71, 4.62, 4.95, 4.66, 4.80, 4.58, 4.02, 4.4];

    #[test]
    fn the_wider_interval_and_the_larger_p_value_are_given() {
        // scipy 1.17.1: stats.ttest_ind(np.log(candidate), np.log(baseline), equal_var=False), then equal_var=True:
        // .confidence_interval(.95), .pvalue
        let sides = Replicates::Sides([logs(&BASELINE), logs(&CANDIDATE)]);
        let difference = sides.difference(Confidence::P95).expect("enough");
        assert_eq!(difference.method, DifferenceMethod::Student);
        assert_relative("lower", difference.interval.lower, LOWER, 1e-9);
        assert_relative("upper", difference.interval.upper, UPPER, 1e-9);
        assert_relative("p", difference.p_value, P_VALUE, 1e-9);
    }

    #[test]
    fn pairs_are_the_paired_t_test() {
        // scipy 1.17.1: stats.ttest_1samp([.05, .02, .04, .07, -.01], 0)
        let pairs = Replicates::Pairs(vec![0.05, 0.02, 0.04, 0.07, -0.01]);
        let difference = pairs.difference(Confidence::P95).expect("enough");
        assert_relative("lower", difference.interval.lower, PAIRED[0], 1e-9);
        assert_relative("upper", difference.interval.upper, PAIRED[1], 1e-9);
        assert_relative("p", difference.p_value, PAIRED[2], 1e-9);
    }

    #[test]
    fn sides_that_do_not_vary_differ_or_are_equal() {
        let sides = Replicates::Sides([vec![1.0; 3], vec![2.0; 3]]);
        let difference = sides.difference(Confidence::P95).expect("enough");
        assert_eq!((difference.value, difference.p_value), (1.0, 0.0));
        let equal = Replicates::Sides([vec![1.0; 3], vec![1.0; 3]]);
        assert_eq!(
            equal.difference(Confidence::P95).map(|it| it.p_value),
            Some(1.0)
        );
        assert!(equal.is_constant() && !sides.is_constant());
    }

    #[test]
    fn a_difference_within_the_border_is_none() {
        let sides = Replicates::Sides([vec![0.0, 0.1], vec![0.2, 0.3]]);
        let of = |border: f64| sides.beyond(border).contrast().expect("enough").difference;
        assert!((of(0.05) - 0.15).abs() < 1e-12);
        assert!(of(0.5).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn swapping_the_sides_turns_the_difference_around(
            one in prop::collection::vec(0.0..1.0_f64, 2..12),
            other in prop::collection::vec(0.0..1.0_f64, 2..12),
        ) {
            let of = |sides: [&Vec<f64>; 2]| {
                let sides = Replicates::Sides(sides.map(Clone::clone));
                sides.difference(Confidence::P95).expect("enough")
            };
            let (ahead, back) = (of([&one, &other]), of([&other, &one]));
            prop_assert!((ahead.value + back.value).abs() < 1e-12);
            prop_assert!((ahead.interval.lower + back.interval.upper).abs() < 1e-9);
            prop_assert!((ahead.p_value - back.p_value).abs() < 1e-9);
        }
    }
}
