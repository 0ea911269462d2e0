//! `lapwing variability`: the noise of each benchmark, its sources and its causes.

use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::explain::noise;
use lapwing_show::answers::variability::{HostColumn, VariabilityAnswer};
use lapwing_show::chart;
use lapwing_stats::Seed;

use crate::error::{CliError, ExitStatus};
use crate::options::{Context, check_plot};
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
        let analyse = |data: &_, settings, metrics: &_| {
            noise(data, &rules, settings, metrics, Seed(self.seed))
        };
        let hosts = if self.by_host {
            HostColumn::Shown
        } else {
            HostColumn::Hidden
        };
        let analysed = self
            .samples
            .analyse(&rules, "analysing", context, analyse)?;
        if analysed.rows.is_empty() {
            return Err(nothing(&analysed.audit));
        }
        let answer = VariabilityAnswer::new(analysed, hosts);
        if let Some(path) = &self.plot {
            chart::variability(answer.noise()).save(path)?;
        }
        context.show(&answer, &self.samples.answer)
    }
}
