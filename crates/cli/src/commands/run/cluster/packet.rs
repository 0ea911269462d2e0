//! `lapwing cluster-packet`: what a job does that shares no folder with the client.

use std::env;
use std::io::{self, Read};

use clap::Args;
use lapwing_measure::RunEnd;
use lapwing_measure::session::cluster::{JobPlace, measure_packet};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session::catch_signals;

/// Measure the task that is read from standard input, and print its records
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct ClusterPacketCommand {
    /// The name of this host
    #[arg(long)]
    host: Option<String>,
    /// The id of the job
    #[arg(long)]
    job: Option<String>,
}

impl ClusterPacketCommand {
    /// Measures.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        catch_signals()?;
        let mut packet = Vec::new();
        io::stdin().lock().read_to_end(&mut packet)?;
        let place = JobPlace {
            host: self.host,
            id: self.job,
        };
        let variable = |name: &str| env::var(name).ok();
        let surroundings = context.surroundings();
        let mut output = context.terminal.file_out();
        let end = measure_packet(&packet, place, output.as_mut(), variable, &surroundings);
        match end? {
            RunEnd::Complete => Ok(ExitStatus::Fine),
            RunEnd::Interrupted => Ok(ExitStatus::Interrupted),
        }
    }
}
