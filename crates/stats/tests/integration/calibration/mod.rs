//! Whether intervals cover the truth, and tests alarm, as often as they say: by simulation.
//!
//! Fixed seeds: a run gives the same counts always. Small runs are tests like any other; the large ones
//! are ignored by default, print tables, and `docs/calibration.md` keeps what they gave:
//! `cargo test --release -p lapwing-stats --test integration calibration -- --ignored --nocapture --test-threads 1`

mod alarms;
mod budget;
mod campaign;
mod coverage;
mod dip;
mod factors;
mod families;
mod level;
mod newest;
mod noise;
mod optimise;
mod outliers;
mod power;
mod rounds;
mod selected;
mod sequential;
mod shapes;
mod slowdown;
mod stacks;
mod suite_noise;
mod tables;

use lapwing_stats::{Confidence, Difference, Interval, Replicates, Seed, family_tests};

/// Returns the logarithms of instance means.
fn logs(means: &[f64]) -> Vec<f64> {
    means.iter().map(|mean| mean.ln()).collect()
}

/// Returns the ratio of two sides as `compare` computes it for one benchmark alone: with an interval of the ratio.
fn default_ratio(one: &[f64], other: &[f64]) -> Difference {
    let sides = Replicates::Sides([logs(one), logs(other)]);
    let difference = difference_alone(sides, Confidence::P95);
    Difference {
        value: difference.value.exp(),
        interval: Interval {
            lower: difference.interval.lower.exp(),
            upper: difference.interval.upper.exp(),
        },
        ..difference
    }
}

/// Returns the difference of a benchmark alone, as `compare` and `judge` test it.
fn difference_alone(replicates: Replicates, confidence: Confidence) -> Difference {
    let test = family_tests(&[replicates], &[], Seed(7))[0].unwrap();
    let (interval, method) = test.interval(confidence).unwrap();
    Difference {
        value: test.difference,
        interval,
        p_value: test.p_value,
        method,
    }
}
