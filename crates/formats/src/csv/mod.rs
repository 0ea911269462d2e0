//! Tables of separated values (CSV, TSV): the meaning of the columns is found by their names and contents.

mod choices;
mod columns;
mod earlier;
mod heading;
mod instance;
mod layout;
mod parameters;
mod role;
mod runs;
mod table;

use std::sync::LazyLock;

use jiff::Timestamp;
use lapwing_model::Id;
use regex::Regex;

pub use crate::csv::choices::ColumnChoices;
use crate::csv::columns::Columns;
use crate::csv::earlier::{Reading, readings};
use crate::csv::role::Role;
use crate::csv::runs::{CsvRun, RowMeaning, RowReader};
use crate::csv::table::CsvTable;
use crate::shared::intake::{Intake, RunDraft, SessionDraft};
use crate::shared::rows::bad_header;
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    ..Format::new(
        "csv",
        "tables (CSV, TSV) with a column per date, version, benchmark, value … or per metric",
        looks_like,
        read,
    )
};

/// Names of columns that are longer are sentences.
const LONGEST_NAME: usize = 80;

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let (table, columns) = columns_of(head)?;
    let columns = columns.ok()?;
    // Much is aligned with blanks.
    let has_unit = columns.the(Role::Unit).is_some();
    let mut values = columns.of_role(Role::Value);
    let is_sure = !table.is_aligned || values.all(|it| it.is_told(table.has_header) || has_unit);
    (is_sure && columns.are_measurements()).then_some(match table.has_header {
        true => "its first line names columns, and the rows have numbers",
        false => "its rows are names and numbers",
    })
}

/// Returns why a text that is a table is not read as one; `None` if it is none.
pub(super) fn refusal(text: &[u8]) -> Option<String> {
    columns_of(text)?.1.err()
}

/// Returns a text that is a regular table, and its columns, or why they are no measurements.
fn columns_of(head: &[u8]) -> Option<(CsvTable, Result<Columns, String>)> {
    let table = CsvTable::of_head(head)?;
    let is_name = |title: &String| {
        title.len() <= LONGEST_NAME && !title.contains(['{', '}', '<', '"', '\n', '='])
    };
    let is_regular = table.header.len() > 1 && table.bad.len() <= table.rows.len();
    if table.rows.is_empty() || !is_regular || !table.header.iter().all(is_name) {
        return None;
    }
    let columns = Columns::of(&table, &ColumnChoices::default());
    Some((table, columns))
}

/// The columns of a table with their meaning, in words.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnsUsed {
    /// The meaning of each, as [`ColumnChoices::parse`] reads it.
    pub text: String,
    /// The columns that could be the value as well as the one that was taken.
    pub rivals: Vec<String>,
    /// The columns whose numbers can be read in two ways.
    pub unclear: Vec<UnclearColumn>,
}

/// A column of numbers such as `1.234`, which may be more than a thousand, without a cell that tells.
#[derive(Debug, Clone, PartialEq)]
pub struct UnclearColumn {
    /// Its name.
    pub title: String,
    /// One of its cells.
    pub cell: String,
    /// The number that the cell was taken for.
    pub taken: f64,
    /// The meaning in `--columns` by which it is read the other way.
    pub otherwise: &'static str,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let (table, digest) = CsvTable::of(source)?;
    if table.rows.is_empty() && table.bad.is_empty() {
        return Err(source.without_results());
    }
    let columns = Columns::of(&table, &sink.options.columns);
    let columns = columns.and_then(Columns::with_clear_dates);
    let columns = columns.map_err(|reason| bad_header(source, BadLine::new(1, reason)))?;
    let given = [
        (
            "--as benchmark=…",
            Role::Benchmark,
            &sink.options.trace.benchmark,
        ),
        ("--as variant=…", Role::Variant, &sink.options.trace.variant),
    ];
    let unused: Vec<&str> = given
        .into_iter()
        .filter(|(_, role, name)| name.is_some() && columns.the(*role).is_some())
        .map(|(option, ..)| option)
        .collect();
    for option in unused {
        sink.notes().left(option, "the table has a column of them");
    }
    let name = sink.options.trace.benchmark.clone();
    let name = name.unwrap_or_else(|| undated(source.stem()));
    let (readings, identity) = readings(source, &table, columns, sink)?;
    let mut bad = table.bad.clone();
    let mut found = Vec::new();
    for reading in &readings {
        let Reading {
            columns,
            text,
            rows,
        } = reading;
        let meaning = RowMeaning {
            table: &table,
            columns,
            identity: &identity,
            benchmark: &name,
        };
        let (runs, unusable) = RowReader::new(meaning).read(rows, sink.notes());
        bad.extend(unusable);
        let text = text.clone().unwrap_or_else(|| columns.text());
        found.push((meaning, text, runs));
    }
    bad.sort_by_key(|bad| bad.line);
    bad.into_iter().for_each(|bad| sink.bad_result(bad));
    if found.iter().all(|(.., runs)| runs.is_empty()) {
        // What is bad is told at the end.
        return if sink.has_bad() {
            Ok(())
        } else {
            Err(source.without_results())
        };
    }
    for (meaning, text, runs) in found {
        // The order of the file's lines, whatever is refused.
        let sessions: Vec<Vec<CsvRun>> = match identity.is_dated {
            true => runs.into_iter().map(|run| vec![run]).collect(),
            false => vec![runs],
        };
        for runs in sessions.into_iter().filter(|runs| !runs.is_empty()) {
            put_session(runs, (meaning, &text), source, &digest, sink)?;
        }
    }
    if let Some(last) = readings.last() {
        sink.columns(used(&last.columns));
    }
    Ok(())
}

fn used(columns: &Columns) -> ColumnsUsed {
    ColumnsUsed {
        text: columns.text(),
        rivals: columns.rivals.clone(),
        unclear: columns.unclear_numbers(),
    }
}

fn put_session(
    runs: Vec<CsvRun>,
    (meaning, text): (RowMeaning<'_>, &str),
    source: &Source,
    digest: &[u8; 32],
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let (table, identity) = (meaning.table, meaning.identity);
    let first = &table.rows[runs[0].first];
    let session = SessionDraft {
        identity: Some(identity.session(source, table, first)),
        started: runs[0].started.filter(|_| identity.is_dated),
        name: identity
            .is_dated
            .then(|| format!("{} {}", source.stem(), label(&runs[0]))),
        read_with: vec![("columns", text.to_owned())],
        ..SessionDraft::of("CSV")
    };
    let mut intake = Intake::begin(source, digest, sink, session)?;
    for run in runs {
        put(run, meaning, &mut intake)?;
    }
    intake.finish()
}

fn put(
    run: CsvRun,
    meaning: RowMeaning<'_>,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    let given = intake.options().trace.variant.clone();
    let key = label(&run);
    for instance in run.instances {
        let rows = instance.rows.clone();
        let mut whole = Some(instance);
        let mut start = 0;
        while start < rows.len() {
            let (end, id) = known_part(&rows, start, meaning, intake)?;
            let part = whole.take().filter(|_| end == rows.len());
            let mut part = part.unwrap_or_else(|| meaning.part(&rows[start..end], intake.notes()));
            part.complete();
            let variant = part.variant.clone().or_else(|| given.clone());
            let run = intake.run(RunDraft {
                key: format!("{key}\0{}", variant.as_deref().unwrap_or_default()),
                variant,
                version: run.version.clone(),
                ..RunDraft::default()
            })?;
            part.draft.id = Some(id);
            intake.instance(part.line, run, part.draft)?;
            start = end;
        }
    }
    Ok(())
}

/// Returns the end of the longest part of an instance's rows from `start` on that is in the store as an instance, or of
/// all of them if none is, and the id of that part: rows that were added later follow those.
fn known_part(
    rows: &[usize],
    start: usize,
    meaning: RowMeaning<'_>,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(usize, Id), ImportError> {
    let session = intake.session();
    let id_of = |end: usize| {
        let digest = meaning.digest(&rows[start..end]);
        let place = (start as u64).to_le_bytes();
        let mut parts: Vec<&[u8]> = vec![b"csv instance", session.as_bytes(), &digest];
        // The same row may stand there again.
        if start > 0 {
            parts.push(&place);
        }
        Id::derived(&parts)
    };
    let whole = (rows.len(), id_of(rows.len()));
    if !intake.is_known() || intake.has_instance(whole.1)? {
        return Ok(whole);
    }
    for end in (start + 1..rows.len()).rev() {
        let id = id_of(end);
        if intake.has_instance(id)? {
            return Ok((end, id));
        }
    }
    Ok(whole)
}

fn label(run: &CsvRun) -> String {
    let day = |time: Timestamp| time.strftime("%Y-%m-%d %H:%M:%S").to_string();
    let parts = [
        run.version.label(),
        run.version.branch.clone(),
        run.started.map(day),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Returns the name of a file without the date in it: the files of all nights measure the same.
fn undated(stem: &str) -> String {
    static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"[-_. ]?(?:19|20)\d\d[-_.]?[01]\d[-_.]?[0-3]\d(?:[-_T. ]?[0-2]\d[-_:.]?[0-5]\d(?:[-_:.]?[0-5]\d)?Z?)?").ok()
    });
    let rest = match DATE.as_ref() {
        Some(date) => date.replace(stem, "").into_owned(),
        None => stem.to_owned(),
    };
    match rest.trim_matches(['-', '_', '.', ' ']) {
        "" => stem.to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
