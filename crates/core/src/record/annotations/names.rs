//! Which id a benchmark has now, and which name a metric of it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Change, Remark};
use crate::model::Id;

/// The renames that hold.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By the old id: suite, new id, and when it was said. The latest of a suite comes first.
    renames: BTreeMap<String, Vec<Rename>>,
}

#[derive(Debug)]
struct Rename {
    suite: Option<String>,
    new: String,
    said: (Timestamp, Id),
}

impl Names {
    /// Returns the renames that hold.
    pub(crate) fn of(remarks: &[Remark]) -> Self {
        let mut renames: BTreeMap<String, Vec<Rename>> = BTreeMap::new();
        // Later ones come first.
        for remark in remarks.iter().rev() {
            if let Some(Change::Rename {
                suite,
                benchmark,
                new,
            }) = remark.active()
            {
                let known = renames.entry(benchmark.clone()).or_default();
                known.push(Rename {
                    suite: suite.clone(),
                    new: new.clone(),
                    said: (remark.annotation.at, remark.annotation.id),
                });
            }
        }
        Self { renames }
    }

    /// Returns the renames of metrics that hold for a benchmark which has, or had, these ids.
    pub(crate) fn of_metrics(remarks: &[Remark], suite: &str, ids: &[&str]) -> Self {
        let mut renames: BTreeMap<String, Vec<Rename>> = BTreeMap::new();
        for remark in remarks.iter().rev() {
            if let Some(change @ Change::RenameMetric { metric, new, .. }) = remark.active()
                && change.is_about(suite, ids)
            {
                let known = renames.entry(metric.clone()).or_default();
                known.push(Rename {
                    suite: None,
                    new: new.clone(),
                    said: (remark.annotation.at, remark.annotation.id),
                });
            }
        }
        Self { renames }
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.renames.is_empty()
    }

    /// Returns the ids that a benchmark had, the recorded one first, and last the one that it
    /// has now.
    ///
    /// Where renames lead round in a circle, because two people disagreed, the one that was said
    /// last is where it ends.
    pub(crate) fn all<'n>(&'n self, suite: &str, recorded: &'n str) -> Vec<&'n str> {
        let mut ids = vec![recorded];
        let mut steps: Vec<&Rename> = Vec::new();
        while let Some(step) = ids.last().and_then(|id| self.next(suite, id)) {
            if let Some(begin) = ids.iter().position(|known| *known == step.new) {
                let circle = steps[begin..].iter().copied().chain([step]);
                let last = circle.max_by_key(|it| it.said).unwrap_or(step);
                if let Some(place) = ids.iter().position(|id| *id == last.new) {
                    let end = ids.remove(place);
                    ids.push(end);
                }
                break;
            }
            steps.push(step);
            ids.push(&step.new);
        }
        ids
    }

    fn next(&self, suite: &str, id: &str) -> Option<&Rename> {
        let of_id = self.renames.get(id)?;
        of_id
            .iter()
            .find(|it| it.suite.as_deref().is_none_or(|it| it == suite) && it.new != id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Annotation, Object};

    /// Renames in the order in which they were said; the ids that `id` then had.
    fn ids(renames: &[(&str, &str)], id: &str) -> Vec<String> {
        let annotations = (1_u8..).zip(renames).map(|(number, (old, new))| {
            let change = Change::Rename {
                suite: None,
                benchmark: (*old).to_owned(),
                new: (*new).to_owned(),
            };
            Annotation {
                id: Id::measured(u64::from(number), [number; 10]),
                at: Timestamp::from_second(i64::from(number)).expect("a time"),
                by: "a".to_owned(),
                action: change.action().to_owned(),
                target: change.target(),
                reason: None,
                extra: Object::new(),
            }
        });
        let remarks = Remark::all(annotations.collect());
        let names = Names::of(&remarks);
        names.all("s", id).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn renames_make_chains() {
        let chain = [("b", "c"), ("a", "b")];
        assert_eq!(ids(&chain, "a"), ["a", "b", "c"]);
        assert_eq!(ids(&chain, "b"), ["b", "c"]);
        assert_eq!(ids(&chain, "c"), ["c"]);
    }

    #[test]
    fn the_later_of_two_wins() {
        assert_eq!(ids(&[("a", "b"), ("a", "c")], "a"), ["a", "c"]);
    }

    #[test]
    fn a_circle_ends_with_what_was_said_last() {
        let circle = [("a", "b"), ("b", "a")];
        for id in ["a", "b"] {
            assert_eq!(ids(&circle, id).last().map(String::as_str), Some("a"));
        }
        let circle = [("b", "c"), ("c", "a"), ("a", "b")];
        for id in ["a", "b", "c"] {
            assert_eq!(ids(&circle, id).last().map(String::as_str), Some("b"));
        }
    }

    #[test]
    fn renaming_something_to_itself_says_nothing() {
        assert_eq!(ids(&[("a", "a")], "a"), ["a"]);
    }
}
