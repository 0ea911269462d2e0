//! What becomes of Google Benchmark's rows: iterations, or summaries where there are
//! aggregates only.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::google_benchmark::wire::GoogleRow;
use crate::shared::intake::{InstanceDraft, SummaryDraft};
use crate::shared::keys::put;
use crate::shared::notes::Notes;
use crate::shared::reading::number::Number;
use crate::shared::units::Unit;
use lapwing_model::{Metric, MetricName, Outcome};
use lapwing_record::{IterationColumns, Mark};

/// Keys for the place of a row, which say nothing of the measurement.
const PLACE: [&str; 5] = ["name", "run_name", "run_type", "repetition_index", "big_o"];

/// Takes what a row says of its benchmark and not of the repetition.
pub(super) fn describe(row: &mut GoogleRow, draft: &mut InstanceDraft, notes: &mut Notes) {
    for key in PLACE {
        row.others.remove(key);
    }
    for key in ["family_index", "per_family_instance_index"] {
        put(&mut draft.attributes, key, row.others.remove(key));
    }
    put(&mut draft.attributes, "repetitions", row.repetitions);
    put(&mut draft.benchmark.params, "threads", row.threads);
    if !draft.attributes.contains_key("label") {
        put(&mut draft.attributes, "label", row.label.as_deref());
    }
    for (key, value) in &row.others {
        if as_number(value).is_none() {
            notes.kept(key, "attributes of the instance or the iteration");
        }
    }
}

/// Returns the numbers of a row in base units by the name of their metric; NaN for those
/// that are not known. Declares the metrics, and leaves in `others` what is no number.
fn take_values(
    row: &mut GoogleRow,
    metrics: &mut BTreeMap<MetricName, Metric>,
    notes: &mut Notes,
) -> BTreeMap<MetricName, f64> {
    let time = Unit::named(row.time_unit.as_deref().unwrap_or("ns"));
    let mut values = BTreeMap::new();
    for (name, value) in [("wall_time", row.real_time), ("cpu_time", row.cpu_time)] {
        if let Some(value) = value {
            metrics.insert(name.to_owned(), time.metric.clone());
            values.insert(name.to_owned(), time.base(value));
        }
    }
    let others = std::mem::take(&mut row.others);
    for (key, value) in others {
        match as_number(&value) {
            None => {
                row.others.insert(key, value);
            }
            Some(number) => {
                if !number.is_finite() {
                    notes.left(&key, "some of their values are NaN or infinite");
                }
                let name = if values.contains_key(&key) {
                    format!("{key} (counter)")
                } else {
                    key
                };
                metrics.insert(name.clone(), metric(&name));
                values.insert(name, number);
            }
        }
    }
    values
}

/// Returns the number that a counter is; NaN where it is none that is finite.
fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(_) | Value::String(_) => {
            let number: Number = serde_json::from_value(value.clone()).ok()?;
            Some(number.0)
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns what the library says of its own counters; others have no direction.
fn metric(name: &str) -> Metric {
    match name {
        "bytes_per_second" => Metric::higher("B/s"),
        "items_per_second" => Metric::higher("1/s"),
        "allocs_per_iter" => Metric::lower("1"),
        "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth" => Metric::lower("B"),
        _counter => Metric::undirected(""),
    }
}

pub(super) fn take_iteration(
    index: usize,
    mut row: GoogleRow,
    draft: &mut InstanceDraft,
    notes: &mut Notes,
) {
    let values = take_values(&mut row, &mut draft.metrics, notes);
    let columns = &mut draft.iterations;
    columns.loops.push(row.iterations.unwrap_or(1).max(1));
    let outcome = outcome(&row);
    if outcome == Outcome::Ok {
        put_values(index, values, columns);
    }
    let mut attributes = row.others;
    // The first label stands with the instance.
    let label = row.label.map(Value::from);
    let other = label.filter(|label| draft.attributes.get("label") != Some(label));
    put(&mut attributes, "label", other);
    if outcome != Outcome::Ok || !attributes.is_empty() {
        columns.marks.insert(
            u32::try_from(index).unwrap_or(u32::MAX),
            Mark {
                outcome,
                message: row.error_message.or(row.skip_message),
                attributes,
            },
        );
    }
}

/// The zeros that stand in the row of a failure are no measurement.
fn outcome(row: &GoogleRow) -> Outcome {
    if row.error_occurred {
        Outcome::Failed
    } else if row.skipped {
        Outcome::Skipped
    } else {
        Outcome::Ok
    }
}

fn put_values(index: usize, values: BTreeMap<MetricName, f64>, columns: &mut IterationColumns) {
    for (name, value) in values {
        let column = columns
            .values
            .entry(name)
            .or_insert_with(|| vec![f64::NAN; columns.count]);
        column[index] = value;
    }
}

/// Makes summaries of a benchmark that has aggregates only: mean and standard deviation,
/// with the other statistics of the same metric beside them.
pub(super) fn summarise(
    aggregates: Vec<(String, GoogleRow)>,
    draft: &mut InstanceDraft,
    notes: &mut Notes,
) {
    let mut statistics: BTreeMap<MetricName, BTreeMap<String, f64>> = BTreeMap::new();
    let mut n = None;
    for (name, mut row) in aggregates {
        n = n.or(row.iterations).or(row.repetitions);
        if name == "cv" {
            notes.left("cv", "it follows from the mean and the standard deviation");
            continue;
        }
        let is_ratio = row.aggregate_unit.as_deref() == Some("percentage");
        if is_ratio {
            // A ratio is in no unit of time.
            row.time_unit = Some("s".to_owned());
        }
        for (metric, value) in take_values(&mut row, &mut draft.metrics, notes) {
            if value.is_nan() {
                continue;
            }
            if is_ratio {
                draft
                    .attributes
                    .insert(format!("{metric} {name}"), json!(value));
            } else {
                let of_metric = statistics.entry(metric).or_default();
                of_metric.insert(name.clone(), value);
            }
        }
        draft.attributes.append(&mut row.others);
    }
    draft.summaries = statistics
        .into_iter()
        .filter_map(|(metric, of_metric)| summary(&metric, n, of_metric))
        .collect();
}

fn summary(
    metric: &str,
    n: Option<u64>,
    mut statistics: BTreeMap<String, f64>,
) -> Option<SummaryDraft> {
    let usual = ["mean", "median"].into_iter();
    let mut usual = usual.filter(|name| statistics.contains_key(*name));
    let first = usual
        .next()
        .or(statistics.keys().next().map(String::as_str));
    let name = first?.to_owned();
    let centre = statistics.remove(&name)?;
    let spread = match name.as_str() {
        "mean" => statistics.remove("stddev"),
        _other => None,
    };
    Some(SummaryDraft {
        n,
        extra: statistics
            .into_iter()
            .map(|(name, value)| (name, json!(value)))
            .collect(),
        ..SummaryDraft::of(metric, centre, &name).with_spread(spread, "sd")
    })
}
