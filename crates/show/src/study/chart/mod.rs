//! Charts of studies; page, SVG and PNG come from one definition each.

mod advice;
mod carry_over;
mod colour;
mod components;
mod curve;
mod effects;
mod fitted;
mod path;
mod scatter;
mod spread;
mod stability;
mod stack_lines;
mod tiles;

pub use advice::{stack_changes, version_map};
pub use carry_over::carry_over;
pub use colour::colour;
pub use components::{biplot, scree};
pub use curve::curve;
pub use effects::{EffectRow, EffectSeries, effects, mean_changes};
pub use fitted::{predicted, residuals};
pub use path::{treemap, waterfall};
pub use scatter::scatter;
pub use stability::stability;
pub use stack_lines::stack_lines;
pub use tiles::tiles;

use crate::UnitScale;

use lapwing_study::StudyData;
use lapwing_study::StudyScale;

/// More points are not drawn.
const MOST_POINTS: usize = 5_000;

/// How values of a study are drawn on an axis: the factor, and the unit.
struct AxisScale {
    scale: StudyScale,
    unit: UnitScale,
}

impl AxisScale {
    /// Returns the axis of values of the cost itself, or of rates.
    fn of_values(data: &StudyData, scale: StudyScale, values: impl Iterator<Item = f64>) -> Self {
        // A logarithm is drawn as the cost it is of.
        let shown = if scale == StudyScale::Log {
            StudyScale::Time
        } else {
            scale
        };
        let values = values.map(|value| {
            if scale == StudyScale::Log {
                value.exp()
            } else {
                value
            }
        });
        Self {
            scale,
            unit: UnitScale::of_all(values, &data.metric.unit_of(shown)),
        }
    }

    /// Returns the axis of changes; of logarithms in percent.
    fn of_changes(data: &StudyData, scale: StudyScale, values: impl Iterator<Item = f64>) -> Self {
        let unit = match scale {
            StudyScale::Log => UnitScale::of(1.0, "%"),
            StudyScale::Time | StudyScale::Rate => {
                UnitScale::of_all(values, &data.metric.unit_of(scale))
            }
        };
        Self { scale, unit }
    }

    fn value(&self, value: f64) -> f64 {
        let shown = if self.scale == StudyScale::Log {
            value.exp()
        } else {
            value
        };
        shown / self.unit.factor
    }

    fn change(&self, change: f64) -> f64 {
        match self.scale {
            StudyScale::Log => change.exp_m1() * 100.0,
            StudyScale::Time | StudyScale::Rate => change / self.unit.factor,
        }
    }

    /// Returns `name (µs)`.
    fn name(&self, name: &str) -> String {
        if self.unit.unit.is_empty() {
            name.to_owned()
        } else {
            format!("{name} ({})", self.unit.unit)
        }
    }
}

/// Returns the name of the metric on a scale.
fn metric_name(data: &StudyData, scale: StudyScale) -> String {
    let name = data.metric.name.replace('_', " ");
    match (scale, data.metric.is_rate) {
        (StudyScale::Rate, true) | (StudyScale::Time | StudyScale::Log, false) => name,
        (StudyScale::Rate, false) | (StudyScale::Time | StudyScale::Log, true) => {
            format!("1 / {name}")
        }
    }
}
