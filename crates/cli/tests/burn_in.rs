//! `lapwing burn-in` by the real program: its answer, and the files that it reads and writes.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod burn_in_fixture;

use std::fs;

use burn_in_fixture::{SUITE, filled, lapwing, read, run};
use insta::assert_snapshot;

#[test]
fn the_answer_is_a_sentence_a_table_and_what_to_do_next() {
    let folder = filled();
    let ask = |more: &[&str]| lapwing(folder.path(), &[&["burn-in"], more].concat(), "");
    assert_snapshot!(ask(&[]), @"
    3 of 5 benchmarks get steady, 1 never does, 1 has too few iterations to tell; burn-in takes 19 % of the measured time

     benchmark      class            steady from  planned  instances    cost  bias
     drift          no steady state  never              1          4       –  –
     gzip[level=1]  warm-up          4                  1          4  7.03 s  +7.5 % → 0 %
     gzip[level=9]  warm-up          7                  1          4  13.1 s  +15 % → 0 %
     short          too short        1 (planned)        1          4  2.00 s  –
     sort           flat             0                  1          4     0 s  0 % → 0 %

    steady from: the first iteration to judge, counted from 0; cost: of burn-in, per instance
    bias: how far the mean is from the steady level, with everything judged → without the burn-in
    note: never steady, to be fixed or retired: drift; `lapwing burn-in --benchmark 'drift' --plot FILE.html` shows it
    note: too short to tell: short (4 iterations); at least 20 iterations in each instance tell, burn-in included
    note: the planned burn-in is too short: gzip[level=1] (1 → 4), gzip[level=9] (1 → 7); --update-suite writes these into the suite, --write into a file that judging takes with --burn-in-file
    exit 0
    ");
    assert_snapshot!(ask(&["--quiet", "-b", "sort"]), @"
    sort is steady from its first iteration on; no burn-in is needed

     benchmark  class  steady from  planned  instances  cost  bias
     sort       flat   0                  1          4   0 s  0 % → 0 %
    exit 0
    ");
    assert_snapshot!(ask(&["--quiet", "-b", "drift"]), @"
    drift never gets steady

     benchmark  class            steady from  planned  instances  cost  bias
     drift      no steady state  never              1          4     –  –
    exit 0
    ");
    assert_snapshot!(ask(&["--quiet", "-b", "short"]), @"
    short has too few iterations to tell, so that its planned burn-in holds; burn-in takes 40 % of the measured time

     benchmark  class      steady from  planned  instances    cost  bias
     short      too short  1 (planned)        1          4  2.00 s  –
    exit 0
    ");
    assert_snapshot!(ask(&["--quiet", "--format", "markdown", "-b", "gzip"]), @"
    both benchmarks get steady; burn-in takes 22 % of the measured time

    | benchmark | class | steady from | planned | instances | cost | bias |
    |---|---|---|---:|---:|---:|---|
    | gzip[level=1] | warm-up | 4 | 1 | 4 | 7.03 s | +7.5 % → 0 % |
    | gzip[level=9] | warm-up | 7 | 1 | 4 | 13.1 s | +15 % → 0 % |
    exit 0
    ");
}

#[test]
fn programs_get_every_number() {
    let folder = filled();
    let ask = |more: &[&str]| lapwing(folder.path(), &[&["burn-in", "--quiet"], more].concat(), "");
    assert_snapshot!(ask(&["--format", "csv"]), @"
    benchmark,suite,metric,unit,class,start,found,wanted,source,planned,instances,never_steady,too_short,cost,total,bias_without_burn_in,transient_bias,remaining_bias
    drift,compressors,wall_time,s,no_steady_state,,,,found,1,4,4,0,,59.778094749999994,,,
    gzip[level=1],compressors,wall_time,s,warm_up,4,4,4,found,1,4,0,0,7.028548499999999,43.198710999999996,0.07488702007256715,0.0,0.0
    gzip[level=9],compressors,wall_time,s,warm_up,7,7,7,found,1,4,0,0,13.050967499999999,46.21048474999999,0.14970453238694797,0.0,0.0
    short,compressors,wall_time,s,too_short,1,,,recorded,1,4,0,4,2.0048387500000002,5.0195170000000005,,,
    sort,compressors,wall_time,s,flat,0,0,0,found,1,4,0,0,0.0,20.0936275,0.0,0.0,0.0
    exit 0
    ");
    assert_snapshot!(ask(&["--format", "json", "-b", "gzip[level=1]", "-b", "drift"]), @r#"
    {
      "benchmarks": [
        {
          "benchmark": "drift",
          "bias_without_burn_in": null,
          "class": "no_steady_state",
          "classes": {
            "no_steady_state": 4
          },
          "cost": null,
          "found": null,
          "instances": 4,
          "instances_detail": [
            {
              "class": "no_steady_state",
              "instance": "01930000-0000-7000-8000-000000000015",
              "iterations": 40,
              "start": null
            },
            {
              "class": "no_steady_state",
              "instance": "01930000-0000-7000-8000-000000000016",
              "iterations": 40,
              "start": null
            },
            {
              "class": "no_steady_state",
              "instance": "01930000-0000-7000-8000-000000000017",
              "iterations": 40,
              "start": null
            },
            {
              "class": "no_steady_state",
              "instance": "01930000-0000-7000-8000-000000000018",
              "iterations": 40,
              "start": null
            }
          ],
          "metric": "wall_time",
          "never_steady": 4,
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
          "found": 4,
          "instances": 4,
          "instances_detail": [
            {
              "class": "warm_up",
              "instance": "01930000-0000-7000-8000-000000000003",
              "iterations": 40,
              "start": 4
            },
            {
              "class": "warm_up",
              "instance": "01930000-0000-7000-8000-000000000004",
              "iterations": 40,
              "start": 4
            },
            {
              "class": "warm_up",
              "instance": "01930000-0000-7000-8000-000000000005",
              "iterations": 40,
              "start": 4
            },
            {
              "class": "warm_up",
              "instance": "01930000-0000-7000-8000-000000000006",
              "iterations": 40,
              "start": 4
            }
          ],
          "metric": "wall_time",
          "never_steady": 0,
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
      "method": "default",
      "notes": [
        "never steady, to be fixed or retired: drift; `lapwing burn-in --benchmark 'drift' --plot FILE.html` shows it",
        "the planned burn-in is too short: gzip[level=1] (1 → 4); --update-suite writes these into the suite, --write into a file that judging takes with --burn-in-file"
      ]
    }
    exit 0
    "#);
}

#[test]
fn other_methods_and_limits_give_other_answers() {
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
    assert_snapshot!(starts(&["--method", "mser5"]), @"
    drift warm_up 20
    gzip[level=1] warm_up 13
    gzip[level=9] warm_up 14
    short too_short 1
    sort mixed 5
    ");
    assert_snapshot!(starts(&["--method", "krun"]), @"
    drift mixed 0
    gzip[level=1] no_steady_state 
    gzip[level=9] no_steady_state 
    short mixed 0
    sort flat 0
    ");
    assert_eq!(
        starts(&["--method", "traini", "--seed", "1"]),
        starts(&["--method", "traini", "--seed", "1"])
    );
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
fn a_burn_in_file_is_honoured_and_shown() {
    let folder = filled();
    fs::write(
        folder.path().join("starts.yaml"),
        "\"gzip[level=9]\": 10\nsort: 0\ndrift: 3\nsrot: 4\n",
    )
    .unwrap();
    let arguments = ["burn-in", "--burn-in-file", "starts.yaml"];
    assert_snapshot!(lapwing(folder.path(), &arguments, ""), @"
    3 of 5 benchmarks get steady, 1 only by hand, 1 has too few iterations to tell; burn-in takes 16 % of the measured time

     benchmark      class            steady from             planned  instances    cost  bias
     drift          no steady state  3 (file; never steady)        1          4  3.09 s  –
     gzip[level=1]  warm-up          4                             1          4  7.03 s  +7.5 % → 0 %
     gzip[level=9]  warm-up          10 (file; found 7)            1          4  16.1 s  +15 % → 0 %
     short          too short        1 (planned)                   1          4  2.00 s  –
     sort           flat             0 (file)                      1          4     0 s  0 % → 0 %

    steady from: the first iteration to judge, counted from 0; cost: of burn-in, per instance
    bias: how far the mean is from the steady level, with everything judged → without the burn-in
    note: instances that never get steady are judged all the same: drift (4 of 4)
    note: too short to tell: short (4 iterations); at least 20 iterations in each instance tell, burn-in included
    note: the planned burn-in is too short: drift (1 → 3), gzip[level=1] (1 → 4), gzip[level=9] (1 → 10); --update-suite writes these into the suite, --write into a file that judging takes with --burn-in-file
    note: the burn-in file names `srot`, which no benchmark in the store is called; did you mean `sort`?
    exit 0
    ");
    fs::write(folder.path().join("starts.yaml"), "sort: often\n").unwrap();
    assert_snapshot!(lapwing(folder.path(), &arguments, ""), @r#"
    error: starts.yaml:1:7: invalid whole number
      hint: write one line for each benchmark, `test_join: 5`, or as JSON {"test_join": 5}; `lapwing burn-in --write FILE` makes one
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
            "--write",
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
    assert_snapshot!(write(&["--write", "starts.json"]), @"
    note: never steady, to be fixed or retired: drift; `lapwing burn-in --benchmark 'drift' --plot FILE.html` shows it
    note: too short to tell: short (4 iterations); at least 20 iterations in each instance tell, burn-in included
    note: the planned burn-in is too short: gzip[level=1] (1 → 4), gzip[level=9] (1 → 7)
    starts.json has the first stable iteration of 3 of 5; judging takes it with --burn-in-file
    note: not in it: drift (never gets steady), short (too short to tell)
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
    assert_snapshot!(write(&["--write", "old.yaml", "-b", "sort", "-b", "drift"]), @"
    note: never steady, to be fixed or retired: drift; `lapwing burn-in --benchmark 'drift' --plot FILE.html` shows it
    old.yaml has the first stable iteration of 1 of 2; judging takes it with --burn-in-file
    note: not in it: drift (never gets steady)
    note: it said otherwise before of sort (4 → 0); to keep such numbers, give it with --burn-in-file as well
    ");
    assert_snapshot!(read(folder.path(), "old.yaml"), @r#"
    "elsewhere": 9
    "sort": 0
    "#);
    fs::write(folder.path().join("notes.yaml"), "buy: milk\n").unwrap();
    assert_snapshot!(write(&["--write", "notes.yaml"]), @r#"
    error: notes.yaml:1:6: invalid whole number
      notes.yaml is there already and was not touched
      hint: write one line for each benchmark, `test_join: 5`, or as JSON {"test_join": 5}; `lapwing burn-in --write FILE` makes one
    "#);
    assert_eq!(read(folder.path(), "notes.yaml"), "buy: milk\n");
    assert_snapshot!(write(&["--write", "starts.txt"]), @"error: `starts.txt` does not end in .json or .yaml");
}

#[test]
fn what_was_written_is_read_again() {
    let folder = filled();
    run(folder.path(), &["burn-in", "--write", "starts.json"], "");
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
    note: never steady, to be fixed or retired: drift; `lapwing burn-in --benchmark 'drift' --plot FILE.html` shows it
    note: too short to tell: short (4 iterations); at least 20 iterations in each instance tell, burn-in included
    note: the planned burn-in is too short: gzip[level=1] (1 → 4), gzip[level=9] (1 → 7)
    burn_in in lapwing.toml: gzip 1 → 7, sort 1 → 0
    note: benchmarks of one table share its burn_in, which is the largest: gzip[level=1] 4, gzip[level=9] 7
    note: drift never gets steady, so that its burn_in stays
    note: short is too short to tell, so that its burn_in stays
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
    note: never steady, to be fixed or retired: drift; `lapwing burn-in --benchmark 'drift' --plot FILE.html` shows it
    note: too short to tell: short (4 iterations); at least 20 iterations in each instance tell, burn-in included
    note: the planned burn-in is too short: gzip[level=1] (1 → 4), gzip[level=9] (1 → 7)
    lapwing.toml stays as it is: every burn_in is what was found
    note: benchmarks of one table share its burn_in, which is the largest: gzip[level=1] 4, gzip[level=9] 7
    note: drift never gets steady, so that its burn_in stays
    note: short is too short to tell, so that its burn_in stays
    ");
    assert_eq!(read(folder.path(), "lapwing.toml"), changed);
    let other = SUITE.replace("\"compressors\"", "\"others\"");
    fs::write(folder.path().join("other.toml"), &other).unwrap();
    assert_snapshot!(update(&["other.toml"]), @"
    note: never steady, to be fixed or retired: drift; `lapwing burn-in --benchmark 'drift' --plot FILE.html` shows it
    note: too short to tell: short (4 iterations); at least 20 iterations in each instance tell, burn-in included
    note: the planned burn-in is too short: gzip[level=1] (1 → 4), gzip[level=9] (1 → 7)
    error: other.toml has no benchmark whose first steady iteration is known
      it was not touched
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
        "drift: never gets steady",
        "short: too little to tell when it gets steady",
    ] {
        assert!(page.contains(title), "{title}");
    }
    assert_snapshot!(plot(&["all.png"]), @"
    error: `all.png` has room for one benchmark, and there are 5: drift, gzip[level=1], gzip[level=9], short, sort
      hint: choose one with --benchmark, or draw them all to an .html file
    exit 2
    ");
    assert_snapshot!(plot(&["all.gif"]), @"
    error: `all.gif` does not end in .svg, .png or .html
    exit 2
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
    error: nothing to tell: no iteration of these benchmarks ended well with a value
      hint: `lapwing list` shows what there is
    exit 3
    ");
}
