//! The difference of two sides at a look, while they are measured.

use crate::ratios::hodges_lehmann::shift_of_ranks;
use crate::{
    ComparisonLook, Confidence, FamilyTest, Interval, VariancePrior, as_f64, known_noise_test,
    mann_whitney, mean, standard_deviation,
};

/// The difference of two sides of logarithms at a look; its interval is corrected for repeated looks, too.
#[derive(Debug, Clone, Copy)]
pub struct LookedDifference {
    /// The number of values of each side.
    pub instances: [usize; 2],
    /// The difference of the logarithms, candidate − baseline.
    pub value: f64,
    /// Its interval; from −∞ to ∞ if there are too few values for any.
    pub interval: Interval,
    /// Two-sided p-value of "the difference is 0".
    pub p_value: f64,
    /// The p-value that suffices at the look.
    pub level: f64,
}

impl LookedDifference {
    /// Returns the difference of the candidate from the baseline, by ranks, so that a few outlying instances on either
    /// side hardly matter: the median of the differences of all pairs with its interval (Hodges and Lehmann), and the
    /// test of Mann and Whitney ([`hodges_lehmann`](crate::hodges_lehmann()), [`mann_whitney`]). `None` if a side has
    /// fewer than two values.
    ///
    /// ```
    /// use lapwing_stats::{LookedDifference, comparison_looks};
    ///
    /// let look = comparison_looks(5, None, 0.05)[0];
    /// let sides = [[1.00, 1.01, 0.99, 1.02, 3.00], [1.30, 1.29, 1.31, 1.30, 1.32]];
    /// let [baseline, candidate] = sides.map(|side| side.map(f64::ln));
    /// let looked = LookedDifference::by_ranks(look, &baseline, &candidate).unwrap();
    /// assert!((looked.ratio().0 - 1.3).abs() < 0.02);
    /// ```
    #[must_use]
    pub fn by_ranks(look: ComparisonLook, baseline: &[f64], candidate: &[f64]) -> Option<Self> {
        let instances = [baseline.len(), candidate.len()];
        if instances.iter().any(|it| *it < 2) {
            return None;
        }
        let (value, interval) = shift_of_ranks(baseline, candidate, confidence_at(look.level))?;
        Some(Self {
            instances,
            value,
            interval: interval.unwrap_or(Interval {
                lower: f64::NEG_INFINITY,
                upper: f64::INFINITY,
            }),
            p_value: mann_whitney(baseline, candidate)?.p_value,
            level: look.level,
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
        let (interval, _) = test.interval(confidence_at(look.level))?;
        Some(Self {
            instances: [baseline.iter().map(Vec::len).sum(), candidate.len()],
            value: test.difference,
            interval,
            p_value: test.p_value,
            level: look.level,
        })
    }

    /// Returns the ratio with its interval.
    #[must_use]
    pub fn ratio(&self) -> (f64, Interval) {
        let ends = Interval {
            lower: self.interval.lower.exp(),
            upper: self.interval.upper.exp(),
        };
        (self.value.exp(), ends)
    }

    /// Returns the difference of the reciprocals: of a metric of which more is better.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            value: -self.value,
            interval: Interval {
                lower: -self.interval.upper,
                upper: -self.interval.lower,
            },
            ..*self
        }
    }

    /// Returns a t-test with this difference and an interval as wide as this one, to compute with; `None` if there is no
    /// interval.
    #[must_use]
    pub fn as_test(&self) -> Option<FamilyTest> {
        let freedom = as_f64(self.instances[0] + self.instances[1]) - 2.0;
        let t = confidence_at(self.level).t_quantile(freedom)?;
        let error = (self.interval.upper - self.interval.lower) / (2.0 * t);
        let scale: f64 = self.instances.iter().map(|it| 1.0 / as_f64(*it)).sum();
        (error.is_finite() && error > 0.0).then(|| {
            FamilyTest::alone(
                self.value,
                self.p_value,
                error.powi(2) / scale,
                scale,
                freedom,
            )
        })
    }
}

fn confidence_at(level: f64) -> Confidence {
    Confidence::new(1.0 - level).unwrap_or(Confidence::P95)
}
