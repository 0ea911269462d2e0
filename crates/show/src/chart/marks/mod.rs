//! Parts that several charts have.

pub(super) mod columns;
pub(super) mod history_marks;
pub(super) mod level_marks;
pub(super) mod thin;
