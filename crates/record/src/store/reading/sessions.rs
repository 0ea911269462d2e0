//! Finds sessions by name or id, and returns the progress of one.

use rusqlite::Connection;

use super::super::{StoreCatalogue, StoreError, StoreResult, query};
use super::read;
use super::rows::{self, INSTANCE_COLUMNS, SESSION_COLUMNS};
use lapwing_model::{Id, Instance, InstanceEnd, InstanceOutcome, Run, Session};

/// A session and how far it has come.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionState {
    /// The session.
    pub session: Session,
    /// Its runs, in the order in which they were recorded.
    pub runs: Vec<Run>,
    /// Its instances, in the order in which they were recorded.
    pub instances: Vec<InstanceState>,
}

/// An instance and how far it has come.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceState {
    /// The instance.
    pub instance: Instance,
    /// How it ended, if recorded.
    pub end: Option<InstanceEnd>,
    /// How many iterations were recorded.
    pub iterations: u64,
}

impl InstanceState {
    /// Returns whether it was cut short, so that it is no result.
    pub fn is_lost(&self) -> bool {
        let end = self.end.as_ref();
        end.is_some_and(|end| end.outcome == InstanceOutcome::Lost)
    }
}

impl StoreCatalogue<'_> {
    /// Returns the session of that name (the latest, if several have it), id, or
    /// beginning of an id.
    ///
    /// # Errors
    /// When no session or several sessions fit, or the store cannot be read.
    pub fn session(&self, text: &str) -> StoreResult<Session> {
        self.store.read(|connection| find_session(connection, text))
    }

    /// Returns the session that started last, if there is any.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn latest_session(&self) -> StoreResult<Option<Session>> {
        let latest = "?1 = '' ORDER BY started DESC, key DESC LIMIT 1";
        let found = self
            .store
            .read(|connection| sessions_where(connection, latest, ""))?;
        Ok(found.into_iter().next())
    }

    /// Returns how far a session has come: what `lapwing run --resume` goes by.
    ///
    /// # Errors
    /// When there is no such session, or the store cannot be read.
    pub fn session_state(&self, id: Id) -> StoreResult<SessionState> {
        self.store.read(|snapshot| read_session_state(snapshot, id))
    }
}

fn find_session(connection: &Connection, text: &str) -> StoreResult<Session> {
    let named = sessions_where(
        connection,
        "name = ?1 ORDER BY started DESC, key DESC",
        text,
    )?;
    if let Some(session) = named.into_iter().next() {
        return Ok(session);
    }
    // As a side of a comparison is written.
    if let Some(name) = text.strip_prefix("session:") {
        return find_session(connection, name);
    }
    let condition = "?1 <> '' AND substr(id, 1, length(?1)) = ?1 ORDER BY key";
    match &sessions_where(connection, condition, text)?[..] {
        [] => {
            let names = session_names(connection)?;
            Err(StoreError::no_match("session", text, names))
        }
        [only] => Ok(only.clone()),
        several => {
            let candidates = several.iter().map(|session| match &session.name {
                Some(name) => format!("{} (`{name}`)", session.id),
                None => session.id.to_string(),
            });
            Err(StoreError::Ambiguous {
                what: "session",
                text: text.to_owned(),
                candidates: candidates.collect(),
            })
        }
    }
}

fn session_names(connection: &Connection) -> StoreResult<Vec<String>> {
    let sql = "SELECT DISTINCT name FROM session WHERE name IS NOT NULL";
    query::column(connection, sql, [])
}

fn sessions_where(
    connection: &Connection,
    condition: &str,
    text: &str,
) -> StoreResult<Vec<Session>> {
    let sql = format!("SELECT {SESSION_COLUMNS} FROM session WHERE {condition}");
    query::rows(connection, &sql, [text], |row| {
        Ok(rows::read_session(row)?.1)
    })
}

fn read_session_state(snapshot: &Connection, id: Id) -> StoreResult<SessionState> {
    let Some((key, session)) = read::session(snapshot, id)? else {
        return Err(StoreError::no_match("session", &id.to_string(), Vec::new()));
    };
    let runs = read::runs(snapshot, "run.session = ?1", [key])?.into_iter();
    let sql = format!(
        "SELECT {INSTANCE_COLUMNS}, (SELECT coalesce(sum(count), 0) FROM chunk \
             WHERE chunk.instance = instance.key) \
             FROM instance JOIN run ON run.key = instance.run \
             JOIN benchmark ON benchmark.key = instance.benchmark \
             WHERE run.session = ?1 ORDER BY instance.key"
    );
    let instances = query::rows(snapshot, &sql, [key], |row| {
        let read = rows::read_instance(row)?;
        Ok(InstanceState {
            instance: read.instance,
            end: read.end,
            iterations: row.get::<_, i64>(24)?.cast_unsigned(),
        })
    })?;
    Ok(SessionState {
        session,
        runs: runs.map(|(_, run, _)| run).collect(),
        instances,
    })
}
