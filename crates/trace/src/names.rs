//! Texts as numbers.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// A map whose keys are hashed quickly.
pub(crate) type FastMap<K, V> = HashMap<K, V, RandomState>;

/// The number of a text in [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(
    /// The number.
    pub u32,
);

impl Name {
    /// The empty text.
    pub const EMPTY: Self = Self(0);
}

/// The texts of a trace, each of which is kept once.
#[derive(Debug, Clone)]
pub struct Names {
    texts: Vec<Box<str>>,
    known: FastMap<Box<str>, Name>,
}

impl Default for Names {
    fn default() -> Self {
        let empty: Box<str> = "".into();
        Self {
            texts: vec![empty.clone()],
            known: FastMap::from_iter([(empty, Name::EMPTY)]),
        }
    }
}

impl Names {
    /// Returns the number of a text.
    ///
    /// # Panics
    /// With more than four thousand million texts.
    pub fn intern(&mut self, text: &str) -> Name {
        if text.is_empty() {
            return Name::EMPTY;
        }
        if let Some(name) = self.known.get(text) {
            return *name;
        }
        let number = u32::try_from(self.texts.len()).expect("fewer than 2³² texts");
        self.texts.push(text.into());
        self.known.insert(text.into(), Name(number));
        Name(number)
    }

    /// Returns all texts, by their numbers.
    pub fn texts(&self) -> &[Box<str>] {
        &self.texts
    }

    /// Returns the text of a number.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}
