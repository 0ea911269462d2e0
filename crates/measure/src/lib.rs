//! Runs a plan and passes on every iteration as it happens.

mod commits;
pub mod doctor;
mod duet;
#[cfg(test)]
mod duet_tests;
mod environment;
mod event;
mod execute;
pub mod fake;
mod hardware;
mod instance;
pub mod local;
mod observe;
mod outputs;
mod profiler;
pub mod pytest;
mod revision;
mod runner;
#[cfg(test)]
mod runner_tests;
mod schedule;
pub mod session;
mod source;
pub mod suite;
mod values;
mod version;

pub use commits::{
    CommitRange, CommitsError, add_worktree, discard_worktree, merged_commits, remove_worktree,
    single_commit,
};
pub use environment::Environment;
pub use event::{Consumer, Event, JobCounts};
pub use execute::*;
pub use hardware::{hardware, os_release};
pub use observe::{MachineSnapshot, observed};
pub use outputs::command_outputs;
pub use profiler::{Profiler, ProfilerError};
pub use revision::{
    CommitSummary, ancestry, commit_before, commit_summary, first_good_commit, number_of_commits,
};
pub use runner::{
    MachineWatch, RunEnd, RunError, RunnerSurroundings, SessionRuns, describe, open_session, run,
};
pub use schedule::{FinishedInstance, FixedSchedule, InstancePlan, MoreInstances, Schedule};
pub use source::{
    CommitFolder, CommitState, PythonFolder, PythonFolders, PythonState, SOURCE_VARIABLE,
    VariantPlace, VariantSources,
};
pub use values::declared_metrics;
pub use version::{remote_address, repository_name, version};
