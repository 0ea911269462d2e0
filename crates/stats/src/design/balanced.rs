//! Random designs in which levels and pairs of levels occur about equally often.

use super::space::DesignSpace;
use crate::Seed;

/// Of so many random runs the one that balances best is taken.
const TRIES: usize = 40;

/// Returns so many random feasible runs in which every level, and every pair of levels of two factors, occurs about
/// equally often.
///
/// Run by run: of 40 random feasible ones the one with the least Σ counts of the levels and pairs of levels that it
/// has, weighted by the number of levels. Unlike a D-optimal design it needs no model, can be continued at any time
/// (`existing` runs count), and supports deltas of many sets.
///
/// Empty if no run is feasible.
///
/// ```
/// use lapwing_stats::Seed;
/// use lapwing_stats::design::{DesignSpace, balanced_runs};
/// let runs = balanced_runs(&DesignSpace::treatments(10), 40, &[], Seed(7));
/// let present = |factor: usize| runs.iter().filter(|run| run[factor] == 1).count();
/// assert!((0..10).all(|factor| (18..=22).contains(&present(factor))));
/// ```
pub fn balanced_runs(
    space: &DesignSpace,
    count: usize,
    existing: &[Vec<usize>],
    seed: Seed,
) -> Vec<Vec<usize>> {
    let mut counts = LevelCounts::new(space.levels());
    for run in existing.iter().filter(|run| space.is_feasible(run)) {
        counts.add(run);
    }
    let mut random = seed.block(0);
    let mut runs = Vec::with_capacity(count);
    while runs.len() < count {
        let tries = (0..TRIES).filter_map(|_| space.random_run(&mut random));
        let Some(run) = tries.min_by_key(|run| counts.excess(run)) else {
            break;
        };
        counts.add(&run);
        runs.push(run);
    }
    runs
}

/// How often each level, and each pair of levels, has occurred.
struct LevelCounts {
    levels: Vec<usize>,
    starts: Vec<usize>,
    width: usize,
    counts: Vec<usize>,
}

impl LevelCounts {
    fn new(levels: &[usize]) -> Self {
        let mut width = 0;
        let start = |count: &usize| {
            width += count;
            width - count
        };
        let starts = levels.iter().map(start).collect();
        Self {
            levels: levels.to_vec(),
            starts,
            width,
            counts: vec![0; width * width],
        }
    }

    fn each(&self, run: &[usize], mut visit: impl FnMut(usize, usize)) {
        for (one, level) in run.iter().enumerate() {
            let row = (self.starts[one] + level) * self.width;
            for (other, second) in run[..=one].iter().enumerate() {
                // A level of two counts twice as much as one of four, which is rarer by itself.
                let weight = if one == other {
                    self.levels.len()
                } else {
                    self.levels[other]
                };
                visit(row + self.starts[other] + second, self.levels[one] * weight);
            }
        }
    }

    fn add(&mut self, run: &[usize]) {
        let mut counts = std::mem::take(&mut self.counts);
        self.each(run, |at, _| counts[at] += 1);
        self.counts = counts;
    }

    fn excess(&self, run: &[usize]) -> usize {
        let mut sum = 0;
        self.each(run, |at, weight| sum += weight * self.counts[at]);
        sum
    }
}
