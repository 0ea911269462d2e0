//! github-action-benchmark's `customSmallerIsBetter` and `customBiggerIsBetter`.
//!
//! The direction is not in the file: one file holds what is better downwards, or what is
//! better upwards.

use std::io::Write;

use serde_json::json;

use super::{
    ExchangeEntry, ExchangeError, ExchangeSummary, JsonList, each_entry, is_higher_better,
};
use lapwing_record::{Filter, Store};

pub(super) fn write(
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<ExchangeSummary, ExchangeError> {
    let higher = only_higher(store, filter)?;
    let mut exchanged = ExchangeSummary::default();
    let mut list = JsonList::new("[");
    each_entry(store, filter, |entry| {
        let before = exchanged.entries;
        for metric in entry.metrics() {
            write_one(entry, &metric, higher, &mut exchanged, &mut list, out)?;
        }
        if exchanged.entries == before {
            exchanged.empty.push(entry.id().to_owned());
        }
        Ok(())
    })?;
    list.end(out, "]")?;
    Ok(exchanged)
}

/// Returns whether everything that was asked for is better upwards.
fn only_higher(store: &Store, filter: &Filter) -> Result<bool, ExchangeError> {
    let mut any = false;
    let mut all = true;
    each_entry(store, filter, |entry| {
        for metric in entry.metrics() {
            any = true;
            all &= is_higher_better(&entry.metric(&metric));
        }
        Ok(())
    })?;
    Ok(any && all)
}

fn write_one(
    entry: &ExchangeEntry<'_>,
    metric: &str,
    higher: bool,
    exchanged: &mut ExchangeSummary,
    list: &mut JsonList,
    out: &mut impl Write,
) -> Result<(), ExchangeError> {
    let known = entry.metric(metric);
    if is_higher_better(&known) != higher {
        exchanged.other_direction.push(metric.to_owned());
        return Ok(());
    }
    let Some(centre) = entry.centre(metric) else {
        return Ok(());
    };
    exchanged.note(centre.counted.as_ref());
    let name = if metric == "wall_time" {
        entry.id().to_owned()
    } else {
        format!("{} - {metric}", entry.id())
    };
    let mut row = json!({
        "name": name,
        "unit": known.unit,
        "value": centre.value,
        "extra": centre.rests_on,
    });
    if let Some(spread) = centre.spread {
        row["range"] = json!(format!("± {spread}"));
    }
    list.push(out, &row)?;
    Ok(())
}
