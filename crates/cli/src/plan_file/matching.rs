//! Which entries of a plan are about which benchmarks, and what is said of the others.

use lapwing_core::model::bare_name;
use lapwing_core::suite::{PlanEntry, Unmatched, nearest};

use super::PlanFile;
use crate::error::CliError;
use crate::options::Context;
use crate::table::counted;

/// What benchmarks a plan is held against.
pub struct Names<'a> {
    /// Who has them: ``the suite `dask` ``.
    pub owner: String,
    /// Their ids.
    pub ids: Vec<&'a str>,
    /// How to see them.
    pub hint: String,
}

/// So many names are listed where there are many.
const SHOWN: usize = 5;

impl PlanFile {
    /// Returns the entry of each benchmark, and says which items are about none.
    ///
    /// # Errors
    /// When no item is about any.
    pub fn entries(
        &self,
        names: &Names,
        context: &Context,
    ) -> Result<Vec<Option<&PlanEntry>>, CliError> {
        let assignment = self.document.assign(&names.ids);
        let entries: Vec<Option<&PlanEntry>> = assignment
            .entries
            .iter()
            .map(|entry| entry.map(|at| &self.document.entries[at]))
            .collect();
        let path = self.path.display();
        let mut unknown: Vec<&str> = Vec::new();
        let mut notes: Vec<String> = Vec::new();
        for it in &assignment.unmatched {
            let item = &it.item;
            match &it.reason {
                Unmatched::Unknown => unknown.push(item),
                Unmatched::Several(ids) => notes.push(format!(
                    "`{item}` in {path} could be any of {}: write the whole id",
                    few(ids.iter().map(String::as_str))
                )),
                Unmatched::NamedByOther => notes.push(format!(
                    "`{item}` in {path} is left aside: another entry names the same benchmark"
                )),
            }
        }
        let meant = meant(&unknown, &names.ids);
        if entries.iter().all(Option::is_none) {
            if unknown.is_empty() {
                return Err(CliError::input(notes.join("; ")));
            }
            let unknown = few(unknown.into_iter());
            let what = format!("{path} names no benchmark of {}: {unknown}", names.owner);
            let hint = meant.unwrap_or_else(|| names.hint.clone());
            return Err(CliError::input(what).hint(hint));
        }
        if !unknown.is_empty() {
            let count = counted(unknown.len() as u64, "benchmark");
            let meant = meant.map_or_else(String::new, |meant| format!("; {meant}"));
            notes.push(format!(
                "{path} names {count} that {} does not have: {}{meant}",
                names.owner,
                few(unknown.into_iter())
            ));
        }
        if !context.quiet {
            for note in notes {
                context.terminal.note(&note);
            }
        }
        Ok(entries)
    }
}

/// Returns which benchmarks the first items were perhaps meant to be.
fn meant(unknown: &[&str], ids: &[&str]) -> Option<String> {
    let bare = ids.iter().map(|id| bare_name(id));
    let known: Vec<&str> = ids.iter().copied().chain(bare).collect();
    let meant: Vec<String> = unknown
        .iter()
        .take(SHOWN)
        .filter_map(|item| nearest(item, known.iter().copied()))
        .map(|name| format!("`{name}`"))
        .collect();
    (!meant.is_empty()).then(|| format!("did you mean {}?", meant.join(", ")))
}

/// Returns the first names, and how many more there are.
pub fn few<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 {
        shown
    } else {
        format!("{shown} and {more} more")
    }
}
