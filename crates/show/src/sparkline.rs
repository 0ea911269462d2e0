//! A curve as small as a word, as inline SVG.

use std::fmt::Write;

use lapwing_stats::as_f64;

use super::chart::thin;

/// The width of a sparkline in its own units.
pub const SPARKLINE_WIDTH: u32 = 120;
/// The height of a sparkline in its own units.
pub const SPARKLINE_HEIGHT: u32 = 24;

const MOST_POINTS: usize = 48;
const MARGIN: f64 = 3.0;
/// A line of no length, which round caps make visible as a dot.
const ALONE: &str = "h0";

/// Returns the SVG path of the values as a curve, from left to right, larger ones higher;
/// empty when there are fewer than two. Values that are no numbers interrupt the curve,
/// and a value alone between them is a dot.
pub fn sparkline_path(values: &[f64]) -> String {
    let mut path = String::new();
    let places = places(values);
    for stretch in places.split(Option::is_none) {
        for (number, (x, y)) in stretch.iter().flatten().enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            // Writing into a text cannot fail.
            let _infallible = write!(path, "{command}{x:.1} {y:.1}");
        }
        if stretch.len() == 1 {
            path.push_str(ALONE);
        }
    }
    path
}

/// Returns the SVG path of the values as dots where [`sparkline_path`] has a curve: of things that have no order to
/// follow.
pub fn sparkline_dots(values: &[f64]) -> String {
    let mut path = String::new();
    for (x, y) in places(values).into_iter().flatten() {
        let _infallible = write!(path, "M{x:.1} {y:.1}{ALONE}");
    }
    path
}

/// Returns where the values stand; `None` for those that are no numbers, and nothing at all
/// when there are fewer than two numbers.
fn places(values: &[f64]) -> Vec<Option<(f64, f64)>> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    if finite().count() < 2 {
        return Vec::new();
    }
    let lowest = finite().fold(f64::INFINITY, f64::min);
    let highest = finite().fold(f64::NEG_INFINITY, f64::max);
    let right = f64::from(SPARKLINE_WIDTH) - 2.0 * MARGIN;
    let height = f64::from(SPARKLINE_HEIGHT) - 2.0 * MARGIN;
    let step = right / (as_f64(values.len()) - 1.0).max(1.0);
    thin(values, MOST_POINTS)
        .into_iter()
        .map(|at| {
            let value = values.get(at).filter(|value| value.is_finite())?;
            let share = if highest > lowest {
                (value - lowest) / (highest - lowest)
            } else {
                0.5
            };
            Some((MARGIN + as_f64(at) * step, MARGIN + (1.0 - share) * height))
        })
        .collect()
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
            "M3.0 12.0L41.0 12.0M117.0 12.0h0"
        );
        assert_eq!(sparkline_path(&[1.0]), "");
    }

    #[test]
    fn dots_stand_where_the_curve_would_pass() {
        assert_eq!(
            sparkline_dots(&[1.0, f64::NAN, 2.0]),
            "M3.0 21.0h0M117.0 3.0h0"
        );
    }
}
