//! Which id a benchmark has now, and which name a metric of it.

use std::collections::BTreeMap;

use super::{AnnotationOrder, Change, Remark};

/// The renames that hold.
#[derive(Debug, Default)]
pub struct NameHistory {
    /// By the old id: suite, new id, and when it was said. The latest of a suite comes first.
    renames: BTreeMap<String, Vec<RenameStep>>,
}

#[derive(Debug)]
struct RenameStep {
    suite: Option<String>,
    new: String,
    said: AnnotationOrder,
}

impl NameHistory {
    /// Returns the renames that hold.
    pub fn of(remarks: &[Remark]) -> Self {
        let mut renames: BTreeMap<String, Vec<RenameStep>> = BTreeMap::new();
        // Later ones come first.
        for remark in remarks.iter().rev() {
            if let Some(Change::Rename {
                suite,
                benchmark,
                new,
            }) = remark.active()
            {
                let known = renames.entry(benchmark.clone()).or_default();
                known.push(RenameStep {
                    suite: suite.clone(),
                    new: new.clone(),
                    said: remark.said(),
                });
            }
        }
        Self { renames }
    }

    /// Returns the renames of metrics that hold for a benchmark which has, or had, these ids.
    pub(crate) fn of_metrics(remarks: &[Remark], suite: &str, ids: &[&str]) -> Self {
        let mut renames: BTreeMap<String, Vec<RenameStep>> = BTreeMap::new();
        for remark in remarks.iter().rev() {
            if let Some(change @ Change::RenameMetric { metric, new, .. }) = remark.active()
                && change.is_about(suite, ids)
            {
                let known = renames.entry(metric.clone()).or_default();
                known.push(RenameStep {
                    suite: None,
                    new: new.clone(),
                    said: remark.said(),
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
        self.chain(suite, recorded, |_rename| true)
    }

    /// Returns the ids that a benchmark had when something was said: what was said later counts as
    /// little as what was undone.
    pub(crate) fn until<'n>(
        &'n self,
        suite: &str,
        recorded: &'n str,
        said: AnnotationOrder,
    ) -> Vec<&'n str> {
        self.chain(suite, recorded, |rename| rename.said < said)
    }

    fn chain<'n>(
        &'n self,
        suite: &str,
        recorded: &'n str,
        counts: impl Fn(&RenameStep) -> bool,
    ) -> Vec<&'n str> {
        let next = |id: &str| {
            let of_suite = |it: &&RenameStep| it.suite.as_deref().is_none_or(|it| it == suite);
            let mut of_id = self.renames.get(id)?.iter().filter(of_suite);
            of_id.find(|it| it.new != id && counts(it))
        };
        let mut ids = vec![recorded];
        let mut steps: Vec<&RenameStep> = Vec::new();
        while let Some(step) = ids.last().and_then(|id| next(id)) {
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
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use lapwing_model::{Annotation, Id, Object};

    /// Renames in the order in which they were said, from the first second on.
    fn names(renames: &[(&str, &str)]) -> NameHistory {
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
        NameHistory::of(&Remark::all(annotations.collect()))
    }

    /// The ids that `id` then has.
    fn ids(renames: &[(&str, &str)], id: &str) -> Vec<String> {
        let names = names(renames);
        names.all("s", id).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn what_was_said_later_is_not_known_at_the_time() {
        let names = names(&[("b", "c"), ("a", "b"), ("b", "d")]);
        let until = |second, id| {
            let said = Timestamp::from_second(second).expect("a time");
            names.until("s", id, (said, Id::measured(0, [0; 10])))
        };
        assert_eq!(until(1, "b"), ["b"]);
        assert_eq!(until(2, "a"), ["a"]);
        assert_eq!(until(3, "a"), ["a", "b", "c"]);
        assert_eq!(until(4, "a"), ["a", "b", "d"]);
        assert_eq!(until(4, "c"), ["c"]);
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
