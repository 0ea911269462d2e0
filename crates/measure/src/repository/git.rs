//! Calls of Git, which execute nothing that a repository names.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::suite::sha256;

/// Settings that keep Git from executing what the configuration of a repository names.
///
/// A file monitor, hooks, a program that checks signatures, and a bare repository hidden in another one.
const NOTHING_EXECUTED: [&str; 9] = [
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "log.showSignature=false",
    "-c",
    "safe.bareRepository=explicit",
];

/// A repository that Git does not read, because it belongs to another user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistrustedRepository {
    /// The folder, as `safe.directory` of Git takes it.
    pub folder: PathBuf,
}

/// Returns Git in a folder, without hooks, pagers, file monitors and checks of signatures.
///
/// Whose repositories it reads is decided by Git (`safe.directory`). Filters are executed by commands that read or
/// write the working tree; [`is_changed`] does without.
pub(crate) fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(NOTHING_EXECUTED)
        .env("GIT_OPTIONAL_LOCKS", "0")
        // A partial clone would start the transport that its configuration names.
        .env("GIT_NO_LAZY_FETCH", "1")
        // Set in a Git hook, they would name another repository.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .current_dir(directory);
    command
}

/// Returns Git in a folder, for commands that read the working tree, without the filters of the repository; `None` if
/// they are not known.
fn git_without_filters(directory: &Path) -> Option<Command> {
    let names = ["config", "-z", "--name-only", "--get-regexp", r"^filter\."];
    // Code 1: there are none.
    let filters = git(directory)
        .args(names)
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|done| matches!(done.status.code(), Some(0 | 1)))?;
    let filters = String::from_utf8(filters.stdout).ok()?;
    let mut command = git(directory);
    for key in filters.split('\0').filter(|key| !key.is_empty()) {
        // Git would cut such a name at its first `=`.
        if key.contains('=') {
            return None;
        }
        let value = if key.ends_with(".required") {
            "false"
        } else {
            ""
        };
        command.arg("-c").arg(format!("{key}={value}"));
    }
    Some(command)
}

/// Returns the digest of the differences of tracked files from the last commit; `None` without any, or if Git does not
/// say. Filters are not executed ([`is_changed`]).
pub fn patch_digest(directory: &Path) -> Option<String> {
    let mut command = git_without_filters(directory)?;
    let difference = [
        "diff",
        "HEAD",
        "--binary",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--ignore-submodules=dirty",
    ];
    let text = output(command.args(difference))?;
    (!text.is_empty()).then(|| sha256(&text))
}

/// Returns whether tracked files of a repository differ from its last commit; `None` if Git does not say.
///
/// Filters are not executed: a file that one of them would convert, such as one of Git LFS, counts as changed once
/// its time or size differs from what Git noted.
pub(crate) fn is_changed(directory: &Path) -> Option<bool> {
    let mut command = git_without_filters(directory)?;
    // A submodule has a configuration of its own, and counts by its commit.
    let status = [
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--ignore-submodules=dirty",
    ];
    let changes = output(command.args(status))?;
    Some(!changes.trim().is_empty())
}

/// Returns the repository around a folder, if Git does not read it because it belongs to another user.
pub fn distrusted_repository(directory: &Path) -> Option<DistrustedRepository> {
    let done = git(directory)
        .args(["rev-parse", "--git-dir"])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&done.stderr);
    let (_, rest) = said.split_once("detected dubious ownership in repository at '")?;
    let (folder, _) = rest.split_once("'\n")?;
    Some(DistrustedRepository {
        folder: PathBuf::from(folder),
    })
}

/// Returns the name that Git writes into the commits of a user; `None` if it is not set.
pub fn user_name() -> Option<String> {
    first_line(git(Path::new(".")).args(["config", "user.name"]))
}

/// Returns the output of a command that succeeds.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}

/// Returns the first line of the output of a command that succeeds; `None` if it is empty.
pub(crate) fn first_line(command: &mut Command) -> Option<String> {
    let text = output(command)?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::repository::commits::add_worktree;
    use crate::repository::version::version;
    use crate::repository_name;
    use crate::suite::PlannedCommit;
    use crate::suite::VersionSource;
    use lapwing_model::Version;

    fn git_do(folder: &Path, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(arguments)
            .current_dir(folder)
            .output()
            .expect("git is installed");
        assert!(done.status.success(), "git {arguments:?}: {done:?}");
    }

    /// Returns a repository that names one program wherever Git takes one, and the file that this program writes.
    fn planted() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path();
        git_do(here, &["init", "-q", "--initial-branch=trunk"]);
        fs::write(here.join("a"), "hi\n").expect("written");
        git_do(here, &["add", "a"]);
        git_do(here, &["commit", "-qm", "one"]);
        let evil = here.join(".git/evil");
        let ran = here.join("ran");
        let script = format!("#!/bin/sh\necho \"$0 $*\" >>'{}'\ncat\n", ran.display());
        fs::write(&evil, script).expect("written");
        fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).expect("set");
        let program = evil.display().to_string();
        for key in [
            "filter.evil.clean",
            "filter.evil.smudge",
            "core.fsmonitor",
            "core.pager",
            "gpg.program",
            "gpg.ssh.program",
            "diff.external",
            "core.sshCommand",
            "core.editor",
        ] {
            git_do(here, &["config", key, &program]);
        }
        git_do(here, &["config", "filter.evil.required", "true"]);
        git_do(here, &["config", "log.showSignature", "true"]);
        let hooks = here.join(".git/hooks");
        fs::create_dir_all(&hooks).expect("a folder");
        for hook in [
            "post-checkout",
            "post-index-change",
            "reference-transaction",
        ] {
            fs::copy(&evil, hooks.join(hook)).expect("copied");
        }
        (folder, ran)
    }

    #[test]
    fn nothing_that_a_repository_names_is_executed() {
        let (folder, ran) = planted();
        let here = folder.path();
        // A commit that claims a signature, which `log.showSignature` has a program check.
        let commit = first_line(git(here).args(["rev-parse", "HEAD"])).expect("a commit");
        let content = output(git(here).args(["cat-file", "commit", &commit])).expect("its content");
        let (head, message) = content.split_once("\n\n").expect("two parts");
        let signature = "-----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----";
        fs::write(
            here.join("signed"),
            format!("{head}\ngpgsig {signature}\n\n{message}"),
        )
        .expect("written");
        let hash = ["hash-object", "-w", "-t", "commit", "signed"];
        let signed = first_line(git(here).args(hash)).expect("a commit");
        fs::write(here.join(".git/refs/heads/trunk"), format!("{signed}\n")).expect("written");
        let touch = |text: &str| fs::write(here.join("a"), text).expect("written");
        touch("hj\n");
        fs::write(here.join(".git/info/attributes"), "* filter=evil\n").expect("written");

        let found = version(&VersionSource::WorkingDirectory, here);
        assert_eq!(found.commit.as_deref(), Some(&*signed));
        assert_eq!(found.dirty, Some(true));
        assert!(repository_name(here).is_some());
        assert!(!ran.exists(), "{:?}", fs::read_to_string(&ran));

        fs::remove_file(here.join(".git/info/attributes")).expect("removed");
        let planned = PlannedCommit {
            version: found,
            repository: here.display().to_string(),
            patches: Vec::new(),
        };
        add_worktree(&planned, &here.join("other")).expect("checked out");
        assert!(!ran.exists(), "{:?}", fs::read_to_string(&ran));
    }

    #[test]
    fn a_filter_whose_name_cannot_be_switched_off_leaves_it_open_whether_files_changed() {
        let (folder, ran) = planted();
        let here = folder.path();
        let program = here.join(".git/evil").display().to_string();
        git_do(here, &["config", "filter.a=b.clean", &program]);
        fs::write(here.join(".git/info/attributes"), "* filter=a=b\n").expect("written");
        fs::write(here.join("a"), "hj\n").expect("written");
        assert_eq!(is_changed(here), None);
        assert!(!ran.exists());
    }

    #[test]
    fn a_repository_of_another_user_is_not_read() {
        let (folder, ran) = planted();
        let here = folder.path();
        // Only root may give a file away.
        let nobody = Some(65_534);
        if std::os::unix::fs::chown(here.join(".git"), nobody, nobody).is_err() {
            return;
        }
        std::os::unix::fs::chown(here, nobody, nobody).expect("chown");
        fs::create_dir(here.join("sub")).expect("a folder");
        let sub = here.join("sub");
        assert_eq!(
            version(&VersionSource::WorkingDirectory, &sub),
            Version::default()
        );
        assert_eq!(repository_name(&sub), None);
        let folder = here.canonicalize().expect("a path");
        assert_eq!(
            distrusted_repository(&sub),
            Some(DistrustedRepository { folder })
        );
        assert!(!ran.exists());
    }

    #[test]
    fn an_own_repository_and_no_repository_are_not_distrusted() {
        let (folder, _) = planted();
        assert_eq!(distrusted_repository(folder.path()), None);
        let empty = tempfile::tempdir().expect("a folder");
        assert_eq!(distrusted_repository(empty.path()), None);
    }
}
