//! Which configuration detects a slowdown at the least cost.

mod formula;
mod hail;
mod search;
mod simulation;
#[cfg(test)]
mod tests;

use lapwing_stats::{Configuration, DetectionMethod, Strategy};

use self::formula::ROUNDED;
pub use self::search::MOST_NEEDED;
use self::search::Search;
pub use self::simulation::Simulation;

use super::costs::{RunCosts, burn_in, run_costs};
use super::detectability::{Detectability, variances};
use super::noise::Noise;
use super::samples::{BySetting, MetricOfSample, NoiseMetrics, by_setting};
use crate::clean::CleaningRules;
use crate::judge::{CellRate, DetectionOptions, Variability, detection_by_formula, metric};
use crate::model::{Metric, MetricName};
use crate::sample::{BenchmarkData, Setting, SettingChoice};

/// What a plan has to do.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// The slowdowns to be detected, as factors, each by a configuration of its own. With
    /// [`ChoiceRule::Hail`] none stands for the smallest of the grid that can be.
    pub slowdowns: Vec<f64>,
    /// How probably at least.
    pub power: f64,
    /// The largest false-positive rate.
    pub false_positives: f64,
    /// What tells a slowdown, from what sides, with what confidence; how simulations are made.
    /// Of methods and strategies the first.
    pub detection: DetectionOptions,
    /// How a configuration is chosen.
    pub rule: ChoiceRule,
}

/// How a configuration is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoiceRule {
    /// The cheapest of all that do, up to so many instances and iterations: by formula, and confirmed by
    /// simulation where enough was measured.
    Cheapest(Configuration),
    /// As the author of Hail's benchmarks does it: of the simulated grid, from the first configuration
    /// on that has few false positives, the cheapest with the power.
    Hail,
}

/// What to run of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The suite of the benchmark.
    pub suite: String,
    /// Its id.
    pub benchmark: String,
    /// The variant and version that it rests on.
    pub setting: Setting,
    /// The metric's name.
    pub name: MetricName,
    /// Its unit and direction.
    pub metric: Metric,
    /// How its values vary.
    pub variability: Variability,
    /// How many iterations an instance has before those that count.
    pub burn_in: u32,
    /// What running it takes; `None` where no time is known.
    pub costs: Option<RunCosts>,
    /// What detects each slowdown, from the smallest on.
    pub found: Vec<(f64, Result<Chosen, Box<Unmet>>)>,
}

/// A configuration and what it detects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Instances a side, and iterations of each.
    pub configuration: Configuration,
    /// How probably it detects; `None` where somebody chose it, and neither a simulation nor the formula can tell.
    pub rates: Option<Rates>,
    /// What speaks against it where it is known by formula alone.
    pub denied: Option<Denied>,
}

/// A configuration of which a simulation denies what the formula says: it has too many false positives, or surely not the power.
///
/// It is that with the most instances of those that were simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Denied {
    /// Instances a side, and iterations of each.
    pub configuration: Configuration,
    /// How probably it detects by simulation.
    pub rates: Rates,
}

/// How probably a configuration detects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// The slowdown.
    pub power: CellRate,
    /// One where there is none.
    pub false_positives: CellRate,
}

impl Rates {
    /// Returns whether there are surely more false positives than this: in a simulation at the lower end of their interval.
    pub fn has_too_many_false_positives(&self, most: f64) -> bool {
        let rate = self.false_positives;
        rate.interval.map_or(rate.value - ROUNDED, |it| it.lower) > most
    }
}

/// A slowdown that nothing within the limits detects as wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unmet {
    /// Why.
    pub why: Unable,
    /// What comes closest within the limits: of the highest power, to a hundredth, that with the fewest
    /// iterations and then the fewest instances.
    pub closest: Option<Chosen>,
    /// The cheapest that would do without the limits, up to a hundred thousand instances.
    pub needed: Option<Chosen>,
}

/// Why no configuration does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unable {
    /// It is not known how the values vary: that takes three instances of two iterations, and values
    /// above zero.
    NoiseUnknown,
    /// It would take more instances or iterations than are allowed.
    TooMany,
    /// With every configuration there are too many false positives.
    FalsePositives,
    /// No configuration of the grid has the power, or the power and few false positives.
    NotInGrid,
}

/// Returns what to run of a benchmark, setting by setting, with the simulations that people may go on with.
pub fn choices(
    data: &BenchmarkData,
    rules: &CleaningRules,
    which: SettingChoice,
    metrics: &NoiseMetrics,
    options: &PlanOptions,
) -> BySetting<(Choice, Simulation)> {
    by_setting(data, rules, which, metrics, |of_metric, variability| {
        choice(of_metric, variability, options)
    })
}

fn choice(
    of_metric: &MetricOfSample<'_>,
    variability: Variability,
    options: &PlanOptions,
) -> (Choice, Simulation) {
    let MetricOfSample {
        sample,
        name,
        cleaned,
        ..
    } = *of_metric;
    let burn_in = burn_in(of_metric);
    let costs = run_costs(of_metric, burn_in);
    let seed = options
        .detection
        .seed
        .split(sample.suite)
        .split(&sample.benchmark.id);
    let seed = seed
        .split(&sample.setting.text().unwrap_or_default())
        .split(name);
    let mut search = Search::new(cleaned, variances(&variability), costs, options, seed);
    let found = match options.rule {
        ChoiceRule::Cheapest(most) => {
            let wanted = options.slowdowns.iter();
            wanted
                .map(|slowdown| (*slowdown, search.cheapest(*slowdown, most)))
                .collect()
        }
        ChoiceRule::Hail => search.as_hail(),
    };
    let simulation = search.simulation;
    let choice = Choice {
        suite: sample.suite.to_owned(),
        benchmark: sample.benchmark.id.clone(),
        setting: sample.setting.clone(),
        metric: metric(sample, name),
        name: name.clone(),
        burn_in,
        costs,
        found,
        variability,
    };
    (choice, simulation)
}

/// More than this is seldom run.
pub const USUAL_MOST: Configuration = Configuration {
    instances: 200,
    iterations: 50,
};

impl PlanOptions {
    /// Returns the cheapest configuration that detects the first slowdown, by formula, where this is the
    /// noise; `None` where the noise or the costs are not known, or nothing within the limits does.
    pub fn cheapest_of(&self, noise: &Noise) -> Option<(Chosen, f64)> {
        let (variances, costs) = (variances(&noise.variability)?, noise.costs?);
        let slowdown = self.slowdowns.first().copied()?;
        let most = match self.rule {
            ChoiceRule::Cheapest(most) => most,
            ChoiceRule::Hail => USUAL_MOST,
        };
        let chosen = self
            .cheapest_by_formula(variances, costs, slowdown, most)
            .ok()?;
        Some((chosen, costs.of(chosen.configuration)))
    }

    /// Returns what tells a slowdown.
    pub fn method(&self) -> DetectionMethod {
        let methods = self.detection.methods.first();
        methods.copied().unwrap_or(DetectionMethod::Welch)
    }

    /// Returns what the sides have in common.
    pub fn strategy(&self) -> Strategy {
        let strategies = self.detection.strategies.first();
        strategies.copied().unwrap_or(Strategy::DifferentInstances)
    }
}

impl Choice {
    /// Returns what the configurations of the grid detect by formula, and those with the instances or iterations that are planned.
    pub fn detectability(
        &self,
        options: &PlanOptions,
        planned: Option<Configuration>,
    ) -> Detectability {
        let mut detection = options.detection.clone();
        if let Some(planned) = planned {
            detection.grid.instances.push(planned.instances);
            detection.grid.iterations.push(planned.iterations);
        }
        let cells = variances(&self.variability);
        let cells = cells.map(|it| detection_by_formula(it, &detection));
        Detectability {
            suite: self.suite.clone(),
            benchmark: self.benchmark.clone(),
            setting: self.setting.clone(),
            name: self.name.clone(),
            metric: self.metric.clone(),
            variability: self.variability.clone(),
            cells: cells.unwrap_or_default(),
        }
    }

    /// Takes another configuration for every slowdown, with the power that it has when it is simulated as every other; by formula where
    /// too little was measured for that and the noise is known.
    pub fn change(&mut self, configuration: Configuration, simulation: &mut Simulation) {
        let noise = variances(&self.variability);
        for (slowdown, found) in &mut self.found {
            *found = Ok(simulation.by_hand(configuration, *slowdown, noise));
        }
    }
}

impl Chosen {
    /// Returns how probably it detects the slowdown, where that is known.
    pub fn power(&self) -> Option<f64> {
        self.rates.map(|it| it.power.value)
    }

    /// Returns whether this is known by formula alone.
    pub fn is_by_formula(&self) -> bool {
        self.rates.is_some_and(|it| it.power.interval.is_none())
    }
}
