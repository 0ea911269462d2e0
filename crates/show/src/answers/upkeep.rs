//! Upkeep of stores: `lapwing db merge`, `purge`, `check` and `rescue`.

use std::path::Path;

use lapwing_model::text::{counted, grouped};
use lapwing_record::{AnnotationCounts, PurgeCounts, RescueReport};
use schemars::JsonSchema;
use serde::Serialize;

use super::annotating::came_note;
use super::named_value::leaves;
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, ReadyAnswer, Table, TextAnswer, WriteError};

/// The kind of a merge.
pub const MERGE: AnswerKind = AnswerKind::of::<MergeFields<'_>>("db-merge").listing("files");
/// The kind of a purge.
pub const PURGE: AnswerKind = AnswerKind::of::<PurgeFields<'_>>("db-purge");
/// The kind of a check.
pub const CHECK: AnswerKind = AnswerKind::of::<CheckFields<'_>>("db-check").listing("checks");
/// The kind of a rescue.
pub const RESCUE: AnswerKind = AnswerKind::of::<RescueFields<'_>>("db-rescue").listing("lost");

/// Maximum number of losses in text.
const LISTED: usize = 20;

/// A merge for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct MergeFields<'a> {
    /// The store that the records were copied to.
    store: &'a Path,
    /// Number of stores that were merged.
    merged_stores: usize,
    new_records: u64,
    /// Number of records that were there before.
    known_records: u64,
    files: &'a [MergedStore],
}

/// A store that was merged.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct MergedStore {
    /// Its path.
    pub file: String,
    /// Number of copied records.
    pub new_records: u64,
    /// Number of records that were there before.
    pub known_records: u64,
}

/// Returns the answer of a merge into a store.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn merged(
    store: &Path,
    files: &[MergedStore],
    came: &AnnotationCounts,
) -> Result<ReadyAnswer, WriteError> {
    let fields = MergeFields {
        store,
        merged_stores: files.len(),
        new_records: files.iter().map(|it| it.new_records).sum(),
        known_records: files.iter().map(|it| it.known_records).sum(),
        files,
    };
    let of = |name: &str, new: u64, known: u64| {
        let new = counted(new, "record");
        format!("{name}: {new} new, {} already present", grouped(known))
    };
    let mut text = TextAnswer {
        notes: came_note(came).into_iter().collect(),
        ..TextAnswer::default()
    };
    if let [only] = files {
        text.headline = of(&only.file, only.new_records, only.known_records);
    } else {
        let stores = counted(files.len(), "store");
        text.headline = of(&stores, fields.new_records, fields.known_records);
        text.table = Table::new(&[("store", Left), ("new", Right), ("already present", Right)]);
        for it in files {
            text.table.row(vec![
                it.file.clone(),
                grouped(it.new_records),
                grouped(it.known_records),
            ]);
        }
    }
    ReadyAnswer::new(&MERGE, text, &fields, files)
}

/// A purge for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct PurgeFields<'a> {
    store: &'a Path,
    /// Whether nothing was deleted.
    dry_run: bool,
    /// Number of sessions without anything left; `null` in a dry run.
    sessions: Option<u64>,
    /// Number of runs without anything left; `null` in a dry run.
    runs: Option<u64>,
    instances: u64,
    iterations: u64,
    /// Number of summaries of sources that kept no samples.
    summaries: u64,
    /// Number of annotations, such as acceptances, names and attempts of campaigns; they go only with everything.
    annotations: u64,
}

/// Returns the answer of a purge, or of one that was only tried.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn purged(
    store: &Path,
    counts: &PurgeCounts,
    dry_run: bool,
) -> Result<ReadyAnswer, WriteError> {
    let mut measured = Vec::new();
    if counts.iterations > 0 || counts.summaries == 0 {
        measured.push(counted(counts.iterations, "iteration"));
    }
    if counts.summaries > 0 {
        measured.push(counted(counts.summaries, "summary"));
    }
    let instances = counted(counts.instances, "instance");
    let mut text = TextAnswer::default();
    if dry_run {
        let measured = measured.join(" and ");
        let store = store.display();
        text.headline = format!("would delete {instances} with {measured} from {store}");
        text.notes = vec![Note::marked(
            "dry_run",
            "nothing was deleted; add --yes to delete permanently",
        )];
    } else {
        text.headline = format!(
            "deleted {}, {instances}, {} and {}",
            measured.join(", "),
            counted(counts.runs, "run"),
            counted(counts.sessions, "session")
        );
        if counts.log_in_use {
            let note = format!(
                "another process has the store open: what was deleted is readable in {}-wal until it ends",
                store.display()
            );
            text.notes = vec![Note::marked("log_in_use", note)];
        }
    }
    if counts.annotations > 0 {
        let go = if dry_run { "would go too" } else { "went too" };
        let all = counted(counts.annotations, "annotation");
        let note = format!("{all} {go}: acceptances, names, attempts of campaigns");
        text.notes.insert(0, Note::marked("annotations", note));
    }
    let fields = PurgeFields {
        store,
        dry_run,
        sessions: (!dry_run).then_some(counts.sessions),
        runs: (!dry_run).then_some(counts.runs),
        instances: counts.instances,
        iterations: counts.iterations,
        summaries: counts.summaries,
        annotations: counts.annotations,
    };
    let rows = leaves(&serde_json::to_value(&fields)?);
    ReadyAnswer::new(&PURGE, text, &fields, &rows)
}

/// A check of a store without damage, for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct CheckFields<'a> {
    store: &'a Path,
    /// Number of checks.
    checked: usize,
    /// What was checked.
    checks: Vec<CheckedThing<'a>>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct CheckedThing<'a> {
    check: &'a str,
}

/// Returns the answer of checks that found no damage.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn no_damage(store: &Path, checks: &[&str]) -> Result<ReadyAnswer, WriteError> {
    let headline = format!(
        "{}: no damage found ({})",
        store.display(),
        counted(checks.len(), "check")
    );
    let things = || checks.iter().map(|check| CheckedThing { check });
    let fields = CheckFields {
        store,
        checked: checks.len(),
        checks: things().collect(),
    };
    let rows: Vec<CheckedThing<'_>> = things().collect();
    let text = TextAnswer {
        headline,
        ..TextAnswer::default()
    };
    let mut answer = ReadyAnswer::new(&CHECK, text, &fields, &rows)?;
    answer.verdict = Some("undamaged");
    Ok(answer)
}

/// A rescue for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct RescueFields<'a> {
    damaged: &'a Path,
    /// The new store.
    output: &'a Path,
    saved_records: u64,
    /// The least number of lost records.
    lost_records: u64,
    /// Number of pages of the file that cannot be read.
    unreadable_pages: u64,
    /// What is known to be lost.
    lost: Vec<LostThing<'a>>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct LostThing<'a> {
    what: &'a str,
}

/// Returns the answer of a rescue into a new store.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn rescued(
    damaged: &Path,
    output: &Path,
    report: &RescueReport,
) -> Result<ReadyAnswer, WriteError> {
    let mut losses = Vec::new();
    if report.lost_records > 0 {
        let records = counted(report.lost_records, "record");
        losses.push(format!("lost at least {records}"));
    }
    if report.unreadable_pages > 0 {
        let pages = counted(report.unreadable_pages, "page");
        losses.push(format!("{pages} of the file cannot be read"));
    }
    if report.lost.is_empty() && report.saved.total().new == 0 {
        losses.push("no record was found there: is it a store?".to_owned());
    } else if report.lost.is_empty() {
        losses.push("no record is known to be lost".to_owned());
    } else if losses.is_empty() {
        losses.push("the rest is complete".to_owned());
    }
    let saved_records = report.saved.total().new;
    let mut text = TextAnswer {
        headline: format!(
            "saved {} into {}; {}",
            counted(saved_records, "record"),
            output.display(),
            losses.join("; ")
        ),
        table: Table::new(&[("lost", Left)]),
        ..TextAnswer::default()
    };
    for what in report.lost.iter().take(LISTED) {
        text.table.row(vec![what.clone()]);
    }
    if let Some(more @ 1..) = report.lost.len().checked_sub(LISTED) {
        let note = format!("{} more are lost; `--format json` lists all", grouped(more));
        text.notes = vec![Note::new("more_losses", note).with("losses", more)];
    }
    let lost = || report.lost.iter().map(|what| LostThing { what });
    let fields = RescueFields {
        damaged,
        output,
        saved_records,
        lost_records: report.lost_records,
        unreadable_pages: report.unreadable_pages,
        lost: lost().collect(),
    };
    ReadyAnswer::new(&RESCUE, text, &fields, &lost().collect::<Vec<_>>())
}
