//! hyperfine's `--export-json`.

use std::io::Write;

use serde_json::{Value, json};

use super::rounds::RoundFigures;
use super::{ExchangeEntry, ExchangeError, ExchangeSummary, JsonList, each_entry};
use lapwing_model::Summary;
use lapwing_record::{Filter, Store};

pub(super) fn write(
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<ExchangeSummary, ExchangeError> {
    // Memory and processor times stand beside the times.
    let everything = Filter {
        metrics: Vec::new(),
        ..filter.clone()
    };
    let mut exchanged = ExchangeSummary::default();
    let mut list = JsonList::new("{\"results\": [");
    each_entry(store, &everything, |entry| {
        let metric = entry.time_metric(filter);
        let Some(counted) = entry.counted(&metric) else {
            match entry.summary(&metric) {
                Some(summary) if has_a_place(summary) => {
                    exchanged.note(None);
                    list.push(out, &summarised(entry, summary))?;
                }
                Some(_) | None => exchanged.empty.push(entry.id().to_owned()),
            }
            return Ok(());
        };
        let Some(rounds) = RoundFigures::of(&counted.values) else {
            return Ok(());
        };
        exchanged.note(Some(&counted));
        list.push(out, &result(entry, &counted.values, &rounds))?;
        Ok(())
    })?;
    list.end(out, "]}")?;
    Ok(exchanged)
}

fn result(entry: &ExchangeEntry<'_>, times: &[f64], rounds: &RoundFigures) -> Value {
    let mean = |metric: &str| Some(entry.centre(metric)?.value);
    let mut result = json!({
        "command": entry.id(),
        "mean": rounds.mean,
        "stddev": lapwing_stats::standard_deviation(times),
        "median": rounds.median,
        "user": mean("user_time"),
        "system": mean("system_time"),
        "min": rounds.min,
        "max": rounds.max,
        "times": times,
    });
    if ["hyperfine", "lapwing"]
        .iter()
        .any(|tool| entry.session.tool.starts_with(tool))
    {
        // Commands; failed ones are excluded, also from the times.
        result["exit_codes"] = json!(vec![0; times.len()]);
    }
    if let Some(memory) = entry.counted("peak_memory")
        && memory.values.len() == times.len()
    {
        result["memory_usage_byte"] = json!(memory.values);
    }
    add_parameters(&mut result, entry);
    result
}

/// hyperfine has names for a mean and a median, and for nothing else.
fn has_a_place(summary: &Summary) -> bool {
    let centre = summary.statistic.split('/').next().unwrap_or_default();
    matches!(centre, "mean" | "median")
}

/// A result without times, as programs write it that keep the format and not the samples.
fn summarised(entry: &ExchangeEntry<'_>, summary: &Summary) -> Value {
    let centre = if summary.statistic.starts_with("median") {
        "median"
    } else {
        "mean"
    };
    let mut result = json!({"command": entry.id()});
    result[centre] = json!(summary.centre);
    if summary.statistic == "mean/sd" {
        result["stddev"] = json!(summary.spread);
    }
    add_parameters(&mut result, entry);
    result
}

fn add_parameters(result: &mut Value, entry: &ExchangeEntry<'_>) {
    let params = &entry.data.benchmark.params;
    if !params.is_empty() {
        let texts = params.iter().map(|(key, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            (key.clone(), Value::from(text))
        });
        result["parameters"] = Value::Object(texts.collect());
    }
}
