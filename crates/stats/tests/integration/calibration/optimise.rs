//! How good a setting is found in how many runs: the model, random search, and one factor at a time.

use lapwing_stats::Seed;
use lapwing_stats::design::{DesignFactor, DesignSpace};
use lapwing_stats::optimise::{OptimisationOptions, next_runs};
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::noise::normal;
use super::rounds::{average, show};

/// Numbers of runs at which the regret is noted.
const CHECKPOINTS: [usize; 4] = [20, 30, 45, 60];

/// A system whose logarithm of cost has main effects, some pairs that save the same, and a few triples that no model
/// of pairs knows.
struct RandomSystem {
    space: DesignSpace,
    main: Vec<f64>,
    groups: Vec<(Vec<usize>, f64)>,
    lowest: f64,
    noise: f64,
}

impl RandomSystem {
    fn new(random: &mut impl Rng, factors: usize, noise: f64, constraints: usize) -> Self {
        let mut pick = |most: usize| (random.random::<u32>() as usize) % most;
        let mut forbidden = Vec::new();
        for _ in 0..constraints {
            let (one, step) = (pick(factors), 1 + pick(factors - 1));
            forbidden.push(vec![(one, 1), ((one + step) % factors, 1)]);
        }
        let mut groups = Vec::new();
        for size in [2, 2, 2, 2, 3] {
            let first = pick(factors);
            groups.push((
                (0..size)
                    .map(|at| (first + at * (1 + pick(2))) % factors)
                    .collect::<Vec<usize>>(),
                0.0,
            ));
        }
        let main: Vec<f64> = (0..factors)
            .map(|at| {
                if at % 2 == 0 {
                    0.2 * normal(random)
                } else {
                    0.03 * normal(random)
                }
            })
            .collect();
        for group in &mut groups {
            group.1 = 0.15 * normal(random);
        }
        let space = DesignSpace::new(vec![2; factors], forbidden).unwrap();
        let mut system = Self {
            space,
            main,
            groups,
            lowest: 0.0,
            noise,
        };
        let all = system.space.feasible_runs(usize::MAX).unwrap();
        system.lowest = all
            .iter()
            .map(|run| system.cost(run))
            .fold(f64::INFINITY, f64::min);
        system
    }

    fn cost(&self, run: &[usize]) -> f64 {
        let main: f64 = run
            .iter()
            .zip(&self.main)
            .filter(|(level, _)| **level == 1)
            .map(|(_, effect)| effect)
            .sum();
        let complete = |group: &&(Vec<usize>, f64)| group.0.iter().all(|factor| run[*factor] == 1);
        main + self
            .groups
            .iter()
            .filter(complete)
            .map(|group| group.1)
            .sum::<f64>()
    }

    fn measure(&self, run: &[usize], random: &mut impl Rng) -> f64 {
        self.cost(run) + self.noise * normal(random)
    }

    fn regret(&self, run: &[usize]) -> f64 {
        self.cost(run) - self.lowest
    }
}

/// Regrets at the checkpoints of a search that asks for runs and recommends one.
fn by_model(system: &RandomSystem, random: &mut Xoshiro256PlusPlus) -> ([f64; 4], f64) {
    let factors = system.main.len();
    let model = vec![DesignFactor::Levels(2); factors];
    let options = OptimisationOptions {
        candidates: 400,
        ..OptimisationOptions::default()
    };
    let (mut measured, mut regrets, mut stopped) = (Vec::new(), [0.0; 4], None);
    for (at, checkpoint) in CHECKPOINTS.iter().enumerate() {
        loop {
            let step = next_runs(
                &system.space,
                &model,
                &measured,
                &[],
                &options,
                Seed(random.random()),
            )
            .unwrap();
            if step.is_done && stopped.is_none() {
                stopped = Some(measured.len());
            }
            if measured.len() >= *checkpoint {
                regrets[at] = system.regret(&step.best.unwrap().0);
                break;
            }
            let run = step.proposed[0].run.clone();
            let response = system.measure(&run, random);
            measured.push((run, response));
        }
    }
    (
        regrets,
        lapwing_stats::as_f64(stopped.unwrap_or(CHECKPOINTS[3])),
    )
}

/// Random runs; the lowest measured one is recommended.
fn at_random(system: &RandomSystem, random: &mut Xoshiro256PlusPlus) -> [f64; 4] {
    let all = system.space.feasible_runs(usize::MAX).unwrap();
    let mut best = (f64::INFINITY, all[0].clone());
    let mut regrets = [0.0; 4];
    for count in 1..=CHECKPOINTS[3] {
        let run = all[(random.random::<u32>() as usize) % all.len()].clone();
        let response = system.measure(&run, random);
        if response < best.0 {
            best = (response, run);
        }
        if let Some(at) = CHECKPOINTS
            .iter()
            .position(|checkpoint| *checkpoint == count)
        {
            regrets[at] = system.regret(&best.1);
        }
    }
    regrets
}

/// From no factor on, one is changed after the other, again and again, and kept if the run was faster.
fn one_at_a_time(system: &RandomSystem, random: &mut Xoshiro256PlusPlus) -> [f64; 4] {
    let mut run = vec![0; system.main.len()];
    let mut response = system.measure(&run, random);
    let mut regrets = [0.0; 4];
    let mut count = 1;
    for factor in (0..run.len()).cycle().take(10_000) {
        let mut other = run.clone();
        other[factor] = 1 - other[factor];
        if !system.space.is_feasible(&other) {
            continue;
        }
        let own = system.measure(&other, random);
        if own < response {
            (run, response) = (other, own);
        }
        count += 1;
        if let Some(at) = CHECKPOINTS
            .iter()
            .position(|checkpoint| *checkpoint == count)
        {
            regrets[at] = system.regret(&run);
        }
        if count == CHECKPOINTS[3] {
            break;
        }
    }
    regrets
}

fn regrets(name: &str, factors: usize, noise: f64, constraints: usize, rounds: u32) -> [f64; 13] {
    average(name, rounds, |random| {
        let system = RandomSystem::new(random, factors, noise, constraints);
        let (model, stopped) = by_model(&system, random);
        let (chance, single) = (at_random(&system, random), one_at_a_time(&system, random));
        let mut all = [stopped; 13];
        for (at, regret) in model.into_iter().chain(chance).chain(single).enumerate() {
            all[at] = regret;
        }
        all
    })
}

#[test]
fn the_model_finds_better_settings_than_chance_and_one_factor_at_a_time() {
    let regrets = regrets("small search", 8, 0.05, 1, 20);
    assert!(
        regrets[2] < 0.5 * regrets[6] && regrets[2] < regrets[10],
        "{regrets:?}"
    );
}

#[test]
#[ignore = "minutes: prints tables for docs/calibration.md"]
fn table_of_regrets() {
    show(
        "| factors | noise | constraints | search | 20 runs | 30 | 45 | 60 | done after |\n|--:|--:|--:|---|--:|--:|--:|--:|--:|",
    );
    for (factors, noise, constraints) in [
        (8, 0.02, 0),
        (8, 0.1, 0),
        (12, 0.02, 0),
        (12, 0.05, 2),
        (12, 0.1, 2),
    ] {
        let all = regrets("search", factors, noise, constraints, 100);
        for (search, own) in ["model", "random", "one factor at a time"]
            .iter()
            .zip(all.chunks(4))
        {
            let percent: Vec<String> = own
                .iter()
                .map(|regret| format!("{:.1} %", 100.0 * regret.exp_m1()))
                .collect();
            let done = if *search == "model" {
                format!("{:.0}", all[12])
            } else {
                String::new()
            };
            let line = format!(
                "| {factors} | {:.0} % | {constraints} | {search} | {} | {done} |",
                100.0 * noise,
                percent.join(" | ")
            );
            show(&line);
        }
    }
}
