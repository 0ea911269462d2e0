//! Every iteration of a benchmark, newest run first, in side files of bounded size.

use std::collections::BTreeSet;

use serde::Serialize;

use super::super::data_pack::DataPack;
use super::super::directory::DirectoryError;
use crate::sample::RunSample;
use lapwing_analyse::sample::{BenchmarkData, VariantNames};
use lapwing_model::{Id, MetricName};
use lapwing_record::InstanceData;

/// About how many characters one file holds, and what an instance with its run and a number take.
const CHARACTERS: usize = 250_000;
const INSTANCE: usize = 260;
const NUMBER: usize = 12;

/// One side file; entry *k* of every column belongs to the same iteration.
#[derive(Debug, Default, Serialize)]
struct RawFile<'a> {
    runs: Vec<RawRun>,
    instances: Vec<RawInstance>,
    instance: Vec<usize>,
    index: Vec<u32>,
    offset: Vec<f64>,
    burn_in: Vec<u8>,
    outcome: Vec<&'static str>,
    /// Row and text.
    messages: Vec<(usize, &'a str)>,
    metrics: Vec<RawMetric<'a>>,
}

#[derive(Debug, Serialize)]
struct RawRun {
    id: Id,
    session: Id,
    session_name: String,
    started: String,
    variant: String,
    version: String,
}

#[derive(Debug, Serialize)]
struct RawInstance {
    id: Id,
    run: usize,
    host: String,
    position: u32,
    attempt: u32,
    outcome: &'static str,
}

#[derive(Debug, Serialize)]
struct RawMetric<'a> {
    name: &'a str,
    unit: String,
    values: Vec<f64>,
}

/// A side file, for the script of the page.
#[derive(Debug, Serialize)]
pub(in crate::report) struct RawFileName {
    pub(in crate::report) file: String,
    pub(in crate::report) rows: usize,
}

/// Writes all iterations and returns the files, newest first.
pub(in crate::report) fn write(
    pack: &mut DataPack,
    slug: &str,
    data: &BenchmarkData,
) -> Result<Vec<RawFileName>, DirectoryError> {
    let metrics: Vec<&MetricName> = data
        .instances
        .iter()
        .flat_map(|instance| instance.iterations.values.keys())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let variants = VariantNames::of(data);
    let row_length = (metrics.len() + 4) * NUMBER;
    let mut files = Vec::new();
    for (number, instances) in in_files(newest_first(data), row_length).iter().enumerate() {
        let name = format!("{slug}.raw{number}");
        let file = file(instances, &metrics, &variants);
        files.push(RawFileName {
            file: pack.add(&name, &file)?,
            rows: file.index.len(),
        });
    }
    Ok(files)
}

/// Returns the instances in groups that make a file each; none where nothing has an iteration.
fn in_files(instances: Vec<&InstanceData>, row_length: usize) -> Vec<Vec<&InstanceData>> {
    let mut files: Vec<Vec<&InstanceData>> = Vec::new();
    let mut rows = 0;
    let mut characters = 0;
    for instance in instances {
        let length = INSTANCE + instance.iterations.len() * row_length;
        if files.is_empty() || rows > 0 && characters + length > CHARACTERS {
            files.push(Vec::new());
            rows = 0;
            characters = 0;
        }
        characters += length;
        rows += instance.iterations.len();
        if let Some(file) = files.last_mut() {
            file.push(instance);
        }
    }
    if rows == 0 {
        files.pop();
    }
    files
}

fn newest_first(data: &BenchmarkData) -> Vec<&InstanceData> {
    let mut instances: Vec<&InstanceData> = data.instances.iter().collect();
    instances.sort_by(|a, b| {
        let key = |it: &InstanceData| (it.session.started, it.session.id, it.run.id);
        key(b)
            .cmp(&key(a))
            .then(a.instance.position.cmp(&b.instance.position))
            .then(a.instance.attempt.cmp(&b.instance.attempt))
    });
    instances
}

fn file<'a>(
    instances: &[&'a InstanceData],
    metrics: &[&'a MetricName],
    variants: &VariantNames,
) -> RawFile<'a> {
    let mut file = RawFile {
        metrics: metrics
            .iter()
            .map(|name| RawMetric {
                name,
                unit: instances
                    .iter()
                    .filter_map(|instance| instance.run.metrics.get(*name))
                    .map(|metric| metric.unit.as_str())
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect::<Vec<_>>()
                    .join(" or "),
                values: Vec::new(),
            })
            .collect(),
        ..RawFile::default()
    };
    for data in instances {
        if file.runs.last().is_none_or(|run| run.id != data.run.id) {
            file.runs.push(RawRun {
                id: data.run.id,
                session: data.session.id,
                session_name: RunSample::session_name(data),
                started: data.session.started.to_string(),
                variant: variants.name(&data.run).to_owned(),
                version: data.run.version.label().unwrap_or_default(),
            });
        }
        file.instances.push(RawInstance {
            id: data.instance.id,
            run: file.runs.len() - 1,
            host: data.instance.host.clone().unwrap_or_default(),
            position: data.instance.position,
            attempt: data.instance.attempt,
            outcome: data.end.as_ref().map_or("", |end| end.outcome.name()),
        });
        let first = file.index.len();
        let iterations = &data.iterations;
        let count = iterations.len();
        file.instance
            .extend(std::iter::repeat_n(file.instances.len() - 1, count));
        file.index.extend(iterations.indices());
        file.offset.extend(iterations.offset.iter());
        file.burn_in
            .extend(iterations.burn_in.iter().map(|&it| u8::from(it)));
        file.outcome
            .extend(iterations.outcome.iter().map(|outcome| outcome.name()));
        file.messages.extend(
            iterations
                .messages
                .iter()
                .map(|(row, text)| (first + row, text.as_str())),
        );
        for metric in &mut file.metrics {
            match iterations.values.get(metric.name) {
                Some(values) => metric.values.extend(values),
                None => metric.values.extend(std::iter::repeat_n(f64::NAN, count)),
            }
        }
    }
    file
}
