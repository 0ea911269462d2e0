//! Values in base units, whatever unit the runs of a benchmark state: those of one dimension stand on
//! one axis, and others are never mixed.

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_analyse::sample::{BenchmarkData, convert};
use lapwing_model::{Conversion, Id, MetricName, Run};

/// Returns the base unit of a unit, and how values get there; `None` if it is in base units
/// already, or unknown.
fn base(unit: &str) -> Option<(String, Conversion)> {
    let (conversion, name) = Conversion::to_base(unit);
    (name != unit && unit != "%").then_some((name, conversion))
}

/// Has every value of known units in base units, and the runs say so. What is in base units
/// already, or in a unit that is not known, stays as it is.
pub fn into_base_units(data: &mut BenchmarkData) {
    let mut changed: BTreeMap<Id, Arc<Run>> = BTreeMap::new();
    for instance in &mut data.instances {
        let conversions: Vec<(MetricName, String, Conversion)> = instance
            .run
            .metrics
            .iter()
            .filter_map(|(name, metric)| {
                let (unit, conversion) = base(&metric.unit)?;
                Some((name.clone(), unit, conversion))
            })
            .collect();
        if conversions.is_empty() {
            continue;
        }
        for (name, _, conversion) in &conversions {
            convert(instance, name, *conversion);
        }
        let run = changed.entry(instance.run.id).or_insert_with(|| {
            let mut run = Run::clone(&instance.run);
            for (name, unit, _) in &conversions {
                if let Some(metric) = run.metrics.get_mut(name) {
                    metric.unit.clone_from(unit);
                }
            }
            Arc::new(run)
        });
        instance.run = Arc::clone(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_base(value: f64, unit: &str) -> Option<(f64, String)> {
        base(unit).map(|(name, conversion)| (conversion.of(value), name))
    }

    #[test]
    fn times_sizes_and_rates_have_base_units() {
        let some = |value: f64, unit: &str| Some((value, unit.to_owned()));
        assert_eq!(in_base(1_500.0, "ms"), some(1.5, "s"));
        assert_eq!(in_base(0.5, "µs"), some(5e-7, "s"));
        assert_eq!(in_base(2.0, "min"), some(120.0, "s"));
        assert_eq!(in_base(3.0, "MiB"), some(3_145_728.0, "B"));
        assert_eq!(in_base(3.0, "MB/s"), some(3e6, "B/s"));
        assert_eq!(in_base(2.0, "1/ms"), some(2e3, "1/s"));
        assert_eq!(in_base(3.0, "ns/row"), some(3e-9, "s/row"));
        for unit in ["s", "B", "1", "", "%", "furlong", "B/s", "J"] {
            assert_eq!(in_base(1.0, unit), None, "{unit}");
        }
    }
}
