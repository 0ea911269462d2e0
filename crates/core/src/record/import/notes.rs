//! Account of what an import left out, and of what it kept without understanding it.

use std::collections::BTreeMap;

/// Names to remember for each reason; the others are only counted.
const REMEMBERED: usize = 40;

/// What happened to something that is no measurement of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Whether it is in the store.
    pub kept: bool,
    /// What, by the names that the source has for it.
    pub what: Vec<String>,
    /// How many names more there were.
    pub more: u64,
    /// Why it is left out, or where it is kept.
    pub why: &'static str,
}

/// The account.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// By kept and reason: names, and how many names more.
    account: BTreeMap<(bool, &'static str), (Vec<String>, u64)>,
}

/// Follows from the samples, which are kept.
pub(super) const FOLLOWS: &str = "they follow from the samples";

impl Notes {
    /// Notes that something of that name is left out, for every such reason once.
    pub(super) fn left(&mut self, what: &str, why: &'static str) {
        self.note(false, what, why);
    }

    /// Notes that a key that is not understood is kept, and where.
    pub(super) fn kept(&mut self, what: &str, place: &'static str) {
        self.note(true, what, place);
    }

    /// Adds another account.
    pub(super) fn add(&mut self, other: Self) {
        for ((kept, why), (names, more)) in other.account {
            for name in &names {
                self.note(kept, name, why);
            }
            if more > 0 {
                self.account.entry((kept, why)).or_default().1 += more;
            }
        }
    }

    fn note(&mut self, kept: bool, what: &str, why: &'static str) {
        let (names, more) = self.account.entry((kept, why)).or_default();
        if names.iter().any(|name| name == what) {
            return;
        }
        if names.len() < REMEMBERED {
            names.push(what.to_owned());
        } else {
            *more += 1;
        }
    }

    pub(super) fn into_list(self) -> Vec<Note> {
        self.account
            .into_iter()
            .map(|((kept, why), (what, more))| Note {
                kept,
                what,
                more,
                why,
            })
            .collect()
    }
}
