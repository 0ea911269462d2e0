//! Compares detection rates that share their work with rates that share nothing: each slowdown, method and
//! strategy with experiments and bootstraps of its own, and the test's times really multiplied.

use lapwing_stats::{
    Confidence, Configuration, DetectionMethod, DetectionRate, ExperimentOptions, Interval,
    Measured, Seed, Statistic, Strategy, experiments, hierarchical_replicates, percentile_interval,
};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

const REPLICATES: usize = 200;

const SLOWDOWNS: [f64; 4] = [1.0, 1.05, 1.1, 1.2];

type Rows = Vec<Vec<f64>>;

/// Instances with two modes, and iterations with a long tail.
fn measured() -> Rows {
    let mut random = Seed(11).stream("measured");
    let row = |i: usize| -> Vec<f64> {
        let centre = if i.is_multiple_of(3) { 1.12 } else { 1.0 };
        let noise = |random: &mut dyn FnMut() -> f64| 0.01 - 0.04 * (1.0 - random()).ln();
        (0..14)
            .map(|_| centre * (1.0 + noise(&mut || random.random())))
            .collect()
    };
    (0..14).map(row).collect()
}

/// Draws control and test.
fn draw(
    rows: &Rows,
    configuration: Configuration,
    strategy: Strategy,
    random: &mut impl Rng,
) -> (Rows, Rows) {
    let Configuration {
        instances: n,
        iterations: m,
    } = configuration;
    let mut shuffled = rows.clone();
    shuffled.shuffle(random);
    for row in &mut shuffled {
        row.shuffle(random);
    }
    let cut = |rows: &[Vec<f64>], from: usize| -> Rows {
        rows.iter()
            .map(|row| row[from..from + m].to_vec())
            .collect()
    };
    match strategy {
        Strategy::DifferentInstances => (cut(&shuffled[..n], 0), cut(&shuffled[n..2 * n], 0)),
        Strategy::SameInstances => (cut(&shuffled[..n], 0), cut(&shuffled[..n], m)),
    }
}

fn interval(rows: &Rows, seed: Seed) -> Interval {
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let means = hierarchical_replicates(&rows, Statistic::Mean, REPLICATES, seed);
    percentile_interval(means, Confidence::P95).unwrap()
}

/// The sum of as many values of a row as it has, drawn with replacement.
fn resample(row: &[f64], random: &mut impl Rng) -> f64 {
    row.iter()
        .map(|_| row[random.random_range(0..row.len())])
        .sum()
}

fn detects(
    control: &Rows,
    test: &Rows,
    method: DetectionMethod,
    strategy: Strategy,
    random: &mut impl Rng,
) -> bool {
    let ratios = |random: &mut _| -> Vec<f64> {
        let pick = |random: &mut _| RngExt::random_range(random, 0..control.len());
        let replicate = |_| {
            let (mut above, mut below) = (0.0, 0.0);
            for _ in control {
                let one = pick(random);
                let other = match strategy {
                    Strategy::DifferentInstances => pick(random),
                    Strategy::SameInstances => one,
                };
                above += resample(&control[one], random);
                below += resample(&test[other], random);
            }
            above / below
        };
        (0..REPLICATES).map(replicate).collect()
    };
    match method {
        DetectionMethod::Laaber => {
            let control = interval(control, Seed(random.random()));
            let test = interval(test, Seed(random.random()));
            !(control.lower <= test.upper && test.lower <= control.upper)
        }
        DetectionMethod::Schultz => {
            let ratio = percentile_interval(ratios(random), Confidence::P95).unwrap();
            !ratio.contains(1.0)
        }
        DetectionMethod::Paired => unreachable!("it draws nothing"),
    }
}

/// The rates of each slowdown, every one with experiments of its own.
fn direct(
    rows: &Rows,
    configuration: Configuration,
    method: DetectionMethod,
    strategy: Strategy,
    count: u32,
) -> [f64; 4] {
    let mut random = Seed(13).stream(&format!("{configuration} {method:?} {strategy:?}"));
    SLOWDOWNS.map(|slowdown| {
        let experiment = |_: &u32| {
            let (control, mut test) = draw(rows, configuration, strategy, &mut random);
            for time in test.iter_mut().flatten() {
                *time *= slowdown;
            }
            detects(&control, &test, method, strategy, &mut random)
        };
        let detected = (0..count).filter(experiment).count();
        f64::from(u32::try_from(detected).unwrap()) / f64::from(count)
    })
}

/// Returns the difference of two shares of so many in its standard deviations (Anscombe 1948).
fn difference(one: f64, other: f64, of: f64) -> f64 {
    let angle = |share: f64| ((share * of + 0.375) / (of + 0.75)).sqrt().asin();
    2.0 * (angle(one) - angle(other)) / (2.0 / of).sqrt()
}

/// Compares so many experiments a cell; no difference may be larger than the limit.
fn check(count: u32, limit: f64) {
    let rows = measured();
    let slices: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let measured = Measured::new(&slices).unwrap();
    let options = ExperimentOptions {
        replicates: REPLICATES,
        confidence: Confidence::P95,
        seed: Seed(7),
    };
    let mut between = 0;
    for (instances, iterations) in [(3, 3), (5, 7), (7, 4)] {
        let configuration = Configuration {
            instances,
            iterations,
        };
        let shared = experiments(&measured, configuration, 0..count, &options);
        for method in [DetectionMethod::Laaber, DetectionMethod::Schultz] {
            for strategy in Strategy::ALL {
                let direct = direct(&rows, configuration, method, strategy, count);
                for (slowdown, direct) in SLOWDOWNS.into_iter().zip(direct) {
                    let bounds = shared.bounds(method, strategy);
                    let rate = DetectionRate::of(bounds, slowdown).rate().unwrap();
                    let z = difference(rate, direct, f64::from(count));
                    let cell = format!("{configuration} {method:?} {strategy:?} {slowdown}");
                    assert!(z.abs() < limit, "{cell}: {rate}, not {direct} (z = {z})");
                    between += usize::from((0.05..0.95).contains(&direct));
                }
            }
        }
    }
    assert!(between > 10, "most rates are 0 or 1, which shows little");
}

#[test]
fn what_is_shared_changes_no_rate() {
    check(1_000, 4.0);
}

#[test]
#[ignore = "takes minutes"]
fn what_is_shared_changes_no_rate_of_many_experiments() {
    check(40_000, 4.0);
}
