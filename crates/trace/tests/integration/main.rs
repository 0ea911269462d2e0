//! Tests of reading and explaining traces.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod causes;
mod compare;
mod divergence;
mod loads;
mod processes;
mod reference_earthkit;
mod waiting;
mod what_if;
