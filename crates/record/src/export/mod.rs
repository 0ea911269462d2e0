//! Writes what the store holds for other programs.

mod amun;
mod rows;

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::{Filter, InstanceData, RecordedBenchmark, Store, StoreError, write_line};
use lapwing_model::{Outcome, Summary};

pub use amun::{AmunCounts, export_amun};

/// The form of exported measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Record v1: everything, to be imported elsewhere.
    Record,
    /// A table, one row for each value.
    Long(TableSeparator),
    /// A table, one row for each iteration.
    Wide(TableSeparator),
    /// A JSON array, one object for each iteration.
    Json,
}

/// The separator between the columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableSeparator {
    /// A comma: CSV.
    Comma,
    /// A semicolon: what spreadsheets expect where the comma is a decimal mark.
    Semicolon,
    /// A tabulator: TSV.
    Tab,
}

impl TableSeparator {
    /// Returns the character.
    pub fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// The numbers of exported records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportCounts {
    /// Records of record v1, rows of a table (without the header), or objects of JSON.
    pub rows: u64,
    /// Summaries that the form has no place for.
    pub summaries_left: u64,
}

/// What can go wrong with an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output cannot be written to.
    #[error("cannot write the export")]
    Output(#[from] io::Error),
    /// The output cannot be written to.
    #[error("cannot write the export")]
    Csv(#[source] csv::Error),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Records are whole.
    #[error("records are exported whole; they cannot be limited to a metric")]
    MetricOfRecord,
}

impl From<csv::Error> for ExportError {
    fn from(error: csv::Error) -> Self {
        // So that a closed pipe is detected in every format.
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Self::Output(error),
            other => Self::Csv(csv::Error::from(io::Error::other(format!("{other:?}")))),
        }
    }
}

/// Writes what passes the filter. Where it names metrics, tables hold the benchmarks and
/// iterations that have one of them, and the failures of those benchmarks.
///
/// # Errors
/// When an entry of the filter fits nothing (then nothing is written), when records are to be
/// limited to a metric, when the store cannot be read or `out` not be written to.
pub fn export(
    store: &Store,
    filter: &Filter,
    format: ExportFormat,
    out: &mut impl Write,
) -> Result<ExportCounts, ExportError> {
    let exported = match format {
        ExportFormat::Record => export_records(store, filter, out)?,
        ExportFormat::Long(separator) => export_long(store, filter, separator, out)?,
        ExportFormat::Wide(separator) => export_wide(store, filter, separator, out)?,
        ExportFormat::Json => export_json(store, filter, out)?,
    };
    out.flush()?;
    Ok(exported)
}

fn export_records(
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<ExportCounts, ExportError> {
    if !filter.metrics.is_empty() {
        return Err(ExportError::MetricOfRecord);
    }
    let mut exported = ExportCounts::default();
    store.scan(filter, |record| {
        exported.rows += 1;
        write_line(out, &record).map_err(ExportError::Output)
    })?;
    Ok(exported)
}

fn export_long(
    store: &Store,
    filter: &Filter,
    separator: TableSeparator,
    out: &mut impl Write,
) -> Result<ExportCounts, ExportError> {
    let scope = ExportScope::of(store, filter)?;
    let mut exported = ExportCounts::default();
    let mut csv = table(separator, out);
    let mut header = rows::COLUMNS.to_vec();
    header.extend(rows::VALUE_COLUMNS);
    csv.write_record(&header)?;
    scope.each_row(store, filter, |data, instance, row| {
        let k = match row {
            ExportedRow::Iteration(k) => k,
            ExportedRow::Summary(summary) => {
                csv.write_record(rows::summary(data, instance, summary))?;
                exported.rows += 1;
                return Ok(());
            }
        };
        let common = rows::common(data, instance, k);
        let common = || common.iter().map(String::as_str);
        let mut values = 0;
        for (name, column) in &instance.iterations.values {
            if column[k].is_nan() {
                continue;
            }
            let unit = instance.run.metrics.get(name);
            let unit = unit.map_or("", |metric| metric.unit.as_str());
            let value = rows::number(column[k]);
            let more = [name.as_str(), unit, value.as_str(), "", "", ""];
            csv.write_record(common().chain(more))?;
            values += 1;
        }
        if values == 0 {
            // A failure is data: it has a row although it has no value.
            csv.write_record(common().chain([""; 6]))?;
            values = 1;
        }
        exported.rows += values;
        Ok(())
    })?;
    csv.flush()?;
    Ok(exported)
}

fn export_wide(
    store: &Store,
    filter: &Filter,
    separator: TableSeparator,
    out: &mut impl Write,
) -> Result<ExportCounts, ExportError> {
    let scope = ExportScope::of(store, filter)?;
    let mut exported = ExportCounts::default();
    let metrics = store.catalogue().metrics(filter)?.into_iter();
    let metrics: Vec<String> = metrics.map(|row| row.metric).collect();
    let mut csv = table(separator, out);
    let columns = rows::COLUMNS.iter().copied();
    csv.write_record(columns.chain(metrics.iter().map(String::as_str)))?;
    scope.each_row(store, filter, |data, instance, row| {
        let ExportedRow::Iteration(k) = row else {
            exported.summaries_left += 1;
            return Ok(());
        };
        let mut row = rows::common(data, instance, k).to_vec();
        row.extend(metrics.iter().map(|name| {
            let column = instance.iterations.values.get(name);
            let value = column.map(|column| column[k]);
            let value = value.filter(|value| !value.is_nan());
            value.map_or_else(String::new, rows::number)
        }));
        csv.write_record(&row)?;
        exported.rows += 1;
        Ok(())
    })?;
    csv.flush()?;
    Ok(exported)
}

fn export_json(
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<ExportCounts, ExportError> {
    let scope = ExportScope::of(store, filter)?;
    let mut exported = ExportCounts::default();
    out.write_all(b"[")?;
    scope.each_row(store, filter, |data, instance, row| {
        out.write_all(if exported.rows == 0 { b"\n" } else { b",\n" })?;
        let row = match row {
            ExportedRow::Iteration(k) => rows::object(data, instance, k),
            ExportedRow::Summary(summary) => rows::summary_object(data, instance, summary),
        };
        serde_json::to_writer(&mut *out, &row).map_err(io::Error::from)?;
        exported.rows += 1;
        Ok(())
    })?;
    out.write_all(b"\n]\n")?;
    Ok(exported)
}

fn table<W: Write>(separator: TableSeparator, out: W) -> csv::Writer<W> {
    csv::WriterBuilder::new()
        .delimiter(separator.byte())
        .from_writer(out)
}

/// A row of a table.
enum ExportedRow<'d> {
    /// The iteration at that position.
    Iteration(usize),
    /// A summary of a source without samples.
    Summary(&'d Summary),
}

/// The benchmarks and iterations of a table that is limited to metrics.
struct ExportScope {
    /// Suites and ids of the benchmarks that have one of the metrics; `None` where none is named.
    benchmarks: Option<BTreeSet<(String, String)>>,
}

impl ExportScope {
    /// Returns the scope of a filter. An entry without a match is an error before the first byte is
    /// written, so that partial output cannot be mistaken for all of it.
    fn of(store: &Store, filter: &Filter) -> Result<Self, ExportError> {
        if filter.metrics.is_empty() {
            store.catalogue().check_filter(filter)?;
            return Ok(Self { benchmarks: None });
        }
        let rows = store.catalogue().benchmarks(filter)?.into_iter();
        Ok(Self {
            benchmarks: Some(rows.map(|row| (row.suite, row.benchmark)).collect()),
        })
    }

    /// Calls `visit` with each row to write, and the instance and the benchmark that it belongs to.
    fn each_row(
        &self,
        store: &Store,
        filter: &Filter,
        mut visit: impl FnMut(
            &RecordedBenchmark,
            &InstanceData,
            ExportedRow<'_>,
        ) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        store.each_recorded(filter, |data| {
            if !self.has_benchmark(&data) {
                return Ok(());
            }
            for instance in &data.instances {
                for k in 0..instance.iterations.len() {
                    if self.has_iteration(instance, k) {
                        visit(&data, instance, ExportedRow::Iteration(k))?;
                    }
                }
                for summary in &instance.summaries {
                    visit(&data, instance, ExportedRow::Summary(summary))?;
                }
            }
            Ok(())
        })
    }

    /// Returns whether a benchmark has one of the metrics, be it elsewhere.
    fn has_benchmark(&self, data: &RecordedBenchmark) -> bool {
        let benchmarks = self.benchmarks.as_ref();
        benchmarks.is_none_or(|known| known.contains(&(data.suite.clone(), data.id.clone())))
    }

    /// Returns whether iteration `k` has one of the metrics, or failed: a failure is data
    /// although it has no value.
    fn has_iteration(&self, instance: &InstanceData, k: usize) -> bool {
        let iterations = &instance.iterations;
        self.benchmarks.is_none()
            || iterations.outcome[k] != Outcome::Ok
            || iterations.values.values().any(|all| !all[k].is_nan())
    }
}
