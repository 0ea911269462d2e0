//! Whether the sessions that a side pools are alike, or drift.

use lapwing_model::Id;
use lapwing_stats::changepoint::{OrderedChange, ordered_change};
use lapwing_stats::{PValue, Seed, benjamini_hochberg, mean};
use rayon::prelude::*;

use super::caution::Caution;
use super::compare::Comparison;
use super::replication::pairs::ComparedPair;
use super::replication::unit::log_means;

/// The accepted share of false cautions among all of them; where nothing drifts, that of answers with any.
const FALSE_CAUTIONS: f64 = 0.05;

/// Adds a caution where the means of the sessions of a side, in their order, have a slope or a step: then the sides may
/// differ by when they were measured. Of pairs this cancels.
pub(super) fn tell_drifts(comparisons: &mut [Comparison], pairs: &[ComparedPair<'_>], seed: Seed) {
    let pairs = pairs.par_iter().enumerate();
    let tested: Vec<(usize, usize, OrderedChange)> = pairs
        .flat_map_iter(|(at, pair)| {
            let found = changes(pair, &comparisons[at], seed);
            let sides = found.into_iter().enumerate();
            sides.filter_map(move |(side, change)| Some((at, side, change?)))
        })
        .collect();
    let p_values = tested
        .iter()
        .filter_map(|it| PValue::new(it.2.p_value).ok());
    let adjusted = benjamini_hochberg(&p_values.collect::<Vec<_>>());
    for ((at, side, change), adjusted) in tested.into_iter().zip(adjusted) {
        if adjusted.value() <= FALSE_CAUTIONS {
            comparisons[at].cautions.push(Caution::PoolDrifts {
                side: pairs_name(&comparisons[at], side),
                is_step: change.is_step,
                ratio: change.change.exp(),
            });
        }
    }
}

fn pairs_name(comparison: &Comparison, side: usize) -> String {
    match side {
        0 => comparison.baseline.clone(),
        _ => comparison.candidate.clone(),
    }
}

fn changes(
    pair: &ComparedPair<'_>,
    comparison: &Comparison,
    seed: Seed,
) -> [Option<OrderedChange>; 2] {
    let is_paired = comparison
        .replication
        .as_ref()
        .is_some_and(|it| it.is_paired());
    let logs = log_means(pair.sides).filter(|_| !is_paired);
    let Some(logs) = logs else {
        return [None; 2];
    };
    let seed = seed.split(&format!(
        "{}\n{}",
        pair.subject.benchmark, pair.subject.metric
    ));
    [0, 1].map(|side| {
        let origins = &pair.sides[side].origins;
        // Instances are in order of time.
        let mut sessions: Vec<(Id, Vec<f64>)> = Vec::new();
        for (origin, log) in origins.iter().zip(&logs[side]) {
            match sessions.iter_mut().find(|it| it.0 == origin.session) {
                Some((_, of_session)) => of_session.push(*log),
                None => sessions.push((origin.session, vec![*log])),
            }
        }
        let means: Option<Vec<f64>> = sessions.iter().map(|it| mean(&it.1)).collect();
        ordered_change(&means?, seed)
    })
}

#[cfg(test)]
mod tests;
