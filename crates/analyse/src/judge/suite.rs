//! The ratio of a whole suite.

use std::collections::BTreeMap;

use lapwing_stats::{
    ClusteredSides, Confidence, Interval, Replicates, SuiteRatio, geometric_mean,
    geometric_mean_of_ratios, mean, suite_ratio_by_cluster,
};

use super::INSTANCES_FOR_A_VERDICT;
use super::compare::SideSample;
use super::descriptive::DescriptiveRatio;
use super::family::of_ratio;
use super::replication::unit::{Replication, ReplicationUnit, log_means};
use super::session_knowledge::SessionKnowledge;
use crate::sample::Subject;
use lapwing_model::Id;

/// One benchmark of a suite, with both sides.
pub(super) struct SuiteMember<'a> {
    sides: [&'a SideSample; 2],
    logs: [Vec<f64>; 2],
    replication: Replication,
    /// Half the width of its interval, if the sides are from different sessions and it is known how much these differ.
    half_width: Option<f64>,
}

impl<'a> SuiteMember<'a> {
    /// Returns the two sides as a member of a suite; `None` if they have no ratio.
    pub(super) fn of(
        sides: [&'a SideSample; 2],
        subject: &Subject,
        known: &mut SessionKnowledge<'_>,
        confidence: Confidence,
    ) -> Option<Self> {
        let few = |side: &&SideSample| side.cleaned.instances.len() < INSTANCES_FOR_A_VERDICT;
        if sides.iter().any(few) {
            return None;
        }
        let logs = log_means(sides)?;
        Some(Self {
            replication: Replication::of_logs(sides, &logs)?,
            half_width: known.half_width(subject, sides, &logs, confidence),
            sides,
            logs,
        })
    }
}

/// Returns the geometric mean of the ratios of a suite. Its interval is from the spread over blocks, or over sessions
/// if these are the unit of any member: a disturbance of a block affects all benchmarks in it. If blocks are unknown
/// or too few, benchmarks are assumed independent. If earlier sessions show how much the sessions of the sides differ,
/// it is as wide as those of its benchmarks are on average: all of them may differ in the same direction.
pub(super) fn suite_ratio(
    members: &[SuiteMember<'_>],
    confidence: Confidence,
) -> Option<SuiteRatio> {
    let differences: Vec<f64> = members
        .iter()
        .map(|member| member.replication.centres[1] - member.replication.centres[0])
        .collect();
    let halves: Vec<f64> = members.iter().filter_map(|it| it.half_width).collect();
    if let (Some(half), Some(centre)) = (mean(&halves), mean(&differences)) {
        return Some(SuiteRatio {
            ratio: centre.exp(),
            interval: Some(of_ratio(Interval::around(centre, half))),
            benchmarks: members.len(),
        });
    }
    if let Some(clustered) = clustered(members)
        && let Some(ratio) = suite_ratio_by_cluster(&differences, &clustered, confidence)
    {
        return Some(ratio);
    }
    // Too few sessions to see what the benchmarks have in common.
    let by_session = members
        .iter()
        .filter(|it| it.replication.unit == ReplicationUnit::Session);
    let halves = by_session.filter_map(|it| {
        let difference = it.replication.difference(confidence)?;
        Some(difference.interval.width() / 2.0)
    });
    let halves: Vec<f64> = halves.collect();
    if let (Some(half), Some(centre)) = (mean(&halves), mean(&differences)) {
        return Some(SuiteRatio {
            ratio: centre.exp(),
            interval: Some(of_ratio(Interval::around(centre, half))),
            benchmarks: members.len(),
        });
    }
    let means: Vec<[Vec<f64>; 2]> = members
        .iter()
        .map(|member| {
            member
                .logs
                .clone()
                .map(|logs| logs.iter().map(|log| log.exp()).collect())
        })
        .collect();
    let sides: Vec<[&[f64]; 2]> = means
        .iter()
        .map(|[baseline, candidate]| [baseline.as_slice(), candidate.as_slice()])
        .collect();
    geometric_mean_of_ratios(&sides, confidence)
}

/// Returns the geometric mean of descriptive ratios; its interval is that of the iterations of one process per side, if
/// all ratios are.
pub(super) fn described_suite_ratio(
    ratios: &[DescriptiveRatio],
    confidence: Confidence,
) -> Option<SuiteRatio> {
    let of_iterations = ratios.iter().map(|it| match it.iterations.as_ref()? {
        Replicates::Sides(sides) => {
            let values = |logs: &Vec<f64>| logs.iter().map(|log| log.exp()).collect();
            Some(sides.each_ref().map(values))
        }
        Replicates::Pairs(_) => None,
    });
    let Some(of_iterations) = of_iterations.collect::<Option<Vec<[Vec<f64>; 2]>>>() else {
        let values: Vec<f64> = ratios.iter().map(|it| it.value).collect();
        return Some(SuiteRatio {
            ratio: geometric_mean(&values)?,
            interval: None,
            benchmarks: values.len(),
        });
    };
    let sides = of_iterations
        .iter()
        .map(|sides| sides.each_ref().map(Vec::as_slice));
    geometric_mean_of_ratios(&sides.collect::<Vec<_>>(), confidence)
}

/// Returns the logarithms with the numbers of their blocks or sessions; `None` if a side has fewer than three of them,
/// or if a block has several instances of one benchmark and side: then the block is not the level that varies.
fn clustered(members: &[SuiteMember<'_>]) -> Option<Vec<ClusteredSides>> {
    let by_session = members
        .iter()
        .any(|member| member.replication.unit == ReplicationUnit::Session);
    let mut numbers: BTreeMap<(Id, u32), usize> = BTreeMap::new();
    let mut seen: [Vec<usize>; 2] = Default::default();
    let mut clustered = Vec::new();
    for member in members {
        let mut sides: ClusteredSides = Default::default();
        for (which, side) in sides.iter_mut().enumerate() {
            let origins = &member.sides[which].origins;
            if origins.len() != member.logs[which].len() {
                return None;
            }
            for (origin, log) in origins.iter().zip(&member.logs[which]) {
                let block = if by_session { 0 } else { origin.block };
                let next = numbers.len();
                let number = *numbers.entry((origin.session, block)).or_insert(next);
                if !by_session && side.iter().any(|(_, known)| *known == number) {
                    return None;
                }
                side.push((*log, number));
                seen[which].push(number);
            }
        }
        clustered.push(sides);
    }
    for of_side in &mut seen {
        of_side.sort_unstable();
        of_side.dedup();
    }
    let least = if by_session {
        2
    } else {
        INSTANCES_FOR_A_VERDICT
    };
    let enough = seen.iter().all(|of_side| of_side.len() >= least);
    enough.then_some(clustered)
}
