//! Which entry of a plan is about which benchmark.

use std::collections::BTreeMap;

use super::PlanDocument;
use lapwing_model::bare_name;

/// Which entry of a plan is about which benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanAssignment {
    /// For each benchmark the index of its entry; `None` where the plan does not name it.
    pub entries: Vec<Option<usize>>,
    /// The items that are about none of the benchmarks, in the order of the plan.
    pub unmatched: Vec<UnmatchedItem>,
}

/// An item that is about none of the benchmarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedItem {
    /// The item.
    pub item: String,
    /// Why.
    pub reason: UnmatchedReason,
}

/// Why an item is about none of the benchmarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnmatchedReason {
    /// None is called so.
    Unknown,
    /// Several are called so, and these are their ids.
    Several(Vec<String>),
    /// One is called so, and another item names it more clearly or as clearly.
    NamedByOther,
}

impl PlanDocument {
    /// Returns which entry is about which of these benchmarks.
    ///
    /// An item is a benchmark's id. Where only one of the two has a `::` in it, what follows the
    /// last one is enough, if that names one benchmark and one item alone.
    pub fn assign(&self, ids: &[&str]) -> PlanAssignment {
        let by_id: BTreeMap<&str, usize> = ids.iter().copied().zip(0..).collect();
        let mut by_bare_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, id) in ids.iter().enumerate() {
            by_bare_name.entry(bare_name(id)).or_default().push(place);
        }
        let mut entries: Vec<Option<usize>> = vec![None; ids.len()];
        let mut by_halves: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            match by_id.get(entry.item.as_str()) {
                Some(&place) => entries[place] = Some(at),
                None => {
                    let bare = bare_name(&entry.item);
                    let namesakes = by_bare_name.get(bare).into_iter().flatten().copied();
                    // Two names in full that differ are two benchmarks.
                    let alike = namesakes.filter(|place| entry.item == bare || ids[*place] == bare);
                    by_halves.push((at, alike.collect()));
                }
            }
        }
        let mut wanted: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, places) in &by_halves {
            if let [place] = places.as_slice() {
                *wanted.entry(*place).or_default() += 1;
            }
        }
        let mut unmatched = Vec::new();
        for (at, places) in by_halves {
            let reason = match places.as_slice() {
                [] => UnmatchedReason::Unknown,
                [place] if entries[*place].is_none() && wanted[place] == 1 => {
                    entries[*place] = Some(at);
                    continue;
                }
                [_] => UnmatchedReason::NamedByOther,
                several => UnmatchedReason::Several(
                    several.iter().map(|place| ids[*place].to_owned()).collect(),
                ),
            };
            unmatched.push(UnmatchedItem {
                item: self.entries[at].item.clone(),
                reason,
            });
        }
        PlanAssignment { entries, unmatched }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PlanEntry;
    use super::*;

    fn assigned(
        items: &[&str],
        ids: &[&str],
    ) -> (Vec<Option<usize>>, Vec<(String, UnmatchedReason)>) {
        let entries = items.iter().map(|item| PlanEntry {
            item: (*item).to_owned(),
            ..PlanEntry::default()
        });
        let document = PlanDocument {
            entries: entries.collect(),
        };
        let PlanAssignment { entries, unmatched } = document.assign(ids);
        let unmatched = unmatched.into_iter().map(|it| (it.item, it.reason));
        (entries, unmatched.collect())
    }

    #[test]
    fn an_item_is_an_id_or_what_follows_the_last_colons_of_one() {
        let (entries, unmatched) = assigned(
            &["b.py::t", "sort", "x.py::gzip", "a.py::none"],
            &["a.py::t", "b.py::t", "c.py::sort", "gzip", "b.py::none"],
        );
        assert_eq!(entries, [None, Some(0), Some(1), Some(2), None]);
        assert_eq!(
            unmatched,
            [("a.py::none".to_owned(), UnmatchedReason::Unknown)]
        );
    }

    #[test]
    fn a_name_that_could_be_of_two_is_of_none() {
        let (entries, unmatched) = assigned(&["t"], &["a::t", "b::t"]);
        assert_eq!(entries, [None, None]);
        let both = UnmatchedReason::Several(vec!["a::t".to_owned(), "b::t".to_owned()]);
        assert_eq!(unmatched, [("t".to_owned(), both)]);

        let (entries, unmatched) = assigned(&["a::t", "b::t"], &["t"]);
        assert_eq!(entries, [None]);
        assert_eq!(
            unmatched,
            [
                ("a::t".to_owned(), UnmatchedReason::NamedByOther),
                ("b::t".to_owned(), UnmatchedReason::NamedByOther)
            ]
        );

        let (entries, unmatched) = assigned(&["t", "a::t"], &["a::t"]);
        assert_eq!(entries, [Some(1)]);
        assert_eq!(unmatched, [("t".to_owned(), UnmatchedReason::NamedByOther)]);
    }
}
