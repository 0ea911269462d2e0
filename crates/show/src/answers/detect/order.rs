//! Notes on the order of the runs, and on those that are not judged.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::sample::{MainRuns, RunOrder};
use lapwing_model::text::{counted, first_names, joined_with_and, plural};

use crate::writing::Note;

/// Returns the order of all suites: `version_dates`, or `mixed` if they differ; `None` without any.
pub fn order_name(orders: &BTreeMap<String, RunOrder>) -> Option<&'static str> {
    let distinct: BTreeSet<RunOrder> = orders.values().copied().collect();
    match distinct.first() {
        Some(order) if distinct.len() == 1 => Some(order.name()),
        Some(_) => Some("mixed"),
        None => None,
    }
}

/// Returns the order of runs in words.
fn order_text(order: RunOrder) -> &'static str {
    match order {
        RunOrder::Commits => "order of the commits of the default branch",
        RunOrder::VersionDates => "order of the dates of the versions",
        RunOrder::VersionNames => "order of the names of the versions, which have no dates",
        RunOrder::StartTimes => "order of the times of measurement",
        RunOrder::FileNames => "order of the dates or numbers in the names of the files",
        RunOrder::FileOrder => "the order of the file, which has no times",
        RunOrder::FileTimes => {
            "order of the times of the files, which copying changes: dates or numbers in their names would be kept"
        }
        RunOrder::Unknown => {
            "times of the files, of which several are the same, as after copying, so that it is not known: put dates or numbers into their names"
        }
    }
}

/// Returns a note on orders other than by dates of versions or times of measurement.
pub fn order_note(orders: &BTreeMap<String, RunOrder>) -> Option<Note> {
    let distinct: BTreeSet<RunOrder> = orders.values().copied().collect();
    let is_usual = |order: &RunOrder| match order {
        RunOrder::Commits | RunOrder::VersionDates | RunOrder::StartTimes => true,
        RunOrder::VersionNames
        | RunOrder::FileNames
        | RunOrder::FileOrder
        | RunOrder::FileTimes
        | RunOrder::Unknown => false,
    };
    if distinct.iter().all(is_usual) {
        return None;
    }
    let texts = distinct.iter().map(|order| {
        let suites = orders.iter().filter(|(_, it)| *it == order);
        let suites: Vec<&str> = suites.map(|(suite, _)| suite.as_str()).collect();
        match distinct.len() {
            1 => order_text(*order).to_owned(),
            _ => format!("{} ({})", order_text(*order), first_names(suites, 3)),
        }
    });
    let texts: Vec<String> = texts.collect();
    let text = format!("the runs are in {}", texts.join("; in "));
    Some(Note::marked("order", text).with("order", order_name(orders)))
}

/// Returns the names of a few branches, or their number.
pub(in crate::answers) fn branches_text(branches: &BTreeSet<&str>) -> String {
    /// More names than this are a number.
    const NAMED: usize = 3;
    match branches.len() {
        1..=NAMED => joined_with_and(&branches.iter().copied().collect::<Vec<_>>()),
        more => format!("{more} other branches"),
    }
}

/// Returns notes on runs that are not judged.
pub fn main_notes(main: &MainRuns) -> Vec<Note> {
    let mut notes = Vec::new();
    let branches: Vec<&str> = main.branches.iter().map(String::as_str).collect();
    let default = joined_with_and(&branches);
    let branch_runs = main.branch_runs.len();
    if branch_runs > 0 {
        let others = main.other_branches();
        let runs = counted(branch_runs, "run");
        let verb = plural(branch_runs, "is", "are");
        let named = branches_text(&others);
        let text = if others.is_empty() {
            format!(
                "only the first parents of {default} are judged: {runs} of other commits {verb} not"
            )
        } else {
            format!(
                "only {default} is judged: {runs} of {named} {verb} not; `--where branch=NAME` judges another branch"
            )
        };
        let note = Note::marked("other_branches", text).with("runs", branch_runs);
        notes.push(note.with("branch", default.as_str()));
    }
    if main.is_guess {
        let text = format!("{default} has the most runs and is taken for the default branch");
        notes.push(Note::marked("default_branch", text).with("branch", default.as_str()));
    }
    let dirty_runs = main.dirty_runs.len();
    if dirty_runs > 0 {
        let runs = counted(dirty_runs, "run");
        let verb = plural(dirty_runs, "is", "are");
        let text = format!("{runs} with uncommitted changes {verb} not judged");
        notes.push(Note::marked("uncommitted", text).with("runs", dirty_runs));
    }
    notes
}
