use lapwing_model::{Id, Metric};
use lapwing_stats::as_f64;
use rand::Rng;

use super::super::InstanceOrigin;
use super::super::compare::SideSample;
use super::*;
use crate::clean::CleanInstance;
use crate::sample::Setting;

/// How a suite is measured.
#[derive(Clone, Copy)]
struct KnownDesign {
    benchmarks: usize,
    sessions: usize,
    /// Instances per side and session.
    blocks: u32,
    /// Whether both sides are in the same sessions.
    interleaved: bool,
    session_noise: f64,
    noise: f64,
    /// The ratio of the sides.
    ratio: f64,
}

const BLOCKS: KnownDesign = KnownDesign {
    benchmarks: 4,
    sessions: 1,
    blocks: 10,
    interleaved: true,
    session_noise: 0.0,
    noise: 0.03,
    ratio: 1.0,
};

fn subject(benchmark: usize) -> Subject {
    Subject {
        suite: "s".to_owned(),
        benchmark: format!("b{benchmark}"),
        setting: Setting::default(),
        metric: "wall_time".to_owned(),
    }
}

impl KnownDesign {
    /// Returns the samples of a suite; blocks vary by 5 %.
    fn samples(self, seed: Seed) -> SideSamples {
        let mut random = seed.stream("samples");
        let mut uniform = move || (as_f64(random.next_u64() >> 11) + 0.5) / 9_007_199_254_740_992.0;
        let mut normal = move || {
            let radius = (-2.0 * uniform().ln()).sqrt();
            radius * (std::f64::consts::TAU * uniform()).cos()
        };
        let weather: Vec<Vec<[f64; 2]>> = (0..self.sessions)
            .map(|_| {
                let [one, mut other] = [0, 1].map(|_| self.session_noise * normal());
                if self.interleaved {
                    other = one;
                }
                let block = |_| {
                    let [first, mut second] = [0, 1].map(|_| 0.05 * normal());
                    if self.interleaved {
                        second = first;
                    }
                    [one + first, other + second]
                };
                (0..self.blocks).map(block).collect()
            })
            .collect();
        let mut samples = Vec::new();
        for benchmark in 0..self.benchmarks {
            let sides = [0, 1].map(|which: usize| {
                let mut side = SideSample {
                    directions: [lapwing_model::Better::Lower].into(),
                    has_values: true,
                    ..SideSample::default()
                };
                for (session, blocks) in weather.iter().enumerate() {
                    for (block, shared) in (0..).zip(blocks) {
                        let position = side.origins.len();
                        let change = if which == 1 { self.ratio.ln() } else { 0.0 };
                        let log = shared[which] + change + self.noise * normal();
                        side.cleaned.instances.push(CleanInstance {
                            position,
                            values: vec![log.exp()],
                            without_value: 0,
                            host: None,
                        });
                        let owner = if self.interleaved { 0 } else { which };
                        side.origins.push(InstanceOrigin {
                            session: Id::derived(&[&session.to_le_bytes(), &owner.to_le_bytes()]),
                            block,
                            position: 2 * block + u32::try_from(which).expect("0 or 1"),
                            host: None,
                        });
                    }
                }
                side.recorded_instances = side.cleaned.instances.len();
                side
            });
            samples.push((subject(benchmark), Metric::lower("s"), sides));
        }
        SideSamples::of_two(samples)
    }
}

fn names() -> [String; 2] {
    ["old", "new"].map(str::to_owned)
}

/// Self-tests of several suites together: how often an A/A pair alarms, and how often a slowdown of 5 % is found.
fn stated(design: KnownDesign, options: &CompareOptions, suites: usize) -> [FoundCount; 2] {
    let tests = (0..suites).into_par_iter().map(|number| {
        let samples = design.samples(Seed(11).split(&format!("suite {number}")));
        let test = self_test_within(800, &samples, &names(), options, &[1.05]);
        assert_eq!((test.rows.len(), test.left_out), (design.benchmarks, 0));
        let found = test.rows.iter().map(|row| row.found[0]);
        let found = found.fold(FoundCount::default(), FoundCount::and);
        [test.alarms, found]
    });
    let add =
        |one: [FoundCount; 2], other: [FoundCount; 2]| [0, 1].map(|at| one[at].and(other[at]));
    tests.reduce(Default::default, add)
}

/// The same on fresh suites.
fn truth(design: KnownDesign, options: &CompareOptions, suites: usize) -> [FoundCount; 2] {
    let counts = (0..suites).into_par_iter().map(|number| {
        let design = KnownDesign {
            ratio: 1.0,
            ..design
        };
        let samples = design.samples(Seed(12).split(&format!("fresh {number}")));
        let subjects: Vec<Subject> = (0..design.benchmarks).map(subject).collect();
        let all: Vec<&Subject> = subjects.iter().collect();
        let quiet = told(&all, &samples.compare(&names(), options));
        let slower = samples.with_sides(|own, sides| {
            if *own == subjects[0] {
                for it in &mut sides[1][0].cleaned.instances {
                    it.values[0] *= 1.05;
                }
            }
        });
        let found = told(&all[..1], &slower.compare(&names(), options));
        let mut counts = [FoundCount::default(); 2];
        counts[0].add(quiet.contains(&true));
        counts[1].add(found[0]);
        counts
    });
    let add =
        |one: [FoundCount; 2], other: [FoundCount; 2]| [0, 1].map(|at| one[at].and(other[at]));
    counts.reduce(Default::default, add)
}

fn share(count: FoundCount) -> f64 {
    count.share().expect("some")
}

/// Ways to measure four benchmarks, whose sides differ by 8 %.
fn designs() -> [(&'static str, KnownDesign); 3] {
    let changed = KnownDesign {
        ratio: 1.08,
        ..BLOCKS
    };
    let single = KnownDesign {
        interleaved: false,
        ..changed
    };
    let sessions = KnownDesign {
        sessions: 6,
        blocks: 2,
        interleaved: false,
        session_noise: 0.02,
        ..changed
    };
    [
        ("10 blocks", changed),
        ("10 + 10 instances", single),
        ("6 + 6 sessions", sessions),
    ]
}

#[test]
fn a_comparison_is_as_good_as_it_says() {
    let options = CompareOptions::default();
    for (name, design) in designs() {
        let [stated, truth] = [stated(design, &options, 12), truth(design, &options, 200)];
        let [alarms, true_alarms] = [share(stated[0]), share(truth[0])];
        assert!(
            (alarms - true_alarms).abs() < 0.05,
            "{name}: {alarms} {true_alarms}"
        );
        let [found, true_found] = [share(stated[1]), share(truth[1])];
        assert!(
            (found - true_found).abs() < 0.12,
            "{name}: {found} {true_found}"
        );
    }
}

#[test]
#[ignore = "takes a minute; its table stands in docs/calibration.md"]
fn table_of_comparisons() {
    let usual = CompareOptions::default();
    let loose = CompareOptions {
        false_discovery_rate: 0.5,
        ..usual
    };
    println!("| design | level | false, stated | true | 5 % found, stated | true |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, design) in designs() {
        for options in [usual, loose] {
            let [stated, truth] = [stated(design, &options, 30), truth(design, &options, 1000)];
            let shares = [stated[0], truth[0], stated[1], truth[1]].map(|it| 100.0 * share(it));
            let [alarms, true_alarms, found, true_found] = shares;
            let level = 100.0 * options.false_discovery_rate;
            println!(
                "| {name} | {level} % | {alarms:.1} % | {true_alarms:.1} % | {found:.0} % | {true_found:.0} % |"
            );
        }
    }
}

#[test]
fn a_rule_that_alarms_more_is_found_out() {
    let loose = CompareOptions {
        false_discovery_rate: 0.5,
        ..CompareOptions::default()
    };
    let [usual, loose] =
        [CompareOptions::default(), loose].map(|options| share(stated(BLOCKS, &options, 6)[0]));
    assert!(usual < 0.1 && loose > 3.0 * usual, "{usual} {loose}");
}

#[test]
fn sessions_stay_whole() {
    let sessions = KnownDesign {
        sessions: 4,
        blocks: 5,
        interleaved: false,
        session_noise: 0.1,
        noise: 0.01,
        ..BLOCKS
    };
    let samples = sessions.samples(Seed(1));
    let test = self_test_within(
        2000,
        &samples,
        &names(),
        &CompareOptions::default(),
        &[1.05],
    );
    let row = &test.rows[0];
    assert_eq!((row.unit, row.units), (ReplicationUnit::Session, [4, 4]));
    // With instances as units, most would alarm.
    assert!(share(test.alarms) < 0.2, "{:?}", test.alarms);
    assert!((test.pairs - 35.0).abs() < 1e-9);
}

#[test]
fn the_effect_of_the_sides_is_no_alarm_and_the_design_stays() {
    let changed = KnownDesign {
        ratio: 2.0,
        ..BLOCKS
    };
    let samples = changed.samples(Seed(1));
    let test = self_test_within(2000, &samples, &names(), &CompareOptions::default(), &[1.5]);
    assert!(share(test.alarms) < 0.2, "{:?}", test.alarms);
    let row = &test.rows[0];
    assert_eq!((row.unit, row.is_paired), (ReplicationUnit::Block, true));
    assert_eq!(row.found[0].found, row.found[0].of);
    assert!((test.pairs - 512.0).abs() < 1e-9);
}

#[test]
fn the_same_seed_gives_the_same_rates() {
    let samples = BLOCKS.samples(Seed(1));
    let test = |seed: u64| {
        let options = CompareOptions {
            seed: Seed(seed),
            ..CompareOptions::default()
        };
        self_test_within(1000, &samples, &names(), &options, &[1.05])
    };
    assert_eq!(test(7), test(7));
    assert_ne!(test(7), test(8));
}
