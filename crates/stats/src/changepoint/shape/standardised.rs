//! A series made ready to be described.

use crate::describe::{mean, median};
use crate::number::as_f64;

/// Values count up to so many robust standard deviations from the median of their neighbours.
const FARTHEST: f64 = 4.0;
/// So many neighbours on each side.
const NEIGHBOURS: usize = 3;
/// The standard deviation of normal values in terms of their median and of their mean absolute deviation.
const OF_MEDIAN: f64 = 1.4826;
const OF_MEAN: f64 = 1.2533;
/// A longer series is described by means of neighbours.
const MOST_VALUES: usize = 400;

/// A series with far values drawn in, in terms of its own mean and standard deviation.
#[derive(Debug)]
pub(super) struct Standardised {
    /// The values, or means of neighbours if there are many.
    pub(super) values: Vec<f64>,
    /// The number of values per mean; the last one takes what is left over besides.
    pub(super) width: usize,
    /// The variance that rounding leaves at least.
    pub(super) floor: f64,
}

impl Standardised {
    /// Returns the series that is described instead of the values, of which `drawn_in` are those with far ones drawn in;
    /// none if it is constant.
    pub(super) fn of(values: &[f64], drawn_in: &[f64]) -> Option<Self> {
        let width = values.len().div_ceil(MOST_VALUES);
        let bins = values.len().checked_div(width)?;
        let bin = |at: usize| {
            let end = if at + 1 == bins {
                values.len()
            } else {
                (at + 1) * width
            };
            mean(&drawn_in[at * width..end])
        };
        let means: Vec<f64> = (0..bins).filter_map(bin).collect();
        let (level, deviation) = level_and_deviation(&means)?;
        // What is left if neighbours cancel each other is rounding.
        if deviation <= 1e-9 * level_and_deviation(drawn_in)?.1 {
            return None;
        }
        let floor = rounding(values, drawn_in) / as_f64(width) / (deviation * deviation);
        Some(Self {
            values: means.iter().map(|it| (it - level) / deviation).collect(),
            width,
            floor: floor + 1e-12,
        })
    }
}

/// Returns the mean and the standard deviation (divisor n); none if all values are equal.
fn level_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    let level = mean(values)?;
    let squares = values.iter().map(|value| (value - level).powi(2));
    let deviation = (squares.sum::<f64>() / as_f64(values.len())).sqrt();
    (deviation > 0.0).then_some((level, deviation))
}

/// Returns the values, of which there are at least three, with those drawn in that are far from the median of seven
/// neighbours; the ends are mirrored.
pub(super) fn drawn_in(values: &[f64]) -> Vec<f64> {
    let last = values.len() - 1;
    let mirrored = |padded: usize| match padded.checked_sub(NEIGHBOURS) {
        None => NEIGHBOURS - 1 - padded,
        Some(at) if at > last => 2 * last + 1 - at,
        Some(at) => at,
    };
    let near = |at: usize| {
        let mut window = [0.0; 2 * NEIGHBOURS + 1];
        for (offset, value) in window.iter_mut().enumerate() {
            *value = values[mirrored(at + offset)];
        }
        median_of_seven(window)
    };
    let medians: Vec<f64> = (0..values.len()).map(near).collect();
    let pairs = values.iter().zip(&medians);
    let distances: Vec<f64> = pairs.map(|(value, near)| (value - near).abs()).collect();
    let mut deviation = OF_MEDIAN * median(&distances).unwrap_or(0.0);
    if deviation <= 0.0 {
        deviation = OF_MEAN * mean(&distances).unwrap_or(0.0);
    }
    if deviation <= 0.0 {
        return values.to_vec();
    }
    let reach = FARTHEST * deviation;
    let pairs = values.iter().zip(&medians);
    pairs
        .map(|(value, near)| near + (value - near).clamp(-reach, reach))
        .collect()
}

/// Returns the median of finite values by a network of exchanges.
fn median_of_seven(mut values: [f64; 7]) -> f64 {
    const EXCHANGES: [(usize, usize); 13] = [
        (0, 5),
        (0, 3),
        (1, 6),
        (2, 4),
        (0, 1),
        (3, 5),
        (2, 6),
        (2, 3),
        (3, 6),
        (4, 5),
        (1, 4),
        (1, 3),
        (3, 4),
    ];
    for (low, high) in EXCHANGES {
        let (one, other) = (values[low], values[high]);
        values[low] = one.min(other);
        values[high] = one.max(other);
    }
    values[3]
}

/// Returns the variance that rounding leaves at least: that of a uniform distribution over the smallest gap between
/// values, but not more than half the mean square of the steps from value to value. Levels without noise may be counts.
fn rounding(values: &[f64], drawn_in: &[f64]) -> f64 {
    let steps = drawn_in.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    let of_steps = steps.sum::<f64>() / 2.0 / as_f64(values.len());
    (resolution(values).powi(2) / 12.0).min(of_steps)
}

/// Returns the smallest gap between different values if some are equal, else 0.
fn resolution(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    if gaps.clone().all(|gap| gap > 0.0) {
        return 0.0;
    }
    let smallest = gaps.filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { smallest } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_median_of_seven_is_the_fourth(values in prop::array::uniform7(-3_i32..4)) {
            let values = values.map(f64::from);
            let mut sorted = values;
            sorted.sort_unstable_by(f64::total_cmp);
            prop_assert_eq!(median_of_seven(values).total_cmp(&sorted[3]).is_eq(), true);
        }
    }
}
