//! A curve as small as a word, as inline SVG.

use std::fmt::Write;

use super::chart::thin;
use super::sample::as_f64;

/// The width of a sparkline in its own units.
pub const SPARKLINE_WIDTH: u32 = 120;
/// The height of a sparkline in its own units.
pub const SPARKLINE_HEIGHT: u32 = 24;

const MOST_POINTS: usize = 48;
const MARGIN: f64 = 3.0;

/// Returns the SVG path of the values, from left to right, larger ones higher; empty when
/// there are fewer than two. Values that are no numbers interrupt the curve.
pub fn sparkline_path(values: &[f64]) -> String {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    if finite().count() < 2 {
        return String::new();
    }
    let lowest = finite().fold(f64::INFINITY, f64::min);
    let highest = finite().fold(f64::NEG_INFINITY, f64::max);
    let right = f64::from(SPARKLINE_WIDTH) - 2.0 * MARGIN;
    let height = f64::from(SPARKLINE_HEIGHT) - 2.0 * MARGIN;
    let step = right / (as_f64(values.len()) - 1.0).max(1.0);
    let mut path = String::new();
    let mut drawing = false;
    for at in thin(values, MOST_POINTS) {
        let Some(value) = values.get(at).filter(|value| value.is_finite()) else {
            drawing = false;
            continue;
        };
        let share = if highest > lowest {
            (value - lowest) / (highest - lowest)
        } else {
            0.5
        };
        let command = if drawing { 'L' } else { 'M' };
        drawing = true;
        // Writing into a text cannot fail.
        let _infallible = write!(
            path,
            "{command}{:.1} {:.1}",
            MARGIN + as_f64(at) * step,
            MARGIN + (1.0 - share) * height
        );
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_values_are_higher() {
        assert_eq!(
            sparkline_path(&[1.0, 3.0, 2.0]),
            "M3.0 21.0L60.0 3.0L117.0 12.0"
        );
    }

    #[test]
    fn what_is_missing_interrupts_the_curve() {
        assert_eq!(
            sparkline_path(&[1.0, 1.0, f64::NAN, 1.0]),
            "M3.0 12.0L41.0 12.0M117.0 12.0"
        );
        assert_eq!(sparkline_path(&[1.0]), "");
    }
}
