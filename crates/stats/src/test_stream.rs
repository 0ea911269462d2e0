//! Tests that come one after another, without an end: the share of false findings among all of them.

use crate::number::as_f64;
use crate::{
    ComparisonLook, Confidence, DetectionMethod, LookedDifference, Noise, Strategy,
    instances_needed,
};

/// The decline of the weights γ of later tests, as a power of their number.
const DECLINE: f64 = 1.6;
/// The sum of j^−1.6 over all j ≥ 1, ζ(1.6).
const TOTAL: f64 = 2.285_765_665_680_014_3;

/// A stream of tests by which of all findings a share of at most α is false, however many tests follow: LORD++.
///
/// The tests share an amount of error rate, of which each takes a part, and which every finding increases. With the
/// number t of a test, the numbers τ₁ < τ₂ < … of the findings before it, W₀ = α/2, γⱼ = j^−1.6 / ζ(1.6) for j ≥ 1 and
/// γⱼ = 0 otherwise, a p-value suffices that is at most
///
/// αₜ = W₀ γₜ + (α − W₀) γ_{t − τ₁} + α Σ_{j ≥ 2} γ_{t − τⱼ}.
///
/// The expected share of false findings is at most α if the p-values of true null hypotheses are valid and independent
/// of what came before; without any true effect that is the probability of any finding.
///
/// Sources: Javanmard and Montanari, *Annals of Statistics* 46, 2018 (LORD, γ ∝ j^−1.6 among others); Ramdas, Yang,
/// Wainwright and Jordan, *NIPS* 2017 (LORD++).
///
/// ```
/// use lapwing_stats::TestStream;
///
/// let mut stream = TestStream::new(0.05);
/// assert!((stream.level() - 0.010_937).abs() < 1e-6);
/// stream.add(false);
/// assert!(stream.level() < 0.004);
/// stream.add(true);
/// assert!(stream.level() > 0.012);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TestStream {
    alpha: f64,
    tests: usize,
    /// The numbers of the tests that found something, from 1 on.
    found: Vec<usize>,
}

impl TestStream {
    /// Returns a stream without any test yet, by which a share `alpha` of all findings may be false.
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        Self {
            alpha,
            tests: 0,
            found: Vec::new(),
        }
    }

    /// Adds a test, and whether its p-value was at most [`TestStream::level`]. One without an answer yet has found
    /// nothing.
    pub fn add(&mut self, is_found: bool) {
        self.tests += 1;
        if is_found {
            self.found.push(self.tests);
        }
    }

    /// Returns the p-value that suffices in the next test.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.shared(weight)
    }

    /// Returns the error rate that is left for all further tests together, if they find nothing.
    #[must_use]
    pub fn remaining(&self) -> f64 {
        self.shared(|number| 1.0 - (1..number).map(weight).sum::<f64>())
    }

    /// Returns the sum of the amounts at the beginning and of each finding, by how many tests ago they came.
    fn shared(&self, part: impl Fn(usize) -> f64) -> f64 {
        let next = self.tests + 1;
        let initial = self.alpha / 2.0;
        let mut sum = initial * part(next);
        for (before, number) in self.found.iter().enumerate() {
            let amount = if before == 0 {
                self.alpha - initial
            } else {
                self.alpha
            };
            sum += amount * part(next - number);
        }
        sum
    }
}

/// The probability that a confirmation finds the smallest effect that matters, if the noise is as it was.
const CONFIRMING_POWER: f64 = 0.95;
/// No confirmation has fewer replicates per side.
const FEWEST_CONFIRMING: usize = 10;
/// The noise of a few instances may be larger than it looked.
const NOISE_RESERVE: f64 = 1.2;

/// Returns the one look by which a speed-up is confirmed on instances that had no part in finding it.
///
/// `first` is what found it, `level` the one-sided p-value that suffices ([`TestStream::level`]), `smallest_effect` a
/// logarithm. As many replicates are planned as find the smallest effect, or what the interval of `first` excludes if
/// that is more, with a probability of 95 %, if the noise is at most 1.2 times that of `first`; at least as many as
/// that had, and, unless even the clearest difference needs more, at most `most`. The number is fixed before anything
/// is measured, so that the second value is not chosen for its size.
#[must_use]
pub fn confirming_look(
    first: &LookedDifference,
    smallest_effect: f64,
    level: f64,
    most: usize,
) -> ComparisonLook {
    let two_sided = (2.0 * level).min(0.5);
    let noise = first.as_test().map(|test| Noise {
        between: NOISE_RESERVE.powi(2) * test.variance,
        within: 0.0,
    });
    let needed = noise.and_then(|noise| {
        let confidence = Confidence::new(1.0 - two_sided).ok()?;
        let (strategy, method) = (Strategy::DifferentInstances, DetectionMethod::Paired);
        let surely = first.interval.lower.max(-first.interval.upper);
        let slowdown = smallest_effect.max(surely).exp();
        instances_needed(
            noise,
            1,
            strategy,
            method,
            slowdown,
            CONFIRMING_POWER,
            confidence,
        )
    });
    let [baseline, candidate] = first.instances;
    let replicates = needed.unwrap_or(most).max(baseline).max(candidate);
    ComparisonLook {
        replicates: replicates.min(most).max(fewest_by_ranks(two_sided)),
        level: two_sided,
    }
}

/// Returns the fewest replicates per side by which ranks find a clear difference although a fifth of the candidate's are
/// slower than the whole baseline: 3/10 of n² above what is expected, by the normal approximation.
fn fewest_by_ranks(level: f64) -> usize {
    let z = Confidence::new(1.0 - level).map_or(2.0, Confidence::normal_quantile);
    let distance = |number: f64| 0.3 * number / ((2.0 * number + 1.0) / 12.0).sqrt();
    let mut replicates = FEWEST_CONFIRMING;
    while distance(as_f64(replicates)) < z {
        replicates += 1;
    }
    replicates
}

/// Returns γ of a number from 1 on.
fn weight(number: usize) -> f64 {
    as_f64(number).powf(-DECLINE) / TOTAL
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comparison_looks;
    use crate::golden::assert_relative;

    /// P-values and the levels that suffice, from tests/golden_stream.py.
    const STREAM: [(f64, f64); 20] = [
        (0.5, 0.010937254144362394),
        (0.001, 0.00360794834140495),
        (0.3, 0.012823135192664195),
        (0.02, 0.004798127435940894),
        (0.004, 0.002718710925527882),
        (1e-05, 0.0018122878350386698),
        (0.7, 0.02319346706528164),
        (0.013, 0.0082306181059318),
        (0.9, 0.00458306834679415),
        (0.002, 0.00304770227452302),
        (0.6, 0.024101219359023603),
        (0.0001, 0.00894006491776089),
        (0.2, 0.027034952750664577),
        (0.4, 0.010747062320314282),
        (0.003, 0.006411929749885069),
        (0.8, 0.026338423381693052),
        (0.05, 0.01058670593678504),
        (0.0004, 0.006448426051936911),
        (0.1, 0.026454500388389077),
        (0.0007, 0.010734866158885003),
    ];

    #[test]
    fn the_levels_of_another_program() {
        let mut stream = TestStream::new(0.05);
        for (p_value, level) in STREAM {
            assert_relative("level", stream.level(), level, 1e-8);
            stream.add(p_value <= stream.level());
        }
        assert!(stream.found.len() >= 5, "{stream:?}");
    }

    #[test]
    fn a_confirmation_has_enough_replicates_and_not_too_many() {
        let look = comparison_looks(10, None, 0.1)[2];
        let side = |shift: f64| -> Vec<f64> {
            let noise = [
                0.01, -0.01, 0.02, -0.02, 0.0, 0.015, -0.015, 0.005, -0.005, 0.0,
            ];
            noise.iter().map(|it| it + shift).collect()
        };
        let first = LookedDifference::by_ranks(look, &side(0.0), &side(-0.025)).unwrap();
        let planned = |effect, level| confirming_look(&first, effect, level, 90).replicates;
        // As many as before, as a small effect needs, and as are allowed.
        assert_eq!(planned(0.2, 0.01), 11);
        assert!((11..60).contains(&planned(0.02, 0.01)));
        assert!(planned(0.02, 0.001) > planned(0.02, 0.01));
        assert_eq!(planned(0.001, 0.01), 90);
        // Six of thirty that are slower than the whole baseline leave a p-value near 8e-5.
        assert!((25..=30).contains(&fewest_by_ranks(8e-5)));
        assert!(confirming_look(&first, 0.2, 1e-9, 10).replicates > 30);
    }

    proptest! {
        #[test]
        fn what_is_left_pays_for_the_levels(found in prop::collection::vec(any::<bool>(), 0..60)) {
            let mut stream = TestStream::new(0.05);
            for is_found in found {
                let (left, level) = (stream.remaining(), stream.level());
                prop_assert!(level > 0.0 && level < left);
                let is_first = stream.found.is_empty();
                stream.add(is_found);
                let gain = match (is_found, is_first) {
                    (false, _) => 0.0,
                    (true, true) => 0.025,
                    (true, false) => 0.05,
                };
                prop_assert!((stream.remaining() - (left - level + gain)).abs() < 1e-12);
            }
        }
    }
}
