//! The integration tests of this crate, in one program: linking one is quicker than forty.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod calibration;
mod changes_page;
mod charts;
#[path = "../../examples/report_fixture/compared.rs"]
mod compared;
mod comparison_page;
mod curated;
mod detection_page;
mod drift;
mod inbox;
mod one_way;
mod reference_plan;
mod report;
mod report_files;
mod report_history;
mod report_long;
mod report_order;
mod report_pages;
mod sharing;
mod store;
mod store_chunks;
mod store_migration;
#[path = "../../examples/report_fixture/synthetic.rs"]
mod synthetic;
mod type_names;
