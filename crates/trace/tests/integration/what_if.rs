//! Critical paths and replays, against simulators that try everything step by step.

use lapwing_trace::{Scenario, Task, TaskEvent, TaskGraph, Trace, what_if};
use proptest::prelude::*;

/// A graph: the time on the worker of each task, and its inputs among those before it.
#[derive(Debug, Clone)]
struct MadeUp {
    work: Vec<i64>,
    inputs: Vec<Vec<usize>>,
    overheads: Vec<[i64; 4]>,
    workers: Vec<usize>,
}

fn graphs() -> impl Strategy<Value = MadeUp> {
    let task = (
        1..20_i64,
        any::<u16>(),
        prop::array::uniform4(0..5_i64),
        0..3_usize,
    );
    prop::collection::vec(task, 2..14).prop_map(|tasks| {
        let mut made_up = MadeUp {
            work: Vec::new(),
            inputs: Vec::new(),
            overheads: Vec::new(),
            workers: Vec::new(),
        };
        for (at, (work, chosen, overheads, worker)) in tasks.into_iter().enumerate() {
            let mut inputs: Vec<usize> = (0..at).filter(|it| chosen >> it & 5 == 5).collect();
            if at == 1 {
                inputs = vec![0];
            }
            made_up.work.push(work);
            made_up.inputs.push(inputs);
            made_up.overheads.push(overheads);
            made_up.workers.push(worker);
        }
        made_up
    })
}

impl MadeUp {
    fn trace(&self, events: impl Fn(usize, &mut Task)) -> Trace {
        let mut trace = Trace::default();
        for at in 0..self.work.len() {
            let names = &mut trace.names;
            let name = names.intern(&format!("task:{at}"));
            let class = names.intern("task");
            let worker = names.intern(&format!("h:w{}", self.workers[at]));
            let mut task = Task::new(name, class, worker);
            let inputs = self.inputs[at].iter();
            task.inputs = inputs
                .map(|it| names.intern(&format!("task:{it}")))
                .collect();
            events(at, &mut task);
            trace.tasks.push(task);
        }
        trace
    }

    /// A trace with durations and no times of day.
    fn of_durations(&self) -> Trace {
        self.trace(|at, task| task.duration = Some(self.work[at]))
    }

    /// A trace as a controller would cause it that waits for the inputs and for the worker before it plans a task.
    fn as_run(&self) -> Trace {
        let mut known: Vec<i64> = Vec::new();
        let mut free = [0; 3];
        let mut all = Vec::new();
        for at in 0..self.work.len() {
            let [planning, way, start_up, notice] = self.overheads[at];
            let ready = self.inputs[at]
                .iter()
                .map(|it| known[*it])
                .max()
                .unwrap_or(0);
            let planned = ready.max(free[self.workers[at]]) + planning;
            let started = planned + way + start_up;
            let computed = started + self.work[at];
            known.push(computed + notice);
            free[self.workers[at]] = computed + notice;
            all.push([planned, planned + way, started, computed, computed + notice]);
        }
        self.trace(|at, task| {
            let events = [
                TaskEvent::Planned,
                TaskEvent::Enqueued,
                TaskEvent::Started,
                TaskEvent::Computed,
                TaskEvent::Completed,
            ];
            for (event, time) in events.into_iter().zip(all[at]) {
                task.events[event as usize] = time;
            }
        })
    }

    /// The longest chain that ends with a task, by trying all.
    fn longest(&self, task: usize) -> i64 {
        let before = self.inputs[task].iter().map(|input| self.longest(*input));
        self.work[task] + before.max().unwrap_or(0)
    }

    /// Steps through time: whenever a machine has a core, it takes the first of its tasks whose inputs are done.
    fn simulated_on_machines(&self, cores: usize, order: &[usize]) -> i64 {
        let mut ends: Vec<Option<i64>> = vec![None; self.work.len()];
        let mut now = 0;
        loop {
            for machine in 0..3 {
                let of_machine = |task: &usize| self.workers[*task] == machine;
                let own: Vec<usize> = order.iter().copied().filter(of_machine).collect();
                let is_busy = |task: &&usize| ends[**task].is_some_and(|end| end > now);
                for _ in own.iter().filter(is_busy).count()..cores {
                    let is_done = |task: &usize| ends[*task].is_some_and(|end| end <= now);
                    let is_ready = |task: &&usize| {
                        ends[**task].is_none() && self.inputs[**task].iter().all(is_done)
                    };
                    if let Some(task) = own.iter().find(is_ready).copied() {
                        ends[task] = Some(now + self.work[task]);
                    }
                }
            }
            if let Some(ends) = ends.iter().copied().collect::<Option<Vec<i64>>>() {
                return ends.into_iter().max().unwrap_or(0);
            }
            now += 1;
        }
    }

    /// Steps through time: whenever a worker is idle, it takes the first task in this order whose inputs are done.
    fn simulated(&self, workers: usize, order: &[usize]) -> i64 {
        let mut ends: Vec<Option<i64>> = vec![None; self.work.len()];
        let mut now = 0;
        loop {
            let busy = ends.iter().flatten().filter(|end| **end > now).count();
            for _ in busy..workers {
                let is_done = |task: &usize| ends[*task].is_some_and(|end| end <= now);
                let ready = order
                    .iter()
                    .copied()
                    .find(|task| ends[*task].is_none() && self.inputs[*task].iter().all(is_done));
                if let Some(task) = ready {
                    ends[task] = Some(now + self.work[task]);
                }
            }
            if let Some(ends) = ends.iter().copied().collect::<Option<Vec<i64>>>() {
                return ends.into_iter().max().unwrap_or(0);
            }
            now += 1;
        }
    }
}

proptest! {
    #[test]
    fn critical_paths_are_the_longest_chains(made_up in graphs()) {
        let trace = made_up.of_durations();
        let graph = TaskGraph::of(&trace).expect("it has an edge");
        let ideal = graph.ideal(&trace);
        let longest = (0..made_up.work.len()).map(|task| made_up.longest(task)).max();
        prop_assert_eq!(Some(ideal.critical), longest);
        let of_path: i64 = ideal.path.iter().map(|task| made_up.work[*task]).sum();
        prop_assert_eq!(of_path, ideal.critical);
        for pair in ideal.path.windows(2) {
            prop_assert!(made_up.inputs[pair[1]].contains(&pair[0]));
        }
        // A task may take its slack more, and no bit more, before the longest chain grows.
        for task in 0..made_up.work.len() {
            let mut longer = made_up.clone();
            longer.work[task] += ideal.slack[task];
            let graph_of = |it: &MadeUp| {
                let trace = it.of_durations();
                TaskGraph::of(&trace).expect("it has an edge").ideal(&trace).critical
            };
            prop_assert_eq!(graph_of(&longer), ideal.critical);
            longer.work[task] += 1;
            prop_assert_eq!(graph_of(&longer), ideal.critical + 1);
        }
    }

    #[test]
    fn other_numbers_of_workers_are_replayed_as_by_a_step_by_step_simulation(made_up in graphs(), workers in 1..5_usize) {
        let trace = made_up.of_durations();
        let graph = TaskGraph::of(&trace).expect("it has an edge");
        let scenario = Scenario { workers: Some(workers), ..Scenario::default() };
        let prediction = what_if(&trace, &graph, &scenario);
        prop_assert_eq!(prediction.predicted, made_up.simulated(workers, &graph.order));
        prop_assert!(prediction.predicted >= graph.ideal(&trace).bound(workers));
    }

    #[test]
    fn tasks_without_times_stay_on_machines_with_so_many_cores(made_up in graphs(), cores in 1..4_usize) {
        // On one machine as on so many workers; on three as if the others were not there.
        let mut one = made_up.clone();
        one.workers = vec![0; one.work.len()];
        for made_up in [one, made_up] {
            let mut trace = made_up.of_durations();
            trace.slots = trace.tasks.iter().map(|task| (task.worker, cores)).collect();
            let graph = TaskGraph::of(&trace).expect("it has an edge");
            let prediction = what_if(&trace, &graph, &Scenario::default());
            prop_assert_eq!(prediction.measured, None);
            prop_assert_eq!(prediction.replayed, made_up.simulated_on_machines(cores, &graph.order));
        }
    }

    #[test]
    fn what_was_measured_is_replayed_exactly(made_up in graphs()) {
        let trace = made_up.as_run();
        let graph = TaskGraph::of(&trace).expect("it has an edge");
        let prediction = what_if(&trace, &graph, &Scenario::default());
        let first_planned = trace.range().expect("it has tasks").0;
        let measured = prediction.measured.expect("it has times");
        prop_assert_eq!(prediction.replayed, measured);
        prop_assert_eq!(prediction.predicted, measured);
        // Nothing but the way, the start and the work is left with an instant controller.
        let instant = Scenario { instant_controller: true, ..Scenario::default() };
        let predicted = what_if(&trace, &graph, &instant).predicted;
        let mut without = made_up.clone();
        for overheads in &mut without.overheads {
            overheads[0] = 0;
            overheads[3] = 0;
        }
        let expected = without.as_run().range().expect("it has tasks");
        prop_assert_eq!(predicted, expected.1 - expected.0, "first planned at {}", first_planned);
    }
}

#[test]
fn a_circle_is_left_out_and_counted() {
    let mut trace = MadeUp {
        work: vec![1, 2, 3],
        inputs: vec![vec![1], vec![0], vec![1]],
        overheads: vec![[0; 4]; 3],
        workers: vec![0; 3],
    }
    .of_durations();
    let graph = TaskGraph::of(&trace).expect("it has edges");
    assert_eq!(graph.circular, 1);
    assert_eq!(graph.ideal(&trace).critical, 6);
    let none = std::collections::BTreeMap::from([("task:1".to_owned(), Vec::new())]);
    assert_eq!(trace.set_inputs(&none), 1);
    assert_eq!(TaskGraph::of(&trace).expect("it has edges").circular, 0);
}
