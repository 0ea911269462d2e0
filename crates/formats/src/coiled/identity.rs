//! Gives the rows of a session ids that do not depend on the file.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::Id;

use super::row::MeasuredRow;

/// Returns the ids of the rows of a session, in their order.
///
/// An id is made of session and time alone, so that a row is found again after one of Coiled's
/// migrations gave it another name. Rows of the same time are told apart by their names, and
/// rows without a time, or of the same name too, by their content.
pub(super) fn ids_of(session: Id, rows: &[MeasuredRow]) -> Vec<Id> {
    let mut at_once: BTreeMap<&str, usize> = BTreeMap::new();
    for time in rows.iter().filter_map(|row| row.time.as_deref()) {
        *at_once.entry(time).or_default() += 1;
    }
    let id = |parts: &[&[u8]]| {
        let mut all: Vec<&[u8]> = vec![b"coiled instance", session.as_bytes()];
        all.extend_from_slice(parts);
        Id::derived(&all)
    };
    let mut taken = BTreeSet::new();
    let mut id_of = |row: &MeasuredRow| {
        let by_content = || id(&[&row.content]);
        let chosen = match row.time.as_deref() {
            None => by_content(),
            Some(time) if at_once.get(time) == Some(&1) => id(&[time.as_bytes()]),
            Some(time) => {
                let by_name = id(&[time.as_bytes(), row.draft.benchmark.id.as_bytes()]);
                if taken.contains(&by_name) {
                    by_content()
                } else {
                    by_name
                }
            }
        };
        taken.insert(chosen);
        chosen
    };
    rows.iter().map(&mut id_of).collect()
}
