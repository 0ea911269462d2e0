//! The suite file and the plan file of a command.

pub mod plan_file;
pub mod suite_file;
pub mod suite_update;
