//! `lapwing variability`: the noise of each benchmark, its sources and its causes.

mod answer;

use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::explain::{Noise, noise};
use lapwing_show::chart;
use lapwing_stats::Seed;

use crate::error::{CliError, ExitStatus};
use crate::options::{Context, Format, check_plot};
use crate::samples::{SampleOptions, nothing};

/// Show how noisy each benchmark is, where the noise comes from, and what to measure more of
///
/// Comparisons depend on the noise between instances; more iterations per instance do not reduce
/// it.
#[derive(Debug, Args)]
pub struct VariabilityCommand {
    #[command(flatten)]
    samples: SampleOptions,
    /// Also show how much of the variance between instances lies between hosts
    #[arg(long)]
    by_host: bool,
    /// Write a chart to this .svg, .png or .html file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Seed of random choices
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
}

impl VariabilityCommand {
    /// Shows a sentence, the table with the noisiest benchmark first, and advice.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        check_plot(self.plot.as_deref())?;
        let rules = self.samples.cleaning.rules()?;
        let look = |data: &_, settings, metrics: &_| {
            noise(data, &rules, settings, metrics, Seed(self.seed))
        };
        let mut found = self.samples.find(&rules, "analysing", context, look)?;
        let between = |row: &Noise| row.between.map_or(-1.0, |it| it.value);
        found.rows.sort_by(|one, other| {
            let by_between = between(other).total_cmp(&between(one));
            let total = |row: &Noise| row.variability.cv_total;
            by_between.then(total(other).total_cmp(&total(one)))
        });
        let is_empty = found.rows.is_empty();
        if let Some(path) = self.plot.as_ref().filter(|_| !is_empty) {
            chart::variability(&found.rows).save(path)?;
        }
        if !is_empty || self.samples.format == Format::Json {
            let hosts = if self.by_host {
                answer::HostColumn::Shown
            } else {
                answer::HostColumn::Hidden
            };
            CliError::unless_reader_left(answer::write(&found, &self.samples, hosts, context))?;
        }
        if is_empty {
            Err(nothing(&found.audit))
        } else {
            Ok(ExitStatus::Fine)
        }
    }
}
