//! Opens a store file: makes it, checks it, brings it up to date.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::migrate::{migrate, newest_version, refuse_other_schema};
use super::place::{ignore_for_git, refuse_missing, refuse_other_files};
use super::writing::checksum;
use super::writing::keys::KeyCache;
use super::{Store, StoreError, StoreResult};
use crate::files;
use crate::private::RecordCleaner;

/// "LAPW": tells our files from other programs' SQLite files.
const APPLICATION_ID: i32 = 0x4C41_5057;

/// How long to wait for other writers.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// How long to sleep between two attempts where SQLite itself does not wait.
const PAUSE: Duration = Duration::from_millis(20);

impl Store {
    /// Opens the store at `path`, making it and its folder where there is none,
    /// and brings an older one up to date. Several processes may do so at once.
    ///
    /// # Errors
    /// When `path` cannot be a store of ours, or cannot be written to.
    pub fn open(path: &Path) -> StoreResult<Self> {
        refuse_other_files(path)?;
        let folder = folder_of(path);
        if !folder.is_dir() {
            files::create_folder(folder).map_err(|source| StoreError::Folder {
                path: folder.to_owned(),
                source,
            })?;
            ignore_for_git(folder);
        }
        if !path.exists() {
            // SQLite gives the files beside it the same permissions. If this fails, SQLite says why.
            let _unmade: io::Result<File> = files::create_new(path);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = connect(path, flags)?;
        let store = Self::new(path, connection, false)?;
        store.bring_up_to_date().map_err(|error| error.at(path))?;
        store.settle()
    }

    /// Opens the store at `path` if there is one: for writing where that is allowed,
    /// else for reading.
    ///
    /// # Errors
    /// When there is none, or it is no store of ours.
    pub fn open_existing(path: &Path) -> StoreResult<Self> {
        refuse_other_files(path)?;
        refuse_missing(path)?;
        if !writable(path) {
            return Self::open_read_only(path);
        }
        Self::open(path)
    }

    /// Opens the store at `path` for reading only.
    ///
    /// # Errors
    /// When there is none, it is no store of ours, or it is of another version.
    pub fn open_read_only(path: &Path) -> StoreResult<Self> {
        refuse_other_files(path)?;
        refuse_missing(path)?;
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // In a folder that cannot be written to, SQLite cannot share a WAL file; since
        // no other process can write there either, the file is complete.
        let connection = match probe(&connection) {
            Err(error)
                if matches!(
                    error.sqlite_error_code(),
                    Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
                ) =>
            {
                connect_immutable(path)?
            }
            Ok(()) | Err(_) => connection,
        };
        let store = Self::new(path, connection, true)?;
        match store.known_version().map_err(|error| error.at(path))? {
            None => Err(StoreError::Missing(path.to_owned())),
            Some(found) if found < newest_version() => Err(StoreError::Older {
                path: path.to_owned(),
                found,
                known: newest_version(),
            }),
            Some(_) => store.settle(),
        }
    }

    /// Opens a read-only copy of a store ([`StoreUpkeep::copy_to`](super::StoreUpkeep::copy_to)), from any
    /// number of machines: without locks, which network file systems may lack.
    ///
    /// # Errors
    /// When there is none, or it is no store of ours.
    pub fn open_copy(path: &Path) -> StoreResult<Self> {
        refuse_other_files(path)?;
        refuse_missing(path)?;
        Self::new(path, connect_immutable(path)?, true)?.settle()
    }

    fn new(path: &Path, connection: Connection, read_only: bool) -> StoreResult<Self> {
        // Otherwise SQLite parses a statement anew whenever it gets other parameters, because
        // they might call for another plan: most of the time of reading many instances.
        let stable_plans = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
        connection
            .busy_timeout(PATIENCE)
            .and_then(|()| connection.set_db_config(stable_plans, true))
            .and_then(|_| distrust(&connection))
            .and_then(|()| checksum::lend(&connection))
            .map_err(|error| StoreError::from(error).at(path))?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            path: path.to_owned(),
            connection,
            read_only,
            file: None,
            cache: KeyCache::default(),
            data_version: None,
            cleaner: RecordCleaner::default(),
        })
    }

    /// Makes, checks or migrates the file.
    fn bring_up_to_date(&self) -> StoreResult<()> {
        let is_newest = || Ok(self.known_version()? == Some(newest_version()));
        if patiently(is_newest)? {
            return Ok(());
        }
        // One process at a time makes or migrates; the lock of the folder leaves no file
        // behind. Where the file system has no locks, the retries below have to do.
        let folder = File::open(folder_of(&self.path)).ok();
        if let Some(folder) = &folder {
            let _unsupported: io::Result<()> = folder.lock();
        }
        patiently(|| {
            if is_newest()? {
                return Ok(());
            }
            // Larger pages than SQLite's default: rows are small and come in order.
            self.connection.pragma_update(None, "page_size", 32768)?;
            self.connection.pragma_update(None, "journal_mode", "wal")?;
            let mut own = connect(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            own.busy_timeout(PATIENCE)?;
            distrust(&own)?;
            migrate(&mut own)?;
            own.pragma_update(None, "application_id", APPLICATION_ID)?;
            Ok(())
        })
    }

    /// Returns the version of the store, `None` if it is empty.
    fn known_version(&self) -> StoreResult<Option<u32>> {
        match self.state()? {
            SchemaState::Empty => Ok(None),
            SchemaState::Foreign => Err(StoreError::NotAStore {
                path: self.path.clone(),
                why: "it is an SQLite database of another program",
            }),
            SchemaState::Version(found) if found > newest_version() => Err(StoreError::Newer {
                path: self.path.clone(),
                found,
                known: newest_version(),
            }),
            SchemaState::Version(found) => {
                refuse_other_schema(&self.connection, found)?;
                Ok(Some(found))
            }
        }
    }

    /// Returns what the file is.
    pub(super) fn state(&self) -> StoreResult<SchemaState> {
        // One snapshot for all questions: others may be making the store right now.
        let snapshot = self.connection.unchecked_transaction()?;
        let application: i32 =
            snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
        // A half-made store has its history table but no version; ours all the same.
        // A view may have these names, and no end.
        let sql = "SELECT count(*) FILTER (WHERE type = 'table'), \
                   count(*) FILTER (WHERE type = 'table' AND name = 'refinery_schema_history'), \
                   count(*) FILTER (WHERE name IN ('session', 'instance')) FROM sqlite_schema";
        let (tables, history, ours): (i64, i64, i64) =
            snapshot.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        if application != 0 && application != APPLICATION_ID {
            return Ok(SchemaState::Foreign);
        }
        if tables == 0 {
            return Ok(SchemaState::Empty);
        }
        if history == 0 {
            return Ok(SchemaState::Foreign);
        }
        let sql = "SELECT max(version) FROM refinery_schema_history";
        let version: Option<u32> = snapshot.query_row(sql, [], |row| row.get(0))?;
        Ok(match version {
            None if ours == 0 && tables == 1 => SchemaState::Empty,
            Some(version) if ours == 2 => SchemaState::Version(version),
            None | Some(_) => SchemaState::Foreign,
        })
    }

    /// Removes the file if it is empty and not open elsewhere. Returns whether it was removed.
    pub fn remove_if_empty(mut self) -> bool {
        if self.read_only {
            return false;
        }
        let alone_and_empty = lock_empty(&mut self.connection).unwrap_or(false);
        alone_and_empty && fs::remove_file(&self.path).is_ok()
    }

    /// Configures the connection, and remembers the identity of the file.
    fn settle(mut self) -> StoreResult<Self> {
        let connection = &self.connection;
        let settled = (|| {
            if !self.read_only {
                connection.pragma_update(None, "synchronous", "normal")?;
                keep_wal(connection)?;
            }
            // Writers look for parents themselves; tests let SQLite look as well, and `lapwing db check` always does.
            connection.pragma_update(None, "foreign_keys", cfg!(debug_assertions))?;
            connection.pragma_update(None, "cache_size", -48_000)?;
            connection.pragma_update(None, "temp_store", "memory")
        })();
        settled.map_err(|error| StoreError::from(error).at(&self.path))?;
        self.file = file_identity(&self.path);
        Ok(self)
    }
}

/// Locks the file exclusively, without waiting. Returns whether it is locked and empty; one with
/// content stays in WAL mode.
fn lock_empty(connection: &mut Connection) -> StoreResult<bool> {
    if !is_empty(connection)? {
        return Ok(false);
    }
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    // Leaving WAL mode needs the only connection; it also removes the files beside the store.
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get(0))?;
    if journal != "delete" {
        return Ok(false);
    }
    // In this mode the lock outlasts the transaction.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    is_empty(&transaction)
}

fn is_empty(connection: &Connection) -> StoreResult<bool> {
    Ok(connection.query_row(
        "SELECT NOT EXISTS (SELECT 1 FROM session) AND NOT EXISTS (SELECT 1 FROM annotation)",
        [],
        |row| row.get(0),
    )?)
}

/// Brings a store back to WAL mode that has left it, as those did that older programs made in an import.
/// Others who have it open may keep that from happening; then it happens the next time.
fn keep_wal(connection: &Connection) -> rusqlite::Result<()> {
    let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    if connection.pragma_query_value(None, "journal_mode", mode)? != "wal" {
        connection.busy_timeout(Duration::ZERO)?;
        let _busy = connection.pragma_update_and_check(None, "journal_mode", "wal", mode);
        connection.busy_timeout(PATIENCE)?;
    }
    Ok(())
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaState {
    /// Nothing yet.
    Empty,
    /// Another program's.
    Foreign,
    /// A store of this version.
    Version(u32),
}

/// Returns device and inode of a file, which stay the same as long as it is the same file.
pub(super) fn file_identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Returns the folder of a store.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> StoreResult<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(|error| cannot_open(path, error))
}

fn connect_immutable(path: &Path) -> StoreResult<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(*byte));
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address.push_str("?immutable=1");
    Connection::open_with_flags(address, flags).map_err(|error| cannot_open(path, error))
}

fn cannot_open(path: &Path, error: rusqlite::Error) -> StoreError {
    let folder = folder_of(path);
    let is_read_only = if path.exists() {
        !writable(path) && File::open(path).is_ok()
    } else {
        folder.exists() && !writable(folder)
    };
    if is_read_only {
        return StoreError::ReadOnly(path.to_owned());
    }
    StoreError::from(error).at(path)
}

/// Lets the file do no more than hold tables: its schema may come from elsewhere.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "cell_size_check", true)
}

fn probe(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_row| Ok(()))
}

/// Returns whether the file system lets us write to `path`.
fn writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Retries while SQLite reports a lock without waiting for it.
fn patiently<T>(mut attempt: impl FnMut() -> StoreResult<T>) -> StoreResult<T> {
    let mut left = PATIENCE;
    loop {
        match attempt() {
            Err(StoreError::Sqlite { source, .. }) if is_busy(&source) && !left.is_zero() => {
                std::thread::sleep(PAUSE);
                left = left.saturating_sub(PAUSE);
            }
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}
