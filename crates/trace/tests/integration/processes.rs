//! Records of processes: what they wait for, alone and beside tasks that ran in them.

use lapwing_model::Span;
use lapwing_trace::{Cause, LanePart, Task, TaskDuration, TaskEvent, Trace, WaitsFor, find, lanes};
use serde_json::json;

const MS: i64 = 1_000_000;

/// A sample of 20 ms, of which a process is on a core, and waits for one, for so many.
fn sample(process: i64, parent: i64, name: &str, begin: i64, [cpu, run_delay]: [i64; 2]) -> Span {
    serde_json::from_value(json!({
        "instance": "00000000-0000-7000-8000-000000000001", "index": 0, "category": "process", "name": name,
        "lane": format!("h:{process}"), "clock": "wall", "events": {"begin": begin * MS, "end": (begin + 20) * MS},
        "attributes": {"pid": process, "parent": parent, "cpu": cpu * MS, "run_delay": run_delay * MS, "memory": 1000},
    }))
    .unwrap()
}

/// A shell that starts two processes and waits for them, each of which is on a core, and waits for one, for so many of 20 ms.
fn of_two(times: [i64; 2]) -> Trace {
    let mut spans = Vec::new();
    for at in 0..52 {
        let is_first = at == 0 || at == 51;
        spans.push(sample(
            1,
            0,
            "sh",
            20 * at,
            [if is_first { 20 } else { 0 }, 0],
        ));
        for process in [2, 3] {
            if (1..51).contains(&at) {
                spans.push(sample(process, 1, "job", 20 * at, times));
            }
        }
    }
    Trace::of_spans(&spans)
}

fn causes(trace: &Trace) -> Vec<(String, WaitsFor, i64, Option<i64>)> {
    let found = find(trace).unwrap().causes.findings;
    let causes = found.into_iter().map(|finding| match finding.cause {
        Cause::OffCpu(it) => (
            trace.text(it.class).to_owned(),
            it.waits_for,
            finding.gain / MS,
            it.run_delay.map(|time| time / MS),
        ),
        other => panic!("{other:?}"),
    });
    causes.collect()
}

#[test]
fn processes_that_share_a_core_wait_for_it_and_others_do_not() {
    let class = || "job".to_owned();
    let sharing = causes(&of_two([10, 10]));
    assert_eq!(sharing, [(class(), WaitsFor::Core, 500, Some(1000))]);
    let sleeping = causes(&of_two([10, 0]));
    assert_eq!(sleeping, [(class(), WaitsFor::Unknown, 500, Some(0))]);
    assert_eq!(causes(&of_two([20, 0])), []);
}

#[test]
fn a_process_that_waits_for_its_children_does_nothing_meanwhile() {
    let trace = of_two([10, 10]);
    let tasks = trace.tasks.iter().map(|task| {
        let inputs = task.inputs.iter().map(|name| trace.text(*name));
        (trace.text(task.name), inputs.collect::<Vec<_>>().join(", "))
    });
    let tasks: Vec<(&str, String)> = tasks.collect();
    let waits_for = |name: &str| name.to_owned();
    let expected = [
        ("sh 1", waits_for("")),
        ("job 2", waits_for("sh 1")),
        ("job 3", waits_for("sh 1")),
        ("sh 1 #2", waits_for("sh 1, job 2, job 3")),
    ];
    assert_eq!(tasks, expected);
    assert_eq!(trace.most_memory(), 3000);
}

#[test]
fn lanes_of_processes_have_all_of_their_time() {
    let trace = of_two([5, 10]);
    let lanes = lanes(&trace);
    let lane = lanes
        .iter()
        .find(|it| trace.text(it.name) == "h:2")
        .unwrap();
    let sum = |part| {
        let pieces = lane
            .pieces
            .iter()
            .filter(|it| it.part == LanePart::Task(part));
        pieces.map(|it| it.end - it.start).sum::<i64>() / MS
    };
    let sums = [
        TaskDuration::OnCpu,
        TaskDuration::RunDelay,
        TaskDuration::OffCpu,
    ]
    .map(sum);
    assert_eq!(sums, [250, 500, 250]);
}

/// Tasks of these processes, from and to these ms.
fn tasks(all: &[(i64, i64, i64)]) -> Trace {
    let mut trace = Trace::default();
    for (process, from, to) in all {
        let names = &mut trace.names;
        let name = names.intern(&format!("work:{}", trace.tasks.len()));
        let mut task = Task::new(name, names.intern("work"), names.intern("h:w"));
        task.process = Some(*process);
        task.events[TaskEvent::Started as usize] = from * MS;
        task.events[TaskEvent::Computed as usize] = to * MS;
        trace.tasks.push(task);
    }
    trace
}

#[test]
fn tasks_have_the_times_of_their_process_if_nothing_else_ran_in_it() {
    let recorded = of_two([10, 5]);
    let times = |trace: &Trace| -> Vec<_> {
        let tasks = trace.tasks.iter().map(|task| task.cpu.zip(task.run_delay));
        tasks
            .map(|times| times.map(|(cpu, delay)| (cpu / MS, delay / MS)))
            .collect()
    };
    // In order: alone; too short; two at once; of a process that was not recorded; after its end.
    let all = [
        (2, 100, 300),
        (2, 310, 350),
        (3, 100, 300),
        (3, 200, 400),
        (4, 100, 300),
        (2, 950, 1200),
    ];
    let mut trace = tasks(&all);
    assert_eq!(trace.join_processes(std::slice::from_ref(&recorded)), 1);
    assert_eq!(
        times(&trace),
        [Some((100, 50)), None, None, None, None, None]
    );
    // Two machines that have the same number.
    let mut trace = tasks(&all);
    assert_eq!(trace.join_processes(&[recorded.clone(), recorded]), 0);
}

#[test]
fn processes_one_after_another_wait_for_each_other_although_their_parent_is_idle() {
    // Looks at the shell, which only waits, are left out after the first.
    let mut spans = vec![sample(1, 0, "sh", 0, [1, 0])];
    for (process, name, from, cpu) in [(2, "sleep", 1, 0), (3, "job", 26, 20), (4, "sleep", 51, 0)]
    {
        for at in from..from + 25 {
            spans.push(sample(process, 1, name, 20 * at, [cpu, 0]));
        }
    }
    let found = causes(&Trace::of_spans(&spans));
    assert_eq!(
        found,
        [("sleep".to_owned(), WaitsFor::Unknown, 1000, Some(0))]
    );
}
