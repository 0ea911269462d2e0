//! Tables that are not written as CSV: of Markdown, aligned with blanks, and without names of columns.

use std::borrow::Cow;

use crate::csv::table::CsvRow;
use crate::shared::reading::cells::{is_missing, number, time};
use crate::shared::reading::notation::{DateOrder, DecimalMark};
use crate::shared::units::Unit;

/// The first lines, by which the layout is found.
const LINES_COMPARED: usize = 20;

/// Returns the text of a Markdown table or of one that is aligned with blanks, with tabs between the cells and as many
/// lines; any other text as it is.
pub(super) fn with_separators(text: &[u8]) -> Cow<'_, [u8]> {
    let Ok(read) = std::str::from_utf8(text) else {
        return Cow::Borrowed(text);
    };
    let first: Vec<&str> = read
        .lines()
        .filter(|line| !line.trim().is_empty() && !is_rule(line))
        .take(LINES_COMPARED)
        .collect();
    let is_markdown = first.iter().all(|line| line.trim_start().starts_with('|'));
    let has_separator = |line: &&str| line.trim().contains([',', ';', '\t', '|', '"']);
    let cells: fn(&str) -> Vec<&str> = match first.len() {
        0 | 1 => return Cow::Borrowed(text),
        _several if is_markdown => piped,
        _several if first.iter().any(has_separator) => return Cow::Borrowed(text),
        _several if is_regular(&first, wide) => wide,
        _several if is_regular(&first, narrow) => narrow,
        _several => return Cow::Borrowed(text),
    };
    let mut separated = String::with_capacity(text.len());
    for line in read.lines() {
        if !is_rule(line) {
            separated.push_str(&cells(line).join("\t"));
        }
        separated.push('\n');
    }
    Cow::Owned(separated.into_bytes())
}

/// Returns whether all lines have the same number of cells, which is two at least.
fn is_regular(lines: &[&str], cells: fn(&str) -> Vec<&str>) -> bool {
    let number = cells(lines[0]).len();
    number >= 2 && lines.iter().all(|line| cells(line).len() == number)
}

/// Returns cells with two blanks or more between them.
fn wide(line: &str) -> Vec<&str> {
    let cells = line.trim().split("  ").map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

fn piped(line: &str) -> Vec<&str> {
    line.trim()
        .trim_matches('|')
        .split('|')
        .map(str::trim)
        .collect()
}

fn narrow(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Returns whether a line only separates the names of columns from the rows: `|---|---:|`, `---- ----`.
fn is_rule(line: &str) -> bool {
    line.contains("--") && line.chars().all(|it| "|-:=+ \t\r".contains(it))
}

/// The columns of a table without a line of names.
const NAMES: [&str; 3] = ["name", "value", "unit"];

/// Returns the names of the columns, if the first row is one of names, values and perhaps units already, and so are all.
pub(super) fn missing_header(first: &[String], rows: &[CsvRow]) -> Option<Vec<String>> {
    let is_row = |cells: &[&str]| match cells {
        [name, value, unit @ ..] => {
            let marks = [DecimalMark::Point, DecimalMark::Comma];
            let read = |cell: &str| marks.iter().find_map(|mark| number(cell, *mark));
            let is_number = |cell: &str| read(cell).is_some_and(f64::is_finite);
            let is_name =
                !is_missing(name) && !is_number(name) && time(name, DateOrder::Unknown).is_none();
            let is_known = |unit: &&str| Unit::named(unit).metric.better.is_some();
            is_name && is_number(value) && unit.iter().all(is_known)
        }
        [..] => false,
    };
    let first_row: Vec<&str> = first.iter().map(String::as_str).collect();
    let names = NAMES.get(..first.len()).filter(|names| names.len() >= 2)?;
    let mut rows = rows.iter().take(LINES_COMPARED);
    let all = rows.all(|row| is_row(&row.cells.iter().collect::<Vec<_>>()));
    (all && is_row(&first_row)).then(|| names.iter().map(|&name| name.to_owned()).collect())
}
