//! Which iterations an instance has in the store.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::super::columns::chunk;
use super::super::{StoreResult, query};
use super::keys::KeyMap;

/// Instances of which to remember the indices.
const MANY: usize = 20_000;

/// The indices of the instances that a writer has to do with.
#[derive(Debug, Default)]
pub(crate) struct StoredIndices {
    instances: KeyMap<i64, IterationIndices>,
}

impl StoredIndices {
    /// Notes that an instance has just been made, so that it cannot have iterations yet.
    pub(crate) fn begin(&mut self, instance: i64) {
        self.make_room();
        self.instances.insert(instance, IterationIndices::default());
    }

    /// Returns the indices that an instance has.
    pub(crate) fn of(
        &mut self,
        connection: &Connection,
        instance: i64,
    ) -> StoreResult<&mut IterationIndices> {
        if !self.instances.contains_key(&instance) {
            self.make_room();
        }
        match self.instances.entry(instance) {
            std::collections::hash_map::Entry::Occupied(known) => Ok(known.into_mut()),
            std::collections::hash_map::Entry::Vacant(place) => {
                Ok(place.insert(read(connection, instance)?))
            }
        }
    }

    fn make_room(&mut self) {
        if self.instances.len() >= MANY {
            self.instances.clear();
        }
    }
}

/// A set of indices, small when they come without gaps.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct IterationIndices {
    /// First and last of each run of indices; between two runs one at least is missing.
    runs: BTreeMap<u32, u32>,
}

impl IterationIndices {
    /// Returns whether any index from `first` to `last` is among them.
    pub(crate) fn has_any(&self, first: u32, last: u32) -> bool {
        self.runs
            .range(..=last)
            .next_back()
            .is_some_and(|(_, &end)| first <= end)
    }

    /// Returns whether an index is among them.
    pub(crate) fn contains(&self, index: u32) -> bool {
        self.has_any(index, index)
    }

    /// Adds an index. Returns whether it was missing.
    pub(crate) fn insert(&mut self, index: u32) -> bool {
        !self.contains(index) && {
            self.insert_run(index, index);
            true
        }
    }

    /// Adds a run of indices of which none is there.
    pub(crate) fn insert_run(&mut self, mut first: u32, mut last: u32) {
        if let Some((&before, &end)) = self.runs.range(..first).next_back()
            && end.checked_add(1) == Some(first)
        {
            first = before;
        }
        if let Some(next) = last.checked_add(1)
            && let Some(end) = self.runs.remove(&next)
        {
            last = end;
        }
        self.runs.insert(first, last);
    }
}

fn read(connection: &Connection, instance: i64) -> StoreResult<IterationIndices> {
    let sql = "SELECT first, count, idx FROM chunk WHERE instance = ?1";
    let mut indices = IterationIndices::default();
    query::rows(connection, sql, [instance], |row| {
        let extent = chunk::ChunkExtent::read(row, 0)?;
        match extent.run() {
            Some((first, last)) => indices.insert_run(first, last),
            None => {
                for index in extent.indices()? {
                    indices.insert(index);
                }
            }
        }
        Ok(())
    })?;
    Ok(indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn indices_without_gaps_are_one_run() {
        let mut indices = IterationIndices::default();
        for index in [0, 1, 4, 2, 3] {
            assert!(indices.insert(index));
        }
        indices.insert_run(5, u32::MAX);
        assert_eq!(indices.runs, BTreeMap::from([(0, u32::MAX)]));
        assert!(!indices.insert(3));
    }

    proptest! {
        #[test]
        fn it_is_a_set(numbers in prop::collection::vec(0_u32..60, 0..80)) {
            let mut plain = std::collections::BTreeSet::new();
            let mut indices = IterationIndices::default();
            for number in numbers {
                prop_assert_eq!(indices.insert(number), plain.insert(number));
            }
            for number in 0..62 {
                prop_assert_eq!(indices.contains(number), plain.contains(&number));
                prop_assert_eq!(
                    indices.has_any(number, number + 3),
                    plain.range(number..=number + 3).next().is_some()
                );
            }
        }
    }
}
