//! The combinations of levels that a covering array has to contain.

use super::space::DesignSpace;
use crate::subset::each_subset;

/// Every t factors with every combination of their levels, and which of them are still to be covered.
#[derive(Debug, Clone)]
pub(super) struct LevelTuples {
    pub(super) strength: usize,
    levels: Vec<usize>,
    /// Binomial coefficients: `ways[n][t]`.
    ways: Vec<Vec<usize>>,
    /// Of each set of factors in the order of its rank, where its combinations begin.
    starts: Vec<usize>,
    /// Of each combination, feasible or not, whether it is still to be covered.
    pub(super) is_open: Vec<bool>,
    /// How many are.
    pub(super) open: usize,
    /// Of each factor and level, how many open combinations have it.
    pub(super) open_by_level: Vec<Vec<usize>>,
}

impl LevelTuples {
    /// Returns all feasible combinations as open; `None` if there are more than `most`.
    pub(super) fn new(space: &DesignSpace, strength: usize, most: usize) -> Option<Self> {
        let levels = space.levels().to_vec();
        let mut ways = vec![vec![0_usize; strength + 1]; levels.len() + 1];
        for all in 0..=levels.len() {
            ways[all][0] = 1;
            for some in 1..=strength.min(all) {
                ways[all][some] = ways[all - 1][some - 1].checked_add(ways[all - 1][some])?;
            }
        }
        let sets = ways[levels.len()][strength];
        if sets > most {
            return None;
        }
        let mut sizes = vec![0; sets];
        let mut tuples = Self {
            strength,
            open_by_level: levels.iter().map(|count| vec![0; *count]).collect(),
            levels,
            ways,
            starts: Vec::new(),
            is_open: Vec::new(),
            open: 0,
        };
        each_subset(tuples.levels.len(), strength, |factors| {
            let counts = factors.iter().map(|factor| tuples.levels[*factor]);
            sizes[tuples.rank(factors)] = counts.product();
        });
        let mut total: usize = 0;
        for size in sizes {
            tuples.starts.push(total);
            total = total.checked_add(size).filter(|total| *total <= most)?;
        }
        tuples.is_open = vec![false; total];
        tuples.open_feasible(space);
        Some(tuples)
    }

    fn open_feasible(&mut self, space: &DesignSpace) {
        each_subset(self.levels.len(), self.strength, |factors| {
            let count: usize = factors.iter().map(|factor| self.levels[*factor]).product();
            for number in 0..count {
                let members = self.members_of(factors, number);
                if space.can_be(&members) {
                    let at = self.starts[self.rank(factors)] + number;
                    self.is_open[at] = true;
                    self.open += 1;
                    for (factor, level) in members {
                        self.open_by_level[factor][level] += 1;
                    }
                }
            }
        });
    }

    /// Returns the factors and levels of a combination by its number among those of the factors, the last factor first.
    fn members_of(&self, factors: &[usize], mut number: usize) -> Vec<(usize, usize)> {
        let members = factors.iter().rev().map(|factor| {
            let level = number % self.levels[*factor];
            number /= self.levels[*factor];
            (*factor, level)
        });
        members.collect()
    }

    /// The number of a sorted set of factors in colexicographic order.
    fn rank(&self, factors: &[usize]) -> usize {
        let factors = factors.iter().enumerate();
        factors.map(|(at, factor)| self.ways[*factor][at + 1]).sum()
    }

    fn position(&self, factors: &[usize], level: impl Fn(usize) -> usize) -> usize {
        let number = factors.iter().fold(0, |number, factor| {
            number * self.levels[*factor] + level(*factor)
        });
        self.starts[self.rank(factors)] + number
    }

    /// Returns how many open combinations a factor's level would cover together with the levels of a partial run.
    pub(super) fn gain(
        &self,
        partial: &[Option<usize>],
        set: &[usize],
        factor: usize,
        level: usize,
    ) -> usize {
        let mut gain = 0;
        let mut factors = vec![0; self.strength];
        if set.len() + 1 < self.strength {
            return 0;
        }
        each_subset(set.len(), self.strength - 1, |chosen| {
            for (slot, at) in factors.iter_mut().zip(chosen) {
                *slot = set[*at];
            }
            factors[self.strength - 1] = factor;
            factors.sort_unstable();
            let of = |own: usize| {
                if own == factor {
                    level
                } else {
                    partial[own].unwrap_or(0)
                }
            };
            gain += usize::from(self.is_open[self.position(&factors, of)]);
        });
        gain
    }

    /// Returns how many open combinations a run has.
    pub(super) fn gain_of_run(&self, run: &[usize]) -> usize {
        let mut gain = 0;
        self.each_of(run, |at| gain += usize::from(self.is_open[at]));
        gain
    }

    /// Covers the combinations of a run.
    pub(super) fn cover(&mut self, run: &[usize]) {
        each_subset(run.len(), self.strength, |factors| {
            let at = self.position(factors, |factor| run[factor]);
            if self.is_open[at] {
                self.is_open[at] = false;
                self.open -= 1;
                for factor in factors {
                    self.open_by_level[*factor][run[*factor]] -= 1;
                }
            }
        });
    }

    /// Returns an open combination, from a random place on.
    pub(super) fn some_open(&self, random: usize) -> Option<Vec<(usize, usize)>> {
        let total = self.is_open.len();
        let at = (0..total)
            .map(|step| (random + step) % total)
            .find(|at| self.is_open[*at])?;
        Some(self.members(at))
    }

    /// Calls `visit` with the position of each combination of a run that has this factor.
    pub(super) fn each_with(&self, run: &[usize], factor: usize, mut visit: impl FnMut(usize)) {
        let mut factors = vec![0; self.strength];
        each_subset(run.len() - 1, self.strength - 1, |others| {
            let below = others.partition_point(|other| *other < factor);
            for (at, other) in others.iter().enumerate() {
                factors[at + usize::from(at >= below)] = other + usize::from(*other >= factor);
            }
            factors[below] = factor;
            visit(self.position(&factors, |own| run[own]));
        });
    }

    /// Calls `visit` with the position of each combination of a run.
    pub(super) fn each_of(&self, run: &[usize], mut visit: impl FnMut(usize)) {
        each_subset(run.len(), self.strength, |factors| {
            visit(self.position(factors, |factor| run[factor]))
        });
    }

    /// Returns the factors and levels of a combination.
    pub(super) fn members(&self, at: usize) -> Vec<(usize, usize)> {
        let set = self.starts.partition_point(|start| *start <= at) - 1;
        self.members_of(&self.factors_of(set), at - self.starts[set])
    }

    fn factors_of(&self, mut rank: usize) -> Vec<usize> {
        let mut factors = Vec::new();
        for size in (1..=self.strength).rev() {
            let factor = (0..self.levels.len())
                .rev()
                .find(|factor| self.ways[*factor][size] <= rank)
                .unwrap_or(0);
            rank -= self.ways[factor][size];
            factors.push(factor);
        }
        factors.reverse();
        factors
    }
}
