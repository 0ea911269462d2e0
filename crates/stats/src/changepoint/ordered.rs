//! Whether values in order are better described by a line or by one step.

use crate::mean;
use crate::number::as_f64;

/// The fewest values before and after a step: one alone is an outlier.
const SHORTEST: usize = 2;

/// The line or step that describes values in order best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineOrStep {
    /// Whether it is a step.
    pub is_step: bool,
    /// The change from the first to the last value: of the line, or of the step.
    pub change: f64,
}

/// Returns the line, or the step with two values or more on both sides, that leaves the smallest sum of squares; `None`
/// below four values. It is no test of whether there is one.
///
/// ```
/// use lapwing_stats::changepoint::line_or_step;
/// let found = line_or_step(&[1.0, 1.1, 0.9, 1.0, 3.0, 3.1, 2.9]).expect("several values");
/// assert!(found.is_step && (found.change - 2.0).abs() < 1e-9);
/// ```
pub fn line_or_step(values: &[f64]) -> Option<LineOrStep> {
    let count = values.len();
    if count < 2 * SHORTEST {
        return None;
    }
    let centre = mean(values)?;
    let middle = (as_f64(count) - 1.0) / 2.0;
    let places = values.iter().enumerate();
    let product: f64 = places
        .map(|(at, value)| (as_f64(at) - middle) * (value - centre))
        .sum();
    let of_line = as_f64(count) * (as_f64(count).powi(2) - 1.0) / 12.0;
    let mut best = LineOrStep {
        is_step: false,
        change: product / of_line * (as_f64(count) - 1.0),
    };
    let mut explained = product * product / of_line;
    let mut before: f64 = values[..SHORTEST - 1].iter().map(|it| it - centre).sum();
    for at in SHORTEST..=count - SHORTEST {
        before += values[at - 1] - centre;
        let share = as_f64(count) / (as_f64(at) * as_f64(count - at));
        let of_step = before * before * share;
        if of_step > explained {
            explained = of_step;
            best = LineOrStep {
                is_step: true,
                change: -before * share,
            };
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_no_step() {
        let line: Vec<f64> = (0..10).map(f64::from).collect();
        let found = line_or_step(&line).expect("ten values");
        assert!(!found.is_step && (found.change - 9.0).abs() < 1e-9);
        let step = [2.0, 2.0, 1.0, 1.0];
        let found = line_or_step(&step).expect("four values");
        assert!(found.is_step && (found.change + 1.0).abs() < 1e-9);
        assert_eq!(line_or_step(&step[..3]), None);
    }
}
