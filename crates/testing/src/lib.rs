//! Helpers of the workspace's tests, for `[dev-dependencies]` only.
//!
//! It depends on none of the other crates, so that each of them can use it, in unit tests too.

mod records;
mod report_data;
mod requirement;

pub use records::{RecordLines, record_id};
pub use report_data::{benchmark_page, report_data, report_entry, report_page};
pub use requirement::{absent, missing, reference_data};
