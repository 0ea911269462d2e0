//! Text, line by line, however long the file.

use std::io::BufRead;

use crate::{ImportError, Source};

/// The longest line that is read.
pub(crate) const LONGEST_LINE: usize = 64 << 20;

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
    /// What is wrong with it.
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
            self.line.clear();
            self.number += 1;
            let too_long = match self.read_line()? {
                End::OfFile if self.line.is_empty() => return Ok(None),
                End::OfFile | End::OfLine => false,
                End::TooLong => true,
            };
            if too_long {
                let reason = format!("the line is longer than {} MiB", LONGEST_LINE >> 20);
                return Ok(Some((self.number, Line::Bad(reason))));
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

    fn read_line(&mut self) -> Result<End, ImportError> {
        let mut too_long = false;
        loop {
            let piece = self
                .text
                .fill_buf()
                .map_err(|error| self.source.failed(error))?;
            if piece.is_empty() {
                return Ok(if too_long { End::TooLong } else { End::OfFile });
            }
            let end = piece.iter().position(|&byte| byte == b'\n');
            let used = end.map_or(piece.len(), |at| at + 1);
            if !too_long && self.line.len() + used > LONGEST_LINE {
                too_long = true;
                self.line = Vec::new();
            }
            if !too_long {
                self.line.extend_from_slice(&piece[..used]);
            }
            self.text.consume(used);
            if end.is_some() {
                return Ok(if too_long { End::TooLong } else { End::OfLine });
            }
        }
    }
}

enum End {
    OfLine,
    OfFile,
    TooLong,
}
