//! Tables with aligned columns, for people, for pull requests and for spreadsheets.

use unicode_width::UnicodeWidthStr;

/// Rows of texts, perhaps under headings.
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
}

/// Spaces between columns.
const GAP: &str = "   ";

impl Table {
    /// Returns a table with these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self {
            headings: headings.map(str::to_owned).to_vec(),
            rows: Vec::new(),
            right: Vec::new(),
        }
    }

    /// Returns a table without headings.
    pub fn plain() -> Self {
        Self {
            headings: Vec::new(),
            rows: Vec::new(),
            right: Vec::new(),
        }
    }

    /// Aligns a column of numbers to the right.
    pub fn right(mut self, columns: &[usize]) -> Self {
        self.right = columns.to_vec();
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns the table for a terminal, without spaces at the ends of lines.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let headed = (!self.headings.is_empty()).then_some(&self.headings);
        let lines: Vec<&Vec<String>> = headed.into_iter().chain(&self.rows).collect();
        let widths: Vec<usize> = (0..columns.max(self.headings.len()))
            .map(|column| {
                let cells = lines.iter().filter_map(|line| line.get(column));
                cells.map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for line in lines {
            let cells: Vec<String> = line
                .iter()
                .enumerate()
                .map(|(column, cell)| self.pad(cell, widths[column], column))
                .collect();
            text.push_str(cells.join(GAP).trim_end());
            text.push('\n');
        }
        text
    }

    fn pad(&self, cell: &str, width: usize, column: usize) -> String {
        let space = " ".repeat(width.saturating_sub(cell.width()));
        if self.right.contains(&column) {
            format!("{space}{cell}")
        } else {
            format!("{cell}{space}")
        }
    }

    /// Returns the table for a pull request.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|it| it.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<String> = (0..self.headings.len())
            .map(|column| {
                if self.right.contains(&column) {
                    "--:"
                } else {
                    "---"
                }
                .to_owned()
            })
            .collect();
        let body: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}{}{body}", line(&self.headings), line(&rule))
    }

    /// Returns the table for a spreadsheet: RFC 4180.
    pub fn csv(&self) -> String {
        let quote = |cell: &String| {
            if cell.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.clone()
            }
        };
        std::iter::once(&self.headings)
            .chain(&self.rows)
            .map(|row| format!("{}\n", row.iter().map(quote).collect::<Vec<_>>().join(",")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["name", "time"]).right(&[1]);
        table.row(["é|\"x\"".to_owned(), "1".to_owned()]);
        table.row(["b".to_owned(), "10".to_owned()]);
        table
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(
            table().text(),
            "name    time\né|\"x\"      1\nb         10\n"
        );
    }

    #[test]
    fn markdown_and_csv_escape_what_they_must() {
        assert_eq!(
            table().markdown(),
            "| name | time |\n| --- | --: |\n| é\\|\"x\" | 1 |\n| b | 10 |\n"
        );
        assert_eq!(table().csv(), "name,time\n\"é|\"\"x\"\"\",1\nb,10\n");
    }
}
