//! Reads documents, lines, numbers and databases.

pub(crate) mod bare_words;
pub(crate) mod cells;
pub(crate) mod database;
pub(crate) mod document;
pub(crate) mod documents;
pub(crate) mod endings;
pub(crate) mod json_path;
pub(crate) mod lines;
pub(crate) mod marks;
pub(crate) mod moment;
pub(crate) mod notation;
pub(crate) mod number;
pub(crate) mod separator;
pub(crate) mod spot;
pub(crate) mod xml;
pub(crate) mod zstd;
