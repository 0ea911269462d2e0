//! Which configuration detects a slowdown at the least cost.

use lapwing_stats::{
    Configuration, Detection, DetectionMethod, Noise as Variances, Seed, Strategy, instances_needed,
};

use super::costs::{RunCosts, burn_in, run_costs};
use super::detectability::{Detectability, variances};
use super::samples::{BySetting, NoiseMetrics, SettingSample, by_setting};
use super::setting::{Setting, Settings};
use crate::clean::{Cleaned, Rules};
use crate::judge::{
    CellRate, DetectionCell, DetectionGrid, DetectionOptions, Variability, WantedBasis, detection,
    detection_by_formula, metric,
};
use crate::model::{Metric, MetricName};
use crate::record::BenchmarkData;

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
    /// What detects each slowdown.
    pub found: Vec<(f64, Result<Chosen, Unable>)>,
}

/// A configuration that detects a slowdown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Instances a side, and iterations of each.
    pub configuration: Configuration,
    /// How probably it detects the slowdown.
    pub power: CellRate,
    /// How probably it detects one where there is none.
    pub false_positives: CellRate,
}

/// Why no configuration does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unable {
    /// It is not known how the values vary: that takes three instances of two iterations, and values
    /// above zero.
    NoiseUnknown,
    /// It would take more instances than are allowed: this many, with that many iterations.
    TooMany(Configuration),
    /// Not even a hundred thousand instances would do.
    Never,
    /// With every configuration there are too many false positives.
    FalsePositives,
    /// No configuration of the grid has the power, or the power and few false positives.
    NotInGrid,
}

/// A closed form may be off by so much, and a rate at its limit is not above it.
const ROUNDED: f64 = 0.002;

/// Returns what to run of a benchmark, setting by setting.
pub fn choices(
    data: BenchmarkData,
    rules: &Rules,
    which: Settings,
    metrics: &NoiseMetrics,
    options: &PlanOptions,
) -> BySetting<Choice> {
    by_setting(data, rules, which, metrics, |sample, variability| {
        choice(sample, variability, options)
    })
}

fn choice(sample: &SettingSample<'_>, variability: Variability, options: &PlanOptions) -> Choice {
    let SettingSample {
        data,
        setting,
        name,
        cleaned,
        ..
    } = *sample;
    let burn_in = burn_in(sample);
    let costs = run_costs(sample, burn_in);
    let seed = options
        .detection
        .seed
        .split(&data.suite)
        .split(&data.benchmark.id);
    let seed = seed.split(&setting.text().unwrap_or_default()).split(name);
    let search = Search {
        cleaned,
        noise: variances(&variability),
        costs: costs.unwrap_or(EQUAL_COSTS),
        options,
        seed,
    };
    let found = match options.rule {
        ChoiceRule::Cheapest(most) => {
            let wanted = options.slowdowns.iter();
            wanted
                .map(|slowdown| (*slowdown, search.cheapest(*slowdown, most)))
                .collect()
        }
        ChoiceRule::Hail => search.as_hail(),
    };
    Choice {
        suite: data.suite.clone(),
        benchmark: data.benchmark.id.clone(),
        setting: setting.clone(),
        metric: metric(data, name),
        name: name.clone(),
        burn_in,
        costs,
        found,
        variability,
    }
}

/// What costs are taken to be where no time is known.
const EQUAL_COSTS: RunCosts = RunCosts {
    start: 0.0,
    burn_in: 0.0,
    iteration: 1.0,
};

impl PlanOptions {
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

    /// Returns the cheapest configuration that detects a slowdown, by formula.
    ///
    /// # Errors
    /// When none does.
    pub fn cheapest_by_formula(
        &self,
        noise: Variances,
        costs: RunCosts,
        slowdown: f64,
        most: Configuration,
    ) -> Result<Chosen, Unable> {
        let mut best: Option<(f64, Configuration)> = None;
        let mut unable = Unable::Never;
        // With a single iteration nothing would be learned of the noise within instances.
        for iterations in most.iterations.min(2)..=most.iterations {
            // More iterations never take fewer than three instances.
            let least = Configuration {
                instances: 3,
                iterations,
            };
            if best.is_some_and(|(cost, _)| costs.of(least) > cost) {
                break;
            }
            match self.fewest(noise, iterations, slowdown, most.instances) {
                Ok(configuration) => {
                    let cost = costs.of(configuration);
                    if best.is_none_or(|(before, _)| cost < before) {
                        best = Some((cost, configuration));
                    }
                }
                Err(why) => unable = costs.lesser(unable, why),
            }
        }
        let (_, configuration) = best.ok_or(unable)?;
        self.by_formula(noise, configuration, slowdown)
            .ok_or(Unable::Never)
    }

    /// Returns the fewest instances with so many iterations that have the power, and few false
    /// positives.
    fn fewest(
        &self,
        noise: Variances,
        iterations: usize,
        slowdown: f64,
        most: usize,
    ) -> Result<Configuration, Unable> {
        let instances = instances_needed(
            noise,
            iterations,
            self.strategy(),
            self.method(),
            slowdown,
            self.power,
            self.detection.confidence,
        );
        let enough = instances.ok_or(Unable::Never)?;
        if enough > most {
            return Err(Unable::TooMany(Configuration {
                instances: enough,
                iterations,
            }));
        }
        let mut at = enough;
        while at <= most {
            let configuration = Configuration {
                instances: at,
                iterations,
            };
            let found = self
                .by_formula(noise, configuration, slowdown)
                .ok_or(Unable::Never)?;
            if found.false_positives.value <= self.false_positives + ROUNDED {
                return Ok(configuration);
            }
            // They fall slowly.
            at += 1 + at / 8;
        }
        Err(Unable::FalsePositives)
    }

    /// Returns what a configuration detects by formula; `None` where that is not known.
    pub fn by_formula(
        &self,
        noise: Variances,
        configuration: Configuration,
        slowdown: f64,
    ) -> Option<Chosen> {
        let confidence = self.detection.confidence;
        let (strategy, method) = (self.strategy(), self.method());
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
            power: rate(slowdown)?,
            false_positives: rate(1.0)?,
        })
    }
}

impl RunCosts {
    /// Returns the reason that it would take less to do away with.
    fn lesser(self, one: Unable, other: Unable) -> Unable {
        match (one, other) {
            (Unable::TooMany(before), Unable::TooMany(after)) => {
                match self.of(before) <= self.of(after) {
                    true => one,
                    false => other,
                }
            }
            (Unable::TooMany(_), _) => one,
            (_, _) => other,
        }
    }
}

impl Choice {
    /// Returns what the configurations of the grid detect by formula.
    pub fn detectability(&self, options: &PlanOptions) -> Detectability {
        let cells = variances(&self.variability);
        let cells = cells.map(|it| detection_by_formula(it, &options.detection));
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

    /// Takes another configuration for every slowdown, with the power that it has by formula.
    /// Returns whether that is known.
    pub fn change(&mut self, configuration: Configuration, options: &PlanOptions) -> bool {
        let Some(noise) = variances(&self.variability) else {
            return false;
        };
        for (slowdown, found) in &mut self.found {
            let Some(chosen) = options.by_formula(noise, configuration, *slowdown) else {
                return false;
            };
            *found = Ok(chosen);
        }
        true
    }
}

struct Search<'a> {
    cleaned: &'a Cleaned,
    noise: Option<Variances>,
    costs: RunCosts,
    options: &'a PlanOptions,
    seed: Seed,
}

impl Search<'_> {
    fn method(&self) -> DetectionMethod {
        self.options.method()
    }

    fn strategy(&self) -> Strategy {
        self.options.strategy()
    }

    /// Returns the cheapest configuration by formula, with more instances where a simulation asks
    /// for them.
    fn cheapest(&self, slowdown: f64, most: Configuration) -> Result<Chosen, Unable> {
        let noise = self.noise.ok_or(Unable::NoiseUnknown)?;
        let cheapest = self
            .options
            .cheapest_by_formula(noise, self.costs, slowdown, most)?;
        let configuration = cheapest.configuration;
        let by_formula = |configuration| {
            let found = self.by_formula(noise, configuration, slowdown);
            found.ok_or(Unable::Never)
        };
        let mut last = None;
        let mut more = configuration;
        while more.instances <= most.instances {
            let cells = self.simulate(vec![more.instances], vec![more.iterations]);
            let Some(found) = cells.first().and_then(|cell| chosen(cell, slowdown)) else {
                // Beyond what was measured the formula has to do; simulations that contradicted it
                // ask for more than they could have.
                return by_formula(last.map_or(configuration, |_: Chosen| more));
            };
            if self.has_power(&found) && self.has_few_false_positives(&found) {
                return Ok(found);
            }
            last = Some(found);
            // Each simulation takes its time.
            more.instances += 1 + more.instances / 8;
        }
        Err(Unable::TooMany(Configuration {
            instances: most.instances + 1,
            ..configuration
        }))
    }

    fn by_formula(
        &self,
        noise: Variances,
        configuration: Configuration,
        slowdown: f64,
    ) -> Option<Chosen> {
        self.options.by_formula(noise, configuration, slowdown)
    }

    fn has_power(&self, it: &Chosen) -> bool {
        it.power.value >= self.options.power
    }

    /// Returns whether it cannot be told that there are more than are allowed.
    fn has_few_false_positives(&self, it: &Chosen) -> bool {
        let lower = it
            .false_positives
            .interval
            .map_or(it.false_positives.value, |it| it.lower);
        lower <= self.options.false_positives
    }

    fn simulate(&self, instances: Vec<usize>, iterations: Vec<usize>) -> Vec<DetectionCell> {
        let options = &self.options.detection;
        let options = DetectionOptions {
            grid: DetectionGrid {
                slowdowns: Vec::new(),
                instances,
                iterations,
            },
            methods: vec![self.method()],
            strategies: vec![self.strategy()],
            basis: match self.options.rule {
                ChoiceRule::Hail => WantedBasis::AsHail,
                ChoiceRule::Cheapest(_) => WantedBasis::Both,
            },
            seed: self.seed,
            ..options.clone()
        };
        // Without variances there is no formula to fall back on.
        detection(self.cleaned, None, &options)
    }

    /// Chooses from the grid as Hail's author does.
    fn as_hail(&self) -> Vec<(f64, Result<Chosen, Unable>)> {
        let grid = &self.options.detection.grid;
        let cells = self.simulate(grid.instances.clone(), grid.iterations.clone());
        let limit = self.options.false_positives;
        let is_quiet = |cell: &DetectionCell| cell.rate(1.0).is_some_and(|it| it.value <= limit);
        let threshold = cells
            .iter()
            .find(|cell| is_quiet(cell))
            .map(|it| it.configuration);
        let at = |slowdown: f64| -> Result<Chosen, Unable> {
            let threshold = threshold.ok_or(Unable::FalsePositives)?;
            let able = cells
                .iter()
                .filter(|cell| cell.configuration >= threshold)
                .filter_map(|cell| chosen(cell, slowdown))
                .filter(|it| self.has_power(it));
            able.min_by(|one, other| {
                let cost = |it: &Chosen| self.costs.of(it.configuration);
                cost(one).total_cmp(&cost(other))
            })
            .ok_or(Unable::NotInGrid)
        };
        if !self.options.slowdowns.is_empty() {
            let wanted = self.options.slowdowns.iter();
            return wanted.map(|slowdown| (*slowdown, at(*slowdown))).collect();
        }
        let mut tried: Vec<(f64, Result<Chosen, Unable>)> = Vec::new();
        for slowdown in grid.slowdowns.iter().filter(|it| **it > 1.0) {
            let found = at(*slowdown);
            let is_found = found.is_ok();
            tried = vec![(*slowdown, found)];
            if is_found {
                break;
            }
        }
        tried
    }
}

fn chosen(cell: &DetectionCell, slowdown: f64) -> Option<Chosen> {
    Some(Chosen {
        configuration: cell.configuration,
        power: cell.rate(slowdown)?,
        false_positives: cell.rate(1.0)?,
    })
}
