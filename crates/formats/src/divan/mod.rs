//! What divan prints: a table with rounded statistics of each benchmark.

mod table;

use std::collections::BTreeSet;

use crate::divan::table::{COLUMNS, Leaf, each_leaf, is_head};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft};
use crate::shared::keys::{number_or_text, put, put_number};
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{InstanceOutcome, Metric};

pub(super) const FORMAT: Format = Format::new("divan", "output of divan", looks_like, read);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    String::from_utf8_lossy(head)
        .lines()
        .any(is_head)
        .then_some("it has a table with `fastest │ slowest │ median`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let with_arguments = parents_of_arguments(source)?;
    let mut intake = Intake::begin(source, &digest, sink, SessionDraft::of("divan"))?;
    let run = intake.run(RunDraft::default())?;
    each_leaf(source, |leaf| {
        let drafted = leaf.and_then(|leaf| Ok((leaf.line, draft(&leaf, &with_arguments)?)));
        match intake.good(drafted) {
            Some((line, draft)) => intake.instance(line, run, draft),
            None => Ok(()),
        }
    })?;
    intake.finish()
}

/// Returns the threads that a name such as `t=4` means.
fn threads(name: &str) -> Option<u64> {
    name.strip_prefix("t=")?.parse().ok()
}

/// Returns the path of a benchmark without a last part that gives its threads.
fn without_threads(path: &[String]) -> &[String] {
    match path.split_last() {
        Some((last, before)) if threads(last).is_some() => before,
        Some(_) | None => path,
    }
}

/// Returns the paths whose children are no names of Rust: arguments and types, of which
/// some may look like a name.
fn parents_of_arguments(source: &Source) -> Result<BTreeSet<Vec<String>>, ImportError> {
    let mut parents = BTreeSet::new();
    each_leaf(source, |leaf| {
        if let Ok(leaf) = leaf
            && let Some((last, before)) = without_threads(&leaf.path).split_last()
            && !before.is_empty()
            && !is_name(last)
            && !parents.contains(before)
        {
            parents.insert(before.to_vec());
        }
        Ok(())
    })?;
    Ok(parents)
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|it: char| it.is_ascii_digit())
        && text.chars().all(|it| it.is_alphanumeric() || it == '_')
}

fn draft(leaf: &Leaf, with_arguments: &BTreeSet<Vec<String>>) -> Result<InstanceDraft, BadLine> {
    let mut draft = InstanceDraft::of(leaf.path.join("::"));
    let params = &mut draft.benchmark.params;
    let last = without_threads(&leaf.path).split_last();
    let argument = last.filter(|(_, before)| with_arguments.contains(*before));
    let argument = argument.map(|(last, _)| number_or_text(last));
    put(params, "argument", argument);
    let threads = leaf.path.last().and_then(|last| threads(last));
    put(params, "threads", threads);
    let precision = leaf.precision.as_deref();
    put(&mut draft.attributes, "timer_precision", precision);
    let Some(cells) = &leaf.cells else {
        draft.outcome = InstanceOutcome::Skipped;
        draft.message = Some("ignored".to_owned());
        return Ok(draft);
    };
    let id = leaf.path.join("::");
    let at = |line: u64| {
        let id = &id;
        move |reason: String| BadLine::new(line, reason).of(id)
    };
    let samples = summarise_time(cells, &mut draft).map_err(at(leaf.line))?;
    let mut heading = None;
    let mut place = 0;
    for (line, cells) in &leaf.more {
        let first = cells.first().map_or("", String::as_str);
        if let Some(name) = first.strip_suffix(':') {
            (heading, place) = (Some(name), 0);
            continue;
        }
        let column = match heading {
            // Below a heading stand a number and then a size.
            Some(name) => {
                place += 1;
                allocations(name, place)
            }
            None => DivanColumn::Rate,
        };
        summarise(&column, cells, samples, &mut draft).map_err(at(*line))?;
    }
    Ok(draft)
}

/// The meaning of a row of further figures.
enum DivanColumn {
    /// A rate; the unit says of what.
    Rate,
    /// A metric, and its unit.
    Metric(String, Metric),
}

/// Returns the metric of a line below a heading such as `max alloc`.
fn allocations(heading: &str, place: usize) -> DivanColumn {
    let (what, unit) = if place == 1 {
        ("count", "1")
    } else {
        ("bytes", "B")
    };
    let metric = match heading {
        "max alloc" | "alloc" | "grow" => Metric::lower(unit),
        // Giving memory back is neither good nor bad.
        _dealloc_or_shrink => Metric::undirected(unit),
    };
    DivanColumn::Metric(format!("{}_{what}", heading.replace(' ', "_")), metric)
}

/// Takes the row of the benchmark itself and returns the number of samples.
fn summarise_time(cells: &[String], draft: &mut InstanceDraft) -> Result<u64, String> {
    if cells.len() < COLUMNS.len() {
        let (found, all) = (cells.len(), COLUMNS.len());
        return Err(format!(
            "the row is cut off: it has {found} of {all} columns"
        ));
    }
    let count = |column: usize| {
        let (name, cell) = (COLUMNS[column], &cells[column]);
        cell.parse::<u64>()
            .map_err(|_error| format!("`{name}` is not a whole number: {cell:?}"))
    };
    let (samples, iters) = (count(4)?, count(5)?);
    let column = DivanColumn::Metric("wall_time".to_owned(), Metric::lower("s"));
    summarise(&column, cells, samples, draft)?;
    if let Some(summary) = draft.summaries.last_mut() {
        put(&mut summary.extra, "iters", Some(iters));
    }
    Ok(samples)
}

fn summarise(
    column: &DivanColumn,
    cells: &[String],
    samples: u64,
    draft: &mut InstanceDraft,
) -> Result<(), String> {
    if cells.len() < 4 {
        return Err(format!(
            "the row is cut off: it has {} of 4 columns",
            cells.len()
        ));
    }
    let mut metric = None;
    let mut figures = [f64::NAN; 4];
    for ((figure, cell), name) in figures.iter_mut().zip(cells).zip(COLUMNS) {
        let wrong = || format!("`{name}` is not what it should be: {cell:?}");
        let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
        let number: f64 = number.parse().map_err(|_error| wrong())?;
        let (key, unit) = match column {
            DivanColumn::Rate => rate(unit).ok_or_else(wrong)?,
            DivanColumn::Metric(name, metric) => {
                let unit = Unit::named(unit);
                if unit.metric.unit != metric.unit {
                    return Err(wrong());
                }
                (name.clone(), unit)
            }
        };
        if number < 0.0 {
            return Err(format!("`{name}` is negative: {cell}"));
        }
        *figure = unit.base(number);
        let declared = match column {
            DivanColumn::Rate => unit.metric,
            DivanColumn::Metric(_, metric) => metric.clone(),
        };
        metric = Some((key, declared));
    }
    let [fastest, slowest, median, mean] = figures;
    let Some((name, metric)) = metric else {
        return Ok(());
    };
    let mut summary = SummaryDraft::of(&name, median, "median");
    summary.n = Some(samples);
    for (name, figure) in [("fastest", fastest), ("slowest", slowest), ("mean", mean)] {
        put_number(&mut summary.extra, name, Some(figure));
    }
    draft.metrics.insert(name, metric);
    draft.summaries.push(summary);
    Ok(())
}

/// Returns the metric and the unit that a rate such as `GB/s`, `Mitem/s` or `kHz` is in.
fn rate(unit: &str) -> Option<(String, Unit)> {
    if let Some(of) = unit.strip_suffix("/s") {
        let bytes = Unit::named(unit);
        if bytes.metric.unit == "B/s" {
            return Some(("bytes_per_second".to_owned(), bytes));
        }
        let (prefix, name) = ["item", "char"]
            .iter()
            .find_map(|name| Some((of.strip_suffix(name)?, name)))?;
        let unit = Unit::named(&format!("{prefix}Hz"));
        return (unit.metric.unit == "1/s").then(|| (format!("{name}s_per_second"), unit));
    }
    let unit = Unit::named(unit);
    (unit.metric.unit == "1/s").then(|| ("cycles_per_second".to_owned(), unit))
}

#[cfg(test)]
mod tests;
