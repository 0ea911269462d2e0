//! Finds sessions by name or id, and returns the progress of one.

use rusqlite::{Connection, OptionalExtension};

use super::super::{StoreCatalogue, StoreError};
use super::rows::{self, INSTANCE_COLUMNS, RUN_COLUMNS, SESSION_COLUMNS};
use lapwing_model::{Id, Instance, InstanceEnd, Run, Session};

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

impl StoreCatalogue<'_> {
    /// Returns the session of that name (the latest, if several have it), id, or
    /// beginning of an id.
    ///
    /// # Errors
    /// When no session or several sessions fit, or the store cannot be read.
    pub fn session(&self, text: &str) -> Result<Session, StoreError> {
        self.store.read(|connection| find_session(connection, text))
    }

    /// Returns the session that started last, if there is any.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn latest_session(&self) -> Result<Option<Session>, StoreError> {
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
    pub fn session_state(&self, id: Id) -> Result<SessionState, StoreError> {
        self.store.read(|snapshot| read_session_state(snapshot, id))
    }
}

fn find_session(connection: &Connection, text: &str) -> Result<Session, StoreError> {
    let named = sessions_where(
        connection,
        "name = ?1 ORDER BY started DESC, key DESC",
        text,
    )?;
    if let Some(session) = named.into_iter().next() {
        return Ok(session);
    }
    let mut found = if text.is_empty() {
        Vec::new()
    } else {
        sessions_where(
            connection,
            "substr(id, 1, length(?1)) = ?1 ORDER BY key",
            text,
        )?
    };
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            found.push(last);
            let candidates = found.iter().map(|it| match &it.name {
                Some(name) => format!("{} (`{name}`)", it.id),
                None => it.id.to_string(),
            });
            Err(StoreError::Ambiguous {
                what: "session",
                text: text.to_owned(),
                candidates: candidates.collect(),
            })
        }
        (None, _) => Err(StoreError::no_match(
            "session",
            text,
            session_names(connection)?,
        )),
    }
}

fn session_names(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT DISTINCT name FROM session WHERE name IS NOT NULL")?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn sessions_where(
    connection: &Connection,
    condition: &str,
    text: &str,
) -> Result<Vec<Session>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SESSION_COLUMNS} FROM session WHERE {condition}"
    ))?;
    let mut found = statement.query([text])?;
    let mut sessions = Vec::new();
    while let Some(row) = found.next()? {
        sessions.push(rows::read_session(row)?.1);
    }
    Ok(sessions)
}

fn read_session_state(snapshot: &Connection, id: Id) -> Result<SessionState, StoreError> {
    let Some(session) = super::read::session(snapshot, id)? else {
        return Err(StoreError::no_match("session", &id.to_string(), Vec::new()));
    };
    let key: Option<i64> = snapshot
        .query_row(
            "SELECT key FROM session WHERE id = ?1",
            [id.to_string()],
            |row| row.get(0),
        )
        .optional()?;
    let mut statement = snapshot.prepare_cached(&format!(
        "SELECT {RUN_COLUMNS} FROM run JOIN session ON session.key = run.session \
             WHERE run.session = ?1 ORDER BY run.key"
    ))?;
    let mut found = statement.query([key])?;
    let mut runs = Vec::new();
    while let Some(row) = found.next()? {
        let (run_key, mut run, _) = rows::read_run(row)?;
        run.metrics = rows::read_run_metrics(snapshot, run_key)?;
        runs.push(run);
    }
    let mut statement = snapshot.prepare_cached(&format!(
        "SELECT {INSTANCE_COLUMNS}, (SELECT coalesce(sum(count), 0) FROM chunk \
             WHERE chunk.instance = instance.key) \
             FROM instance JOIN run ON run.key = instance.run \
             JOIN benchmark ON benchmark.key = instance.benchmark \
             WHERE run.session = ?1 ORDER BY instance.key"
    ))?;
    let mut found = statement.query([key])?;
    let mut instances = Vec::new();
    while let Some(row) = found.next()? {
        let read = rows::read_instance(row)?;
        instances.push(InstanceState {
            instance: read.instance,
            end: read.end,
            iterations: row.get::<_, i64>(24)?.cast_unsigned(),
        });
    }
    Ok(SessionState {
        session,
        runs,
        instances,
    })
}
