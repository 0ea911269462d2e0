//! How long the statistics take that run over thousands of benchmarks.
//!
//! `cargo bench -p lapwing-stats` measures time; `benches/instructions.py` counts instructions, which do
//! not depend on what else the machine does.

use std::hint::black_box;

use lapwing_stats::changepoint::{LevelOptions, level_changes, series_changes};
use lapwing_stats::{
    Confidence, Configuration, Detection, DetectionMethod, Noise, RatioMethod, Seed, Statistic,
    Strategy, hierarchical_replicates, mann_whitney, modes, ratio_interval, variance_components,
};

fn main() {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--once"), Some(name)) => once(&name),
        _ => divan::main(),
    }
}

/// Runs one kernel once, for a tool that counts instructions.
fn once(name: &str) {
    match name {
        "hierarchical_means" => hierarchical_means(),
        "hierarchical_medians" => hierarchical_medians(),
        "welch_20" => welch_20(),
        "studentised_20" => studentised_20(),
        "bca_20" => bca_20(),
        "mann_whitney_20" => mann_whitney_20(),
        "variance_20_by_20" => variance_20_by_20(),
        "modes_20" => modes_20(),
        "power_grid_welch" => power_grid(DetectionMethod::Paired),
        // What starting and ending the program costs, to be taken off the others.
        _ => (),
    }
}

/// Values that vary, and always in the same way.
fn instances(count: u32, iterations: u32) -> Vec<Vec<f64>> {
    (0..count)
        .map(|i| {
            (0..iterations)
                .map(|j| 1.0 + 0.001 * f64::from((i * 37 + j * 13) % 101))
                .collect()
        })
        .collect()
}

fn means() -> Vec<f64> {
    instances(1, 20).concat()
}

fn hierarchical(statistic: Statistic) {
    let values = instances(10, 50);
    let rows: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    black_box(hierarchical_replicates(&rows, statistic, 10_000, Seed(7)));
}

/// 10,000 means of 10 instances × 50 iterations.
#[divan::bench]
fn hierarchical_means() {
    hierarchical(Statistic::Mean);
}

/// 10,000 medians of 10 instances × 50 iterations.
#[divan::bench(sample_count = 20)]
fn hierarchical_medians() {
    hierarchical(Statistic::Median);
}

fn ratio(method: RatioMethod) {
    let (baseline, confidence) = (means(), Confidence::P95);
    let candidate: Vec<f64> = baseline.iter().rev().map(|mean| 1.02 * mean).collect();
    black_box(ratio_interval(
        &baseline,
        &candidate,
        method,
        confidence,
        Seed(7),
    ));
}

/// The ratio of 20 and 20 instances.
#[divan::bench]
fn welch_20() {
    ratio(RatioMethod::WelchLog);
}

/// The ratio of 20 and 20 instances.
#[divan::bench]
fn studentised_20() {
    ratio(RatioMethod::StudentisedBootstrap);
}

/// The ratio of 20 and 20 instances.
#[divan::bench]
fn bca_20() {
    ratio(RatioMethod::Bca);
}

/// The exact test of 20 and 20 instances, some of them equal.
#[divan::bench]
fn mann_whitney_20() {
    let baseline = means();
    black_box(mann_whitney(&baseline, &baseline));
}

/// The components of 20 instances × 20 iterations.
#[divan::bench]
fn variance_20_by_20() {
    let values = instances(20, 20);
    let rows: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    black_box(variance_components(&rows, Confidence::P95));
}

/// The modes of 20 instances.
#[divan::bench]
fn modes_20() {
    black_box(modes(&means()));
}

/// The power of 6 slowdowns and the minimal detectable slowdown, for 25 configurations.
#[divan::bench(args = DetectionMethod::ALL)]
fn power_grid(method: DetectionMethod) {
    let noise = black_box(Noise {
        between: 0.0004,
        within: 0.0009,
    });
    let sizes = [5, 10, 15, 20, 25];
    for (instances, iterations) in sizes.map(|i| sizes.map(|j| (i, j))).concat() {
        let configuration = Configuration {
            instances,
            iterations,
        };
        let strategy = Strategy::DifferentInstances;
        let detection = Detection::new(noise, configuration, strategy, method, Confidence::P95);
        for slowdown in [1.0, 1.1, 1.2, 1.3, 1.4, 1.5] {
            black_box(detection.as_ref().and_then(|it| it.power(slowdown)));
        }
        black_box(
            detection
                .as_ref()
                .and_then(|it| it.minimal_detectable_slowdown(0.95)),
        );
    }
}

/// A history of so many runs whose noise has a period.
fn history(runs: u32) -> Vec<f64> {
    instances(1, runs).concat()
}

/// The search for steps in a history of so many runs.
#[divan::bench(args = [30, 100, 365, 1_000, 100_000])]
fn steps_of_history(bencher: divan::Bencher, runs: u32) {
    let values = history(runs);
    bencher.bench_local(|| level_changes(black_box(&values), &LevelOptions::default()));
}

/// What happened in a history of so many runs.
#[divan::bench(args = [30, 100, 365, 1_000, 100_000])]
fn changes_of_history(bencher: divan::Bencher, runs: u32) {
    let values = history(runs);
    bencher.bench_local(|| series_changes(black_box(&values), &LevelOptions::default()));
}

/// What happened in a history of so many runs and nine steps.
#[divan::bench(args = [100, 365, 1_000])]
fn changes_of_steps(bencher: divan::Bencher, runs: u32) {
    let level = |run: u32| f64::from(10 * run / runs % 4);
    let noise = history(runs);
    let values: Vec<f64> = (0..runs)
        .zip(noise)
        .map(|(run, noise)| level(run) + noise)
        .collect();
    bencher.bench_local(|| series_changes(black_box(&values), &LevelOptions::default()));
}
