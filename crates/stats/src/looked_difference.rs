//! The difference of two sides at a look, while they are measured.

use crate::{
    ComparisonLook, Confidence, Difference, FamilyTest, Interval, Replicates, Seed, VariancePrior,
    as_f64, family_tests, known_noise_test, mean, standard_deviation,
};

/// Draws relabellings where there are too many for all of them.
const SEED: Seed = Seed(7);

/// The difference of two sides of logarithms at a look; its interval is corrected for repeated looks, too.
#[derive(Debug, Clone, Copy)]
pub struct LookedDifference {
    /// The number of values of each side.
    pub instances: [usize; 2],
    /// The difference of the logarithms.
    pub difference: Difference,
    /// The test that it is from; `None` if all values are equal.
    pub test: Option<FamilyTest>,
    /// Its standard error.
    pub error: f64,
    /// The p-value that sufficed at the look.
    pub level: f64,
    /// Whether the sides differ significantly, corrected for repeated looks.
    pub is_certain: bool,
}

impl LookedDifference {
    /// Returns the difference of the candidate from the baseline; `history` are earlier comparisons, which show the
    /// noise ([`family_tests`]). `None` if a side has fewer than two values.
    ///
    /// ```
    /// use lapwing_stats::{LookedDifference, comparison_looks};
    ///
    /// let look = comparison_looks(5, None, 0.05)[0];
    /// let sides = [[1.00, 1.01, 0.99, 1.02, 1.00], [1.30, 1.29, 1.31, 1.30, 1.32]];
    /// let sides = sides.map(|side| side.map(f64::ln).to_vec());
    /// let looked = LookedDifference::at(look, sides, &[]).unwrap();
    /// assert!(looked.is_certain && looked.standard_errors() > 4.0);
    /// ```
    #[must_use]
    pub fn at(look: ComparisonLook, sides: [Vec<f64>; 2], history: &[Replicates]) -> Option<Self> {
        if sides.iter().any(|side| side.len() < 2) {
            return None;
        }
        let instances = [sides[0].len(), sides[1].len()];
        let variance: f64 = (sides.iter())
            .map(|side| {
                let deviation = standard_deviation(side).unwrap_or(f64::NAN);
                deviation.powi(2) / as_f64(side.len())
            })
            .sum();
        let confidence = Confidence::new(1.0 - look.level).unwrap_or(Confidence::P95);
        let replicates = Replicates::Sides(sides);
        let test = family_tests(std::slice::from_ref(&replicates), history, SEED)[0];
        let by_history = test.and_then(|test| {
            let (interval, method) = test.interval(confidence)?;
            Some(Difference {
                value: test.difference,
                interval,
                p_value: test.p_value,
                method,
            })
        });
        let difference = by_history.or_else(|| replicates.difference(confidence))?;
        Some(Self {
            instances,
            difference,
            test,
            error: variance.sqrt(),
            level: look.level,
            is_certain: difference.p_value <= look.level,
        })
    }

    /// Returns the difference of a candidate, measured in a session of its own, from a baseline of other sessions, with
    /// what earlier ones say of the variance of a session's mean ([`known_noise_test`]). `None` if nothing says how much
    /// sessions differ.
    #[must_use]
    pub fn across_sessions(
        look: ComparisonLook,
        baseline: &[Vec<f64>],
        candidate: &[f64],
        known: &VariancePrior,
    ) -> Option<Self> {
        let sessions: Vec<f64> = baseline.iter().filter_map(|logs| mean(logs)).collect();
        // A session's mean varies at least by what its instances do.
        let own = standard_deviation(candidate)?.powi(2) / as_f64(candidate.len());
        let known = VariancePrior {
            variance: known.variance.max(own),
            ..*known
        };
        let test = known_noise_test([&sessions, &[mean(candidate)?]], &known)?;
        let confidence = Confidence::new(1.0 - look.level).unwrap_or(Confidence::P95);
        let (interval, method) = test.interval(confidence)?;
        Some(Self {
            instances: [baseline.iter().map(Vec::len).sum(), candidate.len()],
            difference: Difference {
                value: test.difference,
                interval,
                p_value: test.p_value,
                method,
            },
            test: Some(test),
            error: (test.variance * test.scale).sqrt(),
            level: look.level,
            is_certain: test.p_value <= look.level,
        })
    }

    /// Returns the ratio with its interval.
    #[must_use]
    pub fn ratio(&self) -> (f64, Interval) {
        let interval = self.difference.interval;
        let ends = Interval {
            lower: interval.lower.exp(),
            upper: interval.upper.exp(),
        };
        (self.difference.value.exp(), ends)
    }

    /// Returns how many standard errors apart the sides are.
    #[must_use]
    pub fn standard_errors(&self) -> f64 {
        self.difference.value.abs() / self.error.max(f64::MIN_POSITIVE)
    }
}
