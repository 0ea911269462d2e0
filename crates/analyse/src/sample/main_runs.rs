//! The runs of the default branch: those that a history is judged by.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::Id;
use lapwing_record::RunHead;

use super::Selector;
use super::filter::RunKey;
use super::side::SideError;

/// Usual names of default branches; a repository that had one and has another one has renamed it.
pub(crate) const USUAL_BRANCHES: [&str; 3] = ["main", "master", "trunk"];
/// One commit of so many may be missing in the repository.
const MISSING: usize = 20;
/// Fewer characters of a hash match too many commits.
const SHORTEST_HASH: usize = 7;

/// The commits of the default branch of a repository, by first parents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitLine {
    branch: String,
    /// Their numbers, the oldest is 1.
    numbers: BTreeMap<String, usize>,
    /// Commits that the repository has, on the line or elsewhere.
    known: BTreeSet<String>,
    /// The places of all commits of the branch, those that were merged too, if any of these is known.
    places: BTreeMap<String, usize>,
}

impl CommitLine {
    /// Returns the line of a branch with these commits, oldest first; of the measured ones these are known to the
    /// repository.
    pub fn new(
        branch: String,
        commits: impl IntoIterator<Item = String>,
        known: BTreeSet<String>,
    ) -> Self {
        Self {
            branch,
            numbers: commits.into_iter().zip(1..).collect(),
            known,
            places: BTreeMap::new(),
        }
    }

    /// Returns whether the repository has commits elsewhere.
    pub fn has_others(&self) -> bool {
        self.known
            .iter()
            .any(|commit| self.number(commit).is_none())
    }

    /// Returns the line with the order of all commits of the branch, each after its parents.
    #[must_use]
    pub fn in_order(self, all: impl IntoIterator<Item = String>) -> Self {
        Self {
            places: all.into_iter().zip(1..).collect(),
            ..self
        }
    }

    /// Returns the place of a commit, which may be abbreviated, among those of the branch; `None` if it is not one.
    pub(super) fn place(&self, commit: &str) -> Option<usize> {
        if self.places.is_empty() {
            self.number(commit)
        } else {
            number_in(&self.places, commit)
        }
    }

    /// Returns the name of the branch.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Returns the number of a commit, which may be abbreviated; `None` if it is not on the line.
    pub fn number(&self, commit: &str) -> Option<usize> {
        number_in(&self.numbers, commit)
    }

    /// Returns whether the repository has nearly all of the commits of these runs that have no date: those of a shallow
    /// clone have no place among the others.
    pub(super) fn places(&self, runs: &[&RunHead]) -> bool {
        let undated = runs.iter().filter(|run| run.version_date.is_none());
        let commits: BTreeSet<&str> = undated.filter_map(|run| run.commit.as_deref()).collect();
        let missing = commits
            .iter()
            .filter(|it| self.number(it).is_none() && !self.known.contains(**it));
        MISSING * missing.count() <= commits.len()
    }

    fn is_elsewhere(&self, commit: &str) -> bool {
        self.number(commit).is_none() && self.known.contains(commit)
    }
}

/// Returns the number of a commit, which may be abbreviated.
fn number_in(numbers: &BTreeMap<String, usize>, commit: &str) -> Option<usize> {
    if commit.len() < SHORTEST_HASH {
        return None;
    }
    let (hash, number) = numbers.range(commit.to_owned()..).next()?;
    hash.starts_with(commit).then_some(*number)
}

/// The runs to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MainChoice {
    /// Those of the default branch, as far as the records or the repository tell.
    DefaultBranch,
    /// Those of commits on the line of first parents.
    FirstParents,
    /// All: the user chose them.
    All,
}

impl MainChoice {
    /// Returns the choice for conditions: all runs where they choose runs themselves, and not just the default branch.
    #[must_use]
    pub fn unless_chosen(self, conditions: &Selector, main: &MainRuns) -> Self {
        let by_user = [
            RunKey::Commit,
            RunKey::Version,
            RunKey::Session,
            RunKey::Run,
        ];
        let is_chosen = |key: &RunKey| !conditions.alternatives(*key).is_empty();
        let mut branches = conditions.alternatives(RunKey::Branch).iter();
        if by_user.iter().any(is_chosen) || branches.any(|it| !main.is_default(it)) {
            Self::All
        } else {
            self
        }
    }
}

/// The runs of the default branch, and the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MainRuns {
    /// The runs to judge.
    pub judged: BTreeSet<Id>,
    /// The default branches, if runs of others are left out.
    pub branches: BTreeSet<String>,
    /// Whether the branch with the most runs was taken, because nothing else tells which one is the default.
    pub is_guess: bool,
    /// The runs of other branches, or of commits that are not on the line of first parents, each with its branch.
    pub branch_runs: BTreeMap<Id, Option<String>>,
    /// The runs with uncommitted changes that are not judged.
    pub dirty_runs: BTreeSet<Id>,
    /// The suites of which a branch is the default one, by its names.
    suites_of: BTreeMap<String, BTreeSet<String>>,
}

impl MainRuns {
    /// Chooses among these runs, suite by suite.
    ///
    /// The default branch is the repository's, else `main`, `master` and `trunk`, else (or if it has twice as many runs) the
    /// recorded one with the most runs. A run without a branch is of it, unless the repository has its commit elsewhere. Runs with uncommitted
    /// changes are left out unless they are the most.
    pub fn of(runs: &[RunHead], line: Option<&CommitLine>, choice: MainChoice) -> Self {
        let mut suites: BTreeMap<&str, Vec<&RunHead>> = BTreeMap::new();
        for run in runs {
            suites.entry(&run.suite).or_default().push(run);
        }
        let mut chosen = Self::default();
        for of_suite in suites.into_values() {
            chosen.add(&of_suite, line, choice);
        }
        chosen
    }

    fn add(&mut self, runs: &[&RunHead], line: Option<&CommitLine>, choice: MainChoice) {
        let has_commit = |line: &&CommitLine| {
            let mut commits = runs.iter().filter_map(|run| run.commit.as_deref());
            commits.any(|commit| line.number(commit).is_some())
        };
        let line = line.filter(has_commit);
        let mut main: Vec<&RunHead> = runs.to_vec();
        let mut names = BTreeSet::new();
        match choice {
            MainChoice::All => {
                self.judged.extend(main.iter().map(|run| run.id));
                return;
            }
            MainChoice::FirstParents => {
                let is_on = |line: &CommitLine, run: &RunHead| {
                    let commit = run.commit.as_deref();
                    commit.is_some_and(|commit| line.number(commit).is_some())
                };
                main.retain(|run| line.is_some_and(|line| is_on(line, run)));
                names.extend(line.map(|line| line.branch.clone()));
                self.branches.extend(names.iter().cloned());
            }
            MainChoice::DefaultBranch => {
                let default = DefaultBranch::of(runs, line);
                let line = line.filter(|line| has_most(line, runs));
                names = default.asked_as(runs, line);
                main.retain(|run| match (branch(run), run.commit.as_deref()) {
                    (Some(branch), _) => default.is(branch),
                    (None, Some(commit)) => line.is_none_or(|line| !line.is_elsewhere(commit)),
                    (None, None) => true,
                });
                if main.len() < runs.len() {
                    self.is_guess |= default.is_guess;
                    self.branches.extend(default.names);
                    if self.branches.is_empty() {
                        self.branches.extend(line.map(|line| line.branch.clone()));
                    }
                }
            }
        }
        let suite = runs.iter().map(|run| &run.suite).next();
        for name in names {
            self.suites_of
                .entry(name)
                .or_default()
                .extend(suite.cloned());
        }
        if main.len() < runs.len() {
            let of_main: BTreeSet<Id> = main.iter().map(|run| run.id).collect();
            let others = runs.iter().filter(|run| !of_main.contains(&run.id));
            let others = others.map(|run| (run.id, branch(run).map(str::to_owned)));
            self.branch_runs.extend(others);
        }
        let is_dirty = |run: &RunHead| run.dirty == Some(true);
        let dirty = main.iter().filter(|run| is_dirty(run)).map(|run| run.id);
        let dirty: Vec<Id> = dirty.collect();
        if 2 * dirty.len() <= main.len() {
            main.retain(|run| !is_dirty(run));
            self.dirty_runs.extend(dirty);
        }
        self.judged.extend(main.iter().map(|run| run.id));
    }

    /// Returns the same if there is anything to judge among the others.
    ///
    /// # Errors
    /// If all runs are left out, as no commit is on the line of first parents.
    pub fn checked(self, line: Option<&CommitLine>) -> Result<Self, SideError> {
        if self.judged.is_empty() && !self.branch_runs.is_empty() {
            let branch = line.map(|line| line.branch.clone());
            return Err(SideError::NoFirstParents { branch });
        }
        Ok(self)
    }

    /// Returns whether a branch is the default one of a suite.
    pub fn is_default(&self, branch: &str) -> bool {
        self.suites_of.contains_key(branch)
    }

    /// Returns whether a run is of a branch, if that is the default one of its suite.
    pub(super) fn is_of(&self, branch: &str, run: &RunHead) -> Option<bool> {
        let suites = self.suites_of.get(branch)?;
        let is_told = suites.contains(&run.suite);
        is_told.then(|| !self.branch_runs.contains_key(&run.id))
    }

    /// Returns the branches that are not judged.
    pub fn other_branches(&self) -> BTreeSet<&str> {
        let others = self.branch_runs.values().flatten().map(String::as_str);
        others.filter(|it| !self.branches.contains(*it)).collect()
    }

    /// Returns the same of some runs.
    #[must_use]
    pub fn among(&self, runs: &BTreeSet<Id>) -> Self {
        let mut some = self.clone();
        some.judged.retain(|run| runs.contains(run));
        some.branch_runs.retain(|run, _| runs.contains(run));
        some.dirty_runs.retain(|run| runs.contains(run));
        some
    }
}

/// Returns whether most commits of runs without a branch are on the line: where work is pushed in another way, first
/// parents do not tell the history.
fn has_most(line: &CommitLine, runs: &[&RunHead]) -> bool {
    let unnamed = runs.iter().filter(|run| branch(run).is_none());
    let commits: BTreeSet<&str> = unnamed.filter_map(|run| run.commit.as_deref()).collect();
    let on = commits
        .iter()
        .filter(|it| line.number(it).is_some())
        .count();
    let elsewhere = commits.iter().filter(|it| line.is_elsewhere(it)).count();
    on >= elsewhere
}

/// Returns the branch of a run by its short name.
fn branch(run: &RunHead) -> Option<&str> {
    let name = run.branch.as_deref()?;
    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
    let name = name.strip_prefix("origin/").unwrap_or(name);
    Some(name).filter(|name| !name.is_empty() && *name != "HEAD")
}

/// The default branch of a suite, by all its names; without any, all branches are.
#[derive(Default)]
struct DefaultBranch {
    names: BTreeSet<String>,
    is_guess: bool,
}

impl DefaultBranch {
    fn of(runs: &[&RunHead], line: Option<&CommitLine>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in runs.iter().filter_map(|run| branch(run)) {
            *counts.entry(name).or_default() += 1;
        }
        let is_on_one = counts.len() == 1 && runs.iter().all(|run| branch(run).is_some());
        if counts.is_empty() || is_on_one {
            return Self::default();
        }
        let has_unnamed = runs.iter().any(|run| branch(run).is_none());
        let of_repository = line.map(CommitLine::branch);
        let known = of_repository.filter(|it| counts.contains_key(it) || has_unnamed);
        let usual = || {
            USUAL_BRANCHES
                .iter()
                .copied()
                .filter(|name| counts.contains_key(name))
        };
        // Where `develop` is measured every night and `main` at releases, the first has the history.
        let usual_runs: usize = usual().map(|name| counts[name]).sum();
        let is_usual = 2 * usual_runs >= counts.values().copied().max().unwrap_or(0);
        let named = |names: &mut dyn Iterator<Item = &str>| Self {
            names: names.map(str::to_owned).collect(),
            is_guess: false,
        };
        match known {
            Some(name) if USUAL_BRANCHES.contains(&name) => named(&mut usual().chain([name])),
            Some(name) => named(&mut [name].into_iter()),
            None if is_usual => named(&mut usual()),
            None if counts.len() == 1 => Self::default(),
            None => {
                let most = counts.iter().max_by_key(|(_, count)| **count);
                Self {
                    names: most
                        .map(|(name, _)| (*name).to_owned())
                        .into_iter()
                        .collect(),
                    is_guess: true,
                }
            }
        }
    }

    /// Returns the names by which the default branch can be asked for, if anything tells it.
    fn asked_as(&self, runs: &[&RunHead], line: Option<&CommitLine>) -> BTreeSet<String> {
        let recorded: BTreeSet<Option<&str>> = runs.iter().map(|run| branch(run)).collect();
        let only = recorded.first().filter(|_| recorded.len() == 1);
        let name = match only {
            _ if !self.names.is_empty() => return self.names.clone(),
            Some(Some(name)) => Some(*name),
            Some(None) => line.map(CommitLine::branch),
            None => None,
        };
        name.map(str::to_owned).into_iter().collect()
    }

    fn is(&self, branch: &str) -> bool {
        self.names.is_empty() || self.names.contains(branch)
    }
}
