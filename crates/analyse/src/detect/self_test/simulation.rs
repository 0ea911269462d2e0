//! The self-test against the truth: histories of known noise, and what the detector does on fresh ones of the same.

use lapwing_stats::{Seed, as_f64};
use rand::Rng;
use rayon::prelude::*;

use super::super::options::DetectOptions;
use super::super::testing::{add, days};
use super::planted::{PlantedTask, planted_in};
use super::quiet::alarms_of;
use super::replay::{Replay, ReplaySource};
use super::*;
use crate::judge::FoundCount;

/// The noise of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SuiteNoise {
    Normal,
    Autocorrelated,
    Spikes,
}

impl SuiteNoise {
    pub(super) const ALL: [(&'static str, Self); 3] = [
        ("normal 2.5 %", Self::Normal),
        ("AR(1), ρ = 0.6, 2.5 %", Self::Autocorrelated),
        ("1 %, and 2 % spikes × 1.5", Self::Spikes),
    ];

    /// Returns times around a second.
    fn values(self, number: usize, seed: Seed) -> Vec<f64> {
        let mut random = seed.stream("values");
        let mut uniform = move || (as_f64(random.next_u64() >> 11) + 0.5) / 9_007_199_254_740_992.0;
        let mut before = 0.0;
        let mut value = || {
            let radius = (-2.0 * uniform().ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * uniform()).cos();
            match self {
                Self::Normal => 0.025 * normal,
                Self::Autocorrelated => {
                    before = 0.6 * before + 0.8 * normal;
                    0.025 * before
                }
                Self::Spikes if uniform() < 0.02 => 1.5_f64.ln() + 0.01 * normal,
                Self::Spikes => 0.01 * normal,
            }
        };
        // An autocorrelated series takes some values to become stationary.
        (0..20).for_each(|_| {
            value();
        });
        (0..number).map(|_| value().exp()).collect()
    }
}

/// A kind of suite.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownSuite {
    pub(super) noise: SuiteNoise,
    pub(super) benchmarks: u64,
    pub(super) nights: u16,
}

impl KnownSuite {
    /// Returns one of these suites, with so many nights more.
    pub(super) fn histories(self, more: u16, seed: Seed) -> Histories {
        let nights = self.nights + more;
        let mut histories = days(nights);
        for benchmark in 0..self.benchmarks {
            let name = format!("b{benchmark:03}");
            let values = self.noise.values(usize::from(nights), seed.split(&name));
            add(&mut histories, &name, &values);
        }
        histories
    }

    /// Returns the true rates: those on so many fresh histories.
    pub(super) fn truth(
        self,
        options: &DetectOptions,
        wanted: &SelfTestOptions,
        numbers: ReplayNumbers,
    ) -> SuiteSelfTest {
        let more = u16::try_from(JUDGED_NIGHTS).expect("few");
        let fresh = |label: &str, number: usize| {
            self.histories(more, wanted.seed.split(&format!("fresh {label} {number}")))
        };
        let known = self.histories(0, wanted.seed);
        let all: Vec<usize> = (0..known.series.len()).collect();
        let source = ReplaySource::of(&known, &[], &all);
        let nights = i64::from(self.nights);
        let alarms = (0..numbers.quiet).into_par_iter().map(|number| {
            let replay = Replay::of(fresh("quiet", number), nights);
            alarms_of(&source, &replay, options).suites[0]
        });
        let alarms = alarms.reduce(AlarmCount::default, AlarmCount::and);
        let found = planted_in(
            &source,
            options,
            wanted,
            numbers,
            |task: PlantedTask, change| {
                let mut histories = fresh(&task.label(), 0);
                change.plant(&mut histories.series[change.series]);
                Replay::of(histories, nights)
            },
        );
        let series = known.series.iter().zip(found);
        SuiteSelfTest {
            suite: "s".to_owned(),
            runs: usize::from(self.nights),
            runs_per_year: Some(365.25),
            alarms,
            series: series
                .map(|(series, (steps, drifts))| SeriesSelfTest {
                    subject: series.subject.clone(),
                    runs: usize::from(self.nights),
                    alarms: AlarmCount::default(),
                    steps,
                    drifts,
                })
                .collect(),
        }
    }

    /// Returns what self-tests of several such suites state, together.
    pub(super) fn stated(
        self,
        options: &DetectOptions,
        wanted: &SelfTestOptions,
        suites: usize,
    ) -> SuiteSelfTest {
        let stated = (0..suites).into_par_iter().map(|number| {
            let seed = wanted.seed.split(&format!("suite {number}"));
            let mut test = self_test(&self.histories(0, seed), options, wanted);
            test.suites.remove(0)
        });
        let stated: Vec<SuiteSelfTest> = stated.collect();
        let mut all = stated[0].clone();
        for other in &stated[1..] {
            all.alarms = all.alarms.and(other.alarms);
            all.series.extend(other.series.iter().cloned());
        }
        all
    }
}

/// Returns a row of the table: alarms and suspicions a year, and by slowdown the nights of half and of 90 % of the
/// steps, the share of them that is seen, and those of the drifts that are found.
fn row(test: &SuiteSelfTest, slowdowns: usize) -> String {
    let per_year = |number: usize| 365.25 * as_f64(number) / as_f64(test.alarms.nights);
    let mut cells = vec![
        format!("{:.2}", per_year(test.alarms.alarms)),
        format!("{:.2}", per_year(test.alarms.suspicions)),
    ];
    let share = |count: FoundCount| format!("{:.0} %", 100.0 * count.share().unwrap_or(0.0));
    let night = |night: Option<usize>| night.map_or("–".to_owned(), |it| it.to_string());
    for slowdown in 0..slowdowns {
        let (step, drift) = (test.step(slowdown), test.drift(slowdown));
        cells.push(format!(
            "{} ({}), {}",
            night(step.within(0.5)),
            night(step.within(0.9)),
            share(step.seen())
        ));
        cells.push(format!(
            "{}, {}",
            share(drift.whole),
            share(drift.last_half)
        ));
    }
    cells.join(" | ")
}

#[test]
#[ignore = "takes some minutes; its table stands in docs/calibration.md"]
fn table_of_self_tests() {
    let wanted = SelfTestOptions {
        judged_values: 1_200_000,
        ..SelfTestOptions::default()
    };
    let numbers = ReplayNumbers {
        quiet: 250,
        steps: 210,
        drifts: 210,
    };
    let usual = DetectOptions::default();
    let loose = DetectOptions {
        false_discovery_rate: 0.5,
        ..usual
    };
    println!(
        "| noise | level | rates | alarms a year | suspicions | 3 % step | drift | 5 % step | drift | 10 % step | drift |"
    );
    println!("|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (name, noise) in SuiteNoise::ALL {
        // A detector that alarms more has to show.
        let levels = if noise == SuiteNoise::Normal {
            vec![usual, loose]
        } else {
            vec![usual]
        };
        for options in levels {
            let suite = KnownSuite {
                noise,
                benchmarks: 7,
                nights: 60,
            };
            let level = 100.0 * options.false_discovery_rate;
            let stated = suite.stated(&options, &wanted, 8);
            println!("| {name} | {level} % | stated | {} |", row(&stated, 3));
            let truth = suite.truth(&options, &wanted, numbers);
            println!("| {name} | {level} % | true | {} |", row(&truth, 3));
        }
    }
}

/// Prints how much the alarms that self-tests state differ between histories of one noise, and how often their interval
/// has the true number.
#[test]
#[ignore = "takes some minutes; its table stands in docs/calibration.md"]
fn table_of_histories() {
    const SUITES: usize = 16;
    let options = DetectOptions::default();
    println!(
        "| noise | benchmarks | runs | true alarms a year | stated, of 16 histories | interval has it |"
    );
    println!("|---|--:|--:|--:|---|--:|");
    for (name, noise) in SuiteNoise::ALL {
        for (benchmarks, nights) in [(1, 60), (7, 60), (7, 150)] {
            let suite = KnownSuite {
                noise,
                benchmarks,
                nights,
            };
            let values = 100_000 * usize::try_from(benchmarks.min(10)).expect("few");
            let wanted = SelfTestOptions {
                judged_values: values * usize::from(nights) / 60,
                slowdowns: Vec::new(),
                ..SelfTestOptions::default()
            };
            let numbers = ReplayNumbers {
                quiet: 600 / usize::try_from(benchmarks).expect("few") + 100,
                ..ReplayNumbers::default()
            };
            let truth = suite.truth(&options, &wanted, numbers).alarms;
            let truth = as_f64(truth.alarms) / as_f64(truth.nights);
            let rates = (0..SUITES).into_par_iter().map(|number| {
                let seed = wanted.seed.split(&format!("suite {number}"));
                let test = self_test(&suite.histories(0, seed), &options, &wanted);
                let alarms = test.suites[0].alarms;
                test.suites[0].rate(alarms.alarms, alarms.nights)
            });
            let rates: Vec<AlarmRate> = rates.collect();
            let mut stated: Vec<f64> = rates.iter().map(|it| 365.25 * it.value).collect();
            stated.sort_by(f64::total_cmp);
            let covered = rates
                .iter()
                .filter(|it| it.lower <= truth && truth <= it.upper);
            println!(
                "| {name} | {benchmarks} | {nights} | {:.2} | {:.2} on average, {:.2} to {:.2} | {} of {SUITES} |",
                365.25 * truth,
                stated.iter().sum::<f64>() / as_f64(SUITES),
                stated[0],
                stated[SUITES - 1],
                covered.count()
            );
        }
    }
}
