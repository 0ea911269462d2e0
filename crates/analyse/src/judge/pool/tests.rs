//! Error rates of sides that pool sessions: of verdicts, and of the word on drift, by simulation.
//!
//! A small run is a test; the large one prints the table of `docs/calibration.md`:
//! `cargo test --release -p lapwing-analyse --lib judge::pool -- --ignored --nocapture`

use lapwing_model::{Id, Metric};
use lapwing_stats::{Seed, as_f64};
use rand::{Rng, RngExt};

use crate::clean::CleanInstance;
use crate::judge::{Caution, CompareOptions, InstanceOrigin, SideSample, SideSamples, Verdict};
use crate::sample::{Setting, Subject};

/// Two sides of sessions of several benchmarks, in which one benchmark changes. Noises and changes are logarithms.
#[derive(Debug, Clone, Copy)]
struct PooledSides {
    /// Number of sessions of each side.
    sessions: [u32; 2],
    /// Number of instances per session of each side.
    instances: [u32; 2],
    /// The difference of the candidate of the first benchmark, as a share.
    change: f64,
    /// The change of the baseline from its first session to its last, as a share.
    drift: f64,
    /// Whether this is a step in the middle.
    is_step: bool,
    /// Whether all benchmarks drift, and not only the last.
    all_drift: bool,
}

const BENCHMARKS: usize = 8;
/// Of a session in all benchmarks, of a session in one, and of an instance.
const NOISES: [f64; 3] = [0.01, 0.02, 0.01];

const STILL: PooledSides = PooledSides {
    sessions: [10, 10],
    instances: [1, 1],
    change: 0.0,
    drift: 0.0,
    is_step: false,
    all_drift: false,
};

/// The shares of answers with a false verdict, with the change found, and with a word on drift.
#[derive(Debug, Clone, Copy)]
struct PoolShares {
    wrong: f64,
    found: f64,
    told: f64,
}

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

impl PooledSides {
    /// Returns what a session of the baseline drifted by.
    fn drifted(self, benchmark: usize, session: u32) -> f64 {
        let does = self.all_drift || benchmark + 1 == BENCHMARKS;
        let part = f64::from(session) / f64::from(self.sessions[0] - 1).max(1.0);
        let part = if self.is_step { part.round() } else { part };
        if does { self.drift * part } else { 0.0 }
    }

    fn samples(self, random: &mut impl Rng) -> SideSamples {
        let mut sides: Vec<[SideSample; 2]> = vec![Default::default(); BENCHMARKS];
        for side in 0..2 {
            for session in 0..self.sessions[side] {
                let number = u128::from(session) + 1000 * u128::from(side == 0);
                let id = Id::from(uuid::Uuid::from_u128(number));
                let of_all = NOISES[0] * normal(random);
                for (benchmark, sides) in sides.iter_mut().enumerate() {
                    let level = match side {
                        0 => self.drifted(benchmark, session),
                        _ if benchmark == 0 => self.change,
                        _ => 0.0,
                    };
                    let of_session = level + of_all + NOISES[1] * normal(random);
                    for block in 0..self.instances[side] {
                        let side = &mut sides[side];
                        let log = of_session + NOISES[2] * normal(random);
                        side.cleaned.instances.push(CleanInstance {
                            position: side.origins.len(),
                            values: vec![log.exp()],
                            without_value: 0,
                            host: None,
                        });
                        side.origins.push(InstanceOrigin {
                            session: id,
                            block,
                            position: block,
                            host: None,
                        });
                        side.recorded_instances += 1;
                        side.has_values = true;
                    }
                }
            }
        }
        let subject = |benchmark: usize| Subject {
            suite: "s".to_owned(),
            benchmark: benchmark.to_string(),
            setting: Setting::default(),
            metric: "wall_time".to_owned(),
        };
        let sides = sides.into_iter().enumerate();
        SideSamples::of_two(sides.map(|(at, it)| (subject(at), Metric::lower("s"), it)))
    }

    fn shares(self, trials: usize) -> PoolShares {
        let mut random = Seed(31).stream(&format!("{self:?}"));
        let options = CompareOptions::default();
        let names = ["old".to_owned(), "new".to_owned()];
        let (mut wrong, mut found, mut told) = (0, 0, 0);
        for _ in 0..trials {
            let samples = self.samples(&mut random);
            let mut all = samples.compare(&names, &options);
            samples.tell_drifts(&mut all, &names, options.seed);
            let differs = |verdict| matches!(verdict, Verdict::Regression | Verdict::Improvement);
            let changed = usize::from(self.change > 0.0);
            wrong += usize::from(all[changed..].iter().any(|it| differs(it.verdict)));
            found += usize::from(all[0].verdict == Verdict::Regression);
            let mut cautions = all.iter().flat_map(|it| &it.cautions);
            told += usize::from(cautions.any(|it| matches!(it, Caution::PoolDrifts { .. })));
        }
        let share = |count: usize| as_f64(count) / as_f64(trials);
        PoolShares {
            wrong: share(wrong),
            found: share(found),
            told: share(told),
        }
    }
}

#[test]
fn pools_keep_their_error_rates_and_their_drift_is_told() {
    // Three standard deviations of 200 answers at 5 %.
    const MOST: f64 = 0.097;
    let still = STILL.shares(200);
    assert!(still.wrong <= MOST && still.told <= MOST, "{still:?}");
    let changed = PooledSides {
        change: 1.1_f64.ln(),
        ..STILL
    };
    let shares = changed.shares(100);
    assert!(shares.found > 0.95 && shares.told <= MOST, "{shares:?}");
    for (is_step, all_drift, least) in [(false, true, 0.9), (true, false, 0.6)] {
        let drifting = PooledSides {
            drift: 1.1_f64.ln(),
            is_step,
            all_drift,
            ..STILL
        };
        let shares = drifting.shares(100);
        assert!(shares.told > least, "{is_step}: {shares:?}");
    }
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_pools() {
    println!(
        "| sessions × instances | false verdict | 5 % found | 10 % found | word, nothing drifts | drift of 5 % | of 10 % | of 10 % in one of 8 | step of 10 % in one of 8 |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let designs = [
        ([4, 4], [1, 1]),
        ([6, 6], [1, 1]),
        ([10, 10], [1, 1]),
        ([20, 20], [1, 1]),
        ([5, 5], [5, 5]),
        ([10, 1], [1, 4]),
        ([10, 2], [1, 3]),
        ([10, 1], [5, 5]),
    ];
    for (sessions, instances) in designs {
        let still = PooledSides {
            sessions,
            instances,
            ..STILL
        };
        let changed = |percent: f64| PooledSides {
            change: (percent / 100.0).ln_1p(),
            ..still
        };
        let drifting = |percent: f64, all_drift, is_step| PooledSides {
            drift: (percent / 100.0).ln_1p(),
            all_drift,
            is_step,
            ..still
        };
        let alone = still.shares(2_000);
        let found = [5.0, 10.0].map(|percent| changed(percent).shares(500).found);
        let told = [
            drifting(5.0, true, false),
            drifting(10.0, true, false),
            drifting(10.0, false, false),
            drifting(10.0, false, true),
        ]
        .map(|it| it.shares(500).told);
        println!(
            "| {} × {} and {} × {} | {:.3} | {:.2} | {:.2} | {:.3} | {:.2} | {:.2} | {:.2} | {:.2} |",
            sessions[0],
            instances[0],
            sessions[1],
            instances[1],
            alone.wrong,
            found[0],
            found[1],
            alone.told,
            told[0],
            told[1],
            told[2],
            told[3],
        );
    }
}
