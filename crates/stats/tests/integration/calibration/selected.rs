//! Sizes of findings, with and without allowing for their selection.

use lapwing_stats::{
    Confidence, PValue, Replicates, Seed, as_f64, benjamini_hochberg, family_tests,
};
use rand::{Rng, RngExt};

/// The result of one cell.
struct Sizes {
    found: f64,
    /// Reported / true, of findings: raw and allowing for the selection.
    raw: f64,
    selected: f64,
    raw_covered: f64,
    covered: f64,
}

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// Families of `benchmarks` with so many replicates per side and a standard deviation of 1, the last of which changed by
/// `change`.
fn sizes(benchmarks: usize, replicates: usize, change: f64, families: u32) -> Sizes {
    const RATE: f64 = 0.05;
    let mut sums = [0.0; 5];
    for family in 0..families {
        let mut random = Seed(11)
            .split(&format!("{benchmarks} {replicates} {change}"))
            .block(u64::from(family));
        let mut side = |shift: f64| -> Vec<f64> {
            (0..replicates)
                .map(|_| shift + normal(&mut random))
                .collect()
        };
        let members: Vec<Replicates> = (0..benchmarks)
            .map(|at| {
                let shift = if at + 1 == benchmarks { change } else { 0.0 };
                Replicates::Sides([side(0.0), side(shift)])
            })
            .collect();
        let tests = family_tests(&members, &[], Seed(7));
        let p_values: Vec<PValue> = tests
            .iter()
            .map(|test| PValue::new(test.unwrap().p_value).unwrap())
            .collect();
        let adjusted = benjamini_hochberg(&p_values);
        let is_found = |p_value: &&PValue| p_value.value() <= RATE;
        let level = RATE * as_f64(adjusted.iter().filter(is_found).count()) / as_f64(benchmarks);
        if adjusted[benchmarks - 1].value() > RATE {
            continue;
        }
        let test = tests[benchmarks - 1].unwrap();
        let selected = test.selected_size(0.0, level, Confidence::P95).unwrap();
        let (raw, _) = test.interval(Confidence::P95).unwrap();
        sums[0] += 1.0;
        sums[1] += test.difference / change;
        sums[2] += selected.value / change;
        sums[3] += f64::from(u8::from(raw.contains(change)));
        sums[4] += f64::from(u8::from(selected.interval.contains(change)));
    }
    let share = |at: usize| sums[at] / sums[0].max(1.0);
    Sizes {
        found: sums[0] / f64::from(families),
        raw: share(1),
        selected: share(2),
        raw_covered: share(3),
        covered: share(4),
    }
}

#[test]
fn the_size_of_a_finding_is_not_too_large_on_average() {
    for (benchmarks, replicates, change) in [(1, 10, 1.0), (1, 5, 1.5)] {
        let found = sizes(benchmarks, replicates, change, 800);
        assert!(found.raw > 1.15, "{}", found.raw);
        assert!((0.85..1.15).contains(&found.selected), "{}", found.selected);
        assert!(
            found.covered > 0.91 && found.covered > found.raw_covered - 0.02,
            "{}",
            found.covered
        );
    }
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_selected_sizes() {
    let mut table = String::from(
        "| benchmarks | per side | change, σ | found | reported / true | allowing for selection | coverage | allowing for selection |\n|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (benchmarks, families) in [(1, 20_000), (20, 3_000), (100, 600)] {
        for replicates in [3, 5, 10] {
            for change in [1.0, 1.5, 2.0, 3.0] {
                let found = sizes(benchmarks, replicates, change, families);
                table.push_str(&format!(
                    "| {benchmarks} | {replicates} | {change} | {:.3} | {:.2} | {:.2} | {:.3} | {:.3} |\n",
                    found.found, found.raw, found.selected, found.raw_covered, found.covered
                ));
            }
        }
    }
    {
        println!("{table}");
    }
}
