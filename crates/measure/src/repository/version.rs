//! The version of the software under test.

use std::path::Path;
use std::process::Command;

use super::git::{
    DistrustedRepository, distrusted_repository, first_line, git, is_changed, output,
};
use crate::suite::{CommandLine, VersionSource};
use lapwing_model::Version;

/// Returns the version that a source states, seen from `directory`.
///
/// What cannot be found out is absent: without `git`, without a repository or without
/// the package the version is empty. Nothing here is timed.
pub fn version(source: &VersionSource, directory: &Path) -> Version {
    match source {
        VersionSource::WorkingDirectory => repository(directory),
        VersionSource::Repository(path) => repository(&directory.join(path)),
        VersionSource::Package(name) => named(package(name, directory)),
        VersionSource::Command(command) => named(first_line(
            command.process("/bin/sh").current_dir(directory),
        )),
        VersionSource::Name(name) => named(Some(name.clone())),
        VersionSource::Absent => Version::default(),
    }
}

/// Returns the repository of a source, seen from `directory`, that Git does not read because it belongs to another
/// user.
pub(crate) fn distrusted_source(
    source: &VersionSource,
    directory: &Path,
) -> Option<DistrustedRepository> {
    match source {
        VersionSource::WorkingDirectory => distrusted_repository(directory),
        VersionSource::Repository(path) => distrusted_repository(&directory.join(path)),
        VersionSource::Package(_)
        | VersionSource::Command(_)
        | VersionSource::Name(_)
        | VersionSource::Absent => None,
    }
}

fn named(name: Option<String>) -> Version {
    Version {
        name,
        ..Version::default()
    }
}

/// Returns the state of the Git repository around a directory.
fn repository(directory: &Path) -> Version {
    let Some(head) = first_line(git(directory).args(["show", "-s", "--format=%H %cI", "HEAD"]))
    else {
        return Version::default();
    };
    let (commit, date) = head.split_once(' ').unwrap_or((&head, ""));
    // A detached head has no branch.
    let branch = first_line(git(directory).args(["symbolic-ref", "--quiet", "--short", "HEAD"]));
    Version {
        commit: Some(commit.to_owned()),
        date: (!date.is_empty()).then(|| date.to_owned()),
        branch,
        dirty: is_changed(directory),
        ..Version::default()
    }
}

/// Returns the name that a folder has in every clone of its Git repository; `None` outside of one.
///
/// The name is the last part of the remote's address (`origin`, else the first remote) without `.git`; without
/// remotes `repository-` with the first ten digits of its root commit. Below the top folder, the path within the
/// repository follows.
pub fn repository_name(folder: &Path) -> Option<String> {
    let ask = |arguments: &[&str]| first_line(git(folder).args(arguments));
    ask(&["rev-parse", "--show-toplevel"])?;
    let of_remote = remote_address(folder).and_then(|url| name_in_url(&url));
    let of_root = || {
        // The oldest commit of a shallow clone is not the root.
        let is_shallow = ask(&["rev-parse", "--is-shallow-repository"])? == "true";
        let roots = output(git(folder).args(["rev-list", "--max-parents=0", "HEAD"]))?;
        let root = roots.lines().last()?.get(..10)?;
        (!is_shallow).then(|| format!("repository-{root}"))
    };
    let name = of_remote.or_else(of_root)?;
    let within = ask(&["rev-parse", "--show-prefix"]).unwrap_or_default();
    match within.trim_end_matches('/') {
        "" => Some(name),
        within => Some(format!("{name}/{within}")),
    }
}

/// Returns the address of the remote of the Git repository around a folder: `origin`, else the first one.
pub fn remote_address(folder: &Path) -> Option<String> {
    let ask = |arguments: &[&str]| first_line(git(folder).args(arguments));
    let origin = ask(&["config", "--get", "remote.origin.url"]);
    origin.or_else(|| ask(&["remote", "get-url", &ask(&["remote"])?]))
}

/// Returns the last part of an address such as `git@host:group/name.git`.
fn name_in_url(url: &str) -> Option<String> {
    // What follows may be a token.
    let url = url.split(['?', '#']).next()?.trim_end_matches('/');
    let last = url.rsplit(['/', ':', '\\']).next()?;
    let name = last.strip_suffix(".git").unwrap_or(last);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the version of an installed Python package, else of a Debian package.
fn package(name: &str, directory: &Path) -> Option<String> {
    const QUERY: &str = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))";
    let mut python = Command::new("python3");
    python.args(["-c", QUERY, name]).current_dir(directory);
    first_line(&mut python).or_else(|| {
        let mut debian = Command::new("dpkg-query");
        debian.args(["--show", "--showformat", "${Version}\n", name]);
        first_line(&mut debian)
    })
}

impl CommandLine {
    /// Returns the process of a command; the shell of a text is `shell`.
    pub(crate) fn process(&self, shell: &str) -> Command {
        let mut process;
        match self {
            Self::Shell(text) => {
                process = Command::new(shell);
                process.args(["-c", text]);
            }
            Self::Words(words) => {
                let mut words = words.iter();
                process = Command::new(words.next().map_or("", String::as_str));
                process.args(words);
            }
        }
        process
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn git_do(directory: &Path, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(arguments)
            .current_dir(directory)
            .env("GIT_COMMITTER_DATE", "2026-03-04T05:06:07+01:00")
            .output()
            .expect("git is installed")
            .status;
        assert!(status.success(), "git {arguments:?}");
    }

    fn repository_with_a_commit() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        git_do(
            folder.path(),
            &["init", "--quiet", "--initial-branch=trunk"],
        );
        fs::write(folder.path().join("file"), "one").expect("written");
        git_do(folder.path(), &["add", "file"]);
        git_do(folder.path(), &["commit", "--quiet", "-m", "first"]);
        folder
    }

    #[test]
    fn clones_of_a_repository_have_one_name_whatever_their_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = folder.path().join("first");
        fs::create_dir_all(first.join("benchmarks")).expect("a folder");
        assert_eq!(repository_name(&first), None);
        git_do(&first, &["init", "-q"]);
        git_do(&first, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let second = folder.path().join("second");
        git_do(folder.path(), &["clone", "-q", "first", "second"]);
        let name = repository_name(&first).expect("a repository");
        assert!(
            name.starts_with("repository-") && name.len() == 21,
            "{name}"
        );
        assert_eq!(repository_name(&second).as_deref(), Some("first"));
        git_do(
            &second,
            &[
                "remote",
                "set-url",
                "origin",
                "git@example.org:group/tool.git",
            ],
        );
        assert_eq!(repository_name(&second).as_deref(), Some("tool"));
        git_do(
            &first,
            &[
                "remote",
                "add",
                "upstream",
                "https://example.org/group/tool/",
            ],
        );
        assert_eq!(
            repository_name(&first.join("benchmarks")).as_deref(),
            Some("tool/benchmarks")
        );
    }

    #[test]
    fn a_repository_gives_commit_branch_date_and_whether_it_was_changed() {
        let folder = repository_with_a_commit();
        let clean = version(&VersionSource::WorkingDirectory, folder.path());
        let commit = clean.commit.clone().expect("a commit");
        assert_eq!(commit.len(), 40);
        let expected = Version {
            commit: Some(commit),
            branch: Some("trunk".to_owned()),
            date: Some("2026-03-04T05:06:07+01:00".to_owned()),
            dirty: Some(false),
            ..Version::default()
        };
        assert_eq!(clean, expected);

        fs::write(folder.path().join("untracked"), "").expect("written");
        assert_eq!(
            version(&VersionSource::WorkingDirectory, folder.path()),
            expected
        );

        fs::write(folder.path().join("file"), "two").expect("written");
        git_do(folder.path(), &["checkout", "--quiet", "--detach"]);
        let elsewhere = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_string_lossy().into_owned();
        let changed = Version {
            branch: None,
            dirty: Some(true),
            ..expected
        };
        assert_eq!(
            version(&VersionSource::Repository(path), elsewhere.path()),
            changed
        );
    }

    #[test]
    fn what_is_not_there_has_an_empty_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path();
        for source in [
            VersionSource::WorkingDirectory,
            VersionSource::Repository("missing".to_owned()),
            VersionSource::Package("no-such-package-anywhere".to_owned()),
            VersionSource::Command(CommandLine::Shell("exit 1".to_owned())),
            VersionSource::Command(CommandLine::Words(Vec::new())),
        ] {
            assert!(version(&source, here).is_empty(), "{source:?}");
        }
    }

    #[test]
    fn a_repository_without_a_commit_has_an_empty_version() {
        let folder = tempfile::tempdir().expect("a folder");
        git_do(folder.path(), &["init", "--quiet"]);
        assert!(version(&VersionSource::WorkingDirectory, folder.path()).is_empty());
    }

    #[test]
    fn a_version_can_be_stated_or_printed_or_installed() {
        let here = Path::new("/");
        let name = |source| version(&source, here).name;
        assert_eq!(
            name(VersionSource::Name("2.0".to_owned())),
            Some("2.0".to_owned())
        );
        let words = ["printf", "1.2\nmore"].map(str::to_owned).to_vec();
        let command = VersionSource::Command(CommandLine::Words(words));
        assert_eq!(name(command), Some("1.2".to_owned()));
        let dash = name(VersionSource::Package("dash".to_owned()));
        assert!(dash.is_none_or(|dash| dash.starts_with(|first: char| first.is_ascii_digit())));
    }
}
