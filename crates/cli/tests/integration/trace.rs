//! `lapwing trace` by the real program.

use std::fs;

use insta::assert_snapshot;

use crate::program::run;

/// Two workers; the second task of `w0` stands behind the first, and the controller is slow to notice.
const TRACE: &str = "\
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
            &[&["trace"], what, &["--file", "trace.log"]].concat(),
        )
    };
    let told = [
        trace(&["findings"]),
        trace(&["tasks", "--by", "all"]),
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
    note: the trace has defects (`lapwing trace lint` explains them): 1 × missing
    event started (transfer), 1 × open transfer
    exit 0
    2 tasks in 33.0 ms, 65.0 ms in all; means of each duration

        tasks    total  on worker  to worker    queue  load  compute  publish  to controller
            2  32.5 ms    16.5 ms    1.00 ms  6.50 ms     –  10.0 ms        –        15.0 ms

    note: the trace has defects (`lapwing trace lint` explains them): 1 × missing
    event started (transfer), 1 × open transfer
    exit 0
    1 transfer of 1 dataset, 0 s in all; means of each duration

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
fn a_trace_compared_with_itself_does_not_differ() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.log"), TRACE).unwrap();
    let words = [
        "trace",
        "compare",
        "trace.log",
        "trace.log",
        "--format",
        "csv",
    ];
    let told = run(folder.path(), &words);
    let rows = told.lines().filter(|line| line.starts_with("load,"));
    let differences: Vec<&str> = rows.map(|row| row.split(',').nth(6).unwrap()).collect();
    assert_eq!(differences, ["0"; 6]);
}

#[test]
fn a_file_without_a_trace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.log"), "nothing here\n").unwrap();
    let told = ["trace.log", "missing.log"]
        .map(|file| run(folder.path(), &["trace", "tasks", "--file", file]));
    assert_snapshot!(told.join("\n"), @"
    error: trace.log: no line is an event of a trace
      hint: docs/traces.md says which traces can be read and how to record one
    exit 2
    error: cannot read missing.log: No such file or directory (os error 2)
    exit 2
    ");
}
