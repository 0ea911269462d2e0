//! Simulations of the configurations of one benchmark.

use std::collections::BTreeMap;

use lapwing_stats::{Configuration, Interval, Pilot, Seed, Strategy};

use super::{ChoiceRule, Chosen, PlanNoise, PlanOptions, Rates};
use crate::clean::{CleanInstance, Cleaned};
use crate::judge::{
    CellRate, DetectionCell, DetectionGrid, DetectionOptions, WantedBasis, detection, pilot,
};

/// The instances to draw experiments from: those of both sides are a small part of them.
const POPULATION: usize = 1_000;

/// The most instances per side that are simulated; with more, instance means are normal enough for the formula.
pub(super) const MOST_SIMULATED_INSTANCES: usize = 200;

/// Simulations of one benchmark; each is run once and used for all slowdowns.
///
/// Experiments are drawn from instances like those measured, with the noise that the true one exceeds only rarely
/// ([`PlanOptions::assurance`]). As Hail's author chooses, they are drawn from the measured instances themselves.
#[derive(Debug, Clone)]
pub struct Simulation {
    cleaned: Cleaned,
    pilot: Option<Pilot>,
    options: PlanOptions,
    seed: Seed,
    cells: BTreeMap<Configuration, Option<DetectionCell>>,
}

impl Simulation {
    pub(super) fn new(cleaned: &Cleaned, options: &PlanOptions, seed: Seed) -> Self {
        Self {
            pilot: pilot(cleaned),
            cleaned: Cleaned {
                instances: cleaned.instances.clone(),
                ..Cleaned::default()
            },
            options: options.clone(),
            seed,
            cells: BTreeMap::new(),
        }
    }

    /// Returns the noise to plan for: the limit that the true one rarely exceeds; as Hail's author chooses, the
    /// estimate.
    pub(super) fn noise(&self) -> Option<PlanNoise> {
        let noise = self.pilot.as_ref()?.noise();
        Some(match self.options.rule {
            ChoiceRule::Cheapest(_) => PlanNoise::Limit(noise, self.options.assurance),
            ChoiceRule::Hail => PlanNoise::Known(noise.estimate()),
        })
    }

    /// Returns the detection rates of a configuration that the user chose: simulated, or by formula if it is too large.
    pub(super) fn by_hand(&mut self, configuration: Configuration, slowdown: f64) -> Chosen {
        let chosen = self.rates(configuration, slowdown);
        let by_formula = || {
            self.options
                .by_formula(self.noise()?, configuration, slowdown)
        };
        let chosen = chosen.or_else(by_formula).unwrap_or(Chosen {
            configuration,
            rates: None,
        });
        self.with_pilots_interval(chosen, slowdown)
    }

    /// Returns whether a configuration was simulated.
    pub(super) fn has(&self, configuration: Configuration) -> bool {
        self.cells.contains_key(&configuration)
    }

    /// Returns how many configurations were simulated.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.cells.len()
    }

    /// Returns the detection rates of a configuration at the noise to plan for; `None` if it is too large to simulate,
    /// or the noise unknown.
    pub(super) fn rates(&mut self, configuration: Configuration, slowdown: f64) -> Option<Chosen> {
        if !self.cells.contains_key(&configuration) {
            let cell = self
                .noise()
                .and_then(|noise| self.cell(configuration, noise));
            self.cells.insert(configuration, cell);
        }
        let cell = self.cells.get(&configuration)?.as_ref()?;
        chosen(cell, slowdown)
    }

    /// Returns a configuration with its power at the most probable noise, and an interval that includes what the pilot
    /// does not know of the noise: from the power at its upper limit to that at its lower limit.
    pub(super) fn with_pilots_interval(&self, chosen: Chosen, slowdown: f64) -> Chosen {
        let assurance = self.options.assurance;
        let Some(noise) = self.pilot.as_ref().map(Pilot::noise) else {
            return chosen;
        };
        let Some(rates) = chosen.rates else {
            return chosen;
        };
        let at = |noise| -> Option<CellRate> {
            let configuration = chosen.configuration;
            if chosen.is_by_formula() {
                let found = self.options.by_formula(noise, configuration, slowdown);
                Some(found?.rates?.power)
            } else {
                self.cell(configuration, noise)?.rate(slowdown)
            }
        };
        let upper_end = |it: CellRate| it.interval.map_or(it.value, |it| it.upper);
        let (likely, most) = (
            at(PlanNoise::Known(noise.estimate())),
            at(PlanNoise::Limit(noise, 1.0 - assurance)),
        );
        let power = likely.zip(most).map(|(likely, most)| CellRate {
            interval: Some(Interval {
                lower: rates.lower_power(),
                upper: upper_end(most).max(likely.value),
            }),
            ..likely
        });
        Chosen {
            rates: Some(Rates {
                power: power.unwrap_or(rates.power),
                ..rates
            }),
            ..chosen
        }
    }

    /// Simulates a configuration, on instances that vary so.
    fn cell(&self, configuration: Configuration, noise: PlanNoise) -> Option<DetectionCell> {
        if configuration.instances > MOST_SIMULATED_INSTANCES {
            return None;
        }
        let both = match self.options.strategy() {
            Strategy::DifferentInstances => configuration.iterations,
            Strategy::SameInstances => 2 * configuration.iterations,
        };
        let population = self.pilot.as_ref()?.population(
            noise.of(configuration.iterations),
            POPULATION,
            both,
            self.seed,
        );
        let instances = population.into_iter().enumerate();
        let instances = instances.map(|(position, values)| CleanInstance {
            position,
            values,
            without_value: 0,
            host: None,
        });
        let population = Cleaned {
            instances: instances.collect(),
            ..Cleaned::default()
        };
        let (instances, iterations) = (configuration.instances, configuration.iterations);
        self.simulate(&population, vec![instances], vec![iterations])
            .pop()
    }

    /// Simulates a grid on the measured instances.
    pub(super) fn of_measured(
        &self,
        instances: Vec<usize>,
        iterations: Vec<usize>,
    ) -> Vec<DetectionCell> {
        self.simulate(&self.cleaned, instances, iterations)
    }

    fn simulate(
        &self,
        from: &Cleaned,
        instances: Vec<usize>,
        iterations: Vec<usize>,
    ) -> Vec<DetectionCell> {
        let options = DetectionOptions {
            grid: DetectionGrid {
                slowdowns: Vec::new(),
                instances,
                iterations,
            },
            methods: vec![self.options.method()],
            strategies: vec![self.options.strategy()],
            basis: match self.options.rule {
                ChoiceRule::Hail => WantedBasis::AsHail,
                ChoiceRule::Cheapest(_) => WantedBasis::Both,
            },
            seed: self.seed,
            ..self.options.detection.clone()
        };
        // Without variances the formula cannot be used instead.
        detection(from, None, &options)
    }
}

pub(super) fn chosen(cell: &DetectionCell, slowdown: f64) -> Option<Chosen> {
    Some(Chosen {
        configuration: cell.configuration,
        rates: Some(Rates {
            power: cell.rate(slowdown)?,
            false_positives: cell.rate(1.0)?,
        }),
    })
}
