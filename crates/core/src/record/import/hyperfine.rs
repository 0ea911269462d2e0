//! hyperfine's `--export-json`: one document, one result a command.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::detect::{has_key, has_own_key};
use super::document::Document;
use super::hyperfine_document::{CommandResult, Document as Wire, Title};
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use super::notes::FOLLOWS;
use super::sink::Sink;
use super::{BadLine, EachRun, Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Id, Metric, MetricName, Object, Outcome};
use crate::record::{IterationColumns, Mark};

pub(super) const FORMAT: Format = Format {
    name: "hyperfine",
    about: "hyperfine --export-json",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (head.trim_ascii_start().starts_with(b"{")
        && has_own_key(head, "results")
        && has_key(head, "command"))
    .then_some("it has `results` with a `command`")
}

/// What can be computed again from the times.
const DERIVED: [&str; 5] = ["mean", "stddev", "median", "min", "max"];

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let wire: Wire<'_> = document.parse()?;
    for key in wire.others.keys() {
        sink.notes().kept(key, "attributes of the session");
    }
    let session = SessionDraft {
        // hyperfine writes no date: the file's is the nearest.
        tool: "hyperfine".to_owned(),
        attributes: wire.others,
        read_with: vec![("each_run", options.each_run.name())],
        ..SessionDraft::default()
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(FORMAT.name, source, digest, options, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    let names = names(&document, &wire.results);
    for (place, (raw, name)) in wire.results.iter().zip(names).enumerate() {
        match read_result(&document, raw) {
            Err(bad) => intake.bad(bad),
            Ok(result) => {
                let spot = document.spot_of(raw.get());
                let name = name.unwrap_or_else(|| result.command.clone());
                note(&result, &mut intake);
                for draft in drafts(result, &name, place, intake.session(), options.each_run) {
                    intake.instance(spot, run, draft)?;
                }
            }
        }
    }
    intake.finish()
}

fn note(result: &CommandResult, intake: &mut Intake<'_, '_, '_>) {
    let measured = [
        ("times", &result.times),
        ("memory_usage_byte", &result.memory_usage_byte),
    ];
    for (key, values) in measured {
        if values.iter().any(|value| !value.is_finite()) {
            let why = "some of their values are NaN or infinite";
            intake.notes().left(key, why);
        }
    }
    for key in result.others.keys() {
        if !DERIVED.contains(&key.as_str()) {
            intake.notes().kept(key, "attributes of the instance");
        } else if !result.times.is_empty() {
            intake.notes().left(key, FOLLOWS);
        }
    }
}

/// A name given to commands of different parameters needs them to tell which is which.
/// Returns such longer names, where they are needed.
fn names(document: &Document, results: &[&RawValue]) -> Vec<Option<String>> {
    let titles: Vec<Option<Title>> = results
        .iter()
        .map(|raw| document.element(raw).ok())
        .collect();
    let mut first: BTreeMap<&str, &Option<Object>> = BTreeMap::new();
    let mut shared: BTreeMap<&str, bool> = BTreeMap::new();
    for title in titles.iter().flatten() {
        let known = *first.entry(&title.command).or_insert(&title.parameters);
        *shared.entry(&title.command).or_default() |= *known != title.parameters;
    }
    titles
        .iter()
        .map(|title| {
            let title = title.as_ref()?;
            let parameters = title.parameters.as_ref()?;
            if !shared[title.command.as_str()] {
                return None;
            }
            let list: Vec<String> = parameters
                .iter()
                .map(|(key, value)| match value {
                    Value::String(text) => format!("{key}={text}"),
                    other => format!("{key}={other}"),
                })
                .collect();
            Some(format!("{}[{}]", title.command, list.join(",")))
        })
        .collect()
}

fn read_result(document: &Document, raw: &RawValue) -> Result<CommandResult, BadLine> {
    let result: CommandResult = document.element(raw)?;
    let measured = [
        ("times", &result.times),
        ("memory_usage_byte", &result.memory_usage_byte),
    ];
    for (key, values) in measured {
        if let Some(value) = values.iter().find(|value| **value < 0.0) {
            let command = &result.command;
            let reason = format!("`{key}` of `{command}` is negative: {value}");
            return Err(document.wrong(raw, reason));
        }
    }
    let runs = result.times.len();
    let beside = [
        ("memory_usage_byte", result.memory_usage_byte.len()),
        ("exit_codes", result.exit_codes.as_ref().map_or(0, Vec::len)),
    ];
    for (key, count) in beside {
        if count > 0 && count != runs {
            let command = &result.command;
            let reason = format!(
                "`{key}` of `{command}` has another length ({count}) than `times` ({runs})"
            );
            return Err(document.wrong(raw, reason));
        }
    }
    Ok(result)
}

/// Returns what one result becomes: an instance, or one for each of its runs.
fn drafts(
    result: CommandResult,
    name: &str,
    place: usize,
    session: Id,
    each_run: EachRun,
) -> Vec<InstanceDraft> {
    let runs = result.times.len();
    let instances = match each_run {
        EachRun::Iteration => 1,
        EachRun::Instance => runs.max(1),
    };
    let mut attributes = result.others.clone();
    if runs > 0 {
        for key in DERIVED {
            attributes.remove(key);
        }
    }
    (0..instances)
        .map(|k| {
            let which = if instances > 1 { k..k + 1 } else { 0..runs };
            InstanceDraft {
                id: Some(Id::derived(&[
                    b"hyperfine instance",
                    session.as_bytes(),
                    &(place as u64).to_le_bytes(),
                    &(k as u64).to_le_bytes(),
                ])),
                benchmark: Benchmark {
                    id: name.to_owned(),
                    params: result.parameters.clone().unwrap_or_default(),
                    ..Benchmark::default()
                },
                block: u32::try_from(k).unwrap_or(u32::MAX),
                attributes: attributes.clone(),
                metrics: metrics(),
                iterations: columns(&result, which),
                // The means speak of all runs; they stand with the first.
                summaries: if k == 0 { means(&result) } else { Vec::new() },
                ..InstanceDraft::default()
            }
        })
        .collect()
}

fn metrics() -> BTreeMap<MetricName, Metric> {
    BTreeMap::from([
        ("wall_time".to_owned(), Metric::lower("s")),
        ("peak_memory".to_owned(), Metric::lower("B")),
        ("user_time".to_owned(), Metric::lower("s")),
        ("system_time".to_owned(), Metric::lower("s")),
    ])
}

fn columns(result: &CommandResult, which: std::ops::Range<usize>) -> IterationColumns {
    let mut values =
        BTreeMap::from([("wall_time".to_owned(), result.times[which.clone()].to_vec())]);
    if !result.memory_usage_byte.is_empty() {
        let memory = which
            .clone()
            .map(|k| result.memory_usage_byte.get(k).copied().unwrap_or(f64::NAN))
            .collect();
        values.insert("peak_memory".to_owned(), memory);
    }
    let codes = result.exit_codes.as_deref().unwrap_or_default();
    let marks = (0_u32..)
        .zip(which.clone())
        .filter_map(|(index, k)| Some((index, failure(*codes.get(k)?)?)))
        .collect();
    IterationColumns {
        count: which.len(),
        values,
        marks,
        ..IterationColumns::default()
    }
}

fn failure(code: Option<i32>) -> Option<Mark> {
    let mut attributes = Object::new();
    let message = match code {
        Some(0) => return None,
        Some(code) => {
            attributes.insert("exit_code".to_owned(), Value::from(code));
            format!("exit code {code}")
        }
        None => "ended by a signal".to_owned(),
    };
    Some(Mark {
        outcome: Outcome::Failed,
        message: Some(message),
        attributes,
    })
}

/// hyperfine keeps only the means of processor times, and programs that write its
/// format may keep no more than the mean of the wall time either.
fn means(result: &CommandResult) -> Vec<SummaryDraft> {
    let runs = result.times.len();
    let number = |key: &str| result.others.get(key).and_then(Value::as_f64);
    let mut summaries = Vec::new();
    if runs == 0
        && let Some(centre) = number("mean")
    {
        let spread = number("stddev");
        summaries.push(SummaryDraft {
            metric: "wall_time".to_owned(),
            centre,
            spread,
            statistic: if spread.is_some() { "mean/sd" } else { "mean" }.to_owned(),
            ..SummaryDraft::default()
        });
    }
    for (metric, mean) in [("user_time", result.user), ("system_time", result.system)] {
        if let Some(centre) = mean {
            summaries.push(SummaryDraft {
                metric: metric.to_owned(),
                n: (runs > 0).then_some(runs as u64),
                centre,
                statistic: "mean".to_owned(),
                ..SummaryDraft::default()
            });
        }
    }
    summaries
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fate_of_a_key, imported, read_text, refusal, refusal_of, shown};
    use crate::model::RecordKind;

    #[test]
    fn two_commands_are_two_instances() {
        insta::assert_snapshot!(shown(&imported("hyperfine-1.15/two-commands.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"two-commands","attributes":{"source":{"each_run":"iteration","file":"two-commands.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"gzip --version"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":5,"centre":0.0007412,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":5,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001438496}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.000794705}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.015972623000000002}}
        {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.020199794}}
        {"v":1,"kind":"iteration","instance":"#2","index":4,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.029444996}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sleep 0.01"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"user_time","n":5,"centre":0.0007643999999999999,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#3","metric":"system_time","n":5,"centre":0.00018899999999999999,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.011047838}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.053284874}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.01210863}}
        {"v":1,"kind":"iteration","instance":"#3","index":3,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.026687114}}
        {"v":1,"kind":"iteration","instance":"#3","index":4,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.041928031000000004}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
    }

    #[test]
    fn one_name_for_several_parameters_gets_them_in_brackets() {
        insta::assert_snapshot!(shown(&imported("hyperfine-1.15/parameters.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"parameters","attributes":{"source":{"each_run":"iteration","file":"parameters.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"compress[level=1]","params":{"level":"1"}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":3,"centre":0.001064,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.018290906000000003}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.003143283}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001034924}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"compress[level=2]","params":{"level":"2"}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"user_time","n":3,"centre":0.0009873333333333333,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#3","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001014633}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001452476}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.001095334}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
    }

    #[test]
    fn an_exit_code_is_a_failure() {
        insta::assert_snapshot!(shown(&imported("hyperfine-1.15/failures.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"failures","attributes":{"source":{"each_run":"iteration","file":"failures.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"false"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":4,"centre":0.0006742499999999999,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":4,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"wall_time":0.0017514470000000002},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"wall_time":0.0022030360000000002},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"wall_time":0.009224559},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"wall_time":0.0022099660000000003},"attributes":{"exit_code":1}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
    }

    #[test]
    fn a_key_that_nobody_knows_is_kept() {
        let fate = |pointer: &str| fate_of_a_key("hyperfine-1.15/parameters.json", pointer);
        assert_eq!(fate(""), "kept in attributes of the session");
        assert_eq!(fate("/results/0"), "kept in attributes of the instance");
    }

    #[test]
    fn times_that_are_no_numbers_are_missing_and_said_so() {
        let notes = read_text(
            "hyperfine",
            r#"{"results": [{"command": "a", "times": [1.0, NaN], "memory_usage_byte": [8, 9]},
{"command": "b", "times": [2.0], "memory_usage_byte": [Infinity]}]}"#,
        )
        .notes;
        let [note] = notes.as_slice() else {
            unreachable!("one note: {notes:?}");
        };
        assert_eq!(note.what, ["times", "memory_usage_byte"]);
        assert_eq!(note.why, "some of their values are NaN or infinite");
    }

    #[test]
    fn as_many_exit_codes_and_peaks_as_times_or_none() {
        let with = |beside: &str| {
            let text = format!(r#"{{"results": [{{"command": "a", "times": [1, 2], {beside}}}]}}"#);
            refusal_of("hyperfine", &text)
        };
        insta::assert_snapshot!(with(r#""exit_codes": [0, 0, 1]"#), @"made-up:1: `exit_codes` of `a` has another length (3) than `times` (2)");
        insta::assert_snapshot!(with(r#""memory_usage_byte": [8]"#), @"made-up:1: `memory_usage_byte` of `a` has another length (1) than `times` (2)");
        let none = read_text(
            "hyperfine",
            r#"{"results": [{"command": "a", "times": [1], "exit_codes": [], "memory_usage_byte": []}]}"#,
        );
        assert_eq!(none.appended.of(RecordKind::Iteration).new, 1);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        insta::assert_snapshot!(refusal("hyperfine-1.15/truncated.json"), @"truncated.json:28: the JSON is cut off");
        insta::assert_snapshot!(refusal("hyperfine-1.15/wrong.json"), @r#"wrong.json:39: `times[2]`: invalid type: string "0.012 s", expected a number"#);
        insta::assert_snapshot!(refusal("hyperfine-1.15/negative.json"), @"negative.json:27: `times` of `sleep 0.01` is negative: -0.01210863");
    }

    #[test]
    fn newer_versions_know_the_memory_of_each_run() {
        insta::assert_snapshot!(shown(&imported("hyperfine-1.20/two-commands.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"two-commands","attributes":{"source":{"each_run":"iteration","file":"two-commands.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"peak_memory":{"unit":"B","better":"lower"},"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"gzip --version"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":4,"centre":0.0006344999999999999,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":4,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.01561001}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.00068062}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.000600212}}
        {"v":1,"kind":"iteration","instance":"#2","index":3,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.0005822420000000001}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sleep 0.01"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"user_time","n":4,"centre":0.0010707499999999999,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#3","metric":"system_time","n":4,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.011158768000000001}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.011133102}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.03247537}}
        {"v":1,"kind":"iteration","instance":"#3","index":3,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3035136.0,"wall_time":0.021094710000000003}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
        insta::assert_snapshot!(shown(&imported("hyperfine-1.20/parameters.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"parameters","attributes":{"source":{"each_run":"iteration","file":"parameters.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"peak_memory":{"unit":"B","better":"lower"},"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"compress[level=1]","params":{"level":"1"}},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":3,"centre":0.0013353333333333331,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3100672.0,"wall_time":0.003051583}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3100672.0,"wall_time":0.008688133}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3100672.0,"wall_time":0.007874738000000001}}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"compress[level=2]","params":{"level":"2"}},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"user_time","n":3,"centre":0.0011383333333333334,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#3","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3231744.0,"wall_time":0.001149244}}
        {"v":1,"kind":"iteration","instance":"#3","index":1,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3231744.0,"wall_time":0.006633898}}
        {"v":1,"kind":"iteration","instance":"#3","index":2,"burn_in":false,"outcome":"ok","metrics":{"peak_memory":3231744.0,"wall_time":0.001131948}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
        insta::assert_snapshot!(shown(&imported("hyperfine-1.20/failures.json")), @r##"
        hyperfine because it has `results` with a `command`
        {"v":1,"kind":"session","id":"#0","suite":"hyperfine","started":"2026-01-01T00:00:00Z","tool":"hyperfine","name":"failures","attributes":{"source":{"each_run":"iteration","file":"failures.json","format":"hyperfine","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"peak_memory":{"unit":"B","better":"lower"},"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"false"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"user_time","n":3,"centre":0.0008023333333333333,"statistic":"mean"}
        {"v":1,"kind":"summary","instance":"#2","metric":"system_time","n":3,"centre":0.0,"statistic":"mean"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"peak_memory":3080192.0,"wall_time":0.0025985500000000003},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":1,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"peak_memory":3080192.0,"wall_time":0.005699099},"attributes":{"exit_code":1}}
        {"v":1,"kind":"iteration","instance":"#2","index":2,"burn_in":false,"outcome":"failed","message":"exit code 1","metrics":{"peak_memory":3080192.0,"wall_time":0.007845518000000001},"attributes":{"exit_code":1}}
        left, as they follow from the samples: max, mean, median, min, stddev
        "##);
        insta::assert_snapshot!(refusal("hyperfine-1.20/truncated.json"), @"truncated.json:37: the JSON is cut off");
        insta::assert_snapshot!(refusal("hyperfine-1.20/wrong.json"), @r#"wrong.json:22: `memory_usage_byte[3]`: invalid type: string "2.9 MB", expected a number"#);
    }
}
