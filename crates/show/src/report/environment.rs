//! Observations around the runs of a benchmark, and changes of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value};

use crate::quantity::UnitScale;
use crate::sample::{MetricSample, RunSample};
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::{Id, Instance, Object, Run, Session};
use lapwing_record::InstanceData;

/// An observation of the latest run beside that of the run before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObservedValue {
    /// Its path: `packages.numpy`.
    pub(super) key: String,
    /// The value in the run before; `None` if it was not observed.
    pub(super) before: Option<String>,
    /// The value in the latest run; `None` if it was not observed.
    pub(super) now: Option<String>,
}

impl ObservedValue {
    pub(super) fn differs(&self) -> bool {
        self.before != self.now
    }
}

/// Observations around the latest run of a variant, and around the run before it.
#[derive(Debug)]
pub(super) struct VariantEnvironment {
    /// The variant.
    pub(super) variant: String,
    /// The time and version of the latest run.
    pub(super) latest: String,
    /// The time and version of the run before; `None` if there is only one run.
    pub(super) previous: Option<String>,
    /// Observations by key.
    pub(super) observations: Vec<ObservedValue>,
}

/// Returns what was observed around the latest run of each variant, that which was measured last first. What
/// varies within a run (its hosts, say) is listed with all its values.
///
/// Variants are not compared with each other: they differ on purpose.
pub(super) fn environments(data: &BenchmarkData, sample: &MetricSample) -> Vec<VariantEnvironment> {
    let mut of_run: BTreeMap<Id, Vec<&InstanceData>> = BTreeMap::new();
    for instance in &data.instances {
        of_run.entry(instance.run.id).or_default().push(instance);
    }
    let variants = sample.variants().into_iter();
    let mut latest: Vec<&RunSample> = variants.filter_map(|it| sample.latest(it)).collect();
    // Of one place, that which others are compared with comes first.
    let is_reference =
        |run: &RunSample| ["baseline", Run::DEFAULT_VARIANT].contains(&&*run.variant);
    latest.sort_by_key(|run| (Reverse(run.place), !is_reference(run)));
    let observed = |run: &RunSample| {
        let mut values = ObservedValues::new();
        // One session may measure a version of a variant in several runs.
        for beside in sample
            .beside(run)
            .iter()
            .filter(|it| it.variant == run.variant)
        {
            for instance in of_run.get(&beside.id).into_iter().flatten() {
                observe(instance, &mut values);
            }
        }
        values
    };
    latest
        .into_iter()
        .map(|run| {
            let previous = sample.before(run);
            let (now, before) = (observed(run), previous.map(observed).unwrap_or_default());
            VariantEnvironment {
                variant: run.variant.clone(),
                latest: name(run),
                previous: previous.map(name),
                observations: observations(&before, &now),
            }
        })
        .collect()
}

fn name(run: &RunSample) -> String {
    match &run.version {
        Some(version) => format!("{}, {version}", run.time_text()),
        None => run.time_text(),
    }
}

type ObservedValues = BTreeMap<String, Vec<String>>;

fn observations(before: &ObservedValues, now: &ObservedValues) -> Vec<ObservedValue> {
    let keys: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
    let joined = |values: Option<&Vec<String>>| values.map(|values| values.join(", "));
    keys.into_iter()
        .map(|key| ObservedValue {
            key: key.clone(),
            before: joined(before.get(key)),
            now: joined(now.get(key)),
        })
        .collect()
}

fn observe(instance: &InstanceData, values: &mut ObservedValues) {
    let mut add = |key: &str, value: String| {
        let known = values.entry(key.to_owned()).or_default();
        if !known.contains(&value) {
            known.push(value);
        }
    };
    if let Some(version) = instance.run.version.label() {
        add("version under test", version);
    }
    add("measured with", instance.session.tool.clone());
    flatten("", &instance.run.environment, &mut add);
    observe_instance(&instance.instance, &mut add);
}

/// Returns what was observed around a run as a whole, and what was chosen for it.
pub(super) fn observe_run(run: &Run, session: &Session) -> Vec<(String, String)> {
    let mut observed = Vec::new();
    let mut add = |key: &str, value: String| observed.push((key.to_owned(), value));
    let version = &run.version;
    let texts = [
        ("version under test", &version.name),
        ("commit", &version.commit),
        ("branch", &version.branch),
        ("version of", &version.date),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            add(key, text.clone());
        }
    }
    if version.dirty == Some(true) {
        add("uncommitted changes", "yes".to_owned());
    }
    for (name, level) in &run.factors {
        add(&format!("factor {name}"), level.to_string());
    }
    add("measured with", session.tool.clone());
    flatten("", &run.environment, &mut add);
    observed
}

/// Adds what was observed around one instance.
pub(super) fn observe_instance(instance: &Instance, add: &mut impl FnMut(&str, String)) {
    if let Some(host) = &instance.host {
        add("host", host.clone());
    }
    flatten("", &instance.environment, add);
}

pub(super) fn flatten(prefix: &str, object: &Object, add: &mut impl FnMut(&str, String)) {
    for (key, value) in object {
        let key = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            Value::Object(inner) => flatten(&key, inner, add),
            Value::String(text) => add(&key, text.clone()),
            Value::Number(number) if is_bytes(&key) => add(&key, bytes(number)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                add(&key, value.to_string());
            }
        }
    }
}

/// Returns whether the number is one of those in bytes that Lapwing itself observes
/// (`docs/measuring.md`).
fn is_bytes(key: &str) -> bool {
    matches!(key, "memory" | "swap" | "abilities.peak_memory_floor")
}

fn bytes(number: &Number) -> String {
    number.as_f64().map_or_else(
        || number.to_string(),
        |number| UnitScale::of(number, "B").text(number),
    )
}
