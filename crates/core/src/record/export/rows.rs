//! One iteration as a row.

use serde_json::{Map, Value, json};

use crate::record::{BenchmarkData, InstanceData};

/// The columns that say which iteration it is and how it went.
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

/// Returns those columns of iteration `k` of an instance.
pub(super) fn common(data: &BenchmarkData, it: &InstanceData, k: usize) -> [String; COLUMNS.len()] {
    let version = &it.run.version;
    [
        data.suite.clone(),
        it.session.name.clone().unwrap_or_default(),
        it.session.id.to_string(),
        it.run.id.to_string(),
        data.benchmark.id.clone(),
        version.name.clone().unwrap_or_default(),
        version.commit.clone().unwrap_or_default(),
        it.run.variant.clone(),
        it.instance.id.to_string(),
        it.instance.host.clone().unwrap_or_default(),
        it.instance.block.to_string(),
        it.instance.position.to_string(),
        it.instance.attempt.to_string(),
        it.iterations.index[k].to_string(),
        it.iterations.burn_in[k].to_string(),
        it.iterations.outcome[k].to_string(),
        message(it, k).unwrap_or_default().to_owned(),
    ]
}

/// Returns iteration `k` of an instance as an object; what is unknown is absent.
pub(super) fn object(data: &BenchmarkData, it: &InstanceData, k: usize) -> Value {
    let mut metrics = Map::new();
    for (name, column) in &it.iterations.values {
        if !column[k].is_nan() {
            metrics.insert(name.clone(), Value::from(column[k]));
        }
    }
    let version = &it.run.version;
    let mut row = json!({
        "suite": data.suite,
        "session": it.session.name,
        "session_id": it.session.id,
        "run": it.run.id,
        "benchmark": data.benchmark.id,
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
        "index": it.iterations.index[k],
        "burn_in": it.iterations.burn_in[k],
        "outcome": it.iterations.outcome[k],
        "message": message(it, k),
        "metrics": metrics,
    });
    if let Some(row) = row.as_object_mut() {
        row.retain(|_, value| !value.is_null());
    }
    row
}

/// Returns the shortest text that reads back as the same number.
pub(super) fn number(value: f64) -> String {
    Value::from(value).to_string()
}

fn message(it: &InstanceData, k: usize) -> Option<&str> {
    let messages = &it.iterations.messages;
    let at = messages
        .binary_search_by_key(&k, |(place, _)| *place)
        .ok()?;
    Some(messages[at].1.as_str())
}
