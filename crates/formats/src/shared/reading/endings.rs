//! Files in folders that are not read, by their endings.

use std::collections::BTreeMap;

/// Endings to spell out; of the others only the number is said.
const SHOWN: usize = 5;

/// The numbers of files in folders by ending, of endings that are not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OtherEndings {
    files: BTreeMap<String, u64>,
}

impl OtherEndings {
    /// Counts a file.
    pub(crate) fn add(&mut self, name: &str) {
        let ending = match name.rsplit_once('.') {
            Some((_, ending)) => format!(".{ending}"),
            None => "without".to_owned(),
        };
        *self.files.entry(ending).or_default() += 1;
    }

    /// Adds those of other folders.
    pub(crate) fn append(&mut self, other: Self) {
        for (ending, files) in other.files {
            *self.files.entry(ending).or_default() += files;
        }
    }

    /// Returns how many files there are.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files.values().sum()
    }

    /// Returns the endings with their files, the most frequent first, as in `2 .md, 1 .py`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut endings: Vec<_> = self.files.iter().collect();
        endings.sort_by_key(|&(ending, &files)| (std::cmp::Reverse(files), ending));
        let shown = endings.iter().take(SHOWN);
        let mut parts: Vec<String> = shown
            .map(|(ending, files)| format!("{files} {ending}"))
            .collect();
        let more: u64 = endings.iter().skip(SHOWN).map(|(_, files)| **files).sum();
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_endings_are_spelled_out() {
        let mut endings = OtherEndings::default();
        for name in ["a.py", "README", "b.md", "c.md", "d.x.toml"] {
            endings.add(name);
        }
        assert_eq!(endings.text(), "2 .md, 1 .py, 1 .toml, 1 without");
        for name in ["e.h", "f.i", "g.i", "h.j"] {
            endings.add(name);
        }
        assert_eq!(endings.text(), "2 .i, 2 .md, 1 .h, 1 .j, 1 .py, 2 more");
        assert_eq!(endings.files(), 9);
    }
}
