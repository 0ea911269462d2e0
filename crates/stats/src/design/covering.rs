//! Covering arrays: every combination of levels of any t factors at least once.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::covering_shrink::shrunk;
use super::covering_tuples::LevelTuples;
use super::space::{DesignSpace, shuffled};
use crate::number::choices;
use crate::subset::{draw_below, each_subset};
use crate::{Seed, as_f64};

/// More combinations than this take too long.
const MOST_TUPLES: usize = 5_000_000;

/// For each run so many are tried.
const TRIES: usize = 30;

/// So many arrays are made, and the smallest one kept.
const STARTS: u64 = 6;

/// Returns runs in which every feasible combination of levels of any `strength` factors occurs that no `existing` run,
/// measured already, has.
///
/// For pairs of treatments without constraints, [`pairs_of_treatments`], which is as small as can be. Else run by
/// run: of several runs that are built greedily, factor by factor in random order, around a combination that is not
/// covered yet, the one that covers most is taken (AETG); then runs that the others make superfluous are dropped, and
/// as long as annealing can repair the loss, further ones.
///
/// It finds whether any combination breaks or blows up. It is not for estimating effects. `None` when the strength is
/// 0 or above the number of factors, no run is feasible, or there are more than five million combinations.
///
/// Source: Cohen, Dalal, Fredman & Patton, *IEEE TSE* 1997; annealing: Cohen, Gibbons, Mugridge & Colbourn, *ICSE*
/// 2003.
///
/// ```
/// use lapwing_stats::Seed;
/// use lapwing_stats::design::{DesignSpace, covering_array};
/// let space = DesignSpace::new(vec![3, 3, 3, 3], Vec::new()).expect("levels exist");
/// assert_eq!(covering_array(&space, 2, &[], Seed(7)).expect("small").len(), 9);
/// ```
pub fn covering_array(
    space: &DesignSpace,
    strength: usize,
    existing: &[Vec<usize>],
    seed: Seed,
) -> Option<Vec<Vec<usize>>> {
    let factors = space.levels().len();
    if strength == 0 || strength > factors {
        return None;
    }
    if strength == 2
        && space.is_unconstrained()
        && existing.is_empty()
        && space.levels().iter().all(|count| *count == 2)
    {
        let of_set = |set: &Vec<bool>| set.iter().map(|present| usize::from(*present)).collect();
        return Some(pairs_of_treatments(factors).iter().map(of_set).collect());
    }
    let mut tuples = LevelTuples::new(space, strength, MOST_TUPLES)?;
    for run in existing.iter().filter(|run| space.is_feasible(run)) {
        tuples.cover(run);
    }
    let arrays = (0..STARTS).filter_map(|start| {
        let runs = build(space, tuples.clone(), &mut seed.block(start))?;
        Some(thinned(runs, &tuples))
    });
    let smallest = arrays.min_by_key(Vec::len)?;
    Some(shrunk(space, &tuples, smallest, &mut seed.block(u64::MAX)))
}

/// Returns the smallest sets of k treatments in which any two occur in all four combinations, one row of presences
/// per run.
///
/// N is the least with C(N − 1, ⌈N/2⌉) ≥ k. Every treatment is absent in the first run and present in a different
/// ⌈N/2⌉ of the others: two such subsets overlap, and neither contains the other.
///
/// Source: Katona, *Periodica Mathematica Hungarica* 1973; Kleitman & Spencer, *Discrete Mathematics* 1973.
///
/// ```
/// use lapwing_stats::design::pairs_of_treatments;
/// let sizes: Vec<usize> = [10, 20, 30, 50, 100, 200].iter().map(|k| pairs_of_treatments(*k).len()).collect();
/// assert_eq!(sizes, [6, 8, 8, 9, 10, 11]);
/// ```
pub fn pairs_of_treatments(factors: usize) -> Vec<Vec<bool>> {
    let enough = |runs: &usize| choices(runs - 1, runs.div_ceil(2)) >= as_f64(factors);
    let count = match factors {
        0 => return Vec::new(),
        1 => 2,
        _ => (4..).find(enough).unwrap_or(4),
    };
    let mut runs = vec![vec![false; factors]; count];
    let mut factor = 0;
    each_subset(count - 1, count.div_ceil(2), |present| {
        if factor < factors {
            for run in present {
                runs[run + 1][factor] = true;
            }
        }
        factor += 1;
    });
    runs
}

/// Returns whether every feasible combination of levels of any `strength` factors occurs in a run.
pub fn is_covering(space: &DesignSpace, runs: &[Vec<usize>], strength: usize) -> bool {
    LevelTuples::new(space, strength, usize::MAX).is_some_and(|mut tuples| {
        for run in runs {
            tuples.cover(run);
        }
        tuples.open == 0
    })
}

fn build(
    space: &DesignSpace,
    mut tuples: LevelTuples,
    random: &mut Xoshiro256PlusPlus,
) -> Option<Vec<Vec<usize>>> {
    let mut runs = Vec::new();
    while tuples.open > 0 {
        let mut best: Option<(usize, Vec<usize>)> = None;
        for _ in 0..TRIES {
            let run = greedy_run(space, &tuples, random)?;
            let gain = tuples.gain_of_run(&run);
            if best.as_ref().is_none_or(|(most, _)| gain > *most) {
                best = Some((gain, run));
            }
        }
        let (_, run) = best?;
        tuples.cover(&run);
        runs.push(run);
    }
    Some(runs)
}

/// Builds a run around an open combination; the other factors take the level that covers most.
fn greedy_run(
    space: &DesignSpace,
    tuples: &LevelTuples,
    random: &mut Xoshiro256PlusPlus,
) -> Option<Vec<usize>> {
    let factors = space.levels().len();
    let mut partial = vec![None; factors];
    let mut set: Vec<usize> = Vec::with_capacity(factors);
    for (factor, level) in tuples.some_open(draw_below(1 << 30, random))? {
        partial[factor] = Some(level);
        set.push(factor);
    }
    for factor in shuffled(factors, random) {
        if partial[factor].is_some() {
            continue;
        }
        let levels = shuffled(space.levels()[factor], random).into_iter();
        let ranked = levels.enumerate().map(|(at, level)| {
            let gain = tuples.gain(&partial, &set, factor, level);
            (gain, tuples.open_by_level[factor][level], at, level)
        });
        let mut ranked: Vec<(usize, usize, usize, usize)> = ranked.collect();
        ranked.sort_unstable_by(|one, other| other.cmp(one));
        let fits = |partial: &[Option<usize>]| {
            let members = partial.iter().enumerate();
            let members = members.filter_map(|(at, level)| Some((at, (*level)?)));
            space.can_be(&members.collect::<Vec<_>>())
        };
        for (_, _, _, level) in ranked {
            partial[factor] = Some(level);
            if space.is_unconstrained() || fits(&partial) {
                break;
            }
            partial[factor] = None;
        }
        partial[factor]?;
        set.push(factor);
    }
    debug_assert!(set.len() >= tuples.strength);
    partial.into_iter().collect()
}

/// Drops runs whose combinations all occur in others, the last ones first.
fn thinned(mut runs: Vec<Vec<usize>>, tuples: &LevelTuples) -> Vec<Vec<usize>> {
    for at in (0..runs.len()).rev() {
        let mut rest = tuples.clone();
        for run in runs[..at].iter().chain(&runs[at + 1..]) {
            rest.cover(run);
        }
        if rest.open == 0 {
            runs.remove(at);
        }
    }
    runs
}
