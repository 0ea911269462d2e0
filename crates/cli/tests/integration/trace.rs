//! `lapwing trace` by the real program.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::program::run;

/// Two workers; the second task of `w0` stands behind the first, and the controller is slow to notice.
pub const TRACE: &str = "\
starting
2026-01-01:DEBUG:cascade.low.tracing.marker:1:#host=controller;action=ctrl_plan;at=0
2026-01-01:DEBUG:cascade.low.tracing.marker:1:#host=controller;task=load1;action=task_planned;worker=h0.w0;at=1000000
2026-01-01:DEBUG:cascade.low.tracing.marker:1:#host=controller;task=load2;action=task_planned;worker=h0.w0;at=1000000
2026-01-01:DEBUG:cascade.low.tracing.marker:1:#host=controller;action=ctrl_wait;at=2000000
2026-01-01:DEBUG:cascade.low.tracing.marker:2:#host=h0;task=load1;action=task_enqueued;worker=h0.w0;at=2000000
2026-01-01:DEBUG:cascade.low.tracing.marker:2:#host=h0;task=load2;action=task_enqueued;worker=h0.w0;at=2000000
2026-01-01:DEBUG:cascade.low.tracing.marker:2:#host=h0;task=load1;action=task_started;worker=h0.w0;at=3000000
2026-01-01:DEBUG:cascade.low.tracing.marker:2:#host=h0;task=load1;action=task_published;worker=h0.w0;at=13000000
2026-01-01:DEBUG:cascade.low.tracing.marker:2:#host=h0;task=load2;action=task_started;worker=h0.w0;at=14000000
2026-01-01:DEBUG:cascade.low.tracing.marker:2:#host=h0;task=load2;action=task_published;worker=h0.w0;at=24000000
2026-01-01:DEBUG:cascade.low.tracing.marker:1:#host=controller;task=load1;action=task_completed;worker=h0.w0;at=33000000
2026-01-01:DEBUG:cascade.low.tracing.marker:1:#host=controller;task=load2;action=task_completed;worker=h0.w0;at=34000000
2026-01-01:DEBUG:cascade.low.tracing.marker:1:#host=controller;dataset=d1;action=transmit_planned;source=h0;target=h1;at=34000000
2026-01-01:DEBUG:cascade.low.tracing.marker:1:#host=controller;action=ctrl_shutdown;at=35000000
2026-01-01:DEBUG:cascade.low.tracing.tracer:1:#ctrl_init=5
";

#[test]
fn findings_begin_with_what_takes_most_time() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.log"), TRACE).unwrap();
    let trace = |what: &[&str]| {
        run(
            folder.path(),
            &[&["trace", "show"], what, &["--file", "trace.log"]].concat(),
        )
    };
    let told = [
        trace(&["findings"]),
        trace(&["tasks", "--group", "all"]),
        trace(&["transfers"]),
        trace(&["controller"]),
        trace(&["lint"]),
    ];
    assert_snapshot!(told.join("\n"), @"
    33.0 ms with 1 worker and 2 tasks: 0.61 tasks compute at once on average, workers are busy 61 % of the time

     explains  finding
      30.0 ms  46 % of task time is waiting for the controller to notice completion (30.0 ms of 65.0 ms), while 0.61 tasks compute at once and workers are busy 61 % of the time

    note: workers' time: 61 % computing, 30 % waiting for the controller to notice
    completion, 6.1 % in the queue of the worker, 3.0 % on the way to the worker
    note: observed path to the end (the trace has no graph), 2 tasks: 61 %
    computing, 30 % waiting for the controller to notice completion, 6.1 % in the
    queue of the worker, 3.0 % on the way to the worker; 33.0 ms of 33.0 ms
    note: the trace has defects (`lapwing trace show lint` explains them): 1 ×
    missing event started (transfer), 1 × open transfer
    exit 0
    2 tasks in 33.0 ms, 65.0 ms in all; means of each duration

        tasks    total  on worker  to worker    queue  compute  to controller
            2  32.5 ms    16.5 ms    1.00 ms  6.50 ms  10.0 ms        15.0 ms

    note: the trace has defects (`lapwing trace show lint` explains them): 1 ×
    missing event started (transfer), 1 × open transfer
    exit 0
    1 transfer of 1 dataset, 0 s in all; means of each duration

     mode     transfers  total  to source  load  transmit  to target  unload  to controller
     unknown          1      –          –     –         –          –       –              –

    note: the trace has defects (`lapwing trace show lint` explains them): 1 ×
    missing event started (transfer), 1 × open transfer
    exit 0
    1 iteration in 33.0 ms: 2 completions of tasks and transfers, busy 5.7 % of the time

     phase     number      sum  longest
     plan           1  2.00 ms  2.00 ms
     shutdown       1      0 s      0 s
     wait           1  33.0 ms  33.0 ms

    note: the trace has defects (`lapwing trace show lint` explains them): 1 ×
    missing event started (transfer), 1 × open transfer
    exit 0
    2 kinds of defects   (2 tasks, 1 transfer, 3 controller phases, 33.0 ms)

     defect         of                  number  such as   so
     missing event  started (transfer)       1  d1 to h1  these tasks are left out of the durations that need the event
     open transfer                           1  d1 to h1  these transfers count for no total
    exit 1
    ");
}

#[test]
fn a_path_without_times_has_no_parts() {
    let folder = tempfile::tempdir().unwrap();
    let lines = TRACE.lines().filter(|line| line.contains("task=load1"));
    let at_once = lines.map(|line| {
        let (event, _time) = line.rsplit_once("at=").unwrap();
        format!("{event}at=1000000\n")
    });
    fs::write(folder.path().join("trace.log"), at_once.collect::<String>()).unwrap();
    let told = run(folder.path(), &["trace", "show", "--file", "trace.log"]);
    assert!(
        told.contains("(the trace has no graph), 1 task: 0 s of 0 s"),
        "{told}"
    );
}

#[test]
fn a_trace_compared_with_itself_does_not_differ() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.log"), TRACE).unwrap();
    for show in ["classes", "path", "sums", "tasks"] {
        let rows = compared(folder.path(), &["trace.log", "trace.log", "--show", show]);
        let others: Vec<&Value> = rows
            .iter()
            .filter(|row| !row["difference"].is_null())
            .collect();
        assert!(!others.is_empty());
        for row in others {
            assert_eq!(
                (&row["difference"], &row["relative"]),
                (&json!(0), &json!(0.0))
            );
        }
    }
}

#[test]
fn a_side_is_several_runs_in_a_folder_or_before_and_after_two_dashes() {
    let folder = tempfile::tempdir().unwrap();
    for side in ["a", "b"] {
        fs::create_dir(folder.path().join(side)).unwrap();
        for run in ["1.log", "2.log", "3.log"] {
            fs::write(folder.path().join(side).join(run), TRACE).unwrap();
        }
    }
    let runs = |words: &[&str]| {
        let words = [&["trace", "compare", "--format", "json"], words].concat();
        let told = run(folder.path(), &words);
        let told: Value = serde_json::from_str(told.strip_suffix("exit 0").unwrap()).unwrap();
        let sides = told["traces"].as_array().unwrap().iter();
        sides
            .map(|side| side["runs"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(runs(&["a", "b"]), [3, 3]);
    assert_eq!(runs(&["a/1.log", "a/2.log", "--", "b/1.log"]), [2, 1]);
}

#[test]
fn what_paths_spend_adds_up_to_the_difference_in_makespan() {
    let rows = compared(
        &fixtures(),
        &[
            "threads.jsonl",
            "processes.jsonl",
            "--show",
            "path",
            "--top",
            "0",
        ],
    );
    let sum = |trace: &str| -> i64 {
        let rows = rows.iter().filter(|row| row["trace"] == trace);
        rows.filter_map(|row| row["time"].as_i64()).sum()
    };
    let makespan = |file: &str| {
        let told = run(
            &fixtures(),
            &[
                "trace", "show", "findings", "--file", file, "--format", "json",
            ],
        );
        let told = told.strip_suffix("exit 0").unwrap();
        serde_json::from_str::<Value>(told).unwrap()["makespan"]
            .as_i64()
            .unwrap()
    };
    assert_eq!(sum("threads"), makespan("threads.jsonl"));
    assert_eq!(sum("processes"), makespan("processes.jsonl"));
}

#[test]
fn differences_are_relative_to_the_baseline_or_as_the_notebook_has_them() {
    let of_one = |more: &[&str]| {
        let words = [
            &[
                "threads.jsonl",
                "processes.jsonl",
                "--show",
                "tasks",
                "--full",
            ],
            more,
        ]
        .concat();
        let rows = compared(&fixtures(), &words);
        let row = rows
            .iter()
            .find(|it| it["name"] == "count-1-2" && it["trace"] == "processes");
        let row = row.unwrap();
        let number = |key: &str| row[key].as_f64().unwrap();
        (number("time"), number("difference"), number("relative"))
    };
    let (time, difference, relative) = of_one(&[]);
    assert!((relative - difference / (time - difference)).abs() < 1e-12);
    let (time, difference, relative) = of_one(&["--compat", "notebook", "--sort", "name"]);
    assert!((relative - difference / time).abs() < 1e-12);
}

#[test]
fn threads_that_share_a_lock_are_told() {
    let told = run(
        &fixtures(),
        &["trace", "show", "findings", "--file", "threads.jsonl"],
    );
    let of_count = told
        .lines()
        .find(|line| line.contains("makes `count`"))
        .unwrap();
    assert!(of_count.contains("a lock (such as Python's)"), "{told}");
    let words = ["threads.jsonl", "processes.jsonl", "--show", "sums"];
    let rows = compared(&fixtures(), &words);
    let off_cpu = |row: &&Value| row["name"] == "count" && row["part"] == "off_cpu";
    let off_cpu = rows.iter().rfind(off_cpu).unwrap();
    assert!(off_cpu["relative"].as_f64().unwrap() < -0.3, "{off_cpu}");
    let tasks = run(
        &fixtures(),
        &[
            "trace",
            "compare",
            "threads.jsonl",
            "processes.jsonl",
            "threads.jsonl",
        ],
    );
    assert!(
        tasks.contains("no worker of processes has the name"),
        "{tasks}"
    );
}

#[test]
fn traces_of_a_job_are_instances_of_one_benchmark() {
    let folder = tempfile::tempdir().unwrap();
    for (name, delay) in [
        ("a1", 0),
        ("a2", 1),
        ("a3", 2),
        ("b1", 20),
        ("b2", 21),
        ("b3", 22),
    ] {
        let trace = TRACE.replace(
            "at=24000000",
            &format!("at={}", 24_000_000 + delay * 100_000),
        );
        fs::write(folder.path().join(format!("{name}.log")), trace).unwrap();
    }
    for (variant, files) in [
        ("a", ["a1.log", "a2.log", "a3.log"]),
        ("b", ["b1.log", "b2.log", "b3.log"]),
    ] {
        let names = format!("benchmark=job variant={variant}");
        let named = ["import", "--as", &names];
        let told = run(folder.path(), &[&named[..], &files].concat());
        assert!(told.contains("3 instances"), "{told}");
    }
    let told = run(
        folder.path(),
        &["compare", "a", "b", "--metric", "trace.compute.load"],
    );
    assert!(told.contains("3 / 3") && told.contains("job"), "{told}");
    let told = run(folder.path(), &["import", "a1.log", "--as", "variant=c"]);
    assert!(
        told.contains("imported with variant `a` and not variant `c`"),
        "{told}"
    );
    fs::write(
        folder.path().join("times.json"),
        r#"{"results":[{"command":"a","times":[1.0,2.0]}]}"#,
    )
    .unwrap();
    let told = run(
        folder.path(),
        &["import", "times.json", "--as", "variant=c"],
    );
    assert!(
        told.contains("not used: --as benchmark=… and variant=…"),
        "{told}"
    );
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/dask-trace-2026.8")
}

/// Returns the rows of a comparison.
fn compared(folder: &Path, words: &[&str]) -> Vec<Value> {
    let told = run(
        folder,
        &[&["trace", "compare", "--format", "json"], words].concat(),
    );
    let told = told.strip_suffix("exit 0").unwrap();
    let told: Value = serde_json::from_str(told).unwrap();
    told["rows"].as_array().unwrap().clone()
}

#[test]
fn a_file_without_a_trace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.log"), "nothing here\n").unwrap();
    let told = ["trace.log", "missing.log"]
        .map(|file| run(folder.path(), &["trace", "show", "tasks", "--file", file]));
    assert_snapshot!(told.join("\n"), @"
    error: trace.log: no line is an event of a trace
      hint: docs/traces.md says which traces can be read and how to record one
    exit 2
    error: cannot read missing.log: No such file or directory (os error 2)
    exit 2
    ");
}

#[test]
fn a_report_has_the_newest_trace_of_each_benchmark_with_its_findings() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("first.log"), TRACE).unwrap();
    fs::write(folder.path().join("again.log"), TRACE.replace("d1", "d2")).unwrap();
    for file in ["first.log", "again.log"] {
        let told = run(folder.path(), &["import", file, "--as", "benchmark=load"]);
        assert!(told.ends_with("exit 0"), "{told}");
    }
    let told = run(folder.path(), &["report", "-o", "site"]);
    assert!(told.ends_with("exit 0"), "{told}");
    let site = folder.path().join("site");
    let pages: Vec<PathBuf> = fs::read_dir(site.join("trace"))
        .unwrap()
        .map(|page| page.unwrap().path())
        .collect();
    assert_eq!(pages.len(), 1, "{pages:?}");
    let page = fs::read_to_string(&pages[0]).unwrap();
    assert!(page.contains("href=\"../traces.html\""));
    let list = fs::read_to_string(site.join("traces.html")).unwrap();
    let found = run(
        folder.path(),
        &["trace", "show", "findings", "--format", "json", "--quiet"],
    );
    // Notes come after it.
    let mut answers = serde_json::Deserializer::from_str(&found).into_iter::<Value>();
    let found = answers.next().unwrap().unwrap();
    for finding in found["findings"].as_array().unwrap() {
        let text = finding["text"].as_str().unwrap().replace('`', "");
        assert!(list.contains(&text), "{text}: {list}");
    }
}
