//! The first divergence of two simulated runs is what was planted, and runs that differ by noise have none.

use lapwing_trace::{DivergenceKind, MatchedRuns, Name, Task, TaskEvent, Trace};

const SECOND: f64 = 1e9;
/// Pairs of runs of each job.
const PAIRS: u64 = 30;

/// Runs of the same job: four stages of tasks of different lengths, each of which has two inputs of the stage before.
#[derive(Debug, Clone, Copy)]
struct Job {
    /// Tasks of each stage.
    width: usize,
    workers: usize,
    /// The standard deviation of the logarithm of durations.
    noise: f64,
    /// Whether each task has its worker; otherwise it goes to the one that is free first.
    is_static: bool,
    has_graph: bool,
    /// How many times as long all tasks take.
    speed: f64,
}

/// The difference planted in the second run.
#[derive(Clone, Copy)]
enum Planted {
    Nothing,
    Slow(usize, f64),
    Late(usize, f64),
    Moved(usize),
    Missing(usize),
}

impl Job {
    fn all() -> Vec<Self> {
        let mut jobs = Vec::new();
        for (width, workers) in [(8, 3), (20, 4), (60, 8)] {
            for noise in [0.01, 0.1] {
                for (is_static, has_graph) in
                    [(true, true), (true, false), (false, true), (false, false)]
                {
                    let speed = 1.0;
                    jobs.push(Self {
                        width,
                        workers,
                        noise,
                        is_static,
                        has_graph,
                        speed,
                    });
                }
            }
        }
        jobs
    }

    fn tasks(&self) -> usize {
        4 * self.width
    }

    fn run(&self, seed: u64, planted: Planted) -> Trace {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // What tasks take without noise is the same in all runs.
        let mut inherent = Random(12_345);
        let mut trace = Trace::default();
        let mut free = vec![0.3 * random.uniform(); self.workers];
        let mut ends: Vec<f64> = Vec::new();
        for number in 0..self.tasks() {
            let (stage, at) = (number / self.width, number % self.width);
            let seconds = [0.2, 1.0, 0.5, 0.1][stage] * (0.7 + 0.6 * inherent.uniform());
            let inputs: Vec<usize> = match stage {
                0 => Vec::new(),
                _ => [at, (at + 1) % self.width]
                    .map(|it| (stage - 1) * self.width + it)
                    .into(),
            };
            let ready = inputs.iter().map(|it| ends[*it]).fold(0.0, f64::max);
            let mut worker = match self.is_static {
                true => at % self.workers,
                false => (0..self.workers)
                    .min_by(|one, other| free[*one].max(ready).total_cmp(&free[*other].max(ready)))
                    .unwrap(),
            };
            let mut length = seconds * self.speed * (self.noise * random.normal()).exp();
            let mut late = 0.002 * (0.5 + random.uniform());
            match planted {
                Planted::Missing(it) if it == number => {
                    ends.push(ready);
                    continue;
                }
                Planted::Slow(it, times) if it == number => length *= times,
                Planted::Late(it, seconds) if it == number => late += seconds,
                Planted::Moved(it) if it == number => worker = (worker + 1) % self.workers,
                _ => {}
            }
            let started = free[worker].max(ready) + late;
            free[worker] = started + length;
            ends.push(free[worker]);
            let class = ["read", "map", "sum", "write"][stage];
            let names = &mut trace.names;
            let name = |trace: &mut Trace, number: usize| {
                trace.names.intern(&format!(
                    "{}:{}",
                    ["read", "map", "sum", "write"][number / self.width],
                    number % self.width
                ))
            };
            let lane = names.intern(&format!("h:w{worker}"));
            let class = names.intern(class);
            let own = name(&mut trace, number);
            let mut task = Task::new(own, class, lane);
            for (event, at) in [
                (TaskEvent::Started, started),
                (TaskEvent::Published, free[worker]),
            ] {
                #[expect(clippy::cast_possible_truncation, reason = "minutes in ns")]
                let nanoseconds = (at * SECOND) as i64;
                task.events[event as usize] = nanoseconds;
            }
            if self.has_graph {
                let inputs: Vec<Name> = inputs.iter().map(|it| name(&mut trace, *it)).collect();
                task.inputs = inputs.into();
            }
            trace.tasks.push(task);
        }
        trace
    }

    /// Returns in how many pairs of runs what is found passes.
    fn count(&self, planted: Planted, passes: impl Fn(&MatchedRuns) -> bool) -> u64 {
        let mut number = 0;
        for seed in 0..PAIRS {
            let one = self.run(2 * seed + 1, Planted::Nothing);
            let other = self.run(2 * seed + 2, planted);
            number += u64::from(passes(&MatchedRuns::of([&one, &other])));
        }
        number
    }
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        for _each in 0..3 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
        }
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX)
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn is_at(found: &MatchedRuns, task: usize) -> bool {
    found.first.is_some_and(|it| it.tasks[0] == Some(task))
}

#[test]
fn runs_that_differ_by_noise_have_no_divergence() {
    for job in Job::all() {
        let silent = job.count(Planted::Nothing, |found| found.first.is_none());
        assert!(silent >= PAIRS - 1, "{silent} of {PAIRS}: {job:?}");
    }
}

#[test]
fn a_run_that_is_slower_throughout_has_no_first_slow_task() {
    for job in Job::all() {
        let mut silent = 0;
        for seed in 0..PAIRS {
            let slower = Job { speed: 1.3, ..job }.run(2 * seed + 2, Planted::Nothing);
            let found = MatchedRuns::of([&job.run(2 * seed + 1, Planted::Nothing), &slower]);
            silent += u64::from(found.first.is_none());
        }
        assert!(silent >= PAIRS - 3, "{silent} of {PAIRS}: {job:?}");
    }
}

#[test]
fn the_first_divergence_is_what_was_planted() {
    for job in Job::all() {
        let at = job.width + job.width / 2;
        let found_of = |planted, kind: fn(DivergenceKind) -> bool| {
            let found = job.count(planted, |found| {
                is_at(found, at) && found.first.is_some_and(|it| kind(it.kind))
            });
            assert!(found >= PAIRS - 3, "{found} of {PAIRS}: {job:?}");
        };
        found_of(Planted::Slow(at, 3.5), |it| {
            matches!(it, DivergenceKind::Duration(_))
        });
        found_of(Planted::Missing(at), |it| it == DivergenceKind::Missing);
        // Without the graph, others end all the time while a task is late.
        if job.has_graph {
            found_of(Planted::Late(at, 2.0), |it| {
                matches!(it, DivergenceKind::Start(_))
            });
        }
        // Where tasks go to the worker that is free first, others ran elsewhere anyway.
        if job.is_static {
            found_of(Planted::Moved(at), |it| it == DivergenceKind::Worker);
        }
    }
}
