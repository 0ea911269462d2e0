//! Values that go up and down with one period.

use crate::cholesky::dot;
use crate::number::as_f64;

/// The longest period that is looked for value by value.
const SHORT: usize = 64;
/// Longer periods are looked for in so many means.
const MEANS: usize = 384;

/// Returns the period of the last three quarters of a series, in iterations, if it goes up and
/// down by more than `height`.
///
/// The first peak of the autocorrelation that stands out: clearly above noise, above the
/// valley before it, and repeated at twice the lag. At least three periods must fit.
pub(super) fn period(logs: &[f64], height: f64) -> Option<usize> {
    let rest = &without_tails(&logs[logs.len() / 4..]);
    let highest = rest.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = rest.iter().copied().fold(f64::INFINITY, f64::min);
    if highest - lowest <= height {
        return None;
    }
    if let Some(short) = peak(rest, SHORT) {
        return Some(short);
    }
    let width = rest.len().div_ceil(MEANS);
    if rest.len() <= 3 * SHORT || rest.len() < 12 {
        return None;
    }
    let means = rest.chunks_exact(width).map(|chunk| chunk.iter().sum());
    let means: Vec<f64> = means.collect();
    peak(&means, means.len() / 3).map(|lag| lag * width)
}

/// Pulls the highest and the lowest twentieth in: a few large values would drown all others.
fn without_tails(logs: &[f64]) -> Vec<f64> {
    let mut sorted = logs.to_vec();
    let tail = logs.len() / 20;
    if tail == 0 {
        return sorted;
    }
    let (_, low, _) = sorted.select_nth_unstable_by(tail, f64::total_cmp);
    let low = *low;
    let (_, high, _) = sorted.select_nth_unstable_by(logs.len() - 1 - tail, f64::total_cmp);
    let high = *high;
    logs.iter().map(|log| log.clamp(low, high)).collect()
}

/// The lag of the first peak, at most `longest`.
fn peak(values: &[f64], longest: usize) -> Option<usize> {
    let n = values.len();
    let centre = crate::mean(values)?;
    let moved: Vec<f64> = values.iter().map(|value| value - centre).collect();
    let squares: f64 = moved.iter().map(|value| value * value).sum();
    if squares <= 0.0 {
        return None;
    }
    let at =
        |lag: usize| dot(&moved[..n - lag], &moved[lag..]) / squares * as_f64(n) / as_f64(n - lag);
    let longest = longest.min(n / 3);
    let limit = (3.0 / as_f64(n).sqrt()).max(0.4);
    let mut correlations = vec![1.0];
    correlations.extend((1..=longest).map(at));
    let mut valley = 1.0_f64;
    for lag in 1..longest {
        let here = correlations[lag];
        let is_peak = here >= correlations[lag - 1] && here >= correlations[lag + 1];
        if is_peak
            && lag > 1
            && here >= limit
            && valley <= here - limit - 0.2
            && at(2 * lag) >= 0.7 * here
        {
            return Some(lag);
        }
        valley = valley.min(here);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steady::tests::noisy;

    fn logs_with(period: usize, height: f64, n: usize) -> Vec<f64> {
        let wave = |i: usize| (std::f64::consts::TAU * as_f64(i) / as_f64(period)).sin();
        noisy(&[(n, 1.0)], 0.01)
            .iter()
            .enumerate()
            .map(|(i, value)| value.ln() + height * wave(i))
            .collect()
    }

    #[test]
    fn short_and_long_periods_are_found() {
        assert_eq!(period(&logs_with(5, 0.1, 30), 0.03), Some(5));
        assert_eq!(period(&logs_with(12, 0.1, 500), 0.03), Some(12));
        let long = period(&logs_with(400, 0.1, 3000), 0.03).expect("a period");
        assert!(long.abs_diff(400) <= 12, "{long}");
    }

    #[test]
    fn noise_slopes_and_small_waves_have_no_period() {
        for n in [6, 30, 500, 3000] {
            assert_eq!(period(&noisy(&[(n, 1.0)], 0.1), 0.03), None, "{n}");
        }
        let slope: Vec<f64> = (0..300).map(|i| f64::from(i) / 100.0).collect();
        assert_eq!(period(&slope, 0.03), None);
        assert_eq!(period(&logs_with(12, 0.005, 500), 0.06), None);
        assert_eq!(period(&[], 0.03), None);
    }
}
