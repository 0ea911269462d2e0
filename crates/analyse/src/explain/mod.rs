//! Problems of a measurement, and what to do next.

mod advice;
mod burn_in;
mod choice;
mod costs;
mod detectability;
mod effort;
mod groups;
mod indicators;
mod noise;
mod past_costs;
mod plan;
mod samples;
mod session;

pub use advice::{Advice, advise};
pub use burn_in::{
    BenchmarkBurnIn, InstanceBurnIn, KeptValues, NoTimeError, SteadyStartSearch, burn_in_of,
    metric_unit,
};
pub use choice::{
    Choice, ChoiceRule, Chosen, MOST_NEEDED, PlanNoise, PlanOptions, Rates, Simulation, USUAL_MOST,
    Unable, Unmet, choices,
};
pub use costs::RunCosts;
pub use detectability::{Detectability, TooLittle, detectability};
pub use effort::{EffortEstimate, More};
pub use groups::{Association, InstanceGroup, LevelCount};
pub use indicators::{
    IndicatorValue, environment_text, environment_value, indicator_values, is_reported, value_text,
};
pub use noise::{Noise, NoisePart, noise};
pub use past_costs::{PastCost, past_costs};
pub use plan::{BudgetedPlan, LineFate, PlanLine};
pub use samples::{BySetting, NoiseMetrics, is_analysed_unsteady};
pub use session::{
    ExecutionFigures, LookResult, PlannedResults, ResultVariant, SessionComparison, SessionResult,
    SessionResults, additional_instances,
};
