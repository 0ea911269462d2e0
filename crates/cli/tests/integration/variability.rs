//! `lapwing variability`: the real program, a real store.

use std::fs;

use crate::noise_fixture::filled;
use crate::program::run;
use insta::assert_snapshot;
use lapwing_testing::reference_data;
use serde_json::{Value, json};

#[test]
fn the_noisiest_comes_first_and_what_goes_with_its_groups_is_named() {
    let folder = filled();
    assert_snapshot!(run(folder.path(), &["variability"]), @"
    1 of 3 benchmarks varies by more than 5 % between instances; 1 falls into two groups

     benchmark   metric       value  cv of all  between instances                within             sample  best iterations
     join        wall_time   1.09 s       13 %    15 % [7.9–95 %]  0.31 % [0.25–0.40 %]  12 × 4 on 3 hosts                1
     throughput  rate       50.0k/s     0.28 %     0 % [0–0.43 %]  0.32 % [0.20–0.58 %]              3 × 4
     sort        wall_time   250 ms     0.28 %     0 % [0–0.45 %]  0.30 % [0.24–0.39 %]  12 × 4 on 3 hosts

    join, wall time falls into two groups: 8 instances around 1.00 s and 4 around
    1.30 s (1.30×); host separates them: slower node7 (4 of 4); faster node3 (4 of
    4), node4 (4 of 4)
    for narrower intervals, measure more iterations of throughput, rate, sort, wall
    time, and more instances of the others
    only the latest version of each variant is used; an older one is in the store
    (`--settings each`)
    not analysed: broken (no iteration succeeded)
    some hosts had several instances, which may resemble each other: intervals count
    hosts (3)

    excluded from 141 iterations: 30 burn-in, 3 failed (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn settings_are_told_apart_or_pooled() {
    let folder = filled();
    let of = |which: &str| {
        let arguments = [
            "variability",
            "-b",
            "join",
            "--settings",
            which,
            "--format",
            "markdown",
        ];
        run(folder.path(), &arguments)
    };
    assert_snapshot!(of("each"), @r"
    1 of 1 benchmark varies by more than 5 % between instances; 1 falls into two groups

    | benchmark | setting | value | cv of all | between instances | within | sample | best iterations |
    |---|---|---:|---:|---:|---:|---:|---:|
    | join | 1.1 | 1.09 s | 13 % | 15 % \[7.9–95 %\] | 0.31 % \[0.25–0.40 %\] | 12 × 4 on 3 hosts | 1 |
    | join | 1.0 | 3.00 s | 0.26 % | 0 % \[0–0.20 %\] | 0.30 % \[0.21–0.49 %\] | 4 × 4 |  |

    join (1.1) falls into two groups: 8 instances around 1.00 s and 4 around 1.30 s (1.30×); host separates them: slower node7 (4 of 4); faster node3 (4 of 4), node4 (4 of 4)

    for narrower intervals, measure more iterations of join (1.0), and more instances of the others

    some hosts had several instances, which may resemble each other: intervals count hosts (3)

    excluded from 80 iterations: 16 burn-in (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(of("pooled"), @r"
    1 of 1 benchmark varies by more than 5 % between instances; 1 falls into two groups

    | benchmark | value | cv of all | between instances | within | sample | best iterations |
    |---|---:|---:|---:|---:|---:|---:|
    | join | 1.31 s | 53 % | 48 % \[37–186 %\] | 0.30 % \[0.25–0.38 %\] | 16 × 4 on 3 hosts | 1 |

    join falls into two groups: 12 instances around 1.10 s and 4 around 3.00 s (2.73×); version separates them: slower 1.0 (4 of 4); faster 1.1 (12 of 12); session as well

    measure more instances for narrower intervals: more iterations would hardly help

    some hosts had several instances, which may resemble each other: intervals count hosts (3)

    excluded from 80 iterations: 16 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn json_has_every_number_and_csv_too() {
    let folder = filled();
    let arguments = ["variability", "--benchmark", "join", "--format", "json"];
    let answer = run(folder.path(), &arguments);
    let answer: Value = serde_json::from_str(answer.strip_suffix("exit 0").unwrap()).unwrap();
    let row = answer["variability"][0].as_object().unwrap();
    let lines: Vec<String> = row.iter().map(|(key, it)| format!("{key}: {it}")).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    benchmark: "join"
    best_iterations: 1
    cv_between: 0.15147471221131306
    cv_between_lower: 0.07885846882200165
    cv_between_upper: 0.952013782444165
    cv_instance_mean: 0.0025915999309784324
    cv_instance_sd: 0.0005461841504923165
    cv_total: 0.12860067867858976
    cv_within: 0.0030582673216055078
    cv_within_lower: 0.0024870151543002162
    cv_within_upper: 0.0039725685371898144
    hosts: 3
    instances: 12
    iterations: 48
    mean: 1.0995
    metric: "wall_time"
    modes: {"associations":[{"attributes":["host"],"levels":[{"instances":4,"level":"node3","lower":4,"upper":0},{"instances":4,"level":"node4","lower":4,"upper":0},{"instances":4,"level":"node7","lower":0,"upper":4}],"p_adjusted":0.012121212121212142,"p_value":0.006060606060606071}],"count":2,"lower":{"instances":8,"mean":0.99954375},"p_value":0.0018069754773134099,"upper":{"instances":4,"mean":1.2994124999999999}}
    session: null
    share_between: 0.9994397929512787
    share_between_hosts: 0.9999658743377935
    share_between_hosts_lower: 0.9998050054242394
    share_between_hosts_upper: 0.9999991335563866
    share_between_lower: 0.9986703400444823
    share_between_upper: 0.9998180779535126
    suite: "joins"
    unit: "s"
    value: 1.0908959875009174
    variant: "default"
    version: "1.1"
    "#);
    let arguments = ["variability", "--benchmark", "join", "--format", "csv"];
    assert_snapshot!(run(folder.path(), &arguments), @"
    suite,benchmark,metric,unit,variant,version,session,instances,iterations,value,mean,cv_total,cv_instance_mean,cv_instance_sd,cv_between,cv_between_lower,cv_between_upper,cv_within,cv_within_lower,cv_within_upper,share_between,share_between_lower,share_between_upper,hosts,share_between_hosts,share_between_hosts_lower,share_between_hosts_upper,best_iterations,modes
    joins,join,wall_time,s,default,1.1,,12,48,1.0908959875009174,1.0995,0.12860067867858976,0.0025915999309784324,0.0005461841504923165,0.15147471221131306,0.07885846882200165,0.952013782444165,0.0030582673216055078,0.0024870151543002162,0.0039725685371898144,0.9994397929512787,0.9986703400444823,0.9998180779535126,3,0.9999658743377935,0.9998050054242394,0.9999991335563866,1,2
    exit 0
    ");
}

#[test]
fn what_cannot_be_judged_is_said_with_its_reason() {
    let folder = filled();
    let of = |more: &[&str]| run(folder.path(), &[&["variability"], more].concat());
    assert_snapshot!(of(&["-b", "broken"]), @"
    error: no usable values: broken (no iteration succeeded)
      hint: `lapwing report` shows what was measured, and why it failed
    exit 3
    ");
    assert_snapshot!(of(&["--clean", "min_instances=50"]), @"
    error: no usable values: broken (no iteration succeeded); join, sort (12 instances are left; needs 50); throughput (3 instances are left; needs 50)
      hint: --clean 'min_instances=1 min_iterations=1' sets the minimum
    exit 3
    ");
    assert_snapshot!(of(&["-b", "join", "--metric", "rate"]), @"
    error: no benchmark passes all of these filters
      hint: omit one of them; `lapwing list` shows the contents of the store
    exit 3
    ");
    assert_snapshot!(of(&["--metric", "rates"]), @"
    error: no metric `rates`; did you mean `rate`?
      hint: `lapwing list metrics` lists them
    exit 2
    ");
    assert_snapshot!(of(&["--compat", "hail"]), @"
    error: --compat hail needs the first steady iterations
      hint: name their file with --clean burn_in_file=FILE; `lapwing burn-in -o FILE` writes one
    exit 2
    ");
    let empty = tempfile::tempdir().unwrap();
    assert_snapshot!(run(empty.path(), &["variability"]), @"
    error: nothing measured yet: there is no store at .lapwing/lapwing.db
      hint: measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`
    exit 2
    ");
}

#[test]
fn a_plot_is_written_in_the_form_that_its_name_says() {
    let folder = filled();
    let plot = |name: &str| {
        run(
            folder.path(),
            &["variability", "--plot", name, "--format", "csv"],
        )
    };
    assert!(plot("noise.svg").ends_with("exit 0"));
    let svg = fs::read_to_string(folder.path().join("noise.svg")).unwrap();
    for text in [
        "Where the noise lies",
        ">join, wall time<",
        ">sort, wall time<",
        "between instances",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    assert!(plot("noise.html").ends_with("exit 0"));
    assert!(plot("noise.gif").contains("does not end in .svg, .png or .html"));
}

#[test]
fn as_hail_does_the_numbers_are_those_of_hail() {
    let Some(hail) = reference_data("hail") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| hail.join(name).to_str().unwrap().to_owned();
    run(folder.path(), &["import", &file("benchmarks.jsonl.gz")]);
    let starts = format!("burn_in_file={}", file("first_stable_index.json"));
    let arguments = ["--compat", "hail", "--clean", &starts, "--format", "json"];
    let answer = run(folder.path(), &[&["variability"], &arguments[..]].concat());
    let answer: Value = serde_json::from_str(answer.strip_suffix("exit 0").unwrap()).unwrap();
    let ours = answer["variability"].as_array().unwrap();
    let theirs = fs::read_to_string(hail.join("variability.tsv")).unwrap();
    let theirs: Vec<Vec<&str>> = theirs
        .lines()
        .skip(1)
        .map(|it| it.split('\t').collect())
        .collect();
    assert_eq!(ours.len(), theirs.len());
    for row in theirs {
        let id = format!("{}::{}", row[0], row[1]);
        let ours = ours.iter().find(|it| it["benchmark"] == json!(id)).unwrap();
        let keys = ["mean", "cv_total", "cv_instance_mean", "cv_instance_sd"];
        for (key, theirs) in keys.into_iter().zip(&row[2..]) {
            let theirs: f64 = theirs.parse().unwrap();
            let ours = ours[key].as_f64().unwrap();
            assert!(
                (ours / theirs - 1.0).abs() < 1e-9,
                "{id} {key}: {ours} {theirs}"
            );
        }
    }
    let funnel = answer["audit"]["funnel"].as_array().unwrap();
    assert_eq!(funnel.last().unwrap()["iterations"], json!(46_310));
}

#[test]
fn hosts_are_shown_on_request() {
    let folder = filled();
    let said = run(folder.path(), &["variability", "--by-host", "-b", "join"]);
    assert!(said.contains("of it between hosts"), "{said}");
    assert!(said.contains("100 % [100–100 %]"), "{said}");
    assert!(
        said.contains("most of the variance of join") && said.contains("lies between hosts"),
        "{said}"
    );
}
