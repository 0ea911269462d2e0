//! Saves what can be read of a damaged store.
//!
//! The rows of every page that can be read are put into a store of their own, without SQLite's help, which
//! gives up at the first bad page. What refers to a lost row gets a stand-in, and what has changed is left
//! out. Then the records go into the new store as those of any other do.

mod pages;
mod parents;
mod salvage;

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use self::pages::PageFile;
use super::super::{AppendCounts, Store, StoreError, StoreResult};
use super::check::damaged_rows;
use crate::{Filter, Refusals};

/// What a rescue saved, and what is lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RescueReport {
    /// The records that were saved.
    pub saved: AppendCounts,
    /// Pages of the file that cannot be read.
    pub unreadable_pages: u64,
    /// Records that are lost, as far as something still tells of them.
    pub lost_records: u64,
    /// What is lost, by instance, benchmark and session.
    pub lost: Vec<String>,
}

impl RescueReport {
    fn lose(&mut self, records: u64, what: String) {
        self.lost_records += records;
        self.lost.push(what);
    }
}

/// Saves what can be read of the store at `damaged`, which it does not change, into a new one at `new`.
/// Needs room for two copies in the folder `scratch`.
///
/// # Errors
/// When there is no file, `new` exists, or one of the folders cannot be written to.
pub fn rescue(damaged: &Path, new: &Path, scratch: &Path) -> StoreResult<RescueReport> {
    let cannot = |source| StoreError::Unreadable {
        path: damaged.to_owned(),
        source,
    };
    let copy = scratch.join("copy.db");
    crate::files::open(damaged).map_err(cannot)?;
    fs::copy(damaged, &copy).map_err(cannot)?;
    let mut log = damaged.to_owned().into_os_string();
    log.push("-wal");
    let log = Path::new(&log);
    if crate::files::open(log).is_ok() && fs::copy(log, scratch.join("copy.db-wal")).is_ok() {
        // What is not yet in the file itself; where the header is lost, it is lost, too.
        let _lost: rusqlite::Result<()> = Connection::open(&copy)
            .and_then(|it| it.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_row| Ok(())));
    }
    let file = PageFile::open(&copy).map_err(cannot)?;
    let between = Store::open(&scratch.join("between.db"))?;
    let mut report = RescueReport::default();
    between.in_one_go(|connection| {
        report.unreadable_pages = salvage::salvage(&file, connection)?;
        parents::mend(connection, &mut report)
    })?;
    let mut store = Store::open(new)?;
    let mut refused = Refusals::default();
    report.saved = store.write(|writer| {
        between.scan(&Filter::default(), |record| match writer.put(&record) {
            Err(why) if why.is_about_record() => {
                refused.add("a record", why);
                Ok(())
            }
            done => done,
        })?;
        writer.settle()
    })?;
    report.lost_records += refused.count;
    report.lost.extend(refused.first);
    Ok(report)
}

impl Store {
    /// Changes tables as they are, without the rules that records keep.
    fn in_one_go(&self, action: impl FnOnce(&Connection) -> StoreResult<()>) -> StoreResult<()> {
        let connection = &self.connection;
        let done = || {
            connection.pragma_update(None, "foreign_keys", false)?;
            connection.pragma_update(None, "synchronous", "off")?;
            connection.execute_batch("BEGIN")?;
            action(connection)?;
            Ok(connection.execute_batch("COMMIT")?)
        };
        done().map_err(|error: StoreError| error.at(&self.path))
    }
}

/// Deletes the rows with values that are not what they were.
fn delete_damaged(connection: &Connection, report: &mut RescueReport) -> StoreResult<()> {
    for row in damaged_rows(connection)? {
        report.lose(row.records, row.describe(connection)?);
        connection.execute_batch(&row.deletion)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
