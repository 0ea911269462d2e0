//! The samples of commands that judge benchmarks one by one.

use clap::Args;
use lapwing_analyse::clean::{Audit, AuditStage, CleaningRules};
use lapwing_analyse::explain::{BySetting, NoiseMetrics, is_analysed_unsteady};
use lapwing_analyse::sample::{BenchmarkData, SettingChoice, each_benchmark};
use lapwing_record::{Filter, Store, StoreError};
use lapwing_show::answers::{Analysed, not_judged};

use crate::cleaning::AuditedCleaning;
use crate::error::CliError;
use crate::options::{AnswerOptions, Context, FilterOptions, NamedValue, one_of};
use crate::progress;
use crate::store::{note_retired, note_unknown_names, open_for_reading};

/// Options of commands that judge benchmarks one by one.
#[derive(Debug, Args)]
pub struct SampleOptions {
    /// Versions and variants to analyse [default: latest; pooled with --compat hail]
    #[arg(long, value_name = "WHICH", value_parser = one_of(&SETTINGS))]
    pub settings: Option<SettingChoice>,
    #[command(flatten)]
    pub filters: FilterOptions,
    #[command(flatten)]
    pub cleaning: AuditedCleaning,
    #[command(flatten)]
    pub answer: AnswerOptions,
}

impl SampleOptions {
    /// Returns the results of `analyse` for each benchmark that passes the filters.
    pub fn analyse<R>(
        &self,
        rules: &CleaningRules,
        doing: &str,
        context: &Context,
        analyse: impl Fn(&BenchmarkData, SettingChoice, &NoiseMetrics) -> BySetting<R>,
    ) -> Result<Analysed<R>, CliError> {
        let filter = self.filters.filter()?;
        let store = open_for_reading(context)?;
        let mut filter = filter.resolve(&store)?;
        note_retired(&store, &filter, context)?;
        let metrics = metrics(&store, &mut filter)?;
        note_unknown_names(&store, rules, context)?;
        let usual = self.cleaning.profile().settings;
        let settings = self.settings.unwrap_or(usual);
        let mut all = Analysed {
            rows: Vec::new(),
            audit: Audit::default(),
            detail: self.cleaning.detail(),
            older: 0,
            earlier: 0,
            unsteady: Vec::new(),
        };
        // Another tool's method has its own burn-in.
        let is_own = self.cleaning.compat.is_none();
        let total = store.catalogue().benchmarks(&filter)?.len();
        let bar = progress::bar(doing, total, context);
        each_benchmark(&store, &filter, |data| {
            let found = analyse(&data, settings, &metrics);
            all.rows.extend(found.rows);
            all.audit.benchmarks.extend(found.audits);
            if self.takes_latest() {
                all.older += found.older;
            }
            all.earlier += found.earlier;
            if is_own && is_analysed_unsteady(&data, rules, settings) {
                all.unsteady.push(data.benchmark.id.clone());
            }
            bar.inc(1);
            Ok::<(), StoreError>(())
        })?;
        bar.finish_and_clear();
        Ok(all)
    }

    /// Returns whether older versions are excluded although the options do not ask for that.
    fn takes_latest(&self) -> bool {
        match self.settings {
            None | Some(SettingChoice::Latest) => true,
            Some(SettingChoice::Each | SettingChoice::Pooled | SettingChoice::AsHail) => false,
        }
    }
}

/// Versions and variants to analyse.
const SETTINGS: [NamedValue<SettingChoice>; 3] = [
    (
        "latest",
        "The latest version of each variant",
        SettingChoice::Latest,
    ),
    (
        "each",
        "Each version and variant separately",
        SettingChoice::Each,
    ),
    (
        "pooled",
        "All together, ignoring versions and variants",
        SettingChoice::Pooled,
    ),
];

/// Returns the metrics of the filter, and lets the filter pass all of them: burn-in is detected from
/// the wall time, whatever metric is judged.
fn metrics(store: &Store, filter: &mut Filter) -> Result<NoiseMetrics, CliError> {
    if filter.metrics.is_empty() {
        return Ok(NoiseMetrics::Usual);
    }
    // This fails for unknown names.
    let benchmarks = store.catalogue().benchmarks(filter)?;
    let names = std::mem::take(&mut filter.metrics);
    if benchmarks.is_empty() {
        return Err(
            CliError::not_enough("no benchmark passes all of these filters")
                .hint("omit one of them; `lapwing list` shows the contents of the store"),
        );
    }
    Ok(NoiseMetrics::Named(names))
}

/// Returns the error if no benchmark can be judged.
pub fn nothing(audit: &Audit) -> CliError {
    let names = not_judged::names(&not_judged::of_audit(audit));
    let last = audit.not_viable().map(|(_, stage)| stage).max();
    let cause = match &names {
        Some(names) => format!("no usable values: {names}"),
        None => "no usable values: no benchmark passes the filters".to_owned(),
    };
    CliError::not_enough(cause).hint(match last {
        None => "`lapwing list` shows the contents of the store",
        Some(None) => "`lapwing list metrics` shows what else was measured (--metric)",
        Some(Some(AuditStage::Viable)) => {
            "--clean 'min_instances=1 min_iterations=1' sets the minimum"
        }
        Some(Some(AuditStage::Steady)) => "`--clean burn_in=recorded` uses the planned burn-in",
        Some(Some(AuditStage::PastBurnIn)) => "`--clean burn_in=0` judges all iterations",
        Some(Some(
            AuditStage::Recorded
            | AuditStage::Known
            | AuditStage::NotFailed
            | AuditStage::NotOutlier,
        )) => "`lapwing report` shows what was measured, and why it failed",
    })
}
