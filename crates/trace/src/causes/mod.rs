//! What makes a run longer, and what it would take without.
//!
//! Each candidate is taken away in a replay of the measured run. What the run gains by that is the size of the finding.

mod contention;
mod copies;
mod overheads;
mod retries;
mod slow;
mod stalls;
mod structure;

pub(crate) use self::slow::threshold;
use crate::contention::Contention;
use crate::durations::float;
use crate::graph::TaskGraph;
use crate::names::Name;
use crate::off_cpu::OffCpu;
use crate::path::RunPath;
use crate::replay::{Changes, Overheads, Placement, Replay};
use crate::trace::Trace;

/// A cause that gains less than this share of the makespan is not listed.
const LEAST_GAIN: f64 = 0.03;
/// A more specific cause is named instead of a wider one if it gains at least so much of what that gains.
const SPECIFIC: f64 = 0.85;
/// A cause is a finding beside larger ones if the run gains at least so much of its gain when those are gone already.
const OWN_GAIN: f64 = 0.3;
/// Tasks go to the worker that is free first if a replay in which they do is so close to what was measured.
const ADAPTIVE: f64 = 0.03;

/// What makes a run longer.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// A worker takes longer than others for tasks of the same classes.
    SlowWorker {
        /// The worker.
        worker: Name,
        /// How many times as long.
        times: f64,
        /// Number of its tasks.
        tasks: usize,
    },
    /// The workers of a host take longer than others for tasks of the same classes.
    SlowHost {
        /// The host.
        host: Name,
        /// How many times as long.
        times: f64,
        /// Number of its tasks.
        tasks: usize,
    },
    /// Some tasks take much longer than others of their class.
    SlowTasks {
        /// The class.
        class: Name,
        /// The longest.
        task: Name,
        /// How many times as long as the median of the class.
        times: f64,
        /// Number of such tasks.
        tasks: usize,
    },
    /// A class of tasks takes much longer than the others, and most of the path to the end.
    LongClass {
        /// The class.
        class: Name,
        /// Number of its tasks.
        tasks: usize,
        /// How many times as long as the median of all others.
        times: f64,
    },
    /// A chain of tasks that wait for each other takes most of the run, while workers are idle.
    CriticalPath {
        /// Number of its tasks.
        tasks: usize,
        /// The class of most of them.
        class: Name,
        /// Its duration on workers in ns.
        duration: i64,
    },
    /// There are too few tasks for the workers.
    FewTasks {
        /// Number of tasks.
        tasks: usize,
        /// Number of workers.
        workers: usize,
    },
    /// Tasks wait for copies of their inputs.
    Copies {
        /// Number of copies.
        copies: usize,
        /// Their time in ns.
        sum: i64,
        /// Number of them for tasks all of whose inputs were made on one other host.
        avoidable: usize,
    },
    /// Tasks wait for copies of data that were there already.
    RedundantCopies {
        /// Number of copies.
        copies: usize,
        /// Their time in ns.
        sum: i64,
    },
    /// Workers came while tasks had been ready for long.
    LateWorkers {
        /// Number of such workers.
        workers: usize,
        /// When the last of them came, in ns from the beginning of the run.
        until: i64,
    },
    /// Nothing began, or nothing went on, on any worker.
    Stall {
        /// When it began, in ns from the beginning of the run.
        from: i64,
        /// When it ended.
        until: i64,
        /// Whether tasks that had begun stood still as well.
        is_freeze: bool,
    },
    /// All tasks of a stage wait for all of the stage before it.
    Barrier {
        /// Number of barriers.
        barriers: usize,
        /// Number of tasks that wait at them.
        tasks: usize,
    },
    /// Tasks that are sent to a worker together start when the inputs of all of them are there.
    Sequences {
        /// Number of tasks in sequences that waited so.
        tasks: usize,
        /// The time that tasks waited for inputs of others in ns.
        sum: i64,
    },
    /// The controller notices late that tasks are done.
    ControllerNotice(Overhead),
    /// The controller plans tasks late.
    ControllerPlanning(Overhead),
    /// Tasks are long on their way to the worker.
    ToWorker(Overhead),
    /// Tasks are on an idle worker, with all of their inputs, and do not start.
    StartUp(Overhead),
    /// Loading inputs takes long.
    Load(Overhead),
    /// Publishing results takes long.
    Publish(Overhead),
    /// Tasks take less time than what surrounds them.
    SmallTasks {
        /// Number of tasks.
        tasks: usize,
        /// The mean time to compute in ns.
        computing: i64,
        /// The mean time of everything else in ns.
        overhead: i64,
    },
    /// Another placement of the same tasks ends sooner.
    Imbalance {
        /// The busiest worker.
        worker: Name,
        /// Its busy time in ns.
        busy: i64,
        /// The mean busy time of all workers in ns.
        mean: i64,
    },
    /// Classes compute longer while other tasks compute on the same machine, the largest loss first.
    Contention(Vec<Contention>),
    /// Attempts at tasks were lost.
    Retries {
        /// Number of tasks that were tried again.
        tasks: usize,
        /// The worker that died, if there is one.
        worker: Option<Name>,
    },
    /// A class is off the CPU for much of its computing.
    OffCpu(OffCpu),
}

/// A phase of all tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overhead {
    /// Its sum over all tasks in ns.
    pub sum: i64,
    /// The longest in ns.
    pub longest: i64,
    /// Number of tasks that have it.
    pub tasks: usize,
}

impl Overhead {
    /// Returns the mean of the tasks that have it in ns.
    pub fn mean(&self) -> i64 {
        self.sum / i64::try_from(self.tasks).unwrap_or(1).max(1)
    }
}

/// A cause, and what the run would take without it.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceFinding {
    /// The cause.
    pub cause: Cause,
    /// The makespan without it in ns.
    pub without: i64,
    /// What the run gains in ns.
    pub gain: i64,
}

/// What says which tasks wait for which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphSource {
    /// The trace, or the graph that was given with it.
    Known,
    /// The trace does not, and its workers had tasks all the time, as if these waited for none.
    Independent,
    /// The order of events: a task waited for the last completion before it.
    Observed,
}

/// The findings of a trace, and the model that they come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterfactuals {
    /// The findings, that which gains most first.
    pub findings: Vec<TraceFinding>,
    /// The makespan of the replay as measured, in ns.
    pub replayed: i64,
    /// How far that is from the measured one, in ns.
    pub error: i64,
    /// Whether tasks go to the worker that is free first.
    pub is_adaptive: bool,
    /// What tasks wait for is known by this.
    pub graph: GraphSource,
    /// The sum over tasks of each [`WaitReason`](crate::WaitReason), in ns.
    pub waits: [i64; 9],
}

/// A cause that may be one, with what is different without it.
#[derive(Debug)]
struct Candidate {
    cause: Cause,
    changes: Changes,
    /// Whether tasks are placed anew.
    is_placed_anew: bool,
    /// The least gain as a share of the makespan.
    least: f64,
    /// The most that it can gain, in ns.
    most: i64,
    /// How specific it is; 0 for the most specific.
    rank: u8,
}

impl Candidate {
    fn new(rank: u8, cause: Cause, changes: Changes) -> Self {
        Self {
            cause,
            changes,
            is_placed_anew: false,
            least: LEAST_GAIN,
            most: i64::MAX,
            rank,
        }
    }

    fn at_least(self, least: f64) -> Self {
        Self { least, ..self }
    }
}

/// A run with what is known of it, in which candidates are taken away.
struct Model<'t> {
    trace: &'t Trace,
    replay: Replay<'t>,
    path: Option<&'t RunPath>,
    makespan: i64,
    placement: Placement,
    replayed: i64,
}

impl Model<'_> {
    fn share(&self, time: i64) -> f64 {
        float(time) / float(self.makespan.max(1))
    }

    /// Returns the makespan without the causes of candidates.
    fn without(&self, changes: &Changes, is_placed_anew: bool) -> i64 {
        let placement = if is_placed_anew {
            Placement::FirstFree
        } else {
            self.placement
        };
        self.replay.run(placement, changes).0
    }
}

/// Returns the causes of the duration of a run; `None` if it has no duration.
pub(crate) fn find_causes(
    trace: &Trace,
    graph: &TaskGraph,
    source: GraphSource,
    path: Option<&RunPath>,
) -> Option<Counterfactuals> {
    // Processes are no tasks that a worker could have taken from another.
    let is_of_processes = trace.is_of_processes();
    let is_known = source != GraphSource::Observed && !is_of_processes;
    let has_workers = !is_of_processes && !trace.has_numbered_lanes();
    let (begin, end) = trace.range()?;
    let makespan = end - begin;
    let mut replay = Replay::of(trace, graph);
    let mut candidates = Vec::new();
    if has_workers {
        candidates.extend(slow::workers(&mut replay));
    }
    if !is_of_processes {
        candidates.extend(retries::retries(&mut replay));
    }
    if is_known && has_workers {
        candidates.extend(structure::late_workers(&mut replay, makespan));
    }
    if is_known {
        candidates.extend(stalls::idle(&mut replay, makespan));
    }
    if !is_of_processes {
        candidates.extend(stalls::freezes(&replay, makespan));
    }
    let measured = |placement| replay.run(placement, &Changes::default()).0;
    let placed = measured(Placement::AsMeasured);
    let free = measured(Placement::FirstFree);
    let is_close = float((free - makespan).abs()) <= ADAPTIVE * float(makespan);
    let is_adaptive = is_known && is_close;
    let (placement, replayed) = if is_adaptive {
        (Placement::FirstFree, free)
    } else {
        (Placement::AsMeasured, placed)
    };
    let model = Model {
        trace,
        replay,
        path,
        makespan,
        placement,
        replayed,
    };
    if !is_of_processes {
        candidates.extend(slow::tasks(&model));
        candidates.extend(slow::classes(&model));
        candidates.extend(copies::copies(&model));
        candidates.extend(overheads::phases(&model, is_known));
    }
    candidates.extend(contention::contention(&model));
    if is_known {
        candidates.extend(structure::barriers(&model));
        candidates.extend(structure::sequences(&model));
    }
    if is_known && has_workers {
        candidates.extend(structure::imbalance(&model));
    }
    let (mut findings, gone, until_now) = chosen(&model, candidates);
    if is_known {
        findings.extend(structure::parallelism(&model, &gone, until_now));
        findings.sort_by_key(|it| std::cmp::Reverse(it.gain));
    }
    let mut waits = [0; 9];
    for wait in &model.replay.waits {
        for (sum, time) in waits.iter_mut().zip(wait.times) {
            *sum += time;
        }
    }
    Some(Counterfactuals {
        findings,
        replayed: model.replayed,
        error: (model.replayed - makespan).abs(),
        is_adaptive,
        graph: source,
        waits,
    })
}

/// Returns whether the run is as if tasks waited for nothing but workers: workers that are free first take them as
/// measured, or no worker pauses between two tasks.
pub(crate) fn is_independent(trace: &Trace, independent: &TaskGraph) -> bool {
    let replay = Replay::of(trace, independent);
    let makespan = float(trace.makespan());
    let without_pauses = Changes {
        without: Overheads {
            planning: true,
            ..Overheads::default()
        },
        ..Changes::default()
    };
    let is_close = |placement, changes: &Changes| {
        let (replayed, _) = replay.run(placement, changes);
        (float(replayed) - makespan).abs() <= ADAPTIVE * makespan
    };
    // A few tasks say nothing.
    trace.tasks.len() >= 2 * replay.lanes.len()
        && (is_close(Placement::AsMeasured, &without_pauses)
            && is_close(Placement::FirstFree, &without_pauses)
            || replay.pauses() <= ADAPTIVE)
}

/// Returns the candidates that the run gains by, each if it is not explained by those before it, with what is different
/// without all of them, and the makespan then.
fn chosen(model: &Model<'_>, candidates: Vec<Candidate>) -> (Vec<TraceFinding>, Changes, i64) {
    let error = (model.replayed - model.makespan).abs();
    let least = |candidate: &Candidate| {
        let share = candidate.least * float(model.makespan);
        share.max(float(error))
    };
    let mut left: Vec<(i64, Candidate)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let without = model.without(&candidate.changes, candidate.is_placed_anew);
            let gain = model.replayed - without;
            let is_gain = float(gain) > least(&candidate) && gain <= candidate.most;
            is_gain.then_some((gain, candidate))
        })
        .collect();
    let mut findings: Vec<TraceFinding> = Vec::new();
    let (mut gone, mut is_placed_anew) = (Changes::default(), false);
    let mut until_now = model.replayed;
    while let Some(best) = left.iter().map(|(gain, _)| *gain).max() {
        let is_near = |gain: i64| float(gain) >= SPECIFIC * float(best);
        let near = (0..left.len()).filter(|at| is_near(left[*at].0));
        let chosen = near.min_by_key(|at| (left[*at].1.rank, -left[*at].0));
        let Some((gain, candidate)) = chosen.map(|at| left.swap_remove(at)) else {
            break;
        };
        let together = gone.clone().and(&candidate.changes);
        let anew = is_placed_anew || candidate.is_placed_anew;
        let without = model.without(&together, anew);
        let own = float(until_now - without);
        if !findings.is_empty() && own < least(&candidate).max(OWN_GAIN * float(gain)) {
            continue;
        }
        (gone, is_placed_anew, until_now) = (together, anew, without);
        findings.push(TraceFinding {
            cause: candidate.cause,
            without: model.makespan - gain,
            gain,
        });
    }
    (findings, gone, until_now)
}
