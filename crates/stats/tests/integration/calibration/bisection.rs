//! Bisection on simulated commits: how often it is right, and what it costs, beside plain bisection.

use lapwing_stats::{
    Bisection, ComparisonLook, Confidence, Replicates, Seed, as_f64, comparison_looks, mean,
    standard_deviation,
};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::noise::normal;
use super::rounds::show;

/// How both ends are measured.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// So many instances of each.
    Fixed(usize),
    /// As the program does: until they differ for certain, up to 30 of each.
    UntilCertain,
}

/// What chooses the next commit.
#[derive(Debug, Clone, Copy)]
enum Search {
    /// The posterior, where a build costs so many instances.
    Posterior { build: f64 },
    /// The posterior, with so many commits measured at the same time.
    AtOnce(usize),
    /// The middle of what is left, with so many instances at each step.
    PlainFixed(usize),
    /// The middle of what is left, measured until it is clear to which end it belongs (Wald's sequential test).
    PlainSequential,
}

/// A setting: number of commits, shift in standard deviations of an instance.
#[derive(Debug, Clone, Copy)]
struct Setting {
    commits: usize,
    shift: usize,
    ends: Ends,
    search: Search,
}

/// What a search found, with its measurements.
#[derive(Debug, Clone, Copy, Default)]
struct Searched {
    found: usize,
    runs: usize,
    builds: usize,
    /// How often commits were chosen.
    rounds: usize,
}

/// Shares and means over all searches whose ends differ.
#[derive(Debug, Default)]
struct BisectionRates {
    /// The share of searches whose ends differ.
    differing: f64,
    /// The share whose search alone is right, with its measurements and its commits.
    right: f64,
    runs: f64,
    builds: f64,
    rounds: f64,
    /// The share that is right after the comparisons with parents, and all measurements.
    right_at_last: f64,
    runs_at_last: f64,
}

const CONFIDENCE: f64 = 0.95;
const MOST: usize = 1000;
/// As the program does: the standard errors between the ends, and the most comparisons with parents.
const APART: f64 = 4.0;
const CONFIRMATIONS: usize = 3;
/// Information per measurement in bits, for shifts of 1, 2 and 3 standard deviations.
const CAPACITY: [f64; 3] = [0.1607, 0.4859, 0.7600];

/// A history of commits of which one brought a change.
struct SimulatedHistory {
    random: Xoshiro256PlusPlus,
    change: usize,
    shift: f64,
    last: usize,
}

impl SimulatedHistory {
    fn measure(&mut self, commit: usize) -> f64 {
        let shift = if commit >= self.change {
            self.shift
        } else {
            0.0
        };
        normal(&mut self.random) + shift
    }

    /// Returns the measurements of both ends; `None` if they do not differ.
    fn ends(&mut self, ends: Ends, looks: &[ComparisonLook]) -> Option<[Vec<f64>; 2]> {
        let mut sides = [Vec::new(), Vec::new()];
        let last = self.last;
        let mut grow = |sides: &mut [Vec<f64>; 2], to: usize| {
            while sides[0].len() < to {
                sides[0].push(self.measure(0));
                sides[1].push(self.measure(last));
            }
        };
        match ends {
            Ends::Fixed(count) => {
                grow(&mut sides, count);
                Some(sides)
            }
            Ends::UntilCertain => {
                let mut is_certain = false;
                for look in looks {
                    grow(&mut sides, look.replicates);
                    let replicates = Replicates::Sides(sides.clone());
                    let difference = replicates.difference(Confidence::P95).unwrap();
                    is_certain = difference.p_value <= look.level;
                    if is_certain && difference.value.abs() >= APART * standard_error(&sides) {
                        break;
                    }
                }
                is_certain.then_some(sides)
            }
        }
    }

    /// Returns what the search finds, and what is found after the comparisons with parents, which may send it on.
    fn by_posterior(
        &mut self,
        ends: [Vec<f64>; 2],
        (build, width): (f64, usize),
        looks: &[ComparisonLook],
    ) -> [Searched; 2] {
        let commits = self.last + 1;
        let mut search = Bisection::new(commits);
        for (commit, logs) in [0, self.last].into_iter().zip(ends) {
            logs.into_iter().for_each(|log| search.add(commit, log));
        }
        let mut rounds = 0;
        let searched = |search: &Bisection, rounds| Searched {
            rounds,
            found: search.suspects().last,
            runs: search.measurements(),
            builds: (0..commits)
                .filter(|it| !search.logs(*it).is_empty())
                .count(),
        };
        let mut alone = None;
        for _confirmation in 0..CONFIRMATIONS {
            while !search.is_found(CONFIDENCE) && search.measurements() < MOST {
                let is_new: Vec<bool> = (0..commits).map(|it| search.logs(it).is_empty()).collect();
                let next = search.next_visit(|commit| if is_new[commit] { build } else { 0.0 });
                let commits = search.with_others(next.commit, width);
                for commit in commits {
                    search.add(commit, self.measure(commit));
                }
                rounds += 1;
            }
            let found = search.suspects().last;
            alone.get_or_insert(searched(&search, rounds));
            let (sides, is_certain) = self.compare([found - 1, found], looks);
            for (commit, side) in [found - 1, found].into_iter().zip(sides) {
                side.into_iter().for_each(|log| search.add(commit, log));
            }
            if is_certain || (search.suspects().last == found && search.is_found(CONFIDENCE)) {
                break;
            }
        }
        [alone.unwrap_or_default(), searched(&search, rounds)]
    }

    /// Returns fresh measurements of two commits, and whether the later one is certainly higher.
    fn compare(&mut self, commits: [usize; 2], looks: &[ComparisonLook]) -> ([Vec<f64>; 2], bool) {
        let mut sides = [Vec::new(), Vec::new()];
        for look in looks {
            while sides[0].len() < look.replicates {
                for (side, commit) in sides.iter_mut().zip(commits) {
                    side.push(self.measure(commit));
                }
            }
            let replicates = Replicates::Sides(sides.clone());
            let difference = replicates.difference(Confidence::P95).unwrap();
            if difference.p_value <= look.level {
                return (sides, difference.value > 0.0);
            }
        }
        (sides, false)
    }

    /// Halves what is left: each step decides by the middle between the ends' means, after so many measurements, or
    /// when Wald's test is sure enough for all steps together.
    fn plain(&mut self, ends: [Vec<f64>; 2], repetitions: Option<usize>) -> Searched {
        let levels = [mean(&ends[0]).unwrap(), mean(&ends[1]).unwrap()];
        let deviations = [0, 1].map(|it| standard_deviation(&ends[it]).unwrap());
        let variance = f64::midpoint(deviations[0].powi(2), deviations[1].powi(2));
        let (middle, distance) = (f64::midpoint(levels[0], levels[1]), levels[1] - levels[0]);
        let error = (1.0 - CONFIDENCE) / as_f64(self.last).log2().ceil();
        let bound = ((1.0 - error) / error).ln();
        let mut runs = ends[0].len() + ends[1].len();
        let (mut good, mut bad, mut builds) = (0, self.last, 2);
        while bad - good > 1 {
            let commit = usize::midpoint(good, bad);
            builds += 1;
            let (mut evidence, mut here) = (0.0_f64, 0);
            loop {
                evidence += distance * (self.measure(commit) - middle) / variance;
                here += 1;
                let is_sure = match repetitions {
                    Some(repetitions) => here == repetitions,
                    None => evidence.abs() >= bound || here == MOST,
                };
                if is_sure {
                    break;
                }
            }
            runs += here;
            if evidence > 0.0 {
                bad = commit;
            } else {
                good = commit;
            }
        }
        Searched {
            found: bad,
            runs,
            builds,
            rounds: builds - 2,
        }
    }
}

fn simulate(setting: Setting, trials: u64, seed: Seed) -> BisectionRates {
    let mut rates = BisectionRates::default();
    let looks = comparison_looks(30, None, 1.0 - CONFIDENCE);
    for trial in 0..trials {
        let mut random = seed.block(trial);
        let change = random.random_range(1..setting.commits);
        let mut history = SimulatedHistory {
            random,
            change,
            shift: as_f64(setting.shift),
            last: setting.commits - 1,
        };
        let Some(ends) = history.ends(setting.ends, &looks) else {
            continue;
        };
        let [alone, at_last] = match setting.search {
            Search::Posterior { build } => history.by_posterior(ends, (build, 1), &looks),
            Search::AtOnce(width) => history.by_posterior(ends, (0.0, width), &looks),
            Search::PlainFixed(repetitions) => [history.plain(ends, Some(repetitions)); 2],
            Search::PlainSequential => [history.plain(ends, None); 2],
        };
        let is_right = |it: Searched| f64::from(u8::from(it.found == change));
        rates.differing += 1.0;
        rates.right += is_right(alone);
        rates.runs += as_f64(alone.runs);
        rates.builds += as_f64(alone.builds);
        rates.rounds += as_f64(alone.rounds);
        rates.right_at_last += is_right(at_last);
        rates.runs_at_last += as_f64(at_last.runs);
    }
    let differing = rates.differing;
    BisectionRates {
        differing: differing / as_f64(usize::try_from(trials).unwrap()),
        right: rates.right / differing,
        runs: rates.runs / differing,
        builds: rates.builds / differing,
        rounds: rates.rounds / differing,
        right_at_last: rates.right_at_last / differing,
        runs_at_last: rates.runs_at_last / differing,
    }
}

fn standard_error(sides: &[Vec<f64>; 2]) -> f64 {
    let variances = sides.iter().map(|side| {
        let deviation = standard_deviation(side).unwrap();
        deviation.powi(2) / as_f64(side.len())
    });
    variances.sum::<f64>().sqrt()
}

fn report(setting: Setting, trials: u64) -> (BisectionRates, f64) {
    let rates = simulate(setting, trials, Seed(21));
    let bound = as_f64(setting.commits).log2() / CAPACITY[setting.shift - 1];
    let times = rates.runs / bound;
    show(&format!(
        "{:>5} commits, {} σ, {:?}, {:?}: ends differ {:.1} %, right {:.1} %, {:.1} runs ({times:.2} × the bound), {:.1} builds, {:.1} rounds; at last {:.1} %, {:.1} runs",
        setting.commits,
        setting.shift,
        setting.ends,
        setting.search,
        100.0 * rates.differing,
        100.0 * rates.right,
        rates.runs,
        rates.builds,
        rates.rounds,
        100.0 * rates.right_at_last,
        rates.runs_at_last,
    ));
    (rates, times)
}

#[test]
fn a_bisection_is_right_as_often_as_it_says() {
    let setting = Setting {
        commits: 64,
        shift: 2,
        ends: Ends::Fixed(8),
        search: Search::Posterior { build: 0.0 },
    };
    let (rates, times) = report(setting, 300);
    assert!((0.90..=0.99).contains(&rates.right), "{rates:?}");
    assert!(times < 3.0, "{rates:?}");
}

/// Searches with these shifts, and with so many instances of each end.
fn bisections(commits: usize, shifts_and_ends: [(usize, usize); 3]) {
    for (shift, ends) in shifts_and_ends {
        for (ends, build) in [
            (Ends::Fixed(ends), 0.0),
            (Ends::UntilCertain, 0.0),
            (Ends::UntilCertain, 3.0),
            (Ends::UntilCertain, 10.0),
        ] {
            let setting = Setting {
                commits,
                shift,
                ends,
                search: Search::Posterior { build },
            };
            let (rates, _) = report(setting, 400);
            assert!(
                rates.right > 0.86 && rates.right_at_last > 0.94,
                "{rates:?}"
            );
        }
    }
}

#[test]
#[ignore = "minutes"]
fn bisections_of_64_commits() {
    bisections(64, [(3, 4), (2, 8), (1, 30)]);
}

#[test]
#[ignore = "minutes"]
fn bisections_of_1024_commits() {
    bisections(1024, [(3, 4), (2, 8), (1, 16)]);
}

#[test]
#[ignore = "minutes"]
fn bisections_of_several_commits_at_once() {
    for shift in [1, 2, 3] {
        for width in [1, 2, 4, 16] {
            let setting = Setting {
                commits: 64,
                shift,
                ends: Ends::UntilCertain,
                search: Search::AtOnce(width),
            };
            let (rates, _) = report(setting, 400);
            assert!(
                rates.right > 0.86 && rates.right_at_last > 0.94,
                "{rates:?}"
            );
        }
    }
}

#[test]
#[ignore = "minutes"]
fn plain_bisections_of_64_and_1024_commits() {
    for commits in [64, 1024] {
        for shift in 1..=3 {
            for search in [
                Search::PlainFixed(1),
                Search::PlainFixed(5),
                Search::PlainFixed(10),
                Search::PlainFixed(25),
                Search::PlainSequential,
            ] {
                let setting = Setting {
                    commits,
                    shift,
                    ends: Ends::UntilCertain,
                    search,
                };
                let (rates, _) = report(setting, 1000);
                assert!(rates.differing > 0.9, "{rates:?}");
            }
        }
    }
}
