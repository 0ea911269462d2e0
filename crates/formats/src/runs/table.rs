//! The cells of a table of runs.

use std::io::{BufRead, Read};

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::shared::reading::marks::{ColumnMark, decimal_marks};
use crate::shared::reading::separator::separator;
use crate::shared::rows::{bad_header, bad_row};
use crate::{BadLine, ImportError, Source};

/// A table of runs.
pub(super) struct RunsTable {
    pub(super) header: Vec<String>,
    /// The rows in the order of the file; those without the right number of cells are bad.
    pub(super) rows: Vec<Result<StringRecord, BadLine>>,
    /// The decimal mark of each column.
    pub(super) marks: Vec<ColumnMark>,
}

impl RunsTable {
    /// Reads a source.
    pub(super) fn of(source: &Source) -> Result<Self, ImportError> {
        const HEAD: u64 = 1 << 16;
        let mut head = Vec::new();
        let read = source.text()?.take(HEAD).read_to_end(&mut head);
        read.map_err(|error| source.failed(error))?;
        let separator = separator(complete_lines(&head));
        let mut text = source.text()?;
        let begin = text.fill_buf().map_err(|error| source.failed(error))?;
        if begin.starts_with(BYTE_ORDER_MARK) {
            text.consume(BYTE_ORDER_MARK.len());
        }
        let mut reader = reader(separator, text);
        let header = match reader.headers() {
            Ok(names) => names.iter().map(str::to_owned).collect(),
            Err(error) => return Err(bad_header(source, bad_row(source, error)?)),
        };
        let mut table = Self {
            header,
            rows: Vec::new(),
            marks: Vec::new(),
        };
        let mut record = StringRecord::new();
        loop {
            match reader.read_record(&mut record) {
                Ok(false) => break,
                Ok(true) => table.rows.push(Ok(record.clone())),
                Err(error) => table.rows.push(Err(bad_row(source, error)?)),
            }
        }
        let columns = (0..table.header.len()).map(|at| table.column(at));
        table.marks = decimal_marks(columns, separator);
        Ok(table)
    }

    /// Returns the cells of a column in the good rows.
    pub(super) fn column(&self, at: usize) -> impl Iterator<Item = &str> {
        let rows = self.rows.iter().flatten();
        rows.map(move |row| row.get(at).unwrap_or_default())
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns the names in the first line of a text.
pub(super) fn header_of(head: &[u8]) -> Option<Vec<String>> {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    let mut reader = reader(separator(complete_lines(head)), head);
    let names = reader.headers().ok()?;
    Some(names.iter().map(str::to_owned).collect())
}

fn reader<R: Read>(separator: u8, text: R) -> csv::Reader<R> {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(separator).trim(Trim::All);
    builder.from_reader(text)
}

fn complete_lines(head: &[u8]) -> &[u8] {
    let end = head.iter().rposition(|&byte| byte == b'\n');
    end.map_or(head, |end| &head[..=end])
}
