//! `lapwing burn-in --review` by the real program, with answers on its standard input.

use std::fs;

use crate::burn_in_fixture::{filled, lapwing, read, run};
use insta::assert_snapshot;

/// Returns what is said to somebody who answers like that, without the notes on the answer.
fn review(folder: &std::path::Path, more: &[&str], answers: &str) -> String {
    let arguments = [
        &[
            "burn-in",
            "--review",
            "--format",
            "csv",
            "--output",
            "starts.yaml",
        ],
        more,
    ]
    .concat();
    let (_, said, code) = run(folder, &arguments, answers);
    assert_eq!(code, 0, "{said}");
    let ends = ["no more changes", "stopped"];
    let end = ends.iter().filter_map(|end| said.find(end)).min().unwrap();
    let lines = said[end..].lines().take_while(|line| !line.is_empty());
    let last: Vec<&str> = lines.collect();
    format!("{}{}", &said[..end], last.join("\n"))
}

#[test]
fn each_benchmark_is_shown_with_its_plot_and_proposal() {
    let folder = filled();
    assert_snapshot!(review(folder.path(), &["-b", "level=9"], "\n"), @"
    [1/1] gzip[level=9]
      1.05 s ┤▲▲▲▲▲▲ │
             ┤       │
             ┤       │
             ┤       │
             ┤       │
             ┤       │
      1.02 s ┤       │
             ┤       │
             ┤       │
             ┤      ░│░ ▄▄░▄▄░░░░░░▄▄░▄▄ ░░░  ░ ░  ░░░
             ┤      ▀▀▀▀░░▀░░▀▀▄▄▀▀░░▀░░▀▀▀▀▄▄▀▄▀▄▄▀▀▀
     0.998 s ┤      ░│    ░    ░░    ░    ░░░░ ░ ░░░░
              0      7                               39
    ▀ median of the instances, ░ most of them, │ steady from here, ▲ above (up to 2.02 s)
    warm-up in 4 instances; burn-in costs 13.1 s per instance, bias without → with it +15 % → 0 %
    steady from 7  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    no more changes: starts.yaml is complete; use it with --clean burn_in_file=FILE
    ");
    assert_snapshot!(review(folder.path(), &["-b", "short"], "\n"), @"
    [1/1] short
      1.05 s ┤▲▲▲▲│
             ┤    │
             ┤    │
             ┤    │
             ┤    │
             ┤    │
      1.02 s ┤    │
             ┤    │
             ┤    │
             ┤    │░░░    ░░░░
             ┤    ▀▀▀▀▄▄▄▄▀▀▀▀
     0.999 s ┤    │   ░░░░
              0   1           3
    ▀ median of the instances, ░ most of them, │ steady from here, ▲ above (up to 2.01 s)
    too short in 4 instances; burn-in costs 2.00 s per instance
    steady from 1 (planned)  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    no more changes: starts.yaml is complete; use it with --clean burn_in_file=FILE
    note: not in it: short (too few iterations)
    ");
    assert_snapshot!(read(folder.path(), "starts.yaml"), @r#""gzip[level=9]": 7"#);
}

/// The lines that are no plot.
fn talk(said: &str) -> String {
    let lines = said.lines().filter(|line| !line.contains('┤'));
    let lines = lines.filter(|line| !line.starts_with("     ") && !line.contains("median of"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_change_means_another_look_until_nothing_changes() {
    let folder = filled();
    let answers = "five\n40\n9\nb\n5\n\n\n\n";
    let said = review(folder.path(), &["-b", "gzip", "-b", "sort"], answers);
    assert_snapshot!(talk(&said), @"
    [1/3] gzip[level=1]
    warm-up in 4 instances; burn-in costs 7.03 s per instance, bias without → with it +7.5 % → 0 %
    steady from 4  (Enter keeps, a number changes, s skips, b goes back, q stops): five
    write the number of the first steady iteration, or s, b or q
    steady from 4  (Enter keeps, a number changes, s skips, b goes back, q stops): 40
    its iterations are 0 to 39
    steady from 4  (Enter keeps, a number changes, s skips, b goes back, q stops): 9

    [2/3] gzip[level=9]
    warm-up in 4 instances; burn-in costs 13.1 s per instance, bias without → with it +15 % → 0 %
    steady from 7  (Enter keeps, a number changes, s skips, b goes back, q stops): b

    [1/3] gzip[level=1]
    warm-up in 4 instances; burn-in costs 12.0 s per instance, bias without → with it +7.5 % → 0 %
    steady from 9 (review; found 4)  (Enter keeps, a number changes, s skips, b goes back, q stops): 5

    [2/3] gzip[level=9]
    warm-up in 4 instances; burn-in costs 13.1 s per instance, bias without → with it +15 % → 0 %
    steady from 7  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    [3/3] sort
    flat in 4 instances; burn-in costs 0 s per instance, bias without → with it 0 % → 0 %
    steady from 0  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    changed: gzip[level=1] 4 → 5; review it again

    [1/1] gzip[level=1]
    warm-up in 4 instances; burn-in costs 8.03 s per instance, bias without → with it +7.5 % → 0 %
    steady from 5 (review; found 4)  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    no more changes: starts.yaml is complete; use it with --clean burn_in_file=FILE
    ");
    assert_snapshot!(read(folder.path(), "starts.yaml"), @r#"
    "gzip[level=1]": 5
    "gzip[level=9]": 7
    "sort": 0
    "#);
}

#[test]
fn what_was_answered_is_kept_whenever_it_ends() {
    let folder = filled();
    let said = review(folder.path(), &[], "s\n4\n");
    assert_snapshot!(talk(&said), @"
    [1/5] drift
    no steady state in 4 instances
    never steady  (Enter keeps, a number changes, s skips, b goes back, q stops): s

    [2/5] gzip[level=1]
    warm-up in 4 instances; burn-in costs 7.03 s per instance, bias without → with it +7.5 % → 0 %
    steady from 4  (Enter keeps, a number changes, s skips, b goes back, q stops): 4

    [3/5] gzip[level=9]
    warm-up in 4 instances; burn-in costs 13.1 s per instance, bias without → with it +15 % → 0 %
    steady from 7  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    stopped: starts.yaml has 1 of 5 benchmarks; to continue, run the same command with `--burn-in-file starts.yaml`
    ");
    assert_snapshot!(read(folder.path(), "starts.yaml"), @r#""gzip[level=1]": 4"#);
    // Going on asks for what is not in the file yet.
    let go_on = ["--burn-in-file", "starts.yaml"];
    let said = review(folder.path(), &go_on, "\n\n\ns\n");
    assert_snapshot!(talk(&said), @"
    the burn-in file already has 1 of 5 benchmarks; the others follow

    [1/4] drift
    no steady state in 4 instances
    never steady  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    [2/4] gzip[level=9]
    warm-up in 4 instances; burn-in costs 13.1 s per instance, bias without → with it +15 % → 0 %
    steady from 7  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    [3/4] short
    too short in 4 instances; burn-in costs 2.00 s per instance
    steady from 1 (planned)  (Enter keeps, a number changes, s skips, b goes back, q stops): 

    [4/4] sort
    flat in 4 instances; burn-in costs 0 s per instance, bias without → with it 0 % → 0 %
    steady from 0  (Enter keeps, a number changes, s skips, b goes back, q stops): s

    no more changes: starts.yaml is complete; use it with --clean burn_in_file=FILE
    note: not in it: drift (never reaches a steady state), short (too few iterations)
    note: skipped: sort
    ");
    assert_snapshot!(read(folder.path(), "starts.yaml"), @r#"
    "gzip[level=1]": 4
    "gzip[level=9]": 7
    "#);
    let arguments = ["burn-in", "--review", "--output", "none.yaml", "-b", "sort"];
    let (_, said, _) = run(folder.path(), &arguments, "");
    assert!(said.contains("stopped: nothing was written"), "{said}");
    assert!(!folder.path().join("none.yaml").exists());
}

#[test]
fn a_suite_waits_for_the_end_of_the_review() {
    let folder = filled();
    let before = read(folder.path(), "lapwing.toml");
    review(folder.path(), &["--update-suite"], "\nq\n");
    assert_eq!(read(folder.path(), "lapwing.toml"), before);
    fs::remove_file(folder.path().join("starts.yaml")).unwrap();
    review(folder.path(), &["--update-suite", "-b", "sort"], "3\n\n");
    assert!(read(folder.path(), "lapwing.toml").contains("burn_in = 3"));
}

#[test]
fn a_review_needs_a_file_to_write() {
    let folder = filled();
    assert_snapshot!(lapwing(folder.path(), &["burn-in", "--review"], ""), @"
    error: the following required arguments were not provided:
      --output <FILE>

    Usage: lapwing burn-in --output <FILE> --review

    For more information, try '--help'.
    exit 2
    ");
}
