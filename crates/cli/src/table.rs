//! Tables in the forms of `--format`.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table as Comfy, presets};

use crate::error::CliError;

/// A table: its columns and its rows, cell by cell.
#[derive(Debug, Default)]
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

/// On which side the cells of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Table {
    /// Returns an empty table with these columns.
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Returns an empty table without headings.
    pub fn plain(columns: &[Align]) -> Self {
        Self::new(&columns.iter().map(|align| ("", *align)).collect::<Vec<_>>())
    }

    /// Adds a row with as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes it for people: aligned, without lines.
    pub fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let mut table = self.comfy();
        table.load_style(presets::NOTHING);
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Writes it as Markdown.
    pub fn markdown(&self, out: &mut impl Write) -> io::Result<()> {
        let cells = |cells: &mut dyn Iterator<Item = &str>| {
            let escaped: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |", escaped.join(" | "))
        };
        writeln!(out, "{}", cells(&mut self.columns.iter().map(|it| it.0)))?;
        let line = self.columns.iter().map(|(_, align)| match align {
            Align::Left => "---",
            Align::Right => "---:",
        });
        writeln!(out, "|{}|", line.collect::<Vec<_>>().join("|"))?;
        for row in &self.rows {
            writeln!(out, "{}", cells(&mut row.iter().map(String::as_str)))?;
        }
        Ok(())
    }

    /// Writes it as CSV.
    pub fn csv(&self, out: &mut impl Write) -> Result<(), CliError> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(self.columns.iter().map(|(name, _)| name))?;
        for row in &self.rows {
            csv.write_record(row)?;
        }
        csv.flush()?;
        Ok(())
    }

    fn comfy(&self) -> Comfy {
        let mut table = Comfy::new();
        if self.columns.iter().any(|(name, _)| !name.is_empty()) {
            table.set_header(self.columns.iter().map(|(name, _)| *name));
        }
        for row in &self.rows {
            // A control character in a name must not play tricks on the terminal.
            table.add_row(row.iter().map(|cell| {
                cell.chars()
                    .map(|it| if it.is_control() { '\u{FFFD}' } else { it })
                    .collect::<String>()
            }));
        }
        for (at, (_, align)) in self.columns.iter().enumerate() {
            if let Some(column) = table.column_mut(at) {
                column.set_cell_alignment(match align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
            }
        }
        table
    }
}

/// Returns a number with its thousands kept apart: `11,873`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number and its noun: `1 session`, `2 sessions`.
pub fn counted(number: u64, singular: &str) -> String {
    match (number, singular.strip_suffix('y')) {
        (1, _) => format!("1 {singular}"),
        (_, Some(stem)) => format!("{} {stem}ies", grouped(number)),
        (_, None) => format!("{} {singular}s", grouped(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_kept_apart() {
        assert_eq!(
            [0, 999, 1000, 11_873, 1_234_567].map(grouped),
            ["0", "999", "1,000", "11,873", "1,234,567"]
        );
        assert_eq!(counted(1, "summary"), "1 summary");
        assert_eq!(counted(1200, "summary"), "1,200 summaries");
    }
}
