//! JMH's `-rf json`: an array, one result of one benchmark with its forks and iterations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::detect::has_key;
use super::document::Document;
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use super::jmh_document::{JmhMetric, JmhResult, MACHINE, Title, read_result};
use super::notes::FOLLOWS;
use super::sink::Sink;
use super::units::Unit;
use super::{Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Level, Object};
use crate::record::IterationColumns;

pub(super) const FORMAT: Format = Format {
    name: "jmh",
    about: "JMH -rf json",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (head.trim_ascii_start().starts_with(b"[") && has_key(head, "jmhVersion"))
        .then_some("it is an array of results with `jmhVersion`")
}

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let elements: Vec<&RawValue> = document.parse()?;
    let titles = Titles::of(&document, &elements);
    let session = SessionDraft {
        // JMH writes no date: the file's is the nearest.
        tool: titles.tool.clone(),
        ..SessionDraft::default()
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(FORMAT.name, source, digest, options, sink, session)?;
    let mut blocks: BTreeMap<(String, String), u32> = BTreeMap::new();
    for (raw, benchmark) in elements.iter().zip(&titles.benchmarks) {
        let result = match read_result(&document, raw) {
            Ok(result) => result,
            Err(bad) => {
                intake.bad(bad);
                continue;
            }
        };
        // What has metrics has a title as well, or the reading of it failed.
        let Some(benchmark) = benchmark else {
            let missing = document.element::<Title>(raw).err();
            intake.bad(missing.unwrap_or_else(|| document.wrong(raw, "it has no title")));
            continue;
        };
        note(&result, &mut intake);
        let run = intake.run(titles.run_draft(&result))?;
        let block = blocks
            .entry((run.clone(), benchmark.id.clone()))
            .or_default();
        let line = document.line_of(raw.get());
        for draft in drafts(&result, benchmark) {
            intake.instance(
                line,
                &run,
                InstanceDraft {
                    block: *block,
                    ..draft
                },
            )?;
            *block += 1;
        }
    }
    intake.finish()
}

fn note(result: &JmhResult, intake: &mut Intake<'_, '_, '_>) {
    for key in result.unknown.keys() {
        intake.notes().kept(key, "attributes of the instance");
    }
    let metrics = &result.metrics;
    if has_samples(&metrics.primary) {
        for key in ["score", "scoreError", "scoreConfidence", "scorePercentiles"] {
            intake.notes().left(key, FOLLOWS);
        }
    }
    for (name, metric) in &metrics.secondary {
        let mut values = metric.raw_data.iter().flatten();
        let no_values = values.all(|it| it.known().is_none());
        if metric.raw_data_histogram.is_empty() && no_values && metric.score.known().is_none() {
            intake.notes().left(name, "it has no values");
        }
    }
}

/// What all results of a document say together.
struct Titles {
    tool: String,
    /// One for each element; `None` where it cannot be read.
    benchmarks: Vec<Option<Benchmark>>,
    /// What of the machine has several values for the same benchmark: it was varied.
    varied: BTreeSet<String>,
}

impl Titles {
    fn of(document: &Document, elements: &[&RawValue]) -> Self {
        let titles: Vec<Option<Title>> = elements
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
                Some(Value::String(text)) => text.clone(),
                Some(Value::Array(words)) => {
                    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                    words.join(" ")
                }
                Some(other) => other.to_string(),
                None => continue,
            };
            draft.factors.insert(key.clone(), Level::Text(value));
        }
        let levels: Vec<String> = draft
            .factors
            .iter()
            .map(|(key, level)| format!("{key}={level}"))
            .collect();
        draft.variant = (!levels.is_empty()).then(|| levels.join(","));
        draft
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
fn benchmarks(titles: &[Option<Title>]) -> Vec<Option<Benchmark>> {
    let list = |title: &Title| -> Vec<String> {
        let params = title.params.iter().flatten();
        params
            .map(|(key, value)| match value {
                Value::String(text) => format!("{key}={text}"),
                other => format!("{key}={other}"),
            })
            .collect()
    };
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
            let id = if brackets.is_empty() {
                title.benchmark.clone()
            } else {
                format!("{}[{}]", title.benchmark, brackets.join(","))
            };
            Some(Benchmark {
                id,
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
    let primary = quantity(&metrics.primary);
    let secondary = metrics.secondary.iter().map(|(name, metric)| {
        let (name, unit) = secondary_quantity(name, metric);
        (name, unit, metric)
    });
    let all: Vec<(String, Unit, &JmhMetric)> =
        std::iter::once((primary.0, primary.1, &metrics.primary))
            .chain(secondary)
            .collect();
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
        "1/s" | "B/s" => "throughput",
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
    if !percentiles.is_empty() {
        extra.insert("percentiles".to_owned(), Value::Object(percentiles));
    }
    SummaryDraft {
        metric: name.to_owned(),
        centre: unit.base(metric.score.0),
        statistic: "mean".to_owned(),
        extra,
        ..SummaryDraft::default()
    }
}

/// Percentiles that tell how a distribution looks, in per cent.
const PERCENTILES: [(&str, f64); 8] = [
    ("0", 0.0),
    ("50", 0.5),
    ("90", 0.9),
    ("95", 0.95),
    ("99", 0.99),
    ("99.9", 0.999),
    ("99.99", 0.9999),
    ("100", 1.0),
];

/// In sample mode JMH keeps how often each time came, and not in which order: that is a
/// distribution, not a series of iterations. It stays among the attributes as it is.
fn histogram(name: &str, unit: &Unit, metric: &JmhMetric, fork: usize, draft: &mut InstanceDraft) {
    let Some(iterations) = metric.raw_data_histogram.get(fork) else {
        return;
    };
    let as_written: Vec<Vec<(Option<f64>, u64)>> = iterations
        .iter()
        .map(|pairs| {
            let pairs = pairs.iter();
            pairs
                .map(|&(value, count)| (value.known(), count))
                .collect()
        })
        .collect();
    let kept = json!({"unit": metric.score_unit, "iterations": as_written});
    draft
        .attributes
        .insert(format!("histogram of {name}"), kept);
    let mut pairs: Vec<(f64, u64)> = as_written
        .iter()
        .flatten()
        .filter_map(|&(value, count)| Some((unit.base(value?), count)))
        .filter(|&(_, count)| count > 0)
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = pairs
        .iter()
        .fold(0_u64, |sum, &(_, count)| sum.saturating_add(count));
    if n == 0 {
        return;
    }
    let (mean, sd) = mean_and_sd(&pairs, n);
    let percentiles: Object = PERCENTILES
        .iter()
        .map(|&(label, share)| (label.to_owned(), json!(percentile(&pairs, n, share))))
        .collect();
    let mut extra = Object::new();
    extra.insert("percentiles".to_owned(), Value::Object(percentiles));
    draft.summaries.push(SummaryDraft {
        metric: name.to_owned(),
        n: Some(n),
        centre: mean,
        spread: sd,
        statistic: if sd.is_some() { "mean/sd" } else { "mean" }.to_owned(),
        extra,
    });
}

/// Returns the mean, and the standard deviation where there is more than one value.
fn mean_and_sd(pairs: &[(f64, u64)], n: u64) -> (f64, Option<f64>) {
    let size = as_f64(n);
    let sum: f64 = pairs
        .iter()
        .map(|&(value, count)| value * as_f64(count))
        .sum();
    let mean = sum / size;
    let squares: f64 = pairs
        .iter()
        .map(|&(value, count)| (value - mean).powi(2) * as_f64(count))
        .sum();
    let sd = (n > 1).then(|| (squares / (size - 1.0)).sqrt());
    (mean, sd)
}

/// Returns the smallest value that so large a share of all is not above.
fn percentile(pairs: &[(f64, u64)], n: u64, share: f64) -> f64 {
    let wanted = share * as_f64(n);
    let mut seen = 0.0;
    for &(value, count) in pairs {
        seen += as_f64(count);
        if seen >= wanted {
            return value;
        }
    }
    pairs.last().map_or(f64::NAN, |&(value, _)| value)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no histogram counts as far as 2^53"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{imported, refusal, refusal_of, shown};
    use super::*;

    #[test]
    fn forks_are_instances_and_their_iterations_iterations() {
        insta::assert_snapshot!(shown(&imported("jmh-1.37/modes.json")), @r##"
        jmh because it is an array of results with `jmhVersion`
        {"v":1,"kind":"session","id":"#0","suite":"jmh","started":"2026-01-01T00:00:00Z","tool":"JMH 1.37","name":"modes","attributes":{"source":{"file":"modes.json","format":"jmh","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"gc.alloc.rate":{"unit":"B/s"},"gc.alloc.rate.norm":{"unit":"B","better":"lower"},"gc.count":{"unit":"counts"},"gc.time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"jdkVersion":"17.0.15","jmhVersion":"1.37","jvm":"/usr/lib/jvm/java-17/bin/java","jvmArgs":["-Xmx1g"],"vmName":"OpenJDK 64-Bit Server VM","vmVersion":"17.0.15+6"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=1000,order=random]","params":{"n":"1000","order":"random"}},"block":0,"position":0,"attempt":0,"attributes":{"forks":2,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":536870912.0,"gc.alloc.rate.norm":4016.0,"gc.count":1.0,"gc.time":0.002,"wall_time":0.00001025}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":536346624.0,"gc.alloc.rate.norm":4016.0,"gc.count":0.0,"gc.time":0.0,"wall_time":0.0000105}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":535035904.0,"gc.alloc.rate.norm":4016.0,"gc.count":1.0,"gc.time":0.003,"wall_time":0.00001075}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=1000,order=random]","params":{"n":"1000","order":"random"}},"block":1,"position":1,"attempt":0,"attributes":{"forks":2,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":537395200.0,"gc.alloc.rate.norm":4016.0,"gc.count":0.0,"gc.time":0.0,"wall_time":0.000011}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":537919488.0,"gc.alloc.rate.norm":4016.0,"gc.count":1.0,"gc.time":0.001,"wall_time":0.000010125}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"gc.alloc.rate":537657344.0,"gc.alloc.rate.norm":4016.0,"gc.count":0.0,"gc.time":0.0,"wall_time":0.000010375}}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=100000,order=random]","params":{"n":"100000","order":"random"}},"block":0,"position":2,"attempt":0,"attributes":{"forks":2,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0012505}}
        {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001249}}
        {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.00125125}}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"org.example.Demo.sort[n=100000,order=random]","params":{"n":"100000","order":"random"}},"block":1,"position":3,"attempt":0,"attributes":{"forks":2,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.00126}}
        {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0012595}}
        {"v":1,"kind":"iteration","instance":"#5","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001258}}
        {"v":1,"kind":"run","id":"#6","session":"#0","variant":"default","metrics":{"throughput":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"jdkVersion":"17.0.15","jmhVersion":"1.37","jvm":"/usr/lib/jvm/java-17/bin/java","jvmArgs":[],"vmName":"OpenJDK 64-Bit Server VM","vmVersion":"17.0.15+6"}}
        {"v":1,"kind":"instance","id":"#7","run":"#6","benchmark":{"id":"org.example.Demo.hash"},"block":0,"position":4,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"thrpt","threads":4,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"outcome":"ok","metrics":{"throughput":52000250.0}}
        {"v":1,"kind":"iteration","instance":"#7","index":1,"burn_in":false,"outcome":"ok","metrics":{"throughput":51999500.0}}
        {"v":1,"kind":"iteration","instance":"#7","index":2,"burn_in":false,"outcome":"ok","metrics":{"throughput":52010000.0}}
        {"v":1,"kind":"instance","id":"#8","run":"#6","benchmark":{"id":"org.example.Demo.start"},"block":0,"position":5,"attempt":0,"attributes":{"forks":3,"measurementBatchSize":10,"measurementIterations":1,"measurementTime":"single-shot","mode":"ss","threads":1,"warmupBatchSize":1,"warmupIterations":0,"warmupTime":"single-shot"}}
        {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0125}}
        {"v":1,"kind":"instance","id":"#9","run":"#6","benchmark":{"id":"org.example.Demo.start"},"block":1,"position":6,"attempt":0,"attributes":{"forks":3,"measurementBatchSize":10,"measurementIterations":1,"measurementTime":"single-shot","mode":"ss","threads":1,"warmupBatchSize":1,"warmupIterations":0,"warmupTime":"single-shot"}}
        {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.013}}
        {"v":1,"kind":"instance","id":"#10","run":"#6","benchmark":{"id":"org.example.Demo.start"},"block":2,"position":7,"attempt":0,"attributes":{"forks":3,"measurementBatchSize":10,"measurementIterations":1,"measurementTime":"single-shot","mode":"ss","threads":1,"warmupBatchSize":1,"warmupIterations":0,"warmupTime":"single-shot"}}
        {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#10","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.01275}}
        {"v":1,"kind":"instance","id":"#11","run":"#6","benchmark":{"id":"org.example.Demo.look"},"block":0,"position":8,"attempt":0,"attributes":{"forks":2,"histogram of wall_time":{"iterations":[[[40.0,5],[50.0,20],[900.0,1]],[[40.0,7],[60.0,10]]],"unit":"ns/op"},"measurementBatchSize":1,"measurementIterations":2,"measurementTime":"100 ms","mode":"sample","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"summary","instance":"#11","metric":"wall_time","n":43,"centre":6.930232558139535e-8,"spread":1.2989731015282454e-7,"statistic":"mean/sd","percentiles":{"0":4e-8,"100":9e-7,"50":5e-8,"90":6e-8,"95":6e-8,"99":9e-7,"99.9":9e-7,"99.99":9e-7}}
        {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#12","run":"#6","benchmark":{"id":"org.example.Demo.look"},"block":1,"position":9,"attempt":0,"attributes":{"forks":2,"histogram of wall_time":{"iterations":[[[45.0,12],[1200.0,2]],[[44.0,9]]],"unit":"ns/op"},"measurementBatchSize":1,"measurementIterations":2,"measurementTime":"100 ms","mode":"sample","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"summary","instance":"#12","metric":"wall_time","n":23,"centre":1.4504347826086955e-7,"spread":3.328840199694004e-7,"statistic":"mean/sd","percentiles":{"0":4.4e-8,"100":1.2e-6,"50":4.5e-8,"90":4.5e-8,"95":1.2e-6,"99":1.2e-6,"99.9":1.2e-6,"99.99":1.2e-6}}
        {"v":1,"kind":"instance_end","instance":"#12","outcome":"ok"}
        left, as they follow from the samples: score, scoreError, scoreConfidence, scorePercentiles
        "##);
    }

    #[test]
    fn what_is_missing_stays_missing() {
        insta::assert_snapshot!(shown(&imported("jmh-1.37/gaps.json")), @r##"
        jmh because it is an array of results with `jmhVersion`
        {"v":1,"kind":"session","id":"#0","suite":"jmh","started":"2026-01-01T00:00:00Z","tool":"JMH 1.37","name":"gaps","attributes":{"source":{"file":"gaps.json","format":"jmh","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"get":{"unit":"1/s","better":"higher"},"put":{"unit":"1/s","better":"higher"},"throughput":{"unit":"1/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"jdkVersion":"17.0.15","jmhVersion":"1.37","jvm":"/usr/lib/jvm/java-17/bin/java","jvmArgs":[],"vmName":"OpenJDK 64-Bit Server VM","vmVersion":"17.0.15+6"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"org.example.Demo.queue"},"block":0,"position":0,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"thrpt","threads":2,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"get":1500000.0,"put":2000000.0,"throughput":3500000.0}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"get":1250000.0}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"get":1750000.0,"put":2000000.0,"throughput":3750000.0}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"org.example.Demo.both[mode=thrpt]"},"block":0,"position":1,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"thrpt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"throughput":120.0}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"throughput":121.0}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"throughput":122.0}}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"org.example.Demo.both[mode=avgt]"},"block":0,"position":2,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":3,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0083}}
        {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0082}}
        {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.0081}}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"org.example.Demo.once"},"block":0,"position":3,"attempt":0,"attributes":{"forks":1,"measurementBatchSize":1,"measurementIterations":1,"measurementTime":"100 ms","mode":"avgt","threads":1,"warmupBatchSize":1,"warmupIterations":2,"warmupTime":"100 ms"}}
        {"v":1,"kind":"summary","instance":"#5","metric":"wall_time","centre":0.00025,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        left, as it has no values: stack
        left, as they follow from the samples: score, scoreError, scoreConfidence, scorePercentiles
        "##);
    }

    #[test]
    fn a_histogram_is_summarised_as_its_values_would_be() {
        let pairs = [(1.0, 3), (2.0, 1), (6.0, 1)];
        let (mean, sd) = mean_and_sd(&pairs, 5);
        assert!((mean - 2.2).abs() < 1e-15);
        assert!((sd.expect("five values") - 2.167_948_338_867_88).abs() < 1e-14);
        let at = |share| percentile(&pairs, 5, share);
        assert!([at(0.0), at(0.6), at(0.61), at(0.9), at(1.0)] == [1.0, 1.0, 2.0, 6.0, 6.0]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        insta::assert_snapshot!(refusal("jmh-1.37/truncated.json"), @"truncated.json:140: the JSON is cut off");
        insta::assert_snapshot!(refusal("jmh-1.37/wrong.json"), @r#"wrong.json:48: `primaryMetric.rawData[0][1]`: invalid type: string "quick", expected a number"#);
        insta::assert_snapshot!(refusal("jmh-1.37/negative.json"), @"negative.json:193: `wall_time` of `org.example.Demo.sort[n=100000,order=random]` is negative: -0.00125125");
        insta::assert_snapshot!(refusal_of("jmh", r#"[{"benchmark": "a"}]"#), @"made-up:1: `primaryMetric` is missing");
        insta::assert_snapshot!(
            refusal_of("jmh", r#"[{"primaryMetric": {"score": 1, "scoreUnit": "s/op"}}]"#),
            @"made-up:1: `benchmark` is missing"
        );
    }
}
