//! The results of a bisection in sentences.

use lapwing_model::text::{counted, joined};
use lapwing_stats::LookedDifference;

use super::{
    BisectedBenchmark, BisectedBranch, BisectionOutcome, CommitDescription, SuspectCommits,
};
use crate::writing::Note;
use crate::{LookedText, percent};

impl BisectedBenchmark {
    /// Returns the conclusion in one sentence.
    pub(super) fn headline(&self) -> String {
        let id = &self.id;
        let SuspectCommits {
            first,
            last,
            count,
            probability,
        } = &self.suspects;
        match &self.outcome {
            BisectionOutcome::BrokenEnd { label, reason } => {
                format!("`{id}` cannot be measured at {label}: {reason}")
            }
            BisectionOutcome::NoDifference => {
                let ends = self.ends.as_ref();
                format!(
                    "no difference between the ends to search for: `{id}` {}",
                    ends.map_or_else(String::new, |pair| pair.looked.text())
                )
            }
            BisectionOutcome::OutOfBudget => format!(
                "not found within the budget; most likely {} ({})",
                last.label,
                percent(*probability)
            ),
            BisectionOutcome::Unfinished => format!("`{id}`: not finished"),
            BisectionOutcome::Found(_) if *count > 1 => format!(
                "one of {} from {} to {} changed `{id}`, of which only the last can be measured",
                counted(*count, "commit"),
                first.label,
                last.label
            ),
            BisectionOutcome::Found(description) => {
                let subject = description.as_ref().map_or("", |found| &found.subject);
                format!("{} changed `{id}`: {subject}", last.label)
            }
        }
    }
}

/// Returns a note on a comparison, with its numbers.
fn compared(code: &'static str, text: String, looked: &LookedDifference) -> Note {
    let (ratio, interval) = looked.ratio();
    Note::new(code, text)
        .with("ratio", ratio)
        .with("lower", interval.lower)
        .with("upper", interval.upper)
        .with("baseline_instances", looked.instances[0])
        .with("candidate_instances", looked.instances[1])
}

/// Returns remarks on the result for a benchmark.
pub fn notes(benchmark: &BisectedBenchmark) -> Vec<Note> {
    let mut notes = Vec::new();
    let is_found = matches!(benchmark.outcome, BisectionOutcome::Found(_));
    if let Some(parent) = benchmark.parent.as_ref().filter(|_| is_found) {
        let looked = &parent.looked;
        let (label, instances, ratio) = (
            &parent.baseline.label,
            looked.instances_text(),
            looked.text(),
        );
        let is_of_found = parent.candidate.hash == benchmark.suspects.last.hash;
        let (code, text) = if looked.is_certain && is_of_found {
            let text = format!(
                "compared with {label}, by {instances} that the search did not use: {ratio}"
            );
            ("confirmed", text)
        } else {
            let text = format!(
                "compared with {label}, no difference is certain after {instances}: {ratio}; the search may be \
                 wrong, or there are several small changes"
            );
            ("unconfirmed", text)
        };
        notes.push(compared(code, text, looked));
    }
    if benchmark.confirmations > 1 {
        let commits = benchmark.confirmations - 1;
        let text = format!(
            "{} before it did not differ from their parents, and the search went on",
            counted(commits, "commit")
        );
        notes.push(Note::new("refuted", text).with("commits", commits));
    }
    let description = description(benchmark);
    if let Some(merge) = description.filter(|found| found.parents > 2) {
        let branches = merge.parents - 1;
        let text = format!(
            "it merged {branches} branches at once, which are not searched: bisect each of them by hand"
        );
        notes.push(Note::new("several_branches", text).with("branches", branches));
    }
    for (merge, looked) in &benchmark.merges {
        let text = format!(
            "merged by {} ({}, by {}), whose branch was searched",
            merge.label,
            looked.text(),
            looked.instances_text()
        );
        notes.push(compared("merge", text, looked).with("commit", merge.hash.clone()));
    }
    if let Some(ends) = benchmark
        .ends
        .as_ref()
        .filter(|ends| ends.looked.is_certain)
    {
        let text = format!(
            "between the ends: {}, by {}",
            ends.looked.text(),
            ends.looked.instances_text()
        );
        notes.push(compared("ends", text, &ends.looked));
    }
    if let BisectionOutcome::NoDifference = benchmark.outcome {
        notes.push(Note::new(
            "no_difference",
            "the change may be smaller than can be seen with so few instances (--instances), come from elsewhere, or not \
             exist",
        ));
    }
    if let Some(branch) = &benchmark.unsearched {
        notes.push(branch.note());
    }
    notes.extend(description.map(|found| {
        let text = format!("author: {}", found.author);
        Note::new("author", text).with("author", found.author.clone())
    }));
    if !benchmark.broken.is_empty() {
        let broken = benchmark.broken.iter();
        let broken = broken.map(|(label, reason)| format!("{label} ({reason})"));
        let text = format!("cannot be measured: {}", joined(broken));
        notes.push(Note::new("broken", text).with("commits", benchmark.broken.len()));
    }
    notes
}

fn description(benchmark: &BisectedBenchmark) -> Option<&CommitDescription> {
    match &benchmark.outcome {
        BisectionOutcome::Found(description) => description.as_ref(),
        BisectionOutcome::Unfinished
        | BisectionOutcome::NoDifference
        | BisectionOutcome::BrokenEnd { .. }
        | BisectionOutcome::OutOfBudget => None,
    }
}

impl BisectedBranch {
    fn note(&self) -> Note {
        let text = format!("it is a merge: {}", self.text());
        match self {
            Self::BrokenEnd(_) => Note::new("unsearched_merge", text),
            Self::NoDifference { looked, .. } => compared("unsearched_merge", text, looked),
        }
    }

    /// Returns why the branch gives no answer.
    pub(super) fn text(&self) -> String {
        match self {
            Self::BrokenEnd(label) => {
                format!("{label}, an end of its branch, cannot be measured")
            }
            Self::NoDifference { ends, looked } => format!(
                "its branch, from {} to {}, does not show the difference by {}: {}",
                ends[0],
                ends[1],
                looked.instances_text(),
                looked.text()
            ),
        }
    }
}
