//! Go's `go test -bench`: text, one result of one benchmark a line.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

use super::detect::first_line;
use super::go_line::{GoLine, GoName, Quantity, parse};
use super::go_stream::read_text;
use super::go_text::{GoText, Settings, place};
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use super::moment::moment;
use super::sink::Sink;
use super::{Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Better, Id, Level, Object, Version};
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
    let visits = Visits::of(&text, &roles);
    let mut run_of: BTreeMap<u32, Id> = BTreeMap::new();
    for (visit, results) in visits.in_order() {
        let run = match run_of.get(&visit.settings) {
            Some(run) => *run,
            None => intake.run(run_draft(&text, &roles, visit.settings))?,
        };
        let mut draft = instance_draft(&text, &roles, visit);
        measure(&text, &quantities, results, &mut draft);
        intake.instance(visit.line, run, draft)?;
        run_of.entry(visit.settings).or_insert(run);
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
    for key in &text.surplus_settings {
        intake.notes().left(key, "there are more than 200 settings");
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
        let mut of_benchmark: BTreeMap<(Option<&String>, u32), BTreeSet<u32>> = BTreeMap::new();
        let groups = || text.groups.iter().filter(|it| !it.left_out);
        // Where all have the same settings nothing was varied.
        if text.settings.len() > 1 {
            for it in groups() {
                let package = text.settings[it.settings as usize].get("pkg");
                let places = of_benchmark.entry((package, it.name)).or_default();
                places.insert(it.settings);
            }
        }
        let all: BTreeSet<u32> = groups().map(|it| it.settings).collect();
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
fn keys_that_differ(text: &GoText, places: &BTreeSet<u32>) -> BTreeSet<String> {
    let mut differ = BTreeSet::new();
    let mut places = places.iter().map(|&place| &text.settings[place as usize]);
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
    /// The line of its first result.
    line: u64,
    /// One of its combinations of settings.
    settings: u32,
    /// Which of the names it has.
    name: u32,
    /// Which visit to this benchmark under these settings it is.
    block: u32,
}

/// All visits, in the order of their first results.
struct Visits {
    visits: Vec<Visit>,
    /// The places of all results, those of one visit behind each other.
    results: Vec<u32>,
    /// Where the results of each visit end.
    ends: Vec<usize>,
}

impl Visits {
    fn of(text: &GoText, roles: &Roles) -> Self {
        let (visits, visit_of) = visits(text, roles);
        let visit_of = |group: u32| visit_of[group as usize].map(|visit| visit as usize);
        let mut ends = vec![0_usize; visits.len()];
        for it in &text.measured {
            if let Some(visit) = visit_of(it.group) {
                ends[visit] += 1;
            }
        }
        let mut begin = 0;
        for end in &mut ends {
            // Where the next result of the visit goes: in the end, its end.
            begin += std::mem::replace(end, begin);
        }
        let mut results = vec![0; begin];
        for (at, it) in text.measured.iter().enumerate() {
            if let Some(visit) = visit_of(it.group) {
                results[ends[visit]] = place(at);
                ends[visit] += 1;
            }
        }
        Self {
            visits,
            results,
            ends,
        }
    }

    /// Returns each visit with the places of its results.
    fn in_order(&self) -> impl Iterator<Item = (&Visit, &[u32])> {
        let mut begin = 0;
        self.visits
            .iter()
            .zip(&self.ends)
            .map(move |(visit, &end)| {
                let results = &self.results[begin..end];
                begin = end;
                (visit, results)
            })
    }
}

/// Returns the visits, and which of them each group of results belongs to.
fn visits(text: &GoText, roles: &Roles) -> (Vec<Visit>, Vec<Option<u32>>) {
    let mut visits: Vec<Visit> = Vec::new();
    let mut known: HashMap<(u32, u32, u32), u32> = HashMap::new();
    let mut blocks: HashMap<(u32, u32), u32> = HashMap::new();
    let alike = alike(text, roles);
    let visit_of = text.groups.iter().map(|it| {
        if it.left_out {
            return None;
        }
        let settings = alike[it.settings as usize];
        let visit = known.entry((settings, it.process, it.name));
        Some(*visit.or_insert_with(|| {
            let block = blocks.entry((settings, it.name)).or_default();
            visits.push(Visit {
                line: it.line,
                settings: it.settings,
                name: it.name,
                block: *block,
            });
            *block += 1;
            place(visits.len() - 1)
        }))
    });
    let visit_of = visit_of.collect();
    (visits, visit_of)
}

/// Returns for each combination of settings the first with the same run and package.
fn alike(text: &GoText, roles: &Roles) -> Vec<u32> {
    let mut first: BTreeMap<(String, Option<&String>), u32> = BTreeMap::new();
    (0..)
        .zip(&text.settings)
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

fn run_draft(text: &GoText, roles: &Roles, place: u32) -> RunDraft {
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
    let settings = &text.settings[visit.settings as usize];
    let full_name = text.names.at(visit.name);
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

/// Puts the results at these places into the draft of their visit.
fn measure(text: &GoText, quantities: &[Quantity], places: &[u32], draft: &mut InstanceDraft) {
    let results = || places.iter().map(|&at| &text.measured[at as usize]);
    let mut columns = IterationColumns {
        count: places.len(),
        loops: results().map(|it| it.loops).collect(),
        ..IterationColumns::default()
    };
    for (index, (k, &at)) in (0_u32..).zip(places.iter().enumerate()) {
        for (value, unit) in text.values(&text.measured[at as usize]) {
            let Quantity { metric, unit } = &quantities[unit];
            if let Some(column) = columns.values.get_mut(metric) {
                column[k] = unit.base(value);
            } else {
                let mut column = vec![f64::NAN; places.len()];
                column[k] = unit.base(value);
                columns.values.insert(metric.clone(), column);
            }
            if draft.metrics.get(metric) != Some(&unit.metric) {
                draft.metrics.insert(metric.clone(), unit.metric.clone());
            }
        }
        if let Some(failure) = text.failures.get(&(at as usize)) {
            let mark = Mark {
                outcome: failure.outcome,
                message: failure.message.clone(),
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
