//! From which slowdown on an experiment detects it.

use super::groups::{DrawShape, LevelGroup, sum_and_count};
use super::measured::Measured;
use crate::number::as_f64;
use crate::{Confidence, Interval, mean, standard_deviation};

/// Which slowdowns an experiment detects: those outside of these bounds.
///
/// A slowdown of the test by s multiplies its means by s, and so divides every ratio by it; what was drawn
/// once therefore tells of every slowdown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Below this the test is still told to be faster than the control, which is a detection too.
    pub lower: f64,
    /// Above this the test is told to be slower than the control.
    pub upper: f64,
}

impl Bounds {
    /// The result of an experiment with undefined means.
    const UNDETERMINED: Self = Self {
        lower: f64::NAN,
        upper: f64::NAN,
    };

    /// The bounds that detect every slowdown.
    pub const ALL: Self = Self {
        lower: f64::INFINITY,
        upper: 1.0,
    };

    /// Returns whether a slowdown is detected; `None` if it cannot be told, because an interval
    /// of the control or the test has an end that is no number.
    pub fn detects(self, slowdown: f64) -> Option<bool> {
        let is_defined = !self.lower.is_nan();
        is_defined.then_some(slowdown > self.upper || slowdown < self.lower)
    }

    fn new(lower: f64, upper: f64) -> Self {
        if lower.is_nan() || upper.is_nan() {
            Self::UNDETERMINED
        } else {
            Self { lower, upper }
        }
    }
}

/// Returns the bounds by Laaber: the intervals of the two means do not overlap.
pub(super) fn laaber(control: Interval, test: Interval) -> Bounds {
    // Two zeros stay equal whatever they are multiplied by.
    let quotient = |above: f64, below: f64, of_zeros: f64| {
        if above == 0.0 && below == 0.0 {
            of_zeros
        } else {
            above / below
        }
    };
    Bounds::new(
        quotient(control.lower, test.upper, 0.0),
        quotient(control.upper, test.lower, f64::INFINITY),
    )
}

/// Returns the bounds by Schultz: the interval of control / test leaves out 1.
pub(super) fn schultz(ratio: Interval) -> Bounds {
    Bounds::new(ratio.lower, ratio.upper)
}

/// Returns the bounds by the paired t test of the logarithms of instance means.
pub(super) fn paired(control: &[f64], test: &[f64], confidence: Confidence) -> Bounds {
    let pairs = control.iter().zip(test);
    let differences: Vec<f64> = pairs
        .map(|(control, test)| control.ln() - test.ln())
        .collect();
    let bounds = || {
        let difference = mean(&differences).filter(|it| it.is_finite())?;
        let deviation = standard_deviation(&differences)?;
        let count = as_f64(differences.len());
        let half = confidence.t_quantile(count - 1.0)? * deviation / count.sqrt();
        Some(schultz(Interval::around(difference, half).map(f64::exp)))
    };
    bounds().unwrap_or(Bounds::UNDETERMINED)
}

/// Returns the mean of each instance of a group.
pub(super) fn instance_means(
    group: &LevelGroup,
    shape: &DrawShape,
    measured: &Measured,
) -> Vec<f64> {
    let mean = |instance| {
        let (sum, count) = sum_and_count(group.row(shape, instance).iter().sum());
        measured.mean(sum, count)
    };
    (0..shape.instances).map(mean).collect()
}
