//! Is the candidate slower than the baseline? For many benchmarks at once.

use std::collections::{BTreeMap, BTreeSet};

use super::unit::{InstanceOrigin, Replication, ReplicationUnit, imbalance, log_means};
use super::{Estimate, INSTANCES_FOR_A_VERDICT, estimate, instance_means};
use crate::clean::Cleaned;
use crate::model::{Better, Id, Metric};
use crate::sample::{SideSetting, Subject, differ};
use crate::text::first_names;
use lapwing_stats::{
    Confidence, DifferenceMethod, Interval, Modes, PValue, Replicates, Seed, benjamini_hochberg,
    family_p_values, instances_to_settle, mann_whitney, mean, modes,
};

/// How two sides are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareOptions {
    /// Where interval and p-value come from.
    pub method: CompareMethod,
    /// The level of the intervals.
    pub confidence: Confidence,
    /// The smallest change that matters, as a share (0.03 for 3 %). Without one nothing is called
    /// equivalent, and a change of any size that is sure is a regression or an improvement.
    pub smallest_effect: Option<f64>,
    /// The share of false ones that is accepted among the regressions and improvements.
    pub false_discovery_rate: f64,
    /// Where random numbers come from.
    pub seed: Seed,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            method: CompareMethod::Default,
            confidence: Confidence::P95,
            smallest_effect: None,
            false_discovery_rate: 0.05,
            seed: Seed(7),
        }
    }
}

/// Where interval and p-value come from. All rest on one mean per instance, but for the
/// hierarchical bootstrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CompareMethod {
    /// The wider of Welch's and Student's t on logarithms, over the unit of replication; Student's t of pairs
    /// where the sides share their blocks, sessions or hosts.
    #[default]
    Default,
    /// Welch's t on logarithms.
    Welch,
    /// Student's t on logarithms, with one variance for both sides. Only part of the default.
    Student,
    /// Student's t of the differences of pairs, on logarithms. Only part of the default.
    Paired,
    /// The studentised bootstrap of the logarithms of the instance means.
    BootstrapT,
    /// The BCa bootstrap over instances, of the ratio of arithmetic means.
    Bca,
    /// Fieller's interval of the ratio of arithmetic means.
    Fieller,
    /// The percentile bootstrap of instances and iterations; too narrow with few instances.
    Hierarchical,
    /// Mann–Whitney's test; the ratio is Hodges and Lehmann's.
    MannWhitney,
    /// Brunner and Munzel's test; the ratio is Hodges and Lehmann's.
    BrunnerMunzel,
    /// The permutation test of the means of logarithms; the interval is Welch's.
    Permutation,
}

/// What is known of one side of a benchmark and metric.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SideSample {
    /// The values that count.
    pub cleaned: Cleaned,
    /// Whether nothing counts because it never reaches a steady state.
    pub never_steady: bool,
    /// How many instances were recorded, whatever became of them.
    pub recorded_instances: usize,
    /// Where and when each instance of `cleaned` was measured, in the same order; empty where unknown.
    pub origins: Vec<InstanceOrigin>,
    /// How many iterations failed or timed out, and instances came to no iteration at all.
    pub failures: usize,
    /// The share of iterations that failed or timed out, of each instance.
    pub failure_rates: Vec<f64>,
    /// Whether any iteration has a value, if it counts or not.
    pub has_values: bool,
    /// Whether there are summaries by a source that kept no samples.
    pub has_summary: bool,
    /// The machines of the instances, where known.
    pub hosts: BTreeSet<String>,
    /// The models of their processors, where known.
    pub processors: BTreeSet<String>,
    /// The hashes of what the benchmark was, where known.
    pub fingerprints: BTreeSet<String>,
    /// By the ids that it was recorded with, its parameters that tell what it was.
    pub params: BTreeMap<String, BTreeMap<String, String>>,
    /// The units of the values, where known.
    pub units: BTreeSet<String>,
    /// Its variants and levels of factors.
    pub setting: SideSetting,
    /// Its runs.
    pub runs: BTreeSet<Id>,
    /// How many instances were left out because they are of an earlier epoch.
    pub earlier: usize,
}

/// What the comparison of two sides came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub subject: Subject,
    /// The metric's unit and direction.
    pub metric: Metric,
    /// The baseline's name, as it was asked for.
    pub baseline: String,
    /// The candidate's name.
    pub candidate: String,
    /// The baseline's centre; `None` when nothing of it counts.
    pub baseline_estimate: Option<Estimate>,
    /// The candidate's centre; `None` when nothing of it counts.
    pub candidate_estimate: Option<Estimate>,
    /// Candidate / baseline; `None` below three instances a side, or where the means do not allow it.
    pub ratio: Option<ComparedRatio>,
    /// The p-value adjusted for all comparisons that were made (Benjamini & Hochberg 1995).
    pub p_adjusted: Option<f64>,
    /// The answer.
    pub verdict: Verdict,
    /// Why there is no other answer, where something stood in the way.
    pub reason: Option<VerdictReason>,
    /// What to know when reading it.
    pub cautions: Vec<Caution>,
    /// The runs that it is about: the baseline's, and the candidate's.
    pub runs: [BTreeSet<Id>; 2],
    /// The variants and levels of the two sides.
    pub settings: [SideSetting; 2],
    /// What the ratio and its p-value come from; `None` without a ratio, and with a method other than the default.
    pub replication: Option<Replication>,
}

/// The ratio candidate / baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedRatio {
    /// The ratio: above 1 the candidate has more of the metric.
    pub value: f64,
    /// Its interval; `None` where the data do not bound it.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "the ratio is 1".
    pub p_value: f64,
    /// What was used; never [`CompareMethod::Default`].
    pub method: CompareMethod,
    /// What one replicate is.
    pub unit: ReplicationUnit,
    /// The numbers of replicates of the two sides.
    pub replicates: [usize; 2],
    /// Where the replicates are pairs: the interval without pairing, from instances.
    pub unpaired: Option<Interval>,
}

/// A ratio by the default method, and what it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedRatio {
    /// The ratio.
    pub ratio: ComparedRatio,
    /// Its replicates.
    pub replication: Replication,
}

/// The answer of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The candidate is worse.
    Regression,
    /// The candidate is better.
    Improvement,
    /// The candidate differs by less than the smallest effect that matters.
    Equivalent,
    /// The data do not tell.
    Inconclusive,
    /// A side was not measured.
    NotMeasured,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 5] = [
        Self::Regression,
        Self::Improvement,
        Self::Equivalent,
        Self::Inconclusive,
        Self::NotMeasured,
    ];

    /// Returns what it is called in data: `not_measured`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::NotMeasured => "not_measured",
        }
    }

    /// Returns what it is called in text: `not measured`.
    pub fn title(self) -> &'static str {
        match self {
            Self::NotMeasured => "not measured",
            other => other.name(),
        }
    }
}

/// Why there is no other answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VerdictReason {
    /// A side has fewer instances than a verdict takes.
    FewInstances,
    /// A side has nothing but summaries of a source that kept no samples.
    OnlySummaries,
    /// A mean is zero or negative, so that there is no ratio.
    NotPositive {
        /// How many means of instances are, where both means of all are above zero and only the
        /// logarithms of instances are missing.
        instances: usize,
    },
    /// The method gives no ratio of these values: nothing varies, or numbers are too large.
    Undefined,
    /// Nobody said whether more of the metric is better or worse.
    NoDirection,
    /// The interval is too wide; so many instances a side would narrow it to `half_width`.
    TooWide {
        /// Instances a side.
        instances: usize,
        /// The half-width of the interval that they would give, as a share.
        half_width: f64,
    },
    /// It would be sure alone, and is not among so many comparisons.
    ManyComparisons,
    /// Neither sure to matter nor sure not to.
    Straddles,
    /// The interval is narrow and has 1 in it, and nobody said how small a change does not matter.
    NoChangeSeen,
    /// The baseline was never measured: the benchmark is new.
    NoBaseline,
    /// The candidate was never measured.
    NoCandidate,
    /// The benchmark itself changed between the sides: they are of different epochs.
    OtherBenchmark,
    /// The values are of units that cannot be converted into each other.
    OtherUnit,
    /// A side never reaches a steady state.
    NeverSteady,
    /// Of a side every iteration failed or was left out.
    NothingLeft {
        /// How many iterations and instances failed on it.
        failures: usize,
    },
}

/// What to know when reading a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caution {
    /// The shares of the machines, or of the models of their processors, differ much between the sides.
    OtherMachines {
        /// The baseline's.
        baseline: String,
        /// The candidate's.
        candidate: String,
    },
    /// A side was measured wholly before the other one, in the same session.
    NotInterleaved,
    /// A side has a single session, and the other side has others: differences between sessions are part of the ratio.
    OneSession,
    /// Instances of a side are left out, because they are of an earlier epoch.
    EarlierEpoch {
        /// How many, of both sides.
        instances: usize,
    },
    /// The values are of units that cannot be converted into each other.
    OtherUnits {
        /// The baseline's.
        baseline: String,
        /// The candidate's.
        candidate: String,
    },
    /// Instances of the candidate fail at a higher rate than those of the baseline (Mann–Whitney, 5 % one-sided).
    Failures {
        /// How many failures the candidate has.
        candidate: usize,
        /// How many the baseline.
        baseline: usize,
    },
    /// Fewer than five replicates per side part completely: noise of two modes can do that by chance.
    FewApart,
    /// The instance means fall into groups, and there are too few of them for the interval to
    /// keep its level.
    FewOfSeveralModes,
}

/// Compares two sides of one benchmark and metric; verdicts that rest on p-values are still
/// open until [`decide`] has seen all.
pub fn compare(
    subject: Subject,
    metric: Metric,
    names: [&str; 2],
    sides: [&SideSample; 2],
    options: &CompareOptions,
) -> Comparison {
    // A number in another unit than that of the metric would pass for one in it.
    let is_in_unit = |side: &SideSample| {
        metric.unit.is_empty() || side.units.iter().all(|unit| *unit == metric.unit)
    };
    let estimates = sides.map(|side| estimate(&side.cleaned).filter(|_| is_in_unit(side)));
    let (judged, reason) = match obstacle(sides) {
        Some(reason) => (None, Some(reason)),
        None => match ratio(sides, options, &subject) {
            Some(judged) => (Some(judged), None),
            None => (None, Some(without_ratio(sides))),
        },
    };
    let (ratio, replication) = judged.unzip();
    let replication = replication.flatten();
    let estimates = match &replication {
        Some(replication) => with_centres(estimates, replication),
        None => estimates,
    };
    let mut cautions = cautions(sides);
    if let Some(replication) = &replication {
        cautions.extend(design_cautions(sides, replication));
    }
    let verdict = match reason {
        Some(
            VerdictReason::NoBaseline
            | VerdictReason::NoCandidate
            | VerdictReason::NeverSteady
            | VerdictReason::NothingLeft { .. },
        ) => Verdict::NotMeasured,
        _ => Verdict::Inconclusive,
    };
    Comparison {
        subject,
        metric,
        baseline: names[0].to_owned(),
        candidate: names[1].to_owned(),
        baseline_estimate: estimates[0],
        candidate_estimate: estimates[1],
        ratio,
        p_adjusted: None,
        verdict,
        reason: reason.or_else(|| settle(sides, options)),
        cautions,
        runs: sides.map(|side| side.runs.clone()),
        settings: sides.map(|side| side.setting.clone()),
        replication,
    }
}

/// Returns the estimates with the centres that the ratio is made of, so that the three numbers agree.
fn with_centres(
    estimates: [Option<Estimate>; 2],
    replication: &Replication,
) -> [Option<Estimate>; 2] {
    let [baseline, candidate] = estimates;
    let centred = |estimate: Option<Estimate>, side: usize| {
        estimate.map(|estimate| Estimate {
            value: replication.centres[side].exp(),
            ..estimate
        })
    };
    [centred(baseline, 0), centred(candidate, 1)]
}

/// Returns what makes a ratio impossible.
pub(super) fn obstacle(sides: [&SideSample; 2]) -> Option<VerdictReason> {
    for (side, never) in sides
        .into_iter()
        .zip([VerdictReason::NoBaseline, VerdictReason::NoCandidate])
    {
        if !side.cleaned.instances.is_empty() {
            continue;
        }
        return Some(if side.has_summary {
            VerdictReason::OnlySummaries
        } else if side.recorded_instances == 0 {
            never
        } else if side.never_steady {
            VerdictReason::NeverSteady
        } else {
            VerdictReason::NothingLeft {
                failures: side.failures,
            }
        });
    }
    let [old, new] = sides.map(|side| &side.fingerprints);
    let changed = !old.is_empty() && !new.is_empty() && old != new;
    // Sides of one store are told apart by their epochs already, those of two files are not.
    let [old, new] = sides.map(|side| &side.params);
    let is_other = |(id, params)| new.get(id).is_some_and(|it| differ(it, params));
    if changed || old.iter().any(is_other) {
        return Some(VerdictReason::OtherBenchmark);
    }
    if have_other_units(sides) {
        return Some(VerdictReason::OtherUnit);
    }
    let few = |side: &&SideSample| side.cleaned.instances.len() < INSTANCES_FOR_A_VERDICT;
    sides.iter().any(few).then_some(VerdictReason::FewInstances)
}

fn have_other_units(sides: [&SideSample; 2]) -> bool {
    sides[0].units.union(&sides[1].units).count() > 1
}

/// Returns the ratio, and with the default method what it comes from.
fn ratio(
    sides: [&SideSample; 2],
    options: &CompareOptions,
    subject: &Subject,
) -> Option<(ComparedRatio, Option<Replication>)> {
    if options.method == CompareMethod::Default {
        let judged = default_ratio(sides, options.confidence)?;
        return Some((judged.ratio, Some(judged.replication)));
    }
    let means = sides.map(|side| instance_means(&side.cleaned));
    if !means.iter().all(|side| is_above_zero(side)) {
        return None;
    }
    let seed = options.seed.split(&format!(
        "{}\n{}\n{}",
        subject.suite, subject.benchmark, subject.metric
    ));
    let ratio = super::methods::by_method(
        [&sides[0].cleaned, &sides[1].cleaned],
        [&means[0], &means[1]],
        options.method,
        options.confidence,
        seed,
    )?;
    Some((ratio, None))
}

/// Returns the ratio by the default method; `None` when a side is empty or a mean is not positive.
pub(super) fn default_ratio(
    sides: [&SideSample; 2],
    confidence: Confidence,
) -> Option<JudgedRatio> {
    let logs = log_means(sides)?;
    let replication = Replication::of(sides, &logs)?;
    let exp = |interval: Interval| Interval {
        lower: interval.lower.exp(),
        upper: interval.upper.exp(),
    };
    let difference = replication.replicates.difference(confidence)?;
    let unpaired = || {
        let instances = Replicates::Sides(logs).difference(confidence)?;
        Some(exp(instances.interval))
    };
    let ratio = ComparedRatio {
        value: difference.value.exp(),
        interval: Some(exp(difference.interval)),
        p_value: difference.p_value,
        method: match difference.method {
            DifferenceMethod::Welch => CompareMethod::Welch,
            DifferenceMethod::Student => CompareMethod::Student,
            DifferenceMethod::Paired => CompareMethod::Paired,
        },
        unit: replication.unit,
        replicates: replication.sizes(),
        unpaired: replication.is_paired().then(unpaired).flatten(),
    };
    Some(JudgedRatio { ratio, replication })
}

/// Of two values below zero the larger has the smaller ratio: which is better could not be told.
fn is_above_zero(means: &[f64]) -> bool {
    lapwing_stats::mean(means).is_some_and(|mean| mean > 0.0)
}

/// Returns why a method gave no ratio.
fn without_ratio(sides: [&SideSample; 2]) -> VerdictReason {
    let means = sides.map(|side| instance_means(&side.cleaned));
    let all_positive = means.iter().flatten().all(|mean| *mean > 0.0);
    if all_positive {
        VerdictReason::Undefined
    } else {
        let only_instances = means.iter().all(|it| is_above_zero(it));
        let below = means.iter().flatten().filter(|mean| **mean <= 0.0);
        VerdictReason::NotPositive {
            instances: if only_instances { below.count() } else { 0 },
        }
    }
}

/// Returns how many instances would make the interval narrow enough.
fn settle(sides: [&SideSample; 2], options: &CompareOptions) -> Option<VerdictReason> {
    let means = sides.map(|side| instance_means(&side.cleaned));
    let half_width = options.smallest_effect.unwrap_or(USUAL_EFFECT);
    let instances = instances_to_settle(&means[0], &means[1], half_width, options.confidence)?;
    let fewest = means.iter().map(Vec::len).min().unwrap_or(0);
    (instances > fewest).then_some(VerdictReason::TooWide {
        instances,
        half_width,
    })
}

/// The change that people want to be able to see where nobody said another.
const USUAL_EFFECT: f64 = 0.05;

fn cautions(sides: [&SideSample; 2]) -> Vec<Caution> {
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

/// From so many instances a side the intervals keep their level where means fall into groups
/// (`docs/calibration.md`).
const ENOUGH_FOR_MODES: usize = 10;

/// Shares of hosts that differ by more than this between the sides are worth a caution.
const MOST_IMBALANCE: f64 = 0.25;

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

/// Returns the cautions that follow from when and how the two sides were measured.
fn design_cautions(sides: [&SideSample; 2], replication: &Replication) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let sessions = sides
        .map(|side| -> BTreeSet<Id> { side.origins.iter().map(|origin| origin.session).collect() });
    if sessions.iter().any(|of_side| of_side.len() == 1) && sessions[0] != sessions[1] {
        cautions.push(Caution::OneSession);
    }
    if sessions[0] == sessions[1] && sessions[0].len() == 1 && is_one_side_first(sides) {
        cautions.push(Caution::NotInterleaved);
    }
    if replication.sizes().iter().any(|size| *size < FEW_APART) && part(&replication.replicates) {
        cautions.push(Caution::FewApart);
    }
    cautions
}

/// With so many replicates per side noise of two modes hardly parts the sides (0.2 %).
const FEW_APART: usize = 5;

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

/// Returns whether the values of the two sides do not overlap, or all pairs differ in the same direction.
fn part(replicates: &Replicates) -> bool {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match replicates {
        Replicates::Sides([one, other]) => most(one) < least(other) || most(other) < least(one),
        Replicates::Pairs(differences) => least(differences) > 0.0 || most(differences) < 0.0,
    }
}

/// Returns whether the instances of the candidate fail at a higher rate than those of the baseline.
fn fails_more_often(rates: [&[f64]; 2]) -> bool {
    let [baseline, candidate] = rates;
    let is_higher = mean(candidate) > mean(baseline);
    is_higher && mann_whitney(baseline, candidate).is_some_and(|test| test.p_value <= 0.1)
}

/// Returns whether the instances of a side fall into two groups, as far as it shows: in that side
/// alone, or in both sides together where a side has instances in both groups.
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

/// Adjusts the p-values of all comparisons for their number and gives the verdicts.
///
/// Each metric is a family of its own: what happens to peak memory says nothing about wall time. With the default
/// method the p-values are those of [`family_p_values`], of "the ratio is beyond the smallest effect"; with others those
/// of the method. Comparisons of values that are all equal are no tests.
pub fn decide(comparisons: &mut [Comparison], options: &CompareOptions) {
    let mut families: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, comparison) in comparisons.iter().enumerate() {
        let metric = comparison.subject.metric.clone();
        families.entry(metric).or_default().push(at);
    }
    for (metric, members) in families {
        let p_values = p_values_of_family(comparisons, &members, options, &metric);
        let (tested, p_values): (Vec<usize>, Vec<PValue>) = p_values.into_iter().unzip();
        for (at, adjusted) in tested.iter().zip(benjamini_hochberg(&p_values)) {
            comparisons[*at].p_adjusted = Some(adjusted.value());
        }
        for at in members {
            // What is equal in every instance needs no test.
            let p_adjusted = comparisons[at].p_adjusted.unwrap_or(1.0);
            give_verdict(&mut comparisons[at], p_adjusted, options);
        }
    }
}

/// Returns the members of a family that are tests, each with its p-value.
fn p_values_of_family(
    comparisons: &[Comparison],
    members: &[usize],
    options: &CompareOptions,
    metric: &str,
) -> Vec<(usize, PValue)> {
    let border = options.smallest_effect.unwrap_or(0.0).ln_1p();
    let (places, replicates): (Vec<usize>, Vec<Replicates>) = members
        .iter()
        .filter_map(|at| {
            let replication = comparisons[*at].replication.as_ref()?;
            Some((*at, replication.replicates.beyond(border)))
        })
        .unzip();
    let by_family = family_p_values(&replicates, options.seed.split(metric));
    let by_family = places.into_iter().zip(by_family);
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
    let Some(ratio) = comparison.ratio else {
        return;
    };
    let effect = options.smallest_effect.unwrap_or(0.0);
    // The band is symmetric on the logarithmic scale: 3 % slower, or 3 % faster from there.
    let (low, high) = (1.0 / (1.0 + effect), 1.0 + effect);
    let is_sure = p_adjusted <= options.false_discovery_rate;
    let (above, below, inside) = match ratio.interval {
        Some(it) => (
            it.lower > high,
            it.upper < low,
            it.lower >= low && it.upper <= high,
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
            comparison.reason = None;
            comparison.verdict = if worse {
                Verdict::Regression
            } else {
                Verdict::Improvement
            };
        } else {
            comparison.reason = Some(VerdictReason::ManyComparisons);
        }
    } else if options.smallest_effect.is_some() {
        if is_sure || comparison.reason.is_none() {
            comparison.reason = Some(VerdictReason::Straddles);
        }
    } else if comparison.reason.is_none() {
        comparison.reason = Some(VerdictReason::NoChangeSeen);
    }
}

#[cfg(test)]
mod tests;
