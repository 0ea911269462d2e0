//! Why nothing could be exported.

use std::collections::BTreeSet;

use super::{ExchangeError, ExchangeFormat, each_entry, time_asked_for};
use lapwing_model::MetricName;
use lapwing_record::{Filter, Store};

/// Returns the error for a run of which nothing has a place in the format.
pub(super) fn why(
    store: &Store,
    filter: &Filter,
    format: ExchangeFormat,
    other_direction: Vec<MetricName>,
) -> Result<ExchangeError, ExchangeError> {
    if !other_direction.is_empty() {
        let metrics = other_direction;
        return Ok(ExchangeError::OtherDirection { metrics });
    }
    match format {
        ExchangeFormat::PytestBenchmark | ExchangeFormat::Hyperfine | ExchangeFormat::Pyperf => {}
        ExchangeFormat::Bmf | ExchangeFormat::GithubAction => {
            return Ok(ExchangeError::NothingCounts);
        }
    }
    let mut times: BTreeSet<MetricName> = BTreeSet::new();
    let mut summarised = None;
    let mut has_time = false;
    each_entry(store, filter, |entry| {
        let names = entry.metrics();
        let time = entry.time_metric(filter);
        has_time |= names.contains(&time);
        let is_time = |name: &MetricName| entry.metric(name).unit == "s";
        times.extend(names.into_iter().filter(is_time));
        if summarised.is_none() && entry.summary(&time).is_some() {
            summarised = Some(time);
        }
        Ok(())
    })?;
    Ok(match summarised {
        Some(metric) => ExchangeError::OnlySummaries { metric },
        None if has_time => ExchangeError::NothingCounts,
        None => ExchangeError::WithoutTime {
            metric: time_asked_for(filter).to_owned(),
            others: times.into_iter().collect(),
        },
    })
}
