//! Change points as Apache Otava finds them, to compare the default rule of `lapwing detect` with them.

use lapwing_stats::{as_f64, mean, population_standard_deviation};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The options of Apache Otava, with its defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Otava {
    /// The length of a window (`window_len`), at least 2: 50.
    pub window: usize,
    /// The p-value from which on a change point is dropped (`max_pvalue`): 0.001.
    pub p_value: f64,
    /// The relative change up to which a change point is dropped (`min_magnitude`): 0.
    pub magnitude: f64,
}

impl Default for Otava {
    fn default() -> Self {
        Self {
            window: 50,
            p_value: 0.001,
            magnitude: 0.0,
        }
    }
}

/// A change point, and the segments on both sides of it when they were last compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtavaPoint {
    /// The index of the first value of the new segment.
    pub index: usize,
    /// The two-sided p-value of Student's t test of the two segments, with their `sd` below.
    pub p_value: f64,
    /// The mean of the segment before.
    pub mean_before: f64,
    /// The mean of the segment after.
    pub mean_after: f64,
    /// The standard deviation of the segment before, with divisor n.
    pub sd_before: f64,
    /// The standard deviation of the segment after, with divisor n.
    pub sd_after: f64,
}

/// Returns the change points that Apache Otava 0.8.0 finds in a series of finite values.
///
/// 1. *Split.* In windows of `window` values, each half a window after the last one or at its last
///    change point, whichever is later: repeatedly the split with the largest
///    Q = nm/(n + m) · (2 Ē|X − Y| − Ē|X − X′| − Ē|Y − Y′|) of n values before it and m after it,
///    over all splits and all ends of all segments so far, with means over the pairs of different values; until the
///    p-value of one is above 10 p (for p < 0.05, 2 p for p < 0.5, else p).
/// 2. *Merge.* As long as the largest p-value is `p_value` or more, that change point is dropped; then as long as the
///    smallest max(|after/before − 1|, |before/after − 1|) is `magnitude` or less, that one. Each time the next two
///    change points are compared with their neighbours anew. The one before is not, by a mistake of Otava's, so its
///    segment after may end at a change point that was dropped.
///
/// The p-value is that of Student's t test, (x̄ − ȳ) / √(s² (1/n + 1/m)) with n + m − 2 degrees of
/// freedom and s² = ((n − 1) σ²ₓ + (m − 1) σ²ᵧ) / (n + m − 2), where the σ² already have
/// divisor n and m: somewhat too small. Nor does it account for the search, so there are
/// many false alarms. What Otava calls weak change points is the same list as its change points (the
/// merge shortens the list in place), so there is no second one here.
///
/// O(n · `window`) if a window has few change points. Sums are accumulated in Otava's order, so that ties are
/// broken as there.
///
/// Source: Fleming et al., "Hunter: Using change point detection to hunt for performance regressions",
/// *ICPE* 2023; Matteson & James, *JASA* 2014; the program for all details.
pub fn otava(values: &[f64], options: &Otava) -> Vec<OtavaPoint> {
    let p_value = options.p_value;
    let relaxed = match p_value {
        p if p < 0.05 => 10.0 * p,
        p if p < 0.5 => 2.0 * p,
        p => p,
    };
    let indices = split(values, options.window.max(2), relaxed);
    let mut bounds = vec![0];
    bounds.extend(indices);
    bounds.push(values.len());
    let points = bounds.windows(3).map(|it| describe(values, it)).collect();
    merge(points, values, options)
}

/// Returns the change points of all windows.
fn split(values: &[f64], window: usize, p_value: f64) -> Vec<usize> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < values.len() {
        let end = (start + window).min(values.len());
        let inside = divide(&values[start..end], p_value);
        found.extend(inside.iter().map(|index| start + index));
        let last = found.last().copied().unwrap_or(0);
        start = last.max(start + window / 2);
    }
    found
}

/// Drops the weakest change points.
fn merge(mut points: Vec<OtavaPoint>, values: &[f64], options: &Otava) -> Vec<OtavaPoint> {
    let bound = |points: &[OtavaPoint], at: usize| points.get(at).map(|point| point.index);
    loop {
        let Some(mut weakest) = first_extreme(&points, |point| point.p_value) else {
            return points;
        };
        if points[weakest].p_value < options.p_value {
            weakest = first_extreme(&points, |point| -magnitude(point)).unwrap_or(weakest);
            if magnitude(&points[weakest]) > options.magnitude {
                return points;
            }
        }
        points.remove(weakest);
        // Otava means to compare both neighbours anew, but takes the two points after the gap.
        for at in [weakest, weakest + 1] {
            let Some(index) = bound(&points, at) else {
                break;
            };
            let start = at.checked_sub(1).and_then(|before| bound(&points, before));
            let end = bound(&points, at + 1).unwrap_or(values.len());
            points[at] = describe(values, &[start.unwrap_or(0), index, end]);
        }
    }
}

/// Returns the position of the largest value, and of equal ones the first.
fn first_extreme(points: &[OtavaPoint], value: impl Fn(&OtavaPoint) -> f64) -> Option<usize> {
    let larger = |best: usize, at: usize| {
        if value(&points[at]) > value(&points[best]) {
            at
        } else {
            best
        }
    };
    (0..points.len()).reduce(larger)
}

fn magnitude(point: &OtavaPoint) -> f64 {
    let relative = |to: f64, from: f64| {
        if from == 0.0 {
            0.0
        } else {
            (to / from - 1.0).abs()
        }
    };
    let (before, after) = (point.mean_before, point.mean_after);
    relative(after, before).max(relative(before, after))
}

/// Compares the segments `bounds[0]..bounds[1]` and `bounds[1]..bounds[2]`.
fn describe(values: &[f64], bounds: &[usize]) -> OtavaPoint {
    let side = |start: usize, end: usize| {
        let values = &values[start..end];
        let sd = population_standard_deviation(values).unwrap_or(0.0);
        (mean(values).unwrap_or(0.0), sd, as_f64(end - start))
    };
    let (mean_before, sd_before, n) = side(bounds[0], bounds[1]);
    let (mean_after, sd_after, m) = side(bounds[1], bounds[2]);
    let freedom = n + m - 2.0;
    let squares = (n - 1.0) * sd_before * sd_before + (m - 1.0) * sd_after * sd_after;
    let error = (squares / freedom * (1.0 / n + 1.0 / m)).sqrt();
    let t = (mean_before - mean_after) / error;
    // 0 / 0 of two values, which have no degree of freedom, or of equal constant segments.
    let p_value = if t.is_nan() {
        1.0
    } else {
        2.0 * StudentsT::new(0.0, 1.0, freedom).unwrap().sf(t.abs())
    };
    OtavaPoint {
        index: bounds[1],
        p_value,
        mean_before,
        mean_after,
        sd_before,
        sd_after,
    }
}

/// Returns the change points of one window, rising.
fn divide(window: &[f64], p_value: f64) -> Vec<usize> {
    // earlier[k]: the sum of the distances of value k from those before it.
    let earlier: Vec<f64> = (0..window.len())
        .map(|k| window[..k].iter().map(|it| (it - window[k]).abs()).sum())
        .collect();
    let best = |start: usize, end: usize| best_split(window, &earlier, start, end);
    let mut segments = vec![(0, window.len(), best(0, window.len()))];
    loop {
        let q = |at: usize| segments[at].2.map(|split: WindowSplit| split.q);
        let larger = |one: usize, other: usize| if q(other) > q(one) { other } else { one };
        let largest = (0..segments.len()).reduce(larger).unwrap_or(0);
        let (start, end, Some(WindowSplit { index, .. })) = segments[largest] else {
            break;
        };
        if describe(window, &[start, index, end]).p_value > p_value {
            break;
        }
        let halves =
            [(start, index), (index, end)].map(|(start, end)| (start, end, best(start, end)));
        segments.splice(largest..=largest, halves);
    }
    segments.iter().skip(1).map(|segment| segment.0).collect()
}

/// The best split of a segment.
#[derive(Clone, Copy)]
struct WindowSplit {
    index: usize,
    q: f64,
}

/// Returns the split of `start..end` with the largest Q over all ends; `None` for one value.
///
/// For each end the sums of distances are extended by the value before it, and one pass forwards and one
/// backwards give Q for all splits: O(1) for each pair of split and end.
fn best_split(window: &[f64], earlier: &[f64], start: usize, end: usize) -> Option<WindowSplit> {
    let values = &window[start..end];
    // before[n]: the sum over the pairs among the first n values.
    let mut before = vec![0.0; values.len() + 1];
    for (k, value) in values.iter().enumerate().skip(1) {
        let outside: f64 = window[..start].iter().map(|it| (it - value).abs()).sum();
        before[k + 1] = before[k] + (earlier[start + k] - outside);
    }
    // later[k]: the sum of the distances of value k from those after it, up to the end.
    let mut later = vec![0.0; values.len()];
    let mut after = vec![0.0; values.len()];
    let mut best: Option<WindowSplit> = None;
    for last in 1..values.len() {
        let mut sum = 0.0;
        for k in (0..last).rev() {
            later[k] += (values[k] - values[last]).abs();
            after[k] = sum;
            sum += later[k];
        }
        let all = as_f64(last + 1);
        let mut sum = 0.0;
        for n in 1..=last {
            sum += later[n - 1];
            let (x, y) = (as_f64(n), as_f64(last + 1 - n));
            let between = 2.0 / all * (sum - before[n]);
            let mut q = between;
            if n > 1 {
                q -= 2.0 * y / (all * (x - 1.0)) * before[n];
            }
            if n < last {
                q -= 2.0 * x / (all * (y - 1.0)) * after[n - 1];
            }
            let index = start + n;
            // In Otava's order: by split first, then by end.
            if best.is_none_or(|it| q.total_cmp(&it.q).then(it.index.cmp(&index)).is_gt()) {
                best = Some(WindowSplit { index, q });
            }
        }
    }
    best
}
