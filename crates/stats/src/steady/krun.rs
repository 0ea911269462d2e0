//! The steady state as Krun's warmup_stats finds it.
//!
//! Barrett, Bolz-Tereick, Killick, Mount & Tratt, *Virtual machine warmup blows hot and
//! cold*, OOPSLA 2017. For comparisons with published results; [`super::steady_state`] is what
//! Lapwing uses.

use super::{Class, Fences, centred_outliers};
use crate::changepoint::{NormalMeanVariance, pelt};
use crate::number::as_f64;
use crate::{mean, standard_deviation};

/// How far from its mean a segment reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Its variance, as in warmup_stats. The unit is that of the square, so that the class
    /// depends on whether times are in seconds or milliseconds.
    Variance,
    /// Its standard deviation.
    Deviation,
}

/// The limits of Krun's method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Krun {
    /// The rule for outliers.
    pub fences: Fences,
    /// The penalty of a change point in units of ln n.
    pub penalty: f64,
    /// The least reach of the last segment, in the unit of the values.
    pub tolerance: f64,
    /// So many last iterations have to be steady.
    pub steady: usize,
    /// How far from its mean a segment reaches.
    pub reach: Reach,
}

impl Default for Krun {
    /// The published limits, for seconds and 2,000 iterations.
    fn default() -> Self {
        Self {
            fences: Fences::KRUN,
            penalty: 15.0,
            tolerance: 0.001,
            steady: 500,
            reach: Reach::Variance,
        }
    }
}

/// The result of Krun's method for one process execution.
#[derive(Debug, Clone, PartialEq)]
pub struct KrunState {
    /// Flat, warm-up, slowdown or no steady state.
    pub class: Class,
    /// The first steady iteration; none without a steady state.
    pub start: Option<usize>,
    /// The first iteration of every segment but the first.
    pub change_points: Vec<usize>,
    /// The iterations excluded as outliers.
    pub outliers: Vec<usize>,
}

/// Returns the class and start of one execution, from the times of its iterations in order.
///
/// Outliers are removed and the rest is cut by PELT (normal mean and variance, at least
/// two values). A segment is equivalent to the last one when its mean ± reach meets the
/// last mean ± max(reach, tolerance). From the end backwards, the first segment that is not
/// decides where the steady state starts; one that ends in the last `steady` iterations says
/// that there is none. A segment before the steady state that lies below makes
/// it a slowdown, otherwise it is a warm-up, and without any the execution is flat.
pub fn krun(seconds: &[f64], options: &Krun) -> KrunState {
    let outliers = centred_outliers(seconds, &options.fences);
    let (kept, place) = without(seconds, &outliers);
    let penalty = options.penalty * as_f64(kept.len()).ln();
    let cut = pelt(&NormalMeanVariance::as_in_r(&kept), penalty, 2).change_points;
    let segments = segments(&kept, &cut, options.reach);
    let mut class = Class::Flat;
    let mut start = Some(0);
    if let Some((last, earlier)) = segments.split_last() {
        let reach = last.reach.max(options.tolerance);
        let (low, high) = (last.mean - reach, last.mean + reach);
        for segment in earlier.iter().rev() {
            if segment.mean + segment.reach >= low && segment.mean - segment.reach <= high {
                continue;
            }
            if place[segment.end - 1] + 1 > seconds.len().saturating_sub(options.steady) {
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
    KrunState {
        class,
        start,
        change_points: cut.iter().map(|at| place[*at]).collect(),
        outliers,
    }
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

/// Returns the values that are no outliers, and where each of them stood.
pub(super) fn without(values: &[f64], outliers: &[usize]) -> (Vec<f64>, Vec<usize>) {
    let mut left_out = outliers.iter().copied().peekable();
    values
        .iter()
        .enumerate()
        .filter(|(at, _)| left_out.next_if_eq(at).is_none())
        .map(|(at, value)| (*value, at))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steady::tests::noisy;

    fn class_and_start(levels: &[(usize, f64)]) -> (Class, Option<usize>) {
        let found = krun(&noisy(levels, 0.01), &Krun::default());
        (found.class, found.start)
    }

    #[test]
    fn classes_and_starts_are_those_of_the_definition() {
        assert_eq!(class_and_start(&[(2000, 1.0)]), (Class::Flat, Some(0)));
        assert_eq!(
            class_and_start(&[(300, 2.0), (1700, 1.0)]),
            (Class::WarmUp, Some(300))
        );
        assert_eq!(
            class_and_start(&[(300, 0.5), (1700, 1.0)]),
            (Class::Slowdown, Some(300))
        );
        // What was faster long ago makes it a slowdown, too.
        assert_eq!(
            class_and_start(&[(300, 0.5), (300, 2.0), (1400, 1.0)]),
            (Class::Slowdown, Some(600))
        );
        assert_eq!(
            class_and_start(&[(1600, 2.0), (400, 1.0)]),
            (Class::NoSteadyState, None)
        );
    }

    #[test]
    fn the_unit_decides_with_the_variance() {
        let seconds = noisy(&[(500, 0.0105), (1500, 0.01)], 0.01);
        let milliseconds: Vec<f64> = seconds.iter().map(|value| value * 1000.0).collect();
        let class = |values: &[f64]| krun(values, &Krun::default()).class;
        assert_eq!(class(&seconds), Class::Flat);
        assert_eq!(class(&milliseconds), Class::WarmUp);
        let options = Krun {
            reach: Reach::Deviation,
            tolerance: 0.0,
            ..Krun::default()
        };
        for values in [&seconds, &milliseconds] {
            assert_eq!(krun(values, &options).class, Class::WarmUp);
        }
    }

    #[test]
    fn few_values_are_flat() {
        for values in [vec![], vec![1.0], vec![1.0, 2.0]] {
            let found = krun(&values, &Krun::default());
            assert_eq!((found.class, found.start), (Class::Flat, Some(0)));
        }
    }

    #[test]
    fn starts_and_change_points_count_outliers() {
        let mut seconds = noisy(&[(300, 2.0), (1700, 1.0)], 0.01);
        seconds[150] = 30.0;
        let found = krun(&seconds, &Krun::default());
        assert_eq!(found.outliers, [150]);
        assert_eq!((found.start, found.change_points), (Some(300), vec![300]));
    }
}
