//! The runs of the default branch: those that a history is judged by.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::Id;
use lapwing_record::RunHead;

/// Usual names of default branches; a repository that had one and has another one has renamed it.
const USUAL: [&str; 3] = ["main", "master", "trunk"];
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
        }
    }

    /// Returns the name of the branch.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Returns the number of a commit, which may be abbreviated; `None` if it is not on the line.
    pub fn number(&self, commit: &str) -> Option<usize> {
        if commit.len() < SHORTEST_HASH {
            return None;
        }
        let (hash, number) = self.numbers.range(commit.to_owned()..).next()?;
        hash.starts_with(commit).then_some(*number)
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

/// The runs of the default branch, and the number of others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MainRuns {
    /// The runs to judge.
    pub judged: BTreeSet<Id>,
    /// The default branches, if runs of others are left out.
    pub branches: BTreeSet<String>,
    /// Whether the branch with the most runs was taken, because nothing else tells which one is the default.
    pub is_guess: bool,
    /// The branches that are not judged.
    pub other_branches: BTreeSet<String>,
    /// Number of runs of other branches, or of commits that are not on the line of first parents.
    pub branch_runs: usize,
    /// Number of runs with uncommitted changes that are not judged.
    pub dirty_runs: usize,
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
                self.branches.extend(line.map(|line| line.branch.clone()));
            }
            MainChoice::DefaultBranch => {
                let default = DefaultBranch::of(runs, line);
                let line = line.filter(|line| has_most(line, runs));
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
        self.branch_runs += runs.len() - main.len();
        let dirty = main.iter().filter(|run| run.dirty == Some(true)).count();
        if 2 * dirty <= main.len() {
            main.retain(|run| run.dirty != Some(true));
            self.dirty_runs += dirty;
        }
        self.judged.extend(main.iter().map(|run| run.id));
        let others = runs.iter().filter_map(|run| branch(run));
        let others = others.filter(|it| !self.branches.contains(*it));
        let others: Vec<String> = others.map(str::to_owned).collect();
        if self.branch_runs > 0 {
            self.other_branches.extend(others);
        }
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
            USUAL
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
            Some(name) if USUAL.contains(&name) => named(&mut usual().chain([name])),
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

    fn is(&self, branch: &str) -> bool {
        self.names.is_empty() || self.names.contains(branch)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use lapwing_model::StartedFrom;

    use super::*;

    /// Runs, each written as its branch, its commit and whether there are uncommitted changes: `main abc +`.
    fn runs(texts: &[&str]) -> Vec<RunHead> {
        let runs = (0_u64..).zip(texts).map(|(number, text)| {
            let mut words = text.split(' ');
            let mut word = || words.next().filter(|it| *it != "-").map(str::to_owned);
            let id = Id::derived(&[&number.to_le_bytes()]);
            RunHead {
                id,
                session: id,
                session_name: None,
                suite: "s".to_owned(),
                started: Timestamp::UNIX_EPOCH,
                variant: "default".to_owned(),
                levels: BTreeMap::default(),
                version: None,
                branch: word(),
                commit: word(),
                version_date: None,
                dirty: word().map(|it| it == "+"),
                started_from: StartedFrom::default(),
                file: None,
            }
        });
        runs.collect()
    }

    /// Returns the places of the judged runs, and the default branches.
    fn judged(texts: &[&str], line: Option<&CommitLine>, choice: MainChoice) -> String {
        let runs = runs(texts);
        let main = MainRuns::of(&runs, line, choice);
        let places = runs
            .iter()
            .zip(0..)
            .filter(|(run, _)| main.judged.contains(&run.id));
        let places: Vec<String> = places.map(|(_, place)| place.to_string()).collect();
        let branches: Vec<&str> = main.branches.iter().map(String::as_str).collect();
        format!("{} {}", places.join(""), branches.join("+"))
            .trim()
            .to_owned()
    }

    fn of_default(texts: &[&str]) -> String {
        judged(texts, None, MainChoice::DefaultBranch)
    }

    #[test]
    fn the_default_branch_is_told_by_its_name_or_by_the_most_runs() {
        assert_eq!(of_default(&["-", "-"]), "01");
        assert_eq!(of_default(&["idea", "idea"]), "01");
        assert_eq!(of_default(&["main", "idea", "-"]), "02 main");
        assert_eq!(of_default(&["refs/heads/main", "idea"]), "0 main");
        // It was renamed.
        assert_eq!(of_default(&["master", "main", "x"]), "01 main+master");
        assert_eq!(of_default(&["a", "b", "b"]), "12 b");
        // Releases of one branch, nights of the other.
        assert_eq!(of_default(&["main", "dev", "dev", "dev"]), "123 dev");
        // Unclear: nothing is left out.
        assert_eq!(of_default(&["idea", "-", "-"]), "012");
    }

    #[test]
    fn uncommitted_changes_are_left_out_unless_they_are_the_most() {
        assert_eq!(
            of_default(&["main a", "main a +", "main b", "main c"]),
            "023"
        );
        assert_eq!(of_default(&["main a +", "main a +", "main b"]), "012");
    }

    #[test]
    fn the_repository_tells_the_branch_of_commits() {
        let commits = ["aaaaaaaa1", "bbbbbbbb2", "cccccccc3"].map(str::to_owned);
        let known = ["aaaaaaaa", "bbbbbbbb2", "dddddddd4", "eeeeeeee5"].map(str::to_owned);
        let line = CommitLine::new("main".to_owned(), commits, known.into());
        assert_eq!(line.number("bbbbbbbb"), Some(2));
        assert_eq!([line.number("b"), line.number("dddddddd4")], [None, None]);
        let of = |texts: &[&str], choice| judged(texts, Some(&line), choice);
        let unnamed = ["- aaaaaaaa", "- bbbbbbbb2", "- dddddddd4", "- 99999999"];
        assert_eq!(of(&unnamed, MainChoice::DefaultBranch), "013 main");
        assert_eq!(of(&unnamed, MainChoice::FirstParents), "01 main");
        assert_eq!(of(&unnamed, MainChoice::All), "0123");
        // Most commits are elsewhere: first parents do not tell the history.
        let elsewhere = ["- aaaaaaaa", "- dddddddd4", "- eeeeeeee5"];
        assert_eq!(of(&elsewhere, MainChoice::DefaultBranch), "012");
        // What is recorded counts more.
        let recorded = ["main dddddddd4", "idea aaaaaaaa"];
        assert_eq!(of(&recorded, MainChoice::DefaultBranch), "0 main");
        assert_eq!(of(&recorded, MainChoice::FirstParents), "1 main");
        // Another repository.
        let other = ["main 11111111", "idea 22222222"];
        assert_eq!(of(&other, MainChoice::FirstParents), "");
    }
}
