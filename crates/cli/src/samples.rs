//! Which samples the commands look at that judge benchmarks one by one.

use clap::ValueEnum;
use lapwing_core::clean::{Audit, AuditStage};
use lapwing_core::explain::NoiseMetrics;
use lapwing_core::record::{Filter, Store};
use lapwing_core::sample::SettingChoice;

use crate::error::{CliError, ExitStatus};
use crate::not_judged;

/// Which versions and variants are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SettingsOption {
    /// The latest version of each variant
    Latest,
    /// Each version and variant separately
    Each,
    /// All together, ignoring versions and variants
    Pooled,
}

impl SettingsOption {
    /// Returns the settings that are meant.
    pub fn settings(self) -> SettingChoice {
        match self {
            Self::Latest => SettingChoice::Latest,
            Self::Each => SettingChoice::Each,
            Self::Pooled => SettingChoice::Pooled,
        }
    }
}

/// Returns the metrics that are asked for. The filter then lets all of them pass, because burn-in is found
/// from the wall time whatever is judged.
///
/// # Errors
/// When nobody knows a name, or no benchmark passes.
pub fn metrics(store: &Store, filter: &mut Filter) -> Result<NoiseMetrics, CliError> {
    if filter.metrics.is_empty() {
        return Ok(NoiseMetrics::Usual);
    }
    // It complains of names that nobody knows.
    let benchmarks = store.catalogue().benchmarks(filter)?;
    let names = std::mem::take(&mut filter.metrics);
    if benchmarks.is_empty() {
        return Err(CliError {
            exit: ExitStatus::NotEnough,
            ..CliError::input("no benchmark passes all of these filters")
                .hint("omit one of them; `lapwing list` shows the contents of the store")
        });
    }
    Ok(NoiseMetrics::Named(names))
}

/// Says why nothing can be judged.
pub fn nothing(audit: &Audit) -> CliError {
    let names = not_judged::names(&not_judged::of_audit(audit));
    let last = audit.not_viable().map(|(_, stage)| stage).max();
    let cause = match &names {
        Some(names) => format!("no usable values: {names}"),
        None => "no usable values: no benchmark passes the filters".to_owned(),
    };
    let error = CliError::input(cause).hint(match last {
        None => "`lapwing list` shows the contents of the store",
        Some(None) => "`lapwing list metrics` shows what else was measured (--metric)",
        Some(Some(AuditStage::Viable)) => "--min-instances and --min-iterations set the minimum",
        Some(Some(AuditStage::Steady)) => "`--burn-in recorded` uses the planned burn-in",
        Some(Some(AuditStage::PastBurnIn)) => "`--burn-in 0` judges all iterations",
        Some(Some(
            AuditStage::Recorded
            | AuditStage::Known
            | AuditStage::NotFailed
            | AuditStage::NotOutlier,
        )) => "`lapwing report` shows what was measured, and why it failed",
    });
    CliError {
        exit: ExitStatus::NotEnough,
        ..error
    }
}
