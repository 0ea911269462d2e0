//! The best straight descriptions of a series: ramps, bent lines, and lines with a step.

use crate::number::as_f64;

use super::segments::SHORTEST_SEGMENT;

/// The number of places at which a ramp may begin or end, or a line may bend.
const KNOTS: usize = 24;
/// A ramp has at least so many values, and a sixth of all.
const SHORTEST_RAMP: usize = 6;
/// A line bends so often at most.
const MOST_BENDS: usize = 4;
/// A part of it that changes by no more than this share of the whole change is level.
const LEVEL: f64 = 0.03;

/// Returns the places for ends of ramps and for bends, evenly spread over the series.
fn knots(length: usize) -> impl Iterator<Item = usize> + Clone {
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
    sums: Vec<f64>,
    moments: Vec<f64>,
    /// Sums of the residuals of the line before each index.
    around_line: Vec<f64>,
}

impl StraightFits {
    pub(super) fn of(values: &[f64]) -> Self {
        let moments: Vec<f64> = values
            .iter()
            .zip(0_usize..)
            .map(|(value, at)| value * as_f64(at))
            .collect();
        Self {
            length: values.len(),
            sums: running_sums(values),
            moments: running_sums(&moments),
            around_line: running_sums(&residuals(values, &[centred_times(values.len())])),
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

    /// Returns the ends of a ramp, each moved by up to the distance of two knots to where it is best; an end of the
    /// series stays one.
    pub(super) fn refined_ramp(&self, [mut from, mut to]: [usize; 2]) -> [usize; 2] {
        let (last, reach) = (self.length - 1, self.length.div_ceil(KNOTS));
        let near = |end: usize| end.saturating_sub(reach)..=(end + reach).min(last);
        for _ in 0..2 {
            if from > 0 {
                let better = near(from).filter(|end| *end > 0 && *end + SHORTEST_RAMP <= to);
                let ends = better.map(|end| (end, self.explained_by_ramp(end, to)));
                from = first_best(ends).unwrap_or(from);
            }
            if to < last {
                let better = near(to).filter(|end| *end < last && from + SHORTEST_RAMP <= *end);
                let ends = better.map(|end| (end, self.explained_by_ramp(from, end)));
                to = first_best(ends).unwrap_or(to);
            }
        }
        [from, to]
    }

    /// What a ramp explains of the sum of squares around one level.
    fn explained_by_ramp(&self, from: usize, to: usize) -> f64 {
        let Self { sums, moments, .. } = self;
        let (all, rise) = (as_f64(self.length), as_f64(to - from));
        let after = as_f64(self.length - to);
        let height = (rise - 1.0) / 2.0 + after;
        let square = (rise - 1.0) * (2.0 * rise - 1.0) / (6.0 * rise) + after;
        let within = moments[to] - moments[from] - as_f64(from) * (sums[to] - sums[from]);
        let total = sums[self.length];
        let product = within / rise + total - sums[to] - height * total / all;
        product * product / (square - height * height / all)
    }

    /// Returns the index of the first value after the best step on a line.
    pub(super) fn step_on_line(&self) -> Option<usize> {
        let times = self.squares_of_times();
        let sums = &self.around_line;
        let last = self.length.saturating_sub(SHORTEST_SEGMENT);
        first_best((SHORTEST_SEGMENT..=last).map(|at| {
            let after = as_f64(self.length - at);
            let with_time = after * as_f64(at) / 2.0;
            let left = after - after * after / as_f64(self.length) - with_time * with_time / times;
            let product = sums[self.length] - sums[at];
            (at, product * product / left)
        }))
    }

    /// The sum of squares of 0, 1, … n − 1 around their mean.
    fn squares_of_times(&self) -> f64 {
        let all = as_f64(self.length);
        all * (all * all - 1.0) / 12.0
    }
}

/// Returns the sums of the values before each index.
fn running_sums(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let later = values.iter().map(|value| {
        sum += value;
        sum
    });
    [0.0].into_iter().chain(later).collect()
}

/// Returns for 1, 2, … bends of a line their places in order, as far as all parts go in one direction: each is chosen
/// as the best one after those before. The first is not in the first or last sixth of the values, later ones not in
/// the first or last twelfth.
pub(super) fn bends(values: &[f64]) -> Vec<Vec<usize>> {
    let last = values.len() - 1;
    let mut fits = BendFits::of(values);
    let mut found: Vec<Vec<usize>> = Vec::new();
    for number in 0..MOST_BENDS {
        let margin = values.len() / if number == 0 { 6 } else { 12 };
        let before = found.last().map_or(&[][..], Vec::as_slice);
        let possible = fits
            .candidates
            .iter()
            .enumerate()
            .filter_map(|(at, candidate)| {
                let is_inside = (margin..=last - margin).contains(&candidate.bend);
                let mut places = before.to_vec();
                places.push(candidate.bend);
                places.sort_unstable();
                let fitted = |corner: usize| fits.fitted(candidate, corner);
                (is_inside && has_one_direction(&places, last, fitted))
                    .then_some(((at, places), candidate.explained()))
            });
        let Some((at, places)) = first_best(possible) else {
            break;
        };
        fits.choose(at);
        found.push(places);
    }
    found
}

/// What bends of a line at each knot add to the line and the bends chosen so far, in sums of squares and at the knots
/// alone: least squares of all values without all values.
struct BendFits {
    /// The knots and the ends of the series, where alone lines meet.
    corners: Vec<usize>,
    /// The values at the corners.
    values: Vec<f64>,
    /// What is left of them.
    left: Vec<f64>,
    candidates: Vec<Bend>,
}

/// A bend at a knot, less what the line and the bends chosen so far explain of it.
struct Bend {
    bend: usize,
    /// Its values at the corners.
    at_corners: Vec<f64>,
    /// Its sum of products with what is left of the values.
    product: f64,
    /// Its sums of products with all candidates.
    products: Vec<f64>,
    square: f64,
}

impl Bend {
    /// Returns what it explains of the sum of squares that is left.
    fn explained(&self) -> f64 {
        let share = self.product / self.square;
        share * share * self.square
    }
}

impl BendFits {
    fn of(values: &[f64]) -> Self {
        let (length, last) = (values.len(), values.len() - 1);
        let left = residuals(values, &[centred_times(length)]);
        let middle = as_f64(last) / 2.0;
        let all = as_f64(length);
        let of_times = all * (all * all - 1.0) / 12.0;
        // Sums of 1 … m, and of their squares.
        let sum = |m: f64| m * (m + 1.0) / 2.0;
        let squares = |m: f64| m * (m + 1.0) * (2.0 * m + 1.0) / 6.0;
        let inside: Vec<usize> = knots(length)
            .filter(|bend| (1..last).contains(bend))
            .collect();
        let after = |bend: usize| as_f64(last - bend);
        // The line that least squares fit to each bend: its level, and its slope.
        let lines: Vec<[f64; 2]> = inside
            .iter()
            .map(|bend| {
                let m = after(*bend);
                let with_time = squares(m) + (as_f64(*bend) - middle) * sum(m);
                [sum(m) / all, with_time / of_times]
            })
            .collect();
        let product = |one: usize, other: usize| {
            let (first, second) = (
                inside[one].min(inside[other]),
                inside[one].max(inside[other]),
            );
            let (m, apart) = (after(second), as_f64(second - first));
            let raw = squares(m) + apart * sum(m);
            let [a, b] = [lines[one], lines[other]];
            raw - a[0] * b[0] * all - a[1] * b[1] * of_times
        };
        let mut corners = inside.clone();
        corners.extend([0, last]);
        corners.sort_unstable();
        corners.dedup();
        // Σ left and Σ t · left from each bend on.
        let (mut later, mut weighted) = (0.0, 0.0);
        let mut with_left = vec![0.0; length];
        for at in (0..length).rev() {
            later += left[at];
            weighted += as_f64(at) * left[at];
            with_left[at] = weighted - as_f64(at) * later;
        }
        let candidates = inside.iter().enumerate().map(|(place, bend)| {
            let [level, slope] = lines[place];
            let height = |at: &usize| {
                as_f64(at.saturating_sub(*bend)) - level - slope * (as_f64(*at) - middle)
            };
            Bend {
                bend: *bend,
                at_corners: corners.iter().map(height).collect(),
                product: with_left[*bend],
                products: (0..inside.len())
                    .map(|other| product(place, other))
                    .collect(),
                square: product(place, place),
            }
        });
        Self {
            candidates: candidates.collect(),
            values: corners.iter().map(|at| values[*at]).collect(),
            left: corners.iter().map(|at| left[*at]).collect(),
            corners,
        }
    }

    /// Returns the line with the bends chosen so far and this one at a corner.
    fn fitted(&self, candidate: &Bend, corner: usize) -> f64 {
        let at = self.corners.partition_point(|known| *known < corner);
        let share = candidate.product / candidate.square;
        self.values[at] - self.left[at] + share * candidate.at_corners[at]
    }

    /// Takes the best line with this candidate out of the values, and the candidate out of the others (Gram & Schmidt).
    fn choose(&mut self, chosen: usize) {
        let of_chosen = self.candidates.remove(chosen);
        let share = of_chosen.product / of_chosen.square;
        for (left, height) in self.left.iter_mut().zip(&of_chosen.at_corners) {
            *left -= share * height;
        }
        let mut with_chosen = of_chosen.products.clone();
        with_chosen.remove(chosen);
        for (place, other) in self.candidates.iter_mut().enumerate() {
            let part = with_chosen[place] / of_chosen.square;
            for (height, of_chosen) in other.at_corners.iter_mut().zip(&of_chosen.at_corners) {
                *height -= part * of_chosen;
            }
            other.product -= part * of_chosen.product;
            other.products.remove(chosen);
            for (product, with_chosen) in other.products.iter_mut().zip(&with_chosen) {
                *product -= part * with_chosen;
            }
            other.square = other.products[place];
        }
    }
}

/// Returns whether a line with bends at these places only rises or only falls; a part may be level but for noise.
fn has_one_direction(bends: &[usize], last: usize, fitted: impl Fn(usize) -> f64) -> bool {
    let corners = [0].into_iter().chain(bends.iter().copied()).chain([last]);
    let heights: Vec<f64> = corners.map(fitted).collect();
    let total = heights[heights.len() - 1] - heights[0];
    let turns_back = |pair: &[f64]| (pair[1] - pair[0]) * total.signum() < -LEVEL * total.abs();
    !heights.windows(2).any(turns_back)
}

/// Returns the corners of a line with bends at these places, without those parts at its ends that are level.
pub(super) fn sloping_corners(values: &[f64], bends: &[usize]) -> Vec<usize> {
    let mut columns = vec![centred_times(values.len())];
    columns.extend(bends.iter().map(|bend| bend_column(*bend, values.len())));
    let left = residuals(values, &columns);
    let height = |at: usize| values[at] - left[at];
    let ends = [values.len() - 1];
    let mut corners: Vec<usize> = [0]
        .into_iter()
        .chain(bends.iter().copied())
        .chain(ends)
        .collect();
    let total = height(values.len() - 1) - height(0);
    let is_level =
        |from: usize, to: usize| (height(to) - height(from)).abs() <= LEVEL * total.abs();
    while corners.len() > 2 && is_level(corners[0], corners[1]) {
        corners.remove(0);
    }
    while let [.., from, to] = corners[..]
        && corners.len() > 2
        && is_level(from, to)
    {
        corners.pop();
    }
    corners
}

/// Returns 0 up to a bend, and from it on the distance from it.
pub(super) fn bend_column(bend: usize, length: usize) -> Vec<f64> {
    (0..length)
        .map(|at| as_f64(at.saturating_sub(bend)))
        .collect()
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
        let size = dot(&column, &column);
        for before in &fitted {
            subtract_projection(&mut column, before);
        }
        // A column that the others make up adds nothing.
        if dot(&column, &column) > 1e-12 * size {
            subtract_projection(&mut left, &column);
            fitted.push(column);
        }
    }
    left
}

fn subtract_mean(values: &mut [f64]) {
    let level = values.iter().sum::<f64>() / as_f64(values.len().max(1));
    values.iter_mut().for_each(|value| *value -= level);
}

fn subtract_projection(values: &mut [f64], column: &[f64]) {
    let share = dot(values, column) / dot(column, column);
    for (value, of_column) in values.iter_mut().zip(column) {
        *value -= share * of_column;
    }
}

/// Returns Σ xᵢ yᵢ.
pub(super) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
