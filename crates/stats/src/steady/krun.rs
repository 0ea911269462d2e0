//! The steady state as Krun's warmup_stats finds it.
//!
//! Barrett, Bolz-Tereick, Killick, Mount & Tratt, *Virtual machine warmup blows hot and
//! cold*, OOPSLA 2017. For comparisons with published results; [`super::steady_state`] is what
//! Lapwing uses.

use super::{Class, Fences, centred_outliers};
use crate::changepoint::{NormalMeanVariance, pelt};
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
    /// What outliers are.
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

/// What Krun's method says about one process execution.
#[derive(Debug, Clone, PartialEq)]
pub struct KrunState {
    /// Flat, warm-up, slowdown or no steady state.
    pub class: Class,
    /// The first steady iteration; none without a steady state.
    pub start: Option<usize>,
    /// The first iteration of every segment but the first.
    pub change_points: Vec<usize>,
    /// The iterations left out as outliers.
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
    #[expect(clippy::cast_precision_loss, reason = "no series has 2^53 values")]
    let penalty = options.penalty * (kept.len() as f64).ln();
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

struct Segment {
    mean: f64,
    reach: f64,
    end: usize,
}

fn segments(values: &[f64], cut: &[usize], reach: Reach) -> Vec<Segment> {
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
            segments.push(Segment { mean, reach, end });
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
