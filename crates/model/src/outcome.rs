use serde::{Deserialize, Serialize};

use super::named::named;

/// How an iteration ended. A failure is data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran and its output was accepted.
    #[default]
    Ok,
    /// It ran and failed, or could not be started.
    Failed,
    /// It was ended at its time limit.
    TimedOut,
    /// It was not run on purpose.
    Skipped,
}

named!(Outcome: Ok "ok", Failed "failed", TimedOut "timed_out", Skipped "skipped");

/// How an instance ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstanceOutcome {
    /// It ran to its planned end, with or without failed iterations.
    #[default]
    Ok,
    /// It was given up: set-up failed or too many iterations failed in a row.
    Failed,
    /// It was given up at a time limit of its own.
    TimedOut,
    /// It was not run on purpose.
    Skipped,
    /// The machine, the scheduler or the build failed, or somebody ended the session: not the benchmark's doing.
    Lost,
}

named!(InstanceOutcome: Ok "ok", Failed "failed", TimedOut "timed_out", Skipped "skipped", Lost "lost");
