//! Detection rates of slowdowns by numbers of instances and iterations.

use lapwing_stats::{
    Bounds, Confidence, Configuration, DetectableSlowdown, Detection, DetectionMethod,
    DetectionRate, ExperimentOptions, Experiments, Interval, Measured, Noise, Seed, Strategy,
    detectable_slowdown, experiments,
};
use rayon::prelude::*;

use super::detection_source::{SharedSource, TaskKeys};
use super::family::point;
use super::hosts_as_units;
use crate::clean::Cleaned;

/// The default smallest slowdown that matters, as a factor: 5 %.
pub const USUAL_SLOWDOWN: f64 = 1.05;

/// The default required power: 95 %.
pub const USUAL_POWER: f64 = 0.95;

/// The default assurance: 9 of 10 plans keep their power, if the noise is normal or log-normal.
pub const USUAL_ASSURANCE: f64 = 0.9;

/// The slowdowns and configurations to evaluate: every combination.
#[derive(Debug, Clone, PartialEq)]
pub struct DetectionGrid {
    /// The slowdowns: 1 for none, which gives false positives; 1.1 for 10 %.
    pub slowdowns: Vec<f64>,
    /// The numbers of instances per side.
    pub instances: Vec<usize>,
    /// The numbers of iterations per instance.
    pub iterations: Vec<usize>,
}

impl Default for DetectionGrid {
    /// Hail's grid.
    fn default() -> Self {
        Self {
            slowdowns: vec![1.0, 1.1, 1.2, 1.3, 1.4, 1.5],
            instances: vec![5, 10, 15, 20, 25],
            iterations: vec![5, 10, 15, 20, 25],
        }
    }
}

impl DetectionGrid {
    /// Returns every configuration, in order.
    pub fn configurations(&self) -> Vec<Configuration> {
        let of = |instances: usize| {
            self.iterations.iter().map(move |iterations| Configuration {
                instances,
                iterations: *iterations,
            })
        };
        let mut all: Vec<Configuration> = self.instances.iter().copied().flat_map(of).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the configurations with the fewest and the most of both, in order.
    pub fn corners(&self) -> Vec<Configuration> {
        let ends = |numbers: &[usize]| {
            let ends = [numbers.iter().min(), numbers.iter().max()];
            ends.into_iter().flatten().copied().collect()
        };
        let corners = Self {
            slowdowns: Vec::new(),
            instances: ends(&self.instances),
            iterations: ends(&self.iterations),
        };
        corners.configurations()
    }

    /// Returns the configuration with the most of both; zeros for an empty grid.
    pub fn largest(&self) -> Configuration {
        let most = |of: &[usize]| of.iter().copied().max().unwrap_or_default();
        Configuration {
            instances: most(&self.instances),
            iterations: most(&self.iterations),
        }
    }
}

/// Options of the detection rates.
#[derive(Debug, Clone, PartialEq)]
pub struct DetectionOptions {
    /// The slowdowns and configurations.
    pub grid: DetectionGrid,
    /// The methods of detection.
    pub methods: Vec<DetectionMethod>,
    /// The strategies that draw the two sides.
    pub strategies: Vec<Strategy>,
    /// By simulation or by formula.
    pub basis: WantedBasis,
    /// Number of experiments per configuration.
    pub experiments: u32,
    /// Number of replicates per bootstrap.
    pub replicates: usize,
    /// The confidence of the intervals that detect slowdowns.
    pub confidence: Confidence,
    /// The seed of all draws.
    pub seed: Seed,
    /// Source of experiments made elsewhere; `None` if all are made here.
    pub source: Option<SharedSource>,
}

impl Default for DetectionOptions {
    /// Hail's options, plus the test of Lapwing's own comparison.
    fn default() -> Self {
        Self {
            grid: DetectionGrid::default(),
            methods: DetectionMethod::ALL.to_vec(),
            strategies: Strategy::ALL.to_vec(),
            basis: WantedBasis::Both,
            experiments: 100,
            replicates: 1_000,
            confidence: Confidence::P95,
            seed: Seed(7),
            source: None,
        }
    }
}

/// The required basis of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedBasis {
    /// Simulation, and the formula if there is too little data to simulate.
    Both,
    /// The formula alone.
    ClosedForm,
    /// Simulation alone, with undetermined experiments regarded as detected.
    AsHail,
}

/// The detection rates of one configuration by one method.
#[derive(Debug, Clone, PartialEq)]
pub struct DetectionCell {
    /// Instances per side and iterations per instance.
    pub configuration: Configuration,
    /// The method of detection.
    pub method: DetectionMethod,
    /// The strategy that draws the two sides.
    pub strategy: Strategy,
    /// The basis of the rates.
    pub basis: Basis,
}

/// The basis of detection rates.
#[derive(Debug, Clone, PartialEq)]
pub enum Basis {
    /// Simulated experiments on the measurements.
    Simulated(Vec<Bounds>),
    /// The variance between instances and within them.
    ClosedForm(Detection),
}

/// The detection rate of a slowdown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellRate {
    /// The share of experiments that detect it, or the probability.
    pub value: f64,
    /// Wilson's 95 % interval, from the finite number of experiments; `None` by formula.
    pub interval: Option<Interval>,
    /// Number of undetermined experiments.
    pub undetermined: usize,
}

impl DetectionCell {
    /// Returns the detection rate of a slowdown.
    pub fn rate(&self, slowdown: f64) -> Option<CellRate> {
        match &self.basis {
            Basis::Simulated(bounds) => {
                let rate = DetectionRate::of(bounds, slowdown);
                Some(CellRate {
                    value: rate.rate()?,
                    interval: rate.interval(Confidence::P95),
                    undetermined: rate.undetermined,
                })
            }
            Basis::ClosedForm(detection) => Some(CellRate {
                value: detection.power(slowdown)?,
                interval: None,
                undetermined: 0,
            }),
        }
    }

    /// Returns the smallest slowdown that is detected with this power; by formula its interval is that value alone.
    pub fn detectable(&self, power: f64) -> Option<DetectableSlowdown> {
        match &self.basis {
            Basis::Simulated(bounds) => detectable_slowdown(bounds, power, Confidence::P95),
            Basis::ClosedForm(detection) => {
                let slowdown = detection.minimal_detectable_slowdown(power)?;
                let interval = point(slowdown);
                Some(DetectableSlowdown { slowdown, interval })
            }
        }
    }

    /// Returns the number of experiments; `None` by formula.
    pub fn experiments(&self) -> Option<usize> {
        match &self.basis {
            Basis::Simulated(bounds) => Some(bounds.len()),
            Basis::ClosedForm(_) => None,
        }
    }

    /// Returns the name of its basis in data: `simulated` or `closed_form`.
    pub fn basis_name(&self) -> &'static str {
        match self.basis {
            Basis::Simulated(_) => "simulated",
            Basis::ClosedForm(_) => "closed_form",
        }
    }
}

/// Number of experiments per task of a thread.
const CHUNK: u32 = 50;

/// Returns the detection rates of the grid, by configuration, method and strategy; without those that are unknown.
///
/// A configuration is simulated if twice as many instances as per side were measured, or as many with twice the
/// iterations. Otherwise the formula is used, with the variances between and within instances; so it is where hosts are
/// the units of replication, because instances that share them cannot stand for independent ones.
pub fn detection(
    cleaned: &Cleaned,
    noise: Option<Noise>,
    options: &DetectionOptions,
) -> Vec<DetectionCell> {
    let simulated = match options.basis {
        WantedBasis::ClosedForm => Vec::new(),
        WantedBasis::Both if hosts_as_units(cleaned).is_some() => Vec::new(),
        WantedBasis::Both | WantedBasis::AsHail => simulate(cleaned, options),
    };
    cells(&simulated, noise, options)
}

/// Returns the detection rates of the grid by formula, whatever basis the options require.
pub fn detection_by_formula(noise: Noise, options: &DetectionOptions) -> Vec<DetectionCell> {
    let options = DetectionOptions {
        basis: WantedBasis::ClosedForm,
        ..options.clone()
    };
    cells(&[], Some(noise), &options)
}

fn cells(
    simulated: &[Experiments],
    noise: Option<Noise>,
    options: &DetectionOptions,
) -> Vec<DetectionCell> {
    let of_configuration = |(at, configuration): (usize, Configuration)| {
        let ways = options.methods.iter().flat_map(|method| {
            let strategies = options.strategies.iter();
            strategies.map(move |strategy| (*method, *strategy))
        });
        ways.filter_map(move |(method, strategy)| {
            let bounds = simulated.get(at).map(|it| it.bounds(method, strategy));
            let basis = match bounds {
                Some(bounds) if !bounds.is_empty() => Some(Basis::Simulated(bounds.to_vec())),
                _ => closed_form(noise, configuration, strategy, method, options),
            };
            basis.map(|basis| DetectionCell {
                configuration,
                method,
                strategy,
                basis,
            })
        })
    };
    // Searches for thousands of cells take long enough for a second processor.
    let configurations = options.grid.configurations();
    let configurations = configurations.into_par_iter().enumerate();
    configurations.flat_map_iter(of_configuration).collect()
}

fn closed_form(
    noise: Option<Noise>,
    configuration: Configuration,
    strategy: Strategy,
    method: DetectionMethod,
    options: &DetectionOptions,
) -> Option<Basis> {
    match options.basis {
        WantedBasis::AsHail => None,
        WantedBasis::Both | WantedBasis::ClosedForm => {
            let confidence = options.confidence;
            Detection::new(noise?, configuration, strategy, method, confidence)
                .map(Basis::ClosedForm)
        }
    }
}

/// Runs the experiments of every configuration, in order.
fn simulate(cleaned: &Cleaned, options: &DetectionOptions) -> Vec<Experiments> {
    let rows = cleaned.rows_with_gaps();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let Some(measured) = Measured::new(&rows) else {
        return Vec::new();
    };
    // The test of means draws no replicates.
    let only_means = options
        .methods
        .iter()
        .all(|it| *it == DetectionMethod::Paired);
    let experiment = ExperimentOptions {
        replicates: if only_means { 0 } else { options.replicates },
        confidence: options.confidence,
        seed: options.seed,
    };
    let configurations = options.grid.configurations();
    let chunks = 0..options.experiments.div_ceil(CHUNK);
    // The largest first, so that threads end at about the same time.
    let tasks: Vec<(usize, u32)> = (0..configurations.len())
        .rev()
        .flat_map(|at| chunks.clone().map(move |chunk| (at, chunk)))
        .collect();
    let source = options.source.as_ref();
    let source = source.map(|it| (it, TaskKeys::new(&rows, &experiment)));
    let mut made: Vec<(usize, u32, Experiments)> = tasks
        .into_par_iter()
        .enumerate()
        .map(|(number, (at, chunk))| {
            let numbers = chunk * CHUNK..((chunk + 1) * CHUNK).min(options.experiments);
            let make = || experiments(&measured, configurations[at], numbers.clone(), &experiment);
            let found = match &source {
                None => make(),
                Some((source, keys)) => {
                    let task = keys.task(configurations[at], numbers.clone(), number);
                    source.experiments(&task, &make)
                }
            };
            (at, chunk, found)
        })
        .collect();
    made.sort_unstable_by_key(|(at, chunk, _)| (*at, *chunk));
    let mut all: Vec<Experiments> = Vec::new();
    for (at, _, found) in made {
        match all.get_mut(at) {
            Some(before) => before.append(found),
            None => all.push(found),
        }
    }
    if options.basis == WantedBasis::AsHail {
        all.iter_mut()
            .for_each(Experiments::count_undetermined_as_detected);
    }
    all
}
