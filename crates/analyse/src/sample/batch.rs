//! Benchmarks that are worked on together, while the next ones are read.

use std::sync::mpsc::{Receiver, sync_channel};

use super::{BenchmarkData, each_with_all_metrics};
use lapwing_record::{Filter, Store, StoreError};

/// Benchmarks and iterations of a batch: enough for every processor, few enough for memory, where two batches are at a
/// time.
const BENCHMARKS: usize = 32;
const ITERATIONS: usize = 1_000_000;

/// Benchmarks that are worked on together.
#[derive(Debug, Default)]
pub struct BenchmarkBatch {
    benchmarks: Vec<BenchmarkData>,
    iterations: usize,
}

impl BenchmarkBatch {
    /// Adds a benchmark, and returns all of them once they are enough.
    pub fn push(&mut self, data: BenchmarkData) -> Option<Vec<BenchmarkData>> {
        let instances = data.instances.iter();
        self.iterations += instances.map(|it| it.iterations.len()).sum::<usize>();
        self.benchmarks.push(data);
        let is_full = self.benchmarks.len() >= BENCHMARKS || self.iterations >= ITERATIONS;
        is_full.then(|| std::mem::take(self).benchmarks)
    }

    /// Returns the benchmarks that were not enough.
    pub fn into_rest(self) -> Vec<BenchmarkData> {
        self.benchmarks
    }
}

/// Calls `work` with every benchmark, as [`each_with_all_metrics`] does, in batches. The next batch is read
/// meanwhile.
///
/// # Errors
/// Any error of `work`; as [`each_with_all_metrics`].
pub fn each_batch<E: From<StoreError> + Send>(
    store: &Store,
    filter: &Filter,
    mut work: impl FnMut(Vec<BenchmarkData>) -> Result<(), E> + Send,
) -> Result<(), E> {
    std::thread::scope(|scope| {
        // Without room between the two, at most one batch waits.
        let (send, receive) = sync_channel(0);
        let working = scope.spawn(move || {
            let receive: Receiver<Vec<BenchmarkData>> = receive;
            receive.iter().try_for_each(&mut work)
        });
        let mut batch = BenchmarkBatch::default();
        let mut read = each_with_all_metrics(store, filter, |data| match batch.push(data) {
            Some(full) => send.send(full).map_err(|_closed| ReadingEnd::NoReceiver),
            None => Ok(()),
        });
        if read.is_ok() {
            let rest = send.send(batch.into_rest());
            read = rest.map_err(|_closed| ReadingEnd::NoReceiver);
        }
        drop(send);
        let worked = match working.join() {
            Ok(worked) => worked,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        match read {
            Err(ReadingEnd::Error(error)) => Err(error.into()),
            Ok(()) | Err(ReadingEnd::NoReceiver) => worked,
        }
    })
}

/// The reason why reading ended early.
#[derive(Debug)]
enum ReadingEnd {
    Error(StoreError),
    /// The work failed, whose error is told.
    NoReceiver,
}

impl From<StoreError> for ReadingEnd {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}
