//! The sessions that were opened in this store for measuring: the only ones whose plans are executed.

use rusqlite::Row;

use super::super::reading::rows::{from_json, json_text, parsed};
use super::super::{StoreCatalogue, StoreResult, Writer, query};
use lapwing_model::{Id, Object};

/// A session as it was opened for measuring: what it executes, by whom and where.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedSession {
    /// The session.
    pub session: Id,
    /// The name of the host.
    pub host: String,
    /// The number of the user.
    pub user: u32,
    /// The digest of the path of the store.
    pub store: String,
    /// The attributes of the session, which say what is executed.
    pub attributes: Object,
    /// Shows that all of this was written here, not brought along with the file of the store.
    pub seal: String,
}

impl StoreCatalogue<'_> {
    /// Returns what was opened as a session; `None` if it came from elsewhere.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn opened_session(&self, session: Id) -> StoreResult<Option<OpenedSession>> {
        let sql = "SELECT session, host, user, store, attributes, seal FROM opened_session \
                   WHERE session = ?1";
        let read = |row: &Row<'_>| {
            Ok(OpenedSession {
                session: parsed(row, 0)?,
                host: row.get(1)?,
                user: row.get(2)?,
                store: row.get(3)?,
                attributes: from_json(row, 4)?,
                seal: row.get(5)?,
            })
        };
        self.store
            .read(|connection| query::first(connection, sql, [session.to_string()], read))
    }
}

impl Writer<'_> {
    /// Notes that a session is opened here for measuring.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn mark_opened(&mut self, opened: &OpenedSession) -> StoreResult<()> {
        self.at_path(|connection| {
            let sql = "INSERT OR REPLACE INTO opened_session VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let attributes = json_text(&opened.attributes)?;
            let values = (
                opened.session.to_string(),
                &opened.host,
                opened.user,
                &opened.store,
                attributes,
                &opened.seal,
            );
            query::execute(connection, sql, values)?;
            Ok(())
        })
    }

    /// Forgets a session that was opened and not begun.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn forget_opened(&mut self, session: Id) -> StoreResult<()> {
        self.at_path(|connection| {
            let sql = "DELETE FROM opened_session WHERE session = ?1";
            query::execute(connection, sql, [session.to_string()])?;
            Ok(())
        })
    }
}
