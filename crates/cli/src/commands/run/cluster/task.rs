//! `lapwing cluster-task`: what a job does.

use std::env;
use std::path::PathBuf;

use clap::Args;
use lapwing_measure::RunEnd;
use lapwing_measure::session::cluster::measure_task;

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session::catch_signals;

/// Measure one task of a batch, as a job of a cluster
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct ClusterTaskCommand {
    /// The folder that the nodes share
    folder: PathBuf,
    /// The number of the batch
    batch: u32,
    /// The number of the task in it
    index: usize,
}

impl ClusterTaskCommand {
    /// Measures.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        catch_signals()?;
        let variable = |name: &str| env::var(name).ok();
        let surroundings = context.surroundings();
        let end = measure_task(
            &self.folder,
            self.batch,
            self.index,
            variable,
            &surroundings,
        );
        match end? {
            RunEnd::Complete => Ok(ExitStatus::Fine),
            RunEnd::Interrupted => Ok(ExitStatus::Interrupted),
        }
    }
}
