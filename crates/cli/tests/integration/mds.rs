//! `lapwing mds`: the real program, a real store.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::noise_fixture::filled;
use crate::program;
use crate::program::run;
use crate::records_fixture::{Records, holding};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Values that lie this far apart, in a few per cent of a second.
fn values(centre: f64, spread: f64, count: u32, seed: u32) -> Vec<f64> {
    let noise = |k: u32| f64::from((seed * 31 + k * k * 13 + k * 7) % 29) / 29.0 - 0.5;
    (0..count)
        .map(|k| (centre * (1.0 + spread * noise(k)) * 1e4).round() / 1e4)
        .collect()
}

/// A quiet benchmark, one whose instances differ, one that is too short and one that always fails.
fn records() -> String {
    let mut all = Records::default();
    let run = all.run(1, "1.0");
    for position in 0..12 {
        let id = "tests/test_shuffle.py::test_shuffle[p2p]";
        let centre = 2.0 * (1.0 + 0.04 * f64::from(position * 5 % 12) / 11.0);
        let mut instance = |id: &str, values: &[f64]| {
            all.instance(&run, id, position, "node3", "wall_time", values);
        };
        instance("sort", &values(0.25, 0.02, 9, position));
        instance(id, &values(centre, 0.05, 9, 100 + position));
        if position < 2 {
            instance("start", &values(0.1, 0.02, 3, position));
            instance("broken", &[f64::NAN; 2]);
        }
    }
    all.0.text
}

/// Hardly more experiments than a power of 95 % takes, with few resamples, to be quick.
const SMALL: [&str; 8] = [
    "--grid",
    "instances=3,6,12",
    "--grid",
    "iterations=4,8",
    "--experiments",
    "80",
    "--replicates",
    "60",
];

fn mds(folder: &Path, more: &[&str]) -> String {
    run(folder, &[&["mds"], &SMALL[..], more].concat())
}

#[test]
fn what_detects_least_comes_first_and_the_formula_fills_in() {
    let folder = holding(&records());
    assert_snapshot!(mds(folder.path(), &[]), @"
    2 of 3 benchmarks can detect 5 % with at most 12 instances × 8 iterations per side; 1 with too few measurements

     benchmark                                             3 × 4              3 × 8   12 × 4   12 × 8  for 5 %
     tests/test_shuffle.py::test_shuffle[p2p]   9.5 % [8.8–14 %]  7.7 % [7.0–9.8 %]   ~2.5 %   ~2.3 %    6 × 4
     sort                                      2.2 % [2.1–2.5 %]  1.5 % [1.4–1.7 %]  ~0.54 %  ~0.43 %    3 × 4
     start                                                     –                  –        –        –        –

    minimal detectable slowdown (MDS) with instances × iterations per side; power
    95 %, by the test of `lapwing compare` (paired), different instances on the two
    sides (ibs)
    false positives, without any slowdown: 8.8 % [5.3–14 %] with 3 × 4, ~5.0 % with
    12 × 8 (confidence 95 %)
    simulated: 80 experiments per configuration
    […] 95 % interval of the simulation
    ~ computed by formula: too few measured instances to simulate
    – too few measurements of start (need 3 instances, got 2)
    based on few instances (12 at least) for 2 of 2 benchmarks: the true MDS may be
    up to 1.7 times as large
    not analysed: broken (no iteration succeeded)
    next: `lapwing plan --slowdown 5%` shows what is needed

    excluded from 226 iterations: 28 burn-in, 2 failed (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(mds(folder.path(), &["--format", "markdown", "--strategy", "tbs"]), @r"
    2 of 3 benchmarks can detect 5 % with at most 12 instances × 8 iterations per side; 1 with too few measurements

    | benchmark | 3 × 4 | 3 × 8 | 12 × 4 | 12 × 8 | for 5 % |
    |---|---:|---:|---:|---:|---:|
    | tests/test_shuffle.py::test_shuffle\[p2p\] | 4.4 % \[4.1–6.7 %\] | ~3.3 % | 1.2 % \[1.0–1.5 %\] | ~0.84 % | 3 × 4? |
    | sort | 1.6 % \[1.4–2.3 %\] | ~1.3 % | 0.46 % \[0.40–0.62 %\] | ~0.33 % | 3 × 4 |
    | start | – | – | – | – | – |

    minimal detectable slowdown (MDS) with instances × iterations per side; power 95 %, by the paired t test (paired), the same instances on both sides (tbs)

    false positives, without any slowdown: 8.1 % \[4.8–13 %\] with 3 × 4, ~5.0 % with 12 × 8 (confidence 95 %)

    simulated: 80 experiments per configuration

    \[…\] 95 % interval of the simulation

    ? too close to call: the power may be below 95 % (increase --experiments)

    ~ computed by formula: too few measured instances to simulate

    – too few measurements of start (need 3 instances, got 2)

    based on few instances (12 at least) for 2 of 2 benchmarks: the true MDS may be up to 1.7 times as large

    not analysed: broken (no iteration succeeded)

    next: `lapwing plan --slowdown 5%` shows what is needed

    excluded from 226 iterations: 28 burn-in, 2 failed (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn one_benchmark_has_all_configurations() {
    let folder = holding(&records());
    let arguments = ["-b", "shuffle", "--slowdown", "3%", "--power", "80%"];
    assert_snapshot!(mds(folder.path(), &arguments), @"
    tests/test_shuffle.py::test_shuffle[p2p] can detect 3 %, with 12 instances × 4 iterations per side

     instances                × 4                × 8
             3  7.7 % [6.5–8.8 %]  5.7 % [5.1–7.0 %]
             6  3.2 % [3.0–3.6 %]  3.2 % [2.9–3.6 %]
            12             ~1.9 %             ~1.8 %

    minimal detectable slowdown (MDS) with instances × iterations per side; power
    80 %, by the test of `lapwing compare` (paired), different instances on the two
    sides (ibs)
    false positives, without any slowdown: 8.8 % [4.3–17 %] with 3 × 4, ~5.0 % with
    12 × 8 (confidence 95 %)
    simulated: 80 experiments per configuration
    […] 95 % interval of the simulation
    ~ computed by formula: too few measured instances to simulate
    only 12 instances were measured: the true MDS may be up to 1.7 times as large
    next: `lapwing plan --slowdown 3%` chooses how much to run

    excluded from 108 iterations: 12 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn wide_has_all_methods_beside_each_other() {
    let folder = holding(&records());
    let arguments = ["-b", "shuffle", "--wide", "--grid", "slowdowns=1,1.03,10%"];
    assert_snapshot!(mds(folder.path(), &arguments), @"
    tests/test_shuffle.py::test_shuffle[p2p] can detect 5 %, with 6 instances × 4 iterations per side

     slowdown  per side  laaber ibs  laaber tbs  schultz ibs  schultz tbs  paired ibs  paired tbs
            1     3 × 4        0.07        0.01         0.16         0.07        0.09        0.10
            1     3 × 8        0.09       ~0.01         0.17        ~0.04        0.11       ~0.05
            1     6 × 4        0.00        0.00         0.04         0.04        0.04        0.07
            1     6 × 8        0.04       ~0.00         0.10        ~0.02        0.05       ~0.05
            1    12 × 4       ~0.01        0.00        ~0.05         0.00       ~0.05        0.01
            1    12 × 8       ~0.01       ~0.00        ~0.06        ~0.01       ~0.05       ~0.05
         1.03     3 × 4        0.50        0.50         0.70         0.97        0.33        0.79
         1.03     3 × 8        0.74       ~0.65         0.84        ~1.00        0.30       ~0.91
         1.03     6 × 4        0.76        0.86         0.88         1.00        0.72        1.00
         1.03     6 × 8        0.82       ~0.90         0.95        ~1.00        0.71       ~1.00
         1.03    12 × 4       ~0.96        1.00        ~1.00         1.00       ~0.99        1.00
         1.03    12 × 8       ~0.98       ~1.00        ~1.00        ~1.00       ~1.00       ~1.00
          1.1     3 × 4        1.00        1.00         1.00         1.00        0.96        1.00
          1.1     3 × 8        1.00       ~1.00         1.00        ~1.00        1.00       ~1.00
          1.1     6 × 4        1.00        1.00         1.00         1.00        1.00        1.00
          1.1     6 × 8        1.00       ~1.00         1.00        ~1.00        1.00       ~1.00
          1.1    12 × 4       ~1.00        1.00        ~1.00         1.00       ~1.00        1.00
          1.1    12 × 8       ~1.00       ~1.00        ~1.00        ~1.00       ~1.00       ~1.00

    simulated: 80 experiments per configuration, resampled 60 times
    with this number of experiments each rate is accurate to ± 11 points or better
    (--format json has the intervals)
    a slowdown of 5 % is detected 100 % [95–100 %] of the time with 6 × 4
    ~ computed by formula: too few measured instances to simulate
    only 12 instances were measured: the true MDS may be up to 1.7 times as large
    next: `lapwing plan --slowdown 5%` chooses how much to run

    excluded from 108 iterations: 12 burn-in (`--audit` shows which)
    exit 0
    ");
    let arguments = [
        "-b",
        "shuffle",
        "--wide",
        "--grid",
        "slowdowns=3%",
        "--format",
        "csv",
    ];
    assert_snapshot!(mds(folder.path(), &arguments), @"
    suite,benchmark,metric,variant,version,session,slowdown,instances,iterations,laaber_ibs,laaber_tbs,paired_ibs,paired_tbs,schultz_ibs,schultz_tbs
    joins,tests/test_shuffle.py::test_shuffle[p2p],wall_time,default,1.0,,1.03,3,4,0.5,0.5,0.325,0.7875,0.7,0.975
    joins,tests/test_shuffle.py::test_shuffle[p2p],wall_time,default,1.0,,1.03,3,8,0.7375,0.6494110341805999,0.3,0.91358068575554,0.8375,0.9999720766320945
    joins,tests/test_shuffle.py::test_shuffle[p2p],wall_time,default,1.0,,1.03,6,4,0.7625,0.8625,0.725,1.0,0.875,1.0
    joins,tests/test_shuffle.py::test_shuffle[p2p],wall_time,default,1.0,,1.03,6,8,0.825,0.8986171923984158,0.7125,0.9999999822201113,0.95,0.9999999999943194
    joins,tests/test_shuffle.py::test_shuffle[p2p],wall_time,default,1.0,,1.03,12,4,0.9649313219221448,1.0,0.9910346621084989,1.0,0.9960392951210499,1.0
    joins,tests/test_shuffle.py::test_shuffle[p2p],wall_time,default,1.0,,1.03,12,8,0.984886469017588,0.999844051692077,0.9958366487513656,0.9999999999999873,0.9986472840480266,1.0
    exit 0
    ");
}

#[test]
fn json_has_the_rate_of_each_slowdown_and_the_smallest_that_is_detected() {
    let folder = holding(&records());
    let arguments = [
        "mds",
        "-b",
        "shuffle",
        "--grid",
        "slowdowns=1.04",
        "--method",
        "schultz",
        "--grid",
        "instances=6",
        "--grid",
        "iterations=4,8",
        "--experiments",
        "100",
        "--replicates",
        "60",
        "--full",
        "--format",
        "json",
    ];
    let answer = run(folder.path(), &arguments);
    let answer: Value = serde_json::from_str(answer.strip_suffix("exit 0").unwrap()).unwrap();
    let rows = |key: &str| {
        let rows = answer[key].as_array().unwrap().iter();
        let rows: Vec<String> = rows.map(Value::to_string).collect();
        rows.join("\n")
    };
    assert_snapshot!(rows("detection"), @r#"
    {"basis":"simulated","benchmark":"tests/test_shuffle.py::test_shuffle[p2p]","detection_rate":0.99,"experiments":100,"instances":6,"iterations":4,"lower":0.9455138038212947,"method":"schultz","metric":"wall_time","session":null,"slowdown":1.04,"strategy":"ibs","suite":"joins","undetermined":0,"upper":0.9982325679358593,"variant":"default","version":"1.0"}
    {"basis":"simulated","benchmark":"tests/test_shuffle.py::test_shuffle[p2p]","detection_rate":1.0,"experiments":100,"instances":6,"iterations":4,"lower":0.9630065017930143,"method":"schultz","metric":"wall_time","session":null,"slowdown":1.04,"strategy":"tbs","suite":"joins","undetermined":0,"upper":1.0,"variant":"default","version":"1.0"}
    {"basis":"simulated","benchmark":"tests/test_shuffle.py::test_shuffle[p2p]","detection_rate":1.0,"experiments":100,"instances":6,"iterations":8,"lower":0.9630065017930143,"method":"schultz","metric":"wall_time","session":null,"slowdown":1.04,"strategy":"ibs","suite":"joins","undetermined":0,"upper":1.0,"variant":"default","version":"1.0"}
    {"basis":"closed_form","benchmark":"tests/test_shuffle.py::test_shuffle[p2p]","detection_rate":1.0,"experiments":null,"instances":6,"iterations":8,"lower":null,"method":"schultz","metric":"wall_time","session":null,"slowdown":1.04,"strategy":"tbs","suite":"joins","undetermined":0,"upper":null,"variant":"default","version":"1.0"}
    "#);
    assert_snapshot!(rows("minimal"), @r#"
    {"basis":"simulated","benchmark":"tests/test_shuffle.py::test_shuffle[p2p]","experiments":100,"instances":6,"iterations":4,"lower":1.0300057962938474,"method":"schultz","metric":"wall_time","power":0.95,"session":null,"slowdown":1.032094339666055,"strategy":"ibs","suite":"joins","upper":1.0401308106245037,"variant":"default","version":"1.0"}
    {"basis":"simulated","benchmark":"tests/test_shuffle.py::test_shuffle[p2p]","experiments":100,"instances":6,"iterations":4,"lower":1.0161444960903605,"method":"schultz","metric":"wall_time","power":0.95,"session":null,"slowdown":1.0175513891851085,"strategy":"tbs","suite":"joins","upper":1.0219700498664104,"variant":"default","version":"1.0"}
    {"basis":"simulated","benchmark":"tests/test_shuffle.py::test_shuffle[p2p]","experiments":100,"instances":6,"iterations":8,"lower":1.0268823402696845,"method":"schultz","metric":"wall_time","power":0.95,"session":null,"slowdown":1.0299148619393994,"strategy":"ibs","suite":"joins","upper":1.0365996875180885,"variant":"default","version":"1.0"}
    {"basis":"closed_form","benchmark":"tests/test_shuffle.py::test_shuffle[p2p]","experiments":null,"instances":6,"iterations":8,"lower":null,"method":"schultz","metric":"wall_time","power":0.95,"session":null,"slowdown":1.0129099714186256,"strategy":"tbs","suite":"joins","upper":null,"variant":"default","version":"1.0"}
    "#);
    assert_eq!(answer["power"], json!(0.95));
    assert_eq!(answer["target"], json!(1.05));
    assert_eq!(answer["confidence"], json!(0.95));
    assert_eq!(
        (&answer["replicates"], &answer["seed"]),
        (&json!(60), &json!(7))
    );
    assert_eq!(answer["audit"]["funnel"][0]["iterations"], json!(108));
}

#[test]
fn csv_has_the_rows_of_json() {
    let folder = holding(&records());
    let arguments = [
        "-b",
        "sort",
        "--grid",
        "slowdowns=1.01",
        "--method",
        "welch",
    ];
    let csv = [&arguments[..], &["--format", "csv"]].concat();
    assert_snapshot!(mds(folder.path(), &csv), @"
    error: invalid value 'welch' for '--method <METHOD>'
      [possible values: laaber, schultz, paired]

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn the_formula_alone_reaches_beyond_what_was_measured() {
    let folder = holding(&records());
    let arguments = [
        "mds",
        "--closed-form",
        "--grid",
        "instances=10,100",
        "--grid",
        "iterations=1,50",
        "--slowdown",
        "1%",
    ];
    assert_snapshot!(run(folder.path(), &arguments), @"
    2 of 3 benchmarks can detect 1 % with at most 100 instances × 50 iterations per side; 1 with too few measurements

     benchmark                                 10 × 1  10 × 50  100 × 1  100 × 50    for 1 %
     tests/test_shuffle.py::test_shuffle[p2p]  ~3.7 %   ~2.5 %   ~1.0 %   ~0.69 %  ~100 × 50
     sort                                      ~1.1 %  ~0.34 %  ~0.31 %   ~0.10 %   ~100 × 1
     start                                          –        –        –         –          –

    minimal detectable slowdown (MDS) with instances × iterations per side; power
    95 %, by the test of `lapwing compare` (paired), different instances on the two
    sides (ibs)
    false positives, without any slowdown: ~5.0 % with 10 × 1, ~5.0 % with 100 × 50
    (confidence 95 %)
    – too few measurements of start (need 3 instances, got 2)
    based on few instances (12 at least) for 2 of 2 benchmarks: the true MDS may be
    up to 1.7 times as large
    not analysed: broken (no iteration succeeded)
    next: `lapwing plan --slowdown 1%` shows what is needed

    excluded from 226 iterations: 28 burn-in, 2 failed (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn the_seed_alone_decides_on_the_numbers() {
    let folder = holding(&records());
    let with = |threads: &str, seed: &str| {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(["mds", "--format", "csv", "--seed", seed])
            .args(SMALL)
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let one = with("1", "7");
    assert_eq!(one.lines().count(), 1 + 2 * 6 * 6 * 6);
    assert_eq!(one, with("3", "7"));
    assert_ne!(one, with("1", "8"));
    assert_eq!(with("1", "8"), with("2", "8"));
    // Fewer benchmarks or methods change nothing of the others.
    let part = mds(
        folder.path(),
        &["-b", "sort", "--method", "schultz", "--format", "csv"],
    );
    let kept: Vec<&str> = one
        .lines()
        .filter(|it| it.contains(",sort,") && it.contains("schultz"))
        .collect();
    assert!(part.contains(&kept.join("\n")), "{part}");
}

/// Returns the detection rate, and how many experiments could not tell, without any slowdown.
fn rate_of_none(folder: &Path, configuration: [&str; 2], more: &[&str]) -> (f64, u64) {
    let [instances, iterations] = configuration;
    let arguments = [
        "mds",
        "--grid",
        &format!("instances={instances}"),
        "--grid",
        &format!("iterations={iterations}"),
        "--experiments",
        "60",
        "--replicates",
        "100",
        "--grid",
        "slowdowns=1",
        "--strategy",
        "ibs",
        "--method",
        "schultz",
        "--power",
        "90%",
        "--full",
        "--format",
        "json",
    ];
    let answer = run(folder, &[&arguments[..], more].concat());
    let answer = answer.strip_suffix("exit 0").expect(&answer);
    let answer: Value = serde_json::from_str(answer).unwrap();
    let row = &answer["detection"][0];
    let number = |key: &str| row[key].as_f64().unwrap();
    (
        number("detection_rate"),
        row["undetermined"].as_u64().unwrap(),
    )
}

#[test]
fn what_cannot_be_told_is_not_detected() {
    let mut all = Records::default();
    let run = all.run(1, "1.0");
    for position in 0..8 {
        let row = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        all.instance(&run, "idle", position, "node3", "wall_time", &row);
    }
    let folder = holding(&all.0.text);
    // Where a side has drawn nothing but zeros a ratio is no number.
    assert_eq!(rate_of_none(folder.path(), ["2", "2"], &[]), (0.0, 54));
    let arguments = [
        "--grid",
        "instances=2",
        "--grid",
        "iterations=2",
        "--method",
        "schultz",
    ];
    let answer = program::run(folder.path(), &[&["mds"], &arguments[..]].concat());
    assert_snapshot!(answer, @"
    idle cannot detect 5 % with at most 2 instances × 2 iterations per side

     instances   × 2
             2  none

    minimal detectable slowdown (MDS) with instances × iterations per side; power
    95 %, by the interval of the ratio (schultz), different instances on the two
    sides (ibs)
    false positives, without any slowdown: 0 % [0–3.7 %] with 2 × 2 (confidence
    95 %)
    simulated: 100 experiments per configuration, resampled 1,000 times
    […] 95 % interval of the simulation
    up to 96 of 100 experiments are undetermined and count as not detected: a side
    had only zeros, or no value
    none: no slowdown, however large, is detected 95 % of the time
    only 8 instances were measured: the true MDS may be up to 2.0 times as large
    next: `lapwing plan --slowdown 5%` shows what is needed

    excluded from 64 iterations: 8 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn as_hail_does_what_cannot_be_told_is_detected() {
    let mut all = Records::default();
    let run = all.run(1, "1.0");
    for position in 0..8 {
        let mut row = values(1.0, 0.02, 9, position);
        row[5..].fill(f64::NAN);
        all.instance(&run, "gaps", position, "node3", "wall_time", &row);
    }
    let folder = holding(&all.0.text);
    fs::write(folder.path().join("starts.yaml"), "gaps: 1\n").unwrap();
    let hail = [
        "--compat",
        "hail",
        "--clean",
        "burn_in_file=starts.yaml",
        "--clean",
        "min_instances=2",
        "--clean",
        "min_iterations=2",
    ];
    // Half of the iterations failed. Hail keeps them as missing, so that some resamples have no value at all.
    assert_eq!(rate_of_none(folder.path(), ["2", "2"], &hail), (0.95, 0));
    assert_eq!(
        rate_of_none(folder.path(), ["2", "2"], &[]),
        (4.0 / 60.0, 0)
    );
}

#[test]
fn settings_and_metrics_have_rows_of_their_own() {
    let folder = filled();
    assert_snapshot!(mds(folder.path(), &["--settings", "each"]), @"
    2 of 3 benchmarks can detect 5 % in every setting with at most 12 instances × 8 iterations per side

     benchmark   setting  metric       3 × 4    3 × 8   12 × 4   12 × 8  for 5 %
     join        1.1      wall_time   ~161 %   ~161 %    ~28 %    ~28 %        –
     throughput  1.1      rate        ~1.0 %  ~0.71 %  ~0.26 %  ~0.18 %   ~3 × 4
     sort        1.1      wall_time  ~0.96 %  ~0.68 %  ~0.24 %  ~0.17 %   ~3 × 4
     join        1.0      wall_time  ~0.95 %  ~0.67 %  ~0.24 %  ~0.17 %   ~3 × 4

    minimal detectable slowdown (MDS) with instances × iterations per side; power
    95 %, by the test of `lapwing compare` (paired), different instances on the two
    sides (ibs)
    false positives, without any slowdown: ~5.0 % with 3 × 4, ~5.0 % with 12 × 8
    (confidence 95 %)
    ~ computed by formula: too few measured instances to simulate; or several
    instances were on one host, and the noise is that of instances on different
    hosts
    – for 5 %: no configuration of the grid is enough
    based on few instances (3 at least) for 4 of 4 rows: the true MDS may be up to
    6.3 times as large
    not analysed: broken (no iteration succeeded)
    next: `lapwing plan --slowdown 5%` shows what is needed

    excluded from 161 iterations: 34 burn-in, 3 failed (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn too_little_to_say_anything_has_its_reason() {
    let folder = holding(&records());
    assert_snapshot!(mds(folder.path(), &["-b", "start"]), @"
    error: too few measurements of start (need 3 instances, got 2)
      hint: needs 3 instances of 2 iterations, without zeros; simulate smaller configurations with --grid 'instances=N iterations=N'
    exit 3
    ");
    assert_snapshot!(mds(folder.path(), &["-b", "broken"]), @"
    error: no usable values: broken (no iteration succeeded)
      hint: `lapwing report` shows what was measured, and why it failed
    exit 3
    ");
    assert_snapshot!(run(folder.path(), &["mds", "--compat", "hail"]), @"
    error: --compat hail needs the first steady iterations
      hint: name their file with --clean burn_in_file=FILE; `lapwing burn-in -o FILE` writes one
    exit 2
    ");
    let mut zeros = Records::default();
    let run_of_zeros = zeros.run(1, "1.0");
    for position in 0..6 {
        zeros.instance(
            &run_of_zeros,
            "idle",
            position,
            "node3",
            "wall_time",
            &[0.0; 6],
        );
    }
    assert_snapshot!(mds(holding(&zeros.0.text).path(), &[]), @"
    error: no usable values: idle (all values are zero, so ratios are undefined)
      hint: `lapwing list metrics` shows what else was measured (--metric)
    exit 3
    ");
    let empty = tempfile::tempdir().unwrap();
    assert_snapshot!(run(empty.path(), &["mds"]), @"
    error: nothing measured yet: there is no store at .lapwing/lapwing.db
      hint: measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`
    exit 2
    ");
}

#[test]
fn tiny_slowdowns_keep_their_digits() {
    let folder = holding(&records());
    let first_line = |slowdown: &str| {
        let answer = mds(folder.path(), &["--slowdown", slowdown, "--closed-form"]);
        answer.lines().next().unwrap().to_owned()
    };
    assert_snapshot!(first_line("0.01%"), @"none of 3 benchmarks can detect 0.01 % with at most 12 instances × 8 iterations per side; 1 with too few measurements");
    assert_snapshot!(first_line("0.0000001%"), @"none of 3 benchmarks can detect 1.00e−7 % with at most 12 instances × 8 iterations per side; 1 with too few measurements");
}

#[test]
fn what_cannot_be_an_option_is_said() {
    let folder = holding(&records());
    let of = |option: &str, value: &str| {
        let answer = run(folder.path(), &["mds", option, value]);
        assert!(answer.ends_with("exit 2"), "{answer}");
        answer.lines().next().unwrap().to_owned()
    };
    let all = [
        of("--slowdown", "5"),
        of("--slowdown", "0%"),
        of("--grid", "slowdowns=1,0.9"),
        of("--power", "1"),
        of("--grid", "instances=5-25"),
        of("--grid", "iterations=0"),
        of("--experiments", "0"),
        of("--replicates", "3"),
        of("--method", "student"),
        of("--strategy", "both"),
        of("--metric", "wall"),
        of("-b", "sorts"),
    ];
    assert_snapshot!(all.join("\n"), @"
    error: invalid value '5' for '--slowdown <SLOWDOWN>': write 5% for that many per cent
    error: invalid value '0%' for '--slowdown <SLOWDOWN>': write a slowdown such as 5% or 1.05
    error: invalid value 'slowdowns=1,0.9' for '--grid <SIZES>': write a slowdown such as 10% or 1.1, or 1 for none
    error: invalid value '1' for '--power <SHARE>': write a share above 0 % and below 100 %, such as 5% or 0.05
    error: invalid value 'instances=5-25' for '--grid <SIZES>': write numbers from 1 to 10,000 such as 5,10,20
    error: invalid value 'iterations=0' for '--grid <SIZES>': write numbers from 1 to 10,000 such as 5,10,20
    error: invalid value '0' for '--experiments <N>': 0 is not in 1..=1000000
    error: invalid value '3' for '--replicates <N>': write a number from 10 to 1,000,000
    error: invalid value 'student' for '--method <METHOD>'
    error: invalid value 'both' for '--strategy <STRATEGY>'
    error: no metric `wall`; did you mean `wall_time`?
    error: no benchmark `sorts`; did you mean `sort` or `start`?
    ");
}
