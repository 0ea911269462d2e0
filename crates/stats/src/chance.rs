//! The chance that more replicates give a verdict, as far as those at hand can say.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use crate::family::FamilyTest;
use crate::number::fewest;
use crate::{Confidence, as_f64, mean};

/// When a comparison of logarithms has a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictRule {
    /// A difference is one if it is surely larger than this; 0 for "other than none".
    pub border: f64,
    /// There is no change if the whole interval lies within ± this.
    pub band: f64,
    /// The p-value that suffices for a difference, after correction for the number of comparisons and of looks.
    pub level: f64,
    /// The confidence of the interval.
    pub confidence: Confidence,
}

/// Which replicates a future comparison has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FutureReplicates {
    /// Only new ones, so many per side, or pairs.
    Fresh(usize),
    /// Those at hand, and new ones up to so many per side, or pairs.
    Total(usize),
}

/// How many replicates per side give a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeededReplicates {
    /// About so many.
    About(usize),
    /// More than so many.
    MoreThan(usize),
    /// The difference seems to be at the border, where no number is sure to decide.
    NoNumber,
}

/// The chance of a verdict that a stated number of replicates gives.
const WANTED_CHANCE: f64 = 0.8;
/// More replicates are not suggested: hardly any benchmark is worth them.
const MOST: usize = 500;
/// No fewer are asked for.
const FEWEST: usize = 3;
/// The number of variances over which a chance is averaged, and of those of the future sample.
const VARIANCES: u32 = 20;
const FUTURE_VARIANCES: u32 = 6;
/// A difference may be at the border if the border is in its interval of this confidence, and if it takes more than
/// [`MOST_NEAR`] replicates to decide.
const NEAR: f64 = 0.8;
const MOST_NEAR: usize = 50;
/// If so many leave the interval wide beside the border, it is the noise that prevents a verdict.
const MANY_REPLICATES: usize = 100;

impl FamilyTest {
    /// Returns the chance of a verdict with future replicates: that the difference is surely beyond the border, or
    /// the whole interval within the band.
    ///
    /// The true variance is σ² = s² ν/χ²_ν and the true difference normal around the observed one with σ² c (flat
    /// priors; s² and ν moderated; c = 1/n for pairs, 1/n₁ + 1/n₂ for sides). The difference of N replicates is
    /// normal around the true one with σ² c_N, or, where those at hand are among the N, around the observed one with
    /// σ² (c − c_N). It is beyond the border if it exceeds it by t σ √c_N, with the degrees of freedom of N
    /// (Spiegelhalter, Freedman and Blackburn, *Controlled Clinical Trials* 7, 1986, for a normal difference with
    /// known variance). The variance that the future sample shows is drawn as well.
    ///
    /// ```
    /// use lapwing_stats::{Confidence, FutureReplicates, Replicates, Seed, VerdictRule, family_tests};
    /// let alike = [Replicates::Pairs(vec![0.01, -0.02, 0.015, -0.01, 0.005])];
    /// let test = family_tests(&alike, &[], Seed(7))[0].expect("five pairs");
    /// let rule = VerdictRule { border: 0.0, band: 0.03, level: 0.05, confidence: Confidence::P95 };
    /// let chance = |pairs| test.chance_of_verdict(FutureReplicates::Fresh(pairs), &rule);
    /// assert!(chance(5) < 0.75 && chance(20) > 0.9);
    /// ```
    pub fn chance_of_verdict(&self, future: FutureReplicates, rule: &VerdictRule) -> f64 {
        self.chance(&self.variances(), future, rule)
    }

    /// Returns the chance with these true variances, all equally likely.
    fn chance(&self, variances: &[f64], future: FutureReplicates, rule: &VerdictRule) -> f64 {
        let (number, sign) = match future {
            FutureReplicates::Fresh(number) => (number, 1.0),
            FutureReplicates::Total(number) => (number, -1.0),
        };
        let number = number.max(2);
        let scale = self.scale_of(number);
        let freedom = if self.is_paired {
            as_f64(number) - 1.0
        } else {
            2.0 * as_f64(number) - 2.0
        };
        // Those at hand cannot be fewer than they are.
        let (scale, freedom) = match future {
            FutureReplicates::Fresh(_) => (scale, freedom),
            FutureReplicates::Total(_) => (scale.min(self.scale), freedom.max(self.freedom)),
        };
        let freedom = freedom + self.prior_freedom;
        let level = Confidence::new(1.0 - rule.level).unwrap_or(rule.confidence);
        let (Some(for_difference), Some(for_equivalence)) = (
            level.t_quantile(freedom),
            rule.confidence.t_quantile(freedom),
        ) else {
            return 0.0;
        };
        let known = match future {
            FutureReplicates::Fresh(_) => 0.0,
            FutureReplicates::Total(_) => (self.freedom + self.prior_freedom) / freedom,
        };
        let new = freedom * (1.0 - known);
        let future_variances = quantiles(new.max(1.0), FUTURE_VARIANCES);
        let chance = |variance: f64, quantile: f64| {
            // The variance that the future comparison will show.
            let shown = known * self.variance + (1.0 - known) * variance * quantile / new.max(1.0);
            let error = (shown * scale).sqrt();
            let outer = rule.border + for_difference * error;
            let inner = (rule.band - for_equivalence * error).max(0.0);
            let spread = (variance * (self.scale + sign * scale).max(0.0)).sqrt();
            let below = |value: f64| below(value, self.difference, spread);
            if inner >= outer {
                return 1.0;
            }
            let differs = 1.0 - below(outer) + below(-outer);
            differs + below(inner) - below(-inner)
        };
        let each = variances.iter().flat_map(|variance| {
            let future = future_variances.iter();
            future.map(|quantile| chance(*variance, *quantile))
        });
        let chances: Vec<f64> = each.collect();
        mean(&chances).unwrap_or(0.0)
    }

    /// Returns true variances that are equally likely.
    fn variances(&self) -> Vec<f64> {
        let freedom = self.freedom + self.prior_freedom;
        let quantiles = quantiles(freedom, VARIANCES).into_iter();
        let variances = quantiles.map(|quantile| self.variance * freedom / quantile);
        variances.collect()
    }

    /// Returns the variance of a difference with so many replicates per side, as a multiple of one's.
    fn scale_of(&self, replicates: usize) -> f64 {
        let sides = if self.is_paired { 1.0 } else { 2.0 };
        sides / as_f64(replicates)
    }

    /// Returns the number of fresh replicates per side, or of pairs, with which the chance of a verdict is 80 %.
    pub fn replicates_for_verdict(&self, rule: &VerdictRule) -> NeededReplicates {
        self.needed(FutureReplicates::Fresh, rule)
    }

    /// Returns the same number if those at hand are among them.
    pub fn total_for_verdict(&self, rule: &VerdictRule) -> NeededReplicates {
        self.needed(FutureReplicates::Total, rule)
    }

    fn needed(
        &self,
        future: impl Fn(usize) -> FutureReplicates,
        rule: &VerdictRule,
    ) -> NeededReplicates {
        let variances = self.variances();
        let suffices =
            |number: usize| self.chance(&variances, future(number), rule) >= WANTED_CHANCE;
        let error = (self.variance * self.scale).sqrt();
        let distance = (self.difference.abs() - rule.border).abs();
        let near = Confidence::new(NEAR).unwrap_or(rule.confidence);
        let t = near.t_quantile(self.freedom + self.prior_freedom);
        let is_near = rule.border > 0.0 && t.is_some_and(|t| distance < t * error);
        // Noise alone is no border: with so many replicates the interval must be narrow beside the smallest effect.
        let half = 2.0 * (self.variance * self.scale_of(MANY_REPLICATES)).sqrt();
        if is_near && half <= rule.border / 2.0 && !suffices(MOST_NEAR) {
            return NeededReplicates::NoNumber;
        }
        let needed = suffices(MOST).then(|| fewest(FEWEST, MOST, suffices));
        let needed = needed.flatten();
        needed.map_or(NeededReplicates::MoreThan(MOST), NeededReplicates::About)
    }
}

/// Degrees of freedom from which the quantiles of χ² are those of Wilson and Hilferty, within 1 %.
const MANY: f64 = 12.0;

/// Returns equally likely values of χ².
fn quantiles(freedom: f64, number: u32) -> Vec<f64> {
    let normal = Normal::standard();
    let distribution = ChiSquared::new(freedom);
    let quantile = |share: f64| match &distribution {
        Ok(distribution) if freedom < MANY => distribution.inverse_cdf(share),
        _ => {
            let ninth = 2.0 / (9.0 * freedom);
            let root = 1.0 - ninth + normal.inverse_cdf(share) * ninth.sqrt();
            freedom * root.powi(3)
        }
    };
    (0..number)
        .map(|at| quantile((f64::from(at) + 0.5) / f64::from(number)))
        .collect()
}

/// Returns P(X ≤ value) of a normal distribution, or of a constant.
fn below(value: f64, centre: f64, spread: f64) -> f64 {
    match Normal::new(centre, spread) {
        Ok(normal) => normal.cdf(value),
        Err(_constant) => f64::from(u8::from(centre <= value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Replicates, Seed, family_tests};

    fn test_of(replicates: Replicates) -> FamilyTest {
        family_tests(&[replicates], &[], Seed(7))[0].expect("enough replicates")
    }

    fn rule(border: f64, band: f64) -> VerdictRule {
        VerdictRule {
            border,
            band,
            level: 0.05,
            confidence: Confidence::P95,
        }
    }

    /// Eight pairs with mean 0.02 and standard deviation 0.05.
    fn eight_pairs() -> FamilyTest {
        let unit =
            [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0].map(|it: f64| it * (7.0_f64 / 8.0).sqrt());
        test_of(Replicates::Pairs(
            unit.iter().map(|it| 0.02 + 0.05 * it).collect(),
        ))
    }

    #[test]
    fn chances_are_those_of_simulated_futures() {
        let test = eight_pairs();
        // numpy 2.4.6, default_rng(1), 2,000,000 futures each: variances and differences drawn as the documentation
        // of `chance_of_verdict` says, the variance of the future sample as well.
        for (future, rule, expected) in [
            (FutureReplicates::Fresh(20), rule(0.0, 0.03), 0.5989),
            (FutureReplicates::Fresh(60), rule(0.0, 0.03), 0.9418),
            (FutureReplicates::Fresh(60), rule(0.03, 0.03), 0.4960),
            (FutureReplicates::Total(20), rule(0.0, 0.03), 0.5255),
            (FutureReplicates::Total(30), rule(0.03, 0.03), 0.2646),
            (FutureReplicates::Fresh(8), rule(0.0, 0.05), 0.4519),
        ] {
            let chance = test.chance_of_verdict(future, &rule);
            assert!(
                (chance - expected).abs() < 0.02,
                "{future:?} {rule:?}: {chance}, simulated {expected}"
            );
        }
    }

    #[test]
    fn with_everything_measured_nothing_is_left_open() {
        let test = test_of(Replicates::Pairs(vec![0.1, 0.11, 0.09, 0.1, 0.1]));
        let chance = test.chance_of_verdict(FutureReplicates::Total(5), &rule(0.05, 0.05));
        assert!(chance > 0.99, "{chance}");
    }

    #[test]
    fn the_needed_number_has_the_wanted_chance_and_one_less_has_not() {
        let test = eight_pairs();
        let NeededReplicates::About(number) = test.replicates_for_verdict(&rule(0.0, 0.03)) else {
            panic!("a number");
        };
        let chance =
            |number| test.chance_of_verdict(FutureReplicates::Fresh(number), &rule(0.0, 0.03));
        assert!(chance(number) >= 0.8 && chance(number - 1) < 0.8);
    }

    #[test]
    fn at_the_border_no_number_helps() {
        let needed = |scale: f64| {
            let pairs = [0.07, -0.09, 0.06, -0.08, 0.04].map(|value: f64| value * scale + 0.05);
            let test = test_of(Replicates::Pairs(pairs.to_vec()));
            test.replicates_for_verdict(&rule(0.05, 0.05))
        };
        assert_eq!(needed(1.0), NeededReplicates::NoNumber);
        // Ten times the noise needs too many wherever the difference is.
        assert!(matches!(
            needed(10.0),
            NeededReplicates::MoreThan(_) | NeededReplicates::About(200..)
        ));
    }
}
