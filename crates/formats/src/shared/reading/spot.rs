//! Where in a source something stands.

use crate::BadLine;

/// A line, and the byte where the number of the line alone does not say where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    /// From 1.
    pub(crate) line: u64,
    /// From 1, within the whole text.
    pub(crate) byte: Option<u64>,
}

impl Spot {
    /// Returns the line as one that is bad.
    pub(crate) fn bad(self, reason: impl Into<String>) -> BadLine {
        let mut reason = reason.into();
        if let Some(byte) = self.byte {
            reason.push_str(&format!(" (byte {byte})"));
        }
        BadLine::new(self.line, reason)
    }
}

impl From<u64> for Spot {
    fn from(line: u64) -> Self {
        Self { line, byte: None }
    }
}
