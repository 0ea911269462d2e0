//! pytest-benchmark's JSON: one document a session, one entry a benchmark.

mod wire;

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::pytest_benchmark::wire::{PytestDocument, PytestEntry, PytestStats, Rounds};
use crate::shared::detect::{has_key, has_keys, has_own_key, is_object};
use crate::shared::intake::{
    InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft, iterations_of,
};
use crate::shared::keys::{in_words, put, put_object, take_text};
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment_of;
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Metric, Object, Version};
use lapwing_record::IterationColumns;

pub(super) const FORMAT: Format = Format::new(
    "pytest-benchmark",
    "pytest-benchmark: --benchmark-json and --benchmark-save",
    looks_like,
    read,
)
.with_keys(&["machine_info", "benchmarks", "fullname", "stats"]);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if !is_object(head) || !has_own_key(head, "benchmarks") {
        return None;
    }
    if has_key(head, "machine_info") && (has_key(head, "commit_info") || has_key(head, "stats")) {
        return Some("it has `benchmarks` and `machine_info`");
    }
    // The keys may come in any order, and the machine's behind a long list.
    has_keys(head, &["fullname", "stats"])
        .then_some("it has `benchmarks` with `fullname` and `stats`")
}

/// What can be computed again from the rounds.
const OF_ROUNDS: [&str; 11] = [
    "min",
    "max",
    "q1",
    "q3",
    "iqr_outliers",
    "stddev_outliers",
    "outliers",
    "ld15iqr",
    "hd15iqr",
    "ops",
    "total",
];

/// What can be computed again from the mean and the number of rounds.
const OF_MEAN: [&str; 2] = ["ops", "total"];

/// What goes with the mean, and what with the median.
const WITH_MEAN: [&str; 3] = ["min", "max", "stddev_outliers"];
const WITH_MEDIAN: [&str; 5] = ["q1", "q3", "ld15iqr", "hd15iqr", "iqr_outliers"];

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let mut wire: PytestDocument<'_> = document.parse()?;
    let started = moment_of("datetime", wire.datetime.as_deref())
        .map_err(|reason| document.wrong_document(reason))?;
    let tool = match &wire.version {
        Some(version) => format!("pytest-benchmark {version}"),
        None => "pytest-benchmark".to_owned(),
    };
    let session = SessionDraft {
        started,
        tool,
        attributes: std::mem::take(&mut wire.others),
        ..SessionDraft::default()
    };
    sink.notes()
        .kept_all(session.attributes.keys(), "attributes of the session");
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let mut machine = wire.machine_info.take().unwrap_or_default();
    let host = take_text(&mut machine, "node");
    let commit = wire.commit_info.take().unwrap_or_default();
    let run = intake.run(new_run(machine, commit))?;
    let read = |raw: &RawValue| read_entry(&document, raw);
    document.each_element(&wire.benchmarks, read, |spot, read| {
        let Some((mut draft, notes)) = intake.good(read) else {
            return Ok(());
        };
        intake.notes().add(notes);
        draft.host.clone_from(&host);
        intake.instance(spot, run, draft)
    })?;
    intake.finish()
}

fn read_entry(document: &Document, raw: &RawValue) -> Result<(InstanceDraft, Notes), BadLine> {
    let entry: PytestEntry<'_> = document.element(raw)?;
    let rounds = Rounds::of(document, entry.stats.data)?;
    let mut notes = Notes::default();
    let draft = new_instance(entry, rounds, &mut notes);
    let draft = draft.map_err(|reason| document.wrong(raw, reason))?;
    Ok((draft, notes))
}

fn new_run(machine: Object, mut commit: Object) -> RunDraft {
    // Outside of a repository it writes words in the place of names.
    let known = |text: String| (text != "unversioned" && !text.starts_with('(')).then_some(text);
    let dirty = commit.get("dirty").and_then(Value::as_bool);
    let version = Version {
        commit: take_text(&mut commit, "id").and_then(known),
        branch: take_text(&mut commit, "branch").and_then(known),
        date: take_text(&mut commit, "time"),
        ..Version::default()
    };
    commit.remove("dirty");
    commit.retain(|_, value| !value.is_null());
    let mut attributes = Object::new();
    put_object(&mut attributes, "commit_info", commit);
    RunDraft {
        version: Version {
            // Without a commit there is nothing that could differ from it.
            dirty: dirty.filter(|_| version.commit.is_some()),
            ..version
        },
        environment: machine,
        attributes,
        ..RunDraft::default()
    }
}

fn new_instance(
    mut entry: PytestEntry<'_>,
    rounds: Rounds,
    notes: &mut Notes,
) -> Result<InstanceDraft, String> {
    let Some(id) = entry.fullname.take().or_else(|| entry.name.take()) else {
        return Err("`fullname` is missing".to_owned());
    };
    let options = entry.options.take().unwrap_or_default();
    let metric = metric_of(&options);
    let mut attributes = std::mem::take(&mut entry.others);
    notes.kept_all(attributes.keys(), "attributes of the instance");
    if entry.param.as_ref().is_some_and(|param| !param.is_null()) {
        notes.left("param", "it stands in the benchmark's name and in `params`");
    }
    put_object(&mut attributes, "options", options);
    let extra_info = entry.extra_info.take().unwrap_or_default();
    put_object(&mut attributes, "extra_info", extra_info);
    let mut draft = InstanceDraft {
        attributes,
        metrics: BTreeMap::from([(metric.to_owned(), Metric::lower("s"))]),
        ..InstanceDraft::of(id)
    };
    draft.benchmark.params = entry.params.take().unwrap_or_default();
    draft.benchmark.tags = entry.group.take().iter().map(in_words).collect();
    put_stats(&mut draft, metric, entry.stats, rounds, notes)?;
    Ok(draft)
}

/// Its own clock is the wall's; a benchmark may ask for one that counts processor time.
fn metric_of(options: &Object) -> &'static str {
    match options.get("timer").and_then(Value::as_str) {
        Some("process_time" | "process_time_ns" | "thread_time" | "thread_time_ns") => "cpu_time",
        Some(_) | None => "wall_time",
    }
}

fn put_stats(
    draft: &mut InstanceDraft,
    metric: &str,
    mut stats: PytestStats<'_>,
    rounds: Rounds,
    notes: &mut Notes,
) -> Result<(), String> {
    let loops = stats.iterations.unwrap_or(1).max(1);
    let Rounds {
        values: mut rounds,
        cut_short,
    } = rounds;
    let expected = stats.rounds.and_then(|it| usize::try_from(it).ok());
    if cut_short || (stats.mean.is_some() && expected.is_some_and(|it| it > rounds.len())) {
        if !rounds.is_empty() {
            notes.left(
                "data",
                "it has less than all rounds; the statistics speak of all",
            );
        }
        rounds.clear();
    }
    if (stats.mean.is_some() || stats.median.is_some()) && rounds.iter().all(|it| it.is_nan()) {
        if !rounds.is_empty() {
            notes.left("data", "none of its rounds has a value");
        }
        rounds.clear();
    }
    let all_rounds = !rounds.is_empty();
    let follow: &[&str] = if all_rounds { &OF_ROUNDS } else { &OF_MEAN };
    for key in follow {
        if stats.others.remove(*key).is_some() {
            let why = if all_rounds {
                FOLLOWS
            } else {
                "they follow from the mean and the number of rounds"
            };
            notes.left(key, why);
        }
    }
    if all_rounds {
        for key in ["mean", "stddev", "median", "iqr"] {
            notes.left(key, FOLLOWS);
        }
        let count = if loops > 1 { rounds.len() } else { 0 };
        draft.iterations = IterationColumns {
            loops: vec![loops; count],
            ..iterations_of(metric, rounds)
        };
    } else {
        draft.summaries = summaries(metric, &mut stats)?;
        let several = Some(loops).filter(|loops| *loops > 1);
        put(&mut draft.attributes, "iterations", several);
    }
    // `outliers` is the two counts once more.
    stats.others.remove("outliers");
    notes.kept_all(
        stats.others.keys(),
        "attributes of the instance, under `stats`",
    );
    put_object(&mut draft.attributes, "stats", stats.others);
    Ok(())
}

fn summaries(metric: &str, stats: &mut PytestStats<'_>) -> Result<Vec<SummaryDraft>, String> {
    let n = stats.rounds;
    let mut of = |statistic: &str, centre: Option<f64>, with: &[&str]| {
        let extra = with
            .iter()
            .filter_map(|key| stats.others.remove_entry(*key))
            .filter(|(_, value)| value.is_number())
            .collect();
        centre.map(|centre| SummaryDraft {
            n,
            extra,
            ..SummaryDraft::of(metric, centre, statistic)
        })
    };
    let mean = of("mean", stats.mean, &WITH_MEAN);
    let median = of("median", stats.median, &WITH_MEDIAN);
    let summaries: Vec<SummaryDraft> = mean
        .map(|mean| mean.with_spread(stats.stddev, "sd"))
        .into_iter()
        .chain(median.map(|median| median.with_spread(stats.iqr, "iqr")))
        .collect();
    if summaries.is_empty() {
        return Err("`stats` has neither `data` nor `mean`".to_owned());
    }
    Ok(summaries)
}

#[cfg(test)]
mod tests;
