//! A store with benchmarks that get steady in different ways.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use lapwing_testing::RecordLines;
use serde_json::json;

/// A suite file for what was measured.
pub const SUITE: &str = r#"# What compresses best?
suite = "compressors"

[defaults]
instances = 4   # enough for now
iterations = 40

[benchmark.gzip]
command = ["gzip", "-{level}", "-c", "corpus.bin"]   # no shell
params.level = [1, 9]
burn_in = 1   # by eye

[benchmark.sort]
command = "sort corpus.txt"

# Its time grows with its log.
[benchmark.drift]
command = "./drift"
tags = ["io"]
burn_in = 2
"#;

/// How long iteration `at` of instance `instance` takes, in seconds.
type Shape = fn(u32, u32) -> f64;

/// A little noise that has no period.
fn noise(instance: u32, at: u32) -> f64 {
    1.0 + 0.01 * f64::from((at * at * 7 + at * 3 + instance * 5) % 31) / 31.0
}

fn slow_until(end: u32, instance: u32, at: u32) -> f64 {
    let level = if at < end { 2.0 } else { 1.0 };
    level * noise(instance, at)
}

const BENCHMARKS: [(&str, u32, Shape); 5] = [
    ("gzip[level=1]", 40, |instance, at| {
        slow_until(3, instance, at)
    }),
    ("gzip[level=9]", 40, |instance, at| {
        slow_until(6, instance, at)
    }),
    ("sort", 40, |instance, at| 0.5 * noise(instance, at)),
    ("drift", 40, |instance, at| {
        (1.0 + f64::from(at) / 40.0) * noise(instance, at)
    }),
    ("short", 4, |instance, at| slow_until(1, instance, at)),
];

/// Returns everything measured as records: of each benchmark four instances, one iteration planned as burn-in.
pub fn records() -> String {
    let mut lines = RecordLines::default();
    let more = json!({"suite": "compressors", "tool": "lapwing 0.1.0", "name": "nightly"});
    let session = lines.session("2026-11-20T10:00:00Z", more);
    let run = lines.run(&session, json!({}));
    let mut position = 0;
    for (benchmark, iterations, shape) in BENCHMARKS {
        for number in 0..4 {
            position += 1;
            let instance = lines.instance(&run, benchmark, json!({"position": position}));
            for (index, at) in (0..iterations).enumerate() {
                // As few digits as a tool would write.
                let seconds = (shape(number, at) * 1e6).round() / 1e6;
                let metrics = json!({"wall_time": seconds});
                lines.iteration(
                    &instance,
                    index,
                    json!({"burn_in": at == 0, "metrics": metrics}),
                );
            }
        }
    }
    lines.text
}

/// Returns a folder with a store of it and the suite file.
pub fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.jsonl"), records()).unwrap();
    fs::write(folder.path().join("lapwing.toml"), SUITE).unwrap();
    let said = lapwing(folder.path(), &["import", "all.jsonl"], "");
    assert!(said.ends_with("exit 0"), "{said}");
    folder
}

/// Runs the program with something on its standard input; returns all that it says.
pub fn lapwing(folder: &Path, arguments: &[&str], input: &str) -> String {
    let (out, err, code) = run(folder, arguments, input);
    format!("{out}{err}exit {code}")
}

/// Runs the program; returns standard output, standard error and the exit code.
pub fn run(folder: &Path, arguments: &[&str], input: &str) -> (String, String, i32) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // One that does not read has not to be told.
    let _unread = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap(),
    )
}

/// Returns what is in a file of the folder.
pub fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}
