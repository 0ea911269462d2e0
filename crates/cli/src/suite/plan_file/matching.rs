//! The benchmarks of the entries of a plan, and notes on unknown ones.

use lapwing_measure::suite::{PlanEntry, UnmatchedReason, nearest};
use lapwing_model::bare_name;
use lapwing_model::text::{counted, first_names};

use super::PlanFile;
use crate::error::CliError;
use crate::options::Context;

/// The benchmarks that a plan may name.
pub struct BenchmarkNames<'a> {
    /// Their owner: ``the suite `dask` ``.
    pub owner: String,
    /// Their ids.
    pub ids: Vec<&'a str>,
    /// A hint on how to list them.
    pub hint: String,
}

/// More names than this are a number.
const SHOWN: usize = 5;

impl PlanFile {
    /// Returns the entry of each benchmark, and reports the items without a benchmark.
    ///
    /// # Errors
    /// No item has a benchmark.
    pub fn entries(
        &self,
        names: &BenchmarkNames,
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
                UnmatchedReason::Unknown => unknown.push(item),
                UnmatchedReason::Several(ids) => notes.push(format!(
                    "`{item}` in {path} could be any of {}: write the whole id",
                    few(ids.iter().map(String::as_str))
                )),
                UnmatchedReason::NamedByOther => notes.push(format!(
                    "`{item}` in {path} is left aside: another entry names the same benchmark"
                )),
            }
        }
        let left = names.ids.iter().zip(&entries);
        let left: Vec<&str> = left
            .filter(|(_, entry)| entry.is_none())
            .map(|(id, _)| *id)
            .collect();
        let meant = meant(&unknown, &left);
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
            let count = counted(unknown.len(), "benchmark");
            let meant = meant.map_or_else(String::new, |meant| format!("; {meant}"));
            notes.push(format!(
                "{path} names {count} that {} does not have: {}{meant}",
                names.owner,
                few(unknown.into_iter())
            ));
        }
        if !context.quiet {
            context.terminal.notes(notes);
        }
        Ok(entries)
    }
}

/// Returns suggestions: the benchmarks without an item that are nearest to the first unknown items.
fn meant(unknown: &[&str], left: &[&str]) -> Option<String> {
    let mut meant: Vec<(&str, &str)> = Vec::new();
    for item in unknown {
        if let Some(id) = nearest_id(item, left)
            && meant.iter().all(|(_, known)| *known != id)
        {
            meant.push((item, id));
        }
    }
    let said: Vec<String> = meant
        .iter()
        .take(SHOWN)
        .map(|(item, id)| match unknown.len() {
            1 => format!("`{id}`"),
            _ => format!("`{id}` for `{item}`"),
        })
        .collect();
    (!said.is_empty()).then(|| format!("did you mean {}?", said.join(", ")))
}

/// Returns the benchmark with the nearest name. A common path does not make names similar, and names that differ in
/// numbers are different benchmarks.
fn nearest_id<'a>(item: &str, ids: &[&'a str]) -> Option<&'a str> {
    let letters = |name: &str| name.replace(|it: char| it.is_ascii_digit(), "");
    let bare = bare_name(item);
    let is_other_number = |name: &str| name != bare && letters(name) == letters(bare);
    let alike: Vec<&'a str> = ids
        .iter()
        .copied()
        .filter(|id| !is_other_number(bare_name(id)))
        .collect();
    let nearest = nearest(bare, alike.iter().map(|id| bare_name(id)))?;
    let of_that_name = alike.iter().copied().filter(|id| bare_name(id) == nearest);
    // Of several in different files, the one with the most similar path.
    of_that_name.max_by_key(|id| {
        let same = id.chars().zip(item.chars());
        same.take_while(|(one, other)| one == other).count()
    })
}

/// Returns the first names, and the number of the others.
pub fn few<'a>(names: impl Iterator<Item = &'a str>) -> String {
    first_names(names.map(|name| format!("`{name}`")), SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_goes_by_the_name_and_not_by_the_path() {
        let of = |item: &str, ids: &[&'static str]| nearest_id(item, ids);
        let path = "benchmarks/hail/benchmark_table.py";
        let join = "benchmarks/hail/benchmark_table.py::test_join";
        assert_eq!(of(&format!("{path}::test_sort_by_key"), &[join]), None);
        assert_eq!(of(&format!("{path}::test_jion"), &[join]), Some(join));
        assert_eq!(of("test_jion", &[join]), Some(join));
        assert_eq!(
            of("a.py::test_join", &["b.py::test_join"]),
            Some("b.py::test_join")
        );
        assert_eq!(
            of("b.py::jion", &["a.py::join", "b.py::join"]),
            Some("b.py::join")
        );
        assert_eq!(of("scan[size=3]", &["scan[size=1]"]), None);
        assert_eq!(of("sacn[size=1]", &["scan[size=1]"]), Some("scan[size=1]"));
    }

    #[test]
    fn nothing_is_suggested_twice() {
        assert_eq!(
            meant(&["jion", "joiin"], &["join"]).as_deref(),
            Some("did you mean `join` for `jion`?")
        );
        assert_eq!(
            meant(&["jion"], &["join"]).as_deref(),
            Some("did you mean `join`?")
        );
        assert_eq!(meant(&["x"], &["join"]), None);
    }
}
