//! What was observed around the runs of a benchmark, and what of it changed.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use crate::model::{Instance, Object, Run, Session};
use crate::record::{BenchmarkData, InstanceData, Order, Place};
use crate::show::quantity::Scale;

/// An observation of the latest run beside that of the run before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Observation {
    /// Where it stands, with dots: `packages.numpy`.
    pub(super) key: String,
    /// What it was at the place before; `None` when it was not observed.
    pub(super) before: Option<String>,
    /// What it was at the latest place; `None` when it was not observed.
    pub(super) now: Option<String>,
}

impl Observation {
    pub(super) fn differs(&self) -> bool {
        self.before != self.now
    }
}

/// What was observed, and around which runs.
#[derive(Debug, Default)]
pub(super) struct Environments {
    /// What the latest place in the history is called: version and time.
    pub(super) latest: Option<String>,
    /// What the one before it is called; `None` when there is only one.
    pub(super) previous: Option<String>,
    /// Observations by key.
    pub(super) observations: Vec<Observation>,
}

/// Returns what was observed at the two latest places of a benchmark's history. What varies at a
/// place (its hosts, say) is listed with all its values.
pub(super) fn environments(data: &BenchmarkData) -> Environments {
    let order = Order::of(data);
    let place = |instance: &InstanceData| order.place(&instance.run.id);
    let mut places: Vec<Place> = data.instances.iter().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    let mut newest = places.into_iter().rev();
    let (latest, previous) = (newest.next(), newest.next());
    let instances_at = |wanted: Option<Place>| {
        let all = data.instances.iter();
        all.filter(move |it| wanted.is_some() && place(it) == wanted)
    };
    let observed = |wanted: Option<Place>| {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for instance in instances_at(wanted) {
            observe(instance, &mut values);
        }
        values
    };
    let name = |wanted: Option<Place>| {
        let instance = instances_at(wanted).next()?;
        let time = instance.session.started.to_string();
        let time = time.chars().take(16).collect::<String>().replace('T', " ");
        Some(match instance.run.version.label() {
            Some(version) => format!("{time}, {version}"),
            None => time,
        })
    };
    let (now, before) = (observed(latest), observed(previous));
    let mut keys: Vec<&String> = now.keys().chain(before.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let joined = |values: Option<&Vec<String>>| values.map(|values| values.join(", "));
    Environments {
        latest: name(latest),
        previous: name(previous),
        observations: keys
            .into_iter()
            .map(|key| Observation {
                key: key.clone(),
                before: joined(before.get(key)),
                now: joined(now.get(key)),
            })
            .collect(),
    }
}

fn observe(instance: &InstanceData, values: &mut BTreeMap<String, Vec<String>>) {
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
        |number| Scale::of(number, "B").text(number),
    )
}
