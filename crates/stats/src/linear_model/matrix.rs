//! Model matrices: the columns of a linear model from factors and covariates.

use super::column::{ModelColumn, indicator};

/// The values of one factor, one per run.
#[derive(Debug, Clone, PartialEq)]
pub enum FactorValues {
    /// A treatment that is absent or present: one column of 0 and 1.
    Treatment(Vec<bool>),
    /// A factor with several levels 0 … `count` − 1: a column of 0 and 1 for each level except the
    /// first, which is the base.
    Levels {
        /// The level of each run.
        levels: Vec<usize>,
        /// How many levels there are, whether they occur or not.
        count: usize,
    },
    /// A numeric factor: one column.
    Numbers(Vec<f64>),
}

impl FactorValues {
    fn len(&self) -> usize {
        match self {
            Self::Treatment(values) => values.len(),
            Self::Levels { levels, .. } => levels.len(),
            Self::Numbers(values) => values.len(),
        }
    }

    fn columns(&self) -> Vec<(usize, ModelColumn)> {
        match self {
            Self::Treatment(values) => vec![(1, indicator(values.iter().copied()))],
            Self::Levels { levels, count } => (1..*count)
                .map(|level| (level, indicator(levels.iter().map(|own| *own == level))))
                .collect(),
            Self::Numbers(values) => vec![(0, ModelColumn::Numbers(values.clone()))],
        }
    }

    /// Returns the treatments of runs as bit masks, one [`FactorValues`] per factor: bit i is factor i.
    pub fn treatments(sets: &[u128], factors: usize) -> Vec<Self> {
        (0..factors)
            .map(|factor| Self::Treatment(sets.iter().map(|set| set >> factor & 1 == 1).collect()))
            .collect()
    }
}

/// A term of a linear model; factors are numbered as they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelTerm {
    /// The value of a run with every factor at 0.
    Intercept,
    /// A factor alone.
    Main(usize),
    /// The square of a numeric factor.
    Square(usize),
    /// The product of two factors, the smaller number first.
    Pair(usize, usize),
}

impl ModelTerm {
    /// Returns the intercept and every factor alone.
    pub fn main_effects(factors: usize) -> Vec<Self> {
        let main = (0..factors).map(Self::Main);
        std::iter::once(Self::Intercept).chain(main).collect()
    }

    /// Returns the intercept, every factor alone and every pair: (0, 1), (0, 2), …, (1, 2), …
    pub fn all_pairs(factors: usize) -> Vec<Self> {
        let pairs = (0..factors)
            .flat_map(|one| (one + 1..factors).map(move |other| Self::Pair(one, other)));
        let main = Self::main_effects(factors).into_iter();
        main.chain(pairs).collect()
    }

    /// Returns the terms that a hierarchical model has whenever it has this one.
    pub fn parents(self) -> Vec<Self> {
        match self {
            Self::Intercept | Self::Main(_) => Vec::new(),
            Self::Square(factor) => vec![Self::Main(factor)],
            Self::Pair(one, other) => vec![Self::Main(one), Self::Main(other)],
        }
    }
}

/// What a column of a model matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnMeaning {
    /// The term that it belongs to; the term of a factor with k levels has k − 1 columns.
    pub term: ModelTerm,
    /// Of which level of each of the term's factors it is: 1 for a treatment, 0 for a number and where there is no
    /// factor.
    pub levels: [usize; 2],
}

/// The columns of a linear model, from the values of factors.
///
/// A covariate, such as the time of day, is one more numeric factor without pairs, a block one more factor with levels.
/// The same factors and terms always give the same columns, so the matrix of other settings serves for predictions.
///
/// ```
/// use lapwing_stats::linear_model::{FactorValues, ModelMatrix, ModelTerm};
/// let factors = FactorValues::treatments(&[0b00, 0b01, 0b10, 0b11], 2);
/// let matrix = ModelMatrix::new(&factors, &ModelTerm::all_pairs(2)).expect("equal lengths");
/// assert_eq!((matrix.rows(), matrix.columns()), (4, 4));
/// assert_eq!(matrix.row(3), [1.0, 1.0, 1.0, 1.0]);
/// assert_eq!(matrix.row(1), [1.0, 1.0, 0.0, 0.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ModelMatrix {
    rows: usize,
    pub(super) columns: Vec<ModelColumn>,
    meanings: Vec<ColumnMeaning>,
    /// Of each factor, its own columns with their levels.
    own: Vec<Vec<(usize, ModelColumn)>>,
}

/// Factors or terms that make no model matrix.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelMatrixError {
    /// There is no factor, hence no number of runs.
    #[error("a model needs at least one factor")]
    NoFactor,
    /// A factor has fewer or more values than the first.
    #[error("factor {factor} has {values} values, and the first has {rows}")]
    Lengths {
        /// The factor's number.
        factor: usize,
        /// Its values.
        values: usize,
        /// Those of the first factor.
        rows: usize,
    },
    /// A value is infinite or no number.
    #[error("factor {factor} has no finite value in run {row}")]
    NotFinite {
        /// The factor's number.
        factor: usize,
        /// The run's number.
        row: usize,
    },
    /// A level is not below the factor's number of levels.
    #[error("factor {factor} has a level out of range in run {row}")]
    Level {
        /// The factor's number.
        factor: usize,
        /// The run's number.
        row: usize,
    },
    /// The first term is not the intercept.
    #[error("the first term of a model is the intercept")]
    NoIntercept,
    /// A term names a factor that is not there, the same factor twice, or the square of a factor that is no number.
    #[error("{term:?} is no term of these factors")]
    Term {
        /// The term.
        term: ModelTerm,
    },
}

impl ModelMatrix {
    /// Returns the matrix with the columns of these terms, in their order; the first one is the intercept.
    ///
    /// # Errors
    /// When the factors differ in length or a term does not fit them.
    pub fn new(factors: &[FactorValues], terms: &[ModelTerm]) -> Result<Self, ModelMatrixError> {
        let rows = factors.first().ok_or(ModelMatrixError::NoFactor)?.len();
        check_factors(factors, rows)?;
        if terms.first() != Some(&ModelTerm::Intercept) {
            return Err(ModelMatrixError::NoIntercept);
        }
        let own: Vec<Vec<(usize, ModelColumn)>> =
            factors.iter().map(FactorValues::columns).collect();
        let mut matrix = Self {
            rows,
            columns: Vec::new(),
            meanings: Vec::new(),
            own,
        };
        for term in terms {
            let columns = term_columns(*term, factors, &matrix.own, rows)
                .ok_or(ModelMatrixError::Term { term: *term })?;
            for (levels, column) in columns {
                matrix.columns.push(column);
                matrix.meanings.push(ColumnMeaning {
                    term: *term,
                    levels,
                });
            }
        }
        Ok(matrix)
    }

    /// Returns the number of runs.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns what each column is.
    pub fn meanings(&self) -> &[ColumnMeaning] {
        &self.meanings
    }

    /// Returns the positions of a term's columns.
    pub fn columns_of(&self, term: ModelTerm) -> Vec<usize> {
        let own = |at: &usize| self.meanings[*at].term == term;
        (0..self.columns.len()).filter(own).collect()
    }

    /// Returns the terms, in order.
    pub fn terms(&self) -> Vec<ModelTerm> {
        let mut terms: Vec<ModelTerm> = self.meanings.iter().map(|meaning| meaning.term).collect();
        terms.dedup();
        terms
    }

    /// Returns the values of a run in every column.
    pub fn row(&self, row: usize) -> Vec<f64> {
        self.columns.iter().map(|column| column.at(row)).collect()
    }

    /// Returns the matrix with some of the terms only.
    #[must_use]
    pub fn with_terms(&self, keep: impl Fn(ModelTerm) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|at| keep(self.meanings[*at].term))
            .collect();
        Self {
            rows: self.rows,
            columns: kept.iter().map(|at| self.columns[*at].clone()).collect(),
            meanings: kept.iter().map(|at| self.meanings[*at]).collect(),
            own: self.own.clone(),
        }
    }

    /// Returns an entry.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        self.columns[column].at(row)
    }

    /// Returns the entries of both factors of a pair whose product is the entry of its column.
    pub(crate) fn parts(&self, row: usize, column: usize) -> [f64; 2] {
        let meaning = self.meanings[column];
        let part = |factor: usize, level: usize| {
            let own = self.own[factor].iter().find(|(own, _)| *own == level);
            own.map_or(1.0, |(_, column)| column.at(row))
        };
        match meaning.term {
            ModelTerm::Pair(one, other) => {
                [part(one, meaning.levels[0]), part(other, meaning.levels[1])]
            }
            ModelTerm::Intercept | ModelTerm::Main(_) | ModelTerm::Square(_) => {
                [self.entry(row, column), 1.0]
            }
        }
    }
}

fn check_factors(factors: &[FactorValues], rows: usize) -> Result<(), ModelMatrixError> {
    for (factor, values) in factors.iter().enumerate() {
        if values.len() != rows {
            let values = values.len();
            return Err(ModelMatrixError::Lengths {
                factor,
                values,
                rows,
            });
        }
        if let FactorValues::Numbers(numbers) = values
            && let Some(row) = numbers.iter().position(|number| !number.is_finite())
        {
            return Err(ModelMatrixError::NotFinite { factor, row });
        }
        if let FactorValues::Levels { levels, count } = values
            && let Some(row) = levels.iter().position(|level| level >= count)
        {
            return Err(ModelMatrixError::Level { factor, row });
        }
    }
    Ok(())
}

/// Returns the columns of a term with their levels; `None` if it does not fit the factors.
fn term_columns(
    term: ModelTerm,
    factors: &[FactorValues],
    own: &[Vec<(usize, ModelColumn)>],
    rows: usize,
) -> Option<Vec<([usize; 2], ModelColumn)>> {
    match term {
        ModelTerm::Intercept => Some(vec![([0, 0], indicator((0..rows).map(|_| true)))]),
        ModelTerm::Main(factor) => {
            let columns = own.get(factor)?.iter();
            let columns = columns.map(|(level, column)| ([*level, 0], column.clone()));
            Some(columns.collect())
        }
        ModelTerm::Square(factor) => match factors.get(factor)? {
            FactorValues::Numbers(numbers) => {
                let squares = numbers.iter().map(|number| number * number).collect();
                Some(vec![([0, 0], ModelColumn::Numbers(squares))])
            }
            FactorValues::Treatment(_) | FactorValues::Levels { .. } => None,
        },
        ModelTerm::Pair(one, other) => {
            if one >= other {
                return None;
            }
            let mut pairs = Vec::new();
            for (first, one) in own.get(one)? {
                let seconds = own.get(other)?.iter();
                pairs
                    .extend(seconds.map(|(second, other)| ([*first, *second], one.product(other))));
            }
            Some(pairs)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_numbers_give_dummies_squares_and_products() {
        let factors = [
            FactorValues::Levels {
                levels: vec![0, 1, 2],
                count: 3,
            },
            FactorValues::Numbers(vec![1.0, 2.0, 4.0]),
        ];
        let terms = [
            ModelTerm::Intercept,
            ModelTerm::Main(0),
            ModelTerm::Main(1),
            ModelTerm::Square(1),
            ModelTerm::Pair(0, 1),
        ];
        let matrix = ModelMatrix::new(&factors, &terms).expect("fits");
        let rows: Vec<Vec<f64>> = (0..3).map(|row| matrix.row(row)).collect();
        assert_eq!(
            rows,
            [
                [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
                [1.0, 1.0, 0.0, 2.0, 4.0, 2.0, 0.0],
                [1.0, 0.0, 1.0, 4.0, 16.0, 0.0, 4.0],
            ]
        );
        assert_eq!(matrix.columns_of(ModelTerm::Pair(0, 1)), [5, 6]);
        assert_eq!(matrix.meanings()[6].levels, [2, 0]);
        assert_eq!(matrix.terms(), terms);
        let main = matrix.with_terms(|term| term.parents().is_empty());
        assert_eq!(main.terms(), ModelTerm::main_effects(2));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let two = FactorValues::treatments(&[0, 1], 2);
        let bad = |terms: &[ModelTerm]| ModelMatrix::new(&two, terms).expect_err("refused");
        let term = ModelTerm::Square(0);
        assert_eq!(
            bad(&[ModelTerm::Intercept, term]),
            ModelMatrixError::Term { term }
        );
        let term = ModelTerm::Pair(1, 1);
        assert_eq!(
            bad(&[ModelTerm::Intercept, term]),
            ModelMatrixError::Term { term }
        );
        assert_eq!(bad(&[ModelTerm::Main(0)]), ModelMatrixError::NoIntercept);
        let numbers = [FactorValues::Numbers(vec![1.0, f64::NAN])];
        assert_eq!(
            ModelMatrix::new(&numbers, &[ModelTerm::Intercept]),
            Err(ModelMatrixError::NotFinite { factor: 0, row: 1 })
        );
        let lengths = [two[0].clone(), FactorValues::Numbers(vec![1.0])];
        assert!(ModelMatrix::new(&lengths, &[ModelTerm::Intercept]).is_err());
    }
}
