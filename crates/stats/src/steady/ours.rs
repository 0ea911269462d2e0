//! The steady state as Lapwing finds it.

use super::Class;
use super::cycle::period;
use super::robust::{Noise, clipped, noise};
use crate::changepoint::{NormalMean, pelt_on_grid};

/// The limits of [`steady_state`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyOptions {
    /// Levels that differ by less than this share are equivalent.
    pub margin: f64,
    /// At least this share of the iterations has to be steady, at the end.
    pub steady_share: f64,
    /// The penalty of a change point in units of ln n, before autocorrelation inflates it.
    pub penalty: f64,
    /// This share of the iterations after the last change is left out for safety.
    pub guard: f64,
}

impl Default for SteadyOptions {
    /// A margin of 3 %, a steady fifth, and a penalty and a guard that were chosen by simulation
    /// (`docs/calibration.md`).
    fn default() -> Self {
        Self {
            margin: 0.03,
            steady_share: 0.2,
            penalty: 4.0,
            guard: 0.02,
        }
    }
}

/// From when on one instance is steady.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyState {
    /// What the iterations do.
    pub class: Class,
    /// The first steady iteration; `None` without a steady state, and where there are too few
    /// iterations to tell.
    pub start: Option<usize>,
    /// The typical value from there on: the geometric mean, outliers pulled in.
    pub level: Option<f64>,
    /// The iterations from one high to the next, for [`Class::Cyclic`].
    pub period: Option<usize>,
    /// The first iteration of every segment but the first.
    pub change_points: Vec<usize>,
}

/// The fewest iterations that say anything.
const FEWEST: usize = 6;
/// Levels that differ by less than the noise are equivalent too, up to this share.
const WIDEST: f64 = 0.05;
/// Faster for this part of the time before the steady state is a slowdown: one fifth.
const FASTER_SHARE: usize = 5;
/// Below this, iterations that still change may simply need longer.
const FEW: usize = 20;

/// Returns from which iteration on one instance is steady, from its values in order.
///
/// `None` when a value is not positive and finite. Values far from their neighbours are pulled
/// in, on a log scale; segments of equal level are found by PELT with the noise between
/// neighbours and a penalty inflated by its autocorrelation, (1 + ρ) / (1 − ρ). From the end
/// backwards, the first segment whose level differs from what follows by more than the
/// margin ends before the steady state, which then begins where a monotone fit comes within the
/// margin. A period in the autocorrelation is looked for first: a cycle that stays the same is
/// steady. `docs/method.md` says how, and when it misleads.
pub fn steady_state(values: &[f64], options: &SteadyOptions) -> Option<SteadyState> {
    if !values.iter().all(|value| *value > 0.0 && value.is_finite()) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let found = match period(&logs) {
        Some(period) => cyclic(&logs, period, options),
        None => of_logs(&logs, options),
    };
    Some(found)
}

/// Means over whole periods are judged as any other series.
fn cyclic(logs: &[f64], period: usize, options: &SteadyOptions) -> SteadyState {
    let skipped = logs.len() % period;
    let means: Vec<f64> = logs[skipped..]
        .chunks_exact(period)
        .map(|cycle| cycle.iter().sum::<f64>() / count(period))
        .collect();
    let of_means = of_logs(&means, options);
    let back = |at: usize| skipped + at * period;
    let steady = SteadyState {
        class: Class::Cyclic,
        start: Some(0),
        level: level(&means),
        period: Some(period),
        change_points: Vec::new(),
    };
    match of_means.class {
        Class::TooShort | Class::Flat | Class::Cyclic => steady,
        Class::WarmUp | Class::Slowdown => SteadyState {
            start: of_means.start.map(back),
            level: of_means.level,
            change_points: of_means.change_points.into_iter().map(back).collect(),
            ..steady
        },
        Class::NoSteadyState => SteadyState {
            class: Class::NoSteadyState,
            start: None,
            level: None,
            change_points: of_means.change_points.into_iter().map(back).collect(),
            ..steady
        },
    }
}

fn level(logs: &[f64]) -> Option<f64> {
    crate::mean(logs).map(f64::exp)
}

fn of_logs(logs: &[f64], options: &SteadyOptions) -> SteadyState {
    let n = logs.len();
    let nothing = |class| SteadyState {
        class,
        start: None,
        level: None,
        period: None,
        change_points: Vec::new(),
    };
    if n < FEWEST {
        return nothing(Class::TooShort);
    }
    let noise = noise(logs, options.margin);
    let pulled_in = clipped(logs, noise.deviation);
    let steady_part = share(n, options.steady_share).max(3);
    let change_points = segments(&pulled_in, noise, steady_part, options);
    let limit = noise.deviation.min(WIDEST).max(options.margin).ln_1p();
    let transition = last_difference(&pulled_in, &change_points, limit)
        .or_else(|| slow_start(&pulled_in, noise, limit));
    let Some(transition) = transition else {
        return SteadyState {
            class: Class::Flat,
            start: Some(0),
            level: level(&pulled_in),
            period: None,
            change_points,
        };
    };
    if transition.end > n - steady_part {
        return SteadyState {
            change_points,
            ..nothing(unsettled(n))
        };
    }
    let (crossing, doubt) = crossing(&pulled_in, &change_points, &transition, noise, limit);
    let most = share(n.saturating_sub(crossing), options.guard);
    let start = crossing + doubt.min(most);
    if crossing + steady_part > n {
        return SteadyState {
            change_points,
            ..nothing(unsettled(n))
        };
    }
    let start = start.min(n - steady_part);
    let class = if FASTER_SHARE * transition.faster >= transition.end {
        Class::Slowdown
    } else {
        Class::WarmUp
    };
    SteadyState {
        class,
        start: Some(start),
        level: level(&pulled_in[start..]),
        period: None,
        change_points,
    }
}

fn unsettled(n: usize) -> Class {
    if n < FEW {
        Class::TooShort
    } else {
        Class::NoSteadyState
    }
}

/// At most so many places for change points, in steps that are finest at the beginning.
const PLACES: usize = 240;

fn segments(
    values: &[f64],
    noise: Noise,
    steady_part: usize,
    options: &SteadyOptions,
) -> Vec<usize> {
    let n = values.len();
    let cost = NormalMean::new(values, noise.long_run_variance());
    let penalty = options.penalty * count(n).ln();
    let mut grid: Vec<usize> = Vec::with_capacity(PLACES + 1);
    let step = n.div_ceil(PLACES - PLACES / 4);
    let fine = (PLACES / 4).min(n);
    let latest = n - (steady_part / 4).max(2).min(n - 1);
    grid.extend(0..fine);
    grid.extend((fine..n).step_by(step));
    grid.retain(|at| *at <= latest);
    grid.push(n);
    let mut change_points = pelt_on_grid(&cost, &grid, penalty, 1).change_points;
    if step == 1 {
        return change_points;
    }
    // A change between two places of the grid may have become two.
    move_to_best(values, &mut change_points);
    let mut places = vec![0];
    places.extend(change_points);
    places.push(n);
    places.dedup();
    pelt_on_grid(&cost, &places, penalty, 1).change_points
}

/// Moves every change point to the best place between its neighbours.
fn move_to_best(values: &[f64], change_points: &mut [usize]) {
    let n = values.len();
    for k in 0..change_points.len() {
        let low = if k == 0 { 0 } else { change_points[k - 1] };
        let high = change_points.get(k + 1).copied().unwrap_or(n);
        let all: f64 = values[low..high].iter().sum();
        let mut sum = 0.0;
        let mut best = (f64::NEG_INFINITY, change_points[k]);
        for at in low + 1..high {
            sum += values[at - 1];
            let left = sum * sum / count(at - low);
            let rest = all - sum;
            let gain = left + rest * rest / count(high - at);
            if gain > best.0 {
                best = (gain, at);
            }
        }
        change_points[k] = best.1;
    }
}

/// The last stretch that is not equivalent to what follows.
struct Transition {
    end: usize,
    level_after: f64,
    /// How many iterations before the end were faster than the steady state.
    faster: usize,
}

struct Segment {
    start: usize,
    end: usize,
    mean: f64,
}

impl Segment {
    fn length(&self) -> usize {
        self.end - self.start
    }
}

/// Walks back from the end to the last segments that differ from what follows.
///
/// A short stretch that differs between longer ones that do not is an interruption (a
/// collection of garbage, another process) and no burn-in.
fn last_difference(
    values: &[f64],
    change_points: &[usize],
    limit: f64,
) -> Option<Transition> {
    const INTERRUPTION_SHARE: usize = 50;
    const AROUND: usize = 3;
    let n = values.len();
    let mut segments = Vec::with_capacity(change_points.len() + 1);
    let mut start = 0;
    for end in change_points.iter().copied().chain([n]) {
        let mean = values[start..end].iter().sum::<f64>() / count(end - start);
        segments.push(Segment { start, end, mean });
        start = end;
    }
    let last = segments.pop()?;
    let (mut sum, mut length) = (last.mean * count(last.length()), last.length());
    while let Some(segment) = segments.last() {
        let level_after = sum / count(length);
        let differs = |it: &Segment| (it.mean - level_after).abs() > limit;
        if !differs(segment) {
            sum += segment.mean * count(segment.length());
            length += segment.length();
            segments.pop();
            continue;
        }
        let end = segment.end;
        let stretch = segments.iter().rposition(|it| !differs(it));
        let before = stretch.map_or(0, |first| {
            let equal = segments[..=first].iter().rev().take_while(|it| !differs(it));
            equal.map(Segment::length).sum()
        });
        let lasts = end - stretch.map_or(0, |first| segments[first].end);
        if lasts <= n / INTERRUPTION_SHARE && before >= AROUND * lasts {
            segments.truncate(stretch.map_or(0, |first| first + 1));
            continue;
        }
        let below = segments.iter().filter(|it| it.mean < level_after - limit);
        return Some(Transition {
            end,
            level_after,
            faster: below.map(Segment::length).sum(),
        });
    }
    None
}

/// Whether the first few iterations alone are far from the rest.
///
/// Autocorrelated noise shifts long segments, for which the penalty is made, much more than
/// one or two values.
fn slow_start(values: &[f64], noise: Noise, limit: f64) -> Option<Transition> {
    const DEVIATIONS: f64 = 4.5;
    (1..=3).rev().find_map(|end| {
        let (first, rest) = values.split_at(end);
        let level_after = crate::mean(rest)?;
        let away = |value: &f64| value - level_after;
        let limit = limit.max(DEVIATIONS * noise.deviation);
        let above = first.iter().map(away).all(|it| it > limit);
        let below = first.iter().map(away).all(|it| it < -limit);
        (above || below).then_some(Transition {
            end,
            level_after,
            faster: if below { end } else { 0 },
        })
    })
}

/// The first iteration within the limit, and how many iterations it is in doubt by.
///
/// That of the change point, or of an exponential approach where this describes the series
/// better than steps do (Schwarz' criterion). A change point is found to within some
/// (σ / step)² iterations, the end of an approach to a tenth of its length.
fn crossing(
    values: &[f64],
    change_points: &[usize],
    transition: &Transition,
    noise: Noise,
    limit: f64,
) -> (usize, usize) {
    const STEP_DOUBT: f64 = 8.0;
    const APPROACH_DOUBT: f64 = 0.1;
    let n = values.len();
    let relative: Vec<f64> = values
        .iter()
        .map(|value| (value - transition.level_after).exp())
        .collect();
    let steps = squares_around_steps(&relative, change_points);
    let approach = Approach::of(&relative);
    let rho = noise.autocorrelation;
    let independent = count(n) * (1.0 - rho) / (1.0 + rho);
    let parameters = 2.0 * count(change_points.len()) + 1.0;
    let of_steps = independent * steps.ln() + parameters * independent.ln();
    let of_approach = independent * approach.squares.ln() + 3.0 * independent.ln();
    if of_approach < of_steps {
        let at = approach.first_within(limit.exp_m1()).min(n);
        (at, share(at, APPROACH_DOUBT))
    } else {
        let doubt = STEP_DOUBT * noise.long_run_variance() / (limit * limit);
        (transition.end, share(1, doubt))
    }
}

fn squares_around_steps(values: &[f64], change_points: &[usize]) -> f64 {
    let mut start = 0;
    let mut squares = 0.0;
    for end in change_points.iter().copied().chain([values.len()]) {
        let part = &values[start..end];
        let mean = part.iter().sum::<f64>() / count(part.len());
        squares += part.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        start = end;
    }
    squares
}

/// An exponential approach to a level: x(t) = level + height · exp(−t / pace).
struct Approach {
    level: f64,
    height: f64,
    pace: f64,
    squares: f64,
}

impl Approach {
    /// The least squares fit: for each pace it is linear, and the pace is searched for.
    fn of(values: &[f64]) -> Self {
        const PACES: u32 = 14;
        let n = count(values.len());
        let (fastest, slowest) = (0.5_f64.ln(), (3.0 * n).ln());
        let step = (slowest - fastest) / f64::from(PACES);
        let better = |one: Self, other: Self| {
            if other.squares < one.squares { other } else { one }
        };
        let mut best = Self::with_pace(values, slowest.exp());
        for k in 0..PACES {
            best = better(best, Self::with_pace(values, (fastest + f64::from(k) * step).exp()));
        }
        let mut step = step / 2.0;
        for _ in 0..5 {
            let middle = best.pace.ln();
            best = better(best, Self::with_pace(values, (middle - step).exp()));
            best = better(best, Self::with_pace(values, (middle + step).exp()));
            step /= 2.0;
        }
        best
    }

    fn with_pace(values: &[f64], pace: f64) -> Self {
        let n = count(values.len());
        let factor = (-1.0 / pace).exp();
        let (mut decay, mut sum, mut squares, mut product) = (1.0, 0.0, 0.0, 0.0);
        let (mut total, mut total_squares) = (0.0, 0.0);
        for value in values {
            sum += decay;
            squares += decay * decay;
            product += decay * (value - 1.0);
            total += value - 1.0;
            total_squares += (value - 1.0).powi(2);
            decay *= factor;
        }
        let spread = squares - sum * sum / n;
        let shared = product - sum * total / n;
        let height = if spread > 0.0 { shared / spread } else { 0.0 };
        Self {
            level: 1.0 + (total - height * sum) / n,
            height,
            pace,
            squares: (total_squares - total * total / n - height * shared).max(f64::MIN_POSITIVE),
        }
    }

    /// The first iteration at which what is left is within `margin` of the level.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` keeps what is too large or not a number in range"
    )]
    fn first_within(&self, margin: f64) -> usize {
        let left = self.height.abs() / (margin * self.level);
        if self.level <= 0.0 {
            return usize::MAX;
        }
        (self.pace * left.max(1.0).ln()).ceil() as usize
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length"
)]
fn share(n: usize, share: f64) -> usize {
    (count(n) * share).ceil() as usize
}

#[expect(clippy::cast_precision_loss, reason = "no series has 2^53 values")]
fn count(n: usize) -> f64 {
    n as f64
}
