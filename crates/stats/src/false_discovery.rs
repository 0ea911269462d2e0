//! Many tests at once: p-values adjusted for the rate of false discoveries.

use crate::number::as_f64;

/// A probability between 0 and 1, never `NaN`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct PValue(f64);

/// A number that is no p-value.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a p-value lies between 0 and 1, and {value} does not")]
pub struct PValueError {
    /// The number.
    pub value: f64,
}

impl PValue {
    /// No evidence at all.
    pub const ONE: Self = Self(1.0);

    /// Returns the p-value.
    ///
    /// # Errors
    /// When the number does not lie between 0 and 1, or is `NaN`.
    pub fn new(value: f64) -> Result<Self, PValueError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(PValueError { value })
        }
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// Returns the p-values adjusted by Benjamini and Hochberg, in the order given.
///
/// With the m p-values sorted, p̃₍ᵢ₎ = min over j ≥ i of m p₍ⱼ₎ / j, at most 1. Of all tests with p̃ ≤ q
/// a share of q at most is expected to be false, when the tests are independent or
/// positively dependent. The family is every comparison that could be tested, not only those
/// that look promising.
///
/// Source: Benjamini & Hochberg, *JRSS B* 1995; Benjamini & Yekutieli, *Annals of Statistics* 2001.
///
/// ```
/// use lapwing_stats::{PValue, benjamini_hochberg};
/// let p: Vec<PValue> = [0.04, 0.01, 0.5].into_iter().flat_map(PValue::new).collect();
/// let adjusted: Vec<f64> = benjamini_hochberg(&p).into_iter().map(PValue::value).collect();
/// assert_eq!(adjusted, [0.06, 0.03, 0.5]);
/// ```
pub fn benjamini_hochberg(p_values: &[PValue]) -> Vec<PValue> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].0.total_cmp(&p_values[*other].0));
    let mut adjusted = p_values.to_vec();
    let mut least = 1.0_f64;
    for (before, position) in order.iter().enumerate().rev() {
        let factor = as_f64(p_values.len()) / as_f64(before + 1);
        least = least.min(p_values[*position].0 * factor);
        adjusted[*position] = PValue(least);
    }
    adjusted
}

/// Returns the p-values of the tests that have one, adjusted by [`benjamini_hochberg`].
pub fn adjusted_p_values(p_values: &[Option<PValue>]) -> Vec<Option<PValue>> {
    let tested: Vec<PValue> = p_values.iter().flatten().copied().collect();
    let mut adjusted = benjamini_hochberg(&tested).into_iter();
    let of_test = |p_value: &Option<PValue>| p_value.and_then(|_| adjusted.next());
    p_values.iter().map(of_test).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p_values(values: &[f64]) -> Vec<PValue> {
        values
            .iter()
            .map(|value| PValue::new(*value).expect("a p-value"))
            .collect()
    }

    // scipy 1.17.1: stats.false_discovery_control(P, method="bh")
    const P: [f64; 8] = [0.02, 0.9, 1e-9, 0.02, 0.3, 0.0004, 1.0, 0.049];
    const BH: [f64; 8] = [
        0.04,
        1.0,
        8e-09,
        0.04,
        0.39999999999999997,
        0.0016,
        1.0,
        0.07840000000000001,
    ];
    #[test]
    fn values_are_those_of_scipy() {
        for (actual, expected) in benjamini_hochberg(&p_values(&P)).into_iter().zip(BH) {
            assert!(
                (actual.0 - expected).abs() <= 1e-14 * expected,
                "{actual:?} {expected}"
            );
        }
    }

    #[test]
    fn none_and_one_stay_as_they_are() {
        assert_eq!(benjamini_hochberg(&[]), []);
        assert_eq!(benjamini_hochberg(&p_values(&[0.3])), p_values(&[0.3]));
    }

    #[test]
    fn what_is_no_p_value_is_refused() {
        for value in [-0.1, 1.1, f64::NAN] {
            assert!(PValue::new(value).is_err(), "{value}");
        }
    }

    proptest! {
        #[test]
        fn adjusting_keeps_the_order_and_never_lowers(
            values in prop::collection::vec(0.0..=1.0_f64, 1..50),
        ) {
            let plain = p_values(&values);
            let adjusted = benjamini_hochberg(&plain);
            for one in 0..plain.len() {
                prop_assert!(plain[one].0 <= adjusted[one].0 * (1.0 + 1e-12));
                prop_assert!(adjusted[one].0 <= 1.0);
                for other in 0..plain.len() {
                    prop_assert!(plain[one] > plain[other] || adjusted[one] <= adjusted[other]);
                }
            }
        }
    }
}
