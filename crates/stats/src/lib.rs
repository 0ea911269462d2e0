//! The statistics of Lapwing: pure functions on numbers.
//!
//! No input or output, no names, no clock, no global randomness. Every function
//! says which formula it computes, for which shapes and units, and where it is from.
//! `docs/method.md` says which question each one answers and when it misleads.

#![cfg_attr(
    test,
    expect(clippy::float_cmp, reason = "tests compare what must be exact")
)]

mod bisection;
mod bootstrap;
mod brunner_munzel;
mod chance;
pub mod changepoint;
mod cholesky;
mod contingency;
pub mod deltas;
mod describe;
pub mod design;
mod detection;
mod dip;
mod dip_table;
mod false_discovery;
mod family;
mod fieller;
#[cfg(test)]
mod golden;
mod hodges_lehmann;
mod interval;
mod kalibera_jones;
pub mod linear_model;
mod mann_whitney;
mod moderation;
mod modes;
mod number;
pub mod optimise;
mod permutation;
mod population;
mod power;
mod principal_components;
mod rank;
mod ratio;
mod ratio_interval;
mod replicates;
mod seed;
mod sequential;
pub mod shapley;
mod slowdown;
pub mod steady;
mod student_tail;
mod subset;
mod suite_ratio;
mod variance;

pub use bisection::{Bisection, NextVisit, Suspects};
pub use bootstrap::{
    HierarchicalReplicates, RESAMPLES, ResampledRatio, Statistic, ThresholdShare, bca_ratio,
    hierarchical_replicates, percentile_interval, studentised_ratio, threshold_shares,
};
pub use brunner_munzel::{
    BrunnerMunzel, BrunnerMunzelTest, StudentisedDistribution, brunner_munzel,
};
pub use chance::{FutureReplicates, NeededReplicates, VerdictRule};
pub use contingency::fisher_exact;
pub use describe::{
    coefficient_of_variation, geometric_mean, mean, median, quantile, standard_deviation,
};
pub use detection::{
    Bounds, DetectableSlowdown, DetectionRate, DrawPath, ExperimentOptions, Experiments, Measured,
    detectable_slowdown, experiments, experiments_to_tell, wilson_interval,
};
pub use dip::{Dip, dip};
pub use false_discovery::{PValue, PValueError, benjamini_hochberg};
pub use family::{FamilyTest, NEWEST_RUNS, family_tests, newest_p_values};
pub use fieller::{FiellerInterval, RatioOfArithmeticMeans, ratio_of_arithmetic_means};
pub use hodges_lehmann::{HodgesLehmann, hodges_lehmann};
pub use interval::{Confidence, ConfidenceError, Interval, mean_interval};
pub use kalibera_jones::best_iterations;
pub use mann_whitney::{MannWhitney, RankDistribution, mann_whitney};
pub use moderation::VariancePrior;
pub use modes::{Modes, Split, modes, split};
pub use number::{Count, as_f64};
pub use permutation::{PermutationTest, Permutations, permutation_test};
pub use population::{
    Variability, population_coefficient_of_variation, population_standard_deviation, variability,
};
pub use power::{
    Configuration, Detection, DetectionMethod, Noise, NoncentralT, Pilot, PilotNoise, Strategy,
    instances_needed,
};
pub use principal_components::{ComponentScaling, PrincipalComponent, principal_components};
pub use rank::{Ranks, mid_ranks, rank_correlation};
pub use ratio::{Ratio, ratio_of_means};
pub use ratio_interval::{RatioEstimate, RatioMethod, ratio_interval};
pub use replicates::{Difference, DifferenceMethod, Replicates};
pub use seed::Seed;
pub use sequential::{
    ComparisonLook, Spending, comparison_looks, look_levels, look_sizes, sequential_levels,
};
pub use slowdown::SlowdownAnswer;
pub use suite_ratio::{
    ClusteredSides, SuiteRatio, geometric_mean_of_ratios, suite_ratio_by_cluster,
};
pub use variance::{VarianceComponents, deviation_reach, variance_components};
