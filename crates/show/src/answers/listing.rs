//! Rows of a long answer that are listed.

/// Rows that are listed for people; programs get all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Those that matter most, if there are many.
    News,
    /// All of them.
    All,
}
