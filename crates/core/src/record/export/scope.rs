//! Which benchmarks and iterations belong into a table that is limited to metrics.

use std::collections::BTreeSet;

use super::ExportError;
use crate::model::Outcome;
use crate::record::{Filter, InstanceData, RecordedBenchmark, Store};

/// What of the measurements that pass a filter has the metrics that it names.
pub(super) struct ExportScope {
    /// Suites and ids of the benchmarks that have one of the metrics; `None` where none is named.
    benchmarks: Option<BTreeSet<(String, String)>>,
}

impl ExportScope {
    /// Returns what the filter asks for, or why it fits nothing: before the first byte is
    /// written, so that whoever reads the output does not take half of it for all.
    pub(super) fn of(store: &Store, filter: &Filter) -> Result<Self, ExportError> {
        if filter.metrics.is_empty() {
            store.catalogue().check_filter(filter)?;
            return Ok(Self { benchmarks: None });
        }
        let rows = store.catalogue().benchmarks(filter)?.into_iter();
        Ok(Self {
            benchmarks: Some(rows.map(|row| (row.suite, row.benchmark)).collect()),
        })
    }

    /// Returns whether a benchmark has one of the metrics, be it elsewhere.
    pub(super) fn has_benchmark(&self, data: &RecordedBenchmark) -> bool {
        let name = || (data.suite.clone(), data.id.clone());
        self.benchmarks
            .as_ref()
            .is_none_or(|benchmarks| benchmarks.contains(&name()))
    }

    /// Returns whether iteration `k` has one of the metrics, or failed: a failure is data
    /// although it has no value.
    pub(super) fn has_iteration(&self, it: &InstanceData, k: usize) -> bool {
        self.benchmarks.is_none()
            || it.iterations.outcome[k] != Outcome::Ok
            || it.iterations.values.values().any(|all| !all[k].is_nan())
    }
}
