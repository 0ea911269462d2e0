//! Indicators are shown by the time that they report: their wall time is mostly that of starting them.

use super::index_parts::columns::BenchmarkLink;
use super::index_parts::listing::MetricRows;
use super::index_parts::row::IndexRow;
use lapwing_model::{MetricName, local_metrics};

/// The tag of indicators.
const INDICATOR: &str = "indicator";

/// Returns whether a benchmark is an indicator.
pub(super) fn is_of_indicator(benchmark: &BenchmarkLink) -> bool {
    benchmark.tags.iter().any(|it| it == INDICATOR)
}

/// Returns the first metric, of these with their units, that is a time which benchmarks report themselves.
pub(super) fn own_time<'m>(
    mut metrics: impl Iterator<Item = (&'m str, &'m str)>,
) -> Option<&'m str> {
    let local = local_metrics();
    let own = metrics.find(|(name, unit)| *unit == "s" && !local.contains_key(*name));
    own.map(|(name, _)| name)
}

/// Returns the time that indicators report, if there is nothing else.
pub(super) fn lead(metrics: &MetricRows<IndexRow>) -> Option<MetricName> {
    if !metrics.rows().all(|row| is_of_indicator(&row.benchmark)) {
        return None;
    }
    let by_use = metrics.by_use().into_iter();
    own_time(by_use.map(|(name, it)| (name.as_str(), it.unit.as_str()))).map(str::to_owned)
}
