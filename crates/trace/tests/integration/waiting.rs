//! What computing tasks wait for, and what programs wait for between two graphs.

use lapwing_trace::{
    Contention, ContentionCause, Pressure, Task, TaskEvent, TaskGraph, Trace, WaitsFor, contention,
    off_cpu,
};

/// Adds a task that computes from one moment to another, so many of it on the CPU.
fn add(trace: &mut Trace, class: &str, range: (i64, i64), cpu: i64) {
    let names = &mut trace.names;
    let name = names.intern(&format!("{class}:{}", trace.tasks.len()));
    let mut task = Task::new(name, names.intern(class), names.intern("h:w"));
    task.host = names.intern("h");
    task.events[TaskEvent::Started as usize] = range.0;
    task.events[TaskEvent::Computed as usize] = range.1;
    task.cpu = Some(cpu);
    trace.tasks.push(task);
}

/// Tasks that compute for 10 alone, and for 20 in pairs, beside others that sleep.
fn pairs(cpu_in_pairs: i64, pressure: f64) -> Trace {
    let mut trace = Trace::default();
    for at in 0..8 {
        let begin = 100 * at;
        add(&mut trace, "count", (begin, begin + 10), 10);
        add(&mut trace, "sleep", (begin, begin + 10), 0);
        for _one in 0..2 {
            add(&mut trace, "count", (begin + 50, begin + 70), cpu_in_pairs);
        }
    }
    let names = &mut trace.names;
    let (worker, host) = (names.intern("h:w"), names.intern("h"));
    trace.pressures = (0..8)
        .map(|at| Pressure {
            worker,
            host,
            start: 100 * at,
            end: 100 * at + 100,
            shares: [pressure, 0.0, 0.0],
        })
        .collect();
    trace
}

fn of_count(trace: &Trace) -> Contention {
    let found = contention(trace);
    let class = |it: &&Contention| trace.text(it.class) == "count";
    found.iter().find(class).unwrap().clone()
}

#[test]
fn tasks_that_sleep_are_in_nobody_s_way() {
    let found = of_count(&pairs(10, 0.0));
    assert_eq!(found.tasks, 24);
    assert!((found.alone - 10.0).abs() < 1e-9, "{}", found.alone);
    assert!((found.slope - 10.0).abs() < 1e-9, "{}", found.slope);
    assert!((found.lost - 160.0).abs() < 1e-6, "{}", found.lost);
}

#[test]
fn contention_has_its_cause() {
    let cause = |cpu, pressure| of_count(&pairs(cpu, pressure)).cause;
    let off = |waits_for| Some(ContentionCause::OffCpu(waits_for));
    assert_eq!(cause(20, 0.0), Some(ContentionCause::OnCpu));
    assert_eq!(cause(10, 0.0), off(WaitsFor::Process));
    // Only their own threads say that they waited for a core, or did not, whatever others waited for.
    assert_eq!(cause(10, 0.5), off(WaitsFor::Unknown));
    let own = |run_delay, pressure| {
        let mut trace = pairs(10, pressure);
        trace
            .tasks
            .iter_mut()
            .for_each(|task| task.run_delay = Some(run_delay));
        of_count(&trace).cause
    };
    assert_eq!(own(10, 0.0), off(WaitsFor::Core));
    assert_eq!(own(0, 0.5), off(WaitsFor::Unknown));
    assert_eq!(own(0, 0.0), off(WaitsFor::Process));
    let mut without = pairs(10, 0.0);
    without.pressures.clear();
    assert_eq!(of_count(&without).cause, off(WaitsFor::Unknown));
    // Without the time on the CPU, those beside sleepers are as much side by side as pairs are: nothing can be seen.
    without.tasks.iter_mut().for_each(|task| task.cpu = None);
    assert_eq!(contention(&without), []);
}

#[test]
fn time_off_the_cpu_is_counted_by_class() {
    let trace = pairs(10, 0.0);
    let found = off_cpu(&trace);
    let found: Vec<_> = found
        .iter()
        .map(|it| (trace.text(it.class), it.tasks, it.computing, it.sum))
        .collect();
    assert_eq!(found, [("count", 24, 400, 160), ("sleep", 8, 80, 80)]);
}

/// Two graphs, `a1` and `a2` into `b`, then `c1` and `c2`, planned at these moments on one worker.
fn submitted(planned: [i64; 5], enqueued: [i64; 5]) -> Trace {
    let mut trace = Trace::default();
    let ranges = [(0, 10), (10, 20), (21, 30), (32, 40), (40, 50)];
    for (at, class) in ["a1", "a2", "b", "c1", "c2"].into_iter().enumerate() {
        add(&mut trace, class, ranges[at], 0);
        let name = trace.names.intern(class);
        let task = trace.tasks.last_mut().unwrap();
        task.name = name;
        task.events[TaskEvent::Planned as usize] = planned[at];
        task.events[TaskEvent::Enqueued as usize] = enqueued[at];
    }
    trace.tasks[2].inputs = [trace.tasks[0].name, trace.tasks[1].name].into();
    trace
}

#[test]
fn what_a_program_waited_for_is_an_input() {
    // Both are sent at once, so the second is queued.
    let graph = TaskGraph::of(&submitted([0, 0, 20, 31, 31], [0, 0, 20, 31, 31])).unwrap();
    assert_eq!(graph.implied, 2);
    assert_eq!(graph.inputs[3..], [[2], [2]]);
    // The controller plans one after the other, when the worker is free.
    let graph = TaskGraph::of(&submitted([0, 10, 20, 31, 40], [0, 10, 20, 31, 40])).unwrap();
    assert_eq!(graph.implied, 0);
    // Both are there from the beginning.
    let graph = TaskGraph::of(&submitted([0; 5], [0; 5])).unwrap();
    assert_eq!(graph.implied, 0);
}
