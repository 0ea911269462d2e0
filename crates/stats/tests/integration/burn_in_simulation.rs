//! Benchmarks without a warm-up get no burn-in, and those that never get steady no start, by simulation.
//!
//! Fixed seeds: a run gives the same counts always.

use lapwing_stats::Seed;
use lapwing_stats::steady::{BurnInOptions, InstanceStart, SteadyOptions, burn_in, steady_state};
use rand::{Rng, RngExt};

/// The levels of one instance.
#[derive(Debug, Clone, Copy)]
enum Levels {
    /// Rises by this share from the first to the last iteration.
    Drift(f64),
    /// Switches between two levels that differ by 10 %, staying this many iterations on average.
    Switching(f64),
    /// Slower by this share for seven iterations.
    WarmUp(f64),
    Flat,
}

/// The number of iterations of an instance.
const ITERATIONS: usize = 60;

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

fn instance(random: &mut impl Rng, levels: Levels) -> Vec<f64> {
    let mut is_high: bool = random.random();
    (0..ITERATIONS)
        .map(|at| {
            let share = f64::from(u32::try_from(at).expect("small")) / 60.0;
            let level = match levels {
                Levels::Drift(total) => 1.0 + total * share,
                Levels::Switching(stay) => {
                    is_high ^= random.random::<f64>() < 1.0 / stay;
                    if is_high { 1.1 } else { 1.0 }
                }
                Levels::WarmUp(share) if at < 7 => 1.0 + share,
                Levels::WarmUp(_) | Levels::Flat => 1.0,
            };
            level * (0.01 * normal(random)).exp()
        })
        .collect()
}

/// How many benchmarks have no start, the start 0, and a later one.
fn starts(levels: Levels, instances: usize, rounds: usize) -> [usize; 3] {
    let mut random = Seed(7).stream(&format!("{levels:?} {instances}"));
    let index: Vec<u32> = (0..60).collect();
    let mut counts = [0; 3];
    for _round in 0..rounds {
        let series: Vec<Vec<f64>> = (0..instances)
            .map(|_| instance(&mut random, levels))
            .collect();
        let found: Vec<InstanceStart> = series
            .iter()
            .map(|values| {
                let state = steady_state(values, &SteadyOptions::default()).expect("positive");
                InstanceStart {
                    index: &index,
                    values,
                    class: state.class,
                    start: state.start,
                }
            })
            .collect();
        let found = burn_in(&found, &BurnInOptions::default()).expect("instances");
        counts[match found.start {
            None => 0,
            Some(0) => 1,
            Some(_later) => 2,
        }] += 1;
    }
    counts
}

#[test]
fn drifts_have_no_start_and_switching_no_burn_in() {
    const ROUNDS: usize = 100;
    for instances in [5, 10] {
        let [none, _zero, _later] = starts(Levels::Drift(0.2), instances, ROUNDS);
        assert!(none >= 75, "{instances}: {none}");
        for (stay, fewest) in [(4.0, 95), (10.0, 75)] {
            let [_none, zero, _later] = starts(Levels::Switching(stay), instances, ROUNDS);
            assert!(zero >= fewest, "{instances}, {stay}: {zero}");
        }
    }
}

#[test]
fn a_warm_up_keeps_its_burn_in() {
    const ROUNDS: usize = 100;
    for share in [0.05, 0.5] {
        let [_none, _zero, later] = starts(Levels::WarmUp(share), 3, ROUNDS);
        assert!(later >= 99, "{share}: {later}");
    }
    let [_none, zero, _later] = starts(Levels::Flat, 3, ROUNDS);
    assert!(zero >= 99, "{zero}");
}

#[test]
#[ignore = "its table is in docs/calibration.md"]
fn table_of_starts() {
    for instances in [3, 5, 10, 20] {
        for levels in [
            Levels::Drift(0.1),
            Levels::Drift(0.2),
            Levels::Drift(0.5),
            Levels::Switching(2.0),
            Levels::Switching(4.0),
            Levels::Switching(10.0),
            Levels::Switching(20.0),
            Levels::WarmUp(0.5),
            Levels::WarmUp(0.05),
            Levels::Flat,
        ] {
            let counts = starts(levels, instances, 500);
            println!("{instances} {levels:?} {counts:?}");
        }
    }
}
