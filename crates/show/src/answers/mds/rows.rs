//! Detection rates as rows, for JSON and CSV.

use std::collections::BTreeMap;

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::DetectionCell;
use serde::Serialize;

use super::MdsAnswer;
use super::table::{WideRow, rate_titles, wide_rows};
use crate::TitledRow;
use crate::answers::{MetricFields, SettingFields, identity};

/// The detection rate of a slowdown, or the smallest slowdown that is detected.
#[derive(Default, Serialize)]
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
    slowdown: f64,
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
                slowdown: *slowdown,
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
            slowdown: smallest.slowdown,
            lower: interval.map(|it| it.lower),
            upper: interval.map(|it| it.upper),
            ..DetectionFields::new(row, cell)
        })
    });
    rows.collect()
}

/// The rates of all methods for a configuration and slowdown.
#[derive(Default, Serialize)]
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
