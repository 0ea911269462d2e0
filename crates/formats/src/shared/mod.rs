//! What readers of all formats share; nothing here knows a format.

pub(crate) mod alike;
pub(crate) mod continued;
pub(crate) mod detect;
pub(crate) mod drafts;
pub(crate) mod error;
pub(crate) mod found;
pub(crate) mod guess;
pub(crate) mod intake;
pub(crate) mod keys;
mod looks;
pub(crate) mod named_date;
pub(crate) mod notes;
pub(crate) mod others;
pub(crate) mod places;
pub(crate) mod promises;
pub(crate) mod reading;
pub(crate) mod reason;
pub(crate) mod requests;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod spans;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod units;
