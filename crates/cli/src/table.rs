//! Tables with aligned columns, for people and for pull requests.

use comfy_table::{CellAlignment, ContentArrangement, presets};

/// Rows of texts under a heading.
pub struct Table {
    table: comfy_table::Table,
    columns: usize,
}

impl Table {
    /// Returns a table with these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        let mut table = comfy_table::Table::new();
        table
            .load_preset(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(headings);
        Self { table, columns: N }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.table.add_row(cells);
    }

    /// Aligns a column of numbers to the right.
    pub fn right(&mut self, column: usize) {
        if let Some(column) = self.table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }

    /// Returns the table for a terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in self.table.lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// Returns how many columns there are.
    pub fn columns(&self) -> usize {
        self.columns
    }
}
