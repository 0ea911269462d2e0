//! What could be detected, in words.

use lapwing_stats::{Configuration, DetectableSlowdown, DetectionMethod, Strategy};

use super::quantity::{percent, round_percent};
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
    pub fn headline(self, rows: &[Detectability], most: Configuration) -> String {
        let able = rows
            .iter()
            .filter(|row| self.cheapest(row).is_some())
            .count();
        self.headline_of(able, rows.len(), most)
    }

    /// Returns the answer in a sentence where it is known how many are able.
    pub(super) fn headline_of(self, able: usize, all: usize, most: Configuration) -> String {
        let target = self.target_text();
        let within = format!(
            "with {} instances × {} iterations a side or less",
            most.instances, most.iterations
        );
        match (able, all) {
            (0, 1) => format!("the one benchmark cannot detect {target} {within}"),
            (_, 1) => format!("the one benchmark can detect {target} {within}"),
            (0, all) => format!("none of {all} benchmarks can detect {target} {within}"),
            (able, all) if able == all => {
                format!("all {all} benchmarks can detect {target} {within}")
            }
            (able, all) => format!("{able} of {all} benchmarks can detect {target} {within}"),
        }
    }

    /// Returns the slowdown that matters: `5 %`.
    pub fn target_text(self) -> String {
        round_percent(self.target - 1.0)
    }

    /// Returns by what the numbers are.
    pub fn basis(self) -> String {
        let by = match self.method {
            DetectionMethod::Laaber => "intervals of the means that do not overlap (Laaber)",
            DetectionMethod::Schultz => "the interval of the ratio (Schultz)",
            DetectionMethod::Welch => "the test of `lapwing compare`",
        };
        let sides = match self.strategy {
            Strategy::DifferentInstances => "different instances on both sides",
            Strategy::SameInstances => "the same instances on both sides",
        };
        format!("power {}, by {by}, {sides}", round_percent(self.power))
    }
}

/// Returns a slowdown as people say it: `5.3 %`.
pub fn change(slowdown: f64) -> String {
    percent(slowdown - 1.0)
}

/// Returns the minimal detectable slowdown: `4.2 %`, `~4.2 %` by formula, `–` where none is detected.
pub fn detectable_text(cell: &DetectionCell, power: f64) -> String {
    match cell.detectable(power) {
        Some(found) if found.slowdown.is_finite() => {
            let sign = if cell.experiments().is_none() {
                "~"
            } else {
                ""
            };
            format!("{sign}{}", change(found.slowdown))
        }
        Some(_) | None => "–".to_owned(),
    }
}
