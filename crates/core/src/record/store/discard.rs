//! Takes back a store that was made for nothing.

use std::fs;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::{Store, StoreError};

impl Store {
    /// Removes the file again where it holds nothing and nobody else has it open. Returns
    /// whether it is gone.
    pub fn remove_if_empty(mut self) -> bool {
        if self.read_only {
            return false;
        }
        let alone_and_empty = lock_empty(&mut self.connection).unwrap_or(false);
        alone_and_empty && fs::remove_file(&self.path).is_ok()
    }
}

/// Takes the file for oneself, if that is possible at once, and says whether it is empty. One that is
/// not is left as it is: in WAL mode, above all.
fn lock_empty(connection: &mut Connection) -> Result<bool, StoreError> {
    if !is_empty(connection)? {
        return Ok(false);
    }
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    // Nobody else has the file open where it can leave WAL; the files beside it go too.
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get(0))?;
    if journal != "delete" {
        return Ok(false);
    }
    // In this mode the lock outlasts the transaction.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    is_empty(&transaction)
}

fn is_empty(connection: &Connection) -> Result<bool, StoreError> {
    Ok(connection.query_row(
        "SELECT NOT EXISTS (SELECT 1 FROM session) AND NOT EXISTS (SELECT 1 FROM annotation)",
        [],
        |row| row.get(0),
    )?)
}
