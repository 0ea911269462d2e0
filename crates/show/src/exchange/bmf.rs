//! Bencher Metric Format: a value with bounds for each benchmark and measure.
//!
//! Bencher's own measures are `latency` in nanoseconds and `throughput` in operations a
//! second; everything else goes out under its own name in base units.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::{ExchangeEntry, ExchangeError, ExchangeSummary, JsonList, each_entry};
use lapwing_record::{Filter, Store};

const NANOSECONDS: f64 = 1e9;

pub(super) fn write(
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<ExchangeSummary, ExchangeError> {
    let mut exchanged = ExchangeSummary::default();
    let mut list = JsonList::new("{");
    each_entry(store, filter, |entry| {
        let measures = measures(entry, &mut exchanged);
        if measures.is_empty() {
            exchanged.empty.push(entry.id().to_owned());
            return Ok(());
        }
        list.next(out)?;
        let name = Value::from(entry.id());
        write!(out, "{name}: {}", Value::Object(measures))?;
        Ok(())
    })?;
    list.end(out, "}")?;
    Ok(exchanged)
}

fn measures(entry: &ExchangeEntry<'_>, exchanged: &mut ExchangeSummary) -> Map<String, Value> {
    let mut measures = Map::new();
    for metric in entry.metrics() {
        let Some(centre) = entry.centre(&metric) else {
            continue;
        };
        exchanged.note(centre.counted.as_ref());
        let (name, factor) = if metric == "wall_time" {
            ("latency".to_owned(), NANOSECONDS)
        } else {
            (metric, 1.0)
        };
        let mut measure = json!({"value": centre.value * factor});
        if let Some((lower, upper)) = centre.bounds {
            measure["lower_value"] = json!(lower * factor);
            measure["upper_value"] = json!(upper * factor);
        }
        measures.insert(name, measure);
    }
    measures
}
