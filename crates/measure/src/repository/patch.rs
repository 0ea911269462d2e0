//! Patches as they are recorded: what they change, and no other text of their files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::git::{first_line, git};
use crate::suite::{PlannedCommit, SourcePatch};

/// Returns the patches of a commit as Git applies them one after another, without anything else that their files say.
/// One that does not apply is kept without its content: its file may be anything. `scratch` is an empty folder.
pub(crate) fn applied_patches(
    commit: &PlannedCommit,
    patches: Vec<SourcePatch>,
    scratch: &Path,
) -> Vec<SourcePatch> {
    let index = PatchIndex {
        repository: PathBuf::from(&commit.repository),
        scratch: scratch.to_owned(),
    };
    let mut tree = index.read(commit.hash());
    let patches = patches.into_iter().map(|patch| {
        let applied = match &tree {
            Ok(before) => index.apply(&patch.content, before),
            Err(reason) => Err(reason.clone()),
        };
        let (content, refused) = match applied {
            Ok((content, after)) => {
                tree = Ok(after);
                (content, None)
            }
            Err(reason) => (String::new(), Some(reason)),
        };
        SourcePatch {
            content,
            refused,
            ..patch
        }
    });
    patches.collect()
}

/// An index of its own, whose objects the repository does not get.
struct PatchIndex {
    repository: PathBuf,
    scratch: PathBuf,
}

impl PatchIndex {
    /// Reads a commit; returns its tree.
    fn read(&self, commit: &str) -> Result<String, String> {
        self.output(self.git().args(["read-tree", commit]), "")?;
        self.tree()
    }

    /// Applies a patch to a tree; returns its changes, and the tree with them.
    fn apply(&self, patch: &str, before: &str) -> Result<(String, String), String> {
        let apply = ["apply", "--cached", "--whitespace=nowarn", "-"];
        self.output(self.git().args(apply), patch)?;
        let after = self.tree()?;
        let diff = ["diff-tree", "-r", "--patch", "--binary", "--full-index"];
        let plain = [
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
        ];
        let mut command = self.git();
        command.args(diff).args(plain).args([before, &after]);
        let changes = self.output(&mut command, "")?;
        let text = String::from_utf8(changes);
        let text = text.map_err(|_other| "its surroundings are not UTF-8 text".to_owned())?;
        Ok((text, after))
    }

    fn tree(&self) -> Result<String, String> {
        first_line(self.git().arg("write-tree")).ok_or_else(|| "git write-tree failed".to_owned())
    }

    fn git(&self) -> Command {
        let objects = [
            "rev-parse",
            "--path-format=absolute",
            "--git-path",
            "objects",
        ];
        let objects = first_line(git(&self.repository).args(objects)).unwrap_or_default();
        let mut command = git(&self.repository);
        command
            .env("GIT_INDEX_FILE", self.scratch.join("index"))
            .env("GIT_OBJECT_DIRECTORY", self.scratch.join("objects"))
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects);
        command
    }

    /// Returns what a command prints, or the last line of its error.
    fn output(&self, command: &mut Command, input: &str) -> Result<Vec<u8>, String> {
        std::fs::create_dir_all(self.scratch.join("objects")).map_err(|it| it.to_string())?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let done = (|| {
            let mut child = command.spawn()?;
            if let Some(mut stdin) = child.stdin.take() {
                match stdin.write_all(input.as_bytes()) {
                    // It says why it has ended.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                    written => written?,
                }
            }
            child.wait_with_output()
        })();
        let done = done.map_err(|error: io::Error| error.to_string())?;
        if done.status.success() {
            return Ok(done.stdout);
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let last = said.trim().lines().last();
        Err(last.unwrap_or("git failed").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::single_commit;

    fn do_git(folder: &Path, arguments: &[&str]) {
        let done = git(folder)
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(arguments)
            .output()
            .expect("git");
        assert!(done.status.success(), "{arguments:?}");
    }

    #[test]
    fn only_what_applies_of_a_patch_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        do_git(folder.path(), &["init", "--quiet"]);
        fs::write(folder.path().join("file"), "one\n").expect("written");
        do_git(folder.path(), &["add", "file"]);
        do_git(folder.path(), &["commit", "--quiet", "-m", "one"]);
        let change = |from: &str, to: &str| {
            format!(
                "From: SECRET\n\nSECRET\n---\n--- a/file\n+++ b/file\n@@ -1 +1 @@\n-{from}\n+{to}\n"
            )
        };
        let patch = |file: &str, content: String| SourcePatch {
            file: file.to_owned(),
            content,
            refused: None,
        };
        let commit = single_commit(folder.path(), "HEAD", true).expect("there");
        let scratch = tempfile::tempdir().expect("a folder");
        let patches = vec![
            patch("first", change("one", "two")),
            patch("key", "-----BEGIN SECRET-----\n".to_owned()),
            patch("stale", change("one", "three")),
            patch("second", change("two", "four")),
        ];
        let objects = || {
            let count = git(folder.path())
                .arg("count-objects")
                .output()
                .expect("git");
            String::from_utf8(count.stdout).expect("text")
        };
        let before = objects();
        let kept = applied_patches(&commit, patches, scratch.path());
        assert_eq!(objects(), before);
        let has_content: Vec<bool> = kept.iter().map(|it| !it.content.is_empty()).collect();
        assert_eq!(has_content, [true, false, false, true]);
        let is_refused: Vec<bool> = kept.iter().map(|it| it.refused.is_some()).collect();
        assert_eq!(is_refused, [false, true, true, false]);
        let text = serde_json::to_string(&kept).expect("JSON");
        assert!(!text.contains("SECRET"), "{text}");
        assert!(kept[0].content.contains("-one\n+two\n"), "{text}");
        assert!(kept[3].content.contains("-two\n+four\n"), "{text}");
    }
}
