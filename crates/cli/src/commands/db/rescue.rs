//! `lapwing db check` and `lapwing db rescue`: finds damage, and saves the rest.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_model::text::{counted, grouped};
use lapwing_record::{RescueReport, Store, StoreError, rescue};
use lapwing_show::answers::upkeep::{no_damage, rescued};
use tempfile::TempDir;

use crate::error::{CliError, ExitStatus};
use crate::hints::damaged_hint;
use crate::options::{AnswerOptions, Context, is_stdout};

/// Save everything readable of a damaged store into a new one.
#[derive(Debug, Args)]
pub(super) struct RescueCommand {
    /// The damaged store
    #[arg(value_name = "DAMAGED")]
    damaged: PathBuf,
    /// New store for the saved records; it must not exist
    #[arg(short, long, value_name = "NEW")]
    output: PathBuf,
}

/// Problems to list; the others are counted.
const LISTED: usize = 20;

impl RescueCommand {
    pub(super) fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if is_stdout(&self.output) {
            return Err(
                CliError::input("a store is a file, and not standard output")
                    .hint("name a file, such as rescued.db"),
            );
        }
        if self.output.exists() {
            return Err(CliError::input(format!("{} exists", self.output.display()))
                .hint("choose a file that does not exist"));
        }
        let saved = rescue_into(&self.damaged, &self.output)?;
        let answer = rescued(&self.damaged, &self.output, &saved)?;
        context.show(&answer, &AnswerOptions::default())
    }
}

/// Works beside the new store, where there must be room for it, too.
fn rescue_into(damaged: &Path, new: &Path) -> Result<RescueReport, CliError> {
    let folder = match new.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    fs::create_dir_all(folder)?;
    let scratch = TempDir::with_prefix_in(".lapwing-rescue-", folder)?;
    Ok(rescue(damaged, new, scratch.path())?)
}

/// Looks for damage. What SQLite cannot follow is named by a rescue into a temporary store.
pub(super) fn check(context: &Context) -> Result<ExitStatus, CliError> {
    let path = &context.store;
    let (mut problems, checks, unreadable) = match problems_of(path) {
        Ok(report) => (report.problems, report.checks, report.unreadable),
        Err(StoreError::Damaged { what, .. }) => (vec![what], Vec::new(), true),
        Err(StoreError::Sqlite { source, .. }) => (vec![source.to_string()], Vec::new(), true),
        Err(error) => return Err(error.into()),
    };
    if problems.is_empty() {
        Store::forget_damage(path);
        return context.show(&no_damage(path, &checks)?, &AnswerOptions::default());
    }
    if unreadable {
        let scratch = TempDir::with_prefix("lapwing-check-")?;
        let saved = rescue_into(path, &scratch.path().join("saved.db"))?;
        let lost = saved.lost.into_iter().map(|lost| format!("lost: {lost}"));
        problems.splice(0..0, lost);
    }
    Store::note_damage(path, &problems[0]);
    let listed = problems.len().min(LISTED);
    let mut text = problems[..listed].join("; ");
    if problems.len() > listed {
        text.push_str(&format!(
            "; and {} more",
            grouped((problems.len() - listed) as u64)
        ));
    }
    Err(CliError::input(format!(
        "{} has {}: {text}",
        path.display(),
        counted(problems.len() as u64, "problem"),
    ))
    .hint(damaged_hint(path)))
}

fn problems_of(path: &Path) -> Result<lapwing_record::CheckReport, StoreError> {
    // An inbox that waits is none of its business, and a damaged store takes nothing in.
    Store::open_existing(path)?.upkeep().check()
}
