//! Conditions that fail a set of comparisons.

use super::caution::Caution;
use super::compare::Comparison;
use super::verdict::{Verdict, VerdictReason};

/// A condition that fails a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateCondition {
    /// A regression, or a benchmark missing from the candidate.
    Regression,
    /// A benchmark that fails more often than in the baseline.
    Failures,
    /// A benchmark that is worse in the runs of one process per side.
    WorseInRuns,
    /// A benchmark that is undecided.
    Inconclusive,
}

/// Outcome of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateOutcome {
    /// No condition is met.
    Passed,
    /// A benchmark regressed, or is worse in the runs of one process per side.
    Worse,
    /// The candidate lacks a benchmark of the baseline in every metric.
    Lacking,
    /// A benchmark fails more often than in the baseline.
    MoreFailures,
    /// A benchmark is undecided.
    Undecided,
    /// Only runs of one process per side were graded, which is too few for the asked regressions.
    OnlyGraded,
    /// Nothing was judged.
    NothingJudged,
}

impl GateOutcome {
    /// Returns the outcome of a gate with these conditions.
    pub fn new(conditions: &[GateCondition], comparisons: &[Comparison]) -> Self {
        let has = |condition| conditions.contains(&condition);
        let any = |is_meant: fn(&Comparison) -> bool| comparisons.iter().any(is_meant);
        let wants_regressions = has(GateCondition::Regression);
        if wants_regressions && any(|it| it.verdict == Verdict::Regression) {
            Self::Worse
        } else if wants_regressions && lacks_any(comparisons) {
            Self::Lacking
        } else if has(GateCondition::Failures) && any(fails_more_often) {
            Self::MoreFailures
        } else if has(GateCondition::WorseInRuns) && any(|it| it.verdict == Verdict::WorseInRuns) {
            Self::Worse
        } else if has(GateCondition::Inconclusive) && any(|it| it.verdict == Verdict::Inconclusive)
        {
            Self::Undecided
        } else if any(is_judged) {
            Self::Passed
        } else if !any(|it| it.verdict.is_in_runs() || it.verdict == Verdict::Changed) {
            Self::NothingJudged
        } else if wants_regressions {
            Self::OnlyGraded
        } else {
            Self::Passed
        }
    }
}

/// Returns whether a comparison has a ratio or a difference, from as many sessions as were asked for.
fn is_judged(comparison: &Comparison) -> bool {
    let is_short = matches!(comparison.reason, Some(VerdictReason::FewSessions { .. }));
    (comparison.ratio.is_some() || comparison.difference.is_some()) && !is_short
}

/// Returns whether a candidate lacks a benchmark of the baseline in every metric.
fn lacks_any(comparisons: &[Comparison]) -> bool {
    let is_same_benchmark = |one: &Comparison, other: &Comparison| {
        one.subject.suite == other.subject.suite
            && one.subject.benchmark == other.subject.benchmark
            && one.subject.setting == other.subject.setting
            && one.candidate == other.candidate
    };
    comparisons.iter().any(|comparison| {
        let is_there = |other: &Comparison| {
            other.candidate_estimate.is_some() && is_same_benchmark(comparison, other)
        };
        comparison.baseline_estimate.is_some() && !comparisons.iter().any(is_there)
    })
}

/// Returns whether the candidate fails more often, or has only failures while the baseline succeeds.
fn fails_more_often(comparison: &Comparison) -> bool {
    let has_only_failures = matches!(
        comparison.reason,
        Some(VerdictReason::NothingLeft { failures: 1.. })
    );
    let is_missing =
        comparison.baseline_estimate.is_some() && comparison.candidate_estimate.is_none();
    let mut cautions = comparison.cautions.iter();
    (is_missing && has_only_failures)
        || cautions.any(|caution| matches!(caution, Caution::Failures { .. }))
}
