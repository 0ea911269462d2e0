//! Later annotations of measurements, and their effect on reading.
//!
//! An annotation changes no measurement. Readers of the store get benchmarks and metrics
//! under their current names, without retired measurements; `restore` undoes an
//! annotation, and is one itself.

mod change;
mod counts;
mod names;
mod triage;
mod undone;

use std::collections::BTreeMap;

use jiff::Timestamp;

use lapwing_model::{Annotation, Id};

pub use change::{Change, Retirement};
pub use counts::AnnotationCounts;
pub use names::NameHistory;
pub use triage::{Triage, TriageState};

/// When something was said, and its id: the order of annotations.
pub(crate) type AnnotationOrder = (Timestamp, Id);

/// An annotation and whether it still holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// The annotation.
    pub annotation: Annotation,
    /// What it asks for; `None` where this program does not act on it.
    pub change: Option<Change>,
    /// The annotation that undoes it; `None` while it holds.
    pub undone_by: Option<Id>,
    /// A later active annotation that replaces it.
    pub superseded_by: Option<Id>,
}

impl Remark {
    /// Returns all annotations by the time at which they were said, and which of them hold.
    ///
    /// It does not matter in which order they came: of two that contradict each other the one
    /// with the later time wins, and of two with the same time the one with the larger id. What
    /// undoes what is told by ids alone, since the clocks of two machines may differ.
    pub fn all(mut annotations: Vec<Annotation>) -> Vec<Self> {
        annotations.sort_by_key(|it| (it.at, it.id));
        let restorations: Vec<(Id, Id)> = annotations
            .iter()
            .filter_map(|annotation| Some((annotation.id, Change::of(annotation)?.restored()?)))
            .collect();
        let undone = undone::undone(&restorations);
        let mut remarks: Vec<Self> = annotations
            .into_iter()
            .map(|annotation| Self {
                change: Change::of(&annotation),
                undone_by: undone.get(&annotation.id).copied(),
                superseded_by: None,
                annotation,
            })
            .collect();
        supersede(&mut remarks);
        remarks
    }

    /// Returns the annotation that it is about in the end: a restoration of a restoration is about
    /// what the first one undid. `None` where that is not known.
    pub fn meant<'r>(&'r self, all: &'r [Self]) -> Option<&'r Self> {
        let mut remark = self;
        // Restorations that go round in a circle are about nothing.
        for _step in 0..=all.len() {
            let Change::Restore { annotation } = remark.change.as_ref()? else {
                return Some(remark);
            };
            remark = all.iter().find(|it| it.annotation.id == *annotation)?;
        }
        None
    }

    /// Returns its place in the order of annotations.
    pub(crate) fn said(&self) -> AnnotationOrder {
        (self.annotation.at, self.annotation.id)
    }

    /// Returns whether it is about what was recorded under an id, whether or not it holds.
    ///
    /// A rename is about a benchmark that has or had its id. A retirement is about what had its id
    /// when it was said: what gets that id by a later rename is something else.
    pub fn is_about(&self, names: &NameHistory, suite: &str, recorded: &str) -> bool {
        let Some(change) = &self.change else {
            return false;
        };
        let ids = match change {
            Change::Retire(_) | Change::Triage(_) => names.until(suite, recorded, self.said()),
            Change::Rename { .. }
            | Change::RenameMetric { .. }
            | Change::Restore { .. }
            | Change::Withdraw { .. } => names.all(suite, recorded),
        };
        change.is_about(suite, &ids)
    }

    /// Returns what it asks for, where it holds.
    pub fn active(&self) -> Option<&Change> {
        self.change.as_ref().filter(|_| self.undone_by.is_none())
    }
}

/// Notes which renames later ones have taken the place of.
fn supersede(remarks: &mut [Remark]) {
    let mut later: BTreeMap<String, Vec<(Id, Change)>> = BTreeMap::new();
    for remark in remarks.iter_mut().rev() {
        let Some(change) = remark.active().cloned() else {
            continue;
        };
        let name = match &change {
            Change::Rename { benchmark, .. } | Change::RenameMetric { benchmark, .. } => benchmark,
            Change::Retire(_)
            | Change::Triage(_)
            | Change::Restore { .. }
            | Change::Withdraw { .. } => continue,
        };
        let known = later.entry(name.clone()).or_default();
        let winner = known.iter().find(|(_, it)| it.supersedes(&change));
        remark.superseded_by = winner.map(|(id, _)| *id);
        if remark.superseded_by.is_none() {
            known.push((remark.annotation.id, change));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_model::Object;

    fn annotation(number: u8, at: &str, change: &Change) -> Annotation {
        Annotation {
            id: Id::measured(u64::from(number), [number; 10]),
            at: at.parse().expect("a time"),
            by: "a".to_owned(),
            action: change.action().to_owned(),
            target: change.target(),
            reason: None,
            extra: Object::new(),
        }
    }

    fn retirement() -> Retirement {
        Retirement {
            suite: None,
            benchmark: "a".to_owned(),
            exactly: false,
            metric: None,
            version: None,
            before: "2026-01-01T00:00:00Z".parse().expect("a time"),
        }
    }

    fn retire() -> Change {
        Change::Retire(retirement())
    }

    #[test]
    fn a_restoration_undoes_and_can_be_undone_in_whatever_order_they_came() {
        let first = annotation(1, "2026-01-01T00:00:00Z", &retire());
        let restore = |number, at, target: &Annotation| {
            let change = Change::Restore {
                annotation: target.id,
            };
            annotation(number, at, &change)
        };
        let second = restore(2, "2026-01-02T00:00:00Z", &first);
        let third = restore(3, "2026-01-03T00:00:00Z", &second);
        let holds = |mut all: Vec<Annotation>| {
            let forwards: Vec<bool> = Remark::all(all.clone())
                .iter()
                .map(|it| it.undone_by.is_none())
                .collect();
            all.reverse();
            let backwards: Vec<bool> = Remark::all(all)
                .iter()
                .map(|it| it.undone_by.is_none())
                .collect();
            assert_eq!(forwards, backwards);
            forwards
        };
        assert_eq!(holds(vec![first.clone()]), [true]);
        assert_eq!(holds(vec![first.clone(), second.clone()]), [false, true]);
        assert_eq!(holds(vec![first, second, third]), [true, false, true]);
    }

    #[test]
    fn what_undoes_what_is_told_by_ids_and_not_by_clocks() {
        let restore = |number, at, target: &Annotation| {
            let change = Change::Restore {
                annotation: target.id,
            };
            annotation(number, at, &change)
        };
        let first = annotation(1, "2026-01-01T00:00:00Z", &retire());
        // A clock that is a month ahead, and another one that is right.
        let second = restore(2, "2026-02-02T00:00:00Z", &first);
        let third = restore(3, "2026-01-03T00:00:00Z", &second);
        let all = Remark::all(vec![third.clone(), second.clone(), first.clone()]);
        let state: BTreeMap<Id, Option<Id>> = all
            .iter()
            .map(|it| (it.annotation.id, it.undone_by))
            .collect();
        let expected = [
            (first.id, None),
            (second.id, Some(third.id)),
            (third.id, None),
        ];
        assert_eq!(state, BTreeMap::from(expected));
        let last = all.iter().find(|it| it.annotation.id == third.id);
        let meant = last.and_then(|it| it.meant(&all));
        assert_eq!(meant.map(|it| it.annotation.id), Some(first.id));
    }

    #[test]
    fn a_rename_that_a_later_one_took_the_place_of_says_so() {
        let rename = |suite: Option<&str>, new: &str| Change::Rename {
            suite: suite.map(str::to_owned),
            benchmark: "a".to_owned(),
            new: new.to_owned(),
        };
        let first = annotation(1, "2026-01-01T00:00:00Z", &rename(Some("s"), "b"));
        let other = annotation(2, "2026-01-02T00:00:00Z", &rename(Some("t"), "b"));
        let last = annotation(3, "2026-01-03T00:00:00Z", &rename(Some("s"), "c"));
        let by = last.id;
        let all = Remark::all(vec![first, other, last]);
        let superseded: Vec<Option<Id>> = all.iter().map(|it| it.superseded_by).collect();
        assert_eq!(superseded, [Some(by), None, None]);
    }

    #[test]
    fn an_id_that_looks_like_a_pattern_is_kept_apart_from_one() {
        let pattern = Retirement {
            benchmark: "cat *.txt".to_owned(),
            ..retirement()
        };
        let exact = Retirement {
            exactly: true,
            ..pattern.clone()
        };
        for (retirement, about) in [(pattern, true), (exact, false)] {
            let said = annotation(
                1,
                "2026-01-01T00:00:00Z",
                &Change::Retire(retirement.clone()),
            );
            assert_eq!(Change::of(&said), Some(Change::Retire(retirement.clone())));
            assert_eq!(retirement.is_about("s", &["cat a.txt"]), about);
            assert!(retirement.is_about("s", &["cat *.txt"]));
        }
    }

    #[test]
    fn an_acceptance_without_an_end_is_not_acted_upon() {
        let accepted = |version: Option<&str>, before: Option<&str>| {
            Change::Triage(Triage {
                suite: None,
                benchmark: "*".to_owned(),
                exactly: false,
                metric: None,
                state: TriageState::Accepted,
                session: None,
                version: version.map(str::to_owned),
                before: before.map(|before| before.parse().expect("a time")),
            })
        };
        let read = |change: &Change| Change::of(&annotation(1, "2026-01-01T00:00:00Z", change));
        for change in [
            accepted(Some("v1"), None),
            accepted(None, Some("2026-01-01T00:00:00Z")),
        ] {
            assert_eq!(read(&change), Some(change));
        }
        assert_eq!(read(&accepted(None, None)), None);
    }

    #[test]
    fn an_annotation_with_an_empty_name_is_not_acted_upon() {
        let change = Change::Rename {
            suite: None,
            benchmark: "a".to_owned(),
            new: String::new(),
        };
        assert_eq!(
            Change::of(&annotation(1, "2026-01-01T00:00:00Z", &change)),
            None
        );
    }
}
