//! Verdicts of `lapwing compare` where exactly one benchmark changed, where nothing did, of benchmarks alone with a
//! history, and of files of one process each: text, JSON and exit code.

use std::fs;
use std::path::Path;

use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{output, run};

/// Numbers that look like noise: the same at every call.
struct Noise(u64);

impl Noise {
    /// Returns the next one, roughly normal with this standard deviation.
    fn next(&mut self, deviation: f64) -> f64 {
        let mut sum = 0.0;
        for _ in 0..12 {
            self.0 = (self.0)
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let bits = u32::try_from(self.0 >> 32).unwrap();
            sum += f64::from(bits) / f64::from(u32::MAX) - 0.5;
        }
        deviation * sum
    }
}

/// Adds a session with the variants `old` and `new`, interleaved in blocks; the new one is slower by a factor for
/// each benchmark.
fn session(lines: &mut RecordLines, day: u32, blocks: u32, factors: &[f64], noise: &mut Noise) {
    let started = format!("2026-11-{day:02}T10:00:00Z");
    let more = json!({"suite": "s", "name": format!("day{day}")});
    let session = lines.session(&started, more);
    let runs = ["old", "new"].map(|variant| lines.run(&session, json!({"variant": variant})));
    let mut position = 0;
    for block in 0..blocks {
        for (benchmark, factor) in factors.iter().enumerate() {
            for (side, run) in runs.iter().enumerate() {
                let level = if side == 1 { *factor } else { 1.0 };
                let value = level * noise.next(0.02).exp();
                let place = json!({"block": block, "position": position});
                let instance = lines.instance(run, &format!("b{benchmark}"), place);
                lines.iteration(&instance, 0, json!({"metrics": {"wall_time": value}}));
                lines.instance_end(&instance);
                position += 1;
            }
        }
    }
}

/// Returns a folder with a store of these sessions: days, and the factors of each.
fn stored(days: &[(u32, Vec<f64>)], blocks: u32, seed: u64) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    let mut noise = Noise(seed);
    for (day, factors) in days {
        session(&mut lines, *day, blocks, factors, &mut noise);
    }
    fs::write(folder.path().join("r.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "r.jsonl"]);
    folder
}

const SIDES: [&str; 3] = ["compare", "variant:old", "variant:new"];

fn answer(folder: &Path, more: &[&str]) -> (Value, Option<i32>) {
    let words = [&SIDES, more, &["--format", "json"]].concat();
    let done = output(folder, &words);
    let value = serde_json::from_slice(&done.stdout).unwrap();
    (value, done.status.code())
}

fn verdicts(answer: &Value) -> Vec<String> {
    let mut rows: Vec<&Value> = answer["comparisons"].as_array().unwrap().iter().collect();
    rows.sort_by_key(|row| row["benchmark"].as_str());
    let rows = rows.iter();
    rows.map(|row| row["verdict"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_only_benchmark_that_became_slower_is_the_regression() {
    for blocks in [3, 5] {
        for changed in [0, 3, 9] {
            let mut factors = vec![1.0; 10];
            factors[changed] = 2.0;
            let folder = stored(&[(1, factors)], blocks, 5);
            let (answer, exit) = answer(folder.path(), &["--fail-on", "regression"]);
            let found: Vec<usize> = verdicts(&answer)
                .iter()
                .enumerate()
                .filter(|(_, verdict)| *verdict == "regression" || *verdict == "improvement")
                .map(|(at, _)| at)
                .collect();
            assert_eq!((found, exit), (vec![changed], Some(1)), "{blocks} blocks");
        }
    }
}

#[test]
fn nothing_changed_and_everything_changed_are_told_apart() {
    let folder = stored(&[(1, vec![1.0; 10])], 5, 11);
    let (quiet, exit) = answer(folder.path(), &["--fail-on", "regression"]);
    let is_open = |verdict: &String| matches!(verdict.as_str(), "equivalent" | "inconclusive");
    assert!(verdicts(&quiet).iter().all(is_open), "{quiet}");
    assert_eq!(exit, Some(0));
    let folder = stored(&[(1, vec![0.5; 10])], 5, 11);
    let (all, _) = answer(folder.path(), &[]);
    assert_eq!(verdicts(&all), ["improvement"; 10]);
}

#[test]
fn what_text_says_of_sizes_is_what_json_has() {
    let folder = stored(&[(1, vec![1.0, 1.3, 1.0, 1.0])], 8, 3);
    let text = run(folder.path(), &SIDES);
    let (answer, _) = answer(folder.path(), &[]);
    for row in answer["comparisons"].as_array().unwrap() {
        let name = row["benchmark"].as_str().unwrap();
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(name))
            .unwrap();
        let [lower, upper] = ["lower", "upper"].map(|key| row[key].as_f64().unwrap());
        match row["verdict"].as_str().unwrap() {
            "regression" => assert!(line.contains("✗ regression") && lower > 1.0, "{line}"),
            "equivalent" => {
                let at_most = row["at_most"].as_f64().unwrap();
                assert!(line.contains("= no change, at most"), "{line}");
                assert!(at_most <= 0.03 && upper <= 1.0 + at_most + 1e-9, "{row}");
            }
            "inconclusive" => {
                let needed = row["needed_instances"].as_u64().unwrap();
                let expected = format!("needs about {needed} instances per side");
                assert!(line.contains("? undecided "), "{line}");
                assert!(line.contains(&expected), "{line}");
                assert!(lower < 1.0 / 1.03 || upper > 1.03, "{row}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn earlier_sessions_show_the_noise_of_a_benchmark_alone() {
    let mut days: Vec<(u32, Vec<f64>)> = (1..=12).map(|day| (day, vec![1.0])).collect();
    days.push((20, vec![1.06]));
    let folder = stored(&days, 3, 17);
    let today = ["--where", "session=day20"];
    let (with, _) = answer(folder.path(), &today);
    let records = run(
        folder.path(),
        &[
            "export",
            "--to",
            "record",
            "--where",
            "session=day20",
            "-o",
            "today.jsonl",
        ],
    );
    let alone = folder.path().join("alone");
    fs::create_dir(&alone).unwrap();
    run(&alone, &["import", "../today.jsonl"]);
    let (without, _) = answer(&alone, &[]);
    let width = |answer: &Value| {
        let row = &answer["comparisons"][0];
        row["upper"].as_f64().unwrap() / row["lower"].as_f64().unwrap()
    };
    // Three pairs alone have two degrees of freedom.
    assert!(
        width(&with) < 0.97 * width(&without),
        "{records} {with} {without}"
    );
    assert_eq!(verdicts(&with), ["regression"]);
}

#[test]
fn counts_of_go_and_one_process_each_are_judged_in_these_files() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let write = |name: &str, times: [u32; 6], allocs: u32| {
        let lines =
            times.map(|time| format!("BenchmarkX-8 100 {time} ns/op 64 B/op {allocs} allocs/op"));
        let text = format!(
            "goos: linux\npkg: example.org/x\n{}\nPASS\n",
            lines.join("\n")
        );
        fs::write(path.join(name), text).unwrap();
    };
    write("old.txt", [1000, 1010, 990, 1005, 995, 1002], 3);
    write("new.txt", [1200, 1210, 1190, 1205, 1195, 1202], 4);
    let files = ["compare", "old.txt", "new.txt"];
    let text = run(path, &files);
    let said = "2 worse, 1 equal in these files (one run each; another may differ)";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("▲ slower in these files"), "{text}");
    let exit = |gate: &str| {
        let words = [&files[..], &["--fail-on", gate]].concat();
        output(path, &words).status.code()
    };
    assert_eq!(exit("worse-in-runs"), Some(1));
    // That judges regressions, of which there can be none here.
    assert_eq!(exit("regression"), Some(3));
    let plain = output(path, &files).status.code();
    assert_eq!(plain, Some(0));
}
