//! The statistics of Lapwing: pure functions on numbers.
//!
//! No input or output, no names, no clock, no global randomness. Every function
//! says which formula it computes, for which shapes and units, and where it is from.
//! `docs/method.md` says which question each one answers and when it misleads.

#![cfg_attr(
    test,
    expect(clippy::float_cmp, reason = "tests compare what must be exact")
)]

mod bootstrap;
mod chance;
pub mod changepoint;
mod cholesky;
pub mod deltas;
mod describe;
pub mod design;
mod detection;
mod drifting;
mod false_discovery;
mod family;
#[cfg(test)]
mod golden;
mod interval;
pub mod linear_model;
mod looked_difference;
mod number;
pub mod optimise;
mod power;
mod principal_components;
mod ranks;
mod ratios;
mod seed;
mod sequential;
pub mod shapley;
mod spread;
pub mod steady;
mod student_tail;
mod subset;
mod test_stream;

pub use bootstrap::{
    HierarchicalReplicates, RESAMPLES, Statistic, ThresholdShare, bca_ratio,
    hierarchical_replicates, percentile_interval, studentised_ratio, threshold_shares,
};
pub use chance::{FutureReplicates, NeededReplicates, VerdictRule};
pub use describe::{
    coefficient_of_variation, geometric_mean, mean, median, pooled_variance, quantile,
    standard_deviation,
};
pub use detection::{
    Bounds, DetectableSlowdown, DetectionRate, DrawPath, ExperimentOptions, Experiments, Measured,
    detectable_slowdown, experiments, experiments_to_tell, wilson_interval,
};
pub use drifting::{
    DriftingSearch, FoundChange, NextMeasurements, PairDifference, SearchEnd, SearchLimits,
    SearchStage, SuspectedCommits, half_even,
};
pub use false_discovery::{PValue, PValueError, adjusted_p_values, benjamini_hochberg};
pub use family::{
    FamilyTest, NEWEST_RUNS, SelectedSize, family_tests, known_noise_test, known_with_suite,
    newest_p_values, noisier_by, selected_size,
};
pub use interval::{Confidence, ConfidenceError, Interval, geometric_mean_interval, mean_interval};
pub use looked_difference::LookedDifference;
pub use number::{Count, as_f64};
pub use power::{
    AffordableDesign, Configuration, DesignCosts, Detection, DetectionMethod, Noise, NoncentralT,
    Pilot, PilotNoise, Strategy, affordable_design, instances_needed,
};
pub use principal_components::{PrincipalComponent, principal_components};
pub use ranks::brunner_munzel::{BrunnerMunzel, BrunnerMunzelTest, brunner_munzel};
pub use ranks::contingency::fisher_exact;
pub use ranks::mann_whitney::{MannWhitney, mann_whitney};
pub use ranks::permutation::{PermutationTest, permutation_test};
pub use ranks::rank::{Ranks, mid_ranks, rank_correlation};
pub use ratios::expected::{ChangeAnswer, ExpectedChange};
pub use ratios::fieller::{FiellerInterval, RatioOfArithmeticMeans, ratio_of_arithmetic_means};
pub use ratios::hodges_lehmann::{HodgesLehmann, hodges_lehmann};
pub use ratios::kalibera_jones::best_iterations;
pub use ratios::ratio::{Ratio, ratio_of_means};
pub use ratios::ratio_interval::{RatioMethod, ratio_interval};
pub use ratios::suite_ratio::{
    ClusteredSides, SuiteRatio, geometric_mean_of_ratios, suite_ratio_by_cluster,
};
pub use seed::Seed;
pub use sequential::{
    ComparisonLook, comparison_looks, look_levels, look_sizes, sequential_levels,
};
pub use spread::dip::{Dip, dip};
pub use spread::moderation::VariancePrior;
pub use spread::modes::{Modes, Split, modes, split};
pub use spread::population::{
    Variability, population_coefficient_of_variation, population_standard_deviation, variability,
};
pub use spread::replicates::{Difference, DifferenceMethod, Replicates};
pub use spread::sessions::{SessionMean, SideHosts, session_variance, sum_of_variances};
pub use spread::variance::{VarianceComponents, deviation_reach, variance_components};
pub use test_stream::{TestStream, confirming_look};
