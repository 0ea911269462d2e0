//! The audit of cleaning, and `[judge]` of the suite file, by the real program.

use std::fs;

use crate::noise_fixture::{around, filled};
use crate::program::run;
use crate::records_fixture::{Records, holding};
use insta::assert_snapshot;
use serde_json::Value;

#[test]
fn the_audit_tells_each_step_and_each_benchmark() {
    let folder = filled();
    let audit = |more: &[&str]| run(folder.path(), &[&["variability", "--audit"], more].concat());
    assert_snapshot!(audit(&["--clean", "min_instances=10"]), @"
    1 of 2 benchmarks varies by more than 5 % between instances; 1 falls into two groups

     benchmark   value  cv of all  between instances                within             sample  best iterations
     join       1.09 s       13 %    15 % [7.9–95 %]  0.31 % [0.25–0.40 %]  12 × 4 on 3 hosts                1
     sort       250 ms     0.28 %     0 % [0–0.45 %]  0.30 % [0.24–0.39 %]  12 × 4 on 3 hosts

    join falls into two groups: 8 instances around 1.00 s and 4 around 1.30 s
    (1.30×); host separates them: slower node7 (4 of 4); faster node3 (4 of 4),
    node4 (4 of 4)
    for narrower intervals, measure more iterations of sort, and more instances of
    the others
    only the latest version of each variant is used; an older one is in the store
    (`--settings each`)
    some hosts had several instances, which may resemble each other: intervals count
    hosts (3)

    Exclusions, step by step:

     left          benchmarks  instances  iterations
     recorded               4         30         141
     known                  4         30         141
     past burn-in           4         30         111
     not failed             3         27         108
     not outlying           3         27         108
     steady                 3         27         108
     viable                 2         24          96

    2 benchmarks not analysed:

     benchmark   why
     broken      no iteration succeeded
     throughput  3 instances are left; needs 10

    Exclusions by benchmark:

     benchmark   burn-in     iterations left  excluded
     broken      as planned           0 of 6  3 burn-in, 3 failed
     join        as planned         48 of 60  12 burn-in
     sort        as planned         48 of 60  12 burn-in
     throughput  as planned          0 of 15  3 burn-in, 12 in benchmarks with too few instances
    exit 0
    ");
    assert_snapshot!(audit(&["-b", "throughput", "--format", "markdown"]), @r"
    the one benchmark varies by 5 % or less between instances

    | benchmark | metric | value | cv of all | between instances | within | sample |
    |---|---|---:|---:|---:|---:|---:|
    | throughput | rate | 50.0k/s | 0.28 % | 0 % \[0–0.43 %\] | 0.32 % \[0.20–0.58 %\] | 3 × 4 |

    measure more iterations for narrower intervals: the instances hardly differ

    Exclusions, step by step:

    | left | benchmarks | instances | iterations |
    |---|---:|---:|---:|
    | recorded | 1 | 3 | 15 |
    | known | 1 | 3 | 15 |
    | past burn-in | 1 | 3 | 12 |
    | not failed | 1 | 3 | 12 |
    | not outlying | 1 | 3 | 12 |
    | steady | 1 | 3 | 12 |
    | viable | 1 | 3 | 12 |

    Exclusions by benchmark:

    | benchmark | burn-in | iterations left | excluded |
    |---|---|---:|---|
    | throughput | as planned | 12 of 15 | 3 burn-in |
    exit 0
    ");
    assert_snapshot!(audit(&["-b", "throughput", "--format", "csv"]), @"
    suite,benchmark,metric,unit,variant,version,session,instances,iterations,value,mean,cv_total,cv_instance_mean,cv_instance_sd,cv_between,cv_between_lower,cv_between_upper,cv_within,cv_within_lower,cv_within_upper,share_between,share_between_lower,share_between_upper,hosts,share_between_hosts,share_between_hosts_lower,share_between_hosts_upper,best_iterations,modes
    joins,throughput,rate,1/s,default,1.1,,3,12,49962.11231191089,49962.12121666667,0.00281231794200988,0.002706884545077796,0.00047600669872067367,0.0,0.0,0.004279037861406311,0.0031736158459141654,0.001994118331265732,0.005793785403706365,0.0,0.0,0.648416614431778,1,,,,,
    note: the audit is not part of CSV output; --format json has all of it
    exit 0
    ");
}

/// Returns each entry on a line of its own.
fn lines(value: &Value) -> String {
    let text = match value {
        Value::Array(entries) => entries.iter().map(Value::to_string).collect::<Vec<_>>(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, it)| format!("{key}: {it}"))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    text.join("\n")
}

#[test]
fn as_json_it_names_each_iteration() {
    let folder = filled();
    let audit = |more: &[&str]| -> Value {
        let arguments = [
            "variability",
            "--format",
            "json",
            "-b",
            "broken",
            "-b",
            "join",
        ];
        let answer = run(folder.path(), &[&arguments, more].concat());
        let answer: Value = serde_json::from_str(answer.strip_suffix("exit 0").unwrap()).unwrap();
        answer["audit"].clone()
    };
    let all = audit(&["--audit", "--clean", "burn_in=2"]);
    assert_snapshot!(lines(&all["funnel"]), @r#"
    {"benchmarks":2,"instances":15,"iterations":66,"stage":"recorded"}
    {"benchmarks":2,"instances":15,"iterations":66,"stage":"known"}
    {"benchmarks":1,"instances":12,"iterations":36,"stage":"past_burn_in"}
    {"benchmarks":1,"instances":12,"iterations":36,"stage":"not_failed"}
    {"benchmarks":1,"instances":12,"iterations":36,"stage":"not_outlying"}
    {"benchmarks":1,"instances":12,"iterations":36,"stage":"steady"}
    {"benchmarks":1,"instances":12,"iterations":36,"stage":"viable"}
    "#);
    assert_snapshot!(lines(&all["left_out"]), @"burn_in: 30");
    assert_snapshot!(lines(&all["not_viable"]), @r#"{"benchmark":"broken","metric":"wall_time","reason":"all iterations are burn-in","setting":"1.1","side":null,"stage":"past_burn_in","suite":"joins"}"#);
    let join = &all["benchmarks"][1];
    assert_snapshot!(lines(&join["burn_in"]), @r#"
    first_steady: 2
    from: "given"
    never_steady: false
    wanted: null
    "#);
    assert_eq!(join["exclusions"].as_array().unwrap().len(), 12);
    assert_snapshot!(join["exclusions"][0], @r#"{"indices":[[0,1]],"instance":"01930000-0000-7000-8000-000000000009","rule":"burn_in"}"#);
    assert!(
        audit(&[]).get("benchmarks").is_none(),
        "only when asked for"
    );
}

#[test]
fn what_never_gets_steady_is_to_be_fixed_or_retired() {
    let mut all = Records::default();
    let run_id = all.run(1, "1.0");
    for position in 0..3 {
        // Slower and slower, to the end.
        let drift: Vec<f64> = (0..60).map(|k| 1.0 + 0.05 * f64::from(k)).collect();
        all.instance(&run_id, "leaking", position, "node3", "wall_time", &drift);
    }
    let folder = holding(&all.0.text);
    assert_snapshot!(run(folder.path(), &["variability", "--clean", "burn_in=auto"]), @"
    error: no usable values: leaking (never reaches a steady state)
      hint: `--clean burn_in=recorded` uses the planned burn-in
    exit 3
    ");
    for position in 0..3 {
        all.instance(
            &run_id,
            "fine",
            position,
            "node3",
            "wall_time",
            &around(1.0, position),
        );
    }
    let folder = holding(&all.0.text);
    assert_snapshot!(run(folder.path(), &["variability", "--clean", "burn_in=auto", "--audit"]), @"
    the one benchmark varies by 5 % or less between instances

     benchmark   value  cv of all  between instances                within  sample
     fine       999 ms     0.28 %     0 % [0–0.43 %]  0.32 % [0.20–0.58 %]   3 × 4

    measure more iterations for narrower intervals: the instances hardly differ

    Exclusions, step by step:

     left          benchmarks  instances  iterations
     recorded               2          6         195
     known                  2          6         195
     past burn-in           2          6         192
     not failed             2          6         192
     not outlying           2          6         192
     steady                 1          3          12
     viable                 1          3          12

    1 benchmark not analysed:

     benchmark  why
     leaking    never reaches a steady state

    1 benchmark never reaches a steady state; fix or retire it: leaking

    Exclusions by benchmark:

     benchmark  burn-in                         iterations left  excluded
     fine       as planned: too few iterations         12 of 15  3 burn-in
     leaking    never steady                           0 of 180  180 never steady
    exit 0
    ");
}

#[test]
fn of_hundreds_of_benchmarks_the_first_are_shown_and_the_others_counted() {
    let mut all = Records::default();
    let run_id = all.run(1, "1.0");
    for number in 0..140 {
        let id = format!("bench{number:03}");
        let values = around(1.0, number);
        all.instance(&run_id, &id, number, "node3", "wall_time", &values);
    }
    let folder = holding(&all.0.text);
    let answer = run(folder.path(), &["variability", "--audit"]);
    let audit = answer.split("Exclusions by benchmark").nth(1).unwrap();
    let rows = audit.lines().filter(|line| line.starts_with(" bench0"));
    assert_eq!(rows.count(), 20);
    assert!(
        audit.contains("and 120 more; `--audit --format json` lists all"),
        "{audit}"
    );
}

#[test]
fn the_suite_file_says_how_to_judge_and_options_win() {
    let folder = filled();
    let suite = folder.path().join("lapwing.toml");
    fs::write(&suite, "[judge]\nburn_in = 3\nmin_instances = 12\n").unwrap();
    let of = |more: &[&str]| {
        let base = ["variability", "--format", "csv"];
        let answer = run(folder.path(), &[&base, more].concat());
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells.len() > 9).then(|| format!("{} {} × {}", cells[1], cells[7], cells[8]))
        };
        answer
            .lines()
            .skip(1)
            .filter_map(row)
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(of(&[]), "join 12 × 24, sort 12 × 24");
    assert_eq!(of(&["--clean", "burn_in=4"]), "join 12 × 12, sort 12 × 12");
    assert_eq!(
        of(&["--suite", "none"]),
        "join 12 × 48, throughput 3 × 12, sort 12 × 48"
    );
    fs::write(folder.path().join("starts.json"), r#"{"join": 2}"#).unwrap();
    fs::write(
        &suite,
        "[judge]\nburn_in = 4\nburn_in_file = \"starts.json\"\n",
    )
    .unwrap();
    assert_eq!(of(&[]), "join 12 × 36, throughput 3 × 3, sort 12 × 12");
    assert_eq!(of(&["-b", "join", "--clean", "burn_in=1"]), "join 12 × 48");
    fs::write(&suite, "[judge]\nburnin = 4\n").unwrap();
    assert_snapshot!(run(folder.path(), &["variability"]), @"
    error: lapwing.toml:2: unknown key `burnin` in [judge]
      hint: did you mean `burn_in`?
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["variability", "--suite", "none.toml"]), @"
    error: cannot read none.toml: No such file or directory (os error 2)
      hint: check the path, measure a command with `lapwing run -- COMMAND`, or write a lapwing.toml
    exit 2
    ");
}
