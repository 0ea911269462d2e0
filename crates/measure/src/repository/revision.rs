//! Revisions of a Git repository: which commits names mean, and how many are between two.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;

use super::git::{first_line, git, output};

/// Of the ancestors of a commit no more are returned.
const ANCESTORS: &str = "--max-count=1000";

/// Returns the hash of the commit that a revision such as `main` or `HEAD~3` means in the repository around a folder,
/// and those of its latest ancestors, the newest first. Empty if it means none.
pub fn ancestry(folder: &Path, revision: &str) -> Vec<String> {
    let hash = commit_hash(folder, revision);
    let commits = hash.and_then(|hash| {
        output(git(folder).args(["rev-list", ANCESTORS, "--end-of-options", &hash]))
    });
    let commits = commits.unwrap_or_default();
    commits.lines().map(str::to_owned).collect()
}

/// Returns the hash of the commit that a revision means in the repository around a folder; `None` if it means none.
pub(super) fn commit_hash(folder: &Path, revision: &str) -> Option<String> {
    let commit = format!("{revision}^{{commit}}");
    let options = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
    first_line(git(folder).args(options).arg(commit))
}

/// Returns the hash of the last commit before a time, of a revision and its first parents; `None` if there is none.
pub fn commit_before(folder: &Path, revision: &str, time: Timestamp) -> Option<String> {
    // Git's limit includes the time itself.
    let limit = Timestamp::from_second(time.as_second() - 1).ok()?;
    let limit = format!("--before={limit}");
    let words = ["rev-list", "--max-count=1", "--first-parent", &limit];
    first_line(git(folder).args(words).args(["--end-of-options", revision]))
}

/// Returns the hash of the commit that the running `git bisect` was first told to be good; `None` if there is none.
pub fn first_good_commit(folder: &Path) -> Option<String> {
    let term = first_line(git(folder).args(["bisect", "terms", "--term-good"]))?;
    let log = output(git(folder).args(["bisect", "log"]))?;
    // Lines such as `# good: [HASH] SUBJECT`.
    let begin = format!("# {term}: [");
    let rest = log.lines().find_map(|line| line.strip_prefix(&begin))?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Returns the number of commits after one up to another; `None` if the repository around the folder does not have
/// both.
pub fn number_of_commits(folder: &Path, after: &str, up_to: &str) -> Option<usize> {
    let is_hash = |text: &str| text.chars().all(|it| it.is_ascii_hexdigit());
    if !is_hash(after) || !is_hash(up_to) {
        return None;
    }
    let range = format!("{after}..{up_to}");
    let count = first_line(git(folder).args(["rev-list", "--count", "--end-of-options", &range]))?;
    count.parse().ok()
}

/// The default branch of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultLine {
    /// Its name, without that of a remote.
    pub branch: String,
    /// Its commits by first parents, oldest first.
    pub commits: Vec<String>,
    references: Vec<String>,
}

impl DefaultLine {
    /// Returns all commits of the branch, those that were merged too, each after its parents; empty if they cannot be
    /// read.
    pub fn with_merged(&self, folder: &Path) -> Vec<String> {
        let all = output(
            git(folder)
                .args(["rev-list", "--topo-order", "--reverse"])
                .arg("--end-of-options")
                .args(&self.references),
        );
        all.unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

/// Usual names of default branches.
const DEFAULT_BRANCHES: [&str; 3] = ["main", "master", "trunk"];

/// Returns the default branch of the repository around a folder, which is the one that its remote `origin` names, else
/// `main`, `master` or `trunk`, else the one that is checked out; `None` without a repository.
pub fn default_line(folder: &Path) -> Option<DefaultLine> {
    let short = ["symbolic-ref", "--quiet", "--short"];
    let of = |name: &str| first_line(git(folder).args(short).arg(name));
    let of_origin = of("refs/remotes/origin/HEAD");
    let of_origin = of_origin.and_then(|it| Some(it.strip_prefix("origin/")?.to_owned()));
    // What is measured may not be pushed, or the clone may be older than its remote.
    let references = |name: &str| {
        let names = [
            format!("refs/heads/{name}"),
            format!("refs/remotes/origin/{name}"),
        ];
        let known = names
            .into_iter()
            .filter(|it| commit_hash(folder, it).is_some());
        known.collect::<Vec<String>>()
    };
    let usual = || {
        let mut names = DEFAULT_BRANCHES.iter();
        let name = names.find(|name| !references(name).is_empty())?;
        Some((*name).to_owned())
    };
    let branch = of_origin.or_else(usual).or_else(|| of("HEAD"))?;
    let references = references(&branch);
    let line = output(
        git(folder)
            .args(["rev-list", "--first-parent", "--topo-order", "--reverse"])
            .arg("--end-of-options")
            .args(&references),
    )?;
    Some(DefaultLine {
        branch,
        references,
        commits: line.lines().map(str::to_owned).collect(),
    })
}

/// Returns those of these commits, which may be abbreviated, that the repository around a folder has.
pub fn known_commits<'c>(
    folder: &Path,
    commits: impl IntoIterator<Item = &'c str>,
) -> BTreeSet<String> {
    /// More do not fit into a command line.
    const AT_ONCE: usize = 1000;
    let is_hash = |text: &&str| text.len() >= 4 && text.chars().all(|it| it.is_ascii_hexdigit());
    let asked: Vec<&str> = commits.into_iter().filter(is_hash).collect();
    let mut known = BTreeSet::new();
    for part in asked.chunks(AT_ONCE) {
        let words = ["rev-list", "--no-walk=unsorted", "--ignore-missing"];
        let found = output(git(folder).args(words).arg("--end-of-options").args(part));
        let found = found.unwrap_or_default();
        let hashes: BTreeSet<&str> = found.lines().collect();
        let is_known = |commit: &&&str| {
            let next = hashes.range(**commit..).next();
            next.is_some_and(|hash| hash.starts_with(**commit))
        };
        known.extend(part.iter().filter(is_known).map(|it| (*it).to_owned()));
    }
    known
}

/// What people know a commit by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSummary {
    /// The first line of its message.
    pub subject: String,
    /// Its author.
    pub author: String,
    /// The number of its parents: 2 or more for a merge.
    pub parents: usize,
}

/// Returns the hashes of the newest commits after one up to another with what people know them by, at most so many;
/// none if the repository around the folder does not have both.
pub fn commits_after(
    folder: &Path,
    after: &str,
    up_to: &str,
    most: usize,
) -> Vec<(String, CommitSummary)> {
    if number_of_commits(folder, after, up_to).is_none() {
        return Vec::new();
    }
    let range = format!("{after}..{up_to}");
    let most = format!("--max-count={most}");
    let format = "--format=%H%x00%s%x00%an%x00%P";
    let lines = output(git(folder).args(["log", &most, format, "--end-of-options", &range]));
    let commit = |line: &str| {
        let (hash, rest) = line.split_once('\0')?;
        Some((hash.to_owned(), CommitSummary::of(rest)?))
    };
    lines
        .unwrap_or_default()
        .lines()
        .filter_map(commit)
        .collect()
}

impl CommitSummary {
    fn of(line: &str) -> Option<Self> {
        let mut parts = line.split('\0');
        Some(Self {
            subject: parts.next()?.to_owned(),
            author: parts.next()?.to_owned(),
            parents: parts.next()?.split_whitespace().count(),
        })
    }
}

/// Returns what people know a commit by; `None` if the repository around the folder does not have it.
pub fn commit_summary(folder: &Path, commit: &str) -> Option<CommitSummary> {
    let format = "--format=%s%x00%an%x00%P";
    let words = ["show", "-s", format, "--end-of-options", commit];
    CommitSummary::of(&first_line(git(folder).args(words))?)
}
