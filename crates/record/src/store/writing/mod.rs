//! Writing: records become rows.

pub(super) mod appended;
pub(super) mod batch;
pub(super) mod checksum;
pub(super) mod definitions;
pub(super) mod indices;
pub(super) mod insert;
pub(super) mod keys;
pub(super) mod opened;
pub(super) mod write;
