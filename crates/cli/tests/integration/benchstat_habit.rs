//! Habits of users of benchstat: `go test -bench . -count=10` into a file per side, and two files.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, run};

/// Small deviations from a mean, in percent.
const NOISE: [f64; 10] = [0.4, -0.7, 0.1, 0.9, -0.5, -0.2, 0.6, -0.9, 0.3, 0.0];

/// Writes what `go test -count=10` prints: per benchmark a name, nanoseconds and allocations per operation.
fn write_go(path: &Path, benchmarks: &[(&str, f64, u32)]) {
    let mut text = "goos: linux\ngoarch: amd64\npkg: example.org/codec\n".to_owned();
    for (name, time, allocs) in benchmarks {
        for noise in NOISE {
            let time = time * (1.0 + noise / 100.0);
            let rate = 1e6 / time;
            let line = format!(
                "Benchmark{name}-8 \t 1000\t {time:.1} ns/op\t {rate:.2} MB/s\t {allocs} allocs/op\n"
            );
            text.push_str(&line);
        }
    }
    fs::write(path, text + "PASS\n").unwrap();
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let words = [arguments, &["--format", "json"]].concat();
    let done = output(folder, &words);
    assert!(done.status.success(), "{done:?}");
    serde_json::from_slice(&done.stdout).unwrap()
}

fn verdicts(answer: &Value) -> Vec<String> {
    let rows = answer["comparisons"].as_array().unwrap().iter();
    rows.map(|it| {
        let word = |key: &str| it[key].as_str().unwrap().to_owned();
        let name = word("benchmark").replace("example.org/codec.Benchmark", "");
        format!("{name} {}: {}", word("metric"), word("verdict"))
    })
    .collect()
}

#[test]
fn a_file_per_side_says_what_differs_in_these_files_and_their_geometric_mean() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_go(
        &path.join("old.txt"),
        &[("Encode", 2000.0, 3), ("Decode", 500.0, 0)],
    );
    write_go(
        &path.join("new.txt"),
        &[("Encode", 1600.0, 3), ("Decode", 500.0, 1)],
    );
    insta::assert_snapshot!(run(path, &["old.txt", "new.txt"]), @"
    new.txt against old.txt: 1 worse, 2 better, 2 unchanged within 0.55 %, 1 equal in these files (one run each; another may differ)   (6 comparisons, FDR 5 %, no change: within 3 %)

     benchmark                            metric                   ratio  interval        verdict                   baseline    candidate        instances
     example.org/codec.BenchmarkDecode-8  allocs/op         +1.00 allocs  exact           ▲ worse in these files    0 allocs  1.00 allocs  1 × 10 / 1 × 10
     example.org/codec.BenchmarkEncode-8  bytes_per_second       ≈1.250×  (1.243, 1.257)  ▼ better in these files  477 MiB/s    596 MiB/s  1 × 10 / 1 × 10
     example.org/codec.BenchmarkEncode-8  wall_time              ≈0.800×  (0.796, 0.804)  ▼ faster in these files    2.00 µs      1.60 µs  1 × 10 / 1 × 10
     not shown: 2 unchanged within 0.55 %, 1 equal (`--full` shows them)

    suite (wall_time): ≈0.894× (0.891, 0.898) in these files, the geometric mean of
    2 benchmarks
    suite (bytes_per_second): ≈1.118× (1.114, 1.122) in these files, the geometric
    mean of 2 benchmarks
    note: ratios marked ≈ are of one or two processes per side: their intervals, in
    parentheses, are of iterations within these processes, and others may differ.
    For a regression or improvement, compare at least 3 instances per side: several
    files ('old*.json'), or measurements of `lapwing run`
    note: counts that never vary within a side are compared exactly: allocs/op
    exit 0
    ");
    assert_eq!(
        run(path, &["compare", "old.txt", "new.txt"]),
        run(path, &["old.txt", "new.txt"])
    );
    let answer = json(path, &["compare", "old.txt", "new.txt"]);
    let suites = answer["suites"].as_array().unwrap();
    let of = |metric: &str| suites.iter().find(|it| it["metric"] == metric).unwrap();
    let time = of("wall_time");
    assert_eq!(time["ratio"], time["descriptive_ratio"]);
    assert_eq!(time["lower"], Value::Null);
    let ratio = |key: &str| time[key].as_f64().unwrap();
    // One of two benchmarks takes 0.8 of the time.
    assert!((ratio("descriptive_ratio") - 0.8_f64.sqrt()).abs() < 1e-3);
    assert!(ratio("descriptive_lower") > 0.88 && ratio("descriptive_upper") < 0.91);
    assert!(
        of("bytes_per_second")["descriptive_ratio"]
            .as_f64()
            .unwrap()
            > 1.1
    );
}

#[test]
fn two_files_without_a_change_show_none() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let benchmarks = [("Encode", 2000.0, 3), ("Decode", 500.0, 0)];
    write_go(&path.join("old.txt"), &benchmarks);
    write_go(&path.join("new.txt"), &benchmarks);
    let answer = json(path, &["compare", "old.txt", "new.txt"]);
    let verdicts = verdicts(&answer);
    assert_eq!(verdicts.len(), 6);
    assert!(
        verdicts.iter().all(|it| it.ends_with("unchanged_in_runs")),
        "{verdicts:?}"
    );
    for suite in answer["suites"].as_array().unwrap() {
        let ratio = |key: &str| suite[key].as_f64().unwrap();
        assert!(ratio("descriptive_lower") <= 1.0 && ratio("descriptive_upper") >= 1.0);
    }
    // Counts are compared exactly, and so is their mean.
    let benchmarks = |allocs: u32| [("Encode", 2000.0, allocs), ("Decode", 500.0, 2)];
    write_go(&path.join("old.txt"), &benchmarks(4));
    write_go(&path.join("new.txt"), &benchmarks(9));
    let text = run(path, &["compare", "old.txt", "new.txt"]);
    let said = "suite (allocs/op): 1.50× exact in these files, the geometric mean of 2";
    assert!(text.contains(said), "{text}");
}

#[test]
fn several_files_per_side_with_several_counts_have_verdicts() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for (at, drift) in [1.0, 1.01, 0.99, 1.005].into_iter().enumerate() {
        let file = |side: &str| path.join(format!("{side}-{at}.txt"));
        let benchmarks = |time: f64| [("Encode", time * drift, 3), ("Decode", 500.0 * drift, 0)];
        write_go(&file("old"), &benchmarks(2000.0));
        write_go(&file("new"), &benchmarks(2400.0));
    }
    let answer = json(path, &["compare", "old-*.txt", "new-*.txt"]);
    let found = verdicts(&answer);
    assert!(
        found.contains(&"Encode-8 wall_time: regression".to_owned()),
        "{found:?}"
    );
    // Of throughput more is better.
    assert!(
        found.contains(&"Encode-8 bytes_per_second: regression".to_owned()),
        "{found:?}"
    );
    let suite = &answer["suites"][0];
    assert!((suite["ratio"].as_f64().unwrap() - 1.2_f64.sqrt()).abs() < 0.01);
    assert_eq!(suite["descriptive_ratio"], Value::Null);
}

#[test]
fn units_without_noise_are_compared_exactly_even_with_one_value() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let write = |name: &str, units: &str, values: [&str; 4]| {
        let [size, ratio, other, zero] = values;
        let text = format!(
            "{units}BenchmarkTool 1 {size} text-bytes {ratio} fill {zero} faults\n\
             BenchmarkOther 1 {other} text-bytes {ratio} fill {zero} faults\n\
             BenchmarkOther 1 101 text-bytes {ratio} fill {zero} faults\n"
        );
        fs::write(path.join(name), text).unwrap();
    };
    let units = "Unit text-bytes assume=exact\nUnit fill assume=exact better=higher\nUnit faults assume=exact better=lower\n";
    write("old.txt", units, ["100", "0.25", "100", "0"]);
    write("new.txt", units, ["105", "0.2", "101", "7"]);
    insta::assert_snapshot!(run(path, &["compare", "old.txt", "new.txt"]), @"
    new.txt against old.txt: 5 worse, 1 unchanged within 2.7 % in these files (one run each; another may differ)   (6 comparisons, FDR 5 %, no change: within 3 %)

     benchmark       metric             ratio  interval      verdict                                      baseline    candidate      instances
     BenchmarkOther  fill               0.80×  exact         ▲ worse in these files                     0.250 fill   0.200 fill  1 × 2 / 1 × 2
     BenchmarkTool   fill               0.80×  exact         ▲ worse in these files                     0.250 fill   0.200 fill          1 / 1
     BenchmarkTool   text-bytes         1.05×  exact         ▲ worse in these files                          100 B        105 B          1 / 1
     BenchmarkOther  faults      +7.00 faults  exact         ▲ worse in these files                       0 faults  7.00 faults  1 × 2 / 1 × 2
     BenchmarkTool   faults      +7.00 faults  exact         ▲ worse in these files                       0 faults  7.00 faults          1 / 1
     BenchmarkOther  text-bytes        ≈1.00×  (0.98, 1.03)  = no change in these files, at most 2.7 %       100 B        101 B  1 × 2 / 1 × 2

    suite (fill): ≈0.80× in these files, the geometric mean of 2 benchmarks
    suite (text-bytes): ≈1.03× in these files, the geometric mean of 2 benchmarks
    note: ratios marked ≈ are of one or two processes per side: their intervals, in
    parentheses, are of iterations within these processes, and others may differ.
    For a regression or improvement, compare at least 3 instances per side: several
    files ('old*.json'), or measurements of `lapwing run`
    note: counts that never vary within a side are compared exactly: faults, fill,
    text-bytes
    exit 0
    ");
    // Unless the source says so, one value shows no noise.
    write("plain-old.txt", "", ["100", "0.25", "100", "0"]);
    write("plain-new.txt", "", ["105", "0.2", "101", "7"]);
    let answer = json(path, &["compare", "plain-old.txt", "plain-new.txt"]);
    let rows = verdicts(&answer);
    let size = "BenchmarkTool text-bytes: inconclusive".to_owned();
    assert!(rows.contains(&size), "{rows:?}");
}

#[test]
fn commits_and_settings_of_one_file_are_sides() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let part = |setting: &str, time: u32| {
        let line = |noise: u32| format!("BenchmarkX-8 100 {} ns/op\n", time + noise);
        let lines: String = (0..6).map(|it| line(it % 3)).collect();
        format!("{setting}\n{lines}PASS\n")
    };
    let commits = [
        part("commit: 1111aaaa", 1000),
        part("commit: 2222bbbb", 1200),
    ];
    fs::write(path.join("commits.txt"), commits.concat()).unwrap();
    let notes = [part("note: before", 1000), part("note: after", 900)];
    fs::write(path.join("notes.txt"), notes.concat()).unwrap();
    let alone = run(path, &["compare", "commits.txt"]);
    assert!(alone.contains("`lapwing import FILE`"), "{alone}");
    run(path, &["import", "commits.txt", "notes.txt"]);
    let commits = run(path, &["compare", "commit:1111", "commit:2222"]);
    assert!(commits.contains("▲ slower in these runs"), "{commits}");
    let notes = run(path, &["compare", "note=before", "note=after"]);
    assert!(notes.contains("▼ faster in these runs"), "{notes}");
}

#[test]
fn what_is_compared_is_chosen_by_name_and_metric() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_go(
        &path.join("old.txt"),
        &[
            ("Code/format=json", 2000.0, 3),
            ("Code/format=gob", 500.0, 0),
        ],
    );
    write_go(
        &path.join("new.txt"),
        &[
            ("Code/format=json", 1600.0, 3),
            ("Code/format=gob", 500.0, 0),
        ],
    );
    let chosen = json(
        path,
        &[
            "compare",
            "old.txt",
            "new.txt",
            "-b",
            "*format=json*",
            "--metric",
            "wall_time",
        ],
    );
    assert_eq!(
        verdicts(&chosen),
        ["Code/format=json-8 wall_time: better_in_runs"]
    );
    let filter = run(
        path,
        &["compare", "-filter", "/format:json", "old.txt", "new.txt"],
    );
    let filter = filter.replace("here\n", "here ");
    assert!(
        filter.contains("here `lapwing compare --benchmark '*/format=json*' old.txt new.txt`")
            && !filter.contains("gob")
            && filter.ends_with("exit 0"),
        "{filter}"
    );
    let label = run(path, &["compare", "O=old.txt", "new.txt"]);
    assert!(
        label.contains("a side has the name of its file, without a label: `old.txt`"),
        "{label}"
    );
}
