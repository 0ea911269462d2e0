//! The time that measurements took before, from which the time of planned ones is expected.

use std::collections::BTreeMap;

use lapwing_record::{Filter, InstanceData, Store, StoreError};
use lapwing_stats::{as_f64, mean};

use crate::clean::{CleaningPolicy, clean};
use crate::judge::estimate;
use crate::sample::each_benchmark;

/// The past times of a benchmark, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct PastCost {
    /// The mean of an iteration.
    pub iteration: f64,
    /// Time of an instance besides its iterations: a start of pytest, preparations.
    pub besides: f64,
    /// Time of a whole instance; `None` if unknown.
    pub whole: Option<f64>,
}

/// Returns the past times of benchmarks of a suite, by the ids that these have now.
///
/// # Errors
///
/// Returns the error of the store.
pub fn past_costs<'a>(
    store: &Store,
    suite: &str,
    ids: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<String, PastCost>, StoreError> {
    let mut costs = BTreeMap::new();
    let filter = Filter {
        metrics: vec!["wall_time".to_owned()],
        ..Filter::default()
    };
    // Benchmarks of the suite may have been renamed.
    let mut ids_by_name: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for id in ids {
        let names = store.annotations().names_since(suite, id, None)?;
        if let Some(name) = names.into_iter().next_back() {
            ids_by_name.entry(name).or_default().push(id);
        }
    }
    let read = each_benchmark(store, &filter, |data| {
        if data.suite == suite
            && let Some(ids) = ids_by_name.get(&data.benchmark.id)
        {
            let cleaned = clean(&data.instances, "wall_time", CleaningPolicy::default());
            if let Some(estimate) = estimate(&cleaned) {
                let spans: Vec<f64> = data.instances.iter().filter_map(span).collect();
                let besides: Vec<f64> = data.instances.iter().filter_map(besides).collect();
                let cost = PastCost {
                    iteration: estimate.value,
                    besides: mean(&besides).unwrap_or(0.0),
                    whole: mean(&spans),
                };
                costs.extend(ids.iter().map(|id| ((*id).to_owned(), cost)));
            }
        }
        Ok::<(), StoreError>(())
    });
    match read {
        // Nothing was measured before, or nothing with a wall time.
        Err(StoreError::NoMatch { .. }) | Ok(()) => Ok(costs),
        Err(error) => Err(error),
    }
}

/// Returns the time of an instance in seconds; `None` if it was not recorded.
fn span(data: &InstanceData) -> Option<f64> {
    let span = data
        .end
        .as_ref()?
        .ended?
        .duration_since(data.instance.started?);
    Some(span.as_secs_f64())
}

/// Returns the time of an instance besides its iterations, in seconds.
fn besides(data: &InstanceData) -> Option<f64> {
    let values = data.iterations.values.get("wall_time")?;
    // The times of failures are unknown.
    let known = values
        .iter()
        .zip(data.iterations.loops.iter())
        .filter(|(value, _)| value.is_finite());
    let measured = known.map(|(value, loops)| value * as_f64(*loops));
    Some((span(data)? - measured.sum::<f64>()).max(0.0))
}
