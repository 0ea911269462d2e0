//! Reads the tables of an SQLite database that another program wrote.

use std::collections::BTreeMap;
use std::io::Read;

use rusqlite::config::DbConfig;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, MAIN_DB};
use sha2::{Digest, Sha256};

use crate::shared::detect::is_sqlite;
use crate::shared::intake::hex;
use crate::{ImportError, Source};

/// Bytes of the header.
const HEADER: usize = 100;

/// The positions of the two bytes of the header that say how the file is written; 2 is the write-ahead log.
const FILE_FORMATS: [usize; 2] = [18, 19];

/// A row: what is not NULL, by the name of the column in small letters.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct DatabaseRow {
    /// SQLite's number of the row.
    pub(crate) number: u64,
    /// The cells.
    pub(crate) cells: BTreeMap<String, Value>,
}

/// A database in memory.
pub(crate) struct Database {
    name: String,
    connection: Connection,
}

impl Database {
    /// Reads the whole file into memory, so that it need not be a file (it may be compressed,
    /// or standard input) and nothing is written beside it.
    pub(crate) fn open(source: &Source) -> Result<Self, ImportError> {
        let wrong = |reason: String| ImportError::Database {
            name: source.name().to_owned(),
            reason,
        };
        let mut bytes = Vec::with_capacity(source.length_hint());
        source
            .text()?
            .read_to_end(&mut bytes)
            .map_err(|error| source.failed(error))?;
        if !is_sqlite(&bytes) || bytes.len() < HEADER {
            return Err(wrong("it is no SQLite database".to_owned()));
        }
        if let Some(whole) = whole_length(&bytes).filter(|&whole| whole > bytes.len()) {
            let length = bytes.len();
            return Err(wrong(format!("it is cut off: {length} of {whole} bytes")));
        }
        if let Some(log) = unfinished_log(source) {
            return Err(wrong(format!(
                "{log} holds changes that are not in it yet, because a program has it open or was killed"
            )));
        }
        for place in FILE_FORMATS {
            // In memory there is no log, and what was in one is in the file by now.
            bytes[place] = 1;
        }
        let open = || -> Result<Connection, rusqlite::Error> {
            let mut connection = Connection::open_in_memory()?;
            // What a foreign schema says is not run.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), true)?;
            Ok(connection)
        };
        Ok(Self {
            name: source.name().to_owned(),
            connection: open().map_err(|error| wrong(reason(&error)))?,
        })
    }

    /// Returns the rows of a table; nothing where there is no such table.
    pub(crate) fn rows(&self, table: &str) -> Result<Option<Vec<DatabaseRow>>, ImportError> {
        self.read(table).map_err(|error| ImportError::Database {
            name: self.name.clone(),
            reason: reason(&error),
        })
    }

    fn read(&self, table: &str) -> Result<Option<Vec<DatabaseRow>>, rusqlite::Error> {
        let known: i64 = self.connection.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1",
            [table],
            |row| row.get(0),
        )?;
        if known == 0 {
            return Ok(None);
        }
        // Asked for one by one: names that are no UTF-8 are an error here, and a panic of the
        // library where it says by itself what a statement gives.
        let mut columns = self
            .connection
            .prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names: Vec<String> = columns
            .query_map([table], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let quoted: Vec<String> = names
            .iter()
            .map(|name| format!("\"{}\"", name.replace('"', "\"\"")))
            .collect();
        // The order on disk: it says nothing, and needs no sorting by SQLite.
        let mut statement = self.connection.prepare(&format!(
            "SELECT rowid, {} FROM \"{table}\"",
            quoted.join(", ")
        ))?;
        let mut found = statement.query([])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let mut cells = BTreeMap::new();
            for (at, name) in names.iter().enumerate() {
                if let Some(value) = cell(row.get_ref(at + 1)?) {
                    cells.insert(name.to_ascii_lowercase(), value);
                }
            }
            rows.push(DatabaseRow {
                number: row.get::<_, i64>(0)?.unsigned_abs(),
                cells,
            });
        }
        Ok(Some(rows))
    }
}

impl DatabaseRow {
    /// Returns a digest of all cells but `id`, which merging gives anew. Columns without a value
    /// say nothing, so that a row is the same in databases of different ages.
    pub(crate) fn content(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for (column, cell) in self.cells.iter().filter(|(column, _)| *column != "id") {
            let text = identity(cell);
            for part in [column.as_bytes(), text.as_bytes()] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        hash.finalize().into()
    }

    /// Takes a text that is not empty; whole numbers are taken as they are written.
    pub(crate) fn take_text(&mut self, column: &str) -> Result<Option<String>, String> {
        match self.cells.remove(column) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(Value::Integer(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(format!("`{column}` is {}, expected text", shown(&other))),
        }
    }

    /// Takes a number.
    pub(crate) fn take_number(&mut self, column: &str) -> Result<Option<f64>, String> {
        match self.cells.remove(column) {
            None => Ok(None),
            Some(Value::Real(number)) => Ok(Some(number)),
            #[expect(
                clippy::cast_precision_loss,
                reason = "bytes and seconds are far below 2^53"
            )]
            Some(Value::Integer(number)) => Ok(Some(number as f64)),
            Some(other) => Err(format!(
                "`{column}` is {}, expected a number",
                shown(&other)
            )),
        }
    }

    /// Takes a cell as JSON.
    pub(crate) fn take_json(&mut self, column: &str) -> Result<Option<serde_json::Value>, String> {
        self.cells
            .remove(column)
            .map(|value| json(column, &value))
            .transpose()
    }
}

/// Returns what stands in a cell; text that is no UTF-8 counts as bytes.
fn cell(value: ValueRef<'_>) -> Option<Value> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(Value::Integer(number)),
        ValueRef::Real(number) => Some(Value::Real(number)),
        ValueRef::Text(bytes) => Some(match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_other_encoding) => Value::Blob(bytes.to_owned()),
        }),
        ValueRef::Blob(bytes) => Some(Value::Blob(bytes.to_owned())),
    }
}

/// Returns a cell as JSON; bytes have no such form.
pub(crate) fn json(column: &str, value: &Value) -> Result<serde_json::Value, String> {
    match value {
        Value::Null => Ok(serde_json::Value::Null),
        Value::Integer(number) => Ok((*number).into()),
        Value::Real(number) => serde_json::Number::from_f64(*number)
            .map(serde_json::Value::Number)
            .ok_or_else(|| format!("`{column}` is {number}, expected a finite number")),
        Value::Text(text) => Ok(text.as_str().into()),
        Value::Blob(bytes) => Err(format!(
            "`{column}` is {} bytes, expected text or a number",
            bytes.len()
        )),
    }
}

/// Returns a text that is another one for every other cell, for ever.
pub(crate) fn identity(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => format!("i{number}"),
        Value::Real(number) => format!("r{:016x}", number.to_bits()),
        Value::Text(text) => format!("t{text}"),
        Value::Blob(bytes) => format!("b{}", hex(bytes)),
    }
}

/// Returns a cell for an error.
pub(crate) fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) if text.chars().count() > LONGEST => {
            format!("\"{}…\"", text.chars().take(LONGEST).collect::<String>())
        }
        Value::Text(text) => format!("\"{text}\""),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

/// Returns how long the file should be, where its header says so reliably.
fn whole_length(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize| -> Option<u32> {
        Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    let page = match u16::from_be_bytes([bytes[16], bytes[17]]) {
        1 => 65_536,
        size => usize::from(size),
    };
    // Programs from before 2010 leave the length as it is; then these two differ.
    if number(24)? != number(92)? {
        return None;
    }
    page.checked_mul(usize::try_from(number(28)?).ok()?)
}

/// Returns the log beside a file that has something in it.
fn unfinished_log(source: &Source) -> Option<String> {
    let path = source.path()?;
    ["-wal", "-journal"].into_iter().find_map(|ending| {
        let mut log = path.to_owned().into_os_string();
        log.push(ending);
        let length = std::fs::metadata(&log).ok()?.len();
        (length > 0).then(|| std::path::Path::new(&log).display().to_string())
    })
}

fn reason(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::Utf8Error(..) => {
            "the name of a column is no UTF-8 text".to_owned()
        }
        other => other.to_string(),
    }
}
