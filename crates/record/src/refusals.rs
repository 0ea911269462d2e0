//! What a reader leaves out and goes on without.

use std::io::{self, BufRead, Read};

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
    let most = LONGEST_LINE as u64 + 1;
    Read::take(&mut *source, most).read_until(b'\n', line)?;
    let is_whole = line.ends_with(b"\n");
    if line.len() <= LONGEST_LINE {
        return Ok(if is_whole {
            LineEnd::Whole
        } else {
            LineEnd::OfFile
        });
    }
    *line = Vec::new();
    if !is_whole {
        source.skip_until(b'\n')?;
    }
    Ok(LineEnd::TooLong)
}
