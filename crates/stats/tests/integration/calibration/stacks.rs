//! How good a stack is found in how many runs: the model, random search, and the ways of Thoth's adviser; and how
//! often the model's intervals are right.

use std::collections::BTreeMap;

use lapwing_stats::design::DesignSpace;
use lapwing_stats::optimise::{
    GoalRuns, GoalSurface, OptimisationOptions, OrderedSurface, SurfaceFactor, SurfacePrediction,
    candidate_settings, next_settings,
};
use lapwing_stats::{Confidence, Seed, as_f64};
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::noise::normal;
use super::rounds::show;

/// Numbers of runs at which the regret is noted.
const CHECKPOINTS: [usize; 5] = [10, 20, 30, 45, 60];

/// A stack within so much of the best one is found.
const NEAR: f64 = 0.02;

/// Stacks whose logarithm of cost changes with some versions, by pairs of generations of versions, and a little by
/// itself.
struct Landscape {
    factors: Vec<SurfaceFactor>,
    space: DesignSpace,
    costs: Vec<(Vec<usize>, f64)>,
    lowest: f64,
    noise: f64,
}

fn pick(random: &mut impl Rng, most: usize) -> usize {
    (random.random::<u32>() as usize) % most
}

impl Landscape {
    fn new(random: &mut impl Rng, levels: &[usize], noise: f64) -> Self {
        let main: Vec<Vec<f64>> = (levels.iter().enumerate())
            .map(|(factor, count)| {
                let size = if factor % 2 == 0 { 0.08 } else { 0.03 };
                let mut at = 0.0;
                let mut step = || {
                    let jump = if random.random::<f64>() < 0.3 {
                        size
                    } else {
                        0.005
                    };
                    at += jump * normal(random);
                    at
                };
                (0..*count).map(|_| step()).collect()
            })
            .collect();
        // From one version of each of two packages on, both together cost something else.
        let pairs: Vec<([(usize, usize); 2], f64)> = (0..levels.len())
            .map(|_| {
                let one = pick(random, levels.len());
                let other = (one + 1 + pick(random, levels.len() - 1)) % levels.len();
                let from = [one, other].map(|at| (at, 1 + pick(random, levels[at] - 1)));
                (from, 0.06 * normal(random))
            })
            .collect();
        let space = DesignSpace::new(levels.to_vec(), Vec::new()).unwrap();
        let runs = space.feasible_runs(usize::MAX).unwrap();
        let costs: Vec<(Vec<usize>, f64)> = (runs.into_iter())
            .map(|run| {
                let own: f64 = run.iter().zip(&main).map(|(level, own)| own[*level]).sum();
                let holds =
                    |from: &[(usize, usize); 2]| from.iter().all(|(at, level)| run[*at] >= *level);
                let both: f64 = pairs
                    .iter()
                    .filter(|(from, _)| holds(from))
                    .map(|(_, it)| it)
                    .sum();
                (run, own + both + 0.002 * normal(random))
            })
            .collect();
        let lowest = costs.iter().map(|own| own.1).fold(f64::INFINITY, f64::min);
        Self {
            factors: levels
                .iter()
                .map(|count| SurfaceFactor::Ordered(*count))
                .collect(),
            space,
            costs,
            lowest,
            noise,
        }
    }

    fn regret(&self, run: &[usize]) -> f64 {
        let place = self.costs.binary_search_by(|own| own.0.as_slice().cmp(run));
        self.costs[place.unwrap()].1 - self.lowest
    }

    fn measure(&self, run: &[usize], random: &mut impl Rng) -> f64 {
        self.regret(run) + self.noise * normal(random)
    }

    fn random_run(&self, random: &mut impl Rng) -> Vec<usize> {
        self.costs[pick(random, self.costs.len())].0.clone()
    }

    fn with_block(&self) -> Vec<SurfaceFactor> {
        self.factors
            .iter()
            .copied()
            .chain([SurfaceFactor::Block(1)])
            .collect()
    }
}

/// The regret of the recommended stack after each run.
#[derive(Default)]
struct Course(Vec<f64>);

impl Course {
    /// Returns after how many runs a stack was found; more than all if never.
    fn found(&self) -> f64 {
        let hit = self.0.iter().position(|regret| *regret <= NEAR);
        hit.map_or(f64::INFINITY, |at| as_f64(at + 1))
    }

    fn at(&self, runs: usize) -> f64 {
        self.0[(runs - 1).min(self.0.len() - 1)]
    }
}

fn by_model(landscape: &Landscape, random: &mut Xoshiro256PlusPlus, runs: usize) -> Course {
    let factors = landscape.with_block();
    let mut goal = [GoalRuns {
        weight: 1.0,
        runs: Vec::new(),
    }];
    let options = OptimisationOptions::default();
    let mut course = Course::default();
    let mut surface: Option<GoalSurface> = None;
    for _ in 0..runs {
        let measured: Vec<Vec<usize>> = (goal[0].runs.iter())
            .map(|(run, _)| run[..run.len() - 1].to_vec())
            .collect();
        let seed = Seed(random.random());
        let candidates =
            candidate_settings(&landscape.space, surface.as_ref(), &measured, 1_000, seed);
        let step = next_settings(&factors, &goal, 0, &candidates, &options, seed).unwrap();
        let run = step.proposed[0].run.clone();
        let response = landscape.measure(&run, random);
        goal[0]
            .runs
            .push((run.iter().copied().chain([0]).collect(), response));
        surface = GoalSurface::most_likely(&factors, &goal, 0);
        let best = surface.as_ref().and_then(|surface| {
            let all = measured.iter().chain([&run]);
            all.min_by(|one, other| {
                surface
                    .predict(one)
                    .mean
                    .total_cmp(&surface.predict(other).mean)
            })
        });
        course.0.push(landscape.regret(best.unwrap_or(&run)));
    }
    course
}

/// The stack with the lowest response is recommended.
struct LowestMeasured<'l> {
    landscape: &'l Landscape,
    known: BTreeMap<Vec<usize>, f64>,
    best: (f64, Vec<usize>),
    course: Course,
}

impl<'l> LowestMeasured<'l> {
    fn new(landscape: &'l Landscape) -> Self {
        Self {
            landscape,
            known: BTreeMap::new(),
            best: (f64::INFINITY, Vec::new()),
            course: Course::default(),
        }
    }

    /// Measures a stack that was not measured yet: what is known costs no run.
    fn measure(&mut self, run: &[usize], random: &mut impl Rng) -> f64 {
        if let Some(response) = self.known.get(run) {
            return *response;
        }
        let response = self.landscape.measure(run, random);
        self.known.insert(run.to_vec(), response);
        if response < self.best.0 {
            self.best = (response, run.to_vec());
        }
        self.course.0.push(self.landscape.regret(&self.best.1));
        response
    }

    fn is_over(&self, runs: usize) -> bool {
        self.course.0.len() >= runs.min(self.landscape.costs.len())
    }
}

fn at_random(landscape: &Landscape, random: &mut impl Rng, runs: usize) -> Course {
    let mut search = LowestMeasured::new(landscape);
    while !search.is_over(runs) {
        let run = landscape.random_run(random);
        search.measure(&run, random);
    }
    search.course
}

/// A stack some of whose packages have no version yet.
type PartialStack = Vec<Option<usize>>;

/// The score of a partial stack: minus the mean response of the measured stacks that contain it, or of all.
fn score(known: &BTreeMap<Vec<usize>, f64>, partial: &PartialStack) -> f64 {
    let fits = |run: &Vec<usize>| {
        partial
            .iter()
            .zip(run)
            .all(|(own, level)| own.is_none_or(|it| it == *level))
    };
    let own: Vec<f64> = known
        .iter()
        .filter(|(run, _)| fits(run))
        .map(|(_, it)| *it)
        .collect();
    let all: Vec<f64> = known.values().copied().collect();
    -lapwing_stats::mean(&own)
        .or_else(|| lapwing_stats::mean(&all))
        .unwrap_or(0.0)
}

/// Adaptive simulated annealing over a beam of partial stacks, as Thoth's adviser has it: a random neighbour instead
/// of the top with probability exp((s_n − s_top) / T), where T falls by coefᵏ, k = (finished stacks + ln(iteration +
/// 1)) / limit. The first temperature, the limit in Thoth, is scaled to the scores.
fn by_annealing(landscape: &Landscape, random: &mut impl Rng, runs: usize) -> Course {
    const BEAM: usize = 100;
    let levels: Vec<usize> = landscape.factors.iter().map(|it| it.levels()).collect();
    let mut search = LowestMeasured::new(landscape);
    let empty: PartialStack = vec![None; levels.len()];
    let mut beam = vec![empty.clone()];
    let (mut temperature, mut finished, mut iteration) = (0.1_f64, 0_usize, 0_usize);
    while !search.is_over(runs) && iteration < 100_000 {
        iteration += 1;
        let k = (as_f64(finished) + as_f64(iteration + 1).ln()) / as_f64(runs);
        temperature *= 0.98_f64.powf(k);
        if beam.is_empty() {
            beam.push(empty.clone());
        }
        let scores: Vec<f64> = beam.iter().map(|own| score(&search.known, own)).collect();
        let top = (0..beam.len())
            .max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
            .unwrap();
        let neighbour = pick(random, beam.len());
        let accepted = ((scores[neighbour] - scores[top]) / temperature).exp();
        let at = if random.random::<f64>() < accepted {
            neighbour
        } else {
            top
        };
        let own = beam.swap_remove(at);
        let open: Vec<usize> = (0..own.len()).filter(|at| own[*at].is_none()).collect();
        let dependency = open[pick(random, open.len())];
        for level in 0..levels[dependency] {
            let mut next = own.clone();
            next[dependency] = Some(level);
            if open.len() > 1 {
                beam.push(next);
            } else if !search.is_over(runs) {
                let run: Vec<usize> = next.into_iter().flatten().collect();
                search.measure(&run, random);
                finished += 1;
            }
        }
        // The beam keeps the highest scores.
        if beam.len() > BEAM {
            let mut scored: Vec<(f64, PartialStack)> = beam
                .into_iter()
                .map(|own| (score(&search.known, &own), own))
                .collect();
            scored.sort_by(|one, other| other.0.total_cmp(&one.0));
            scored.truncate(BEAM);
            beam = scored.into_iter().map(|(_, own)| own).collect();
        }
    }
    search.course
}

/// Temporal differences, as Thoth's adviser has it: the mean reward of each version, that is the change of the score
/// when it was taken; with the annealed probability a random version, else the one with the highest mean reward.
fn by_temporal_differences(landscape: &Landscape, random: &mut impl Rng, runs: usize) -> Course {
    let levels: Vec<usize> = landscape.factors.iter().map(|it| it.levels()).collect();
    let mut search = LowestMeasured::new(landscape);
    let mut rewards: Vec<Vec<(f64, f64)>> = levels
        .iter()
        .map(|count| vec![(0.0, 0.0); *count])
        .collect();
    let (mut temperature, mut finished, mut iteration) = (1.0_f64, 0_usize, 0_usize);
    while !search.is_over(runs) && iteration < 20_000 {
        let mut own: PartialStack = vec![None; levels.len()];
        let mut taken = Vec::new();
        let mut before = score(&search.known, &own);
        while own.contains(&None) {
            iteration += 1;
            let k = (as_f64(finished) + as_f64(iteration + 1).ln()) / as_f64(runs);
            temperature *= 0.98_f64.powf(k);
            let open: Vec<usize> = (0..own.len()).filter(|at| own[*at].is_none()).collect();
            let mean = |(at, level): (usize, usize)| {
                let (sum, count) = rewards[at][level];
                if count > 0.0 { sum / count } else { 0.0 }
            };
            let (at, level) = if random.random::<f64>() < temperature.max(0.05) {
                let at = open[pick(random, open.len())];
                (at, pick(random, levels[at]))
            } else {
                let all = open
                    .iter()
                    .flat_map(|at| (0..levels[*at]).map(|level| (*at, level)));
                all.max_by(|one, other| mean(*one).total_cmp(&mean(*other)))
                    .unwrap()
            };
            own[at] = Some(level);
            let after = score(&search.known, &own);
            taken.push(((at, level), after - before));
            before = after;
        }
        let run: Vec<usize> = own.into_iter().flatten().collect();
        let last = -search.measure(&run, random) - before;
        finished += 1;
        for ((at, level), reward) in taken {
            // What the finished stack was better than expected counts for all that it is made of.
            rewards[at][level].0 += reward + last;
            rewards[at][level].1 += 1.0;
        }
    }
    search.course
}

const SEARCHES: [&str; 4] = ["explore", "random", "annealing", "temporal differences"];

/// Returns the courses of all searches on one landscape.
fn courses(
    random: &mut Xoshiro256PlusPlus,
    levels: &[usize],
    noise: f64,
    runs: [usize; 2],
) -> [Course; 4] {
    let landscape = Landscape::new(random, levels, noise);
    [
        by_model(&landscape, random, runs[0]),
        at_random(&landscape, random, runs[1]),
        by_annealing(&landscape, random, runs[1]),
        by_temporal_differences(&landscape, random, runs[1]),
    ]
}

/// Returns what experiments give, each with a random stream of its own.
fn each_round<T: Send>(
    name: &str,
    rounds: u64,
    experiment: impl Fn(&mut Xoshiro256PlusPlus) -> T + Sync,
) -> Vec<T> {
    let seed = Seed(7).split(name);
    let experiment = &experiment;
    let half = move |first: u64| {
        (first..rounds)
            .step_by(2)
            .map(|at| experiment(&mut seed.block(at)))
            .collect::<Vec<T>>()
    };
    let halves = std::thread::scope(|scope| {
        let [one, other] = [0, 1].map(|first| scope.spawn(move || half(first)));
        [one.join().unwrap(), other.join().unwrap()]
    });
    halves.into_iter().flatten().collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the 95 % interval of a statistic of rounds by the bootstrap of rounds.
fn over_rounds(rounds: usize, statistic: impl Fn(&[usize]) -> f64) -> [f64; 2] {
    let mut random = Seed(7).block(0);
    let mut all: Vec<f64> = (0..1000)
        .map(|_| {
            let drawn: Vec<usize> = (0..rounds).map(|_| pick(&mut random, rounds)).collect();
            statistic(&drawn)
        })
        .collect();
    all.sort_by(f64::total_cmp);
    [all[25], all[974]]
}

#[test]
fn exploring_finds_a_near_stack_in_fewer_runs_than_chance() {
    let all = each_round("small stacks", 8, |random| {
        courses(random, &[3, 6, 6], 0.01, [25, 108])
    });
    let [model, chance] = [0, 1].map(|at| median(all.iter().map(|own| own[at].found()).collect()));
    assert!(model <= 0.5 * chance, "{model} against {chance}");
}

#[test]
#[ignore = "minutes: prints tables for docs/calibration.md"]
fn table_of_stacks() {
    show(
        "| stacks | noise | search | 10 runs | 20 | 30 | 45 | 60 | within 2 % after | half the runs of random |\n|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    );
    for (levels, noise) in [
        (vec![3, 6, 6], 0.01),
        (vec![4, 8, 8, 6], 0.01),
        (vec![4, 8, 8, 6], 0.03),
        (vec![4, 10, 10, 8, 6], 0.01),
        (vec![4, 10, 10, 8, 6], 0.03),
    ] {
        let stacks: usize = levels.iter().product();
        let all = each_round("stacks", 100, |random| {
            courses(random, &levels, noise, [60, 400])
        });
        for (search, name) in SEARCHES.iter().enumerate() {
            let percent: Vec<String> = (CHECKPOINTS.iter())
                .map(|at| {
                    let regrets: Vec<f64> = all.iter().map(|own| own[search].at(*at)).collect();
                    format!(
                        "{:.1} %",
                        100.0 * lapwing_stats::mean(&regrets).unwrap().exp_m1()
                    )
                })
                .collect();
            let found = |search: usize, rounds: &[usize]| {
                median(rounds.iter().map(|at| all[*at][search].found()).collect())
            };
            let everyone: Vec<usize> = (0..all.len()).collect();
            let share = |rounds: &[usize]| {
                let is_quick = |at: &&usize| {
                    let [own, chance] = [search, 1].map(|it| all[**at][it].found());
                    own.is_finite() && own <= 0.5 * chance
                };
                let wins = rounds.iter().filter(is_quick).count();
                100.0 * as_f64(wins) / as_f64(rounds.len())
            };
            let [low, high] = over_rounds(all.len(), |rounds| found(search, rounds));
            let [least, most] = over_rounds(all.len(), share);
            show(&format!(
                "| {stacks} | {:.0} % | {name} | {} | {:.0} [{low:.0}, {high:.0}] | {:.0} % [{least:.0}, {most:.0}] |",
                100.0 * noise,
                percent.join(" | "),
                found(search, &everyone),
                share(&everyone),
            ));
        }
    }
}

/// Shares of the intervals that hold the truth: of unmeasured stacks, of measured ones, and of the difference of two
/// stacks.
fn coverage(name: &str, rounds: u64, runs: usize, noise: f64) -> [f64; 3] {
    let all = each_round(name, rounds, |random| {
        let landscape = Landscape::new(random, &[4, 8, 8, 6], noise);
        let mut measured = Vec::new();
        for _ in 0..runs {
            let run = landscape.random_run(random);
            for _ in 0..1 + pick(random, 3) {
                measured.push((run.clone(), landscape.measure(&run, random)));
            }
        }
        let surface = OrderedSurface::new(&landscape.factors, &measured).unwrap();
        let reach = Confidence::P95.t_quantile(surface.freedom()).unwrap();
        let mut holds = [0.0; 3];
        for _ in 0..20 {
            let (one, other) = (landscape.random_run(random), landscape.random_run(random));
            let known = &measured[pick(random, measured.len())].0;
            let own = [&one, known].map(|run| {
                let own = surface.predict(run);
                (own.mean - landscape.regret(run)).abs() <= reach * own.deviation
            });
            let gap = surface.contrast(&[(1.0, &one), (-1.0, &other)]);
            let truth = landscape.regret(&one) - landscape.regret(&other);
            let is_held = (gap.mean - truth).abs() <= reach * gap.deviation;
            for (share, held) in holds.iter_mut().zip([own[0], own[1], is_held]) {
                *share += f64::from(u8::from(held)) / 20.0;
            }
        }
        holds
    });
    [0, 1, 2].map(|at| {
        lapwing_stats::mean(&all.iter().map(|own| own[at]).collect::<Vec<f64>>()).unwrap()
    })
}

#[test]
fn most_intervals_of_stacks_hold_the_truth() {
    let shares = coverage("intervals", 40, 25, 0.01);
    assert!(shares.iter().all(|share| *share > 0.88), "{shares:?}");
}

#[test]
#[ignore = "minutes: prints tables for docs/calibration.md"]
fn table_of_intervals() {
    show("| stacks measured | noise | unmeasured | measured | difference |\n|--:|--:|--:|--:|--:|");
    for (runs, noise) in [
        (12, 0.01),
        (12, 0.03),
        (25, 0.01),
        (25, 0.03),
        (60, 0.01),
        (60, 0.03),
    ] {
        let shares = coverage("intervals", 400, runs, noise).map(|it| format!("{it:.3}"));
        show(&format!(
            "| {runs} | {:.0} % | {} |",
            100.0 * noise,
            shares.join(" | ")
        ));
    }
}

/// A kind of simulated stacks of [`PACKAGES`].
struct StackSet {
    /// Stacks measured, of 1,440.
    stacks: usize,
    /// Runs of each.
    repeats: usize,
    noise: f64,
    /// The standard deviation of what each pair of versions changes.
    pairs: f64,
    /// The standard deviation of what a stack has of its own.
    own: f64,
}

/// The numbers of versions of five packages: 23 of 1,440 stacks.
const PACKAGES: [usize; 5] = [6, 5, 4, 4, 3];

/// Returns all stacks with their costs: changes by versions and pairs of versions, each independent of all others.
fn independent_costs(random: &mut impl Rng, set: &StackSet) -> Vec<(Vec<usize>, f64)> {
    let mut draws = |count: usize, deviation: f64| -> Vec<f64> {
        (0..count).map(|_| deviation * normal(random)).collect()
    };
    let mains: Vec<Vec<f64>> = PACKAGES.iter().map(|own| draws(*own, 0.04)).collect();
    let pairs: Vec<Vec<f64>> = (0..25)
        .map(|at| draws(PACKAGES[at / 5] * PACKAGES[at % 5], set.pairs))
        .collect();
    let space = DesignSpace::new(PACKAGES.to_vec(), Vec::new()).unwrap();
    let cost = |run: &[usize]| -> f64 {
        let both = (0..25).filter(|at| at / 5 < at % 5).map(|at| {
            let (one, other) = (at / 5, at % 5);
            pairs[at][run[one] * PACKAGES[other] + run[other]]
        });
        let alone = run.iter().zip(&mains).map(|(level, own)| own[*level]);
        alone.sum::<f64>() + both.sum::<f64>()
    };
    let runs = space.feasible_runs(usize::MAX).unwrap();
    (runs.into_iter())
        .map(|run| {
            let own = cost(&run) + set.own * normal(random);
            (run, own)
        })
        .collect()
}

/// Of the intervals of the ten best stacks the share that holds the truth, whether that of the best one does, and by
/// how much it is above its expected cost.
fn advised(random: &mut Xoshiro256PlusPlus, set: &StackSet) -> [f64; 3] {
    let mut costs = independent_costs(random, set);
    for at in (1..costs.len()).rev() {
        costs.swap(at, pick(random, at + 1));
    }
    let factors: Vec<SurfaceFactor> = (PACKAGES.iter())
        .map(|count| SurfaceFactor::Ordered(*count))
        .chain([SurfaceFactor::Block(1)])
        .collect();
    let mut runs = Vec::new();
    for (run, cost) in &costs[..set.stacks] {
        for _ in 0..set.repeats {
            let run = run.iter().copied().chain([0]).collect();
            runs.push((run, cost + (set.noise * normal(random)).ln_1p()));
        }
    }
    let surface = GoalSurface::new(&factors, &[GoalRuns { weight: 1.0, runs }], 0).unwrap();
    let reach = Confidence::P95.t_quantile(surface.freedom()).unwrap();
    let mut ranked: Vec<(SurfacePrediction, f64)> = (costs.iter())
        .map(|(run, cost)| (surface.predict(run), *cost))
        .collect();
    ranked.sort_by(|one, other| one.0.mean.total_cmp(&other.0.mean));
    let holds = |(own, cost): &(SurfacePrediction, f64)| {
        f64::from(u8::from((own.mean - cost).abs() <= reach * own.deviation))
    };
    let all: Vec<f64> = ranked[..10].iter().map(holds).collect();
    [
        lapwing_stats::mean(&all).unwrap(),
        all[0],
        ranked[0].1 - ranked[0].0.mean,
    ]
}

fn table_of_advised(rounds: u64, sets: &[StackSet]) {
    show(
        "| stacks measured | runs of each | noise | pairs | own | ten best | advised | its cost above the expected |\n|--:|--:|--:|--:|--:|--:|--:|--:|",
    );
    for set in sets {
        let all = each_round("advised", rounds, |random| advised(random, set));
        let [ten, one, above] = [0, 1, 2].map(|at| {
            lapwing_stats::mean(&all.iter().map(|own| own[at]).collect::<Vec<f64>>()).unwrap()
        });
        show(&format!(
            "| {} | {} | {:.0} % | {:.0} % | {:.0} % | {ten:.3} | {one:.3} | {:+.2} % |",
            set.stacks,
            set.repeats,
            100.0 * set.noise,
            100.0 * set.pairs,
            100.0 * set.own,
            100.0 * above.exp_m1(),
        ));
    }
}

#[test]
#[ignore = "minutes: prints tables for docs/calibration.md"]
fn table_of_advised_stacks() {
    let set = |stacks, repeats, noise, pairs, own| StackSet {
        stacks,
        repeats,
        noise,
        pairs,
        own,
    };
    table_of_advised(
        100,
        &[
            set(360, 1, 0.02, 0.0, 0.0),
            set(360, 1, 0.02, 0.01, 0.0),
            set(360, 1, 0.02, 0.02, 0.0),
            set(360, 1, 0.05, 0.02, 0.0),
            set(360, 2, 0.02, 0.01, 0.0),
            set(1440, 1, 0.02, 0.0, 0.0),
            set(1440, 1, 0.02, 0.01, 0.0),
            set(1440, 1, 0.02, 0.02, 0.0),
            set(1440, 1, 0.05, 0.02, 0.0),
            set(1440, 2, 0.02, 0.01, 0.0),
            set(360, 2, 0.02, 0.01, 0.01),
            set(1440, 2, 0.02, 0.01, 0.01),
        ],
    );
}
