//! The pairs of a duet: two instances whose iterations ran at the same time.

use std::collections::BTreeMap;

use lapwing_stats::{Replicates, mean};

use super::INSTANCES_FOR_A_VERDICT;
use super::compare::SideSample;
use super::looks::Looks;
use super::replication::unit::{Replication, ReplicationUnit, SESSIONS};
use crate::clean::{CleaningPolicy, IterationState, states};
use lapwing_model::{DUET, Id};
use lapwing_record::InstanceData;

/// An instance of a duet, with the values that remain after cleaning.
#[derive(Debug, Clone, PartialEq)]
pub struct DuetPart {
    /// Its id.
    pub id: Id,
    /// The instance that was measured at the same time.
    pub partner: Id,
    /// Its session.
    pub session: Id,
    /// The values by number of iteration: iterations of the same number ran at the same time.
    pub values: BTreeMap<u32, f64>,
}

impl DuetPart {
    /// Returns those instances that are of duets.
    pub(super) fn of(
        instances: &[&InstanceData],
        metric: &str,
        policy: CleaningPolicy,
    ) -> Vec<Self> {
        let partner = |it: &InstanceData| -> Option<Id> {
            let text = it.instance.attributes.get(DUET)?.get("partner")?.as_str()?;
            text.parse().ok()
        };
        if !instances.iter().any(|it| partner(it).is_some()) {
            return Vec::new();
        }
        let part = |(data, states): (&InstanceData, crate::clean::InstanceStates)| {
            let column = data.iterations.values.get(metric)?;
            let used = states.states.iter().enumerate();
            let used = used.filter(|(_, state)| **state == IterationState::Steady);
            let values = used.map(|(at, _)| (data.iterations.index(at), column[at]));
            Some(Self {
                id: data.instance.id,
                partner: partner(data)?,
                session: data.session.id,
                values: values.filter(|(_, value)| !value.is_nan()).collect(),
            })
        };
        let of_all = states(instances.iter().copied(), metric, policy);
        of_all.into_iter().filter_map(part).collect()
    }

    /// Returns the means of the logarithms of both, over the iterations that both have; `None` if there is none, or if
    /// a value is not positive.
    fn log_means(&self, partner: &Self) -> Option<[f64; 2]> {
        let shared = self.values.iter();
        let shared =
            shared.filter_map(|(index, value)| Some([*value, *partner.values.get(index)?]));
        let shared: Vec<[f64; 2]> = shared.collect();
        if shared.iter().flatten().any(|value| *value <= 0.0) {
            return None;
        }
        let of = |half: usize| -> Vec<f64> { shared.iter().map(|both| both[half].ln()).collect() };
        Some([mean(&of(0))?, mean(&of(1))?])
    }
}

/// Returns the pairs of two sides, or their means by session if both sides have three sessions; `None` if there are
/// fewer than three pairs, or if they hold at most half of a side's instances.
///
/// The difference of a pair is the mean of the logarithms of the ratios of iterations that ran at the same time.
pub(super) fn replication(sides: [&SideSample; 2]) -> Option<Replication> {
    let candidates: BTreeMap<Id, &DuetPart> =
        sides[1].duets.iter().map(|part| (part.id, part)).collect();
    let mut by_session: BTreeMap<Id, Vec<[f64; 2]>> = BTreeMap::new();
    let mut pairs = Vec::new();
    for part in &sides[0].duets {
        let partner = candidates.get(&part.partner);
        if let Some(logs) = partner.and_then(|partner| part.log_means(partner)) {
            by_session.entry(part.session).or_default().push(logs);
            pairs.push(logs);
        }
    }
    let instances = sides.map(|side| side.cleaned.instances.len());
    let hold_most = instances.iter().all(|count| 2 * pairs.len() > *count);
    if pairs.len() < INSTANCES_FOR_A_VERDICT || !hold_most {
        return None;
    }
    let half = |pairs: &[[f64; 2]], half: usize| -> Vec<f64> {
        pairs.iter().map(|pair| pair[half]).collect()
    };
    let mut unit = ReplicationUnit::Pair;
    if by_session.len() >= SESSIONS {
        unit = ReplicationUnit::Session;
        let means = by_session.into_values();
        let means = means.map(|of| Some([mean(&half(&of, 0))?, mean(&half(&of, 1))?]));
        pairs = means.collect::<Option<_>>()?;
    }
    Some(Replication {
        unit,
        centres: [mean(&half(&pairs, 0))?, mean(&half(&pairs, 1))?],
        replicates: Replicates::Pairs(pairs.iter().map(|[one, other]| other - one).collect()),
        looks: Looks::default(),
        noise: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::CleanInstance;

    fn id(number: u128) -> Id {
        Id::from(uuid::Uuid::from_u128(number))
    }

    /// Returns the sides of pairs with these values by iteration; those that are NaN are missing.
    fn sides(pairs: &[[&[f64]; 2]], session_of: fn(u128) -> u128) -> [SideSample; 2] {
        [0, 1].map(|which: usize| {
            let mut side = SideSample::default();
            for (at, pair) in pairs.iter().enumerate() {
                let number = 2 * at as u128;
                let own = number + which as u128;
                let values = pair[which].iter().enumerate();
                let values: BTreeMap<u32, f64> = values
                    .filter(|(_, value)| !value.is_nan())
                    .map(|(index, value)| (u32::try_from(index).expect("few"), *value))
                    .collect();
                side.cleaned.instances.push(CleanInstance {
                    position: at,
                    values: values.values().copied().collect(),
                    without_value: 0,
                    host: None,
                });
                side.duets.push(DuetPart {
                    id: id(own),
                    partner: id(2 * number + 1 - own),
                    session: id(1_000 + session_of(at as u128)),
                    values,
                });
            }
            side
        })
    }

    fn of(sides: &[SideSample; 2]) -> Option<Replication> {
        replication([&sides[0], &sides[1]])
    }

    #[test]
    fn iterations_of_the_same_moment_are_compared_and_others_are_not() {
        let e = std::f64::consts::E;
        let gap = f64::NAN;
        // Where one side has a burst that the other has as well, it cancels.
        let found = of(&sides(
            &[
                [&[1.0, 9.0, 1.0], &[e, 9.0 * e, e]],
                [&[1.0, 5.0, 2.0], &[e, gap, 2.0 * e]],
                [&[gap, 1.0, 1.0], &[7.0, e, e]],
            ],
            |_| 0,
        ))
        .expect("three pairs");
        assert_eq!(found.unit, ReplicationUnit::Pair);
        let Replicates::Pairs(differences) = &found.replicates else {
            panic!("not paired");
        };
        assert!(differences.iter().all(|it| (it - 1.0).abs() < 1e-12));
        assert_eq!(found.sizes(), [3, 3]);
    }

    #[test]
    fn sessions_are_the_unit_from_three_on() {
        let pair: [&[f64]; 2] = [&[1.0, 1.0], &[2.0, 2.0]];
        let all = [pair; 6];
        let unit = |session_of| of(&sides(&all, session_of)).map(|it| (it.unit, it.sizes()));
        assert_eq!(unit(|_| 0), Some((ReplicationUnit::Pair, [6, 6])));
        assert_eq!(unit(|at| at % 2), Some((ReplicationUnit::Pair, [6, 6])));
        assert_eq!(unit(|at| at % 3), Some((ReplicationUnit::Session, [3, 3])));
    }

    #[test]
    fn few_pairs_and_halves_without_partners_are_no_pairs() {
        let pair: [&[f64]; 2] = [&[1.0], &[2.0]];
        assert_eq!(of(&sides(&[pair; 2], |_| 0)), None);
        let lonely: [&[f64]; 2] = [&[1.0, f64::NAN], &[f64::NAN, 2.0]];
        let mixed = [pair, pair, pair, lonely, lonely, lonely];
        assert_eq!(of(&sides(&mixed, |_| 0)), None);
        let not_positive: [&[f64]; 2] = [&[0.0], &[2.0]];
        assert_eq!(of(&sides(&[not_positive; 4], |_| 0)), None);
    }
}
