//! Verdicts, after the p-values of all comparisons are known.

use std::collections::BTreeMap;

use lapwing_stats::{PValue, Replicates, benjamini_hochberg, family_p_values};

use super::caution::Caution;
use super::compare::{CompareOptions, Comparison, Verdict, VerdictReason};
use super::unit::Replication;
use crate::model::Better;

/// Adjusts the p-values of all comparisons for their number, and sets the verdicts.
///
/// Each metric is a family of its own: changes of peak memory are unrelated to those of wall time. With the default
/// method the p-values are those of [`family_p_values`], for "the ratio is beyond the smallest effect"; with others
/// those of the method. Comparisons of values that are all equal are not tests.
pub fn decide(comparisons: &mut [Comparison], options: &CompareOptions) {
    // Differences of logarithms and of values in the metric's unit are on different scales.
    let mut families: BTreeMap<(String, bool), Vec<usize>> = BTreeMap::new();
    for (at, comparison) in comparisons.iter().enumerate() {
        let key = (
            comparison.subject.metric.clone(),
            comparison.difference.is_some(),
        );
        families.entry(key).or_default().push(at);
    }
    for ((_, are_differences), members) in families {
        let smallest = options.smallest_effect.filter(|_| !are_differences);
        let border = smallest.unwrap_or(0.0).ln_1p();
        let p_values = p_values_of_family(comparisons, &members, border, options);
        let (tested, p_values): (Vec<usize>, Vec<PValue>) = p_values.into_iter().unzip();
        for (at, adjusted) in tested.iter().zip(benjamini_hochberg(&p_values)) {
            comparisons[*at].p_adjusted = Some(adjusted.value());
        }
        for at in members {
            // Values that are all equal need no test.
            let p_adjusted = comparisons[at].p_adjusted.unwrap_or(1.0);
            give_verdict(&mut comparisons[at], p_adjusted, options);
        }
    }
}

/// Returns the members of a family that are tests, with their p-values.
fn p_values_of_family(
    comparisons: &[Comparison],
    members: &[usize],
    border: f64,
    options: &CompareOptions,
) -> Vec<(usize, PValue)> {
    let false_discovery_rate = options.false_discovery_rate;
    let seed = options.seed.split(&comparisons[members[0]].subject.metric);
    let (places, replicates): (Vec<usize>, Vec<Replicates>) = members
        .iter()
        .filter_map(|at| {
            let replication = comparisons[*at].replication.as_ref()?;
            Some((*at, replication.replicates.beyond(border)))
        })
        .unzip();
    let by_family = family_p_values(&replicates, seed);
    let by_family = places.into_iter().zip(by_family).map(|(at, p_value)| {
        let looks = comparisons[at].replication.as_ref().map(|it| &it.looks);
        let factor = looks.map_or(1.0, |it| it.factor(false_discovery_rate));
        (at, p_value.map(|it| (it * factor).min(1.0)))
    });
    let by_method = members
        .iter()
        .filter(|at| comparisons[**at].replication.is_none())
        .map(|at| (*at, comparisons[*at].ratio.map(|ratio| ratio.p_value)));
    by_family
        .chain(by_method)
        .filter_map(|(at, p_value)| Some((at, PValue::new(p_value?).ok()?)))
        .collect()
}

fn give_verdict(comparison: &mut Comparison, p_adjusted: f64, options: &CompareOptions) {
    if let Some(VerdictReason::FewSessions { .. }) = comparison.reason {
        return;
    }
    let effect = options.smallest_effect.unwrap_or(0.0);
    // The band is symmetric on the logarithmic scale: 3 % slower, or 3 % faster from there.
    let (interval, low, high) = match (comparison.ratio, comparison.difference) {
        (Some(ratio), _) => (ratio.interval, 1.0 / (1.0 + effect), 1.0 + effect),
        (None, Some(difference)) => (Some(difference.interval), 0.0, 0.0),
        (None, None) => return,
    };
    let is_sure = p_adjusted <= options.false_discovery_rate;
    let (above, below, inside) = match interval {
        Some(ends) => (
            ends.lower > high,
            ends.upper < low,
            comparison.ratio.is_some() && ends.lower >= low && ends.upper <= high,
        ),
        None => (false, false, false),
    };
    if options.smallest_effect.is_some() && inside {
        comparison.verdict = Verdict::Equivalent;
        comparison.reason = None;
    } else if above || below {
        let worse = match comparison.metric.better {
            Some(Better::Lower) => above,
            Some(Better::Higher) => below,
            None => {
                comparison.reason = Some(VerdictReason::NoDirection);
                return;
            }
        };
        if is_sure {
            let few = |replication: &Replication| {
                replication.sizes().iter().any(|size| *size < FEW_APART)
                    && part(&replication.replicates)
            };
            if comparison.replication.as_ref().is_some_and(few) {
                comparison.cautions.push(Caution::FewApart);
            }
            comparison.reason = None;
            comparison.verdict = if worse {
                Verdict::Regression
            } else {
                Verdict::Improvement
            };
        } else {
            comparison.reason = Some(VerdictReason::ManyComparisons);
        }
    } else if comparison.difference.is_some() {
        // The reason already states that there is no ratio.
    } else if options.smallest_effect.is_some() {
        if is_sure || comparison.reason.is_none() {
            comparison.reason = Some(VerdictReason::Straddles);
        }
    } else if comparison.reason.is_none() {
        let constant = |replication: &Replication| replication.replicates.is_constant();
        comparison.reason = Some(if comparison.replication.as_ref().is_some_and(constant) {
            VerdictReason::AllEqual
        } else {
            VerdictReason::NoChangeSeen
        });
    }
}

/// With this many replicates per side, noise of two modes hardly ever separates the sides (0.2 %).
const FEW_APART: usize = 5;

/// Returns whether the values of the two sides do not overlap, or all pairs differ in the same direction.
fn part(replicates: &Replicates) -> bool {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match replicates {
        Replicates::Sides([one, other]) => most(one) < least(other) || most(other) < least(one),
        Replicates::Pairs(differences) => least(differences) > 0.0 || most(differences) < 0.0,
    }
}
