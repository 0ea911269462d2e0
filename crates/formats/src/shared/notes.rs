//! Account of what an import left out, and of what it kept without understanding it.

use std::collections::BTreeMap;

/// Names to remember for each reason; the others are only counted.
const REMEMBERED: usize = 40;

/// The fate of something that is no measurement of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Whether it is in the store.
    pub kept: bool,
    /// Its names in the source.
    pub what: Vec<String>,
    /// The number of further names.
    pub more: u64,
    /// The reason why it is left out, or the place where it is kept.
    pub why: &'static str,
}

/// The word before the number of a line that has no other name.
const LINE: &str = "line ";

impl Note {
    /// Returns whether lines are named by their numbers, which mean something else in every
    /// source.
    #[must_use]
    pub fn names_lines(&self) -> bool {
        let is_line = |name: &String| {
            let number = name.strip_prefix(LINE).map(str::parse::<u64>);
            number.is_some_and(|number| number.is_ok())
        };
        self.what.iter().all(is_line)
    }

    /// Returns the names, with the source's where they are lines.
    #[must_use]
    pub fn names_in(&self, source: &str) -> Vec<String> {
        if !self.names_lines() {
            return self.what.clone();
        }
        let in_source = |name: &String| name.replacen(LINE, &format!("{source}:"), 1);
        self.what.iter().map(in_source).collect()
    }
}

/// The account.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// By kept and reason: names, and how many names more.
    account: BTreeMap<(bool, &'static str), (Vec<String>, u64)>,
}

/// Follows from the samples, which are kept.
pub(crate) const FOLLOWS: &str = "they follow from the samples";

impl Notes {
    /// Notes that something of that name is left out, for every such reason once.
    pub(crate) fn left(&mut self, what: &str, why: &'static str) {
        self.note(false, what, why);
    }

    /// Notes that a line is left out that has nothing but its number to name it by.
    pub(crate) fn left_line(&mut self, line: u64, why: &'static str) {
        self.left(&format!("{LINE}{line}"), why);
    }

    /// Notes that a key that is not understood is kept, and where.
    pub(crate) fn kept(&mut self, what: &str, place: &'static str) {
        self.note(true, what, place);
    }

    /// Notes that keys that are not understood are kept, and where.
    pub(crate) fn kept_all<'k>(
        &mut self,
        keys: impl IntoIterator<Item = &'k String>,
        place: &'static str,
    ) {
        for key in keys {
            self.kept(key, place);
        }
    }

    /// Adds another account.
    pub(crate) fn add(&mut self, other: Self) {
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

    pub(crate) fn into_list(self) -> Vec<Note> {
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
