//! The first divergence of two simulated runs is what was planted, and runs that differ by noise have none.

use lapwing_trace::{DivergenceKind, MatchedRuns, Name, Task, TaskEvent, Trace};

const SECOND: f64 = 1e9;
const PAIRS: u64 = 100;

/// Runs of the same job: four stages of tasks of different lengths, each of which has two inputs of the stage before.
#[derive(Clone, Copy)]
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

/// What differs in the second run.
#[derive(Clone, Copy)]
enum Planted {
    Nothing,
    Slow(usize, f64),
    Late(usize, f64),
    Moved(usize),
    Missing(usize),
    SlowWorker(f64),
}

impl Job {
    fn all() -> Vec<Self> {
        let mut jobs = Vec::new();
        for (width, workers) in [(8, 3), (20, 4), (100, 8)] {
            for noise in [0.01, 0.05, 0.1] {
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
                Planted::SlowWorker(times) if worker == 1 => length *= times,
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
    fn count(&self, planted: Planted, passes: impl Fn(&MatchedRuns, [&Trace; 2]) -> bool) -> u64 {
        let mut number = 0;
        for seed in 0..PAIRS {
            let one = self.run(2 * seed + 1, Planted::Nothing);
            let other = self.run(2 * seed + 2, planted);
            number += u64::from(passes(&MatchedRuns::of([&one, &other]), [&one, &other]));
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

#[test]
fn explore() {
    for job in Job::all() {
        let none = job.count(Planted::Nothing, |found, _| found.first.is_none());
        let at = job.width + job.width / 2;
        let is_it =
            |found: &MatchedRuns, at: usize| found.first.is_some_and(|it| it.tasks[0] == Some(at));
        let slow = job.count(Planted::Slow(at, 3.0), |found, _| is_it(found, at));
        let slow2 = job.count(Planted::Slow(at, 2.0), |found, _| is_it(found, at));
        let late = job.count(Planted::Late(at, 2.0), |found, _| is_it(found, at));
        let missing = job.count(Planted::Missing(at), |found, _| is_it(found, at));
        let moved = if job.is_static {
            job.count(Planted::Moved(at), |found, _| is_it(found, at))
        } else {
            0
        };
        let slowworker = job.count(Planted::SlowWorker(1.5), |found, t| {
            found
                .first
                .is_some_and(|it| t[1].text(t[1].tasks[it.tasks[1].unwrap_or(0)].worker) == "h:w1")
        });
        let faster = Job { speed: 1.3, ..job };
        let throughout = (0..PAIRS)
            .filter(|seed| {
                let one = job.run(2 * seed + 1, Planted::Nothing);
                let other = faster.run(2 * seed + 2, Planted::Nothing);
                MatchedRuns::of([&one, &other]).first.is_none()
            })
            .count();
        let mut kinds = [0; 4];
        job.count(Planted::Nothing, |found, _| {
            if let Some(it) = found.first {
                kinds_add(it.kind, &KINDS);
            }
            true
        });
        for k in 0..4 {
            kinds[k] = KINDS[k].swap(0, std::sync::atomic::Ordering::Relaxed);
        }
        eprintln!(
            "{:3} {} {:.2} static {:5} graph {:5}: none {none} {kinds:?} throughout {throughout} slow3 {slow} slow2 {slow2} late {late} missing {missing} moved {moved} slowworker {slowworker}",
            job.width, job.workers, job.noise, job.is_static, job.has_graph
        );
    }
}
static KINDS: [std::sync::atomic::AtomicUsize; 4] =
    [const { std::sync::atomic::AtomicUsize::new(0) }; 4];
fn kinds_add(kind: DivergenceKind, kinds: &[std::sync::atomic::AtomicUsize; 4]) {
    let at = match kind {
        DivergenceKind::Missing => 0,
        DivergenceKind::Worker => 1,
        DivergenceKind::Start(_) => 2,
        DivergenceKind::Duration(_) => 3,
    };
    kinds[at].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}
