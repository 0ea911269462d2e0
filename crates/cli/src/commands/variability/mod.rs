//! `lapwing variability`: how noisy each benchmark is, where its noise lies and what goes with it.

mod answer;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lapwing_core::clean::{Audit, Stage};
use lapwing_core::explain::{Noise, NoiseMetrics, Settings, noise};
use lapwing_core::record::{Filter, Store, StoreError};
use lapwing_core::show::chart;
use lapwing_stats::Seed;

use crate::cleaning::{Cleaning, Compat};
use crate::error::{CliError, Exit};
use crate::options::{Context, Filters, Format};
use crate::plot::check_ending;
use crate::store::{note_unknown_names, open_for_reading};
use crate::table::counted;

/// Show how noisy each benchmark is, where its noise lies, and what to measure more of
///
/// Noise between instances is what comparisons rest on; more iterations cannot make up for it.
#[derive(Debug, Args)]
pub struct Variability {
    /// Which versions and variants to look at [default: latest; pooled with --compat hail]
    #[arg(long, value_name = "WHICH")]
    settings: Option<Which>,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    cleaning: Cleaning,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Draw where the noise lies to a file: .svg, .png or .html
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Seed of the permutation tests
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Of each variant the latest version
    Latest,
    /// Each version and variant by itself
    Each,
    /// All together, as if nothing differed
    Pooled,
}

/// What was found.
struct Found {
    /// The noisiest first.
    rows: Vec<Noise>,
    audit: Audit,
    /// How many versions were passed over because there are later ones.
    older: usize,
}

impl Variability {
    /// Answers in a sentence, then shows the table and what to do.
    pub fn act(self, context: &Context) -> Result<Exit, CliError> {
        check_ending(self.plot.as_deref())?;
        let found = self.find(context)?;
        if found.rows.is_empty() {
            if self.format == Format::Json {
                answer::write(&found, &self, context)?;
            }
            return Err(nothing(&found.audit));
        }
        if let Some(path) = &self.plot {
            chart::variability(&found.rows).save(path)?;
        }
        answer::write(&found, &self, context)?;
        Ok(Exit::Fine)
    }

    fn find(&self, context: &Context) -> Result<Found, CliError> {
        let rules = self.cleaning.rules()?;
        let mut filter = self.filters.resolve()?;
        let store = open_for_reading(context)?;
        let metrics = metrics(&store, &mut filter)?;
        note_unknown_names(&store, &rules, context)?;
        let which = match (self.settings, self.cleaning.compat) {
            (Some(Which::Latest), _) | (None, None) => Settings::Latest,
            (Some(Which::Each), _) => Settings::Each,
            (Some(Which::Pooled), _) | (None, Some(Compat::Hail)) => Settings::Pooled,
        };
        let mut found = Found {
            rows: Vec::new(),
            audit: Audit::default(),
            older: 0,
        };
        store.each_benchmark(&filter, |data| {
            let noises = noise(data, &rules, which, &metrics, Seed(self.seed));
            found.rows.extend(noises.rows);
            found.audit.benchmarks.extend(noises.audits);
            found.older += noises.older;
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

/// Returns the metrics that are asked for. The filter then lets all of them pass, because burn-in is found
/// from the wall time whatever is judged.
fn metrics(store: &Store, filter: &mut Filter) -> Result<NoiseMetrics, CliError> {
    if filter.metrics.is_empty() {
        return Ok(NoiseMetrics::Usual);
    }
    // It complains of names that nobody knows.
    let benchmarks = store.benchmarks(filter)?;
    let names = std::mem::take(&mut filter.metrics);
    if benchmarks.is_empty() {
        return Err(CliError {
            exit: Exit::NotEnough,
            ..CliError::input("no benchmark passes all of these filters together")
                .hint("leave one out to see more; `lapwing list` shows what there is")
        });
    }
    Ok(NoiseMetrics::Named(names))
}

/// Says why nothing can be judged.
fn nothing(audit: &Audit) -> CliError {
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for (it, _) in audit.not_viable() {
        *reasons.entry(it.reason().unwrap_or_default()).or_default() += 1;
    }
    let error = if reasons.is_empty() {
        CliError::input("nothing can be judged: no benchmark passes the filters")
            .hint("`lapwing list` shows what there is")
    } else {
        let reasons: Vec<String> = reasons
            .into_iter()
            .map(|(reason, count)| format!("{} ({reason})", counted(count, "benchmark")))
            .collect();
        CliError::input(format!(
            "nothing can be judged of {}",
            reasons.join(", nor of ")
        ))
        .hint(match audit.not_viable().map(|(_, stage)| stage).max() {
            Some(Stage::Viable) => "--min-instances and --min-iterations say what is enough",
            Some(Stage::Steady) => "`--burn-in recorded` judges what the plan says is steady",
            Some(Stage::PastBurnIn) => "`--burn-in 0` judges all iterations",
            Some(Stage::Recorded | Stage::Known | Stage::NotFailed | Stage::NotOutlier) | None => {
                "`lapwing report` shows what was measured, and why it failed"
            }
        })
    };
    CliError {
        exit: Exit::NotEnough,
        ..error
    }
}
