//! pytest-benchmark's JSON, as `pytest-benchmark compare` reads it.

use std::io::Write;

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::rounds::RoundFigures;
use super::{ExchangeEntry, ExchangeError, ExchangeSummary, JsonList, each_entry};
use lapwing_record::{Filter, Store};

/// The version whose format is written.
const VERSION: &str = "5.3.1";

pub(super) fn write(
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<ExchangeSummary, ExchangeError> {
    let mut exchanged = ExchangeSummary::default();
    let mut list: Option<JsonList> = None;
    each_entry(store, filter, |entry| {
        let list = list.get_or_insert_with(|| JsonList::new(opening(entry)));
        let metric = entry.time_metric(filter);
        let Some(counted) = entry.counted(&metric) else {
            exchanged.empty.push(entry.id().to_owned());
            return Ok(());
        };
        let Some(rounds) = RoundFigures::of(&counted.values) else {
            return Ok(());
        };
        exchanged.note(Some(&counted));
        let loops = entry.loops(&metric).unwrap_or(1);
        list.push(out, &benchmark(entry, &counted.values, &rounds, loops))?;
        Ok(())
    })?;
    if let Some(list) = list {
        list.end(out, "]}")?;
    }
    Ok(exchanged)
}

/// Returns everything before the benchmarks.
fn opening(entry: &ExchangeEntry<'_>) -> String {
    let (run, session) = (&entry.run, &entry.session);
    let mut machine = run.environment.clone();
    let host = entry
        .data
        .instances
        .iter()
        .find_map(|it| it.instance.host.clone());
    machine.insert("node".to_owned(), json!(host));
    // `compare` looks into the processor's description.
    machine.entry("cpu").or_insert_with(|| json!({}));
    let version = &run.version;
    let commit_info = run.attributes.get("commit_info");
    let project = commit_info.and_then(|info| info.get("project")?.as_str());
    let commit = json!({
        "id": version.commit.as_deref().unwrap_or("unknown"),
        "time": version.date,
        "dirty": version.dirty.unwrap_or(false),
        "project": project.unwrap_or(&session.suite),
        "branch": version.branch.as_deref().unwrap_or("(unknown)"),
    });
    format!(
        "{{\"machine_info\": {}, \"commit_info\": {commit}, \"datetime\": {}, \
         \"version\": {}, \"benchmarks\": [",
        Value::Object(machine),
        json!(session.started.to_string()),
        json!(VERSION)
    )
}

fn benchmark(
    entry: &ExchangeEntry<'_>,
    values: &[f64],
    rounds: &RoundFigures,
    loops: u64,
) -> Value {
    let described = &entry.data.benchmark;
    let id = entry.id();
    let name = id.rsplit_once("::").map_or(id, |(_, name)| name);
    let param = name
        .strip_suffix(']')
        .and_then(|open| open.split_once('['))
        .map(|(_, param)| param);
    let group = match &described.tags[..] {
        [only] => Some(only),
        [] | [..] => None,
    };
    let timer = || json!({"timer": entry.session.tool});
    let object = |name: &str| entry.attribute(name).filter(|it| it.is_object()).cloned();
    let params = (!described.params.is_empty()).then_some(&described.params);
    json!({
        "group": group,
        "name": name,
        "fullname": id,
        "params": params,
        "param": param,
        "extra_info": object("extra_info").unwrap_or_else(|| json!({})),
        "options": object("options").unwrap_or_else(timer),
        "stats": {
            "min": rounds.min,
            "max": rounds.max,
            "mean": rounds.mean,
            "stddev": rounds.stddev,
            "rounds": values.len(),
            "median": rounds.median,
            "iqr": rounds.q3 - rounds.q1,
            "q1": rounds.q1,
            "q3": rounds.q3,
            "iqr_outliers": rounds.iqr_outliers,
            "stddev_outliers": rounds.stddev_outliers,
            "outliers": format!("{};{}", rounds.stddev_outliers, rounds.iqr_outliers),
            "ld15iqr": rounds.ld15iqr,
            "hd15iqr": rounds.hd15iqr,
            "ops": if rounds.total > 0.0 { as_f64(values.len()) / rounds.total } else { 0.0 },
            "total": rounds.total,
            "data": values,
            "iterations": loops,
        },
    })
}
