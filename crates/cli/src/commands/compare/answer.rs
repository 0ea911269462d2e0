//! The answer of a comparison for programs: JSON and CSV (`docs/compare.md` describes both).

use std::io::Write;

use lapwing_analyse::judge::{Caution, Comparison, Estimate, SuiteComparison, VerdictReason};
use lapwing_analyse::sample::Subject;
use lapwing_model::{Better, Metric};
use lapwing_show::{caution_text, reason_text};
use lapwing_stats::NeededReplicates;
use serde::Serialize;
use serde_json::{Value, json};

use super::CompareAnswer;
use crate::answer::{write_csv, write_json};
use crate::comparing::method_name;
use crate::error::CliError;

/// Writes the whole answer, with this audit.
pub(super) fn json(
    answer: &CompareAnswer,
    audit: &Value,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let suites: Vec<SuiteRow> = answer.suites.iter().map(SuiteRow::of).collect();
    let answer = json!({
        "baseline": answer.names.first().filter(|_| !answer.each_baseline),
        "candidates": if answer.each_baseline { Some(answer.names.as_slice()) } else { answer.names.get(1..) },
        "confidence": answer.options.confidence.level(),
        "false_discovery_rate": answer.options.false_discovery_rate,
        "smallest_effect": answer.options.smallest_effect,
        "band": answer.options.band(),
        "comparisons": rows(answer),
        "suites": suites,
        "control": answer.control,
        "notes": answer.notes,
        "audit": audit,
    });
    write_json(&answer, out)
}

/// Writes a row for each comparison.
pub(super) fn csv(answer: &CompareAnswer, out: &mut impl Write) -> Result<(), CliError> {
    write_csv(&rows(answer), out)
}

/// Fields of every comparison, by any method.
#[derive(Default, Serialize)]
pub(super) struct SideFields<'a> {
    pub(super) suite: &'a str,
    pub(super) benchmark: &'a str,
    pub(super) setting: Option<String>,
    pub(super) metric: &'a str,
    pub(super) unit: &'a str,
    pub(super) baseline: &'a str,
    pub(super) candidate: &'a str,
    pub(super) baseline_value: Option<f64>,
    pub(super) candidate_value: Option<f64>,
    pub(super) baseline_instances: usize,
    pub(super) candidate_instances: usize,
}

impl<'a> SideFields<'a> {
    /// Returns the fields of a comparison of two sides, without its numbers.
    pub(super) fn of(subject: &'a Subject, metric: &'a Metric, sides: [&'a str; 2]) -> Self {
        Self {
            suite: &subject.suite,
            benchmark: &subject.benchmark,
            setting: subject.setting.text(),
            metric: &subject.metric,
            unit: &metric.unit,
            baseline: sides[0],
            candidate: sides[1],
            ..Self::default()
        }
    }
}

#[derive(Default, Serialize)]
struct CompareRow<'a> {
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

fn rows(answer: &CompareAnswer) -> Vec<CompareRow<'_>> {
    answer.comparisons.iter().map(CompareRow::of).collect()
}

impl<'a> CompareRow<'a> {
    fn of(it: &'a Comparison) -> Self {
        let [baseline, candidate] = [it.baseline_estimate, it.candidate_estimate];
        let value = |estimate: Option<Estimate>| estimate.map(|it| it.value);
        let size = |estimate: Option<Estimate>| estimate.map(|it| it.size).unwrap_or_default();
        let of_difference = || it.difference.map(|difference| difference.interval);
        let interval = it
            .ratio
            .and_then(|ratio| ratio.interval)
            .or_else(of_difference);
        let unpaired = it.ratio.and_then(|ratio| ratio.unpaired);
        let described = it.descriptive.as_ref().and_then(|it| it.interval);
        // Exact comparisons are no tests.
        let tested = it.ratio.filter(|_| !it.is_exact);
        let p_value = tested.map(|ratio| ratio.p_value);
        let difference = it.difference.filter(|_| !it.is_exact);
        let replication = it.replication.as_ref().filter(|_| !it.is_exact);
        Self {
            sides: SideFields {
                baseline_value: value(baseline),
                candidate_value: value(candidate),
                baseline_instances: size(baseline).instances,
                candidate_instances: size(candidate).instances,
                ..SideFields::of(&it.subject, &it.metric, [&it.baseline, &it.candidate])
            },
            baseline_iterations: size(baseline).iterations,
            candidate_iterations: size(candidate).iterations,
            ratio: it.ratio.map(|ratio| ratio.value),
            lower: interval.map(|it| it.lower),
            upper: interval.map(|it| it.upper),
            descriptive_ratio: it.descriptive.as_ref().map(|it| it.value),
            descriptive_lower: described.map(|it| it.lower),
            descriptive_upper: described.map(|it| it.upper),
            difference: it.difference.map(|difference| difference.value),
            replication: replication.map(|replication| replication.unit.name()),
            replicates: replication.map(|replication| {
                let [baseline, candidate] = replication.sizes();
                baseline.min(candidate)
            }),
            unpaired_lower: unpaired.map(|interval| interval.lower),
            unpaired_upper: unpaired.map(|interval| interval.upper),
            p_value: p_value.or(difference.map(|difference| difference.p_value)),
            p_adjusted: it.p_adjusted,
            verdict: it.verdict.name(),
            at_most: it.largest_change(),
            exact: it.is_exact,
            needed_instances: match it.needed() {
                Some(NeededReplicates::About(number)) => Some(number),
                Some(NeededReplicates::MoreThan(_) | NeededReplicates::NoNumber) | None => None,
            },
            earlier_sessions: it.earlier_sessions(),
            reason: it.reason.map(reason_key),
            reason_text: reason_text(it),
            method: tested.and_then(|ratio| method_name(ratio.method)),
            better: it.metric.better,
            cautions: it.cautions.iter().map(CautionRow::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct CautionRow {
    caution: &'static str,
    text: String,
}

impl CautionRow {
    fn of(it: &Caution) -> Self {
        let caution = match it {
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
        let text = caution_text(it);
        Self { caution, text }
    }
}

#[derive(Serialize)]
struct SuiteRow<'a> {
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
    fn of(it: &'a SuiteComparison) -> Self {
        Self {
            suite: &it.suite,
            metric: &it.metric,
            baseline: &it.baseline,
            candidate: &it.candidate,
            benchmarks: it.ratio.benchmarks,
            ratio: it.ratio.ratio,
            lower: it.ratio.interval.map(|it| it.lower),
            upper: it.ratio.interval.map(|it| it.upper),
            setting: it.setting.as_deref(),
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
