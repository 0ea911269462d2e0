//! Searches on simulated machines: how often they end right.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::search::{DriftingSearch, NextMeasurement, SearchEnd};
use crate::number::as_f64;
use crate::seed::Seed;

/// How the speed of a machine changes, by 8 % in all.
#[derive(Debug, Clone, Copy)]
enum MachineDrift {
    None,
    /// Slow during the first ten instances.
    Early,
    /// A step up or down at one of the instances 8 to 27.
    Step,
    /// A ramp over 40 instances.
    Ramp,
    /// Two hosts, which change every 15 instances on average.
    Hosts,
}

/// A machine with commits of which one is slower.
struct Machine {
    random: ChaCha8Rng,
    culprit: Option<usize>,
    change: f64,
    sigma: f64,
    drift: MachineDrift,
    /// The share of instances that are 1.3 to 3 times as slow.
    outliers: f64,
    size: f64,
    when: f64,
    time: f64,
    is_on_other: bool,
}

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

impl Machine {
    fn measure(&mut self, commit: usize) -> f64 {
        let time = self.time;
        self.time += 1.0;
        if uniform(&mut self.random) < 1.0 / 15.0 {
            self.is_on_other = !self.is_on_other;
        }
        let share = match self.drift {
            MachineDrift::None => 0.0,
            MachineDrift::Early => f64::from(u8::from(time < 10.0)) * self.size.signum(),
            MachineDrift::Step => f64::from(u8::from(time >= self.when)),
            MachineDrift::Ramp => (time / 40.0).min(1.0),
            MachineDrift::Hosts => f64::from(u8::from(self.is_on_other)),
        };
        let mut noise = self.sigma * normal(&mut self.random);
        if uniform(&mut self.random) < self.outliers {
            noise += (1.3 + 1.7 * uniform(&mut self.random)).ln();
        }
        let is_changed = self.culprit.is_some_and(|culprit| commit >= culprit);
        let change = if is_changed { self.change } else { 0.0 };
        change + share * self.size + noise
    }
}

/// The machines of a cell of the table.
#[derive(Debug, Clone, Copy)]
struct SearchCell {
    commits: usize,
    /// The change, as a share; 0 if there is none.
    change: f64,
    sigma: f64,
    drift: MachineDrift,
    outliers: f64,
}

/// The shares of searches that end right and that name an innocent commit, and the mean number of instances.
#[derive(Debug)]
struct SearchRates {
    right: f64,
    wrong: f64,
    instances: f64,
}

impl SearchCell {
    fn rates(self, searches: u64) -> SearchRates {
        let mut rates = SearchRates {
            right: 0.0,
            wrong: 0.0,
            instances: 0.0,
        };
        for search in 0..searches {
            let mut random = Seed(20_261_128).numbered(search);
            let at = 1.0 + uniform(&mut random) * as_f64(self.commits - 1);
            let culprit = (1..self.commits).rev().find(|it| as_f64(*it) <= at);
            let up = if uniform(&mut random) < 0.5 {
                1.0
            } else {
                -1.0
            };
            let mut machine = Machine {
                culprit: culprit.filter(|_| self.change > 0.0),
                change: self.change.ln_1p(),
                sigma: self.sigma,
                drift: self.drift,
                outliers: self.outliers,
                size: up * 0.08_f64.ln_1p(),
                when: 8.0 + 20.0 * uniform(&mut random),
                time: 0.0,
                is_on_other: false,
                random,
            };
            let mut searching = DriftingSearch::new(self.commits, 0.95, 30, 300);
            while let Some(next) = searching.next_measurement(|_| 0.0) {
                let commits = match next {
                    NextMeasurement::Pair(pair) => pair.to_vec(),
                    NextMeasurement::One(one) => vec![one],
                };
                for commit in commits {
                    let log = machine.measure(commit);
                    searching.add(commit, log);
                }
            }
            let weight = 1.0 / as_f64(searches);
            rates.instances += weight * as_f64(searching.measurements());
            match (searching.end(), machine.culprit) {
                (Some(SearchEnd::Found(found)), Some(culprit)) if found.last == culprit => {
                    rates.right += weight;
                }
                (Some(SearchEnd::Found(_)), _) => rates.wrong += weight,
                (Some(SearchEnd::Alike), None) => rates.right += weight,
                _ => {}
            }
        }
        rates
    }
}

const DRIFTS: [MachineDrift; 5] = [
    MachineDrift::None,
    MachineDrift::Early,
    MachineDrift::Step,
    MachineDrift::Ramp,
    MachineDrift::Hosts,
];

const CALM: SearchCell = SearchCell {
    commits: 64,
    change: 0.1,
    sigma: 0.02,
    drift: MachineDrift::None,
    outliers: 0.0,
};

#[test]
fn the_commit_is_found_although_the_machine_drifts() {
    for drift in DRIFTS {
        let rates = SearchCell { drift, ..CALM }.rates(12);
        assert!(
            rates.right >= 0.9 && rates.wrong <= 0.0,
            "{drift:?}: {rates:?}"
        );
        assert!(rates.instances < 45.0, "{drift:?}: {rates:?}");
    }
}

#[test]
fn without_a_culprit_none_is_named() {
    let none = SearchCell {
        change: 0.0,
        sigma: 0.03,
        ..CALM
    };
    for drift in [MachineDrift::None, MachineDrift::Hosts] {
        let rates = SearchCell { drift, ..none }.rates(12);
        assert!(rates.wrong <= 0.0, "{drift:?}: {rates:?}");
        assert!(rates.right >= 0.9, "{drift:?}: {rates:?}");
    }
}

#[test]
fn outliers_hide_no_commit() {
    let rates = SearchCell {
        sigma: 0.03,
        outliers: 0.1,
        ..CALM
    }
    .rates(12);
    assert!(rates.right >= 0.9 && rates.wrong <= 0.0, "{rates:?}");
}

#[test]
#[ignore = "takes minutes"]
fn table_of_drifting_searches() {
    let hard = SearchCell {
        change: 0.05,
        sigma: 0.03,
        ..CALM
    };
    let long = SearchCell {
        commits: 1_024,
        ..CALM
    };
    let none = SearchCell {
        change: 0.0,
        sigma: 0.03,
        ..CALM
    };
    let outliers = [0.02, 0.03].map(|sigma| SearchCell {
        sigma,
        outliers: 0.1,
        ..CALM
    });
    let drifting = [CALM, hard, long, none].into_iter().flat_map(|cell| {
        let of_cell = move |drift| SearchCell { drift, ..cell };
        DRIFTS.map(of_cell)
    });
    let cells: Vec<SearchCell> = drifting.chain(outliers).collect();
    std::thread::scope(|scope| {
        let spawn = |cell| scope.spawn(move || (cell, SearchCell::rates(cell, 100)));
        let threads: Vec<_> = cells.into_iter().map(spawn).collect();
        for thread in threads {
            let (cell, rates) = thread.join().expect("it ends");
            println!("{cell:?}: {rates:?}");
        }
    });
}
