//! One iteration as a row.

use serde_json::{Map, Value, json};

use crate::{InstanceData, RecordedBenchmark};
use lapwing_model::Summary;

/// The columns that identify an iteration, and its outcome.
pub(super) const COLUMNS: [&str; 17] = [
    "suite",
    "session",
    "session_id",
    "run",
    "benchmark",
    "version",
    "commit",
    "variant",
    "instance",
    "host",
    "block",
    "position",
    "attempt",
    "index",
    "burn_in",
    "outcome",
    "message",
];

/// The columns of a value, or of a summary, where `value` is the centre.
pub(super) const VALUE_COLUMNS: [&str; 6] = ["metric", "unit", "value", "statistic", "spread", "n"];

/// Returns the columns of iteration `k` of an instance.
pub(super) fn common(
    data: &RecordedBenchmark,
    it: &InstanceData,
    k: usize,
) -> [String; COLUMNS.len()] {
    let of_iteration = [
        it.iterations.index(k).to_string(),
        it.iterations.burn_in[k].to_string(),
        it.iterations.outcome[k].to_string(),
        message(it, k).unwrap_or_default().to_owned(),
    ];
    with_instance(data, it, of_iteration)
}

/// Returns a summary's row: no iteration, and the value is the centre.
pub(super) fn summary(
    data: &RecordedBenchmark,
    it: &InstanceData,
    summary: &Summary,
) -> Vec<String> {
    let unit = it.run.metrics.get(&summary.metric);
    let mut row = with_instance(data, it, [const { String::new() }; 4]).to_vec();
    row.extend([
        summary.metric.clone(),
        unit.map_or_else(String::new, |metric| metric.unit.clone()),
        number(summary.centre),
        summary.statistic.clone(),
        summary.spread.map_or_else(String::new, number),
        summary.n.map_or_else(String::new, |n| n.to_string()),
    ]);
    row
}

fn with_instance(
    data: &RecordedBenchmark,
    it: &InstanceData,
    of_iteration: [String; 4],
) -> [String; COLUMNS.len()] {
    let version = &it.run.version;
    let [index, burn_in, outcome, message] = of_iteration;
    [
        data.suite.clone(),
        it.session.name.clone().unwrap_or_default(),
        it.session.id.to_string(),
        it.run.id.to_string(),
        data.id.clone(),
        version.name.clone().unwrap_or_default(),
        version.commit.clone().unwrap_or_default(),
        it.run.variant.clone(),
        it.instance.id.to_string(),
        it.instance.host.clone().unwrap_or_default(),
        it.instance.block.to_string(),
        it.instance.position.to_string(),
        it.instance.attempt.to_string(),
        index,
        burn_in,
        outcome,
        message,
    ]
}

/// Returns iteration `k` of an instance as an object; what is unknown is absent.
pub(super) fn object(data: &RecordedBenchmark, it: &InstanceData, k: usize) -> Value {
    let mut metrics = Map::new();
    for (name, column) in &it.iterations.values {
        if !column[k].is_nan() {
            metrics.insert(name.clone(), Value::from(column[k]));
        }
    }
    let mut row = of_instance(data, it);
    let of_iteration = json!({
        "index": it.iterations.index(k),
        "burn_in": it.iterations.burn_in[k],
        "outcome": it.iterations.outcome[k],
        "message": message(it, k),
        "metrics": metrics,
    });
    add_known(&mut row, of_iteration);
    Value::Object(row)
}

/// Returns a summary as an object; what is unknown is absent.
pub(super) fn summary_object(
    data: &RecordedBenchmark,
    it: &InstanceData,
    summary: &Summary,
) -> Value {
    let mut row = of_instance(data, it);
    let mut figures = summary.extra.clone();
    let of_summary = json!({
        "metric": summary.metric,
        "statistic": summary.statistic,
        "n": summary.n,
        "centre": summary.centre,
        "spread": summary.spread,
    });
    add_known(&mut figures, of_summary);
    row.insert("summary".to_owned(), Value::Object(figures));
    Value::Object(row)
}

fn of_instance(data: &RecordedBenchmark, it: &InstanceData) -> Map<String, Value> {
    let version = &it.run.version;
    let mut row = Map::new();
    let of_instance = json!({
        "suite": data.suite,
        "session": it.session.name,
        "session_id": it.session.id,
        "run": it.run.id,
        "benchmark": data.id,
        "params": it.instance.benchmark.params,
        "tags": it.instance.benchmark.tags,
        "version": version.name,
        "commit": version.commit,
        "variant": it.run.variant,
        "instance": it.instance.id,
        "host": it.instance.host,
        "started": it.instance.started,
        "block": it.instance.block,
        "position": it.instance.position,
        "attempt": it.instance.attempt,
    });
    add_known(&mut row, of_instance);
    row
}

/// Adds what is not null.
fn add_known(row: &mut Map<String, Value>, more: Value) {
    if let Value::Object(more) = more {
        row.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    }
}

/// Returns the shortest text that reads back as the same number.
pub(super) fn number(value: f64) -> String {
    Value::from(value).to_string()
}

fn message(it: &InstanceData, k: usize) -> Option<&str> {
    it.iterations.messages.get(&k).map(String::as_str)
}
