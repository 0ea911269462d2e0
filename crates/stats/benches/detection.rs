//! How long experiments take: `cargo bench -p lapwing-stats --bench detection`.

use divan::{Bencher, black_box};
use lapwing_stats::{Confidence, Configuration, ExperimentOptions, Measured, Seed, experiments};
use rand::RngExt;

fn main() {
    divan::main();
}

/// Sixty instances of seventy-five iterations: 3 % between instances, 5 % within.
fn measured() -> Measured {
    let mut random = Seed(7).stream("bench");
    let rows: Vec<Vec<f64>> = (0..60)
        .map(|_| {
            let centre = 1.0 + 0.1 * (random.random::<f64>() - 0.5);
            (0..75)
                .map(|_| centre * (1.0 + 0.15 * (random.random::<f64>() - 0.5)))
                .collect()
        })
        .collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    Measured::new(&rows).expect("positive values")
}

const OPTIONS: ExperimentOptions = ExperimentOptions {
    replicates: 1_000,
    confidence: Confidence::P95,
    seed: Seed(7),
};

fn all(measured: &Measured, sizes: &[usize]) {
    for instances in sizes {
        for iterations in sizes {
            let configuration = Configuration {
                instances: *instances,
                iterations: *iterations,
            };
            black_box(experiments(measured, configuration, 0..100, &OPTIONS));
        }
    }
}

/// Hail's whole grid of configurations, both strategies and all methods, on one core.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn grid(bencher: Bencher) {
    let measured = measured();
    bencher.bench_local(|| all(&measured, &[5, 10, 15, 20, 25]));
}

/// One configuration.
#[divan::bench(args = [5, 10, 25, 30], sample_count = 5, sample_size = 1)]
fn square(bencher: Bencher, size: usize) {
    let measured = measured();
    bencher.bench_local(|| all(&measured, &[size]));
}

/// A configuration with longer rows than vector registers hold.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn long_rows(bencher: Bencher) {
    let measured = measured();
    let configuration = Configuration {
        instances: 25,
        iterations: 35,
    };
    bencher.bench_local(|| black_box(experiments(&measured, configuration, 0..100, &OPTIONS)));
}
