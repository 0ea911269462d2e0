//! Whether the fastest of several commands is compared with the others without more false alarms than stated: by
//! simulation of sessions.
//!
//! Small runs are tests; the large one prints the table of `docs/calibration.md`:
//! `cargo test --release -p lapwing-analyse --lib of_the_fastest -- --ignored --nocapture`

use std::collections::BTreeSet;

use lapwing_model::{Better, Id, JudgeSettings, Metric};
use lapwing_stats::{Seed, as_f64};
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::super::{SessionResult, SessionResults};
use crate::clean::CleanInstance;
use crate::judge::{EarlierComparisons, InstanceOrigin, SideSample, estimate};

/// The instances of a command where nothing else is said.
const INSTANCES: u32 = 5;
const ITERATIONS: usize = 10;
/// Commands per session.
const COMMANDS: [usize; 4] = [2, 3, 5, 10];

/// The noise of the instances of a command, as a share of its time.
#[derive(Debug, Clone, Copy)]
enum NoiseShape {
    Normal,
    /// Exponential: most instances are quick, and a few are slow.
    Skewed,
}

/// Simulated sessions of commands of equal speed, but perhaps the last one.
#[derive(Debug, Clone, Copy)]
struct CommandSessions {
    commands: usize,
    shape: NoiseShape,
    /// The standard deviation between instances, as a share.
    between: f64,
    /// The time of the last command divided by that of the others.
    last: f64,
    better: Better,
}

impl CommandSessions {
    const EQUAL: Self = Self {
        commands: 2,
        shape: NoiseShape::Normal,
        between: 0.02,
        last: 1.0,
        better: Better::Lower,
    };

    /// Returns the shares of sessions in which a command is said to be slower than the best one wrongly, and in which
    /// the last one is said to be so.
    fn rates(self, sessions: u32) -> [f64; 2] {
        self.shares(sessions, |results| {
            let compared = results.compare_benchmarks(None);
            let differ = compared.iter().filter(|it| it.comparison.differs());
            let last = (self.commands - 1).to_string();
            let is_last = |pair: [&str; 2]| self.last > 1.0 && pair[0] == last;
            let differ: Vec<bool> = differ.map(|it| is_last(it.names())).collect();
            [differ.contains(&false), differ.contains(&true)]
        })
    }

    /// Returns the share of sessions with an alarm if the choice of the best one is not allowed for.
    fn alarms_without_allowance(self, sessions: u32) -> f64 {
        let [alarms] = self.shares(sessions, |results| {
            let chosen = results.compare_benchmarks(None);
            let pairs = chosen.iter().map(|it| [it.baseline, it.candidate]);
            let compared = results.judged(pairs.collect(), false, 0);
            [compared.iter().any(|it| it.comparison.differs())]
        });
        alarms
    }

    /// Returns the shares of sessions of which something holds.
    fn shares<const N: usize>(
        self,
        sessions: u32,
        holds: impl Fn(&SessionResults) -> [bool; N] + Sync,
    ) -> [f64; N] {
        let name = format!("{self:?}");
        let each = (0..sessions).into_par_iter().map(|session| {
            let random = &mut Seed(7).split(&name).block(u64::from(session));
            holds(&self.results(random))
        });
        let each: Vec<[bool; N]> = each.collect();
        std::array::from_fn(|which| {
            let so_many = each.iter().filter(|it| it[which]).count();
            as_f64(so_many) / f64::from(sessions)
        })
    }

    fn results(self, random: &mut impl Rng) -> SessionResults {
        let session = Id::from(uuid::Uuid::from_u128(random.random()));
        let mut sides = vec![SideSample::default(); self.commands];
        for block in 0..INSTANCES {
            for (command, side) in sides.iter_mut().enumerate() {
                let place = u32::try_from(command).expect("few commands");
                let commands = u32::try_from(self.commands).expect("few commands");
                let speed = if command + 1 == self.commands {
                    self.last
                } else {
                    1.0
                };
                let level = speed * (1.0 + self.between * self.noise(random));
                let values = (0..ITERATIONS).map(|_| level * (1.0 + 0.02 * normal(random)));
                side.cleaned.instances.push(CleanInstance {
                    position: side.origins.len(),
                    values: values.collect(),
                    without_value: 0,
                    host: None,
                });
                side.origins.push(InstanceOrigin {
                    session,
                    block,
                    position: block * commands + place,
                    host: None,
                });
            }
        }
        let rows = sides.into_iter().enumerate();
        SessionResults {
            rows: rows
                .map(|(command, side)| self.row(command, side))
                .collect(),
            suite: "commands".to_owned(),
            metric: "wall_time".to_owned(),
            history: EarlierComparisons::default(),
            earlier: 0,
            variants: 1,
            limits: JudgeSettings::default(),
            smallest_effect: None,
        }
    }

    fn row(self, command: usize, side: SideSample) -> SessionResult {
        SessionResult {
            benchmark: command.to_string(),
            variant: "default".to_owned(),
            wall: None,
            executions: None,
            metric: Metric {
                unit: "s".to_owned(),
                better: Some(self.better),
            },
            compared: estimate(&side.cleaned),
            side: SideSample {
                recorded_instances: side.origins.len(),
                ..side
            },
            is_control: false,
            is_unbuilt: false,
            memory: None,
            centres: BTreeSet::new(),
            job_states: Vec::new(),
            known: BTreeSet::new(),
            reported: Vec::new(),
            own: Vec::new(),
            advice: Vec::new(),
        }
    }

    fn noise(self, random: &mut impl Rng) -> f64 {
        match self.shape {
            NoiseShape::Normal => normal(random),
            NoiseShape::Skewed => {
                let share: f64 = random.random();
                -(1.0 - share).ln() - 1.0
            }
        }
    }
}

fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// Returns three standard errors of a share of 5 %.
fn error(sessions: u32) -> f64 {
    3.0 * (0.05 * 0.95 / f64::from(sessions)).sqrt()
}

#[test]
fn equal_commands_are_not_called_slower_than_the_fastest_more_often_than_stated() {
    for commands in COMMANDS {
        for (shape, better) in [
            (NoiseShape::Normal, Better::Lower),
            (NoiseShape::Skewed, Better::Lower),
            (NoiseShape::Normal, Better::Higher),
        ] {
            let equal = CommandSessions {
                commands,
                shape,
                better,
                ..CommandSessions::EQUAL
            };
            let [alarms, _] = equal.rates(400);
            assert!(alarms < 0.05 + error(400), "{equal:?}: {alarms}");
        }
    }
}

#[test]
fn a_command_that_is_a_tenth_slower_than_the_fastest_is_found_among_many() {
    for commands in COMMANDS {
        let slower = CommandSessions {
            commands,
            last: 1.1,
            ..CommandSessions::EQUAL
        };
        let [alarms, found] = slower.rates(200);
        assert!(alarms < 0.05 + error(200), "{slower:?}: {alarms}");
        assert!(found > 0.9, "{slower:?}: {found}");
    }
}

#[test]
fn a_reference_is_no_choice() {
    let random = &mut Seed(7).split("reference").block(0);
    let five = CommandSessions {
        commands: 5,
        ..CommandSessions::EQUAL
    };
    let results = five.results(random);
    let named = results.compare_benchmarks(Some("0"));
    assert_eq!(named.len(), 4);
    for pair in named {
        let replication = pair.comparison.replication.as_ref().expect("blocks");
        assert!((replication.looks.factor(0.05) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn variants_of_an_indicator_are_also_compared_by_the_metrics_that_both_report() {
    let random = &mut Seed(7).split("indicator").block(0);
    let slower = CommandSessions {
        last: 1.3,
        ..CommandSessions::EQUAL
    };
    // By wall time they are alike, by their own metric they are not.
    let mut results = CommandSessions::EQUAL.results(random);
    let own = slower.results(random);
    for (at, (row, own)) in results.rows.iter_mut().zip(own.rows).enumerate() {
        row.benchmark = "Matmul/numpy".to_owned();
        let metric = Metric::lower("s");
        row.own = vec![("elapsed".to_owned(), metric.clone(), own.side.clone())];
        if at == 0 {
            row.own.push(("rate".to_owned(), metric, own.side));
        }
    }
    let said = |compared: Vec<super::SessionComparison<'_>>| -> Vec<(String, bool)> {
        let compared = compared.iter().map(|it| &it.comparison);
        compared
            .map(|it| (it.subject.metric.clone(), it.differs()))
            .collect()
    };
    let of = |name: &str, differs: bool| (name.to_owned(), differs);
    assert_eq!(
        said(results.compare_variants()),
        [of("wall_time", false), of("elapsed", true)]
    );
    assert_eq!(
        said(results.compare_benchmarks(None)),
        [of("wall_time", false)]
    );
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_the_fastest() {
    const SESSIONS: u32 = 20_000;
    println!("| noise between instances | commands | false alarms | 3 % slower | 5 % | 10 % |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, shape, between) in [
        ("normal, 1 %", NoiseShape::Normal, 0.01),
        ("normal, 2 %", NoiseShape::Normal, 0.02),
        ("exponential, 2 %", NoiseShape::Skewed, 0.02),
    ] {
        for commands in COMMANDS {
            let equal = CommandSessions {
                commands,
                shape,
                between,
                ..CommandSessions::EQUAL
            };
            let [alarms, _] = equal.rates(SESSIONS);
            let found = [1.03, 1.05, 1.1].map(|last| {
                let [_, found] = CommandSessions { last, ..equal }.rates(SESSIONS / 10);
                format!("{:.1} %", 100.0 * found)
            });
            println!(
                "| {name} | {commands} | {:.1} % | {} |",
                100.0 * alarms,
                found.join(" | ")
            );
        }
    }
}

#[test]
#[ignore = "a minute; its figures stand in docs/calibration.md"]
fn alarms_of_the_fastest_without_allowance() {
    for commands in COMMANDS {
        let equal = CommandSessions {
            commands,
            between: 0.01,
            ..CommandSessions::EQUAL
        };
        let alarms = equal.alarms_without_allowance(5_000);
        println!("{commands} commands: {:.1} %", 100.0 * alarms);
    }
}
