//! The runs of a side, and those that are left out of it.

use std::collections::BTreeSet;

use super::{MainRuns, Selector};
use lapwing_model::Id;
use lapwing_record::RunHead;

/// The runs of a side.
#[derive(Debug, Default)]
pub(super) struct ChosenRuns<'r> {
    pub(super) runs: Vec<&'r RunHead>,
    /// Those that are left out because of uncommitted changes.
    pub(super) uncommitted: Vec<&'r RunHead>,
    /// Those of other branches or commits, which are left out, too.
    pub(super) others: Vec<&'r RunHead>,
}

impl<'r> ChosenRuns<'r> {
    pub(super) fn of(runs: &'r [RunHead], ids: &BTreeSet<Id>) -> Self {
        Self {
            runs: runs.iter().filter(|run| ids.contains(&run.id)).collect(),
            ..Self::default()
        }
    }

    /// Leaves out the runs that are not the default branch's.
    pub(super) fn of_main(self, main: &MainRuns) -> Self {
        let (others, of_main) =
            (self.runs.into_iter()).partition(|run| main.branch_runs.contains_key(&run.id));
        let of_main: Vec<&RunHead> = of_main;
        let (uncommitted, runs) =
            (of_main.into_iter()).partition(|run| main.dirty_runs.contains(&run.id));
        Self {
            runs,
            uncommitted,
            others,
        }
    }

    /// Leaves out the runs with uncommitted changes of each suite that has others.
    pub(super) fn without_uncommitted(self) -> Self {
        let is_dirty = |run: &RunHead| run.dirty == Some(true);
        let clean = self.runs.iter().filter(|run| !is_dirty(run));
        let suites: BTreeSet<&str> = clean.map(|run| run.suite.as_str()).collect();
        let is_left_out = |run: &&RunHead| is_dirty(run) && suites.contains(run.suite.as_str());
        let (uncommitted, runs) = self.runs.into_iter().partition(is_left_out);
        Self {
            runs,
            uncommitted,
            others: self.others,
        }
    }

    /// Keeps the latest runs; what is left out before them would have had no part anyway.
    pub(super) fn latest(mut self, latest: &Selector) -> Self {
        let left: Vec<RunHead> = self.runs.iter().map(|it| (*it).clone()).collect();
        let ids = latest.passing(&left);
        self.runs.retain(|run| ids.contains(&run.id));
        let first = self.runs.iter().map(|run| run.started).min();
        self.uncommitted.retain(|run| Some(run.started) >= first);
        self.others.retain(|run| Some(run.started) >= first);
        self
    }
}
