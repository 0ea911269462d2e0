//! Python environments that commits are installed into: they are as before afterwards, and what is imported is the commit's.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::level_repository::{git, git_at};

/// Installs a folder for a Python, as `pip install --editable` does: the path in a file that is written in place.
const INSTALL: &str = r#"programs=$(cd "$(dirname "$1")" && pwd)
site=$("$1" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
mkdir -p "$site/toy-$3.dist-info"
find "$site" -maxdepth 1 -name 'toy-*.dist-info' ! -name "toy-$3.dist-info" -exec rm -r {} +
cd "$site/toy-$3.dist-info"
printf 'Metadata-Version: 2.1\nName: toy\nVersion: %s\n' "$3" > METADATA
printf '{"url": "file://%s", "dir_info": {"editable": true}}' "$2" > direct_url.json
echo toy > top_level.txt
for file in METADATA direct_url.json top_level.txt RECORD; do echo "toy-$3.dist-info/$file,,"; done > RECORD
printf 'toy.pth,,\n../../../bin/toy,,\n' >> RECORD
echo "$2" > "$site/toy.pth"
echo "toy $3" > "$programs/toy"
"#;

const MEASURE: &str = "import json, random, time, toy\n\
    time.sleep(0.02)\n\
    print(json.dumps({'cost': toy.LEVEL * random.gauss(1, 0.01)}))\n";

/// A library of six commits, of which the fifth is slower, and a suite with a Python environment in which the library's
/// working tree is installed.
fn library() -> TempDir {
    let folder = TempDir::new().unwrap();
    let library = folder.path().join("library");
    let suite = folder.path().join("suite");
    fs::create_dir(&library).unwrap();
    fs::create_dir(&suite).unwrap();
    git(&library, &["init", "--quiet", "--initial-branch=trunk"]);
    for (number, level) in [1, 1, 1, 1, 3, 3].into_iter().enumerate() {
        fs::write(library.join("toy.py"), format!("LEVEL = {level}\n")).unwrap();
        fs::write(library.join("number"), number.to_string()).unwrap();
        git(&library, &["add", "."]);
        let date = format!("2026-01-{:02}T12:00:00Z", number + 1);
        let message = format!("change {number}");
        git_at(
            Some(&date),
            &library,
            &["commit", "--quiet", "-m", &message],
        );
        git(&library, &["tag", &format!("c{number}")]);
    }
    fs::write(suite.join("install.sh"), INSTALL).unwrap();
    fs::write(suite.join("measure.py"), MEASURE).unwrap();
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip", "venv"])
        .current_dir(&suite)
        .status();
    assert!(made.unwrap().success(), "python3 makes environments");
    let installed = Command::new("sh")
        .args(["install.sh", "venv/bin/python"])
        .arg(&library)
        .arg("1")
        .current_dir(&suite)
        .status();
    assert!(installed.unwrap().success());
    folder
}

const INSTALLATION: &str = "sh install.sh venv/bin/python {worktree} 2";

fn lapwing(folder: &TempDir, words: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"));
    let (first, others) = words.split_first().unwrap();
    command
        .args([first, "--store", "../store.db"])
        .args(others)
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .env_remove("VIRTUAL_ENV")
        .current_dir(folder.path().join("suite"));
    command
}

fn bisect(folder: &TempDir, more: &[&str]) -> Command {
    let words = [
        &["bisect", "c0", "trunk", "--repo", "../library"][..],
        &["--install", INSTALLATION, "--metric", "cost"],
        &["--metrics", "json", "-i", "1", "--burn-in", "0"],
        more,
        &["--", "venv/bin/python", "measure.py"],
    ];
    lapwing(folder, &words.concat())
}

fn answer(output: &Output) -> Value {
    let all: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let all = all.unwrap_or_else(|_| panic!("{output:?}"));
    all["benchmarks"][0].clone()
}

/// Returns all files below a folder with their texts, but for compiled ones.
fn files(top: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.extend((name != "__pycache__").then_some(path));
            } else if entry.file_type().unwrap().is_file() {
                found.push((path.display().to_string(), fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn environment(folder: &TempDir) -> Vec<(String, Vec<u8>)> {
    files(&folder.path().join("suite/venv"))
}

#[test]
fn the_environment_has_what_it_had_before_a_search() {
    let folder = library();
    let before = environment(&folder);
    let output = bisect(&folder, &["--format", "json"]).output().unwrap();
    let told = answer(&output);
    let culprit = git(&folder.path().join("library"), &["rev-parse", "c4"]);
    assert_eq!(told["found"], json!([culprit]), "{told}");
    assert_eq!(environment(&folder), before);
}

#[test]
fn the_environment_has_what_it_had_after_a_killed_search_too() {
    let folder = library();
    let before = environment(&folder);
    let pth = before
        .iter()
        .find(|(name, _)| name.ends_with("site-packages/toy.pth"));
    let pth = pth.unwrap().0.clone();
    let library = folder.path().join("library").display().to_string();
    for signal in ["-INT", "-KILL"] {
        let mut search = bisect(&folder, &[])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while fs::read_to_string(&pth).unwrap().trim() == library {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "nothing is installed"
            );
            thread::sleep(Duration::from_millis(20));
        }
        let kill = Command::new("kill")
            .args([signal, &search.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        search.wait().unwrap();
        if signal == "-KILL" {
            assert_ne!(environment(&folder), before);
            // The next command puts it back.
            let listed = lapwing(&folder, &["list", "sessions"]).output().unwrap();
            assert!(listed.status.success(), "{listed:?}");
        }
        assert_eq!(environment(&folder), before, "{signal}");
    }
}

#[test]
fn what_is_imported_from_elsewhere_is_not_measured_as_the_commit() {
    let folder = library();
    let before = environment(&folder);
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("toy.py"), "LEVEL = 7\n").unwrap();
    let output = bisect(&folder, &[])
        .env("PYTHONPATH", &other)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let expected = format!(
        "the installation failed: `toy` is imported from {}",
        other.canonicalize().unwrap().join("toy.py").display()
    );
    assert!(said.contains(&expected), "{said}");
    assert_eq!(environment(&folder), before);
}

#[test]
fn files_that_an_installation_copies_are_as_before_too() {
    let folder = library();
    let suite = folder.path().join("suite");
    let site = Command::new("venv/bin/python")
        .args([
            "-c",
            "import sysconfig; print(sysconfig.get_paths()['purelib'])",
        ])
        .current_dir(&suite)
        .output()
        .unwrap();
    let site = suite.join(String::from_utf8(site.stdout).unwrap().trim());
    // Without metadata, over a file and as a new one.
    for entry in fs::read_dir(&site).unwrap().flatten() {
        let gone = match entry.file_type().unwrap().is_dir() {
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
        gone.unwrap();
    }
    let copy = "venv/bin/python -c 'import shutil, sysconfig, sys\nsite = sysconfig.get_paths()[\"purelib\"]\n\
                shutil.copyfile(sys.argv[1] + \"/toy.py\", site + \"/toy.py\")\n\
                shutil.copyfile(sys.argv[1] + \"/number\", site + \"/toy.number\")' {worktree}";
    for existed in [true, false] {
        match existed {
            true => fs::write(site.join("toy.py"), "LEVEL = 8\n").unwrap(),
            false => fs::remove_file(site.join("toy.py")).unwrap(),
        }
        let before = environment(&folder);
        let words = [
            "bisect",
            "c0",
            "trunk",
            "--repo",
            "../library",
            "--install",
            copy,
            "--metric",
            "cost",
        ];
        let more = [
            "--metrics",
            "json",
            "-i",
            "1",
            "--burn-in",
            "0",
            "--format",
            "json",
        ];
        let measured = ["--", "venv/bin/python", "measure.py"];
        let output = lapwing(&folder, &[&words[..], &more, &measured].concat())
            .output()
            .unwrap();
        let culprit = git(&folder.path().join("library"), &["rev-parse", "c4"]);
        assert_eq!(answer(&output)["found"], json!([culprit]), "{output:?}");
        assert_eq!(environment(&folder), before);
    }
}

#[test]
fn a_second_search_in_an_environment_is_refused() {
    let folder = library();
    let before = environment(&folder);
    let mut first = bisect(&folder, &[])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lib = folder.path().join("suite/venv/lib");
    let is_kept = || {
        let pythons = fs::read_dir(&lib).unwrap().flatten();
        pythons
            .into_iter()
            .any(|it| it.path().join(".lapwing-kept-site-packages").exists())
    };
    let begin = Instant::now();
    while !is_kept() {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing is kept");
        thread::sleep(Duration::from_millis(5));
    }
    // Of another user of the environment, with another cache.
    let second = bisect(&folder, &[])
        .env("XDG_CACHE_HOME", folder.path().join("other"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("another search installs into"), "{said}");
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(is_kept());
    // What the killed one left is put back before anything else is installed.
    let third = bisect(&folder, &["--format", "json"])
        .env("XDG_CACHE_HOME", folder.path().join("other"))
        .output()
        .unwrap();
    let culprit = git(&folder.path().join("library"), &["rev-parse", "c4"]);
    assert_eq!(answer(&third)["found"], json!([culprit]), "{third:?}");
    assert_eq!(environment(&folder), before);
}
