//! The results of a bisection for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    BisectRow, BisectedBenchmark, BisectedBranch, BisectedChange, BisectedPair, BisectionOutcome,
    SuspectCommits,
};
use crate::LookedText;

/// The result for a benchmark.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BisectedFields<'a> {
    benchmark: &'a str,
    unit: &'a str,
    /// `found`, `only_others` (none in the direction that was asked for), `no_difference`, `not_found`, `unfinished`,
    /// `not_measured` or `interrupted`.
    outcome: &'static str,
    /// The hashes of the commits that changed it, in their order, and of those that may have done so instead of one that
    /// can be measured.
    found: Vec<&'a str>,
    /// The changes, one or more of these commits each.
    changes: Vec<BisectedChangeFields<'a>>,
    /// The likeliest commits, if none can be named.
    likeliest: Option<SuspectFields<'a>>,
    /// The comparison of the ends.
    ends: Option<PairFields<'a>>,
    /// The part of the ends' difference that the found commits do not explain, as a ratio; none if they explain it, as far
    /// as can be told.
    unexplained: Option<f64>,
    /// Number of commits that were compared with their parents without being the one.
    refuted: usize,
    /// Commits that were measured, or that may be the one.
    commits: &'a [BisectRow],
    /// Commits that cannot be measured.
    broken: Vec<BrokenCommit<'a>>,
}

/// A change of the benchmark.
#[derive(Debug, Serialize, JsonSchema)]
struct BisectedChangeFields<'a> {
    /// The hash of its commit; those of several of which one did, if only the last can be measured.
    commits: Vec<&'a str>,
    /// The probability that it is one of them, if there is one change.
    probability: f64,
    /// The comparison with the parent.
    parent: PairFields<'a>,
    /// Its share of the logarithm of the ends' ratio.
    share: Option<f64>,
    /// Whether the comparison with the parent fits that of the ends.
    whole: bool,
    /// Merges whose branches were searched to find it.
    merges: Vec<&'a str>,
    /// Why the branch of this merge has no answer.
    unsearched_merge: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SuspectFields<'a> {
    commits: Vec<&'a str>,
    probability: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PairFields<'a> {
    baseline: &'a str,
    candidate: &'a str,
    baseline_instances: usize,
    candidate_instances: usize,
    ratio: f64,
    /// The interval of 95 %.
    lower: f64,
    upper: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BrokenCommit<'a> {
    commit: &'a str,
    reason: &'a str,
}

impl<'a> BisectedFields<'a> {
    /// Returns the fields of a result.
    pub fn new(benchmark: &'a BisectedBenchmark, outcome: &'static str) -> Self {
        let broken = benchmark.broken.iter();
        let ends = benchmark.ends.as_ref();
        let whole = ends.map(|it| it.difference.value);
        let found = benchmark.found.iter();
        Self {
            benchmark: &benchmark.id,
            unit: &benchmark.unit,
            outcome,
            found: found.clone().flat_map(|it| it.suspects.hashes()).collect(),
            changes: found
                .map(|it| BisectedChangeFields::new(it, whole))
                .collect(),
            likeliest: match &benchmark.outcome {
                BisectionOutcome::NotFound(suspects) => Some(SuspectFields {
                    commits: suspects.hashes(),
                    probability: suspects.probability,
                }),
                _ => None,
            },
            ends: ends.map(PairFields::new),
            unexplained: benchmark.unexplained.map(f64::exp),
            refuted: benchmark.refuted,
            commits: &benchmark.rows,
            broken: broken
                .map(|(commit, reason)| BrokenCommit { commit, reason })
                .collect(),
        }
    }
}

impl SuspectCommits {
    fn hashes(&self) -> Vec<&str> {
        self.commits.iter().map(|it| it.hash.as_str()).collect()
    }
}

impl<'a> BisectedChangeFields<'a> {
    fn new(change: &'a BisectedChange, whole: Option<f64>) -> Self {
        let merges = change.merges.iter();
        Self {
            commits: change.suspects.hashes(),
            probability: change.suspects.probability,
            parent: PairFields::new(&change.parent),
            share: whole.map(|whole| change.parent.difference.value / whole),
            whole: change.is_whole,
            merges: merges.map(|merge| merge.candidate.hash.as_str()).collect(),
            unsearched_merge: change.unsearched.as_ref().map(BisectedBranch::text),
        }
    }
}

impl<'a> PairFields<'a> {
    fn new(pair: &'a BisectedPair) -> Self {
        let (ratio, interval) = pair.difference.ratio_interval();
        let [baseline_instances, candidate_instances] = pair.difference.instances;
        Self {
            baseline: &pair.baseline.hash,
            candidate: &pair.candidate.hash,
            baseline_instances,
            candidate_instances,
            ratio,
            lower: interval.lower,
            upper: interval.upper,
        }
    }
}
