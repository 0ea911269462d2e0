//! Traces as pages and pictures.

mod lanes;

pub use lanes::{LanesPage, lanes_svg};
