//! Experiments that are made elsewhere, such as by the jobs of a cluster, or that are kept.

use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use std::sync::Arc;

use lapwing_stats::{Configuration, ExperimentOptions, Experiments};
use sha2::{Digest, Sha256};

/// Gives experiments. Since they depend on their task alone, those made elsewhere are the same.
pub trait ExperimentSource: Send + Sync {
    /// Returns the experiments of a task; `make` makes them here. None are returned if they are another process's.
    fn experiments(&self, task: &ExperimentTask, make: &dyn Fn() -> Experiments) -> Experiments;
}

/// A source that threads share.
#[derive(Clone)]
pub struct SharedSource(pub Arc<dyn ExperimentSource>);

impl SharedSource {
    /// Returns the experiments of a task, as [`ExperimentSource::experiments`].
    pub fn experiments(
        &self,
        task: &ExperimentTask,
        make: &dyn Fn() -> Experiments,
    ) -> Experiments {
        self.0.experiments(task, make)
    }
}

impl Debug for SharedSource {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("SharedSource")
    }
}

impl PartialEq for SharedSource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Some experiments of one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentTask {
    /// Identifies everything that the experiments depend on: the measurements, the options, the configuration and
    /// their numbers.
    pub key: String,
    /// The configuration.
    pub configuration: Configuration,
    /// A number that tells the tasks of one simulation apart, from a start that differs between simulations.
    pub number: u64,
}

/// Identifies the tasks of one simulation.
pub(super) struct TaskKeys {
    of_all: Sha256,
    start: u64,
}

impl TaskKeys {
    pub(super) fn new(rows: &[&[f64]], options: &ExperimentOptions) -> Self {
        let mut of_all = Sha256::new();
        for row in rows {
            of_all.update(row.len().to_le_bytes());
            for value in *row {
                of_all.update(value.to_bits().to_le_bytes());
            }
        }
        of_all.update(options.replicates.to_le_bytes());
        of_all.update(options.confidence.level().to_bits().to_le_bytes());
        of_all.update(options.seed.0.to_le_bytes());
        Self {
            of_all,
            start: options.seed.0,
        }
    }

    /// Returns the task with these experiments.
    pub(super) fn task(
        &self,
        configuration: Configuration,
        numbers: Range<u32>,
        number: usize,
    ) -> ExperimentTask {
        let mut digest = self.of_all.clone();
        digest.update(configuration.instances.to_le_bytes());
        digest.update(configuration.iterations.to_le_bytes());
        digest.update(numbers.start.to_le_bytes());
        digest.update(numbers.end.to_le_bytes());
        let digits = digest.finalize();
        let digits = digits.iter().take(16).map(|byte| format!("{byte:02x}"));
        ExperimentTask {
            key: digits.collect(),
            configuration,
            number: self.start.wrapping_add(number as u64),
        }
    }
}
