//! `lapwing burn-in` by the real program: the files that it reads and writes.

use std::fs;

use crate::burn_in_fixture;
use crate::burn_in_fixture::{SUITE, filled, lapwing, read, run};
use insta::assert_snapshot;

#[test]
fn a_burn_in_file_is_honoured_and_shown() {
    let folder = filled();
    fs::write(
        folder.path().join("starts.yaml"),
        "\"gzip[level=9]\": 10\nsort: 0\ndrift: 3\nsrot: 4\n",
    )
    .unwrap();
    let arguments = ["burn-in", "--burn-in-file", "starts.yaml"];
    assert_snapshot!(lapwing(folder.path(), &arguments, ""), @"
    3 of 5 benchmarks reach a steady state, 1 only by a manual choice, 1 has too few iterations; burn-in takes 16 % of the measured time

     benchmark      class            steady from             planned  instances    cost  bias
     drift          no steady state  3 (file; never steady)        1          4  3.09 s  –
     gzip[level=1]  warm-up          4                             1          4  7.03 s  +7.5 % → 0 %
     gzip[level=9]  warm-up          10 (file; found 7)            1          4  16.1 s  +15 % → 0 %
     short          too short        1 (planned)                   1          4  2.00 s  –
     sort           flat             0 (file)                      1          4     0 s  0 % → 0 %

    steady from: the first iteration after burn-in, counted from 0; cost: burn-in
    per instance
    bias: distance of the mean from the steady level, with burn-in → without it
    note: some instances never reach a steady state, but are included: drift (4 of
    4)
    note: too few iterations: short (4 iterations); needs at least 20 per instance,
    burn-in included
    note: the planned burn-in is too short: drift (1 → 3), gzip[level=1] (1 → 4),
    gzip[level=9] (1 → 10); --update-suite writes these to the suite, -o to a file
    for --clean burn_in_file=FILE
    note: the burn-in file names `srot`, but no measured benchmark has this name;
    did you mean `sort`?
    exit 0
    ");
    fs::write(folder.path().join("starts.yaml"), "sort: often\n").unwrap();
    assert_snapshot!(lapwing(folder.path(), &arguments, ""), @r#"
    error: starts.yaml:1:7: invalid whole number
      hint: write one line for each benchmark, `test_join: 5`, or as JSON {"test_join": 5}; `lapwing burn-in -o FILE` writes one
    exit 2
    "#);
}

#[test]
fn the_burn_in_file_of_the_suite_is_honoured_too() {
    let folder = filled();
    let suite = format!("{SUITE}\n[judge]\nburn_in_file = \"starts.yaml\"\n");
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    let ask = || {
        let arguments = [
            "burn-in",
            "-b",
            "sort",
            "--format",
            "csv",
            "--output",
            "starts.yaml",
        ];
        let (table, _, code) = run(folder.path(), &arguments, "");
        assert_eq!(code, 0);
        let row: Vec<String> = table
            .lines()
            .last()
            .unwrap()
            .split(',')
            .map(str::to_owned)
            .collect();
        (row[5].clone(), row[8].clone())
    };
    assert_eq!(ask(), ("0".to_owned(), "found".to_owned()));
    fs::write(folder.path().join("starts.yaml"), "sort: 4\n").unwrap();
    assert_eq!(ask(), ("4".to_owned(), "file".to_owned()));
    assert_eq!(read(folder.path(), "starts.yaml"), "\"sort\": 4\n");
}

#[test]
fn the_starts_are_written_and_what_a_file_says_of_others_stays() {
    let folder = filled();
    let write = |more: &[&str]| {
        let arguments = [&["burn-in", "--format", "csv"], more].concat();
        run(folder.path(), &arguments, "").1
    };
    assert_snapshot!(write(&["--output", "starts.json"]), @"
    starts.json has the first steady iteration of 3 of 5; use it with --clean burn_in_file=FILE
    note: not in it: drift (never reaches a steady state), short (too few iterations)
    ");
    assert_snapshot!(read(folder.path(), "starts.json"), @r#"
    {
      "gzip[level=1]": 4,
      "gzip[level=9]": 7,
      "sort": 0
    }
    "#);
    fs::write(
        folder.path().join("old.yaml"),
        "elsewhere: 9\nsort: 4\ndrift: 3\n",
    )
    .unwrap();
    assert_snapshot!(write(&["--output", "old.yaml", "-b", "sort", "-b", "drift"]), @"
    old.yaml has the first steady iteration of 1 of 2; use it with --clean burn_in_file=FILE
    note: not in it: drift (never reaches a steady state)
    note: replaced the earlier values of sort (4 → 0); to keep such values, also give the file with --burn-in-file
    ");
    assert_snapshot!(read(folder.path(), "old.yaml"), @r#"
    "elsewhere": 9
    "sort": 0
    "#);
    fs::write(folder.path().join("notes.yaml"), "buy: milk\n").unwrap();
    assert_snapshot!(write(&["--output", "notes.yaml"]), @r#"
    error: notes.yaml:1:6: invalid whole number
      notes.yaml already exists and was not changed
      hint: write one line for each benchmark, `test_join: 5`, or as JSON {"test_join": 5}; `lapwing burn-in -o FILE` writes one
    "#);
    assert_eq!(read(folder.path(), "notes.yaml"), "buy: milk\n");
    assert_snapshot!(write(&["--output", "none/starts.yaml"]), @"
    error: folder `none` does not exist
      hint: create it, or name another file
    ");
    assert_snapshot!(write(&["--update-suite", "none.toml"]), @"
    error: there is no suite file `none.toml`
      hint: name it: `--update-suite FILE`
    ");
    assert_snapshot!(write(&["--output", "starts.txt"]), @"error: `starts.txt` does not end in .json or .yaml");
}

#[test]
fn what_was_written_is_read_again() {
    let folder = filled();
    run(folder.path(), &["burn-in", "--output", "starts.json"], "");
    let again = [
        "burn-in",
        "--burn-in-file",
        "starts.json",
        "--format",
        "csv",
    ];
    let (table, _, _) = run(folder.path(), &again, "");
    let sources: Vec<&str> = table
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(8).unwrap())
        .collect();
    assert_eq!(sources, ["found", "file", "file", "recorded", "file"]);
}

#[test]
fn a_suite_gets_its_burn_in_and_keeps_all_else() {
    let folder = filled();
    let update = |more: &[&str]| {
        let arguments = [&["burn-in", "--format", "csv", "--update-suite"], more].concat();
        run(folder.path(), &arguments, "").1
    };
    assert_snapshot!(update(&[]), @"
    updated lapwing.toml: gzip: burn_in 1 → 7; sort: burn_in 1 → 0
    note: benchmarks of one table share its burn_in, the largest one: gzip[level=1] 4, gzip[level=9] 7
    note: drift never reaches a steady state, so its burn_in is kept
    note: short has too few iterations, so its burn_in is kept
    ");
    let changed = read(folder.path(), "lapwing.toml");
    let differences: Vec<String> = changed
        .lines()
        .filter(|line| !SUITE.lines().any(|before| before == *line))
        .map(str::to_owned)
        .collect();
    assert_eq!(differences, ["burn_in = 7   # by eye", "burn_in = 0"]);
    assert_eq!(changed.lines().count(), SUITE.lines().count() + 1);
    assert_snapshot!(update(&[]), @"
    lapwing.toml is unchanged: it already has these numbers
    note: benchmarks of one table share its burn_in, the largest one: gzip[level=1] 4, gzip[level=9] 7
    note: drift never reaches a steady state, so its burn_in is kept
    note: short has too few iterations, so its burn_in is kept
    ");
    assert_eq!(read(folder.path(), "lapwing.toml"), changed);
    let other = SUITE.replace("\"compressors\"", "\"others\"");
    fs::write(folder.path().join("other.toml"), &other).unwrap();
    assert_snapshot!(update(&["other.toml"]), @"
    error: other.toml has no benchmark with a known first steady iteration
      it was not changed
      hint: measure it with `lapwing run other.toml`; its suite is `others`
    ");
    assert_eq!(read(folder.path(), "other.toml"), other);
    fs::write(folder.path().join("other.toml"), "suit = 1\n").unwrap();
    assert_snapshot!(update(&["other.toml"]), @"
    error: other.toml:1: unknown key `suit` in the suite
      hint: did you mean `suite`?
    ");
}

#[test]
fn a_suite_keeps_the_ends_of_its_lines_and_what_several_write_at_once() {
    let folder = filled();
    let windows = SUITE.replace('\n', "\r\n");
    fs::write(folder.path().join("lapwing.toml"), &windows).unwrap();
    std::thread::scope(|scope| {
        for benchmark in ["gzip", "sort"] {
            let arguments = ["burn-in", "-q", "-b", benchmark, "--update-suite"];
            let folder = folder.path();
            scope.spawn(move || run(folder, &arguments, ""));
        }
    });
    let changed = read(folder.path(), "lapwing.toml");
    let ends = |end: &str| changed.matches(end).count();
    assert_eq!(ends("\n"), ends("\r\n"));
    let differences: Vec<&str> = changed
        .lines()
        .filter(|line| !SUITE.lines().any(|before| before == *line))
        .collect();
    assert_eq!(differences, ["burn_in = 7   # by eye", "burn_in = 0"]);
}

#[test]
fn one_entry_of_several_suites_is_never_removed_for_one_of_them() {
    let folder = filled();
    let folder = folder.path();
    // The same under another suite, where `sort` is slow as `gzip[level=9]` is here.
    let other = burn_in_fixture::records()
        .replace("compressors", "others")
        .replace("01930000-", "01940000-")
        .replace("\"sort\"", "\"gzip[level=7]\"")
        .replace("gzip[level=9]", "sort");
    fs::write(folder.join("other.jsonl"), other).unwrap();
    lapwing(folder, &["import", "other.jsonl"], "");
    let write = |suite: &str| {
        let only = [
            "--where",
            &format!("suite={suite}"),
            "--output",
            "starts.yaml",
            "--format",
            "csv",
        ];
        let said = lapwing(folder, &[&["burn-in"], only.as_slice()].concat(), "");
        let notes = said.lines().filter(|line| line.contains("one entry"));
        (
            notes.collect::<Vec<_>>().join("\n"),
            read(folder, "starts.yaml"),
        )
    };
    // `drift` was decided by hand: that it never reaches a steady state in one suite does not remove it.
    fs::write(folder.join("starts.yaml"), "drift: 3\nsort: 5\n").unwrap();
    let (note, starts) = write("compressors");
    assert_snapshot!(note, @"note: one entry applies to all suites with the benchmark, with the largest start: drift (compressors, others), gzip[level=1] (compressors, others), short (compressors, others), sort (compressors, others)");
    assert_snapshot!(starts, @r#"
    "drift": 3
    "gzip[level=1]": 4
    "gzip[level=9]": 7
    "sort": 5
    "#);
    assert_snapshot!(write("others").1, @r#"
    "drift": 3
    "gzip[level=1]": 4
    "gzip[level=7]": 0
    "gzip[level=9]": 7
    "sort": 7
    "#);
    // All suites together decide anew.
    let all = ["burn-in", "--output", "starts.yaml", "--format", "csv"];
    lapwing(folder, &all, "");
    assert_snapshot!(read(folder, "starts.yaml"), @r#"
    "gzip[level=1]": 4
    "gzip[level=7]": 0
    "gzip[level=9]": 7
    "sort": 7
    "#);
}
