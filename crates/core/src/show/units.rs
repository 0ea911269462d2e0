//! Values in base units, whatever unit the runs of a benchmark state: those of one dimension stand on
//! one axis, and others are never mixed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Id, MetricName, Run};
use crate::record::{BenchmarkData, InstanceData};

/// What a value is multiplied with and then divided by; one of them is 1, so that a value is
/// rounded once.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Factor {
    times: f64,
    over: f64,
}

/// Units that are some base units each: `(name, base, times, over)`.
const KNOWN: [(&str, &str, f64, f64); 25] = [
    ("ns", "s", 1.0, 1e9),
    ("us", "s", 1.0, 1e6),
    ("µs", "s", 1.0, 1e6),
    ("μs", "s", 1.0, 1e6),
    ("ms", "s", 1.0, 1e3),
    ("s", "s", 1.0, 1.0),
    ("sec", "s", 1.0, 1.0),
    ("second", "s", 1.0, 1.0),
    ("seconds", "s", 1.0, 1.0),
    ("min", "s", 60.0, 1.0),
    ("h", "s", 3_600.0, 1.0),
    ("B", "B", 1.0, 1.0),
    ("byte", "B", 1.0, 1.0),
    ("bytes", "B", 1.0, 1.0),
    ("KiB", "B", 1_024.0, 1.0),
    ("MiB", "B", 1_048_576.0, 1.0),
    ("GiB", "B", 1_073_741_824.0, 1.0),
    ("TiB", "B", 1_099_511_627_776.0, 1.0),
    ("kB", "B", 1e3, 1.0),
    ("MB", "B", 1e6, 1.0),
    ("GB", "B", 1e9, 1.0),
    ("TB", "B", 1e12, 1.0),
    ("Hz", "1/s", 1.0, 1.0),
    ("kHz", "1/s", 1e3, 1.0),
    ("MHz", "1/s", 1e6, 1.0),
];

/// Returns the base unit of a unit, and how values get there; `None` where it is in base units
/// already, or unknown. `KB` is unknown: some mean 1000, others 1024.
fn base(unit: &str) -> Option<(String, Factor)> {
    let look = |name: &str| KNOWN.iter().find(|it| it.0 == name.trim());
    let (name, factor) = match unit.split_once('/') {
        None => {
            let &(_, base, times, over) = look(unit)?;
            (base.to_owned(), Factor { times, over })
        }
        Some((above, below)) => {
            let known = look(above);
            let above_name = known.map_or(above.trim(), |it| it.1);
            let (times, over) = known.map_or((1.0, 1.0), |it| (it.2, it.3));
            // So many in each ms are a thousand times as many in each s.
            let known = look(below);
            let below_name = known.map_or(below.trim(), |it| it.1);
            let (below_times, below_over) = known.map_or((1.0, 1.0), |it| (it.2, it.3));
            let factor = Factor {
                times: times * below_over,
                over: over * below_times,
            };
            (format!("{above_name}/{below_name}"), factor)
        }
    };
    (name != unit).then_some((name, factor))
}

impl Factor {
    fn of(self, value: f64) -> f64 {
        value * self.times / self.over
    }
}

/// Has every value of known units in base units, and the runs say so. What is in base units
/// already, or in a unit that is not known, stays as it is.
pub(super) fn into_base_units(data: &mut BenchmarkData) {
    let mut changed: BTreeMap<Id, Arc<Run>> = BTreeMap::new();
    for instance in &mut data.instances {
        let factors: Vec<(MetricName, String, Factor)> = instance
            .run
            .metrics
            .iter()
            .filter_map(|(name, metric)| {
                let (unit, factor) = base(&metric.unit)?;
                Some((name.clone(), unit, factor))
            })
            .collect();
        if factors.is_empty() {
            continue;
        }
        for (name, _, factor) in &factors {
            convert(instance, name, *factor);
        }
        let run = changed.entry(instance.run.id).or_insert_with(|| {
            let mut run = Run::clone(&instance.run);
            for (name, unit, _) in &factors {
                if let Some(metric) = run.metrics.get_mut(name) {
                    metric.unit.clone_from(unit);
                }
            }
            Arc::new(run)
        });
        instance.run = Arc::clone(run);
    }
}

fn convert(instance: &mut InstanceData, name: &str, factor: Factor) {
    if let Some(values) = instance.iterations.values.get_mut(name) {
        for value in values {
            *value = factor.of(*value);
        }
    }
    for summary in &mut instance.summaries {
        if summary.metric == name {
            summary.centre = factor.of(summary.centre);
            summary.spread = summary.spread.map(|it| factor.of(it));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_base(value: f64, unit: &str) -> Option<(f64, String)> {
        base(unit).map(|(name, factor)| (factor.of(value), name))
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
        for unit in ["s", "B", "1", "", "%", "furlong", "KB", "B/s", "J"] {
            assert_eq!(in_base(1.0, unit), None, "{unit}");
        }
    }
}
