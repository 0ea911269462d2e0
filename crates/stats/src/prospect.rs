//! What more measurements would answer, as far as those at hand can say.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{Replicates, as_f64};

/// The probabilities of the answers that a comparison will have when all planned replicates are there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prospect {
    /// That the difference will surely be beyond the border.
    pub differs: f64,
    /// That it will surely be within it.
    pub equivalent: f64,
}

impl Prospect {
    /// Returns the probability of any answer.
    #[must_use]
    pub fn answered(self) -> f64 {
        self.differs + self.equivalent
    }
}

impl Replicates {
    /// Returns the prospect of a comparison with `planned` replicates per side, or pairs: whether the interval at that
    /// time, whose error rate is `level`, will be beyond `border` on one side, or within it on both. `None` below two
    /// replicates per side.
    ///
    /// The difference d of n replicates with standard error s becomes that of N replicates, which has the predictive
    /// distribution d + s √(1 − n/N) T with Student's T of the same degrees of freedom (flat prior; Spiegelhalter, Freedman
    /// and Blackburn, Controlled Clinical Trials 7, 1986); the interval will be ± t s √(n/N).
    ///
    /// ```
    /// use lapwing_stats::Replicates;
    ///
    /// let alike = Replicates::Pairs(vec![0.01, -0.02, 0.015, -0.01, 0.005]);
    /// let prospect = alike.prospect(20, 0.05, 0.05).expect("five pairs");
    /// assert!(prospect.equivalent > 0.99 && prospect.differs < 0.001);
    /// ```
    #[must_use]
    pub fn prospect(&self, planned: usize, border: f64, level: f64) -> Option<Prospect> {
        let contrast = self.contrast()?;
        let measured = match self {
            Self::Sides([baseline, candidate]) => baseline.len().min(candidate.len()),
            Self::Pairs(differences) => differences.len(),
        };
        let share = (as_f64(measured) / as_f64(planned.max(1))).min(1.0);
        let error = (contrast.variance * contrast.scale).sqrt();
        let at_the_end = StudentsT::new(0.0, 1.0, contrast.freedom / share).ok()?;
        let half_width = at_the_end.inverse_cdf(1.0 - level / 2.0) * error * share.sqrt();
        let still = error * (1.0 - share).sqrt();
        let now = StudentsT::new(0.0, 1.0, contrast.freedom).ok()?;
        // The probability that the difference will be above a value.
        let above = |value: f64| {
            let distance = value - contrast.difference;
            if still > 0.0 {
                now.sf(distance / still)
            } else {
                f64::from(u8::from(distance < 0.0))
            }
        };
        let outer = border + half_width;
        let inner = border - half_width;
        Some(Prospect {
            differs: above(outer) + 1.0 - above(-outer),
            equivalent: if inner > 0.0 {
                above(-inner) - above(inner)
            } else {
                0.0
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against 2,000,000 draws of Student's t by numpy 2.4.6, `default_rng(1).standard_t(7)`: differences of mean 0.02 and
    /// standard deviation 0.05, 8 pairs of 20, border 0.03, level 0.03.
    #[test]
    fn the_prospect_is_that_of_simulated_futures() {
        let deviation = 0.05;
        // Eight values with that mean and deviation.
        let unit =
            [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0].map(|it: f64| it * (7.0_f64 / 8.0).sqrt());
        let pairs = Replicates::Pairs(unit.iter().map(|it| 0.02 + deviation * it).collect());
        let prospect = pairs.prospect(20, 0.03, 0.03).expect("eight pairs");
        assert!((prospect.differs - 0.0166).abs() < 1e-3, "{prospect:?}");
        assert!((prospect.equivalent - 0.0703).abs() < 1e-3, "{prospect:?}");
    }

    #[test]
    fn with_everything_measured_nothing_is_left_open() {
        let pairs = Replicates::Pairs(vec![0.1, 0.11, 0.09, 0.1, 0.1]);
        let prospect = pairs.prospect(5, 0.05, 0.05).expect("five pairs");
        assert_eq!((prospect.differs, prospect.equivalent), (1.0, 0.0));
    }
}
