//! What interleaving is for: how often an A/A control alarms on a machine whose speed drifts, by simulation.
//!
//! A small run is a test; the large one prints the table of `docs/calibration.md`:
//! `cargo test --release -p lapwing-analyse --test integration drift -- --ignored --nocapture`

use lapwing_analyse::clean::CleanInstance;
use lapwing_analyse::judge::{Caution, CompareOptions, InstanceOrigin, SideSample, compare};
use lapwing_analyse::sample::{Setting, Subject};
use lapwing_model::{Id, Metric};
use lapwing_stats::{Seed, as_f64};
use rand::{Rng, RngExt};

/// The order of the instances of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MeasuringOrder {
    /// In each block both sides once, in random order, as `lapwing run` does.
    Interleaved,
    /// One side wholly before the other, in one session.
    OneByOne,
    /// The same, in a session each.
    TwoSessions,
}

const ORDERS: [(&str, MeasuringOrder); 3] = [
    ("interleaved", MeasuringOrder::Interleaved),
    ("one side wholly before the other", MeasuringOrder::OneByOne),
    ("… in two sessions", MeasuringOrder::TwoSessions),
];

/// A machine that becomes slower, and the noise of its instances, as logarithms.
#[derive(Debug, Clone, Copy)]
struct DriftingMachine {
    drift: f64,
    noise: f64,
    instances: u32,
}

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

impl DriftingMachine {
    /// Returns two sides that do the same work.
    fn sides(self, order: MeasuringOrder, random: &mut impl Rng) -> [SideSample; 2] {
        let session = |number: u128| Id::from(uuid::Uuid::from_u128(number));
        let last = f64::from(2 * self.instances - 1);
        let mut sides = [SideSample::default(), SideSample::default()];
        for block in 0..self.instances {
            let swapped = u32::from(random.random::<bool>());
            for (which, side) in (0..2_u32).zip(&mut sides) {
                let (place, position, number) = match order {
                    MeasuringOrder::Interleaved => {
                        let place = 2 * block + (which ^ swapped);
                        (place, place, 1)
                    }
                    MeasuringOrder::OneByOne => {
                        let place = which * self.instances + block;
                        (place, place, 1)
                    }
                    MeasuringOrder::TwoSessions => {
                        (which * self.instances + block, block, 1 + u128::from(which))
                    }
                };
                let log = self.drift * f64::from(place) / last + self.noise * normal(random);
                side.cleaned.instances.push(CleanInstance {
                    position: side.origins.len(),
                    values: vec![log.exp()],
                    without_value: 0,
                    host: None,
                });
                side.origins.push(InstanceOrigin {
                    session: session(number),
                    block,
                    position,
                    host: None,
                });
                side.recorded_instances += 1;
            }
        }
        sides
    }

    /// Returns the shares of A/A comparisons that alarm, and that warn of the order or session.
    fn shares(self, order: MeasuringOrder, trials: usize) -> (f64, f64) {
        let mut random = Seed(21).stream(&format!("{self:?} {order:?}"));
        let (mut alarms, mut warnings) = (0, 0);
        for _ in 0..trials {
            let [a, b] = self.sides(order, &mut random);
            let subject = Subject {
                suite: "s".to_owned(),
                benchmark: "b".to_owned(),
                setting: Setting::default(),
                metric: "wall_time".to_owned(),
            };
            let options = CompareOptions::default();
            let found = compare(subject, Metric::lower("s"), ["a", "b"], [&a, &b], &options);
            let interval = found.ratio.and_then(|ratio| ratio.interval);
            alarms += usize::from(interval.is_some_and(|it| !it.contains(1.0)));
            let warns = |it: &Caution| matches!(it, Caution::NotInterleaved | Caution::OneSession);
            warnings += usize::from(found.cautions.iter().any(warns));
        }
        let share = |count: usize| as_f64(count) / as_f64(trials);
        (share(alarms), share(warnings))
    }
}

#[test]
fn a_drift_alarms_where_one_side_is_measured_first_and_not_where_they_are_interleaved() {
    let machine = DriftingMachine {
        drift: 0.2,
        noise: 0.03,
        instances: 10,
    };
    // Three standard deviations of 400 trials at 5 %.
    let (interleaved, warned) = machine.shares(MeasuringOrder::Interleaved, 400);
    assert!(interleaved < 0.083, "{interleaved}");
    assert!(warned < 1e-9);
    for order in [MeasuringOrder::OneByOne, MeasuringOrder::TwoSessions] {
        let (alarms, warned) = machine.shares(order, 400);
        assert!(
            alarms > 0.9 && warned > 0.999,
            "{order:?}: {alarms} {warned}"
        );
    }
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_drifts() {
    println!("| drift | instances per side | order | alarms | warned |");
    println!("|--:|--:|---|--:|--:|");
    for drift in [0.0, 0.05, 0.2, 0.5] {
        for instances in [5, 10, 20] {
            for (name, order) in ORDERS {
                let machine = DriftingMachine {
                    drift: f64::ln_1p(drift),
                    noise: 0.03,
                    instances,
                };
                let (alarms, warned) = machine.shares(order, 1_000);
                println!(
                    "| {:.0} % | {instances} | {name} | {alarms:.3} | {warned:.2} |",
                    100.0 * drift
                );
            }
        }
    }
}
