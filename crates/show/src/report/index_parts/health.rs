//! Problems of a benchmark's latest runs.

use super::row::IndexRow;
use crate::sample::ImportedFrom;
use lapwing_analyse::judge::INSTANCES_FOR_A_VERDICT;

/// Problems of the latest run of each variant, by the first metric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::report) struct BenchmarkHealth {
    /// The name of the benchmark, and of its page.
    pub(in crate::report) name: [String; 2],
    pub(in crate::report) failures: usize,
    /// Whether an earlier run had failures, but no latest one.
    pub(in crate::report) failed_before: bool,
    pub(in crate::report) lost: usize,
    pub(in crate::report) few_instances: bool,
    pub(in crate::report) noisy: bool,
    pub(in crate::report) without_value: bool,
    /// Whether a value is a summary whose source kept no samples.
    pub(in crate::report) summarised: bool,
    /// Sources of numbers that measure everything back to back.
    pub(in crate::report) back_to_back: Option<ImportedFrom>,
    /// Whether a latest run was skipped completely.
    pub(in crate::report) skipped: bool,
    /// Whether the benchmark itself changed since the run before.
    pub(in crate::report) new_epoch: bool,
    /// Whether a latest run of too few instances differs from the runs before by more than these do.
    pub(in crate::report) unusual: bool,
    /// Whether its history has a regression that still holds.
    pub(in crate::report) regressed: bool,
}

impl BenchmarkHealth {
    /// Settings that are not measured any more count only if all are such.
    pub(in crate::report) fn of(rows: &[IndexRow]) -> Self {
        let mut rows: Vec<&IndexRow> = rows.iter().collect();
        if rows.iter().any(|row| !row.ended) {
            rows.retain(|row| !row.ended);
        }
        let name = rows
            .first()
            .map(|row| [row.benchmark.id.clone(), row.benchmark.slug.clone()]);
        Self {
            name: name.unwrap_or_default(),
            failures: rows.iter().map(|row| row.failures).sum(),
            failed_before: rows.iter().all(|row| row.failures == 0)
                && rows.iter().any(|row| row.failed_before > 0),
            lost: rows.iter().map(|row| row.lost).sum(),
            few_instances: rows
                .iter()
                .any(|row| row.rests_on_samples() && row.instances < INSTANCES_FOR_A_VERDICT),
            summarised: rows.iter().any(|row| !row.summary.is_empty()),
            noisy: rows.iter().any(|row| row.noisy),
            without_value: rows.iter().any(|row| row.value.is_none() && !row.skipped),
            skipped: rows.iter().any(|row| row.skipped),
            new_epoch: rows.iter().any(|row| row.new_epoch),
            unusual: rows.iter().any(|row| row.unusual),
            regressed: rows.iter().any(|row| row.since.is_regression()),
            back_to_back: rows.iter().find_map(|row| row.back_to_back.clone()),
        }
    }
}
