use std::fmt;

use serde::{Deserialize, Serialize};

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

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Failed, Self::TimedOut, Self::Skipped];

    /// Returns the name that records and tables use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Skipped => "skipped",
        }
    }

    /// Returns the outcome of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

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

impl InstanceOutcome {
    /// Every outcome.
    pub const ALL: [Self; 5] = [
        Self::Ok,
        Self::Failed,
        Self::TimedOut,
        Self::Skipped,
        Self::Lost,
    ];

    /// Returns the name that records and tables use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Skipped => "skipped",
            Self::Lost => "lost",
        }
    }

    /// Returns the outcome of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl fmt::Display for InstanceOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
