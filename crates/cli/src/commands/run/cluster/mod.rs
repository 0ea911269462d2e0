//! `lapwing run --executor slurm`: instances as jobs on a cluster.
//!
//! Each instance is a job that runs this same program on its node ([`task`]), which measures it with the local executor and
//! writes records to a folder that all nodes share ([`folder`]). The client submits, polls and collects
//! ([`measurement`]). What differs between schedulers is behind [`scheduler::JobScheduler`]; each has its file.

mod collecting;
mod command;
mod endings;
mod folder;
mod measurement;
mod options;
mod preview;
mod scheduler;
mod script;
mod shares;
mod simulation;
mod slurm;
mod slurm_text;
mod task;
mod tasks;

pub use measurement::{ClusterMeasurement, ClusterVisit};
pub use options::{ClusterOptions, EXECUTOR};
pub use shares::{ClusterShareCommand, JobShare, ShareUnit};
pub use simulation::{SimulationJobs, SimulationStart};
pub use task::ClusterTaskCommand;

/// The program and its version.
const TOOL: &str = concat!("lapwing ", env!("CARGO_PKG_VERSION"));
