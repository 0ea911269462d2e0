//! Where the level changes, and which change is the last that matters.

use super::robust::RobustNoise;
use crate::changepoint::{NormalMean, pelt_on_grid};
use crate::number::as_f64;

/// At most so many places for change points, in steps that are finest at the beginning.
const PLACES: usize = 240;

/// Returns the change points of a series, finely at its beginning.
///
/// A change point in the last quarter of `steady_part` would leave too little to compare with.
pub(super) fn cut(
    values: &[f64],
    noise: RobustNoise,
    steady_part: usize,
    penalty: f64,
) -> Vec<usize> {
    let n = values.len();
    let cost = NormalMean::new(values, noise.long_run_variance());
    let penalty = penalty * as_f64(n).ln();
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
            let left = sum * sum / as_f64(at - low);
            let rest = all - sum;
            let gain = left + rest * rest / as_f64(high - at);
            if gain > best.0 {
                best = (gain, at);
            }
        }
        change_points[k] = best.1;
    }
}

/// The last stretch that is not equivalent to what follows.
pub(super) struct Transition {
    /// Its first iteration.
    pub begin: usize,
    /// The first iteration after it.
    pub end: usize,
    /// The mean from there on.
    pub level_after: f64,
    /// How many iterations before the end were faster than the steady state.
    pub faster: usize,
}

struct LevelSegment {
    start: usize,
    end: usize,
    mean: f64,
}

impl LevelSegment {
    fn length(&self) -> usize {
        self.end - self.start
    }
}

fn segments(values: &[f64], change_points: &[usize]) -> Vec<LevelSegment> {
    let mut start = 0;
    let ends = change_points.iter().copied().chain([values.len()]);
    ends.map(|end| {
        let mean = values[start..end].iter().sum::<f64>() / as_f64(end - start);
        let segment = LevelSegment { start, end, mean };
        start = end;
        segment
    })
    .collect()
}

/// Returns from where on a series only switches between two levels, if it does until its end.
///
/// Each level has to be visited at least twice, and the last visit must not outlast all others: a series that stays
/// settled after some switching had a warm-up. Such switching has no beginning that differs from the rest, so
/// whatever level comes last is not more steady than the other.
pub(super) fn switching(values: &[f64], change_points: &[usize], limit: f64) -> Option<usize> {
    const FEWEST_VISITS: usize = 4;
    const LONGEST_LAST: usize = 2;
    let segments = segments(values, change_points);
    let last = segments.last()?;
    let is_at = |it: &LevelSegment, level: f64| (it.mean - level).abs() <= limit;
    let other = segments.iter().rfind(|it| !is_at(it, last.mean))?;
    // The lengths of the visits to one level, then to the other, from the end backwards.
    let mut visits: Vec<(bool, usize)> = Vec::new();
    let mut begin = values.len();
    for segment in segments.iter().rev() {
        let at_last = is_at(segment, last.mean);
        if !at_last && !is_at(segment, other.mean) {
            break;
        }
        begin = segment.start;
        match visits.last_mut() {
            Some((same, length)) if *same == at_last => *length += segment.length(),
            Some(_) | None => visits.push((at_last, segment.length())),
        }
    }
    let (latest, before) = visits.split_first()?;
    let longest = before.iter().map(|(_, length)| *length).max()?;
    (visits.len() >= FEWEST_VISITS && latest.1 <= LONGEST_LAST * longest).then_some(begin)
}

/// Walks back from the end to the last segments that differ from what follows.
///
/// A short stretch that differs between longer ones that do not is an interruption (a
/// collection of garbage, another process) and no burn-in.
pub(super) fn last_difference(
    values: &[f64],
    change_points: &[usize],
    limit: f64,
) -> Option<Transition> {
    const INTERRUPTION_SHARE: usize = 50;
    const AROUND: usize = 3;
    let n = values.len();
    let mut segments = segments(values, change_points);
    let last = segments.pop()?;
    let (mut sum, mut length) = (last.mean * as_f64(last.length()), last.length());
    while let Some(segment) = segments.last() {
        let level_after = sum / as_f64(length);
        let differs = |it: &LevelSegment| (it.mean - level_after).abs() > limit;
        if !differs(segment) {
            sum += segment.mean * as_f64(segment.length());
            length += segment.length();
            segments.pop();
            continue;
        }
        let end = segment.end;
        let stretch = segments.iter().rposition(|it| !differs(it));
        let before = stretch.map_or(0, |first| {
            let equal = segments[..=first]
                .iter()
                .rev()
                .take_while(|it| !differs(it));
            equal.map(LevelSegment::length).sum()
        });
        let lasts = end - stretch.map_or(0, |first| segments[first].end);
        if lasts <= n / INTERRUPTION_SHARE && before >= AROUND * lasts {
            segments.truncate(stretch.map_or(0, |first| first + 1));
            continue;
        }
        let below = segments.iter().filter(|it| it.mean < level_after - limit);
        return Some(Transition {
            begin: segment.start,
            end,
            level_after,
            faster: below.map(LevelSegment::length).sum(),
        });
    }
    None
}

/// Whether the first few iterations alone are far from the rest.
///
/// Autocorrelated noise shifts long segments, for which the penalty is made, much more than
/// one or two values.
pub(super) fn slow_start(values: &[f64], noise: RobustNoise, limit: f64) -> Option<Transition> {
    const DEVIATIONS: f64 = 4.5;
    (1..=3).rev().find_map(|end| {
        let (first, rest) = values.split_at(end);
        let level_after = crate::mean(rest)?;
        let away = |value: &f64| value - level_after;
        let limit = limit.max(DEVIATIONS * noise.deviation);
        let above = first.iter().map(away).all(|it| it > limit);
        let below = first.iter().map(away).all(|it| it < -limit);
        (above || below).then_some(Transition {
            begin: 0,
            end,
            level_after,
            faster: if below { end } else { 0 },
        })
    })
}
