//! Verdicts, after all comparisons are known.

use std::collections::BTreeMap;

use lapwing_stats::{NeededReplicates, PValue, Replicates, benjamini_hochberg};
use rayon::prelude::*;

use super::caution::Caution;
use super::compare::{CompareMethod, CompareOptions, Comparison};
use super::earlier::EarlierComparisons;
use super::family::{FamilyAnswer, FamilyBorders, judge_family, of_ratio, point};
use super::looks::Looks;
use super::replication::unit::{Replication, ReplicationUnit};
use super::session_knowledge::SessionKnowledge;
use super::verdict::{Verdict, VerdictReason};
use lapwing_model::Better;

/// Adjusts the p-values of all comparisons for their number, and sets intervals and verdicts.
///
/// Each metric is a family of its own: changes of peak memory are unrelated to those of wall time. With the default
/// method interval and p-value are those of [`lapwing_stats::family_tests`]; with others those of the method. A
/// regression or improvement has a p-value of at most the accepted rate after correction (of "no larger than the
/// smallest effect", if one is given); else there is no change if the whole interval lies within the band.
/// Comparisons of values that are all equal are not tests.
///
/// `earlier` has earlier comparisons of the same benchmarks, for families of one or two.
pub fn decide(
    comparisons: &mut [Comparison],
    earlier: &EarlierComparisons,
    options: &CompareOptions,
) {
    // Differences of logarithms and of values in the metric's unit are on different scales.
    let mut families: BTreeMap<(String, bool), Vec<usize>> = BTreeMap::new();
    for (at, comparison) in comparisons.iter().enumerate() {
        let key = (
            comparison.subject.metric.clone(),
            comparison.difference.is_some(),
        );
        families.entry(key).or_default().push(at);
    }
    let exact = exact_metrics(comparisons);
    let mut known = SessionKnowledge::of(earlier);
    for ((metric, are_differences), members) in families {
        let is_exact = exact.get(&metric).copied().unwrap_or(false);
        let (exactly, members): (Vec<usize>, Vec<usize>) = members
            .into_iter()
            .partition(|at| is_exact || is_exact_alone(&comparisons[*at]));
        for at in exactly {
            compare_exactly(&mut comparisons[at]);
        }
        if !are_differences && options.method == CompareMethod::Default {
            known.allow_for_sessions(comparisons, &members);
        }
        judge_members(comparisons, &members, earlier, options);
        adjust_by_method(comparisons, &members);
        if !are_differences {
            judge_runs(comparisons, &members, options);
        }
    }
    let judged = comparisons.par_iter_mut();
    judged
        .filter(|comparison| !comparison.is_exact)
        .for_each(|comparison| give_verdict(comparison, options));
}

/// Returns by metric whether all of its comparisons are of counts that never vary within a side.
fn exact_metrics(comparisons: &[Comparison]) -> BTreeMap<String, bool> {
    let mut exact: BTreeMap<String, bool> = BTreeMap::new();
    for comparison in comparisons {
        if comparison.baseline_estimate.is_some() && comparison.candidate_estimate.is_some() {
            let known = exact
                .entry(comparison.subject.metric.clone())
                .or_insert(true);
            *known &= comparison.counts.is_some();
        }
    }
    exact
}

/// Returns whether values are compared exactly whatever the other benchmarks do: the metric has no noise, or counts of
/// one process per side have no ratio.
fn is_exact_alone(comparison: &Comparison) -> bool {
    let is_one = comparison.reason == Some(VerdictReason::FewInstances);
    let has_no_ratio = is_one && comparison.descriptive.is_none();
    comparison.counts.is_some() && (comparison.has_no_noise || has_no_ratio)
}

/// Gives the verdict on counts that never vary: what differs has changed.
fn compare_exactly(comparison: &mut Comparison) {
    let Some([baseline, candidate]) = comparison.counts else {
        return;
    };
    let is_judged = matches!(
        comparison.reason,
        None | Some(VerdictReason::NotPositive { .. })
    );
    let is_few = comparison.reason == Some(VerdictReason::FewInstances);
    let is_within = is_few && comparison.is_one_process();
    if !is_judged && !is_within {
        return;
    }
    comparison.is_exact = true;
    if let Some(ratio) = &mut comparison.ratio {
        ratio.interval = Some(point(ratio.value));
    }
    if let Some(ratio) = &mut comparison.descriptive {
        ratio.interval = Some(point(ratio.value));
    }
    let is_equal = baseline.total_cmp(&candidate).is_eq();
    let band = 1.0 + comparison.smallest_effect.unwrap_or(0.0);
    let is_small = baseline > 0.0 && (candidate / baseline <= band && baseline / candidate <= band);
    comparison.reason = is_equal.then_some(VerdictReason::AllEqual);
    match (is_equal || is_small, is_within) {
        (true, true) => comparison.verdict = Verdict::UnchangedInRuns,
        (true, false) => comparison.verdict = Verdict::Equivalent,
        (false, _) => set_changed(comparison, candidate > baseline, is_within),
    }
}

/// Sets the verdict on a change: the candidate has more of the metric, or less.
fn set_changed(comparison: &mut Comparison, is_more: bool, is_within: bool) {
    let is_worse = match comparison.metric.better {
        Some(Better::Lower) => is_more,
        Some(Better::Higher) => !is_more,
        None => {
            comparison.reason = Some(VerdictReason::NoDirection);
            comparison.verdict = Verdict::Changed;
            return;
        }
    };
    comparison.reason = None;
    comparison.verdict = match (is_worse, is_within) {
        (true, false) => Verdict::Regression,
        (false, false) => Verdict::Improvement,
        (true, true) => Verdict::WorseInRuns,
        (false, true) => Verdict::BetterInRuns,
    };
}

/// Returns the borders of each of these comparisons.
fn borders_of(comparisons: &[Comparison], places: &[usize]) -> Vec<FamilyBorders> {
    let borders = places.iter().map(|at| {
        let comparison = &comparisons[*at];
        // Differences in the metric's unit have none.
        let scale = |share: f64| match comparison.difference {
            Some(_) => 0.0,
            None => share.ln_1p(),
        };
        FamilyBorders {
            border: scale(comparison.smallest_effect.unwrap_or(0.0)),
            band: scale(comparison.band()),
        }
    });
    borders.collect()
}

/// Gives the comparisons of a family the intervals and p-values that it has for them.
fn judge_members(
    comparisons: &mut [Comparison],
    members: &[usize],
    earlier: &EarlierComparisons,
    options: &CompareOptions,
) {
    let of_family: Vec<usize> = members
        .iter()
        .copied()
        .filter(|at| comparisons[*at].replication.is_some())
        .collect();
    let Some(first) = of_family.first() else {
        return;
    };
    let metric = comparisons[*first].subject.metric.clone();
    let replications: Vec<&Replication> = of_family
        .iter()
        .filter_map(|at| comparisons[*at].replication.as_ref())
        .collect();
    let history = earlier.of_family(of_family.iter().map(|at| &comparisons[*at]));
    let borders: Vec<FamilyBorders> = borders_of(comparisons, &of_family);
    let answers = judge_family(&replications, &history, &borders, options, &metric);
    for (at, answer) in of_family.into_iter().zip(answers) {
        let comparison = &mut comparisons[at];
        let Some(answer) = answer else { continue };
        comparison.p_adjusted = Some(answer.p_adjusted);
        if let Some(ratio) = &mut comparison.ratio {
            ratio.interval = Some(of_ratio(answer.interval));
            ratio.p_value = answer.p_value;
            ratio.method = answer.method;
        }
        if let Some(difference) = &mut comparison.difference {
            difference.interval = answer.interval;
            difference.p_value = answer.p_value;
        }
        comparison.answer = Some(answer);
    }
}

/// Adjusts the p-values of comparisons by another method than the default for their number.
fn adjust_by_method(comparisons: &mut [Comparison], members: &[usize]) {
    let (tested, p_values): (Vec<usize>, Vec<PValue>) = members
        .iter()
        .filter(|at| comparisons[**at].replication.is_none())
        .filter_map(|at| {
            let ratio = comparisons[*at].ratio?;
            Some((*at, PValue::new(ratio.p_value).ok()?))
        })
        .unzip();
    for (at, adjusted) in tested.iter().zip(benjamini_hochberg(&p_values)) {
        comparisons[*at].p_adjusted = Some(adjusted.value());
    }
}

/// Sets the verdict of a comparison whose interval and p-value are known.
fn give_verdict(comparison: &mut Comparison, options: &CompareOptions) {
    if let Some(VerdictReason::FewSessions { .. }) = comparison.reason {
        return;
    }
    let constant = |replication: &Replication| replication.replicates.is_constant();
    if comparison.replication.as_ref().is_some_and(constant) {
        comparison.verdict = Verdict::Equivalent;
        comparison.reason = Some(VerdictReason::AllEqual);
        return;
    }
    let effect = comparison.smallest_effect.unwrap_or(0.0);
    // Bands are symmetric on the logarithmic scale: 3 % slower, or 3 % faster from there.
    let (interval, border) = match (comparison.ratio, comparison.difference) {
        (Some(ratio), _) => (ratio.interval, effect.ln_1p()),
        (None, Some(difference)) => (Some(difference.interval), 0.0),
        (None, None) => return,
    };
    let scale = |value: f64| match comparison.ratio {
        Some(_) => value.ln(),
        None => value,
    };
    let ends = interval.map(|it| [scale(it.lower), scale(it.upper)]);
    let is_sure = comparison
        .p_adjusted
        .is_some_and(|p_adjusted| p_adjusted <= options.false_discovery_rate);
    let (above, below) = match ends {
        Some([lower, upper]) => (lower > border, upper < -border),
        None => (false, false),
    };
    let is_inside = comparison.is_within(comparison.band());
    if (above || below) && is_sure {
        let few = comparison
            .replication
            .as_ref()
            .filter(|it| few_and_apart(it));
        let few = few.map(|it| Caution::FewApart(it.unit));
        comparison.cautions.extend(few);
        set_changed(comparison, above, false);
    } else if is_inside {
        comparison.verdict = Verdict::Equivalent;
        comparison.reason = None;
    } else if comparison.difference.is_none() {
        let answer = comparison.answer.as_ref();
        let sizes = comparison.replication.as_ref().map(Replication::sizes);
        let at_hand = sizes.map_or(0, |[one, other]| one.min(other));
        let needed = answer.map(|it| match it.test.replicates_for_verdict(&it.rule) {
            // By chance, those at hand did not decide.
            NeededReplicates::About(number) => NeededReplicates::About(number.max(at_hand + 1)),
            other => other,
        });
        comparison.reason = Some(match (above || below, answer) {
            (true, Some(answer)) if answer.tests > 1 => VerdictReason::ManyComparisons {
                comparisons: answer.tests,
                needed,
            },
            (_, _) => VerdictReason::TooWide { needed },
        });
    }
}

/// Judges what has one process per side by its iterations: these processes alone.
fn judge_runs(comparisons: &mut [Comparison], members: &[usize], options: &CompareOptions) {
    let few = members
        .iter()
        .filter(|at| comparisons[**at].reason == Some(VerdictReason::FewInstances));
    let (places, replications): (Vec<usize>, Vec<Replication>) = few
        .filter_map(|at| {
            let iterations = comparisons[*at].descriptive.as_ref()?.iterations.clone()?;
            Some((*at, of_iterations(iterations)))
        })
        .unzip();
    let Some(first) = places.first() else { return };
    let metric = comparisons[*first].subject.metric.clone();
    let replications: Vec<&Replication> = replications.iter().collect();
    let borders: Vec<FamilyBorders> = borders_of(comparisons, &places);
    let answers = judge_family(&replications, &[], &borders, options, &metric);
    for (at, answer) in places.into_iter().zip(answers) {
        give_verdict_in_runs(&mut comparisons[at], answer);
    }
}

fn of_iterations(replicates: Replicates) -> Replication {
    Replication {
        unit: ReplicationUnit::Instance,
        replicates,
        centres: [0.0; 2],
        looks: Looks::default(),
        noise: None,
    }
}

fn give_verdict_in_runs(comparison: &mut Comparison, answer: Option<FamilyAnswer>) {
    let Some(ratio) = &mut comparison.descriptive else {
        return;
    };
    let Some(answer) = answer else {
        comparison.verdict = Verdict::UnchangedInRuns;
        comparison.reason = Some(VerdictReason::AllEqual);
        return;
    };
    ratio.interval = Some(of_ratio(answer.interval));
    comparison.p_adjusted = Some(answer.p_adjusted);
    let is_more = ratio.value > 1.0;
    if answer.differs {
        set_changed(comparison, is_more, true);
    } else if comparison.is_within(comparison.band()) {
        comparison.verdict = Verdict::UnchangedInRuns;
        comparison.reason = None;
    }
}

impl Comparison {
    /// Returns the largest change that the interval allows, as a share in either direction: 0.02 for at most 2 %.
    /// `None` without an interval.
    pub fn largest_change(&self) -> Option<f64> {
        let of_ratio = self.ratio.and_then(|it| it.interval);
        let interval = of_ratio.or(self.descriptive.as_ref().and_then(|it| it.interval))?;
        let furthest = interval.lower.ln().abs().max(interval.upper.ln().abs());
        furthest.is_finite().then(|| furthest.exp_m1())
    }

    /// Returns whether the whole interval of the ratio is closer to 1 than a band.
    fn is_within(&self, band: f64) -> bool {
        self.largest_change()
            .is_some_and(|largest| largest <= band * (1.0 + 1e-12))
    }
}

/// With this many replicates per side, noise of two modes hardly ever separates the sides (0.2 %).
const FEW_APART: usize = 5;

/// Returns whether few values of the two sides do not overlap, or few pairs all differ in the same direction.
fn few_and_apart(replication: &Replication) -> bool {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_few = replication.sizes().iter().any(|size| *size < FEW_APART);
    // Earlier sessions show whether the noise jumps.
    let is_known = replication.noise.is_some_and(|noise| noise.sessions > 0);
    is_few
        && !is_known
        && match &replication.replicates {
            Replicates::Sides([one, other]) => most(one) < least(other) || most(other) < least(one),
            Replicates::Pairs(differences) => least(differences) > 0.0 || most(differences) < 0.0,
        }
}
