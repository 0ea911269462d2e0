//! Caveats for readers of a comparison.

use std::collections::BTreeSet;

use lapwing_stats::{Modes, as_f64, mann_whitney, mean, median, modes};

use super::compare::{SideSample, have_other_units};
use super::instance_means;
use super::replication::unit::{MOST_IMBALANCE, ReplicationUnit, SESSIONS, imbalance};
use lapwing_model::Id;
use lapwing_model::text::first_names;

/// A caveat for readers of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Caution {
    /// The sides differ much in the shares of their hosts, or of processor models.
    OtherMachines {
        /// The baseline's.
        baseline: String,
        /// The candidate's.
        candidate: String,
    },
    /// All of one side was measured before the other, in the same session.
    NotInterleaved,
    /// The sides have other sessions, too few to show how much sessions differ: their difference is part of the ratio.
    OneSession,
    /// Instances of a side are excluded because they are of an earlier epoch.
    EarlierEpoch {
        /// Number of excluded instances, of both sides.
        instances: usize,
    },
    /// Instances are left out because they were measured apart from the other side, and others together with it.
    MeasuredApart {
        /// Number of these instances, of both sides.
        instances: usize,
    },
    /// The values are in units that cannot be converted into each other.
    OtherUnits {
        /// The baseline's.
        baseline: String,
        /// The candidate's.
        candidate: String,
    },
    /// Instances of the candidate fail at a higher rate than those of the baseline (Mann–Whitney, 5 % one-sided).
    Failures {
        /// Number of the candidate's failures.
        candidate: usize,
        /// Number of the baseline's failures.
        baseline: usize,
    },
    /// Fewer than five replicates per side, of this unit, do not overlap: noise of two modes can do that by chance.
    FewApart(ReplicationUnit),
    /// The method's intervals are too narrow with fewer than 10 instances per side.
    NarrowMethod,
    /// The instance means fall into groups, and there are too few for the interval to keep its level.
    FewOfSeveralModes,
    /// A few instances are far from the others of their side, which widens the interval of a ratio of means.
    Outliers,
    /// The sessions that a side pools change over time.
    PoolDrifts {
        /// The name of the side.
        side: String,
        /// Whether one step describes them better than a slope.
        is_step: bool,
        /// The last level / the first one.
        ratio: f64,
    },
}

pub(super) fn cautions(sides: [&SideSample; 2]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let hosts = sides.map(|side| {
        side.origins
            .iter()
            .filter_map(|it| it.host.clone())
            .collect()
    });
    if imbalance(hosts) > MOST_IMBALANCE || are_apart(sides, |side| &side.hosts) {
        cautions.push(other_machines(sides, |side| &side.hosts));
    } else if are_apart(sides, |side| &side.processors) {
        cautions.push(other_machines(sides, |side| &side.processors));
    }
    let earlier = sides.iter().map(|side| side.earlier).sum();
    if earlier > 0 {
        cautions.push(Caution::EarlierEpoch { instances: earlier });
    }
    let apart = sides.iter().map(|side| side.apart).sum();
    if apart > 0 {
        cautions.push(Caution::MeasuredApart { instances: apart });
    }
    if have_other_units(sides) {
        let [baseline, candidate] = sides.map(|side| first_names(&side.units, 3));
        cautions.push(Caution::OtherUnits {
            baseline,
            candidate,
        });
    }
    let is_measured = sides.iter().all(|side| !side.cleaned.instances.is_empty());
    if is_measured && fails_more_often(sides.map(|side| side.failure_rates.as_slice())) {
        cautions.push(Caution::Failures {
            candidate: sides[1].failures,
            baseline: sides[0].failures,
        });
    }
    let means = sides.map(|side| instance_means(&side.cleaned));
    let is_few = means.iter().any(|it| it.len() < ENOUGH_FOR_MODES);
    if is_few && fall_into_groups(&means) {
        cautions.push(Caution::FewOfSeveralModes);
    }
    cautions
}

/// Number of instances per side from which intervals keep their level even if means fall into groups
/// (`docs/calibration.md`).
const ENOUGH_FOR_MODES: usize = 10;

/// Instances are outliers if they are farther from the median of their side than so many robust standard deviations,
/// and than this logarithm.
const FAR: f64 = 8.0;
const FAR_LOGARITHM: f64 = 0.1;
/// The fewest instances per side among which outliers are told, and the largest share that are any.
const ENOUGH_FOR_OUTLIERS: usize = 5;
const MOST_OUTLIERS: f64 = 0.25;

/// Returns the caution of a few instances that are far from the others of their side, if there are any.
pub(super) fn outliers(sides: [&SideSample; 2]) -> Option<Caution> {
    let means = sides.map(|side| instance_means(&side.cleaned));
    if means.iter().any(|it| it.len() < ENOUGH_FOR_OUTLIERS) {
        return None;
    }
    let distances = means.iter().flat_map(|side| {
        let logs: Vec<f64> = side.iter().map(|it| it.ln()).collect();
        let middle = median(&logs).unwrap_or(f64::NAN);
        logs.into_iter().map(move |it| (it - middle).abs())
    });
    let distances: Vec<f64> = distances.collect();
    let far = (FAR * DEVIATIONS_OF_MEDIAN * median(&distances)?).max(FAR_LOGARITHM);
    let found = distances.iter().filter(|it| **it > far).count();
    let are_few = as_f64(found) <= MOST_OUTLIERS * as_f64(distances.len());
    (found > 0 && are_few).then_some(Caution::Outliers)
}

/// The standard deviation of a normal distribution, in median distances from its median.
const DEVIATIONS_OF_MEDIAN: f64 = 1.4826;

fn are_apart(sides: [&SideSample; 2], of: impl Fn(&SideSample) -> &BTreeSet<String>) -> bool {
    let [baseline, candidate] = sides.map(of);
    !baseline.is_empty() && !candidate.is_empty() && baseline.is_disjoint(candidate)
}

fn other_machines(
    sides: [&SideSample; 2],
    of: impl Fn(&SideSample) -> &BTreeSet<String>,
) -> Caution {
    let [baseline, candidate] = sides.map(|side| first_names(of(side), 3));
    Caution::OtherMachines {
        baseline,
        candidate,
    }
}

/// Returns the cautions that follow from the times and hosts of the two sides, which are judged by this unit; `None` is
/// a method that judges instances, whatever their sessions.
pub(super) fn design_cautions(
    sides: [&SideSample; 2],
    unit: Option<ReplicationUnit>,
) -> Vec<Caution> {
    let mut cautions = Vec::new();
    if unit == Some(ReplicationUnit::Session) {
        return cautions;
    }
    // By instances, what two sessions differ by is in the ratio as well.
    let few = if unit.is_some() { 1 } else { SESSIONS - 1 };
    let sessions = sides
        .map(|side| -> BTreeSet<Id> { side.origins.iter().map(|origin| origin.session).collect() });
    if sessions.iter().any(|of_side| of_side.len() <= few) && sessions[0] != sessions[1] {
        cautions.push(Caution::OneSession);
    }
    if sessions[0] == sessions[1] && sessions[0].len() == 1 && is_one_side_first(sides) {
        cautions.push(Caution::NotInterleaved);
    }
    cautions
}

/// Returns whether all instances of one side come before all of the other one.
fn is_one_side_first(sides: [&SideSample; 2]) -> bool {
    let range = |side: &SideSample| {
        let positions = || side.origins.iter().map(|origin| origin.position);
        positions().min().zip(positions().max())
    };
    match sides.map(range) {
        [Some(one), Some(other)] => one.1 < other.0 || other.1 < one.0,
        _ => false,
    }
}

/// Returns whether the instances of the candidate fail at a higher rate than those of the baseline.
fn fails_more_often(rates: [&[f64]; 2]) -> bool {
    let [baseline, candidate] = rates;
    let is_higher = mean(candidate) > mean(baseline);
    is_higher && mann_whitney(baseline, candidate).is_some_and(|test| test.p_value <= 0.1)
}

/// Returns whether the instances of a side detectably fall into two groups: in that side alone, or in both sides
/// together if a side has instances in both groups.
fn fall_into_groups(means: &[Vec<f64>; 2]) -> bool {
    if means
        .iter()
        .any(|it| matches!(modes(it), Modes::Two { .. }))
    {
        return true;
    }
    let Modes::Two { split, .. } = modes(&means.concat()) else {
        return false;
    };
    let is_upper = |mean: &f64| *mean >= split.gap.1;
    let is_mixed = |side: &Vec<f64>| side.iter().any(is_upper) && !side.iter().all(is_upper);
    means.iter().any(is_mixed)
}
