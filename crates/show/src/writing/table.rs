//! Tables in the formats of `--format`.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table as Comfy, presets};
use unicode_width::UnicodeWidthStr;

use super::fit::{ColumnWish, PADDING, common_prefix, fit, wrap};
use super::safe_text::safe_line;

/// The column whose texts may begin alike.
const NAMES: &str = "benchmark";

/// Table of text cells.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<(String, Align)>,
    /// Whether each cell of a row is shown.
    shown: Vec<bool>,
    rows: Vec<Vec<String>>,
    dispensable: Vec<String>,
    strong: Option<String>,
    /// Whether text has no line of titles.
    is_untitled: bool,
}

/// Alignment of a column, and whether its cells may be wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text that may be wrapped.
    Left,
    /// Text that is never wrapped, such as times.
    Whole,
    /// Numbers, right-aligned and never wrapped.
    Right,
}

impl Table {
    /// Returns an empty table with these columns.
    pub fn new<N: AsRef<str>>(columns: &[(N, Align)]) -> Self {
        let columns = columns.iter();
        let columns: Vec<(bool, &str, Align)> = columns
            .map(|(name, align)| (true, name.as_ref(), *align))
            .collect();
        Self::of_shown(&columns)
    }

    /// Returns an empty table with those of the columns that are shown.
    pub fn of_shown(columns: &[(bool, &str, Align)]) -> Self {
        let shown = columns.iter().filter(|(is_shown, ..)| *is_shown);
        Self {
            columns: shown
                .map(|(_, name, align)| ((*name).to_owned(), *align))
                .collect(),
            shown: columns.iter().map(|(is_shown, ..)| *is_shown).collect(),
            ..Self::default()
        }
    }

    /// Returns an empty table without headings.
    pub fn plain(columns: &[Align]) -> Self {
        Self::new(&columns.iter().map(|align| ("", *align)).collect::<Vec<_>>())
    }

    /// Adds a row with a cell for each column, shown or not.
    pub fn row(&mut self, cells: Vec<String>) {
        let cells = cells.into_iter().zip(&self.shown);
        let shown = cells.filter(|(_, is_shown)| **is_shown);
        self.rows.push(shown.map(|(cell, _)| cell).collect());
    }

    /// Sets the columns to drop first if space is short, in this order.
    #[must_use]
    pub fn dispensable<N: AsRef<str>>(mut self, columns: &[N]) -> Self {
        self.dispensable = columns.iter().map(|it| it.as_ref().to_owned()).collect();
        self
    }

    /// Leaves the line of titles to Markdown.
    #[must_use]
    pub fn untitled(mut self) -> Self {
        self.is_untitled = true;
        self
    }

    /// Makes this text bold in Markdown where a cell begins with it.
    #[must_use]
    pub fn strong(mut self, text: String) -> Self {
        self.strong = Some(text);
        self
    }

    /// Returns the table without the named column if it contains only zeros.
    #[must_use]
    pub fn without_zeros(mut self, name: &str) -> Self {
        let at = self.columns.iter().position(|column| column.0 == name);
        let Some(at) = at.filter(|&at| self.rows.iter().all(|row| row[at] == "0")) else {
            return self;
        };
        self.columns.remove(at);
        for row in &mut self.rows {
            row.remove(at);
        }
        self
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Drops all rows but the first ones.
    pub fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
    }

    /// Returns whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the width of the table without wrapping or dropped columns.
    pub fn width(&self) -> usize {
        // The padding after the last cell is not needed.
        let cells = self.wishes().into_iter().map(|it| it.width + PADDING);
        cells.sum::<usize>().saturating_sub(1)
    }

    /// Returns the width of the table without wrapping, if the columns that can be dropped are.
    pub fn least_width(&self) -> usize {
        let kept = self.wishes().into_iter().filter(|it| it.rank.is_none());
        kept.map(|it| it.width + PADDING)
            .sum::<usize>()
            .saturating_sub(1)
    }

    /// Writes an aligned table without borders.
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.text_within(None, out)
    }

    /// Writes an aligned table no wider than `room`, if given: long texts are wrapped, and dropped
    /// columns are named below the table.
    pub fn text_within(&self, room: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        if room.is_some_and(|room| self.width() > room)
            && let Some((shorter, prefix)) = self.without_prefix()
        {
            shorter.text_within(room, out)?;
            return writeln!(out, "\n… is {prefix}");
        }
        let wishes = self.wishes();
        let widths = match room {
            Some(room) => fit(&wishes, room),
            None => wishes.iter().map(|wish| Some(wish.width)).collect(),
        };
        for line in self.comfy(&widths).lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        let columns = self.columns.iter().zip(&widths);
        let missing: Vec<&str> = columns
            .filter(|(_, width)| width.is_none())
            .map(|((name, _), _)| name.as_str())
            .collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            writeln!(
                out,
                "\ncolumns that do not fit: {missing}; `--format csv` has all"
            )?;
        }
        Ok(())
    }

    /// Returns the table with `…` in place of what the names of all rows begin with; `None` if that is short.
    fn without_prefix(&self) -> Option<(Self, String)> {
        let at = self.columns.iter().position(|(name, _)| name == NAMES);
        let at = at.filter(|_| !self.is_untitled)?;
        let names = || self.rows.iter().map(|row| row[at].as_str());
        let prefix = common_prefix(names())?;
        let mut shorter = self.clone();
        for row in &mut shorter.rows {
            row[at] = format!("…{}", &row[at][prefix.len()..]);
        }
        Some((shorter, prefix.to_owned()))
    }

    /// Writes the table as Markdown; nothing if it has no columns.
    pub fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let cells = |cells: &mut dyn Iterator<Item = &str>| {
            let escaped: Vec<String> = cells.map(|cell| self.markdown_cell(cell)).collect();
            format!("| {} |", escaped.join(" | "))
        };
        writeln!(
            out,
            "{}",
            cells(&mut self.columns.iter().map(|it| it.0.as_str()))
        )?;
        let line = self.columns.iter().map(|(_, align)| match align {
            Align::Left | Align::Whole => "---",
            Align::Right => "---:",
        });
        writeln!(out, "|{}|", line.collect::<Vec<_>>().join("|"))?;
        for row in &self.rows {
            writeln!(out, "{}", cells(&mut row.iter().map(String::as_str)))?;
        }
        Ok(())
    }

    fn markdown_cell(&self, text: &str) -> String {
        let strong = self.strong.as_deref().unwrap_or_default();
        let cell = match text.strip_prefix(strong) {
            Some(rest) if !strong.is_empty() => format!("**{strong}**{}", markdown_text(rest)),
            Some(_) | None => markdown_text(text),
        };
        cell.replace('|', "\\|")
    }

    fn wishes(&self) -> Vec<ColumnWish> {
        let columns = self.columns.iter().enumerate();
        columns
            .map(|(at, (name, align))| {
                let cells = self.rows.iter().map(|row| safe_line(&row[at]).width());
                let title = if self.is_untitled { 0 } else { name.width() };
                ColumnWish {
                    align: *align,
                    width: cells.max().unwrap_or(0).max(title),
                    rank: self.dispensable.iter().position(|it| it == name),
                }
            })
            .collect()
    }

    /// Returns the table with columns of these widths; columns without a width are dropped.
    fn comfy(&self, widths: &[Option<usize>]) -> Comfy {
        let mut table = Comfy::new();
        table.load_style(presets::NOTHING);
        let kept: Vec<(usize, usize)> = widths
            .iter()
            .enumerate()
            .filter_map(|(at, width)| Some((at, (*width)?)))
            .collect();
        if !self.is_untitled && self.columns.iter().any(|(name, _)| !name.is_empty()) {
            table.set_header(kept.iter().map(|(at, _)| &self.columns[*at].0));
        }
        for row in &self.rows {
            let cells = kept.iter();
            table.add_row(cells.map(|(at, width)| wrap(&safe_line(&row[*at]), *width)));
        }
        for (place, (at, _)) in kept.iter().enumerate() {
            if let Some(column) = table.column_mut(place) {
                column.set_cell_alignment(match self.columns[*at].1 {
                    Align::Left | Align::Whole => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
            }
        }
        table
    }
}

/// Returns a text for Markdown, with its marks and HTML escaped, but for the code in it.
pub fn markdown_text(text: &str) -> String {
    let text = safe_line(text);
    // Backquotes in pairs are ours, or cannot be told from them.
    let is_paired = text.matches('`').count().is_multiple_of(2) && !text.contains("``");
    let parts = text.split('`').enumerate();
    let escaped: Vec<String> = parts
        .map(|(at, part)| match is_paired && at % 2 == 1 {
            true => part.to_owned(),
            false => escaped(part),
        })
        .collect();
    escaped.join(if is_paired { "`" } else { "\\`" })
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let is_word = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    for (at, character) in text.char_indices() {
        match character {
            '<' => escaped.push_str("&lt;"),
            // A mention would notify whoever has that name.
            '@' => escaped.push_str("&#64;"),
            // An exclamation mark is one of a picture only before a bracket.
            '*' | '[' | ']' | '\\' => escaped.extend(['\\', character]),
            // Within a word it is none of Markdown's marks.
            '_' => {
                let before = text[..at].trim_end_matches('_').chars().next_back();
                let after = text[at..].trim_start_matches('_').chars().next();
                if !(is_word(before) && is_word(after)) {
                    escaped.push('\\');
                }
                escaped.push('_');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(table: &Table, room: Option<usize>) -> String {
        let mut text = Vec::new();
        table.text_within(room, &mut text).expect("memory takes it");
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn a_narrow_terminal_gets_all_names_and_no_line_too_long() {
        let mut table = Table::new(&[
            ("benchmark", Align::Left),
            ("iterations", Align::Right),
            ("last measured", Align::Whole),
            ("tags", Align::Left),
        ])
        .dispensable(&["tags", "last measured"]);
        table.row(vec![
            "benchmarks/io/test_parquet.py::test_round_trip[snappy-10]".to_owned(),
            "1,000".to_owned(),
            "2026-11-20 10:00".to_owned(),
            "a\nb".to_owned(),
        ]);
        insta::assert_snapshot!(shown(&table, None), @"
        benchmark                                                  iterations  last measured     tags
        benchmarks/io/test_parquet.py::test_round_trip[snappy-10]       1,000  2026-11-20 10:00  a�b
        ");
        insta::assert_snapshot!(shown(&table, Some(80)), @"
        benchmark                                   iterations  last measured     tags
        benchmarks/io/test_parquet.py::test_round_       1,000  2026-11-20 10:00  a�b
        trip[snappy-10]
        ");
        insta::assert_snapshot!(shown(&table, Some(60)), @"
        benchmark                iterations  last measured     tags
        benchmarks/io/test_           1,000  2026-11-20 10:00  a�b
        parquet.py::test_round_
        trip[snappy-10]
        ");
        insta::assert_snapshot!(shown(&table, Some(40)), @"
         benchmark                iterations
         benchmarks/io/test_           1,000
         parquet.py::test_round_
         trip[snappy-10]

        columns that do not fit: last measured, tags; `--format csv` has all
        ");
    }

    #[test]
    fn names_are_no_markdown() {
        for (text, escaped) in [
            ("test_join[10-100]", r"test_join\[10-100\]"),
            ("![x](http://y) @all", r"!\[x\](http://y) &#64;all"),
            ("_a_ (__b__) c__d *e*", r"\_a\_ (\_\_b\_\_) c__d \*e\*"),
            (r"\*a\* <b>", r"\\\*a\\\* &lt;b>"),
            ("`--all *` shows [it]", r"`--all *` shows \[it\]"),
            ("a` *b*", r"a\` \*b\*"),
        ] {
            assert_eq!(markdown_text(text), escaped);
        }
    }

    #[test]
    fn a_column_of_zeros_goes() {
        let mut table = Table::new(&[("benchmark", Align::Left), ("summaries", Align::Right)]);
        table.row(vec!["a".to_owned(), "0".to_owned()]);
        assert_eq!(
            shown(&table, None),
            " benchmark  summaries\n a                  0\n"
        );
        assert_eq!(table.width(), " benchmark  summaries".len());
        assert_eq!(
            shown(&table.without_zeros("summaries"), None),
            " benchmark\n a\n"
        );
    }
}
