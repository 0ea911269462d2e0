//! Cholesky factors of symmetric matrices, column by column in the given order.

/// Returns the inner product of two slices, as long as the shorter one.
///
/// Eight sums side by side, so that the compiler can use the processor's vectors.
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    let length = one.len().min(other.len());
    let (one_chunks, one_rest) = one[..length].as_chunks::<8>();
    let (other_chunks, other_rest) = other[..length].as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in one_chunks.iter().zip(other_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = one_rest.iter().zip(other_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// A square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SquareMatrix {
    pub(crate) size: usize,
    pub(crate) entries: Vec<f64>,
}

impl SquareMatrix {
    pub(crate) fn zero(size: usize) -> Self {
        Self {
            size,
            entries: vec![0.0; size * size],
        }
    }

    /// Returns the symmetric matrix with these entries, each of which is asked for once: `column` is at most `row`.
    pub(crate) fn symmetric(size: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zero(size);
        for row in 0..size {
            for column in 0..=row {
                matrix.set_both(row, column, entry(row, column));
            }
        }
        matrix
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.size..(row + 1) * self.size]
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    pub(crate) fn set(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] = value;
    }

    pub(crate) fn set_both(&mut self, row: usize, column: usize, value: f64) {
        self.set(row, column, value);
        self.set(column, row, value);
    }

    /// Returns the product with a vector.
    pub(crate) fn times(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.size)
            .map(|row| dot(self.row(row), vector))
            .collect()
    }
}

/// The lower triangle L of A = L Lᵀ over the columns of A that were kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CholeskyFactor {
    /// The columns of A, in order, that do not depend on those before.
    pub(crate) kept: Vec<usize>,
    /// The smallest pivot of a kept column as a share of that column's scale.
    pub(crate) least_share: f64,
    /// L, row by row; above the diagonal there are zeros.
    lower: SquareMatrix,
}

impl CholeskyFactor {
    /// Returns the factor of a symmetric matrix.
    ///
    /// A column whose pivot is at most `tolerance` times its scale is dropped: it depends on the columns
    /// before it. Scales are the diagonal, unless what is factored was centred before.
    pub(crate) fn new(matrix: &SquareMatrix, scales: &[f64], tolerance: f64) -> Self {
        let size = matrix.size;
        let mut kept: Vec<usize> = Vec::with_capacity(size);
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(size);
        let mut least_share = f64::INFINITY;
        for (column, scale) in scales.iter().enumerate() {
            let mut row = Vec::with_capacity(kept.len() + 1);
            for (at, before) in kept.iter().enumerate() {
                let known = dot(&row, &rows[at]);
                row.push((matrix.at(column, *before) - known) / rows[at][at]);
            }
            let pivot = matrix.at(column, column) - dot(&row, &row);
            let share = pivot / scale;
            if pivot > 0.0 && share > tolerance {
                least_share = least_share.min(share);
                row.push(pivot.sqrt());
                kept.push(column);
                rows.push(row);
            }
        }
        Self::of_rows(kept, &rows, least_share)
    }

    /// Returns the factor of a positive definite matrix; `None` if it is not.
    pub(crate) fn definite(matrix: &SquareMatrix) -> Option<Self> {
        let scales: Vec<f64> = (0..matrix.size).map(|at| matrix.at(at, at)).collect();
        let factor = Self::new(matrix, &scales, 1e-13);
        (factor.kept.len() == matrix.size).then_some(factor)
    }

    /// Returns the factor with these rows, each of which ends at the diagonal.
    pub(crate) fn of_rows(kept: Vec<usize>, rows: &[Vec<f64>], least_share: f64) -> Self {
        let mut lower = SquareMatrix::zero(rows.len());
        for (at, row) in rows.iter().enumerate() {
            lower.entries[at * rows.len()..at * rows.len() + row.len()].copy_from_slice(row);
        }
        Self {
            kept,
            least_share,
            lower,
        }
    }

    pub(crate) fn rank(&self) -> usize {
        self.kept.len()
    }

    /// Returns ln |A|.
    pub(crate) fn log_determinant(&self) -> f64 {
        let logs = (0..self.rank()).map(|at| self.lower.at(at, at).ln());
        2.0 * logs.sum::<f64>()
    }

    /// Solves L z = v in place.
    pub(crate) fn solve_lower(&self, vector: &mut [f64]) {
        // Where v begins with zeros, so does z.
        let first = vector.iter().position(|entry| *entry != 0.0);
        for row in first.unwrap_or(self.rank())..self.rank() {
            let start = first.unwrap_or(row);
            let (known, rest) = vector.split_at_mut(row);
            let known = dot(&self.lower.row(row)[start..row], &known[start..]);
            rest[0] = (rest[0] - known) / self.lower.at(row, row);
        }
    }

    /// Solves Lᵀ z = v in place.
    pub(crate) fn solve_upper(&self, vector: &mut [f64]) {
        for row in (0..self.rank()).rev() {
            let value = vector[row] / self.lower.at(row, row);
            vector[row] = value;
            for (entry, factor) in vector[..row].iter_mut().zip(self.lower.row(row)) {
                *entry -= factor * value;
            }
        }
    }

    /// Solves A x = v in place.
    pub(crate) fn solve(&self, vector: &mut [f64]) {
        self.solve_lower(vector);
        self.solve_upper(vector);
    }

    /// Returns A⁻¹.
    pub(crate) fn inverse(&self) -> SquareMatrix {
        let size = self.rank();
        // The columns of L⁻¹ are the rows here, so that both steps are inner products of slices.
        let mut columns = SquareMatrix::zero(size);
        for column in 0..size {
            let solved = &mut columns.entries[column * size..(column + 1) * size];
            solved[column] = 1.0 / self.lower.at(column, column);
            for row in column + 1..size {
                let known = dot(&self.lower.row(row)[column..row], &solved[column..row]);
                solved[row] = -known / self.lower.at(row, row);
            }
        }
        SquareMatrix::symmetric(size, |row, column| {
            dot(&columns.row(row)[row..], &columns.row(column)[row..])
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A Aᵀ plus a little of the identity.
    fn definite(size: usize, values: &[f64]) -> SquareMatrix {
        let mut matrix = SquareMatrix::zero(size);
        for row in 0..size {
            for column in 0..size {
                let (one, other) = (&values[row * size..], &values[column * size..]);
                let ridge = if row == column { 0.1 } else { 0.0 };
                matrix.set(row, column, dot(&one[..size], &other[..size]) + ridge);
            }
        }
        matrix
    }

    #[test]
    fn the_shorter_slice_ends_an_inner_product() {
        let long: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(dot(&long[..3], &long), 5.0);
        assert_eq!(dot(&long, &long[..10]), 285.0);
    }

    #[test]
    fn a_dependent_column_is_dropped_in_order() {
        let mut matrix = SquareMatrix::zero(3);
        // Columns (1,1,0), (2,2,0) and (0,1,1).
        for (at, value) in [2.0, 4.0, 1.0, 4.0, 8.0, 2.0, 1.0, 2.0, 2.0]
            .iter()
            .enumerate()
        {
            matrix.entries[at] = *value;
        }
        let factor = CholeskyFactor::new(&matrix, &[2.0, 8.0, 2.0], 1e-12);
        assert_eq!(factor.kept, [0, 2]);
        assert_eq!(CholeskyFactor::definite(&matrix), None);
    }

    proptest! {
        #[test]
        fn a_matrix_times_its_inverse_is_one(
            (size, values) in (1..12_usize).prop_flat_map(|size| {
                (Just(size), prop::collection::vec(-1.0..1.0_f64, size * size))
            }),
        ) {
            let matrix = definite(size, &values);
            let factor = CholeskyFactor::definite(&matrix).expect("definite");
            let inverse = factor.inverse();
            for row in 0..size {
                let mut solved = matrix.row(row).to_vec();
                factor.solve(&mut solved);
                for (column, actual) in inverse.times(matrix.row(row)).into_iter().enumerate() {
                    let expected = if row == column { 1.0 } else { 0.0 };
                    prop_assert!((actual - expected).abs() < 1e-9);
                    prop_assert!((solved[column] - expected).abs() < 1e-9);
                }
            }
        }
    }
}
