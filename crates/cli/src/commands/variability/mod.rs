//! `lapwing variability`: how noisy each benchmark is, where its noise lies and what goes with it.

mod answer;

use std::path::PathBuf;

use clap::Args;
use lapwing_core::clean::Audit;
use lapwing_core::explain::{Noise, noise};
use lapwing_core::record::StoreError;
use lapwing_core::sample::each_benchmark;
use lapwing_core::show::chart;
use lapwing_stats::Seed;

use crate::cleaning::CleaningOptions;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, FilterOptions, Format};
use crate::plot::check_ending;
use crate::samples::{SettingsOption, metrics, nothing};
use crate::store::{note_retired, note_unknown_names, open_for_reading};

/// Show how noisy each benchmark is, where the noise comes from, and what to measure more of
///
/// Comparisons depend on the noise between instances; more iterations per instance do not reduce
/// it.
#[derive(Debug, Args)]
pub struct VariabilityCommand {
    /// Versions and variants to analyse [default: latest; pooled with --compat hail]
    #[arg(long, value_name = "WHICH")]
    settings: Option<SettingsOption>,
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    cleaning: CleaningOptions,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Write a chart of the sources of noise to this .svg, .png or .html file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Seed of the permutation tests
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
}

/// What was found.
struct FoundNoise {
    /// The noisiest first.
    rows: Vec<Noise>,
    audit: Audit,
    /// How many versions were passed over because there are later ones.
    older: usize,
    earlier: usize,
}

impl VariabilityCommand {
    /// Answers in a sentence, then shows the table and what to do.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        check_ending(self.plot.as_deref())?;
        let found = self.find(context)?;
        if found.rows.is_empty() {
            if self.format == Format::Json {
                CliError::unless_reader_left(answer::write(&found, &self, context))?;
            }
            return Err(nothing(&found.audit));
        }
        if let Some(path) = &self.plot {
            chart::variability(&found.rows).save(path)?;
        }
        CliError::unless_reader_left(answer::write(&found, &self, context))?;
        Ok(ExitStatus::Fine)
    }

    fn find(&self, context: &Context) -> Result<FoundNoise, CliError> {
        let rules = self.cleaning.rules()?;
        let filter = self.filters.filter()?;
        let store = open_for_reading(context)?;
        let mut filter = filter.resolve(&store)?;
        note_retired(&store, &filter, context)?;
        let metrics = metrics(&store, &mut filter)?;
        note_unknown_names(&store, &rules, context)?;
        let which = self
            .settings
            .map_or(self.cleaning.profile().settings, SettingsOption::settings);
        let mut found = FoundNoise {
            rows: Vec::new(),
            audit: Audit::default(),
            older: 0,
            earlier: 0,
        };
        each_benchmark(&store, &filter, |data| {
            let noises = noise(&data, &rules, which, &metrics, Seed(self.seed));
            found.rows.extend(noises.rows);
            found.audit.benchmarks.extend(noises.audits);
            found.older += noises.older;
            found.earlier += noises.earlier;
            Ok::<(), StoreError>(())
        })?;
        let between = |row: &Noise| row.between.map_or(-1.0, |it| it.value);
        found.rows.sort_by(|one, other| {
            let by_between = between(other).total_cmp(&between(one));
            let total = |row: &Noise| row.variability.cv_total;
            by_between.then(total(other).total_cmp(&total(one)))
        });
        Ok(found)
    }
}
