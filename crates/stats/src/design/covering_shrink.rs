//! Smaller covering arrays: a run less, and the loss repaired by annealing.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use super::covering_tuples::LevelTuples;
use super::space::DesignSpace;
use crate::as_f64;
use crate::number::choices;
use crate::subset::draw_below;

/// So many looks at combinations may be spent on each run that is to be saved.
const LOOKS: f64 = 2e7;

/// How many more missing combinations are accepted, at first and in the end, about once in three times.
const TEMPERATURES: [f64; 2] = [0.7, 0.1];

/// Returns as few of the runs, changed, as annealing finds to cover the same combinations.
pub(super) fn shrunk(
    space: &DesignSpace,
    tuples: &LevelTuples,
    mut runs: Vec<Vec<usize>>,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Vec<usize>> {
    let per_step =
        2.0 * as_f64(tuples.strength) * choices(space.levels().len() - 1, tuples.strength - 1);
    let steps = (100..100_000_usize)
        .take_while(|steps| as_f64(*steps) * per_step < LOOKS)
        .last()
        .unwrap_or(100);
    while runs.len() > 1 {
        let mut coverage = CoverageCounts::new(tuples, &runs);
        // The run that alone covers fewest.
        let Some(least) = (0..runs.len()).min_by_key(|at| coverage.alone(&runs[*at])) else {
            break;
        };
        let mut fewer = runs.clone();
        coverage.remove(&fewer.swap_remove(least));
        if !anneal(space, &mut coverage, &mut fewer, steps, random) {
            break;
        }
        runs = fewer;
    }
    runs
}

/// Puts random missing combinations into random runs; true as soon as none is missing.
fn anneal(
    space: &DesignSpace,
    coverage: &mut CoverageCounts<'_>,
    runs: &mut [Vec<usize>],
    steps: usize,
    random: &mut Xoshiro256PlusPlus,
) -> bool {
    let [hot, cold] = TEMPERATURES;
    for step in 0..steps {
        let before = coverage.missing.len();
        if before == 0 {
            return true;
        }
        let wanted = coverage.missing[draw_below(before, random)];
        let wanted = coverage.tuples.members(wanted);
        let at = draw_below(runs.len(), random);
        let old = runs[at].clone();
        let mut new = old.clone();
        for (factor, level) in &wanted {
            new[*factor] = *level;
        }
        if !space.is_feasible(&new) {
            continue;
        }
        coverage.change(&mut runs[at], &new);
        let temperature = hot * (cold / hot).powf(as_f64(step) / as_f64(steps));
        let more = as_f64(coverage.missing.len()) - as_f64(before);
        let chance = as_f64(random.next_u64() >> 11) / as_f64(1_u64 << 53);
        if more > 0.0 && chance >= (-more / temperature).exp() {
            coverage.change(&mut runs[at], &old);
        }
    }
    coverage.missing.is_empty()
}

/// How many runs cover each combination, and which of the open ones are missing.
struct CoverageCounts<'a> {
    tuples: &'a LevelTuples,
    counts: Vec<u32>,
    missing: Vec<usize>,
    /// Where a missing combination is in `missing`.
    places: Vec<usize>,
}

impl<'a> CoverageCounts<'a> {
    fn new(tuples: &'a LevelTuples, runs: &[Vec<usize>]) -> Self {
        let total = tuples.is_open.len();
        let missing: Vec<usize> = (0..total).filter(|at| tuples.is_open[*at]).collect();
        let mut places = vec![0; total];
        for (place, at) in missing.iter().enumerate() {
            places[*at] = place;
        }
        let mut coverage = Self {
            tuples,
            counts: vec![0; total],
            missing,
            places,
        };
        for run in runs {
            tuples.each_of(run, |at| coverage.add(at));
        }
        coverage
    }

    fn add(&mut self, at: usize) {
        self.counts[at] += 1;
        if self.counts[at] == 1 && self.tuples.is_open[at] {
            let place = self.places[at];
            self.missing.swap_remove(place);
            if let Some(moved) = self.missing.get(place) {
                self.places[*moved] = place;
            }
        }
    }

    fn take(&mut self, at: usize) {
        self.counts[at] -= 1;
        if self.counts[at] == 0 && self.tuples.is_open[at] {
            self.places[at] = self.missing.len();
            self.missing.push(at);
        }
    }

    fn remove(&mut self, run: &[usize]) {
        let tuples = self.tuples;
        tuples.each_of(run, |at| self.take(at));
    }

    /// Counts the open combinations that only this run covers.
    fn alone(&self, run: &[usize]) -> usize {
        let mut alone = 0;
        self.tuples.each_of(run, |at| {
            alone += usize::from(self.tuples.is_open[at] && self.counts[at] == 1)
        });
        alone
    }

    fn change(&mut self, run: &mut [usize], new: &[usize]) {
        let tuples = self.tuples;
        for factor in 0..run.len() {
            if run[factor] != new[factor] {
                tuples.each_with(run, factor, |at| self.take(at));
                run[factor] = new[factor];
                tuples.each_with(run, factor, |at| self.add(at));
            }
        }
    }
}
