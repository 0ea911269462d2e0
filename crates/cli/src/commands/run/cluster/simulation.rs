//! `lapwing mds|plan --executor slurm`: the experiments of a simulation are made by jobs.
//!
//! Each experiment depends on its task alone, so the client does what it would do without jobs, with the experiments
//! that they made. Those that are missing it makes itself: the result is the same, whatever jobs there were.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lapwing_analyse::judge::{KnownExperiments, SharedSource};
use lapwing_measure::RunEnd;
use lapwing_measure::session::cluster::ClusterSimulation;
use lapwing_measure::suite::ExecutorTables;
use lapwing_model::text::{counted, plural};

use super::super::progress::RunProgress;
use super::options::{ClusterOptions, ExecutorChoice};
use super::shares::JobShare;
use crate::error::CliError;
use crate::options::Context;
use crate::session::catch_signals;
use crate::store::open_for_reading;
use crate::suite::suite_file;

/// The machines that simulate.
#[derive(Debug, Clone, Default, Args)]
pub struct SimulationJobs {
    #[command(flatten)]
    cluster: ClusterOptions,
    /// The share of this job.
    #[arg(long, hide = true, value_parser = JobShare::parse)]
    pub share: Option<JobShare>,
}

/// The beginning of a simulation.
pub enum SimulationStart {
    /// All experiments are made here.
    Here,
    /// Jobs have made experiments.
    Made(Arc<KnownExperiments>),
    /// The user interrupted the jobs.
    Interrupted,
}

impl SimulationStart {
    /// Returns the source of experiments.
    pub fn source(&self) -> Option<SharedSource> {
        match self {
            Self::Made(known) => Some(SharedSource(Arc::<KnownExperiments>::clone(known))),
            Self::Here | Self::Interrupted => None,
        }
    }

    /// Says, after the simulation, how much of it jobs have not made.
    pub fn note_missed(&self, context: &Context) {
        if let Self::Made(known) = self
            && let missed @ 1.. = known.missed()
        {
            context.terminal.note(&format!(
                "{} of a simulation {} not made by jobs, and made here",
                counted(missed, "part"),
                plural(missed, "was", "were")
            ));
        }
    }
}

impl SimulationJobs {
    /// Returns whether the simulation is made by jobs.
    pub fn are_used(&self) -> bool {
        self.cluster.executor != ExecutorChoice::Local
    }

    /// Lets jobs make the experiments of this process's command; `suite` is the suite file of its options.
    pub fn start(
        &self,
        suite: Option<PathBuf>,
        context: &Context,
    ) -> Result<SimulationStart, CliError> {
        let tables = match suite.filter(|_| self.are_used()) {
            Some(path) => suite_file::load_executors(&path)?,
            None => ExecutorTables::default(),
        };
        let Some(settings) = self.cluster.settings(tables)? else {
            return Ok(SimulationStart::Here);
        };
        if self.cluster.leave_jobs() {
            return Err(CliError::input(
                "--cluster leave_jobs=yes: a simulation cannot be resumed",
            ));
        }
        catch_signals()?;
        let arguments = std::env::args_os().skip(1);
        let simulation = ClusterSimulation {
            settings,
            arguments: arguments
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            jobs: self.cluster.jobs(),
        };
        let mut known = KnownExperiments::default();
        let end = simulation.run(
            &open_for_reading(context)?,
            &mut RunProgress::new(context),
            &mut |path| known.read(path),
            &context.surroundings(),
        )?;
        Ok(match end {
            RunEnd::Complete => SimulationStart::Made(Arc::new(known)),
            RunEnd::Interrupted => SimulationStart::Interrupted,
        })
    }
}
