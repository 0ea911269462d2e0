//! What is known of each run of a benchmark besides its numbers, newest run first, in side files
//! that are loaded when somebody opens a run.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::super::ReportSite;
use super::super::data_pack::DataPack;
use super::super::directory::DirectoryError;
use super::super::environment::{flatten, observe_instance};
use super::super::environments::RunEnvironments;
use super::failures::shortened;
use crate::packed::table;
use crate::sample::{MetricSample, RunSample, short_id};
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::{Id, InstanceOutcome, Object, Outcome};
use lapwing_record::InstanceData;

/// The number of runs per file.
const RUNS: usize = 50;

/// The largest number of instances of a run, and of messages of an instance.
const INSTANCES: usize = 50;
const MESSAGES: usize = 5;

/// The largest number of iterations of an instance whose artifacts are listed.
const ARTIFACTS: usize = 20;

/// Keys of attributes that are shown elsewhere.
const SHOWN_ELSEWHERE: [&str; 1] = ["source"];

/// A run of the benchmark.
#[derive(Debug, Serialize)]
struct RunDetail {
    id: Id,
    /// The number of the side file of environments that has it.
    environment: usize,
    /// Its name among those of its variant.
    label: String,
    /// The position of the run before it of the same variant among all runs, newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<usize>,
    /// The change of the benchmark itself since then, in brackets; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<String>,
    /// Observations around its instances, each value once.
    observed: Vec<(String, String)>,
    /// Links and paths of the session and the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<(String, String)>,
    instances: Vec<InstanceDetail>,
    /// The number of instances that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "what serde calls it with"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// An instance of the run.
#[derive(Debug, Serialize)]
struct InstanceDetail {
    /// Left out where nothing more is told of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    host: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    started: String,
    /// Its outcome; empty if it was not recorded.
    outcome: &'static str,
    /// The number of iterations of each outcome, unless all are ok.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    iterations: Vec<(&'static str, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<(String, String)>,
}

/// Writes the side files and returns their names, those of the newest runs first. The sample
/// has all runs of the benchmark in their order.
pub(in crate::report) fn write(
    site: &ReportSite,
    pack: &mut DataPack,
    slug: &str,
    data: &BenchmarkData,
    sample: Option<&MetricSample>,
) -> Result<Vec<String>, DirectoryError> {
    let environments = &site.environments;
    let mut of_run: BTreeMap<Id, Vec<&InstanceData>> = BTreeMap::new();
    for instance in &data.instances {
        of_run.entry(instance.run.id).or_default().push(instance);
    }
    let mut details: Vec<RunDetail> = Vec::new();
    let runs = sample.map_or(&[][..], |it| &it.runs);
    let newest_first = runs.iter().rev().enumerate();
    let positions: BTreeMap<Id, usize> = newest_first.map(|(at, run)| (run.id, at)).collect();
    for run in runs {
        let instances = of_run.get(&run.id).map_or(&[][..], Vec::as_slice);
        let before = sample.and_then(|it| it.before(run));
        let changed = before.filter(|before| !before.meaning.is_that_of(&run.meaning));
        details.push(RunDetail {
            before: before.and_then(|it| positions.get(&it.id).copied()),
            changed: changed.map(|it| run.meaning.changed_since(&it.meaning).in_brackets()),
            ..RunDetail::new(run, instances, environments)
        });
    }
    details.reverse();
    let mut files = Vec::new();
    for (number, part) in details.chunks(RUNS).enumerate() {
        let name = format!("{slug}.runs{number}");
        files.push(pack.add(&name, &table(part))?);
    }
    Ok(files)
}

impl RunDetail {
    fn new(run: &RunSample, instances: &[&InstanceData], environments: &RunEnvironments) -> Self {
        let mut artifacts = Vec::new();
        let mut attributes = Vec::new();
        if let Some(first) = instances.first() {
            let (session, run) = (&first.session, &first.run);
            list(&session.artifacts, &mut artifacts);
            list(&run.artifacts, &mut artifacts);
            describe(&session.attributes, &mut attributes);
            describe(&run.attributes, &mut attributes);
        }
        Self {
            id: run.id,
            environment: environments.file(&run.id).unwrap_or_default(),
            label: run.label_within_variant(),
            before: None,
            changed: None,
            observed: observed(instances),
            artifacts,
            attributes,
            instances: instances
                .iter()
                .take(INSTANCES)
                .map(|it| InstanceDetail::new(it))
                .collect(),
            more: instances.len().saturating_sub(INSTANCES),
        }
    }
}

impl InstanceDetail {
    fn new(data: &InstanceData) -> Self {
        let instance = &data.instance;
        let mut messages = Vec::new();
        let mut add = |text: &str| {
            let text = shortened(text);
            if !text.is_empty() && messages.len() < MESSAGES && !messages.contains(&text) {
                messages.push(text);
            }
        };
        if let Some(message) = data.end.as_ref().and_then(|end| end.message.as_deref()) {
            add(message);
        }
        for text in data.iterations.messages.values() {
            add(text);
        }
        for detail in data.iterations.details.values() {
            if let Some(text) = detail.printed() {
                add(&text);
            }
        }
        let mut artifacts = Vec::new();
        list(&instance.artifacts, &mut artifacts);
        for (at, of_one) in data.iterations.artifacts().take(ARTIFACTS) {
            let index = data.iterations.index(at);
            flatten("", of_one, &mut |name, place| {
                artifacts.push((format!("{name} of iteration {index}"), place));
            });
        }
        let mut attributes = Vec::new();
        describe(&instance.job, &mut attributes);
        describe(&instance.attributes, &mut attributes);
        let iterations = [
            Outcome::Ok,
            Outcome::Failed,
            Outcome::TimedOut,
            Outcome::Skipped,
        ]
        .into_iter()
        .map(|outcome| {
            let all = data.iterations.outcome.iter();
            (outcome.name(), all.filter(|it| **it == outcome).count())
        })
        .filter(|(_, number)| *number > 0)
        .collect();
        let ended_well = data
            .iterations
            .outcome
            .iter()
            .all(|outcome| *outcome == Outcome::Ok);
        let outcome = (data.end.as_ref()).map_or("", |end| InstanceOutcome::name(end.outcome));
        let is_uneventful = ended_well
            && outcome == "ok"
            && messages.is_empty()
            && artifacts.is_empty()
            && attributes.is_empty();
        let id = (!is_uneventful).then(|| short_id(&instance.id));
        Self {
            id: id.unwrap_or_default(),
            host: instance.host.clone().unwrap_or_default(),
            started: instance
                .started
                .map_or_else(String::new, |time| time.to_string()),
            outcome,
            iterations: if ended_well { Vec::new() } else { iterations },
            messages,
            artifacts,
            attributes,
        }
    }
}

/// Returns what was observed around instances, each value once.
fn observed(instances: &[&InstanceData]) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for instance in instances {
        observe_instance(&instance.instance, &mut |key, value| match all
            .iter_mut()
            .find(|(known, _)| known == key)
        {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => all.push((key.to_owned(), vec![value])),
        });
    }
    all.into_iter()
        .map(|(key, values)| (key, values.join(", ")))
        .collect()
}

/// Adds what each artifact is, and where.
fn list(artifacts: &Object, found: &mut Vec<(String, String)>) {
    flatten("", artifacts, &mut |name, place| {
        found.push((name.to_owned(), place));
    });
}

/// Adds what else is known; long texts only by their ends.
fn describe(attributes: &Object, found: &mut Vec<(String, String)>) {
    let shown: Object = attributes
        .iter()
        .filter(|(key, value)| !SHOWN_ELSEWHERE.contains(&key.as_str()) && **value != Value::Null)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    flatten("", &shown, &mut |name, text| {
        found.push((name.to_owned(), shortened(&text)));
    });
}
