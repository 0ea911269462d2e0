//! What `lapwing mds` says where it is not sure: the real program, a real store.

use std::fs;
use std::path::Path;

use crate::program::run;
use crate::records_fixture::{Records, holding};
use insta::assert_snapshot;

/// Values that lie this far apart, in a few per cent of a second.
fn values(spread: f64, count: u32, seed: u32) -> Vec<f64> {
    let noise = |k: u32| f64::from((seed * 31 + k * k * 13 + k * 7) % 29) / 29.0 - 0.5;
    let value = |k| ((1.0 + spread * noise(k)) * 1e4).round() / 1e4;
    (0..count).map(value).collect()
}

/// Benchmarks of twelve instances, ever noisier, and some of which too little was measured.
fn records() -> String {
    let mut all = Records::default();
    let run = all.run(1, "1.0");
    for position in 0..12 {
        let mut instance = |id: &str, values: &[f64]| {
            all.instance(&run, id, position, "node3", "wall_time", values);
        };
        instance("quiet", &values(0.02, 9, position));
        instance("middling", &values(0.24, 9, 50 + position));
        instance("noisy", &values(0.9, 9, 100 + position));
        instance("constant", &[1.0; 9]);
        instance("brief", &values(0.02, 2, position));
        if position < 2 {
            instance("twice", &values(0.02, 9, position));
        }
        if position < 1 {
            instance("once", &values(0.02, 9, position));
        }
    }
    all.0.text
}

fn mds(folder: &Path, arguments: &str) -> String {
    let arguments = arguments.split_whitespace();
    let all: Vec<&str> = ["mds", "--replicates", "60"]
        .into_iter()
        .chain(arguments)
        .collect();
    run(folder, &all)
}

#[test]
fn what_a_hundred_experiments_do_not_tell_is_too_close_to_call() {
    let folder = holding(&records());
    let arguments = "--grid instances=3,6 --grid iterations=2,4 --slowdown 11%";
    assert_snapshot!(mds(folder.path(), arguments), @"
    2 of 7 benchmarks can detect 11 % with at most 6 instances × 4 iterations per side, 1 is too close to call with 100 experiments; 3 with too few measurements

     benchmark              3 × 2              3 × 4              6 × 2                6 × 4  for 11 %
     noisy      237 % [185–478 %]  142 % [117–255 %]     67 % [59–75 %]       46 % [41–59 %]         –
     middling      37 % [34–50 %]     26 % [24–34 %]     14 % [12–14 %]      10 % [9.9–12 %]    6 × 4?
     quiet      2.7 % [2.6–3.4 %]  1.9 % [1.7–2.5 %]  1.1 % [1.1–1.6 %]  0.88 % [0.77–1.1 %]     3 × 2
     constant         0 % [0–0 %]        0 % [0–0 %]        0 % [0–0 %]          0 % [0–0 %]     3 × 2
     brief                      –                  –                  –                    –         –
     once                       –                  –                  –                    –         –
     twice                      –                  –                  –                    –         –

    minimal detectable slowdown (MDS) with instances × iterations per side; power
    95 %, by the test of `lapwing compare` (paired), different instances on the two
    sides (ibs)
    false positives, without any slowdown: 3.5 % [2.1–5.8 %] with 3 × 2, 3.0 %
    [1.7–5.2 %] with 6 × 4 (confidence 95 %)
    simulated: 100 experiments per configuration
    […] 95 % interval of the simulation
    ? too close to call: the power may be below 95 % (increase --experiments)
    – too few measurements of brief (need 2 iterations per instance, got 1); once
    (need 3 instances, got 1); twice (need 3 instances, got 2)
    – for 11 %: no configuration of the grid is enough
    based on few instances (12 at least) for 4 of 4 benchmarks: the true MDS may be
    up to 1.7 times as large
    next: `lapwing plan --slowdown 11%` shows what is needed

    excluded from 483 iterations: 63 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn one_benchmark_that_is_too_close_to_call_is_no_yes() {
    let folder = holding(&records());
    let first_line = |arguments: &str| {
        let answer = mds(folder.path(), arguments);
        answer.split("\n\n").next().unwrap().to_owned()
    };
    let all = [
        first_line("-b middling --grid instances=6 --grid iterations=4 --slowdown 7%"),
        first_line("-b middling --grid instances=6 --grid iterations=4 --slowdown 8%"),
        first_line("-b middling --grid instances=6 --grid iterations=4 --slowdown 9%"),
        first_line("-b middling --grid instances=6 --grid iterations=4 --slowdown 10%"),
        first_line("-b middling --grid instances=6 --grid iterations=4 --slowdown 15%"),
        first_line("-b middling --grid instances=6 --grid iterations=4 --slowdown 1%"),
        first_line("-b middling --grid instances=5,6 --grid iterations=2,4 --slowdown 11%"),
        first_line("-b middling -b noisy --grid instances=6 --grid iterations=4 --slowdown 8%"),
    ];
    assert_snapshot!(all.join("\n"), @"
    middling cannot detect 7 % with at most 6 instances × 4 iterations per side
    middling cannot detect 8 % with at most 6 instances × 4 iterations per side
    middling cannot detect 9 % with at most 6 instances × 4 iterations per side
    100 experiments do not decide whether middling can detect 10 % with at most 6 instances × 4 iterations per side
    middling can detect 15 %, with 6 instances × 4 iterations per side
    middling cannot detect 1 % with at most 6 instances × 4 iterations per side
    100 experiments do not decide whether middling can detect 11 % with at most 6 instances × 4 iterations per side
    none of 2 benchmarks can detect 8 % with at most 6 instances × 4 iterations per side
    ");
}

#[test]
fn a_chart_claims_no_more_than_the_answer() {
    let folder = holding(&records());
    let title = |arguments: &str| {
        mds(folder.path(), &format!("{arguments} --plot it.html"));
        let page = fs::read_to_string(folder.path().join("it.html")).unwrap();
        let (_, rest) = page.split_once("<h1>").unwrap();
        rest.split_once("</h1>").unwrap().0.to_owned()
    };
    let configuration = "--grid instances=6 --grid iterations=4";
    let all = [
        title(&format!("-b middling {configuration} --slowdown 9%")),
        title(&format!("-b middling {configuration} --slowdown 15%")),
        title(&format!(
            "-b middling -b quiet {configuration} --slowdown 9%"
        )),
        title(&format!(
            "-b middling -b noisy {configuration} --slowdown 9%"
        )),
    ];
    assert_snapshot!(all.join("\n"), @"
    middling cannot detect 9 % with 6 × 4 or less
    middling detects 15 % from 6 × 4 on
    1 of 2 benchmarks can detect 9 % with at most 6 instances × 4 iterations per side
    None of 2 benchmarks can detect 9 % with at most 6 instances × 4 iterations per side
    ");
}

#[test]
fn too_few_experiments_for_a_power_are_refused_where_words_would_claim_it() {
    let folder = holding(&records());
    assert_snapshot!(mds(folder.path(), "--experiments 1"), @"
    error: 1 experiment is too few to show a power of 95 %; use at least 73
      hint: --experiments 73 is enough; --closed-form uses a formula instead
    exit 2
    ");
    assert_snapshot!(mds(folder.path(), "--power 0.999999 --format markdown"), @"
    error: 100 experiments are too few to show a power of 99.9999 %; use at least 3,841,455
      hint: lower --power; --closed-form uses a formula instead
    exit 2
    ");
    assert_snapshot!(mds(folder.path(), "--power 99%"), @"
    error: 100 experiments are too few to show a power of 99 %; use at least 381
      hint: --experiments 381 is enough; --closed-form uses a formula instead
    exit 2
    ");
    // The formula needs no experiments, and data have their intervals.
    let by_formula = mds(folder.path(), "--power 0.999999 --closed-form");
    assert!(by_formula.ends_with("exit 0"), "{by_formula}");
    let arguments = "--experiments 1 -b quiet --format csv --grid slowdowns=1 --fields lower,upper";
    let data = mds(folder.path(), arguments);
    let ends = data.lines().nth(1).unwrap().split(',');
    let ends: Vec<f64> = ends.map(|it| it.parse().unwrap()).collect();
    assert!(ends[1] - ends[0] > 0.75, "{ends:?}");
}

#[test]
fn two_instances_a_side_get_no_verdict_and_one_detects_nothing() {
    let folder = holding(&records());
    let arguments = "-b quiet --grid instances=1,2 --grid iterations=4";
    assert_snapshot!(mds(folder.path(), arguments), @"
    quiet cannot detect 5 % with at most 2 instances × 4 iterations per side

     instances                × 4
             1               none
             2  7.5 % [7.0–9.5 %]

    minimal detectable slowdown (MDS) with instances × iterations per side; power
    95 %, by the test of `lapwing compare` (paired), different instances on the two
    sides (ibs)
    false positives, without any slowdown: 0 % [0–3.7 %] with 1 × 4, 4.0 %
    [1.6–9.8 %] with 2 × 4 (confidence 95 %)
    simulated: 100 experiments per configuration
    […] 95 % interval of the simulation
    paired needs at least 2 instances per side
    none: no slowdown, however large, is detected 95 % of the time
    `lapwing compare` gives no verdict below 3 instances per side; with 1 the values
    are those of its test alone
    only 12 instances were measured: the true MDS may be up to 1.7 times as large
    next: `lapwing plan --slowdown 5%` shows what is needed

    excluded from 108 iterations: 12 burn-in (`--audit` shows which)
    exit 0
    ");
    let says = |arguments: &str| mds(folder.path(), arguments).contains("gives no verdict");
    assert!(!says("-b quiet --grid instances=3 --grid iterations=4"));
    assert!(!says(
        "-b quiet --grid instances=2 --grid iterations=4 --method schultz"
    ));
    assert!(!says(
        "-b quiet --grid instances=2 --grid iterations=4 --strategy tbs"
    ));
    assert!(says(
        "-b quiet --grid instances=2 --grid iterations=4 --wide"
    ));
}

#[test]
fn every_dash_has_its_reason() {
    let folder = holding(&records());
    let benchmarks = "-b once -b twice -b brief -b constant -b noisy";
    let arguments =
        format!("{benchmarks} --grid instances=2,6 --grid iterations=1,3 --slowdown 1%");
    assert_snapshot!(mds(folder.path(), &arguments), @"
    1 of 5 benchmarks can detect 1 % with at most 6 instances × 3 iterations per side; 2 with too few measurements

     benchmark                         2 × 1                     2 × 3              6 × 1           6 × 3  for 1 %
     noisy      104,547 % [40,657–305,144 %]  10,724 % [3423–22,388 %]    98 % [94–148 %]  50 % [48–80 %]        –
     brief                    19 % [16–24 %]                         –  1.7 % [1.5–1.8 %]               –        –
     constant                    0 % [0–0 %]               0 % [0–0 %]        0 % [0–0 %]     0 % [0–0 %]    2 × 1
     once                                  –                         –                  –               –        –
     twice                                 –                         –                  –               –        –

    minimal detectable slowdown (MDS) with instances × iterations per side; power
    95 %, by the test of `lapwing compare` (paired), different instances on the two
    sides (ibs)
    false positives, without any slowdown: 3.7 % [2.1–6.4 %] with 2 × 1, 1.5 %
    [0.51–4.3 %] with 6 × 3 (confidence 95 %)
    simulated: 100 experiments per configuration
    […] 95 % interval of the simulation
    – too few measurements: needs 3 instances of 2 iterations, without zeros
    – too few measurements of once (need 3 instances, got 1); twice (need 3
    instances, got 2)
    – for 1 %: no configuration of the grid is enough
    `lapwing compare` gives no verdict below 3 instances per side; with 2 the values
    are those of its test alone
    based on few instances (12 at least) for 3 of 3 benchmarks: the true MDS may be
    up to 1.7 times as large
    next: `lapwing plan --slowdown 1%` shows what is needed

    excluded from 267 iterations: 39 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn one_configuration_has_the_intervals_of_its_rates_and_many_how_far_they_reach() {
    let folder = holding(&records());
    let arguments =
        "-b middling --wide --grid iterations=4 --grid slowdowns=1,1.05 --strategy ibs --grid";
    assert_snapshot!(mds(folder.path(), &format!("{arguments} instances=6")), @"
    middling cannot detect 5 % with at most 6 instances × 4 iterations per side

     slowdown  per side        laaber ibs       schultz ibs        paired ibs
            1     6 × 4  0.00 [0.00–0.04]  0.03 [0.01–0.08]  0.04 [0.02–0.10]
         1.05     6 × 4  0.20 [0.13–0.29]  0.46 [0.37–0.56]  0.39 [0.30–0.49]

    simulated: 100 experiments per configuration, resampled 60 times
    […] 95 % interval of the simulation
    only 12 instances were measured: the true MDS may be up to 1.7 times as large
    next: `lapwing plan --slowdown 5%` shows what is needed

    excluded from 108 iterations: 12 burn-in (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(mds(folder.path(), &format!("{arguments} instances=4,6")), @"
    middling cannot detect 5 % with at most 6 instances × 4 iterations per side

     slowdown  per side  laaber ibs  schultz ibs  paired ibs
            1     4 × 4        0.00         0.05        0.07
            1     6 × 4        0.00         0.03        0.04
         1.05     4 × 4        0.12         0.40        0.24
         1.05     6 × 4        0.20         0.46        0.39

    simulated: 100 experiments per configuration, resampled 60 times
    with this number of experiments each rate is accurate to ± 9.8 points or better
    (--format json has the intervals)
    only 12 instances were measured: the true MDS may be up to 1.7 times as large
    next: `lapwing plan --slowdown 5%` shows what is needed

    excluded from 108 iterations: 12 burn-in (`--audit` shows which)
    exit 0
    ");
}
