//! The power of configurations by formula, and the cheapest configuration that is sufficient.

use lapwing_stats::{Configuration, Detection, Noise as Variances, PilotNoise, instances_needed};

use super::search::FEWEST_INSTANCES;
use super::{Chosen, PlanOptions, Rates, Unable, configuration};
use crate::explain::RunCosts;
use crate::judge::CellRate;

/// Tolerance of a rate in a closed form: a rate at its limit must not exceed it by rounding.
pub(super) const ROUNDED: f64 = 0.002;

/// The noise within instances cannot be estimated from a single iteration.
pub(super) const FEWEST_ITERATIONS: usize = 2;

/// Powers that differ by less are equal: more iterations are not worth the difference.
const ALIKE: f64 = 0.01;

/// Up to this number of iterations every number is tried, beyond it only some.
const EVERY: usize = 64;

/// The noise that a plan is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlanNoise {
    /// A known one.
    Known(Variances),
    /// That of a pilot, which the true one exceeds with at most the remaining probability.
    Limit(PilotNoise, f64),
}

impl PlanNoise {
    /// Returns the noise for instances of so many iterations.
    pub(super) fn of(self, iterations: usize) -> Variances {
        match self {
            Self::Known(noise) => noise,
            Self::Limit(pilot, probability) => pilot.limit(probability, iterations),
        }
    }
}

/// The fewest sufficient instances for a number of iterations, by formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Guess {
    pub(super) configuration: Configuration,
    /// Cost in seconds.
    pub(super) cost: f64,
}

impl PlanOptions {
    /// Returns the cheapest configuration that detects a slowdown, by formula.
    ///
    /// Every number of iterations up to 64 is tried; beyond that, numbers about 1 % apart.
    ///
    /// # Errors
    /// If no configuration does.
    pub fn cheapest_by_formula(
        &self,
        noise: PlanNoise,
        costs: RunCosts,
        slowdown: f64,
        most: Configuration,
    ) -> Result<Chosen, Unable> {
        let guesses = self.guesses(noise, costs, slowdown, most)?;
        let cheapest = guesses.first().ok_or(Unable::TooMany)?;
        self.by_formula(noise, cheapest.configuration, slowdown)
            .ok_or(Unable::TooMany)
    }

    /// Returns the fewest sufficient instances for each number of iterations, the cheapest first. Configurations of at
    /// least twice the cost of the cheapest are dropped.
    pub(super) fn guesses(
        &self,
        noise: PlanNoise,
        costs: RunCosts,
        slowdown: f64,
        most: Configuration,
    ) -> Result<Vec<Guess>, Unable> {
        let mut guesses: Vec<Guess> = Vec::new();
        let mut cheapest = f64::INFINITY;
        let mut unable = Unable::TooMany;
        for iterations in numbers_of_iterations(most.iterations) {
            // Every configuration needs at least three instances, whatever its iterations.
            if costs.of(configuration(3, iterations)) >= 2.0 * cheapest {
                break;
            }
            match self.fewest(noise, iterations, slowdown, most.instances) {
                Ok(instances) => {
                    let configuration = configuration(instances, iterations);
                    let cost = costs.of(configuration);
                    cheapest = cheapest.min(cost);
                    guesses.push(Guess {
                        configuration,
                        cost,
                    });
                }
                // If false positives alone are the obstacle, they are the reason to report.
                Err(Unable::FalsePositives) => unable = Unable::FalsePositives,
                Err(Unable::NoiseUnknown | Unable::TooMany | Unable::NotInGrid) => {}
            }
        }
        guesses.retain(|it| it.cost < 2.0 * cheapest || it.cost <= cheapest);
        guesses.sort_by(|one, other| one.cost.total_cmp(&other.cost));
        if guesses.is_empty() {
            Err(unable)
        } else {
            Ok(guesses)
        }
    }

    /// Returns the fewest instances for this number of iterations that have the power and few enough false positives.
    fn fewest(
        &self,
        noise: PlanNoise,
        iterations: usize,
        slowdown: f64,
        most: usize,
    ) -> Result<usize, Unable> {
        let instances = instances_needed(
            noise.of(iterations),
            iterations,
            self.strategy(),
            self.method(),
            slowdown,
            self.power,
            self.detection.confidence,
        );
        let enough = instances.filter(|it| *it <= most).ok_or(Unable::TooMany)?;
        let is_quiet = |instances| {
            let configuration = configuration(instances, iterations);
            let found = self.by_formula(noise, configuration, slowdown);
            let rates = found.and_then(|it| it.rates).ok_or(Unable::TooMany)?;
            Ok(rates.false_positives.value <= self.false_positives + ROUNDED)
        };
        if is_quiet(enough)? {
            return Ok(enough);
        }
        // The false-positive rate falls as the number of instances grows, so bisection is valid.
        let (mut few, mut many) = (enough, enough.saturating_mul(2).min(most));
        while !is_quiet(many)? {
            if many == most {
                return Err(Unable::FalsePositives);
            }
            (few, many) = (many, many.saturating_mul(2).min(most));
        }
        while many - few > 1 {
            let middle = few.midpoint(many);
            if is_quiet(middle)? {
                many = middle
            } else {
                few = middle
            }
        }
        Ok(many)
    }

    /// Returns the configuration within limits that is closest to the power: the fewest iterations, then the fewest
    /// instances, whose power is within [`ALIKE`] of the highest.
    pub(super) fn closest_by_formula(
        &self,
        noise: PlanNoise,
        slowdown: f64,
        most: Configuration,
    ) -> Option<Chosen> {
        let at = |instances, iterations| {
            let configuration = configuration(instances, iterations);
            let found = self.by_formula(noise, configuration, slowdown)?;
            Some((found, found.power()?))
        };
        let (_, highest) = at(most.instances, most.iterations)?;
        let is_enough = |found: (Chosen, f64)| found.1 >= highest - ALIKE;
        // The power grows with both, so each can be bisected.
        let iterations = fewest(FEWEST_ITERATIONS, most.iterations, |it| {
            Some(is_enough(at(most.instances, it)?))
        })?;
        let instances = fewest(FEWEST_INSTANCES, most.instances, |it| {
            Some(is_enough(at(it, iterations)?))
        })?;
        Some(at(instances, iterations)?.0)
    }

    /// Returns the detection rates of a configuration by formula; `None` if they are unknown.
    pub fn by_formula(
        &self,
        noise: PlanNoise,
        configuration: Configuration,
        slowdown: f64,
    ) -> Option<Chosen> {
        let confidence = self.detection.confidence;
        let (strategy, method) = (self.strategy(), self.method());
        let noise = noise.of(configuration.iterations);
        let detection = Detection::new(noise, configuration, strategy, method, confidence)?;
        let rate = |slowdown| {
            Some(CellRate {
                value: detection.power(slowdown)?,
                interval: None,
                undetermined: 0,
            })
        };
        Some(Chosen {
            configuration,
            rates: Some(Rates {
                power: rate(slowdown)?,
                false_positives: rate(1.0)?,
            }),
        })
    }
}

/// Returns the smallest number in this range that meets a condition. The largest must meet it, and every number above
/// one that does.
fn fewest(few: usize, many: usize, does: impl Fn(usize) -> Option<bool>) -> Option<usize> {
    let (mut few, mut enough) = (few.min(many), many);
    while few < enough {
        let middle = few.midpoint(enough);
        if does(middle)? {
            enough = middle
        } else {
            few = middle + 1
        }
    }
    Some(enough)
}

/// Returns the numbers of iterations to try.
fn numbers_of_iterations(most: usize) -> impl Iterator<Item = usize> {
    let next = move |before: &usize| {
        let after = before + 1 + before / EVERY;
        (*before < most).then_some(after.min(most))
    };
    std::iter::successors(Some(FEWEST_ITERATIONS.min(most)), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_iterations_are_tried_one_by_one_and_many_in_larger_steps() {
        let all = |most| numbers_of_iterations(most).collect::<Vec<_>>();
        assert_eq!(all(1), [1]);
        assert_eq!(all(4), [2, 3, 4]);
        assert_eq!(all(64), (2..=64).collect::<Vec<_>>());
        assert_eq!(all(70)[61..], [63, 64, 66, 68, 70]);
        assert!(all(100_000).len() < 700);
    }
}
