//! Detection rates as text, Markdown, JSON and CSV.

use std::collections::BTreeMap;

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::DetectionCell;
use lapwing_show::TitledRow;
use lapwing_show::answers::{MetricFields, SettingFields, audit, identity};
use lapwing_show::writing::AnswerFormat;
use serde::Serialize;
use serde_json::json;

use super::{FoundDetection, MdsCommand, text};
use crate::answer::{write_csv, write_json};
use crate::error::CliError;
use crate::options::Context;

/// Writes the answer in the requested format.
pub fn write(
    found: &FoundDetection,
    command: &MdsCommand,
    context: &Context,
) -> Result<(), CliError> {
    let mut out = context.terminal.out_as(command.samples.answer.format);
    let (audit, detail) = (&found.all.audit, command.samples.cleaning.detail());
    match command.samples.answer.format {
        AnswerFormat::Text => {
            let room = context.terminal.width();
            let answer = text::answer(found, command, room);
            answer.wrapped(room).text(room, &mut out)?;
        }
        AnswerFormat::Markdown => text::answer(found, command, None).markdown(&mut out)?,
        AnswerFormat::Json => {
            let answer = json!({
                "detection": rates(found),
                "minimal": minimal(found, command.power),
                "power": command.power,
                "target": found.target,
                "confidence": found.options.confidence.level(),
                "replicates": found.options.replicates,
                "seed": found.options.seed.0,
                "not_judged": super::not_judged(found),
                "audit": audit::json(audit, detail),
            });
            write_json(&answer, &mut out)?;
        }
        AnswerFormat::Csv if command.wide => write_csv(&wide(found), &mut out)?,
        AnswerFormat::Csv => write_csv(&rates(found), &mut out)?,
    }
    crate::options::audit_below(
        audit,
        detail,
        command.samples.answer.format,
        context,
        &mut out,
    )
}

/// The detection rate of a slowdown, or the smallest slowdown that is detected.
#[derive(Default, Serialize)]
struct DetectionRow<'a> {
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

impl<'a> DetectionRow<'a> {
    /// Returns a row about a cell, without its numbers.
    fn of(row: &'a Detectability, cell: &DetectionCell) -> Self {
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

fn cells(found: &FoundDetection) -> impl Iterator<Item = (&Detectability, &DetectionCell)> {
    let rows = found.all.rows.iter();
    rows.flat_map(|row| row.cells.iter().map(move |cell| (row, cell)))
}

/// Returns the rate of every slowdown of every cell.
fn rates(found: &FoundDetection) -> Vec<DetectionRow<'_>> {
    let slowdowns = &found.options.grid.slowdowns;
    let rows = cells(found).flat_map(|(row, cell)| {
        slowdowns.iter().filter_map(move |slowdown| {
            let rate = cell.rate(*slowdown)?;
            Some(DetectionRow {
                slowdown: *slowdown,
                detection_rate: Some(rate.value),
                lower: rate.interval.map(|it| it.lower),
                upper: rate.interval.map(|it| it.upper),
                undetermined: Some(rate.undetermined),
                ..DetectionRow::of(row, cell)
            })
        })
    });
    rows.collect()
}

/// Returns the smallest slowdown that each cell detects; `null` if it detects none.
fn minimal(found: &FoundDetection, power: f64) -> Vec<DetectionRow<'_>> {
    let rows = cells(found).filter_map(|(row, cell)| {
        let smallest = cell.detectable(power)?;
        let interval = cell.experiments().map(|_| smallest.interval);
        Some(DetectionRow {
            power: Some(power),
            slowdown: smallest.slowdown,
            lower: interval.map(|it| it.lower),
            upper: interval.map(|it| it.upper),
            ..DetectionRow::of(row, cell)
        })
    });
    rows.collect()
}

/// The rates of all methods for a configuration and slowdown.
#[derive(Default, Serialize)]
struct WideFields<'a> {
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

fn wide(found: &FoundDetection) -> Vec<WideFields<'_>> {
    let titles = text::rate_titles(found);
    let fields = |row, wide: text::WideRow| {
        let (metric, setting) = identity(TitledRow::about(row));
        let names = titles.iter().map(|it| it.replace(' ', "_"));
        let rates = wide.rates.iter().map(|it| it.map(|rate| rate.value));
        WideFields {
            metric,
            setting,
            slowdown: wide.slowdown,
            instances: wide.configuration.instances,
            iterations: wide.configuration.iterations,
            rates: names.zip(rates).collect(),
        }
    };
    let rows = found.all.rows.iter();
    let rows = rows.flat_map(|row| {
        text::wide_rows(row, found)
            .into_iter()
            .map(move |it| (row, it))
    });
    rows.map(|(row, wide)| fields(row, wide)).collect()
}
