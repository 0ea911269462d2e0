//! A repository whose commits have levels, and programs that print them with noise.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// Options that measure the program of the repository, once per instance.
pub const PROGRAM_WORDS: [&str; 8] = [
    "--metrics",
    "json",
    "-i",
    "1",
    "--burn-in",
    "0",
    "--command",
    "sh program",
];

pub fn git(folder: &Path, words: &[&str]) -> String {
    git_at(None, folder, words)
}

/// Calls Git at a date; the cache of programs that it starts is beside the repository.
pub fn git_at(date: Option<&str>, folder: &Path, words: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("XDG_CACHE_HOME", folder.join("../cache"))
        .envs(date.map(|date| ("GIT_COMMITTER_DATE", date)))
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {words:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// Prints numbers from 0 to 255 that are spread evenly and follow no order: chance must not decide a test.
const NOISE: &str = "number=$(cat \"$0.count\" 2>/dev/null || echo 0)\n\
    echo $(( number + 1 )) > \"$0.count\"\n\
    echo $(( number * 101 % 256 ))\n";

/// Returns a folder with a repository of this program, in which `NOISE` is another number each time: a commit, tagged
/// `c0`, `c1` …, for each level, a day apart from 1 January 2026 on.
pub fn repository(program: &str, levels: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = &folder.path().join("repository");
    fs::create_dir(path).unwrap();
    git(path, &["init", "--quiet", "--initial-branch=trunk"]);
    let noise = folder.path().join("noise");
    fs::write(&noise, NOISE).unwrap();
    let program = program.replace("NOISE", &format!("$(sh '{}')", noise.display()));
    fs::write(path.join("program"), program).unwrap();
    for (number, level) in levels.iter().enumerate() {
        fs::write(path.join("level"), level).unwrap();
        fs::write(path.join("number"), number.to_string()).unwrap();
        git(path, &["add", "."]);
        let message = format!("change {number}");
        let date = format!("2026-01-{:02}T12:00:00Z", number + 1);
        git_at(Some(&date), path, &["commit", "--quiet", "-m", &message]);
        git(path, &["tag", &format!("c{number}")]);
    }
    folder
}
