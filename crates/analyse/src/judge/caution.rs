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
///
/// The rates are shares of each instance's iterations. Three tenths of all, in at least two instances, are enough if none
/// of the baseline failed: with few instances no test would find it, and what is left does not stand for all of them.
/// `docs/calibration.md` has the error rates.
fn fails_more_often(rates: [&[f64]; 2]) -> bool {
    let [baseline, candidate] = rates;
    let [before, after] = rates.map(|side| side.iter().filter(|it| **it > 0.0).count());
    let failed: f64 = candidate.iter().sum();
    let are_many = 10.0 * failed >= TENTHS_FAILED * as_f64(candidate.len());
    let is_first = before == 0 && after > 1 && are_many;
    let is_higher = mean(candidate) > mean(baseline);
    let is_detected = || mann_whitney(baseline, candidate).is_some_and(|it| it.p_value <= 0.1);
    is_first || is_higher && is_detected()
}

/// From so many tenths of failures on, a side fails more often than one without any.
const TENTHS_FAILED: f64 = 3.0;

/// Returns the side of a comparison that fails more often than the other, so that its times are those of other work;
/// `failed` has the failed instances and all instances of each side.
pub fn failing_side(failed: [[usize; 2]; 2]) -> Option<usize> {
    let rates = failed.map(|[failed, all]| {
        let all = (0..all).map(|it| f64::from(u8::from(it < failed)));
        all.collect::<Vec<f64>>()
    });
    // A candidate first: it is what is judged.
    [1, 0]
        .into_iter()
        .find(|side| fails_more_often([&rates[1 - side], &rates[*side]]))
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

#[cfg(test)]
mod tests {
    use super::failing_side;

    /// Returns the probabilities of 0, 1, … of `all` instances that fail with this probability each.
    fn binomial(all: usize, probability: f64) -> Vec<f64> {
        let mut found = vec![1.0];
        for _ in 0..all {
            let mut next = vec![0.0; found.len() + 1];
            for (place, weight) in found.iter().enumerate() {
                next[place] += weight * (1.0 - probability);
                next[place + 1] += weight * probability;
            }
            found = next;
        }
        found
    }

    /// Returns how often a question about the failed instances of both sides, of so many each, is answered with yes.
    fn share(
        all: usize,
        [baseline, candidate]: [f64; 2],
        ask: impl Fn([[usize; 2]; 2]) -> bool,
    ) -> f64 {
        let weights = [baseline, candidate].map(|it| binomial(all, it));
        let pairs = (0..=all).flat_map(|one| (0..=all).map(move |other| [one, other]));
        let asked = pairs.filter(|pair| ask(pair.map(|it| [it, all])));
        asked
            .map(|[one, other]| weights[0][one] * weights[1][other])
            .sum()
    }

    /// The percentages are those of scipy 1.17.1 (`binom.pmf`; twice the smaller p-value of both
    /// one-sided `fisher_exact`, which is the exact test of ranks of zeros and ones).
    #[test]
    fn few_equal_sides_fail_more_often_and_most_failing_ones_do() {
        // The instances per side; the shares that are not judged if both fail with 1, 10 and 50 %; if one does with 20, 50
        // and 80 %.
        let rows = [
            (3, [0.06, 4.08, 12.50], [10.40, 50.00, 89.60]),
            (5, [0.19, 9.62, 6.05], [26.27, 81.25, 99.33]),
            (10, [0.02, 4.91, 4.24], [32.22, 94.53, 99.99]),
            (30, [0.00, 2.60, 5.22], [74.48, 100.0, 100.0]),
        ];
        for (all, equal, other) in rows {
            for (rate, expected) in [0.01, 0.1, 0.5].into_iter().zip(equal) {
                let found = 100.0 * share(all, [rate; 2], |it| failing_side(it).is_some());
                assert!((found - expected).abs() < 0.006, "{all} {rate}: {found}");
            }
            for (rate, expected) in [0.2, 0.5, 0.8].into_iter().zip(other) {
                let found = 100.0 * share(all, [0.0, rate], |it| failing_side(it) == Some(1));
                assert!((found - expected).abs() < 0.006, "{all} {rate}: {found}");
                let found = 100.0 * share(all, [rate, 0.0], |it| failing_side(it) == Some(0));
                assert!((found - expected).abs() < 0.006, "{all} {rate}: {found}");
            }
        }
    }
}
