//! Detection rates as rows, for JSON and CSV.

use std::collections::BTreeMap;

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::DetectionCell;
use lapwing_stats::Configuration;
use schemars::JsonSchema;
use serde::Serialize;

use super::table::{WideRow, listed, rate_titles, wide_rows};
use super::{MdsAnswer, ShownDetection};
use crate::answers::{MetricFields, SettingFields, identity};
use crate::writing::View;
use crate::{DetectionAbility, DetectionView, EnoughConfigurations, TitledRow};

/// What a benchmark detects by the shown method and strategy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MdsBenchmarkFields<'a> {
    #[serde(flatten)]
    metric: MetricFields<'a>,
    #[serde(flatten)]
    setting: SettingFields<'a>,
    /// Whether a configuration of the grid detects the slowdown: `yes`, `unsure`, `no` or `unknown`.
    able: &'static str,
    /// The smallest configuration that is enough.
    enough: Option<EnoughFields>,
    /// The smallest configuration that is certainly enough.
    surely_enough: Option<EnoughFields>,
    /// The smallest slowdown that each configuration detects.
    minimal: Vec<MinimalFields>,
}

/// A configuration that detects the slowdown.
#[derive(Debug, Serialize, JsonSchema)]
struct EnoughFields {
    instances: usize,
    iterations: usize,
    detection_rate: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
}

/// The smallest slowdown that a configuration detects.
#[derive(Debug, Serialize, JsonSchema)]
struct MinimalFields {
    instances: usize,
    iterations: usize,
    /// `null`: none, however large.
    slowdown: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    basis: &'static str,
}

/// How often a slowdown is found where there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FalsePositiveFields {
    pub instances: usize,
    pub iterations: usize,
    pub rate: f64,
    pub lower: Option<f64>,
    pub upper: Option<f64>,
}

impl<'a> MdsBenchmarkFields<'a> {
    fn new(
        row: &'a Detectability,
        configurations: &[Configuration],
        enough: EnoughConfigurations<'_>,
        view: DetectionView,
    ) -> Self {
        let (metric, setting) = identity(row.about());
        let enough_of = |cell: &DetectionCell| {
            let rate = cell.rate(view.target);
            let interval = rate.and_then(|rate| rate.interval);
            EnoughFields {
                instances: cell.configuration.instances,
                iterations: cell.configuration.iterations,
                detection_rate: rate.map(|rate| rate.value),
                lower: interval.map(|it| it.lower),
                upper: interval.map(|it| it.upper),
            }
        };
        let cells = configurations.iter();
        let cells = cells.filter_map(|configuration| view.cell(row, *configuration));
        let minimal = cells.filter_map(|cell| {
            let smallest = cell.detectable(view.power)?;
            let interval = cell.experiments().map(|_| smallest.interval);
            let finite = |value: f64| Some(value).filter(|it| it.is_finite());
            Some(MinimalFields {
                instances: cell.configuration.instances,
                iterations: cell.configuration.iterations,
                slowdown: finite(smallest.slowdown),
                lower: interval.and_then(|it| finite(it.lower)),
                upper: interval.and_then(|it| finite(it.upper)),
                basis: cell.basis_name(),
            })
        });
        Self {
            metric,
            setting,
            able: ability_name(enough.able()),
            enough: enough.told().map(enough_of),
            surely_enough: enough.surely.map(enough_of),
            minimal: minimal.collect(),
        }
    }
}

/// Returns what the benchmarks of a view detect, with the configurations of the table.
pub fn benchmarks(shown: ShownDetection<'_>, view: View) -> Vec<MdsBenchmarkFields<'_>> {
    let grid = &shown.answer.options.grid;
    let configurations = match shown.rows {
        [_] => grid.configurations(),
        _ => grid.corners(),
    };
    let rows = listed(shown, view).into_iter();
    let rows =
        rows.map(|(row, enough)| MdsBenchmarkFields::new(row, &configurations, enough, shown.view));
    rows.collect()
}

/// Returns the false-positive rates of the smallest and the largest configuration.
pub fn false_positives(shown: ShownDetection<'_>) -> Vec<FalsePositiveFields> {
    let configurations = shown.answer.options.grid.configurations();
    let ends = configurations
        .first()
        .into_iter()
        .chain(configurations.last());
    let mut ends: Vec<Configuration> = ends.copied().collect();
    ends.dedup();
    let rates = ends.into_iter().filter_map(|configuration| {
        let rate = shown.view.false_positives(shown.rows, configuration)?;
        Some(FalsePositiveFields {
            instances: configuration.instances,
            iterations: configuration.iterations,
            rate: rate.value,
            lower: rate.interval.map(|it| it.lower),
            upper: rate.interval.map(|it| it.upper),
        })
    });
    rates.collect()
}

/// Returns whether a benchmark can detect the slowdown, for programs.
pub fn ability_name(able: DetectionAbility) -> &'static str {
    match able {
        DetectionAbility::Yes => "yes",
        DetectionAbility::Unsure => "unsure",
        DetectionAbility::No => "no",
        DetectionAbility::Unknown => "unknown",
    }
}

/// The detection rate of a slowdown, or the smallest slowdown that is detected.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DetectionFields<'a> {
    #[serde(flatten)]
    metric: MetricFields<'a>,
    #[serde(flatten)]
    setting: SettingFields<'a>,
    method: &'static str,
    strategy: &'static str,
    /// Required for the smallest slowdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    power: Option<f64>,
    slowdown: Option<f64>,
    instances: usize,
    iterations: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    detection_rate: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undetermined: Option<usize>,
    experiments: Option<usize>,
    basis: &'static str,
}

impl<'a> DetectionFields<'a> {
    /// Returns a row about a cell, without its numbers.
    fn new(row: &'a Detectability, cell: &DetectionCell) -> Self {
        let (metric, setting) = identity(row.about());
        Self {
            metric,
            setting,
            method: cell.method.name(),
            strategy: cell.strategy.name(),
            instances: cell.configuration.instances,
            iterations: cell.configuration.iterations,
            experiments: cell.experiments(),
            basis: cell.basis_name(),
            ..Self::default()
        }
    }
}

fn cells(answer: &MdsAnswer) -> impl Iterator<Item = (&Detectability, &DetectionCell)> {
    let rows = answer.detection.rows.iter();
    rows.flat_map(|row| row.cells.iter().map(move |cell| (row, cell)))
}

/// Returns the rate of every slowdown of every cell.
pub fn rates(answer: &MdsAnswer) -> Vec<DetectionFields<'_>> {
    let slowdowns = &answer.options.grid.slowdowns;
    let rows = cells(answer).flat_map(|(row, cell)| {
        slowdowns.iter().filter_map(move |slowdown| {
            let rate = cell.rate(*slowdown)?;
            Some(DetectionFields {
                slowdown: Some(*slowdown),
                detection_rate: Some(rate.value),
                lower: rate.interval.map(|it| it.lower),
                upper: rate.interval.map(|it| it.upper),
                undetermined: Some(rate.undetermined),
                ..DetectionFields::new(row, cell)
            })
        })
    });
    rows.collect()
}

/// Returns the smallest slowdown that each cell detects; `null` if it detects none.
pub fn minimal(answer: &MdsAnswer) -> Vec<DetectionFields<'_>> {
    let rows = cells(answer).filter_map(|(row, cell)| {
        let smallest = cell.detectable(answer.power)?;
        let interval = cell.experiments().map(|_| smallest.interval);
        Some(DetectionFields {
            power: Some(answer.power),
            slowdown: Some(smallest.slowdown).filter(|it| it.is_finite()),
            lower: interval.map(|it| it.lower),
            upper: interval.map(|it| it.upper),
            ..DetectionFields::new(row, cell)
        })
    });
    rows.collect()
}

/// The rates of all methods for a configuration and slowdown.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct WideFields<'a> {
    #[serde(flatten)]
    metric: MetricFields<'a>,
    #[serde(flatten)]
    setting: SettingFields<'a>,
    slowdown: f64,
    instances: usize,
    iterations: usize,
    /// By method and strategy: `laaber_ibs`.
    #[serde(flatten)]
    rates: BTreeMap<String, Option<f64>>,
}

/// Returns a row for every configuration and slowdown of every benchmark.
pub fn wide(answer: &MdsAnswer) -> Vec<WideFields<'_>> {
    let titles = rate_titles(&answer.options);
    let fields = |row, wide: WideRow| {
        let (metric, setting) = identity(TitledRow::about(row));
        let names = titles.iter().map(|title| title.replace(' ', "_"));
        let rates = wide.rates.iter().map(|rate| rate.map(|rate| rate.value));
        WideFields {
            metric,
            setting,
            slowdown: wide.slowdown,
            instances: wide.configuration.instances,
            iterations: wide.configuration.iterations,
            rates: names.zip(rates).collect(),
        }
    };
    let rows = answer.detection.rows.iter().flat_map(|row| {
        let wide = wide_rows(row, &answer.options).into_iter();
        wide.map(move |wide| (row, wide))
    });
    rows.map(|(row, wide)| fields(row, wide)).collect()
}
