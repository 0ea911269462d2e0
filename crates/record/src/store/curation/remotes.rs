//! The known shared histories (`record::sharing`).

use rusqlite::{Connection, Params, params};

use super::super::reading::extent::{SessionExtent, UnsharedSession, unshared_sessions};
use super::super::{Store, StoreError, StoreResult, Writer, query};
use lapwing_model::Id;

/// A shared history that the store knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownRemote {
    /// Its key within the store.
    pub(crate) key: i64,
    /// Where it was seen to refuse a second creation.
    pub(crate) probed: Option<String>,
    /// The number of its segments that were pulled or pushed, without gaps.
    pub(crate) segments: u32,
}

/// Shared histories that the store knows, and what they lack ([`Store::sharing`]).
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreSharing<'s> {
    pub(crate) store: &'s Store,
}

impl StoreSharing<'_> {
    /// Returns the id of the shared history that was last at an address.
    pub(crate) fn remote_at(&self, address: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT id FROM remote_address \
                     JOIN remote ON remote.key = remote_address.remote WHERE address = ?1";
        self.store
            .read(|connection| query::first(connection, sql, [address], |row| Ok(row.get(0)?)))
    }

    /// Returns what is known of a shared history.
    pub(crate) fn remote(&self, id: &str) -> StoreResult<Option<KnownRemote>> {
        self.store.read(|connection| known(connection, id))
    }

    /// Returns how many segments of a shared history are known.
    pub(crate) fn segments_of(&self, remote: i64) -> StoreResult<u32> {
        let sql = "SELECT coalesce(max(number), 0) FROM remote_segment WHERE remote = ?1";
        self.store
            .read(|connection| query::value(connection, sql, [remote]))
    }

    /// Returns whether a segment of that digest is known to be in a shared history.
    pub(crate) fn has_segment(&self, remote: i64, sha256: &str) -> StoreResult<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM remote_segment WHERE remote = ?1 AND sha256 = ?2)";
        self.store
            .read(|connection| query::value(connection, sql, params![remote, sha256]))
    }

    /// Returns the digest of a segment, if it is known.
    pub(crate) fn segment_digest(&self, remote: i64, number: u32) -> StoreResult<Option<String>> {
        self.store
            .read(|connection| digest(connection, remote, number))
    }
}

impl Writer<'_> {
    /// Remembers where a shared history is, and returns what is known of it.
    pub(crate) fn remember_remote(&mut self, id: &str, address: &str) -> StoreResult<KnownRemote> {
        self.execute(
            "INSERT INTO remote (id) VALUES (?1) ON CONFLICT DO NOTHING",
            [id],
        )?;
        self.execute(
            "INSERT INTO remote_address (address, remote) SELECT ?2, key FROM remote WHERE id = ?1 \
             ON CONFLICT (address) DO UPDATE SET remote = excluded.remote",
            [id, address],
        )?;
        self.at_path(|connection| {
            known(connection, id)?
                .ok_or_else(|| StoreError::damaged("a shared history just noted has gone"))
        })
    }

    /// Forgets the contents of a shared history: all of it is pulled again, and missing records
    /// are pushed again. No measurement is changed.
    pub(crate) fn forget_shared(&mut self, remote: i64) -> StoreResult<()> {
        for table in ["remote_segment", "remote_session", "remote_annotation"] {
            self.execute(&format!("DELETE FROM {table} WHERE remote = ?1"), [remote])?;
        }
        Ok(())
    }

    /// Remembers that a second creation was refused at an address.
    pub(crate) fn remember_probe(&mut self, remote: i64, address: &str) -> StoreResult<()> {
        let sql = "UPDATE remote SET probed = ?2 WHERE key = ?1";
        self.execute(sql, params![remote, address]).map(drop)
    }

    /// Returns the digest of a segment, if it is known.
    pub(crate) fn segment_digest(
        &mut self,
        remote: i64,
        number: u32,
    ) -> StoreResult<Option<String>> {
        self.at_path(|connection| digest(connection, remote, number))
    }

    /// Remembers that everything of a segment is in the store.
    pub(crate) fn remember_segment(
        &mut self,
        remote: i64,
        number: u32,
        sha256: &str,
        bytes: u64,
    ) -> StoreResult<()> {
        let sql = "INSERT INTO remote_segment (remote, number, sha256, bytes) \
                   VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        self.execute(sql, params![remote, number, sha256, bytes.cast_signed()])
            .map(drop)
    }

    /// Remembers that a segment was rewritten.
    pub(crate) fn replace_segment(
        &mut self,
        remote: i64,
        number: u32,
        sha256: &str,
        bytes: u64,
    ) -> StoreResult<()> {
        let sql =
            "UPDATE remote_segment SET sha256 = ?3, bytes = ?4 WHERE remote = ?1 AND number = ?2";
        self.execute(sql, params![remote, number, sha256, bytes.cast_signed()])
            .map(drop)
    }

    /// Returns how much there was of a session when all of it was in a shared history.
    pub(crate) fn shared_extent(
        &mut self,
        remote: i64,
        session: Id,
    ) -> StoreResult<Option<SessionExtent>> {
        self.at_path(|connection| {
            let sql = "SELECT extent FROM remote_session WHERE remote = ?1 AND session = ?2";
            query::first(
                connection,
                sql,
                params![remote, session.to_string()],
                |row| row.get::<_, String>(0)?.parse(),
            )
        })
    }

    /// Remembers that all of a session, as far as `extent` goes, is in a shared history.
    pub(crate) fn mark_session(
        &mut self,
        remote: i64,
        session: Id,
        extent: &SessionExtent,
    ) -> StoreResult<()> {
        let sql = "INSERT INTO remote_session (remote, session, extent) VALUES (?1, ?2, ?3) \
                   ON CONFLICT DO UPDATE SET extent = excluded.extent";
        let parameters = params![remote, session.to_string(), extent.to_string()];
        self.execute(sql, parameters).map(drop)
    }

    /// Remembers that an annotation is in a shared history.
    pub(crate) fn mark_annotation(&mut self, remote: i64, annotation: Id) -> StoreResult<()> {
        let sql = "INSERT INTO remote_annotation (remote, annotation) VALUES (?1, ?2) \
                   ON CONFLICT DO NOTHING";
        self.execute(sql, params![remote, annotation.to_string()])
            .map(drop)
    }

    /// Returns whether an annotation is known to be in a shared history.
    pub(crate) fn annotation_is_shared(
        &mut self,
        remote: i64,
        annotation: Id,
    ) -> StoreResult<bool> {
        let sql = "SELECT EXISTS \
                   (SELECT 1 FROM remote_annotation WHERE remote = ?1 AND annotation = ?2)";
        let parameters = params![remote, annotation.to_string()];
        self.at_path(|connection| query::value(connection, sql, parameters))
    }

    /// Returns the sessions of which a shared history lacks something, and the number of
    /// annotations that it lacks.
    pub(crate) fn unshared(&mut self, remote: i64) -> StoreResult<(Vec<UnsharedSession>, u64)> {
        self.settle()?;
        self.at_path(|connection| {
            let sql = "SELECT count(*) FROM annotation WHERE id NOT IN \
                       (SELECT annotation FROM remote_annotation WHERE remote = ?1)";
            let annotations: i64 = query::value(connection, sql, [remote])?;
            let sessions = unshared_sessions(connection, remote)?;
            Ok((sessions, annotations.cast_unsigned()))
        })
    }

    pub(crate) fn at_path<T>(
        &self,
        action: impl FnOnce(&Connection) -> StoreResult<T>,
    ) -> StoreResult<T> {
        action(self.connection).map_err(|error| error.at(self.path))
    }

    pub(crate) fn execute(&self, sql: &str, parameters: impl Params) -> StoreResult<usize> {
        self.at_path(|connection| query::execute(connection, sql, parameters))
    }
}

/// Forgets of sessions that they are in shared histories: they are about to lose something, and
/// could later seem to be what they were. `sessions` is a query that gives their keys.
pub(crate) fn forget_extents(connection: &Connection, sessions: &str) -> StoreResult<()> {
    connection.execute_batch(&format!(
        "DELETE FROM remote_session WHERE session IN \
         (SELECT id FROM session WHERE key IN ({sessions}));"
    ))?;
    Ok(())
}

fn known(connection: &Connection, id: &str) -> StoreResult<Option<KnownRemote>> {
    let sql = "SELECT key, probed, (SELECT coalesce(max(number), 0) FROM remote_segment \
               WHERE remote = remote.key) FROM remote WHERE id = ?1";
    query::first(connection, sql, [id], |row| {
        Ok(KnownRemote {
            key: row.get(0)?,
            probed: row.get(1)?,
            segments: row.get(2)?,
        })
    })
}

fn digest(connection: &Connection, remote: i64, number: u32) -> StoreResult<Option<String>> {
    let sql = "SELECT sha256 FROM remote_segment WHERE remote = ?1 AND number = ?2";
    query::first(connection, sql, params![remote, number], |row| {
        Ok(row.get(0)?)
    })
}
