//! The best segments of a series, for each number of them.

use crate::number::as_f64;

/// No segment is shorter.
pub(super) const SHORTEST_SEGMENT: usize = 3;

/// Returns for 1, 2, … `most` steps, as far as there are enough values, the first indices of the segments after the
/// first for which the squares around the means of the segments have the smallest sum.
///
/// Optimal partitioning by dynamic programming (Auger & Lawrence, *Bulletin of Mathematical Biology* 1989): what a
/// segment explains is Σ² / length for values with a mean of 0.
pub(super) fn best_segments(values: &[f64], most: usize) -> Vec<Vec<usize>> {
    let explained = Explained::of(values);
    let all = values.len();
    // For each number of steps, what the best segments of the first values explain.
    let mut best = vec![vec![f64::NEG_INFINITY; all + 1]; most + 1];
    let mut last = vec![0.0; all + 1];
    for end in SHORTEST_SEGMENT..=all {
        explained.by_last_segment(end, &mut last);
        best[0][end] = last[0];
        for steps in 1..=most {
            let starts = SHORTEST_SEGMENT * steps..end + 1 - SHORTEST_SEGMENT;
            if starts.is_empty() {
                break;
            }
            best[steps][end] = largest_sum(&best[steps - 1][starts.clone()], &last[starts]);
        }
    }
    let possible = (1..=most).take_while(|steps| best[*steps][all].is_finite());
    possible
        .map(|steps| {
            let mut end = all;
            let mut borders = Vec::with_capacity(steps);
            for fewer in (0..steps).rev() {
                explained.by_last_segment(end, &mut last);
                let starts = SHORTEST_SEGMENT * (fewer + 1)..end + 1 - SHORTEST_SEGMENT;
                end = first_largest(&best[fewer], &last, starts);
                borders.push(end);
            }
            borders.reverse();
            borders
        })
        .collect()
}

/// Sums by which a segment's share of the sum of squares is known.
struct Explained {
    /// Sums of the first values, less their mean.
    sums: Vec<f64>,
    /// 1 / n, 1 / (n − 1), … 1.
    shares: Vec<f64>,
}

impl Explained {
    fn of(values: &[f64]) -> Self {
        let level = crate::mean(values).unwrap_or(0.0);
        let mut sum = 0.0;
        let later = values.iter().map(|value| {
            sum += value - level;
            sum
        });
        Self {
            sums: [0.0].into_iter().chain(later).collect(),
            shares: (1..=values.len())
                .rev()
                .map(|n| as_f64(n).recip())
                .collect(),
        }
    }

    /// Puts in what the segment from each index to `end` explains.
    fn by_last_segment(&self, end: usize, explained: &mut [f64]) {
        let total = self.sums[end];
        let shares = &self.shares[self.shares.len() - end..];
        for ((explained, sum), share) in explained.iter_mut().zip(&self.sums).zip(shares) {
            let within = total - sum;
            *explained = within * within * share;
        }
    }
}

/// Returns the largest sum of two numbers at one index.
fn largest_sum(one: &[f64], other: &[f64]) -> f64 {
    /// So many at a time, for vector instructions.
    const LANES: usize = 8;
    let larger = |one: f64, other: f64| if one > other { one } else { other };
    let mut largest = [f64::NEG_INFINITY; LANES];
    let (ones, others) = (one.chunks_exact(LANES), other.chunks_exact(LANES));
    let rest = ones.remainder().iter().zip(others.remainder());
    let rest = rest.map(|(one, other)| one + other);
    let rest = rest.fold(f64::NEG_INFINITY, larger);
    for (ones, others) in ones.zip(others) {
        for lane in 0..LANES {
            largest[lane] = larger(ones[lane] + others[lane], largest[lane]);
        }
    }
    largest.into_iter().fold(rest, larger)
}

/// Returns the first of these indices at which the sum of two numbers is largest.
fn first_largest(one: &[f64], other: &[f64], indices: std::ops::Range<usize>) -> usize {
    let first = indices.start;
    let sums = indices.map(|at| (one[at] + other[at], at));
    let largest = sums.fold((f64::NEG_INFINITY, first), |best, sum| {
        if sum.0 > best.0 { sum } else { best }
    });
    largest.1
}
