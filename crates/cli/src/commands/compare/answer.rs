//! The answer of a comparison for programs: JSON and CSV (`docs/compare.md` describes both).

use std::io::Write;

use lapwing_core::judge::{Caution, CompareMethod, Comparison, SuiteComparison, VerdictReason};
use lapwing_core::show::{caution_text, reason_text};
use serde_json::{Value, json};

use super::CompareAnswer;
use crate::error::CliError;
use crate::table::csv_of_json;

/// The columns of the CSV table: keys of a row in JSON.
const COLUMNS: [&str; 24] = [
    "suite",
    "benchmark",
    "setting",
    "metric",
    "unit",
    "baseline",
    "candidate",
    "baseline_value",
    "candidate_value",
    "baseline_instances",
    "candidate_instances",
    "baseline_iterations",
    "candidate_iterations",
    "ratio",
    "lower",
    "upper",
    "p_value",
    "p_adjusted",
    "verdict",
    "reason",
    "reason_text",
    "method",
    "better",
    "cautions",
];

/// Returns the whole answer but for the audit.
pub(super) fn json(answer: &CompareAnswer) -> Value {
    let rows: Vec<Value> = answer.comparisons.iter().map(row).collect();
    let suites: Vec<Value> = answer.suites.iter().map(suite).collect();
    json!({
        "baseline": answer.names.first(),
        "candidates": answer.names.get(1..),
        "confidence": answer.options.confidence.level(),
        "false_discovery_rate": answer.options.false_discovery_rate,
        "smallest_effect": answer.options.smallest_effect,
        "comparisons": rows,
        "suites": suites,
        "notes": answer.notes,
    })
}

fn row(it: &Comparison) -> Value {
    let value = |estimate: Option<lapwing_core::judge::Estimate>| estimate.map(|it| it.value);
    let size = |estimate: Option<lapwing_core::judge::Estimate>| {
        estimate.map(|it| it.size).unwrap_or_default()
    };
    let [baseline, candidate] = [it.baseline_estimate, it.candidate_estimate];
    let interval = it.ratio.and_then(|ratio| ratio.interval);
    json!({
        "suite": it.subject.suite,
        "benchmark": it.subject.benchmark,
        "setting": it.subject.setting.text(),
        "metric": it.subject.metric,
        "unit": it.metric.unit,
        "better": it.metric.better,
        "baseline": it.baseline,
        "candidate": it.candidate,
        "baseline_value": value(baseline),
        "candidate_value": value(candidate),
        "baseline_instances": size(baseline).instances,
        "candidate_instances": size(candidate).instances,
        "baseline_iterations": size(baseline).iterations,
        "candidate_iterations": size(candidate).iterations,
        "ratio": it.ratio.map(|ratio| ratio.value),
        "lower": interval.map(|it| it.lower),
        "upper": interval.map(|it| it.upper),
        "p_value": it.ratio.map(|ratio| ratio.p_value),
        "p_adjusted": it.p_adjusted,
        "verdict": it.verdict.name(),
        "reason": it.reason.map(reason_key),
        "reason_text": reason_text(it),
        "method": it.ratio.map(|ratio| method_key(ratio.method)),
        "cautions": it.cautions.iter().map(caution).collect::<Vec<Value>>(),
    })
}

fn caution(it: &Caution) -> Value {
    let key = match it {
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
    json!({ "caution": key, "text": caution_text(it) })
}

fn reason_key(reason: VerdictReason) -> &'static str {
    match reason {
        VerdictReason::FewInstances => "few_instances",
        VerdictReason::OnlySummaries => "only_summaries",
        VerdictReason::NotPositive { .. } => "not_positive",
        VerdictReason::Undefined => "undefined",
        VerdictReason::OtherBenchmark => "other_benchmark",
        VerdictReason::OtherUnit => "other_unit",
        VerdictReason::NoDirection => "no_direction",
        VerdictReason::TooWide { .. } => "too_wide",
        VerdictReason::ManyComparisons => "many_comparisons",
        VerdictReason::Straddles => "straddles",
        VerdictReason::NoChangeSeen => "no_change_seen",
        VerdictReason::NoBaseline => "no_baseline",
        VerdictReason::NoCandidate => "no_candidate",
        VerdictReason::NeverSteady => "never_steady",
        VerdictReason::NothingLeft { .. } => "nothing_left",
    }
}

fn method_key(method: CompareMethod) -> &'static str {
    match method {
        CompareMethod::Default => "default",
        CompareMethod::Welch => "welch",
        CompareMethod::Student => "student",
        CompareMethod::Paired => "paired",
        CompareMethod::BootstrapT => "bootstrap-t",
        CompareMethod::Bca => "bca",
        CompareMethod::Fieller => "fieller",
        CompareMethod::Hierarchical => "hierarchical",
        CompareMethod::MannWhitney => "mann-whitney",
        CompareMethod::BrunnerMunzel => "brunner-munzel",
        CompareMethod::Permutation => "permutation",
    }
}

fn suite(it: &SuiteComparison) -> Value {
    let mut row = json!({
        "suite": it.suite,
        "metric": it.metric,
        "candidate": it.candidate,
        "benchmarks": it.ratio.benchmarks,
        "ratio": it.ratio.ratio,
        "lower": it.ratio.interval.map(|it| it.lower),
        "upper": it.ratio.interval.map(|it| it.upper),
    });
    if let Some(setting) = &it.setting {
        row["setting"] = json!(setting);
    }
    row
}

/// Writes a row for each comparison.
pub(super) fn csv(answer: &CompareAnswer, out: &mut impl Write) -> Result<(), CliError> {
    csv_of_json(&COLUMNS, answer.comparisons.iter().map(row), out)
}
