//! Searches on simulated machines: how often they end right.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::{DriftingSearch, SearchEnd, SearchLimits, half_even};
use crate::interval::Confidence;
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
    /// The commits that changed it, and the logarithms of their changes.
    culprits: Vec<(usize, f64)>,
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
        let before = self
            .culprits
            .iter()
            .filter(|(culprit, _)| *culprit <= commit);
        let change: f64 = before.map(|(_, change)| change).sum();
        change + share * self.size + noise
    }
}

/// Whether sizes of commits are known, and the larger ones likelier.
#[derive(Debug, Clone, Copy)]
enum KnownPrior {
    None,
    Right,
    /// They are known, and all commits are as likely.
    Wrong,
}

/// The machines of a cell of the table.
#[derive(Debug, Clone, Copy)]
struct SearchCell {
    commits: usize,
    /// The changes, as shares.
    changes: &'static [f64],
    sigma: f64,
    drift: MachineDrift,
    outliers: f64,
    /// What building a commit costs, or installing it each time if `is_dear`, in instances.
    cost: f64,
    is_dear: bool,
    /// The number of instances that are measured at the same time.
    width: usize,
    prior: KnownPrior,
}

/// The shares of searches that end right and that name an innocent commit, and the mean number of instances.
#[derive(Debug, Default)]
struct SearchRates {
    right: f64,
    wrong: f64,
    instances: f64,
    /// The mean number of builds, or of installations, and of rounds of measurements at the same time.
    builds: f64,
    rounds: f64,
    /// The number of changes that were found, and of those within their intervals of 95 %.
    finds: f64,
    covered: f64,
    /// The share of right searches that tell a part to be unexplained.
    unexplained: f64,
}

impl SearchCell {
    /// Returns the machine of a search, and how likely its commits are beforehand.
    fn machine(self, search: u64) -> (Machine, Vec<f64>) {
        let mut random = Seed(20_261_128).numbered(search);
        // Changed lines of each commit, log-normal.
        let lines: Vec<f64> = (0..self.commits)
            .map(|_| (3.0 + 1.8 * normal(&mut random)).exp())
            .collect();
        let (drawn_from, likely) = match self.prior {
            KnownPrior::None => (vec![1.0; self.commits], vec![1.0; self.commits]),
            KnownPrior::Right => (lines.clone(), half_even(&lines)),
            KnownPrior::Wrong => (vec![1.0; self.commits], half_even(&lines)),
        };
        let mut culprits = Vec::new();
        for change in self.changes {
            let all: f64 = drawn_from[1..].iter().sum();
            let place = uniform(&mut random) * all;
            let mut before = 0.0;
            let mut at = 0;
            while before <= place && at + 1 < self.commits {
                at += 1;
                before += drawn_from[at];
            }
            culprits.push((at, change.ln_1p()));
        }
        culprits.sort_by_key(|(place, _)| *place);
        let up = if uniform(&mut random) < 0.5 {
            1.0
        } else {
            -1.0
        };
        let machine = Machine {
            culprits,
            sigma: self.sigma,
            drift: self.drift,
            outliers: self.outliers,
            size: up * 0.08_f64.ln_1p(),
            when: 8.0 + 20.0 * uniform(&mut random),
            time: 0.0,
            is_on_other: false,
            random,
        };
        (machine, likely)
    }

    fn rates(self, searches: u64) -> SearchRates {
        let mut rates = SearchRates::default();
        for search in 0..searches {
            let (mut machine, likely) = self.machine(search);
            let limits = SearchLimits {
                confidence: 0.95,
                most_pairs: 30,
                most: 600,
                is_dear: self.is_dear,
            };
            let mut visited: Vec<usize> = Vec::new();
            let mut searching = DriftingSearch::new(&likely, limits);
            while searching.end().is_none() {
                let is_ready = |commit: usize| match self.is_dear {
                    true => visited.last() == Some(&commit),
                    false => visited.contains(&commit),
                };
                let cost = |commit: usize| if is_ready(commit) { 0.0 } else { self.cost };
                let next = searching.next(cost, self.width);
                for commit in &next.commits {
                    if visited.last() != Some(commit) && (self.is_dear || !visited.contains(commit))
                    {
                        rates.builds += 1.0 / as_f64(searches);
                        visited.push(*commit);
                    }
                }
                rates.rounds += 1.0 / as_f64(searches);
                let measured = next.commits.into_iter();
                let measured: Vec<_> = measured
                    .map(|commit| (commit, Some(machine.measure(commit))))
                    .collect();
                searching.add(&measured);
            }
            let weight = 1.0 / as_f64(searches);
            rates.instances += weight * as_f64(searching.measurements());
            let found: Vec<usize> = searching.found().iter().map(|it| it.commits.last).collect();
            let planted: Vec<usize> = machine.culprits.iter().map(|(commit, _)| *commit).collect();
            let is_end = match searching.end() {
                Some(SearchEnd::Alike) => planted.is_empty(),
                end => matches!(end, Some(SearchEnd::Found(_))) && !planted.is_empty(),
            };
            if is_end && found == planted {
                rates.right += weight;
            }
            if found.iter().any(|it| !planted.contains(it)) {
                rates.wrong += weight;
            }
            for change in searching.found() {
                let (_, size) = machine
                    .culprits
                    .iter()
                    .find(|it| it.0 == change.commits.last)
                    .copied()
                    .unwrap_or_default();
                let interval = change.difference.interval(Confidence::P95);
                rates.finds += 1.0;
                rates.covered +=
                    f64::from(u8::from(interval.lower <= size && size <= interval.upper));
            }
            if searching.unexplained().is_some() && found == planted {
                rates.unexplained += weight;
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
    changes: &[0.1],
    sigma: 0.02,
    drift: MachineDrift::None,
    outliers: 0.0,
    cost: 0.0,
    is_dear: false,
    width: 1,
    prior: KnownPrior::None,
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
        changes: &[],
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
fn what_one_commit_does_not_explain_is_searched() {
    let both = SearchCell {
        changes: &[0.2, -0.09],
        ..CALM
    };
    let rates = both.rates(12);
    assert!(rates.right >= 0.9 && rates.wrong <= 0.0, "{rates:?}");
}

/// Halves what is left, as `git bisect run` does: five instances of each end in turn, and so many of each step, of which
/// the mean is above or below the middle of the ends. Returns the shares of searches that are right and wrong, and the
/// mean number of instances.
fn plain_bisections(cell: SearchCell, each: usize, searches: u64) -> [f64; 3] {
    let mut rates = [0.0; 3];
    let weight = 1.0 / as_f64(searches);
    for search in 0..searches {
        let (mut machine, _) = cell.machine(search);
        let mut sides = [0.0, 0.0];
        for at in 0..10 {
            let side = usize::from((at / 2 + at) % 2 == 1);
            sides[side] += machine.measure(side * (cell.commits - 1)) / 5.0;
        }
        let (mut good, mut bad) = (0, cell.commits - 1);
        while bad - good > 1 {
            let commit = usize::midpoint(good, bad);
            let mean = (0..each).map(|_| machine.measure(commit)).sum::<f64>() / as_f64(each);
            let is_bad = (mean - sides[0]).abs() > (mean - sides[1]).abs();
            *(if is_bad { &mut bad } else { &mut good }) = commit;
        }
        let planted: Vec<usize> = machine.culprits.iter().map(|(commit, _)| *commit).collect();
        rates[usize::from(planted != [bad])] += weight;
        rates[2] += weight * machine.time;
    }
    rates
}

#[test]
#[ignore = "prints a table"]
fn table_of_plain_bisections() {
    for cell in [
        CALM,
        SearchCell {
            changes: &[0.05],
            sigma: 0.03,
            ..CALM
        },
    ] {
        for drift in DRIFTS {
            for each in [5, 10, 25] {
                let [right, wrong, instances] =
                    plain_bisections(SearchCell { drift, ..cell }, each, 1_000);
                println!(
                    "| {:?}, σ {} | {drift:?} | {each} | {:.1} % | {:.1} % | {instances:.0} |",
                    cell.changes,
                    cell.sigma,
                    100.0 * right,
                    100.0 * wrong,
                );
            }
        }
    }
}

/// Prints a line of a table, of so many searches.
fn show(searches: u64, name: &str, cells: &[SearchCell]) {
    for cell in cells {
        let begin = std::time::Instant::now();
        let rates = cell.rates(searches);
        println!(
            "| {name} | {:?} | {:.1} % | {:.1} % | {:.0} | {:.1} | {:.1} | {:.1} % | {:.1} % | {:.1} s |",
            cell.drift,
            100.0 * rates.right,
            100.0 * rates.wrong,
            rates.instances,
            rates.builds,
            rates.rounds,
            100.0 * rates.covered / rates.finds.max(1.0),
            100.0 * rates.unexplained,
            begin.elapsed().as_secs_f64(),
        );
    }
}

#[test]
#[ignore = "takes minutes"]
fn table_of_drifting_searches() {
    const SEARCHES: u64 = 100;
    let on = |cell: SearchCell, drifts: &[MachineDrift]| -> Vec<SearchCell> {
        let of = |drift: &MachineDrift| SearchCell {
            drift: *drift,
            ..cell
        };
        drifts.iter().map(of).collect()
    };
    let calm = [MachineDrift::None];
    let some = [MachineDrift::None, MachineDrift::Hosts, MachineDrift::Step];
    let hard = SearchCell {
        changes: &[0.05],
        sigma: 0.03,
        ..CALM
    };
    let long = SearchCell {
        commits: 1_024,
        ..CALM
    };
    let none = SearchCell {
        changes: &[],
        sigma: 0.03,
        ..CALM
    };
    let with = |changes, sigma| SearchCell {
        changes,
        sigma,
        ..CALM
    };
    let noisy = |sigma| SearchCell {
        sigma,
        outliers: 0.1,
        ..CALM
    };
    let dear = |cost, is_dear| SearchCell {
        cost,
        is_dear,
        ..CALM
    };
    let known = |cell: SearchCell, prior| SearchCell { prior, ..cell };
    let wide = |width| SearchCell { width, ..CALM };
    let size = |commits, changes, sigma| SearchCell {
        commits,
        changes,
        sigma,
        ..CALM
    };
    let tables = [
        ("+10 %, σ 2 %", on(CALM, &DRIFTS)),
        ("+5 %, σ 3 %", on(hard, &DRIFTS)),
        ("+10 %, σ 2 %, 1,024 commits", on(long, &DRIFTS)),
        ("no culprit, σ 3 %", on(none, &DRIFTS)),
        ("+10 %, σ 2 %, outliers", on(noisy(0.02), &some)),
        ("+10 %, σ 3 %, outliers", on(noisy(0.03), &some)),
        ("+5 and +5 %, σ 2 %", on(with(&[0.05, 0.05], 0.02), &some)),
        ("+20 and −9 %, σ 2 %", on(with(&[0.2, -0.09], 0.02), &some)),
        ("+5 and +5 %, σ 3 %", on(with(&[0.05, 0.05], 0.03), &some)),
        ("+100 %, σ 2 %", on(with(&[1.0], 0.02), &some)),
        ("+10 %, σ 0.1 %", on(with(&[0.1], 0.001), &some)),
        ("+0.1 %, σ 0", on(with(&[0.001], 0.0), &calm)),
        ("a build costs 3", on(dear(3.0, false), &some)),
        ("an installation costs 3", on(dear(3.0, true), &some)),
        ("an installation costs 10", on(dear(10.0, true), &some)),
        ("4 at once", on(wide(4), &some)),
        ("16 at once", on(wide(16), &some)),
        (
            "lines known, right",
            on(known(CALM, KnownPrior::Right), &calm),
        ),
        (
            "lines known, wrong",
            on(known(CALM, KnownPrior::Wrong), &calm),
        ),
        (
            "5 %, σ 3 %, lines known, right",
            on(known(hard, KnownPrior::Right), &calm),
        ),
        (
            "5 %, σ 3 %, lines known, wrong",
            on(known(hard, KnownPrior::Wrong), &calm),
        ),
        (
            "1,024 commits, lines known, right",
            on(known(long, KnownPrior::Right), &calm),
        ),
        (
            "1,024 commits, lines known, wrong",
            on(known(long, KnownPrior::Wrong), &calm),
        ),
        ("2 commits", on(size(2, &[0.1], 0.02), &calm)),
        ("3 commits", on(size(3, &[0.1], 0.02), &calm)),
        ("3 commits, no culprit", on(size(3, &[], 0.02), &calm)),
        (
            "1,024 commits, 2 σ",
            on(size(1_024, &[0.0618], 0.03), &calm),
        ),
        (
            "1,024 commits, 3 σ",
            on(size(1_024, &[0.0942], 0.03), &calm),
        ),
    ];
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, cells)) =
                    tables.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    show(SEARCHES, name, cells);
                }
            });
        }
    });
}
