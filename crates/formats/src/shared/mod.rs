//! What readers of all formats share; nothing here knows a format.

pub(crate) mod alike;
pub(crate) mod bare_words;
pub(crate) mod database;
pub(crate) mod detect;
pub(crate) mod document;
pub(crate) mod drafts;
pub(crate) mod endings;
pub(crate) mod error;
pub(crate) mod intake;
pub(crate) mod keys;
pub(crate) mod lines;
pub(crate) mod moment;
pub(crate) mod notes;
pub(crate) mod number;
pub(crate) mod others;
pub(crate) mod places;
pub(crate) mod promises;
pub(crate) mod reason;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod spans;
pub(crate) mod spot;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod units;
pub(crate) mod zstd;
