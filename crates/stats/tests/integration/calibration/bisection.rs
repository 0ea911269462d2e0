//! Bisection on simulated commits: how often it is right, and what it costs.

use lapwing_stats::{Bisection, Seed, as_f64};
use rand::RngExt;

use super::noise::normal;
use super::rounds::show;

/// A setting: number of commits, shift in standard deviations, measurements of each end, cost of a build in instances.
#[derive(Debug, Clone, Copy)]
struct Setting {
    commits: usize,
    shift: usize,
    ends: usize,
    build: f64,
}

#[derive(Debug, Default)]
struct Outcome {
    right: f64,
    runs: f64,
    builds: f64,
}

const CONFIDENCE: f64 = 0.95;
const MOST: usize = 1000;

fn simulate(setting: Setting, trials: u64, seed: Seed) -> Outcome {
    let mut sum = Outcome::default();
    for trial in 0..trials {
        let mut random = seed.block(trial);
        let change = random.random_range(1..setting.commits);
        let mut measure = |commit: usize| -> f64 {
            normal(&mut random)
                + if commit >= change {
                    as_f64(setting.shift)
                } else {
                    0.0
                }
        };
        let mut search = Bisection::new(setting.commits);
        let last = setting.commits - 1;
        for _ in 0..setting.ends {
            search.add(0, measure(0));
            search.add(last, measure(last));
        }
        while search.suspects().probability < CONFIDENCE && search.measurements() < MOST {
            let next = search.next_visit(setting.build);
            for _ in 0..next.instances {
                search.add(next.commit, measure(next.commit));
            }
        }
        let found = search.suspects();
        let built = (0..setting.commits).filter(|it| !search.logs(*it).is_empty());
        sum.right += f64::from(u8::from(found.last == change && found.first == change));
        sum.runs += as_f64(search.measurements());
        sum.builds += as_f64(built.count());
    }
    let trials = as_f64(usize::try_from(trials).unwrap());
    Outcome {
        right: sum.right / trials,
        runs: sum.runs / trials,
        builds: sum.builds / trials,
    }
}

/// Information per measurement in bits, for shifts of 1, 2 and 3 standard deviations.
const CAPACITY: [f64; 3] = [0.1607, 0.4859, 0.7600];

fn report(settings: &[Setting], trials: u64) -> Vec<(Outcome, f64)> {
    let mut found = Vec::new();
    for setting in settings {
        let outcome = simulate(*setting, trials, Seed(21));
        let bound = as_f64(setting.commits).log2() / CAPACITY[setting.shift - 1];
        let times = outcome.runs / bound;
        show(&format!(
            "{:>5} commits, {} σ, ends {:>2}, build {:>2}: right {:.1} %, {:.1} runs ({times:.2} × the bound), {:.1} builds (plain bisect {:.0})",
            setting.commits,
            setting.shift,
            setting.ends,
            setting.build,
            100.0 * outcome.right,
            outcome.runs,
            outcome.builds,
            as_f64(setting.commits).log2() + 1.0,
        ));
        found.push((outcome, times));
    }
    found
}

fn setting(commits: usize, shift: usize, ends: usize, build: f64) -> Setting {
    Setting {
        commits,
        shift,
        ends,
        build,
    }
}

#[test]
fn a_bisection_is_right_as_often_as_it_says() {
    let found = report(&[setting(64, 2, 8, 0.0)], 200);
    let (outcome, times) = &found[0];
    assert!((0.90..=0.99).contains(&outcome.right), "{outcome:?}");
    assert!(*times < 3.2, "{outcome:?}");
}

#[test]
#[ignore = "minutes"]
fn bisections_of_64_and_1024_commits() {
    let settings = [
        setting(64, 1, 30, 0.0),
        setting(64, 2, 8, 0.0),
        setting(64, 3, 4, 0.0),
        setting(1024, 1, 16, 0.0),
        setting(1024, 2, 8, 0.0),
        setting(1024, 3, 4, 0.0),
        setting(64, 2, 8, 3.0),
        setting(1024, 1, 16, 3.0),
        setting(1024, 2, 8, 3.0),
        setting(1024, 3, 4, 3.0),
        setting(1024, 2, 8, 10.0),
    ];
    for (outcome, _) in report(&settings, 400) {
        assert!((0.93..=1.0).contains(&outcome.right), "{outcome:?}");
    }
}
