//! What Go's settings, names and units become.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::go::line::{GoName, Quantity};
use crate::go::text::{GoText, Settings};
use crate::go::visits::{Roles, Visit, run_key};
use crate::go::{OBSERVED, VERSION};
use crate::shared::intake::{InstanceDraft, RunDraft};
use crate::shared::keys::{put, put_object};
use lapwing_model::{Better, Level, Metric, Object, Run, Version};

/// Two packages may have benchmarks of the same name.
pub(super) fn benchmark_id(settings: &Settings, name: &str) -> String {
    match settings.get("pkg") {
        Some(package) => format!("{package}.{name}"),
        None => name.to_owned(),
    }
}

/// Returns the run of a combination of settings.
pub(super) fn run_draft(text: &GoText, roles: &Roles, place: u32) -> RunDraft {
    let settings = &text.settings[place as usize];
    let mut environment = Object::new();
    let mut factors = BTreeMap::new();
    for (key, value) in settings {
        let is_varied = roles.varied.contains(key);
        if VERSION.contains(&key.as_str()) || key == "pkg" {
            continue;
        }
        if is_varied && !OBSERVED.contains(&key.as_str()) {
            factors.insert(key.clone(), Level::Text(value.clone()));
        } else if is_varied || roles.constant.contains(key) {
            environment.insert(key.clone(), Value::from(value.as_str()));
        }
    }
    let mut attributes = Object::new();
    put_object(&mut attributes, Run::UNITS, unit_attributes(text));
    let draft = RunDraft {
        key: run_key(settings, roles),
        factors,
        version: version(settings),
        environment,
        attributes,
        ..RunDraft::default()
    };
    draft.named_by_factors()
}

/// Returns the version that the settings name. Bent, with which Go's authors compare
/// toolchains, names two, of which `toolchain` tells the one that was measured.
fn version(settings: &Settings) -> Version {
    let get = |key: &str| settings.get(key).cloned();
    let of_bent = match settings.get("toolchain").map(String::as_str) {
        Some("Base") => "denominator",
        Some(_) | None => "numerator",
    };
    let of_bent = |key: &str| get(&format!("{of_bent}_{key}"));
    Version {
        commit: get("commit").or_else(|| of_bent("hash")),
        branch: get("branch").or_else(|| of_bent("branch")),
        date: get("commit-time")
            .or_else(|| get("commit-date"))
            .or_else(|| of_bent("stamp")),
        ..Version::default()
    }
}

/// Returns the descriptions of units, without the direction.
fn unit_attributes(text: &GoText) -> Object {
    let mut units = Object::new();
    for (unit, pairs) in &text.unit_metadata {
        let others: Object = pairs
            .iter()
            .filter(|(key, _)| *key != "better")
            .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
            .collect();
        put_object(&mut units, unit, others);
    }
    units
}

/// Returns the instance of a visit, without its iterations.
pub(super) fn instance_draft(text: &GoText, roles: &Roles, visit: &Visit) -> InstanceDraft {
    let settings = &text.settings[visit.settings as usize];
    let full_name = text.names.at(visit.name);
    let name = GoName::of(full_name);
    let environment = settings
        .iter()
        .filter(|(key, _)| !roles.varied.contains(*key) && !roles.constant.contains(*key))
        .filter(|(key, _)| *key != "pkg")
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
        .collect();
    let mut draft = InstanceDraft {
        block: visit.block,
        environment,
        ..InstanceDraft::of(benchmark_id(settings, full_name))
    };
    let params = &mut draft.benchmark.params;
    for (key, value) in name.parameters() {
        put(params, key, Some(value));
    }
    put(params, "gomaxprocs", name.processors);
    draft
}

/// Returns what each unit counts, with the direction that a `Unit` line gives, be it for
/// the unit as printed or in base units. Where two have the same metric in different units,
/// the second has its unit in the name.
pub(super) fn quantities(text: &GoText) -> Vec<Quantity> {
    let directions: BTreeMap<String, Better> = text
        .unit_metadata
        .iter()
        .filter_map(|(unit, pairs)| {
            let better = match pairs.get("better")?.as_str() {
                "higher" => Better::Higher,
                "lower" => Better::Lower,
                _other => return None,
            };
            Some((Quantity::of(unit).metric, better))
        })
        .collect();
    let mut known: BTreeMap<String, Metric> = BTreeMap::new();
    text.units
        .all()
        .iter()
        .map(|unit| {
            let Quantity { mut metric, unit } = Quantity::of(unit);
            let unit = match directions.get(&metric) {
                Some(&better) => unit.with_better(Some(better)),
                None => unit,
            };
            let of_name = known
                .entry(metric.clone())
                .or_insert_with(|| unit.metric.clone());
            if *of_name != unit.metric {
                metric = format!("{metric} ({})", unit.metric.unit);
            }
            Quantity { metric, unit }
        })
        .collect()
}
