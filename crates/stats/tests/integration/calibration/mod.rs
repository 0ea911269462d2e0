//! Whether intervals cover the truth, and tests alarm, as often as they say: by simulation.
//!
//! Fixed seeds: a run gives the same counts always. Small runs are tests like any other; the large ones
//! are ignored by default, print tables, and `docs/calibration.md` keeps what they gave:
//! `cargo test --release -p lapwing-stats --test integration calibration -- --ignored --nocapture --test-threads 1`

mod alarms;
mod coverage;
mod dip;
mod noise;
mod power;
mod rounds;
