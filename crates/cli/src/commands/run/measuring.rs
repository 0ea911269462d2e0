//! Options of the commands that measure commands or statements.

use std::path::PathBuf;

use clap::Args;
use lapwing_measure::suite::{BurnIn, Settings};

use super::options::{parse_burn_in, parse_instances, parse_iterations, random_seed};
use crate::error::CliError;
use crate::options::check_plot;

/// Options of everything that measures: how often, in which order, under which name.
#[derive(Debug, Clone, Default, Args)]
pub struct MeasuringOptions {
    /// Instances per benchmark: fresh starts, in random order [default: 5]
    #[arg(long, short = 'n', value_name = "N", value_parser = parse_instances, help_heading = "Repetitions and limits")]
    pub instances: Option<u32>,
    /// Iterations per instance, after burn-in [default: 5]
    #[arg(long, short, value_name = "N", value_parser = parse_iterations, help_heading = "Repetitions and limits")]
    pub iterations: Option<u32>,
    /// Burn-in iterations at the start of each instance, stored but excluded from analysis, or `auto`
    /// [default: 1]
    #[arg(long, short = 'w', visible_alias = "warmup", value_name = "N", value_parser = parse_burn_in, help_heading = "Repetitions and limits")]
    pub burn_in: Option<BurnIn>,
    /// Run benchmarks on these CPUs only, such as 0-1,3
    #[arg(long, value_name = "LIST", help_heading = "Repetitions and limits")]
    pub cpus: Option<String>,
    /// Seed of random choices [default: random]
    #[arg(long, value_name = "N", help_heading = "Repetitions and limits")]
    pub seed: Option<u64>,
    /// Name of the session [default: two random words]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Show what would be done, without doing it
    #[arg(long)]
    pub dry_run: bool,
    /// Write a chart to this .svg, .png or .html file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

impl MeasuringOptions {
    /// Refuses an empty name, and a chart of an unknown kind.
    pub fn check(&self) -> Result<(), CliError> {
        if self.name.as_ref().is_some_and(|it| it.trim().is_empty()) {
            return Err(CliError::input("--name is empty")
                .hint("give the session a name, or remove --name"));
        }
        check_plot(self.plot.as_deref())
    }

    /// Returns the numbers of instances and iterations, and the processors.
    pub fn settings(&self) -> Settings {
        Settings {
            instances: self.instances,
            burn_in: self.burn_in,
            iterations: self.iterations,
            cpus: self.cpus.clone(),
            ..Settings::default()
        }
    }

    /// Returns the seed of random choices.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(random_seed)
    }
}
