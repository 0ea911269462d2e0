//! Simulations of the configurations of one benchmark.

use std::collections::BTreeMap;

use lapwing_stats::{Configuration, Measured, Noise as Variances, Seed};

use super::{ChoiceRule, Chosen, PlanOptions, Rates};
use crate::clean::{CleanInstance, Cleaned};
use crate::judge::{DetectionCell, DetectionGrid, DetectionOptions, WantedBasis, detection};

/// Simulations of one benchmark; each is run once and used for all slowdowns.
#[derive(Debug, Clone)]
pub struct Simulation {
    cleaned: Cleaned,
    measured: Option<Measured>,
    options: PlanOptions,
    seed: Seed,
    cells: BTreeMap<Configuration, Option<DetectionCell>>,
}

impl Simulation {
    pub(super) fn new(cleaned: &Cleaned, options: &PlanOptions, seed: Seed) -> Self {
        let rows = cleaned.instances.iter();
        let rows: Vec<Vec<f64>> = rows
            .map(|it| CleanInstance::values_and_gaps(it).collect())
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        Self {
            cleaned: Cleaned {
                instances: cleaned.instances.clone(),
                ..Cleaned::default()
            },
            measured: Measured::new(&rows),
            options: options.clone(),
            seed,
            cells: BTreeMap::new(),
        }
    }

    /// Returns the detection rates of a configuration that the user chose: simulated, or by formula with this noise if
    /// there is too little data to simulate.
    pub(super) fn by_hand(
        &mut self,
        configuration: Configuration,
        slowdown: f64,
        noise: Option<Variances>,
    ) -> Chosen {
        let chosen = self.rates(configuration, slowdown);
        let by_formula = || self.options.by_formula(noise?, configuration, slowdown);
        chosen.or_else(by_formula).unwrap_or(Chosen {
            configuration,
            rates: None,
            denied: None,
        })
    }

    /// Returns the most instances per side that can be simulated with this number of iterations.
    pub(super) fn most_instances(&self, iterations: usize) -> usize {
        let Some(measured) = &self.measured else {
            return 0;
        };
        let strategy = self.options.strategy();
        let (mut yes, mut no) = (0, self.cleaned.instances.len() + 1);
        while no - yes > 1 {
            let instances = yes.midpoint(no);
            let configuration = Configuration {
                instances,
                iterations,
            };
            match measured.allows(configuration, strategy) {
                true => yes = instances,
                false => no = instances,
            }
        }
        yes
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

    /// Returns the detection rates of a configuration; `None` if there is too little data.
    pub(super) fn rates(&mut self, configuration: Configuration, slowdown: f64) -> Option<Chosen> {
        if !self.cells.contains_key(&configuration) {
            let Configuration {
                instances,
                iterations,
            } = configuration;
            let mut cells = self.simulate(vec![instances], vec![iterations]);
            self.cells.insert(configuration, cells.pop());
        }
        let cell = self.cells.get(&configuration)?.as_ref()?;
        chosen(cell, slowdown)
    }

    pub(super) fn simulate(
        &self,
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
        detection(&self.cleaned, None, &options)
    }
}

pub(super) fn chosen(cell: &DetectionCell, slowdown: f64) -> Option<Chosen> {
    Some(Chosen {
        configuration: cell.configuration,
        rates: Some(Rates {
            power: cell.rate(slowdown)?,
            false_positives: cell.rate(1.0)?,
        }),
        denied: None,
    })
}
