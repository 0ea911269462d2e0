//! github-action-benchmark: the array that a custom tool gives to it, and the history that
//! it keeps.

mod wire;

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::github_action::wire::{BENCH, Bench, Commit, ENTRY, History, HistoryEntry};
use crate::go::Quantity;
use crate::shared::continued::ContinuedHistory;
use crate::shared::detect::has_keys;
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::{put, put_object};
use crate::shared::notes::Notes;
use crate::shared::others::others;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::since_epoch;
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Better, Id, Object, Version};

pub(super) const FORMAT: Format = Format::new(
    "github-action",
    "github-action-benchmark: JSON results, or data.js",
    looks_like,
    read,
)
.with_keys(&["name", "value", "unit"]);

/// The program that measured, as far as the files say.
const TOOL: &str = ContinuedHistory::TOOL;

/// The sign of the array, which is no history.
pub(super) const IS_ARRAY: &str = "it is an array of `name`, `value` and `unit`";

/// What the history begins with.
const ASSIGNMENT: &str = "window.BENCHMARK_DATA";

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let begin = head.trim_ascii_start();
    if begin.starts_with(ASSIGNMENT.as_bytes()) {
        return Some("it begins with `window.BENCHMARK_DATA`");
    }
    if begin.starts_with(b"{") && has_keys(head, &["lastUpdate", "repoUrl", "entries"]) {
        return Some("it has `lastUpdate`, `repoUrl` and `entries`");
    }
    (begin.starts_with(b"[") && has_keys(head, &["name", "value", "unit"])).then_some(IS_ARRAY)
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    if document.text().trim_start().starts_with('[') {
        return read_results(&document, source, sink);
    }
    read_history(&document, source, sink)
}

/// The array has neither date nor commit nor tool.
fn read_results(
    document: &Document,
    source: &Source,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let benches: Vec<&RawValue> = document.parse()?;
    let session = SessionDraft::of(TOOL);
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let run = intake.run(RunDraft::default())?;
    read_benches(document, &benches, Tool::Unknown, run, &mut intake)?;
    intake.finish()
}

fn read_history(
    document: &Document,
    source: &Source,
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
    for (key, _) in &history.unknown.0 {
        sink.notes().left(key, "they belong to no entry");
    }
    let mut entries = 0;
    for (suite, raw) in &history.entries.0 {
        let of_suite: Vec<&RawValue> = document.element(raw).unwrap_or_else(|bad| {
            sink.bad(bad);
            Vec::new()
        });
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
                    let mut intake = Intake::begin(source, &digest, sink, session)?;
                    read_entry(document, entry, &mut intake)?;
                    intake.finish()?;
                }
                Err(bad) => sink.bad(bad),
            }
        }
    }
    if entries == 0 {
        return Err(source.without_results());
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
    wire: HistoryEntry<'d>,
    commit: Commit,
    /// What else is said of the commit.
    about_commit: Object,
    unknown: Object,
}

fn parse_entry<'d>(document: &'d Document, raw: &'d RawValue) -> Result<ParsedEntry<'d>, BadLine> {
    let wire: HistoryEntry<'d> = document.element(raw)?;
    Ok(ParsedEntry {
        commit: document.element(wire.commit)?,
        about_commit: others(document, wire.commit, &["id", "timestamp"])?,
        unknown: others(document, raw, &ENTRY)?,
        wire,
    })
}

fn session_draft(history: &History<'_>, suite: &str, entry: &ParsedEntry<'_>) -> SessionDraft {
    let mut attributes = Object::new();
    put(&mut attributes, "tool", Some(entry.wire.tool.as_str()));
    put(&mut attributes, "repository", history.repo_url.as_deref());
    attributes.extend(entry.unknown.clone());
    let short: String = entry.commit.id.chars().take(10).collect();
    SessionDraft {
        suite: Some(suite.to_owned()),
        started: since_epoch(entry.wire.date),
        name: Some(format!("{suite} {short}")),
        attributes,
        ..SessionDraft::of(TOOL)
    }
}

fn read_entry(
    document: &Document,
    entry: ParsedEntry<'_>,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    intake
        .notes()
        .kept_all(entry.unknown.keys(), "attributes of the session");
    intake
        .notes()
        .left("lastUpdate", "every entry has its own date");
    let mut attributes = Object::new();
    put_object(&mut attributes, "commit", entry.about_commit);
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
    read_benches(document, &entry.wire.benches, tool, run, intake)
}

fn read_benches(
    document: &Document,
    benches: &[&RawValue],
    tool: Tool,
    run: Id,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    let mut results: Vec<(&RawValue, Result<ReadBench, BadLine>)> = Vec::new();
    // The place of the first result of each name.
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for raw in benches {
        let result = read_bench(document, raw, tool, intake.notes());
        if let Ok(part) = &result
            && let Some(&whole) = part.whole().and_then(|name| places.get(name))
            && let (_, Ok(whole)) = &mut results[whole]
        {
            fold(&part.draft, &mut whole.draft);
            let why = "they repeat a unit of another result, which has it as a metric";
            intake.notes().left(&part.draft.benchmark.id, why);
            continue;
        }
        if let Ok(result) = &result {
            let name = result.draft.benchmark.id.clone();
            places.entry(name).or_insert(results.len());
        }
        results.push((raw, result));
    }
    for (raw, result) in results {
        let draft = result.map(|result| result.draft);
        intake.read_instance(document.spot_of(raw.get()), run, draft)?;
    }
    Ok(())
}

/// A result that was read.
struct ReadBench {
    unit: String,
    draft: InstanceDraft,
}

impl ReadBench {
    /// Returns the name of the result that `X - unit` is a part of. Newer versions write one such part for each of Go's
    /// units, behind the result with all of them.
    fn whole(&self) -> Option<&str> {
        let (name, unit) = self.draft.benchmark.id.rsplit_once(" - ")?;
        (self.unit.trim() == unit).then_some(name)
    }
}

/// Adds the metrics of a part that the whole does not have.
fn fold(part: &InstanceDraft, whole: &mut InstanceDraft) {
    for summary in &part.summaries {
        if let Some(metric) = part.metrics.get(&summary.metric)
            && !whole.metrics.contains_key(&summary.metric)
        {
            whole.metrics.insert(summary.metric.clone(), metric.clone());
            whole.summaries.push(summary.clone());
        }
    }
}

fn read_bench(
    document: &Document,
    raw: &RawValue,
    tool: Tool,
    notes: &mut Notes,
) -> Result<ReadBench, BadLine> {
    let bench: Bench = document.element(raw)?;
    let unknown = others(document, raw, &BENCH)?;
    notes.kept_all(unknown.keys(), "attributes of the instance");
    let draft = instance_draft(&bench, unknown, tool);
    let draft = draft.map_err(|why| document.wrong(raw, why))?;
    if !draft.summaries.iter().any(|it| it.centre.is_finite()) {
        notes.left(&bench.name, "it has no value");
    }
    let unit = bench.unit;
    Ok(ReadBench { unit, draft })
}

/// Whose results they are, which says what is better where the unit does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    /// A custom tool whose results are better if smaller.
    SmallerIsBetter,
    /// A custom tool whose results are better if bigger.
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

    /// Returns the direction of a unit: as declared by custom tools; for others
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
        attributes: unknown,
        ..InstanceDraft::of(&bench.name)
    };
    put(&mut draft.attributes, "extra", bench.extra.as_deref());
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
    let range = bench.range.clone().filter(|it| !it.is_null());
    let range = range.filter(|_| spread.is_none());
    put(&mut draft.attributes, "range", range);
    let summary = SummaryDraft {
        n: bench.samples(),
        ..SummaryDraft::of(&metric, unit.base(value), "value")
    };
    draft.summarise(&unit, summary.with_spread(spread, "range"));
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
            let summary = SummaryDraft::of(&metric, unit.base(number), "value");
            draft.summarise(&unit, summary);
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
    let of_unit = base.metric.better;
    let better = tool.better(of_unit);
    // A duration that gets better upwards is not what a benchmark takes.
    let name = match base.metric.unit.as_str() {
        _any if of_unit.is_some() && better != of_unit => "value",
        "s" => "wall_time",
        // Two names, so that a metric has one unit whatever a file holds.
        "B/s" => "bytes_per_second",
        "1/s" => "throughput",
        "B" => "bytes",
        "" | "1" => "value",
        _other => unit,
    };
    (name.to_owned(), base.with_better(better))
}

#[cfg(test)]
mod tests;
