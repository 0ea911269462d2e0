//! Finds the rows of a session again in the store, and gives ids to those that are new.
//!
//! A copy of the database may have lost one of the two rows that a test of TPC-H had, and each
//! table has a stopwatch of its own. So a row is looked for by its own time, then by the time that
//! the other table has of it, and only then by overlap.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::coiled_columns::{ONLY_IN_TESTS, TOLD_APART, metric_of};
use super::coiled_pairs::{Span, gap, one_to_one};
use super::coiled_row::{APART, Measured, Origin, Tables};
use super::moment::moment;
use crate::model::{Id, MetricName, Object};
use crate::record::store::{StoredInstance, StoredSession};

/// By what a row is known.
pub(super) struct Identified<'s> {
    pub(super) id: Id,
    /// What the store has of it.
    pub(super) stored: Option<&'s StoredInstance>,
    /// Whether the store has it once more, by its other row.
    pub(super) is_twice: bool,
}

/// Identifies the rows of a session, in their order, each with one instance of the store at most.
pub(super) fn identified<'s>(
    session: Id,
    rows: &[Measured],
    stored: &'s StoredSession,
) -> Vec<Identified<'s>> {
    let mut search = Search::new(session, rows, stored);
    let mut found: Vec<Option<Id>> = vec![None; rows.len()];
    for look in [Search::by_own_time, Search::by_time_apart] {
        for (row, found) in rows.iter().zip(&mut found) {
            if found.is_none() {
                *found = look(&search, row);
                search.taken.extend(*found);
            }
        }
    }
    for (at, id) in search.by_overlap(&found) {
        found[at] = Some(id);
        search.taken.insert(id);
    }
    rows.iter()
        .zip(found)
        .map(|(row, known)| Identified {
            id: known.unwrap_or_else(|| search.fresh(row)),
            stored: known.and_then(|id| stored.instances.get(&id)),
            is_twice: known.is_some() && search.has_other(row),
        })
        .collect()
}

/// Returns whether an instance is of the test that a row is of, whatever its scale.
pub(super) fn is_of(row: &Measured, stored: &StoredInstance) -> bool {
    let benchmark = &stored.instance.benchmark;
    row.test.id(&benchmark.params) == benchmark.id
}

struct Search<'r> {
    session: Id,
    rows: &'r [Measured],
    stored: &'r StoredSession,
    /// How many rows have that time.
    at_once: BTreeMap<&'r str, usize>,
    /// Instances of TPC-H by the time that `tpch_run` has of them.
    of_queries: BTreeMap<Span, Vec<Id>>,
    taken: BTreeSet<Id>,
}

impl<'r> Search<'r> {
    fn new(session: Id, rows: &'r [Measured], stored: &'r StoredSession) -> Self {
        let mut at_once: BTreeMap<&str, usize> = BTreeMap::new();
        for time in rows.iter().filter_map(|row| row.origin.time.as_deref()) {
            *at_once.entry(time).or_default() += 1;
        }
        let mut of_queries: BTreeMap<Span, Vec<Id>> = BTreeMap::new();
        for (id, instance) in &stored.instances {
            if tables_of(stored, instance) != Tables::Test
                && let Some(span) = query_span(instance)
            {
                of_queries.entry(span).or_default().push(*id);
            }
        }
        Self {
            session,
            rows,
            stored,
            at_once,
            of_queries,
            taken: BTreeSet::new(),
        }
    }

    fn id(&self, parts: &[&[u8]]) -> Id {
        let mut all: Vec<&[u8]> = vec![b"coiled instance", self.session.as_bytes()];
        all.extend_from_slice(parts);
        Id::derived(&all)
    }

    /// Returns what the store has under that id, where it is no other row.
    fn free(&self, id: Id) -> Option<&'r StoredInstance> {
        let stored = self.stored.instances.get(&id);
        stored.filter(|_| !self.taken.contains(&id))
    }

    fn is_alone(&self, row: &Measured) -> bool {
        let time = row.origin.time.as_deref();
        time.is_none_or(|time| self.at_once.get(time) == Some(&1))
    }

    /// Returns the id under which the store has one of the rows of an execution.
    ///
    /// That is their session and time alone, so that a row is found again after one of Coiled's
    /// migrations gave it another name. Where several rows have the same time, they are not the
    /// same, and the name is part of the id.
    fn by_own_time(&self, row: &Measured) -> Option<Id> {
        let first = self.by_origin(row, &row.origin, &row.values());
        first.or_else(|| {
            let values = query_values(row.values(), &row.draft.attributes);
            self.by_origin(row, row.second.as_ref()?, &values)
        })
    }

    fn by_origin(
        &self,
        row: &Measured,
        origin: &Origin,
        values: &BTreeMap<MetricName, f64>,
    ) -> Option<Id> {
        let by_content = self.id(&[&origin.content]);
        let Some(time) = &origin.time else {
            return self.free(by_content).map(|_stored| by_content);
        };
        // A copy with `test_run` alone does not know the scale.
        let names = [row.draft.benchmark.id.clone(), row.test.id(&Object::new())];
        let by_name = names.map(|name| self.id(&[time.as_bytes(), name.as_bytes()]));
        let mut exact = [by_content].into_iter().chain(by_name);
        if let Some(known) = exact.find(|&id| self.free(id).is_some()) {
            return Some(known);
        }
        let by_time = self.id(&[time.as_bytes()]);
        let stored = self.free(by_time)?;
        let is_it = is_of(row, stored) || self.is_alone(row) && agree(values, &stored.values);
        is_it.then_some(by_time)
    }

    /// Returns the instance of both tables whose row of `tpch_run` this is.
    fn by_time_apart(&self, row: &Measured) -> Option<Id> {
        if row.tables != Tables::Query {
            return None;
        }
        let span = (row.draft.started?, row.draft.ended?);
        let candidates = || {
            let ids = self.of_queries.get(&span).into_iter().flatten();
            ids.filter_map(|&id| self.free(id))
        };
        let agrees = |stored: &&StoredInstance| {
            let theirs = query_values(stored.values.clone(), &stored.instance.attributes);
            self.is_alone(row) && agree(&row.values(), &theirs)
        };
        let named = candidates().find(|stored| is_of(row, stored));
        let known = named.or_else(|| candidates().find(agrees))?;
        Some(known.instance.id)
    }

    /// Returns whether there is one more instance of an execution of TPC-H, as merging stores
    /// leaves it where one knew it by one row and the other by the other.
    fn has_other(&self, row: &Measured) -> bool {
        let other = match row.tables {
            Tables::Test => None,
            Tables::Query => self.by_time_apart(row),
            Tables::Both => self.by_own_time(row),
        };
        let other = other.and_then(|id| self.free(id));
        other.is_some_and(|stored| is_of(row, stored))
    }

    /// Returns the rows of which the store has what the other table says: of the same test, at a
    /// time that overlaps, nearest starts first.
    fn by_overlap(&self, found: &[Option<Id>]) -> Vec<(usize, Id)> {
        let mut free: Vec<&StoredInstance> = self.stored.instances.values().collect();
        free.retain(|stored| self.free(stored.instance.id).is_some());
        let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut all_told_apart: Vec<Object> = vec![Object::new()];
        for (place, stored) in free.iter().enumerate() {
            let benchmark = &stored.instance.benchmark;
            named.entry(&benchmark.id).or_default().push(place);
            let told_apart = told_apart(&benchmark.params);
            if !all_told_apart.contains(&told_apart) {
                all_told_apart.push(told_apart);
            }
        }
        let mut candidates = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            if found[at].is_some() || free.is_empty() {
                continue;
            }
            let names = all_told_apart.iter().map(|params| row.test.id(params));
            let names: BTreeSet<String> = names.collect();
            let of_test = names.iter().filter_map(|name| named.get(name.as_str()));
            for &place in of_test.flatten() {
                if let Some(gap) = self.gap_between(row, free[place]) {
                    candidates.push((gap, at, place));
                }
            }
        }
        let pairs = one_to_one(candidates).into_iter();
        pairs
            .map(|(at, place)| (at, free[place].instance.id))
            .collect()
    }

    /// Returns how far apart the starts of a row and of what may be the other table's are.
    fn gap_between(&self, row: &Measured, stored: &StoredInstance) -> Option<i128> {
        let theirs = tables_of(self.stored, stored);
        match (row.draft.started, stored.instance.started) {
            (Some(start), Some(other_start)) => match (row.tables, theirs) {
                (Tables::Test, Tables::Query) | (Tables::Query, Tables::Test) => gap(
                    (start, row.draft.ended.unwrap_or(start)),
                    (other_start, stored.ended.unwrap_or(other_start)),
                ),
                // One that has a row in the same table, and at another time.
                (Tables::Test | Tables::Query | Tables::Both, _) => None,
            },
            // It never began: that is its test's one row in each table.
            (None, None) => (row.tables != theirs).then_some(i128::MAX),
            (Some(_), None) | (None, Some(_)) => None,
        }
    }

    /// Returns the id of a row that is new.
    fn fresh(&mut self, row: &Measured) -> Id {
        let is_new = |id: &Id| !self.taken.contains(id) && !self.stored.instances.contains_key(id);
        let by_content = self.id(&[&row.origin.content]);
        let id = match row.origin.time.as_ref().map(String::as_bytes) {
            None => by_content,
            Some(time) => {
                let by_time = self.id(&[time]);
                let by_name = self.id(&[time, row.draft.benchmark.id.as_bytes()]);
                let by_time = Some(by_time).filter(|_| self.is_alone(row));
                let mut ids = by_time.into_iter().chain([by_name]);
                ids.find(is_new).unwrap_or(by_content)
            }
        };
        self.taken.insert(id);
        id
    }
}

/// Returns whether two may be the same: each value that both have is.
fn agree(one: &BTreeMap<MetricName, f64>, other: &BTreeMap<MetricName, f64>) -> bool {
    one.iter().all(|(metric, value)| {
        let other = other.get(metric);
        other.is_none_or(|other| other.to_bits() == value.to_bits())
    })
}

/// Returns which tables an instance of the store comes from.
fn tables_of(session: &StoredSession, stored: &StoredInstance) -> Tables {
    let instance = &stored.instance;
    let params = &instance.benchmark.params;
    if !params.contains_key("scale") && !params.contains_key("query") {
        return Tables::Test;
    }
    let said = |column: &&str| {
        let of_run = session.runs.get(&instance.run).is_some_and(|run| {
            run.attributes.contains_key(*column) || run.environment.contains_key(*column)
        });
        of_run || metric_of(column).is_some_and(|metric| stored.values.contains_key(metric))
    };
    match instance.attributes.contains_key(APART) || ONLY_IN_TESTS.iter().any(said) {
        true => Tables::Both,
        false => Tables::Query,
    }
}

/// Returns the params by which a test's name is told apart.
fn told_apart(params: &Object) -> Object {
    let known = TOLD_APART
        .iter()
        .filter_map(|&name| params.get_key_value(name));
    known
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Returns what `tpch_run` says otherwise than `test_run`.
fn said_apart(attributes: &Object) -> Option<&Object> {
    attributes.get(APART).and_then(Value::as_object)
}

/// Returns the time that `tpch_run` has of an instance.
fn query_span(stored: &StoredInstance) -> Option<Span> {
    let apart = said_apart(&stored.instance.attributes);
    let time = |column: &str, or: Option<Timestamp>| match apart.and_then(|it| it.get(column)) {
        Some(text) => moment(text.as_str()?),
        None => or,
    };
    Some((
        time("start", stored.instance.started)?,
        time("end", stored.ended)?,
    ))
}

/// Returns the values that `tpch_run` has, of those that both tables have.
fn query_values(
    mut values: BTreeMap<MetricName, f64>,
    attributes: &Object,
) -> BTreeMap<MetricName, f64> {
    for (column, value) in said_apart(attributes).into_iter().flatten() {
        if let (Some(metric), Some(value)) = (metric_of(column), value.as_f64()) {
            values.insert(metric.to_owned(), value);
        }
    }
    values
}
