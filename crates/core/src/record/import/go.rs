//! Go's `go test -bench`: text, one result of one benchmark a line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::detect::first_line;
use super::go_line::{GoLine, GoName, Quantity, parse};
use super::go_text::{GoText, Measured, Settings, read_text};
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
        let mut of_benchmark: BTreeMap<(Option<&String>, &str), BTreeSet<usize>> = BTreeMap::new();
        for it in &text.measured {
            let package = text.settings[it.settings].get("pkg");
            of_benchmark
                .entry((package, &it.name))
                .or_default()
                .insert(it.settings);
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
    let mut known: BTreeMap<(String, u32, String), usize> = BTreeMap::new();
    let mut blocks: BTreeMap<(String, String), u32> = BTreeMap::new();
    let keys: Vec<String> = text
        .settings
        .iter()
        .map(|settings| run_key(settings, roles))
        .collect();
    for (place, it) in text.measured.iter().enumerate() {
        let benchmark = benchmark_id(&text.settings[it.settings], &it.name);
        let run = keys[it.settings].clone();
        let key = (run.clone(), it.process, benchmark.clone());
        match known.get(&key) {
            Some(&visit) => visits[visit].results.push(place),
            None => {
                let block = blocks.entry((run, benchmark)).or_default();
                known.insert(key, visits.len());
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

fn version(settings: &Settings) -> Version {
    let get = |key: &str| settings.get(key).cloned();
    Version {
        commit: get("commit"),
        branch: get("branch"),
        date: get("commit-time").or_else(|| get("commit-date")),
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
    let full_name = &text.measured[visit.results[0]].name;
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
        for &(value, unit) in &it.values {
            let Quantity { metric, unit } = &quantities[unit];
            let missing = || vec![f64::NAN; results.len()];
            let column = columns.values.entry(metric.clone()).or_insert_with(missing);
            column[k] = unit.base(value);
            draft.metrics.insert(metric.clone(), unit.metric.clone());
        }
        if it.outcome != Outcome::Ok {
            let mark = Mark {
                outcome: it.outcome,
                message: it.message.clone(),
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
mod tests {
    use super::super::testing::{imported, refusal, shown};

    #[test]
    fn count_gives_iterations_of_one_instance_for_each_benchmark() {
        insta::assert_snapshot!(shown(&imported("go-1.19/count.txt")), @r##"
        go because it has a line `Benchmark… <iterations> <value> <unit>`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"count","attributes":{"source":{"file":"count.txt","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"B/op":{"unit":"B","better":"lower"},"allocs/op":{"unit":"allocs","better":"lower"},"throughput":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"throughput":177400000.0,"wall_time":2.1980000000000002e-7,"words/op":1.0}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"throughput":233170000.0,"wall_time":1.6730000000000002e-7,"words/op":1.0}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"throughput":196480000.0,"wall_time":1.985e-7,"words/op":1.0}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=different-2","params":{"gomaxprocs":2,"kind":"different","size":"8"}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"throughput":162710000.0,"wall_time":2.889e-7,"words/op":8.0}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"throughput":136520000.0,"wall_time":3.4430000000000003e-7,"words/op":8.0}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":128.0,"allocs/op":1.0,"throughput":112560000.0,"wall_time":4.175e-7,"words/op":8.0}}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=64/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"64"}},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":1024.0,"allocs/op":1.0,"throughput":137200000.0,"wall_time":2.325e-6,"words/op":1.0}}
        {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":1024.0,"allocs/op":1.0,"throughput":325760000.0,"wall_time":9.792e-7,"words/op":1.0}}
        {"v":1,"kind":"iteration","instance":"#4","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":1024.0,"allocs/op":1.0,"throughput":317200000.0,"wall_time":1.006e-6,"words/op":1.0}}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=64/kind=different-2","params":{"gomaxprocs":2,"kind":"different","size":"64"}},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":8776.0,"allocs/op":8.0,"throughput":63230000.0,"wall_time":6.911e-6,"words/op":64.0}}
        {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":8780.0,"allocs/op":8.0,"throughput":72350000.0,"wall_time":6.04e-6,"words/op":64.0}}
        {"v":1,"kind":"iteration","instance":"#5","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":8778.0,"allocs/op":8.0,"throughput":67300000.0,"wall_time":6.493e-6,"words/op":64.0}}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":48.0,"allocs/op":1.0,"wall_time":1.257e-7}}
        {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":48.0,"allocs/op":1.0,"wall_time":1.146e-7}}
        {"v":1,"kind":"iteration","instance":"#6","index":2,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"B/op":48.0,"allocs/op":1.0,"wall_time":1.439e-7}}
        "##);
    }

    #[test]
    fn processors_and_packages_make_benchmarks() {
        insta::assert_snapshot!(shown(&imported("go-1.19/packages.txt")), @r##"
        go because it has a line `Benchmark… <iterations> <value> <unit>`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"packages","attributes":{"source":{"file":"packages.txt","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"throughput":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":1557100000.0,"wall_time":1.028e-8}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":1498690000.0,"wall_time":1.068e-8}}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096"},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":14875020000.0,"wall_time":2.754e-7}}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":14567980000.0,"wall_time":2.812e-7}}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain"},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":8.290999999999999e-8}}
        {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.365e-7}}
        "##);
    }

    #[test]
    fn failures_are_iterations_that_failed() {
        insta::assert_snapshot!(shown(&imported("go-1.19/failures.txt")), @r##"
        go because it has a line `Benchmark… <iterations> <value> <unit>`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"failures","attributes":{"source":{"file":"failures.txt","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"queue-ns":{"unit":"s","better":"lower"},"ratio":{"unit":"ratio"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.665e-7}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.1569999999999998e-7}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkBroken-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:48: about to fail\nwords_test.go:49: the input is missing"}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/good-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":5.97e-8}}
        {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":5.917e-8}}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/bad-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:58: wrong answer"}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkNoTime-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"queue-ns":0.003,"ratio":12.5}}
        {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"queue-ns":0.003,"ratio":12.5}}
        left, as a part of it says why: the failure of BenchmarkHalfBroken
        "##);
    }

    #[test]
    fn verbose_text_says_the_same() {
        insta::assert_snapshot!(shown(&imported("go-1.19/verbose.txt")), @r##"
        go because it has a line `Benchmark… <iterations> <value> <unit>`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"verbose","attributes":{"source":{"file":"verbose.txt","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":9.912e-8}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkParallel-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":8.366e-8}}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkBroken-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:48: about to fail\nwords_test.go:49: the input is missing"}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/good-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":6.858e-8}}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/bad-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:58: wrong answer"}
        {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkSkipped-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"outcome":"skipped","message":"words_test.go:62: needs a large machine"}
        left, as a part of it says why: the failure of BenchmarkHalfBroken
        "##);
        insta::assert_snapshot!(shown(&imported("go-1.24/verbose.txt")), @r##"
        go because it has a line `Benchmark… <iterations> <value> <unit>`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"verbose","attributes":{"source":{"file":"verbose.txt","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.395e-7}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkParallel-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.258e-7}}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkBroken-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:48: about to fail\nwords_test.go:49: the input is missing"}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/good-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":7.418999999999999e-8}}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/bad-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:58: wrong answer"}
        {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkSkipped-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"outcome":"skipped","message":"words_test.go:62: needs a large machine"}
        left, as a part of it says why: the failure of BenchmarkHalfBroken
        "##);
    }

    #[test]
    fn a_panic_is_a_failure_of_the_benchmark_under_way() {
        insta::assert_snapshot!(shown(&imported("go-1.19/panic.txt")), @r##"
        go because it has a line `Benchmark… <iterations> <value> <unit>`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"panic","attributes":{"source":{"file":"panic.txt","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"total":{"unit":"total"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/crash.BenchmarkFine-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"total":1999000.0,"wall_time":1.077e-9}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/crash.BenchmarkPanics-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"failed","message":"panic: no such table"}
        "##);
    }

    #[test]
    fn each_process_is_an_instance() {
        insta::assert_snapshot!(shown(&imported("go-1.19/processes.txt")), @r##"
        go because it has a line `Benchmark… <iterations> <value> <unit>`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"processes","attributes":{"source":{"file":"processes.txt","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"throughput":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.019e-7}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.459e-7}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":976230000.0,"wall_time":1.639e-8}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":982530000.0,"wall_time":1.628e-8}}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":12231810000.0,"wall_time":3.3489999999999996e-7}}
        {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":12843910000.0,"wall_time":3.189e-7}}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":1,"position":3,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.878e-7}}
        {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.294e-7}}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":1,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":1548810000.0,"wall_time":1.033e-8}}
        {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":1574800000.0,"wall_time":1.016e-8}}
        {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":1,"position":5,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":10047760000.0,"wall_time":4.077e-7}}
        {"v":1,"kind":"iteration","instance":"#7","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":14601820000.0,"wall_time":2.805e-7}}
        {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":2,"position":6,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.09e-7}}
        {"v":1,"kind":"iteration","instance":"#8","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.241e-7}}
        {"v":1,"kind":"instance","id":"#9","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":2,"position":7,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":996330000.0,"wall_time":1.606e-8}}
        {"v":1,"kind":"iteration","instance":"#9","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":1517880000.0,"wall_time":1.0539999999999999e-8}}
        {"v":1,"kind":"instance","id":"#10","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":2,"position":8,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#10","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":13104640000.0,"wall_time":3.1260000000000003e-7}}
        {"v":1,"kind":"iteration","instance":"#10","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":13131990000.0,"wall_time":3.119e-7}}
        "##);
    }

    #[test]
    fn settings_that_vary_make_runs() {
        insta::assert_snapshot!(shown(&imported("go-1.19/settings.txt")), @r##"
        go because it has a line `Benchmark… <iterations> <value> <unit>`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-01-01T00:00:00Z","tool":"go test","name":"settings","attributes":{"source":{"file":"settings.txt","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"table=map","factors":{"table":"map"},"version":{"commit":"1f0c3a5d7e9b2468ace013579bdf02468ace1357","date":"2026-01-02T03:04:05Z"},"metrics":{"throughput":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"higher"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"},"attributes":{"units":{"words/op":{"assume":"exact"}}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":114770000.0,"wall_time":3.398e-7,"words/op":1.0}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":155280000.0,"wall_time":2.5119999999999997e-7,"words/op":1.0}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.306e-7}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.6930000000000001e-7}}
        {"v":1,"kind":"run","id":"#4","session":"#0","variant":"table=slice","factors":{"table":"slice"},"version":{"commit":"1f0c3a5d7e9b2468ace013579bdf02468ace1357","date":"2026-01-02T03:04:05Z"},"metrics":{"throughput":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"higher"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"},"attributes":{"units":{"words/op":{"assume":"exact"}}}}
        {"v":1,"kind":"instance","id":"#5","run":"#4","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":220270000.0,"wall_time":1.771e-7,"words/op":1.0}}
        {"v":1,"kind":"iteration","instance":"#5","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":139860000.0,"wall_time":2.7880000000000003e-7,"words/op":1.0}}
        {"v":1,"kind":"instance","id":"#6","run":"#4","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.5119999999999998e-7}}
        {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.736e-7}}
        {"v":1,"kind":"run","id":"#7","session":"#0","variant":"table=map","factors":{"table":"map"},"version":{"commit":"2e1d4b6c8fa0357913579bdf02468ace13579bdf","date":"2026-02-02T03:04:05Z"},"metrics":{"throughput":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"higher"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"},"attributes":{"units":{"words/op":{"assume":"exact"}}}}
        {"v":1,"kind":"instance","id":"#8","run":"#7","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":125660000.0,"wall_time":3.104e-7,"words/op":1.0}}
        {"v":1,"kind":"iteration","instance":"#8","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":58120000.0,"wall_time":6.711e-7,"words/op":1.0}}
        {"v":1,"kind":"instance","id":"#9","run":"#7","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.743e-7}}
        {"v":1,"kind":"iteration","instance":"#9","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.889e-7}}
        {"v":1,"kind":"run","id":"#10","session":"#0","variant":"table=slice","factors":{"table":"slice"},"version":{"commit":"2e1d4b6c8fa0357913579bdf02468ace13579bdf","date":"2026-02-02T03:04:05Z"},"metrics":{"throughput":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"higher"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"},"attributes":{"units":{"words/op":{"assume":"exact"}}}}
        {"v":1,"kind":"instance","id":"#11","run":"#10","benchmark":{"id":"example.org/demo/words.BenchmarkCount/size=8/kind=same-2","params":{"gomaxprocs":2,"kind":"same","size":"8"}},"block":0,"position":6,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#11","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#11","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":102270000.0,"wall_time":3.813e-7,"words/op":1.0}}
        {"v":1,"kind":"iteration","instance":"#11","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":106220000.0,"wall_time":3.672e-7,"words/op":1.0}}
        {"v":1,"kind":"instance","id":"#12","run":"#10","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":7,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#12","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#12","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.805e-7}}
        {"v":1,"kind":"iteration","instance":"#12","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":2.29e-7}}
        kept in attributes of the run: Unit words/op
        "##);
    }

    #[test]
    fn events_hold_the_same_text() {
        insta::assert_snapshot!(shown(&imported("go-1.24/events.jsonl")), @r##"
        go because its first line is an event of `go test -json`
        {"v":1,"kind":"session","id":"#0","suite":"go","started":"2026-11-20T22:20:10.661768272Z","tool":"go test","name":"events","attributes":{"source":{"file":"events.jsonl","format":"go","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"throughput":{"unit":"B/s","better":"higher"},"wall_time":{"unit":"s","better":"lower"}},"environment":{"cpu":"AMD EPYC","goarch":"amd64","goos":"linux"}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkPlain-2","params":{"gomaxprocs":2}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.0559999999999999e-7}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.397e-7}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkBroken-2","params":{"gomaxprocs":2}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:48: about to fail\nwords_test.go:49: the input is missing"}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/good-2","params":{"gomaxprocs":2}},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":4.4079999999999995e-8}}
        {"v":1,"kind":"iteration","instance":"#4","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"wall_time":1.895e-7}}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"example.org/demo/words.BenchmarkHalfBroken/bad-2","params":{"gomaxprocs":2}},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#5","index":0,"burn_in":false,"outcome":"failed","message":"words_test.go:58: wrong answer"}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/16-2","params":{"gomaxprocs":2}},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":1257960000.0,"wall_time":1.272e-8}}
        {"v":1,"kind":"iteration","instance":"#6","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":1231760000.0,"wall_time":1.2990000000000001e-8}}
        {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"example.org/demo/checksum.BenchmarkCRC32/4096-2","params":{"gomaxprocs":2}},"block":0,"position":5,"attempt":0}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#7","index":0,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":12648490000.0,"wall_time":3.2380000000000003e-7}}
        {"v":1,"kind":"iteration","instance":"#7","index":1,"burn_in":false,"loops":2000,"outcome":"ok","metrics":{"throughput":13016830000.0,"wall_time":3.147e-7}}
        left, as a part of it says why: the failure of BenchmarkHalfBroken
        "##);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        insta::assert_snapshot!(refusal("go-1.19/truncated.txt"), @"truncated.txt:6: `1` of `BenchmarkCount/size=8/kind=same-2` has no unit");
        insta::assert_snapshot!(refusal("go-1.19/negative.txt"), @"negative.txt:5: `ns/op` of `BenchmarkCount/size=8/kind=same-2` is negative: -219.8");
        insta::assert_snapshot!(refusal("go-1.19/wrong.txt"), @"wrong.txt:6: `ns/op` of `BenchmarkCount/size=8/kind=same-2` is not a number: fast");
    }
}
