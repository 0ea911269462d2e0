//! The commits that changed benchmarks: `lapwing bisect`.

use std::io::Write;

use lapwing_model::text::{counted, joined};
use lapwing_stats::LookedDifference;
use serde::Serialize;
use serde_json::{Value, json};

use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerFormat, Table, TextAnswer, WriteError, uncoded, write_csv, write_json};
use crate::{LookedText, percent, quantity};

/// Smaller probabilities are not shown.
const SMALL: f64 = 0.005;

/// The results of a bisection.
#[derive(Debug)]
pub struct BisectionAnswer {
    /// The metric that was searched by.
    pub metric: String,
    /// Whether the search was interrupted.
    pub is_interrupted: bool,
    /// Number of measured instances.
    pub instances: usize,
    /// Number of visited commits.
    pub visited: usize,
    /// Number of commits.
    pub commits: usize,
    /// The results by benchmark.
    pub benchmarks: Vec<BisectedBenchmark>,
}

/// The result for one benchmark.
#[derive(Debug)]
pub struct BisectedBenchmark {
    /// The id of the benchmark.
    pub id: String,
    /// The unit of the metric.
    pub unit: String,
    /// The end of the search.
    pub outcome: BisectionOutcome,
    /// The likeliest commit is the last of these.
    pub suspects: SuspectCommits,
    /// The comparison of the ends.
    pub ends: Option<BisectedPair>,
    /// The comparison of the likeliest commit with its parent.
    pub parent: Option<BisectedPair>,
    /// Number of comparisons with a parent.
    pub confirmations: usize,
    /// Merges whose branches were searched, each with the comparison that found it.
    pub merges: Vec<(BisectedCommit, LookedDifference)>,
    /// Why the branch of the merge that was found has no answer.
    pub unsearched: Option<BisectedBranch>,
    /// Commits that were measured, or that may be the one.
    pub rows: Vec<BisectRow>,
    /// Labels of commits that cannot be measured, and why.
    pub broken: Vec<(String, String)>,
}

/// The end of a search.
#[derive(Debug)]
pub enum BisectionOutcome {
    /// It was not finished.
    Unfinished,
    /// The ends do not differ enough.
    NoDifference,
    /// An end cannot be measured.
    BrokenEnd {
        /// The label of the end.
        label: String,
        /// Why not.
        reason: String,
    },
    /// The budget ended before a commit was found.
    OutOfBudget,
    /// A commit was found.
    Found(Option<CommitDescription>),
}

/// The description of a commit.
#[derive(Debug)]
pub struct CommitDescription {
    /// The first line of its message.
    pub subject: String,
    /// Its author.
    pub author: String,
    /// Number of its parents.
    pub parents: usize,
}

/// A commit, or the working tree.
#[derive(Debug, Clone)]
pub struct BisectedCommit {
    /// Its short hash, with its name if it has one.
    pub label: String,
    /// Its hash.
    pub hash: String,
}

/// The commits of which one made the change.
#[derive(Debug)]
pub struct SuspectCommits {
    /// The first one.
    pub first: BisectedCommit,
    /// The last one, which alone can be measured if there are several.
    pub last: BisectedCommit,
    /// Their number.
    pub count: usize,
    /// The probability that it is one of them.
    pub probability: f64,
}

/// Two commits that were compared.
#[derive(Debug)]
pub struct BisectedPair {
    /// The baseline.
    pub baseline: BisectedCommit,
    /// The candidate.
    pub candidate: BisectedCommit,
    /// Their difference.
    pub looked: LookedDifference,
}

/// A branch that gives no answer.
#[derive(Debug)]
pub enum BisectedBranch {
    /// This end of it cannot be measured.
    BrokenEnd(String),
    /// Its ends do not show the difference.
    NoDifference {
        /// The labels of both ends.
        ends: [String; 2],
        /// Their difference.
        looked: Box<LookedDifference>,
    },
}

/// A commit that was measured, or that may be the one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BisectRow {
    /// The id of the benchmark.
    pub benchmark: String,
    /// The hash of the commit.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// Number of instances that the search used.
    pub instances: usize,
    /// Their geometric mean.
    pub mean: Option<f64>,
    /// The probability that it is the one.
    pub probability: f64,
    /// Why it cannot be measured.
    pub broken: Option<String>,
    /// The label of the commit.
    #[serde(skip)]
    pub label: String,
}

impl BisectionAnswer {
    /// Writes the answer in a format; `room` is the width of the terminal, if it is one.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn write(
        &self,
        format: AnswerFormat,
        room: Option<usize>,
        out: &mut dyn Write,
    ) -> Result<(), WriteError> {
        match format {
            AnswerFormat::Json => write_json(&self.json(), out),
            AnswerFormat::Csv => {
                let rows = self.benchmarks.iter().flat_map(|benchmark| &benchmark.rows);
                write_csv(&rows.cloned().collect::<Vec<_>>(), out)
            }
            AnswerFormat::Markdown => {
                for benchmark in &self.benchmarks {
                    self.text(benchmark).markdown(out)?;
                    writeln!(out)?;
                }
                Ok(())
            }
            AnswerFormat::Text => {
                for (at, benchmark) in self.benchmarks.iter().enumerate() {
                    if at > 0 {
                        writeln!(out)?;
                    }
                    self.text(benchmark).text(room, out)?;
                }
                Ok(())
            }
        }
    }

    fn json(&self) -> Value {
        let benchmarks = self.benchmarks.iter();
        json!({
            "metric": self.metric,
            "instances": self.instances,
            "builds": self.visited,
            "benchmarks": benchmarks.map(BisectedBenchmark::json).collect::<Vec<_>>(),
        })
    }

    fn text(&self, benchmark: &BisectedBenchmark) -> TextAnswer {
        let mut table = Table::new(&[
            ("commit", Left),
            ("subject", Left),
            ("instances", Right),
            (&self.metric, Right),
            ("probability", Right),
        ]);
        for row in &benchmark.rows {
            let mean = row.mean.map(|mean| quantity(mean, &benchmark.unit));
            table.row(vec![
                row.label.clone(),
                row.subject.clone(),
                row.instances.to_string(),
                match &row.broken {
                    Some(_) => "broken".to_owned(),
                    None => mean.unwrap_or_else(|| "–".to_owned()),
                },
                match row.probability {
                    share if share < SMALL => "–".to_owned(),
                    share => percent(share),
                },
            ]);
        }
        let mut notes = benchmark.notes();
        notes.push(format!(
            "{} of {} of {}",
            counted(self.instances, "instance"),
            self.visited,
            counted(self.commits, "commit")
        ));
        for note in &mut notes {
            note.insert_str(0, "note: ");
        }
        TextAnswer {
            headline: if self.is_interrupted {
                format!("`{}`: interrupted", benchmark.id)
            } else {
                benchmark.headline()
            },
            table,
            notes: uncoded(notes),
            next: Vec::new(),
            has_table_first: false,
        }
    }
}

impl BisectedBenchmark {
    fn headline(&self) -> String {
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

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let is_found = matches!(self.outcome, BisectionOutcome::Found(_));
        if let Some(parent) = self.parent.as_ref().filter(|_| is_found) {
            let looked = &parent.looked;
            let (label, instances, ratio) = (
                &parent.baseline.label,
                looked.instances_text(),
                looked.text(),
            );
            let is_of_found = parent.candidate.hash == self.suspects.last.hash;
            notes.push(if looked.is_certain && is_of_found {
                format!(
                    "compared with {label}, by {instances} that the search did not use: {ratio}"
                )
            } else {
                format!(
                    "compared with {label}, no difference is certain after {instances}: {ratio}; the search may be \
                     wrong, or there are several small changes"
                )
            });
        }
        if self.confirmations > 1 {
            notes.push(format!(
                "{} before it did not differ from their parents, and the search went on",
                counted(self.confirmations - 1, "commit")
            ));
        }
        let description = match &self.outcome {
            BisectionOutcome::Found(description) => description.as_ref(),
            BisectionOutcome::Unfinished
            | BisectionOutcome::NoDifference
            | BisectionOutcome::BrokenEnd { .. }
            | BisectionOutcome::OutOfBudget => None,
        };
        if let Some(merge) = description.filter(|found| found.parents > 2) {
            notes.push(format!(
                "it merged {} branches at once, which are not searched: bisect each of them by hand",
                merge.parents - 1
            ));
        }
        for (merge, looked) in &self.merges {
            notes.push(format!(
                "merged by {} ({}, by {}), whose branch was searched",
                merge.label,
                looked.text(),
                looked.instances_text()
            ));
        }
        if let Some(ends) = self.ends.as_ref().filter(|ends| ends.looked.is_certain) {
            notes.push(format!(
                "between the ends: {}, by {}",
                ends.looked.text(),
                ends.looked.instances_text()
            ));
        }
        if let BisectionOutcome::NoDifference = self.outcome {
            notes.push(
                "the change may be smaller than can be seen with so few instances (--instances), come from elsewhere, or not \
                 exist"
                    .to_owned(),
            );
        }
        if let Some(branch) = &self.unsearched {
            notes.push(format!("it is a merge: {}", branch.text()));
        }
        notes.extend(description.map(|found| format!("author: {}", found.author)));
        if !self.broken.is_empty() {
            let broken = self.broken.iter();
            let broken = broken.map(|(label, reason)| format!("{label} ({reason})"));
            notes.push(format!("cannot be measured: {}", joined(broken)));
        }
        notes
    }

    fn json(&self) -> Value {
        let pair = |pair: &BisectedPair| {
            let (ratio, interval) = pair.looked.ratio();
            json!({
                "baseline": pair.baseline.hash,
                "candidate": pair.candidate.hash,
                "instances": pair.looked.instances,
                "ratio": ratio,
                "interval": [interval.lower, interval.upper],
                "certain": pair.looked.is_certain,
            })
        };
        let suspects = &self.suspects;
        let is_found = matches!(self.outcome, BisectionOutcome::Found(_));
        let merges = self.merges.iter().map(|(merge, _)| &merge.hash);
        let unsearched = self.unsearched.as_ref().map(BisectedBranch::text);
        json!({
            "benchmark": self.id,
            "found": is_found.then_some(&suspects.last.hash),
            "suspects": [suspects.first.hash, suspects.last.hash],
            "probability": suspects.probability,
            "ends": self.ends.as_ref().map(pair),
            "parent": self.parent.as_ref().map(pair),
            "merges": merges.collect::<Vec<_>>(),
            "unsearched_merge": unsearched,
            "commits": self.rows,
        })
    }
}

impl BisectedBranch {
    fn text(&self) -> String {
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
