//! `lapwing plan --review` and `-o`: what people say, and where it goes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{output, run};
use crate::records_fixture::{Records, holding};
use insta::assert_snapshot;
use tempfile::TempDir;

/// A store of a benchmark whose noise is known, and one that was measured once.
fn filled() -> TempDir {
    let mut records = Records::default();
    let run_id = records.run(1, "1.0");
    for k in 0..12 {
        let centre = 2.0 + 0.1 * (f64::from(k * 5 % 12) / 12.0 - 0.5);
        let noise = |j: u32| f64::from((k * 7 + j * 13) % 11) / 11.0 - 0.5;
        let value = |j: u32| centre * (1.0 + 0.01 * noise(j)) * if j == 0 { 2.0 } else { 1.0 };
        let values: Vec<f64> = (0..5).map(|j| (value(j) * 1e4).round() / 1e4).collect();
        records.instance(&run_id, "join", k, "node1", "wall_time", &values);
    }
    records.instance(&run_id, "once", 1, "node1", "wall_time", &[2.0, 1.0]);
    holding(&records.0.text)
}

/// Answers a review, and returns what it says beside the answer, the answer's first sentence, and the exit code.
fn review(folder: &Path, answers: &str) -> (String, String) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(["plan", "--review", "--output", "plan.yaml"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever is refused at once reads no answers.
    let _unread = child.stdin.take().unwrap().write_all(answers.as_bytes());
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    let answer = String::from_utf8(done.stdout).unwrap();
    let first = answer.lines().next().unwrap_or_default();
    (
        said,
        format!("{first}\nexit {}", done.status.code().unwrap()),
    )
}

#[test]
fn a_benchmark_of_unknown_noise_is_planned_as_somebody_types() {
    let folder = filled();
    let (said, end) = review(folder.path(), "\n10 x 5\n\n");
    assert_snapshot!(said, @"

    [1/2] join
    burn-in 1, mean 1.99 s, cv 1.4 %
    5 %: 8 instances × 2 iterations: power 100 % [97–100], false positives 4.2 %, cost 1.1 min
    Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: 

    [2/2] once
    burn-in 1, mean 1.00 s, cv 0 %
    5 %: its noise is unknown, and so is what would detect this
    Enter skips, `10 x 5` plans it, b goes back, q stops: 10 x 5

    [2/2] once
    burn-in 1, mean 1.00 s, cv 0 %
    5 %: 10 instances × 5 iterations: power unknown, cost 1.2 min
    Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: 
    plan.yaml has 2 benchmarks; `lapwing run --plan plan.yaml` runs it
    ");
    assert_snapshot!(end, @"
    1 of 2 benchmarks can detect 5 % (cost 2.2 min)
    exit 0
    ");
    let plan = fs::read_to_string(folder.path().join("plan.yaml")).unwrap();
    assert!(
        plan.contains("- item: once\n") && plan.contains("instances: 10\n    iterations: 5\n"),
        "{plan}"
    );
}

#[test]
fn what_was_skipped_is_shown_as_skipped() {
    let folder = filled();
    let (said, end) = review(folder.path(), "s\nb\ns\n\n");
    assert!(said.contains("[1/2] join (skipped)\n"), "{said}");
    assert!(!folder.path().join("plan.yaml").exists());
    assert_snapshot!(end, @"
    none of 2 benchmarks can detect 5 %; 1 skipped
    exit 3
    ");
}

#[test]
fn where_all_was_skipped_nothing_is_planned_and_nothing_else_is_claimed() {
    let folder = filled();
    let (said, end) = review(folder.path(), "s\ns\n");
    assert!(said.ends_with("\nnothing was written\n"), "{said}");
    assert_snapshot!(end, @"
    every benchmark was skipped: the plan is empty
    exit 0
    ");
}

#[test]
fn who_stops_keeps_the_answers_so_far() {
    for answers in ["7 x 4\n\nq\n", "7 x 4\n\n"] {
        let folder = filled();
        let (said, end) = review(folder.path(), answers);
        assert!(
            said.contains("stopped at 2 of 2; the answers so far are kept. To continue with the others, add `-b once` to the same command"),
            "{said}"
        );
        assert!(end.ends_with("exit 130"), "{end}");
        let plan = fs::read_to_string(folder.path().join("plan.yaml")).unwrap();
        assert!(
            plan.contains("- item: join\n") && plan.contains("instances: 7\n    iterations: 4\n"),
            "{plan}"
        );
        assert!(!plan.contains("once"), "{plan}");
    }
    let folder = filled();
    let (said, end) = review(folder.path(), "q\n");
    assert!(said.ends_with("nothing was written\n"), "{said}");
    assert!(end.ends_with("exit 130"), "{end}");
    assert!(!folder.path().join("plan.yaml").exists());
}

#[test]
fn what_cannot_be_written_is_told_before_the_search() {
    let folder = filled();
    fs::create_dir(folder.path().join("there")).unwrap();
    assert_snapshot!(run(folder.path(), &["plan", "--output", "there"]), @"
    error: `there` is a folder
      hint: name a file, such as there/plan.yaml
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["plan", "--output", "/proc/plan.yaml"]), @"
    error: `/proc/plan.yaml` cannot be written: entity not found
      hint: name another file, or check the permissions of its folder
    exit 2
    ");
}

#[test]
fn a_plan_goes_to_standard_output_in_place_of_the_answer() {
    let folder = filled();
    let done = output(
        folder.path(),
        &["plan", "--slowdown", "10%", "--output", "-"],
    );
    assert_snapshot!(String::from_utf8(done.stdout).unwrap(), @"
    - item: join
      burn-in-iterations: 1
      mean: 1.9949125
      cv: 0.014390538410820426
      config:
      - slowdown: 1.1
        instances: 4
        iterations: 2
    ");
    assert_snapshot!(String::from_utf8(done.stderr).unwrap(), @"1 of 2 benchmarks can detect 10 % (cost 31.9 s)");
    assert!(!folder.path().join("-").exists());
    assert_snapshot!(run(folder.path(), &["plan", "--output", "-", "--format", "csv"]), @"
    error: -o - and --format both write to standard output
      hint: omit one of them, or write the plan to a file
    exit 2
    ");
}

#[test]
fn a_typed_configuration_counts_for_the_slowdowns_that_it_detects() {
    let folder = filled();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(["plan", "-b", "join", "--slowdown", "0.5%,10%", "--review"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"12 x 4\n\n")
        .unwrap();
    let done = child.wait_with_output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert_snapshot!(text.lines().next().unwrap_or_default(), @"join cannot detect 0.5 %, it can detect 10 % (cost 2.4 min)");
}

#[test]
fn a_typed_configuration_is_simulated_where_enough_was_measured() {
    let folder = filled();
    let (said, _) = review(folder.path(), "4 x 3\n5 x 2\n40 x 5\nq\n");
    let shown: Vec<&str> = said.lines().filter(|it| it.starts_with("5 %:")).collect();
    assert_snapshot!(shown.join("\n"), @"
    5 %: 8 instances × 2 iterations: power 100 % [97–100], false positives 4.2 %, cost 1.1 min
    5 %: 4 instances × 3 iterations: power 86 % [57–98], false positives 6.1 %, cost 39.9 s
    5 %: 5 instances × 2 iterations: power 97 % [78–100], false positives 5.9 %, cost 39.9 s
    5 %: 40 instances × 5 iterations: power 100 % [100–100], false positives 5.3 %, cost 9.3 min
    ");
}

#[test]
fn a_choice_by_formula_says_which_simulation_contradicts_it() {
    let folder = filled();
    let options = [
        "plan",
        "-b",
        "join",
        "--method",
        "schultz",
        "--slowdown",
        "50%",
        "--experiments",
        "200",
    ];
    assert_snapshot!(run(folder.path(), &options), @"
    join can detect 50 % (cost 1.1 min)

     benchmark   value  burn-in  instances  iterations           power     cost
     join       1.99 s        1          8           2  100 % [98–100]  1.1 min

    power 95 %, by the interval of the ratio (schultz), different instances on the
    two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 12 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    `-o FILE` saves the plan; `lapwing run --plan FILE` runs it

    excluded from 60 iterations: 12 burn-in (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(run(folder.path(), &[&options[..], &["--format", "csv"]].concat()), @"
    suite,benchmark,metric,unit,variant,version,session,burn_in,value,cv_total,pilot_instances,slowdown,instances,iterations,power,power_lower,power_upper,false_positive_rate,false_positive_rate_lower,false_positive_rate_upper,cost_seconds,cost,method,strategy,basis,outcome,runs,reason,needed_instances,needed_iterations,needed_cost_seconds,needed_cost
    joins,join,wall_time,s,default,1.0,,1,1.9947130199960763,0.014390538410820426,12,1.5,8,2,1.0,0.9811546736227333,1.0,0.06,0.03465219425433187,0.10193169295766269,63.82573333333333,,schultz,ibs,simulated,planned,true,,,,,
    exit 0
    ");
}
