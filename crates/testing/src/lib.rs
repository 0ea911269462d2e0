//! Helpers of the workspace's tests, for `[dev-dependencies]` only.
//!
//! It depends on none of the other crates, so that each of them can use it, in unit tests too.

mod requirement;

pub use requirement::{absent, missing, reference_data};
