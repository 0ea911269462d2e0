//! `lapwing compare` where a side has several settings of a benchmark: runs of one variant with
//! different levels of factors.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::{RecordLines, report_entry};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{output, run};

/// Records of sessions of a day each.
#[derive(Default)]
struct Records {
    lines: RecordLines,
    session: String,
}

impl Records {
    /// Records with other ids than the first ones of others.
    fn after(ids: u32) -> Self {
        Self {
            lines: RecordLines::after(ids),
            ..Self::default()
        }
    }

    fn session(&mut self, day: u32) {
        let started = format!("2026-11-{day:02}T10:00:00Z");
        let more = json!({"suite": "joins", "name": format!("day {day}")});
        self.session = self.lines.session(&started, more);
    }

    /// A run of a setting, with four instances of `test_join` around a mean and four of
    /// `test_read` around twice that.
    fn run(&mut self, version: &str, variant: &str, factors: Value, mean: f64) {
        let run = self.begun(version, variant, factors);
        self.instances(&run, "test_join", mean);
        self.instances(&run, "test_read", 2.0 * mean);
    }

    fn begun(&mut self, version: &str, variant: &str, factors: Value) -> String {
        let version = json!({"name": version});
        let more = json!({"variant": variant, "factors": factors, "version": version});
        self.lines.run(&self.session, more)
    }

    fn instances(&mut self, run: &str, benchmark: &str, mean: f64) {
        for (position, off) in [0.99, 1.0, 1.02, 0.995].into_iter().enumerate() {
            let instance = self
                .lines
                .instance(run, benchmark, json!({"position": position}));
            for (index, twitch) in [0.999, 1.001].into_iter().enumerate() {
                let metrics = json!({"wall_time": mean * off * twitch});
                self.lines
                    .iteration(&instance, index, json!({"metrics": metrics}));
            }
        }
    }

    fn stored(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in.jsonl"), &self.lines.text).unwrap();
        let done = run(folder.path(), &["import", "in.jsonl"]);
        assert!(done.ends_with("exit 0"), "{done}");
        folder
    }
}

/// Two versions of which the newer is slower by a fifth in every setting; those of `fast` are far apart.
fn slower_by_a_fifth() -> TempDir {
    let mut it = Records::default();
    for (day, version, slowdown) in [(1, "1.0", 1.0), (2, "1.1", 1.2)] {
        it.session(day);
        let threads = |count: u32| json!({"threads": count});
        it.run(version, "baseline", threads(1), slowdown);
        it.run(version, "fast", threads(1), 0.8 * slowdown);
        it.run(version, "fast", threads(4), 0.4 * slowdown);
    }
    it.stored()
}

/// Returns of each comparison benchmark, setting, verdict and reason.
fn rows(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let words = [&["compare"], arguments, &["--format", "json"]].concat();
    let answer: Value = serde_json::from_slice(&output(folder, &words).stdout).unwrap();
    let rows = answer["comparisons"].as_array().unwrap().iter();
    rows.map(|row| {
        let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
        let [benchmark, setting] = [text("benchmark"), text("setting")];
        let [verdict, reason] = [text("verdict"), text("reason")];
        format!("{benchmark} ({setting}) {verdict} {reason}")
    })
    .collect()
}

#[test]
fn versions_are_compared_setting_by_setting() {
    let folder = slower_by_a_fifth();
    let sides = ["compare", "version:1.0", "version:1.1"];
    assert_snapshot!(run(folder.path(), &[&sides[..], &["--audit"]].concat()), @"
    1.1 against 1.0: 6 regressions within these sessions   (6 comparisons, FDR 5 %, no change: within 3 %)

     benchmark                   ratio  interval      verdict                             baseline  candidate  instances
     test_join (baseline)        1.20×  [1.18, 1.22]  ✗ regression within these sessions    1.00 s     1.20 s      4 / 4
     test_join (fast threads=1)  1.20×  [1.18, 1.22]  ✗ regression within these sessions    801 ms     961 ms      4 / 4
     test_join (fast threads=4)  1.20×  [1.18, 1.22]  ✗ regression within these sessions    400 ms     481 ms      4 / 4
     test_read (baseline)        1.20×  [1.18, 1.22]  ✗ regression within these sessions    2.00 s     2.40 s      4 / 4
     test_read (fast threads=1)  1.20×  [1.18, 1.22]  ✗ regression within these sessions    1.60 s     1.92 s      4 / 4
     test_read (fast threads=4)  1.20×  [1.18, 1.22]  ✗ regression within these sessions    801 ms     961 ms      4 / 4

    suite: 1.200× [1.191, 1.209] within these sessions, the geometric mean of 6
    benchmarks
    note: test_join, test_read: the sides are from different sessions, so a change
    of the machine may look like a change of the benchmark; measure variants in one
    session, or three sessions per side
    note: test_join, test_read: every value of one side is above every value of the
    other; with so few instances, noise that jumps between two levels can do this by
    chance: measure five or more per side

    Exclusions, step by step:

     left          benchmarks  instances  iterations
     recorded               2         48          96
     known                  2         48          96
     past burn-in           2         48          96
     not failed             2         48          96
     not outlying           2         48          96
     steady                 2         48          96
     viable                 2         48          96
    exit 0
    ");
    let gate = ["--fail-on", "regression", "--format", "csv"];
    let csv = run(folder.path(), &[&sides[..], &gate].concat());
    let columns: Vec<&str> = csv
        .lines()
        .map(|line| line.rsplit_once(",1.0,1.1,").map_or(line, |it| it.0))
        .skip(1)
        .collect();
    assert_eq!(
        columns,
        [
            "joins,test_join,baseline,wall_time,s",
            "joins,test_join,fast threads=1,wall_time,s",
            "joins,test_join,fast threads=4,wall_time,s",
            "joins,test_read,baseline,wall_time,s",
            "joins,test_read,fast threads=1,wall_time,s",
            "joins,test_read,fast threads=4,wall_time,s",
            "exit 1",
        ]
    );
    let markdown = ["--format", "markdown", "--benchmark", "test_join"];
    assert_snapshot!(run(folder.path(), &[&sides[..], &markdown].concat()), @r"
    **1.1 against 1.0: 3 regressions within these sessions   (3 comparisons, FDR 5 %, no change: within 3 %)**

    | benchmark | ratio | interval | verdict | baseline | candidate | instances |
    |---|---:|---|---|---:|---:|---:|
    | test_join (baseline) | 1.20× | \[1.17, 1.23\] | **✗ regression** within these sessions | 1.00 s | 1.20 s | 4 / 4 |
    | test_join (fast threads=1) | 1.20× | \[1.17, 1.23\] | **✗ regression** within these sessions | 801 ms | 961 ms | 4 / 4 |
    | test_join (fast threads=4) | 1.20× | \[1.17, 1.23\] | **✗ regression** within these sessions | 400 ms | 481 ms | 4 / 4 |

    - suite: 1.20× \[1.19, 1.21\] within these sessions, the geometric mean of 3 benchmarks
    - note: test_join: the sides are from different sessions, so a change of the machine may look like a change of the benchmark; measure variants in one session, or three sessions per side
    - note: test_join: every value of one side is above every value of the other; with so few instances, noise that jumps between two levels can do this by chance: measure five or more per side
    exit 0
    ");
}

#[test]
fn variants_are_compared_at_the_levels_that_they_share() {
    let folder = slower_by_a_fifth();
    assert_snapshot!(run(folder.path(), &["compare", "variant:baseline", "variant:fast"]), @"
    fast against baseline: no regression found, 2 improvements, 2 not measured   (4 comparisons, FDR 5 %, no change: within 3 %)

     benchmark              ratio  interval      verdict         baseline  candidate  instances  note
     test_join (threads=1)  0.80×  [0.78, 0.82]  ✓ improvement     1.20 s    0.961 s      4 / 4
     test_read (threads=1)  0.80×  [0.78, 0.82]  ✓ improvement     2.40 s     1.92 s      4 / 4
     test_join (threads=4)                       – not measured         –     481 ms      0 / 4  only in the candidate
     test_read (threads=4)                       – not measured         –     961 ms      0 / 4  only in the candidate

    suite: 0.80× [0.79, 0.81], the geometric mean of 2 benchmarks
    note: test_join, test_read: every value of one side is above every value of the
    other; with so few instances, noise that jumps between two levels can do this by
    chance: measure five or more per side
    note: the newest of 2 versions that all sides have is compared, 1.1; choose
    another with --where version=VERSION
    exit 0
    ");
}

#[test]
fn a_variant_of_one_setting_is_compared_with_each_setting_of_another() {
    let mut it = Records::default();
    it.session(1);
    for (variant, threads, mean) in [("baseline", 2, 1.0), ("fast", 1, 0.8), ("fast", 4, 0.4)] {
        it.run("1.0", variant, json!({"threads": threads}), mean);
    }
    let alike = it.begun("1.0", "fast", json!({"threads": 4}));
    let base = it.begun("1.0", "baseline", json!({"threads": 2}));
    for of_run in [&alike, &base] {
        it.instances(of_run, "alike", 1.0);
        it.instances(of_run, "alike_too", 1.0);
    }
    let folder = it.stored();
    let sides = ["compare", "variant:baseline", "variant:fast"];
    assert_snapshot!(run(folder.path(), &sides), @"
    fast against baseline: no regression found, 4 improvements, 2 unchanged within 2.1 %   (6 comparisons, FDR 5 %, no change: within 3 %)

     benchmark               ratio  interval        verdict                     baseline  candidate  instances
     test_join (threads=4)  0.400×  [0.392, 0.408]  ✓ improvement                 1.00 s    0.400 s      4 / 4
     test_read (threads=4)  0.400×  [0.392, 0.408]  ✓ improvement                 2.00 s    0.801 s      4 / 4
     test_join (threads=1)   0.80×  [0.78, 0.82]    ✓ improvement                 1.00 s    0.801 s      4 / 4
     test_read (threads=1)   0.80×  [0.78, 0.82]    ✓ improvement                 2.00 s     1.60 s      4 / 4
     alike                   1.00×  [0.98, 1.02]    = no change, at most 2.1 %    1.00 s     1.00 s      4 / 4
     alike_too               1.00×  [0.98, 1.02]    = no change, at most 2.1 %    1.00 s     1.00 s      4 / 4

    suite (all other settings): 1.00× [0.99, 1.01], the geometric mean of 2
    benchmarks
    suite (threads=1): 0.80× [0.79, 0.81], the geometric mean of 2 benchmarks
    suite (threads=4): 0.400× [0.394, 0.406], the geometric mean of 2 benchmarks
    note: test_join, test_read: every value of one side is above every value of the
    other; with so few instances, noise that jumps between two levels can do this by
    chance: measure five or more per side
    exit 0
    ");
    let words = [&sides[..], &["--format", "json"]].concat();
    let answer: Value = serde_json::from_slice(&output(folder.path(), &words).stdout).unwrap();
    let settings = |rows: &str| -> Vec<String> {
        let rows = answer[rows].as_array().unwrap().iter();
        rows.map(|it| it["setting"].as_str().unwrap_or("-").to_owned())
            .collect()
    };
    assert_eq!(
        settings("comparisons"),
        ["threads=4", "threads=4", "threads=1", "threads=1", "-", "-"]
    );
    assert_eq!(settings("suites"), ["-", "threads=1", "threads=4"]);
    // The other way round as well.
    let back = rows(
        folder.path(),
        &["variant:fast", "variant:baseline", "-b", "test_*"],
    );
    assert_eq!(
        back,
        [
            "test_join (threads=4) regression -",
            "test_read (threads=4) regression -",
            "test_join (threads=1) regression -",
            "test_read (threads=1) regression -",
        ]
    );
}

#[test]
fn a_setting_that_a_side_lacks_is_not_measured_and_no_pass() {
    let mut it = Records::default();
    let threads = |count: u32| json!({"threads": count});
    it.session(1);
    for count in [1, 2, 4] {
        it.run("1.0", "fast", threads(count), 1.0 / f64::from(count));
    }
    it.session(2);
    for count in [4, 8, 16] {
        it.run("1.1", "fast", threads(count), 1.0 / f64::from(count));
    }
    let folder = it.stored();
    let words = ["version:1.0", "version:1.1", "--benchmark", "test_join"];
    assert_eq!(
        rows(folder.path(), &words),
        [
            "test_join (threads=1) not_measured no_candidate",
            "test_join (threads=2) not_measured no_candidate",
            "test_join (threads=8) not_measured no_baseline",
            "test_join (threads=16) not_measured no_baseline",
            "test_join (threads=4) equivalent -",
        ]
    );
    let gate = |more: &[&str]| {
        let words = [&["compare"], &words[..], &["--fail-on", "regression"], more].concat();
        output(folder.path(), &words).status.code().unwrap()
    };
    assert_eq!(gate(&[]), 1);
    assert_eq!(gate(&["--where", "variant=threads=4"]), 0);
}

#[test]
fn a_factor_that_only_one_side_knows_tells_its_settings_apart() {
    let mut it = Records::default();
    it.session(1);
    it.run("1.0", "default", json!({}), 1.0);
    it.session(2);
    it.run("1.1", "default", json!({"prefetch": false}), 1.0);
    it.run("1.1", "default", json!({"prefetch": true}), 0.5);
    // A benchmark that has one setting on each side is compared as ever.
    let one = it.begun("1.1", "default", json!({"prefetch": true}));
    it.instances(&one, "test_sort", 1.0);
    it.session(3);
    let before = it.begun("1.0", "default", json!({"prefetch": false}));
    it.instances(&before, "test_sort", 1.0);
    let folder = it.stored();
    assert_eq!(
        rows(folder.path(), &["version:1.0", "version:1.1"]),
        [
            "test_join (prefetch=true) improvement -",
            "test_read (prefetch=true) improvement -",
            "test_join (prefetch=false) equivalent -",
            "test_read (prefetch=false) equivalent -",
            "test_sort (-) equivalent -",
        ]
    );
}

#[test]
fn settings_are_told_apart_in_files_in_halves_and_as_hail_does() {
    let folder = slower_by_a_fifth();
    let folder = folder.path();
    let regressed = [
        "test_join (baseline) regression -",
        "test_join (fast threads=1) regression -",
        "test_join (fast threads=4) regression -",
    ];
    for version in ["1.0", "1.1"] {
        let name = format!("{version}.jsonl");
        let version = format!("version={version}");
        let words = [
            &["export", "--to", "record", "-o", name.as_str()],
            &["--where", &version][..],
        ];
        let done = run(folder, &words.concat());
        assert!(done.ends_with("exit 0"), "{done}");
    }
    let files = ["file:1.0.jsonl", "file:1.1.jsonl", "-b", "test_join"];
    assert_eq!(rows(folder, &files), regressed);
    let halves = ["--split", "alternating", "version:1.0", "-b", "test_join"];
    assert_eq!(
        rows(folder, &halves),
        [
            "test_join (baseline) inconclusive few_instances",
            "test_join (fast threads=1) inconclusive few_instances",
            "test_join (fast threads=4) inconclusive few_instances",
        ]
    );
    fs::write(folder.join("burn-in.txt"), "test_join: 0\ntest_read: 0\n").unwrap();
    let hail = ["--compat", "hail", "--clean", "burn_in_file=burn-in.txt"];
    let hail = [
        &hail[..],
        &["--clean", "min_instances=3", "--clean", "min_iterations=2"],
    ]
    .concat();
    let sides = ["version:1.0", "version:1.1", "-b", "test_join"];
    let found = rows(folder, &[&sides[..], &hail].concat());
    assert_eq!(found, regressed);
}

#[test]
fn a_verdict_stands_beside_its_setting_in_the_report() {
    let folder = slower_by_a_fifth();
    let verdicts = |sides: [&str; 2]| {
        let words = ["report", "-o", "site", "--compare", sides[0], sides[1]];
        let done = run(folder.path(), &words);
        assert!(done.ends_with("exit 0"), "{done}");
        let site = folder.path().join("site");
        let rows = report_entry(&site, "index.m0");
        let column = |name: &str| rows[name].as_array().unwrap().clone();
        let [ids, variants, verdicts] = ["id", "variant", "verdict_text"].map(column);
        let rows = ids.iter().zip(&variants).zip(&verdicts);
        let of_join = rows.filter(|((id, _), _)| id.as_str().unwrap().contains("test_join"));
        let mut told: Vec<String> = of_join
            .map(|((_, variant), text)| {
                format!("{}: {}", variant.as_str().unwrap(), text.as_str().unwrap())
            })
            .collect();
        told.sort();
        told.join("\n")
    };
    assert_snapshot!(verdicts(["variant:baseline", "variant:fast"]), @"
    baseline: 
    fast threads=1: 0.80× [0.78, 0.82], fast against baseline
    fast threads=4: no ratio, fast against baseline
    ");
    assert_snapshot!(verdicts(["version:1.0", "version:1.1"]), @"
    baseline: 1.20× [1.18, 1.22], 1.1 against 1.0
    fast threads=1: 1.20× [1.18, 1.22], 1.1 against 1.0
    fast threads=4: 1.20× [1.18, 1.22], 1.1 against 1.0
    ");
}

#[test]
fn a_setting_is_chosen_as_the_rows_call_it() {
    let folder = slower_by_a_fifth();
    let folder = folder.path();
    let chosen = ["version:1.0", "version:1.1", "-b", "test_join", "--where"];
    let with = |variant: &str| {
        rows(
            folder,
            &[&chosen[..], &[&format!("variant='{variant}'")]].concat(),
        )
    };
    assert_eq!(with("fast threads=4"), ["test_join (-) regression -"]);
    assert_eq!(
        with("threads=1"),
        [
            "test_join (baseline) regression -",
            "test_join (fast) regression -"
        ]
    );
    assert_snapshot!(run(folder, &["compare", "variant:fast threads=1", "fast threads=4"]), @"
    fast threads=4 against fast threads=1: no regression found, 2 improvements   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict        baseline  candidate  instances
     test_join  0.50×  [0.49, 0.51]  ✓ improvement    961 ms     481 ms      4 / 4
     test_read  0.50×  [0.49, 0.51]  ✓ improvement    1.92 s    0.961 s      4 / 4

    suite: 0.500× [0.493, 0.507], the geometric mean of 2 benchmarks
    note: test_join, test_read: every value of one side is above every value of the
    other; with so few instances, noise that jumps between two levels can do this by
    chance: measure five or more per side
    note: the newest of 2 versions that all sides have is compared, 1.1; choose
    another with --where version=VERSION
    exit 0
    ");
    assert_snapshot!(run(folder, &["compare", "variant:fast threads=1", "variant:fast threads=2"]), @"
    error: no run has the variant `fast threads=2`
      hint: available: variant:fast, variant:baseline; `lapwing list runs` shows all
    exit 2
    ");
}

#[test]
fn variants_of_a_file_are_told_apart_whatever_they_are_compared_with() {
    let threads = |count: u32| json!({"threads": count});
    let mut new = Records::default();
    new.session(2);
    new.run("1.1", "fast", threads(4), 1.2);
    let folder = new.stored();
    let mut old = Records::after(10_000);
    old.session(1);
    old.run("1.0", "baseline", threads(1), 4.0);
    old.run("1.0", "fast", threads(1), 2.0);
    old.run("1.0", "fast", threads(4), 1.0);
    fs::write(folder.path().join("old.jsonl"), &old.lines.text).unwrap();
    let sides = ["file:old.jsonl", "variant:fast", "-b", "test_join"];
    assert_eq!(
        rows(folder.path(), &sides),
        [
            "test_join (fast threads=4) regression -",
            "test_join (baseline) not_measured no_candidate",
            "test_join (fast threads=1) not_measured no_candidate",
        ]
    );
    let with = |variant: &str| rows(folder.path(), &[&sides[..], &["--where", variant]].concat());
    assert_eq!(with("threads=4"), ["test_join (-) regression -"]);
}

#[test]
fn versions_without_a_level_in_common_get_a_note() {
    let mut it = Records::default();
    it.session(1);
    it.run("1.0", "default", json!({"threads": 1, "size": 9}), 1.0);
    it.session(2);
    it.run("1.1", "default", json!({"threads": 4, "size": 9}), 0.5);
    let folder = it.stored();
    assert_snapshot!(run(folder.path(), &["compare", "version:1.0", "version:1.1"]), @"
    1.1 against 1.0: no regression found, 2 improvements within these sessions   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark  ratio  interval      verdict                              baseline  candidate  instances
     test_join  0.50×  [0.49, 0.51]  ✓ improvement within these sessions    1.00 s    0.501 s      4 / 4
     test_read  0.50×  [0.49, 0.51]  ✓ improvement within these sessions    2.00 s     1.00 s      4 / 4

    suite: 0.500× [0.493, 0.507] within these sessions, the geometric mean of 2
    benchmarks
    note: test_join, test_read: the sides are from different sessions, so a change
    of the machine may look like a change of the benchmark; measure variants in one
    session, or three sessions per side
    note: test_join, test_read: every value of one side is above every value of the
    other; with so few instances, noise that jumps between two levels can do this by
    chance: measure five or more per side
    note: the sides share no level of threads (1 and 4), so its effect counts as a
    change
    exit 0
    ");
}

#[test]
fn the_newest_version_of_variants_is_told_by_its_date_and_not_by_when_it_was_measured() {
    let mut it = Records::default();
    let mut measured = |day: u32, versions: &[(&str, Option<&str>, f64)]| {
        it.session(day);
        for (version, date, fast) in versions {
            for (variant, mean) in [("baseline", 1.0), ("fast", *fast)] {
                let version = json!({"name": version, "date": date});
                let more = json!({"variant": variant, "version": version});
                let run = it.lines.run(&it.session, more);
                it.instances(&run, "test_join", mean);
            }
        }
    };
    measured(1, &[("new", Some("2026-10-02"), 0.5)]);
    measured(
        2,
        &[
            ("old", Some("2026-10-01"), 2.0),
            ("older", Some("2026-09-01"), 2.0),
        ],
    );
    let dated = it.stored();
    let sides = ["compare", "variant:baseline", "variant:fast"];
    assert!(run(dated.path(), &sides).contains("is compared, new;"));
    // Of versions that nothing puts in order the names do, as people count.
    let mut it = Records::default();
    it.session(1);
    for (version, fast) in [("10.0", 0.5), ("9.0", 2.0)] {
        it.run(version, "baseline", json!({}), 1.0);
        it.run(version, "fast", json!({}), fast);
    }
    assert!(run(it.stored().path(), &sides).contains("is compared, 10.0;"));
}

#[test]
fn settings_that_one_variant_lacks_are_not_compared_with_others() {
    let mut it = Records::default();
    it.session(1);
    it.run("1.0", "baseline", json!({"size": 1}), 1.0);
    it.run("1.0", "baseline", json!({"size": 9}), 10.0);
    it.run("1.0", "fast", json!({"size": 1}), 1.0);
    let folder = it.stored();
    let sides = ["compare", "variant:baseline", "variant:fast"];
    assert_snapshot!(rows(folder.path(), &sides[1..]).join("\n"), @"
    test_join (size=9) not_measured no_candidate
    test_read (size=9) not_measured no_candidate
    test_join (size=1) equivalent -
    test_read (size=1) equivalent -
    ");
    let gate = [&sides[..], &["--fail-on", "regression"]].concat();
    assert_eq!(output(folder.path(), &gate).status.code(), Some(1));
}

#[test]
fn a_verdict_on_a_file_stands_beside_the_setting_that_it_is_compared_with() {
    let mut it = Records::default();
    it.session(1);
    for count in [1, 4, 8] {
        it.run("1.0", "fast", json!({"threads": count}), 1.0);
    }
    let folder = it.stored();
    let mut other = Records::after(500);
    other.session(2);
    other.run("1.1", "quick", json!({"threads": 1}), 2.0);
    other.run("1.1", "quick", json!({"threads": 4}), 0.5);
    fs::write(folder.path().join("other.jsonl"), &other.lines.text).unwrap();
    run(
        folder.path(),
        &["report", "--compare", "version:1.0", "file:other.jsonl"],
    );
    let index = report_entry(&folder.path().join("lapwing-report"), "index.m0").to_string();
    let found = ["regression", "improvement", "not_measured"].map(|it| index.matches(it).count());
    assert_snapshot!(format!("{found:?}"), @"[2, 2, 2]");
}
