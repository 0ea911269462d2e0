//! The cheapest configuration that detects a slowdown.

mod formula;
mod hail;
#[cfg(test)]
mod kept;
mod search;
mod simulation;
#[cfg(test)]
mod tests;

use lapwing_stats::{Configuration, DetectionMethod, Strategy};

pub use self::formula::PlanNoise;
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
use crate::sample::{BenchmarkData, Setting, SettingChoice};
use lapwing_model::{JudgeSettings, Metric, MetricName};

/// The requirements of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// The slowdowns to detect, as factors, each with a configuration of its own. If empty, [`ChoiceRule::Hail`] uses
    /// the smallest detectable slowdown of the grid.
    pub slowdowns: Vec<f64>,
    /// The limits of a suite file, whose smallest effects of single benchmarks and metrics take the place of the slowdowns.
    pub limits: JudgeSettings,
    /// The required power, from 0 to 1.
    pub power: f64,
    /// The largest false-positive rate.
    pub false_positives: f64,
    /// The probability that a plan keeps its power, although its noise is known from a few instances only.
    pub assurance: f64,
    /// Methods, strategies, confidence and simulation. Only the first method and strategy are used.
    pub detection: DetectionOptions,
    /// The rule by which a configuration is chosen.
    pub rule: ChoiceRule,
}

/// The rule by which a configuration is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoiceRule {
    /// The cheapest sufficient configuration up to these numbers of instances and iterations: by formula, confirmed by
    /// simulation.
    Cheapest(Configuration),
    /// The method of the author of Hail's benchmarks: in the simulated grid, the cheapest configuration with the power
    /// among those from the first with few false positives on.
    Hail,
}

/// The configurations chosen for a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The benchmark's suite.
    pub suite: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The variant and version of the measurements.
    pub setting: Setting,
    /// The metric's name.
    pub name: MetricName,
    /// Its unit and direction.
    pub metric: Metric,
    /// The variability of its values.
    pub variability: Variability,
    /// Number of burn-in iterations per instance.
    pub burn_in: u32,
    /// The cost of running it; `None` if no time is known.
    pub costs: Option<RunCosts>,
    /// The configuration for each slowdown, in ascending order of slowdown.
    pub found: Vec<(f64, Result<Chosen, Box<Unmet>>)>,
}

/// A configuration and its detection rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Instances per side, and iterations per instance.
    pub configuration: Configuration,
    /// Its detection rates; `None` if the user chose it, and neither simulation nor formula gives them.
    pub rates: Option<Rates>,
}

/// The detection rates of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Detection rate at the slowdown. If chosen from a pilot, its interval includes what the pilot does not know of
    /// the noise: the true power is above its lower end with the wanted assurance.
    pub power: CellRate,
    /// Detection rate without a slowdown.
    pub false_positives: CellRate,
}

impl Rates {
    /// Returns the power to rely on: the lower end of its interval, or by formula the power itself.
    pub fn lower_power(&self) -> f64 {
        let power = self.power;
        power.interval.map_or(power.value, |it| it.lower)
    }

    /// Returns whether the false-positive rate is surely above a limit: if simulated, by the lower end of its interval.
    pub fn has_too_many_false_positives(&self, most: f64) -> bool {
        let rate = self.false_positives;
        rate.interval.map_or(rate.value - ROUNDED, |it| it.lower) > most
    }
}

/// A slowdown that no configuration within the limits detects with the required rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unmet {
    /// The reason.
    pub why: Unable,
    /// The closest configuration within the limits: among those within 0.01 of the highest power, the one with the
    /// fewest iterations, then the fewest instances.
    pub closest: Option<Chosen>,
    /// The cheapest sufficient configuration beyond the limits, up to 100,000 instances.
    pub needed: Option<Chosen>,
}

/// Reasons why no configuration is sufficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unable {
    /// The noise is unknown: it needs three instances of two iterations each, and positive values.
    NoiseUnknown,
    /// More instances or iterations are needed than the limits allow.
    TooMany,
    /// Every configuration has too many false positives.
    FalsePositives,
    /// No configuration of the grid has the power and few false positives.
    NotInGrid,
}

/// Returns the configurations for a benchmark, per setting, with the simulations for further changes by the user.
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
    let seed = of_metric.seed(options.detection.seed);
    let mut search = Search::new(cleaned, costs, options, seed);
    let found = match options.rule {
        ChoiceRule::Cheapest(most) => {
            let wanted = options.slowdowns_of(&sample.benchmark.id, name).into_iter();
            wanted
                .map(|slowdown| (slowdown, search.cheapest(slowdown, most)))
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

/// Returns the configuration of so many instances and iterations.
pub(crate) const fn configuration(instances: usize, iterations: usize) -> Configuration {
    Configuration {
        instances,
        iterations,
    }
}

/// Limits that cover nearly all practical plans.
pub const USUAL_MOST: Configuration = configuration(200, 50);

impl PlanOptions {
    /// Returns the slowdowns to detect in a metric of a benchmark.
    fn slowdowns_of(&self, benchmark: &str, metric: &str) -> Vec<f64> {
        match self.limits.limits_of(benchmark, metric).smallest_effect {
            Some(own) => vec![1.0 + own],
            None => self.slowdowns.clone(),
        }
    }

    /// Returns the cheapest configuration that detects the first slowdown at this noise or its limit, by formula, and
    /// its cost; `None` if noise or costs are unknown, or no configuration within the limits is sufficient.
    pub fn cheapest_of(&self, noise: &Noise) -> Option<(Chosen, f64)> {
        let (pilot, costs) = (noise.variability.pilot?, noise.costs?);
        let limit = PlanNoise::Limit(pilot, self.assurance);
        let slowdown = self.slowdowns.first().copied()?;
        let most = match self.rule {
            ChoiceRule::Cheapest(most) => most,
            ChoiceRule::Hail => USUAL_MOST,
        };
        let chosen = self
            .cheapest_by_formula(limit, costs, slowdown, most)
            .ok()?;
        Some((chosen, costs.of(chosen.configuration)))
    }

    /// Returns whether a configuration has the required power: as Hail's author chooses by its rate, otherwise by the
    /// lower end of its interval.
    pub fn has_power(&self, it: &Chosen) -> bool {
        it.rates.is_some_and(|rates| match self.rule {
            ChoiceRule::Cheapest(_) => rates.lower_power() >= self.power,
            ChoiceRule::Hail => rates.power.value >= self.power,
        })
    }

    /// Returns the detection method.
    pub fn method(&self) -> DetectionMethod {
        let methods = self.detection.methods.first();
        methods.copied().unwrap_or(DetectionMethod::Paired)
    }

    /// Returns the strategy that draws the two sides.
    pub fn strategy(&self) -> Strategy {
        let strategies = self.detection.strategies.first();
        strategies.copied().unwrap_or(Strategy::DifferentInstances)
    }
}

impl Choice {
    /// Returns the detection rates by formula of the grid's configurations, and of those with the planned instances or
    /// iterations.
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

    /// Uses another configuration for every slowdown, with its simulated power.
    pub fn change(&mut self, configuration: Configuration, simulation: &mut Simulation) {
        for (slowdown, found) in &mut self.found {
            *found = Ok(simulation.by_hand(configuration, *slowdown));
        }
    }
}

impl Chosen {
    /// Returns its power, if known.
    pub fn power(&self) -> Option<f64> {
        self.rates.map(|it| it.power.value)
    }

    /// Returns whether its rates are by formula alone.
    pub fn is_by_formula(&self) -> bool {
        self.rates
            .is_some_and(|it| it.false_positives.interval.is_none())
    }
}
