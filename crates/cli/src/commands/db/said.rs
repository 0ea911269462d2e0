//! Who says something of measurements, and why; keeping it.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use jiff::{SignedDuration, Timestamp};
use lapwing_core::model::{Annotation, Id, Object, Record, matches_pattern};
use lapwing_core::record::{Change, Filter, Store, Touched};
use lapwing_core::text::{counted, first_names};

use crate::error::{CliError, Exit};
use crate::options::Context;
use crate::store::open_for_reading;

/// Who says it, and whether it is only tried out
#[derive(Debug, Args)]
pub(super) struct By {
    /// Who says so [default: user.name of git, else the login]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    by: Option<String>,
    /// Say what it would be about, and keep nothing
    #[arg(long)]
    dry_run: bool,
}

/// What is to be kept, and how to tell people of it.
pub(super) struct Said<'s> {
    /// What it asks for.
    pub(super) changes: Vec<Change>,
    /// What that is about.
    pub(super) touched: Touched,
    /// What else is to be known.
    pub(super) notes: Vec<String>,
    /// Why.
    pub(super) reason: Option<&'s str>,
    /// What was done: `renamed a to b`.
    pub(super) done: String,
    /// What a dry run says of it: `would rename a to b`.
    pub(super) would: String,
}

impl By {
    /// Keeps the annotations that come of looking at the store, and says what they are about.
    ///
    /// When others say something between looking and keeping, it looks again.
    pub(super) fn keep<'s>(
        &self,
        context: &Context,
        look: impl Fn(&Store) -> Result<Said<'s>, CliError>,
    ) -> Result<Exit, CliError> {
        let mut store = open_for_reading(context)?;
        let mut by = None;
        let (said, records) = loop {
            let known = store.annotation_ids()?;
            let said = look(&store)?;
            if self.dry_run {
                break (said, Vec::new());
            }
            let by = by.get_or_insert_with(|| self.by.clone().unwrap_or_else(somebody));
            let records = records(&said, by, store.last_said(&said.changes)?);
            if store.append_if_nothing_was_said(&known, &records)? {
                break (said, records);
            }
        };
        for note in &said.notes {
            context.terminal.note(note);
        }
        let about = format!(
            "{}, {}",
            counted(said.touched.benchmarks, "benchmark"),
            counted(said.touched.instances, "instance")
        );
        let mut out = context.terminal.out();
        if self.dry_run {
            writeln!(out, "{}: {about}", said.would)?;
            context.terminal.note("nothing was changed");
            return Ok(Exit::Fine);
        }
        writeln!(out, "{}: {about}", said.done)?;
        let undoable: Vec<Id> = records
            .iter()
            .filter_map(|record| match record {
                Record::Annotation(it) if it.action != "restore" => Some(it.id),
                _other => None,
            })
            .collect();
        match &undoable[..] {
            [] => {}
            [id] => writeln!(out, "  `lapwing db restore {id}` undoes it")?,
            several => writeln!(
                out,
                "  {} were kept: `lapwing db annotations` lists them, `lapwing db restore ID` undoes one",
                counted(several.len(), "annotation")
            )?,
        }
        Ok(Exit::Fine)
    }
}

/// Returns the annotations, dated after the last one that they answer: clocks of other machines may
/// be ahead.
fn records(said: &Said<'_>, by: &str, last: Option<Timestamp>) -> Vec<Record> {
    let now = Timestamp::now();
    let after = last.map(|it| {
        it.checked_add(SignedDuration::from_micros(1))
            .unwrap_or(Timestamp::MAX)
    });
    let at = after.map_or(now, |it| it.max(now));
    let record = |change: &Change| {
        Record::Annotation(Annotation {
            id: Id::from(uuid::Uuid::now_v7()),
            at,
            by: by.to_owned(),
            action: change.action().to_owned(),
            target: change.target(),
            reason: said.reason.map(str::to_owned),
            extra: Object::new(),
        })
    };
    said.changes.iter().map(record).collect()
}

/// Returns suite and present id of the benchmarks that a name, or a pattern, means.
pub(super) fn benchmarks_named(
    store: &Store,
    text: &str,
    suites: &[String],
) -> Result<Vec<(String, String)>, CliError> {
    let filter = Filter {
        suites: suites.to_vec(),
        benchmarks: vec![text.to_owned()],
        ..Filter::default()
    };
    let rows = store.benchmarks(&filter.with_retired())?;
    let found: Vec<(String, String)> = rows
        .iter()
        .map(|row| (row.suite.clone(), row.benchmark.clone()))
        .collect();
    let fits = |id: &str| id == text || is_pattern(text) && matches_pattern(text, id);
    if found.iter().any(|(_, id)| fits(id)) {
        return Ok(found);
    }
    let now = match is_pattern(text) {
        // It fits ids that they had before.
        true => found.iter().map(|(_, id)| format!("`{id}`")).collect(),
        false => names_of_now(store, text, suites)?,
    };
    if !now.is_empty() {
        let now = first_names(&now, 3);
        return Err(CliError::input(format!("`{text}` is called {now} by now"))
            .hint("name it by the id that it has now"));
    }
    // The same id may be in several suites.
    let names: BTreeSet<String> = found.into_iter().map(|it| format!("`{}`", it.1)).collect();
    let names: Vec<String> = names.into_iter().collect();
    Err(
        CliError::input(format!("no benchmark is called `{text}`")).hint(format!(
            "it may mean {}; write a whole id, or a pattern with *",
            names.join(", ")
        )),
    )
}

/// Returns the ids that benchmarks have now which once had this one, quoted, each once.
fn names_of_now(store: &Store, text: &str, suites: &[String]) -> Result<Vec<String>, CliError> {
    let filter = Filter {
        suites: suites.to_vec(),
        ..Filter::default()
    };
    let rows = store.benchmarks(&filter.with_retired())?;
    let suites: BTreeSet<&String> = rows.iter().map(|row| &row.suite).collect();
    let mut names = BTreeSet::new();
    for suite in suites {
        if let [_, .., now] = &store.ids_since(suite, text)?[..] {
            names.insert(format!("`{now}`"));
        }
    }
    Ok(names.into_iter().collect())
}

/// Returns whether a text may mean several benchmarks.
fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Returns whether a text that looks like a pattern is the id of one of the benchmarks found, which
/// then is what it means.
pub(super) fn is_exact(text: &str, found: &[(String, String)]) -> bool {
    is_pattern(text) && found.iter().any(|(_, id)| id == text)
}

/// Returns the name by which commits are signed here, or the login.
fn somebody() -> String {
    let git = Command::new("git")
        .args(["config", "user.name"])
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|it| it.status.success());
    let name = git.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    name.filter(|name| !name.is_empty())
        .or_else(|| std::env::var("USER").ok())
        .or_else(|| std::env::var("LOGNAME").ok())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}
