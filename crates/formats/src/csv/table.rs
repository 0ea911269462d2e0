//! The cells of a file of separated values.

use std::borrow::Cow;
use std::io::Read;

use csv::{ByteRecord, ReaderBuilder, StringRecord, Trim};
use sha2::{Digest, Sha256};

use crate::csv::layout::{missing_header, with_separators};
use crate::shared::reading::marks::{ColumnMark, decimal_marks};
use crate::shared::reading::separator::separator;
use crate::shared::rows::bad_row;
use crate::{BadLine, ImportError, Source};

/// The longest file that is read: the meaning of its columns depends on all of them.
const LONGEST_MIB: u64 = 2048;

/// A file of separated values.
#[derive(Debug)]
pub(super) struct CsvTable {
    /// The names of the columns; empty where the file gives none.
    pub(super) header: Vec<String>,
    /// The rows with as many cells as the header.
    pub(super) rows: Vec<CsvRow>,
    /// The lines that are no such rows.
    pub(super) bad: Vec<BadLine>,
    /// Whether its first line names the columns.
    pub(super) has_header: bool,
    /// Whether only blanks stand between its cells.
    pub(super) is_aligned: bool,
    /// The decimal mark of each column.
    pub(super) marks: Vec<ColumnMark>,
}

/// A row.
#[derive(Debug)]
pub(super) struct CsvRow {
    /// The number of its line, from 1.
    pub(super) line: u64,
    /// Its cells, without blanks around them.
    pub(super) cells: StringRecord,
}

impl CsvTable {
    /// Reads a source; returns its digest too.
    pub(super) fn of(source: &Source) -> Result<(Self, [u8; 32]), ImportError> {
        let mut bytes = Vec::with_capacity(source.length_hint());
        let limit = LONGEST_MIB << 20;
        let text = source.text()?.take(limit + 1).read_to_end(&mut bytes);
        text.map_err(|error| source.failed(error))?;
        if bytes.len() as u64 > limit {
            return Err(ImportError::TooLong {
                name: source.name().to_owned(),
                limit: LONGEST_MIB,
            });
        }
        let table = Self::parse(&bytes, |error| bad_row(source, error))?;
        Ok((table, Sha256::digest(&bytes).into()))
    }

    /// Reads the complete lines at the beginning of a text.
    pub(super) fn of_head(head: &[u8]) -> Option<Self> {
        let end = head.iter().rposition(|&byte| byte == b'\n');
        let complete = end.map_or(head, |end| &head[..=end]);
        let bad = |error: csv::Error| match error.position() {
            Some(at) => Ok(BadLine::new(at.line(), "")),
            None => Err(()),
        };
        Self::parse(complete, bad).ok()
    }

    fn parse<E>(
        bytes: &[u8],
        bad_row: impl Fn(csv::Error) -> Result<BadLine, E>,
    ) -> Result<Self, E> {
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let (skipped, text) = without_remarks(text);
        let is_aligned = !text.trim_ascii_start().starts_with(b"|");
        let separated = with_separators(text);
        let is_aligned = is_aligned && matches!(separated, Cow::Owned(_));
        let text = &*separated;
        let separator = separator(text);
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(text);
        let mut table = Self {
            header: Vec::new(),
            rows: Vec::new(),
            bad: Vec::new(),
            marks: Vec::new(),
            has_header: true,
            is_aligned,
        };
        let mut record = ByteRecord::new();
        let mut first_line = 1;
        loop {
            match reader.read_byte_record(&mut record) {
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => {
                    let bad = bad_row(error)?;
                    table.bad.push(BadLine {
                        line: bad.line + skipped,
                        ..bad
                    });
                    continue;
                }
            }
            let line = record.position().map_or(1, csv::Position::line) + skipped;
            if table.header.is_empty() {
                first_line = line;
            }
            match StringRecord::from_byte_record(record.clone()) {
                Ok(cells) => table.add(line, cells),
                Err(error) => {
                    let at = error.utf8_error().field() + 1;
                    let reason = format!("not UTF-8 text in column {at}");
                    table.bad.push(BadLine::new(line, reason));
                }
            }
        }
        table.name_columns(first_line);
        let columns = (0..table.header.len()).map(|at| table.column(at));
        table.marks = decimal_marks(columns, separator);
        Ok(table)
    }

    /// Names the columns of a table whose first line is a row.
    fn name_columns(&mut self, first_line: u64) {
        if let Some(names) = missing_header(&self.header, &self.rows) {
            let first = std::mem::replace(&mut self.header, names);
            let cells = StringRecord::from(first);
            self.rows.insert(
                0,
                CsvRow {
                    line: first_line,
                    cells,
                },
            );
            self.has_header = false;
        }
    }

    fn add(&mut self, line: u64, cells: StringRecord) {
        if self.header.is_empty() {
            self.header = cells.iter().map(str::to_owned).collect();
        } else if cells.len() == self.header.len() {
            self.rows.push(CsvRow { line, cells });
        } else {
            let (found, expected) = (cells.len(), self.header.len());
            let reason = format!("the row has {found} columns where the first line has {expected}");
            self.bad.push(BadLine::new(line, reason));
        }
    }

    /// Returns the cells of a column.
    pub(super) fn column(&self, at: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row.cell(at))
    }
}

impl CsvRow {
    /// Returns a cell.
    pub(super) fn cell(&self, at: usize) -> &str {
        self.cells.get(at).unwrap_or_default()
    }
}

/// Returns how many lines of remarks (`# …`) stand before the table, and the table.
fn without_remarks(mut text: &[u8]) -> (u64, &[u8]) {
    let mut skipped = 0;
    while text.starts_with(b"#")
        && let Some(end) = text.iter().position(|&byte| byte == b'\n')
    {
        skipped += 1;
        text = &text[end + 1..];
    }
    (skipped, text)
}
