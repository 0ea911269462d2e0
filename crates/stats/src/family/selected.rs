//! The size of a change that is reported because it stood out.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::FamilyTest;
use crate::{Confidence, Interval};

/// The size of a difference, allowing for its selection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectedSize {
    /// The size, right on average among those that are reported (`docs/calibration.md`).
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
}

/// The share of reported differences that are larger than the observed one, at the size that is stated. With one half, as
/// many sizes are too large as too small; those that are too small are farther off, so that the mean of all is 5 to 10 %
/// too small.
const LARGER: f64 = 0.55;
/// So much of the error rate of an interval is for the noise; the rest is for the standard error, which is smaller
/// than the true one more often than not where something stood out.
const FOR_NOISE: f64 = 0.8;
/// More degrees of freedom are as good as infinitely many.
const MANY: f64 = 1e6;
/// Bisections of the interval that contains a size: enough for all digits.
const BISECTIONS: u32 = 60;

/// Returns the size of a difference that is reported because its distance from 0 exceeded a border; `None` unless
/// error and degrees of freedom are positive.
///
/// What is reported because it is large is on average larger than the truth. With T = (D − θ)/`error` distributed as
/// Student's t, the size is the θ for which a *reported* difference, |D| ≥ `border`, is about as likely larger as smaller
/// than the observed one d: P(D ≥ d | |D| ≥ border) = 0.55, between 0 and d. The ends of the interval have the shares
/// 0.02 and 0.98 at 95 %. Far beyond the border the size is d.
///
/// **Assumes** that the error is not itself selected. With few degrees of freedom it is: therefore 0.02 and not 0.025.
///
/// Source: Zhong & Prentice, *Biostatistics* 2008, conditional likelihood; Lee, Sun, Sun & Taylor, *Annals of
/// Statistics* 2016, the intervals.
///
/// ```
/// use lapwing_stats::{Confidence, selected_size};
/// let at = |estimate: f64| selected_size(estimate, 1.0, 1e9, 1.96, Confidence::P95).expect("positive");
/// assert!(at(2.5).value < 1.8 && at(2.5).interval.contains(0.0));
/// assert!((at(8.0).value - 8.0).abs() < 1e-9 && (at(-8.0).value + 8.0).abs() < 1e-9);
/// ```
pub fn selected_size(
    estimate: f64,
    error: f64,
    freedom: f64,
    border: f64,
    confidence: Confidence,
) -> Option<SelectedSize> {
    let distribution = StudentsT::new(0.0, 1.0, freedom.min(MANY)).ok()?;
    if !(error > 0.0 && error.is_finite() && estimate.is_finite()) {
        return None;
    }
    let observed = estimate.abs() / error;
    let border = (border / error).clamp(0.0, observed);
    let larger = |size: f64| {
        let reported = distribution.sf(border - size) + distribution.cdf(-border - size);
        distribution.sf(observed - size) / reported
    };
    let reach = confidence.t_quantile(freedom.min(MANY))? * 2.0;
    let with_share = |share: f64, least: f64, most: f64| {
        let (mut low, mut high) = (least, most);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if larger(middle) < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high) * error
    };
    let tail = confidence.tail() * FOR_NOISE;
    let value = with_share(LARGER, 0.0, observed);
    let most = observed + reach;
    let lower = with_share(tail, -observed, most);
    let upper = with_share(1.0 - tail, 0.0, most);
    Some(if estimate < 0.0 {
        SelectedSize {
            value: -value,
            interval: Interval {
                lower: -upper,
                upper: -lower,
            },
        }
    } else {
        SelectedSize {
            value,
            interval: Interval { lower, upper },
        }
    })
}

impl FamilyTest {
    /// Returns the size of the difference given that it was found: its p-value for "no larger than `beyond`" was at
    /// most `level`, after correction for the number of comparisons.
    pub fn selected_size(
        &self,
        beyond: f64,
        level: f64,
        confidence: Confidence,
    ) -> Option<SelectedSize> {
        let errors = self.errors.iter().flatten();
        let error = errors.max_by(|one, other| one.value.total_cmp(&other.value))?;
        let quantile = Confidence::new(1.0 - level)
            .ok()?
            .t_quantile(error.freedom)?;
        // The pooled p-value falls with the fourth power of the statistic.
        let by_pool = (self.difference / error.value).abs()
            * (self.p_value / level)
                .min(1.0)
                .powf(super::TAIL_INDEX.recip());
        let is_pooled = self.p_value > super::p_of(self.difference, *error) * (1.0 + 1e-9);
        let border = if is_pooled {
            quantile.max(by_pool)
        } else {
            quantile
        };
        let border = border * error.value + beyond;
        selected_size(
            self.difference,
            error.value,
            error.freedom,
            border,
            confidence,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_relative;

    #[test]
    fn sizes_are_those_of_scipy() {
        for (estimate, error, freedom, border, value, lower, upper) in SCIPY {
            let found = selected_size(estimate, error, freedom, border, Confidence::P95);
            let found = found.expect("positive");
            assert_relative("value", found.value, value, 1e-7);
            assert_relative("lower", found.interval.lower, lower, 1e-7);
            assert_relative("upper", found.interval.upper, upper, 1e-7);
        }
    }

    #[test]
    fn at_the_border_nothing_is_left() {
        let found = selected_size(2.0, 1.0, 8.0, 2.0, Confidence::P95).expect("positive");
        assert!(found.value < 0.1 && found.interval.lower < 0.0, "{found:?}");
        assert_eq!(selected_size(2.0, 0.0, 8.0, 2.0, Confidence::P95), None);
    }

    // `golden_selected.py` in `crates/stats/tests`, scipy 1.17.1
    #[rustfmt::skip]
    const SCIPY: [(f64, f64, f64, f64, f64, f64, f64); 5] = [
        (0.1, 0.04, 8.0, 0.09, 0.018_545_393_129_193_802, -0.046_556_891_097_998_29, 0.169_663_683_618_985_34),
        (0.1, 0.03, 8.0, 0.09, 0.024_934_329_533_125_105, -0.034_254_244_247_858_93, 0.156_556_909_494_742_8),
        (0.3, 0.05, 27.0, 0.2, 0.3, 0.156_237_733_148_497_81, 0.407_722_884_552_373_65),
        (2.5, 1.0, 1_000_000.0, 1.96, 1.780_054_171_865_581, -0.466_579_861_265_118_36, 4.434_225_975_996_596),
        (0.2, 0.04, 4.0, 0.15, 0.196_188_311_737_732_6, -0.070_826_327_392_515_47, 0.306_108_576_776_315_9),
    ];
}
