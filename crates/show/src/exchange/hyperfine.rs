//! hyperfine's `--export-json`, `--export-csv` and `--export-markdown`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde_json::{Value, json};

use super::rounds::RoundFigures;
use super::{CountedValues, ExchangeEntry, ExchangeError, ExchangeSummary, JsonList, each_entry};
use lapwing_analyse::clean::{CleaningPolicy, IterationState};
use lapwing_model::{Id, Record, Summary};
use lapwing_record::{Filter, Store, StoreError};

/// The key for the number of times of each instance, in the order of the times.
const PER_INSTANCE: &str = "lapwing_instances";

pub(super) fn write(
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<ExchangeSummary, ExchangeError> {
    let mut list = JsonList::new("{\"results\": [");
    let exchanged = each_result(store, filter, |result| Ok(list.push(out, &result)?))?;
    list.end(out, "]}")?;
    Ok(exchanged)
}

/// Calls `visit` with the result of each benchmark.
fn each_result(
    store: &Store,
    filter: &Filter,
    mut visit: impl FnMut(Value) -> Result<(), ExchangeError>,
) -> Result<ExchangeSummary, ExchangeError> {
    // Memory and processor times stand beside the times.
    let everything = Filter {
        metrics: Vec::new(),
        ..filter.clone()
    };
    let accepted = accepted_codes(store, &everything)?;
    let mut exchanged = ExchangeSummary::default();
    each_entry(store, &everything, |entry| {
        let metric = entry.time_metric(filter);
        let Some(counted) = entry.counted(&metric) else {
            match entry.summary(&metric) {
                Some(summary) if has_a_place(summary) => {
                    exchanged.note(None);
                    visit(summarised(entry, summary))?;
                }
                Some(_) | None => exchanged.empty.push(entry.id().to_owned()),
            }
            return Ok(());
        };
        let Some(rounds) = RoundFigures::of(&counted.values) else {
            return Ok(());
        };
        exchanged.note(Some(&counted));
        let codes = exit_codes(entry, &metric, &accepted);
        visit(result(entry, &counted, &rounds, &codes))
    })?;
    Ok(exchanged)
}

/// The results of a run, as hyperfine 1.20 writes them.
#[derive(Debug)]
pub struct HyperfineResults(Vec<Value>);

impl HyperfineResults {
    /// Returns the results of the run that passes the filter, in the order of these benchmarks; those without a value
    /// are left out, as hyperfine has none of a command that fails.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(store: &Store, filter: &Filter, order: &[&str]) -> Result<Self, ExchangeError> {
        let mut results = Vec::new();
        each_result(store, filter, |result| {
            results.push(result);
            Ok(())
        })?;
        let place = |result: &Value| {
            let command = result["command"].as_str();
            order.iter().position(|id| Some(*id) == command)
        };
        results.sort_by_key(|result| place(result).unwrap_or(usize::MAX));
        Ok(Self(results))
    }

    /// Returns the JSON that hyperfine's scripts read.
    ///
    /// # Errors
    /// When a value has no form in JSON.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let text = serde_json::to_string_pretty(&json!({"results": self.0}))?;
        Ok(text + "\n")
    }

    /// Returns the figures as CSV, with a column for each parameter; times are in seconds.
    ///
    /// # Errors
    /// When a row cannot be written.
    pub fn csv(&self) -> Result<String, csv::Error> {
        const FIGURES: [&str; 8] = [
            "command", "mean", "stddev", "median", "user", "system", "min", "max",
        ];
        let parameters = self.0.iter().filter_map(|it| it["parameters"].as_object());
        let parameters: BTreeSet<&String> = parameters.flat_map(|it| it.keys()).collect();
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut rows = csv::Writer::from_writer(Vec::new());
        let titles = parameters.iter().map(|name| format!("parameter_{name}"));
        rows.write_record(FIGURES.map(str::to_owned).into_iter().chain(titles))?;
        for result in &self.0 {
            let figures = FIGURES.iter().map(|figure| cell(&result[*figure]));
            let values = parameters.iter();
            let values = values.map(|name| cell(&result["parameters"][name.as_str()]));
            rows.write_record(figures.chain(values))?;
        }
        let bytes = rows.into_inner().map_err(|error| error.into_error())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl HyperfineResults {
    /// Returns the table of times in Markdown, in the unit of the first; ratios are to a command of this name, or else to
    /// the fastest one, with the standard deviation that those of both times make.
    pub fn markdown(&self, reference: Option<&str>) -> String {
        const UNITS: [(f64, &str, usize); 4] = [
            (1.0, "s", 3),
            (1e-3, "ms", 1),
            (1e-6, "µs", 1),
            (1e-9, "ns", 1),
        ];
        let figure = |result: &Value, name: &str| result[name].as_f64();
        let mean = |result: &Value| figure(result, "mean").unwrap_or(f64::NAN);
        let fastest = || self.0.iter().min_by(|a, b| mean(a).total_cmp(&mean(b)));
        let named = self.0.iter().find(|it| it["command"].as_str() == reference);
        let (Some(first), Some(base)) = (self.0.first(), named.or_else(fastest)) else {
            return String::new();
        };
        let unit = UNITS.iter().find(|it| mean(first) >= it.0);
        let (scale, unit, decimals) = *unit.unwrap_or(&UNITS[3]);
        let spread = |result: &Value| Some(figure(result, "stddev")? / mean(result));
        let mut text = format!(
            "| Command | Mean [{unit}] | Min [{unit}] | Max [{unit}] | Relative |\n|:---|---:|---:|---:|---:|\n"
        );
        for result in &self.0 {
            let time = |name: &str| {
                let value = figure(result, name).map(|it| format!("{:.decimals$}", it / scale));
                value.unwrap_or_default()
            };
            let deviation =
                figure(result, "stddev").map(|it| format!(" ± {:.decimals$}", it / scale));
            let ratio = mean(result) / mean(base);
            let spreads = spread(result).zip(spread(base)).filter(|_| result != base);
            let doubt = spreads.map(|(a, b)| format!(" ± {:.2}", ratio * a.hypot(b)));
            let command = result["command"].as_str().unwrap_or_default();
            text.push_str(&format!(
                "| `{}` | {}{} | {} | {} | {ratio:.2}{} |\n",
                command.replace('|', "\\|").replace('\n', " "),
                time("mean"),
                deviation.unwrap_or_default(),
                time("min"),
                time("max"),
                doubt.unwrap_or_default(),
            ));
        }
        text
    }
}

fn result(
    entry: &ExchangeEntry<'_>,
    times: &CountedValues,
    rounds: &RoundFigures,
    codes: &[i64],
) -> Value {
    let CountedValues {
        values: times,
        per_instance,
        ..
    } = times;
    let mean = |metric: &str| match entry.counted(metric) {
        Some(counted) => lapwing_stats::mean(&counted.values),
        None => Some(entry.centre(metric)?.value),
    };
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
        result["exit_codes"] = json!(codes);
    }
    if let Some(memory) = entry.counted("peak_memory")
        && memory.values.len() == times.len()
    {
        result["memory_usage_byte"] = json!(memory.values);
    }
    if per_instance.len() > 1 {
        // hyperfine has one process per run; ours may have several runs.
        result[PER_INSTANCE] = json!(per_instance);
    }
    add_parameters(&mut result, entry);
    result
}

/// The exit codes other than 0 that were accepted, by instance and number of the iteration.
type AcceptedCodes = BTreeMap<(Id, u32), i64>;

fn accepted_codes(store: &Store, filter: &Filter) -> Result<AcceptedCodes, StoreError> {
    let mut codes = AcceptedCodes::new();
    store.scan(filter, |record| {
        if let Record::Iteration(iteration) = record
            && let Some(code) = iteration
                .attributes
                .get("exit_code")
                .and_then(Value::as_i64)
            && code != 0
        {
            codes.insert((iteration.instance, iteration.index), code);
        }
        Ok::<(), StoreError>(())
    })?;
    Ok(codes)
}

/// Returns the exit codes of the executions that count.
fn exit_codes(entry: &ExchangeEntry<'_>, metric: &str, accepted: &AcceptedCodes) -> Vec<i64> {
    let mut codes = Vec::new();
    for instance in &entry.data.instances {
        let states = IterationState::of_instance(instance, metric, CleaningPolicy::default());
        let steady = states.iter().enumerate();
        let steady = steady.filter(|(_, state)| **state == IterationState::Steady);
        codes.extend(steady.map(|(at, _)| {
            let place = (instance.instance.id, instance.iterations.index(at));
            accepted.get(&place).copied().unwrap_or(0)
        }));
    }
    codes
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
