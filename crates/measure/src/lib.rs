//! Runs a plan and passes on every iteration as it happens.

pub mod bisection;
pub mod doctor;
mod execution;
pub mod indicator;
pub mod local;
mod machine;
pub mod pytest;
mod repository;
pub mod session;
pub mod stack;
pub mod suite;
#[cfg(test)]
mod testing;

pub use execution::event::{Consumer, Event, JobCounts};
pub use execution::execute::*;
pub use execution::outputs::command_outputs;
pub use execution::profiler::{Profiler, ProfilerError};
pub use execution::runner::{
    MachineWatch, RunEnd, RunError, RunnerSurroundings, SessionRuns, describe, open_session, run,
};
pub(crate) use execution::schedule::EndingSchedule;
pub use execution::schedule::{
    FinishedInstance, FixedSchedule, InstancePlan, MoreInstances, NextLook, Schedule,
};
pub use execution::values::declared_metrics;
pub use machine::environment::{Environment, isolated_cpus};
pub use machine::hardware::{hardware, os_release};
pub use machine::observe::{MachineSnapshot, observed};
pub use repository::commits::{
    CommitRange, CommitsError, add_worktree, discard_worktree, merged_commits, remove_worktree,
    single_commit,
};
pub use repository::git::{DistrustedRepository, distrusted_repository, patch_digest, user_name};
pub use repository::revision::{
    CommitSummary, DefaultLine, ancestry, commit_before, commit_summary, commits_after,
    default_line, first_good_commit, known_commits, number_of_commits,
};
pub use repository::source::{
    CommitFolder, CommitState, PythonFolder, PythonFolders, PythonState, SOURCE_VARIABLE,
    SourceState, VariantPlace, VariantSources,
};
pub use repository::version::{remote_address, repository_name, version};
