//! `lapwing detect --rule` by the real program.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::{RecordLines, record_id as id};
use serde_json::json;

use crate::program::run;

/// A version a day, each with these wall times of `a.py::test` and `b.py::test`.
fn filled(times: &[[f64; 2]]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = RecordLines::default();
    for (day, times) in (1..).zip(times) {
        let started = format!("2026-01-{day:02}T10:00:00Z");
        let session = lines.session(&started, json!({"id": id(0, day)}));
        let version = json!({"name": format!("v{day}")});
        let run = lines.run(&session, json!({"id": id(1, day), "version": version}));
        for (number, name, time) in [(1, "a.py::test", times[0]), (2, "b.py::test", times[1])] {
            let started = format!("2026-01-{day:02}T10:0{number}:00Z");
            let more = json!({"id": id(2, 10 * day + number), "started": started});
            let instance = lines.instance(&run, name, more);
            lines.iteration(&instance, 0, json!({"metrics": {"wall_time": time}}));
            lines.instance_end(&instance);
        }
    }
    fs::write(folder.path().join("all.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "all.jsonl"]);
    folder
}

fn detect(folder: &Path, more: &[&str]) -> String {
    run(folder, &[&["detect"], more].concat())
}

/// Twelve quiet days, and two on which the first test takes two seconds longer.
fn slower() -> tempfile::TempDir {
    let mut times = [[10.0, 10.2]; 14];
    for (day, times) in times.iter_mut().enumerate() {
        *times = times.map(|time| if day % 2 == 0 { time } else { time + 0.1 });
    }
    times[12][0] += 2.0;
    times[13][0] += 2.0;
    filled(&times)
}

#[test]
fn the_threshold_rule_lists_the_runs_above_it() {
    let folder = slower();
    let words = [
        "--rule",
        "threshold",
        "--last",
        "2",
        "--fail-on",
        "regression",
    ];
    assert_snapshot!(detect(folder.path(), &words), @"
    1 new regression   (2 histories, 14 runs, latest 2 against mean + 3 sd of 10 before)

     benchmark   before   after  change              since  verdict       id
     a.py::test  10.0 s  12.0 s  1.20× [1.19, 1.21]  v13    ✗ regression  e10395d9

    note: from v13 on, 2026-01-13
    note: a.py::test: threshold 11.1 s, mean 10.1 s, sd 0.0527 s; latest 12.1 s,
    12.0 s, 10.1 s
    note: the runs are in order of the names of the versions, which have no dates
    next: `lapwing triage acknowledge e10395d9` marks it as known, `lapwing report`
    writes pages with the histories
    exit 1
    ");
}

#[test]
fn tests_of_equal_name_are_one_history_for_coileds_detector() {
    let folder = slower();
    // Of the latest two values one is of the other file, which is as fast as before.
    assert_snapshot!(detect(folder.path(), &["--compat", "coiled", "--last", "2"]), @"
    no change found   (1 history, 28 runs, latest 2 against mean + 3 sd of 10 before)
    note: the runs are in order of the names of the versions, which have no dates
    exit 0
    ");
    assert_snapshot!(detect(folder.path(), &["--rule", "threshold", "--format", "csv", "--last", "2"]), @"
    id,suite,benchmark,variant,metric,unit,direction,kind,before,after,ratio,ratio_lower,ratio_upper,difference,difference_lower,difference_upper,p_value,p_adjusted,threshold,mean_before,deviation_before,latest,rates,runs_before,runs_after,good,first,last,since,went_away,state,state_reason,state_by,notified,explained,environment_changes,environment
    e10395d9,s,a.py::test,default,wall_time,s,regression,alarm,10.049875621120892,12.049896265113658,1.1990094921960535,1.1871935201998252,1.2109430669182402,,,,,,11.05,10.05,0.052704627669471864,12.1; 12.0; 10.1,,10,2,v12,v13,v13,v13,,new,,,false,,0,
    exit 0
    ");
}

#[test]
fn options_of_another_rule_and_command_are_refused() {
    let folder = slower();
    let refused = [
        detect(folder.path(), &["--last", "1"]),
        detect(folder.path(), &["--rule", "threshold", "--min-runs", "5"]),
        detect(
            folder.path(),
            &["--rule", "changepoint", "--compat", "coiled"],
        ),
        detect(
            folder.path(),
            &["--rule", "threshold", "--memory-floor", "1 barrel"],
        ),
    ];
    assert_snapshot!(refused.join("\n"), @"
    error: --last has no effect on the rule `changepoint`
      hint: `lapwing detect --help` says which rule an option belongs to
    exit 2
    error: --min-runs has no effect on the rule `threshold`
      hint: `lapwing detect --help` says which rule an option belongs to
    exit 2
    error: --compat coiled is the rule `threshold`, no other
    exit 2
    error: invalid value '1 barrel' for '--memory-floor <SIZE>': write a size such as 100MiB

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn the_suite_file_sets_the_smallest_effect_of_a_benchmark_and_mutes_it() {
    let folder = slower();
    let folder = folder.path();
    let words = ["--rule", "threshold", "--last", "2"];
    let with = |suite: &str| {
        fs::write(folder.join("lapwing.toml"), suite).unwrap();
        detect(folder, &words)
    };
    let told = [
        with("[benchmark.\"a.py::*\".judge]\nsmallest_effect = \"25%\""),
        with("[benchmark.\"a.py::*\".judge.metric.wall_time]\nsmallest_effect = \"15%\"\n[judge]\nsmallest_effect = \"25%\"")
            .lines()
            .next()
            .unwrap()
            .to_owned(),
        with("[benchmark.\"a.py::test\".judge]\ndetect = false\n[benchmark.c.judge]\ndetect = false"),
    ];
    assert_snapshot!(told.join("\n"), @"
    no change as large as the smallest effect   (2 histories, 14 runs, latest 2 against mean + 3 sd of 10 before)
    note: not shown: 1 change below the smallest effect
    note: the runs are in order of the names of the versions, which have no dates
    exit 0
    1 new regression   (2 histories, 14 runs, latest 2 against mean + 3 sd of 10 before)
    no change found   (1 history, 14 runs, latest 2 against mean + 3 sd of 10 before)
    note: the runs are in order of the names of the versions, which have no dates
    note: muted in the suite file: a.py::test
    note: no benchmark is meant by [benchmark.c.judge] of the suite file
    exit 0
    ");
}
