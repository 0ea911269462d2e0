//! The table of a session: a row per benchmark with its variants in columns, or a row per variant.

use std::collections::BTreeSet;

use lapwing_analyse::explain::{SessionComparison, SessionResult};
use lapwing_analyse::judge::{Comparison, Estimate};
use lapwing_model::text::first_names;

use super::{SessionAnswer, SessionKind, is_memory_bound};
use crate::answers::compare::short_change;
use crate::words::verdict::{is_unchanged, not_shown_text};
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{Note, Table, View};
use crate::{EstimateText, cv_text, percent, quantity};

/// The place of a time, where there is none.
pub const NOTHING: &str = "–  (no successful iteration)";

/// Up to this many benchmarks have a row each, news or not.
const ALL_UP_TO: usize = 12;

/// Fewer rows are not worth a line that stands for them.
const FOLDED_FROM: usize = 3;

/// More metrics than this are a number.
const NAMED_METRICS: usize = 4;

/// Variants stand in columns of a table that is no wider, where the terminal does not say its width.
const USUAL_ROOM: usize = 120;

/// The table of a session.
#[derive(Debug)]
pub struct SessionTable {
    /// The table.
    pub table: Table,
    /// The lines below it.
    pub below: Vec<Note>,
    /// Whether it has the ratios of the comparisons.
    pub has_ratios: bool,
}

/// Returns the table in the form that fits.
pub fn table(
    answer: &SessionAnswer,
    compared: &[SessionComparison<'_>],
    view: View,
) -> SessionTable {
    let columns = VariantColumns::of(answer, compared).filter(|_| !view.full);
    let columns = columns.map(|columns| columns.table());
    // The values and ratios have to fit; the columns after them may go.
    let fitting =
        columns.filter(|(table, _)| table.least_width() <= view.room.unwrap_or(USUAL_ROOM));
    match fitting {
        Some((table, below)) => SessionTable {
            table,
            below,
            has_ratios: true,
        },
        None => SessionTable {
            table: rows_table(answer),
            below: Vec::new(),
            has_ratios: false,
        },
    }
}

/// The results of several benchmarks in several variants.
struct VariantColumns<'a> {
    answer: &'a SessionAnswer,
    compared: &'a [SessionComparison<'a>],
    variants: Vec<&'a str>,
    benchmarks: Vec<&'a [SessionResult]>,
}

impl<'a> VariantColumns<'a> {
    fn of(answer: &'a SessionAnswer, compared: &'a [SessionComparison<'a>]) -> Option<Self> {
        let rows = &answer.results.rows;
        let benchmarks = rows.chunk_by(|one, other| one.benchmark == other.benchmark);
        let mut variants: Vec<&str> = Vec::new();
        for row in rows {
            if !variants.contains(&row.variant.as_str()) {
                variants.push(&row.variant);
            }
        }
        let columns = Self {
            answer,
            compared,
            variants,
            benchmarks: benchmarks.collect(),
        };
        let is_study = answer.kind == SessionKind::Study;
        let is_wide = columns.variants.len() > 1 && columns.benchmarks.len() > 1;
        // A row per metric is for benchmarks that have another metric only.
        let has_main = |row: &SessionResult| {
            main_of(answer, row).is_some() || answer.results.estimates(row).is_empty()
        };
        (is_wide && !is_study && rows.iter().all(has_main)).then_some(columns)
    }

    /// Returns the comparisons of a benchmark.
    fn comparisons(&self, benchmark: &str) -> impl Iterator<Item = &'a Comparison> {
        let of_it = self
            .compared
            .iter()
            .filter(move |it| it.is_of_variants && it.comparison.subject.benchmark == benchmark);
        of_it.map(|it| &it.comparison)
    }

    /// Returns the table, and the lines below it.
    fn table(&self) -> (Table, Vec<Note>) {
        let mut titles = vec![(true, "benchmark", Left)];
        for (at, variant) in self.variants.iter().enumerate() {
            titles.push((true, variant, Right));
            if at > 0 {
                titles.push((!self.is_control(variant), "ratio", Whole));
            }
        }
        titles.extend([
            (self.has_memory(), "peak memory", Whole),
            (true, "cv", Whole),
            (true, "instances", Whole),
        ]);
        let mut table = Table::of_shown(&titles).dispensable(&["instances", "cv", "peak memory"]);
        let is_news = |rows: &[SessionResult]| {
            let mut comparisons = self.comparisons(&rows[0].benchmark).peekable();
            comparisons.peek().is_none() || !comparisons.all(is_unchanged)
        };
        let (news, folded): (Vec<&[SessionResult]>, Vec<&[SessionResult]>) =
            self.benchmarks.iter().partition(|rows| is_news(rows));
        let is_folded = self.benchmarks.len() > ALL_UP_TO && folded.len() >= FOLDED_FROM;
        let shown = if is_folded {
            news
        } else {
            self.benchmarks.clone()
        };
        for rows in shown {
            self.add_rows(&mut table, rows);
        }
        let mut below = Vec::new();
        if is_folded {
            let hidden = folded
                .iter()
                .flat_map(|rows| self.comparisons(&rows[0].benchmark));
            let hidden: Vec<&Comparison> = hidden.collect();
            let note = Note::new("not_shown", not_shown_text(&hidden));
            below.push(note.with("benchmarks", folded.len()));
        }
        below.extend(self.other_metrics());
        (table, below)
    }

    /// Returns whether a variant is the copy of another, with which nothing else is compared.
    fn is_control(&self, variant: &str) -> bool {
        let mut rows = self.answer.results.rows.iter();
        rows.any(|row| row.variant == variant && row.is_control)
    }

    fn has_memory(&self) -> bool {
        let mut rows = self.answer.results.rows.iter();
        !self.answer.results.is_of_other_metric() && rows.any(|row| row.memory.is_some())
    }

    /// Adds the row of a benchmark, and one for each other metric with a change.
    fn add_rows(&self, table: &mut Table, rows: &[SessionResult]) {
        let answer = self.answer;
        let benchmark = &rows[0].benchmark;
        let of_variants = |estimate: &dyn Fn(&SessionResult) -> Option<Estimate>| {
            let variants = self.variants.iter();
            let estimates = variants.map(|variant| {
                let row = rows.iter().find(|row| row.variant == **variant)?;
                estimate(row)
            });
            estimates.collect::<Vec<Option<Estimate>>>()
        };
        let values = of_variants(&|row| Some(main_of(answer, row)?.2));
        let main = rows.iter().find_map(|row| main_of(answer, row));
        let unit = main.map_or("s", |(_, unit, _)| unit);
        let ratios = |metric: &str| {
            let variants = self.variants.iter().skip(1);
            variants
                .map(|variant| {
                    let mut comparisons = self.comparisons(benchmark);
                    let found = comparisons
                        .find(|it| it.candidate == **variant && it.subject.metric == metric);
                    found.map_or_else(String::new, short_change)
                })
                .collect::<Vec<String>>()
        };
        let mut cells = vec![benchmark.clone()];
        cells.extend(woven(
            Estimate::row_text(&values, unit),
            ratios(&answer.results.metric),
        ));
        cells.push(memory_texts(&of_variants(&|row| row.memory)));
        cells.push(told(&values, |it| it.cv.map(percent)));
        cells.push(told(&values, |it| {
            Some(format!(
                "{} × {}",
                it.size.instances, it.size.most_iterations
            ))
        }));
        table.row(cells);
        let changed: BTreeSet<&str> = self
            .comparisons(benchmark)
            .filter(|it| it.subject.metric != answer.results.metric && it.differs())
            .map(|it| it.subject.metric.as_str())
            .collect();
        for metric in changed {
            let reported = |row: &SessionResult| {
                row.reported
                    .iter()
                    .find(|(name, ..)| name == metric)
                    .cloned()
            };
            let unit = rows
                .iter()
                .find_map(reported)
                .map_or_else(String::new, |it| it.1.unit);
            let values = of_variants(&|row| Some(reported(row)?.2));
            let mut cells = vec![format!("  {metric}")];
            cells.extend(woven(Estimate::row_text(&values, &unit), ratios(metric)));
            cells.extend([
                String::new(),
                told(&values, |it| it.cv.map(percent)),
                String::new(),
            ]);
            table.row(cells);
        }
    }

    /// Returns a line on the metrics that programs reported besides.
    fn other_metrics(&self) -> Option<Note> {
        if self.answer.results.is_of_other_metric() {
            return None;
        }
        let reported = self
            .answer
            .results
            .rows
            .iter()
            .flat_map(|row| &row.reported);
        let names: BTreeSet<&str> = reported.map(|(name, ..)| name.as_str()).collect();
        let text = format!(
            "also measured: {} (`--full` shows all)",
            first_names(&names, NAMED_METRICS)
        );
        (!names.is_empty()).then(|| Note::new("other_metrics", text))
    }
}

/// Returns the values of the variants, each but the first with its ratio.
fn woven(values: Vec<String>, ratios: Vec<String>) -> Vec<String> {
    let mut values = values.into_iter();
    let mut cells: Vec<String> = values.next().into_iter().collect();
    for (value, ratio) in values.zip(ratios) {
        cells.extend([value, ratio]);
    }
    cells
}

/// Returns what is said of each variant: `7.9 % / 13 %`, or once what is the same of all.
fn told(values: &[Option<Estimate>], text: impl Fn(&Estimate) -> Option<String>) -> String {
    let texts = values.iter().map(|it| it.as_ref().and_then(&text));
    let texts: Vec<String> = texts
        .map(|it| it.unwrap_or_else(|| "–".to_owned()))
        .collect();
    if texts.iter().all(|it| *it == texts[0]) {
        texts[0].clone()
    } else {
        texts.join(" / ")
    }
}

/// Returns the peak memory of each variant.
fn memory_texts(values: &[Option<Estimate>]) -> String {
    told(values, |it| Some(memory_text(it.value)))
}

/// Returns a table with a row per benchmark and variant, and per metric that programs reported.
fn rows_table(answer: &SessionAnswer) -> Table {
    let titles = ["benchmark", "value", "peak memory", "cv"];
    let mut table = Table::new(&titles.map(|title| (title, Left))).untitled();
    for row in &answer.results.rows {
        let estimates = answer.results.estimates(row);
        let is_beside = |metric: &str| metric == "peak_memory" && estimates.len() > 1;
        let main = main_of(answer, row);
        let value = match main {
            Some((_, unit, estimate)) => estimate.text(unit),
            None if estimates.is_empty() => NOTHING.to_owned(),
            None => "–".to_owned(),
        };
        let memory = estimates.iter().find(|(metric, ..)| is_beside(metric));
        table.row(vec![
            format!(" {}", answer.label(row)),
            value,
            memory.map_or_else(String::new, |(.., it)| memory_text(it.value)),
            main.map_or_else(String::new, |(.., it)| cv(&it)),
        ]);
        let others = estimates.iter().skip(usize::from(main.is_some()));
        for (metric, unit, estimate) in others.filter(|(metric, ..)| !is_beside(metric)) {
            table.row(vec![
                format!("   {metric}"),
                estimate.text(unit),
                String::new(),
                cv(estimate),
            ]);
        }
    }
    table
}

/// Returns the metric that stands beside the name of its benchmark, with its unit and estimate.
fn main_of<'a>(
    answer: &'a SessionAnswer,
    row: &'a SessionResult,
) -> Option<(&'a str, &'a str, Estimate)> {
    let main = answer.results.estimates(row).into_iter().next();
    main.filter(|(metric, ..)| *metric == "wall_time" || *metric == answer.results.metric)
}

fn cv(estimate: &Estimate) -> String {
    estimate.cv.map_or_else(String::new, cv_text)
}

/// Returns a peak memory as text. Exactly a power of two is what is reported for commands that need less.
fn memory_text(bytes: f64) -> String {
    let text = quantity(bytes, "B");
    if is_memory_bound(bytes) {
        format!("≤ {text}")
    } else {
        text
    }
}
