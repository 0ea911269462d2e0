//! Puts together what belongs to one execution of a test: its rows in both tables.
//!
//! Within a session, which is one invocation of pytest, a test is not executed twice at once. So
//! two rows of the same test whose times overlap are of one execution, whichever stopwatch each
//! table has.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::coiled::row::{Execution, time};
use crate::shared::reading::database::{DatabaseRow, identity};

/// From when to when something took place.
pub(super) type Span = (Timestamp, Timestamp);

/// Returns the distance between the starts of two spans that overlap, in nanoseconds.
pub(super) fn gap(one: Span, other: Span) -> Option<i128> {
    let overlap = one.0 <= other.1 && other.0 <= one.1;
    let between = one.0.as_nanosecond() - other.0.as_nanosecond();
    overlap.then_some(between.abs())
}

/// Chooses pairs, each thing in one at most: those that come first win.
pub(super) fn one_to_one<K: Ord>(mut candidates: Vec<(K, usize, usize)>) -> BTreeMap<usize, usize> {
    candidates.sort();
    let (mut pairs, mut gone) = (BTreeMap::new(), BTreeSet::new());
    for (_, one, other) in candidates {
        if !pairs.contains_key(&one) && gone.insert(other) {
            pairs.insert(one, other);
        }
    }
    pairs
}

/// Leaves the first of the rows that are alike in everything but their id, as Coiled's merge
/// doubles them; returns the numbers of the others, too.
pub(super) fn distinct(rows: Vec<DatabaseRow>) -> (Vec<DatabaseRow>, Vec<u64>) {
    let mut alike = BTreeSet::new();
    let (rows, doubled): (Vec<DatabaseRow>, Vec<DatabaseRow>) = rows
        .into_iter()
        .partition(|row| alike.insert(row.content()));
    (rows, doubled.iter().map(|row| row.number).collect())
}

/// Joins the rows that the same execution has in both tables: of the same session, path and name,
/// nearest starts first. Where one of them has no times, only what is left over is joined.
pub(super) fn joined(tests: Vec<DatabaseRow>, queries: Vec<DatabaseRow>) -> Vec<Execution> {
    let key = |row: &DatabaseRow| {
        ["session_id", "path", "name"].map(|column| row.cells.get(column).map(identity))
    };
    let mut of_test: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, query) in queries.iter().enumerate() {
        of_test.entry(key(query)).or_default().push(at);
    }
    let mut candidates = Vec::new();
    for (at, test) in tests.iter().enumerate() {
        for &other in of_test.get(&key(test)).into_iter().flatten() {
            let query = &queries[other];
            let gap = match (span(test), span(query)) {
                (Some(test), Some(query)) => gap(test, query),
                (None, _) | (_, None) => Some(i128::MAX),
            };
            if let Some(gap) = gap {
                // Not as they lie in the file: that is another order in every copy.
                candidates.push(((gap, test.content(), query.content()), at, other));
            }
        }
    }
    let pairs = one_to_one(candidates);
    let mut queries: Vec<Option<DatabaseRow>> = queries.into_iter().map(Some).collect();
    let mut found = Vec::with_capacity(tests.len());
    for (at, test) in tests.into_iter().enumerate() {
        let query = pairs.get(&at).and_then(|&other| queries[other].take());
        found.push(match query {
            Some(query) => Execution::Both(test, query),
            None => Execution::Test(test),
        });
    }
    found.extend(queries.into_iter().flatten().map(Execution::Query));
    found
}

fn span(row: &DatabaseRow) -> Option<Span> {
    let at = |column: &str| time(row.cells.get(column)?).ok();
    Some((at("start")?, at("end")?))
}
