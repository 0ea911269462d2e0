//! Counts of appended records.

use serde::Serialize;

use super::super::health::compare::differences;
use super::super::{StoreError, StoreResult};
use crate::private::{PrivateTexts, RecordCleaner};
use lapwing_model::RecordKind;

/// The number of records that were new, and of those already present.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordCount {
    /// Records that were not in the store.
    pub new: u64,
    /// Records that were in the store with the same content.
    pub already_there: u64,
}

/// Counts of appended records, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppendCounts {
    counts: [RecordCount; RecordKind::ALL.len()],
}

impl AppendCounts {
    /// Returns the counts of one kind.
    pub fn of(&self, kind: RecordKind) -> RecordCount {
        self.counts[kind as usize]
    }

    /// Returns the counts of all kinds together.
    pub fn total(&self) -> RecordCount {
        let mut total = RecordCount::default();
        for count in self.counts {
            total.new += count.new;
            total.already_there += count.already_there;
        }
        total
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            mine.new += theirs.new;
            mine.already_there += theirs.already_there;
        }
    }

    /// Returns what was counted since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut since = self.clone();
        for (mine, theirs) in since.counts.iter_mut().zip(before.counts) {
            mine.new -= theirs.new;
            mine.already_there -= theirs.already_there;
        }
        since
    }

    pub(crate) fn count_new(&mut self, kind: RecordKind, number: u64) {
        self.counts[kind as usize].new += number;
    }

    pub(crate) fn count_already_there(&mut self, kind: RecordKind, number: u64) {
        self.counts[kind as usize].already_there += number;
    }

    /// Counts a record that is there with the same content; anything else is a conflict. Older programs kept what is
    /// hidden now.
    pub(crate) fn same<T: PartialEq + Serialize + PrivateTexts + Clone>(
        &mut self,
        cleaner: &RecordCleaner,
        kind: RecordKind,
        key: String,
        stored: Option<&T>,
        new: &T,
    ) -> StoreResult<()> {
        let Some(stored) = stored else {
            return Err(StoreError::damaged(format!("{kind} {key} has no content")));
        };
        if stored != new && cleaner.cleaned(stored).as_ref() != Some(new) {
            return Err(StoreError::Conflict {
                kind,
                key,
                differences: differences(stored, new),
            });
        }
        self.count_already_there(kind, 1);
        Ok(())
    }
}
