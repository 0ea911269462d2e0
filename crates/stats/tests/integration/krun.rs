//! The steady state as Krun's warmup_stats finds it, to compare with Lapwing's.
//!
//! Barrett, Bolz-Tereick, Killick, Mount & Tratt, *Virtual machine warmup blows hot and
//! cold*, OOPSLA 2017.

use std::f64::consts::TAU;

use lapwing_stats::steady::Class;
use lapwing_stats::{as_f64, mean, quantile, standard_deviation};

/// How far from its mean a segment reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Its variance, as in warmup_stats. The unit is that of the square, so that the class
    /// depends on whether times are in seconds or milliseconds.
    Variance,
    /// Its standard deviation.
    Deviation,
}

/// Values in the window of outliers.
const WINDOW: usize = 200;
/// The penalty of a change point in units of ln n.
const PENALTY: f64 = 15.0;
/// The least reach of the last segment, in seconds.
const TOLERANCE: f64 = 0.001;

/// Returns the class and start of one execution, from the times of its iterations in order.
///
/// Outliers are removed and the rest is cut (normal mean and variance, at least two values). A segment is equivalent
/// to the last one when its mean ± reach meets the last mean ± max(reach, 1 ms). From the end backwards, the first
/// segment that is not decides where the steady state starts; one that ends in the last quarter (there: the last 500
/// of 2,000 iterations) says that there is none. A segment before the steady state that lies below makes it a
/// slowdown, otherwise it is a warm-up, and without any the execution is flat.
pub fn krun(seconds: &[f64], reach: Reach) -> (Class, Option<usize>) {
    let is_kept = |at: &usize| !is_outlier(seconds, *at);
    let place: Vec<usize> = (0..seconds.len()).filter(is_kept).collect();
    let kept: Vec<f64> = place.iter().map(|at| seconds[*at]).collect();
    let cut = change_points(&kept, PENALTY * as_f64(kept.len()).ln());
    let segments = segments(&kept, &cut, reach);
    let mut class = Class::Flat;
    let mut start = Some(0);
    if let Some((last, earlier)) = segments.split_last() {
        let reach = last.reach.max(TOLERANCE);
        let (low, high) = (last.mean - reach, last.mean + reach);
        for segment in earlier.iter().rev() {
            if segment.mean + segment.reach >= low && segment.mean - segment.reach <= high {
                continue;
            }
            if place[segment.end - 1] + 1 > seconds.len() - seconds.len() / 4 {
                class = Class::NoSteadyState;
                start = None;
                break;
            }
            if class == Class::Flat {
                class = Class::WarmUp;
                start = Some(place[segment.end]);
            }
            if segment.mean - segment.reach < low {
                class = Class::Slowdown;
            }
        }
    }
    (class, start)
}

/// Returns whether a value lies outside median ± 3 (P90 − P10) of the values around it. The first half window has no
/// outliers.
fn is_outlier(values: &[f64], at: usize) -> bool {
    let half = WINDOW / 2;
    if at < half || values.len() < WINDOW {
        return false;
    }
    let window = &values[at - half..(at + half).min(values.len())];
    let [low, middle, high] = [0.1, 0.5, 0.9].map(|it| quantile(window, it).unwrap());
    (values[at] - middle).abs() > 3.0 * (high - low)
}

/// Returns the best segmentation into segments of at least two values, by plain dynamic programming.
///
/// A segment costs m (ln 2π + ln σ̂² + 1), as by R's changepoint package, where a variance of zero counts as 10⁻¹¹.
fn change_points(values: &[f64], penalty: f64) -> Vec<usize> {
    let centre = mean(values).unwrap_or(0.0);
    let mut sums = vec![[0.0; 2]];
    for value in values.iter().map(|value| value - centre) {
        let [sum, squares] = sums[sums.len() - 1];
        sums.push([sum + value, squares + value * value]);
    }
    let cost = |start: usize, end: usize| {
        let n = as_f64(end - start);
        let [sum, squares] = [0, 1].map(|of| sums[end][of] - sums[start][of]);
        let variance = (squares - sum * sum / n) / n;
        let variance = if variance > 0.0 { variance } else { 1e-11 };
        n * (TAU.ln() + variance.ln() + 1.0)
    };
    let mut best = vec![f64::INFINITY; values.len() + 1];
    let mut before = vec![0; values.len() + 1];
    best[0] = -penalty;
    for end in 2..=values.len() {
        for start in 0..=end - 2 {
            let total = best[start] + cost(start, end) + penalty;
            if total < best[end] {
                (best[end], before[end]) = (total, start);
            }
        }
    }
    let mut cut = Vec::new();
    let mut at = before[values.len()];
    while at > 0 {
        cut.push(at);
        at = before[at];
    }
    cut.reverse();
    cut
}

struct KrunSegment {
    mean: f64,
    reach: f64,
    end: usize,
}

fn segments(values: &[f64], cut: &[usize], reach: Reach) -> Vec<KrunSegment> {
    let mut start = 0;
    let mut segments = Vec::new();
    for end in cut.iter().copied().chain([values.len()]) {
        let part = &values[start..end];
        if let Some(mean) = mean(part) {
            let deviation = standard_deviation(part).unwrap_or(0.0);
            let reach = match reach {
                Reach::Variance => deviation * deviation,
                Reach::Deviation => deviation,
            };
            segments.push(KrunSegment { mean, reach, end });
        }
        start = end;
    }
    segments
}
