//! The share of intervals that cover the truth.

use lapwing_stats::{
    Confidence, FiellerInterval, HierarchicalReplicates, Interval, RatioMethod, Seed, Statistic,
    geometric_mean, geometric_mean_interval, ratio_interval, ratio_of_arithmetic_means,
    ratio_of_means, variance_components,
};
use rand::{Rng, RngExt};

use super::default_ratio;
use super::noise::{Between, Noise, Within, normal};
use super::rounds::{average, count, show, tolerance};

const CASES: [(&str, Noise); 9] = [
    (
        "normal 3 %, normal 5 %",
        noise(Between::Normal(0.03), Within::Normal(0.05)),
    ),
    (
        "normal 3 %, log-normal 5 %",
        noise(Between::Normal(0.03), Within::LogNormal(0.05)),
    ),
    (
        "normal 3 %, AR(1) 5 %",
        noise(Between::Normal(0.03), Within::Remembering(0.05)),
    ),
    (
        "log-normal 3 %, normal 5 %",
        noise(Between::LogNormal(0.03), Within::Normal(0.05)),
    ),
    (
        "log-normal 3 %, AR(1) 5 %",
        noise(Between::LogNormal(0.03), Within::Remembering(0.05)),
    ),
    (
        "normal 15 %, normal 2.8 %",
        noise(Between::Normal(0.15), Within::Normal(0.028)),
    ),
    (
        "log-normal 15 %, log-normal 2.8 %",
        noise(Between::LogNormal(0.15), Within::LogNormal(0.028)),
    ),
    (
        "log-normal 15 %, AR(1) 30 %",
        noise(Between::LogNormal(0.15), Within::Remembering(0.3)),
    ),
    (
        "log-normal 50 %, log-normal 50 %",
        noise(Between::LogNormal(0.5), Within::LogNormal(0.5)),
    ),
];

const MODES: [(&str, Noise); 3] = [
    ("half 20 % slower", modes(0.5, 1.2)),
    ("a fifth 20 % slower", modes(0.2, 1.2)),
    ("a tenth twice as slow", modes(0.1, 2.0)),
];

const fn noise(between: Between, within: Within) -> Noise {
    Noise::new(between, within)
}

const fn modes(share: f64, slower: f64) -> Noise {
    noise(Between::Modes { share, slower }, Within::Normal(0.028))
}

/// Returns the shares of A/A comparisons whose interval of the ratio covers 1, one for each method.
fn ratio_coverage<const N: usize>(
    name: &str,
    noise: Noise,
    instances: usize,
    methods: [RatioMethod; N],
    rounds: u32,
) -> [f64; N] {
    average(&format!("ratio {name} {instances}"), rounds, |random| {
        let one = noise.means(random, instances);
        let other = noise.means(random, instances);
        let seed = Seed(random.random());
        methods.map(|method| {
            let ratio = ratio_interval(&one, &other, method, Confidence::P95, seed);
            // An interval without bounds covers everything.
            count(ratio.is_none_or(|ratio| ratio.interval.contains(1.0)))
        })
    })
}

/// Returns the share of A/A comparisons whose interval by Fieller covers 1.
fn fieller_coverage(name: &str, noise: Noise, instances: usize, rounds: u32) -> f64 {
    let [covered] = average(&format!("fieller {name} {instances}"), rounds, |random| {
        let one = noise.means(random, instances);
        let other = noise.means(random, instances);
        let ratio = ratio_of_arithmetic_means(&one, &other, Confidence::P95);
        let covers = ratio.is_none_or(|ratio| match ratio.interval {
            FiellerInterval::Bounded(interval) => interval.contains(1.0),
            FiellerInterval::Unbounded => true,
        });
        [count(covers)]
    });
    covered
}

/// Returns the share of A/A comparisons whose default interval covers 1, with so many instances on the two sides.
fn default_coverage(name: &str, noise: Noise, instances: [usize; 2], rounds: u32) -> f64 {
    let [covered] = average(&format!("default {name} {instances:?}"), rounds, |random| {
        let [one, other] = instances.map(|count| noise.means(random, count));
        [count(default_ratio(&one, &other).interval.contains(1.0))]
    });
    covered
}

fn rows(side: &[Vec<f64>]) -> Vec<&[f64]> {
    side.iter().map(Vec::as_slice).collect()
}

/// Returns the share of A/A comparisons in which the peers' interval covers 1: the percentiles of
/// the ratio over the hierarchical bootstrap.
fn percentile_coverage(name: &str, noise: Noise, instances: usize, rounds: u32) -> f64 {
    let [covered] = average(
        &format!("percentile {name} {instances}"),
        rounds,
        |random| {
            let sides = (
                noise.instances(random, instances),
                noise.instances(random, instances),
            );
            let (one, other) = (rows(&sides.0), rows(&sides.1));
            let seed = Seed(random.next_u64());
            let drawn = HierarchicalReplicates::draw(&one, &other, Statistic::Mean, 1_000, seed);
            [count(drawn.ratio(Confidence::P95).unwrap().contains(1.0))]
        },
    );
    covered
}

/// Returns the share of intervals of the geometric mean of instances that cover the true one.
fn mean_coverage(between: f64, within: f64, instances: usize, rounds: u32) -> f64 {
    let noise = noise(Between::LogNormal(between), Within::LogNormal(within));
    // The expected logarithm of a mean of iterations.
    let [truth] = average(&format!("true mean {between}"), 20_000, |random| {
        [geometric_mean(&noise.means(random, 50)).unwrap().ln()]
    });
    let [covered] = average(&format!("mean {between} {instances}"), rounds, |random| {
        let means = noise.means(random, instances);
        let interval = geometric_mean_interval(&means, Confidence::P95).unwrap();
        [count(interval.contains(truth.exp()))]
    });
    covered
}

/// What the default interval has to keep: less freedom to be wide than few instances need.
fn bounds(instances: usize) -> (f64, f64) {
    if instances == 3 {
        (0.935, 0.975)
    } else {
        (0.935, 0.965)
    }
}

#[test]
fn the_default_interval_of_a_ratio_keeps_its_level() {
    for (name, noise) in CASES {
        for (instances, rounds) in [(3, 2_000), (5, 2_000), (10, 2_000), (20, 200)] {
            let covered = default_coverage(name, noise, [instances; 2], rounds);
            let (least, most) = bounds(instances);
            assert!(
                covered > least - tolerance(rounds),
                "{name}, {instances}: {covered}"
            );
            assert!(
                covered < most + tolerance(rounds),
                "{name}, {instances}: {covered}"
            );
        }
    }
}

#[test]
fn the_default_interval_holds_with_two_modes_from_ten_instances_on() {
    for (name, noise) in MODES {
        for (instances, rounds) in [(10, 2_000), (20, 200)] {
            let covered = default_coverage(name, noise, [instances; 2], rounds);
            assert!(
                covered > 0.93 - tolerance(rounds),
                "{name}, {instances}: {covered}"
            );
        }
    }
}

#[test]
fn the_default_interval_holds_with_unequal_numbers_of_instances() {
    const ROUNDS: u32 = 2_000;
    for (name, noise) in CASES.into_iter().chain(MODES) {
        for instances in [[3, 20], [20, 3], [20, 100]] {
            let covered = default_coverage(name, noise, instances, ROUNDS);
            let least = 0.94 - tolerance(ROUNDS);
            assert!(covered > least, "{name}, {instances:?}: {covered}");
        }
    }
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_coverage_with_unequal_numbers() {
    const ROUNDS: u32 = 20_000;
    let mut table = String::from(
        "| between, within | 3 and 20 | Welch alone | 20 and 100 | Welch alone |\n|---|--:|--:|--:|--:|\n",
    );
    for (name, noise) in CASES.into_iter().chain(MODES) {
        let cells = [[3, 20], [20, 100]].map(|instances| {
            let rounds = if instances[1] > 20 {
                ROUNDS / 4
            } else {
                ROUNDS
            };
            let default = default_coverage(name, noise, instances, rounds);
            let [welch] = average(&format!("welch {name} {instances:?}"), rounds, |random| {
                let [one, other] = instances.map(|count| noise.means(random, count));
                let ratio = ratio_of_means(&one, &other, Confidence::P95).unwrap();
                [count(ratio.interval.contains(1.0))]
            });
            assert!(default > 0.935, "{name} {instances:?}: {default}");
            format!("{default:.4} | {welch:.4}")
        });
        table.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    }
    show(&table);
}

#[test]
fn the_percentile_bootstrap_is_too_narrow_with_few_instances() {
    let (name, noise) = CASES[0];
    let covered = percentile_coverage(name, noise, 3, 500);
    assert!(covered < 0.92, "{covered}");
}

#[test]
fn the_interval_of_the_mean_keeps_its_level() {
    const ROUNDS: u32 = 2_000;
    for instances in [3, 5, 10] {
        let covered = mean_coverage(0.03, 0.05, instances, ROUNDS);
        assert!(
            (covered - 0.95).abs() < tolerance(ROUNDS),
            "{instances}: {covered}"
        );
    }
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_coverage_of_ratios() {
    let mut table = String::from(
        "| between, within | instances a side | default | Welch on logarithms | studentised bootstrap | BCa | Fieller | percentile bootstrap |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (name, noise) in CASES.into_iter().chain(MODES) {
        for (instances, rounds) in [
            (3, 20_000),
            (5, 20_000),
            (10, 20_000),
            (20, 10_000),
            (50, 4_000),
        ] {
            let methods = [
                RatioMethod::WelchLog,
                RatioMethod::StudentisedBootstrap,
                RatioMethod::Bca,
            ];
            let shares = ratio_coverage(name, noise, instances, methods, 2_000);
            let fieller = fieller_coverage(name, noise, instances, 2_000);
            let default = default_coverage(name, noise, [instances; 2], rounds);
            let percentile = percentile_coverage(name, noise, instances, 1_000);
            let [welch, studentised, bca] = shares;
            table.push_str(&format!(
                "| {name} | {instances} | {default:.4} | {welch:.3} | {studentised:.3} | {bca:.3} | {fieller:.3} | {percentile:.3} |\n"
            ));
            if let ("half 20 % slower" | "a fifth 20 % slower" | "a tenth twice as slow", 10..) =
                (name, instances)
            {
                assert!(default > 0.93, "{table}");
            } else if CASES.iter().any(|(other, _)| *other == name) {
                let (least, most) = bounds(instances);
                assert!(default > least && default < most, "{table}");
            }
        }
    }
    show(&table);
}

/// Returns the shares of intervals of σ_B², of σ_W² and of the share between that cover the truth.
fn variance_coverage(between: f64, within: f64, sizes: &[usize], rounds: u32) -> [f64; 3] {
    let name = format!("variance {between} {} {}", sizes.len(), sizes[0]);
    let share = between.powi(2) / (between.powi(2) + within.powi(2));
    average(&name, rounds, |random| {
        let rows: Vec<Vec<f64>> = sizes
            .iter()
            .map(|size| {
                let level = between * normal(random);
                (0..*size)
                    .map(|_| level + within * normal(random))
                    .collect()
            })
            .collect();
        let components = variance_components(&self::rows(&rows), Confidence::P95).unwrap();
        let covers = |interval: Option<Interval>, truth| count(interval.unwrap().contains(truth));
        [
            covers(components.between_interval, between.powi(2)),
            covers(components.within_interval, within.powi(2)),
            covers(components.share_interval, share),
        ]
    })
}

const LAYOUTS: [(&str, &[usize]); 4] = [
    ("3 × 10", &[10; 3]),
    ("10 × 10", &[10; 10]),
    ("10 of 4 to 22", &[4, 6, 8, 10, 12, 14, 16, 18, 20, 22]),
    ("30 × 5", &[5; 30]),
];

#[test]
fn intervals_of_variance_components_keep_their_level() {
    const ROUNDS: u32 = 2_000;
    for (name, sizes) in LAYOUTS {
        for between in [0.03, 0.15] {
            let allowed = 0.01 + tolerance(ROUNDS);
            let [between, within, share] = variance_coverage(between, 0.05, sizes, ROUNDS);
            for covered in [between, share] {
                assert!((covered - 0.95).abs() < allowed, "{name}: {covered}");
            }
            // It is the wider of two intervals.
            assert!(within > 0.95 - allowed, "{name}: {within}");
        }
    }
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_coverage_of_variance_components() {
    let mut table = String::from(
        "| σ_B / σ_W | instances × iterations | σ_B² | σ_W² | share between |\n|---|---|--:|--:|--:|\n",
    );
    for between in [0.01, 0.03, 0.15] {
        for (name, sizes) in LAYOUTS {
            let [b, w, share] = variance_coverage(between, 0.05, sizes, 20_000);
            let spread = format!("{} % / 5 %", 100.0 * between);
            table.push_str(&format!(
                "| {spread} | {name} | {b:.4} | {w:.4} | {share:.4} |\n"
            ));
        }
    }
    show(&table);
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_coverage_of_means() {
    const ROUNDS: u32 = 100_000;
    let mut table =
        String::from("| between / within | instances | geometric mean |\n|---|--:|--:|\n");
    for (name, between, within) in [("3 % / 5 %", 0.03, 0.05), ("15 % / 2.8 %", 0.15, 0.028)] {
        for instances in [3, 5, 10, 20, 50] {
            let covered = mean_coverage(between, within, instances, ROUNDS);
            table.push_str(&format!("| {name} | {instances} | {covered:.4} |\n"));
        }
    }
    show(&table);
}
