//! Units: converts all values of a benchmark's metric to one unit.

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_model::{Conversion, Id, MetricName, Run};
use lapwing_record::InstanceData;

/// Converts the metrics of instances, in order of time, to the unit of the latest run.
/// Values that cannot be converted keep their unit, which is that of their run; they are not compared.
pub(crate) fn convert_units(instances: &mut [InstanceData]) {
    let units = changed(instances);
    if units.is_empty() {
        return;
    }
    let mut runs: BTreeMap<Id, Arc<Run>> = BTreeMap::new();
    for instance in instances {
        let conversions = conversions(&instance.run, &units);
        if conversions.is_empty() {
            continue;
        }
        for (name, (conversion, _)) in &conversions {
            convert(instance, name, *conversion);
        }
        let run = runs.entry(instance.run.id).or_insert_with(|| {
            let mut run = Run::clone(&instance.run);
            for (name, (_, unit)) in conversions {
                if let Some(metric) = run.metrics.get_mut(name) {
                    unit.clone_into(&mut metric.unit);
                }
            }
            Arc::new(run)
        });
        instance.run = Arc::clone(run);
    }
}

/// Returns the metrics whose unit changed, with the unit of the latest runs.
fn changed(instances: &[InstanceData]) -> BTreeMap<MetricName, String> {
    let mut latest: BTreeMap<&MetricName, (&str, bool)> = BTreeMap::new();
    let mut before: Option<&Arc<Run>> = None;
    for instance in instances.iter().rev() {
        if before.is_some_and(|run| Arc::ptr_eq(run, &instance.run)) {
            continue;
        }
        before = Some(&instance.run);
        for (name, metric) in instance
            .run
            .metrics
            .iter()
            .filter(|it| !it.1.unit.is_empty())
        {
            let (unit, differs) = latest.entry(name).or_insert((&metric.unit, false));
            *differs |= *unit != metric.unit;
        }
    }
    let changed = latest.into_iter().filter(|(_, (_, differs))| *differs);
    changed
        .map(|(name, (unit, _))| (name.clone(), unit.to_owned()))
        .collect()
}

fn conversions<'u>(
    run: &Run,
    units: &'u BTreeMap<MetricName, String>,
) -> BTreeMap<&'u MetricName, (Conversion, &'u str)> {
    let of = |(name, unit): (&'u MetricName, &'u String)| {
        let unit_of_run = &run.metrics.get(name)?.unit;
        let conversion = Conversion::between(unit_of_run, unit).filter(|_| unit_of_run != unit)?;
        Some((name, (conversion, unit.as_str())))
    };
    units.iter().filter_map(of).collect()
}

/// Converts the values and summaries that an instance has of a metric.
pub fn convert(instance: &mut InstanceData, metric: &str, conversion: Conversion) {
    if conversion.is_none() {
        return;
    }
    for value in instance
        .iterations
        .values
        .get_mut(metric)
        .into_iter()
        .flatten()
    {
        *value = conversion.of(*value);
    }
    for summary in instance
        .summaries
        .iter_mut()
        .filter(|it| it.metric == metric)
    {
        summary.centre = conversion.of(summary.centre);
        summary.spread = summary.spread.map(|spread| conversion.of(spread));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::tests::instance;
    use lapwing_model::{Metric, Outcome};

    /// An instance of a run of its own that measured `t` in that unit.
    fn measured(run: u8, unit: &str, value: f64) -> InstanceData {
        let mut it = instance(&[(false, Outcome::Ok, value)]);
        let column = it.iterations.values.pop_first().expect("a column").1;
        it.iterations.values.insert("t".to_owned(), column);
        let of = Arc::make_mut(&mut it.run);
        of.id = Id::derived(&[&[run]]);
        of.metrics = BTreeMap::from([("t".to_owned(), Metric::lower(unit))]);
        it
    }

    #[test]
    fn values_are_in_the_unit_of_the_latest_run_where_they_can_be() {
        let mut all = [
            measured(1, "ms", 1_500.0),
            measured(2, "B", 7.0),
            measured(3, "", 8.0),
            measured(4, "s", 1.5),
        ];
        convert_units(&mut all);
        let found = all.map(|it| {
            let unit = it.run.metrics["t"].unit.clone();
            (it.iterations.values["t"][0], unit)
        });
        let expected = [(1.5, "s"), (7.0, "B"), (8.0, ""), (1.5, "s")];
        assert_eq!(
            found,
            expected.map(|(value, unit)| (value, unit.to_owned()))
        );
    }
}
