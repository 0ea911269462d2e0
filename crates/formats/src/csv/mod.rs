//! Tables of separated values (CSV, TSV): the meaning of the columns is found by their names and contents.

mod cells;
mod choices;
mod columns;
mod heading;
mod instance;
mod notation;
mod role;
mod runs;
mod table;

use std::sync::LazyLock;

use jiff::Timestamp;
use lapwing_model::Id;
use regex::Regex;
use sha2::{Digest, Sha256};

pub use crate::csv::choices::ColumnChoices;
use crate::csv::columns::Columns;
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
    let columns = columns_of(head)?.ok()?;
    columns
        .are_measurements()
        .then_some("its first line names columns, and the rows have numbers")
}

/// Returns why a text that is a table is not read as one; `None` if it is none.
pub(super) fn refusal(text: &[u8]) -> Option<String> {
    columns_of(text)?.err()
}

/// Returns the columns of a text that is a regular table, or why they are no measurements.
fn columns_of(head: &[u8]) -> Option<Result<Columns, String>> {
    let table = CsvTable::of_head(head)?;
    let is_name = |title: &String| {
        title.len() <= LONGEST_NAME && !title.contains(['{', '}', '<', '"', '\n', '='])
    };
    let is_regular = table.header.len() > 1 && table.bad.len() <= table.rows.len();
    if table.rows.is_empty() || !is_regular || !table.header.iter().all(is_name) {
        return None;
    }
    Some(Columns::of(&table, &ColumnChoices::default()))
}

/// The columns of a table with their meaning, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnsUsed {
    /// The meaning of each, as [`ColumnChoices::parse`] reads it.
    pub text: String,
    /// The columns that could be the value as well as the one that was taken.
    pub rivals: Vec<String>,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let (table, digest) = CsvTable::of(source)?;
    if table.rows.is_empty() && table.bad.is_empty() {
        return Err(source.without_results());
    }
    let columns = Columns::of(&table, &sink.options.columns);
    let columns = columns.and_then(Columns::with_clear_dates);
    let columns = columns.map_err(|reason| bad_header(source, BadLine::new(1, reason)))?;
    let used = ColumnsUsed {
        text: columns.text(),
        rivals: columns.rivals.clone(),
    };
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
    let meaning = RowMeaning {
        table: &table,
        columns: &columns,
        benchmark: &name,
    };
    let (mut runs, bad) = RowReader::new(meaning).read(sink.notes());
    let mut bad: Vec<BadLine> = table.bad.iter().cloned().chain(bad).collect();
    bad.sort_by_key(|bad| bad.line);
    bad.into_iter().for_each(|bad| sink.bad_result(bad));
    if runs.is_empty() {
        // What is bad is told at the end.
        return if sink.has_bad() {
            Ok(())
        } else {
            Err(source.without_results())
        };
    }
    // The order of the file's lines, whatever is refused.
    let is_dated = columns.the(Role::Date).is_some();
    let is_versioned = [Role::Version, Role::Commit]
        .iter()
        .any(|role| columns.the(*role).is_some());
    let sessions: Vec<Vec<CsvRun>> = match is_dated {
        true => runs.into_iter().map(|run| vec![run]).collect(),
        false => vec![std::mem::take(&mut runs)],
    };
    for runs in sessions {
        let identity = match (is_dated, is_versioned) {
            (true, _) => Some(identity(&table, &runs[0].digest())),
            // A file that grows at its end is the same session.
            (false, true) => Some(identity(&table, &runs[0].instances[0].digest())),
            (false, false) => None,
        };
        let session = SessionDraft {
            identity,
            started: runs[0].started,
            name: is_dated.then(|| format!("{} {}", source.stem(), label(&runs[0]))),
            read_with: vec![("columns", used.text.clone())],
            ..SessionDraft::of("CSV")
        };
        let mut intake = Intake::begin(source, &digest, sink, session)?;
        for run in runs {
            put(run, &mut intake)?;
        }
        intake.finish()?;
    }
    sink.columns(used);
    Ok(())
}

fn put(run: CsvRun, intake: &mut Intake<'_, '_, '_>) -> Result<(), ImportError> {
    let given = intake.options().trace.variant.clone();
    let key = label(&run);
    let session = intake.session();
    for mut instance in run.instances {
        instance.complete();
        let variant = instance.variant.clone().or_else(|| given.clone());
        let id = intake.run(RunDraft {
            key: format!("{key}\0{}", variant.as_deref().unwrap_or_default()),
            variant,
            version: run.version.clone(),
            ..RunDraft::default()
        })?;
        let digest = instance.digest();
        instance.draft.id = Some(Id::derived(&[b"csv instance", session.as_bytes(), &digest]));
        intake.instance(instance.line, id, instance.draft)?;
    }
    Ok(())
}

/// Returns a digest of a table's columns and some of its rows.
fn identity(table: &CsvTable, rows: &[u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for title in &table.header {
        hash.update((title.len() as u64).to_le_bytes());
        hash.update(title);
    }
    hash.update(rows);
    hash.finalize().into()
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
