//! Tells what an import of Coiled's database could not give to instances that the store has.

use std::collections::{BTreeMap, BTreeSet};

use super::coiled_columns::{column_of, column_of_artifact};
use super::coiled_identity::is_of;
use super::coiled_row::{APART, Measured};
use super::notes::Notes;
use crate::model::{Object, Run};
use crate::record::store::{StoredInstance, StoredSession};
use crate::text::{counted, first_names, joined};

/// Names to give for each kind; the others are only counted.
const NAMED: usize = 3;

/// The account of all sessions of a database.
#[derive(Default)]
pub(super) struct Account {
    /// Rows that the store has under another name, by both names.
    renamed: BTreeMap<(String, String), u64>,
    /// Rows that say more than the store has of them.
    fuller: u64,
    /// Their sessions.
    sessions: BTreeSet<String>,
    /// What they say more, by column.
    columns: BTreeSet<String>,
    /// Rows that the store has twice.
    twice: u64,
    /// Their sessions.
    sessions_twice: BTreeSet<String>,
}

impl Account {
    /// Counts a row that the store has twice.
    pub(super) fn twice(&mut self, row: &Measured) {
        self.twice += 1;
        self.sessions_twice.insert(row.session.clone());
    }

    /// Compares a row with what the store has of it.
    pub(super) fn compare(&mut self, row: &Measured, stored: &StoredInstance, of: &StoredSession) {
        let name = &row.draft.benchmark.id;
        if !is_of(row, stored) {
            let names = (name.clone(), stored.instance.benchmark.id.clone());
            *self.renamed.entry(names).or_default() += 1;
        }
        let more = said_more(row, stored, of.runs.get(&stored.instance.run));
        if !more.is_empty() {
            self.fuller += 1;
            self.sessions.insert(row.session.clone());
            self.columns.extend(more);
        }
    }

    /// Notes what was found, in a line for each kind.
    pub(super) fn note(self, notes: &mut Notes) {
        let renamed: u64 = self.renamed.values().sum();
        if renamed > 0 {
            let names = self.renamed.keys();
            let names = names.map(|(now, before)| format!("{now} is there as {before}"));
            let the_names = match renamed {
                1 => "the name of 1 row".to_owned(),
                count => format!("the names of {count} rows"),
            };
            let what = format!("{the_names} ({})", first_names(names, NAMED));
            notes.left(&what, "the store has them under other names");
        }
        if self.fuller > 0 {
            let what = format!(
                "{} of {}",
                joined(self.columns),
                rows_of(self.fuller, self.sessions)
            );
            notes.left(
                &what,
                "the store has the rows from a copy that said less (to have it all, purge their \
                 sessions and import the copies anew, the one that says the most first)",
            );
        }
        if self.twice > 0 {
            notes.left(
                &rows_of(self.twice, self.sessions_twice),
                "the store has them twice, which merging stores can do (to have them once, purge \
                 their sessions and import the copies anew)",
            );
        }
    }
}

fn rows_of(rows: u64, sessions: BTreeSet<String>) -> String {
    let (rows, count) = (
        counted(rows, "row"),
        counted(sessions.len() as u64, "session"),
    );
    format!("{rows} in {count} ({})", first_names(sessions, NAMED))
}

/// Returns the columns of which the store has nothing.
fn said_more(row: &Measured, stored: &StoredInstance, run: Option<&Run>) -> BTreeSet<String> {
    let (draft, instance) = (&row.draft, &stored.instance);
    let mut more = BTreeSet::new();
    for metric in draft.iterations.values.keys() {
        if !stored.values.contains_key(metric) {
            more.extend(column_of(metric).map(str::to_owned));
        }
    }
    for artifact in draft.artifacts.keys() {
        if !instance.artifacts.contains_key(artifact) {
            more.extend(column_of_artifact(artifact).map(str::to_owned));
        }
    }
    let mut compare = |ours: &Object, theirs: &Object| {
        let new = ours.keys().filter(|key| !theirs.contains_key(*key));
        more.extend(new.cloned());
    };
    compare(&draft.benchmark.params, &instance.benchmark.params);
    compare(&draft.environment, &instance.environment);
    compare(&draft.job, &instance.job);
    compare(&draft.attributes, &instance.attributes);
    if let Some(run) = run {
        compare(&row.run.environment, &run.environment);
        compare(&row.run.attributes, &run.attributes);
        let packages = |environment: &Object| {
            let packages = environment.get("packages").and_then(|it| it.as_object());
            packages.cloned().unwrap_or_default()
        };
        let (ours, theirs) = (packages(&row.run.environment), packages(&run.environment));
        compare(&ours, &theirs);
    }
    // A parameter comes with another name; and what is apart, with the other table.
    more.remove("param");
    more.remove(APART);
    more.remove("packages");
    more
}
