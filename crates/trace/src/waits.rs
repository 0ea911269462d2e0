//! What tasks wait for between the moment when their inputs are done and the one when they start.

use crate::graph::TaskGraph;
use crate::replay::Replay;
use crate::trace::Trace;

/// Why a task has not started although its inputs are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitReason {
    /// The controller has not noticed that the inputs are done.
    Notice,
    /// Its worker is busy with other tasks.
    Worker,
    /// Its worker does not exist yet.
    Absent,
    /// An attempt at it was lost.
    Retry,
    /// Its inputs are copied to where it runs.
    Copy,
    /// The controller has not planned it.
    Planning,
    /// It is on its way to the worker.
    Transport,
    /// Tasks that were sent with it wait for their inputs.
    Sequence,
    /// It is in the queue of its worker, and the trace does not say why.
    Unknown,
}

impl WaitReason {
    /// All reasons, in this order.
    pub const ALL: [Self; 9] = [
        Self::Notice,
        Self::Worker,
        Self::Absent,
        Self::Retry,
        Self::Copy,
        Self::Planning,
        Self::Transport,
        Self::Sequence,
        Self::Unknown,
    ];

    /// Returns its name: `notice`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Worker => "worker",
            Self::Absent => "absent",
            Self::Retry => "retry",
            Self::Copy => "copy",
            Self::Planning => "planning",
            Self::Transport => "transport",
            Self::Sequence => "sequence",
            Self::Unknown => "unknown",
        }
    }

    /// Returns what the task waits for.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Notice => "for the controller to notice that inputs are done",
            Self::Worker => "for a busy worker",
            Self::Absent => "for a worker that did not exist yet",
            Self::Retry => "after a lost attempt",
            Self::Copy => "for copies of inputs",
            Self::Planning => "for the controller to plan it",
            Self::Transport => "on the way to the worker",
            Self::Sequence => "for the inputs of tasks that were sent with it",
            Self::Unknown => "on an idle worker, for unknown reasons",
        }
    }
}

/// The wait of a task, in ns: from the moment when its inputs were done until it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskWait {
    /// The time of each [`WaitReason`].
    pub times: [i64; 9],
    /// The task that its worker was busy with last.
    pub behind: Option<usize>,
}

impl TaskWait {
    /// Returns the time for one reason.
    pub fn of(&self, reason: WaitReason) -> i64 {
        self.times[reason as usize]
    }

    /// Returns the whole wait.
    pub fn total(&self) -> i64 {
        self.times.iter().sum()
    }

    pub(crate) fn add(&mut self, reason: WaitReason, time: i64) {
        self.times[reason as usize] += time.max(0);
    }
}

/// Returns the wait of each task of a trace, by a graph.
pub fn task_waits(trace: &Trace, graph: &TaskGraph) -> Vec<TaskWait> {
    Replay::of(trace, graph).waits
}
