//! Tests by ranks, permutations and counts.

pub(super) mod brunner_munzel;
pub(super) mod contingency;
pub(super) mod mann_whitney;
pub(super) mod permutation;
pub(super) mod rank;
