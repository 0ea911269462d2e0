//! `lapwing trace` by the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::program::{output, run};

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
    let trace = |what: &[&str]| run(folder.path(), &[&["trace"], what, &["trace.log"]].concat());
    let told = [
        trace(&["findings"]),
        trace(&["tasks", "--by", "all"]),
        trace(&["transfers"]),
        trace(&["controller"]),
        trace(&["lint"]),
    ];
    assert_snapshot!(told.join("\n"), @"
    33.0 ms with 1 worker and 2 tasks: 0.61 tasks compute at once on average, workers are busy 61 % of the time

        gain  finding
     10.0 ms  the controller notices late that tasks are done: 15.0 ms on average, 20.0 ms at most; without it the run takes 33.0 ms → 23.0 ms
     2.00 ms  tasks do not start although they are on an idle worker with all of their inputs: 1.00 ms on average, 1.00 ms at most; without it the run takes 33.0 ms → 31.0 ms

    note: workers' time: 61 % computing, 30 % waiting for the controller to notice
    completion, 6.1 % in the queue of the worker, 3.0 % on the way to the worker
    note: replayed with each task on the worker that is free first, the run takes
    33.0 ms: 0 % from 33.0 ms as measured; what gains less is no finding
    note: the trace does not say which tasks wait for which, and its workers had
    tasks all the time: each is taken to wait for no other (`--graph FILE` says it)
    note: observed path to the end (the trace has no graph), 2 tasks: 61 %
    computing, 30 % waiting for the controller to notice completion, 6.1 % in the
    queue of the worker, 3.0 % on the way to the worker; 33.0 ms of 33.0 ms
    note: the trace has defects (`lapwing trace lint` explains them): 1 × missing
    event started (transfer), 1 × open transfer
    exit 0
    2 tasks in 33.0 ms, 65.0 ms in all; means of each duration

        tasks    total  on worker  to worker    queue  compute  to controller
            2  32.5 ms    16.5 ms    1.00 ms  6.50 ms  10.0 ms        15.0 ms

    note: the trace has defects (`lapwing trace lint` explains them): 1 × missing
    event started (transfer), 1 × open transfer
    exit 0
    1 transfer of 1 dataset; means of each duration

     mode     transfers  total  to source  load  transmit  to target  unload  to controller
     unknown          1      –          –     –         –          –       –              –

    note: the trace has defects (`lapwing trace lint` explains them): 1 × missing
    event started (transfer), 1 × open transfer
    exit 0
    1 iteration in 33.0 ms: 2 completions of tasks and transfers, busy 5.7 % of the time

     phase     number      sum  longest
     plan           1  2.00 ms  2.00 ms
     shutdown       1      0 s      0 s
     wait           1  33.0 ms  33.0 ms

    note: the trace has defects (`lapwing trace lint` explains them): 1 × missing
    event started (transfer), 1 × open transfer
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
    let told = run(folder.path(), &["trace", "findings", "trace.log"]);
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
            &["trace", "findings", file, "--format", "json"],
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
    let told = run(&fixtures(), &["trace", "findings", "threads.jsonl"]);
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
    let stored = compared(folder.path(), &["a", "variant:b", "--show", "sums"]);
    let files = [
        "a1.log", "a2.log", "a3.log", "--show", "sums", "--", "b1.log", "b2.log", "b3.log",
    ];
    let files = compared(folder.path(), &files);
    let times = |rows: &[Value]| rows.iter().map(|it| it["time"].clone()).collect::<Vec<_>>();
    assert_eq!(times(&stored), times(&files));
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

#[test]
fn files_of_several_runs_are_refused_with_their_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    file("one run.log", TRACE);
    file("other.log", &TRACE.replace("at=3", "at=4"));
    let told = run(
        folder.path(),
        &["trace", "findings", "one run.log", "other.log"],
    );
    assert_snapshot!(told, @"
    error: one run.log and other.log are of different runs: tasks of the same names have other times, or they are far apart in time
      hint: `lapwing trace compare 'one run.log' other.log` compares them
    exit 2
    ");
    // A folder with the logs of a host and of the controller, and one that is empty.
    let (host, controller): (Vec<&str>, Vec<&str>) =
        TRACE.lines().partition(|line| line.contains("host=h0"));
    fs::create_dir(folder.path().join("logs")).unwrap();
    file("logs/h0.log", &(host.join("\n") + "\n"));
    file("logs/controller.log", &(controller.join("\n") + "\n"));
    file("logs/empty.log", "");
    let of = |words: &[&str]| run(folder.path(), &[&["trace", "tasks"], words].concat());
    let whole = of(&["one run.log"]);
    assert_eq!(of(&["logs"]), whole);
    assert_eq!(of(&["logs/h0.log", "logs/controller.log"]), whole);
    let two = run(
        &fixtures(),
        &["trace", "findings", "threads.jsonl", "processes.jsonl"],
    );
    assert_snapshot!(two, @"
    error: threads.jsonl is a trace by itself: only logs of earthkit-workflows are read together
      hint: `lapwing trace compare threads.jsonl processes.jsonl` compares them
    exit 2
    ");
}

#[test]
fn traces_are_read_compressed_and_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.log");
    fs::write(&path, TRACE).unwrap();
    let plain = run(folder.path(), &["trace", "trace.log"]);
    assert!(plain.starts_with("33.0 ms with 1 worker"), "{plain}");
    for (tool, file) in [("gzip", "trace.log.gz"), ("zstd", "trace.log.zst")] {
        let compressed = Command::new(tool).args(["-k", "-q"]).arg(&path).status();
        // Not every machine has these.
        if compressed.is_ok_and(|it| it.success()) {
            let told = run(folder.path(), &["trace", "findings", file]);
            assert_eq!(told, plain, "{file}");
        }
    }
    let told = Command::new(env!("CARGO_BIN_EXE_lapwing"))
        .args(["trace", "findings", "-"])
        .stdin(fs::File::open(&path).unwrap())
        .output()
        .unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(plain.starts_with(told.trim_end()), "{told}");
}

#[test]
fn a_range_limits_tasks_transfers_and_events() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.log"), TRACE).unwrap();
    let trace = |words: &[&str]| {
        let words = [&["trace"], words, &["trace.log"]].concat();
        run(folder.path(), &words)
    };
    let told = [
        trace(&["tasks", "--by", "task", "--range", "32.5ms..1s"]),
        trace(&["tasks", "--range", "32.5ms.."]),
        trace(&["transfers", "--range", "..0.01"]),
        trace(&["tasks", "--range", "5s..6s"]),
        trace(&["tasks", "--range", "6s..5s"]),
    ];
    assert_snapshot!(told.join("\n"), @"
    1 task in 33.0 ms, the slowest first

     task   class  worker    total  to worker    queue  compute  to controller
     load2  load   h0.w0   33.0 ms    1.00 ms  12.0 ms  10.0 ms        10.0 ms

    note: the trace has defects (`lapwing trace lint` explains them): 1 × missing
    event started (transfer), 1 × open transfer
    note: only what is under way from 32.5 ms to 33.0 ms of 33.0 ms
    exit 0
    1 task in 33.0 ms, 33.0 ms in all; means of each duration

           tasks    total  on worker  to worker    queue  compute  to controller
     load      1  33.0 ms    22.0 ms    1.00 ms  12.0 ms  10.0 ms        10.0 ms

    note: the trace has defects (`lapwing trace lint` explains them): 1 × missing
    event started (transfer), 1 × open transfer
    note: only what is under way from 32.5 ms to 33.0 ms of 33.0 ms
    exit 0
    the trace has no data transfers
    note: only what is under way from 0 s to 10.0 ms of 33.0 ms
    exit 0
    error: the trace has nothing in the range: it takes 33.0 ms
    exit 2
    error: invalid value '6s..5s' for '--range <FROM..TO>': write FROM..TO, such as `1s..2s`, `100ms..1.5s` or `2s..`

    For more information, try '--help'.
    exit 2
    ");
    let events = |range: &str| {
        let told = trace(&["export", "--range", range]);
        told.matches("\"cat\":\"task\"").count()
    };
    assert_eq!([events("0..1"), events("32.5ms..")], [2, 1]);
}

#[test]
fn old_forms_are_refused_with_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let told = [
        run(
            folder.path(),
            &["trace", "show", "tasks", "--file", "a b.log"],
        ),
        run(folder.path(), &["trace", "what-if", "--file", "a.log"]),
    ];
    assert_snapshot!(told.join("\n"), @"
    error: `lapwing trace show` is a form of an older version
      hint: `lapwing trace tasks 'a b.log'`
    exit 2
    error: `--file` is a form of an older version
      hint: `lapwing trace what-if a.log`
    exit 2
    ");
}

#[test]
fn lint_tells_clocks_and_negative_durations_with_units() {
    let folder = tempfile::tempdir().unwrap();
    let trace = TRACE.replace("at=33000000", "at=12500000");
    let trace = trace.replace(
        "action=task_enqueued;worker=h0.w0;at=2000000",
        "action=task_enqueued;worker=h0.w0;at=500000",
    );
    fs::write(folder.path().join("trace.log"), trace).unwrap();
    let told = run(folder.path(), &["trace", "lint", "trace.log"]);
    assert_snapshot!(told, @"
    5 kinds of defects   (2 tasks, 1 transfer, 3 controller phases, 33.5 ms)

     defect             of                  number  such as         so
     missing event      started (transfer)       1  d1 to h1        these tasks are left out of the durations that need the event
     open transfer                               1  d1 to h1        these transfers count for no total
     negative duration  to_controller            1  load1, −500 µs  these durations are part of the sums as they are; processes write side by side, or clocks differ
     negative duration  to_worker                2  load1, −500 µs  these durations are part of the sums as they are; processes write side by side, or clocks differ
     clock              h0                       1  −500 µs         durations from one host to another are off by that much
    exit 1
    ");
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
    let told =
        ["trace.log", "missing.log"].map(|file| run(folder.path(), &["trace", "tasks", file]));
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
        &["trace", "findings", "--format", "json", "--quiet"],
    );
    // Notes come after it.
    let mut answers = serde_json::Deserializer::from_str(&found).into_iter::<Value>();
    let found = answers.next().unwrap().unwrap();
    for finding in found["findings"].as_array().unwrap() {
        let text = finding["text"].as_str().unwrap().replace('`', "");
        assert!(list.contains(&text), "{text}: {list}");
    }
}

/// Runs a script of the shell under `trace record`, and returns its output and the findings of the record.
fn recorded(folder: &Path, script: &str) -> (std::process::Output, Value) {
    let done = output(folder, &["trace", "record", "--", "sh", "-c", script]);
    let found = output(
        folder,
        &["--format", "json", "trace", "findings", "recorded.jsonl"],
    );
    (done, serde_json::from_slice(&found.stdout).unwrap())
}

/// A loop of awk that is named as a program of its own.
const SPIN: &str = "awk 'BEGIN { for (i = 0; i < 20000000; i++) s += i }'";

#[test]
fn recorded_processes_that_share_a_core_wait_for_it_and_sleepers_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let cores = status
        .split_once("Cpus_allowed_list:")
        .unwrap()
        .1
        .trim_start();
    let core = cores.split(|it: char| !it.is_ascii_digit()).next().unwrap();
    let script = format!("taskset -c {core} {SPIN} & taskset -c {core} {SPIN} & wait; echo done");
    let (done, found) = recorded(folder.path(), &script);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "done\n");
    let sharing = &found["findings"][0];
    assert_eq!(
        (&sharing["kind"], &sharing["cause"]),
        (&json!("off_cpu"), &json!("core")),
        "{found}"
    );
    assert!(
        sharing["text"]
            .as_str()
            .unwrap()
            .contains("waits for a core for"),
        "{sharing}"
    );
    // The files of the record mean a trace, without a command.
    let told = run(folder.path(), &["recorded.jsonl"]);
    assert!(told.contains("cores are used"), "{told}");
    let (_, found) = recorded(folder.path(), "sleep 1");
    let sleeping = &found["findings"][0];
    assert_eq!(sleeping["subject"], "sleep", "{found}");
    assert_eq!(sleeping["cause"], Value::Null, "{sleeping}");
    assert!(
        sleeping["text"]
            .as_str()
            .unwrap()
            .contains("(sleeping, reading, or waiting for a lock)")
    );
}

#[test]
fn recording_passes_on_output_exit_code_and_signals() {
    let folder = tempfile::tempdir().unwrap();
    let (done, _) = recorded(folder.path(), "echo out; echo err >&2; sleep 0.1; exit 7");
    assert_eq!(done.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "out\n");
    assert!(String::from_utf8_lossy(&done.stderr).starts_with("err\n"));
    let killed = output(
        folder.path(),
        &["trace", "record", "--", "sh", "-c", "kill -9 $$"],
    );
    assert_eq!(killed.status.code(), Some(137));
    let script = "trap 'echo asked; exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.01; done";
    let asked = output(
        folder.path(),
        &["trace", "record", "--", "sh", "-c", script],
    );
    assert_eq!(String::from_utf8_lossy(&asked.stdout), "asked\n");
    assert_eq!(asked.status.code(), Some(3));
    fs::write(folder.path().join("recorded.jsonl"), "mine\n").unwrap();
    let refused = run(folder.path(), &["trace", "record", "--", "true"]);
    assert!(
        refused.contains("is something else than a record"),
        "{refused}"
    );
}

#[test]
fn what_was_recorded_before_a_kill_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 0.5; kill -9 $PPID";
    let killed = output(
        folder.path(),
        &["trace", "record", "--", "sh", "-c", script],
    );
    assert_eq!(killed.status.code(), None);
    let told = run(folder.path(), &["trace", "tasks", "recorded.jsonl"]);
    assert!(told.contains("exit 0"), "{told}");
}

#[test]
fn logs_get_the_times_of_the_processes_that_are_recorded_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    // A worker that writes when its task begins and ends, as earthkit-workflows does.
    let event = |action: &str| {
        format!(
            "echo \"x:DEBUG:cascade.low.tracing.marker:$$:#host=h0;task=a;action={action};worker=h0.w0;at=$(date +%s%N)\" >>log"
        )
    };
    let [started, published] = ["task_started", "task_published"].map(event);
    let script = format!("{started}; sleep 0.5; {published}; sleep 0.1");
    recorded(folder.path(), &script);
    let told = run(
        folder.path(),
        &["trace", "findings", "log", "recorded.jsonl"],
    );
    assert!(
        told.contains("1 of 1 task has the time on the CPU"),
        "{told}"
    );
    assert!(
        told.contains("`a` is off the CPU (sleeping, reading, or waiting for a lock) for"),
        "{told}"
    );
}

#[test]
fn what_if_predicts_only_if_the_recorded_makespan_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let told = |makespan: f64| {
        let tasks = ["a", "b", "c", "d"].map(|id| json!({"id": id, "runtimeInSeconds": 10}));
        let specified = ["a", "b", "c", "d"].map(|id| json!({"id": id}));
        let instance = json!({"schemaVersion": "1.5", "workflow": {
            "specification": {"tasks": specified},
            "execution": {"makespanInSeconds": makespan, "tasks": tasks,
                "machines": [{"nodeName": "m", "cpu": {"coreCount": 2}}]}}});
        fs::write(folder.path().join("w.json"), instance.to_string()).unwrap();
        run(folder.path(), &["trace", "what-if", "w.json"])
    };
    // Twenty seconds on two cores.
    assert_snapshot!([told(21.0), told(25.0)].join("\n"), @"
    4 tasks in 21.0 s with 2 workers

     scenario     workers  makespan  change          range
     as measured        2    20.0 s
     4 workers          4    10.0 s   −50 %  10.0 s–20.0 s

    note: the critical path of 1 task takes 10.0 s: with no number of workers the
    run is faster than that
    note: measured: 21.0 s; the replay of the same setting differs by −4.8 %
    note: the makespan assumes that tasks compute for as long as measured, however
    many do at once; at the other end of the range the workers change nothing,
    because tasks slow each other down. A run with another number of workers tells:
    give it after `--`
    exit 0
    error: the run took 25.0 s, and its replay with 2 workers takes 20.0 s (−20 %): beyond 10 %, it predicts nothing
      hint: the trace does not say when tasks ran, so that their waits are unknown
    exit 2
    ");
}
