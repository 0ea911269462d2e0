//! Answers for people, as text for a terminal or as Markdown.

use std::io::{self, Write};

use lapwing_model::text::{counted, grouped};

use super::fit::wrap_sentences;
use super::note::{NextStep, Note, NoteWeight};
use super::picture::{self, Picture, PictureStyle};
use super::table::{Table, markdown_text};

/// Maximum width of sentences below a table.
const WIDTH: usize = 80;

/// Of more remarks people see the number.
const MOST_REMARKS: usize = 3;

/// Layout of an answer in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkdownLayout {
    /// The headline and each note are paragraphs.
    Paragraphs,
    /// The headline is bold, and the notes are a list.
    List,
}

/// An answer for people: a sentence, a table, and notes.
#[derive(Debug, Clone, Default)]
pub struct TextAnswer {
    /// The conclusion.
    pub headline: String,
    /// The conclusion for programs, where the table alone tells it to people.
    pub told_by_table: Option<String>,
    /// The numbers.
    pub table: Table,
    /// Lines that belong to the table, right below it: rows that are folded, reasons of verdicts. Programs get the rows
    /// themselves.
    pub below: Vec<Note>,
    /// Pictures of the numbers, in a terminal.
    pub pictures: Vec<Picture>,
    /// Remarks, a line each.
    pub notes: Vec<Note>,
    /// Commands that continue from here.
    pub next: Vec<NextStep>,
    /// Whether the conclusion stands below the table, in a terminal.
    pub has_table_first: bool,
    /// Whether the remarks stand in the order of their importance, so that the last ones can be left to `--full`.
    pub has_ranked_notes: bool,
}

impl TextAnswer {
    /// Returns the answer with this many rows at most, and a note on the others.
    #[must_use]
    pub fn limited(mut self, limit: Option<usize>) -> Self {
        let rows = self.table.len();
        if let Some(limit) = limit.filter(|limit| *limit < rows) {
            self.table.truncate(limit);
            let text = format!("{} of {} rows are shown (`--limit`)", limit, grouped(rows));
            let note = Note::new("limit", text);
            self.notes
                .push(note.with("shown", limit).with("rows", rows));
        }
        self
    }

    /// Returns the answer without details, and with the most important remarks and the number of the others.
    #[must_use]
    pub fn brief(mut self) -> Self {
        self.notes
            .retain(|note| note.weight() != NoteWeight::Detail);
        let is_usual = |note: &Note| note.is_marked() && note.weight() == NoteWeight::Usual;
        let remarks = self.notes.iter().filter(|note| is_usual(note)).count();
        if !self.has_ranked_notes || remarks <= MOST_REMARKS {
            return self;
        }
        let mut known = 0;
        self.notes.retain(|note| {
            known += usize::from(is_usual(note));
            !is_usual(note) || known <= MOST_REMARKS
        });
        let more = counted(remarks - MOST_REMARKS, "more note");
        let text = format!("{more} (`--full` shows all)");
        self.notes.push(Note::marked("more_notes", text));
        self
    }

    /// Returns the answer without remarks and next steps.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.notes.retain(|note| !note.is_marked());
        self.next.clear();
        self.pictures.clear();
        self
    }

    /// Returns the lines below the table.
    pub fn lines(&self) -> Vec<String> {
        let notes = self.notes.iter().map(|note| unforged(&note.line()));
        notes.chain(NextStep::line(&self.next)).collect()
    }

    /// Returns the lines right below the table.
    fn lines_below(&self) -> impl Iterator<Item = String> {
        self.below.iter().map(|note| unforged(&note.line()))
    }

    /// Writes the answer for a terminal of this width; programs that read the first line get all
    /// of it.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn text(&self, room: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        self.text_with(PictureStyle::default(), room, out)
    }

    /// Writes the answer as [`TextAnswer::text`] does, with pictures in this style.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn text_with(
        &self,
        style: PictureStyle,
        room: Option<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let headline = unforged(&self.headline);
        let headline = room.map_or(headline.clone(), |room| wrap_sentences(&headline, room));
        // No wider than the terminal and than is readable.
        let width = room.map_or(WIDTH, |room| room.min(WIDTH));
        let below = self.lines_below();
        let below: Vec<String> = below
            .map(|line| wrap_sentences(&format!(" {line}"), width))
            .collect();
        let write_below = |out: &mut dyn Write| {
            let mut lines = below.iter();
            lines.try_for_each(|line| writeln!(out, "{line}"))
        };
        if self.has_table_first {
            self.table.text_within(room, out)?;
            write_below(out)?;
            if !headline.is_empty() {
                writeln!(out, "\n {headline}")?;
            }
        } else {
            writeln!(out, "{headline}")?;
            if !self.table.is_empty() || !below.is_empty() {
                writeln!(out)?;
                self.table.text_within(room, out)?;
            }
            write_below(out)?;
        }
        let pictures = room.map(|room| picture::lines(&self.pictures, style, room));
        let pictures = pictures.filter(|it| !it.is_empty());
        if let Some(pictures) = &pictures {
            writeln!(out, "\n{}", pictures.join("\n"))?;
        }
        let lines = self.lines().into_iter().map(|line| {
            let is_marked = ["note: ", "next: "].iter().any(|it| line.starts_with(it));
            if self.has_table_first && !is_marked {
                format!(" {line}")
            } else {
                line
            }
        });
        let lines: Vec<String> = lines
            .map(|line| {
                // Programs that read sentences of a session find each in a line.
                let is_whole = self.has_table_first && room.is_none();
                if is_whole {
                    line
                } else {
                    wrap_sentences(&line, width)
                }
            })
            .collect();
        if !lines.is_empty() {
            let is_bare = self.table.is_empty() && below.is_empty();
            let has_more = !is_bare && !self.has_table_first;
            let is_apart = has_more || pictures.is_some();
            let blank = if is_apart { "\n" } else { "" };
            writeln!(out, "{blank}{}", lines.join("\n"))?;
        }
        Ok(())
    }

    /// Writes the answer as Markdown.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.headline.is_empty() {
            writeln!(out, "{}", markdown_text(&self.headline))?;
        }
        self.markdown_table(out)?;
        for line in self.lines_below().chain(self.lines()) {
            writeln!(out, "\n{}", markdown_text(&one_line(&line)))?;
        }
        Ok(())
    }

    /// Writes the answer as Markdown with a bold headline and a list of notes.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn markdown_list(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.headline.is_empty() {
            writeln!(out, "**{}**", markdown_text(&self.headline))?;
        }
        self.markdown_table(out)?;
        let lines = self.lines_below().chain(self.lines());
        let lines: Vec<String> = lines
            .map(|line| format!("\n- {}", markdown_text(&one_line(&line))))
            .collect();
        if !lines.is_empty() {
            writeln!(out, "{}", lines.concat())?;
        }
        Ok(())
    }

    fn markdown_table(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.table.is_empty() {
            return Ok(());
        }
        if !self.headline.is_empty() {
            writeln!(out)?;
        }
        self.table.markdown(out)
    }
}

/// Returns the lines of a text as one, for Markdown.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    lines.collect::<Vec<_>>().join("; ")
}

/// Returns a text in which no name begins a line of its own: lines of ours are indented below a sentence.
fn unforged(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut whole = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        whole.push_str(if line.starts_with("    ") || line.is_empty() {
            "\n"
        } else {
            "\u{fffd}"
        });
        whole.push_str(line);
    }
    whole
}
