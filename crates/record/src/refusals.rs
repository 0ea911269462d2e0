//! What a reader leaves out and goes on without.

use std::io::{self, BufRead};

use lapwing_model::LONGEST_LINE;

/// Records that were refused, and why: all are counted, and the first are named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusals {
    /// How many there were.
    pub count: u64,
    /// Sentences about the first.
    pub first: Vec<String>,
}

impl Refusals {
    const NAMED: usize = 3;

    /// Counts one more, with its place and the reason.
    pub(crate) fn add(&mut self, place: impl std::fmt::Display, why: impl std::fmt::Display) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push(format!("{place}: {why}"));
        }
    }

    /// Adds those of `other`.
    pub(crate) fn extend(&mut self, other: Self) {
        self.count += other.count;
        let room = Self::NAMED - self.first.len();
        self.first.extend(other.first.into_iter().take(room));
    }
}

/// How reading a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// With a line end.
    Whole,
    /// With the file.
    OfFile,
    /// It is longer than a line may be: what it holds was skipped.
    TooLong,
}

/// Reads a line with its end into `line`, which it empties first. Nothing at the end of the file.
///
/// # Errors
/// When the source cannot be read.
pub fn read_line(source: &mut (impl BufRead + ?Sized), line: &mut Vec<u8>) -> io::Result<LineEnd> {
    line.clear();
    let mut too_long = false;
    loop {
        let piece = source.fill_buf()?;
        let end = piece.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(piece.len(), |at| at + 1);
        let is_over = piece.is_empty();
        if !too_long && line.len() + used > LONGEST_LINE {
            too_long = true;
            *line = Vec::new();
        }
        if !too_long {
            line.extend_from_slice(&piece[..used]);
        }
        source.consume(used);
        match (end, too_long) {
            (Some(_), false) => return Ok(LineEnd::Whole),
            (None, false) if is_over => return Ok(LineEnd::OfFile),
            (Some(_), true) => return Ok(LineEnd::TooLong),
            (None, true) if is_over => return Ok(LineEnd::TooLong),
            (None, _) => {}
        }
    }
}
