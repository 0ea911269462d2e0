//! Who says something of measurements, and why; keeping it.

use std::io::Write;
use std::process::{Command, Stdio};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_core::model::{Annotation, Id, Object, Record};
use lapwing_core::record::{Change, Filter, Store, Touched};

use crate::error::{CliError, Exit};
use crate::options::Context;
use crate::table::counted;

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
    /// Why.
    pub(super) reason: Option<&'s str>,
    /// What was done: `renamed a to b`.
    pub(super) done: String,
    /// What a dry run says of it: `would rename a to b`.
    pub(super) would: String,
}

impl By {
    /// Keeps annotations and says what they are about.
    pub(super) fn keep(
        &self,
        store: &mut Store,
        said: Said<'_>,
        context: &Context,
    ) -> Result<Exit, CliError> {
        let touched = store.touched(&said.changes)?;
        self.keep_about(store, said, touched, context)
    }

    /// Keeps annotations and says that they are about so much.
    pub(super) fn keep_about(
        &self,
        store: &mut Store,
        said: Said<'_>,
        touched: Touched,
        context: &Context,
    ) -> Result<Exit, CliError> {
        let about = format!(
            "{}, {}",
            counted(touched.benchmarks, "benchmark"),
            counted(touched.instances, "instance")
        );
        let mut out = context.terminal.out();
        if self.dry_run {
            writeln!(out, "{}: {about}", said.would)?;
            context.terminal.note("nothing was changed");
            return Ok(Exit::Fine);
        }
        let by = self.by.clone().unwrap_or_else(somebody);
        let at = jiff::Timestamp::now();
        let records: Vec<Record> = said
            .changes
            .iter()
            .map(|change| {
                Record::Annotation(Annotation {
                    id: Id::from(uuid::Uuid::now_v7()),
                    at,
                    by: by.clone(),
                    action: change.action().to_owned(),
                    target: change.target(),
                    reason: said.reason.map(str::to_owned),
                    extra: Object::new(),
                })
            })
            .collect();
        store.append(&records)?;
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
                counted(several.len() as u64, "annotation")
            )?,
        }
        Ok(Exit::Fine)
    }
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
    if is_pattern(text) || found.iter().any(|(_, id)| id == text) {
        return Ok(found);
    }
    let names: Vec<String> = found.into_iter().map(|(_, id)| format!("`{id}`")).collect();
    let now = rows
        .iter()
        .map(|row| store.ids_since(&row.suite, text))
        .collect::<Result<Vec<_>, _>>()?
        .iter()
        .any(|ids| ids.len() > 1);
    let error = CliError::input(if now {
        format!("`{text}` is called {} by now", names.join(", "))
    } else {
        format!("no benchmark is called `{text}`")
    });
    Err(error.hint(match now {
        true => "name it by the id that it has now".to_owned(),
        false => format!(
            "it may mean {}; write a whole id, or a pattern with *",
            names.join(", ")
        ),
    }))
}

/// Returns whether a text may mean several benchmarks.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
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
