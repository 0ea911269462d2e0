//! The software under test: its repository, commits and versions.

pub(super) mod changed_lines;
pub(super) mod commits;
pub(super) mod git;
pub(crate) mod patch;
pub(super) mod revision;
pub(super) mod source;
pub(super) mod version;
