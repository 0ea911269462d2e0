//! Runs what a plan says and hands on every iteration as it happens.

mod event;
mod execute;
pub mod fake;
mod instance;
pub mod local;
mod runner;
#[cfg(test)]
mod runner_tests;
mod schedule;
mod values;

pub use event::{Consumer, Event};
pub use execute::*;
pub use runner::{
    RunEnd, RunError, Runs, Surroundings, Watch, environment_outputs, open_session, run,
};
pub use schedule::{Finished, FixedSchedule, InstancePlan, Schedule};
pub use values::declared_metrics;
