//! Many comparisons at once, with few replicates each: p-values for which the family shows what its noise looks like.

use std::collections::BTreeMap;

use rand_xoshiro::rand_core::Rng;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::interval::t_p_value;
use crate::moderation::VariancePrior;
use crate::number::{as_f64, choices};
use crate::replicates::{Contrast, Replicates};
use crate::subset::{draw_subset, each_subset};
use crate::{Confidence, PValue, Seed, benjamini_hochberg};

/// A family of fewer members shows too little of its noise: they are judged one by one.
const LEAST_FAMILY: usize = 5;

/// Of more relabellings than this, so many are drawn.
const MOST_RELABELLINGS: usize = 500;

/// Returns the two-sided p-values of "there is no difference" of a family of comparisons, in the order given; `None`
/// for members without a test: fewer than two replicates per side, or values that are all equal.
///
/// In a family of fewer than five tests the p-value is that of [`Replicates::difference`]. Otherwise it is the larger one of two:
///
/// - the *moderated t*: the pooled variance s² is replaced by (d₀ s₀² + d s²)/(d₀ + d), with the prior
///   ([`VariancePrior`]) of all variances of the family, and t gets d₀ + d degrees of freedom. It finds far more than
///   a t test of its own with three to five replicates, but takes the noise for normal;
/// - the *resampled* one: how often a moderated t at least as large occurs when the replicates of each member are
///   dealt out to the two sides anew (the signs of pairs: drawn anew), in all ways but the one observed, averaged over
///   the family. It needs no assumption about the noise: if several modes part the sides by chance, they do so
///   as often among the relabellings. Members that seem to have changed are aligned before.
///
/// Values of one member are independent of its label if nothing changed; members need not be independent of each other. The result
/// does not depend on the order of members; relabellings are drawn by the seed if a design has more than 500.
///
/// Source: Smyth, *Statistical Applications in Genetics and Molecular Biology* 2004, for the moderated t; Tusher,
/// Tibshirani & Chu, *PNAS* 2001, for relabellings pooled over a family. The combination is calibrated in
/// `docs/calibration.md`.
///
/// ```
/// use lapwing_stats::{Replicates, Seed, family_p_values};
/// let quiet = Replicates::Sides([vec![0.01, 0.0, 0.02, 0.0, 0.01], vec![0.0, 0.02, 0.01, 0.01, 0.0]]);
/// let slower = Replicates::Sides([vec![0.01, 0.0, 0.02, 0.0, 0.01], vec![0.3, 0.32, 0.31, 0.29, 0.3]]);
/// let family = [quiet.clone(), quiet.clone(), quiet.clone(), quiet, slower];
/// let p_values = family_p_values(&family, Seed(7));
/// assert!(p_values[4].is_some_and(|p_value| p_value < 0.01));
/// assert!(p_values[0].is_some_and(|p_value| p_value > 0.5));
/// ```
pub fn family_p_values(family: &[Replicates], seed: Seed) -> Vec<Option<f64>> {
    let own = |member: &Replicates| {
        if member.is_constant() {
            return None;
        }
        Some(member.difference(Confidence::P95)?.p_value)
    };
    let mut p_values: Vec<Option<f64>> = family.iter().map(own).collect();
    let tested: Vec<(usize, FamilyMember)> = family
        .iter()
        .enumerate()
        .filter(|(at, _)| p_values[*at].is_some())
        .filter_map(|(at, member)| Some((at, FamilyMember::of(member)?)))
        .collect();
    if tested.len() < LEAST_FAMILY {
        return p_values;
    }
    let variances: Vec<(f64, f64)> = tested
        .iter()
        .map(|(_, member)| (member.contrast.variance, member.contrast.freedom))
        .collect();
    let Some(prior) = VariancePrior::fit(&variances) else {
        return p_values;
    };
    let (places, mut members): (Vec<usize>, Vec<FamilyMember>) = tested.into_iter().unzip();
    let moderated: Vec<Moderated> = members
        .iter()
        .filter_map(|member| Moderated::of(&member.contrast, &prior))
        .collect();
    if moderated.len() < members.len() {
        return p_values;
    }
    align_the_changed(&mut members, &moderated);
    let null = NullStatistics::of(&members, &prior, seed);
    for (at, moderated) in places.into_iter().zip(&moderated) {
        let resampled = null.p_value(moderated.statistic, moderated.freedom);
        p_values[at] = Some(moderated.p_value.value().max(resampled));
    }
    p_values
}

/// Takes the difference out of the members that seem to have one, by the moderated t and Benjamini & Hochberg: else their
/// relabellings, which mix both sides, would show it as noise.
fn align_the_changed(members: &mut [FamilyMember], moderated: &[Moderated]) {
    let p_values: Vec<PValue> = moderated.iter().map(|it| it.p_value).collect();
    for (member, adjusted) in members.iter_mut().zip(benjamini_hochberg(&p_values)) {
        if adjusted.value() <= SEEMS_CHANGED {
            member.replicates = member.replicates.beyond(f64::INFINITY);
        }
    }
}

/// The adjusted p-value up to which a member seems to have changed.
const SEEMS_CHANGED: f64 = 0.05;

/// A moderated t test.
struct Moderated {
    /// |t|.
    statistic: f64,
    freedom: f64,
    p_value: PValue,
}

impl Moderated {
    fn of(contrast: &Contrast, prior: &VariancePrior) -> Option<Self> {
        let statistic = moderated_statistic(contrast, prior);
        let freedom = prior.moderated_freedom(contrast.freedom);
        Some(Self {
            statistic,
            freedom,
            p_value: PValue::new(t_p_value(statistic, freedom)?).ok()?,
        })
    }
}

struct FamilyMember {
    replicates: Replicates,
    contrast: Contrast,
}

impl FamilyMember {
    fn of(replicates: &Replicates) -> Option<Self> {
        Some(Self {
            replicates: replicates.clone(),
            contrast: replicates.contrast()?,
        })
    }
}

/// Returns |t| with the moderated variance.
fn moderated_statistic(contrast: &Contrast, prior: &VariancePrior) -> f64 {
    let variance = prior.moderate(contrast.variance, contrast.freedom);
    (contrast.difference / (variance * contrast.scale).sqrt()).abs()
}

/// A way to measure: the numbers of replicates of the sides, or the number of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Design {
    Sides(usize, usize),
    Pairs(usize),
}

impl Design {
    fn of(replicates: &Replicates) -> Self {
        match replicates {
            Replicates::Sides([baseline, candidate]) => {
                Self::Sides(baseline.len(), candidate.len())
            }
            Replicates::Pairs(differences) => Self::Pairs(differences.len()),
        }
    }

    /// Returns the relabellings: each has the positions of the replicates that become the baseline, or of the pairs
    /// whose sign changes. The observed labels are not among them, nor, with equal numbers, their mirror image.
    fn relabellings(self, seed: Seed) -> Vec<Vec<usize>> {
        let (all, size) = match self {
            Self::Sides(baseline, candidate) => (baseline + candidate, baseline),
            Self::Pairs(pairs) => return flips(pairs, seed),
        };
        let is_other = |chosen: &[usize]| {
            let is_observed = chosen.iter().all(|at| *at < size);
            let is_mirrored = 2 * size == all && chosen.iter().all(|at| *at >= size);
            !is_observed && !is_mirrored
        };
        let mut found = Vec::new();
        if choices(all, size) <= as_f64(2 * MOST_RELABELLINGS) {
            each_subset(all, size, |chosen| {
                // Of two mirror images one is enough.
                if is_other(chosen) && (2 * size != all || chosen.first() == Some(&0)) {
                    found.push(chosen.to_vec());
                }
            });
            return found;
        }
        let mut random = seed.block(0);
        let mut positions: Vec<usize> = (0..all).collect();
        while found.len() < MOST_RELABELLINGS {
            draw_subset(&mut positions, size, &mut random);
            if is_other(&positions[..size]) {
                found.push(positions[..size].to_vec());
            }
        }
        found
    }
}

/// Returns sets of pairs whose sign changes, all or drawn ones; the last pair keeps its sign, because changing all
/// signs changes nothing.
fn flips(pairs: usize, seed: Seed) -> Vec<Vec<usize>> {
    let free = pairs.saturating_sub(1);
    let most = u32::try_from(2 * MOST_RELABELLINGS).map_or(0, u32::ilog2);
    if free <= most as usize {
        let subset = |bits: usize| (0..free).filter(|at| bits >> at & 1 == 1).collect();
        return (1..1 << free).map(subset).collect();
    }
    let mut random = seed.block(1);
    let mut found = Vec::new();
    while found.len() < MOST_RELABELLINGS {
        let chosen: Vec<usize> = (0..free).filter(|_| random.next_u32() % 2 == 1).collect();
        if !chosen.is_empty() {
            found.push(chosen);
        }
    }
    found
}

/// The moderated statistics of all relabellings of a family, by their degrees of freedom.
struct NullStatistics {
    groups: Vec<NullGroup>,
    /// The weight of one more relabelling, for the observed one.
    one_more: f64,
}

struct NullGroup {
    freedom: f64,
    statistics: Vec<f64>,
    /// The weight of the statistics from this position on.
    weight_from: Vec<f64>,
}

impl NullStatistics {
    fn of(members: &[FamilyMember], prior: &VariancePrior, seed: Seed) -> Self {
        let mut relabellings: BTreeMap<Design, Vec<Vec<usize>>> = BTreeMap::new();
        let mut by_freedom: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        let mut count = 0;
        for member in members {
            let design = Design::of(&member.replicates);
            let labels = relabellings
                .entry(design)
                .or_insert_with(|| design.relabellings(seed));
            let freedom = prior.moderated_freedom(member.contrast.freedom);
            let group = by_freedom.entry(freedom.to_bits()).or_default();
            let weight = 1.0 / (as_f64(labels.len().max(1)) * as_f64(members.len()));
            let relabelled = Relabelled::of(member);
            for chosen in labels.iter() {
                let statistic = moderated_statistic(&relabelled.contrast(chosen), prior);
                group.push((statistic, weight));
            }
            count += labels.len();
        }
        let groups = by_freedom
            .into_iter()
            .map(|(bits, statistics)| NullGroup::of(f64::from_bits(bits), statistics));
        Self {
            groups: groups.collect(),
            one_more: 1.0 / as_f64(count.max(1)),
        }
    }

    /// Returns the weight of the relabellings that are at least as unusual as a statistic, and of one more.
    fn p_value(&self, statistic: f64, freedom: f64) -> f64 {
        let groups = self.groups.iter();
        let sum: f64 = groups.map(|group| group.weight(statistic, freedom)).sum();
        (sum + self.one_more).min(1.0)
    }
}

impl NullGroup {
    fn of(freedom: f64, mut pairs: Vec<(f64, f64)>) -> Self {
        pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut weight_from: Vec<f64> = pairs.iter().map(|(_, weight)| *weight).collect();
        let mut sum = 0.0;
        for weight in weight_from.iter_mut().rev() {
            sum += *weight;
            *weight = sum;
        }
        Self {
            freedom,
            statistics: pairs.into_iter().map(|(statistic, _)| statistic).collect(),
            weight_from,
        }
    }

    /// Returns the weight of the statistics that are at least as unusual as one with other degrees of freedom.
    fn weight(&self, statistic: f64, freedom: f64) -> f64 {
        let limit = same_quantile(statistic, freedom, self.freedom) * (1.0 - 1e-9);
        let first = self.statistics.partition_point(|value| *value < limit);
        self.weight_from.get(first).copied().unwrap_or(0.0)
    }
}

/// Returns the t that has the same p-value with other degrees of freedom.
fn same_quantile(statistic: f64, freedom: f64, other: f64) -> f64 {
    if freedom.to_bits() == other.to_bits() {
        return statistic;
    }
    let Some(p_value) = t_p_value(statistic, freedom) else {
        return statistic;
    };
    StudentsT::new(0.0, 1.0, other).map_or(statistic, |t| -t.inverse_cdf(p_value / 2.0))
}

/// The values of a member around their centre, with the sums that all relabellings share.
struct Relabelled {
    values: Vec<f64>,
    squares: f64,
    contrast: Contrast,
    /// The number of replicates of the baseline; `None` for pairs.
    baseline: Option<usize>,
}

impl Relabelled {
    fn of(member: &FamilyMember) -> Self {
        let (mut values, baseline) = match &member.replicates {
            Replicates::Sides(sides) => (sides.concat(), Some(sides[0].len())),
            Replicates::Pairs(differences) => (differences.clone(), None),
        };
        if baseline.is_some() {
            let centre = values.iter().sum::<f64>() / as_f64(values.len());
            values.iter_mut().for_each(|value| *value -= centre);
        }
        Self {
            squares: values.iter().map(|value| value * value).sum(),
            values,
            contrast: member.contrast,
            baseline,
        }
    }

    fn contrast(&self, chosen: &[usize]) -> Contrast {
        let sum: f64 = chosen.iter().map(|at| self.values[*at]).sum();
        let all = as_f64(self.values.len());
        let (difference, within) = match self.baseline {
            Some(baseline) => {
                // All values add up to 0.
                let (n1, n2) = (as_f64(baseline), all - as_f64(baseline));
                let between = sum * sum * (n1.recip() + n2.recip());
                (-sum * (n1.recip() + n2.recip()), self.squares - between)
            }
            None => {
                let total: f64 = self.values.iter().sum();
                let mean = (total - 2.0 * sum) / all;
                (mean, self.squares - all * mean * mean)
            }
        };
        Contrast {
            difference,
            variance: within.max(0.0) / self.contrast.freedom,
            ..self.contrast
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sides(baseline: &[f64], candidate: &[f64]) -> Replicates {
        Replicates::Sides([baseline.to_vec(), candidate.to_vec()])
    }

    /// Members of three replicates per side, with a spread that differs from member to member.
    fn quiet(count: usize) -> Vec<Replicates> {
        (0..count)
            .map(|at| {
                let value = |k: usize| f64::from(u32::try_from((at * 7 + k * 5) % 11).unwrap_or(0));
                let spread = 0.001 * as_f64(1 + at % 4);
                let side = |from: usize| (from..from + 3).map(|k| value(k * k) * spread).collect();
                Replicates::Sides([side(0), side(3)])
            })
            .collect()
    }

    #[test]
    fn every_relabelling_occurs_once() {
        let of = |design: Design| design.relabellings(Seed(7));
        assert_eq!(of(Design::Sides(3, 3)).len(), 9);
        assert_eq!(of(Design::Sides(2, 3)).len(), 9);
        assert_eq!(of(Design::Sides(5, 5)).len(), 125);
        assert_eq!(of(Design::Sides(9, 9)).len(), MOST_RELABELLINGS);
        assert_eq!(of(Design::Pairs(5)).len(), 15);
        assert_eq!(of(Design::Pairs(30)).len(), MOST_RELABELLINGS);
    }

    #[test]
    fn relabelled_contrasts_are_those_of_the_relabelled_values() {
        let member = sides(&[1.0, 1.3, 1.1], &[1.7, 1.2, 1.6, 1.9]);
        let member = FamilyMember::of(&member).expect("enough");
        let relabelled = Relabelled::of(&member).contrast(&[0, 3, 5]);
        let direct = sides(&[1.0, 1.7, 1.6], &[1.3, 1.1, 1.2, 1.9]);
        let direct = direct.contrast().expect("enough");
        assert!((relabelled.difference - direct.difference).abs() < 1e-12);
        assert!((relabelled.variance - direct.variance).abs() < 1e-12);
        let pairs = Replicates::Pairs(vec![0.1, 0.2, -0.1, 0.4]);
        let member = FamilyMember::of(&pairs).expect("enough");
        let relabelled = Relabelled::of(&member).contrast(&[1, 2]);
        let direct = Replicates::Pairs(vec![0.1, -0.2, 0.1, 0.4]);
        let direct = direct.contrast().expect("enough");
        assert!((relabelled.difference - direct.difference).abs() < 1e-12);
        assert!((relabelled.variance - direct.variance).abs() < 1e-12);
    }

    #[test]
    fn one_separation_among_three_replicates_is_no_finding_in_a_family() {
        let mut family = quiet(30);
        family.push(sides(&[1.0, 1.001, 1.002], &[1.2, 1.201, 1.202]));
        let p_values = family_p_values(&family, Seed(7));
        let least = p_values[30].expect("a test");
        // None of the relabellings of 31 members with nine each is as unusual.
        assert!((least - 1.0 / (31.0 * 9.0)).abs() < 1e-12, "{least}");
    }

    #[test]
    fn small_families_are_judged_member_by_member() {
        let family = quiet(4);
        let own: Vec<Option<f64>> = family
            .iter()
            .map(|member| member.difference(Confidence::P95).map(|it| it.p_value))
            .collect();
        assert_eq!(family_p_values(&family, Seed(7)), own);
    }

    #[test]
    fn constant_members_are_not_tests() {
        let mut family = quiet(6);
        let before = family_p_values(&family, Seed(7));
        family.push(sides(&[5.0; 3], &[5.0; 3]));
        family.push(sides(&[5.0], &[6.0]));
        let after = family_p_values(&family, Seed(7));
        assert_eq!(after[..6], before);
        assert_eq!(after[6..], [None, None]);
    }

    // scipy 1.17.1: -stats.t.ppf(stats.t.sf(3.0, 4), 9)
    const SAME_QUANTILE: f64 = 2.399_326_502_434_232_3;

    #[test]
    fn statistics_of_other_designs_are_compared_by_their_p_values() {
        let same = same_quantile(3.0, 4.0, 9.0);
        assert!((same - SAME_QUANTILE).abs() < 1e-9, "{same}");
        let mut family = quiet(6);
        let longer: Vec<f64> = (0..9).map(|k| 0.001 * f64::from(k * 4 % 9)).collect();
        family.push(sides(&[0.001, 0.002, 0.0], &longer));
        family.push(Replicates::Pairs(vec![0.001, -0.002, 0.0, 0.003, 0.001]));
        assert!(
            family_p_values(&family, Seed(7))
                .iter()
                .all(Option::is_some)
        );
    }

    proptest! {
        #[test]
        fn the_scale_of_a_family_and_the_order_of_sides_do_not_matter(
            values in prop::collection::vec(prop::collection::vec(0.0..1.0_f64, 8), 5..9),
            scale in 0.1..10.0_f64,
        ) {
            let of = |turned: bool, scale: f64| -> Vec<Option<f64>> {
                let family: Vec<Replicates> = values.iter().map(|values| {
                    let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
                    let (one, other) = scaled.split_at(4);
                    if turned { sides(other, one) } else { sides(one, other) }
                }).collect();
                family_p_values(&family, Seed(7))
            };
            for (one, other) in of(false, 1.0).into_iter().zip(of(true, scale)) {
                let (one, other) = (one.expect("a test"), other.expect("a test"));
                prop_assert!((one - other).abs() < 1e-7, "{one} {other}");
                prop_assert!(one > 0.0 && one <= 1.0);
            }
        }
    }
}
