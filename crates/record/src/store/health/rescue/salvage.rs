//! Brings the rows of a damaged file into a store of their own.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::super::super::StoreResult;
use super::pages::{PageFile, PageKind, PageRow};
use lapwing_model::text::joined;

/// A table, or an index from which parts of a table can be recovered.
struct KnownTable {
    /// Its name in the file.
    name: &'static str,
    /// A letter for each column: `k` the key, which is no part of the row, `i` an integer, `t` text, `r` a
    /// number, `b` bytes; a capital where it may be NULL. What comes after `?` newer stores have.
    columns: &'static str,
    /// Target of the insertion: the table; with `VALUES`, if not every column is copied as it is.
    insert: &'static str,
}

const fn table(name: &'static str, columns: &'static str, insert: &'static str) -> KnownTable {
    KnownTable {
        name,
        columns,
        insert,
    }
}

impl KnownTable {
    /// Returns the statement that puts a row.
    fn sql(&self) -> String {
        if self.insert.contains(" VALUES ") {
            return format!("INSERT OR IGNORE INTO {}", self.insert);
        }
        let count = self.columns.chars().filter(|letter| *letter != '?').count();
        let places = joined((1..=count).map(|place| format!("?{place}")));
        format!("INSERT OR IGNORE INTO {} VALUES ({places})", self.insert)
    }
}

/// What tables have, in the order in which rows that are there twice win.
const TABLES: [KnownTable; 21] = [
    table("session", "kttTtTtTTT", "session"),
    table("run", "ktitTTTTITTTTTTT", "run"),
    table("benchmark", "ktt", "benchmark"),
    table("metric", "kt", "metric"),
    table("instance", "ktiiTTTTiiiTTTTTTTTTTTT", "instance"),
    table(
        "chunk",
        "iiiTTTTTTT?i",
        "chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, coalesce(?11, \
             lapwing_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) | (lapwing_checksum(?10) << 32)))",
    ),
    table(
        "span_chunk",
        "iiiiib?i",
        "span_chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, \
             coalesce(?7, lapwing_checksum(?1, ?2, ?3, ?4, ?5, ?6)))",
    ),
    table("annotation", "kttttTTT", "annotation"),
    table(
        "series",
        "iiit?i",
        "series VALUES (?1, ?2, ?3, ?4, coalesce(?5, lapwing_checksum(?1, ?2, ?3, ?4)))",
    ),
    table("summary", "iitIrRT", "summary"),
    table("benchmark_metric", "ii", "benchmark_metric"),
    table("run_metric", "iitT", "run_metric"),
    // The indices know the keys, and some of them all there is.
    table(
        "sqlite_autoindex_benchmark_1",
        "tti",
        "benchmark (suite, id, key)",
    ),
    table("sqlite_autoindex_metric_1", "ti", "metric (name, key)"),
    table(
        "sqlite_autoindex_session_1",
        "ti",
        "known_session (id, key)",
    ),
    table("sqlite_autoindex_run_1", "ti", "known_run (id, key)"),
    table(
        "sqlite_autoindex_instance_1",
        "ti",
        "known_instance (id, key)",
    ),
    table("sqlite_autoindex_chunk_1", "iii", "known_chunk"),
    table(
        "run_of_session",
        "ii",
        "known_place (what, parent, key) VALUES ('session', ?1, ?2)",
    ),
    table(
        "instance_of_run",
        "ii",
        "known_place (what, parent, key) VALUES ('run', ?1, ?2)",
    ),
    table(
        "instance_of_benchmark",
        "ii",
        "known_place (what, parent, key) VALUES ('benchmark', ?1, ?2)",
    ),
];

/// What the indices tell of rows that may be lost.
const KNOWN: &str = "\
    CREATE TEMP TABLE known_session (key INTEGER PRIMARY KEY, id TEXT); \
    CREATE TEMP TABLE known_run (key INTEGER PRIMARY KEY, id TEXT); \
    CREATE TEMP TABLE known_instance (key INTEGER PRIMARY KEY, id TEXT); \
    CREATE TEMP TABLE known_chunk (instance INTEGER, first INTEGER, chunk INTEGER, \
       PRIMARY KEY (instance, first)); \
    CREATE TEMP TABLE known_place (what TEXT, parent INTEGER, key INTEGER, PRIMARY KEY (what, key));";

/// Puts every row of a file that can be read into the tables of a new store. Returns how many pages
/// cannot be.
pub(super) fn salvage(file: &PageFile, into: &Connection) -> StoreResult<u64> {
    into.execute_batch(KNOWN)?;
    let mut owners = file.owners(&roots(file));
    let mut later = Vec::new();
    for number in 1..=file.pages {
        let Some(name) = owners.owners.get(&number) else {
            later.extend((!owners.free.contains(&number)).then_some(number));
            continue;
        };
        if !put_rows(file, number, &[name], into)? {
            owners.unreadable.insert(number);
            later.push(number);
        }
    }
    // Those that no tree leads to any more, because the page above them is lost, or that of a wrong tree.
    let mut guessed = TABLES.each_ref().map(|table| table.name).to_vec();
    guessed.retain(|name| !has_namesakes(name));
    for number in later {
        put_rows(file, number, &guessed, into)?;
    }
    Ok(owners.unreadable.len() as u64)
}

/// Returns whether the rows of other tables look the same.
fn has_namesakes(name: &str) -> bool {
    let known = TABLES.iter().find(|table| table.name == name);
    let columns = known.map(|table| table.columns);
    let mut tables = TABLES.iter();
    tables.any(|table| table.name != name && Some(table.columns) == columns)
}

/// Returns the names and roots of all trees.
fn roots(file: &PageFile) -> Vec<(String, u32)> {
    let schema = [("sqlite_schema".to_owned(), 1)];
    let pages = file.owners(&schema).owners;
    let rows = pages.keys().filter_map(|&number| file.rows(number));
    let rows = rows.flat_map(|(_, rows, _)| rows);
    let mut roots: BTreeMap<u32, String> = BTreeMap::new();
    for row in rows {
        // type, name, tbl_name, rootpage, sql
        if let [_, Value::Text(name), _, Value::Integer(root), _] = &row.values[..]
            && let Ok(root) = u32::try_from(*root)
        {
            roots.insert(root, name.clone());
        }
    }
    roots.into_iter().map(|(root, name)| (name, root)).collect()
}

/// Puts the rows of a page that fit one of the tables. Returns whether it is
/// as it should be.
fn put_rows(
    file: &PageFile,
    number: u32,
    names: &[impl AsRef<str>],
    into: &Connection,
) -> StoreResult<bool> {
    let Some((kind, rows, bad)) = file.rows(number) else {
        return Ok(false);
    };
    let mut whole = bad == 0;
    let is_named = |table: &&KnownTable| names.iter().any(|name| name.as_ref() == table.name);
    let tables: Vec<&KnownTable> = TABLES.iter().filter(is_named).collect();
    for row in rows {
        let mut fitting = tables.iter();
        let fitting = fitting.find_map(|table| Some((table, fitted(table, kind, &row)?)));
        let Some((table, values)) = fitting else {
            whole &= tables.is_empty();
            continue;
        };
        let mut statement = into.prepare_cached(&table.sql())?;
        // A row that the table cannot have is lost; one that is there twice is on a page that took
        // the place of another. Only the indices know what tables have.
        let is_index = table.name.starts_with("sqlite_") || table.name == "metric";
        whole &= matches!(statement.execute(params_from_iter(values)), Ok(1)) || is_index;
    }
    Ok(whole)
}

/// Returns the values of a row as the table has them, if it can be a row of it.
fn fitted(table: &KnownTable, kind: PageKind, row: &PageRow) -> Option<Vec<Value>> {
    let (always, newer) = table.columns.split_once('?').unwrap_or((table.columns, ""));
    let by_key = row.rowid.is_some() == (kind == PageKind::TableLeaf);
    let is_table = !matches!(
        table.name,
        "series" | "summary" | "run_metric" | "benchmark_metric"
    ) && !table.name.contains("_of_")
        && !table.name.starts_with("sqlite_");
    let count = row.values.len();
    if !by_key || is_table != (kind == PageKind::TableLeaf) {
        return None;
    }
    if count != always.len() && count != always.len() + newer.len() {
        return None;
    }
    let letters = always.chars().chain(newer.chars());
    let mut values = Vec::with_capacity(always.len() + newer.len());
    for (letter, value) in letters.clone().zip(&row.values) {
        let fits = match value {
            Value::Null => letter == 'k' || letter.is_uppercase(),
            Value::Integer(_) => matches!(letter.to_ascii_lowercase(), 'i' | 'r'),
            Value::Real(_) => letter.eq_ignore_ascii_case(&'r'),
            Value::Text(_) => letter.eq_ignore_ascii_case(&'t'),
            Value::Blob(_) => letter.eq_ignore_ascii_case(&'b'),
        };
        if !fits {
            return None;
        }
        values.push(match letter {
            'k' => Value::Integer(row.rowid?),
            _column => value.clone(),
        });
    }
    values.resize(always.len() + newer.len(), Value::Null);
    Some(values)
}
