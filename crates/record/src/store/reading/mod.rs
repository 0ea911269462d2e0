//! Reading: rows become records again, and answers about them.

pub(super) mod assemble;
pub(super) mod catalogue;
pub(super) mod catalogue_metrics;
pub(super) mod extent;
pub(super) mod left_out;
pub(super) mod read;
pub(super) mod recorded;
pub(super) mod rows;
pub(super) mod scan;
pub(super) mod select;
pub(super) mod select_metrics;
pub(super) mod sessions;
