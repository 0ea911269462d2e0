//! The numbers of instances and iterations that a stated time pays for.

use super::closed_form::Detection;
use super::configuration::Configuration;
use super::minimal::instances_needed;
use super::noise::{DetectionMethod, Noise, Strategy};
use super::pilot::{Pilot, PilotNoise, variance_limit};
use crate::number::as_f64;
use crate::{Confidence, geometric_mean, pooled_variance};

/// The power that a design is to have.
const POWER: f64 = 0.8;
/// The probability that it has it, although the noise is known from a pilot only.
const ASSURANCE: f64 = 0.8;
/// Fewer instances per side are never looked at.
const FEWEST: usize = 5;
/// More iterations per instance are not tried: their noise is hardly ever what limits a comparison.
const MOST_ITERATIONS: usize = 50;
const MOST_INSTANCES: usize = 2000;

/// The costs of measuring both sides, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DesignCosts {
    /// Of an instance on either side, without its iterations.
    pub instance: f64,
    /// Of an iteration on either side.
    pub iteration: f64,
    /// The number of iterations that come before those that count.
    pub burn_in: usize,
}

/// A design that a stated time pays for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AffordableDesign {
    /// Instances per side, and iterations of each.
    pub configuration: Configuration,
    /// How long it takes at most, in seconds.
    pub seconds: f64,
    /// The power at the slowdown that was asked for.
    pub power: f64,
    /// The smallest slowdown that it finds with a probability of 80 %, as a factor.
    pub slowdown: f64,
    /// How long the cheapest sufficient design takes, if this one is not sufficient; infinite if there is none.
    pub needed_seconds: Option<f64>,
}

impl DesignCosts {
    fn of(self, configuration: Configuration) -> f64 {
        let iterations = as_f64(self.burn_in + configuration.iterations);
        as_f64(configuration.instances) * (self.instance + iterations * self.iteration)
    }
}

/// Returns the cheapest design of two sides that finds a slowdown (a factor above 1) with a power of 80 %, or if the
/// `seconds` do not suffice, the one among those they pay for that finds the smallest; `None` if they do not pay for
/// five instances of each side.
///
/// `pilot` has the values of the iterations of each instance, by side; the true noise exceeds what is planned for with a
/// probability of at most 20 %. `None` also if a side has fewer than three instances, or values that are not positive.
/// Where no instance has two values, designs have one iteration. Instances are compared by a t-test at 5 %, two-sided, which stands for judging
/// [slower or not](crate::ExpectedChange) by repeated looks, one-sided.
#[must_use]
pub fn affordable_design(
    pilot: [&[Vec<f64>]; 2],
    costs: DesignCosts,
    slowdown: f64,
    seconds: f64,
) -> Option<AffordableDesign> {
    let noise = SidesNoise::new(pilot)?;
    let (strategy, method) = (Strategy::DifferentInstances, DetectionMethod::Paired);
    let confidence = Confidence::P95;
    let mut sufficient: Option<Configuration> = None;
    let mut best: Option<(f64, Configuration)> = None;
    for iterations in 1..=MOST_ITERATIONS {
        let Some(noise) = noise.limit(iterations) else {
            break;
        };
        let of = |instances| Configuration {
            instances,
            iterations,
        };
        let needed = instances_needed(
            noise, iterations, strategy, method, slowdown, POWER, confidence,
        );
        if let Some(needed) = needed.filter(|it| *it <= MOST_INSTANCES) {
            let design = of(needed.max(FEWEST));
            if sufficient.is_none_or(|it| costs.of(design) < costs.of(it)) {
                sufficient = Some(design);
            }
        }
        let paid = whole(seconds / costs.of(of(1)));
        if paid >= FEWEST {
            let detection = Detection::new(noise, of(paid), strategy, method, confidence)?;
            let smallest = detection.minimal_detectable_slowdown(POWER)?;
            if best.is_none_or(|(other, _)| smallest < other) {
                best = Some((smallest, of(paid)));
            }
        }
    }
    let paid = sufficient.filter(|it| costs.of(*it) <= seconds);
    let configuration = paid.or(best.map(|(_, it)| it))?;
    let noise = noise.limit(configuration.iterations)?;
    let detection = Detection::new(noise, configuration, strategy, method, confidence)?;
    Some(AffordableDesign {
        configuration,
        seconds: costs.of(configuration),
        power: detection.power(slowdown)?,
        slowdown: detection.minimal_detectable_slowdown(POWER)?,
        needed_seconds: match paid {
            Some(_) => None,
            None => Some(sufficient.map_or(f64::INFINITY, |it| costs.of(it))),
        },
    })
}

/// The noise of the instances of both sides together.
struct SidesNoise {
    /// `None` if no instance has two values.
    pilot: Option<PilotNoise>,
    /// The variance of the logarithms of instance means, and its degrees of freedom.
    of_means: (f64, f64),
}

impl SidesNoise {
    fn new(sides: [&[Vec<f64>]; 2]) -> Option<Self> {
        let mut rows = Vec::new();
        let mut logs = Vec::new();
        for side in sides {
            let centres: Option<Vec<f64>> = side.iter().map(|row| geometric_mean(row)).collect();
            let centres = centres.filter(|it| it.len() >= 3)?;
            let level = geometric_mean(&centres)?;
            logs.push(centres.iter().map(|it| it.ln()).collect::<Vec<f64>>());
            rows.extend(
                side.iter()
                    .map(|row| row.iter().map(|it| it / level).collect::<Vec<f64>>()),
            );
        }
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        Some(Self {
            pilot: Pilot::new(&rows).map(|it| it.noise()),
            of_means: pooled_variance(logs.iter())?,
        })
    }

    /// Returns the noise that the true one hardly exceeds, in means of so many iterations; `None` if that is unknown.
    fn limit(&self, iterations: usize) -> Option<Noise> {
        match &self.pilot {
            Some(pilot) => {
                let noise = pilot.limit(ASSURANCE, iterations);
                let (_, freedom) = self.of_means;
                Some(Noise {
                    // The sides' own levels are estimated, too: two, and not one.
                    between: noise.between * (freedom + 1.0) / freedom,
                    ..noise
                })
            }
            None if iterations == 1 => Some(Noise {
                between: self.of_means.0 * variance_limit(self.of_means.1, ASSURANCE),
                within: 0.0,
            }),
            None => None,
        }
    }
}

/// Returns how many whole instances a share pays for.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of instances"
)]
fn whole(share: f64) -> usize {
    share.clamp(0.0, as_f64(MOST_INSTANCES)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A side of five instances, about 1 % between them, and 1 % within if they have more than one iteration.
    fn side(level: f64, iterations: &[f64]) -> Vec<Vec<f64>> {
        let rows = [0.995, 1.01, 0.985, 1.0, 1.01].map(|row| row * level);
        let of_row = |row: f64| iterations.iter().map(|it| it * row).collect();
        rows.into_iter().map(of_row).collect()
    }

    fn design_of(
        iterations: &[f64],
        costs: DesignCosts,
        slowdown: f64,
        seconds: f64,
    ) -> Option<AffordableDesign> {
        // The sides differ, which is no noise.
        let sides = [side(1.0, iterations), side(1.4, iterations)];
        affordable_design([&sides[0], &sides[1]], costs, slowdown, seconds)
    }

    const ROW: [f64; 3] = [0.99, 1.0, 1.01];

    const COSTS: DesignCosts = DesignCosts {
        instance: 0.2,
        iteration: 1.0,
        burn_in: 1,
    };

    #[test]
    fn a_design_is_as_large_as_needed_and_as_small_as_the_time_allows() {
        let design = |slowdown, seconds| design_of(&ROW, COSTS, slowdown, seconds);
        let enough = design(1.03, 3600.0).unwrap();
        assert!(enough.power >= 0.8 && enough.slowdown <= 1.03, "{enough:?}");
        assert_eq!(enough.needed_seconds, None);
        assert!(enough.seconds < 3600.0);
        // It does not depend on time that is not needed.
        assert_eq!(design(1.03, 36_000.0).unwrap(), enough);
        let short = design(1.03, 0.8 * enough.seconds).unwrap();
        assert!(short.power < 0.8 && short.slowdown > 1.03, "{short:?}");
        assert!(short.seconds <= 0.8 * enough.seconds);
        assert_eq!(short.needed_seconds, Some(enough.seconds));
        // Five instances of one iteration each are the least.
        assert_eq!(design(1.03, 10.9), None);
        assert_eq!(design(1.5, 11.1).unwrap().configuration.instances, 5);
    }

    #[test]
    fn without_repetition_within_instances_there_is_none_in_the_design() {
        let design = design_of(&[1.0], COSTS, 1.02, 1e6).unwrap();
        assert_eq!(design.configuration.iterations, 1);
        assert!(design.power >= 0.8, "{design:?}");
        assert_eq!(design_of(&[-1.0], COSTS, 1.02, 1e6), None);
    }

    #[test]
    fn dear_instances_have_more_iterations() {
        let iterations = |instance| {
            let costs = DesignCosts { instance, ..COSTS };
            let design = design_of(&ROW, costs, 1.02, 1e6).unwrap();
            design.configuration.iterations
        };
        assert!(iterations(100.0) > iterations(0.0));
    }
}
