//! Detection rates as text, Markdown, JSON and CSV.

use std::io::Write;

use lapwing_core::explain::Detectability;
use lapwing_core::judge::DetectionCell;
use serde_json::{Map, Value, json};

use super::{FoundDetection, MdsCommand, text};
use crate::audit;
use crate::error::CliError;
use crate::not_judged;
use crate::options::{Context, Format};
use crate::table::csv_of_json;

/// Writes the answer in the requested format.
pub fn write(
    found: &FoundDetection,
    command: &MdsCommand,
    context: &Context,
) -> Result<(), CliError> {
    let mut out = context.terminal.out();
    let detail = command.cleaning.detail();
    match command.format {
        Format::Text => text::text(found, command, context, &mut out)?,
        Format::Markdown => text::markdown(found, command, &mut out)?,
        Format::Json => {
            let answer = json!({
                "detection": rates(found).collect::<Vec<_>>(),
                "minimal": minimal(found, command.power).collect::<Vec<_>>(),
                "power": command.power,
                "target": found.target,
                "confidence": found.options.confidence.level(),
                "replicates": found.options.replicates,
                "seed": found.options.seed.0,
                "not_judged": not_judged::json(&super::not_judged(found)),
                "audit": audit::json(&found.audit, detail),
            });
            serde_json::to_writer_pretty(&mut out, &answer)?;
            writeln!(out)?;
        }
        Format::Csv if command.wide => {
            let columns = wide_columns(found);
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            csv_of_json(&columns, wide(found), &mut out)?;
        }
        Format::Csv => csv_of_json(&COLUMNS, rates(found), &mut out)?,
    }
    audit::below(&found.audit, detail, command.format, context, &mut out)
}

/// The columns of the CSV table: keys of a JSON row.
const COLUMNS: [&str; 17] = [
    "suite",
    "benchmark",
    "metric",
    "variant",
    "version",
    "session",
    "method",
    "strategy",
    "slowdown",
    "instances",
    "iterations",
    "detection_rate",
    "lower",
    "upper",
    "undetermined",
    "experiments",
    "basis",
];

/// Returns what a row is about.
fn about(row: &Detectability) -> Map<String, Value> {
    let fields = [
        ("suite", json!(row.suite)),
        ("benchmark", json!(row.benchmark)),
        ("metric", json!(row.name)),
        ("variant", json!(row.setting.variant)),
        ("version", json!(row.setting.version)),
        ("session", json!(row.setting.session)),
    ];
    fields
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

fn of_cell(row: &Detectability, cell: &DetectionCell, fields: &[(&str, Value)]) -> Value {
    let mut object = about(row);
    let own = [
        ("method", json!(cell.method.name())),
        ("strategy", json!(cell.strategy.name())),
        ("instances", json!(cell.configuration.instances)),
        ("iterations", json!(cell.configuration.iterations)),
        ("experiments", json!(cell.experiments())),
        ("basis", json!(cell.basis_name())),
    ];
    let fields = own.into_iter().chain(fields.iter().cloned());
    object.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(object)
}

/// Returns the rate of every slowdown of every cell.
fn rates(found: &FoundDetection) -> impl Iterator<Item = Value> {
    let slowdowns = &found.options.grid.slowdowns;
    let cells = found
        .rows
        .iter()
        .flat_map(|row| row.cells.iter().map(move |cell| (row, cell)));
    cells.flat_map(move |(row, cell)| {
        slowdowns.iter().filter_map(move |slowdown| {
            let rate = cell.rate(*slowdown)?;
            Some(of_cell(
                row,
                cell,
                &[
                    ("slowdown", json!(slowdown)),
                    ("detection_rate", json!(rate.value)),
                    ("lower", json!(rate.interval.map(|it| it.lower))),
                    ("upper", json!(rate.interval.map(|it| it.upper))),
                    ("undetermined", json!(rate.undetermined)),
                ],
            ))
        })
    })
}

/// Returns the smallest slowdown that each cell detects; `null` where it detects none.
fn minimal(found: &FoundDetection, power: f64) -> impl Iterator<Item = Value> {
    let cells = found
        .rows
        .iter()
        .flat_map(|row| row.cells.iter().map(move |cell| (row, cell)));
    cells.filter_map(move |(row, cell)| {
        let smallest = cell.detectable(power)?;
        let interval = cell.experiments().map(|_| smallest.interval);
        Some(of_cell(
            row,
            cell,
            &[
                ("power", json!(power)),
                ("slowdown", json!(smallest.slowdown)),
                ("lower", json!(interval.map(|it| it.lower))),
                ("upper", json!(interval.map(|it| it.upper))),
            ],
        ))
    })
}

/// Returns the names of the rates of a wide row: `laaber_ibs`.
fn rate_columns(found: &FoundDetection) -> Vec<String> {
    let of = |method: &lapwing_stats::DetectionMethod| {
        let strategies = found.options.strategies.iter();
        let name = method.name();
        strategies
            .map(move |it| format!("{name}_{}", it.name()))
            .collect::<Vec<_>>()
    };
    found.options.methods.iter().flat_map(of).collect()
}

fn wide_columns(found: &FoundDetection) -> Vec<String> {
    let rates = rate_columns(found);
    COLUMNS[..6]
        .iter()
        .chain(&["slowdown", "instances", "iterations"])
        .map(|it| (*it).to_owned())
        .chain(rates)
        .collect()
}

/// Returns the rates of all methods for each configuration and slowdown.
fn wide(found: &FoundDetection) -> impl Iterator<Item = Value> {
    found.rows.iter().flat_map(move |row| {
        text::wide_rows(row, found).into_iter().map(move |wide| {
            let mut object = about(row);
            let own = [
                ("slowdown", json!(wide.slowdown)),
                ("instances", json!(wide.configuration.instances)),
                ("iterations", json!(wide.configuration.iterations)),
            ];
            object.extend(own.map(|(key, value)| (key.to_owned(), value)));
            let rates = wide.rates.iter().map(|it| json!(it.map(|rate| rate.value)));
            object.extend(rate_columns(found).into_iter().zip(rates));
            Value::Object(object)
        })
    })
}
