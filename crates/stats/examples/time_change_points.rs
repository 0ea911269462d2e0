//! Prints how long change points of a series take, for `benches/detect.py`.
//!
//! `time_change_points FILE` reads a JSON list of numbers and prints milliseconds, the smallest of several rounds.

#![expect(clippy::disallowed_methods, reason = "it prints numbers only")]

use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};

use lapwing_stats::changepoint::{LevelOptions, level_changes};
use serde_json::Value;

/// It is repeated for so long.
const TIME: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let values: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let values: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    let ours = milliseconds(|| {
        level_changes(&values, &LevelOptions::default())
            .changes
            .len()
    });
    Ok(writeln!(std::io::stdout(), "{ours}")?)
}

fn milliseconds(work: impl Fn() -> usize) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed() < TIME {
        let round = Instant::now();
        black_box(work());
        best = best.min(1e3 * round.elapsed().as_secs_f64());
    }
    best
}
