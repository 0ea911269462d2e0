//! The table of history points.

use std::io::{self, Write};

use lapwing_record::{Filter, Store};

use crate::TableError;
use crate::measured::{better, month_of, unit};
use crate::sink::{Partition, TableSink};

/// Writes the history points that pass a filter, as the store has them: only those of benchmarks of which points say
/// everything that a history needs.
///
/// # Errors
/// When an entry of the filter fits nothing, the store cannot be read or written to, or the table not be written.
pub fn write_points<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>>(
    store: &mut Store,
    filter: &Filter,
    sink: &mut TableSink<W, O>,
) -> Result<(), TableError> {
    let points = store.history_points(filter)?;
    for benchmark in &points.benchmarks {
        for (name, of_metric) in &benchmark.metrics {
            for point in of_metric {
                let Some(of_run) = points.runs.get(point.run as usize) else {
                    continue;
                };
                let (session, run) = (&of_run.session, &of_run.run);
                sink.rows(
                    &benchmark.suite,
                    || month_of(session.started),
                    1,
                    |row| {
                        row.text(&benchmark.suite)
                            .text(session.name.as_deref().unwrap_or_default());
                        row.text(&session.id.to_string())
                            .time(Some(session.started));
                        row.text(&run.id.to_string()).text(&benchmark.id);
                        row.text(run.version.name.as_deref().unwrap_or_default());
                        row.text(run.version.commit.as_deref().unwrap_or_default());
                        row.text(&run.variant).text(name);
                        row.text(unit(run.metrics.get(name)))
                            .text(better(run.metrics.get(name)));
                        row.whole(Some(i64::from(point.instances)));
                        row.numbers([point.mean].into_iter())
                            .numbers([point.mean_log].into_iter());
                    },
                )?;
            }
        }
    }
    Ok(())
}
