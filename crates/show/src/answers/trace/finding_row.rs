//! Findings of a trace with the numbers of their sentences.

use lapwing_trace::{
    Cause, Contention, ContentionCause, OffCpu, Overhead, Resource, Trace, TraceFinding,
    TraceFindings, WaitsFor,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::trace::{finding_text, share};

/// A cause, with times in nanoseconds.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct TraceFindingRow<'t> {
    /// `slow_worker`, `slow_host`, `slow_task`, `long_class`, `critical_path`, `few_tasks`, `copies`,
    /// `redundant_copies`, `late_workers`, `stall`, `barrier`, `controller_notice`, `controller_planning`, `to_worker`,
    /// `start_up`, `load`, `publish`, `small_tasks`, `imbalance`, `contention`, `retries` or `off_cpu`.
    kind: &'static str,
    /// What the run gains without the cause.
    pub gain: i64,
    /// The same as a share of the makespan.
    gain_share: f64,
    /// The makespan without the cause.
    without: i64,
    pub text: String,
    /// The worker, host, task or class that it is about.
    subject: Option<&'t str>,
    /// The host on which tasks compute at once; empty for all hosts together.
    host: Option<&'t str>,
    /// How many times as long something takes as it usually does.
    times: Option<f64>,
    /// Number of tasks, copies or workers.
    count: Option<usize>,
    /// The time in this state, summed over tasks, copies or a chain.
    sum: Option<i64>,
    /// The longest such time.
    longest: Option<i64>,
    /// The time that `sum` is a part of.
    of: Option<i64>,
    /// The mean per task, or of what `sum` is compared with.
    mean: Option<i64>,
    /// When it began, from the beginning of the run.
    from: Option<i64>,
    /// When it ended.
    until: Option<i64>,
    /// By which share each further task at once makes a task slower.
    slowdown: Option<f64>,
    slowdown_lower: Option<f64>,
    slowdown_upper: Option<f64>,
    /// Mean number of tasks that compute at once.
    concurrency: Option<f64>,
    /// What tasks wait for or share: `on_cpu`, `core` (their own threads waited for
    /// one), `cpu` (processes of the host did), `io`, `memory` or `process`.
    cause: Option<&'static str>,
    /// The part of `sum` in which tasks waited for a core, if that was measured.
    run_delay: Option<i64>,
}

impl<'t> TraceFindingRow<'t> {
    /// Returns the row of a finding.
    pub fn new(trace: &'t Trace, found: &TraceFindings, finding: &TraceFinding) -> Self {
        let row = Self {
            gain: finding.gain,
            gain_share: share(finding.gain, found.workers.makespan),
            without: finding.without,
            text: finding_text(trace, found, finding),
            ..Self::default()
        };
        row.numbers(trace, &finding.cause)
    }

    fn numbers(self, trace: &'t Trace, cause: &Cause) -> Self {
        let text = |name| Some(trace.text(name));
        match cause {
            Cause::SlowWorker {
                worker: place,
                times,
                tasks,
            }
            | Cause::SlowHost {
                host: place,
                times,
                tasks,
            } => Self {
                kind: if matches!(cause, Cause::SlowHost { .. }) {
                    "slow_host"
                } else {
                    "slow_worker"
                },
                subject: text(*place),
                times: Some(*times),
                count: Some(*tasks),
                ..self
            },
            Cause::SlowTasks {
                task,
                times,
                tasks,
                class: _,
            } => Self {
                kind: "slow_task",
                subject: text(*task),
                times: Some(*times),
                count: Some(*tasks),
                ..self
            },
            Cause::LongClass {
                class,
                tasks,
                times,
            } => Self {
                kind: "long_class",
                subject: text(*class),
                times: Some(*times),
                count: Some(*tasks),
                ..self
            },
            Cause::CriticalPath {
                tasks,
                class,
                duration,
            } => Self {
                kind: "critical_path",
                subject: text(*class),
                count: Some(*tasks),
                sum: Some(*duration),
                ..self
            },
            Cause::FewTasks { tasks, workers: _ } => Self {
                kind: "few_tasks",
                count: Some(*tasks),
                ..self
            },
            Cause::Copies {
                copies,
                sum,
                avoidable: _,
            } => Self {
                kind: "copies",
                ..self.sum(*copies, *sum)
            },
            Cause::RedundantCopies { copies, sum } => Self {
                kind: "redundant_copies",
                ..self.sum(*copies, *sum)
            },
            Cause::LateWorkers { workers, until } => Self {
                kind: "late_workers",
                count: Some(*workers),
                until: Some(*until),
                ..self
            },
            Cause::Stall {
                from,
                until,
                is_freeze: _,
            } => Self {
                kind: "stall",
                from: Some(*from),
                until: Some(*until),
                ..self
            },
            Cause::Barrier { barriers: _, tasks } => Self {
                kind: "barrier",
                count: Some(*tasks),
                ..self
            },
            Cause::Sequences { tasks, sum } => Self {
                kind: "sequences",
                ..self.sum(*tasks, *sum)
            },
            Cause::ControllerNotice(it) => self.overhead("controller_notice", it),
            Cause::ControllerPlanning(it) => self.overhead("controller_planning", it),
            Cause::ToWorker(it) => self.overhead("to_worker", it),
            Cause::StartUp(it) => self.overhead("start_up", it),
            Cause::Load(it) => self.overhead("load", it),
            Cause::Publish(it) => self.overhead("publish", it),
            Cause::SmallTasks {
                tasks,
                computing,
                overhead,
            } => Self {
                kind: "small_tasks",
                count: Some(*tasks),
                longest: Some(*overhead),
                mean: Some(*computing),
                ..self
            },
            Cause::Imbalance { worker, busy, mean } => Self {
                kind: "imbalance",
                subject: text(*worker),
                times: Some(share(*busy, *mean)),
                sum: Some(*busy),
                mean: Some(*mean),
                ..self
            },
            // The one that loses most.
            Cause::Contention(all) => match all.first() {
                Some(it) => self.contention(trace, it),
                None => self,
            },
            Cause::Retries { tasks, worker } => Self {
                kind: "retries",
                subject: worker.map(|worker| trace.text(worker)),
                count: Some(*tasks),
                ..self
            },
            Cause::OffCpu(it) => self.off_cpu(trace, it),
        }
    }

    fn sum(self, count: usize, sum: i64) -> Self {
        Self {
            count: Some(count),
            sum: Some(sum),
            ..self
        }
    }

    fn overhead(self, kind: &'static str, it: &Overhead) -> Self {
        Self {
            kind,
            longest: Some(it.longest),
            mean: Some(it.mean()),
            ..self.sum(it.tasks, it.sum)
        }
    }

    fn off_cpu(self, trace: &'t Trace, it: &OffCpu) -> Self {
        Self {
            kind: "off_cpu",
            subject: Some(trace.text(it.class)),
            of: Some(it.computing),
            run_delay: it.run_delay,
            cause: waits_for(it.waits_for),
            ..self.sum(it.tasks, it.sum)
        }
    }

    fn contention(self, trace: &'t Trace, it: &Contention) -> Self {
        let [lower, upper] = it.slope_interval.map(|slope| slope / it.alone);
        Self {
            kind: "contention",
            subject: Some(trace.text(it.class)),
            host: Some(trace.text(it.host)),
            count: Some(it.tasks),
            slowdown: Some(it.slope / it.alone),
            slowdown_lower: Some(lower),
            slowdown_upper: Some(upper),
            concurrency: Some(it.concurrency),
            cause: match it.cause {
                None => None,
                Some(ContentionCause::OnCpu) => Some("on_cpu"),
                Some(ContentionCause::OffCpu(waits)) => waits_for(waits),
            },
            ..self
        }
    }
}

fn waits_for(waits_for: WaitsFor) -> Option<&'static str> {
    match waits_for {
        WaitsFor::Core => Some("core"),
        WaitsFor::Resource(Resource::Cpu) => Some("cpu"),
        WaitsFor::Resource(Resource::Io) => Some("io"),
        WaitsFor::Resource(Resource::Memory) => Some("memory"),
        WaitsFor::Process => Some("process"),
        WaitsFor::Unknown => None,
    }
}
