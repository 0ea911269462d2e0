//! Columns of a model matrix: indicators as bits, numbers as numbers.

use crate::cholesky::dot;
use crate::number::as_f64;

/// One column of a model matrix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModelColumn {
    /// Ones and zeros, 64 runs per word; bits beyond the last run are 0.
    Indicator(Vec<u64>),
    /// Any numbers.
    Numbers(Vec<f64>),
}

/// Returns a column of ones and zeros.
pub(crate) fn indicator(ones: impl ExactSizeIterator<Item = bool>) -> ModelColumn {
    let mut words = vec![0_u64; ones.len().div_ceil(64)];
    for (row, one) in ones.enumerate() {
        words[row / 64] |= u64::from(one) << (row % 64);
    }
    ModelColumn::Indicator(words)
}

/// Calls `visit` with each row whose bit is set.
pub(crate) fn each_one(words: impl Iterator<Item = u64>, mut visit: impl FnMut(usize)) {
    for (at, mut rest) in words.enumerate() {
        while rest != 0 {
            visit(at * 64 + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

impl ModelColumn {
    pub(crate) fn at(&self, row: usize) -> f64 {
        match self {
            Self::Indicator(words) => as_f64(words[row / 64] >> (row % 64) & 1),
            Self::Numbers(numbers) => numbers[row],
        }
    }

    /// Returns the product with another column, row by row.
    pub(crate) fn product(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Indicator(one), Self::Indicator(other)) => {
                Self::Indicator(one.iter().zip(other).map(|(a, b)| a & b).collect())
            }
            (Self::Indicator(words), Self::Numbers(numbers))
            | (Self::Numbers(numbers), Self::Indicator(words)) => {
                let mut product = vec![0.0; numbers.len()];
                each_one(words.iter().copied(), |row| product[row] = numbers[row]);
                Self::Numbers(product)
            }
            (Self::Numbers(one), Self::Numbers(other)) => {
                Self::Numbers(one.iter().zip(other).map(|(a, b)| a * b).collect())
            }
        }
    }

    /// Returns Σ w x z over the rows, all w = 1 without weights.
    pub(crate) fn cross(&self, other: &Self, weights: Option<&[f64]>) -> f64 {
        match (self, other, weights) {
            (Self::Indicator(one), Self::Indicator(other), weights) => {
                let both = one.iter().zip(other).map(|(a, b)| a & b);
                match weights {
                    None => as_f64(both.map(|word| u64::from(word.count_ones())).sum::<u64>()),
                    Some(weights) => {
                        let mut sum = 0.0;
                        each_one(both, |row| sum += weights[row]);
                        sum
                    }
                }
            }
            (_, Self::Numbers(numbers), None) => self.inner(numbers),
            (Self::Numbers(numbers), Self::Indicator(_), None) => other.inner(numbers),
            (_, Self::Numbers(numbers), Some(weights)) => self.inner(&weighted(numbers, weights)),
            (Self::Numbers(numbers), Self::Indicator(_), Some(weights)) => {
                other.inner(&weighted(numbers, weights))
            }
        }
    }

    /// Returns Σ x v over the rows.
    pub(crate) fn inner(&self, vector: &[f64]) -> f64 {
        match self {
            Self::Indicator(words) => {
                let mut sum = 0.0;
                each_one(words.iter().copied(), |row| sum += vector[row]);
                sum
            }
            Self::Numbers(numbers) => dot(numbers, vector),
        }
    }

    /// Adds `factor` times the column to a vector.
    pub(crate) fn add_to(&self, factor: f64, vector: &mut [f64]) {
        match self {
            Self::Indicator(words) => {
                each_one(words.iter().copied(), |row| vector[row] += factor);
            }
            Self::Numbers(numbers) => {
                for (entry, number) in vector.iter_mut().zip(numbers) {
                    *entry += factor * number;
                }
            }
        }
    }
}

/// Returns the products of numbers and weights.
pub(crate) fn weighted(numbers: &[f64], weights: &[f64]) -> Vec<f64> {
    numbers.iter().zip(weights).map(|(a, b)| a * b).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_and_numbers_are_the_same_column(
            rows in prop::collection::vec((any::<bool>(), any::<bool>(), 0.1..2.0_f64), 1..200),
        ) {
            let one = indicator(rows.iter().map(|row| row.0));
            let other = indicator(rows.iter().map(|row| row.1));
            let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let numbers = |column: &ModelColumn| {
                ModelColumn::Numbers((0..rows.len()).map(|row| column.at(row)).collect())
            };
            for weights in [None, Some(weights.as_slice())] {
                let expected = numbers(&one).cross(&numbers(&other), weights);
                for (a, b) in [(&one, &other), (&one, &numbers(&other)), (&numbers(&one), &other)] {
                    prop_assert!((a.cross(b, weights) - expected).abs() < 1e-12);
                }
            }
            prop_assert_eq!(numbers(&one.product(&other)), numbers(&one).product(&numbers(&other)));
            prop_assert_eq!(numbers(&one.product(&other)), one.product(&numbers(&other)));
        }
    }
}
