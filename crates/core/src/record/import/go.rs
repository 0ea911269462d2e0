//! Go's `go test -bench`: text, one result of one benchmark a line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::detect::first_line;
use super::go_line::{GoLine, GoName, Quantity, parse};
use super::go_stream::read_text;
use super::go_text::{GoText, Measured, Settings};
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use super::moment::moment;
use super::sink::Sink;
use super::{Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Better, Level, Object, Outcome, Version};
use crate::record::{IterationColumns, Mark};

pub(super) const FORMAT: Format = Format {
    name: "go",
    about: "output of go test -bench, also with -json",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head);
    let first = first_line(head);
    if first.starts_with(b"{\"Time\":") || first.starts_with(b"{\"Action\":") {
        return (text.contains("\"Package\":") && text.contains("Benchmark"))
            .then_some("its first line is an event of `go test -json`");
    }
    text.lines()
        .any(|line| matches!(parse(line), Ok(GoLine::Result(_))))
        .then_some("it has a line `Benchmark… <iterations> <value> <unit>`")
}

/// Settings that Go writes itself: what was observed, and not chosen.
const OBSERVED: [&str; 3] = ["goos", "goarch", "cpu"];

/// Settings that say which version of the software was measured.
const VERSION: [&str; 4] = ["commit", "branch", "commit-time", "commit-date"];

/// Settings that say when it was measured.
const WHEN: [&str; 2] = ["date", "runstamp"];

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let text = read_text(source)?;
    let session = SessionDraft {
        started: text.started.or_else(|| when(&text)),
        tool: "go test".to_owned(),
        ..SessionDraft::default()
    };
    let mut intake = Intake::begin(FORMAT.name, source, &digest, options, sink, session)?;
    note(&text, &mut intake);
    for bad in &text.bad {
        intake.bad(bad.clone());
    }
    let quantities = quantities(&text);
    let roles = Roles::of(&text);
    for visit in visits(&text, &roles) {
        let run = intake.run(run_draft(&text, &roles, visit.settings))?;
        let mut draft = instance_draft(&text, &roles, &visit);
        measure(&text, &quantities, &visit, &mut draft);
        let first = &text.measured[visit.results[0]];
        intake.instance(first.line, &run, draft)?;
    }
    intake.finish()
}

fn when(text: &GoText) -> Option<jiff::Timestamp> {
    let settings = text.settings.first()?;
    WHEN.iter().find_map(|key| moment(settings.get(*key)?))
}

fn note(text: &GoText, intake: &mut Intake<'_, '_, '_>) {
    for number in &text.other {
        let what = format!("line {number}");
        intake
            .notes()
            .left(&what, "they are neither results nor settings");
    }
    for unit in &text.not_finite {
        intake
            .notes()
            .left(unit, "some of their values are NaN or infinite");
    }
    for name in &text.failed_in_part {
        intake
            .notes()
            .left(&format!("the failure of {name}"), "a part of it says why");
    }
    for (unit, pairs) in &text.unit_metadata {
        if pairs.keys().any(|key| key != "better") {
            intake
                .notes()
                .kept(&format!("Unit {unit}"), "attributes of the run");
        }
    }
}

/// What each setting is.
struct Roles {
    /// Those that have several values for the same benchmark: they were varied.
    varied: BTreeSet<String>,
    /// Those that have one value in all of the source.
    constant: BTreeSet<String>,
}

impl Roles {
    fn of(text: &GoText) -> Self {
        let mut of_benchmark: BTreeMap<(Option<&String>, usize), BTreeSet<usize>> = BTreeMap::new();
        for it in &text.measured {
            let package = text.settings[it.settings].get("pkg");
            let places = of_benchmark.entry((package, it.name)).or_default();
            places.insert(it.settings);
        }
        let all: BTreeSet<usize> = text.measured.iter().map(|it| it.settings).collect();
        let mut varied = BTreeSet::new();
        for places in of_benchmark.values() {
            varied.extend(keys_that_differ(text, places));
        }
        let differ = keys_that_differ(text, &all);
        // Another version is another run, even if other benchmarks were measured.
        let of_version = differ.iter().filter(|key| VERSION.contains(&key.as_str()));
        varied.extend(of_version.cloned());
        let constant = text
            .settings
            .iter()
            .flat_map(Settings::keys)
            .filter(|key| !differ.contains(*key))
            .cloned()
            .collect();
        Self { varied, constant }
    }
}

/// Returns the settings that are not the same in all of these combinations.
fn keys_that_differ(text: &GoText, places: &BTreeSet<usize>) -> BTreeSet<String> {
    let mut differ = BTreeSet::new();
    let mut places = places.iter().map(|&place| &text.settings[place]);
    let Some(first) = places.next() else {
        return differ;
    };
    for other in places {
        let keys = first.keys().chain(other.keys());
        differ.extend(
            keys.filter(|key| first.get(*key) != other.get(*key))
                .cloned(),
        );
    }
    differ
}

/// The results of one benchmark in one process under the same varied settings.
struct Visit {
    /// One of its combinations of settings.
    settings: usize,
    /// Which visit to this benchmark under these settings it is.
    block: u32,
    /// Where its results stand in the text.
    results: Vec<usize>,
}

/// Returns the visits in the order of their first results.
fn visits(text: &GoText, roles: &Roles) -> Vec<Visit> {
    let mut visits: Vec<Visit> = Vec::new();
    let mut known: BTreeMap<(usize, u32, usize), usize> = BTreeMap::new();
    let mut blocks: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let alike = alike(text, roles);
    for (place, it) in text.measured.iter().enumerate() {
        let settings = alike[it.settings];
        match known.get(&(settings, it.process, it.name)) {
            Some(&visit) => visits[visit].results.push(place),
            None => {
                let block = blocks.entry((settings, it.name)).or_default();
                known.insert((settings, it.process, it.name), visits.len());
                visits.push(Visit {
                    settings: it.settings,
                    block: *block,
                    results: vec![place],
                });
                *block += 1;
            }
        }
    }
    visits
}

/// Returns for each combination of settings the first with the same run and package.
fn alike(text: &GoText, roles: &Roles) -> Vec<usize> {
    let mut first: BTreeMap<(String, Option<&String>), usize> = BTreeMap::new();
    text.settings
        .iter()
        .enumerate()
        .map(|(place, settings)| {
            let key = (run_key(settings, roles), settings.get("pkg"));
            *first.entry(key).or_insert(place)
        })
        .collect()
}

/// Returns what tells the run of these settings from the others of the source.
fn run_key(settings: &Settings, roles: &Roles) -> String {
    let varied: BTreeMap<&String, Option<&String>> = roles
        .varied
        .iter()
        .map(|key| (key, settings.get(key)))
        .collect();
    if varied.is_empty() {
        return String::new();
    }
    json!(varied).to_string()
}

/// Two packages may have benchmarks of the same name.
fn benchmark_id(settings: &Settings, name: &str) -> String {
    match settings.get("pkg") {
        Some(package) => format!("{package}.{name}"),
        None => name.to_owned(),
    }
}

fn run_draft(text: &GoText, roles: &Roles, place: usize) -> RunDraft {
    let settings = &text.settings[place];
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
    let variant: Vec<String> = factors
        .iter()
        .map(|(key, level)| format!("{key}={level}"))
        .collect();
    let mut attributes = Object::new();
    let units = unit_attributes(text);
    if !units.is_empty() {
        attributes.insert("units".to_owned(), Value::Object(units));
    }
    RunDraft {
        key: run_key(settings, roles),
        variant: (!variant.is_empty()).then(|| variant.join(",")),
        factors,
        version: version(settings),
        environment,
        attributes,
    }
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

/// What is said of units besides which way is better.
fn unit_attributes(text: &GoText) -> Object {
    let mut units = Object::new();
    for (unit, pairs) in &text.unit_metadata {
        let others: Object = pairs
            .iter()
            .filter(|(key, _)| *key != "better")
            .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
            .collect();
        if !others.is_empty() {
            units.insert(unit.clone(), Value::Object(others));
        }
    }
    units
}

fn instance_draft(text: &GoText, roles: &Roles, visit: &Visit) -> InstanceDraft {
    let settings = &text.settings[visit.settings];
    let full_name = text.names.at(text.measured[visit.results[0]].name);
    let name = GoName::of(full_name);
    let mut params = Object::new();
    for (key, value) in name.parameters() {
        params.insert(key.to_owned(), Value::from(value));
    }
    if let Some(processors) = name.processors {
        params.insert("gomaxprocs".to_owned(), Value::from(processors));
    }
    let environment = settings
        .iter()
        .filter(|(key, _)| !roles.varied.contains(*key) && !roles.constant.contains(*key))
        .filter(|(key, _)| *key != "pkg")
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
        .collect();
    InstanceDraft {
        benchmark: Benchmark {
            id: benchmark_id(settings, full_name),
            params,
            ..Benchmark::default()
        },
        block: visit.block,
        environment,
        ..InstanceDraft::default()
    }
}

/// Puts the results of a visit into its draft.
fn measure(text: &GoText, quantities: &[Quantity], visit: &Visit, draft: &mut InstanceDraft) {
    let results: Vec<&Measured> = visit.results.iter().map(|&at| &text.measured[at]).collect();
    let mut columns = IterationColumns {
        count: results.len(),
        loops: results.iter().map(|it| it.loops).collect(),
        ..IterationColumns::default()
    };
    for (index, (k, it)) in (0_u32..).zip(results.iter().enumerate()) {
        for (value, unit) in text.values(it) {
            let Quantity { metric, unit } = &quantities[unit];
            let missing = || vec![f64::NAN; results.len()];
            let column = columns.values.entry(metric.clone()).or_insert_with(missing);
            column[k] = unit.base(value);
            draft.metrics.insert(metric.clone(), unit.metric.clone());
        }
        if it.outcome != Outcome::Ok {
            let mark = Mark {
                outcome: it.outcome,
                message: it.message.as_deref().cloned(),
                attributes: Object::new(),
            };
            columns.marks.insert(index, mark);
        }
    }
    draft.iterations = columns;
}

/// Returns what each unit counts, with the direction that a `Unit` line gives, be it for
/// the unit as printed or in base units.
fn quantities(text: &GoText) -> Vec<Quantity> {
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
    text.units
        .all()
        .iter()
        .map(|unit| {
            let Quantity { metric, unit } = Quantity::of(unit);
            let unit = match directions.get(&metric) {
                Some(&better) => unit.with_better(Some(better)),
                None => unit,
            };
            Quantity { metric, unit }
        })
        .collect()
}

#[cfg(test)]
mod tests;
