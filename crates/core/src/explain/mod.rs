//! Says what a measurement suffers from and what to do next.

mod advice;

pub use advice::{Advice, advise};
