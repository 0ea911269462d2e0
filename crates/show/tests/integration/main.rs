//! The integration tests of this crate, in one program: linking one is quicker than forty.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod changes_page;
mod charts;
#[path = "../../examples/report_fixture/compared.rs"]
mod compared;
mod comparison_page;
mod detection_page;
mod folded_rows;
mod report;
mod report_files;
mod report_history;
mod report_long;
mod report_order;
mod report_pages;
#[path = "../../examples/report_fixture/synthetic.rs"]
mod synthetic;
mod trace_comparison;
