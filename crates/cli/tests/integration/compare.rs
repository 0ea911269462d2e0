//! `lapwing compare` by the real program, on records made here.

use std::fs;
use std::process::Command;

use insta::assert_snapshot;
use lapwing_testing::{RecordLines, report_data};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{output, run};

/// Records of one session, with ids that count up.
#[derive(Clone)]
struct Session {
    lines: RecordLines,
    session: String,
    position: u32,
}

impl Session {
    /// Begins a session; `number` keeps the ids of several apart.
    fn new(number: u32, suite: &str, name: &str) -> Self {
        let mut lines = RecordLines::after(number * 10_000);
        let started = format!("2026-11-{:02}T10:00:00Z", 10 + number);
        let session = lines.session(&started, json!({"suite": suite, "name": name}));
        Self {
            lines,
            session,
            position: 0,
        }
    }

    fn run(&mut self, variant: &str, version: &str) -> String {
        let metrics = json!({
            "wall_time": {"unit": "s", "better": "lower"},
            "rate": {"unit": "1/s", "better": "higher"},
        });
        let version = json!({"name": version});
        let more = json!({"variant": variant, "version": version, "metrics": metrics});
        self.lines.run(&self.session, more)
    }

    /// An instance of a burn-in iteration and two that count, around `mean`.
    fn instance(&mut self, run: &str, benchmark: &str, host: &str, mean: f64) {
        self.instance_of(
            run,
            benchmark,
            host,
            &[
                ("burn_in", mean * 3.0),
                ("ok", mean * 0.99),
                ("ok", mean * 1.01),
            ],
        );
    }

    fn instance_of(&mut self, run: &str, benchmark: &str, host: &str, values: &[(&str, f64)]) {
        self.position += 1;
        let more = json!({"position": self.position, "host": host});
        let instance = self.lines.instance(run, benchmark, more);
        for (index, (what, value)) in values.iter().enumerate() {
            let more = match *what {
                "failed" => json!({"outcome": "failed", "message": "it broke"}),
                what => json!({"burn_in": what == "burn_in", "metrics": {"wall_time": value}}),
            };
            self.lines.iteration(&instance, index, more);
        }
        self.lines.instance_end(&instance);
    }

    /// So many instances whose means lie around `mean`, a few per cent apart.
    fn instances(&mut self, run: &str, benchmark: &str, mean: f64, count: u32) {
        for k in 0..count {
            let off = 1.0 + 0.01 * (f64::from(k * 7 % 5) - 2.0);
            self.instance(run, benchmark, "node1", mean * off);
        }
    }
}

/// Two versions of a suite: one benchmark slower, one faster, one as before, one noisy, one too
/// short, one that fails, one that is gone, one that is new.
fn two_versions() -> Session {
    let mut it = Session::new(1, "joins", "nightly");
    let old = it.run("default", "2026.8");
    let new = it.run("default", "2026.9");
    for (run, factors) in [(&old, [1.0, 1.0, 1.0]), (&new, [1.14, 0.86, 1.002])] {
        it.instances(run, "test_join", 4.12 * factors[0], 10);
        it.instances(run, "test_read", 2.8 * factors[1], 10);
        it.instances(run, "test_sort", 0.5 * factors[2], 10);
        it.instances(run, "test_short", 0.2, 2);
    }
    for (run, means) in [(&old, [0.8, 1.0, 0.9, 1.1]), (&new, [0.9, 1.2, 0.8, 1.1])] {
        for mean in means {
            it.instance(run, "test_noisy", "node1", mean);
        }
    }
    it.instances(&old, "test_zarr", 3.0, 5);
    for _ in 0..5 {
        it.instance_of(&new, "test_zarr", "node1", &[("failed", 0.0)]);
    }
    it.instances(&old, "test_gone", 3.0, 5);
    it.instances(&new, "test_new", 3.0, 5);
    it
}

fn imported(sessions: &[Session]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for session in sessions {
        fs::write(folder.path().join("in.jsonl"), &session.lines.text).unwrap();
        let done = run(folder.path(), &["import", "in.jsonl"]);
        assert!(done.ends_with("exit 0"), "{done}");
    }
    folder
}

#[test]
fn two_versions_are_compared_in_a_sentence_and_a_table() {
    let folder = imported(&[two_versions()]);
    let compare = |more: &[&str]| {
        let sides = ["compare", "version:2026.8", "version:2026.9"];
        run(folder.path(), &[&sides, more].concat())
    };
    assert_snapshot!(compare(&["--smallest-effect", "3%"]), @"
    2026.9 against 2026.8: 1 regression, 1 improvement, 3 not measured, 2 undecided, 1 unchanged within 1.7 %   (8 comparisons, FDR 5 %, smallest effect 3 %)

     benchmark    ratio  interval      verdict                     baseline  candidate  instances  note
     test_join    1.14×  [1.12, 1.16]  ✗ regression                  4.12 s     4.70 s    10 / 10
     test_read    0.86×  [0.85, 0.87]  ✓ improvement                 2.80 s     2.41 s    10 / 10
     test_gone                         – not measured                3.00 s          –      5 / 0  only in the baseline
     test_new                          – not measured                     –     3.00 s      0 / 5  only in the candidate
     test_zarr                         – not measured                3.00 s          –      5 / 0  5 failures in 2026.9
     test_noisy   1.05×  [0.81, 1.35]  ? undecided                   943 ms     987 ms      4 / 4  needs more than 500 instances per side
     test_short  ≈1.00×  (0.97, 1.03)  ? undecided                   198 ms     198 ms      2 / 2  need 3 instances per side, got 2 and 2
     test_sort    1.00×  [0.99, 1.02]  = no change, at most 1.7 %    500 ms     501 ms    10 / 10

    suite: 1.01× [0.94, 1.08], the geometric mean of 4 benchmarks
    note: 4 benchmarks: one side was measured before the other, so drift of the
    machine is part of the ratio; `lapwing run` interleaves variants of one session
    note: ratios marked ≈ are of one or two processes per side: their intervals, in
    parentheses, are of iterations within these processes, and others may differ.
    For a regression or improvement, compare at least 3 instances per side: several
    files ('old*.json'), or measurements of `lapwing run`
    note: measured anew with as many instances as a row needs, it is decided with a
    probability of 80 %

    excluded from 266 iterations: 87 burn-in, 5 failed (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(compare(&["--format", "markdown", "--fail-on", "regression"]), @r"
    **2026.9 against 2026.8: 1 regression, 1 improvement, 3 not measured, 2 undecided, 1 unchanged within 1.7 %   (8 comparisons, FDR 5 %, no change: within 3 %)**

    | benchmark | ratio | interval | verdict | baseline | candidate | instances | note |
    |---|---:|---|---|---:|---:|---:|---|
    | test_join | 1.14× | \[1.12, 1.16\] | **✗ regression** | 4.12 s | 4.70 s | 10 / 10 |  |
    | test_read | 0.86× | \[0.85, 0.87\] | ✓ improvement | 2.80 s | 2.41 s | 10 / 10 |  |
    | test_gone |  |  | – not measured | 3.00 s | – | 5 / 0 | only in the baseline |
    | test_new |  |  | – not measured | – | 3.00 s | 0 / 5 | only in the candidate |
    | test_zarr |  |  | – not measured | 3.00 s | – | 5 / 0 | 5 failures in 2026.9 |
    | test_noisy | 1.05× | \[0.81, 1.35\] | ? undecided | 943 ms | 987 ms | 4 / 4 | needs about 194 instances per side |
    | test_short | ≈1.00× | (0.97, 1.03) | ? undecided | 198 ms | 198 ms | 2 / 2 | need 3 instances per side, got 2 and 2 |
    | test_sort | 1.00× | \[0.99, 1.02\] | = no change, at most 1.7 % | 500 ms | 501 ms | 10 / 10 |  |

    - suite: 1.01× \[0.94, 1.08\], the geometric mean of 4 benchmarks
    - note: 4 benchmarks: one side was measured before the other, so drift of the machine is part of the ratio; `lapwing run` interleaves variants of one session
    - note: ratios marked ≈ are of one or two processes per side: their intervals, in parentheses, are of iterations within these processes, and others may differ. For a regression or improvement, compare at least 3 instances per side: several files ('old\*.json'), or measurements of `lapwing run`
    - note: measured anew with as many instances as a row needs, it is decided with a probability of 80 %

    excluded from 266 iterations: 87 burn-in, 5 failed (`--audit` shows which)
    exit 1
    ");
    assert_snapshot!(compare(&["--benchmark", "test_sort"]), @"
    2026.9 against 2026.8: no regression found, 1 unchanged within 1.7 %   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict                     baseline  candidate  instances
     test_sort  1.00×  [0.99, 1.02]  = no change, at most 1.7 %    500 ms     501 ms    10 / 10

    note: test_sort: one side was measured before the other, so drift of the machine
    is part of the ratio; `lapwing run` interleaves variants of one session

    excluded from 60 iterations: 20 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn a_row_of_json_says_all_of_a_comparison() {
    let folder = imported(&[two_versions()]);
    let words = [
        "compare",
        "2026.8",
        "2026.9",
        "--format",
        "json",
        "-b",
        "test_join",
    ];
    let output = output(folder.path(), &words);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    insta::assert_json_snapshot!(answer["comparisons"][0], {".*" => insta::rounded_redaction(6)}, @r#"
    {
      "at_most": 0.156081,
      "baseline": "2026.8",
      "baseline_instances": 10,
      "baseline_iterations": 20,
      "baseline_value": 4.119588,
      "benchmark": "test_join",
      "better": "lower",
      "candidate": "2026.9",
      "candidate_instances": 10,
      "candidate_iterations": 20,
      "candidate_value": 4.69633,
      "cautions": [
        {
          "caution": "not_interleaved",
          "text": "one side was measured before the other, so drift of the machine is part of the ratio; `lapwing run` interleaves variants of one session"
        }
      ],
      "likely_lower": 1.123297,
      "likely_ratio": 1.14,
      "likely_upper": 1.156951,
      "lower": 1.124142,
      "method": "student",
      "metric": "wall_time",
      "needed_instances": null,
      "p_adjusted": 0.000003,
      "p_value": 0.000003,
      "ratio": 1.14,
      "reason": null,
      "reason_text": null,
      "replicates": 10,
      "replication": "instance",
      "setting": null,
      "suite": "joins",
      "unit": "s",
      "upper": 1.156081,
      "verdict": "regression"
    }
    "#);
    assert_eq!(answer["comparisons"].as_array().unwrap().len(), 1);
    assert_eq!(answer["audit"]["left_out"]["burn_in"], 20);
}

#[test]
fn csv_has_a_row_for_each_comparison() {
    let folder = imported(&[two_versions()]);
    let words = [
        "compare", "2026.8", "2026.9", "--format", "csv", "-b", "test_new",
    ];
    assert_snapshot!(run(folder.path(), &words), @"
    suite,benchmark,setting,metric,unit,baseline,candidate,baseline_value,candidate_value,baseline_instances,candidate_instances,baseline_iterations,candidate_iterations,ratio,lower,upper,descriptive_ratio,descriptive_lower,descriptive_upper,difference,replication,replicates,unpaired_lower,unpaired_upper,p_value,p_adjusted,verdict,own_smallest_effect,at_most,exact,reason,reason_text,reason_numbers,needed_instances,needed_more_than,earlier_sessions,session_sd,session_freedom,likely_ratio,likely_lower,likely_upper,method,better,cautions
    joins,test_new,,wall_time,s,2026.8,2026.9,,2.9996999639915978,0,5,0,10,,,,,,,,,,,,,,not_measured,,,false,no_baseline,only in the candidate,,,,0,,,,,,,lower,
    exit 3
    ");
}

#[test]
fn a_gate_fails_for_a_regression_and_for_what_is_missing() {
    let folder = imported(&[two_versions()]);
    let exit = |benchmark: &str, sides: [&str; 2]| {
        let words = [
            "compare",
            sides[0],
            sides[1],
            "--fail-on",
            "regression",
            "-b",
            benchmark,
        ];
        output(folder.path(), &words).status.code().unwrap()
    };
    let forward = ["2026.8", "2026.9"];
    assert_eq!(exit("test_join", forward), 1);
    assert_eq!(exit("test_read", forward), 0);
    assert_eq!(exit("test_zarr", forward), 1);
    assert_eq!(exit("test_gone", forward), 1);
    // What is new was not expected; nothing can be said of it.
    assert_eq!(exit("test_new", forward), 3);
    assert_eq!(exit("test_short", forward), 3);
    assert_eq!(exit("test_join", ["2026.9", "2026.8"]), 0);
    assert_eq!(exit("test_read", ["2026.9", "2026.8"]), 1);
}

#[test]
fn a_gate_can_fail_for_failures() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut session = Session::new(1, "joins", "nightly");
    for (version, failing) in [("1", 0), ("2", 5), ("3", 8)] {
        let of_run = session.run("default", version);
        for at in 0..8 {
            let iteration = if at < failing {
                ("failed", 0.0)
            } else {
                ("ok", 3.0 + f64::from(at) / 100.0)
            };
            session.instance_of(&of_run, "test_zarr", "node1", &[iteration, iteration]);
        }
        if version != "3" {
            session.instances(&of_run, "test_join", 1.0, 4);
        }
    }
    fs::write(folder.join("it.jsonl"), &session.lines.text).unwrap();
    run(folder, &["import", "it.jsonl"]);
    let gate = |sides: [&str; 2], what: &str| {
        let words = ["compare", sides[0], sides[1], "--fail-on", what];
        output(folder, &words).status.code().unwrap()
    };
    let names = ["version:1", "version:2", "version:3"];
    let [old, failing, broken] = names;
    assert_eq!(gate([old, failing], "regression"), 0);
    assert_eq!(gate([old, failing], "failures"), 1);
    assert_eq!(gate([old, failing], "regression,failures"), 1);
    assert_eq!(gate([failing, old], "regression,failures"), 0);
    let of = |benchmark: &str, what: &str| {
        let words = ["compare", old, broken, "-b", benchmark, "--fail-on", what];
        output(folder, &words).status.code().unwrap()
    };
    assert_eq!(of("test_zarr", "failures"), 1);
    // Of what is not there nobody knows whether it would fail.
    assert_eq!(
        [of("test_join", "regression"), of("test_join", "failures")],
        [1, 3]
    );
    fs::write(folder.join("starts.yaml"), "test_zarr: 0\n").unwrap();
    let hail = [
        "--compat",
        "hail",
        "--clean",
        "burn_in_file=starts.yaml",
        "--fail-on",
        "failures",
    ];
    assert_snapshot!(run(folder, &[&["compare", old, failing], hail.as_slice()].concat()), @"
    error: `--compat hail` has no other condition than `regression`
      hint: use `--fail-on regression`
    exit 2
    ");
}

#[test]
fn a_gate_can_fail_for_what_is_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut session = Session::new(1, "joins", "nightly");
    for (version, mean) in [("1", 1.0), ("2", 1.0), ("3", 2.0)] {
        let of_run = session.run("default", version);
        session.instances(&of_run, "test_exact", mean, 8);
        session.instances(&of_run, "test_noisy", mean, 2);
    }
    fs::write(folder.join("it.jsonl"), &session.lines.text).unwrap();
    run(folder, &["import", "it.jsonl"]);
    let gate = |benchmark: &str, candidate: &str, what: &str| {
        let words = [
            "compare",
            "version:1",
            candidate,
            "-b",
            benchmark,
            "--fail-on",
            what,
        ];
        output(folder, &words).status.code().unwrap()
    };
    assert_eq!(gate("test_exact", "version:2", "inconclusive"), 0);
    assert_eq!(gate("test_exact", "version:3", "inconclusive"), 0);
    assert_eq!(
        gate("test_exact", "version:3", "inconclusive,regression"),
        1
    );
    // Two instances per side decide nothing.
    assert_eq!(gate("test_noisy", "version:2", "regression"), 3);
    assert_eq!(gate("test_noisy", "version:2", "inconclusive"), 1);
}

/// Runs whose wall time gets steady at the sixth iteration, and whose rate hardly changes then.
#[test]
fn burn_in_is_found_from_the_wall_time_whatever_is_compared() {
    let mut session = Session::new(1, "joins", "nightly");
    for version in ["2026.8", "2026.9"] {
        let run = session.run("default", version);
        for k in 0..4_u32 {
            let lines = &mut session.lines;
            let instance = lines.instance(&run, "test_join", json!({"position": k}));
            for (index, at) in (0..40_u32).enumerate() {
                let wiggle = f64::from(at * 7 % 5) * 1e-3 + f64::from(k) * 1e-2;
                let (time, rate) = if index < 5 {
                    (2.0, 100.0)
                } else {
                    (1.0, 100.5)
                };
                let metrics = json!({"wall_time": time + wiggle, "rate": rate});
                lines.iteration(&instance, index, json!({"metrics": metrics}));
            }
        }
    }
    let folder = imported(&[session]);
    let value = |options: &[&str]| {
        let mut words = vec!["compare", "2026.8", "2026.9", "--metric", "rate"];
        words.extend(["--format", "json"]);
        words.extend(options);
        let done = output(folder.path(), &words);
        let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
        answer["comparisons"][0]["baseline_value"].as_f64().unwrap()
    };
    assert!((value(&[]) - 100.4375).abs() < 1e-9, "{}", value(&[]));
    let auto = value(&["--clean", "burn_in=auto"]);
    assert!((auto - 100.5).abs() < 1e-9, "{auto}");
    let report = ["report", "--metric", "rate", "--clean", "burn_in=auto"];
    run(folder.path(), &report);
    let data = report_data(&folder.path().join("lapwing-report"));
    let page = |name: &str| data[name].to_string();
    assert!(page("burn-in").contains("\"wall_time\""));
    assert!(page("cleaning.m0").contains("from iteration 6 on (found from the values)"));
    // What is shown is the rate alone.
    assert!(!data.contains_key("cleaning.m1"));
}

#[test]
fn a_gate_keeps_its_verdict_when_its_reader_leaves() {
    let folder = imported(&[two_versions()]);
    for format in ["text", "json", "csv", "markdown"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(["compare", "2026.8", "2026.9", "--fail-on", "regression"])
            .args(["--format", format])
            .current_dir(folder.path())
            .stdout(writer)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(1), "{format}");
    }
}

#[test]
fn under_the_rules_of_hail_what_is_missing_is_named_and_fails_the_gate() {
    let folder = imported(&[two_versions()]);
    let starts = "test_join: 1\ntest_gone: 1\n";
    fs::write(folder.path().join("starts.yaml"), starts).unwrap();
    let mut words = vec!["compare", "2026.9", "2026.8", "--compat", "hail"];
    words.extend([
        "--clean",
        "burn_in_file=starts.yaml",
        "--fail-on",
        "regression",
    ]);
    words.extend(["--clean", "min_instances=3", "--clean", "min_iterations=2"]);
    let forward = run(folder.path(), &words);
    assert!(forward.ends_with("exit 0"), "{forward}");
    words[1..3].reverse();
    words.extend(["-b", "test_gone"]);
    assert_snapshot!(run(folder.path(), &words), @"
    0 of 0 comparisons changed, according to Hail's `analyze_benchmarks`
    the ratio is baseline / candidate, as in Hail: below 1 the candidate has the
    larger mean; changed means that the intervals of the two means do not overlap
    note: not compared, because a side has no usable values: test_gone (`--audit`
    shows why)

    excluded from 15 iterations: 5 burn-in (`--audit` shows which)
    exit 1
    ");
}

#[test]
fn sides_that_fit_nothing_or_too_much_are_errors_that_name_what_there_is() {
    let mut second = Session::new(2, "joins", "2026.9");
    let run_id = second.run("fast", "2026.9");
    second.instances(&run_id, "test_join", 4.0, 3);
    let folder = imported(&[two_versions(), second]);
    let compare = |sides: &[&str]| run(folder.path(), &[&["compare"], sides].concat());
    assert_snapshot!(compare(&["2026.8", "2026.9"]), @"
    error: `2026.9` could be several things
      hint: write `version:2026.9` or `session:2026.9`
    exit 2
    ");
    assert_snapshot!(compare(&["2026.8", "version:2026.7"]), @"
    error: no run has the version `2026.7`
      hint: available: version:2026.9, version:2026.8; `lapwing list runs` shows all
    exit 2
    ");
    assert_snapshot!(compare(&["2026.8", "nonsense"]), @"
    error: `nonsense` is not a variant, version, commit, run, session or file
      hint: available: variant:fast, variant:default, version:2026.9, version:2026.8, session:2026.9, session:nightly; `lapwing list runs` shows all
    exit 2
    ");
    assert_snapshot!(compare(&["version:2026.9", "session:2026.9"]), @"
    error: version `2026.9` and session `2026.9` have runs in common
      hint: a comparison takes different sides; `--split halves` checks one against itself
    exit 2
    ");
    assert_snapshot!(compare(&["version:2026.9"]), @"
    error: name a candidate besides the baseline
      hint: available: variant:fast, variant:default, version:2026.9, version:2026.8, session:2026.9, session:nightly; `lapwing list runs` shows all
    exit 2
    ");
    assert_snapshot!(compare(&["version:", "2026.8"]), @"
    error: invalid value 'version:' for '[SIDE]...': a side needs a name: variant:fast, version:2.1, file:old.json

    For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(compare(&["run:0193", "2026.8"]), @"
    error: run `0193` could be any of 01930000-0000-7000-8000-000000010002, 01930000-0000-7000-8000-000000010003, 01930000-0000-7000-8000-000000020002
      hint: write more of it
    exit 2
    ");
    assert_snapshot!(compare(&["2026.8", "fast", "--smallest-effect", "much"]), @"
    error: invalid value 'much' for '--smallest-effect <CHANGE>': write a change above 0 % and below 100 %, such as 3% or 0.03

    For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(compare(&["2026.8", "fast", "--compat", "hail"]), @"
    error: --compat hail needs the first steady iterations
      hint: name their file with --clean burn_in_file=FILE; `lapwing burn-in -o FILE` writes one
    exit 2
    ");
}

#[test]
fn variants_are_compared_at_the_newest_version_that_all_have() {
    let mut old = Session::new(1, "joins", "old");
    let mut new = Session::new(2, "joins", "new");
    for (session, version, factor) in [(&mut old, "1.0", 2.0), (&mut new, "1.1", 1.0)] {
        for (variant, mean) in [("baseline", 1.0), ("fast", 0.7), ("slow", 1.3)] {
            let run = session.run(variant, version);
            session.instances(&run, "test_join", mean * factor, 5);
        }
    }
    let both_sessions = (old.clone(), new.clone());
    let folder = imported(&[old, new]);
    assert_snapshot!(run(folder.path(), &["compare", "baseline", "fast", "slow"]), @"
    fast, slow against baseline: 1 regression, 1 improvement   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark  baseline  fast                  slow                  instances
     test_join    1.00 s  ✓ 0.70× [0.68, 0.72]  ✗ 1.30× [1.27, 1.33]  5 / 5 / 5

    note: test_join: one side was measured before the other, so drift of the machine
    is part of the ratio; `lapwing run` interleaves variants of one session
    note: the newest of 2 versions that all sides have is compared, 1.1; choose
    another with --where version=VERSION

    excluded from 45 iterations: 15 burn-in (`--audit` shows which)
    exit 0
    ");
    // Another suite has versions of its own.
    let mut other = Session::new(3, "sorts", "other");
    for (variant, mean) in [("baseline", 1.0), ("fast", 0.9)] {
        let run = other.run(variant, "0.3");
        other.instances(&run, "test_sort", mean, 5);
    }
    let both = imported(&[both_sessions.0, both_sessions.1, other]);
    assert_snapshot!(run(both.path(), &["compare", "baseline", "fast"]), @"
    fast against baseline: no regression found, 2 improvements   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark         ratio  interval      verdict        baseline  candidate  instances
     joins: test_join  0.70×  [0.68, 0.72]  ✓ improvement    1.00 s    0.700 s      5 / 5
     sorts: test_sort  0.90×  [0.88, 0.92]  ✓ improvement    1.00 s    0.900 s      5 / 5

    note: test_join, test_sort: one side was measured before the other, so drift of
    the machine is part of the ratio; `lapwing run` interleaves variants of one
    session
    note: the newest of 2 versions of joins that all sides have is compared, 1.1;
    choose another with --where version=VERSION

    excluded from 60 iterations: 20 burn-in (`--audit` shows which)
    exit 0
    ");
    // Versions are compared variant by variant.
    assert_snapshot!(run(folder.path(), &["compare", "1.0", "1.1"]), @"
    1.1 against 1.0: no regression found, 3 improvements within these sessions   (3 comparisons, FDR 5 %, no change: within 3 %)

     benchmark             ratio  interval      verdict                              baseline  candidate  instances
     test_join (baseline)  0.50×  [0.49, 0.51]  ✓ improvement within these sessions    2.00 s     1.00 s      5 / 5
     test_join (fast)      0.50×  [0.49, 0.51]  ✓ improvement within these sessions    1.40 s    0.700 s      5 / 5
     test_join (slow)      0.50×  [0.49, 0.51]  ✓ improvement within these sessions    2.60 s     1.30 s      5 / 5

    suite: 0.500× [0.494, 0.506] within these sessions, the geometric mean of 3
    benchmarks
    note: test_join: the sides are from different sessions, so a change of the
    machine may look like a change of the benchmark; measure variants in one
    session, or three sessions per side

    excluded from 90 iterations: 30 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn files_are_compared_without_a_store() {
    let folder = tempfile::tempdir().unwrap();
    for (number, suite, name, factor) in [(1, "one", "old", 1.0), (2, "other", "new", 1.2)] {
        let mut session = Session::new(number, suite, name);
        let run = session.run("default", name);
        for host in 0..4 {
            let mean = factor * (1.0 + 0.01 * f64::from(host));
            session.instance(&run, "test_join", &format!("{name}{host}"), mean);
        }
        fs::write(
            folder.path().join(format!("{name}.jsonl")),
            &session.lines.text,
        )
        .unwrap();
    }
    assert_snapshot!(run(folder.path(), &["compare", "old.jsonl", "file:new.jsonl"]), @"
    new.jsonl against old.jsonl: 1 regression within these files   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict                          baseline  candidate  instances
     test_join  1.20×  [1.17, 1.23]  ✗ regression within these files    1.01 s     1.22 s      4 / 4

    note: test_join: measured on different machines: old0, old1, old2 and 1 more
    against new0, new1, new2 and 1 more
    note: test_join: the sides are from different sessions, so a change of the
    machine may look like a change of the benchmark; measure variants in one
    session, or three sessions per side
    note: test_join: every value of one side is above every value of the other; with
    so few instances, noise that jumps between two levels can do this by chance:
    measure five or more per side
    note: 1 more note (`--full` shows all)

    excluded from 24 iterations: 8 burn-in (`--audit` shows which)
    exit 0
    ");
    assert!(!folder.path().join(".lapwing").exists());
    fs::write(
        folder.path().join("broken.jsonl"),
        "{\"v\":1,\"kind\":\"session\"\n",
    )
    .unwrap();
    assert_snapshot!(run(folder.path(), &["compare", "old.jsonl", "broken.jsonl"]), @"
    error: broken.jsonl:1: the JSON is cut off
      nothing was imported from this file
      hint: `lapwing import FILE` shows more, and can import the valid lines of a file
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["compare", "old.jsonl", "file:none.jsonl"]), @"
    error: cannot read none.jsonl: No such file or directory (os error 2)
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["compare", "old.jsonl", "old.jsonl"]), @"
    error: file `old.jsonl` and file `old.jsonl` have runs in common
      hint: a comparison takes different sides; `--split halves` checks one against itself
    exit 2
    ");
}

#[test]
fn halves_of_a_session_show_what_a_comparison_says_of_no_change() {
    let mut session = Session::new(1, "joins", "nightly");
    let run_id = session.run("default", "1.0");
    session.instances(&run_id, "test_same", 1.0, 10);
    // It gets slower all the time: the halves differ, and every other one does not.
    for k in 0..10 {
        let mean = 1.0 + 0.02 * f64::from(k);
        session.instance(&run_id, "test_drift", "node1", mean);
    }
    let folder = imported(&[session]);
    assert_snapshot!(run(folder.path(), &["compare", "--split", "halves"]), @"
    nightly (second half) against nightly (first half): 1 regression, 1 unchanged within 2.4 %   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark   ratio  interval      verdict                     baseline  candidate  instances
     test_drift  1.10×  [1.05, 1.14]  ✗ regression                  1.04 s     1.14 s      5 / 5
     test_same   1.00×  [0.98, 1.02]  = no change, at most 2.4 %    1.00 s     1.00 s      5 / 5

    suite: 1.05× [1.02, 1.07], the geometric mean of 2 benchmarks

    excluded from 60 iterations: 20 burn-in (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(run(folder.path(), &["compare", "--split", "alternating", "nightly"]), @"
    nightly (even) against nightly (odd): no regression found, 1 undecided, 1 unchanged within 2.4 %   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark   ratio  interval      verdict                     baseline  candidate  instances  note
     test_drift  1.02×  [0.94, 1.10]  ? undecided                   1.08 s     1.10 s      5 / 5  needs about 71 instances per side
     test_same   1.00×  [0.98, 1.02]  = no change, at most 2.4 %    1.00 s     1.00 s      5 / 5

    suite: 1.01× [0.97, 1.05], the geometric mean of 2 benchmarks
    note: measured anew with as many instances as a row needs, it is decided with a
    probability of 80 %

    excluded from 60 iterations: 20 burn-in (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(run(folder.path(), &["compare", "--split", "halves", "nightly", "1.0"]), @"
    error: --split divides one side in two, but several are given
      hint: name one side, or omit --split
    exit 2
    ");
}

#[test]
fn an_empty_store_and_an_empty_choice_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    assert_snapshot!(run(folder.path(), &["compare", "a", "b"]), @"
    error: nothing measured yet: there is no store at .lapwing/lapwing.db
      hint: measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`
    exit 2
    ");
    let folder = imported(&[two_versions()]);
    assert_snapshot!(run(folder.path(), &["compare", "2026.8", "2026.9", "-b", "nothing"]), @"
    error: no benchmark `nothing`
      hint: `lapwing list benchmarks` lists them
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["compare", "2026.8", "2026.9", "--metric", "rate"]), @"
    nothing to compare: no side has usable values
    exit 3
    ");
}

fn rows_of(folder: &std::path::Path, arguments: &[&str]) -> Vec<String> {
    let done = output(folder, &[arguments, &["--format", "json"]].concat());
    let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let rows = answer["comparisons"].as_array().unwrap().iter();
    rows.map(|it| {
        let of = ["benchmark", "metric", "verdict", "reason_text"];
        of.map(|key| text(&it[key])).join(" | ")
    })
    .collect()
}

#[test]
fn what_only_failed_is_not_said_to_be_missing_whatever_metric_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut old = Session::new(1, "joins", "old");
    let run_of_old = old.run("default", "1");
    old.instances(&run_of_old, "test_zarr", 3.0, 3);
    let mut new = Session::new(2, "joins", "new");
    let run_of_new = new.run("default", "2");
    for _ in 0..3 {
        new.instance_of(&run_of_new, "test_zarr", "node1", &[("failed", 0.0)]);
    }
    fs::write(folder.join("old.jsonl"), &old.lines.text).unwrap();
    fs::write(folder.join("new.jsonl"), &new.lines.text).unwrap();
    run(folder, &["import", "old.jsonl", "new.jsonl"]);
    let expected = ["test_zarr | wall_time | not_measured | 3 failures in "];
    let ask = ["--metric", "wall_time"];
    let files = rows_of(
        folder,
        &[&["compare", "old.jsonl", "new.jsonl"], ask.as_slice()].concat(),
    );
    assert_eq!(files, expected.map(|it| format!("{it}new.jsonl")));
    let sides = ["compare", "session:old", "session:new"];
    let kept = rows_of(folder, &[&sides, ask.as_slice()].concat());
    assert_eq!(kept, expected.map(|it| format!("{it}new")));
}

#[test]
fn the_audit_is_of_the_first_metric_that_a_benchmark_has() {
    let sides = ["compare", "2026.8", "2026.9", "-b", "test_join", "--audit"];
    let metrics = ["--metric", "rate", "--metric", "wall_time"];
    let json = ["--format", "json"];
    let mut session = two_versions();
    let with_rate = session.run("default", "2026.9");
    let more = json!({"position": 999});
    let instance = session.lines.instance(&with_rate, "test_rate", more);
    let more = json!({"metrics": {"rate": 5}});
    session.lines.iteration(&instance, 0, more);
    let folder = imported(&[session]);
    let done = output(folder.path(), &[sides.as_slice(), &metrics, &json].concat());
    let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
    let audited = answer["audit"]["benchmarks"].as_array().unwrap();
    let audited: Vec<String> = audited
        .iter()
        .map(|it| format!("{} in {}", it["metric"], it["side"]))
        .collect();
    assert_snapshot!(audited.join("\n"), @r#"
    "wall_time" in "2026.8"
    "wall_time" in "2026.9"
    "#);
    assert!(answer["audit"]["left_out"]["no_value"].is_null());
}

#[test]
fn an_instance_without_a_logarithm_is_told_with_what_answers() {
    let mut session = Session::new(1, "joins", "nightly");
    for (version, first) in [("1", 1.0), ("2", 0.0)] {
        let run = session.run("default", version);
        session.instance_of(&run, "test_join", "node1", &[("ok", first)]);
        for k in 0..5_u32 {
            session.instance_of(
                &run,
                "test_join",
                "node1",
                &[("ok", 1.0 + 0.01 * f64::from(k))],
            );
        }
    }
    let folder = imported(&[session]);
    let sides = ["compare", "version:1", "version:2"];
    assert_snapshot!(rows_of(folder.path(), &sides).join("\n"), @"test_join | wall_time | inconclusive | 1 instance has a mean that is not positive, which has no logarithm; try `--method fieller`");
    let fieller = [sides.as_slice(), &["--method", "fieller"]].concat();
    assert_snapshot!(rows_of(folder.path(), &fieller).join("\n"), @"test_join | wall_time | inconclusive | -");
}

#[test]
fn names_of_a_burn_in_file_that_nothing_has_are_told_by_whatever_judges() {
    let folder = imported(&[two_versions()]);
    let folder = folder.path();
    fs::write(folder.join("starts.yaml"), "test_joni: 1\ntest_read: 1\n").unwrap();
    let told = |arguments: &[&str]| {
        let all = [arguments, &["--clean", "burn_in_file=starts.yaml"]].concat();
        // Notes of answers are wrapped.
        let said = run(folder, &all).replace('\n', " ");
        let start = said
            .find("note: the burn-in file names")
            .unwrap_or(said.len());
        let told = said[start..].split_inclusive('?').next();
        told.unwrap_or_default().to_owned()
    };
    let expected = "note: the burn-in file names `test_joni`, but no measured benchmark has this name; did you mean `test_join`?";
    assert_eq!(told(&["compare", "2026.8", "2026.9"]), expected);
    assert_eq!(told(&["compare", "--split", "halves"]), expected);
    assert_eq!(told(&["variability"]), expected);
    assert_eq!(told(&["report"]), expected);
    assert_eq!(told(&["report", "--compare", "2026.8", "2026.9"]), expected);
}

/// Returns a folder with a store of two versions.
pub fn two_versions_imported() -> TempDir {
    imported(&[two_versions()])
}
