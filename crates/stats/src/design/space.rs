//! What a design chooses from: factors, their levels, and combinations that cannot be.

use rand_xoshiro::rand_core::Rng;

use crate::subset::{draw_below, draw_subset};

/// So often a random run is drawn until it is feasible, before it is searched for.
const DRAWS: usize = 200;

/// Factors with their numbers of levels, and the combinations of levels that cannot occur together.
///
/// A run is one level per factor, 0 … levels − 1. "A excludes B" of two treatments forbids {A = 1, B = 1}, "A needs
/// B" forbids {A = 1, B = 0}.
///
/// ```
/// use lapwing_stats::design::DesignSpace;
/// // Three treatments; the first excludes the second, the third needs the first.
/// let space = DesignSpace::new(vec![2; 3], vec![vec![(0, 1), (1, 1)], vec![(2, 1), (0, 0)]]).expect("levels exist");
/// let runs = space.feasible_runs(100).expect("few");
/// assert_eq!(runs, [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignSpace {
    levels: Vec<usize>,
    forbidden: Vec<Vec<(usize, usize)>>,
    /// Of each factor, the forbidden combinations that it takes part in.
    by_factor: Vec<Vec<usize>>,
}

/// Factors and combinations that make no space.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DesignSpaceError {
    /// A factor without levels.
    #[error("factor {factor} has no level")]
    NoLevel {
        /// The factor's number.
        factor: usize,
    },
    /// A forbidden combination is empty, or names a factor or a level that is not there.
    #[error("forbidden combination {combination} has a factor or level that does not exist")]
    Forbidden {
        /// The combination's number.
        combination: usize,
    },
}

impl DesignSpace {
    /// Returns the space of factors with so many levels each, and combinations of (factor, level) that cannot be.
    ///
    /// # Errors
    /// When a factor has no level, or a combination names what does not exist.
    pub fn new(
        levels: Vec<usize>,
        forbidden: Vec<Vec<(usize, usize)>>,
    ) -> Result<Self, DesignSpaceError> {
        if let Some(factor) = levels.iter().position(|count| *count == 0) {
            return Err(DesignSpaceError::NoLevel { factor });
        }
        let mut by_factor = vec![Vec::new(); levels.len()];
        for (combination, members) in forbidden.iter().enumerate() {
            let exists = |(factor, level): &(usize, usize)| {
                levels.get(*factor).is_some_and(|count| level < count)
            };
            if members.is_empty() || !members.iter().all(exists) {
                return Err(DesignSpaceError::Forbidden { combination });
            }
            for (factor, _) in members {
                by_factor[*factor].push(combination);
            }
        }
        Ok(Self {
            levels,
            forbidden,
            by_factor,
        })
    }

    /// Returns the space of so many treatments, all combinations of which can be.
    pub fn treatments(factors: usize) -> Self {
        Self {
            levels: vec![2; factors],
            forbidden: Vec::new(),
            by_factor: vec![Vec::new(); factors],
        }
    }

    /// Returns the number of levels of each factor.
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// Returns whether nothing is forbidden.
    pub fn is_unconstrained(&self) -> bool {
        self.forbidden.is_empty()
    }

    /// Returns whether a run can be: one existing level per factor, and no forbidden combination.
    pub fn is_feasible(&self, run: &[usize]) -> bool {
        let holds = |(factor, level): &(usize, usize)| run[*factor] == *level;
        run.len() == self.levels.len()
            && (run.iter().zip(&self.levels)).all(|(level, count)| level < count)
            && !(self.forbidden.iter()).any(|members| members.iter().all(holds))
    }

    /// Returns all feasible runs in lexicographic order; `None` if there are more than `most`.
    pub fn feasible_runs(&self, most: usize) -> Option<Vec<Vec<usize>>> {
        let mut runs = Vec::new();
        let mut partial = vec![None; self.levels.len()];
        self.extend(&mut partial, 0, most, &mut runs)
            .then_some(runs)
    }

    /// Collects the completions of a partial run from `factor` on; false when there are too many.
    fn extend(
        &self,
        partial: &mut [Option<usize>],
        factor: usize,
        most: usize,
        runs: &mut Vec<Vec<usize>>,
    ) -> bool {
        let Some(count) = self.levels.get(factor) else {
            runs.push(partial.iter().flatten().copied().collect());
            return runs.len() <= most;
        };
        for level in 0..*count {
            partial[factor] = Some(level);
            if self.allows(partial, factor) && !self.extend(partial, factor + 1, most, runs) {
                return false;
            }
        }
        partial[factor] = None;
        true
    }

    /// Returns whether no forbidden combination with this factor is complete.
    pub(super) fn allows(&self, partial: &[Option<usize>], factor: usize) -> bool {
        let holds = |(factor, level): &(usize, usize)| partial[*factor] == Some(*level);
        !self.by_factor[factor]
            .iter()
            .any(|at| self.forbidden[*at].iter().all(holds))
    }

    /// Returns a feasible run with the levels that are given; factors in the given order take the first of
    /// `preferred` levels that fits. `None` if there is none.
    pub(super) fn complete(
        &self,
        partial: &mut [Option<usize>],
        order: &[usize],
        preferred: &dyn Fn(usize) -> Vec<usize>,
    ) -> Option<Vec<usize>> {
        let Some((factor, rest)) = order.split_first() else {
            return partial.iter().copied().collect();
        };
        if partial[*factor].is_some() {
            return self.complete(partial, rest, preferred);
        }
        for level in preferred(*factor) {
            partial[*factor] = Some(level);
            if self.allows(partial, *factor)
                && let Some(run) = self.complete(partial, rest, preferred)
            {
                return Some(run);
            }
        }
        partial[*factor] = None;
        None
    }

    /// Returns whether some feasible run has these levels.
    pub fn can_be(&self, members: &[(usize, usize)]) -> bool {
        if self.is_unconstrained() {
            return true;
        }
        let mut partial = vec![None; self.levels.len()];
        for (factor, level) in members {
            partial[*factor] = Some(*level);
        }
        let order: Vec<usize> = (0..self.levels.len()).collect();
        let all_levels = |factor: usize| (0..self.levels[factor]).collect();
        (members.iter()).all(|(factor, _)| self.allows(&partial, *factor))
            && self.complete(&mut partial, &order, &all_levels).is_some()
    }

    /// Returns a random feasible run: every one equally likely unless they are so rare that one is searched for.
    /// `None` if there is none.
    pub(crate) fn random_run(&self, random: &mut impl Rng) -> Option<Vec<usize>> {
        for _ in 0..DRAWS {
            let run = self.draw_run(random);
            if self.is_feasible(&run) {
                return Some(run);
            }
        }
        let order = shuffled(self.levels.len(), random);
        let first = self.draw_run(random);
        let preferred = |factor: usize| {
            let count = self.levels[factor];
            (0..count)
                .map(|step| (first[factor] + step) % count)
                .collect()
        };
        self.complete(&mut vec![None; self.levels.len()], &order, &preferred)
    }

    /// Draws levels, whether or not they can be together.
    fn draw_run(&self, random: &mut impl Rng) -> Vec<usize> {
        let levels = self.levels.iter();
        levels.map(|count| draw_below(*count, random)).collect()
    }
}

/// Returns 0 … `count` − 1 in random order.
pub(super) fn shuffled(count: usize, random: &mut impl Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    draw_subset(&mut order, count, random);
    order
}

/// Returns the set of the factors that are at level 1, bit i for factor i.
///
/// ```
/// use lapwing_stats::design::{run_of_set, set_of_run};
/// assert_eq!((set_of_run(&[1, 0, 1]), run_of_set(0b101, 3)), (0b101, vec![1, 0, 1]));
/// ```
pub fn set_of_run(run: &[usize]) -> u128 {
    run.iter().enumerate().fold(0, |set, (factor, level)| {
        set | u128::from(*level > 0) << factor
    })
}

/// Returns the run in which the factors of the set are at level 1, the others at 0.
pub fn run_of_set(set: u128, factors: usize) -> Vec<usize> {
    (0..factors)
        .map(|factor| usize::from(set >> factor & 1 == 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn rare_runs_are_found_and_impossible_ones_refused() {
        // Each of 16 treatments needs the next, the last is forbidden.
        let mut forbidden: Vec<Vec<(usize, usize)>> =
            (0..15).map(|at| vec![(at, 1), (at + 1, 0)]).collect();
        forbidden.push(vec![(15, 1)]);
        let space = DesignSpace::new(vec![2; 16], forbidden.clone()).expect("exists");
        assert_eq!(space.random_run(&mut Seed(7).block(0)), Some(vec![0; 16]));
        assert_eq!(space.feasible_runs(10), Some(vec![vec![0; 16]]));
        assert!(!space.can_be(&[(3, 1)]));
        forbidden.push(vec![(15, 0)]);
        let none = DesignSpace::new(vec![2; 16], forbidden).expect("exists");
        assert_eq!(none.random_run(&mut Seed(7).block(0)), None);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        assert_eq!(
            DesignSpace::new(vec![2, 0], Vec::new()),
            Err(DesignSpaceError::NoLevel { factor: 1 })
        );
        for bad in [vec![], vec![(2, 0)], vec![(0, 2)]] {
            let refused = DesignSpace::new(vec![2, 2], vec![bad]);
            assert_eq!(refused, Err(DesignSpaceError::Forbidden { combination: 0 }));
        }
    }

    #[test]
    fn too_many_runs_are_not_listed() {
        assert_eq!(DesignSpace::treatments(5).feasible_runs(31), None);
        assert_eq!(
            DesignSpace::treatments(5)
                .feasible_runs(32)
                .map(|runs| runs.len()),
            Some(32)
        );
    }
}
