//! The gate: conditions that fail a comparison.

use clap::ValueEnum;
use lapwing_analyse::judge::{Caution, Comparison, Verdict, VerdictReason};

use crate::error::ExitStatus;

/// Conditions that fail a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// A regression, or a benchmark missing from the candidate
    Regression,
    /// A benchmark that fails more often than in the baseline
    Failures,
    /// A benchmark that is worse in the compared files of one process each; another process may differ
    WorseInRuns,
}

impl FailOn {
    /// Returns the exit code, with its reason if the verdicts do not explain it.
    pub(super) fn judge(
        gate: &[Self],
        comparisons: &[Comparison],
    ) -> (ExitStatus, Option<&'static str>) {
        let regressed = |it: &Comparison| it.verdict == Verdict::Regression;
        if gate.contains(&Self::Regression) && comparisons.iter().any(regressed) {
            return (ExitStatus::Judged, None);
        }
        if gate.contains(&Self::Regression) && lacks_any(comparisons) {
            let why = "--fail-on regression fails because the candidate lacks a benchmark of the baseline, or has no usable values of it";
            return (ExitStatus::Judged, Some(why));
        }
        if gate.contains(&Self::Failures) && comparisons.iter().any(fails_more_often) {
            let why = "--fail-on failures fails because a benchmark fails more often than in the baseline";
            return (ExitStatus::Judged, Some(why));
        }
        let is_worse = |it: &Comparison| it.verdict == Verdict::WorseInRuns;
        if gate.contains(&Self::WorseInRuns) && comparisons.iter().any(is_worse) {
            return (ExitStatus::Judged, None);
        }
        let is_judged = |it: &Comparison| it.ratio.is_some() || it.difference.is_some();
        if comparisons.iter().any(is_judged) {
            return (ExitStatus::Fine, None);
        }
        let is_graded = |it: &Comparison| match it.verdict {
            Verdict::WorseInRuns | Verdict::BetterInRuns | Verdict::UnchangedInRuns => true,
            Verdict::Regression
            | Verdict::Improvement
            | Verdict::Equivalent
            | Verdict::Inconclusive
            | Verdict::NotMeasured => false,
        };
        if gate.contains(&Self::Regression) && comparisons.iter().any(is_graded) {
            let why = "--fail-on regression judged nothing: a regression needs 3 instances per side; --fail-on worse-in-runs judges these files alone";
            return (ExitStatus::NotEnough, Some(why));
        }
        if comparisons.iter().any(is_graded) {
            (ExitStatus::Fine, None)
        } else {
            (ExitStatus::NotEnough, None)
        }
    }
}

/// Returns whether a candidate lacks a benchmark of the baseline in every metric.
fn lacks_any(comparisons: &[Comparison]) -> bool {
    let of_one = |one: &Comparison, other: &Comparison| {
        let [one_subject, other_subject] = [&one.subject, &other.subject];
        one_subject.suite == other_subject.suite
            && one_subject.benchmark == other_subject.benchmark
            && one_subject.setting == other_subject.setting
            && one.candidate == other.candidate
    };
    comparisons.iter().any(|comparison| {
        comparison.baseline_estimate.is_some()
            && !comparisons
                .iter()
                .any(|other| of_one(comparison, other) && other.candidate_estimate.is_some())
    })
}

/// Returns whether the candidate fails more often, or has only failures while the baseline succeeds.
fn fails_more_often(it: &Comparison) -> bool {
    let nothing_else = matches!(
        it.reason,
        Some(VerdictReason::NothingLeft { failures: 1.. })
    );
    let is_caution = |it: &Caution| matches!(it, Caution::Failures { .. });
    (it.baseline_estimate.is_some() && it.candidate_estimate.is_none() && nothing_else)
        || it.cautions.iter().any(is_caution)
}
