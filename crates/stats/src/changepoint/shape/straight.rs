//! The best straight descriptions of a series: ramps, bent lines, and lines with a step.

use crate::describe::squares_around;
use crate::number::as_f64;

use super::segments::SHORTEST_SEGMENT;

/// The number of places at which a ramp may begin or end, or a line may bend.
const KNOTS: usize = 24;
/// A ramp has at least so many values, and a sixth of all.
const SHORTEST_RAMP: usize = 6;

/// Returns the places for ends of ramps and for bends, evenly spread over the series.
fn knots(length: usize) -> impl DoubleEndedIterator<Item = usize> + Clone {
    let number = KNOTS.min(length);
    (0..number).map(move |knot| knot * (length - 1) / (number - 1).max(1))
}

/// Returns the first of the candidates that explains most, each with what it explains.
fn first_best<T>(candidates: impl Iterator<Item = (T, f64)>) -> Option<T> {
    let mut best: Option<(T, f64)> = None;
    for candidate in candidates {
        if best.as_ref().is_none_or(|best| candidate.1 > best.1) {
            best = Some(candidate);
        }
    }
    best.map(|(candidate, _)| candidate)
}

/// A series of at least three values, with sums by which straight descriptions are fitted at once.
pub(super) struct StraightFits {
    length: usize,
    /// Sums of the values before each index, and of the values times their index.
    level: [Vec<f64>; 2],
    /// The same of the residuals of the line.
    line: [Vec<f64>; 2],
    /// The line's slope per value.
    slope: f64,
}

impl StraightFits {
    pub(super) fn of(values: &[f64]) -> Self {
        let slope_of = |values: &[f64]| {
            let times = centred_times(values.len());
            let product = times.iter().zip(values).map(|(time, value)| time * value);
            product.sum::<f64>() / squares_around(&times, 0.0)
        };
        Self {
            length: values.len(),
            level: running_sums(values),
            line: running_sums(&residuals(values, &[centred_times(values.len())])),
            slope: slope_of(values),
        }
    }

    /// Returns the ends of the best ramp: the last value at the old level and the first at the new one.
    pub(super) fn ramp(&self) -> Option<[usize; 2]> {
        let shortest = (self.length / 6).max(SHORTEST_RAMP);
        let knots = knots(self.length);
        let ends = knots.clone().flat_map(|from| {
            let later = knots.clone().filter(move |to| *to >= from + shortest);
            later.map(move |to| [from, to])
        });
        first_best(ends.map(|[from, to]| ([from, to], self.explained_by_ramp(from, to))))
    }

    /// What a ramp explains of the sum of squares around one level.
    fn explained_by_ramp(&self, from: usize, to: usize) -> f64 {
        let [sums, moments] = &self.level;
        let (all, rise) = (as_f64(self.length), as_f64(to - from));
        let after = as_f64(self.length - to);
        let height = (rise - 1.0) / 2.0 + after;
        let square = (rise - 1.0) * (2.0 * rise - 1.0) / (6.0 * rise) + after;
        let within = moments[to] - moments[from] - as_f64(from) * (sums[to] - sums[from]);
        let total = sums[self.length];
        let product = within / rise + total - sums[to] - height * total / all;
        product * product / (square - height * height / all)
    }

    /// Returns the best place at which a line bends and goes on in the same direction, not near the ends.
    pub(super) fn bend(&self) -> Option<usize> {
        let margin = self.length / 6;
        let [sums, moments] = &self.line;
        let times = self.squares_of_times();
        let inside = knots(self.length)
            .filter(|at| (margin..self.length.saturating_sub(margin)).contains(at) && *at > 0);
        first_best(inside.filter_map(|at| {
            let later = as_f64(self.length - 1 - at);
            let sum = later * (later + 1.0) / 2.0;
            let square = sum * (2.0 * later + 1.0) / 3.0;
            let with_time = (as_f64(at) - self.middle()) * sum + square;
            let left = square - sum * sum / as_f64(self.length) - with_time * with_time / times;
            let residual = sums[self.length] - sums[at];
            let product = moments[self.length] - moments[at] - as_f64(at) * residual;
            let turn = product / left;
            let before = self.slope - turn * with_time / times;
            (before * (before + turn) >= 0.0).then_some((at, turn * product))
        }))
    }

    /// Returns the index of the first value after the best step on a line.
    pub(super) fn step_on_line(&self) -> Option<usize> {
        let times = self.squares_of_times();
        let sums = &self.line[0];
        let last = self.length.saturating_sub(SHORTEST_SEGMENT);
        first_best((SHORTEST_SEGMENT..=last).map(|at| {
            let after = as_f64(self.length - at);
            let with_time = after * as_f64(at) / 2.0;
            let left = after - after * after / as_f64(self.length) - with_time * with_time / times;
            let product = sums[self.length] - sums[at];
            (at, product * product / left)
        }))
    }

    fn middle(&self) -> f64 {
        as_f64(self.length - 1) / 2.0
    }

    /// The sum of squares of 0, 1, … n − 1 around their mean.
    fn squares_of_times(&self) -> f64 {
        let all = as_f64(self.length);
        all * (all * all - 1.0) / 12.0
    }
}

/// Returns the sums of the values before each index, and of the values times their index.
fn running_sums(values: &[f64]) -> [Vec<f64>; 2] {
    let (mut sum, mut moment) = (0.0, 0.0);
    let mut sums = [vec![0.0], vec![0.0]];
    for (at, value) in values.iter().enumerate() {
        sum += value;
        moment += value * as_f64(at);
        sums[0].push(sum);
        sums[1].push(moment);
    }
    sums
}

/// Returns 0, 1, … n − 1 less their mean.
pub(super) fn centred_times(length: usize) -> Vec<f64> {
    let middle = as_f64(length.saturating_sub(1)) / 2.0;
    (0..length).map(|at| as_f64(at) - middle).collect()
}

/// Returns what least squares of a level and columns as long as the values leave of them.
pub(super) fn residuals(values: &[f64], columns: &[Vec<f64>]) -> Vec<f64> {
    let mut left = values.to_vec();
    // Each column less what those before it explain (Gram & Schmidt).
    let mut fitted: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
    subtract_mean(&mut left);
    for column in columns {
        let mut column = column.clone();
        subtract_mean(&mut column);
        let size = squares_around(&column, 0.0);
        for before in &fitted {
            subtract_projection(&mut column, before);
        }
        // A column that the others make up adds nothing.
        if squares_around(&column, 0.0) > 1e-12 * size {
            subtract_projection(&mut left, &column);
            fitted.push(column);
        }
    }
    left
}

fn subtract_mean(values: &mut [f64]) {
    let level = crate::mean(values).unwrap_or(0.0);
    values.iter_mut().for_each(|value| *value -= level);
}

fn subtract_projection(values: &mut [f64], column: &[f64]) {
    let product: f64 = values
        .iter()
        .zip(column)
        .map(|(one, other)| one * other)
        .sum();
    let share = product / squares_around(column, 0.0);
    for (value, of_column) in values.iter_mut().zip(column) {
        *value -= share * of_column;
    }
}
