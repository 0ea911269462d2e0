//! The posterior of an [`OrderedSurface`](super::OrderedSurface) by its columns: one per level of a factor and one per
//! pair of levels. Far fewer than settings, they make its cost linear in these.

use super::scales::{LevelKernel, SurfaceFactor};
use crate::cholesky::SquareMatrix;

/// The columns of factors: the intercept, the levels of each factor, the pairs of levels of each pair of factors.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelColumns {
    levels: Vec<usize>,
    /// The first column of each factor.
    mains: Vec<usize>,
    /// Two factors, and the first column of their pairs.
    pairs: Vec<(usize, usize, usize)>,
    pub count: usize,
}

impl LevelColumns {
    pub fn new(factors: &[SurfaceFactor]) -> Self {
        let levels: Vec<usize> = factors.iter().map(|factor| factor.levels()).collect();
        let mut count = 1;
        let mut next = |columns: usize| {
            count += columns;
            count - columns
        };
        let mains = levels.iter().map(|own| next(*own)).collect();
        let mut pairs = Vec::new();
        for one in 0..levels.len() {
            for other in one + 1..levels.len() {
                pairs.push((one, other, next(levels[one] * levels[other])));
            }
        }
        Self {
            levels,
            mains,
            pairs,
            count,
        }
    }

    /// Returns the columns of a setting, in ascending order.
    pub fn of<'a>(&'a self, run: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
        let mains = self
            .mains
            .iter()
            .zip(run)
            .map(|(first, level)| first + level);
        let pairs = (self.pairs.iter())
            .map(move |(one, other, first)| first + run[*one] * self.levels[*other] + run[*other]);
        std::iter::once(0).chain(mains).chain(pairs)
    }

    /// Returns the inverse of the prior covariance of the columns, its lower triangle, and the logarithm of the
    /// determinant of the covariance.
    ///
    /// That of an Ornstein–Uhlenbeck process at equal distances is tridiagonal.
    pub fn precision(&self, kernel: &LevelKernel) -> (SquareMatrix, f64) {
        let mut matrix = SquareMatrix::zero(self.count);
        let intercept = kernel.intercept();
        matrix.set(0, 0, intercept.recip());
        let mut determinant = intercept.ln();
        let inverses: Vec<LevelInverse> = (self.levels.iter().enumerate())
            .map(|(factor, levels)| LevelInverse::new(*levels, kernel.correlation(factor)))
            .collect();
        for (own, (first, variance)) in
            (inverses.iter()).zip(self.mains.iter().zip(&kernel.scales.main))
        {
            for (row, column, value) in own.entries() {
                matrix.set(first + row, first + column, value / variance);
            }
            determinant += crate::as_f64(own.levels) * variance.ln() + own.log_determinant;
        }
        for (one, other, first) in &self.pairs {
            let variance = kernel.pair_variance(*one, *other);
            let (one, other) = (&inverses[*one], &inverses[*other]);
            for (row, column, value) in one.entries() {
                for (inner, beside, factor) in other.entries() {
                    let place = |outer: usize, inner: usize| first + outer * other.levels + inner;
                    let (row, column) = (place(row, inner), place(column, beside));
                    if column <= row {
                        matrix.set(row, column, value * factor / variance);
                    }
                }
            }
            let [rows, columns] = [one, other].map(|own| crate::as_f64(own.levels));
            determinant += rows * columns * variance.ln()
                + columns * one.log_determinant
                + rows * other.log_determinant;
        }
        (matrix, determinant)
    }
}

/// The inverse of the correlations of a factor's levels.
struct LevelInverse {
    levels: usize,
    correlation: f64,
    /// Of the correlations.
    log_determinant: f64,
}

impl LevelInverse {
    fn new(levels: usize, correlation: f64) -> Self {
        let steps = crate::as_f64(levels.saturating_sub(1));
        Self {
            levels,
            correlation,
            log_determinant: steps * (1.0 - correlation * correlation).ln(),
        }
    }

    /// Returns row, column and value of all entries that are not zero.
    fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let square = self.correlation * self.correlation;
        let unit = (1.0 - square).recip();
        let diagonal = move |at: usize| match (at == 0, at + 1 == self.levels) {
            (true, true) => 1.0,
            (true, false) | (false, true) => unit,
            (false, false) => (1.0 + square) * unit,
        };
        (0..self.levels).flat_map(move |at| {
            let beside = -self.correlation * unit;
            let before = at.checked_sub(1).map(|own| (at, own, beside));
            let after = (at + 1 < self.levels).then_some((at, at + 1, beside));
            (before.into_iter())
                .chain([(at, at, diagonal(at))])
                .chain(after)
        })
    }
}
