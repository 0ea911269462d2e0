//! Comparisons as rows, for JSON and CSV.

use lapwing_analyse::judge::{Caution, Comparison, Estimate, SuiteComparison, VerdictReason};
use lapwing_analyse::sample::Subject;
use lapwing_model::{Better, Metric};
use lapwing_stats::NeededReplicates;
use serde::Serialize;

use crate::{caution_text, reason_text};

/// Fields of every comparison, by any method.
#[derive(Default, Serialize)]
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
#[derive(Default, Serialize)]
pub struct ComparisonFields<'a> {
    #[serde(flatten)]
    sides: SideFields<'a>,
    baseline_iterations: usize,
    candidate_iterations: usize,
    ratio: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
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
    /// The largest change that the interval allows, as a share.
    at_most: Option<f64>,
    exact: bool,
    reason: Option<&'static str>,
    reason_text: Option<String>,
    /// The number of instances per side that gives a verdict with a chance of 80 %.
    needed_instances: Option<usize>,
    /// The number of earlier sessions that the variance rests on, too.
    earlier_sessions: usize,
    method: Option<&'static str>,
    better: Option<Better>,
    cautions: Vec<CautionRow>,
}

impl<'a> ComparisonFields<'a> {
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
        // Exact comparisons are no tests.
        let is_test = !comparison.is_exact;
        let tested = comparison.ratio.filter(|_| is_test);
        let difference = comparison.difference.filter(|_| is_test);
        let replication = comparison.replication.as_ref().filter(|_| is_test);
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
            ratio: comparison.ratio.map(|ratio| ratio.value),
            lower: interval.map(|it| it.lower),
            upper: interval.map(|it| it.upper),
            descriptive_ratio: descriptive.map(|ratio| ratio.value),
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
            at_most: comparison.largest_change(),
            exact: comparison.is_exact,
            needed_instances: match comparison.needed() {
                Some(NeededReplicates::About(number)) => Some(number),
                Some(NeededReplicates::MoreThan(_) | NeededReplicates::NoNumber) | None => None,
            },
            earlier_sessions: comparison.earlier_sessions(),
            reason: comparison.reason.map(reason_key),
            reason_text: reason_text(comparison),
            method: tested.map(|ratio| ratio.method.name()),
            better: comparison.metric.better,
            cautions: comparison.cautions.iter().map(CautionRow::new).collect(),
        }
    }
}

#[derive(Serialize)]
struct CautionRow {
    caution: &'static str,
    text: String,
}

impl CautionRow {
    fn new(caution: &Caution) -> Self {
        let text = caution_text(caution);
        let caution = match caution {
            Caution::OtherMachines { .. } => "other_machines",
            Caution::EarlierEpoch { .. } => "earlier_epoch",
            Caution::OtherUnits { .. } => "other_units",
            Caution::Failures { .. } => "failures",
            Caution::NotInterleaved => "not_interleaved",
            Caution::OneSession => "one_session",
            Caution::FewApart => "few_apart",
            Caution::NarrowMethod => "narrow_method",
            Caution::FewOfSeveralModes => "few_of_several_modes",
        };
        Self { caution, text }
    }
}

/// The geometric mean of a suite.
#[derive(Serialize)]
pub struct SuiteRow<'a> {
    suite: &'a str,
    metric: &'a str,
    baseline: &'a str,
    candidate: &'a str,
    benchmarks: usize,
    ratio: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    setting: Option<&'a str>,
}

impl<'a> SuiteRow<'a> {
    pub fn new(suite: &'a SuiteComparison) -> Self {
        Self {
            suite: &suite.suite,
            metric: &suite.metric,
            baseline: &suite.baseline,
            candidate: &suite.candidate,
            benchmarks: suite.ratio.benchmarks,
            ratio: suite.ratio.ratio,
            lower: suite.ratio.interval.map(|it| it.lower),
            upper: suite.ratio.interval.map(|it| it.upper),
            setting: suite.setting.as_deref(),
        }
    }
}

fn reason_key(reason: VerdictReason) -> &'static str {
    match reason {
        VerdictReason::FewInstances => "few_instances",
        VerdictReason::FewSessions { .. } => "few_sessions",
        VerdictReason::OnlySummaries => "only_summaries",
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
