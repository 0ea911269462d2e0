//! The table of spans.

use std::io::{self, Write};

use lapwing_record::{Filter, Store};

use crate::TableError;
use crate::measured::month_of;
use crate::sink::{Partition, TableSink};

/// Writes the spans of the traces that pass a filter.
///
/// # Errors
/// When an entry of the filter fits nothing, the store cannot be read, or the table not be written.
pub fn write_spans<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>>(
    store: &Store,
    filter: &Filter,
    sink: &mut TableSink<W, O>,
) -> Result<(), TableError> {
    for trace in store.catalogue().traces(filter)? {
        let mut failure = None;
        let instance = trace.instance.to_string();
        store.each_span(trace.instance, |span| {
            if failure.is_some() {
                return;
            }
            let json = |value: serde_json::Result<String>| value.unwrap_or_default();
            let written = sink.rows(
                "",
                || month_of(trace.started),
                1,
                |row| {
                    row.text(&trace.benchmark)
                        .text(trace.version.as_deref().unwrap_or_default());
                    row.text(&trace.variant).text(&instance);
                    row.whole(span.iteration.map(i64::from))
                        .whole(Some(i64::from(span.index)));
                    row.text(&span.category).text(&span.name);
                    row.text(span.lane.as_deref().unwrap_or_default());
                    row.text(span.clock.as_deref().unwrap_or_default());
                    row.whole(span.events.values().min().copied());
                    row.whole(span.events.values().max().copied());
                    row.text(&json(serde_json::to_string(&span.events)));
                    let inputs = span.inputs.as_ref();
                    row.text(
                        &inputs
                            .map(|it| json(serde_json::to_string(it)))
                            .unwrap_or_default(),
                    );
                    row.text(&json(serde_json::to_string(&span.attributes)));
                },
            );
            failure = written.err();
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
    }
    Ok(())
}
