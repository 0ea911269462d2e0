//! `lapwing plan` where a wish cannot be met, or something is not known.

use crate::program::{output, run};
use crate::records_fixture::{Records, holding};
use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

/// Values around a centre whose instances differ by so much, and iterations by a tenth of it.
fn values(centre: f64, noise: f64, k: u32) -> Vec<f64> {
    let instance = f64::from(k * 11 % 24) / 24.0 - 0.5;
    let one = |j: u32| f64::from((k * 31 + j * 17) % 23) / 23.0 - 0.5;
    let value = |j: u32| centre * (1.0 + noise * instance) * (1.0 + noise / 10.0 * one(j));
    (0..9).map(|j| (value(j) * 1e5).round() / 1e5).collect()
}

/// A store with a benchmark of each noise, 24 instances of each.
fn noises(all: &[(&str, f64)]) -> TempDir {
    let mut records = Records::default();
    let run_id = records.run(1, "1.0");
    for k in 0..24 {
        for (id, noise) in all {
            records.instance(
                &run_id,
                id,
                k,
                "node1",
                "wall_time",
                &values(2.0, *noise, k),
            );
        }
    }
    holding(&records.0.text)
}

fn answer(folder: &TempDir, options: &[&str]) -> Value {
    let words = [&["plan", "--format", "json"], options].concat();
    serde_json::from_slice(&output(folder.path(), &words).stdout).unwrap()
}

/// Returns these keys of each row.
fn rows(answer: &Value, keys: &[&str]) -> Vec<String> {
    let rows = answer["plan"].as_array().unwrap().iter();
    let shown = |value: &Value| match value.as_f64() {
        Some(number) if number.fract() != 0.0 => format!("{number:.2}"),
        _ => value.to_string().replace('"', ""),
    };
    rows.map(|row| {
        let cells = keys.iter().map(|key| shown(&row[*key]));
        cells.collect::<Vec<_>>().join(" ")
    })
    .collect()
}

#[test]
fn a_wish_that_cannot_be_met_has_what_comes_closest_and_what_it_would_take() {
    let folder = noises(&[("calm", 0.01), ("wild", 0.4)]);
    let options = ["--slowdown", "5%", "--max-instances", "10", "--price", "2"];
    let words = [&["plan"], &options[..]].concat();
    assert_snapshot!(run(folder.path(), &words), @"
    1 of 2 benchmarks can detect 5 % (cost 18.0 s at a price of 0.0100)

     benchmark   value  burn-in  instances  iterations            power    cost  outcome
     calm       2.00 s        1          3           2  100 % [100–100]  18.0 s
     wild       1.97 s        1          9           2      11 % [8–16]  53.5 s  not enough

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 24 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    not possible with at most 10 × 50 (--max-instances, --max-iterations): wild
    (needs 246 × 2, 24 min)
    for these the table shows the closest configuration
    `-o FILE` saves the plan; `lapwing run --plan FILE` runs it

    excluded from 432 iterations: 48 burn-in (`--audit` shows which)
    exit 0
    ");
    let answer = answer(&folder, &options);
    let keys = [
        "benchmark",
        "instances",
        "iterations",
        "power",
        "cost_seconds",
        "outcome",
        "runs",
        "reason",
        "needed_instances",
        "needed_iterations",
        "needed_cost_seconds",
        "needed_cost",
    ];
    assert_snapshot!(rows(&answer, &keys).join("\n"), @"
    calm 3 2 1.0 18.00 planned true null null null null null
    wild 9 2 0.11 53.50 too_many_instances false not possible with at most 10 × 50 (--max-instances, --max-iterations) 246 2 1462.20 0.81
    ");
}

#[test]
fn false_positives_that_nothing_makes_rare_enough_are_the_reason() {
    let folder = noises(&[("wild", 0.4)]);
    let options = ["--slowdown", "20%", "--alpha", "1%", "--confidence", "95%"];
    let words = [&["plan"], &options[..]].concat();
    assert_snapshot!(run(folder.path(), &words), @"
    wild cannot detect 20 %

     benchmark   value  burn-in  instances  iterations           power     cost  outcome
     wild       1.97 s        1         27           2  100 % [99–100]  2.7 min  false alarms

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 1 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 24 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    more than 1 % false positives with every configuration (--confidence 99% has
    fewer): wild (no number of instances is enough)
    for these the table shows the closest configuration
    next: `lapwing mds` shows what is detectable, and with how many instances and
    iterations

    excluded from 216 iterations: 24 burn-in (`--audit` shows which)
    exit 3
    ");
}

#[test]
fn each_slowdown_is_counted_by_itself_and_it_is_said_which_is_run() {
    let folder = noises(&[("calm", 0.01), ("wild", 0.4)]);
    let options = ["--slowdown", "0.5%,20%", "--max-instances", "12"];
    let words = [&["plan"], &options[..]].concat();
    assert_snapshot!(run(folder.path(), &words), @"
    none of 2 benchmarks can detect 0.5 %, 1 can detect 20 % (cost 18.0 s)

     benchmark   value  burn-in  slowdown  instances  iterations            power     cost  outcome
     calm       2.00 s        1     0.5 %         12           2    96 % [84–100]  1.2 min  not enough
     calm       2.00 s        1      20 %          3           2  100 % [100–100]   18.0 s
     wild       1.97 s        1     0.5 %          3           2      5.6 % [4–7]   17.8 s  not enough
     wild       1.97 s        1      20 %         12           2     94 % [75–99]  1.2 min  not enough

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 24 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    0.5 %: not possible with at most 12 × 50 (--max-instances, --max-iterations):
    calm (needs 18 × 2, 1.8 min), wild (needs 23,328 × 2, 39 h)
    20 %: not possible with at most 12 × 50 (--max-instances, --max-iterations):
    wild (needs 22 × 2, 2.2 min)
    for these the table shows the closest configuration
    planned for a larger slowdown only: calm (20 %, not 0.5 %)
    `-o FILE` saves the plan; `lapwing run --plan FILE` runs it

    excluded from 432 iterations: 48 burn-in (`--audit` shows which)
    exit 0
    ");
    let answer = answer(&folder, &options);
    let keys = ["benchmark", "slowdown", "outcome", "runs"];
    assert_snapshot!(rows(&answer, &keys).join("\n"), @"
    calm 1.00 too_many_instances false
    calm 1.20 planned true
    wild 1.00 too_many_instances false
    wild 1.20 too_many_instances false
    ");
}

#[test]
fn a_budget_says_of_what_it_is_not_known_whether_it_reaches() {
    let mut records = Records::default();
    let run_id = records.run(1, "1.0");
    for k in 0..24 {
        records.instance(
            &run_id,
            "timed",
            k,
            "node1",
            "wall_time",
            &values(2.0, 0.1, k),
        );
        records.instance(&run_id, "untimed", k, "node1", "rate", &values(2.0, 0.1, k));
    }
    let folder = holding(&records.0.text);
    let of = |options: &[&str]| {
        let answer = answer(&folder, options);
        rows(&answer, &["benchmark", "cost_seconds", "outcome", "runs"]).join("\n")
    };
    assert_snapshot!(of(&["--slowdown", "10%"]), @"
    timed 41.90 planned true
    untimed null planned true
    ");
    assert_snapshot!(of(&["--slowdown", "10%", "--budget", "9h"]), @"
    timed 41.90 planned true
    untimed null cost_unknown false
    ");
    assert_snapshot!(run(folder.path(), &["plan", "--slowdown", "10%", "--budget", "9h", "--price", "0.001"]), @"
    1 of 2 benchmarks can detect 10 % within 9.0 h at a price of 0.00900 (cost 41.9 s at a price of 1.16e−5)

     benchmark  metric        value  burn-in  instances  iterations           power    cost  outcome
     timed      wall_time    1.99 s        1          7           2  100 % [97–100]  41.9 s
     untimed    rate       1.99 1/s        1          7           2  100 % [98–100]       –  cost unknown

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 24 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    no wall time was recorded, so the cost is unknown and these are not planned:
    untimed
    `-o FILE` saves the plan; `lapwing run --plan FILE` runs it

    excluded from 432 iterations: 48 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn benchmarks_and_their_metrics_are_not_the_same_number() {
    let mut records = Records::default();
    let run_id = records.run(1, "1.0");
    for k in 0..24 {
        for id in ["join", "sort"] {
            records.instance(&run_id, id, k, "node1", "wall_time", &values(2.0, 0.1, k));
            records.instance(&run_id, id, k + 24, "node1", "rate", &values(50.0, 0.02, k));
        }
    }
    let folder = holding(&records.0.text);
    let words = [
        "plan",
        "--slowdown",
        "10%",
        "--metric",
        "wall_time",
        "--metric",
        "rate",
    ];
    let said = run(folder.path(), &words);
    let first = said.lines().next().unwrap();
    assert_snapshot!(first, @"all 2 benchmarks (4 metrics) can detect 10 % (cost 1.4 min)");
}

#[test]
fn what_came_to_nothing_is_named_with_its_reason() {
    let mut records = Records::default();
    let run_id = records.run(1, "1.0");
    for k in 0..12 {
        records.instance(
            &run_id,
            "calm",
            k,
            "node1",
            "wall_time",
            &values(2.0, 0.01, k),
        );
        records.instance(&run_id, "failing", k, "node1", "wall_time", &[f64::NAN; 5]);
        records.instance(&run_id, "zero", k, "node1", "wall_time", &[0.0; 5]);
    }
    let folder = holding(&records.0.text);
    assert_snapshot!(run(folder.path(), &["plan"]), @"
    1 of 3 benchmarks can detect 5 % (cost 18.0 s)

     benchmark   value  burn-in  instances  iterations            power    cost
     calm       2.00 s        1          3           2  100 % [100–100]  18.0 s

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 12 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    not analysed: failing (no iteration succeeded); zero (all values are zero, so
    ratios are undefined)
    `-o FILE` saves the plan; `lapwing run --plan FILE` runs it

    excluded from 228 iterations: 36 burn-in, 48 failed (`--audit` shows which)
    exit 0
    ");
    let all = answer(&folder, &[]);
    let keys = [
        "benchmark",
        "metric",
        "slowdown",
        "instances",
        "outcome",
        "runs",
        "reason",
    ];
    assert_snapshot!(rows(&all, &keys).join("\n"), @"
    calm wall_time 1.05 3 planned true null
    failing wall_time 1.05 null no_values false no iteration succeeded
    zero wall_time 1.05 null no_values false all values are zero, so ratios are undefined
    ");
    assert_snapshot!(run(folder.path(), &["plan", "-b", "zero", "-b", "failing"]), @"
    error: no usable values: failing (no iteration succeeded); zero (all values are zero, so ratios are undefined)
      hint: `lapwing report` shows what was measured, and why it failed
    exit 3
    ");
    let none = answer(&folder, &["-b", "zero"]);
    assert_eq!(none["answer"], "error");
}

#[test]
fn what_was_passed_over_is_told_where_the_latest_is_too_little() {
    let mut records = Records::default();
    let (old, new) = (records.run(1, "1.0"), records.run(2, "2.0"));
    for k in 0..12 {
        records.instance(&old, "join", k, "node1", "wall_time", &values(2.0, 0.05, k));
    }
    records.instance(&new, "join", 0, "node1", "wall_time", &values(2.0, 0.05, 0));
    let folder = holding(&records.0.text);
    assert_snapshot!(run(folder.path(), &["plan"]), @"
    too few measurements of join to plan for 5 %

     benchmark   value  burn-in  instances  iterations  power  cost  outcome
     join       1.95 s        1          –           –      –     –  noise unknown

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    noise unknown (needs 3 instances of 2 iterations, with values above zero): join
    only the latest version of each variant is used, and for some its noise is
    unknown; an older one is not used: `--settings pooled` combines all,
    `--settings each` uses each separately

    excluded from 9 iterations: 1 burn-in (`--audit` shows which)
    exit 3
    ");
    assert_eq!(answer(&folder, &[])["older_versions"], 1);
    let pooled = run(folder.path(), &["plan", "--settings", "pooled"]);
    assert!(
        pooled.contains("join can detect 5 %") && !pooled.contains("passed over"),
        "{pooled}"
    );
}

#[test]
fn too_few_experiments_are_refused() {
    let folder = noises(&[("calm", 0.02)]);
    assert_snapshot!(run(folder.path(), &["plan", "--experiments", "10"]), @"
    error: 10 experiments are too few to show a power of 95 %; use at least 73
      hint: --experiments 73 is enough
    exit 2
    ");
    let certain = run(
        folder.path(),
        &["plan", "--power", "99.99%", "--format", "json"],
    );
    assert!(certain.ends_with("exit 2"), "{certain}");
}

#[test]
fn what_is_too_dear_for_the_smallest_slowdown_is_planned_for_a_larger_one() {
    let folder = noises(&[("calm", 0.02), ("wild", 0.1)]);
    let all = answer(&folder, &["--slowdown", "1%,20%", "--budget", "50s"]);
    let keys = ["benchmark", "slowdown", "outcome", "runs"];
    assert_snapshot!(rows(&all, &keys).join("\n"), @"
    calm 1.01 beyond_budget false
    calm 1.20 planned true
    wild 1.01 too_many_instances false
    wild 1.20 planned true
    ");
    let text = run(
        folder.path(),
        &["plan", "--slowdown", "1%,20%", "--budget", "50s"],
    );
    assert_snapshot!(text, @"
    none of 2 benchmarks can detect 1 %, both can detect 20 % within 50.0 s (cost 41.9 s)

     benchmark   value  burn-in  slowdown  instances  iterations            power     cost  outcome
     calm       2.00 s        1       1 %         18           2   100 % [97–100]  1.8 min  beyond budget
     calm       2.00 s        1      20 %          3           2  100 % [100–100]   18.0 s
     wild       1.99 s        1       1 %        196           2     91 % [73–99]   20 min  not enough
     wild       1.99 s        1      20 %          4           2   100 % [99–100]   23.9 s

    power 95 %, by the test of `lapwing compare` (paired), different instances on
    the two sides (ibs), false positives at most 5 % as far as the simulation shows;
    costs are for one version
    power rests on a pilot of 24 instances; […]: its range, as the noise is not
    known better; 90 % of such plans have a power of 95 % or more
    1 %: not possible with at most 200 × 50 (--max-instances, --max-iterations):
    wild (needs 358 × 2, 36 min)
    for these the table shows the closest configuration
    planned for a larger slowdown only: calm (20 %, not 1 %), wild (20 %, not 1 %)
    `-o FILE` saves the plan; `lapwing run --plan FILE` runs it

    excluded from 432 iterations: 48 burn-in (`--audit` shows which)
    exit 0
    ");
}

/// Twelve benchmarks fit if each is planned for the larger slowdown; the smaller one for the first of them would take
/// too much.
#[test]
fn a_budget_reaches_as_many_benchmarks_as_fit_before_smaller_slowdowns() {
    let names: Vec<String> = (0..12).map(|k| format!("b{k:02}")).collect();
    let noises: Vec<(&str, f64)> = names.iter().map(|it| (it.as_str(), 0.1)).collect();
    let folder = self::noises(&noises);
    let cost = |slowdown: &str| answer(&folder, &["--slowdown", slowdown])["cost_seconds"].as_f64();
    let (large, small) = (cost("10%").unwrap(), cost("5%").unwrap());
    // Enough for all with 10 %, and for three of them with 5 %.
    let budget = format!("{:.0}s", large + 3.5 * (small - large) / 12.0);
    let all = answer(&folder, &["--slowdown", "5%,10%", "--budget", &budget]);
    let runs = |slowdown: f64| {
        let rows = all["plan"].as_array().unwrap().iter();
        rows.filter(|it| it["runs"] == true && it["slowdown"] == slowdown)
            .count()
    };
    assert_eq!((runs(1.05), runs(1.1)), (3, 9));
    assert!(all["cost_seconds"].as_f64() <= all["budget_seconds"].as_f64());
}
