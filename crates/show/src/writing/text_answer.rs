//! Answers for people, as text for a terminal or as Markdown.

use std::io::{self, Write};

use super::fit::wrap_sentences;
use super::table::{Table, markdown_text};

/// Layout of an answer in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkdownLayout {
    /// The headline and each note are paragraphs.
    Paragraphs,
    /// The headline is bold, and the notes are a list.
    List,
}

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
            *note = wrap_sentences(note, width);
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
        let headline = room.map(|room| wrap_sentences(&self.headline, room));
        writeln!(out, "{}", headline.as_ref().unwrap_or(&self.headline))?;
        if !self.table.is_empty() {
            writeln!(out)?;
            self.table.text_within(room, out)?;
        }
        if !self.notes.is_empty() {
            let blank = if self.table.is_empty() { "" } else { "\n" };
            writeln!(out, "{blank}{}", self.notes.join("\n"))?;
        }
        Ok(())
    }

    /// Writes the answer as Markdown.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", markdown_text(&self.headline))?;
        self.markdown_table(out)?;
        for note in &self.notes {
            writeln!(out, "\n{}", markdown_text(note))?;
        }
        Ok(())
    }

    /// Writes the answer as Markdown with a bold headline and a list of notes.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn markdown_list(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "**{}**", markdown_text(&self.headline))?;
        self.markdown_table(out)?;
        let notes = self.notes.iter();
        let notes: Vec<String> = notes
            .map(|note| format!("\n- {}", markdown_text(note)))
            .collect();
        if !notes.is_empty() {
            writeln!(out, "{}", notes.concat())?;
        }
        Ok(())
    }

    fn markdown_table(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.table.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        self.table.markdown(out)
    }
}
