//! The branches that runs are of, as the repository under test tells them.

use std::collections::BTreeSet;
use std::fmt;

use super::filter::{RunKey, SHORTEST_ID, SampleFilter};
use super::main_runs::{CommitLine, MainRuns};
use super::side::SideError;
use super::{MainChoice, Selector};
use lapwing_record::RunHead;

type AncestryOf<'a> = dyn Fn(&str) -> Vec<String> + 'a;
type LineOf<'a> = dyn Fn(&BTreeSet<&str>) -> Option<CommitLine> + 'a;

/// The commits of the repository under test.
pub struct RepositoryCommits<'a> {
    /// Returns the hash of the commit that a revision means, and those of its ancestors, the newest first; nothing if it
    /// means none.
    pub ancestry: Box<AncestryOf<'a>>,
    /// Returns the line of the default branch, if the repository has one of these commits.
    pub line: Box<LineOf<'a>>,
}

impl RepositoryCommits<'_> {
    /// Returns the repository that knows nothing.
    pub fn none() -> Self {
        Self {
            ancestry: Box::new(|_| Vec::new()),
            line: Box::new(|_| None),
        }
    }

    /// Returns the line of the default branch, if it has a commit of these runs.
    pub fn line_of(&self, runs: &[RunHead]) -> Option<CommitLine> {
        (self.line)(&runs.iter().filter_map(|it| it.commit.as_deref()).collect())
    }

    /// Returns the runs of the default branch, as far as the records or the repository tell.
    pub fn main_runs(&self, runs: &[RunHead]) -> MainRuns {
        let line = self.line_of(runs);
        MainRuns::of(runs, line.as_ref(), MainChoice::DefaultBranch)
    }

    /// Returns the runs of a choice, unless a filter chose others, and what was chosen.
    ///
    /// # Errors
    /// If no commit is on the line of first parents that was asked for.
    pub fn chosen_runs(
        &self,
        runs: &[RunHead],
        filter: &SampleFilter,
        choice: MainChoice,
    ) -> Result<(MainRuns, MainChoice), SideError> {
        let line = self.line_of(runs);
        let of = |choice| MainRuns::of(runs, line.as_ref(), choice);
        let main = of(MainChoice::DefaultBranch);
        let choice = choice.unless_chosen(&filter.runs, &main);
        let main = match choice {
            MainChoice::DefaultBranch => main,
            MainChoice::FirstParents | MainChoice::All => of(choice).checked(line.as_ref())?,
        };
        Ok((main, choice))
    }

    /// Returns the runs with the branches that conditions ask for: of the default branch are those that a history has,
    /// with its uncommitted changes; of another one those whose commit is in it, if no branch is recorded.
    pub(super) fn with_branches(
        &self,
        conditions: &Selector,
        runs: &[RunHead],
        main: &MainRuns,
    ) -> Vec<RunHead> {
        let mut runs = runs.to_vec();
        for branch in conditions.alternatives(RunKey::Branch) {
            let is_open = |run: &RunHead| {
                let is_told = main.is_of(branch, run).is_some();
                !is_told && run.branch.is_none() && run.commit.is_some()
            };
            for run in &mut runs {
                if main.is_of(branch, run) == Some(true) {
                    run.branch = Some(branch.clone());
                }
            }
            if branch.contains(['*', '?']) || !runs.iter().any(is_open) {
                continue;
            }
            let mut commits = (self.ancestry)(branch);
            commits.sort_unstable();
            for run in runs.iter_mut().filter(|run| is_open(run)) {
                let commit = run.commit.as_deref().unwrap_or_default();
                let at = commits.partition_point(|it| it.as_str() < commit);
                let is_in = commits.get(at).is_some_and(|it| it.starts_with(commit));
                if is_in && commit.len() >= SHORTEST_ID {
                    run.branch = Some(branch.clone());
                }
            }
        }
        runs
    }
}

impl fmt::Debug for RepositoryCommits<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RepositoryCommits")
    }
}
