//! Advice: which stack of package versions is the best for a goal, and which to measure next.
//!
//! A stack is a setting whose factors are packages (and `python`), with versions as levels. [`StackData`] gathers
//! what was measured of stacks, [`StackModel`] learns across them, [`Advice`] names one with its evidence.

mod choice;
mod data;
mod evidence;
mod goal;
mod model;
mod package_version;
mod reader;
mod requirement;
mod rules;
#[cfg(test)]
mod tests;

pub use choice::{Advice, AdviceKind, NoAdvice};
pub use data::{StackData, StackDataError, StackFactor, StackOutcome};
pub use evidence::{PairEffect, StackChange, StackExpectation, VersionEffect};
pub use goal::{GoalError, GoalTerm, StackGoal, goal_terms};
pub use model::{ExploredStack, StackModel, StackModelError};
pub use package_version::version_order;
pub use reader::{failed as instance_failed, is_stack};
pub use requirement::{
    PackagePin, PackageRequirement, RequirementError, pinned_stacks, requirements,
};
pub use rules::{AdviceRules, RuleError};
