//! Problems of a benchmark's latest runs.

use super::row::IndexRow;
use crate::judge::INSTANCES_FOR_A_VERDICT;
use crate::show::sample::ImportedFrom;

/// Problems of the latest run of each variant, by the first metric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BenchmarkHealth {
    pub(super) failures: usize,
    pub(super) lost: usize,
    pub(super) few_instances: bool,
    pub(super) noisy: bool,
    pub(super) without_value: bool,
    /// Whether a value is a summary whose source kept no samples.
    pub(super) summarised: bool,
    /// Sources of numbers that measure everything back to back.
    pub(super) back_to_back: Option<ImportedFrom>,
    /// Whether a latest run was skipped completely.
    pub(super) skipped: bool,
    /// Whether the benchmark itself changed since the run before.
    pub(super) new_epoch: bool,
}

impl BenchmarkHealth {
    pub(super) fn of(rows: &[IndexRow]) -> Self {
        Self {
            failures: rows.iter().map(|row| row.failures).sum(),
            lost: rows.iter().map(|row| row.lost).sum(),
            few_instances: rows
                .iter()
                .any(|row| row.rests_on_samples() && row.instances < INSTANCES_FOR_A_VERDICT),
            summarised: rows.iter().any(|row| !row.summary.is_empty()),
            noisy: rows.iter().any(|row| row.noisy),
            without_value: rows.iter().any(|row| row.value.is_none() && !row.skipped),
            skipped: rows.iter().any(|row| row.skipped),
            new_epoch: rows.iter().any(|row| row.new_epoch),
            back_to_back: rows.iter().find_map(|row| row.back_to_back.clone()),
        }
    }
}
