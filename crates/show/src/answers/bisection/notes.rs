//! The results of a bisection in sentences.

use lapwing_model::text::{counted, joined, joined_with_and};
use lapwing_stats::PairDifference;

use super::{BisectedBenchmark, BisectedBranch, BisectedChange, BisectedPair, BisectionOutcome};
use crate::writing::Note;
use crate::{LookedText, percent, ratio};

/// A commit with a smaller probability is hardly likelier than others.
const LIKELY: f64 = 0.1;

impl BisectedBenchmark {
    /// Returns the conclusion in one sentence.
    pub(super) fn headline(&self) -> String {
        let id = &self.id;
        match &self.outcome {
            BisectionOutcome::BrokenEnd { label, reason } => {
                format!("`{id}` cannot be measured at {label}: {reason}")
            }
            BisectionOutcome::NoDifference => {
                let Some(ends) = self.ends.as_ref().map(|pair| &pair.difference) else {
                    return format!("the ends of `{id}` cannot be compared");
                };
                let (size, instances) = (ends.text(), ends.instances_text());
                if ends.may_differ() {
                    format!(
                        "the ends of `{id}` may differ, but not for certain: {size}, {instances}"
                    )
                } else {
                    format!(
                        "no difference between the ends of `{id}` was seen: {size}, {instances}"
                    )
                }
            }
            BisectionOutcome::Zero => {
                format!(
                    "the ends do not differ, so there is nothing to search for: `{id}` is 0 at both"
                )
            }
            BisectionOutcome::NotFound(suspects) if suspects.probability < LIKELY => {
                format!("no commit can be named as the one that changed `{id}`")
            }
            BisectionOutcome::NotFound(suspects) => format!(
                "no commit can be named; most likely {} ({})",
                suspects.last(),
                percent(suspects.probability)
            ),
            BisectionOutcome::Unfinished => format!("`{id}`: not finished"),
            BisectionOutcome::OnlyOthers(wanted) => {
                format!("no {wanted} was found: {}", self.found_text())
            }
            BisectionOutcome::Found => self.found_text(),
        }
    }

    fn found_text(&self) -> String {
        if let [only] = self.found.as_slice() {
            return self.headline_of(only);
        }
        let changes = self.found.iter().map(|it| {
            let size = ratio(it.parent.difference.value.exp());
            format!("{} ({size})", it.name())
        });
        let changes: Vec<String> = changes.collect();
        format!("`{}` was changed by {}", self.id, joined_with_and(&changes))
    }

    fn headline_of(&self, change: &BisectedChange) -> String {
        let id = &self.id;
        let part = match (&self.ends, self.unexplained) {
            (Some(ends), Some(_)) => format!(
                " by {}, a part of {}",
                ratio(change.parent.difference.value.exp()),
                ratio(ends.difference.value.exp())
            ),
            _ => format!(" by {}", ratio(change.parent.difference.value.exp())),
        };
        if change.suspects.commits.len() > 1 {
            let name = change.name();
            return format!("{name} changed `{id}`{part}, of which only the last can be measured");
        }
        let subject = change.description.as_ref().map_or("", |it| &it.subject);
        format!("{} changed `{id}`{part}: {subject}", change.name())
    }
}

impl BisectedChange {
    /// Returns the commit, or those of which one is it.
    fn name(&self) -> String {
        let suspects = &self.suspects;
        match suspects.commits.len() {
            1 => suspects.last().to_owned(),
            count => format!(
                "one of {} from {} to {}",
                counted(count, "commit"),
                suspects.first(),
                suspects.last()
            ),
        }
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let text = format!(
            "compared with its parent {}, {}: {}",
            self.parent.baseline.label,
            self.parent.difference.instances_text(),
            self.parent.difference.text()
        );
        notes.push(compared("confirmed", text, &self.parent.difference));
        let description = self.description.as_ref();
        if let Some(merge) = description.filter(|found| found.parents > 2) {
            let branches = merge.parents - 1;
            let text = format!(
                "it merged {branches} branches at once, which are not searched: bisect each of them by hand"
            );
            notes.push(Note::new("several_branches", text).with("branches", branches));
        }
        for merge in &self.merges {
            let text = format!(
                "merged by {} ({}, {}), whose branch was searched",
                merge.candidate.label,
                merge.difference.text(),
                merge.difference.instances_text()
            );
            let note = compared("merge", text, &merge.difference);
            notes.push(note.with("commit", merge.candidate.hash.clone()));
        }
        notes.extend(self.unsearched.as_ref().map(BisectedBranch::note));
        notes.extend(description.map(|found| {
            let text = format!("author: {}", found.author);
            Note::new("author", text).with("author", found.author.clone())
        }));
        notes
    }
}

/// Returns a note on a comparison, with its numbers.
fn compared(code: &'static str, text: String, difference: &PairDifference) -> Note {
    let (ratio, interval) = difference.ratio_interval();
    Note::new(code, text)
        .with("ratio", ratio)
        .with("lower", interval.lower)
        .with("upper", interval.upper)
        .with("baseline_instances", difference.instances[0])
        .with("candidate_instances", difference.instances[1])
}

/// Returns remarks on the result for a benchmark.
pub fn notes(benchmark: &BisectedBenchmark) -> Vec<Note> {
    let mut notes = Vec::new();
    for change in &benchmark.found {
        let of_several = benchmark.found.len() > 1;
        notes.extend(change.notes().into_iter().map(|mut note| {
            if of_several {
                let subject = change.description.as_ref().map_or("", |it| &it.subject);
                let name = match note.code {
                    "confirmed" if !subject.is_empty() => format!("{} ({subject})", change.name()),
                    _ => change.name(),
                };
                note.text = format!("{name}: {}", note.text);
            }
            note
        }));
    }
    let is_searched = matches!(
        benchmark.outcome,
        BisectionOutcome::Found | BisectionOutcome::NotFound(_)
    );
    // Of two commits there is one comparison.
    let is_same = |ends: &BisectedPair| {
        let mut found = benchmark.found.iter();
        found.any(|it| {
            it.parent.baseline.hash == ends.baseline.hash
                && it.parent.candidate.hash == ends.candidate.hash
        })
    };
    let ends = benchmark.ends.as_ref();
    if let Some(ends) = ends.filter(|ends| is_searched && !is_same(ends)) {
        let text = format!(
            "between the ends: {}, {}",
            ends.difference.text(),
            ends.difference.instances_text()
        );
        notes.push(compared("ends", text, &ends.difference));
    }
    if let (Some(rest), true) = (benchmark.unexplained, !benchmark.found.is_empty()) {
        let rest = rest.exp();
        let text = format!(
            "the rest of that, {}, was searched and not found: it may be several small changes, or ones that cancel",
            ratio(rest)
        );
        notes.push(Note::new("unexplained", text).with("ratio", rest));
    }
    if benchmark.refuted > 0 {
        let commits = counted(benchmark.refuted, "commit");
        let parents = if benchmark.refuted == 1 {
            "its parent"
        } else {
            "their parents"
        };
        let text = format!(
            "comparing {commits} with {parents} did not confirm the change, and the search went on"
        );
        notes.push(Note::new("refuted", text).with("commits", benchmark.refuted));
    }
    match &benchmark.outcome {
        BisectionOutcome::NoDifference => {
            let may_differ = benchmark.ends.as_ref().is_some_and(|pair| pair.difference.may_differ());
            let text = if may_differ {
                "the interval is that of one look, and several looks at the results need a clearer difference: more \
                 instances (--instances) or a less noisy metric (--metric) may tell"
            } else {
                "the change may be smaller than can be seen here, come from elsewhere, or not exist"
            };
            notes.push(Note::new("no_difference", text));
        }
        BisectionOutcome::NotFound(_) => notes.push(Note::new(
            "not_found",
            "more instances (--instances, --max-instances) or a less noisy metric may tell; several small changes may \
             not be told apart",
        )),
        _ => {}
    }
    if !benchmark.broken.is_empty() {
        let broken = benchmark.broken.iter();
        let broken = broken.map(|(label, reason)| format!("{label} ({reason})"));
        let text = format!("cannot be measured: {}", joined(broken));
        notes.push(Note::new("broken", text).with("commits", benchmark.broken.len()));
    }
    notes
}

impl BisectedBranch {
    fn note(&self) -> Note {
        let text = format!("it is a merge: {}", self.text());
        match self {
            Self::BrokenEnd(_) | Self::NotFound(_) => Note::new("unsearched_merge", text),
            Self::NoDifference(pair) => compared("unsearched_merge", text, &pair.difference),
        }
    }

    /// Returns why the branch gives no answer.
    pub(super) fn text(&self) -> String {
        match self {
            Self::BrokenEnd(label) => {
                format!("{label}, an end of its branch, cannot be measured")
            }
            Self::NotFound(suspects) => format!(
                "no commit of its branch can be named; most likely {} ({})",
                suspects.last(),
                percent(suspects.probability)
            ),
            Self::NoDifference(pair) => format!(
                "its branch, from {} to {}, does not show the difference, {}: {}",
                pair.baseline.label,
                pair.candidate.label,
                pair.difference.instances_text(),
                pair.difference.text()
            ),
        }
    }
}
