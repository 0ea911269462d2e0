//! Reads the logs of earthkit-workflows.

pub(crate) mod builder;
mod line;
mod runs;

use std::borrow::Cow;
use std::io::{self, BufRead};

use builder::Builder;
use line::{Line, parse};

use crate::trace::Trace;

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No line of any file has an event.
    #[error("no line is an event of a trace")]
    Nothing,
}

/// Reads a trace from one or more files: the logs of all hosts, or of tasks, datasets and controller.
///
/// A line is an event if it is a JSON object with `action` and `at`, or a log line of a logger whose name has
/// `tracing`. All other lines are skipped.
#[derive(Debug, Default)]
pub struct TraceReader {
    builder: Builder,
}

impl TraceReader {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add(&mut self, mut file: impl BufRead) -> Result<(), TraceError> {
        self.builder.begin_file();
        let mut bytes = Vec::new();
        let mut number = 0;
        loop {
            bytes.clear();
            if file.read_until(b'\n', &mut bytes)? == 0 {
                return Ok(());
            }
            number += 1;
            let is_whole = bytes.ends_with(b"\n");
            let text = match str::from_utf8(&bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(&bytes),
            };
            let text = match text.strip_prefix('\u{feff}') {
                Some(text) if number == 1 => text,
                _ => &*text,
            };
            match parse(text.trim()) {
                Line::Event(event) if self.builder.event(&event, number).is_some() => {}
                Line::Micro { kind, duration } => self.builder.micro(&kind, duration),
                Line::Other => {}
                Line::Event(_) | Line::Broken if is_whole => self.builder.unreadable(number),
                Line::Event(_) | Line::Broken => self.builder.truncated(),
            }
        }
    }

    /// Returns which of the files that were read are of different runs, by their order; none if all may be of one.
    pub fn runs(&self) -> Vec<usize> {
        self.builder.runs()
    }

    /// Returns the trace.
    ///
    /// # Errors
    /// If there was no event.
    pub fn finish(self) -> Result<Trace, TraceError> {
        let trace = self.builder.finish();
        if trace.lines == 0 {
            return Err(TraceError::Nothing);
        }
        Ok(trace)
    }
}
