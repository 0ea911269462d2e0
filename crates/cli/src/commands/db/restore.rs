//! `lapwing db restore`: undoes annotations.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_analyse::judge::Campaign;
use lapwing_model::text::{counted, joined_with_and};
use lapwing_record::{Change, Remark, Store};

use super::said::{AnnotationAuthor, AnnotationDraft};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Undo annotations
#[derive(Debug, Args)]
pub(super) struct RestoreCommand {
    /// First or last characters of an annotation's id; or a benchmark's id, to undo all of its
    /// annotations
    #[arg(value_name = "ANNOTATION|BENCHMARK")]
    what: String,
    /// Reason, stored with the annotation
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: Option<String>,
    #[command(flatten)]
    by: AnnotationAuthor,
}

/// Minimum length of an abbreviated id.
const SHORTEST: usize = 4;

impl RestoreCommand {
    pub(super) fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.by.keep(context, |store| self.look(store))
    }

    /// Returns the annotations that undo those currently in the store.
    fn look(&self, store: &Store) -> Result<AnnotationDraft<'_>, CliError> {
        let found = self.found(store)?;
        let all = store.annotations().all()?;
        let meant: Vec<&Remark> = found.iter().filter_map(|it| it.meant(&all)).collect();
        let what = what_is_undone(&found);
        let changes = found
            .iter()
            .map(|remark| Change::Restore {
                annotation: remark.annotation.id,
            })
            .collect();
        let touched = store.annotations().touched_by(&meant)?;
        Ok(AnnotationDraft {
            changes,
            touched: Some(touched),
            notes: Vec::new(),
            undone: found,
            reason: self.reason.as_deref(),
            done: format!("undid {what}"),
            would: format!("would undo {what}"),
        })
    }

    /// Returns the active annotations that are meant.
    fn found(&self, store: &Store) -> Result<Vec<Remark>, CliError> {
        let remarks = store.annotations().all()?;
        let fits = |remark: &&Remark| {
            let id = remark.annotation.id.to_string();
            self.what.len() >= SHORTEST && (id.starts_with(&self.what) || id.ends_with(&self.what))
        };
        let of_id: Vec<Remark> = remarks.iter().filter(fits).cloned().collect();
        match &of_id[..] {
            [] => {}
            [one] if Campaign::has_noted(&one.annotation) => {
                return Err(
                    CliError::input("attempts of a campaign are not undone").hint(
                        "one that is forgotten would make the others look better than they are",
                    ),
                );
            }
            [one] => {
                return match one.undone_by {
                    None => Ok(of_id),
                    Some(by) => Err(CliError::input(format!(
                        "{} of {} is already undone",
                        one.annotation.action, one.annotation.at
                    ))
                    .hint(format!("`lapwing db restore {by}` reinstates it"))),
                };
            }
            several => {
                let ids: Vec<String> = several
                    .iter()
                    .map(|it| it.annotation.id.to_string())
                    .collect();
                return Err(CliError::input(format!(
                    "`{}` matches {} annotations: {}",
                    self.what,
                    several.len(),
                    ids.join(", ")
                ))
                .hint("write more characters of the id"));
            }
        }
        let about = store.annotations().about(&self.what)?;
        let is_part = |it: &Remark| it.annotation.id.to_string().starts_with(&self.what);
        if about.is_empty() && self.what.len() < SHORTEST && remarks.iter().any(is_part) {
            return Err(CliError::input(format!("`{}` is too short", self.what))
                .hint(format!("write at least {SHORTEST} characters of the id")));
        }
        if about.is_empty() {
            return Err(CliError::input(format!(
                "`{}` is neither an annotation nor a benchmark with active annotations",
                self.what
            ))
            .hint("`lapwing db annotations` lists all annotations"));
        }
        Ok(about)
    }
}

/// Returns what is undone: `the retirement of 2026-11-20 10:00:00`, `2 renames and 1 retirement`.
fn what_is_undone(found: &[Remark]) -> String {
    let noun = |remark: &Remark| match remark.annotation.action.as_str() {
        "retire" => "retirement",
        "restore" => "restoration",
        "triage" => "triage decision",
        "withdraw" => "withdrawal",
        _ => "rename",
    };
    if let [one] = found {
        let at = one.annotation.at.strftime("%Y-%m-%d %H:%M:%S");
        return format!("the {} of {at}", noun(one));
    }
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for remark in found {
        let noun = noun(remark);
        match counts.iter_mut().find(|(known, _)| *known == noun) {
            Some((_, count)) => *count += 1,
            None => counts.push((noun, 1)),
        }
    }
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(noun, count)| counted(count, noun))
        .collect();
    joined_with_and(&parts)
}
