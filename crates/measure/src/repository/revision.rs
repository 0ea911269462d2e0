//! Revisions of a Git repository: which commits names mean, and how many are between two.

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

/// Returns what people know a commit by; `None` if the repository around the folder does not have it.
pub fn commit_summary(folder: &Path, commit: &str) -> Option<CommitSummary> {
    let format = "--format=%s%x00%an%x00%P";
    let words = ["show", "-s", format, "--end-of-options", commit];
    let line = first_line(git(folder).args(words))?;
    let mut parts = line.split('\0');
    Some(CommitSummary {
        subject: parts.next()?.to_owned(),
        author: parts.next()?.to_owned(),
        parents: parts.next()?.split_whitespace().count(),
    })
}
