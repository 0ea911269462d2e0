//! Comparison of a candidate with a baseline, for many benchmarks at once.

use std::collections::{BTreeMap, BTreeSet};

use super::caution::{Caution, cautions, design_cautions, outliers};
use super::descriptive::DescriptiveRatio;
use super::duet::DuetPart;
use super::family::{FamilyAnswer, of_ratio, own_test, point};
use super::replication::session_sides::{SessionSides, are_of_other_sessions};
use super::replication::unit::{InstanceOrigin, Replication, ReplicationUnit, SESSIONS, log_means};
use super::{Estimate, INSTANCES_FOR_A_VERDICT, Verdict, VerdictReason, estimate, instance_means};
use crate::clean::Cleaned;
use crate::sample::{SideSetting, Subject, differ};
use lapwing_model::{Better, GateCondition, Id, JudgeLimits, Look, Metric};
use lapwing_stats::{Confidence, Difference, Interval, NeededReplicates, Replicates, Seed};

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareOptions {
    /// The method of interval and p-value.
    pub method: CompareMethod,
    /// The level of the intervals.
    pub confidence: Confidence,
    /// The smallest change that matters, as a share (0.03 for 3 %): only what is surely larger is a regression or an
    /// improvement. Without it these are significant changes of any size, and the band of what is no change is that
    /// of [`CompareOptions::band`].
    pub smallest_effect: Option<f64>,
    /// The accepted share of false regressions and improvements among all of them.
    pub false_discovery_rate: f64,
    /// The fewest sessions per side for a verdict; 1 accepts a single occasion.
    pub min_sessions: usize,
    /// The seed of random numbers.
    pub seed: Seed,
}

impl CompareOptions {
    /// The largest change that is none, as a share, where the user gives no smallest effect.
    pub const USUAL_BAND: f64 = 0.03;

    /// Returns the largest change that is none, as a share: there is no change if the whole interval is within it.
    pub fn band(&self) -> f64 {
        band(self.smallest_effect)
    }
}

fn band(smallest_effect: Option<f64>) -> f64 {
    smallest_effect.unwrap_or(CompareOptions::USUAL_BAND)
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            method: CompareMethod::Default,
            confidence: Confidence::P95,
            smallest_effect: None,
            false_discovery_rate: 0.05,
            min_sessions: 1,
            seed: Seed(7),
        }
    }
}

/// The method of interval and p-value. All except the hierarchical bootstrap use one mean per instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CompareMethod {
    /// Student's t on logarithms over the unit of replication, of pairs if the sides share their blocks, sessions or
    /// hosts, with the variance that the family of all benchmarks shows; with unequal numbers also Welch's, and the
    /// wider counts.
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

impl CompareMethod {
    /// Returns the name of the method, as in options and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Welch => "welch",
            Self::Student => "student",
            Self::Paired => "paired",
            Self::BootstrapT => "bootstrap-t",
            Self::Bca => "bca",
            Self::Fieller => "fieller",
            Self::Hierarchical => "hierarchical",
            Self::MannWhitney => "mann-whitney",
            Self::BrunnerMunzel => "brunner-munzel",
            Self::Permutation => "permutation",
        }
    }

    /// Returns whether a few instances far from the others widen its intervals.
    fn is_of_means(self) -> bool {
        !matches!(self, Self::MannWhitney | Self::BrunnerMunzel)
    }

    /// Returns whether the intervals are too narrow with this few instances (`docs/calibration.md`).
    fn is_narrow_with_few(self, sides: [&SideSample; 2]) -> bool {
        const ENOUGH: usize = 10;
        let is_few = sides
            .iter()
            .any(|side| side.cleaned.instances.len() < ENOUGH);
        is_few && matches!(self, Self::Hierarchical | Self::Bca)
    }
}

/// One side of a benchmark and metric.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SideSample {
    /// The values after cleaning.
    pub cleaned: Cleaned,
    /// Whether everything is excluded because no steady state is reached.
    pub never_steady: bool,
    /// Number of recorded instances, including excluded ones.
    pub recorded_instances: usize,
    /// The origin of each instance of `cleaned`, in the same order; empty if unknown.
    pub origins: Vec<InstanceOrigin>,
    /// The instances of duets, with their values by iteration.
    pub duets: Vec<DuetPart>,
    /// Number of iterations that failed or timed out, and of instances without any iteration.
    pub failures: usize,
    /// The share of iterations that failed or timed out, per instance.
    pub failure_rates: Vec<f64>,
    /// Whether any iteration has a value, even an excluded one.
    pub has_values: bool,
    /// Whether there are summaries from a source without samples.
    pub has_summary: bool,
    /// The places in `cleaned` of the instances whose only value is the centre of a summary.
    pub summarised: BTreeSet<usize>,
    /// The centres of the summaries, such as `median`; and `mean` if there are samples, too.
    pub centres: BTreeSet<String>,
    /// The hosts of the instances, if known.
    pub hosts: BTreeSet<String>,
    /// The processor models of the hosts, if known.
    pub processors: BTreeSet<String>,
    /// The benchmark's fingerprints, if known.
    pub fingerprints: BTreeSet<String>,
    /// By recorded id, the parameters that define the benchmark.
    pub params: BTreeMap<String, BTreeMap<String, String>>,
    /// The units of the values, if known.
    pub units: BTreeSet<String>,
    /// The directions of the metric, if known.
    pub directions: BTreeSet<Better>,
    /// Whether the sources say that the metric has no noise.
    pub is_exact: bool,
    /// The variants and levels of factors.
    pub setting: SideSetting,
    /// Whether hosts are to be the pairs, whatever the sessions.
    pub is_paired_by_host: bool,
    /// The runs.
    pub runs: BTreeSet<Id>,
    /// Number of instances excluded because they are of an earlier epoch.
    pub earlier: usize,
    /// Number of instances left out because they were measured apart from the other side, and others together with it.
    pub apart: usize,
    /// The number of instances by the look that followed them.
    pub looks: BTreeMap<Look, usize>,
    /// The number of sides that this one was chosen from because its values are the best; 0 without a choice.
    pub best_of: u32,
}

/// The result of a comparison of two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The subject of the comparison.
    pub subject: Subject,
    /// The metric's unit and direction.
    pub metric: Metric,
    /// The smallest change that matters, as a share: its own, or that of all.
    pub smallest_effect: Option<f64>,
    /// The conditions by which it fails a gate, if the suite file gives it its own.
    pub(super) fail_on: Option<Vec<GateCondition>>,
    /// The baseline's name, as the user gave it.
    pub baseline: String,
    /// The candidate's name.
    pub candidate: String,
    /// The baseline's centre; `None` if it has no values.
    pub baseline_estimate: Option<Estimate>,
    /// The candidate's centre; `None` if it has no values.
    pub candidate_estimate: Option<Estimate>,
    /// The arithmetic means of the instance means of the two sides, where they are more than 5 % above the geometric ones.
    pub arithmetic: [Option<f64>; 2],
    /// Candidate / baseline; `None` below three instances per side, or if the means allow no ratio.
    pub ratio: Option<ComparedRatio>,
    /// The ratio of iterations, if a side has too few instances for more.
    pub descriptive: Option<DescriptiveRatio>,
    /// Candidate − baseline, in the metric's unit; only if means that are not positive allow no ratio.
    pub difference: Option<Difference>,
    /// The p-value adjusted for the number of comparisons (Benjamini & Hochberg 1995).
    pub p_adjusted: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason why the verdict is not a clearer one; `None` if nothing prevents it.
    pub reason: Option<VerdictReason>,
    /// Whether the values are counts that never vary within a side, so that they are compared exactly.
    pub is_exact: bool,
    /// Caveats for the reader.
    pub cautions: Vec<Caution>,
    /// The runs of the baseline and of the candidate.
    pub runs: [BTreeSet<Id>; 2],
    /// Whether the sides are files and no results of a store.
    pub are_files: bool,
    /// The variants and levels of the two sides.
    pub settings: [SideSetting; 2],
    /// The replicates of ratio and p-value; `None` without a ratio, and with a method other than the default.
    pub replication: Option<Replication>,
    /// The answer of the test of the family; `None` until the verdicts are given, and with a method other than the
    /// default.
    pub(super) answer: Option<FamilyAnswer>,
    /// The sessions of the sides, if they are different ones and too few.
    pub(super) by_session: Option<SessionSides>,
    /// The counts of the two sides, if they never vary there.
    pub(super) counts: Option<[f64; 2]>,
    /// Whether the sources of both sides say that the metric has no noise.
    pub(super) has_no_noise: bool,
}

impl Comparison {
    /// Sets what a suite file says of it; before [`decide`](super::decide).
    pub(crate) fn limit(&mut self, limits: &JudgeLimits) {
        self.smallest_effect = limits.smallest_effect.or(self.smallest_effect);
        self.fail_on.clone_from(&limits.fail_on);
    }

    /// Returns the largest change that is none, as a share, as [`CompareOptions::band`].
    pub fn band(&self) -> f64 {
        band(self.smallest_effect)
    }

    /// Returns whether each side is one process with several iterations, or with a value without noise.
    pub fn is_one_process(&self) -> bool {
        let described = self.descriptive.as_ref();
        let estimates = [self.baseline_estimate, self.candidate_estimate];
        let is_one = |it: &Option<Estimate>| it.is_some_and(|it| it.size.instances == 1);
        described.is_some_and(|ratio| ratio.iterations.is_some())
            || self.counts.is_some() && estimates.iter().all(is_one)
    }

    /// Returns whether it is certain that something changed, if perhaps by less than the smallest effect.
    pub fn has_changed(&self) -> bool {
        self.answer.as_ref().is_some_and(|it| it.changed)
    }

    /// Returns the number of earlier sessions that its variance rests on, too.
    pub fn earlier_sessions(&self) -> usize {
        match self.session_noise() {
            Some(noise) => noise.sessions,
            None => self.answer.as_ref().map_or(0, |it| it.test.history),
        }
    }

    /// Returns how many replicates per side would give a verdict; `None` where it has one, or where no number is known.
    pub fn needed(&self) -> Option<NeededReplicates> {
        match self.reason? {
            VerdictReason::TooWide { needed } | VerdictReason::ManyComparisons { needed, .. } => {
                needed
            }
            _ => None,
        }
    }

    /// Returns the number if those at hand count.
    pub fn needed_in_total(&self) -> Option<NeededReplicates> {
        self.needed()?;
        let answer = self.answer.as_ref()?;
        Some(answer.test.total_for_verdict(&answer.rule))
    }
}

/// The ratio candidate / baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedRatio {
    /// The ratio: above 1 the candidate has more of the metric.
    pub value: f64,
    /// Its interval; `None` if the data do not bound it.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "the ratio is 1".
    pub p_value: f64,
    /// The method; never [`CompareMethod::Default`].
    pub method: CompareMethod,
    /// The unit of replication.
    pub unit: ReplicationUnit,
    /// The numbers of replicates of the two sides.
    pub replicates: [usize; 2],
    /// The interval without pairing, from instances; `None` if the replicates are not pairs.
    pub unpaired: Option<Interval>,
}

/// A ratio by the default method, with its replicates.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedRatio {
    /// The ratio.
    pub ratio: ComparedRatio,
    /// Its replicates.
    pub replication: Replication,
}

/// Compares two sides of one benchmark and metric. Verdicts that depend on p-values stay open until
/// [`decide`](super::decide) has all comparisons.
pub fn compare(
    subject: Subject,
    metric: Metric,
    names: [&str; 2],
    sides: [&SideSample; 2],
    options: &CompareOptions,
) -> Comparison {
    // A number in another unit must not be read as one in the metric's.
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
    let is_described = matches!(
        reason,
        Some(
            VerdictReason::FewInstances | VerdictReason::OnlySummaries | VerdictReason::OtherCentre
        )
    );
    let descriptive = is_described
        .then(|| DescriptiveRatio::of(sides, options.confidence))
        .flatten();
    let counts = counts(sides, &metric);
    let (ratio, replication) = judged.unzip();
    let mut replication = replication.flatten();
    let estimates = match &replication {
        Some(replication) => with_centres(estimates, replication),
        None => estimates,
    };
    let mut difference = None;
    let is_not_positive = matches!(reason, Some(VerdictReason::NotPositive { .. }));
    if is_not_positive && options.method == CompareMethod::Default {
        replication = Replication::of(sides, &sides.map(|side| instance_means(&side.cleaned)));
        difference = replication
            .as_ref()
            .and_then(|replication| replication.difference(options.confidence));
    }
    let logs = replication.as_ref().filter(|_| difference.is_none());
    // Other methods judge instances.
    let is_default = options.method == CompareMethod::Default;
    let logs = logs.filter(|_| is_default);
    let by_session = logs.and_then(|_| SessionSides::of(sides, &log_means(sides)?));
    let mut cautions = cautions(sides);
    if let Some(replication) = &replication {
        let of_sessions = is_default.then_some(replication.unit);
        cautions.extend(design_cautions(sides, of_sessions));
    }
    if ratio.is_some() && options.method.is_of_means() {
        cautions.extend(outliers(sides));
    }
    if ratio.is_some() && options.method.is_narrow_with_few(sides) {
        cautions.push(Caution::NarrowMethod);
    }
    let verdict = match reason {
        Some(
            VerdictReason::NoBaseline
            | VerdictReason::NoCandidate
            | VerdictReason::NothingLeft { .. },
        ) => Verdict::NotMeasured,
        _ => Verdict::Inconclusive,
    };
    Comparison {
        subject,
        metric,
        smallest_effect: options.smallest_effect,
        fail_on: None,
        baseline: names[0].to_owned(),
        candidate: names[1].to_owned(),
        baseline_estimate: estimates[0],
        candidate_estimate: estimates[1],
        arithmetic: sides.map(far_mean),
        ratio,
        descriptive,
        difference,
        p_adjusted: None,
        verdict,
        reason: reason.or_else(|| few_sessions(sides, options)),
        is_exact: false,
        cautions,
        runs: sides.map(|side| side.runs.clone()),
        are_files: false,
        settings: sides.map(|side| side.setting.clone()),
        replication,
        answer: None,
        by_session,
        counts,
        has_no_noise: sides.iter().all(|side| side.is_exact),
    }
}

/// An arithmetic mean that is further above the geometric one is told.
const FAR: f64 = 1.05;

fn far_mean(side: &SideSample) -> Option<f64> {
    let means = instance_means(&side.cleaned);
    let arithmetic = lapwing_stats::mean(&means)?;
    let geometric = lapwing_stats::geometric_mean(&means)?;
    (arithmetic > FAR * geometric).then_some(arithmetic)
}

/// The unit of times, which are never counts.
const SECONDS: &str = "s";

/// Returns the values that all iterations of the two sides have, if they never vary within a side: whole numbers of
/// several iterations, or any of a metric that has no noise by its sources.
fn counts(sides: [&SideSample; 2], metric: &Metric) -> Option<[f64; 2]> {
    let is_exact = sides.iter().all(|side| side.is_exact);
    if metric.unit == SECONDS && !is_exact {
        return None;
    }
    let of_side = |side: &SideSample| {
        let mut values = side.cleaned.instances.iter().flat_map(|it| &it.values);
        let first = *values.next()?;
        let (mut others, mut number) = (true, 1);
        for value in values {
            others &= value.total_cmp(&first).is_eq();
            number += 1;
        }
        let is_count = number > 1 && first.fract() == 0.0;
        (others && (is_exact || is_count)).then_some(first)
    };
    Some([of_side(sides[0])?, of_side(sides[1])?])
}

/// Returns the estimates with the centres that the ratio is computed from, so that the three numbers agree.
pub(super) fn with_centres(
    estimates: [Option<Estimate>; 2],
    replication: &Replication,
) -> [Option<Estimate>; 2] {
    let [baseline, candidate] = estimates;
    let centred = |estimate: Option<Estimate>, side: usize| {
        estimate.map(|estimate| {
            let centre = replication.centres[side].exp();
            // Rounding alone is no difference: 4 MiB in every instance stay 4 MiB.
            let is_same = (centre / estimate.value - 1.0).abs() < 1e-12;
            Estimate {
                value: if is_same { estimate.value } else { centre },
                ..estimate
            }
        })
    };
    [centred(baseline, 0), centred(candidate, 1)]
}

/// Returns the reason why a ratio is impossible, if any.
pub(super) fn obstacle(sides: [&SideSample; 2]) -> Option<VerdictReason> {
    for (side, never) in sides
        .into_iter()
        .zip([VerdictReason::NoBaseline, VerdictReason::NoCandidate])
    {
        if !side.cleaned.instances.is_empty() {
            continue;
        }
        return Some(if side.recorded_instances == 0 {
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
    // Sides of one store differ by their epochs already; sides of two files do not.
    let [old, new] = sides.map(|side| &side.params);
    let is_other = |(id, params)| new.get(id).is_some_and(|it| differ(it, params));
    if changed || old.iter().any(is_other) {
        return Some(VerdictReason::OtherBenchmark);
    }
    if have_other_units(sides) {
        return Some(VerdictReason::OtherUnit);
    }
    if sides[0].directions.union(&sides[1].directions).count() > 1 {
        return Some(VerdictReason::OtherDirection);
    }
    if sides.iter().any(|side| !side.summarised.is_empty()) {
        if sides[0].centres.union(&sides[1].centres).count() > 1 {
            return Some(VerdictReason::OtherCentre);
        }
        // What a run summarises is one value, however many instances it is from.
        let few = |side: &&SideSample| {
            !side.summarised.is_empty() && side.runs.len() < INSTANCES_FOR_A_VERDICT
        };
        if sides.iter().any(few) {
            return Some(VerdictReason::OnlySummaries);
        }
    }
    let few = |side: &&SideSample| side.cleaned.instances.len() < INSTANCES_FOR_A_VERDICT;
    sides.iter().any(few).then_some(VerdictReason::FewInstances)
}

pub(super) fn have_other_units(sides: [&SideSample; 2]) -> bool {
    sides[0].units.union(&sides[1].units).count() > 1
}

/// Returns the ratio and, with the default method, its replicates.
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

/// Returns the ratio by the default method; `None` if a side is empty or a mean is not positive.
pub(super) fn default_ratio(
    sides: [&SideSample; 2],
    confidence: Confidence,
) -> Option<JudgedRatio> {
    let logs = log_means(sides)?;
    let replication = Replication::of_logs(sides, &logs)?;
    let difference = replication.centres[1] - replication.centres[0];
    let level = replication.level(confidence);
    let interval_of = |replicates: &Replicates| Some(own_test(replicates, level)?.1);
    let factor = replication.looks.factor(1.0 - confidence.level());
    let (p_value, interval, method) = match own_test(&replication.replicates, level) {
        Some((test, interval, method)) => ((test.p_value * factor).min(1.0), interval, method),
        // All values are equal.
        None => (1.0, point(difference), CompareMethod::Student),
    };
    let ratio = ComparedRatio {
        value: difference.exp(),
        interval: Some(of_ratio(interval)),
        p_value,
        method,
        unit: replication.unit,
        replicates: replication.sizes(),
        unpaired: replication
            .is_paired()
            .then(|| interval_of(&Replicates::Sides(logs)).map(of_ratio))
            .flatten(),
    };
    Some(JudgedRatio { ratio, replication })
}

/// Of two negative values the larger has the smaller ratio, so a ratio would not show which is better.
fn is_above_zero(means: &[f64]) -> bool {
    lapwing_stats::mean(means).is_some_and(|mean| mean > 0.0)
}

/// Returns why a method gave no ratio.
fn without_ratio(sides: [&SideSample; 2]) -> VerdictReason {
    let means = sides.map(|side| instance_means(&side.cleaned));
    if means.iter().flatten().all(|mean| *mean > 0.0) {
        return VerdictReason::Undefined;
    }
    let only_instances = means.iter().all(|side| is_above_zero(side));
    let below = means.iter().flatten().filter(|mean| **mean <= 0.0);
    VerdictReason::NotPositive {
        instances: if only_instances { below.count() } else { 0 },
    }
}

fn few_sessions(sides: [&SideSample; 2], options: &CompareOptions) -> Option<VerdictReason> {
    let sessions = sides.map(|side| {
        let of_side: BTreeSet<Id> = side.origins.iter().map(|origin| origin.session).collect();
        of_side.len()
    });
    let mut required = options.min_sessions;
    // Other methods judge instances, so that two sessions are no better than one.
    let by_instances = options.method != CompareMethod::Default;
    if required > 1 && by_instances && are_of_other_sessions(sides) {
        required = required.max(SESSIONS);
    }
    let is_few = required > 1 && sessions.iter().any(|count| *count < required);
    is_few.then_some(VerdictReason::FewSessions { sessions, required })
}

#[cfg(test)]
mod tests;
