//! The parts of the index.

pub(super) mod bar;
pub(super) mod bars;
pub(super) mod columns;
pub(super) mod forest;
pub(super) mod health;
pub(super) mod listing;
pub(super) mod map;
pub(super) mod row;
pub(super) mod usual;
pub(super) mod verdicts;
