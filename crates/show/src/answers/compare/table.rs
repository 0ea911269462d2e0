//! The table of comparisons: a row for each, or for each benchmark with its candidates in columns.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::judge::{Comparison, Estimate, Verdict};
use lapwing_analyse::sample::Subject;

use super::CompareAnswer;
use crate::answers::subject_title;
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{Note, Table};
use crate::{ComparisonText, EstimateText, VerdictText, explanation_text};

/// In a narrower terminal, metrics stand beside names.
const ROOM_FOR_METRICS: usize = 100;

/// Candidates stand in columns of a table that is no wider, where the terminal does not say its width.
const USUAL_ROOM: usize = 160;

/// A table with the reasons of verdicts that have no room in it.
#[derive(Debug)]
pub struct ComparisonTable {
    /// The table.
    pub table: Table,
    /// The footnotes.
    pub footnotes: Vec<Note>,
    /// The names and metrics of the rows that have all candidates.
    pub whole_rows: BTreeSet<(String, String)>,
}

/// Returns the table in the form that fits the room.
pub fn table(
    answer: &CompareAnswer,
    listed: &[&Comparison],
    room: Option<usize>,
) -> ComparisonTable {
    let mut footnotes = Footnotes::default();
    if let Some(table) = candidates_table(answer, listed, &mut footnotes)
        && table.width() <= room.unwrap_or(USUAL_ROOM)
    {
        let columns = NameColumns::of(answer);
        let rows = listed.iter().map(|it| columns.row(it));
        return ComparisonTable {
            table,
            footnotes: footnotes.lines(),
            whole_rows: rows.collect(),
        };
    }
    let whole_rows = BTreeSet::new();
    let table = rows_table(answer, listed, None, false);
    if room.is_none_or(|room| table.width() <= room) {
        return ComparisonTable {
            table,
            footnotes: Vec::new(),
            whole_rows,
        };
    }
    let mut footnotes = Footnotes::default();
    let is_narrow = room.is_some_and(|room| room < ROOM_FOR_METRICS);
    let table = rows_table(answer, listed, Some(&mut footnotes), is_narrow);
    ComparisonTable {
        table,
        footnotes: footnotes.lines(),
        whole_rows,
    }
}

/// Returns a table with a row per benchmark and metric, where several candidates have the same baseline.
fn candidates_table(
    answer: &CompareAnswer,
    listed: &[&Comparison],
    footnotes: &mut Footnotes,
) -> Option<Table> {
    let candidates = answer.names.get(1..).filter(|it| it.len() > 1)?;
    if answer.each_baseline {
        return None;
    }
    let columns = NameColumns::of(answer);
    // The candidates of a row that is shown are shown, news or not.
    let mut rows: BTreeMap<(String, String), BTreeMap<&str, &Comparison>> = BTreeMap::new();
    for comparison in &answer.comparisons {
        let row = rows.entry(columns.row(comparison)).or_default();
        let candidate = comparison.candidate.as_str();
        // Settings of a candidate that have one name need rows of their own.
        if row.insert(candidate, comparison).is_some() {
            return None;
        }
    }
    let mut titles = vec![
        (true, "benchmark", Left),
        (columns.metrics, "metric", Left),
        (true, answer.names[0].as_str(), Right),
    ];
    titles.extend(candidates.iter().map(|name| (true, name.as_str(), Whole)));
    titles.push((true, "instances", Right));
    let mut table = Table::of_shown(&titles)
        .dispensable(&["instances"])
        .strong(Verdict::Regression.symbol().to_owned());
    for key in listed.iter().map(|it| columns.row(it)) {
        // The row of another candidate that is listed, too.
        let Some(row) = rows.remove(&key) else {
            continue;
        };
        let baseline = row.values().find(|it| it.baseline_estimate.is_some());
        let baseline = baseline.or(row.values().next());
        let mut instances =
            vec![baseline.map_or_else(String::new, |it| size_text(it, it.baseline_estimate))];
        let baseline = baseline.map_or_else(String::new, |it| {
            Estimate::row_text(&[it.baseline_estimate], &it.metric.unit).concat()
        });
        let (name, metric) = key;
        let mut cells = vec![name, metric, baseline];
        cells.extend(candidates.iter().map(|candidate| {
            let comparison = row.get(candidate.as_str());
            instances.extend(comparison.map(|it| size_text(it, it.candidate_estimate)));
            comparison.map_or_else(String::new, |it| candidate_cell(it, footnotes))
        }));
        cells.push(instances.join(" / "));
        table.row(cells);
    }
    Some(table)
}

/// Returns `✗ 1.11× [1.09, 1.13]`, with the number of a footnote.
fn candidate_cell(comparison: &Comparison, footnotes: &mut Footnotes) -> String {
    let text = short_change(comparison);
    match explanation_text(comparison) {
        Some(reason) => format!("{text} [{}]", footnotes.number(reason)),
        None => text,
    }
}

/// Returns the verdict's symbol and the change: `✗ 1.11× [1.09, 1.13]`.
pub fn short_change(comparison: &Comparison) -> String {
    let symbol = comparison.verdict.symbol();
    let [ratio, interval] = comparison.change_texts();
    match comparison.verdict {
        Verdict::NotMeasured => format!("{symbol} {}", comparison.verdict.title()),
        Verdict::Regression
        | Verdict::Improvement
        | Verdict::WorseInRuns
        | Verdict::BetterInRuns
        | Verdict::UnchangedInRuns
        | Verdict::Changed
        | Verdict::Equivalent
        | Verdict::Inconclusive => format!("{symbol} {ratio} {interval}").trim_end().to_owned(),
    }
}

/// The parts of names that tell comparisons apart.
pub struct NameColumns {
    suites: bool,
    metrics: bool,
    /// Whether rows need the names of their sides.
    pub sides: bool,
}

impl NameColumns {
    /// Rows that are folded count: the others are not of all.
    pub fn of(answer: &CompareAnswer) -> Self {
        let subjects = || answer.comparisons.iter().map(|it| &it.subject);
        let first = subjects().next();
        let differs = |same: &dyn Fn(&Subject, &Subject) -> bool| {
            first.is_some_and(|first| !subjects().all(|subject| same(first, subject)))
        };
        Self {
            suites: differs(&|one, other| one.suite == other.suite),
            metrics: differs(&|one, other| one.metric == other.metric),
            sides: answer.names.len() > 2 || answer.each_baseline,
        }
    }

    /// Returns the name and the metric of the row that a comparison shares with those of other candidates.
    pub fn row(&self, comparison: &Comparison) -> (String, String) {
        let name = self.name(comparison, false);
        (name, comparison.subject.metric.clone())
    }

    /// Returns the name of what is compared, with the metric if that has no column.
    pub fn name(&self, comparison: &Comparison, is_narrow: bool) -> String {
        let subject = &comparison.subject;
        let mut name = subject_title(subject);
        if self.suites {
            name = format!("{}: {name}", subject.suite);
        }
        if self.metrics && is_narrow {
            name.push_str(&format!(", {}", subject.metric));
        }
        name
    }
}

/// Reasons of verdicts, below a table that is too narrow for them.
#[derive(Debug, Default)]
struct Footnotes(Vec<String>);

impl Footnotes {
    /// Returns the number of a reason.
    fn number(&mut self, reason: String) -> usize {
        let known = self.0.iter().position(|it| *it == reason);
        known.unwrap_or_else(|| {
            self.0.push(reason);
            self.0.len() - 1
        }) + 1
    }

    /// Returns the footnotes.
    fn lines(self) -> Vec<Note> {
        let reasons = self.0.iter().enumerate();
        reasons
            .map(|(at, reason)| Note::new("footnote", format!("[{}] {reason}", at + 1)))
            .collect()
    }
}

/// Returns the table: the ratio with its grade of certainty first, then what it rests on. The reasons of verdicts are
/// its last column, or become footnotes.
fn rows_table(
    answer: &CompareAnswer,
    listed: &[&Comparison],
    mut footnotes: Option<&mut Footnotes>,
    is_narrow: bool,
) -> Table {
    let columns = NameColumns::of(answer);
    let has_notes = footnotes.is_none() && listed.iter().any(|it| explanation_text(it).is_some());
    let mut table = Table::of_shown(&[
        (true, "benchmark", Left),
        (columns.metrics && !is_narrow, "metric", Left),
        (columns.sides, "candidate of", Left),
        (answer.each_baseline, "against", Left),
        (true, "ratio", Right),
        (true, "interval", Whole),
        (true, "verdict", Left),
        (true, "baseline", Right),
        (true, "candidate", Right),
        (true, "instances", Right),
        (has_notes, "note", Left),
    ])
    .dispensable(&["instances", "candidate", "baseline", "interval"])
    .strong(format!(
        "{} {}",
        Verdict::Regression.symbol(),
        Verdict::Regression.title()
    ));
    for comparison in listed {
        let subject = &comparison.subject;
        let estimates = [comparison.baseline_estimate, comparison.candidate_estimate];
        let [ratio, interval] = comparison.change_texts();
        let [baseline, candidate] = estimates.map(|estimate| size_text(comparison, estimate));
        let mut cells = vec![
            columns.name(comparison, is_narrow),
            subject.metric.clone(),
            comparison.candidate.clone(),
            comparison.baseline.clone(),
        ];
        let reason = explanation_text(comparison);
        let number = reason
            .clone()
            .zip(footnotes.as_deref_mut())
            .map(|(reason, footnotes)| footnotes.number(reason));
        cells.extend([ratio, interval, verdict_cell(comparison, number)]);
        cells.extend(Estimate::row_text(&estimates, &comparison.metric.unit));
        cells.extend([
            format!("{baseline} / {candidate}"),
            reason.unwrap_or_default(),
        ]);
        table.row(cells);
    }
    table
}

/// Returns the number of instances; of one process with that of its iterations, which its row rests on.
fn size_text(comparison: &Comparison, estimate: Option<Estimate>) -> String {
    match estimate.map(|it| it.size) {
        Some(size) if comparison.is_one_process() && size.most_iterations > 1 => {
            format!("{} × {}", size.instances, size.most_iterations)
        }
        size => size.map_or(0, |it| it.instances).to_string(),
    }
}

/// Returns `✗ regression`, or `? undecided [1]` with the number of a footnote. The bounds of what is undecided stand
/// in the interval beside it.
fn verdict_cell(comparison: &Comparison, footnote: Option<usize>) -> String {
    let symbol = comparison.verdict.symbol();
    let grade = comparison.grade_text();
    let short = grade.split(": ").next().unwrap_or(&grade);
    match footnote {
        Some(number) => format!("{symbol} {short} [{number}]"),
        None => format!("{symbol} {short}"),
    }
}
