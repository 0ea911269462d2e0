//! `lapwing burn-in` by the real program: its answer and its picture.

use std::fs;

use crate::burn_in_fixture;
use crate::burn_in_fixture::{filled, lapwing, read, run};
use insta::assert_snapshot;

#[test]
fn the_answer_is_a_sentence_a_table_and_what_to_do_next() {
    let folder = filled();
    let ask = |more: &[&str]| lapwing(folder.path(), &[&["burn-in"], more].concat(), "");
    assert_snapshot!(ask(&[]), @"
    3 of 5 benchmarks reach a steady state, 1 never does, 1 has too few iterations; burn-in takes 19 % of the measured time

     benchmark      class            steady from  planned  instances    cost  bias
     drift          no steady state  never              1          4       –  –
     gzip[level=1]  warm-up          4                  1          4  7.03 s  +7.5 % → 0 %
     gzip[level=9]  warm-up          7                  1          4  13.1 s  +15 % → 0 %
     short          too short        1 (planned)        1          4  2.00 s  –
     sort           flat             0                  1          4     0 s  0 % → 0 %

    steady from: the first iteration after burn-in, counted from 0; cost: burn-in
    per instance
    bias: distance of the mean from the steady level, with burn-in → without it
    note: never steady, fix or retire: drift;
    `lapwing burn-in --benchmark drift --plot FILE.html` shows it
    note: too few iterations: short (4 iterations); needs at least 20 per instance,
    burn-in included
    note: the planned burn-in is too short: gzip[level=1] (1 → 4), gzip[level=9] (1
    → 7); --update-suite writes these to the suite, -o to a file for --clean
    burn_in_file=FILE
    exit 0
    ");
    assert_snapshot!(ask(&["--quiet", "-b", "sort"]), @"
    sort is steady from its first iteration on; no burn-in is needed

     benchmark  class  steady from  planned  instances  cost  bias
     sort       flat   0                  1          4   0 s  0 % → 0 %
    exit 0
    ");
    assert_snapshot!(ask(&["--quiet", "-b", "drift"]), @"
    drift never reaches a steady state

     benchmark  class            steady from  planned  instances  cost  bias
     drift      no steady state  never              1          4     –  –
    exit 0
    ");
    assert_snapshot!(ask(&["--quiet", "-b", "short"]), @"
    short has too few iterations, so its planned burn-in applies; burn-in takes 40 % of the measured time

     benchmark  class      steady from  planned  instances    cost  bias
     short      too short  1 (planned)        1          4  2.00 s  –
    exit 0
    ");
    assert_snapshot!(ask(&["--quiet", "--format", "markdown", "-b", "gzip"]), @r"
    both benchmarks reach a steady state; burn-in takes 22 % of the measured time

    | benchmark | class | steady from | planned | instances | cost | bias |
    |---|---|---|---:|---:|---:|---|
    | gzip\[level=1\] | warm-up | 4 | 1 | 4 | 7.03 s | +7.5 % → 0 % |
    | gzip\[level=9\] | warm-up | 7 | 1 | 4 | 13.1 s | +15 % → 0 % |

    note: the planned burn-in is too short: gzip\[level=1\] (1 → 4), gzip\[level=9\] (1 → 7); --update-suite writes these to the suite, -o to a file for --clean burn_in_file=FILE
    exit 0
    ");
}

#[test]
fn programs_get_every_number() {
    let folder = filled();
    let ask = |more: &[&str]| lapwing(folder.path(), &[&["burn-in", "--quiet"], more].concat(), "");
    assert_snapshot!(ask(&["--format", "csv"]), @"
    benchmark,suite,metric,unit,class,start,found,wanted,source,planned,instances,never_steady,too_short,cost,total,bias_without_burn_in,transient_bias,remaining_bias,drifting,not_used
    drift,compressors,wall_time,s,no_steady_state,,,,found,1,4,4,0,,59.778094749999994,,,,false,0
    gzip[level=1],compressors,wall_time,s,warm_up,4,4,4,found,1,4,0,0,7.028548499999999,43.198710999999996,0.07488702007256715,0.0,0.0,false,0
    gzip[level=9],compressors,wall_time,s,warm_up,7,7,7,found,1,4,0,0,13.050967499999999,46.21048474999999,0.14970453238694797,0.0,0.0,false,0
    short,compressors,wall_time,s,too_short,1,,,recorded,1,4,0,4,2.0048387500000002,5.0195170000000005,,,,false,0
    sort,compressors,wall_time,s,flat,0,0,0,found,1,4,0,0,0.0,20.0936275,0.0,0.0,0.0,false,0
    exit 0
    ");
    assert_snapshot!(ask(&["--format", "json", "-b", "gzip[level=1]", "-b", "drift"]), @r#"
    {
      "lapwing": "0.1.0",
      "answer": "burn-in",
      "schema": 1,
      "command": [
        "lapwing",
        "burn-in",
        "--quiet",
        "--format",
        "json",
        "-b",
        "gzip[level=1]",
        "-b",
        "drift"
      ],
      "headline": "1 of 2 benchmarks reaches a steady state, 1 never does; burn-in takes 16 % of the measured time",
      "verdict": "never_steady",
      "next": [],
      "notes": [
        {
          "code": "never_steady",
          "text": "never steady, fix or retire: drift; `lapwing burn-in --benchmark drift --plot FILE.html` shows it",
          "benchmarks": 1
        },
        {
          "code": "planned_too_short",
          "text": "the planned burn-in is too short: gzip[level=1] (1 → 4); --update-suite writes these to the suite, -o to a file for --clean burn_in_file=FILE",
          "benchmarks": 1
        }
      ],
      "omitted_rows": 0,
      "benchmarks": [
        {
          "benchmark": "drift",
          "bias_without_burn_in": null,
          "class": "no_steady_state",
          "classes": {
            "no_steady_state": 4
          },
          "cost": null,
          "drifting": false,
          "found": null,
          "instances": 4,
          "metric": "wall_time",
          "never_steady": 4,
          "not_used": 0,
          "planned": 1,
          "remaining_bias": null,
          "source": "found",
          "start": null,
          "suite": "compressors",
          "too_short": 0,
          "total": 59.778094749999994,
          "transient_bias": null,
          "unit": "s",
          "wanted": null
        },
        {
          "benchmark": "gzip[level=1]",
          "bias_without_burn_in": 0.07488702007256715,
          "class": "warm_up",
          "classes": {
            "warm_up": 4
          },
          "cost": 7.028548499999999,
          "drifting": false,
          "found": 4,
          "instances": 4,
          "metric": "wall_time",
          "never_steady": 0,
          "not_used": 0,
          "planned": 1,
          "remaining_bias": 0.0,
          "source": "found",
          "start": 4,
          "suite": "compressors",
          "too_short": 0,
          "total": 43.198710999999996,
          "transient_bias": 0.0,
          "unit": "s",
          "wanted": 4
        }
      ],
      "counts": {
        "benchmarks": 2,
        "by_hand": 0,
        "mostly_unsteady": 0,
        "never_steady": 1,
        "not_above_zero": 0,
        "share_of_time": 0.16270273666267496,
        "shortened": 0,
        "steady": 1,
        "too_few_iterations": 0
      },
      "not_judged": []
    }
    exit 0
    "#);
}

#[test]
fn other_limits_give_other_answers() {
    let folder = filled();
    let starts = |more: &[&str]| {
        let arguments = [&["burn-in", "--format", "csv"], more].concat();
        let (table, notes, code) = run(folder.path(), &arguments, "");
        assert_eq!(code, 0, "{notes}");
        let rows = table.lines().skip(1);
        let cells = rows.map(|row| {
            let cells: Vec<&str> = row.split(',').collect();
            format!("{} {} {}", cells[0], cells[4], cells[5])
        });
        cells.collect::<Vec<String>>().join("\n")
    };
    assert_snapshot!(starts(&["--max-cost", "5s"]), @"
    drift no_steady_state 
    gzip[level=1] warm_up 2
    gzip[level=9] warm_up 2
    short too_short 1
    sort flat 0
    ");
    assert_snapshot!(starts(&["--max-cost", "2 iterations", "-b", "gzip"]), @"
    gzip[level=1] warm_up 2
    gzip[level=9] warm_up 2
    ");
    let refused = |more: &[&str]| lapwing(folder.path(), &[&["burn-in"], more].concat(), "");
    assert_snapshot!(refused(&["--max-cost", "much"]), @"
    error: invalid value 'much' for '--max-cost <COST>': must be a time such as `200s` or `1.5 min`, not `much`

    For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(refused(&["--quantile", "90"]), @"
    error: invalid value '90' for '--quantile <SHARE>': write a number from 0 to 1, such as 0.9

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn a_picture_shows_one_benchmark_and_a_page_all() {
    let folder = filled();
    let plot = |more: &[&str]| {
        let arguments = [&["burn-in", "--quiet", "--format", "csv", "--plot"], more].concat();
        let (_, said, code) = run(folder.path(), &arguments, "");
        format!("{said}exit {code}")
    };
    assert_eq!(plot(&["sort.svg", "-b", "sort"]), "exit 0");
    let svg = read(folder.path(), "sort.svg");
    assert!(
        svg.contains("sort: steady from the first iteration"),
        "{svg}"
    );
    assert_eq!(plot(&["all.html"]), "exit 0");
    let page = read(folder.path(), "all.html");
    for title in [
        "gzip[level=9]: steady from iteration 7",
        "drift: never reaches a steady state",
        "short: too few iterations to detect a steady state",
    ] {
        assert!(page.contains(title), "{title}");
    }
    assert_snapshot!(plot(&["all.png"]), @"
    error: `all.png` can show one benchmark, but there are 5: drift, gzip[level=1], gzip[level=9], short, sort
      hint: choose one with --benchmark, or write all of them to an .html file
    exit 2
    ");
    assert_snapshot!(plot(&["all.gif"]), @"
    error: `all.gif` does not end in .svg, .png or .html
    exit 2
    ");
}

#[test]
fn a_plan_that_leaves_it_to_judging_is_shown_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let plan = r#""attributes":{"plan":{"cases":[{"benchmark":{"id":"sort"},"burn_in":"auto"}]}}"#;
    let named = "\"name\":\"nightly\"";
    let records = burn_in_fixture::records().replace(named, &format!("{named},{plan}"));
    fs::write(folder.path().join("all.jsonl"), records).unwrap();
    lapwing(folder.path(), &["import", "all.jsonl"], "");
    let ask = ["burn-in", "--quiet", "-b", "sort", "-b", "short"];
    assert_snapshot!(lapwing(folder.path(), &ask, ""), @"
    1 of 2 benchmarks reaches a steady state, 1 has too few iterations; burn-in takes 8.0 % of the measured time

     benchmark  class      steady from  planned  instances    cost  bias
     short      too short  1 (planned)        1          4  2.00 s  –
     sort       flat       0               auto          4     0 s  0 % → 0 %
    exit 0
    ");
}

#[test]
fn without_values_there_is_nothing_to_tell() {
    let folder = tempfile::tempdir().unwrap();
    let records: String = burn_in_fixture::records()
        .lines()
        .filter(|line| !line.contains("\"kind\":\"iteration\""))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(folder.path().join("all.jsonl"), records).unwrap();
    lapwing(folder.path(), &["import", "all.jsonl"], "");
    assert_snapshot!(lapwing(folder.path(), &["burn-in"], ""), @"
    error: no burn-in to detect for drift, gzip[level=1], gzip[level=9] and 2 more (no iteration was recorded)
      hint: `lapwing list` shows the contents of the store
    exit 3
    ");
}
