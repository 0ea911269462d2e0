//! Text, line by line, however long the file.

use std::io::BufRead;

use crate::{ImportError, Source};
use lapwing_model::too_long;
use lapwing_record::{LineEnd, read_line};

/// The lines of a source.
pub(crate) struct Lines<'s> {
    source: &'s Source,
    text: Box<dyn BufRead + 's>,
    line: Vec<u8>,
    number: u64,
}

/// A line, or why it is none.
pub(crate) enum Line<'l> {
    /// The text without its end.
    Text(&'l str),
    /// The error.
    Bad(String),
}

impl<'s> Lines<'s> {
    pub(crate) fn of(source: &'s Source) -> Result<Self, ImportError> {
        Ok(Self {
            source,
            text: source.text()?,
            line: Vec::new(),
            number: 0,
        })
    }

    /// Returns the next line that is not blank, without the blanks around it, and its
    /// number from 1.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Line<'_>)>, ImportError> {
        let line = self.next_indented()?;
        Ok(line.map(|(number, line)| match line {
            Line::Text(text) => (number, Line::Text(text.trim_start())),
            Line::Bad(reason) => (number, Line::Bad(reason)),
        }))
    }

    /// Returns the next line that is not blank, with the blanks before it, and its number
    /// from 1.
    pub(crate) fn next_indented(&mut self) -> Result<Option<(u64, Line<'_>)>, ImportError> {
        loop {
            self.number += 1;
            let end = read_line(&mut *self.text, &mut self.line)
                .map_err(|error| self.source.failed(error))?;
            match end {
                LineEnd::OfFile if self.line.is_empty() => return Ok(None),
                LineEnd::OfFile | LineEnd::Whole => {}
                LineEnd::TooLong => return Ok(Some((self.number, Line::Bad(too_long())))),
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        let mut text = self.line.as_slice();
        if self.number == 1 {
            text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        }
        let line = match std::str::from_utf8(text) {
            Ok(text) => Line::Text(text.trim_end()),
            Err(error) => Line::Bad(format!(
                "not UTF-8 text: byte {} of the line is 0x{:02X}",
                error.valid_up_to() + 1,
                text[error.valid_up_to()]
            )),
        };
        Ok(Some((self.number, line)))
    }
}
