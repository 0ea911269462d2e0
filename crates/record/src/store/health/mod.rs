//! Checks, repairs and comparisons of stores.

pub(super) mod alike;
pub(super) mod check;
pub(super) mod compare;
pub(super) mod damage;
pub(super) mod purge;
pub(super) mod rescue;
pub(super) mod upkeep;
