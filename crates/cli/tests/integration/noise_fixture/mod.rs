//! A small store of benchmarks that are noisy in different ways.

use crate::records_fixture::{Records, holding};

/// Values around a centre with some noise, the first twice as large.
pub fn around(centre: f64, seed: u32) -> Vec<f64> {
    let noise = |k: u32| f64::from((seed * 7 + k * 13) % 11) / 11.0 - 0.5;
    let value = |k| centre * (1.0 + 0.01 * noise(k)) * if k == 0 { 2.0 } else { 1.0 };
    // As few digits as people would write.
    (0..5).map(|k| (value(k) * 1e4).round() / 1e4).collect()
}

/// A benchmark that is slower on one of three hosts, one that is quiet, one that always fails, and
/// one that reports a rate.
fn records() -> String {
    let mut all = Records::default();
    let old = all.run(1, "1.0");
    for position in 0..4 {
        all.instance(
            &old,
            "join",
            position,
            "node3",
            "wall_time",
            &around(3.0, position),
        );
    }
    let new = all.run(2, "1.1");
    for position in 0..12 {
        let host = ["node3", "node7", "node4"][position as usize % 3];
        let join = if host == "node7" { 1.3 } else { 1.0 };
        all.instance(
            &new,
            "join",
            position,
            host,
            "wall_time",
            &around(join, position),
        );
        all.instance(
            &new,
            "sort",
            position,
            host,
            "wall_time",
            &around(0.25, position),
        );
    }
    for position in 0..3 {
        all.instance(
            &new,
            "broken",
            position,
            "node3",
            "wall_time",
            &[f64::NAN; 2],
        );
        all.instance(
            &new,
            "throughput",
            position,
            "node3",
            "rate",
            &around(5e4, position),
        );
    }
    all.0.text
}

/// Returns a folder with a store of [`records`].
pub fn filled() -> tempfile::TempDir {
    holding(&records())
}
