//! Sequences of runs that differ by one factor.

use std::collections::BTreeSet;

use super::space::{DesignSpace, shuffled};
use crate::Seed;

/// Returns the base, and every feasible run that differs from it by the level of one factor.
///
/// It shows each factor's effect at the base and nothing of how factors interact; an effect has twice the variance
/// that a fraction with as many runs gives it, or worse. Empty if the base is not feasible.
///
/// ```
/// use lapwing_stats::design::{DesignSpace, one_factor_at_a_time};
/// let runs = one_factor_at_a_time(&DesignSpace::treatments(3), &[0, 0, 0]);
/// assert_eq!(runs, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]);
/// ```
pub fn one_factor_at_a_time(space: &DesignSpace, base: &[usize]) -> Vec<Vec<usize>> {
    if !space.is_feasible(base) {
        return Vec::new();
    }
    let mut runs = vec![base.to_vec()];
    for (factor, count) in space.levels().iter().enumerate() {
        for level in (0..*count).filter(|level| *level != base[factor]) {
            let mut run = base.to_vec();
            run[factor] = level;
            if space.is_feasible(&run) {
                runs.push(run);
            }
        }
    }
    runs
}

/// Returns sequences of sets from `base` to `target` that change one treatment at a time, every set feasible.
///
/// Without constraints the orders come in groups of k cyclic shifts of a random order, each followed by its reverse,
/// so that every treatment is changed early as often as late (a Latin square); deltas, paths, scatters, Shapley
/// values and principal components need such sequences. With constraints, an order that meets an infeasible set takes
/// the next treatment of its order that fits, and goes back where none does. Sequences may repeat when few orders are
/// feasible.
///
/// Each has k + 1 sets, k being the number of treatments that differ. Empty if there is no feasible order, or more
/// than 128 factors.
///
/// ```
/// use lapwing_stats::Seed;
/// use lapwing_stats::design::{DesignSpace, walks};
/// // The second treatment needs the first.
/// let space = DesignSpace::new(vec![2, 2], vec![vec![(1, 1), (0, 0)]]).expect("levels exist");
/// assert_eq!(walks(&space, 0b00, 0b11, 1, Seed(7)), [[0b00, 0b01, 0b11]]);
/// ```
pub fn walks(
    space: &DesignSpace,
    base: u128,
    target: u128,
    count: usize,
    seed: Seed,
) -> Vec<Vec<u128>> {
    let factors: Vec<usize> = (0..space.levels().len().min(128))
        .filter(|at| (base ^ target) >> at & 1 == 1)
        .collect();
    let feasible = |set: u128| space.is_feasible(&super::run_of_set(set, space.levels().len()));
    if space.levels().len() > 128 || !feasible(base) {
        return Vec::new();
    }
    let mut random = seed.block(0);
    let mut order = Vec::new();
    let mut walks = Vec::with_capacity(count);
    let mut dead = BTreeSet::new();
    for number in 0..count {
        if number % (2 * factors.len().max(1)) == 0 {
            let shuffled = shuffled(factors.len(), &mut random).into_iter();
            order = shuffled.map(|at| factors[at]).collect();
        } else if number % 2 == 0 {
            order.rotate_left(1);
        }
        let mut own: Vec<usize> = order.clone();
        if number % 2 == 1 {
            own.reverse();
        }
        let mut walk = vec![base];
        if !extend_walk(&mut walk, target, &own, &feasible, &mut dead) {
            return Vec::new();
        }
        walks.push(walk);
    }
    walks
}

/// Extends a walk to the target; false when no order is feasible. `dead` are the sets from which there is none,
/// whatever the order.
pub(crate) fn extend_walk(
    walk: &mut Vec<u128>,
    target: u128,
    order: &[usize],
    feasible: &dyn Fn(u128) -> bool,
    dead: &mut BTreeSet<u128>,
) -> bool {
    let Some(current) = walk.last().copied() else {
        return false;
    };
    if current == target {
        return true;
    }
    for factor in order {
        let next = current ^ (1 << factor);
        if (current ^ target) >> factor & 1 == 0 || dead.contains(&next) || !feasible(next) {
            continue;
        }
        walk.push(next);
        if extend_walk(walk, target, order, feasible, dead) {
            return true;
        }
        walk.pop();
        dead.insert(next);
    }
    false
}
