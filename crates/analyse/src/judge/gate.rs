//! Conditions that fail a set of comparisons.

use super::caution::Caution;
use super::compare::Comparison;
use super::verdict::{Verdict, VerdictReason};
use lapwing_model::{GateCondition, GateRule};

/// Outcome of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateOutcome {
    /// No condition is met.
    Passed,
    /// A condition is met that a verdict says.
    Met(GateCondition),
    /// The candidate lacks a benchmark of the baseline in every metric.
    Lacking,
    /// Only runs of one process per side were graded, which is too few for the asked regressions.
    OnlyGraded,
    /// No metric says whether more of it is better, so that nothing is a regression or an improvement.
    NoDirection,
    /// No comparison is of the metric of a rule.
    NoMetric,
    /// Nothing was judged.
    NothingJudged,
}

/// The conditions, in the order in which they are told.
const IN_ORDER: [GateCondition; 8] = [
    GateCondition::Regression,
    GateCondition::Failures,
    GateCondition::WorseInRuns,
    GateCondition::Change,
    GateCondition::Improvement,
    GateCondition::Equivalent,
    GateCondition::NotMeasured,
    GateCondition::Inconclusive,
];

impl GateOutcome {
    /// Returns the outcome of a gate with these rules.
    pub fn new(rules: &[GateRule], comparisons: &[Comparison]) -> Self {
        let conditions: Vec<Vec<GateCondition>> = comparisons
            .iter()
            .map(|it| it.gate_conditions(rules))
            .collect();
        let of_each = || comparisons.iter().zip(&conditions);
        let wants = |condition| conditions.iter().any(|it| it.contains(&condition));
        for condition in IN_ORDER {
            let mut asked = of_each().filter(|(_, own)| own.contains(&condition));
            if asked.any(|(it, _)| it.meets(condition)) {
                return Self::Met(condition);
            }
            let is_regression = condition == GateCondition::Regression;
            let mut asked = of_each().filter(|(_, own)| own.contains(&condition));
            if is_regression && asked.any(|(it, _)| is_lacking(it, comparisons)) {
                return Self::Lacking;
            }
        }
        let is_compared =
            |metric: &String| comparisons.iter().any(|it| it.subject.metric == *metric);
        let mut metrics = rules.iter().filter_map(|rule| rule.metric.as_ref());
        if !metrics.all(is_compared) {
            return Self::NoMetric;
        }
        let any = |is_meant: fn(&Comparison) -> bool| comparisons.iter().any(is_meant);
        let needs_direction = |it: &GateCondition| {
            matches!(it, GateCondition::Regression | GateCondition::Improvement)
        };
        let mut asked = conditions.iter().flatten().peekable();
        let is_directed = asked.peek().is_some() && asked.all(needs_direction);
        let has_direction = |it: &Comparison| is_judged(it) && it.metric.better.is_some();
        if any(is_judged) && is_directed && !any(has_direction) {
            Self::NoDirection
        } else if any(is_judged) {
            Self::Passed
        } else if !any(|it| it.verdict.is_in_runs() || it.verdict == Verdict::Changed) {
            Self::NothingJudged
        } else if wants(GateCondition::Regression) {
            Self::OnlyGraded
        } else {
            Self::Passed
        }
    }
}

/// Returns whether each comparison by itself fails a gate with these rules; without rules, if it is a regression, or worse in
/// runs of one process each.
pub fn failing(rules: &[GateRule], comparisons: &[Comparison]) -> Vec<bool> {
    let usual = [GateCondition::Regression, GateCondition::WorseInRuns];
    let usual = usual.map(|condition| GateRule {
        condition,
        metric: None,
    });
    let is_gate = !rules.is_empty();
    let rules = if is_gate { rules } else { &usual };
    let fails = comparisons.iter().map(|it| {
        let asked = it.gate_conditions(rules);
        let lacks = |condition: GateCondition| {
            is_gate && condition == GateCondition::Regression && is_lacking(it, comparisons)
        };
        let mut asked = asked.into_iter();
        asked.any(|condition| it.meets(condition) || lacks(condition))
    });
    fails.collect()
}

impl Comparison {
    /// Returns whether the suite file keeps it from failing a gate with these rules.
    pub fn is_spared(&self, rules: &[GateRule]) -> bool {
        let is_own = self.fail_on.is_some();
        let general = GateRule::conditions_of(rules, &self.subject.metric, None);
        let own = self.gate_conditions(rules);
        let fails = |conditions: &[GateCondition]| conditions.iter().any(|it| self.meets(*it));
        is_own && fails(&general) && !fails(&own)
    }

    /// Returns those of a gate's conditions that are asked of it.
    fn gate_conditions(&self, rules: &[GateRule]) -> Vec<GateCondition> {
        GateRule::conditions_of(rules, &self.subject.metric, self.fail_on.as_deref())
    }

    /// Returns whether it meets a condition of a gate, apart from lacking.
    fn meets(&self, condition: GateCondition) -> bool {
        match condition {
            GateCondition::Regression => self.verdict == Verdict::Regression,
            GateCondition::Improvement => self.verdict == Verdict::Improvement,
            GateCondition::Change => matches!(
                self.verdict,
                Verdict::Regression | Verdict::Improvement | Verdict::Changed
            ),
            GateCondition::Equivalent => self.verdict == Verdict::Equivalent,
            GateCondition::Inconclusive => self.verdict == Verdict::Inconclusive,
            GateCondition::NotMeasured => self.verdict == Verdict::NotMeasured,
            GateCondition::Failures => fails_more_often(self),
            GateCondition::WorseInRuns => self.verdict == Verdict::WorseInRuns,
            // A comparison has no history.
            GateCondition::Suspected | GateCondition::Drift => false,
        }
    }
}

/// Returns whether a comparison has a ratio or a difference, from as many sessions as were asked for.
fn is_judged(comparison: &Comparison) -> bool {
    let is_short = matches!(comparison.reason, Some(VerdictReason::FewSessions { .. }));
    (comparison.ratio.is_some() || comparison.difference.is_some()) && !is_short
}

/// Returns whether the candidate of a comparison lacks the benchmark in every metric, and the baseline does not.
fn is_lacking(comparison: &Comparison, comparisons: &[Comparison]) -> bool {
    let is_there = |other: &Comparison| {
        other.subject.suite == comparison.subject.suite
            && other.subject.benchmark == comparison.subject.benchmark
            && other.subject.setting == comparison.subject.setting
            && other.candidate == comparison.candidate
            && other.candidate_estimate.is_some()
    };
    comparison.baseline_estimate.is_some() && !comparisons.iter().any(is_there)
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
