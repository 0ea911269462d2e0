//! What could be detected, in words.

use std::collections::BTreeMap;

use lapwing_stats::{
    Confidence, Configuration, DetectableSlowdown, DetectionMethod, Strategy, deviation_reach, mean,
};

use super::noise::Titles;
use super::quantity::{NOTHING, percent, round_percent};
use crate::explain::Detectability;
use crate::judge::{DetectionCell, DetectionOptions};

/// Which of the rates an answer in words is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectionView {
    /// What tells a slowdown.
    pub method: DetectionMethod,
    /// What the sides have in common.
    pub strategy: Strategy,
    /// The slowdown that matters, as a factor.
    pub target: f64,
    /// How probably it should be detected.
    pub power: f64,
}

impl DetectionView {
    /// Returns what is told first of all that was looked at: what `lapwing compare` would detect between sessions of
    /// their own, or else the first.
    pub fn of(options: &DetectionOptions, target: f64, power: f64) -> Self {
        let welch = DetectionMethod::Welch;
        let first = options.methods.first().copied().unwrap_or(welch);
        let strategy = options.strategies.first().copied();
        Self {
            method: if options.methods.contains(&welch) {
                welch
            } else {
                first
            },
            strategy: strategy.unwrap_or(Strategy::DifferentInstances),
            target,
            power,
        }
    }

    /// Returns what each configuration detects.
    pub fn cells(self, row: &Detectability) -> impl Iterator<Item = &DetectionCell> {
        let cells = row.cells.iter();
        cells.filter(move |it| it.method == self.method && it.strategy == self.strategy)
    }

    /// Returns what one configuration detects.
    pub fn cell(self, row: &Detectability, configuration: Configuration) -> Option<&DetectionCell> {
        self.cells(row).find(|it| it.configuration == configuration)
    }

    /// Returns the configuration with the fewest iterations in all that detects the slowdown which matters;
    /// of equal ones that with fewer instances.
    pub fn cheapest(self, row: &Detectability) -> Option<&DetectionCell> {
        let mut cells: Vec<&DetectionCell> = self.cells(row).collect();
        cells.sort_by_key(|cell| {
            let Configuration {
                instances,
                iterations,
            } = cell.configuration;
            (instances * iterations, instances)
        });
        // A rate takes a while, so no more are asked for than needed.
        cells.into_iter().find(|cell| {
            cell.rate(self.target)
                .is_some_and(|rate| rate.value >= self.power)
        })
    }

    /// Returns the smallest slowdown that any configuration detects.
    pub fn best(self, row: &Detectability) -> Option<(Configuration, DetectableSlowdown)> {
        let all = self.cells(row).filter_map(|cell| {
            let found = cell.detectable(self.power)?;
            Some((cell.configuration, found))
        });
        all.min_by(|one, other| one.1.slowdown.total_cmp(&other.1.slowdown))
    }

    /// Returns the answer in a sentence.
    ///
    /// A benchmark of several settings or metrics is able when all of them are.
    pub fn headline(self, rows: &[Detectability], most: Configuration) -> String {
        let target = self.target_text();
        let within = format!("with at most {}", a_side(most));
        if let [row] = rows {
            let able = self.cheapest(row).map(|it| it.configuration);
            let name = &row.benchmark;
            return match able {
                Some(it) => format!("{name} can detect {target}, with {}", a_side(it)),
                None => format!("{name} cannot detect {target} {within}"),
            };
        }
        let mut benchmarks: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        for row in rows {
            let able = benchmarks
                .entry((&row.suite, &row.benchmark))
                .or_insert(true);
            *able &= self.cheapest(row).is_some();
        }
        let titles = Titles::of(rows);
        let throughout = match (titles.settings, titles.metrics) {
            (false, false) => "",
            (true, false) => " in every setting",
            (false, true) => " by every metric",
            (true, true) => " in every setting and by every metric",
        };
        let able = benchmarks.values().filter(|able| **able).count();
        self.sentence(able, benchmarks.len(), throughout, most)
    }

    /// Returns the answer in a sentence where it is known how many are able.
    pub(super) fn headline_of(self, able: usize, all: usize, most: Configuration) -> String {
        self.sentence(able, all, "", most)
    }

    fn sentence(self, able: usize, all: usize, throughout: &str, most: Configuration) -> String {
        let who = match (able, all) {
            (0, 1) => "the one benchmark cannot".to_owned(),
            (_, 1) => "the one benchmark can".to_owned(),
            (0, all) => format!("none of {all} benchmarks can"),
            (able, all) if able == all => format!("all {all} benchmarks can"),
            (able, all) => format!("{able} of {all} benchmarks can"),
        };
        let target = self.target_text();
        format!(
            "{who} detect {target}{throughout} with at most {}",
            a_side(most)
        )
    }

    /// Returns in which share of the experiments of a configuration a slowdown is found where there is none, on average over
    /// the benchmarks: `5.1 %`, `~5.0 %` where all are by formula.
    pub fn false_positives(
        self,
        rows: &[Detectability],
        configuration: Configuration,
    ) -> Option<String> {
        let cells: Vec<&DetectionCell> = rows
            .iter()
            .filter_map(|row| self.cell(row, configuration))
            .collect();
        let is_simulated = cells.iter().any(|it| it.experiments().is_some());
        let cells = cells
            .iter()
            .filter(|it| it.experiments().is_some() == is_simulated);
        let rates: Vec<f64> = cells.filter_map(|it| Some(it.rate(1.0)?.value)).collect();
        let sign = if is_simulated { "" } else { "~" };
        mean(&rates).map(|rate| format!("{sign}{}", percent(rate)))
    }

    /// Returns the slowdown that matters: `5 %`.
    pub fn target_text(self) -> String {
        round_percent(self.target - 1.0)
    }

    /// Returns by what the numbers are.
    pub fn basis(self) -> String {
        let by = match self.method {
            DetectionMethod::Laaber => "intervals of means that do not overlap (laaber)",
            DetectionMethod::Schultz => "the interval of the ratio (schultz)",
            DetectionMethod::Welch => match self.strategy {
                Strategy::DifferentInstances => "the test of `lapwing compare` (welch)",
                Strategy::SameInstances => "the paired t test (welch)",
            },
        };
        let sides = match self.strategy {
            Strategy::DifferentInstances => "different instances on the two sides (ibs)",
            Strategy::SameInstances => "the same instances on both sides (tbs)",
        };
        format!("power {}, by {by}, {sides}", round_percent(self.power))
    }
}

/// Returns a slowdown as people say it: `5.3 %`.
pub fn change(slowdown: f64) -> String {
    // What is left of rounding is none.
    let share = slowdown - 1.0;
    percent(if share < 1e-9 { 0.0 } else { share })
}

/// Returns the minimal detectable slowdown: `4.2 %`, `~4.2 %` by formula; `none` where no slowdown is detected often
/// enough.
pub fn detectable_text(cell: &DetectionCell, power: f64) -> String {
    match cell.detectable(power) {
        Some(found) if found.slowdown.is_finite() => {
            format!("{}{}", sign(cell), change(found.slowdown))
        }
        Some(_) => "none".to_owned(),
        None => NOTHING.to_owned(),
    }
}

/// Returns the configuration of a cell: `10 × 5`, `~10 × 5` by formula.
pub fn configuration_text(cell: &DetectionCell) -> String {
    format!("{}{}", sign(cell), cell.configuration)
}

/// Returns `10 instances × 5 iterations a side`.
fn a_side(configuration: Configuration) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let Configuration {
        instances,
        iterations,
    } = configuration;
    format!(
        "{instances} instance{} × {iterations} iteration{} a side",
        plural(instances),
        plural(iterations)
    )
}

fn sign(cell: &DetectionCell) -> &'static str {
    match cell.experiments() {
        Some(_) => "",
        None => "~",
    }
}

/// Returns by how much the slowdowns of benchmarks with so few instances may be too small; `None` where that is little.
pub fn few_instances_caution(rows: &[Detectability]) -> Option<String> {
    let size = |row: &Detectability| row.variability.size.instances;
    let told = rows.iter().filter(|row| !row.cells.is_empty());
    let few = told.map(size).filter(|it| *it < ENOUGH_INSTANCES);
    let fewest = few.clone().min()?;
    let reach = deviation_reach(fewest, Confidence::P95)?;
    let who = match rows {
        [_] => format!("only {fewest} instances were measured"),
        rows => format!(
            "few instances were measured of {} of {}, the fewest {fewest}",
            few.count(),
            rows.len()
        ),
    };
    Some(format!(
        "{who}: true slowdowns may be {reach:.1} times as large"
    ))
}

/// With so many instances the standard deviation between them is known to about a third.
const ENOUGH_INSTANCES: usize = 20;
