//! Names and ids.

pub(super) mod id;
pub(super) mod name;
pub(super) mod natural;
