//! Whether the sessions that a side pools are alike, or drift.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::Id;
use lapwing_stats::changepoint::line_or_step;
use lapwing_stats::{PValue, Replicates, Seed, as_f64, benjamini_hochberg, family_tests, mean};
use rayon::prelude::*;

use super::caution::Caution;
use super::compare::Comparison;
use super::replication::pairs::ComparedPair;
use super::replication::unit::log_means;

/// The accepted share of false cautions among all of them; where nothing drifts, that of answers with any.
const FALSE_CAUTIONS: f64 = 0.05;
/// The fewest sessions on both sides of a split: one alone may be an outlier.
const SHORTEST: usize = 2;
/// The largest number of splits of a pool that are tested.
const SPLITS: usize = 5;

/// The sessions of a side in order.
struct PooledSessions {
    comparison: usize,
    side: usize,
    /// The means of their logarithms.
    means: Vec<f64>,
}

/// Adds a caution where the sessions of a side change over time: then the sides may differ by when they were measured.
/// Of pairs this cancels.
///
/// Earlier sessions are tested against later ones, at up to five places, as two sides are: all pools of a metric that
/// are equally long are a family ([`family_tests`]). The smallest p-value counts, times the number of places.
pub(super) fn tell_drifts(comparisons: &mut [Comparison], pairs: &[ComparedPair<'_>], seed: Seed) {
    let mut families: BTreeMap<(&str, usize), Vec<PooledSessions>> = BTreeMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        for pool in pools(at, pair, &comparisons[at]) {
            let key = (pair.subject.metric.as_str(), pool.means.len());
            families.entry(key).or_default().push(pool);
        }
    }
    let families: Vec<(usize, Vec<PooledSessions>)> = families
        .into_iter()
        .map(|((_, sessions), all)| (sessions, all))
        .collect();
    let tested: Vec<(PooledSessions, PValue)> = families
        .into_par_iter()
        .flat_map_iter(|(sessions, pools)| {
            let p_values = p_values(&pools, sessions, seed);
            pools.into_iter().zip(p_values)
        })
        .collect();
    let adjusted = benjamini_hochberg(&tested.iter().map(|it| it.1).collect::<Vec<_>>());
    for ((pool, _), adjusted) in tested.into_iter().zip(adjusted) {
        let Some(shape) = line_or_step(&pool.means) else {
            continue;
        };
        if adjusted.value() <= FALSE_CAUTIONS {
            let comparison = &mut comparisons[pool.comparison];
            let names = [&comparison.baseline, &comparison.candidate];
            let side = names[pool.side].clone();
            comparison.cautions.push(Caution::PoolDrifts {
                side,
                is_step: shape.is_step,
                ratio: shape.change.exp(),
            });
        }
    }
}

/// Returns the p-values of pools of so many sessions; 1 where nothing varies.
fn p_values(pools: &[PooledSessions], sessions: usize, seed: Seed) -> Vec<PValue> {
    let last = sessions - SHORTEST;
    let places = (1..=SPLITS).map(|part| sessions * part / (SPLITS + 1));
    let places: BTreeSet<usize> = places.map(|it| it.clamp(SHORTEST, last)).collect();
    let mut least = vec![1.0_f64; pools.len()];
    for place in &places {
        let split = |pool: &PooledSessions| {
            let (before, after) = pool.means.split_at(*place);
            Replicates::Sides([before.to_vec(), after.to_vec()])
        };
        let family: Vec<Replicates> = pools.iter().map(split).collect();
        let tests = family_tests(&family, &[], seed);
        for (least, test) in least.iter_mut().zip(tests) {
            *least = test.map_or(*least, |test| least.min(test.p_value));
        }
    }
    let all = as_f64(places.len());
    let adjusted = least.into_iter().map(|p_value| (p_value * all).min(1.0));
    let checked = adjusted.map(|p_value| PValue::new(p_value).unwrap_or(PValue::ONE));
    checked.collect()
}

/// Returns the sides of a comparison that have enough sessions, unless sessions are pairs.
fn pools(at: usize, pair: &ComparedPair<'_>, comparison: &Comparison) -> Vec<PooledSessions> {
    let replication = comparison.replication.as_ref();
    let logs = log_means(pair.sides).filter(|_| !replication.is_some_and(|it| it.is_paired()));
    let Some(logs) = logs else {
        return Vec::new();
    };
    let of_side = |side: usize| {
        // Instances are in order of time.
        let mut sessions: Vec<(Id, Vec<f64>)> = Vec::new();
        for (origin, log) in pair.sides[side].origins.iter().zip(&logs[side]) {
            match sessions.iter_mut().find(|it| it.0 == origin.session) {
                Some((_, of_session)) => of_session.push(*log),
                None => sessions.push((origin.session, vec![*log])),
            }
        }
        let means: Vec<f64> = sessions.iter().filter_map(|it| mean(&it.1)).collect();
        (means.len() >= 2 * SHORTEST).then_some(PooledSessions {
            comparison: at,
            side,
            means,
        })
    };
    [0, 1].into_iter().filter_map(of_side).collect()
}

#[cfg(test)]
mod tests;
