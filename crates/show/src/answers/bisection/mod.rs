//! The commits that changed benchmarks: `lapwing bisect`.

mod fields;
mod notes;

use lapwing_model::text::counted;
use lapwing_stats::PairDifference;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::fields::BisectedFields;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, NextStep, Note, Table, TextAnswer, View, WriteError, csv_rows,
};
use crate::{percent, quantity};

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
    /// Further notes.
    pub notes: Vec<Note>,
    /// The name of the session.
    pub session: String,
    /// Commands that continue from here.
    pub next: Vec<NextStep>,
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
    /// The commits that were found.
    pub found: Vec<BisectedChange>,
    /// The comparison of the ends.
    pub ends: Option<BisectedPair>,
    /// The logarithm of the part of the ends' difference that they do not explain.
    pub unexplained: Option<f64>,
    /// Number of commits that were compared with their parents without being the one.
    pub refuted: usize,
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
    /// The metric is 0 at both ends.
    Zero,
    /// An end cannot be measured.
    BrokenEnd {
        /// The label of the end.
        label: String,
        /// Why not.
        reason: String,
    },
    /// No commit can be named; these are the likeliest.
    NotFound(SuspectCommits),
    /// Commits were found.
    Found,
    /// Commits were found, but none that changed it in this direction: `improvement` or `regression`.
    OnlyOthers(&'static str),
}

/// A commit that changed the benchmark, or several of which one did.
#[derive(Debug)]
pub struct BisectedChange {
    /// The commit is the last of these, if there is one.
    pub suspects: SuspectCommits,
    /// Its description.
    pub description: Option<CommitDescription>,
    /// Its comparison with its parent.
    pub parent: BisectedPair,
    /// Whether that fits the difference of the ends.
    pub is_whole: bool,
    /// The merges whose branches were searched, each compared with its first parent.
    pub merges: Vec<BisectedPair>,
    /// Why the branch of this merge has no answer.
    pub unsearched: Option<BisectedBranch>,
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
    /// All of them; the last one alone can be measured if there are several.
    pub commits: Vec<BisectedCommit>,
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
    /// The difference of their logarithms.
    pub difference: PairDifference,
}

/// A branch that gives no answer.
#[derive(Debug)]
pub enum BisectedBranch {
    /// This end of it cannot be measured.
    BrokenEnd(String),
    /// Its ends do not show the difference.
    NoDifference(Box<BisectedPair>),
    /// No commit of it can be named; that is the likeliest.
    NotFound(SuspectCommits),
}

impl SuspectCommits {
    fn first(&self) -> &str {
        self.commits.first().map_or("", |it| it.label.as_str())
    }

    fn last(&self) -> &str {
        self.commits.last().map_or("", |it| it.label.as_str())
    }
}

/// A commit that was measured, or that may be the one.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct BisectRow {
    /// The id of the benchmark.
    pub benchmark: String,
    /// The hash of the commit.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// Number of instances that the search used.
    pub instances: usize,
    /// The median of their means.
    pub value: Option<f64>,
    /// The probability that it changed the benchmark.
    pub probability: f64,
    /// Why it cannot be measured.
    pub broken: Option<String>,
    /// The label of the commit: its name, if it has one, or the first digits of its hash.
    pub label: String,
}

/// The results of a bisection for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct BisectionFields<'a> {
    metric: &'a str,
    interrupted: bool,
    /// Number of measured instances.
    instances: usize,
    /// Number of measured commits.
    builds: usize,
    /// Number of commits.
    commits: usize,
    benchmarks: Vec<BisectedFields<'a>>,
    session: &'a str,
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<BisectionFields<'_>>("bisect");

impl BisectionAnswer {
    fn outcome(&self, benchmark: &BisectedBenchmark) -> &'static str {
        match &benchmark.outcome {
            _ if self.is_interrupted => "interrupted",
            BisectionOutcome::BrokenEnd { .. } => "not_measured",
            BisectionOutcome::NoDifference | BisectionOutcome::Zero => "no_difference",
            BisectionOutcome::NotFound(_) => "not_found",
            BisectionOutcome::Unfinished => "unfinished",
            BisectionOutcome::Found => "found",
            BisectionOutcome::OnlyOthers(_) => "only_others",
        }
    }

    fn headline_of(&self, benchmark: &BisectedBenchmark) -> String {
        if self.is_interrupted {
            format!("`{}`: interrupted", benchmark.id)
        } else {
            benchmark.headline()
        }
    }

    fn table(&self) -> Table {
        let is_several = self.benchmarks.len() > 1;
        let mut table = Table::of_shown(&[
            (is_several, "benchmark", Left),
            (true, "commit", Left),
            (true, "subject", Left),
            (true, "instances", Right),
            (true, &self.metric, Right),
            (true, "probability", Right),
        ]);
        for benchmark in &self.benchmarks {
            for row in &benchmark.rows {
                let value = row.value.map(|value| quantity(value, &benchmark.unit));
                table.row(vec![
                    row.benchmark.clone(),
                    row.label.clone(),
                    row.subject.clone(),
                    row.instances.to_string(),
                    match &row.broken {
                        Some(_) => "broken".to_owned(),
                        None => value.unwrap_or_else(|| "–".to_owned()),
                    },
                    match row.probability {
                        share if share < SMALL => "–".to_owned(),
                        share => percent(share),
                    },
                ]);
            }
        }
        table
    }
}

impl Answer for BisectionAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut notes = Vec::new();
        let headline = match self.benchmarks.as_slice() {
            [only] => self.headline_of(only),
            several => {
                let found = several.iter().filter(|it| self.outcome(it) == "found");
                let benchmarks = counted(several.len(), "benchmark");
                let results = several.iter().map(|it| {
                    let note = Note::new("result", self.headline_of(it));
                    note.with("benchmark", it.id.clone())
                });
                notes.extend(results);
                format!("commits were found for {} of {benchmarks}", found.count())
            }
        };
        for benchmark in &self.benchmarks {
            notes.extend(notes::notes(benchmark).into_iter().map(|mut note| {
                if self.benchmarks.len() > 1 {
                    note.text = format!("`{}`: {}", benchmark.id, note.text);
                }
                note.mark().with("benchmark", benchmark.id.clone())
            }));
        }
        notes.extend(self.notes.clone());
        let effort = format!(
            "{} of {} of {}",
            counted(self.instances, "instance"),
            self.visited,
            counted(self.commits, "commit")
        );
        notes.push(
            Note::marked("effort", effort)
                .with("instances", self.instances)
                .with("builds", self.visited)
                .with("commits", self.commits),
        );
        TextAnswer {
            headline,
            table: self.table(),
            notes,
            next: self.next.clone(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let benchmarks = self.benchmarks.iter();
        Ok(serde_json::to_value(BisectionFields {
            metric: &self.metric,
            interrupted: self.is_interrupted,
            instances: self.instances,
            builds: self.visited,
            commits: self.commits,
            benchmarks: benchmarks
                .map(|it| BisectedFields::new(it, self.outcome(it)))
                .collect(),
            session: &self.session,
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        let rows = self.benchmarks.iter().flat_map(|benchmark| &benchmark.rows);
        csv_rows(&rows.cloned().collect::<Vec<_>>())
    }

    /// Returns the outcome of the benchmark that most remains to be done for.
    fn verdict(&self) -> Option<&'static str> {
        const ORDER: [&str; 7] = [
            "interrupted",
            "not_measured",
            "unfinished",
            "not_found",
            "no_difference",
            "only_others",
            "found",
        ];
        let outcomes = self.benchmarks.iter().map(|it| self.outcome(it));
        outcomes.min_by_key(|outcome| ORDER.iter().position(|it| it == outcome))
    }
}
