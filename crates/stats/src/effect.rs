//! Sizes of effects that do not depend on units or outliers.

use crate::number::as_f64;
use crate::rank::pooled_ranks;

/// Returns the probability of superiority: the share of pairs in which the candidate's value is
/// larger than the baseline's, equal pairs counting one half.
///
/// p̂ = P(b < c) + ½ P(b = c) = (R̄_c − (n_c + 1) / 2) / n_b, from pooled mid-ranks; ½ when neither
/// side is ahead. `None` if a side is empty or has a value that is not finite.
///
/// Source: Vargha & Delaney, *Journal of Educational and Behavioral Statistics* 2000.
///
/// ```
/// use lapwing_stats::probability_of_superiority;
/// assert_eq!(probability_of_superiority(&[1.0, 2.0], &[2.0, 3.0]), Some(0.875));
/// ```
pub fn probability_of_superiority(baseline: &[f64], candidate: &[f64]) -> Option<f64> {
    let finite = |side: &[f64]| !side.is_empty() && side.iter().all(|value| value.is_finite());
    if !finite(baseline) || !finite(candidate) {
        return None;
    }
    let ranks = pooled_ranks(baseline, candidate).ranks;
    let (before, after) = (as_f64(baseline.len()), as_f64(candidate.len()));
    let sum: f64 = ranks[baseline.len()..].iter().sum();
    // One division at the end: the numerator is a whole number of halves and hence exact.
    Some((sum - after * (after + 1.0) / 2.0) / (before * after))
}

/// Returns Cliff's δ = 2p̂ − 1: the share of pairs in which the candidate is larger, less the
/// share in which it is smaller; −1 to 1.
///
/// `None` as for [`probability_of_superiority`].
///
/// Source: Cliff, *Psychological Bulletin* 1993.
///
/// ```
/// assert_eq!(lapwing_stats::cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
/// ```
pub fn cliffs_delta(baseline: &[f64], candidate: &[f64]) -> Option<f64> {
    probability_of_superiority(baseline, candidate).map(|share| 2.0 * share - 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
        assert_eq!(cliffs_delta(&[1.0], &[f64::INFINITY]), None);
    }

    proptest! {
        #[test]
        fn it_is_the_count_of_pairs(
            one in prop::collection::vec(0..9_u8, 1..30),
            other in prop::collection::vec(0..9_u8, 1..30),
        ) {
            let pairs = one.iter().flat_map(|b| other.iter().map(move |c| (b, c)));
            let signs: f64 = pairs
                .map(|(b, c)| match c.cmp(b) {
                    std::cmp::Ordering::Less => -1.0,
                    std::cmp::Ordering::Equal => 0.0,
                    std::cmp::Ordering::Greater => 1.0,
                })
                .sum();
            let numbers = |side: &[u8]| side.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let delta = cliffs_delta(&numbers(&one), &numbers(&other)).expect("both sides");
            prop_assert!((delta - signs / as_f64(one.len() * other.len())).abs() < 1e-12);
        }
    }
}
