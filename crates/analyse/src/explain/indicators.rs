//! Values of indicators, by variant and processor.

use std::collections::BTreeMap;

use lapwing_model::{Benchmark, COUNTED, Metric, MetricName};
use lapwing_record::{Filter, InstanceData, Store, StoreError};
use serde_json::Value;

use crate::clean::{CleaningPolicy, clean};
use crate::judge::{Estimate, estimate};
use crate::sample::each_benchmark;

/// The value of a metric of an indicator.
#[derive(Debug)]
pub struct IndicatorValue {
    /// The id of the indicator.
    pub indicator: String,
    /// The variant.
    pub variant: String,
    /// The model of the processor.
    pub cpu_model: String,
    /// The name of the metric.
    pub metric: MetricName,
    /// Its unit.
    pub unit: String,
    /// Its mean.
    pub estimate: Estimate,
}

/// Returns whether a metric is reported by a script, and not measured about it.
pub fn is_reported(name: &str) -> bool {
    !COUNTED.contains(&name) && !["wall_time", "peak_memory"].contains(&name)
}

/// Returns the values of these metrics, or else of those that scripts report, of the indicators and instances that
/// are asked for.
///
/// # Errors
///
/// Returns the error of the store.
pub fn indicator_values(
    store: &Store,
    filter: &Filter,
    metrics: &[MetricName],
    is_asked: impl Fn(&Benchmark) -> bool,
    passes: impl Fn(&InstanceData) -> bool,
) -> Result<Vec<IndicatorValue>, StoreError> {
    let mut values = Vec::new();
    each_benchmark(store, filter, |data| {
        let benchmark = &data.benchmark;
        let is_indicator = benchmark.tags.iter().any(|tag| tag == Benchmark::INDICATOR);
        if !is_indicator || !is_asked(benchmark) {
            return Ok::<(), StoreError>(());
        }
        let mut groups: BTreeMap<(String, String), Vec<&InstanceData>> = BTreeMap::new();
        for instance in data.instances.iter().filter(|instance| passes(instance)) {
            let key = (
                instance.run.variant.clone(),
                environment_text(instance, "cpu_model"),
            );
            groups.entry(key).or_default().push(instance);
        }
        for ((variant, cpu_model), instances) in groups {
            for (name, metric) in shown_metrics(&instances, metrics) {
                let instances = instances.iter().copied();
                let cleaned = clean(instances, &name, CleaningPolicy::default());
                values.extend(estimate(&cleaned).map(|estimate| IndicatorValue {
                    indicator: benchmark.id.clone(),
                    variant: variant.clone(),
                    cpu_model: cpu_model.clone(),
                    metric: name,
                    unit: metric.unit,
                    estimate,
                }));
            }
        }
        Ok(())
    })?;
    Ok(values)
}

/// Returns the metrics to show: those asked for, else those that the scripts report.
fn shown_metrics(
    instances: &[&InstanceData],
    asked: &[MetricName],
) -> BTreeMap<MetricName, Metric> {
    let mut all = BTreeMap::new();
    for instance in instances {
        let is_shown = |name: &&MetricName| match asked {
            [] => is_reported(name),
            names => names.contains(name),
        };
        for name in instance.iterations.values.keys().filter(is_shown) {
            let metric = instance.run.metrics.get(name).cloned();
            all.insert(name.clone(), metric.unwrap_or_default());
        }
    }
    all
}

/// Returns a property of the environment: of the instance, else of its run.
pub fn environment_value<'a>(instance: &'a InstanceData, key: &str) -> Option<&'a Value> {
    let of_instance = instance.instance.environment.get(key);
    of_instance.or_else(|| instance.run.environment.get(key))
}

/// Returns a property of the environment as text; empty if it is unknown.
pub fn environment_text(instance: &InstanceData, key: &str) -> String {
    environment_value(instance, key).map_or_else(String::new, value_text)
}

/// Returns a value as text: a text without quotes.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
