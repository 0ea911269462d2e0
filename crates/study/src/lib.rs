//! Factor studies: which settings of a program matter, and how they interact.
//!
//! A study measures a benchmark at many combinations of levels of its factors. Its data are runs like any others;
//! this crate designs the combinations, and explains what was measured.
//!
//! [`StudyData`] gathers what was measured of a benchmark: one value for each instance, with the levels of all
//! factors. The analyses take it on a [`StudyScale`].

mod advise;
mod alias;
mod average;
mod carry_over;
mod components;
mod confirmation;
mod covariates;
mod curve;
mod data;
pub mod design;
mod explained;
mod factor;
mod finding;
mod fit;
mod gather;
mod note;
mod optimisation;
mod paths;
mod read;
mod rounds;
mod scale;
#[cfg(test)]
mod simulation;
mod stability;
mod view;
mod written;

pub use advise::{
    Advice, AdviceKind, AdviceRules, ExploredStack, GoalError, GoalTerm, NoAdvice, PackagePin,
    PackageRequirement, PairEffect, RequirementError, RuleError, StackChange, StackData,
    StackDataError, StackExpectation, StackFactor, StackGoal, StackModel, StackModelError,
    StackOutcome, VersionEffect, goal_terms, instance_failed, is_stack, pinned_stacks,
    requirements, version_order,
};
pub use alias::FoldOver;
pub use average::{AverageEffect, AverageEffects, AverageTerm};
pub use carry_over::{
    CarriedEffect, CarriedPrediction, CarriedSide, CarriedVerdict, StudyCarryOver, verdict_counts,
};
pub use components::{StudyComponents, components};
pub use confirmation::{
    ConfirmationError, ConfirmationResult, ConfirmedSetting, StudyConfirmation,
};
pub use covariates::StudyCovariate;
pub use curve::{CurvePoint, ResponseCurve};
pub use data::{StudyData, StudyError, StudyInstance};
pub use explained::{ConditionalEffect, ExplainedStudy, StudyContrast};
pub use factor::{StudyFactor, Treatment};
pub use finding::{
    BesideEffect, FindingKind, LevelEffect, MainEffect, NextMeasurement, PairFinding, PairPattern,
    Recommendation, StudyFinding, StudyFindings, findings,
};
pub use fit::{FitDiagnostics, FitOptions, FittedColumn, ModelChoice, StudyFit, StudyFitError};
pub use note::DataNote;
pub use optimisation::{
    OptimisationEnd, OptimisationError, OptimisationProgress, OptimisationResult,
    OptimisationRules, OptimisationState, OptimisationStep, StudyOptimisation, is_round,
};
pub use paths::{
    Attribution, AttributionSource, PathOrder, SettingValues, StudyPath, attribution, study_path,
};
pub use read::{
    StudyReadError, measured_configurations, noise_between_instances, only_named_metric,
    several_metrics, suite_stability,
};
pub use rounds::{CONFIRMATION, ROUND_PURPOSE};
pub use scale::{StudyMetric, StudyScale};
pub use stability::{StabilityCheck, StabilityOptions, StabilityOrder, StudyStability};
pub use view::{
    StudyViewError, TreatmentRatios, TreatmentScatter, measured_sets, treatment_ratios,
};
pub use written::{write_deltas, write_runs};
