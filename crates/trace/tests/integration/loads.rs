//! Machines with fewer cores than workers: what comparisons and predictions say of them.

use lapwing_trace::{
    Loads, Scenario, Task, TaskDuration, TaskEvent, TaskGraph, Trace, TraceComparison, what_if,
};

/// A machine whose cores are shared equally by all tasks that compute.
#[derive(Clone, Copy)]
struct Machine {
    cores: f64,
    workers: usize,
}

struct Running {
    worker: usize,
    task: usize,
    begin: f64,
    left: f64,
}

impl Machine {
    /// Runs two stages of 40 tasks each, with durations that differ by up to 15 % by chance.
    fn run(self, seed: u64) -> Trace {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut factor = move || {
            for _each in 0..3 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
            }
            let share = f64::from(u32::try_from(random >> 32).unwrap()) / f64::from(u32::MAX);
            0.85 + 0.3 * share
        };
        let mut trace = Trace::default();
        let mut now = 0.0;
        let mut before = Vec::new();
        for (class, seconds) in [("map", 1.0), ("sum", 0.5)] {
            let mut waiting: Vec<(usize, f64)> =
                (0..40).map(|at| (at, seconds * factor())).collect();
            waiting.reverse();
            let mut running: Vec<Running> = Vec::new();
            let mut idle: Vec<usize> = (0..self.workers).rev().collect();
            let mut names = Vec::new();
            while !(waiting.is_empty() && running.is_empty()) {
                while let Some(worker) = idle.pop() {
                    let Some((task, left)) = waiting.pop() else {
                        break;
                    };
                    running.push(Running {
                        worker,
                        task,
                        begin: now,
                        left,
                    });
                }
                #[expect(clippy::cast_precision_loss, reason = "few tasks")]
                let rate = (self.cores / running.len() as f64).min(1.0);
                let next = (0..running.len())
                    .min_by(|one, other| running[*one].left.total_cmp(&running[*other].left))
                    .unwrap();
                let least = running[next].left;
                now += least / rate;
                running.iter_mut().for_each(|it| it.left -= least);
                let done = running.remove(next);
                let name = trace.names.intern(&format!("{class}:{}", done.task));
                let worker = trace.names.intern(&format!("h:w{}", done.worker));
                let mut task = Task::new(name, trace.names.intern(class), worker);
                task.host = trace.names.intern("h");
                for (event, at) in [(TaskEvent::Started, done.begin), (TaskEvent::Computed, now)] {
                    #[expect(clippy::cast_possible_truncation, reason = "minutes in ns")]
                    let nanoseconds = (at * 1e9) as i64;
                    task.events[event as usize] = nanoseconds;
                }
                task.inputs = before.clone().into();
                names.push(name);
                trace.tasks.push(task);
                idle.push(done.worker);
            }
            before = names;
        }
        trace
    }
}

fn makespan(trace: &Trace) -> f64 {
    let (begin, end) = trace.range().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "minutes in ns")]
    let time = (end - begin) as f64;
    time
}

/// Returns how far the makespan is that is predicted for so many workers from a run with others, with runs of several
/// settings or without them.
fn error_of(machine: Machine, known: &[usize], workers: usize, seed: u64) -> f64 {
    let run = |workers: usize, seed| Machine { workers, ..machine }.run(seed);
    let runs: Vec<Trace> = known.iter().map(|it| run(*it, seed + *it as u64)).collect();
    let others: Vec<&Trace> = runs.iter().collect();
    let scenario = Scenario {
        workers: Some(workers),
        loads: (known.len() > 1).then(|| Loads::of(&others)),
        ..Scenario::default()
    };
    let graph = TaskGraph::of(&runs[0]).unwrap();
    let predicted = what_if(&runs[0], &graph, &scenario).predicted;
    #[expect(clippy::cast_precision_loss, reason = "minutes in ns")]
    let predicted = predicted as f64;
    predicted / makespan(&run(workers, seed + 100)) - 1.0
}

const PAIRS: u64 = 40;

/// Returns in how many of 40 pairs of runs a class is told to be in its own way, and workers to add nothing.
fn told(fewer: Machine, more: Machine) -> (usize, usize) {
    let pairs = (0..PAIRS).map(|pair| {
        let [fewer, more] = [fewer.run(1 + 2 * pair), more.run(2 + 2 * pair)];
        // Whichever stands first.
        let sides = if pair % 2 == 0 {
            [&fewer, &more]
        } else {
            [&more, &fewer]
        };
        let comparison = TraceComparison::of(&sides.map(|it| vec![it]), TaskDuration::Total);
        comparison.crowding(1)
    });
    let pairs: Vec<_> = pairs.collect();
    let told = pairs
        .iter()
        .filter(|it| it.iter().any(|it| it.class == "map"));
    let idle = pairs.iter().filter(|it| {
        let expected = more.workers - fewer.workers;
        it.iter().any(|it| it.class == "map" && it.idle == expected)
    });
    (told.count(), idle.count())
}

#[test]
fn workers_that_share_full_cores_are_told_to_add_nothing() {
    for (fewer, more) in [(4, 6), (2, 4), (3, 4)] {
        let machine = |workers| Machine {
            cores: 2.0,
            workers,
        };
        let (told, idle) = told(machine(fewer), machine(more));
        assert!(told >= 38, "{fewer} → {more}: told in {told} of {PAIRS}");
        assert!(idle >= 38, "{fewer} → {more}: idle in {idle} of {PAIRS}");
    }
}

#[test]
fn workers_with_cores_of_their_own_are_not_told_to_be_in_each_others_way() {
    for (fewer, more) in [(4, 6), (1, 8), (2, 4)] {
        let machine = |workers| Machine {
            cores: 8.0,
            workers,
        };
        let (told, _) = told(machine(fewer), machine(more));
        assert!(told <= 2, "{fewer} → {more}: told in {told} of {PAIRS}");
    }
}

#[test]
fn workers_that_add_something_are_not_told_to_add_nothing() {
    // Three cores: the fourth worker adds nothing, the third does.
    let machine = |workers| Machine {
        cores: 3.0,
        workers,
    };
    let (told, idle) = told(machine(2), machine(4));
    assert!(told >= 38, "told in {told} of {PAIRS}");
    assert_eq!(idle, 0, "of {PAIRS}");
}

#[test]
fn runs_of_other_settings_tell_what_more_workers_gain() {
    for cores in [2.0, 3.0, 16.0] {
        let machine = Machine { cores, workers: 1 };
        for (known, workers) in [(&[1, 2, 4][..], 8), (&[4, 2, 1][..], 3), (&[2, 6][..], 4)] {
            let errors = (0..PAIRS).map(|seed| error_of(machine, known, workers, 1 + 200 * seed));
            let close = errors.filter(|it| it.abs() <= 0.1).count();
            assert!(
                close >= 36,
                "{cores} cores, {known:?} → {workers}: within 10 % in {close} of {PAIRS}"
            );
        }
    }
}
