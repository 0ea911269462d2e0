//! Benchmarks with all of their measurements, under their current names and epochs.

use std::collections::BTreeSet;

use super::epoch::assign_epochs;
use super::units::convert_units;
use super::void::{fail_void, skip_expected};
use super::{History, sides::with_metrics};
use lapwing_model::Benchmark;
use lapwing_record::{Filter, InstanceData, RecordedBenchmark, Store, StoreError};

/// One benchmark with all of its measurements that pass a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkData {
    /// Its suite.
    pub suite: String,
    /// Its description by the instance at the last position of its history.
    pub benchmark: Benchmark,
    /// Its instances by start of session, then position, then attempt. Their fingerprints are those of
    /// their epochs, their units are one where they can be converted, and iterations of void instances
    /// have failed.
    pub instances: Vec<InstanceData>,
}

/// Calls `visit` with each benchmark that has an instance passing the filter, by suite and id in natural order. Keeps
/// one benchmark's measurements in memory at a time.
///
/// The filter's metrics select the values to read; a benchmark or an iteration without them is visited all the same,
/// because their absence may be the result.
///
/// # Errors
/// Any error of `visit`; if an entry of the filter has no match; if the store cannot be read.
pub fn each_benchmark<E: From<StoreError>>(
    store: &Store,
    filter: &Filter,
    visit: impl FnMut(BenchmarkData) -> Result<(), E>,
) -> Result<(), E> {
    each_benchmark_but(&BTreeSet::new(), store, filter, visit)
}

/// Does the same as [`each_benchmark`] without these benchmarks, by suite and id.
fn each_benchmark_but<E: From<StoreError>>(
    known: &BTreeSet<(String, String)>,
    store: &Store,
    filter: &Filter,
    mut visit: impl FnMut(BenchmarkData) -> Result<(), E>,
) -> Result<(), E> {
    store.each_recorded_but(known, filter, |recorded| {
        match BenchmarkData::of(recorded) {
            Some(data) => visit(data),
            None => Ok(()),
        }
    })
}

impl BenchmarkData {
    /// Returns the measurements of a benchmark as analysed; `None` without an instance.
    pub fn of(recorded: RecordedBenchmark) -> Option<Self> {
        let RecordedBenchmark {
            suite,
            id,
            mut instances,
            definitions,
        } = recorded;
        instances.iter_mut().for_each(fail_void);
        instances.iter_mut().for_each(skip_expected);
        assign_epochs(&mut instances, definitions);
        convert_units(&mut instances);
        let history = History::of_instances(&instances);
        // Old versions that are measured later do not change the benchmark's current definition.
        let latest = instances
            .iter()
            .max_by_key(|instance| history.position(&instance.run.id))?;
        let mut benchmark = latest.instance.benchmark.clone();
        benchmark.id = id;
        // The latest measurement may be from a source without tags.
        let has_tags = |instance: &&InstanceData| !instance.instance.benchmark.tags.is_empty();
        if benchmark.tags.is_empty()
            && let Some(tagged) = instances.iter().rev().find(has_tags)
        {
            benchmark.tags.clone_from(&tagged.instance.benchmark.tags);
        }
        Some(Self {
            suite,
            benchmark,
            instances,
        })
    }
}

/// Calls `visit` with every benchmark that has one of the requested metrics. All of its metrics are read, because
/// burn-in is detected from the wall time whatever is analysed.
///
/// # Errors
/// As [`each_benchmark`].
pub fn each_with_all_metrics<E: From<StoreError>>(
    store: &Store,
    filter: &Filter,
    visit: impl FnMut(BenchmarkData) -> Result<(), E>,
) -> Result<(), E> {
    each_with_all_metrics_but(&BTreeSet::new(), store, filter, visit)
}

/// Does the same as [`each_with_all_metrics`] without these benchmarks, by suite and id.
///
/// # Errors
/// As [`each_benchmark`].
pub(crate) fn each_with_all_metrics_but<E: From<StoreError>>(
    known: &BTreeSet<(String, String)>,
    store: &Store,
    filter: &Filter,
    mut visit: impl FnMut(BenchmarkData) -> Result<(), E>,
) -> Result<(), E> {
    let asked = with_metrics(store, filter)?;
    let all_metrics = Filter {
        metrics: Vec::new(),
        ..filter.clone()
    };
    each_benchmark_but(known, store, &all_metrics, |data| {
        let key = (data.suite.clone(), data.benchmark.id.clone());
        if asked.as_ref().is_none_or(|asked| asked.contains(&key)) {
            visit(data)?;
        }
        Ok(())
    })
}
