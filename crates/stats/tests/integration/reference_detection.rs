//! Compares detection rates with those that Hail found in the same measurements.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use lapwing_stats::{
    Confidence, Configuration, DetectionMethod, DetectionRate, ExperimentOptions, Experiments,
    Measured, Seed, Strategy, experiments,
};
use lapwing_testing::reference_data;
use serde_json::Value;

/// Reads what Hail left after cleaning: the times of each instance, by benchmark; missing ones
/// are `NaN`.
fn cleaned(folder: &Path) -> BTreeMap<String, Vec<Vec<f64>>> {
    let mut text = String::new();
    let file = std::fs::File::open(folder.join("cleaned.jsonl.gz")).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let benchmark = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let times = |instance: &Value| -> Vec<f64> {
            let iterations = instance["iterations"].as_array().unwrap();
            let time = |it: &Value| it["time"].as_f64().unwrap_or(f64::NAN);
            iterations.iter().map(time).collect()
        };
        let instances = value["instances"].as_array().unwrap();
        let name = value["name"].as_str().unwrap().to_owned();
        (name, instances.iter().map(times).collect())
    };
    text.lines().map(benchmark).collect()
}

/// A rate that is known.
struct Cell {
    benchmark: String,
    slowdown: f64,
    configuration: Configuration,
    strategy: Strategy,
    method: DetectionMethod,
    rate: f64,
}

fn cells(folder: &Path, file: &str, method: DetectionMethod) -> Vec<Cell> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| -> f64 { words[at].parse().unwrap() };
        let count = |at: usize| -> usize { words[at].parse().unwrap() };
        Strategy::ALL.map(|strategy| Cell {
            benchmark: words[1].to_owned(),
            slowdown: number(2),
            configuration: Configuration {
                instances: count(3),
                iterations: count(4),
            },
            strategy,
            method,
            rate: number(5 + strategy as usize),
        })
    };
    text.lines().skip(1).flat_map(of_line).collect()
}

/// Returns the difference of two shares of so many in its standard deviations, after the transformation of
/// Anscombe (*Biometrika* 1948), which serves for rare things, too.
pub fn difference(one: f64, of_one: f64, other: f64, of_other: f64) -> f64 {
    let angle = |share: f64, of: f64| ((share * of + 0.375) / (of + 0.75)).sqrt().asin();
    2.0 * (angle(one, of_one) - angle(other, of_other)) / (1.0 / of_one + 1.0 / of_other).sqrt()
}

/// Compares own rates with known ones; returns Σ z² and of how many cells it is.
fn compare(
    cells: &[Cell],
    their_experiments: f64,
    own: &mut BTreeMap<(String, Configuration), Experiments>,
    data: &BTreeMap<String, Vec<Vec<f64>>>,
    count: u32,
) -> (f64, f64) {
    let options = ExperimentOptions {
        replicates: 1_000,
        confidence: Confidence::P95,
        seed: Seed(7),
    };
    // One slowdown of each configuration, because all share one bootstrap: that whose rate is nearest
    // to one half.
    let mut nearest: BTreeMap<_, (f64, f64)> = BTreeMap::new();
    for cell in cells {
        let key = (cell.benchmark.clone(), cell.configuration);
        let found = own.entry(key).or_insert_with(|| {
            let rows: Vec<&[f64]> = data[&cell.benchmark].iter().map(Vec::as_slice).collect();
            let measured = Measured::new(&rows).unwrap();
            let options = ExperimentOptions {
                seed: options.seed.split(&cell.benchmark),
                ..options
            };
            experiments(&measured, cell.configuration, 0..count, &options)
        });
        let bounds = found.bounds(cell.method, cell.strategy);
        let rate = DetectionRate::of(bounds, cell.slowdown).as_hail();
        let n = f64::from(count);
        let (own, theirs) = (rate.rate().unwrap(), cell.rate);
        let name = format!(
            "{} {} {} × {} {} {}: {own}, not {theirs}",
            cell.benchmark,
            cell.slowdown,
            cell.configuration.instances,
            cell.configuration.iterations,
            cell.method.name(),
            cell.strategy.name(),
        );
        let z = difference(own, n, theirs, their_experiments);
        assert!(z.abs() < 4.5, "{name} (z = {z})");
        if !(1e-9..=1.0 - 1e-9).contains(&theirs) && their_experiments > 500.0 {
            assert!((own - theirs).abs() < 0.02 + 1e-9, "{name}");
        }
        if 0.05 < theirs && theirs < 0.95 {
            let spread = (theirs * (1.0 - theirs) * (1.0 / n + 1.0 / their_experiments)).sqrt();
            let z = (own - theirs) / spread;
            let key = (
                &cell.benchmark,
                cell.configuration,
                cell.method,
                cell.strategy,
            );
            let off = (theirs - 0.5).abs();
            let best = nearest.entry(key).or_insert((off, z * z));
            if off < best.0 {
                *best = (off, z * z);
            }
        }
    }
    let sum = nearest.values().map(|it| it.1).sum();
    (sum, f64::from(u32::try_from(nearest.len()).unwrap()))
}

#[test]
fn rates_are_those_of_hail_and_of_a_port_that_was_checked_against_it() {
    check(200);
}

#[test]
#[ignore = "takes minutes"]
fn rates_of_many_experiments_are_those_of_hail() {
    check(1_600);
}

fn check(experiments_a_cell: u32) {
    let Some(folder) = reference_data("hail") else {
        return;
    };
    let data = cleaned(&folder);
    let mut own = BTreeMap::new();
    for (kind, experiments, limits) in [
        ("port", 800.0, 0.8..1.25),
        ("reduced", 50.0, 0.6..1.5),
        ("5x5", 300.0, 0.0..4.0),
    ] {
        let (mut sum, mut count) = (0.0, 0.0);
        for method in [DetectionMethod::Laaber, DetectionMethod::Schultz] {
            let name = method.name();
            let file = match kind {
                "port" => format!("port_{name}_mds_E800.tsv"),
                kind => format!("hail_{name}_mds_{kind}_rep1.tsv"),
            };
            let cells = cells(&folder, &file, method);
            assert!(!cells.is_empty());
            let (squares, cells) =
                compare(&cells, experiments, &mut own, &data, experiments_a_cell);
            eprintln!("{file}: chi²/df {:.3} of {cells}", squares / cells);
            sum += squares;
            count += cells;
        }
        assert!(limits.contains(&(sum / count)), "{kind}: {sum} / {count}");
    }
}
