//! Answers about stacks of package versions: `lapwing advise`.

mod explore;
mod stack;

use lapwing_model::text::{counted, joined};
use lapwing_study::{StackExpectation, StackModel};
use serde_json::{Value, json};

pub use self::explore::ExploreAnswer;
pub use self::stack::AdviceAnswer;
use crate::study::goal_value_text;

/// Returns notes on the data that a model learnt from.
pub fn model_notes(model: &StackModel<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let processors = model.data.hardware.len();
    if processors > 1 {
        notes.push(format!(
            "for {}; learnt from {}",
            model.hardware(),
            counted(processors, "processor")
        ));
    }
    if model.avoided > 0 {
        notes.push(format!(
            "{} excluded: it always failed, or a version or pair of versions in it did",
            counted(model.avoided, "stack")
        ));
    }
    let unknown = model.rules.unknown(model.data);
    if !unknown.is_empty() {
        notes.push(format!(
            "rules name packages that the stacks do not have: {}",
            joined(&unknown)
        ));
    }
    notes.extend(model.data.notes.iter().cloned());
    notes
}

/// Returns the keys of JSON that both answers have.
fn about(model: &StackModel<'_>) -> Value {
    let goals = model.data.goals.iter().map(|goal| {
        json!({
            "suite": goal.suite,
            "benchmark": goal.benchmark,
            "metric": goal.metric.name,
            "weight": goal.weight.abs(),
            "better": if goal.direction() > 0.0 { "lower" } else { "higher" },
        })
    });
    let packages = model.data.factors.iter();
    let packages =
        packages.map(|package| json!({"name": package.name, "versions": package.versions}));
    json!({
        "goal": goals.collect::<Vec<Value>>(),
        "hardware": model.hardware(),
        "packages": packages.collect::<Vec<Value>>(),
        "measured_stacks": model.data.measured().len(),
        "candidates": model.candidates.len(),
    })
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
