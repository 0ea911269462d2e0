//! The names of benchmarks that a source has, with and without results, so that nothing is left out uncounted.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::shared::reading::spot::Spot;

/// A benchmark that a source names without a result of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmeasured {
    /// The benchmark as the source names it, or a part of it.
    pub name: String,
    /// The line where it stands, from 1; 0 where it stands on none.
    pub line: u64,
    /// The reason why it has no result.
    pub why: &'static str,
}

/// The names in a source and their results.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Digests of the names with results, since there may be millions.
    measured: HashSet<u64>,
    results: u64,
    without: BTreeMap<String, (u64, &'static str)>,
}

impl Found {
    /// Returns the number of different names, with and without results.
    #[must_use]
    pub fn names(&self) -> usize {
        self.measured.len() + self.without_results().count()
    }

    /// Returns the number of results: instances, new or in the store already.
    #[must_use]
    pub fn results(&self) -> u64 {
        self.results
    }

    /// Returns the names without any result, by name.
    pub fn without_results(&self) -> impl Iterator<Item = Unmeasured> {
        let without = self.without.iter();
        let without = without.filter(|(name, _)| !self.measured.contains(&digest(name)));
        without.map(|(name, &(line, why))| Unmeasured {
            name: name.clone(),
            line,
            why,
        })
    }

    /// Adds what another source has. The same name in both is one.
    pub fn append(&mut self, other: &Self) {
        self.measured.extend(&other.measured);
        self.results += other.results;
        for (name, reason) in &other.without {
            self.without.entry(name.clone()).or_insert(*reason);
        }
    }

    /// Counts a result of a benchmark.
    pub(crate) fn result(&mut self, name: &str) {
        self.results += 1;
        self.measured.insert(digest(name));
    }

    /// Notes that a benchmark is named without a result; it counts where no result of it comes before or after.
    pub(crate) fn without_result(&mut self, name: &str, spot: impl Into<Spot>, why: &'static str) {
        let line = spot.into().line;
        if !name.is_empty() {
            self.without.entry(name.to_owned()).or_insert((line, why));
        }
    }
}

/// Returns a digest of a name, the same in every process.
fn digest(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_results_add_up() {
        let mut found = Found::default();
        found.without_result("late", 2, "its line is broken");
        found.without_result("never", 3, "its line is broken");
        found.result("late");
        found.result("twice");
        found.result("twice");
        assert_eq!((found.names(), found.results()), (3, 3));
        let without: Vec<Unmeasured> = found.without_results().collect();
        let never = Unmeasured {
            name: "never".to_owned(),
            line: 3,
            why: "its line is broken",
        };
        assert_eq!(without, [never]);
        let mut both = Found::default();
        both.result("never");
        both.append(&found);
        assert_eq!((both.names(), both.results()), (3, 4));
    }
}
