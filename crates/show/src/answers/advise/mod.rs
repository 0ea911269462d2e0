//! Answers about stacks of package versions: `lapwing advise`.

mod explore;
mod stack;

use lapwing_model::text::{counted, joined};
use lapwing_study::{StackExpectation, StackModel};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::explore::ExploreAnswer;
pub use self::stack::AdviceAnswer;
use crate::study::{data_note, goal_value_text};
use crate::writing::{AnswerKind, Note};

/// The kinds of answers about stacks.
pub const KINDS: &[&AnswerKind] = &[&explore::KIND, &stack::KIND];

/// Returns notes on the data that a model learnt from.
pub fn model_notes(model: &StackModel<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    let processors = model.data.hardware.len();
    if processors > 1 {
        let text = format!(
            "for {}; learnt from {}",
            model.hardware(),
            counted(processors, "processor")
        );
        notes.push(Note::new("hardware", text).with("processors", processors));
    }
    if model.avoided > 0 {
        let text = format!(
            "{} excluded: it always failed, or a version or pair of versions in it did",
            counted(model.avoided, "stack")
        );
        notes.push(Note::new("excluded", text).with("stacks", model.avoided));
    }
    let unknown = model.rules.unknown(model.data);
    if !unknown.is_empty() {
        let text = format!(
            "rules name packages that the stacks do not have: {}",
            joined(&unknown)
        );
        notes.push(Note::new("unknown_packages", text).with("packages", unknown));
    }
    notes.extend(model.data.notes.iter().map(data_note));
    notes
}

/// Fields that both answers have.
#[derive(Debug, Serialize, JsonSchema)]
struct ModelFields<'m> {
    goal: Vec<GoalFields<'m>>,
    /// The processor that the advice is for.
    hardware: &'m str,
    packages: Vec<PackageFields<'m>>,
    measured_stacks: usize,
    /// Number of stacks that could be advised.
    candidates: usize,
}

/// A metric of the goal.
#[derive(Debug, Serialize, JsonSchema)]
struct GoalFields<'m> {
    suite: &'m str,
    benchmark: &'m str,
    metric: &'m str,
    weight: f64,
    /// `lower` or `higher`.
    better: &'static str,
}

/// A package with its measured versions.
#[derive(Debug, Serialize, JsonSchema)]
struct PackageFields<'m> {
    name: &'m str,
    versions: &'m [String],
}

impl<'m> ModelFields<'m> {
    fn new(model: &'m StackModel<'_>) -> Self {
        let goals = model.data.goals.iter().map(|goal| GoalFields {
            suite: &goal.suite,
            benchmark: &goal.benchmark,
            metric: &goal.metric.name,
            weight: goal.weight.abs(),
            better: if goal.direction() > 0.0 {
                "lower"
            } else {
                "higher"
            },
        });
        let packages = model.data.factors.iter().map(|package| PackageFields {
            name: &package.name,
            versions: &package.versions,
        });
        Self {
            goal: goals.collect(),
            hardware: model.hardware(),
            packages: packages.collect(),
            measured_stacks: model.data.measured().len(),
            candidates: model.candidates.len(),
        }
    }
}

/// Returns the expected value of the only metric with the ends of its interval; `None` for several metrics.
fn expected(model: &StackModel<'_>, expectation: &StackExpectation) -> Option<[f64; 3]> {
    let goal = model.data.only_goal()?;
    let value = goal.value(expectation.response);
    let interval = expectation.interval;
    let [one, other] = [interval.lower, interval.upper].map(|end| goal.value(end));
    Some([value, one.min(other), one.max(other)])
}

/// Returns the expected value of the only metric with its interval; for several metrics nothing.
fn expected_text(model: &StackModel<'_>, expectation: &StackExpectation) -> String {
    let goal = model.data.only_goal();
    let Some((goal, expected)) = goal.zip(expected(model, expectation)) else {
        return String::new();
    };
    let [value, lower, upper] = expected.map(|value| goal_value_text(goal, value));
    format!("{value} [{lower}, {upper}]")
}
