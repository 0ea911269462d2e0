//! Steps of the best segments: their places, which of them count, and whether they go back and forth.

use super::segments::SHORTEST_SEGMENT;
use crate::describe::squares_around;
use crate::number::as_f64;

/// A step counts from so many standard errors on.
const LEAST_STEP: f64 = 4.0;
/// So many steps may be a way back and forth.
const BACK_AND_FORTH: usize = 7;

/// Returns the steps of means of `width` neighbours, each moved to the place between the steps beside it where it is
/// best for the values themselves.
pub(super) fn refined(values: &[f64], steps: &[usize], width: usize) -> Vec<usize> {
    let mut places: Vec<usize> = steps.iter().map(|step| step * width).collect();
    if width == 1 {
        return places;
    }
    for at in 0..places.len() {
        let start = at.checked_sub(1).map_or(0, |before| places[before]);
        let end = places.get(at + 1).copied().unwrap_or(values.len());
        let part = &values[start..end];
        let level = crate::mean(part).unwrap_or(0.0);
        let near = places[at] - width..=places[at] + width;
        let (mut sum, mut best) = (0.0, (0.0, places[at]));
        for (offset, value) in part.iter().enumerate() {
            let (before, after) = (offset, part.len() - offset);
            let is_inside = before.min(after) >= SHORTEST_SEGMENT;
            if is_inside && near.contains(&(start + offset)) {
                let explained = sum * sum / as_f64(before) / as_f64(after);
                if explained > best.0 {
                    best = (explained, start + offset);
                }
            }
            sum += value - level;
        }
        places[at] = best.1;
    }
    places
}

/// Returns those of the steps that are as large as four standard errors of the values around the levels beside them:
/// the least ones are dropped one by one, but for the last.
pub(super) fn clear_steps(values: &[f64], steps: &[usize]) -> Vec<usize> {
    let mut steps = steps.to_vec();
    while steps.len() > 1 {
        let errors = standard_errors(values, &steps);
        let least = errors
            .into_iter()
            .enumerate()
            .min_by(|one, other| one.1.total_cmp(&other.1));
        match least {
            Some((at, size)) if size < LEAST_STEP => steps.remove(at),
            _ => break,
        };
    }
    steps
}

/// Returns the size of each step in standard errors, from the larger one of the standard deviations within all
/// segments and within the two beside it.
fn standard_errors(values: &[f64], steps: &[usize]) -> Vec<f64> {
    let segments: Vec<Segment> = segments(values, steps);
    let all: f64 = segments.iter().map(|segment| segment.squares).sum();
    let within_all = all / as_f64(values.len() - segments.len());
    let size = |pair: &[Segment]| {
        let [before, after] = [&pair[0], &pair[1]];
        let freedom = (before.count + after.count - 2.0).max(1.0);
        let within_two = (before.squares + after.squares) / freedom;
        let variance = within_all.max(within_two) * (before.count.recip() + after.count.recip());
        (after.level - before.level).abs() / variance.sqrt().max(f64::MIN_POSITIVE)
    };
    segments.windows(2).map(size).collect()
}

/// Returns whether there are seven steps or more, and half or more of them turn back.
pub(super) fn go_back_and_forth(values: &[f64], steps: &[usize]) -> bool {
    if steps.len() < BACK_AND_FORTH {
        return false;
    }
    let levels: Vec<f64> = segments(values, steps).iter().map(|it| it.level).collect();
    let rises: Vec<bool> = levels.windows(2).map(|pair| pair[1] > pair[0]).collect();
    let turns = rises.windows(2).filter(|pair| pair[0] != pair[1]).count();
    2 * turns >= steps.len()
}

struct Segment {
    count: f64,
    level: f64,
    squares: f64,
}

/// Returns the segments between steps.
fn segments(values: &[f64], steps: &[usize]) -> Vec<Segment> {
    let starts = [0].into_iter().chain(steps.iter().copied());
    let ends = steps.iter().copied().chain([values.len()]);
    let segment = |(start, end): (usize, usize)| {
        let part = &values[start..end];
        let level = crate::mean(part).unwrap_or(0.0);
        Segment {
            count: as_f64(part.len()),
            level,
            squares: squares_around(part, level),
        }
    };
    starts.zip(ends).map(segment).collect()
}
