//! Values and changes of advice in words.

use lapwing_study::{StackChange, StackData, StackGoal, StudyScale};

use super::StudyMetricText;

/// Returns a change of the response as text: `−4.2 % [−5.1, −3.3]`.
pub fn stack_change_text(data: &StackData, change: StackChange) -> String {
    let shown = data.shown(change);
    let metric = &data.goals[0].metric;
    metric.change_with_interval(StudyScale::Log, shown.change, Some(shown.interval))
}

/// Returns a value of the metric of a goal as text.
pub fn goal_value_text(goal: &StackGoal, value: f64) -> String {
    let scale = if goal.metric.is_rate {
        StudyScale::Rate
    } else {
        StudyScale::Time
    };
    goal.metric.value_text(scale, value)
}
