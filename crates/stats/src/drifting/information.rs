//! What a noisy answer tells of a question.

use crate::number::as_f64;

/// Number of points at which an information gain is integrated.
const POINTS: usize = 65;

/// Returns the doubt about a question that is answered yes with a probability, in bits.
fn entropy(share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 0.0;
    }
    -share * share.log2() - (1.0 - share) * (1.0 - share).log2()
}

/// Returns what a measurement tells of a question that is answered yes with a probability, in bits, where both
/// answers are so many standard deviations apart: the mutual information of a binary input and its Gaussian output.
pub(super) fn information(probability: f64, distance: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) || distance <= 0.0 {
        return 0.0;
    }
    let density = |value: f64| (-0.5 * value * value).exp();
    let (from, to) = (-8.0, distance + 8.0);
    let width = (to - from) / as_f64(POINTS - 1);
    // What is left of the doubt, over all outcomes.
    let left: f64 = (0..POINTS)
        .map(|at| {
            let value = from + width * as_f64(at);
            let no = (1.0 - probability) * density(value);
            let yes = probability * density(value - distance);
            let both = no + yes;
            if both > 0.0 {
                both * entropy(yes / both)
            } else {
                0.0
            }
        })
        .sum();
    let left = left * width / (2.0 * std::f64::consts::PI).sqrt();
    (entropy(probability) - left).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_of_the_channel_is_the_known_one() {
        // By `scipy.integrate.quad` of scipy 1.17.1.
        for (distance, expected) in [(1.0, 0.1607), (2.0, 0.4859), (3.0, 0.7600)] {
            let found = information(0.5, distance);
            assert!((found - expected).abs() < 1e-3, "{distance}: {found}");
        }
        assert_eq!(information(0.0, 2.0), 0.0);
    }
}
