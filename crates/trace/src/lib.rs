//! Traces of task graphs: tasks on workers, transfers of datasets between them, and the phases of a controller.
//!
//! A [`TraceReader`] makes a [`Trace`] of a log. [`lint()`] says what is wrong with it, [`durations`] and
//! [`Statistics`] how long its pieces took, [`worker_time`] what workers did all the time, [`run_path`] what the last
//! task waited for, and [`contention`] whether tasks are slower side by side. `docs/traces.md` has the meaning of all
//! events.

mod calls;
mod causes;
mod clocks;
mod compare;
mod contention;
mod controller;
mod copies;
mod divergence;
mod durations;
mod findings;
mod graph;
mod lanes;
mod lint;
mod loads;
mod metrics;
mod names;
mod near_paths;
mod off_cpu;
mod path;
mod processes;
mod profile;
mod range;
mod read;
mod replay;
mod sequences;
mod spans;
mod trace;
mod waits;
mod what_if;
mod worker_time;

pub use calls::Call;
pub use causes::{Cause, Counterfactuals, GraphSource, Overhead, TraceFinding};
pub use clocks::ClockOffset;
pub use compare::{
    ClassTimes, Crowding, DurationRatio, DurationSums, PathReason, PathTimes, ReasonKind,
    Replicates, TaskTimes, TraceComparison, TraceWhole,
};
pub use contention::{Contention, ContentionCause, contention};
pub use controller::{ControllerTime, PhaseTime, controller_time};
pub use divergence::{DivergenceKind, DivergentTask, MatchedRuns};
pub use durations::{
    DurationGroup, Statistics, TaskDuration, TransferDuration, durations, transfer_durations,
};
pub use findings::{TraceFindings, find};
pub use graph::{IdealTime, TaskGraph};
pub use lanes::{LANE_ORDER, Lane, LaneKind, LanePart, LanePiece, lanes};
pub use lint::{Defect, DefectKind, lint};
pub use loads::Loads;
pub use metrics::metrics;
pub use names::{Name, Names};
pub use off_cpu::{OffCpu, WaitsFor, off_cpu};
pub use path::{PathPart, PathParts, RunPath, run_path};
pub use processes::ProcessSample;
pub use profile::{ClassProfile, profile};
pub use range::TraceRange;
pub use read::{TraceError, TraceReader};
pub use spans::{SpanReader, TraceSpans};
pub use trace::{
    InputsSource, MISSING, Micro, OtherSpan, Phase, Pressure, Resource, Task, TaskEvent, Trace,
    Transfer, TransferEvent, TransferMode,
};
pub use waits::{TaskWait, WaitReason, task_waits};
pub use what_if::{Prediction, Scenario, what_if};
pub use worker_time::{WorkerTime, worker_time};
