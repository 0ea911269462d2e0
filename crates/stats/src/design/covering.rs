//! Covering arrays: every combination of levels of any t factors at least once.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::covering_shrink::shrunk;
use super::covering_tuples::LevelTuples;
use super::space::{DesignSpace, draw, shuffled};
use crate::Seed;
use crate::as_f64;
use crate::number::choices;
use crate::subset::each_subset;

/// More combinations than this take too long.
const MOST_TUPLES: usize = 5_000_000;

/// How a covering array is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveringOptions {
    /// Of any so many factors all combinations are covered: 2, pairs, by default.
    pub strength: usize,
    /// For each run so many are tried; by default 30.
    pub tries: usize,
    /// So many arrays are made, and the smallest one kept; by default 6.
    pub starts: usize,
    /// Runs that are measured already: what they cover is covered.
    pub existing: Vec<Vec<usize>>,
}

impl Default for CoveringOptions {
    fn default() -> Self {
        Self {
            strength: 2,
            tries: 30,
            starts: 6,
            existing: Vec::new(),
        }
    }
}

/// Returns runs in which every feasible combination of levels of any t factors occurs.
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
/// use lapwing_stats::design::{CoveringOptions, DesignSpace, covering_array, is_covering};
/// let space = DesignSpace::new(vec![3, 3, 3, 3], Vec::new()).expect("levels exist");
/// let runs = covering_array(&space, &CoveringOptions::default(), Seed(7)).expect("small");
/// assert_eq!((runs.len(), is_covering(&space, &runs, 2)), (9, true));
/// ```
pub fn covering_array(
    space: &DesignSpace,
    options: &CoveringOptions,
    seed: Seed,
) -> Option<Vec<Vec<usize>>> {
    let (factors, strength) = (space.levels().len(), options.strength);
    if strength == 0 || strength > factors {
        return None;
    }
    if strength == 2
        && space.is_unconstrained()
        && options.existing.is_empty()
        && space.levels().iter().all(|count| *count == 2)
    {
        let of_set = |set: &Vec<bool>| set.iter().map(|present| usize::from(*present)).collect();
        return Some(pairs_of_treatments(factors).iter().map(of_set).collect());
    }
    let mut tuples = LevelTuples::new(space, strength, MOST_TUPLES)?;
    let fits = |run: &&Vec<usize>| space.is_feasible(run);
    for run in options.existing.iter().filter(fits) {
        tuples.cover(run);
    }
    let starts = 0..u64::try_from(options.starts.max(1)).unwrap_or(1);
    let arrays = starts.filter_map(|start| {
        let runs = build(space, tuples.clone(), options, &mut seed.block(start))?;
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
        0 => 0,
        1 => 2,
        _ => (4..).find(enough).unwrap_or(4),
    };
    let mut runs = vec![vec![false; factors]; count];
    if factors == 1 {
        runs[1][0] = true;
        return runs;
    }
    let mut factor = 0;
    if count > 0 {
        each_subset(count - 1, count.div_ceil(2), |present| {
            if factor < factors {
                for run in present {
                    runs[run + 1][factor] = true;
                }
            }
            factor += 1;
        });
    }
    runs
}

/// Returns whether every feasible combination of levels of any `strength` factors occurs in a run.
pub fn is_covering(space: &DesignSpace, runs: &[Vec<usize>], strength: usize) -> bool {
    LevelTuples::new(space, strength, usize::MAX).is_some_and(|mut tuples| {
        for run in runs {
            tuples.cover(run);
        }
        tuples.open() == 0
    })
}

fn build(
    space: &DesignSpace,
    mut tuples: LevelTuples,
    options: &CoveringOptions,
    random: &mut Xoshiro256PlusPlus,
) -> Option<Vec<Vec<usize>>> {
    let mut runs = Vec::new();
    while tuples.open() > 0 {
        let mut best: Option<(usize, Vec<usize>)> = None;
        for _ in 0..options.tries.max(1) {
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
    for (factor, level) in tuples.some_open(draw(random, 1 << 30))? {
        partial[factor] = Some(level);
        set.push(factor);
    }
    for factor in shuffled(factors, random) {
        if partial[factor].is_some() {
            continue;
        }
        let mut levels: Vec<(usize, usize, usize, usize)> =
            shuffled(space.levels()[factor], random)
                .into_iter()
                .enumerate()
                .map(|(at, level)| {
                    let gain = tuples.gain(&partial, &set, factor, level);
                    (gain, tuples.open_by_level[factor][level], at, level)
                })
                .collect();
        levels.sort_unstable_by(|one, other| other.cmp(one));
        let fits = |partial: &[Option<usize>]| {
            let members: Vec<(usize, usize)> = partial
                .iter()
                .enumerate()
                .filter_map(|(at, level)| Some((at, (*level)?)))
                .collect();
            space.can_be(&members)
        };
        for (_, _, _, level) in levels {
            partial[factor] = Some(level);
            if space.is_unconstrained() || fits(&partial) {
                break;
            }
            partial[factor] = None;
        }
        partial[factor]?;
        set.push(factor);
    }
    debug_assert!(set.len() >= tuples.strength());
    partial.into_iter().collect()
}

/// Drops runs whose combinations all occur in others, the last ones first.
fn thinned(mut runs: Vec<Vec<usize>>, tuples: &LevelTuples) -> Vec<Vec<usize>> {
    for at in (0..runs.len()).rev() {
        let mut rest = tuples.clone();
        for run in runs
            .iter()
            .enumerate()
            .filter(|(own, _)| *own != at)
            .map(|(_, run)| run)
        {
            rest.cover(run);
        }
        if rest.open() == 0 {
            runs.remove(at);
        }
    }
    runs
}
