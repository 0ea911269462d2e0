//! Comparisons as rows, for JSON and CSV.

use lapwing_analyse::judge::{
    Caution, Comparison, Estimate, INSTANCES_FOR_A_VERDICT, SuiteComparison, VerdictReason,
};
use lapwing_analyse::sample::Subject;
use lapwing_model::{Better, Metric};
use lapwing_stats::NeededReplicates;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

use crate::writing::Note;
use crate::{caution_text, drift_text, reason_text};

/// Fields of every comparison, by any method.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct SideFields<'a> {
    pub suite: &'a str,
    pub benchmark: &'a str,
    pub setting: Option<String>,
    pub metric: &'a str,
    pub unit: &'a str,
    pub baseline: &'a str,
    pub candidate: &'a str,
    pub baseline_value: Option<f64>,
    pub candidate_value: Option<f64>,
    pub baseline_instances: usize,
    pub candidate_instances: usize,
}

impl<'a> SideFields<'a> {
    /// Returns the fields of a comparison of two sides, without its numbers.
    pub fn new(
        subject: &'a Subject,
        metric: &'a Metric,
        [baseline, candidate]: [&'a str; 2],
    ) -> Self {
        Self {
            suite: &subject.suite,
            benchmark: &subject.benchmark,
            setting: subject.setting.text(),
            metric: &subject.metric,
            unit: &metric.unit,
            baseline,
            candidate,
            ..Self::default()
        }
    }
}

/// A comparison.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ComparisonFields<'a> {
    #[serde(flatten)]
    sides: SideFields<'a>,
    baseline_iterations: usize,
    candidate_iterations: usize,
    /// The ratio that is shown: the judged one, or else the descriptive one.
    ratio: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// The ratio marked ≈, which is not judged.
    descriptive_ratio: Option<f64>,
    descriptive_lower: Option<f64>,
    descriptive_upper: Option<f64>,
    difference: Option<f64>,
    replication: Option<&'static str>,
    replicates: Option<usize>,
    unpaired_lower: Option<f64>,
    unpaired_upper: Option<f64>,
    p_value: Option<f64>,
    p_adjusted: Option<f64>,
    verdict: &'static str,
    /// The smallest change that matters for it, as a share.
    own_smallest_effect: Option<f64>,
    /// The largest change that the interval allows, as a share.
    at_most: Option<f64>,
    exact: bool,
    reason: Option<&'static str>,
    reason_text: Option<String>,
    /// The numbers of the reason, by name.
    reason_numbers: BTreeMap<&'static str, usize>,
    /// The number of instances per side that gives a verdict with a chance of 80 %.
    needed_instances: Option<usize>,
    /// A number of instances per side that is too small for a verdict, where the needed number is unknown.
    needed_more_than: Option<usize>,
    /// The number of earlier sessions that the variance rests on, too.
    earlier_sessions: usize,
    /// How much sessions differ, where the sides are from different ones and the store knows: the relative standard
    /// deviation of a session's mean.
    session_sd: Option<f64>,
    /// Its degrees of freedom.
    session_freedom: Option<f64>,
    /// The ratio of a regression or improvement, allowing for its selection: what stands out seems larger than it is.
    likely_ratio: Option<f64>,
    likely_lower: Option<f64>,
    likely_upper: Option<f64>,
    method: Option<&'static str>,
    /// `lower` or `higher`.
    better: Option<&'static str>,
    cautions: Vec<CautionRow>,
}

impl<'a> ComparisonFields<'a> {
    /// Returns the fields of a comparison.
    pub fn new(comparison: &'a Comparison) -> Self {
        let [baseline, candidate] = [comparison.baseline_estimate, comparison.candidate_estimate];
        let value = |estimate: Option<Estimate>| estimate.map(|it| it.value);
        let size = |estimate: Option<Estimate>| estimate.map(|it| it.size).unwrap_or_default();
        let interval = comparison
            .ratio
            .and_then(|ratio| ratio.interval)
            .or_else(|| comparison.difference.map(|difference| difference.interval));
        let unpaired = comparison.ratio.and_then(|ratio| ratio.unpaired);
        let descriptive = comparison.descriptive.as_ref();
        let described = descriptive.and_then(|ratio| ratio.interval);
        let described_ratio = descriptive.map(|ratio| ratio.value);
        // Exact comparisons are no tests.
        let is_test = !comparison.is_exact;
        let tested = comparison.ratio.filter(|_| is_test);
        let difference = comparison.difference.filter(|_| is_test);
        let replication = comparison.replication.as_ref().filter(|_| is_test);
        let session_noise = comparison.session_noise().filter(|_| is_test);
        let likely = comparison.selected_ratio();
        Self {
            sides: SideFields {
                baseline_value: value(baseline),
                candidate_value: value(candidate),
                baseline_instances: size(baseline).instances,
                candidate_instances: size(candidate).instances,
                ..SideFields::new(
                    &comparison.subject,
                    &comparison.metric,
                    [&comparison.baseline, &comparison.candidate],
                )
            },
            baseline_iterations: size(baseline).iterations,
            candidate_iterations: size(candidate).iterations,
            ratio: comparison
                .ratio
                .map_or(described_ratio, |ratio| Some(ratio.value)),
            lower: interval.map(|it| it.lower),
            upper: interval.map(|it| it.upper),
            descriptive_ratio: described_ratio,
            descriptive_lower: described.map(|it| it.lower),
            descriptive_upper: described.map(|it| it.upper),
            difference: comparison.difference.map(|difference| difference.value),
            replication: replication.map(|replication| replication.unit.name()),
            replicates: replication.map(|replication| {
                let [baseline, candidate] = replication.sizes();
                baseline.min(candidate)
            }),
            unpaired_lower: unpaired.map(|interval| interval.lower),
            unpaired_upper: unpaired.map(|interval| interval.upper),
            p_value: tested
                .map(|ratio| ratio.p_value)
                .or(difference.map(|difference| difference.p_value)),
            p_adjusted: comparison.p_adjusted,
            verdict: comparison.verdict.name(),
            own_smallest_effect: comparison.smallest_effect,
            at_most: comparison.largest_change(),
            exact: comparison.is_exact,
            needed_instances: needed_about(comparison.needed()),
            needed_more_than: needed_more_than(comparison.needed()),
            earlier_sessions: comparison.earlier_sessions(),
            session_sd: session_noise.map(|noise| noise.deviation()),
            session_freedom: session_noise.map(|noise| noise.variance.freedom),
            likely_ratio: likely.map(|(ratio, _)| ratio),
            likely_lower: likely.map(|(_, interval)| interval.lower),
            likely_upper: likely.map(|(_, interval)| interval.upper),
            reason: comparison.reason.map(reason_key),
            reason_text: reason_text(comparison),
            reason_numbers: comparison.reason.map(reason_numbers).unwrap_or_default(),
            method: tested.map(|ratio| ratio.method.name()),
            better: comparison.metric.better.map(|better| match better {
                Better::Lower => "lower",
                Better::Higher => "higher",
            }),
            cautions: comparison.cautions.iter().map(CautionRow::new).collect(),
        }
    }
}

/// Returns the number of replicates that give a verdict.
pub fn needed_about(needed: Option<NeededReplicates>) -> Option<usize> {
    match needed? {
        NeededReplicates::About(number) => Some(number),
        NeededReplicates::MoreThan(_) | NeededReplicates::NoNumber => None,
    }
}

/// Returns a number of replicates that is too small for a verdict, where the needed number is unknown.
pub fn needed_more_than(needed: Option<NeededReplicates>) -> Option<usize> {
    match needed? {
        NeededReplicates::MoreThan(number) => Some(number),
        NeededReplicates::About(_) | NeededReplicates::NoNumber => None,
    }
}

/// Returns the numbers of a reason, besides those that are fields of their own.
fn reason_numbers(reason: VerdictReason) -> BTreeMap<&'static str, usize> {
    let numbers = match reason {
        VerdictReason::FewInstances => vec![("required_instances", INSTANCES_FOR_A_VERDICT)],
        VerdictReason::FewSessions { sessions, required } => vec![
            ("baseline_sessions", sessions[0]),
            ("candidate_sessions", sessions[1]),
            ("required_sessions", required),
        ],
        VerdictReason::NotPositive { instances } => vec![("instances", instances)],
        VerdictReason::ManyComparisons { comparisons, .. } => vec![("comparisons", comparisons)],
        VerdictReason::NothingLeft { failures } => vec![("failures", failures)],
        VerdictReason::OnlySummaries
        | VerdictReason::OtherCentre
        | VerdictReason::Undefined
        | VerdictReason::NoDirection
        | VerdictReason::TooWide { .. }
        | VerdictReason::AllEqual
        | VerdictReason::NoBaseline
        | VerdictReason::NoCandidate
        | VerdictReason::OtherBenchmark
        | VerdictReason::OtherUnit
        | VerdictReason::OtherDirection
        | VerdictReason::NeverSteady => Vec::new(),
    };
    numbers.into_iter().collect()
}

#[derive(Debug, Serialize, JsonSchema)]
struct CautionRow {
    caution: &'static str,
    text: String,
}

impl CautionRow {
    fn new(caution: &Caution) -> Self {
        Self {
            caution: caution_key(caution),
            text: caution_text(caution),
        }
    }
}

/// Returns a caution as a note.
pub fn caution_note(caution: &Caution) -> Note {
    // Benchmarks that drift by other amounts have one note.
    let text = if let Caution::PoolDrifts { .. } = caution {
        drift_text(caution)
    } else {
        caution_text(caution)
    };
    let note = Note::marked(caution_key(caution), text);
    match caution {
        Caution::EarlierEpoch { instances } | Caution::MeasuredApart { instances } => {
            note.with("instances", *instances)
        }
        Caution::Failures {
            candidate,
            baseline,
        } => note
            .with("baseline_failures", *baseline)
            .with("candidate_failures", *candidate),
        Caution::NarrowMethod | Caution::FewOfSeveralModes => note.with("enough_instances", 10),
        Caution::OtherMachines { .. }
        | Caution::OtherUnits { .. }
        | Caution::NotInterleaved
        | Caution::OneSession
        | Caution::FewApart(_)
        | Caution::Outliers
        | Caution::PoolDrifts { .. } => note,
    }
}

fn caution_key(caution: &Caution) -> &'static str {
    match caution {
        Caution::OtherMachines { .. } => "other_machines",
        Caution::EarlierEpoch { .. } => "earlier_epoch",
        Caution::MeasuredApart { .. } => "measured_apart",
        Caution::OtherUnits { .. } => "other_units",
        Caution::Failures { .. } => "failures",
        Caution::NotInterleaved => "not_interleaved",
        Caution::OneSession => "one_session",
        Caution::FewApart(_) => "few_apart",
        Caution::NarrowMethod => "narrow_method",
        Caution::FewOfSeveralModes => "few_of_several_modes",
        Caution::Outliers => "outliers",
        Caution::PoolDrifts { .. } => "pool_drifts",
    }
}

/// The geometric mean of a suite.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SuiteRow<'a> {
    suite: &'a str,
    metric: &'a str,
    baseline: &'a str,
    candidate: &'a str,
    benchmarks: usize,
    ratio: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// The same ratio, where its benchmarks have too few instances for a verdict.
    descriptive_ratio: Option<f64>,
    descriptive_lower: Option<f64>,
    descriptive_upper: Option<f64>,
    setting: Option<&'a str>,
}

impl<'a> SuiteRow<'a> {
    pub fn new(suite: &'a SuiteComparison) -> Self {
        let of_suite = Some(suite.ratio);
        let ratio = of_suite.filter(|_| !suite.is_descriptive);
        let descriptive = of_suite.filter(|_| suite.is_descriptive);
        let [interval, descriptive_interval] = [ratio, descriptive].map(|it| it?.interval);
        Self {
            suite: &suite.suite,
            metric: &suite.metric,
            baseline: &suite.baseline,
            candidate: &suite.candidate,
            benchmarks: suite.ratio.benchmarks,
            ratio: of_suite.map(|it| it.ratio),
            lower: interval.map(|it| it.lower),
            upper: interval.map(|it| it.upper),
            descriptive_ratio: descriptive.map(|it| it.ratio),
            descriptive_lower: descriptive_interval.map(|it| it.lower),
            descriptive_upper: descriptive_interval.map(|it| it.upper),
            setting: suite.setting.as_deref(),
        }
    }
}

fn reason_key(reason: VerdictReason) -> &'static str {
    match reason {
        VerdictReason::FewInstances => "few_instances",
        VerdictReason::FewSessions { .. } => "few_sessions",
        VerdictReason::OnlySummaries => "only_summaries",
        VerdictReason::OtherCentre => "other_centre",
        VerdictReason::NotPositive { .. } => "not_positive",
        VerdictReason::Undefined => "undefined",
        VerdictReason::OtherBenchmark => "other_benchmark",
        VerdictReason::OtherUnit => "other_unit",
        VerdictReason::OtherDirection => "other_direction",
        VerdictReason::NoDirection => "no_direction",
        VerdictReason::TooWide { .. } => "too_wide",
        VerdictReason::ManyComparisons { .. } => "many_comparisons",
        VerdictReason::AllEqual => "all_equal",
        VerdictReason::NoBaseline => "no_baseline",
        VerdictReason::NoCandidate => "no_candidate",
        VerdictReason::NeverSteady => "never_steady",
        VerdictReason::NothingLeft { .. } => "nothing_left",
    }
}
