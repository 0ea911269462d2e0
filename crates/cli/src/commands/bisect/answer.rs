//! The result of a bisection as text, JSON and CSV.

use std::io::{self, Write};
use std::path::Path;

use lapwing_core::measure::{CommitSummary, RunEnd, commit_summary};
use lapwing_core::show::{percent, quantity};
use lapwing_core::suite::Plan;
use lapwing_core::text::{counted, joined};
use serde_json::{Value, json};

use super::search::{CommitComparison, CommitSearch, SearchStage};
use crate::answer::{TextAnswer, write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, Format};
use crate::table::Align::{Left, Right};
use crate::table::Table;

/// Commits with a smaller probability are left out of the table, unless they were measured.
const LIKELY: f64 = 0.05;
/// Smaller probabilities are not shown.
const SMALL: f64 = 0.005;

/// The result of a bisection.
pub struct BisectAnswer<'a> {
    pub plan: &'a Plan,
    pub search: &'a CommitSearch<'a>,
    pub metric: &'a str,
    pub end: RunEnd,
}

/// A commit that was measured, or that may be the one.
#[derive(Debug, Default, serde::Serialize)]
struct BisectRow {
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
    pub fn show(&self, format: Format, context: &Context) -> Result<ExitStatus, CliError> {
        let rows = self.rows();
        let mut out = io::stdout().lock();
        let written = match format {
            Format::Json => write_json(&self.json(&rows), &mut out),
            Format::Csv => write_csv(&rows, &mut out),
            Format::Markdown => self.text(&rows).markdown(&mut out).map_err(CliError::from),
            Format::Text => {
                let width = context.terminal.width();
                let answer = self.text(&rows).wrapped(width);
                answer.text(width, &mut out).map_err(CliError::from)
            }
        };
        CliError::unless_reader_left(written.and_then(|()| Ok(out.flush()?)))?;
        Ok(match (self.end, self.search.stage) {
            (RunEnd::Interrupted, _) => ExitStatus::Interrupted,
            (RunEnd::Complete, SearchStage::Found) => ExitStatus::Fine,
            (RunEnd::Complete, SearchStage::BrokenEnd(_)) => ExitStatus::Failed,
            (RunEnd::Complete, SearchStage::Ends | SearchStage::Between) => ExitStatus::NotEnough,
        })
    }

    fn hash(&self, commit: usize) -> &str {
        let planned = self.plan.variants[commit].commit.as_ref();
        planned.map_or("", |it| it.hash())
    }

    fn summary(&self, commit: usize) -> Option<CommitSummary> {
        let planned = self.plan.variants[commit].commit.as_ref()?;
        commit_summary(Path::new(&planned.repository), planned.hash())
    }

    fn unit(&self) -> &str {
        let metrics = &self.plan.cases[0].metrics;
        let declared = metrics.get(self.metric).map(|it| it.unit.as_str());
        declared.unwrap_or(match self.metric.ends_with("_time") {
            true => "s",
            false => "",
        })
    }

    fn rows(&self) -> Vec<BisectRow> {
        let posterior = self.search.posterior();
        let all = (0..self.plan.variants.len()).filter(|commit| {
            !self.search.logs(*commit).is_empty()
                || posterior[*commit] >= LIKELY
                || self.search.broken.contains_key(commit)
        });
        all.map(|commit| BisectRow {
            commit: self.hash(commit).to_owned(),
            subject: self
                .summary(commit)
                .map(|it| it.subject)
                .unwrap_or_default(),
            instances: self.search.logs(commit).len(),
            mean: lapwing_stats::mean(self.search.logs(commit)).map(f64::exp),
            probability: posterior[commit],
            broken: self.search.broken.get(&commit).cloned(),
            label: self.search.label(commit),
        })
        .collect()
    }

    fn text(&self, rows: &[BisectRow]) -> TextAnswer {
        let mut table = Table::new(&[
            ("commit", Left),
            ("subject", Left),
            ("instances", Right),
            (self.metric, Right),
            ("probability", Right),
        ]);
        for row in rows {
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
        let id = &self.plan.cases[0].benchmark.id;
        let search = self.search;
        let suspects = search.suspects();
        match search.stage {
            _ if self.end == RunEnd::Interrupted => "interrupted".to_owned(),
            SearchStage::BrokenEnd(commit) => format!(
                "`{id}` cannot be measured at {}: {}",
                search.label(commit),
                search.broken.get(&commit).map_or("", String::as_str)
            ),
            SearchStage::Ends => format!(
                "no difference between the ends to search for: `{id}` {}",
                search
                    .ends
                    .as_ref()
                    .map_or_else(String::new, CommitComparison::text)
            ),
            SearchStage::Between => format!(
                "not found within the budget; most likely {} ({})",
                search.label(suspects.last),
                percent(suspects.probability)
            ),
            SearchStage::Found if suspects.first < suspects.last => format!(
                "one of {} from {} to {} changed `{id}`, of which only the last can be measured",
                counted(suspects.last - suspects.first + 1, "commit"),
                search.label(suspects.first),
                search.label(suspects.last)
            ),
            SearchStage::Found => {
                let subject = self.summary(suspects.last).map(|it| it.subject);
                format!(
                    "{} changed `{id}`: {}",
                    search.label(suspects.last),
                    subject.unwrap_or_default()
                )
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let search = self.search;
        let mut notes = Vec::new();
        if let (SearchStage::Found, Some(parent)) = (search.stage, &search.parent) {
            let parent_label = search.label(parent.commits[0]);
            notes.push(match parent.is_certain {
                true => format!(
                    "compared with {parent_label}, by {} each that the search did not use: {}",
                    counted(parent.instances, "instance"),
                    parent.text()
                ),
                false => format!(
                    "compared with {parent_label}, no difference is certain after {} each: {}; the search may be wrong, or there \
                     are several small changes",
                    counted(parent.instances, "instance"),
                    parent.text()
                ),
            });
        }
        if let Some(ends) = search.ends.filter(|ends| ends.is_certain) {
            notes.push(format!(
                "between the ends: {}, by {} each",
                ends.text(),
                counted(ends.instances, "instance")
            ));
        }
        if search.stage == SearchStage::Ends && search.ends.is_some() {
            notes.push(
                "the change may be smaller than can be seen with so few instances (--instances), come from elsewhere, or not \
                 exist"
                    .to_owned(),
            );
        }
        if search.stage == SearchStage::Found
            && let Some(summary) = self.summary(search.suspects().last)
        {
            notes.push(format!("author: {}", summary.author));
            if summary.parents > 1 {
                let hash: String = self.hash(search.suspects().last).chars().take(10).collect();
                notes.push(format!(
                    "it is a merge: `lapwing bisect $(git merge-base {hash}^1 {hash}^2) {hash}^2` searches what it brought"
                ));
            }
        }
        let broken = search
            .broken
            .iter()
            .map(|(commit, reason)| format!("{} ({reason})", search.label(*commit)));
        if !search.broken.is_empty() {
            notes.push(format!("cannot be measured: {}", joined(broken)));
        }
        notes.push(format!(
            "{} of {} of {}",
            counted(search.instances(), "instance"),
            search.builds(),
            counted(self.plan.variants.len(), "commit")
        ));
        notes
    }

    fn json(&self, rows: &[BisectRow]) -> Value {
        let search = self.search;
        let suspects = search.suspects();
        let comparison = |it: &Option<CommitComparison>| {
            it.map(|it| {
                json!({
                    "baseline": self.hash(it.commits[0]),
                    "candidate": self.hash(it.commits[1]),
                    "instances": it.instances,
                    "ratio": it.difference.value.exp(),
                    "interval": [it.difference.interval.lower.exp(), it.difference.interval.upper.exp()],
                    "certain": it.is_certain,
                })
            })
        };
        let is_found = search.stage == SearchStage::Found;
        json!({
            "benchmark": self.plan.cases[0].benchmark.id,
            "metric": self.metric,
            "found": is_found.then(|| self.hash(suspects.last)),
            "suspects": [self.hash(suspects.first), self.hash(suspects.last)],
            "probability": suspects.probability,
            "ends": comparison(&search.ends),
            "parent": comparison(&search.parent),
            "instances": search.instances(),
            "builds": search.builds(),
            "commits": rows,
        })
    }
}
