//! The ratio of two sides, by each method.

use lapwing_stats::{
    BrunnerMunzel, Confidence, FiellerInterval, HierarchicalReplicates, Interval, RatioMethod,
    Seed, Statistic, as_f64, brunner_munzel, hodges_lehmann, mann_whitney, permutation_test,
    ratio_interval, ratio_of_arithmetic_means, ratio_of_means,
};

use super::compare::{CompareMethod, ComparedRatio};
use super::replication::unit::ReplicationUnit;
use crate::clean::Cleaned;

/// Number of replicates of the hierarchical bootstrap.
const REPLICATES: usize = 10_000;

/// Returns the ratio of candidate to baseline; `None` if the method gives none because a mean is not positive.
pub(super) fn by_method(
    cleaned: [&Cleaned; 2],
    means: [&[f64]; 2],
    method: CompareMethod,
    confidence: Confidence,
    seed: Seed,
) -> Option<ComparedRatio> {
    let [baseline, candidate] = means;
    let by = |by_stats| {
        let found = ratio_interval(baseline, candidate, by_stats, confidence, seed)?;
        Some((found.ratio, Some(found.interval), found.p_value))
    };
    let by_ranks = |p_value: f64| {
        let shift = hodges_lehmann(baseline, candidate, confidence)?;
        Some((shift.ratio, shift.interval, p_value))
    };
    let (value, interval, p_value) = match method {
        // The default also uses the design of the measurements: see `Replication`.
        CompareMethod::Default | CompareMethod::Student | CompareMethod::Paired => return None,
        CompareMethod::Welch => by(RatioMethod::WelchLog)?,
        CompareMethod::BootstrapT => by(RatioMethod::StudentisedBootstrap)?,
        CompareMethod::Bca => by(RatioMethod::Bca)?,
        CompareMethod::Fieller => {
            let fieller = ratio_of_arithmetic_means(baseline, candidate, confidence)?;
            let interval = match fieller.interval {
                FiellerInterval::Bounded(interval) => Some(interval),
                FiellerInterval::Unbounded => None,
            };
            (fieller.ratio, interval, fieller.p_value)
        }
        CompareMethod::Hierarchical => hierarchical(cleaned, confidence, seed)?,
        CompareMethod::MannWhitney => by_ranks(mann_whitney(baseline, candidate)?.p_value)?,
        CompareMethod::BrunnerMunzel => {
            by_ranks(match brunner_munzel(baseline, candidate, seed)? {
                BrunnerMunzel::Overlapping(test) => test.p_value,
                BrunnerMunzel::Separated { p_value } => p_value,
                BrunnerMunzel::AllEqual => 1.0,
            })?
        }
        CompareMethod::Permutation => {
            let test = permutation_test(baseline, candidate, seed)?;
            let welch = ratio_of_means(baseline, candidate, confidence)?;
            (test.ratio, Some(welch.interval), test.p_value)
        }
    };
    Some(ComparedRatio {
        value,
        interval,
        p_value,
        method,
        unit: ReplicationUnit::Instance,
        replicates: [baseline.len(), candidate.len()],
        unpaired: None,
    })
}

/// Returns the ratio, its interval and its p-value.
fn hierarchical(
    cleaned: [&Cleaned; 2],
    confidence: Confidence,
    seed: Seed,
) -> Option<(f64, Option<Interval>, f64)> {
    let rows = cleaned.map(Cleaned::rows);
    let pooled = |rows: &[&[f64]]| lapwing_stats::mean(&rows.concat());
    let value = pooled(&rows[1])? / pooled(&rows[0])?;
    if !(value.is_finite() && value > 0.0) {
        return None;
    }
    let replicates =
        HierarchicalReplicates::draw(&rows[0], &rows[1], Statistic::Mean, REPLICATES, seed);
    let interval = replicates.ratio(confidence)?;
    Some((value, Some(interval), two_sided(&replicates)))
}

/// Twice the smaller share of replicates on one side of 1, counting the sample itself.
fn two_sided(replicates: &HierarchicalReplicates) -> f64 {
    let pairs = || replicates.baseline.iter().zip(&replicates.candidate);
    let below = pairs().filter(|(b, c)| c <= b).count();
    let above = pairs().filter(|(b, c)| c >= b).count();
    let smaller = as_f64(below.min(above));
    (2.0 * (smaller + 1.0) / (as_f64(replicates.baseline.len()) + 1.0)).min(1.0)
}
