//! `lapwing plan`: the real program, a real store.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::program::{output, run};
use crate::records_fixture::{Records, holding};
use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

/// A store of three benchmarks: one that varies little, one that varies more between instances than
/// within, and one whose noise is not known because it was measured once.
fn filled() -> TempDir {
    let mut records = Records::default();
    let run_id = records.run(1, "1.0");
    for k in 0..24_u32 {
        let wave = |step: u32| f64::from(k * step % 24) / 24.0 - 0.5;
        let values = |centre: f64, noise: f64| -> Vec<f64> {
            let one = |j: u32| f64::from((k * 31 + j * 17) % 23) / 23.0 - 0.5;
            let value = |j: u32| centre * (1.0 + noise * one(j)) * if j == 0 { 2.0 } else { 1.0 };
            (0..13).map(|j| (value(j) * 1e5).round() / 1e5).collect()
        };
        let quiet = values(10.0 * (1.0 + 0.02 * wave(7)), 0.01);
        records.instance(&run_id, "quiet", k, "node1", "wall_time", &quiet);
        let noisy = values(2.0 * (1.0 + 0.30 * wave(11)), 0.05);
        records.instance(&run_id, "noisy", k, "node1", "wall_time", &noisy);
    }
    records.instance(&run_id, "once", 1, "node1", "wall_time", &[2.0, 1.0]);
    holding(&records.0.text)
}

fn rows(folder: &TempDir, options: &[&str]) -> Vec<Value> {
    let words: Vec<&str> = ["plan", "--format", "json"]
        .into_iter()
        .chain(options.iter().copied())
        .collect();
    let done = output(folder.path(), &words);
    let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
    answer["plan"].as_array().unwrap().clone()
}

#[test]
fn the_cheapest_configurations_come_in_a_sentence_and_a_table() {
    let folder = filled();
    assert_snapshot!(run(folder.path(), &["plan"]), @"
    2 of 3 benchmarks can detect 5 % (cost 23 min)

     benchmark   value  burn-in  instances  iterations            power     cost  outcome
     noisy      1.98 s        1        152           2   100 % [95–100]   20 min
     once       1.00 s        1          –           –                –        –  noise unknown
     quiet      9.99 s        1          4           2  100 % [100–100]  2.7 min

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 24 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    noise unknown (needs 3 instances of 2 iterations, with values above zero): once
    `-o FILE` saves the plan; `lapwing run --plan FILE` runs it

    excluded from 626 iterations: 49 burn-in (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(run(folder.path(), &["plan", "--slowdown", "10%", "--budget", "5min", "--price", "12"]), @"
    1 of 3 benchmarks can detect 10 % within 5.0 min at a price of 1.00 (cost 2.0 min at a price of 0.400)

     benchmark   value  burn-in  instances  iterations            power     cost  outcome
     noisy      1.98 s        1         41           2   100 % [95–100]  5.4 min  beyond budget
     once       1.00 s        1          –           –                –        –  noise unknown
     quiet      9.99 s        1          3           2  100 % [100–100]  2.0 min

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 24 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    beyond the budget: noisy; all of them would need 5.4 min at a price of 1.08 more
    noise unknown (needs 3 instances of 2 iterations, with values above zero): once
    `-o FILE` saves the plan; `lapwing run --plan FILE` runs it

    excluded from 626 iterations: 49 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn a_row_of_json_says_all_of_a_choice() {
    let folder = filled();
    let rows = rows(&folder, &["-b", "quiet"]);
    assert_snapshot!(serde_json::to_string_pretty(&rows[0]).unwrap(), @r#"
    {
      "basis": "simulated",
      "benchmark": "quiet",
      "burn_in": 1,
      "cost": null,
      "cost_seconds": 159.88528694444443,
      "cv_total": 0.006535681019270476,
      "false_positive_rate": 0.06,
      "false_positive_rate_lower": 0.046896472675931965,
      "false_positive_rate_upper": 0.07647107479135655,
      "instances": 4,
      "iterations": 2,
      "method": "paired",
      "metric": "wall_time",
      "needed_cost": null,
      "needed_cost_seconds": null,
      "needed_instances": null,
      "needed_iterations": null,
      "outcome": "planned",
      "pilot_instances": 24,
      "power": 1.0,
      "power_lower": 0.9961732415144449,
      "power_upper": 1.0,
      "reason": null,
      "runs": true,
      "session": null,
      "slowdown": 1.05,
      "strategy": "ibs",
      "suite": "joins",
      "unit": "s",
      "value": 9.993809804432887,
      "variant": "default",
      "version": "1.0"
    }
    "#);
}

#[test]
fn csv_has_a_row_for_each_benchmark_and_slowdown() {
    let folder = filled();
    let arguments = ["plan", "--format", "csv", "--slowdown", "5%,20%"];
    assert_snapshot!(run(folder.path(), &arguments), @r#"
    suite,benchmark,metric,unit,variant,version,session,burn_in,value,cv_total,pilot_instances,slowdown,instances,iterations,power,power_lower,power_upper,false_positive_rate,false_positive_rate_lower,false_positive_rate_upper,cost_seconds,cost,method,strategy,basis,outcome,runs,reason,needed_instances,needed_iterations,needed_cost_seconds,needed_cost
    joins,noisy,wall_time,s,default,1.0,,1,1.9780860963216735,0.08819035442141795,24,1.05,152,2,1.0,0.9505643395327921,1.0,0.055,0.04249742737476844,0.07090838767737563,1206.5910311111113,,paired,ibs,simulated,planned,true,,,,,
    joins,noisy,wall_time,s,default,1.0,,1,1.9780860963216735,0.08819035442141795,24,1.2,12,2,0.998,0.9563345039877078,1.0,0.052,0.03987303628377741,0.06755573931927997,95.25718666666668,,paired,ibs,simulated,planned,false,,,,,
    joins,once,wall_time,s,default,1.0,,1,1.0,0.0,1,1.05,,,,,,,,,,,paired,ibs,,noise_unknown,false,"noise unknown (needs 3 instances of 2 iterations, with values above zero)",,,,
    joins,once,wall_time,s,default,1.0,,1,1.0,0.0,1,1.2,,,,,,,,,,,paired,ibs,,noise_unknown,false,"noise unknown (needs 3 instances of 2 iterations, with values above zero)",,,,
    joins,quiet,wall_time,s,default,1.0,,1,9.993809804432887,0.006535681019270476,24,1.05,4,2,1.0,0.9961732415144449,1.0,0.06,0.046896472675931965,0.07647107479135655,159.88528694444443,,paired,ibs,simulated,planned,true,,,,,
    joins,quiet,wall_time,s,default,1.0,,1,9.993809804432887,0.006535681019270476,24,1.2,3,2,1.0,0.9961732415144449,1.0,0.039,0.028658960904180485,0.052869310419501346,119.91396520833332,,paired,ibs,simulated,planned,false,,,,,
    exit 0
    "#);
}

#[test]
fn a_budget_reaches_the_cheapest_first() {
    let folder = filled();
    let outcomes = |budget: &str| -> Vec<String> {
        let rows = rows(&folder, &["--slowdown", "10%", "--budget", budget]);
        rows.iter()
            .map(|row| {
                format!(
                    "{} {}",
                    row["benchmark"].as_str().unwrap(),
                    row["outcome"].as_str().unwrap()
                )
            })
            .collect()
    };
    assert_eq!(
        outcomes("10h"),
        ["noisy planned", "once noise_unknown", "quiet planned"]
    );
    assert_eq!(
        outcomes("130s"),
        ["noisy beyond_budget", "once noise_unknown", "quiet planned"]
    );
    assert_eq!(
        outcomes("1s"),
        [
            "noisy beyond_budget",
            "once noise_unknown",
            "quiet beyond_budget"
        ]
    );
    let done = output(folder.path(), &["plan", "--budget", "1s"]);
    assert_eq!(done.status.code(), Some(3));
}

#[test]
fn a_plan_is_written_and_run() {
    let folder = filled();
    let wrote = run(
        folder.path(),
        &[
            "plan",
            "-b",
            "quiet",
            "--output",
            "plan.yaml",
            "--quiet",
            "--format",
            "csv",
        ],
    );
    assert!(wrote.ends_with("exit 0"), "{wrote}");
    assert_snapshot!(fs::read_to_string(folder.path().join("plan.yaml")).unwrap(), @"
    - item: quiet
      burn-in-iterations: 1
      mean: 9.993982534722223
      cv: 0.006535681019270476
      config:
      - slowdown: 1.05
        instances: 4
        iterations: 2
    ");
    let suite = "suite = 'joins'\n[benchmark.quiet]\ncommand = ['true']\n";
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    let done = run(folder.path(), &["run", "--plan", "plan.yaml", "--dry-run"]);
    assert!(done.contains("quiet"), "{done}");
    let arguments = [
        "plan",
        "-b",
        "quiet",
        "--quiet",
        "--update-suite",
        "--format",
        "csv",
    ];
    let done = run(folder.path(), &arguments);
    assert!(done.ends_with("exit 0"), "{done}");
    assert_snapshot!(fs::read_to_string(folder.path().join("lapwing.toml")).unwrap(), @"
    suite = 'joins'
    [benchmark.quiet]
    command = ['true']
    instances = 4
    iterations = 2
    ");
    let arguments = [
        "plan",
        "-b",
        "quiet",
        "--output",
        "book.yaml",
        "--flavour",
        "notebook",
    ];
    run(folder.path(), &arguments);
    let book = fs::read_to_string(folder.path().join("book.yaml")).unwrap();
    assert!(book.contains("\n  burn_in: 1\n"), "{book}");
}

#[test]
fn a_benchmark_of_two_settings_has_the_entry_that_takes_most() {
    let mut records = Records::default();
    for (day, version, noise) in [(1, "quiet", 0.01), (2, "noisy", 0.2)] {
        let run_id = records.run(day, version);
        for k in 0..12_u32 {
            let centre = 1.0 + noise * (f64::from(k * 5 % 12) / 12.0 - 0.5);
            let values: Vec<f64> = (0..6)
                .map(|j| centre + 0.001 * f64::from((k + j) % 3))
                .collect();
            records.instance(&run_id, "join", k, "node1", "wall_time", &values);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.jsonl"), &records.0.text).unwrap();
    run(folder.path(), &["import", "in.jsonl"]);
    let settings = ["--settings", "each", "--output", "plan.yaml"];
    let arguments: Vec<&str> = ["plan"].into_iter().chain(settings).collect();
    let done = run(folder.path(), &arguments);
    assert!(
        done.contains("the plan has one entry per benchmark"),
        "{done}"
    );
    let plan = fs::read_to_string(folder.path().join("plan.yaml")).unwrap();
    assert_eq!(plan.matches("item: join").count(), 1, "{plan}");
    let instances = plan
        .lines()
        .find_map(|line| line.trim().strip_prefix("instances: "));
    assert!(instances.unwrap().parse::<u32>().unwrap() > 10, "{plan}");
}

#[test]
fn a_grid_is_only_searched_as_hail() {
    let folder = filled();
    let done = run(folder.path(), &["plan", "--grid", "slowdowns=10%"]);
    assert_snapshot!(done, @"
    error: --grid is what --compat hail searches
      hint: use --slowdown for the slowdown to detect, and --max-instances and --max-iterations for limits
    exit 2
    ");
}

#[test]
fn what_is_planned_is_drawn_beside_what_could_be_detected() {
    let folder = filled();
    let done = run(
        folder.path(),
        &["plan", "--plot", "plan.svg", "--format", "csv"],
    );
    assert!(done.ends_with("exit 0"), "{done}");
    let svg = fs::read_to_string(folder.path().join("plan.svg")).unwrap();
    for text in [
        "What is planned to detect 5 %, beside what other configurations detect",
        "All of this is by formula.",
        ">noisy<",
        ">planned<",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    let row = done.lines().find(|it| it.contains(",noisy,")).unwrap();
    let cells: Vec<&str> = row.split(',').collect();
    let planned = format!("{} × {}", cells[12], cells[13]);
    assert!(svg.contains(&format!(">{planned}<")), "{planned} in {svg}");

    let plot = ["plan", "-b", "noisy", "--plot", "one.svg"];
    run(folder.path(), &plot);
    let svg = fs::read_to_string(folder.path().join("one.svg")).unwrap();
    let title = format!("noisy: {planned} is planned to detect 5 %");
    let axis = format!(">{} (planned)<", cells[12]);
    for text in [&title, &axis] {
        assert!(svg.contains(text.as_str()), "{text} in {svg}");
    }
}

#[test]
fn as_hail_the_grid_is_searched_from_a_threshold_on() {
    let folder = filled();
    fs::write(folder.path().join("b.json"), r#"{"quiet": 1, "noisy": 1}"#).unwrap();
    let arguments = [
        "--compat",
        "hail",
        "--clean",
        "burn_in_file=b.json",
        "--clean",
        "min_instances=10",
        "--clean",
        "min_iterations=10",
        "--grid",
        "instances=5,10",
        "--grid",
        "iterations=3,6",
    ];
    let rows = rows(&folder, &arguments);
    let brief = |row: &Value| {
        let keys = [
            "benchmark",
            "slowdown",
            "instances",
            "iterations",
            "outcome",
            "method",
        ];
        keys.map(|key| row[key].to_string()).join(" ")
    };
    let brief: Vec<String> = rows.iter().map(brief).collect();
    assert_snapshot!(brief.join("\n"), @r#"
    "noisy" 1.2 10 3 "planned" "laaber"
    "quiet" 1.1 5 3 "planned" "laaber"
    "once" null null null "no_values" "laaber"
    "#);
}

#[test]
fn people_review_what_was_chosen() {
    let folder = filled();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args([
            "plan",
            "--slowdown",
            "10%",
            "--review",
            "--output",
            "plan.yaml",
        ])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"12 x 4\nnonsense\n\ns\n\n")
        .unwrap();
    let done = child.wait_with_output().unwrap();
    assert_snapshot!(String::from_utf8(done.stderr).unwrap(), @"

    [1/3] noisy
    burn-in 1, mean 1.99 s, cv 8.8 %
    10 %: 41 instances × 2 iterations: power 100 % [95–100], false positives 3.4 %, cost 5.4 min
    Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: 12 x 4

    [1/3] noisy
    burn-in 1, mean 1.99 s, cv 8.8 %
    10 %: 12 instances × 4 iterations: power 66 % [46–82], false positives 4.8 %, cost 2.4 min
    Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: nonsense
    write two numbers such as `10 x 5`: instances, and iterations of each
    Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: 

    [2/3] once
    burn-in 1, mean 1.00 s, cv 0 %
    10 %: its noise is unknown, and so is what would detect this
    Enter skips, `10 x 5` plans it, b goes back, q stops: s

    [3/3] quiet
    burn-in 1, mean 9.99 s, cv 0.65 %
    10 %: 3 instances × 2 iterations: power 100 % [100–100], false positives 3.9 %, cost 2.0 min
    Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: 
    plan.yaml has 2 benchmarks; `lapwing run --plan plan.yaml` runs it
    ");
    let plan = fs::read_to_string(folder.path().join("plan.yaml")).unwrap();
    assert!(
        plan.contains("- item: noisy\n") && plan.contains("instances: 12\n"),
        "{plan}"
    );
}

#[test]
fn wrong_wishes_are_errors_that_say_what_to_write() {
    let folder = filled();
    let of = |options: &[&str]| {
        let words: Vec<&str> = ["plan"]
            .into_iter()
            .chain(options.iter().copied())
            .collect();
        let done = run(folder.path(), &words);
        let first: Vec<&str> = done
            .lines()
            .filter(|line| {
                line.starts_with("error") || line.contains("hint") || line.starts_with("exit")
            })
            .collect();
        first.join("\n")
    };
    assert_snapshot!(of(&["--budget", "50"]), @"
    error: --budget 50 is a sum of money, but the price of an hour is unknown
      hint: give --price, or write machine time such as 20h
    exit 2
    ");
    assert_snapshot!(of(&["--budget", "-2h"]), @"
    error: unexpected argument '-2' found
    exit 2
    ");
    assert_snapshot!(of(&["--slowdown", "0.9"]), @"
    error: invalid value '0.9' for '--slowdown <SLOWDOWN>': write a slowdown such as 10% or 1.1, or 1 for none
    exit 2
    ");
    assert_snapshot!(of(&["--power", "100%"]), @"
    error: invalid value '100%' for '--power <SHARE>': write a share above 0 % and below 100 %, such as 5% or 0.05
    exit 2
    ");
    assert_snapshot!(of(&["--price", "0"]), @"
    error: invalid value '0' for '--price <MONEY>': write a sum of money above 0
    exit 2
    ");
    assert_snapshot!(of(&["--output", "no/plan.yaml"]), @"
    error: folder `no` does not exist
      hint: create it, or name another file
    exit 2
    ");
    assert_snapshot!(of(&["-b", "nosuch"]), @"
    error: no benchmark `nosuch`; did you mean `noisy`?
      hint: `lapwing list benchmarks` lists them
    exit 2
    ");
    assert_snapshot!(of(&["-b", "once"]), @"exit 3");
}

#[test]
fn the_same_seed_gives_the_same_plan_whatever_the_threads() {
    let folder = filled();
    let with = |threads: &str| {
        let done = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(["plan", "--slowdown", "10%", "--format", "csv"])
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    assert_eq!(with("1"), with("3"));
}
