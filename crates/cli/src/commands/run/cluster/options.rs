//! The options of executors, and the cluster of a session.

use clap::{Args, ValueEnum};
use lapwing_measure::session::cluster::ClusterMeasurement;
use lapwing_measure::suite::{ClusterSettings, ExecutorTables, SchedulerSettings, SlurmSettings};
use lapwing_model::Session;

use crate::error::CliError;
use crate::options::Context;

/// The machines that measure instances.
#[derive(Debug, Clone, Default, Args)]
pub struct ClusterOptions {
    /// The machines that measure instances
    #[arg(
        long,
        value_name = "EXECUTOR",
        value_enum,
        default_value_t,
        conflicts_with = "resume",
        help_heading = "Clusters"
    )]
    pub executor: ExecutorChoice,
    /// Let several instances share a node, instead of one per node
    #[arg(long, conflicts_with = "resume", help_heading = "Clusters")]
    pub share_nodes: bool,
    /// Deal the instances of each benchmark and variant evenly to the nodes
    #[arg(long, conflicts_with = "resume", help_heading = "Clusters")]
    pub spread: bool,
    /// Further option of sbatch, such as `--sbatch-option=--qos=low`; can be repeated
    #[arg(
        long,
        value_name = "OPTION",
        allow_hyphen_values = true,
        conflicts_with = "resume",
        help_heading = "Clusters"
    )]
    pub sbatch_option: Vec<String>,
    /// On Ctrl-C leave jobs in the queue, for `--resume` to collect, instead of cancelling them
    #[arg(long, help_heading = "Clusters")]
    pub leave_jobs: bool,
}

/// The machines that measure instances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExecutorChoice {
    /// On this machine, one after another
    #[default]
    Local,
    /// As jobs of Slurm, described by [executor.slurm] of the suite
    Slurm,
    /// As jobs of another scheduler, by the commands of [executor.command] of the suite
    Command,
}

impl ClusterOptions {
    /// Returns the measurement of a session that was measured on a cluster before.
    pub fn reopen(
        &self,
        session: &Session,
        context: &Context,
    ) -> Result<Option<ClusterMeasurement>, CliError> {
        let surroundings = context.surroundings();
        Ok(ClusterMeasurement::reopen(
            session,
            self.leave_jobs,
            &surroundings,
        )?)
    }

    /// Returns the measurement of a search, which decides by its results and therefore has no jobs without a client.
    pub fn for_search(
        &self,
        measurement: Option<ClusterMeasurement>,
    ) -> Result<Option<ClusterMeasurement>, CliError> {
        if self.leave_jobs {
            return Err(CliError::input(
                "--leave-jobs: a bisection needs the results of its jobs to continue",
            ));
        }
        let Some(mut measurement) = measurement else {
            return Ok(None);
        };
        measurement.cancel_on_interrupt();
        measurement.give_up_open()?;
        Ok(Some(measurement))
    }

    /// Returns how instances are jobs; `None` if they are measured here.
    pub fn settings(&self, tables: ExecutorTables) -> Result<Option<ClusterSettings>, CliError> {
        let mut settings = match self.executor {
            ExecutorChoice::Local => return self.refuse_cluster_options(),
            ExecutorChoice::Slurm => tables.slurm.unwrap_or_else(|| {
                ClusterSettings::of(SchedulerSettings::Slurm(SlurmSettings::default()))
            }),
            ExecutorChoice::Command => tables.command.ok_or_else(|| {
                CliError::input("the suite has no [executor.command]").hint(
                    "name there the commands that start a job (`submit`) and print states (`state`)",
                )
            })?,
        };
        match &mut settings.scheduler {
            SchedulerSettings::Slurm(slurm) => {
                slurm.exclusive &= !self.share_nodes;
                slurm.spread |= self.spread;
                slurm.options.extend(self.sbatch_option.iter().cloned());
            }
            SchedulerSettings::Command(_) => {
                self.refuse_cluster_options()?;
            }
        }
        Ok(Some(settings))
    }

    /// Refuses options that would have no effect.
    fn refuse_cluster_options(&self) -> Result<Option<ClusterSettings>, CliError> {
        let given = [
            ("--share-nodes", self.share_nodes),
            ("--spread", self.spread),
            ("--sbatch-option", !self.sbatch_option.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(CliError::input(format!(
                "{option} belongs to --executor slurm"
            ))),
            None => Ok(None),
        }
    }
}
