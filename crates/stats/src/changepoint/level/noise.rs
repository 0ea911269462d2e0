//! The noise around the levels of a series, whatever its steps.

use super::normal_scores;
use crate::describe::median;

/// The standard deviation of normal values in terms of the median absolute deviation.
pub(super) const NORMAL_DEVIATION: f64 = 1.4826;
/// A step that is so many standard deviations large is no autocorrelation of the noise.
const LARGE_STEP: f64 = 3.0;

/// Returns the normal scores of values from which steps that stand out far from the noise are removed.
pub(super) fn without_large_steps(values: &[f64], borders: &[usize]) -> Vec<f64> {
    let deviation = median_absolute(&less_medians(values, borders)) * NORMAL_DEVIATION;
    let mut large: Vec<usize> = Vec::new();
    for (at, border) in borders.iter().enumerate() {
        let start = at.checked_sub(1).map_or(0, |before| borders[before]);
        let end = borders.get(at + 1).copied().unwrap_or(values.len());
        let levels = [&values[start..*border], &values[*border..end]].map(median);
        if let [Some(before), Some(after)] = levels
            && (after - before).abs() > LARGE_STEP * deviation
        {
            large.push(*border);
        }
    }
    normal_scores(&less_medians(values, &large))
}

/// Returns the values less the median of their segment.
fn less_medians(values: &[f64], borders: &[usize]) -> Vec<f64> {
    let mut start = 0;
    let mut left = Vec::with_capacity(values.len());
    for end in borders.iter().copied().chain([values.len()]) {
        let level = median(&values[start..end]).unwrap_or(0.0);
        left.extend(values[start..end].iter().map(|value| value - level));
        start = end;
    }
    left
}

pub(super) fn median_absolute(values: &[f64]) -> f64 {
    let absolute: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    median(&absolute).unwrap_or(0.0)
}
