//! The sides that the runs of a store offer, for hints.

use super::SideKind;
use super::filter::RunKey;
use lapwing_record::RunHead;

/// The sides available in some runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownSides {
    /// As they are written: `variant:fast`, `version:2.1`.
    names: Vec<String>,
    /// Whether there are more.
    more: bool,
}

impl KnownSides {
    /// Returns the sides as they are written.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the same with another one before them.
    pub(super) fn and_first(mut self, first: Option<String>) -> Self {
        self.names.splice(..0, first);
        self
    }

    /// Returns the sides of a kind, or of every kind, that these runs offer.
    pub fn among(runs: &[RunHead], kind: Option<SideKind>) -> Self {
        /// The most sides to list.
        const SHOWN: usize = 6;
        let mut names: Vec<String> = Vec::new();
        let keys = [RunKey::Variant, RunKey::Version, RunKey::Session];
        let is_asked = |key: &RunKey| kind.is_none_or(|kind| kind == SideKind::Runs(*key));
        for key in keys.into_iter().filter(is_asked) {
            for run in runs {
                let text = match key {
                    RunKey::Session => run.session_name.clone(),
                    _ => key.of(run),
                };
                let written = text.map(|text| format!("{}:{text}", key.name()));
                if let Some(written) = written
                    && !names.contains(&written)
                {
                    names.push(written);
                }
            }
        }
        let more = names.len() > SHOWN;
        names.truncate(SHOWN);
        Self { names, more }
    }

    /// Returns `available: variant:fast, version:2.1 and more`; `None` if there is none.
    pub fn text(&self) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let rest = if self.more { " and more" } else { "" };
        Some(format!("available: {}{rest}", self.names.join(", ")))
    }
}
