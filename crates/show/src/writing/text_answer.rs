//! Answers for people, as text for a terminal or as Markdown.

use std::io::{self, Write};

use super::fit::wrap;
use super::table::{Table, markdown_text};

/// An answer for people: a sentence, a table, and notes.
#[derive(Debug)]
pub struct TextAnswer {
    /// The conclusion.
    pub headline: String,
    /// The numbers.
    pub table: Table,
    /// Remarks, a line each.
    pub notes: Vec<String>,
}

impl TextAnswer {
    /// Returns the answer with its notes wrapped: no wider than the terminal and than is readable.
    #[must_use]
    pub fn wrapped(mut self, room: Option<usize>) -> Self {
        const WIDTH: usize = 80;
        let width = room.map_or(WIDTH, |room| room.min(WIDTH));
        for note in &mut self.notes {
            *note = wrap(note, width);
        }
        self
    }

    /// Writes the answer for a terminal of this width; programs that read the first line get all
    /// of it.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn text(&self, room: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        let headline = room.map(|room| wrap(&self.headline, room));
        writeln!(out, "{}\n", headline.as_ref().unwrap_or(&self.headline))?;
        self.table.text_within(room, out)?;
        if !self.notes.is_empty() {
            writeln!(out, "\n{}", self.notes.join("\n"))?;
        }
        Ok(())
    }

    /// Writes the answer as Markdown.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}\n", markdown_text(&self.headline))?;
        self.table.markdown(out)?;
        for note in &self.notes {
            writeln!(out, "\n{}", markdown_text(note))?;
        }
        Ok(())
    }
}
