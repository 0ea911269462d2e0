//! JMH's `-rf json`: an array, one result of one benchmark with its forks and iterations.

mod histogram;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::jmh::histogram::histogram;
use crate::jmh::wire::{JmhMetric, JmhResult, JmhTitle, MACHINE, read_result};
use crate::shared::detect::{has_key, has_keys};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::{choices, in_words, put_object, with_choices};
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::reading::document::Document;
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{Format, ImportError, Source};
use lapwing_model::{Benchmark, Id, Level, Object};
use lapwing_record::IterationColumns;

pub(super) const FORMAT: Format = Format::new("jmh", "JMH -rf json", looks_like, read)
    .with_keys(&["benchmark", "mode", "primaryMetric"]);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if !head.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    if has_key(head, "jmhVersion") {
        return Some("it is an array of results with `jmhVersion`");
    }
    // JMH before 1.15 and programs that write its format do not say the version.
    has_keys(head, &["benchmark", "mode", "primaryMetric"])
        .then_some("it is an array of results with `benchmark` and `primaryMetric`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let elements: Vec<&RawValue> = document.parse()?;
    let titles = Titles::of(&document, &elements);
    // JMH writes no date: the file's is the nearest.
    let session = SessionDraft::of(&titles.tool);
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let mut blocks: BTreeMap<(Id, String), u32> = BTreeMap::new();
    for (raw, benchmark) in elements.iter().zip(&titles.benchmarks) {
        let Some(result) = intake.good(read_result(&document, raw)) else {
            continue;
        };
        // What has metrics has a title as well, or the reading of it failed.
        let Some(benchmark) = benchmark else {
            let missing = document.element::<JmhTitle>(raw).err();
            intake.bad(missing.unwrap_or_else(|| document.wrong(raw, "it has no title")));
            continue;
        };
        note(&result, intake.notes());
        let run = intake.run(titles.run_draft(&result))?;
        let block = blocks.entry((run, benchmark.id.clone())).or_default();
        let spot = document.spot_of(raw.get());
        for mut draft in drafts(&result, benchmark) {
            draft.block = *block;
            intake.instance(spot, run, draft)?;
            *block += 1;
        }
    }
    intake.finish()
}

fn note(result: &JmhResult, notes: &mut Notes) {
    notes.kept_all(result.unknown.keys(), "attributes of the instance");
    let metrics = &result.metrics;
    if has_samples(&metrics.primary) {
        for key in ["score", "scoreError", "scoreConfidence", "scorePercentiles"] {
            notes.left(key, FOLLOWS);
        }
    }
    let place = "attributes of the instance, under `primaryMetric`";
    notes.kept_all(metrics.primary.unknown.keys(), place);
    for (name, metric) in &metrics.secondary {
        let place = "attributes of the instance, under `secondaryMetrics`";
        notes.kept_all(metric.unknown.keys(), place);
        let mut values = metric.raw_data.iter().flatten();
        let no_values = values.all(|it| it.known().is_none());
        if metric.raw_data_histogram.is_empty() && no_values && metric.score.known().is_none() {
            notes.left(name, "it has no values");
        }
    }
}

/// The common properties of the results of a document.
struct Titles {
    tool: String,
    /// One for each element; `None` where it cannot be read.
    benchmarks: Vec<Option<Benchmark>>,
    /// The keys of the machine with several values for the same benchmark: these were varied.
    varied: BTreeSet<String>,
}

impl Titles {
    fn of(document: &Document, elements: &[&RawValue]) -> Self {
        let titles: Vec<Option<JmhTitle>> = elements
            .iter()
            .map(|raw| document.element(raw).ok())
            .collect();
        let benchmarks = benchmarks(&titles);
        let mut tool = "JMH".to_owned();
        let mut varied = BTreeSet::new();
        let mut first: BTreeMap<&str, BTreeMap<String, Value>> = BTreeMap::new();
        for (raw, benchmark) in elements.iter().zip(&benchmarks) {
            let Some(benchmark) = benchmark else { continue };
            let machine = machine(document, raw);
            if let Some(version) = machine.get("jmhVersion").and_then(Value::as_str)
                && tool == "JMH"
            {
                tool = format!("JMH {version}");
            }
            match first.get(benchmark.id.as_str()) {
                None => {
                    first.insert(&benchmark.id, machine);
                }
                Some(known) => varied.extend(
                    MACHINE
                        .iter()
                        .filter(|key| known.get(**key) != machine.get(**key))
                        .map(|&key| key.to_owned()),
                ),
            }
        }
        Self {
            tool,
            benchmarks,
            varied,
        }
    }

    fn run_draft(&self, result: &JmhResult) -> RunDraft {
        let mut draft = RunDraft {
            key: Value::Object(result.machine.clone()).to_string(),
            environment: result.machine.clone(),
            ..RunDraft::default()
        };
        for key in &self.varied {
            let value = match draft.environment.get(key) {
                Some(Value::Array(words)) => {
                    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                    words.join(" ")
                }
                Some(other) => in_words(other),
                None => continue,
            };
            draft.factors.insert(key.clone(), Level::Text(value));
        }
        draft.named_by_factors()
    }
}

fn machine(document: &Document, raw: &RawValue) -> BTreeMap<String, Value> {
    let all: BTreeMap<String, &RawValue> = document.element(raw).unwrap_or_default();
    all.into_iter()
        .filter(|(key, _)| MACHINE.contains(&key.as_str()))
        .filter_map(|(key, raw)| Some((key, document.element(raw).ok()?)))
        .collect()
}

/// JMH's own name is that of the method; parameters belong to it, and where the document
/// has the same in several modes or with several numbers of threads, so do these.
fn benchmarks(titles: &[Option<JmhTitle>]) -> Vec<Option<Benchmark>> {
    let list = |title: &JmhTitle| title.params.as_ref().map(choices).unwrap_or_default();
    let mut modes: BTreeMap<(&str, Vec<String>), BTreeSet<&Option<String>>> = BTreeMap::new();
    let mut threads: BTreeMap<(&str, Vec<String>), BTreeSet<Option<u64>>> = BTreeMap::new();
    for title in titles.iter().flatten() {
        let key = (title.benchmark.as_str(), list(title));
        modes.entry(key.clone()).or_default().insert(&title.mode);
        threads.entry(key).or_default().insert(title.threads);
    }
    titles
        .iter()
        .map(|title| {
            let title = title.as_ref()?;
            let key = (title.benchmark.as_str(), list(title));
            let mut brackets = key.1.clone();
            if let Some(mode) = title.mode.as_ref().filter(|_| modes[&key].len() > 1) {
                brackets.push(format!("mode={mode}"));
            }
            if let Some(number) = title.threads.filter(|_| threads[&key].len() > 1) {
                brackets.push(format!("threads={number}"));
            }
            Some(Benchmark {
                id: with_choices(&title.benchmark, &brackets),
                params: title.params.clone().unwrap_or_default(),
                ..Benchmark::default()
            })
        })
        .collect()
}

fn has_samples(metric: &JmhMetric) -> bool {
    !metric.raw_data.is_empty() || !metric.raw_data_histogram.is_empty()
}

/// Returns an instance for each fork.
fn drafts(result: &JmhResult, benchmark: &Benchmark) -> Vec<InstanceDraft> {
    let mut attributes = result.settings.clone();
    attributes.extend(result.unknown.clone());
    let metrics = &result.metrics;
    let of_primary = metrics.primary.unknown.clone();
    put_object(&mut attributes, "primaryMetric", of_primary);
    let mut of_secondary = Object::new();
    for (name, metric) in &metrics.secondary {
        put_object(&mut of_secondary, name, metric.unknown.clone());
    }
    put_object(&mut attributes, "secondaryMetrics", of_secondary);
    let (name, unit) = quantity(&metrics.primary);
    let mut all: Vec<(String, Unit, &JmhMetric)> = vec![(name, unit, &metrics.primary)];
    all.extend(metrics.secondary.iter().map(|(name, metric)| {
        let (name, unit) = secondary_quantity(name, metric);
        (name, unit, metric)
    }));
    let forks = all
        .iter()
        .map(|(_, _, metric)| metric.raw_data.len().max(metric.raw_data_histogram.len()))
        .max()
        .unwrap_or(0)
        .max(1);
    (0..forks)
        .map(|fork| {
            let mut draft = InstanceDraft {
                benchmark: benchmark.clone(),
                attributes: attributes.clone(),
                ..InstanceDraft::default()
            };
            for (name, unit, metric) in &all {
                draft.metrics.insert(name.clone(), unit.metric.clone());
                histogram(name, unit, metric, fork, &mut draft);
                if !has_samples(metric) && fork == 0 {
                    draft.summaries.push(score(name, unit, metric));
                }
            }
            draft.iterations = columns(&all, fork);
            draft
        })
        .collect()
}

/// The primary metric is what is measured: a time or a throughput.
fn quantity(metric: &JmhMetric) -> (String, Unit) {
    let unit = Unit::named(&metric.score_unit);
    let name = match unit.metric.unit.as_str() {
        "s" => "wall_time",
        "1/s" => "throughput",
        "B/s" => "bytes_per_second",
        _other => "score",
    };
    (name.to_owned(), unit)
}

/// Secondary metrics are called what JMH calls them, but for the dot that older versions
/// put before what profilers measured.
fn secondary_quantity(name: &str, metric: &JmhMetric) -> (String, Unit) {
    let name = name.trim_start_matches('\u{b7}');
    let unit = if name.starts_with("gc.") && metric.score_unit == "MB/sec" {
        // The profiler divides by 1024 twice. A fast benchmark allocates more in a second
        // than a slow one, so that neither direction is the better one.
        Unit::named("MiB/s").with_better(None)
    } else {
        Unit::named(&metric.score_unit)
    };
    (name.to_owned(), unit)
}

fn columns(all: &[(String, Unit, &JmhMetric)], fork: usize) -> IterationColumns {
    let count = all
        .iter()
        .filter_map(|(_, _, metric)| Some(metric.raw_data.get(fork)?.len()))
        .max()
        .unwrap_or(0);
    let mut values = BTreeMap::new();
    for (name, unit, metric) in all {
        let Some(measured) = metric.raw_data.get(fork) else {
            continue;
        };
        let mut column: Vec<f64> = measured.iter().map(|number| number.0).collect();
        column.resize(count, f64::NAN);
        unit.base_column(&mut column);
        values.insert(name.clone(), column);
    }
    IterationColumns {
        count,
        values,
        ..IterationColumns::default()
    }
}

/// The score where nothing else was kept.
fn score(name: &str, unit: &Unit, metric: &JmhMetric) -> SummaryDraft {
    let mut extra = Object::new();
    if let Some(error) = metric.score_error.known() {
        // Half of the confidence interval of 99.9 %.
        extra.insert("error_of_mean".to_owned(), json!(unit.base(error)));
        extra.insert("confidence_level".to_owned(), json!(0.999));
    }
    let percentiles: Object = metric
        .score_percentiles
        .iter()
        .filter_map(|(percent, value)| Some((percent.clone(), json!(unit.base(value.known()?)))))
        .collect();
    put_object(&mut extra, "percentiles", percentiles);
    SummaryDraft {
        extra,
        ..SummaryDraft::of(name, unit.base(metric.score.0), "mean")
    }
}

#[cfg(test)]
mod tests;
