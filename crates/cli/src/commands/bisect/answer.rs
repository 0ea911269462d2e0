//! The result of a bisection as text, JSON and CSV.

use std::io::{self, Write};
use std::path::Path;

use lapwing_measure::{CommitSummary, RunEnd, commit_summary};
use lapwing_model::text::{counted, joined};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_show::{percent, quantity};
use serde_json::{Value, json};

use super::case_search::{CaseSearch, SearchStage};
use super::comparison::CommitComparison;
use super::search::CommitSearch;
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Commits with a smaller probability are left out of the table, unless they were measured.
const LIKELY: f64 = 0.05;
/// Smaller probabilities are not shown.
const SMALL: f64 = 0.005;

/// The result of a bisection.
pub struct BisectAnswer<'a> {
    pub search: &'a CommitSearch<'a>,
    pub metric: &'a str,
    pub end: RunEnd,
}

/// The result for one benchmark.
struct CaseAnswer<'a> {
    all: &'a BisectAnswer<'a>,
    search: &'a CaseSearch,
}

/// A commit that was measured, or that may be the one.
#[derive(Debug, Default, serde::Serialize)]
struct BisectRow {
    benchmark: String,
    commit: String,
    subject: String,
    instances: usize,
    /// The geometric mean of the instances that the search used.
    mean: Option<f64>,
    probability: f64,
    broken: Option<String>,
    #[serde(skip)]
    label: String,
}

impl BisectAnswer<'_> {
    /// Shows it, and returns how the program ends.
    pub fn show(&self, format: AnswerFormat, context: &Context) -> Result<ExitStatus, CliError> {
        let cases: Vec<CaseAnswer<'_>> = (self.search.cases.iter())
            .map(|search| CaseAnswer { all: self, search })
            .collect();
        let mut out = io::stdout().lock();
        let written = match format {
            AnswerFormat::Json => write_json(&self.json(&cases), &mut out),
            AnswerFormat::Csv => {
                let rows: Vec<BisectRow> = cases.iter().flat_map(CaseAnswer::rows).collect();
                write_csv(&rows, &mut out)
            }
            AnswerFormat::Markdown => cases.iter().try_for_each(|case| {
                case.text().markdown(&mut out)?;
                Ok(writeln!(out)?)
            }),
            AnswerFormat::Text => {
                let width = context.terminal.width();
                cases.iter().enumerate().try_for_each(|(at, case)| {
                    if at > 0 {
                        writeln!(out)?;
                    }
                    Ok(case.text().wrapped(width).text(width, &mut out)?)
                })
            }
        };
        CliError::unless_reader_left(written.and_then(|()| Ok(out.flush()?)))?;
        let any = |is: fn(SearchStage) -> bool| self.search.cases.iter().any(|it| is(it.stage));
        Ok(match self.end {
            RunEnd::Interrupted => ExitStatus::Interrupted,
            RunEnd::Complete if any(|it| matches!(it, SearchStage::BrokenEnd(_))) => {
                ExitStatus::Failed
            }
            RunEnd::Complete if any(|it| it != SearchStage::Found) => ExitStatus::NotEnough,
            RunEnd::Complete => ExitStatus::Fine,
        })
    }

    fn json(&self, cases: &[CaseAnswer<'_>]) -> Value {
        let cases: Vec<Value> = cases.iter().map(CaseAnswer::json).collect();
        json!({
            "metric": self.metric,
            "instances": self.search.visits.instances(),
            "builds": self.search.visits.visited(),
            "benchmarks": cases,
        })
    }

    fn hash(&self, variant: usize) -> &str {
        let planned = self.search.visits.plan.variants[variant].commit.as_ref();
        planned.map_or("", |it| it.hash())
    }

    fn summary(&self, variant: usize) -> Option<CommitSummary> {
        let planned = self.search.visits.plan.variants[variant].commit.as_ref()?;
        commit_summary(Path::new(&planned.repository), planned.hash())
    }

    fn label(&self, variant: usize) -> String {
        self.search.visits.label(variant)
    }
}

impl CaseAnswer<'_> {
    fn id(&self) -> &str {
        &self.all.search.visits.plan.cases[self.search.case]
            .benchmark
            .id
    }

    fn unit(&self) -> &str {
        let metric = self.all.metric;
        let metrics = &self.all.search.visits.plan.cases[self.search.case].metrics;
        let declared = metrics.get(metric).map(|it| it.unit.as_str());
        declared.unwrap_or(if metric.ends_with("_time") { "s" } else { "" })
    }

    /// Returns the commit that was found: the likeliest one, or the merge whose branch does not differ.
    fn found(&self) -> Option<usize> {
        let search = self.search;
        match search.stage {
            SearchStage::Found => Some(search.suspect()),
            SearchStage::Ends
            | SearchStage::Between
            | SearchStage::Parent
            | SearchStage::NoDifference
            | SearchStage::BrokenEnd(_)
            | SearchStage::OutOfBudget => None,
        }
    }

    fn rows(&self) -> Vec<BisectRow> {
        let search = self.search;
        let posterior = search.posterior();
        let all = (0..search.line.len()).filter(|at| {
            !search.logs(*at).is_empty()
                // Without a difference, each commit is as likely.
                || (posterior[*at] >= LIKELY && search.stage != SearchStage::NoDifference)
                || search.broken.contains_key(&search.line[*at])
        });
        all.map(|at| {
            let variant = search.line[at];
            BisectRow {
                benchmark: self.id().to_owned(),
                commit: self.all.hash(variant).to_owned(),
                subject: self
                    .all
                    .summary(variant)
                    .map(|it| it.subject)
                    .unwrap_or_default(),
                instances: search.logs(at).len(),
                mean: lapwing_stats::mean(search.logs(at)).map(f64::exp),
                probability: posterior[at],
                broken: search.broken.get(&variant).cloned(),
                label: self.all.label(variant),
            }
        })
        .collect()
    }

    fn text(&self) -> TextAnswer {
        let mut table = Table::new(&[
            ("commit", Left),
            ("subject", Left),
            ("instances", Right),
            (self.all.metric, Right),
            ("probability", Right),
        ]);
        for row in self.rows() {
            let mean = row.mean.map(|mean| quantity(mean, self.unit()));
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
        let mut notes = self.notes();
        for note in &mut notes {
            note.insert_str(0, "note: ");
        }
        TextAnswer {
            headline: self.headline(),
            table,
            notes,
        }
    }

    fn headline(&self) -> String {
        let id = self.id();
        let search = self.search;
        let suspects = search.suspects();
        let [first, last] = [suspects.first, suspects.last].map(|at| search.line[at]);
        match search.stage {
            _ if self.all.end == RunEnd::Interrupted => format!("`{id}`: interrupted"),
            SearchStage::BrokenEnd(commit) => format!(
                "`{id}` cannot be measured at {}: {}",
                self.all.label(commit),
                search.broken.get(&commit).map_or("", String::as_str)
            ),
            SearchStage::NoDifference => format!(
                "no difference between the ends to search for: `{id}` {}",
                search.ends.map_or_else(String::new, |it| it.text())
            ),
            SearchStage::OutOfBudget => format!(
                "not found within the budget; most likely {} ({})",
                self.all.label(last),
                percent(suspects.probability)
            ),
            SearchStage::Ends | SearchStage::Between | SearchStage::Parent => {
                format!("`{id}`: not finished")
            }
            SearchStage::Found if first != last => format!(
                "one of {} from {} to {} changed `{id}`, of which only the last can be measured",
                counted(suspects.last - suspects.first + 1, "commit"),
                self.all.label(first),
                self.all.label(last)
            ),
            SearchStage::Found => {
                let subject = self.all.summary(last).map(|it| it.subject);
                format!(
                    "{} changed `{id}`: {}",
                    self.all.label(last),
                    subject.unwrap_or_default()
                )
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let search = self.search;
        let label = |variant| self.all.label(variant);
        let mut notes = Vec::new();
        if let (Some(found), Some(parent)) = (self.found(), &search.parent) {
            let compared = format!(
                "compared with {}, by {} that the search did not use: {}",
                label(parent.commits[0]),
                parent.instances_text(),
                parent.text()
            );
            notes.push(if parent.is_certain && parent.commits[1] == found { compared } else { format!(
                    "compared with {}, no difference is certain after {}: {}; the search may be wrong, or there are \
                     several small changes",
                    label(parent.commits[0]),
                    parent.instances_text(),
                    parent.text()
                ) });
        }
        if search.confirmations > 1 {
            notes.push(format!(
                "{} before it did not differ from their parents, and the search went on",
                counted(search.confirmations - 1, "commit")
            ));
        }
        let found = self.all.summary(search.suspect());
        if let (SearchStage::Found, Some(summary)) = (search.stage, &found)
            && summary.parents > 2
        {
            notes.push(format!(
                "it merged {} branches at once, which are not searched: bisect each of them by hand",
                summary.parents - 1
            ));
        }
        for merge in &search.merges {
            notes.push(format!(
                "merged by {} ({}, by {}), whose branch was searched",
                label(merge.variant),
                merge.parent.text(),
                merge.parent.instances_text()
            ));
        }
        if let Some(ends) = search.ends.filter(|ends| ends.is_certain) {
            notes.push(format!(
                "between the ends: {}, by {}",
                ends.text(),
                ends.instances_text()
            ));
        }
        if search.stage == SearchStage::NoDifference {
            notes.push(
                "the change may be smaller than can be seen with so few instances (--instances), come from elsewhere, or not \
                 exist"
                    .to_owned(),
            );
        }
        if let Some(unsearched) = &search.unsearched {
            notes.push(format!("it is a merge: {unsearched}"));
        }
        if let Some(summary) = self.found().and_then(|it| self.all.summary(it)) {
            notes.push(format!("author: {}", summary.author));
        }
        let broken = search
            .broken
            .iter()
            .map(|(commit, reason)| format!("{} ({reason})", label(*commit)));
        if !search.broken.is_empty() {
            notes.push(format!("cannot be measured: {}", joined(broken)));
        }
        let visits = &self.all.search.visits;
        notes.push(format!(
            "{} of {} of {}",
            counted(visits.instances(), "instance"),
            visits.visited(),
            counted(visits.plan.variants.len(), "commit")
        ));
        notes
    }

    fn json(&self) -> Value {
        let search = self.search;
        let suspects = search.suspects();
        let comparison = |it: &Option<CommitComparison>| {
            it.map(|it| {
                let (ratio, interval) = it.ratio();
                json!({
                    "baseline": self.all.hash(it.commits[0]),
                    "candidate": self.all.hash(it.commits[1]),
                    "instances": it.instances,
                    "ratio": ratio,
                    "interval": [interval.lower, interval.upper],
                    "certain": it.is_certain,
                })
            })
        };
        let merges = search.merges.iter();
        let merges: Vec<&str> = merges.map(|it| self.all.hash(it.variant)).collect();
        let hash = |at: usize| self.all.hash(search.line[at]);
        json!({
            "benchmark": self.id(),
            "found": self.found().map(|it| self.all.hash(it)),
            "suspects": [hash(suspects.first), hash(suspects.last)],
            "probability": suspects.probability,
            "ends": comparison(&search.ends),
            "parent": comparison(&search.parent),
            "merges": merges,
            "unsearched_merge": search.unsearched,
            "commits": self.rows(),
        })
    }
}
