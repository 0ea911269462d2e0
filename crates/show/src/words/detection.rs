//! Detectable slowdowns in words.

use std::collections::BTreeSet;

use lapwing_stats::{
    Confidence, Configuration, DetectableSlowdown, DetectionMethod, DetectionRate, Interval,
    Strategy, deviation_reach, mean,
};

use super::super::quantity::{NOTHING, percent, round_percent};
use crate::writing::Note;
use lapwing_analyse::explain::{Detectability, TooLittle};
use lapwing_analyse::judge::{Basis, CellRate, DetectionCell, DetectionOptions};
use lapwing_model::text::{counted, first_names};

/// The method, strategy, slowdown and power that a conclusion is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectionView {
    /// The test that detects a slowdown.
    pub method: DetectionMethod,
    /// The relation of the instances of the two sides.
    pub strategy: Strategy,
    /// The slowdown to detect, as a factor.
    pub target: f64,
    /// The probability with which it should be detected.
    pub power: f64,
}

impl DetectionView {
    /// Returns the view that is shown first: what `lapwing compare` would detect between separate sessions, if that
    /// was asked for, otherwise the first of each.
    pub fn of(options: &DetectionOptions, target: f64, power: f64) -> Self {
        let paired = DetectionMethod::Paired;
        let first = options.methods.first().copied().unwrap_or(paired);
        let strategy = options.strategies.first().copied();
        Self {
            method: if options.methods.contains(&paired) {
                paired
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

    /// Returns the smallest slowdown that any configuration detects.
    pub fn best(self, row: &Detectability) -> Option<(Configuration, DetectableSlowdown)> {
        let all = self.cells(row).filter_map(|cell| {
            let found = cell.detectable(self.power)?;
            Some((cell.configuration, found))
        });
        all.min_by(|one, other| one.1.slowdown.total_cmp(&other.1.slowdown))
    }

    /// Returns in which share of the experiments of a configuration a slowdown is found where there is none, of all
    /// benchmarks together with Wilson's 95 % interval; the mean where all are by formula.
    pub fn false_positives(
        self,
        rows: &[Detectability],
        configuration: Configuration,
    ) -> Option<CellRate> {
        let cells = || rows.iter().filter_map(|row| self.cell(row, configuration));
        let (mut detected, mut experiments) = (0, 0);
        for cell in cells() {
            if let Basis::Simulated(bounds) = &cell.basis {
                let rate = DetectionRate::of(bounds, 1.0);
                detected += rate.detected;
                experiments += rate.experiments;
            }
        }
        let all = DetectionRate {
            detected,
            undetermined: 0,
            experiments,
        };
        let (value, interval) = match (all.rate(), all.interval(Confidence::P95)) {
            (Some(rate), Some(interval)) => (rate, Some(interval)),
            (_, _) => {
                let rates: Vec<f64> = cells().filter_map(|it| Some(it.rate(1.0)?.value)).collect();
                (mean(&rates)?, None)
            }
        };
        Some(CellRate {
            value,
            interval,
            undetermined: 0,
        })
    }

    /// Returns the slowdown to detect: `5 %`.
    pub fn target_text(self) -> String {
        round_percent(self.target - 1.0)
    }

    /// Returns the power, method and strategy of the numbers.
    pub fn basis(self) -> String {
        let by = match self.method {
            DetectionMethod::Laaber => "intervals of means that do not overlap (laaber)",
            DetectionMethod::Schultz => "the interval of the ratio (schultz)",
            DetectionMethod::Paired => match self.strategy {
                Strategy::DifferentInstances => "the test of `lapwing compare` (paired)",
                Strategy::SameInstances => "the paired t test (paired)",
            },
        };
        let sides = match self.strategy {
            Strategy::DifferentInstances => "different instances on the two sides (ibs)",
            Strategy::SameInstances => "the same instances on both sides (tbs)",
        };
        format!("power {}, by {by}, {sides}", round_percent(self.power))
    }
}

/// Returns a slowdown as a percentage: `5.3 %`.
pub fn change(slowdown: f64) -> String {
    // A remainder of rounding is no slowdown.
    let share = slowdown - 1.0;
    percent(if share < 1e-9 { 0.0 } else { share })
}

/// Returns the minimal detectable slowdown: `4.2 %`, `~4.2 %` by formula; `none` where no slowdown is detected often
/// enough.
pub fn detectable_text(cell: &DetectionCell, power: f64) -> String {
    found_text(cell, cell.detectable(power))
}

/// Returns the minimal detectable slowdown, given what [`DetectionCell::detectable`] found: searching takes a while.
pub(crate) fn found_text(cell: &DetectionCell, found: Option<DetectableSlowdown>) -> String {
    match found {
        Some(found) if found.slowdown.is_finite() => {
            format!("{}{}", sign(cell), change(found.slowdown))
        }
        Some(_) => "none".to_owned(),
        None => NOTHING.to_owned(),
    }
}

/// Returns the minimal detectable slowdown with its interval: `4.2 % [3.8–4.9 %]`, by formula `~4.2 %`.
pub fn detectable_with_interval(cell: &DetectionCell, power: f64) -> String {
    let found = cell.detectable(power);
    let text = found_text(cell, found);
    let finite = found.filter(|it| it.slowdown.is_finite());
    match finite.filter(|_| cell.experiments().is_some()) {
        Some(found) => format!("{text} {}", slowdown_interval(found.interval)),
        None => text,
    }
}

/// Returns the interval of a slowdown: `[3.8–4.9 %]`.
pub(crate) fn slowdown_interval(interval: Interval) -> String {
    let share = |slowdown: f64| (slowdown - 1.0).max(0.0);
    interval_text(Interval {
        lower: share(interval.lower),
        upper: share(interval.upper),
    })
}

/// Returns a rate: `5.1 % [4.2–6.2 %]`; `~5.0 %` by formula.
pub fn rate_with_interval(rate: CellRate) -> String {
    let value = percent(rate.value);
    match rate.interval {
        Some(interval) => format!("{value} {}", interval_text(interval)),
        None => format!("~{value}"),
    }
}

/// Returns the interval of a share: `[3.8–4.9 %]`, `[3.8–∞ %]` without an upper end.
pub fn interval_text(interval: Interval) -> String {
    let lower = percent(interval.lower);
    let upper = if interval.upper.is_finite() {
        percent(interval.upper)
    } else {
        "∞ %".to_owned()
    };
    format!("[{}–{upper}]", lower.trim_end_matches(" %"))
}

/// Returns the configuration of a cell: `10 × 5`, `~10 × 5` by formula.
pub fn configuration_text(cell: &DetectionCell) -> String {
    format!("{}{}", sign(cell), cell.configuration)
}

/// Returns `10 instances × 5 iterations per side`.
pub(crate) fn per_side(configuration: Configuration) -> String {
    let Configuration {
        instances,
        iterations,
    } = configuration;
    format!(
        "{} × {} per side",
        counted(instances, "instance"),
        counted(iterations, "iteration")
    )
}

/// Returns why nothing is known about a benchmark.
pub fn too_little_text(why: TooLittle) -> String {
    let takes = TooLittle::INSTANCES;
    match why {
        TooLittle::Instances(1) => format!("need {takes} instances, got 1"),
        TooLittle::Instances(few) => format!("need {takes} instances, got {few}"),
        TooLittle::SingleIterations => "need 2 iterations per instance, got 1".to_owned(),
        TooLittle::NotPositive => "not all values are positive".to_owned(),
        TooLittle::ForTheGrid => {
            "too few measurements for any configuration of the grid".to_owned()
        }
    }
}

fn sign(cell: &DetectionCell) -> &'static str {
    match cell.experiments() {
        Some(_) => "",
        None => "~",
    }
}

/// Returns what rows of these benchmarks are counted as: a benchmark with several variants or metrics has several.
pub(crate) fn noun_of_rows<T: Ord>(benchmarks: impl Iterator<Item = T> + Clone) -> &'static str {
    let rows = benchmarks.clone().count();
    match benchmarks.collect::<BTreeSet<T>>().len() == rows {
        true => "benchmark",
        false => "row",
    }
}

/// Returns by how much the slowdowns of benchmarks with few instances may be too small; `None` if that is little.
pub fn few_instances_caution(rows: &[&Detectability]) -> Option<Note> {
    let sizes = rows.iter().map(|row| row.variability.size.instances);
    let few = sizes.filter(|it| *it < ENOUGH_INSTANCES);
    let fewest = few.clone().min()?;
    let reach = deviation_reach(fewest, Confidence::P95)?;
    let who = match rows {
        [_] => format!("only {fewest} instances were measured"),
        rows => format!(
            "based on few instances ({fewest} at least) for {} of {}",
            few.clone().count(),
            counted(
                rows.len(),
                noun_of_rows(rows.iter().map(|row| (&row.suite, &row.benchmark)))
            )
        ),
    };
    let text = format!("{who}: the true MDS may be up to {reach:.1} times as large");
    let note = Note::new("few_instances", text).with("fewest_instances", fewest);
    let note = note.with("rows", few.count()).with("of_rows", rows.len());
    Some(note.with("times_as_large", reach))
}

/// Returns where outliers break the conditions of the formula; `None` if nothing shown is by formula, or if there are
/// none.
pub fn outliers_caution(rows: &[&Detectability]) -> Option<Note> {
    let is_meant = |row: &&&Detectability| {
        let is_heavy = row.variability.pilot.is_some_and(|it| it.has_heavy_tails());
        is_heavy && row.cells.iter().any(|it| it.experiments().is_none())
    };
    let meant: Vec<&str> = rows
        .iter()
        .filter(is_meant)
        .map(|it| it.benchmark.as_str())
        .collect();
    (!meant.is_empty()).then(|| {
        let text = format!(
            "the formula assumes normal noise, but outliers were measured, so the true power may be lower: {}",
            first_names(&meant, 3)
        );
        Note::new("outliers", text).with("benchmarks", meant)
    })
}

/// Returns a note on the suite's smallest effect.
pub fn beyond_band_note(smallest_effect: Option<f64>) -> Option<Note> {
    smallest_effect.map(|share| {
        let band = round_percent(share);
        let text = format!(
            "the suite's smallest effect is {band}: `lapwing compare` reports a regression only if its whole interval is beyond it, and a slowdown of just {band} remains inconclusive; plan for a larger one"
        );
        Note::new("smallest_effect", text).with("smallest_effect", share)
    })
}

/// With this number of instances the standard deviation between them is known to about a third.
const ENOUGH_INSTANCES: usize = 20;
