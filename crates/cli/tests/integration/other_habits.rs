//! Habits of users of pyperf, asv, pytest-benchmark, benchstat, criterion and programs of continuous integration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::program::run;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures")).join(name)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs a line that is refused; returns the command of its hint.
fn hinted(folder: &Path, words: &[&str]) -> String {
    let told = run(folder, words);
    let line = told.split_once("hint: type `").expect(&told).1;
    assert!(told.ends_with("exit 2"), "{told}");
    line.split('`').next().unwrap().to_owned()
}

/// Runs a line that is carried out; returns the command of its note.
fn meant(folder: &Path, words: &[&str]) -> String {
    let told = run(folder, words);
    let line = told.split_once(", here").expect(&told).1;
    assert!(!told.ends_with("exit 2"), "{told}");
    line.split('`').nth(1).unwrap().to_owned()
}

/// Types a command of a hint into a shell; returns what it prints. Its exit code is none of wrong usage.
fn typed(folder: &Path, line: &str) -> String {
    let program = Path::new(assert_cmd::cargo::cargo_bin!("lapwing"));
    let path = std::env::var("PATH").unwrap();
    let done = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env(
            "PATH",
            format!("{}:{path}", program.parent().unwrap().display()),
        )
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_ne!(done.status.code(), Some(2), "{line}: {told}");
    String::from_utf8(done.stdout).unwrap()
}

/// Writes what `go test -count=6` prints.
fn write_go(path: &Path, time: f64) {
    let line = |at: u32| format!("BenchmarkX-8 100 {} ns/op\n", time + f64::from(at % 3));
    let lines: String = (0..6).map(line).collect();
    fs::write(path, format!("pkg: example.org/x\n{lines}PASS\n")).unwrap();
}

#[test]
fn commands_of_pyperf_are_ours_or_answered_with_ours() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_go(&path.join("a.txt"), 100.0);
    write_go(&path.join("b.txt"), 200.0);
    let ours = run(path, &["compare", "a.txt", "b.txt"]);
    let theirs = run(path, &["compare_to", "a.txt", "b.txt"]);
    let (answer, note) = theirs
        .split_once("note: `compare_to` is a command of pyperf, here `lapwing")
        .expect(&theirs);
    assert!(
        ours.starts_with(answer.trim_end()) && note.contains("compare a.txt b.txt`"),
        "{theirs}"
    );
    let timed = run(path, &["timeit", "1 + 1", "-l", "10", "--dry-run"]);
    assert!(timed.ends_with("exit 0"), "{timed}");
    let loops = meant(path, &["timeit", "-n", "9", "1 + 1", "--dry-run"]);
    assert_eq!(loops, "lapwing time --loops 9 '1 + 1' --dry-run");
    let lines = [
        (
            &["hist", "a.txt"][..],
            "lapwing show a.txt --plot values.svg",
        ),
        (&["stats", "a.txt"], "lapwing show a.txt"),
        (&["check", "a.txt"], "lapwing show a.txt"),
        (&["pyperf", "slowest", "a.txt"], "lapwing show a.txt"),
        (&["metadata", "a.txt"], "lapwing report a.txt"),
        (
            &["compare_to", "--table", "a.txt", "b.txt"],
            "lapwing compare a.txt b.txt",
        ),
    ];
    for (words, expected) in lines {
        assert_eq!(meant(path, words), expected);
    }
    assert_eq!(hinted(path, &["collect_metadata"]), "lapwing doctor");
    for file in ["a.json", "b.json"] {
        let words = ["timeit", "-s", "x = 1", "-n", "9", "x + 1", "-o", file];
        let line = format!("lapwing time -s 'x = 1' --loops 9 'x + 1' -o {file}");
        assert_eq!(meant(path, &words), line);
    }
    let compared = run(path, &["a.json", "b.json"]);
    assert!(compared.contains("5 / 5"), "{compared}");
    let shown = run(path, &["show", "a.json"]);
    assert!(
        shown.contains("suite `pyperf`, 5 instances, measured by pyperf"),
        "{shown}"
    );
}

#[test]
fn commands_of_asv_are_answered_with_ours() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    copy(&fixture("asv-0.6.6/results"), &path.join(".asv/results"));
    let lines = [
        (
            &["continuous", "main", "HEAD"][..],
            "lapwing judge --baseline main -- COMMAND",
        ),
        (
            &["run", "HEAD^!"],
            "lapwing run --commits HEAD..HEAD -- COMMAND",
        ),
        (
            &["run", "v1..main"],
            "lapwing run --commits v1..main -- COMMAND",
        ),
        (
            &["find", "v1..main", "sort"],
            "lapwing bisect v1 main -- COMMAND",
        ),
        (
            &["profile", "sort"],
            "lapwing run --profile 'perf record -o {artifact} --' -- COMMAND",
        ),
        (&["machine", "--yes"], "lapwing doctor"),
        (&["dev"], "lapwing run -n 1 -i 1 -w 0 -- COMMAND"),
        (&["gh-pages"], "lapwing report -o gh-pages .asv/results"),
        (&["list"], "lapwing import .asv/results"),
    ];
    for (words, expected) in lines {
        assert_eq!(hinted(path, words), expected);
    }
    let published = run(path, &["publish"]);
    assert!(
        published.contains("here `lapwing report .asv/results`")
            && path.join("lapwing-report/index.html").is_file()
            && !path.join(".lapwing").exists(),
        "{published}"
    );
    let compared = "lapwing import .asv/results && lapwing compare commit:3533aad3 commit:4d7b9087";
    for words in [
        &["compare", "3533aad3", "4d7b9087"][..],
        &["compare", ".asv/results", "3533aad3", "4d7b9087"],
    ] {
        assert_eq!(hinted(path, words), compared);
    }
    let told = typed(path, compared);
    assert!(told.contains("4d7b9087 against 3533aad3"), "{told}");
    let nothing = run(path, &["bisect", "HEAD~1", "HEAD", "-b", "sort"]);
    assert!(
        nothing.contains("`lapwing bisect 'HEAD~1' HEAD -- COMMAND`"),
        "{nothing}"
    );
}

#[test]
fn stored_results_of_pytest_benchmark_are_found_by_their_numbers() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    copy(
        &fixture("pytest-benchmark-5.3.1/storage"),
        &path.join(".benchmarks"),
    );
    assert_eq!(hinted(path, &["list"]), "lapwing import .benchmarks");
    let compared = meant(path, &["compare", "0001", "0003"]);
    let machine = ".benchmarks/Linux-CPython-3.11-64bit";
    assert_eq!(
        compared,
        format!("lapwing compare {machine}/0001_words.json {machine}/0003_dirty.json")
    );
    let stored = ["compare", "--storage", ".benchmarks", "0001", "0003"];
    assert_eq!(meant(path, &stored), compared);
    let with_csv = [
        "compare",
        "0001",
        "0003",
        "--csv=x.csv",
        "--sort=name",
        "--columns=min,max",
    ];
    assert_eq!(meant(path, &with_csv), format!("{compared} --export x.csv"));
    assert_eq!(
        meant(path, &["pytest-benchmark", "compare", "0001", "0003"]),
        compared
    );
}

#[test]
fn labels_and_options_of_benchstat_before_files_are_understood() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_go(&path.join("old.txt"), 100.0);
    write_go(&path.join("new.txt"), 200.0);
    for words in [
        &["base=old.txt", "pr=new.txt"][..],
        &["compare", "base=old.txt", "pr=new.txt"],
        &["--metric", "wall_time", "base=old.txt", "pr=new.txt"],
    ] {
        let told = run(path, words);
        assert!(
            told.starts_with("pr against base: ") && told.ends_with("exit 0"),
            "{told}"
        );
    }
    let labels = [
        "-filter",
        ".unit:ns/op",
        "-col",
        ".file",
        "base=old.txt",
        "pr=new.txt",
    ];
    assert_eq!(
        meant(path, &labels),
        "lapwing compare --metric wall_time base=old.txt pr=new.txt"
    );
    let told = run(path, &labels);
    assert!(told.starts_with("pr against base: "), "{told}");
    let lines = [
        (
            &["-filter", ".name:X"][..],
            "lapwing compare --benchmark X old.txt new.txt",
        ),
        (&["-row", ".name"], "lapwing compare old.txt new.txt"),
        (&["-table", "pkg"], "lapwing compare old.txt new.txt"),
        (&["-geomean"], "lapwing compare old.txt new.txt"),
        (&["-delta-test", "utest"], "lapwing compare old.txt new.txt"),
        (
            &["-alpha", "0.01"],
            "lapwing compare --false-discovery-rate 0.01 old.txt new.txt",
        ),
        (&["benchstat"], "lapwing compare old.txt new.txt"),
    ];
    for (words, expected) in lines {
        let words = [words, &["old.txt", "new.txt"]].concat();
        assert_eq!(meant(path, &words), expected);
    }
    let csv = run(path, &["-format=csv", "old.txt", "new.txt"]);
    assert!(csv.starts_with("suite,benchmark,"), "{csv}");
    let column = run(path, &["-col", "/format", "old.txt"]);
    assert!(
        column.contains("settings in a file are sides") && column.ends_with("exit 2"),
        "{column}"
    );
}

#[test]
fn options_of_continuous_integration_are_answered_with_ours() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_go(&path.join("out.txt"), 100.0);
    let action = ["--tool", "go", "--output-file-path", "out.txt"];
    let line = hinted(path, &action);
    assert_eq!(line, "lapwing import out.txt && lapwing detect");
    typed(path, &line);
    write_go(&path.join("new.txt"), 180.0);
    let gate = [
        "out.txt",
        "new.txt",
        "--fail-on-alert",
        "--alert-threshold",
        "150%",
    ];
    let line = meant(path, &gate);
    assert_eq!(
        line,
        "lapwing compare out.txt new.txt --fail-on worse-in-runs --smallest-effect 50%"
    );
    let told = run(path, &gate);
    assert!(
        told.contains("1 slower in these files") && told.ends_with("exit 1"),
        "{told}"
    );
    assert_eq!(meant(path, &[&["compare"], &gate[..]].concat()), line);
    let threshold = ["detect", "--alert-threshold", "150%", "--fail-on-alert"];
    assert_eq!(
        meant(path, &threshold),
        "lapwing detect --smallest-effect 50% --fail-on suspected"
    );
    for words in [
        &["bencher", "run", "--adapter", "go", "cat out.txt"][..],
        &["run", "--project", "x", "--adapter", "go", "cat out.txt"],
    ] {
        let line = hinted(path, words);
        assert_eq!(
            line,
            "cat out.txt | lapwing import - && lapwing detect --fail-on regression"
        );
        typed(path, &line);
    }
}

#[test]
fn baselines_of_criterion_are_variants_after_an_import() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    copy(
        &fixture("criterion-0.8.2/baselines"),
        &path.join("target/criterion"),
    );
    let shown = run(path, &["target/criterion"]);
    assert!(
        shown.contains("plain sum") && shown.ends_with("exit 0"),
        "{shown}"
    );
    let line = "lapwing import target/criterion && lapwing compare variant:before variant:default";
    for words in [
        &["target/criterion", "--baseline", "before"][..],
        &["compare", "--baseline=before"],
        &["critcmp", "before", "new"],
        &["compare", "before", "new"],
    ] {
        assert_eq!(hinted(path, words), line);
    }
    let told = typed(path, line);
    assert!(told.contains("default against before"), "{told}");
    assert_eq!(
        meant(path, &["run", "--save-baseline", "main", "true"]),
        "lapwing run --name main true"
    );
    assert_eq!(hinted(path, &["bench"]), "lapwing init && lapwing run");
}
