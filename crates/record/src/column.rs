//! A column that takes no room for the entries at its end that are all the same.

use std::ops::Index;

use lapwing_model::Outcome;

/// A column of iterations: for most columns of most instances one entry, or the burn-in and one more, says it all, and
/// histories have millions of iterations.
#[derive(Debug, Clone)]
pub struct Column<T> {
    /// The first entries; the others are the same as the last of these.
    entries: Vec<T>,
    length: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            length: 0,
        }
    }
}

impl<T> Column<T> {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the entry at a position.
    pub fn get(&self, at: usize) -> Option<&T> {
        (at < self.length).then(|| &self[at])
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator + Clone {
        (0..self.length).map(|at| &self[at])
    }
}

impl<T: ColumnEntry> Column<T> {
    /// Returns whether an entry has that value.
    pub fn contains(&self, value: &T) -> bool {
        self.entries.contains(value)
    }

    /// Replaces the entry at a position, if there is one.
    pub fn set(&mut self, at: usize, value: T) {
        if at >= self.length || self[at].is_same(value) {
            return;
        }
        self.expand();
        self.entries[at] = value;
    }

    /// Makes the column that long, with this value in new entries.
    pub(super) fn resize(&mut self, length: usize, value: T) {
        let is_last = self.entries.last().is_some_and(|it| it.is_same(value));
        if length > self.length && !is_last {
            self.expand();
            self.entries.push(value);
        }
        self.entries.truncate(length);
        self.length = length;
    }

    /// Gives back the room that the column was given while it grew.
    pub(super) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
    }

    fn expand(&mut self) {
        if let Some(&last) = self.entries.last() {
            self.entries.resize(self.length, last);
        }
    }
}

impl<T: ColumnEntry> Extend<T> for Column<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, entries: I) {
        for entry in entries {
            self.resize(self.length + 1, entry);
        }
    }
}

impl<T: ColumnEntry> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut column = Self::default();
        column.extend(entries);
        column.shrink();
        column
    }
}

impl<T> Index<usize> for Column<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        match self.entries.last() {
            Some(last) if at < self.length => self.entries.get(at).unwrap_or(last),
            _ => &self.entries[at],
        }
    }
}

impl<T: PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// What a column can hold.
pub trait ColumnEntry: Copy + PartialEq {
    /// Returns whether one entry can stand for the other.
    fn is_same(self, other: Self) -> bool {
        self == other
    }
}

impl ColumnEntry for bool {}
impl ColumnEntry for u32 {}
impl ColumnEntry for u64 {}
impl ColumnEntry for Outcome {}

impl ColumnEntry for f64 {
    /// By bits: an unknown number is the same as another, and 0 is not -0.
    fn is_same(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn entries_that_are_all_the_same_after_the_first_take_the_room_of_one() {
        let mut column: Column<f64> = std::iter::repeat_n(f64::NAN, 1_000).collect();
        assert_eq!((column.len(), column.entries.len()), (1_000, 1));
        column.set(999, 0.5);
        assert_eq!((column.len(), column.entries.len()), (1_000, 1_000));
        assert!(column[998].is_nan());
        assert_eq!(column.get(999), Some(&0.5));
        assert_eq!(column.get(1_000), None);
        let burn_in: Column<bool> = (0..1_000).map(|at| at < 2).collect();
        assert_eq!((burn_in.len(), burn_in.entries.len()), (1_000, 3));
    }

    #[test]
    fn zero_keeps_its_sign() {
        let column: Column<f64> = [0.0, -0.0].into_iter().collect();
        let signs: Vec<bool> = column.iter().map(|it| it.is_sign_negative()).collect();
        assert_eq!(signs, [false, true]);
    }

    proptest! {
        #[test]
        fn a_column_is_the_list_of_its_entries(
            changes in prop::collection::vec((0..3_u8, 0..6_usize, 0..3_u32), 0..20)
        ) {
            let mut column = Column::default();
            let mut list = Vec::new();
            for (change, number, value) in changes {
                match change {
                    0 => {
                        column.resize(number, value);
                        list.resize(number, value);
                    }
                    1 => {
                        column.extend([value]);
                        list.push(value);
                    }
                    _ => {
                        column.set(number, value);
                        if let Some(entry) = list.get_mut(number) {
                            *entry = value;
                        }
                    }
                }
                prop_assert_eq!(column.iter().copied().collect::<Vec<_>>(), list.clone());
                prop_assert_eq!(column.get(list.len()), None);
                prop_assert_eq!(column.contains(&1), list.contains(&1));
                prop_assert_eq!(&column, &list.iter().copied().collect());
            }
        }
    }
}
