//! Commits of a repository, and folders in which they are checked out.

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::git::{
    DistrustedRepository, distrusted_repository, first_line, git, is_changed, output,
};
use super::revision::commit_hash;
use crate::suite::{PlannedCommit, SourcePatch};
use lapwing_model::Version;

/// The commits that were asked for cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum CommitsError {
    /// The text names no range.
    #[error("`{0}` is not a range of commits")]
    NotARange(String),
    /// There is no repository.
    #[error("{} is in no Git repository", .0.display())]
    NoRepository(PathBuf),
    /// Git does not read the repository.
    #[error("the Git repository {} belongs to another user, and Git does not read it", .0.folder.display())]
    Distrusted(DistrustedRepository),
    /// The repository does not have its whole history.
    #[error("{} is a shallow clone: it lacks a part of its history", .0.display())]
    Shallow(PathBuf),
    /// There are changes that are in no commit.
    #[error("{} has changes that are not committed, and only commits are measured", .0.display())]
    Dirty(PathBuf),
    /// A name is none of a commit.
    #[error("{} has no commit `{name}`", path.display())]
    Unknown {
        /// The repository.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The range has no beginning.
    #[error("`{from}` is not an ancestor of `{to}`")]
    NotAncestor {
        /// The first commit.
        from: String,
        /// The last commit.
        to: String,
    },
    /// The commit alone is not the whole source.
    #[error("commit {0} has submodules, which a worktree does not hold")]
    Submodules(String),
}

/// Which commits are wanted.
#[derive(Debug, Clone)]
pub struct CommitRange<'a> {
    /// `A..B`; without `B`, up to the one checked out.
    pub text: &'a str,
    /// Only each so-manieth of them, and both ends.
    pub every: usize,
    /// Whether a command makes each of them ready, and may fetch its submodules.
    pub are_built: bool,
    /// Whether the working tree may have changes that are not committed: an installation of it may have made them.
    pub may_be_changed: bool,
}

impl CommitRange<'_> {
    /// Returns the commits from `A` to `B`, both included, along first parents, oldest first.
    ///
    /// # Errors
    /// When the repository around `folder` or the commits are not there or not whole.
    pub fn commits(&self, folder: &Path) -> Result<Vec<PlannedCommit>, CommitsError> {
        let repository = whole_repository(folder, self.may_be_changed)?;
        let (from, to) = self.ends()?;
        let (first, last) = (hash_of(&repository, from)?, hash_of(&repository, to)?);
        if output(git(&repository).args([
            "merge-base",
            "--is-ancestor",
            "--end-of-options",
            &first,
            &last,
        ]))
        .is_none()
        {
            return Err(CommitsError::NotAncestor {
                from: from.to_owned(),
                to: to.to_owned(),
            });
        }
        let all = first_parents(&repository, &first, &last);
        let chosen = all
            .iter()
            .enumerate()
            .filter(|(number, _)| number % self.every.max(1) == 0 || number + 1 == all.len());
        let branch = branch(&repository, to);
        chosen
            .map(|(_, hash)| planned(&repository, hash, branch.as_deref(), self.are_built))
            .collect()
    }

    fn ends(&self) -> Result<(&str, &str), CommitsError> {
        match self.text.split_once("..") {
            Some((from, to)) if !from.is_empty() && !to.starts_with('.') => {
                Ok((from, if to.is_empty() { "HEAD" } else { to }))
            }
            Some(_) | None => Err(CommitsError::NotARange(self.text.to_owned())),
        }
    }
}

/// Returns the commit that a revision means in the repository around a folder; there may be changes that are not
/// committed.
///
/// # Errors
/// When the repository or the commit is not there or not whole.
pub fn single_commit(
    folder: &Path,
    revision: &str,
    are_built: bool,
) -> Result<PlannedCommit, CommitsError> {
    let repository = top_folder(folder)?;
    let hash = hash_of(&repository, revision)?;
    let branch = branch(&repository, revision);
    planned(&repository, &hash, branch.as_deref(), are_built)
}

/// Returns the commits that a merge brought: from the merge base of its two parents up to the second one, along first
/// parents. Empty if it is no merge of two, or brought none.
///
/// # Errors
/// When a commit is not whole.
pub fn merged_commits(
    repository: &Path,
    merge: &str,
    are_built: bool,
) -> Result<Vec<PlannedCommit>, CommitsError> {
    let parents =
        first_line(git(repository).args(["show", "-s", "--format=%P", "--end-of-options", merge]));
    let parents = parents.unwrap_or_default();
    let [first, second] = parents.split_whitespace().collect::<Vec<_>>()[..] else {
        return Ok(Vec::new());
    };
    let Some(base) =
        first_line(git(repository).args(["merge-base", "--end-of-options", first, second]))
    else {
        return Ok(Vec::new());
    };
    let mut all = first_parents(repository, &base, second);
    if all.len() < 2 {
        all.clear();
    }
    let commits = all.iter();
    commits
        .map(|hash| planned(repository, hash, None, are_built))
        .collect()
}

/// Returns the hash of a commit and those of the first parents of a later one that came after it, oldest first.
fn first_parents(repository: &Path, first: &str, last: &str) -> Vec<String> {
    let range = format!("{first}..{last}");
    let after = output(git(repository).args([
        "rev-list",
        "--first-parent",
        "--reverse",
        "--end-of-options",
        &range,
    ]));
    let after = after.unwrap_or_default();
    std::iter::once(first)
        .chain(after.lines())
        .map(str::to_owned)
        .collect()
}

fn hash_of(repository: &Path, revision: &str) -> Result<String, CommitsError> {
    commit_hash(repository, revision).ok_or_else(|| CommitsError::Unknown {
        path: repository.to_owned(),
        name: revision.to_owned(),
    })
}

fn planned(
    repository: &Path,
    hash: &str,
    branch: Option<&str>,
    are_built: bool,
) -> Result<PlannedCommit, CommitsError> {
    let modules = format!("{hash}:.gitmodules");
    if !are_built
        && output(git(repository).args(["cat-file", "-e", "--end-of-options", &modules])).is_some()
    {
        return Err(CommitsError::Submodules(hash.chars().take(10).collect()));
    }
    let date =
        first_line(git(repository).args(["show", "-s", "--format=%cI", "--end-of-options", hash]));
    Ok(PlannedCommit {
        version: Version {
            name: first_line(git(repository).args([
                "describe",
                "--tags",
                "--exact-match",
                "--end-of-options",
                hash,
            ])),
            commit: Some(hash.to_owned()),
            branch: branch.map(str::to_owned),
            date,
            dirty: Some(false),
            ..Version::default()
        },
        repository: repository.display().to_string(),
        patches: Vec::new(),
    })
}

/// Returns the top folder of the repository around a folder.
fn top_folder(folder: &Path) -> Result<PathBuf, CommitsError> {
    let found = folder
        .is_dir()
        .then(|| first_line(git(folder).args(["rev-parse", "--show-toplevel"])));
    let found = found.flatten();
    let missing = || match distrusted_repository(folder) {
        Some(repository) => CommitsError::Distrusted(repository),
        None => CommitsError::NoRepository(folder.to_owned()),
    };
    let path = PathBuf::from(found.ok_or_else(missing)?);
    Ok(path.canonicalize().unwrap_or(path))
}

/// Returns the top folder of a repository with its whole history, and without changes unless there may be any.
fn whole_repository(folder: &Path, may_be_changed: bool) -> Result<PathBuf, CommitsError> {
    let path = top_folder(folder)?;
    let is_shallow = first_line(git(&path).args(["rev-parse", "--is-shallow-repository"]));
    if is_shallow.as_deref() == Some("true") {
        return Err(CommitsError::Shallow(path));
    }
    match is_changed(&path) {
        Some(is_changed) if may_be_changed || !is_changed => Ok(path),
        Some(_) => Err(CommitsError::Dirty(path)),
        None => Err(CommitsError::NoRepository(folder.to_owned())),
    }
}

/// Returns the branch that a name means, if it means one.
fn branch(repository: &Path, name: &str) -> Option<String> {
    let full = first_line(git(repository).args([
        "rev-parse",
        "--verify",
        "--quiet",
        "--symbolic-full-name",
        "--end-of-options",
        name,
    ]))?;
    Some(full.strip_prefix("refs/heads/")?.to_owned())
}

/// Checks a commit out into a folder of its own, and applies its patches; a folder that an ended process left there
/// goes first.
///
/// # Errors
/// With what Git says.
pub fn add_worktree(commit: &PlannedCommit, folder: &Path) -> Result<(), String> {
    let repository = Path::new(&commit.repository);
    if folder.exists() {
        remove_worktree(repository, folder);
    }
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(|error| error.to_string())?;
    }
    let path = folder.display().to_string();
    let done = undisturbed(repository)
        .args(["worktree", "add", "--quiet", "--force", "--detach"])
        .args([&path, commit.hash()])
        .output()
        .map_err(|error| error.to_string())?;
    if done.status.success() {
        return commit.patches.iter().try_for_each(|it| apply(it, folder));
    }
    Err(last_line(&done.stderr).unwrap_or_else(|| "git worktree add failed".to_owned()))
}

/// Applies a patch to a worktree.
fn apply(patch: &SourcePatch, folder: &Path) -> Result<(), String> {
    let about = |reason: String| format!("{} does not apply: {reason}", patch.file);
    if let Some(reason) = &patch.refused {
        return Err(about(reason.clone()));
    }
    let mut command = git(folder);
    command.args(["apply", "--whitespace=nowarn", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let refused = |error: io::Error| about(error.to_string());
    let mut child = command.spawn().map_err(refused)?;
    if let Some(mut stdin) = child.stdin.take() {
        // Git reads everything before it says anything.
        let written = stdin.write_all(patch.content.as_bytes());
        written.map_err(refused)?;
    }
    let done = child.wait_with_output().map_err(refused)?;
    if done.status.success() {
        return Ok(());
    }
    let said = last_line(&done.stderr).unwrap_or_else(|| "git apply failed".to_owned());
    Err(about(said))
}

fn last_line(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    text.trim().lines().last().map(str::to_owned)
}

/// Removes such a folder, with all that a build made in it.
pub fn remove_worktree(repository: &Path, folder: &Path) {
    let path = folder.display().to_string();
    // Where Git does not know the folder any more, removing it is enough.
    let _unknown = undisturbed(repository)
        .args(["worktree", "remove", "--force", "--force", &path])
        .output();
    let _gone = fs::remove_dir_all(folder);
    let _nothing_to_do = undisturbed(repository).args(["worktree", "prune"]).output();
}

/// Removes such a folder that another process left, and has its repository forget it.
pub fn discard_worktree(folder: &Path) {
    // Without that file Git would find the repository around the folder.
    let is_own = folder.join(".git").is_file();
    let repository =
        is_own.then(|| first_line(git(folder).args(["rev-parse", "--git-common-dir"])));
    let _gone = fs::remove_dir_all(folder);
    if let Some(repository) = repository.flatten() {
        let repository = Path::new(&repository);
        let _nothing_to_do = undisturbed(repository).args(["worktree", "prune"]).output();
    }
}

/// Git that changes worktrees, and that a Ctrl-C at the terminal does not end halfway.
///
/// It executes the filters of a repository and fetches what a partial clone lacks: a commit is checked out to execute
/// what it has.
fn undisturbed(repository: &Path) -> Command {
    let mut command = git(repository);
    command
        .env_remove("GIT_NO_LAZY_FETCH")
        .stdin(Stdio::null())
        .process_group(0);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn do_git(folder: &Path, arguments: &[&str]) {
        let done = git(folder)
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .output()
            .expect("git is installed");
        assert!(done.status.success(), "git {arguments:?}: {done:?}");
    }

    /// Returns a repository with these commits on `trunk`.
    fn repository(commits: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        do_git(
            folder.path(),
            &["init", "--quiet", "--initial-branch=trunk"],
        );
        for text in commits {
            fs::write(folder.path().join("file"), text).expect("written");
            do_git(folder.path(), &["add", "file"]);
            do_git(folder.path(), &["commit", "--quiet", "-m", text]);
            do_git(folder.path(), &["tag", &format!("at-{text}")]);
        }
        folder
    }

    fn range(text: &str, every: usize) -> CommitRange<'_> {
        CommitRange {
            text,
            every,
            are_built: false,
            may_be_changed: false,
        }
    }

    fn names(folder: &Path, text: &str, every: usize) -> Vec<String> {
        let commits = range(text, every).commits(folder).expect("commits");
        commits
            .iter()
            .filter_map(|it| it.version.name.clone())
            .collect()
    }

    #[test]
    fn both_ends_and_each_nth_of_the_first_parents_are_taken() {
        let folder = repository(&["a", "b", "c", "d"]);
        let path = folder.path();
        do_git(path, &["checkout", "--quiet", "-b", "side", "at-b"]);
        do_git(path, &["commit", "--quiet", "--allow-empty", "-m", "aside"]);
        do_git(path, &["tag", "at-aside"]);
        do_git(path, &["checkout", "--quiet", "trunk"]);
        do_git(
            path,
            &["merge", "--quiet", "--no-ff", "-m", "merge", "side"],
        );
        do_git(path, &["tag", "at-merge"]);
        assert_eq!(
            names(path, "at-a..trunk", 1),
            ["at-a", "at-b", "at-c", "at-d", "at-merge"]
        );
        assert_eq!(names(path, "at-a..", 3), ["at-a", "at-d", "at-merge"]);
        assert_eq!(names(path, "at-b..at-b", 1), ["at-b"]);
        let last = range("at-d..trunk", 1)
            .commits(path)
            .expect("commits")
            .pop()
            .expect("one");
        assert_eq!(
            (last.version.branch.as_deref(), last.version.dirty),
            (Some("trunk"), Some(false))
        );
        assert_eq!((last.hash().len(), last.version.date.is_some()), (40, true));
    }

    #[test]
    fn a_commit_is_checked_out_beside_the_working_tree_and_removed() {
        let folder = repository(&["a", "b"]);
        let commit = &range("at-a..", 1).commits(folder.path()).expect("commits")[0];
        let elsewhere = tempfile::tempdir().expect("a folder");
        let checkout = elsewhere.path().join("deep/one");
        for _left_by_somebody in 0..2 {
            add_worktree(commit, &checkout).expect("checked out");
            assert_eq!(
                fs::read_to_string(checkout.join("file")).expect("there"),
                "a"
            );
            fs::write(checkout.join("built"), "").expect("written");
        }
        assert_eq!(
            fs::read_to_string(folder.path().join("file")).expect("there"),
            "b"
        );
        let known = || {
            let list = output(git(folder.path()).args(["worktree", "list"]));
            list.expect("a list").lines().count()
        };
        remove_worktree(Path::new(&commit.repository), &checkout);
        assert_eq!((checkout.exists(), known()), (false, 1));
        add_worktree(commit, &checkout).expect("checked out");
        assert_eq!(known(), 2);
        discard_worktree(&checkout);
        assert_eq!((checkout.exists(), known()), (false, 1));
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_its_reason() {
        let folder = repository(&["a", "b"]);
        let path = folder.path();
        let refused = |folder: &Path, text: &str| {
            let error = range(text, 1)
                .commits(folder)
                .expect_err("an error")
                .to_string();
            error.replace(
                &path.canonicalize().expect("a path").display().to_string(),
                "HERE",
            )
        };
        let mut said: Vec<String> = [
            "at-a",
            "..at-b",
            "at-a...at-b",
            "at-b..at-a",
            "at-a..x",
            "-x..at-a",
        ]
        .iter()
        .map(|text| refused(path, text))
        .collect();
        let shallow = tempfile::tempdir().expect("a folder");
        let source = format!("file://{}", path.display());
        do_git(
            shallow.path(),
            &["clone", "--quiet", "--depth=1", &source, "copy"],
        );
        let error = range("HEAD..HEAD", 1)
            .commits(&shallow.path().join("copy"))
            .expect_err("shallow");
        assert!(matches!(error, CommitsError::Shallow { .. }), "{error}");
        let error = range("a..b", 1)
            .commits(shallow.path())
            .expect_err("no repository");
        assert!(
            matches!(error, CommitsError::NoRepository { .. }),
            "{error}"
        );

        fs::write(path.join(".gitmodules"), "").expect("written");
        do_git(path, &["add", ".gitmodules"]);
        do_git(path, &["commit", "--quiet", "-m", "modules"]);
        let error = range("at-a..", 1).commits(path).expect_err("submodules");
        assert!(matches!(error, CommitsError::Submodules { .. }), "{error}");
        let built = CommitRange {
            are_built: true,
            ..range("at-a..", 1)
        };
        assert_eq!(
            built.commits(path).expect("a build may fetch them").len(),
            3
        );
        fs::write(path.join("file"), "changed").expect("written");
        said.push(refused(path, "at-a..at-b"));
        insta::assert_snapshot!(said.join("\n"), @"
        `at-a` is not a range of commits
        `..at-b` is not a range of commits
        `at-a...at-b` is not a range of commits
        `at-b` is not an ancestor of `at-a`
        HERE has no commit `x`
        HERE has no commit `-x`
        HERE has changes that are not committed, and only commits are measured
        ");
    }
}
