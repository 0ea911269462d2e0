//! Reads suite files and holds what is to be measured.

mod ab_environments;
mod adhoc;
pub mod burn_in_file;
mod case;
mod confinement;
mod duet;
mod editing;
mod error;
mod executor;
mod factors;
mod file;
mod found;
mod node;
mod numbers;
mod plan;
mod plan_document;
mod pytest;
mod python;
mod statement;
mod stored_plan;
mod sweep;
#[cfg(test)]
mod tests;
mod variants;

pub(crate) use case::sha256;

pub use ab_environments::{AbEnvironments, AbEnvironmentsError};
pub use adhoc::{AdHoc, text as command_text};
pub use confinement::{Confinement, Isolation};
pub use duet::{CoreSet, DuetCores};
pub use editing::{
    EditedSuite, KeyUpdate, SplitError, SplitFactor, SuiteNumbers, TableUpdate, changes_text,
};
pub use error::{SuiteError, SuiteProblem, nearest};
pub use executor::{
    ClusterSettings, ExecutorTables, JobCommands, SchedulerSettings, SlurmSettings, SshSettings,
};
pub use factors::{SourcePatch, SuiteFactor, infeasibility};
pub use file::Suite;
pub use found::FoundBenchmarks;
pub use numbers::duration::parse_duration;
pub use numbers::judging::parse_share;
pub use numbers::settings::{MOST_INSTANCES, MOST_INSTANCES_IN_ALL, MOST_ITERATIONS, Settings};
pub use plan::*;
pub use plan_document::{
    EntryName, PlanAssignment, PlanConfiguration, PlanDocument, PlanDocumentError, PlanEntry,
    PlanFlavour, ReadPlan, RepeatedItem, UnmatchedItem, UnmatchedReason,
};
pub use pytest::{CollectedCounts, GivenCounts, PytestTable, PytestTest};
pub(crate) use python::HASH;
pub use python::{PackageFiles, PythonEnvironment, PythonPackages};
pub use statement::{Statement, StatementError};
pub use stored_plan::stored_plan;
