//! Factor studies: which settings of a program matter, and how they interact.
//!
//! A study measures a benchmark at many combinations of levels of its factors. Its data are runs like any others; this crate
//! designs the combinations, and explains what was measured.

pub mod design;
