//! Comparisons as in the heat maps of Coiled's A/B tests.

use lapwing_stats::{Seed, ThresholdShare, threshold_shares};
use rayon::prelude::*;

use super::super::compare::obstacle;
use super::super::instance_means;
use super::super::sides::SideSamples;
use super::super::verdict::VerdictReason;
use crate::sample::Subject;
use lapwing_model::Metric;

/// Number of resamples that Coiled's dashboard draws.
pub const COILED_RESAMPLES: usize = 10_000;

/// One comparison as in the heat maps of Coiled's A/B tests.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonAsCoiled {
    /// The subject of the comparison.
    pub subject: Subject,
    /// The metric's unit and direction.
    pub metric: Metric,
    /// The name of the baseline.
    pub baseline: String,
    /// The name of the candidate.
    pub candidate: String,
    /// Number of instances of the two sides.
    pub instances: [usize; 2],
    /// The shares of resamples beyond each threshold.
    pub shares: Vec<ThresholdShare>,
}

impl SideSamples {
    /// Returns the comparisons as in Coiled's heat maps, from one mean per instance: Coiled's instances have one
    /// iteration each. Those with an empty side or values that are not positive are dropped.
    pub fn compare_as_coiled(
        &self,
        names: &[String],
        resamples: usize,
        seed: Seed,
    ) -> Vec<ComparisonAsCoiled> {
        let pairs = self.pairs(names);
        let compared = pairs.into_par_iter().map(|pair| {
            if obstacle(pair.sides) == Some(VerdictReason::OtherUnit) {
                return None;
            }
            let means = pair.sides.map(|side| instance_means(&side.cleaned));
            let subject = pair.subject.clone();
            let seed = seed.split(&subject.suite).split(&subject.benchmark);
            let shares = threshold_shares(&means[0], &means[1], resamples, seed)?;
            Some(ComparisonAsCoiled {
                subject,
                metric: pair.metric.clone(),
                baseline: pair.names[0].to_owned(),
                candidate: pair.names[1].to_owned(),
                instances: means.map(|of_side| of_side.len()),
                shares,
            })
        });
        compared.flatten().collect()
    }
}
