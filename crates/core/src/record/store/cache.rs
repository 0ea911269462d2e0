//! What a writer remembers of the store, so that it need not look it up for each record.

use std::collections::{HashMap, HashSet};

use crate::model::{Id, MetricName};

/// Integer keys by id. Valid as long as nobody else writes.
#[derive(Debug, Default)]
pub(super) struct KeyCache {
    pub(super) sessions: HashMap<Id, SessionKey>,
    pub(super) runs: HashMap<Id, CachedRun>,
    pub(super) instances: HashMap<Id, InstanceKey>,
    pub(super) metrics: HashMap<MetricName, i64>,
    pub(super) benchmarks: HashMap<(String, String), i64>,
    pub(super) benchmark_metrics: HashSet<(i64, i64)>,
    /// All sessions by when they began, once somebody has asked for them.
    pub(super) begun: Option<HashMap<String, Vec<i64>>>,
}

/// Instances, and metrics of benchmarks, to remember at most; forgetting costs a look-up each.
const MANY: usize = 200_000;

/// Benchmarks to remember at most: they are known by their names, which take more room.
const BENCHMARKS: usize = 50_000;

#[derive(Debug, Clone)]
pub(super) struct SessionKey {
    pub(super) key: i64,
    pub(super) suite: String,
}

#[derive(Debug, Clone)]
pub(super) struct CachedRun {
    pub(super) key: i64,
    pub(super) suite: String,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct InstanceKey {
    pub(super) key: i64,
    pub(super) benchmark: i64,
}

impl KeyCache {
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(super) fn remember_benchmark(&mut self, suite_and_id: (String, String), key: i64) {
        if self.benchmarks.len() >= BENCHMARKS {
            self.benchmarks.clear();
        }
        self.benchmarks.insert(suite_and_id, key);
    }

    /// Remembers that a benchmark has a metric; says whether that was not known.
    pub(super) fn remember_metric(&mut self, benchmark: i64, metric: i64) -> bool {
        if self.benchmark_metrics.len() >= MANY {
            self.benchmark_metrics.clear();
        }
        self.benchmark_metrics.insert((benchmark, metric))
    }

    pub(super) fn remember_instance(&mut self, id: Id, key: InstanceKey) {
        if self.instances.len() >= MANY {
            self.instances.clear();
        }
        self.instances.insert(id, key);
    }
}
