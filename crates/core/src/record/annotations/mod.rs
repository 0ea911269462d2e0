//! What people said of measurements later, and what it comes to when these are read.
//!
//! An annotation changes no measurement. Whoever reads the store sees benchmarks and metrics
//! under the names that they have now, and without what was retired; `restore` undoes an
//! annotation, and is one itself.

mod change;
mod names;

use std::collections::BTreeMap;

use crate::model::{Annotation, Id};

pub use change::{Change, Retirement};
pub(crate) use names::Names;

/// An annotation and whether it still holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// The annotation.
    pub annotation: Annotation,
    /// What it asks for; `None` where this program does not act on it.
    pub change: Option<Change>,
    /// The annotation that undoes it; `None` while it holds.
    pub undone_by: Option<Id>,
}

impl Remark {
    /// Returns all annotations by the time at which they were said, and which of them hold.
    ///
    /// It does not matter in which order they came: of two that contradict each other the one
    /// with the later time wins, and of two with the same time the one with the larger id.
    pub fn all(mut annotations: Vec<Annotation>) -> Vec<Self> {
        annotations.sort_by_key(|it| (it.at, it.id));
        let mut undone: BTreeMap<Id, Id> = BTreeMap::new();
        // From the last one: a restoration that was itself undone undoes nothing.
        for annotation in annotations.iter().rev() {
            if let Some(Change::Restore { annotation: target }) = Change::of(annotation)
                && !undone.contains_key(&annotation.id)
            {
                undone.entry(target).or_insert(annotation.id);
            }
        }
        annotations
            .into_iter()
            .map(|annotation| Self {
                change: Change::of(&annotation),
                undone_by: undone.get(&annotation.id).copied(),
                annotation,
            })
            .collect()
    }

    /// Returns what it asks for, where it holds.
    pub fn active(&self) -> Option<&Change> {
        self.change.as_ref().filter(|_| self.undone_by.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;

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

    fn retire() -> Change {
        Change::Retire(Retirement {
            suite: None,
            benchmark: "a".to_owned(),
            metric: None,
            version: None,
            before: "2026-01-01T00:00:00Z".parse().expect("a time"),
        })
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
}
