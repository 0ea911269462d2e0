//! The model that a design is made for, in a coding in which a balanced design is orthogonal.

use crate::cholesky::{SquareMatrix, dot};
use crate::linear_model::ModelTerm;
use crate::number::as_f64;

/// What the levels of a factor are.
#[derive(Debug, Clone, PartialEq)]
pub enum DesignFactor {
    /// So many levels without order.
    Levels(usize),
    /// Numbers, one per level.
    Numbers(Vec<f64>),
}

impl DesignFactor {
    /// Returns the number of levels.
    pub fn count(&self) -> usize {
        match self {
            Self::Levels(count) => *count,
            Self::Numbers(values) => values.len(),
        }
    }

    /// Returns the entries of each level in the factor's columns.
    ///
    /// Levels: Helmert contrasts of which each column sums to 0 and has a mean square of 1; −1, +1 for two. Numbers:
    /// from −1 to +1.
    fn coded(&self) -> Vec<Vec<f64>> {
        match self {
            Self::Levels(count) => (0..*count).map(|level| helmert(level, *count)).collect(),
            Self::Numbers(values) => {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let half = 0.5 * (most - least);
                let scaled = |value: &f64| {
                    if half > 0.0 {
                        vec![(value - least) / half - 1.0]
                    } else {
                        vec![0.0]
                    }
                };
                values.iter().map(scaled).collect()
            }
        }
    }
}

fn helmert(level: usize, count: usize) -> Vec<f64> {
    let entry = |column: usize| {
        let scale = (as_f64(count) / as_f64(column * (column + 1))).sqrt();
        match level.cmp(&column) {
            std::cmp::Ordering::Less => -scale,
            std::cmp::Ordering::Equal => scale * as_f64(column),
            std::cmp::Ordering::Greater => 0.0,
        }
    };
    (1..count).map(entry).collect()
}

/// A model for which a design is made: its factors, and the terms to estimate.
///
/// Coded so that a full factorial of levels is orthogonal with Xᵀ X = N I, whose D-efficiency is 100 %.
///
/// ```
/// use lapwing_stats::design::{DesignFactor, DesignModel};
/// use lapwing_stats::linear_model::ModelTerm;
/// let model = DesignModel::new(&[DesignFactor::Levels(2), DesignFactor::Levels(2)], &ModelTerm::all_pairs(2)).expect("fits");
/// assert_eq!(model.row(&[0, 1]), [1.0, -1.0, 1.0, -1.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DesignModel {
    coded: Vec<Vec<Vec<f64>>>,
    terms: Vec<ModelTerm>,
    column_terms: Vec<ModelTerm>,
    /// Of each factor, the terms in which it is, with their first columns.
    of_factor: Vec<Vec<(ModelTerm, usize)>>,
}

impl DesignModel {
    /// Returns the model; `None` when a term names a factor that is not there, the same one twice, or the square of
    /// one without numbers.
    pub fn new(factors: &[DesignFactor], terms: &[ModelTerm]) -> Option<Self> {
        let fits = |term: &ModelTerm| match *term {
            ModelTerm::Intercept => true,
            ModelTerm::Main(factor) => factor < factors.len(),
            ModelTerm::Square(factor) => {
                matches!(factors.get(factor), Some(DesignFactor::Numbers(_)))
            }
            ModelTerm::Pair(one, other) => one < other && other < factors.len(),
        };
        if factors.iter().any(|factor| factor.count() == 0) || !terms.iter().all(fits) {
            return None;
        }
        let coded: Vec<Vec<Vec<f64>>> = factors.iter().map(DesignFactor::coded).collect();
        let width = |factor: usize| coded[factor][0].len();
        let columns = |term: &ModelTerm| match *term {
            ModelTerm::Intercept | ModelTerm::Square(_) => 1,
            ModelTerm::Main(factor) => width(factor),
            ModelTerm::Pair(one, other) => width(one) * width(other),
        };
        let column_terms = terms
            .iter()
            .flat_map(|term| vec![*term; columns(term)])
            .collect();
        let mut of_factor = vec![Vec::new(); factors.len()];
        let mut first = 0;
        for term in terms {
            match *term {
                ModelTerm::Intercept => {}
                ModelTerm::Main(factor) | ModelTerm::Square(factor) => {
                    of_factor[factor].push((*term, first));
                }
                ModelTerm::Pair(one, other) => {
                    of_factor[one].push((*term, first));
                    of_factor[other].push((*term, first));
                }
            }
            first += columns(term);
        }
        Some(Self {
            column_terms,
            of_factor,
            coded,
            terms: terms.to_vec(),
        })
    }

    /// Returns the model of treatments with these terms; `None` as for [`Self::new`].
    pub fn treatments(factors: usize, terms: &[ModelTerm]) -> Option<Self> {
        Self::new(&vec![DesignFactor::Levels(2); factors], terms)
    }

    /// Returns the number of levels of each factor.
    pub fn levels(&self) -> Vec<usize> {
        self.coded.iter().map(Vec::len).collect()
    }

    /// Returns the term of each column.
    pub fn column_terms(&self) -> &[ModelTerm] {
        &self.column_terms
    }

    /// Returns the entries of a run in all columns.
    pub fn row(&self, run: &[usize]) -> Vec<f64> {
        let own = |factor: usize| &self.coded[factor][run[factor]];
        let mut row = Vec::with_capacity(self.column_terms.len());
        for term in &self.terms {
            match *term {
                ModelTerm::Intercept => row.push(1.0),
                ModelTerm::Main(factor) => row.extend(own(factor)),
                ModelTerm::Square(factor) => {
                    row.extend(own(factor).iter().map(|value| value * value))
                }
                ModelTerm::Pair(one, other) => {
                    for a in own(one) {
                        row.extend(own(other).iter().map(|b| a * b));
                    }
                }
            }
        }
        row
    }

    /// Collects the entries of a run's row that another level of a factor changes, with the differences.
    pub(super) fn changes(
        &self,
        run: &[usize],
        factor: usize,
        level: usize,
        changes: &mut Vec<(usize, f64)>,
    ) {
        changes.clear();
        let (old, new) = (&self.coded[factor][run[factor]], &self.coded[factor][level]);
        let mut push = |at: usize, difference: f64| {
            if difference != 0.0 {
                changes.push((at, difference));
            }
        };
        for (term, first) in &self.of_factor[factor] {
            match *term {
                ModelTerm::Intercept => {}
                ModelTerm::Main(_) => {
                    for (at, (old, new)) in old.iter().zip(new).enumerate() {
                        push(first + at, new - old);
                    }
                }
                ModelTerm::Square(_) => {
                    for (at, (old, new)) in old.iter().zip(new).enumerate() {
                        push(first + at, new * new - old * old);
                    }
                }
                ModelTerm::Pair(one, other) => {
                    let width = self.coded[other][0].len();
                    let partner = if factor == one { other } else { one };
                    for (own, (old, new)) in old.iter().zip(new).enumerate() {
                        for (its, value) in self.coded[partner][run[partner]].iter().enumerate() {
                            let (row, column) = if factor == one {
                                (own, its)
                            } else {
                                (its, own)
                            };
                            push(first + row * width + column, (new - old) * value);
                        }
                    }
                }
            }
        }
    }

    /// Returns Xᵀ X.
    pub(super) fn information(&self, runs: &[Vec<usize>]) -> SquareMatrix {
        let rows: Vec<Vec<f64>> = runs.iter().map(|run| self.row(run)).collect();
        let column = |at: usize| -> Vec<f64> { rows.iter().map(|row| row[at]).collect() };
        let columns: Vec<Vec<f64>> = (0..self.column_terms.len()).map(column).collect();
        SquareMatrix::symmetric(columns.len(), |one, other| {
            dot(&columns[one], &columns[other])
        })
    }
}
