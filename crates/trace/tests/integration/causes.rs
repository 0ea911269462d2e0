//! What tasks wait for, and what a run would gain, in small runs whose truth is plain.

use std::collections::BTreeMap;

use lapwing_trace::{
    Cause, GraphSource, Task, TaskEvent, TaskGraph, Trace, Transfer, TransferEvent, TransferMode,
    WaitReason, find, task_waits,
};

const SECOND: i64 = 1_000_000_000;

/// A run that is written down task by task.
#[derive(Default)]
struct Run {
    trace: Trace,
    graph: BTreeMap<String, Vec<String>>,
    /// Seconds until the controller knows of a completion.
    notice: f64,
}

impl Run {
    /// Adds a task with the seconds at which it is planned, on its worker, starts, and ends.
    fn task(&mut self, name: &str, worker: &str, times: [f64; 4], inputs: &[&str]) {
        let names = &mut self.trace.names;
        let class = name.split(':').next().expect("a class");
        let (task, class) = (names.intern(name), names.intern(class));
        let mut task = Task::new(task, class, names.intern(worker));
        task.host = names.intern(&worker[..2]);
        let events = [
            TaskEvent::Planned,
            TaskEvent::Enqueued,
            TaskEvent::Started,
            TaskEvent::Computed,
        ];
        for (event, seconds) in events.into_iter().zip(times) {
            task.events[event as usize] = at(seconds);
        }
        task.events[TaskEvent::Published as usize] = at(times[3]);
        task.events[TaskEvent::Completed as usize] = at(times[3] + self.notice);
        self.trace.tasks.push(task);
        let inputs = inputs.iter().map(|&it| it.to_owned()).collect();
        self.graph.insert(name.to_owned(), inputs);
    }

    /// Adds a copy of a dataset to a host.
    fn copy(&mut self, dataset: &str, target: &str, [from, until]: [f64; 2], mode: TransferMode) {
        let names = &mut self.trace.names;
        let mut transfer = Transfer {
            dataset: names.intern(dataset),
            source: names.intern("h0"),
            target: names.intern(target),
            mode,
            attempt: 0,
            events: [lapwing_trace::MISSING; 6],
        };
        transfer.events[TransferEvent::Planned as usize] = at(from);
        transfer.events[TransferEvent::Unloaded as usize] = at(until);
        self.trace.transfers.push(transfer);
    }

    /// Returns the trace, with its graph as a user gives it.
    fn with_graph(mut self) -> Trace {
        self.trace.set_inputs(&self.graph);
        self.trace
    }
}

#[expect(clippy::cast_possible_truncation, reason = "small")]
fn at(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// Two tasks on one worker, a third on another that needs a copy of the result of the first.
fn with_a_copy(mode: TransferMode) -> Trace {
    let mut run = Run {
        notice: 0.1,
        ..Run::default()
    };
    run.task("make:0", "h0:w0", [0.0, 0.1, 0.2, 1.2], &[]);
    run.task("make:1", "h0:w0", [0.0, 0.1, 1.2, 2.2], &[]);
    run.task("use:0", "h1:w0", [1.4, 1.5, 6.5, 7.5], &["make:0"]);
    run.copy("make:0.0", "h1", [1.4, 6.4], mode);
    run.with_graph()
}

#[test]
fn every_moment_of_a_wait_has_one_reason() {
    let trace = with_a_copy(TransferMode::Remote);
    let graph = TaskGraph::of(&trace).expect("it was given");
    let waits = task_waits(&trace, &graph);
    let of = |task: usize| {
        let reasons = WaitReason::ALL.into_iter();
        let times = reasons.map(|reason| (reason.name(), waits[task].of(reason)));
        times.filter(|(_, time)| *time > 0).collect::<Vec<_>>()
    };
    let tenth = SECOND / 10;
    assert_eq!(of(0), [("transport", tenth), ("unknown", tenth)]);
    // The queue of a busy worker.
    assert_eq!(of(1), [("worker", 11 * tenth), ("transport", tenth)]);
    assert_eq!(waits[1].behind, Some(0));
    // From the end of its input at 1.2 s until 6.5 s.
    let expected = [
        ("notice", tenth),
        ("copy", 50 * tenth),
        ("planning", tenth),
        ("unknown", tenth),
    ];
    assert_eq!(of(2), expected);
    assert_eq!(waits[2].total(), 53 * tenth);
}

#[test]
fn a_copy_named_after_an_output_is_what_its_consumer_waits_for() {
    let found = find(&with_a_copy(TransferMode::Remote)).expect("it has tasks");
    let first = &found.causes.findings[0];
    let expected = Cause::Copies {
        copies: 1,
        sum: 5 * SECOND,
        avoidable: 1,
    };
    assert_eq!(first.cause, expected);
    // Planned at 1.4 s, on its worker at 1.5 s, started 0.1 s later as when the copy was there.
    assert_eq!(first.without, 27 * SECOND / 10);
    assert_eq!(first.gain, found.workers.makespan - first.without);
}

#[test]
fn a_copy_of_what_was_there_is_a_cause_of_its_own() {
    let found = find(&with_a_copy(TransferMode::Redundant)).expect("it has tasks");
    let first = &found.causes.findings[0];
    assert!(
        matches!(first.cause, Cause::RedundantCopies { copies: 1, .. }),
        "{first:?}"
    );
}

/// Twelve tasks on three workers, of which one takes four times as long.
fn with_a_slow_worker() -> Run {
    let mut run = Run::default();
    for worker in 0..3 {
        let seconds = if worker == 2 { 4.0 } else { 1.0 };
        for number in 0..4 {
            let begin = seconds * f64::from(number);
            let name = format!("map:{}", 4 * worker + number);
            let times = [begin, begin, begin, begin + seconds];
            run.task(&name, &format!("h0:w{worker}"), times, &[]);
        }
    }
    run
}

#[test]
fn a_graph_without_edges_is_a_graph() {
    let trace = with_a_slow_worker().with_graph();
    let graph = TaskGraph::of(&trace).expect("it was given");
    assert!(graph.inputs.iter().all(Vec::is_empty));
    let found = find(&trace).expect("it has tasks");
    assert_eq!(found.causes.graph, GraphSource::Known);
    // No trace, no graph: but its workers never pause.
    let found = find(&with_a_slow_worker().trace).expect("it has tasks");
    assert_eq!(found.causes.graph, GraphSource::Independent);
}

#[test]
fn a_slow_worker_is_told_by_tasks_of_the_same_class_elsewhere() {
    let trace = with_a_slow_worker().with_graph();
    let found = find(&trace).expect("it has tasks");
    let first = &found.causes.findings[0];
    let Cause::SlowWorker {
        worker,
        times,
        tasks,
    } = first.cause
    else {
        panic!("{first:?}");
    };
    assert_eq!((trace.text(worker), tasks), ("h0:w2", 4));
    assert!((times - 4.0).abs() < 1e-9);
    assert_eq!(found.causes.error, 0);
    // Without it its four tasks take as long as those of the others.
    assert_eq!(first.without, 4 * SECOND);
}

#[test]
fn of_lanes_that_are_no_workers_only_tasks_are_slow() {
    // Lanes are given by when tasks ran: the second one has whatever began while another was under way.
    let mut on_lanes = with_a_slow_worker();
    for task in &mut on_lanes.trace.tasks {
        let worker = on_lanes.trace.names.text(task.worker).to_owned();
        let lane = worker.replace("h0:w", "lane ");
        task.worker = on_lanes.trace.names.intern(&lane);
        task.host = lapwing_trace::Name::EMPTY;
    }
    let trace = on_lanes.with_graph();
    assert!(trace.has_numbered_lanes());
    let found = find(&trace).expect("it has tasks");
    let is_of_worker = |cause: &Cause| {
        matches!(
            cause,
            Cause::SlowWorker { .. }
                | Cause::SlowHost { .. }
                | Cause::LateWorkers { .. }
                | Cause::Imbalance { .. }
        )
    };
    let mut causes = found.causes.findings.iter().map(|it| &it.cause);
    assert!(!causes.any(is_of_worker), "{:?}", found.causes.findings);
    assert!(!with_a_slow_worker().with_graph().has_numbered_lanes());
}

#[test]
fn calls_that_share_a_name_are_no_attempts() {
    let found = |is_lost: bool| {
        let mut run = Run::default();
        for begin in [0.0, 2.0, 4.0, 6.0] {
            run.task("render:0", "h0:w0", [begin, begin, begin, begin + 1.0], &[]);
        }
        if is_lost {
            run.trace.tasks[1].has_failed = true;
        }
        let found = find(&run.trace).expect("it has tasks");
        let mut causes = found.causes.findings.into_iter();
        causes.any(|it| matches!(it.cause, Cause::Retries { .. }))
    };
    assert!(!found(false));
    assert!(found(true));
}

#[test]
fn a_balanced_run_has_no_finding() {
    let mut run = Run::default();
    for number in 0..12 {
        let begin = f64::from(number / 3);
        let times = [begin, begin, begin, begin + 1.0];
        run.task(
            &format!("map:{number}"),
            &format!("h0:w{}", number % 3),
            times,
            &[],
        );
    }
    let found = find(&run.with_graph()).expect("it has tasks");
    assert_eq!(found.causes.findings, []);
}

#[test]
fn the_graph_of_a_user_is_taken_as_it_is() {
    // One worker, whose controller plans two roots at once when nothing else is under way.
    let mut run = Run::default();
    for pair in 0..3 {
        let begin = 4.0 * f64::from(pair);
        for (at, class) in ["a", "a", "b", "b"].into_iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let start = begin + at as f64;
            let name = format!(
                "{class}:{}",
                2 * pair + i32::try_from(at % 2).expect("small")
            );
            let input = format!("a:{}", 2 * pair + i32::try_from(at % 2).expect("small"));
            let planned = if at < 2 { begin } else { begin + 1.5 };
            let inputs: &[&str] = if class == "b" { &[&input] } else { &[] };
            run.task(
                &name,
                "h0:w0",
                [planned, planned, start, start + 0.8],
                inputs,
            );
        }
    }
    let trace = run.with_graph();
    let graph = TaskGraph::of(&trace).expect("it was given");
    assert_eq!(graph.implied, 0);
    assert_eq!(graph.ideal(&trace).path.len(), 2);
}

/// Runs tasks of one class, one after another on each of four workers, which take so many times a tenth of a second.
fn with_times(times: impl Iterator<Item = u32>) -> Trace {
    let mut run = Run::default();
    let mut free = [0_u32; 4];
    for (number, tenths) in times.enumerate() {
        let worker = (0..4).min_by_key(|it| free[*it]).unwrap_or(0);
        let [begin, end] = [free[worker], free[worker] + tenths].map(|it| f64::from(it) / 10.0);
        free[worker] += tenths;
        let times = [begin, begin, begin, end];
        run.task(
            &format!("map:{number}"),
            &format!("h0:w{worker}"),
            times,
            &[],
        );
    }
    run.with_graph()
}

#[test]
fn a_class_with_short_tasks_and_long_ones_has_neither_a_slow_worker_nor_a_stall() {
    let mut told = 0;
    for seed in 0..60_u32 {
        // A linear congruential generator is random enough for a choice of two.
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let share = [5, 20, 50][seed as usize % 3];
        let times: Vec<u32> = (0..80)
            .map(|_| {
                let is_long = next() % 100 < share;
                (if is_long { 80 } else { 20 }) + next() % 3
            })
            .collect();
        let found = find(&with_times(times.into_iter())).expect("it has tasks");
        let is_false = |cause: &Cause| {
            let is_place = matches!(cause, Cause::SlowWorker { .. } | Cause::SlowHost { .. });
            is_place || matches!(cause, Cause::Stall { .. })
        };
        told += usize::from(found.causes.findings.iter().any(|it| is_false(&it.cause)));
    }
    assert!(told <= 3, "{told} of 60");
}

#[test]
fn tasks_that_all_stand_still_are_told_with_the_time_that_they_lost() {
    // The third task of each worker takes 2 s longer. They begin at different times.
    let times = (0..20).map(|number| match number {
        0..4 => 5 * (number + 1),
        8..12 => 40,
        _ => 20,
    });
    let found = find(&with_times(times)).expect("it has tasks");
    let first = &found.causes.findings[0];
    assert!(
        matches!(
            first.cause,
            Cause::Stall {
                is_freeze: true,
                ..
            }
        ),
        "{first:?}"
    );
    assert!((first.gain - 2 * SECOND).abs() < SECOND / 5, "{first:?}");
}

#[test]
fn a_copy_for_one_task_is_there_earlier_for_the_others_when_that_one_is_planned_earlier() {
    // The controller notices after 2 s that `make` is done; two rounds of `use` on another host share its copy.
    let mut run = Run {
        notice: 2.0,
        ..Run::default()
    };
    run.task("make:0", "h0:w0", [0.0, 0.0, 0.0, 1.0], &[]);
    run.notice = 0.0;
    run.task("use:0", "h1:w0", [3.0, 3.0, 3.5, 4.5], &["make:0"]);
    run.task("use:1", "h1:w0", [4.5, 4.5, 4.5, 5.5], &["make:0"]);
    run.copy("make:0.0", "h1", [3.0, 3.5], TransferMode::Remote);
    let found = find(&run.with_graph()).expect("it has tasks");
    let notice = found.causes.findings.iter();
    let mut notice = notice.filter(|it| matches!(it.cause, Cause::ControllerNotice(_)));
    let notice = notice.next().expect("it notices late");
    assert_eq!(notice.gain, 2 * SECOND);
}

#[test]
fn an_attempt_that_was_lost_leaves_its_worker_for_the_next_task() {
    // `map:1` is lost after 1 s, its worker goes on, and it is tried again on the other one.
    let mut run = Run::default();
    run.task("map:0", "h0:w0", [0.0, 0.0, 0.0, 2.0], &[]);
    run.task("map:1", "h0:w1", [0.0, 0.0, 0.0, 1.0], &[]);
    let lost = run.trace.tasks.last_mut().expect("it was added");
    for event in [
        TaskEvent::Computed,
        TaskEvent::Published,
        TaskEvent::Completed,
    ] {
        lost.events[event as usize] = lapwing_trace::MISSING;
    }
    run.task("map:2", "h0:w1", [1.0, 1.0, 1.0, 3.0], &[]);
    run.task("map:1", "h0:w0", [2.0, 2.0, 2.0, 4.0], &[]);
    run.task("map:3", "h0:w1", [3.0, 3.0, 3.0, 5.0], &[]);
    let found = find(&run.with_graph()).expect("it has tasks");
    assert_eq!(found.causes.error, 0);
    let first = &found.causes.findings[0];
    assert!(
        matches!(first.cause, Cause::Retries { tasks: 1, .. }),
        "{first:?}"
    );
    assert_eq!(first.gain, SECOND);
}
