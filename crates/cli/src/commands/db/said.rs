//! Adding annotations: author, reason, dry run.

use std::collections::BTreeSet;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use jiff::{SignedDuration, Timestamp};
use lapwing_analyse::sample::{RunKey, SampleFilter, Selector};
use lapwing_measure::user_name;
use lapwing_model::text::first_names;
use lapwing_model::{Annotation, Id, Object, matches_pattern};
use lapwing_record::{Change, Filter, Remark, Store, TouchedCounts};
use lapwing_show::answers::annotating::AddedAnnotations;
use lapwing_show::writing::Note;

use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, merged, parse_selector};
use crate::store::open_for_reading;

/// Author of an annotation, and whether this is a dry run
#[derive(Debug, Args)]
pub(in crate::commands) struct AnnotationAuthor {
    /// Author, stored with the annotation [default: git's user.name, or the login name]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    by: Option<String>,
    /// Show what would be done, without doing it
    #[arg(long)]
    dry_run: bool,
}

/// The part of a benchmark's results that an annotation is about
#[derive(Debug, Args)]
pub(in crate::commands) struct AnnotatedResults {
    /// Only results that meet these conditions: `suite=NAME`; to retire also `version=VERSION` (name or
    /// commit) and `until=DATE` [default: now]
    #[arg(long = "where", value_name = "CONDITIONS", value_parser = parse_selector)]
    conditions: Vec<Selector>,
}

impl AnnotatedResults {
    /// Returns the conditions, which are about suites, and about versions and times if that is possible.
    pub(in crate::commands) fn selector(&self, keys: &[RunKey]) -> Result<Selector, CliError> {
        let all = merged(&self.conditions)?;
        let rest = all.besides(keys);
        // What is renamed has all of its results renamed, whenever they were measured.
        let is_timed = all.until().is_some() && !keys.contains(&RunKey::Version);
        if is_timed || rest != Selector::default() {
            return Err(
                CliError::input(format!("`{all}` cannot limit this")).hint(format!(
                    "the conditions are {}",
                    keys.iter()
                        .map(|it| it.name())
                        .collect::<Vec<_>>()
                        .join(", ")
                )),
            );
        }
        Ok(all)
    }
}

/// Annotations to add, and the messages about them.
pub(in crate::commands) struct AnnotationDraft<'s> {
    pub(in crate::commands) changes: Vec<Change>,
    /// Benchmarks and instances affected; `None` for annotations of what was found.
    pub(in crate::commands) touched: Option<TouchedCounts>,
    pub(in crate::commands) notes: Vec<Note>,
    /// Annotations that are undone.
    pub(in crate::commands) undone: Vec<Remark>,
    pub(in crate::commands) reason: Option<&'s str>,
    /// Message when done: `renamed a to b`.
    pub(in crate::commands) done: String,
    /// Message of a dry run: `would rename a to b`.
    pub(in crate::commands) would: String,
}

impl AnnotationAuthor {
    /// Adds the annotations that `look` derives from the store, and reports what they affect.
    ///
    /// If another process adds annotations between looking and adding, it looks again.
    pub(in crate::commands) fn keep<'s>(
        &self,
        context: &Context,
        look: impl Fn(&Store) -> Result<AnnotationDraft<'s>, CliError>,
    ) -> Result<ExitStatus, CliError> {
        let mut store = open_for_reading(context)?;
        let mut by = None;
        let (said, records) = loop {
            let known = store.annotations().ids()?;
            let said = look(&store)?;
            let by = by.get_or_insert_with(|| self.by.clone().unwrap_or_else(author_name));
            let last = store.annotations().last_said(&said.changes)?;
            let records = annotations(&said.changes, by, said.reason, last);
            if self.dry_run
                || store.write(|writer| writer.put_unless_annotated_since(&known, &records))?
            {
                break (said, records);
            }
        };
        let answer = AddedAnnotations {
            sentence: if self.dry_run { said.would } else { said.done },
            dry_run: self.dry_run,
            touched: said.touched,
            annotations: records.iter().collect(),
            undone: &said.undone,
            notes: said.notes,
            program: context.program(),
        };
        context.show(&answer.answer()?, &AnswerOptions::default())
    }
}

/// Returns the annotations, dated after the last one that they answer: clocks of other machines may
/// be ahead.
pub(in crate::commands) fn annotations(
    changes: &[Change],
    by: &str,
    reason: Option<&str>,
    last: Option<Timestamp>,
) -> Vec<Annotation> {
    let now = Timestamp::now();
    let after = last.map(|last| {
        last.checked_add(SignedDuration::from_micros(1))
            .unwrap_or(Timestamp::MAX)
    });
    let at = after.map_or(now, |it| it.max(now));
    let annotation = |change: &Change| Annotation {
        id: Id::from(uuid::Uuid::now_v7()),
        at,
        by: by.to_owned(),
        action: change.action().to_owned(),
        target: change.target(),
        reason: reason.map(str::to_owned),
        extra: Object::new(),
    };
    changes.iter().map(annotation).collect()
}

/// Returns suite and current id of the benchmarks that a name or pattern matches.
pub(in crate::commands) fn benchmarks_named(
    store: &Store,
    text: &str,
    suites: &[String],
) -> Result<Vec<(String, String)>, CliError> {
    let filter = Filter {
        benchmarks: vec![text.to_owned()],
        ..SampleFilter::of_suites(suites).resolve(store)?
    };
    let rows = store.catalogue().benchmarks(&filter.with_retired())?;
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
        return Err(
            CliError::input(format!("`{text}` was renamed to {now}")).hint("use its current id")
        );
    }
    // The same id may be in several suites.
    let names: BTreeSet<String> = found.into_iter().map(|it| format!("`{}`", it.1)).collect();
    let names: Vec<String> = names.into_iter().collect();
    Err(
        CliError::input(format!("no benchmark is called `{text}`")).hint(format!(
            "similar ids: {}; give a full id, or a pattern with *",
            names.join(", ")
        )),
    )
}

/// Returns the current ids of benchmarks that once had this id, quoted, without duplicates.
fn names_of_now(store: &Store, text: &str, suites: &[String]) -> Result<Vec<String>, CliError> {
    let filter = SampleFilter::of_suites(suites).resolve(store)?;
    let rows = store.catalogue().benchmarks(&filter.with_retired())?;
    let suites: BTreeSet<&String> = rows.iter().map(|row| &row.suite).collect();
    let mut names = BTreeSet::new();
    for suite in suites {
        if let [_, .., now] = &store.annotations().names_since(suite, text, None)?[..] {
            names.insert(format!("`{now}`"));
        }
    }
    Ok(names.into_iter().collect())
}

/// Returns whether a text is a pattern.
fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Returns whether a text that looks like a pattern is the id of one of the benchmarks found; the
/// id then takes precedence.
pub(in crate::commands) fn is_exact(text: &str, found: &[(String, String)]) -> bool {
    is_pattern(text) && found.iter().any(|(_, id)| id == text)
}

/// Returns each text, or a single `None`.
pub(super) fn each(texts: &[String]) -> Vec<Option<String>> {
    match texts {
        [] => vec![None],
        some => some.iter().cloned().map(Some).collect(),
    }
}

/// Returns the user name of git, or the login name.
pub(in crate::commands) fn author_name() -> String {
    user_name()
        .or_else(|| std::env::var("USER").ok())
        .or_else(|| std::env::var("LOGNAME").ok())
        .filter(|name| !name.is_empty())
        .or_else(login_name)
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the name of this user among those of the system. A container or a timer may have no variable with it.
fn login_name() -> Option<String> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let own = rustix::process::geteuid().as_raw().to_string();
    let mut users = users.lines().map(|line| line.split(':'));
    users.find_map(|mut user| {
        let name = user.next()?;
        (user.nth(1)? == own).then(|| name.to_owned())
    })
}
