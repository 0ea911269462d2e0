//! Charts as SVG, PNG and pages.

pub(super) mod engine;
pub(super) mod font;
pub(super) mod page;
pub(super) mod picture;
#[cfg(feature = "png")]
mod png;
