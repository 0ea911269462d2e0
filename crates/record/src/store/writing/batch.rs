//! Rows of one table that are inserted together, which takes SQLite about half as long as one after the other.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::super::{StoreResult, query};

/// Rows that one statement inserts.
const TOGETHER: usize = 64;

/// Rows that are not in their table yet.
#[derive(Debug)]
pub(crate) struct RowBatch<const WIDTH: usize> {
    /// Table and columns.
    into: &'static str,
    rows: Vec<[Value; WIDTH]>,
    /// The statement that inserts `TOGETHER` rows, once it was needed.
    insert: Option<String>,
}

impl<const WIDTH: usize> RowBatch<WIDTH> {
    /// Returns an empty batch for a table; `into` also names its columns.
    pub(crate) fn new(into: &'static str) -> Self {
        Self {
            into,
            rows: Vec::new(),
            insert: None,
        }
    }

    /// Adds a row; writes all when they are enough.
    pub(crate) fn push(&mut self, connection: &Connection, row: [Value; WIDTH]) -> StoreResult<()> {
        self.rows.push(row);
        if self.rows.len() < TOGETHER {
            return Ok(());
        }
        let insert = self.insert.take();
        let insert = insert.unwrap_or_else(|| self.statement(TOGETHER));
        let values = self.rows.iter().flatten();
        query::execute(connection, &insert, params_from_iter(values))?;
        self.insert = Some(insert);
        self.rows.clear();
        Ok(())
    }

    /// Returns the row before that many later ones, unless it was written.
    pub(crate) fn row(&mut self, later: usize) -> Option<&mut [Value; WIDTH]> {
        self.rows.iter_mut().nth_back(later)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the rows that were not written yet.
    pub(crate) fn write(&mut self, connection: &Connection) -> StoreResult<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let insert = self.statement(1);
        for row in &self.rows {
            query::execute(connection, &insert, params_from_iter(row))?;
        }
        self.rows.clear();
        Ok(())
    }

    /// Returns the statement that inserts so many rows.
    ///
    /// An error in the middle of a statement undoes the transaction: to undo the statement alone, SQLite would have
    /// to copy every page before it changes. It would do so as well for a given `INTEGER PRIMARY KEY`.
    fn statement(&self, rows: usize) -> String {
        let row = format!("({})", ["?"; WIDTH].join(", "));
        let rows = vec![row; rows].join(", ");
        format!("INSERT OR ROLLBACK INTO {} VALUES {rows}", self.into)
    }
}

/// Returns a text as a value of a column.
pub(crate) fn text(text: Option<impl Into<String>>) -> Value {
    text.map_or(Value::Null, |text| Value::Text(text.into()))
}
