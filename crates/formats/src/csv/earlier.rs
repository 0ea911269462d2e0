//! Recognises a table that was imported before and has grown since, in rows or in columns.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lapwing_model::Session;
use sha2::{Digest, Sha256};

use crate::csv::choices::ColumnChoices;
use crate::csv::columns::Columns;
use crate::csv::role::Role;
use crate::csv::runs::{RowMeaning, RowReader};
use crate::csv::table::{CsvRow, CsvTable};
use crate::shared::intake::{SessionDraft, new_session};
use crate::shared::notes::Notes;
use crate::shared::rows::bad_header;
use crate::shared::sink::Sink;
use crate::{BadLine, ImportError, Source};

/// New columns beside each other that are looked for.
const MOST_NEW: usize = 8;

/// The columns that ids come from: those of the table when it was imported first.
#[derive(Debug)]
pub(super) struct IdentityColumns {
    places: Vec<usize>,
    /// Whether one of them has the dates, so that each run is a session.
    pub(super) is_dated: bool,
    is_versioned: bool,
}

impl IdentityColumns {
    fn of(columns: &Columns, places: Vec<usize>) -> Self {
        let has = |role| columns.of_role(role).any(|it| places.contains(&it.at));
        Self {
            is_dated: has(Role::Date),
            is_versioned: has(Role::Version) || has(Role::Commit),
            places,
        }
    }

    /// Returns the origin of the ids of a session that begins with that row. A file that grows at its end is the same.
    pub(super) fn session(&self, source: &Source, table: &CsvTable, row: &CsvRow) -> [u8; 32] {
        let mut hash = Sha256::new();
        for at in &self.places {
            add(&mut hash, &table.header[*at]);
        }
        self.add_row(&mut hash, row);
        // Two nights may have the same values, if nothing in the file says which it is.
        if !self.is_dated && !self.is_versioned && source.date_in_name().is_none() {
            add(&mut hash, &source.telling_name());
        }
        hash.finalize().into()
    }

    /// Adds a row to a digest of rows.
    pub(super) fn add_row(&self, hash: &mut Sha256, row: &CsvRow) {
        for at in &self.places {
            add(hash, row.cell(*at));
        }
    }

    fn stored(
        &self,
        source: &Source,
        table: &CsvTable,
        row: &CsvRow,
        sink: &Sink<'_, '_>,
    ) -> Result<Option<Session>, ImportError> {
        let draft = SessionDraft {
            identity: Some(self.session(source, table, row)),
            started: self.is_dated.then_some(Timestamp::UNIX_EPOCH),
            ..SessionDraft::default()
        };
        sink.stored_session(new_session(source, &[0; 32], sink, draft).id)
    }
}

fn add(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

/// Rows that are read with one meaning of the columns.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) columns: Columns,
    /// What the columns were taken for when the rows were imported; `None` for new ones.
    pub(super) text: Option<String>,
    /// Their places in the table.
    pub(super) rows: Vec<usize>,
}

/// Returns how the rows are read, and the columns that ids come from. The rows of a session that the store has are read
/// as they were then; what is new is read with the meaning that the columns had last.
pub(super) fn readings(
    source: &Source,
    table: &CsvTable,
    columns: Columns,
    sink: &Sink<'_, '_>,
) -> Result<(Vec<Reading>, IdentityColumns), ImportError> {
    let all = || (0..table.rows.len()).collect();
    let Some((identity, first)) = earlier(source, table, &columns, sink)? else {
        let identity = IdentityColumns::of(&columns, (0..table.header.len()).collect());
        let rows = all();
        let text = None;
        return Ok((
            vec![Reading {
                columns,
                text,
                rows,
            }],
            identity,
        ));
    };
    let text = columns_of(&first);
    refuse_others(&first, &text, &columns)?;
    let fresh = ColumnChoices::of_text(&columns.text(), &table.header);
    let meant = |text: &str, is_new: bool| {
        let mut choices = ColumnChoices::of_text(text, &table.header);
        if is_new {
            choices.add(&fresh);
        } else {
            choices.leave_others(&table.header);
        }
        let found = Columns::of(table, &choices).and_then(Columns::with_clear_dates);
        found.map_err(|reason| bad_header(source, BadLine::new(1, reason)))
    };
    let before = meant(&text, false)?;
    let reader = RowReader::new(RowMeaning {
        table,
        columns: &before,
        identity: &identity,
        benchmark: "",
    });
    let (runs, _bad) = reader.read(&all(), &mut Notes::default());
    let mut stored: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut is_stored = vec![false; table.rows.len()];
    let mut last = text;
    let whole = (!identity.is_dated).then(all);
    let of_runs = runs.iter().map(|run| (run.first, run.rows()));
    let sessions: Vec<(usize, Vec<usize>)> = match whole {
        Some(rows) => runs
            .first()
            .map(|run| (run.first, rows))
            .into_iter()
            .collect(),
        None => of_runs.collect(),
    };
    for (first, rows) in sessions {
        if let Some(session) = identity.stored(source, table, &table.rows[first], sink)? {
            rows.iter().for_each(|at| is_stored[*at] = true);
            last = columns_of(&session);
            stored.entry(last.clone()).or_default().extend(rows);
        }
    }
    let mut readings = Vec::new();
    for (text, rows) in stored {
        let columns = meant(&text, false)?;
        let text = Some(text);
        readings.push(Reading {
            columns,
            text,
            rows,
        });
    }
    let rows: Vec<usize> = all().into_iter().filter(|at| !is_stored[*at]).collect();
    if !rows.is_empty() {
        let columns = meant(&last, true)?;
        readings.push(Reading {
            columns,
            text: None,
            rows,
        });
    }
    Ok((readings, identity))
}

/// Returns the columns that the table had when its first row was imported, and the session of that row.
fn earlier(
    source: &Source,
    table: &CsvTable,
    columns: &Columns,
    sink: &Sink<'_, '_>,
) -> Result<Option<(IdentityColumns, Session)>, ImportError> {
    let every: Vec<usize> = (0..table.header.len()).collect();
    let whole = IdentityColumns::of(columns, every.clone());
    let meaning = RowMeaning {
        table,
        columns,
        identity: &whole,
        benchmark: "",
    };
    let Some(row) = table.rows.iter().find(|row| meaning.has_value(row)) else {
        return Ok(None);
    };
    let most = MOST_NEW.min(every.len().saturating_sub(2));
    let without = (0..=most).flat_map(|number| {
        let starts = 0..=(every.len() - number);
        starts
            .take(if number == 0 { 1 } else { usize::MAX })
            .map(move |start| (start, number))
    });
    for (start, number) in without {
        let places = [&every[..start], &every[start + number..]].concat();
        let identity = IdentityColumns::of(columns, places);
        if let Some(session) = identity.stored(source, table, row, sink)? {
            return Ok(Some((identity, session)));
        }
    }
    Ok(None)
}

/// Returns what the columns of a stored session were taken for.
fn columns_of(session: &Session) -> String {
    let source = session.attributes.get("source");
    let text = source.and_then(|it| it.get("columns")?.as_str());
    text.unwrap_or_default().to_owned()
}

/// Returns an error if `--columns` gives a column another meaning than it has in the store.
fn refuse_others(session: &Session, text: &str, columns: &Columns) -> Result<(), ImportError> {
    let before = ColumnChoices::of_text(text, &columns.titles());
    let differs = columns.list.iter().any(|column| {
        let known = before.iter().find(|(_, title)| *title == column.title);
        column.is_given && known.is_some_and(|(role, _)| Role::named(role) != Some(column.role))
    });
    if !differs {
        return Ok(());
    }
    Err(ImportError::ImportedOtherwise {
        session: session
            .name
            .clone()
            .unwrap_or_else(|| session.id.to_string()),
        before: format!("columns `{text}`"),
        now: format!("columns `{}`", columns.text()),
    })
}
