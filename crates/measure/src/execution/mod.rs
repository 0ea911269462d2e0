//! Runs a schedule: instances, iterations, values.

pub(super) mod duet;
#[cfg(test)]
pub(super) mod duet_tests;
pub(super) mod event;
pub(super) mod execute;
pub(super) mod instance;
pub(super) mod kept;
pub(super) mod outputs;
pub(super) mod profiler;
pub(super) mod runner;
#[cfg(test)]
pub(super) mod runner_tests;
pub(super) mod schedule;
pub(super) mod values;
