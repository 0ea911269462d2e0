//! pyperf's JSON, version 1.0.

use std::io::Write;

use lapwing_record::{Filter, Store};
use serde_json::{Value, json};

use super::{CountedValues, ExchangeEntry, ExchangeError, ExchangeSummary, JsonList, each_entry};

pub(super) fn write(
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<ExchangeSummary, ExchangeError> {
    let mut list = JsonList::new(
        "{\"version\": \"1.0\", \"metadata\": {\"unit\": \"second\"}, \"benchmarks\": [",
    );
    let mut exchanged = ExchangeSummary::default();
    each_entry(store, filter, |entry| {
        let metric = entry.time_metric(filter);
        let Some(counted) = entry.counted(&metric) else {
            exchanged.empty.push(entry.id().to_owned());
            return Ok(());
        };
        exchanged.note(Some(&counted));
        let loops = entry.loops(&metric).unwrap_or(1);
        Ok(list.push(out, &benchmark(entry, &counted, loops))?)
    })?;
    list.end(out, "]}")?;
    Ok(exchanged)
}

/// Returns a benchmark whose runs are the instances.
fn benchmark(entry: &ExchangeEntry<'_>, counted: &CountedValues, loops: u64) -> Value {
    let mut values = counted.values.iter().copied();
    let date = entry.session.started.strftime("%Y-%m-%d %H:%M:%S.%6f");
    let date = date.to_string();
    let runs = counted.per_instance.iter().map(|count| {
        let values: Vec<f64> = values.by_ref().take(*count).collect();
        json!({"metadata": {"date": date}, "values": values})
    });
    json!({
        "runs": runs.collect::<Vec<Value>>(),
        "metadata": {"name": entry.id(), "loops": loops},
    })
}
