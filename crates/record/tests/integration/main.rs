//! The integration tests of this crate, in one program: linking one is quicker than many.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod curated;
mod inbox;
mod private;
mod purge;
mod sharing;
mod store;
mod store_chunks;
mod store_migration;
