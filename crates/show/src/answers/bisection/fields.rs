//! The results of a bisection for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::{BisectRow, BisectedBenchmark, BisectedBranch, BisectedPair, BisectionOutcome};

/// The result for a benchmark.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BisectedFields<'a> {
    benchmark: &'a str,
    unit: &'a str,
    /// `found`, `no_difference`, `not_found`, `unfinished`, `not_measured` or `interrupted`.
    outcome: &'static str,
    /// The commit that was found.
    found: Option<&'a str>,
    /// The first and the last of the commits of which one made the change.
    suspects: [&'a str; 2],
    /// Their number.
    suspected_commits: usize,
    /// The probability that it is one of them.
    probability: f64,
    /// The comparison of the ends.
    ends: Option<PairFields<'a>>,
    /// The comparison of the commit with its parent.
    parent: Option<PairFields<'a>>,
    /// Number of comparisons with a parent.
    confirmations: usize,
    /// Merges whose branches were searched.
    merges: Vec<&'a str>,
    /// Why the branch of the merge that was found has no answer.
    unsearched_merge: Option<String>,
    /// Commits that were measured, or that may be the one.
    commits: &'a [BisectRow],
    /// Commits that cannot be measured.
    broken: Vec<BrokenCommit<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PairFields<'a> {
    baseline: &'a str,
    candidate: &'a str,
    baseline_instances: usize,
    candidate_instances: usize,
    ratio: f64,
    lower: f64,
    upper: f64,
    /// Whether the sides differ significantly.
    certain: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BrokenCommit<'a> {
    commit: &'a str,
    reason: &'a str,
}

impl<'a> BisectedFields<'a> {
    /// Returns the fields of a result.
    pub fn new(benchmark: &'a BisectedBenchmark, outcome: &'static str) -> Self {
        let suspects = &benchmark.suspects;
        let is_found = matches!(benchmark.outcome, BisectionOutcome::Found(_));
        let merges = benchmark.merges.iter();
        let broken = benchmark.broken.iter();
        Self {
            benchmark: &benchmark.id,
            unit: &benchmark.unit,
            outcome,
            found: is_found.then_some(&suspects.last.hash),
            suspects: [&suspects.first.hash, &suspects.last.hash],
            suspected_commits: suspects.count,
            probability: suspects.probability,
            ends: benchmark.ends.as_ref().map(PairFields::new),
            parent: benchmark.parent.as_ref().map(PairFields::new),
            confirmations: benchmark.confirmations,
            merges: merges.map(|(merge, _)| merge.hash.as_str()).collect(),
            unsearched_merge: benchmark.unsearched.as_ref().map(BisectedBranch::text),
            commits: &benchmark.rows,
            broken: broken
                .map(|(commit, reason)| BrokenCommit { commit, reason })
                .collect(),
        }
    }
}

impl<'a> PairFields<'a> {
    fn new(pair: &'a BisectedPair) -> Self {
        let (ratio, interval) = pair.looked.ratio();
        let [baseline_instances, candidate_instances] = pair.looked.instances;
        Self {
            baseline: &pair.baseline.hash,
            candidate: &pair.candidate.hash,
            baseline_instances,
            candidate_instances,
            ratio,
            lower: interval.lower,
            upper: interval.upper,
            certain: pair.looked.is_certain,
        }
    }
}
