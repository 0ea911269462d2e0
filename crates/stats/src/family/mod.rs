//! Many comparisons at once, with few replicates each: tests for which the family shows what its noise looks like.

mod known;
mod newest;
mod null;
mod relabel;
mod selected;

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

pub use self::known::{known_noise_test, known_with_suite, noisier_by};
pub use self::newest::{NEWEST_RUNS, newest_p_values};
use self::null::PooledNull;
use self::relabel::{Design, Relabelled};
pub use self::selected::{SelectedSize, selected_size};
use crate::interval::t_p_value;
use crate::number::as_f64;
use crate::spread::moderation::VariancePrior;
use crate::spread::replicates::{Contrast, DifferenceMethod, Replicates};
use crate::{Confidence, Interval, PValue, Seed, benjamini_hochberg, median};

/// The index of the Pareto tail that continues the null statistics. Fixed: ten to a hundred null statistics are too
/// few to fit one.
const TAIL_INDEX: f64 = 4.0;
/// In smaller families no member is aligned before it is relabelled.
const ALIGNED_FROM: usize = 5;
/// The adjusted p-value up to which a member seems to have changed.
const SEEMS_CHANGED: f64 = 0.05;
/// The statistic of a difference between values that do not vary at all.
const WITHOUT_NOISE: f64 = 1e9;
/// Smaller differences between values are rounding errors, and no resolution.
const LEAST_GAP: f64 = 1e-9;
/// The fewest comparisons of a history from which it is used.
const LEAST_HISTORY: usize = 8;
/// A history is not used if a variance of today is beyond this tail of what it lets expect.
const HISTORY_FITS: f64 = 0.1;

/// The test of one member of a family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FamilyTest {
    /// The difference of the means, candidate − baseline.
    pub difference: f64,
    /// Two-sided p-value of "the difference is 0", before correction for the number of members.
    pub p_value: f64,
    /// The estimates of the error, of which the one with the wider interval counts.
    errors: [Option<StandardError>; 2],
    /// The moderated variance of one replicate, or of one pair's difference.
    pub(crate) variance: f64,
    /// The variance of the difference, as a multiple of `variance`.
    pub(crate) scale: f64,
    /// The degrees of freedom of the member's own variance.
    pub(crate) freedom: f64,
    /// Those that the family adds.
    pub(crate) prior_freedom: f64,
    pub(crate) is_paired: bool,
    /// The number of members of the history that were used.
    pub history: usize,
}

/// A standard error with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StandardError {
    value: f64,
    freedom: f64,
    method: DifferenceMethod,
}

impl FamilyTest {
    /// Returns the test of a difference that was found by other means, with this variance of a replicate, its factor in
    /// the difference's, and degrees of freedom; it has no interval.
    pub(crate) fn alone(
        difference: f64,
        p_value: f64,
        variance: f64,
        scale: f64,
        freedom: f64,
    ) -> Self {
        Self {
            difference,
            p_value,
            errors: [None, None],
            variance,
            scale,
            freedom,
            prior_freedom: 0.0,
            is_paired: false,
            history: 0,
        }
    }

    /// Returns the interval of the difference, and the method that gave it.
    pub fn interval(&self, confidence: Confidence) -> Option<(Interval, DifferenceMethod)> {
        let halves = self.errors.iter().flatten().filter_map(|error| {
            let half = confidence.t_quantile(error.freedom)? * error.value;
            Some((half, error.method))
        });
        let (half, method) = halves.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        Some((Interval::around(self.difference, half), method))
    }
}

/// Returns the tests of a family of comparisons, in the order given; `None` for members without a test: fewer than two
/// replicates per side or two pairs, or values that are all equal.
///
/// The p-value is the larger one of two:
///
/// - the *moderated t*: the pooled variance s² is replaced by (d₀ s₀² + d s²)/(d₀ + d), with the prior
///   ([`VariancePrior`]) of all variances of the family, and t gets d₀ + d degrees of freedom. d₀ is at most the
///   number of members less 1. It finds far more than a t test of its own with three to five replicates, but takes
///   the noise for normal. With unequal numbers per side, also Welch's with a prior for each side: the larger p-value
///   and the wider interval count;
/// - the *pooled* one: how often a moderated t at least as large occurs when the replicates of each member are dealt
///   out to the two sides anew (the signs of pairs: drawn anew), in all ways but the one observed, over the family,
///   with one more for the observed one. It counts less the farther the statistic is beyond the next smaller null
///   value t′, (t′/t)⁴: the size of a change counts, and there is no smallest p-value. It needs no assumption about
///   the noise: if several modes separate the sides by chance, they do so as often among the relabellings. In
///   families of five or more, members that seem to have changed are aligned before. A single comparison of pairs has
///   only the first.
///
/// A variance is at least g²/12, where g is the step to which the values of a member with ties are rounded.
///
/// `history` has earlier comparisons of the same benchmark, in which nothing changed, for a family of one or two:
/// they show the noise too, and are not tested. It is used if it has eight members, and if no variance of today is
/// beyond the upper 10 % of what it lets expect.
///
/// Values of one member are exchangeable if nothing changed; members need not be independent of each other. The result
/// does not depend on the order of members; relabellings are drawn by the seed if a design has more than 500.
///
/// Source: Smyth, *Statistical Applications in Genetics and Molecular Biology* 2004, for the moderated t; Tusher,
/// Tibshirani & Chu, *PNAS* 2001, for relabellings pooled over a family. The continued tail and the combination are
/// ours, calibrated in `docs/calibration.md`.
///
/// ```
/// use lapwing_stats::{Replicates, Seed, family_tests};
/// let quiet = Replicates::Sides([vec![0.01, 0.0, 0.02, 0.0, 0.01], vec![0.0, 0.02, 0.01, 0.01, 0.0]]);
/// let slower = Replicates::Sides([vec![0.01, 0.0, 0.02, 0.0, 0.01], vec![0.3, 0.32, 0.31, 0.29, 0.3]]);
/// let family = [quiet.clone(), quiet.clone(), quiet.clone(), quiet, slower];
/// let tests = family_tests(&family, &[], Seed(7));
/// assert!(tests[4].is_some_and(|test| test.p_value < 1e-6));
/// assert!(tests[0].is_some_and(|test| test.p_value > 0.5));
/// ```
pub fn family_tests(
    family: &[Replicates],
    history: &[Replicates],
    seed: Seed,
) -> Vec<Option<FamilyTest>> {
    let (places, tested): (Vec<usize>, Vec<&Replicates>) = family
        .iter()
        .enumerate()
        .filter(|(_, replicates)| !replicates.is_constant() && replicates.contrast().is_some())
        .unzip();
    let mut members = FamilyMember::all(&tested);
    let number = members.len();
    let history = FamilyMember::all(&history.iter().collect::<Vec<_>>());
    if history_fits(&history, &members) {
        members.extend(history);
    }
    let prior = prior(&members);
    let mut tests: Vec<FamilyTest> = members[..number]
        .iter()
        .map(|member| member.moderated(&prior))
        .collect();
    for (member, test) in members.iter().zip(&mut tests) {
        test.history = members.len() - number;
        member.allow_for_sides(&members[..number], test);
    }
    let is_single_pair = members.len() == 1 && matches!(members[0].design, Design::Pairs(_));
    if !is_single_pair {
        align(&mut members, &tests);
        let null = Null::new(&members, &prior, seed);
        for (member, test) in members.iter().zip(&mut tests) {
            test.p_value = test.p_value.max(null.p_value(member, &prior));
        }
    }
    let mut results = vec![None; family.len()];
    for (at, test) in places.into_iter().zip(tests) {
        results[at] = Some(test);
    }
    results
}

/// Returns the prior of all variances, which counts at most as much as the number of members allows; one that counts
/// nothing if the variances do not show any.
fn prior(members: &[FamilyMember]) -> VariancePrior {
    let contrasts = members.iter().map(|member| member.contrast);
    let variances = contrasts.map(|contrast| (contrast.variance, contrast.freedom));
    prior_of(&variances.collect::<Vec<_>>())
}

fn prior_of(variances: &[(f64, f64)]) -> VariancePrior {
    let most = as_f64(variances.len().saturating_sub(1));
    VariancePrior::fit(variances).map_or(VariancePrior::NONE, |prior| prior.at_most(most))
}

/// Returns whether a history is long enough, and today as quiet as it lets expect.
fn history_fits(history: &[FamilyMember], today: &[FamilyMember]) -> bool {
    if history.len() < LEAST_HISTORY {
        return false;
    }
    let prior = prior(history);
    prior.freedom > 0.0
        && today.iter().all(|member| {
            let share = member.contrast.variance / prior.variance;
            FisherSnedecor::new(member.contrast.freedom, prior.freedom)
                .is_ok_and(|distribution| distribution.sf(share) >= HISTORY_FITS)
        })
}

/// Takes the difference out of the members that seem to have one, by the moderated t and Benjamini & Hochberg, and of
/// the history: else their relabellings, which mix both sides, would show it as noise.
fn align(members: &mut [FamilyMember], tests: &[FamilyTest]) {
    let p_values: Vec<PValue> = tests
        .iter()
        .map(|test| PValue::new(test.p_value).unwrap_or(PValue::ONE))
        .collect();
    let adjusted = benjamini_hochberg(&p_values);
    let is_family = members.len() >= ALIGNED_FROM;
    for (at, member) in members.iter_mut().enumerate() {
        let seems_changed = |p_value: &PValue| is_family && p_value.value() <= SEEMS_CHANGED;
        if adjusted.get(at).is_none_or(seems_changed) {
            member.replicates = member.replicates.beyond(f64::INFINITY);
        }
    }
}

struct FamilyMember {
    replicates: Replicates,
    design: Design,
    /// With the resolution in its variance.
    contrast: Contrast,
    /// The least variance that the resolution of the values allows.
    floor: f64,
}

impl FamilyMember {
    /// Returns the members that have a contrast.
    fn all(replicates: &[&Replicates]) -> Vec<Self> {
        let members = replicates.iter().filter_map(|replicates| {
            Some(Self {
                replicates: (*replicates).clone(),
                design: Design::of(replicates),
                contrast: replicates.contrast()?,
                floor: 0.0,
            })
        });
        let mut members: Vec<Self> = members.collect();
        let mut gaps: BTreeMap<Design, Vec<f64>> = BTreeMap::new();
        let steps: Vec<Option<f64>> = members.iter().map(Self::least_gap_of_ties).collect();
        for (member, step) in members.iter().zip(&steps) {
            let finite = step.filter(|step| step.is_finite());
            gaps.entry(member.design).or_default().extend(finite);
        }
        for (member, step) in members.iter_mut().zip(steps) {
            let typical = gaps.get(&member.design).and_then(|gaps| median(gaps));
            let step = step.map_or(0.0, |step| step.min(typical.unwrap_or(0.0)));
            member.floor = step * step / 12.0;
            member.contrast.variance = member.contrast.variance.max(member.floor);
        }
        members
    }

    /// Returns the least difference between values that differ, where others do not, so that all seem rounded;
    /// infinite if none differ.
    fn least_gap_of_ties(&self) -> Option<f64> {
        let mut values = match &self.replicates {
            Replicates::Sides(sides) => sides.concat(),
            Replicates::Pairs(differences) => differences.clone(),
        };
        values.sort_by(f64::total_cmp);
        let gaps = values.windows(2).map(|pair| pair[1] - pair[0]);
        let (positive, ties): (Vec<f64>, Vec<f64>) = gaps.partition(|gap| *gap > LEAST_GAP);
        let mut least = positive.into_iter().fold(f64::INFINITY, f64::min);
        // Differences that are all equal are as coarse as they are large.
        if let (Design::Pairs(_), Some(first)) = (self.design, values.first())
            && least.is_infinite()
        {
            least = first.abs();
        }
        (!ties.is_empty()).then_some(least)
    }

    /// Returns the moderated t test.
    fn moderated(&self, prior: &VariancePrior) -> FamilyTest {
        let variance = prior.moderate(self.contrast.variance, self.contrast.freedom);
        let error = StandardError {
            value: (variance * self.contrast.scale).sqrt(),
            freedom: prior.moderated_freedom(self.contrast.freedom),
            method: match self.design {
                Design::Sides(..) => DifferenceMethod::Student,
                Design::Pairs(_) => DifferenceMethod::Paired,
            },
        };
        FamilyTest {
            difference: self.contrast.difference,
            p_value: p_of(self.contrast.difference, error),
            errors: [Some(error), None],
            variance,
            scale: self.contrast.scale,
            freedom: self.contrast.freedom,
            prior_freedom: prior.freedom,
            is_paired: matches!(self.design, Design::Pairs(_)),
            history: 0,
        }
    }

    /// Adds Welch's test with a prior for each side if the numbers differ: a side of three replicates that vary more
    /// than the twenty of the other would else hardly count.
    fn allow_for_sides(&self, family: &[Self], test: &mut FamilyTest) {
        let Design::Sides(baseline, candidate) = self.design else {
            return;
        };
        if baseline == candidate {
            return;
        }
        let of_design = || family.iter().filter(|member| member.design == self.design);
        let (mut error, mut squares) = (0.0, 0.0);
        for (side, size) in [baseline, candidate].map(as_f64).into_iter().enumerate() {
            let variance = |member: &Self| match &member.replicates {
                Replicates::Sides(sides) => crate::standard_deviation(&sides[side])
                    .map(|deviation| (deviation.powi(2), size - 1.0)),
                Replicates::Pairs(_) => None,
            };
            let Some((own, freedom)) = variance(self) else {
                return;
            };
            let prior = prior_of(&of_design().filter_map(variance).collect::<Vec<_>>());
            let part = prior.moderate(own, freedom).max(self.floor) / size;
            error += part;
            squares += part * part / prior.moderated_freedom(freedom);
        }
        let error = StandardError {
            value: error.sqrt(),
            freedom: if squares > 0.0 {
                error * error / squares
            } else {
                1.0
            },
            method: DifferenceMethod::Welch,
        };
        test.p_value = test.p_value.max(p_of(self.contrast.difference, error));
        test.errors[1] = Some(error);
    }
}

/// Returns |t|; 0 if there is no difference.
fn statistic(difference: f64, error: f64) -> f64 {
    if difference == 0.0 {
        0.0
    } else if error == 0.0 {
        WITHOUT_NOISE
    } else {
        (difference / error).abs()
    }
}

fn p_of(difference: f64, error: StandardError) -> f64 {
    t_p_value(statistic(difference, error.value), error.freedom).unwrap_or(1.0)
}

/// Returns |t| with the moderated variance.
fn moderated_statistic(contrast: &Contrast, prior: &VariancePrior) -> f64 {
    let variance = prior.moderate(contrast.variance, contrast.freedom);
    statistic(contrast.difference, (variance * contrast.scale).sqrt())
}

/// The statistics of all relabellings of a family.
struct Null {
    pooled: PooledNull,
    /// The number of relabellings by design.
    counts: BTreeMap<Design, usize>,
    members: usize,
}

impl Null {
    fn new(members: &[FamilyMember], prior: &VariancePrior, seed: Seed) -> Self {
        let mut relabellings: BTreeMap<Design, Vec<Vec<usize>>> = BTreeMap::new();
        let mut statistics = Vec::new();
        for member in members {
            let labels = relabellings
                .entry(member.design)
                .or_insert_with(|| member.design.relabellings(seed));
            let freedom = prior.moderated_freedom(member.contrast.freedom);
            let weight = weight(members.len(), labels.len());
            let relabelled = Relabelled::of(&member.replicates, member.contrast);
            for chosen in labels.iter() {
                let mut contrast = relabelled.contrast(chosen);
                contrast.variance = contrast.variance.max(member.floor);
                statistics.push((freedom, moderated_statistic(&contrast, prior), weight));
            }
        }
        let counts = relabellings.into_iter();
        Self {
            pooled: PooledNull::new(statistics),
            counts: counts
                .map(|(design, labels)| (design, labels.len()))
                .collect(),
            members: members.len(),
        }
    }

    fn p_value(&self, member: &FamilyMember, prior: &VariancePrior) -> f64 {
        let relabellings = self.counts.get(&member.design).copied().unwrap_or(0);
        let statistic = moderated_statistic(&member.contrast, prior);
        let freedom = prior.moderated_freedom(member.contrast.freedom);
        let one_more = weight(self.members, relabellings);
        self.pooled
            .p_value(statistic, freedom, one_more, TAIL_INDEX)
    }
}

/// Returns the weight of one relabelling: all of a member count as much as all of another.
fn weight(members: usize, relabellings: usize) -> f64 {
    (as_f64(members) * as_f64(relabellings.max(1))).recip()
}

#[cfg(test)]
mod tests;
