//! The options of executors, and the cluster of a session.

use clap::{Args, ValueEnum};
use lapwing_measure::session::cluster::ClusterMeasurement;
use lapwing_measure::suite::{ClusterSettings, ExecutorTables, SchedulerSettings, SlurmSettings};
use lapwing_model::Session;

use crate::error::CliError;
use crate::options::{Context, checked, keyed};

/// The machines that measure instances, simulate or search.
#[derive(Debug, Clone, Default, Args)]
pub struct ClusterOptions {
    /// The machines that do the work
    #[arg(
        long,
        value_name = "EXECUTOR",
        value_enum,
        default_value_t,
        help_heading = "Clusters"
    )]
    pub executor: ExecutorChoice,
    /// Changes of the suite's [executor.slurm] or [executor.ssh]: `exclusive=no`, `spread=yes`, `options=--qos=low`; also
    /// `leave_jobs=yes`, which on Ctrl-C leaves jobs in the queue for --resume to collect, and
    /// `jobs=N`, into which mds, plan and detect divide their work
    #[arg(long, value_name = "SETTINGS", value_parser = checked(ClusterChanges::parse), help_heading = "Clusters")]
    cluster: Vec<String>,
}

/// Changes of a cluster's settings, as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ClusterChanges {
    exclusive: Option<bool>,
    spread: Option<bool>,
    options: Vec<String>,
    leave_jobs: bool,
    jobs: Option<usize>,
}

impl ClusterChanges {
    const KEYS: [&str; 5] = ["exclusive", "spread", "options", "leave_jobs", "jobs"];
    /// The most jobs of a simulation.
    const MOST_JOBS: usize = 1_000;

    fn parse(text: &str) -> Result<Self, String> {
        keyed(text, &Self::KEYS, |changes: &mut Self, key, value| {
            let choice = || match value.as_str() {
                "yes" => Ok(true),
                "no" => Ok(false),
                _ => Err(format!("write {key}=yes or {key}=no")),
            };
            match key {
                "exclusive" => changes.exclusive = Some(choice()?),
                "spread" => changes.spread = Some(choice()?),
                "options" => changes.options.push(value),
                "leave_jobs" => changes.leave_jobs = choice()?,
                _ => {
                    let number = value.parse().ok();
                    let number = number.filter(|it| (1..=Self::MOST_JOBS).contains(it));
                    let number = number.ok_or("write jobs=N with a number from 1 to 1,000")?;
                    changes.jobs = Some(number);
                }
            }
            Ok(())
        })
    }
}

/// The machines that measure instances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExecutorChoice {
    /// On this machine, one after another
    #[default]
    Local,
    /// As jobs of Slurm, described by [executor.slurm] of the suite
    Slurm,
    /// On the hosts of [executor.ssh] of the suite, one instance at a time on each
    Ssh,
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
        let ClusterChanges { leave_jobs, .. } = self.changes();
        let only_leaves = ClusterChanges {
            leave_jobs,
            ..ClusterChanges::default()
        };
        if self.executor != ExecutorChoice::Local || self.changes() != only_leaves {
            return Err(CliError::input(
                "a session goes on where it began: --executor and --cluster do not apply, except leave_jobs",
            ));
        }
        let surroundings = context.surroundings();
        Ok(ClusterMeasurement::reopen(
            session,
            leave_jobs,
            &surroundings,
        )?)
    }

    /// Returns the measurement of a search, which decides by its results and therefore has no jobs without a client.
    pub fn for_search(
        &self,
        measurement: Option<ClusterMeasurement>,
    ) -> Result<Option<ClusterMeasurement>, CliError> {
        if self.leave_jobs() {
            return Err(CliError::input(
                "leave_jobs=yes: a bisection needs the results of its jobs to continue",
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
    pub fn for_instances(
        &self,
        tables: ExecutorTables,
    ) -> Result<Option<ClusterSettings>, CliError> {
        let settings = self.settings(tables)?;
        if settings.is_some() && self.jobs().is_some() {
            return Err(CliError::input(
                "--cluster jobs=N divides a simulation: each instance is a job",
            ));
        }
        Ok(settings)
    }

    /// Returns how the work is jobs; `None` if it is done here.
    pub(super) fn settings(
        &self,
        tables: ExecutorTables,
    ) -> Result<Option<ClusterSettings>, CliError> {
        let mut settings = match self.executor {
            ExecutorChoice::Local => return self.refuse_cluster_options(),
            ExecutorChoice::Slurm => tables.slurm.unwrap_or_else(|| {
                ClusterSettings::of(SchedulerSettings::Slurm(SlurmSettings::default()))
            }),
            ExecutorChoice::Ssh => tables.ssh.ok_or_else(|| {
                CliError::input("the suite has no [executor.ssh]")
                    .hint("name there the hosts: `hosts = [\"n1\", \"user@n2\"]`")
            })?,
            ExecutorChoice::Command => tables.command.ok_or_else(|| {
                CliError::input("the suite has no [executor.command]").hint(
                    "name there the commands that start a job (`submit`) and print states (`state`)",
                )
            })?,
        };
        let changes = self.changes();
        match &mut settings.scheduler {
            SchedulerSettings::Slurm(slurm) => {
                slurm.exclusive = changes.exclusive.unwrap_or(slurm.exclusive);
                slurm.spread = changes.spread.unwrap_or(slurm.spread);
                slurm.options.extend(changes.options);
            }
            SchedulerSettings::Ssh(ssh) => {
                if changes.exclusive.is_some() {
                    return Err(CliError::input(
                        "--cluster exclusive=…: a host of ssh has one instance at a time in any case",
                    ));
                }
                ssh.spread = changes.spread.unwrap_or(ssh.spread);
                ssh.options.extend(changes.options);
            }
            SchedulerSettings::Command(_) => {
                self.refuse_cluster_options()?;
            }
        }
        Ok(Some(settings))
    }

    /// Returns whether jobs stay in the queue on Ctrl-C.
    pub fn leave_jobs(&self) -> bool {
        self.changes().leave_jobs
    }

    /// Returns the number of jobs of a simulation.
    pub(super) fn jobs(&self) -> Option<usize> {
        self.changes().jobs
    }

    fn changes(&self) -> ClusterChanges {
        // Each text was checked when it was read.
        ClusterChanges::parse(&self.cluster.join(" ")).unwrap_or_default()
    }

    /// Refuses options that would have no effect.
    fn refuse_cluster_options(&self) -> Result<Option<ClusterSettings>, CliError> {
        let changes = self.changes();
        let has_jobs = self.executor != ExecutorChoice::Local;
        let given = [
            ("exclusive", changes.exclusive.is_some()),
            ("spread", changes.spread.is_some()),
            ("options", !changes.options.is_empty()),
            ("jobs", changes.jobs.is_some() && !has_jobs),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(CliError::input(format!(
                "--cluster {key}=… belongs to --executor slurm{}",
                if *key == "exclusive" || *key == "jobs" {
                    ""
                } else {
                    " or ssh"
                }
            ))),
            None => Ok(None),
        }
    }
}
