//! github-action-benchmark: the array that a custom tool gives to it, and the history that
//! it keeps.

use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::detect::has_key;
use super::document::Document;
use super::github_action_document::{BENCH, Bench, Commit, ENTRY, Entry, History};
use super::go_line::Quantity;
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use super::moment::since_epoch;
use super::others::others;
use super::sink::Sink;
use super::units::Unit;
use super::{BadLine, Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Better, Object, Version};

pub(super) const FORMAT: Format = Format {
    name: "github-action",
    about: "github-action-benchmark: results as JSON, or its data.js",
    looks_like,
    folder: no_folder,
    companions: &[],
    read,
};

/// What the history begins with.
const ASSIGNMENT: &str = "window.BENCHMARK_DATA";

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let begin = head.trim_ascii_start();
    if begin.starts_with(ASSIGNMENT.as_bytes()) {
        return Some("it begins with `window.BENCHMARK_DATA`");
    }
    let all = |keys: &[&str]| keys.iter().all(|key| has_key(head, key));
    if begin.starts_with(b"{") && all(&["lastUpdate", "repoUrl", "entries"]) {
        return Some("it has `lastUpdate`, `repoUrl` and `entries`");
    }
    (begin.starts_with(b"[") && all(&["name", "value", "unit"]))
        .then_some("it is an array of `name`, `value` and `unit`")
}

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    if document.text().trim_start().starts_with('[') {
        return read_results(&document, source, options, sink);
    }
    read_history(&document, source, options, sink)
}

/// The array has neither date nor commit nor tool.
fn read_results(
    document: &Document,
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let benches: Vec<&RawValue> = document.parse()?;
    let session = SessionDraft {
        tool: "github-action-benchmark".to_owned(),
        ..SessionDraft::default()
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(FORMAT.name, source, digest, options, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    read_benches(document, &benches, Tool::Unknown, &run, &mut intake)?;
    intake.finish()
}

fn read_history(
    document: &Document,
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let text = document.text().trim();
    let json = match text.strip_prefix(ASSIGNMENT) {
        Some(rest) => rest
            .trim_start()
            .trim_start_matches('=')
            .trim_end_matches([';', ' ', '\n', '\r']),
        None => text,
    };
    let history: History<'_> = document.parse_within(json)?;
    let mut entries = 0;
    for (suite, raw) in &history.entries.0 {
        let of_suite: Vec<&RawValue> = match document.element(raw) {
            Ok(of_suite) => of_suite,
            Err(bad) => {
                sink.bad(bad.line, bad.reason);
                continue;
            }
        };
        for raw in of_suite {
            entries += 1;
            match parse_entry(document, raw) {
                Ok(entry) if entry.wire.benches.is_empty() => {
                    sink.notes()
                        .left(&entry.commit.id, "its entry has no results");
                }
                Ok(entry) => {
                    let session = session_draft(&history, suite, &entry);
                    let digest = entry_digest(suite, raw);
                    let mut intake =
                        Intake::begin(FORMAT.name, source, &digest, options, sink, session)?;
                    read_entry(document, entry, &mut intake)?;
                    intake.finish()?;
                }
                Err(bad) => sink.bad(bad.line, bad.reason),
            }
        }
    }
    if entries == 0 {
        return Err(ImportError::NoResults {
            name: source.name().to_owned(),
        });
    }
    Ok(())
}

/// The history grows with every commit: an entry is the same in a later file.
fn entry_digest(suite: &str, raw: &RawValue) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(suite.as_bytes());
    hash.update([0]);
    hash.update(raw.get().as_bytes());
    hash.finalize().into()
}

/// An entry with what is known of its commit.
struct ParsedEntry<'d> {
    wire: Entry<'d>,
    commit: Commit,
    /// What else is said of the commit.
    about_commit: Object,
    unknown: Object,
}

fn parse_entry<'d>(document: &'d Document, raw: &'d RawValue) -> Result<ParsedEntry<'d>, BadLine> {
    let wire: Entry<'d> = document.element(raw)?;
    Ok(ParsedEntry {
        commit: document.element(wire.commit)?,
        about_commit: others(document, wire.commit, &["id", "timestamp"])?,
        unknown: others(document, raw, &ENTRY)?,
        wire,
    })
}

fn session_draft(history: &History<'_>, suite: &str, entry: &ParsedEntry<'_>) -> SessionDraft {
    let mut attributes = Object::new();
    attributes.insert("tool".to_owned(), Value::from(entry.wire.tool.as_str()));
    if let Some(url) = &history.repo_url {
        attributes.insert("repository".to_owned(), Value::from(url.as_str()));
    }
    attributes.extend(entry.unknown.clone());
    let short: String = entry.commit.id.chars().take(10).collect();
    SessionDraft {
        suite: Some(suite.to_owned()),
        started: since_epoch(entry.wire.date),
        tool: "github-action-benchmark".to_owned(),
        name: Some(format!("{suite} {short}")),
        attributes,
        ..SessionDraft::default()
    }
}

fn read_entry(
    document: &Document,
    entry: ParsedEntry<'_>,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    for key in entry.unknown.keys() {
        intake.notes().kept(key, "attributes of the session");
    }
    intake
        .notes()
        .left("lastUpdate", "every entry has its own date");
    let mut attributes = Object::new();
    if !entry.about_commit.is_empty() {
        attributes.insert("commit".to_owned(), Value::Object(entry.about_commit));
    }
    let run = intake.run(RunDraft {
        version: Version {
            commit: Some(entry.commit.id),
            date: entry.commit.timestamp,
            ..Version::default()
        },
        attributes,
        ..RunDraft::default()
    })?;
    let tool = Tool::named(&entry.wire.tool);
    read_benches(document, &entry.wire.benches, tool, &run, intake)
}

fn read_benches(
    document: &Document,
    benches: &[&RawValue],
    tool: Tool,
    run: &str,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    for raw in benches {
        let draft = document
            .element(raw)
            .and_then(|bench| Ok((bench, others(document, raw, &BENCH)?)))
            .and_then(|(bench, unknown): (Bench, Object)| {
                for key in unknown.keys() {
                    intake.notes().kept(key, "attributes of the instance");
                }
                instance_draft(&bench, unknown, tool).map_err(|why| document.wrong(raw, why))
            });
        match draft {
            Ok(draft) => intake.instance(document.line_of(raw.get()), run, draft)?,
            Err(bad) => intake.bad(bad),
        }
    }
    Ok(())
}

/// Whose results they are, which says what is better where the unit does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    /// Somebody's own, who says that less is better.
    SmallerIsBetter,
    /// Somebody's own, who says that more is better.
    BiggerIsBetter,
    /// Go's, which puts several values with their units into one.
    Go,
    /// One that measures rates.
    OfRates,
    /// One that measures times.
    OfTimes,
    /// Not known.
    Unknown,
}

impl Tool {
    fn named(name: &str) -> Self {
        match name {
            "customSmallerIsBetter" => Self::SmallerIsBetter,
            "customBiggerIsBetter" => Self::BiggerIsBetter,
            "go" => Self::Go,
            "benchmarkjs" | "pytest" => Self::OfRates,
            "cargo" | "googlecpp" | "catch2" | "julia" | "jmh" | "benchmarkdotnet"
            | "benchmarkluau" => Self::OfTimes,
            _unknown => Self::Unknown,
        }
    }

    /// Returns the direction of a unit: as somebody says of their own results; of others
    /// as the unit says, and the tool where that does not.
    fn better(self, of_unit: Option<Better>) -> Option<Better> {
        match self {
            Self::SmallerIsBetter => Some(Better::Lower),
            Self::BiggerIsBetter => Some(Better::Higher),
            Self::Go | Self::OfTimes => of_unit.or(Some(Better::Lower)),
            Self::OfRates => of_unit.or(Some(Better::Higher)),
            Self::Unknown => of_unit,
        }
    }
}

fn instance_draft(bench: &Bench, unknown: Object, tool: Tool) -> Result<InstanceDraft, String> {
    let value = bench.number()?;
    let mut draft = InstanceDraft {
        benchmark: Benchmark {
            id: bench.name.clone(),
            ..Benchmark::default()
        },
        attributes: unknown,
        ..InstanceDraft::default()
    };
    if let Some(extra) = &bench.extra {
        draft
            .attributes
            .insert("extra".to_owned(), Value::from(extra.as_str()));
    }
    // Older versions took the rest of Go's line for the unit.
    let mut words = bench.unit.split_whitespace();
    let several = tool == Tool::Go && bench.unit.contains(char::is_whitespace);
    let first_unit = if several {
        words.next().unwrap_or("")
    } else {
        bench.unit.trim()
    };
    let (metric, unit) = quantity(first_unit, tool);
    let spread = bench.spread(value).map(|it| unit.base(it));
    if spread.is_none()
        && let Some(range) = bench.range.as_ref().filter(|it| !it.is_null())
    {
        draft.attributes.insert("range".to_owned(), range.clone());
    }
    draft.metrics.insert(metric.clone(), unit.metric.clone());
    draft.summaries.push(SummaryDraft {
        metric,
        n: bench.samples(),
        centre: unit.base(value),
        spread,
        statistic: if spread.is_some() {
            "value/range"
        } else {
            "value"
        }
        .to_owned(),
        extra: Object::new(),
    });
    if several {
        let rest: Vec<&str> = words.collect();
        for pair in rest.chunks_exact(2) {
            let number = pair[0].parse::<f64>();
            let number = number.map_err(|_error| {
                format!(
                    "`unit` of `{}` is not one of Go's: {}",
                    bench.name, bench.unit
                )
            })?;
            let (metric, unit) = quantity(pair[1], tool);
            draft.metrics.insert(metric.clone(), unit.metric.clone());
            draft.summaries.push(SummaryDraft {
                metric,
                centre: unit.base(number),
                statistic: "value".to_owned(),
                ..SummaryDraft::default()
            });
        }
    }
    Ok(draft)
}

/// Returns the metric that a unit stands for: the format has no names for what is measured.
fn quantity(unit: &str, tool: Tool) -> (String, Unit) {
    if tool == Tool::Go {
        let Quantity { metric, unit } = Quantity::of(unit);
        let better = tool.better(unit.metric.better);
        return (metric, unit.with_better(better));
    }
    let spelled = match unit {
        "nsec" => "ns",
        "usec" => "us",
        "msec" => "ms",
        "req/s" | "req/sec" | "requests/s" | "requests/sec" => "ops/s",
        other => other,
    };
    let base = Unit::named(spelled);
    let own = base.metric.better;
    let better = tool.better(own);
    // A duration that gets better upwards is not what a benchmark takes.
    let name = match base.metric.unit.as_str() {
        _any if own.is_some() && better != own => "value",
        "s" => "wall_time",
        "1/s" | "B/s" => "throughput",
        "B" => "bytes",
        "" | "1" => "value",
        _other => unit,
    };
    (name.to_owned(), base.with_better(better))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{imported, refusal, refusal_of, shown};
    use super::*;

    #[test]
    fn an_array_gives_summaries_with_the_directions_of_their_units() {
        insta::assert_snapshot!(shown(&imported("github-action-benchmark-1/smaller.json")), @r##"
        github-action because it is an array of `name`, `value` and `unit`
        {"v":1,"kind":"session","id":"#0","suite":"github-action","started":"2026-01-01T00:00:00Z","tool":"github-action-benchmark","name":"smaller","attributes":{"source":{"file":"smaller.json","format":"github-action","sha256":"…"}}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"bytes":{"unit":"B","better":"lower"},"points":{"unit":"points"},"throughput":{"unit":"1/s","better":"higher"},"throughput (B/s)":{"unit":"B/s","better":"higher"},"value":{"unit":"1"},"wall_time":{"unit":"s","better":"lower"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sort 10"},"block":0,"position":0,"attempt":0,"attributes":{"extra":"30 samples"}}
        {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","n":30,"centre":0.00125,"spread":0.00005,"statistic":"value/range"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sort 1000"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":0.1305,"spread":0.0025,"statistic":"value/range"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"peak memory"},"block":0,"position":2,"attempt":0}
        {"v":1,"kind":"summary","instance":"#4","metric":"bytes","centre":10485760.0,"spread":104857.6,"statistic":"value/range"}
        {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"requests"},"block":0,"position":3,"attempt":0}
        {"v":1,"kind":"summary","instance":"#5","metric":"throughput","centre":7000.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#5","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#6","run":"#1","benchmark":{"id":"copied"},"block":0,"position":4,"attempt":0}
        {"v":1,"kind":"summary","instance":"#6","metric":"throughput (B/s)","centre":120500000.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#7","run":"#1","benchmark":{"id":"warnings"},"block":0,"position":5,"attempt":0,"attributes":{"host":"runner-1","range":"2 to 5"}}
        {"v":1,"kind":"summary","instance":"#7","metric":"value","centre":3.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#8","run":"#1","benchmark":{"id":"score"},"block":0,"position":6,"attempt":0}
        {"v":1,"kind":"summary","instance":"#8","metric":"points","centre":70.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
        kept in attributes of the instance: host
        "##);
    }

    #[test]
    fn each_entry_of_the_history_is_a_session() {
        insta::assert_snapshot!(shown(&imported("github-action-benchmark-1/data.js")), @r##"
        github-action because it begins with `window.BENCHMARK_DATA`
        {"v":1,"kind":"session","id":"#0","suite":"Rust","started":"2026-01-02T03:05:00Z","tool":"github-action-benchmark","name":"Rust 0123456789","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"cargo"}}
        {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","version":{"commit":"0123456789abcdef0123456789abcdef01234567","date":"2026-01-02T03:04:05+01:00"},"metrics":{"wall_time":{"unit":"s","better":"lower"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in place","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/0123456789abcdef0123456789abcdef01234567"}}}
        {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"sort_10"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#2","metric":"wall_time","centre":1.35e-7,"spread":2.4e-8,"statistic":"value/range"}
        {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"sort_20"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#3","metric":"wall_time","centre":0.000018149,"spread":7.55e-7,"statistic":"value/range"}
        {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
        {"v":1,"kind":"session","id":"#4","suite":"Rust","started":"2026-01-03T03:05:00Z","tool":"github-action-benchmark","name":"Rust 89abcdef01","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"cargo"}}
        {"v":1,"kind":"run","id":"#5","session":"#4","variant":"default","version":{"commit":"89abcdef0123456789abcdef0123456789abcdef","date":"2026-01-03T03:04:05+01:00"},"metrics":{"wall_time":{"unit":"s","better":"lower"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in parallel","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/89abcdef0123456789abcdef0123456789abcdef"}}}
        {"v":1,"kind":"instance","id":"#6","run":"#5","benchmark":{"id":"sort_10"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#6","metric":"wall_time","centre":9.9e-8,"spread":4e-9,"statistic":"value/range"}
        {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#7","run":"#5","benchmark":{"id":"sort_20"},"block":0,"position":1,"attempt":0}
        {"v":1,"kind":"summary","instance":"#7","metric":"wall_time","centre":0.000016031,"spread":5.55e-7,"statistic":"value/range"}
        {"v":1,"kind":"instance_end","instance":"#7","outcome":"ok"}
        {"v":1,"kind":"session","id":"#8","suite":"Python","started":"2026-01-03T03:06:40Z","tool":"github-action-benchmark","name":"Python 89abcdef01","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"pytest"}}
        {"v":1,"kind":"run","id":"#9","session":"#8","variant":"default","version":{"commit":"89abcdef0123456789abcdef0123456789abcdef","date":"2026-01-03T03:04:05+01:00"},"metrics":{"throughput":{"unit":"1/s","better":"higher"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in parallel","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/89abcdef0123456789abcdef0123456789abcdef"}}}
        {"v":1,"kind":"instance","id":"#10","run":"#9","benchmark":{"id":"bench.py::test_sort"},"block":0,"position":0,"attempt":0,"attributes":{"extra":"mean: 24.0887 usec\nrounds: 38523","range":"stddev: 0.0000061"}}
        {"v":1,"kind":"summary","instance":"#10","metric":"throughput","n":38523,"centre":41513.27,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#10","outcome":"ok"}
        {"v":1,"kind":"session","id":"#11","suite":"Go","started":"2026-01-03T03:08:20Z","tool":"github-action-benchmark","name":"Go 89abcdef01","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"go"}}
        {"v":1,"kind":"run","id":"#12","session":"#11","variant":"default","version":{"commit":"89abcdef0123456789abcdef0123456789abcdef","date":"2026-01-03T03:04:05+01:00"},"metrics":{"B/op":{"unit":"B","better":"lower"},"allocs/op":{"unit":"allocs","better":"lower"},"wall_time":{"unit":"s","better":"lower"},"words/op":{"unit":"words","better":"lower"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in parallel","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/89abcdef0123456789abcdef0123456789abcdef"}}}
        {"v":1,"kind":"instance","id":"#13","run":"#12","benchmark":{"id":"BenchmarkSort"},"block":0,"position":0,"attempt":0,"attributes":{"extra":"5000000 times\n8 procs"}}
        {"v":1,"kind":"summary","instance":"#13","metric":"wall_time","centre":3.255e-7,"statistic":"value"}
        {"v":1,"kind":"summary","instance":"#13","metric":"B/op","centre":512.0,"statistic":"value"}
        {"v":1,"kind":"summary","instance":"#13","metric":"allocs/op","centre":3.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#13","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#14","run":"#12","benchmark":{"id":"BenchmarkSort - words/op"},"block":0,"position":1,"attempt":0,"attributes":{"extra":"5000000 times\n8 procs"}}
        {"v":1,"kind":"summary","instance":"#14","metric":"words/op","centre":8.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#14","outcome":"ok"}
        {"v":1,"kind":"session","id":"#15","suite":"Own","started":"2026-01-03T03:10:00Z","tool":"github-action-benchmark","name":"Own 89abcdef01","attributes":{"repository":"https://github.com/example/demo","source":{"file":"data.js","format":"github-action","sha256":"…"},"tool":"customBiggerIsBetter"}}
        {"v":1,"kind":"run","id":"#16","session":"#15","variant":"default","version":{"commit":"89abcdef0123456789abcdef0123456789abcdef","date":"2026-01-03T03:04:05+01:00"},"metrics":{"throughput":{"unit":"1/s","better":"higher"},"value":{"unit":"B","better":"higher"}},"attributes":{"commit":{"author":{"email":"dev@example.org","name":"dev","username":"dev"},"committer":{"email":"dev@example.org","name":"dev","username":"dev"},"distinct":true,"message":"Sort in parallel","tree_id":"9999999999999999999999999999999999999999","url":"https://github.com/example/demo/commit/89abcdef0123456789abcdef0123456789abcdef"}}}
        {"v":1,"kind":"instance","id":"#17","run":"#16","benchmark":{"id":"Throughput"},"block":0,"position":0,"attempt":0}
        {"v":1,"kind":"summary","instance":"#17","metric":"throughput","centre":70.0,"statistic":"value"}
        {"v":1,"kind":"instance_end","instance":"#17","outcome":"ok"}
        {"v":1,"kind":"instance","id":"#18","run":"#16","benchmark":{"id":"Free memory"},"block":0,"position":1,"attempt":0,"attributes":{"extra":"only\nnotes"}}
        {"v":1,"kind":"summary","instance":"#18","metric":"value","centre":150000000.0,"spread":3000000.0,"statistic":"value/range"}
        {"v":1,"kind":"instance_end","instance":"#18","outcome":"ok"}
        left, as every entry has its own date: lastUpdate
        "##);
    }

    #[test]
    fn the_direction_is_that_of_the_tool() {
        let better = |unit: &str, tool: &str| {
            let (name, unit) = quantity(unit, Tool::named(tool));
            (name, unit.metric.better)
        };
        let named = str::to_owned;
        let (lower, higher) = (Some(Better::Lower), Some(Better::Higher));
        assert_eq!(
            better("points", "customBiggerIsBetter"),
            (named("points"), higher)
        );
        assert_eq!(
            better("points", "customSmallerIsBetter"),
            (named("points"), lower)
        );
        assert_eq!(better("points", "?"), (named("points"), None));
        assert_eq!(
            better("s", "customBiggerIsBetter"),
            (named("value"), higher)
        );
        assert_eq!(
            better("MB", "customBiggerIsBetter"),
            (named("value"), higher)
        );
        assert_eq!(better("ops/ms", "jmh"), (named("throughput"), higher));
        assert_eq!(better("words/op", "go"), (named("words/op"), lower));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        insta::assert_snapshot!(refusal("github-action-benchmark-1/truncated.js"), @"truncated.js:55: the JSON is cut off");
        insta::assert_snapshot!(refusal("github-action-benchmark-1/wrong.js"), @r#"wrong.js:34: `value` of `sort_20` is not a number: "slow""#);
        insta::assert_snapshot!(refusal("github-action-benchmark-1/negative.js"), @"negative.js:34: `wall_time` of `sort_20` is negative: -0.000018149");
        insta::assert_snapshot!(refusal_of("github-action", r#"[{"name": "a", "unit": "s"}]"#), @"made-up:1: `value` is missing");
        insta::assert_snapshot!(refusal_of("github-action", r#"{"entries": {}}"#), @"made-up holds no results");
        insta::assert_snapshot!(refusal_of("github-action", "window.BENCHMARK_DATA = 3"), @"made-up:1: invalid type: integer `3`, expected an object");
    }
}
