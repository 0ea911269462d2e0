//! Annotations by author, for people.

use std::collections::BTreeMap;

use super::change::Change;
use super::triage::TriageState;
use lapwing_model::Annotation;
use lapwing_model::text::counted;

/// Counts the annotations that change what is read or judged, by kind and author.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnotationCounts {
    counts: BTreeMap<(&'static str, String), u64>,
}

impl AnnotationCounts {
    /// Counts one more, unless it changes nothing of what is read or judged.
    pub fn add(&mut self, annotation: &Annotation) {
        if let Some(noun) = noun(annotation) {
            let key = (noun, annotation.by.clone());
            *self.counts.entry(key).or_default() += 1;
        }
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        for (key, count) in &other.counts {
            *self.counts.entry(key.clone()).or_default() += count;
        }
    }

    /// Returns how many there are.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns each kind with its author and number: `mute`, `Ann`, 3.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, &str, u64)> {
        let counts = self.counts.iter();
        counts.map(|((noun, by), count)| (*noun, by.as_str(), *count))
    }

    /// Returns the authors, each once.
    pub fn authors(&self) -> Vec<String> {
        let mut authors: Vec<String> = self.rows().map(|(_, by, _)| by.to_owned()).collect();
        authors.sort();
        authors.dedup();
        authors
    }

    /// Returns a part of a sentence: `3 mutes by Ann, 1 rename by Ben`.
    pub fn text(&self) -> String {
        const NAMED: usize = 5;
        let rows = self.rows().take(NAMED);
        let mut texts: Vec<String> = rows
            .map(|(noun, by, count)| format!("{} by {by}", counted(count, noun)))
            .collect();
        let others = self.counts.len().saturating_sub(NAMED);
        if others > 0 {
            texts.push(format!("{others} more"));
        }
        texts.join(", ")
    }
}

fn noun(annotation: &Annotation) -> Option<&'static str> {
    Some(match Change::of(annotation)? {
        Change::Rename { .. } | Change::RenameMetric { .. } => "rename",
        Change::Retire(_) => "retirement",
        Change::Restore { .. } => "restoration",
        Change::Withdraw { .. } => return None,
        Change::Triage(triage) => match triage.state {
            TriageState::Acknowledged => "acknowledgement",
            TriageState::Explained => "explanation",
            TriageState::Expected => "announcement",
            TriageState::Muted => "mute",
            TriageState::Accepted => "acceptance",
            TriageState::Notified => "notification",
        },
    })
}
