//! The triangular factor of a model matrix, and which columns are aliased.

use std::ops::Range;

use super::column::{ModelColumn, each_one};
use super::matrix::ModelMatrix;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};
use crate::number::as_f64;

/// A column is aliased when what the columns before it leave of it is shorter than its length times this, as in R's
/// `lm`.
const ALIASED: f64 = 1e-7;

/// Below such a share of squares cross products have lost too many digits, and the columns themselves are factored.
const UNCERTAIN: f64 = 1e-7;

/// Cross products of columns that depend on each other leave such a share of squares, from rounding.
const ROUNDING: f64 = 1e-11;

/// Up to so many multiplications, factoring the columns costs nothing to speak of.
const QUICK: f64 = 1e8;

/// The columns as they are factored: numbers around their mean, which changes the intercept alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CentredColumns {
    pub(super) columns: Vec<ModelColumn>,
    /// What was subtracted from each column.
    pub(super) centres: Vec<f64>,
}

impl CentredColumns {
    pub(super) fn new(matrix: &ModelMatrix) -> Self {
        let mut centres = vec![0.0; matrix.columns()];
        let mut columns = matrix.columns.clone();
        for (column, centre) in columns.iter_mut().zip(&mut centres) {
            if let ModelColumn::Numbers(numbers) = column {
                *centre = numbers.iter().sum::<f64>() / as_f64(numbers.len());
                for number in numbers {
                    *number -= *centre;
                }
            }
        }
        Self { columns, centres }
    }

    /// Returns the cross products Xᵀ W X of some of the columns.
    pub(super) fn gram(&self, columns: &[usize], weights: Option<&[f64]>) -> SquareMatrix {
        let column = |at: usize| &self.columns[columns[at]];
        SquareMatrix::symmetric(columns.len(), |one, other| {
            column(one).cross(column(other), weights)
        })
    }

    /// Returns Xᵀ v for some of the columns.
    pub(super) fn inner(&self, columns: &[usize], vector: &[f64]) -> Vec<f64> {
        let inner = |column: &usize| self.columns[*column].inner(vector);
        columns.iter().map(inner).collect()
    }

    /// Returns X β.
    pub(super) fn times(&self, columns: &[usize], coefficients: &[f64], rows: usize) -> Vec<f64> {
        let mut product = vec![0.0; rows];
        for (column, coefficient) in columns.iter().zip(coefficients) {
            self.columns[*column].add_to(*coefficient, &mut product);
        }
        product
    }

    /// Returns the entries of runs that are not zero, as positions among `columns` with their values. The number of the
    /// first run is a multiple of 64.
    pub(super) fn sparse_rows(
        &self,
        columns: &[usize],
        rows: Range<usize>,
    ) -> Vec<Vec<(usize, f64)>> {
        let mut sparse = vec![Vec::new(); rows.len()];
        for (at, column) in columns.iter().enumerate() {
            match &self.columns[*column] {
                ModelColumn::Indicator(words) => {
                    let words = &words[rows.start / 64..rows.end.div_ceil(64)];
                    each_one(words.iter().copied(), |row| sparse[row].push((at, 1.0)));
                }
                ModelColumn::Numbers(numbers) => {
                    for (entries, number) in sparse.iter_mut().zip(&numbers[rows.clone()]) {
                        entries.push((at, *number));
                    }
                }
            }
        }
        sparse
    }

    /// Returns the factor of Xᵀ W X, without the aliased columns.
    ///
    /// Of 0 and 1 the cross products are whole numbers, counted exactly, and their Cholesky factor is quick. Where
    /// numbers are nearly dependent, the columns are factored by Householder reflections, which keep twice as many
    /// digits.
    pub(super) fn factored(&self, weights: Option<&[f64]>, rows: usize) -> CholeskyFactor {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let gram = self.gram(&all, weights);
        let total = weights.map_or(as_f64(rows), |weights| weights.iter().sum());
        // The scale is the length of the column itself, not of the centred one.
        let scale = |at: usize| gram.at(at, at) + self.centres[at].powi(2) * total;
        let scales: Vec<f64> = all.iter().map(|at| scale(*at)).collect();
        let is_indicator = |column: &ModelColumn| matches!(column, ModelColumn::Indicator(_));
        if self.columns.iter().all(is_indicator) {
            return CholeskyFactor::new(&gram, &scales, ROUNDING);
        }
        let own: Vec<f64> = all.iter().map(|at| gram.at(*at, *at)).collect();
        let certain = CholeskyFactor::new(&gram, &own, ROUNDING);
        let quick = as_f64(rows) * as_f64(all.len() * all.len()) < QUICK;
        let full = certain.rank() == all.len();
        if certain.least_share < UNCERTAIN || (quick && !full) {
            return self.reflected(weights, &scales, rows);
        }
        certain
    }

    /// Factors the columns by Householder reflections, in order; an aliased one is skipped.
    fn reflected(&self, weights: Option<&[f64]>, scales: &[f64], rows: usize) -> CholeskyFactor {
        let mut kept = Vec::new();
        let mut reflections: Vec<Vec<f64>> = Vec::new();
        let mut triangle: Vec<Vec<f64>> = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let mut entries: Vec<f64> = (0..rows).map(|row| column.at(row)).collect();
            if let Some(weights) = weights {
                for (entry, weight) in entries.iter_mut().zip(weights) {
                    *entry *= weight.sqrt();
                }
            }
            for (done, reflection) in reflections.iter().enumerate() {
                reflect(reflection, &mut entries[done..]);
            }
            let done = kept.len();
            let Some(rest) = entries.get(done..).filter(|rest| !rest.is_empty()) else {
                continue;
            };
            let length = dot(rest, rest).sqrt();
            if length <= ALIASED * scales[at].sqrt() || length <= 0.0 {
                continue;
            }
            let mut reflection = rest.to_vec();
            let diagonal = -length.copysign(reflection[0]);
            reflection[0] -= diagonal;
            let norm = dot(&reflection, &reflection).sqrt();
            for entry in &mut reflection {
                *entry /= norm;
            }
            // L has a positive diagonal, so a row of R changes its sign with its diagonal: here as the sign of the
            // reflection.
            let mut row = entries[..done].to_vec();
            row.push(diagonal);
            kept.push(at);
            reflections.push(reflection);
            triangle.push(row);
        }
        let diagonal = triangle.iter().filter_map(|row| row.last());
        let signs: Vec<f64> = diagonal.map(|entry| entry.signum()).collect();
        for row in &mut triangle {
            for (entry, sign) in row.iter_mut().zip(&signs) {
                *entry *= sign;
            }
        }
        CholeskyFactor::of_rows(kept, &triangle, 0.0)
    }
}

/// Applies I − 2 v vᵀ.
fn reflect(unit: &[f64], vector: &mut [f64]) {
    let factor = 2.0 * dot(unit, vector);
    for (entry, direction) in vector.iter_mut().zip(unit) {
        *entry -= factor * direction;
    }
}
