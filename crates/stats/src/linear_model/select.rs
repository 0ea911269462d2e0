//! A sparse model: the terms that pay for themselves.

use super::fit::{LinearModelError, check};
use super::matrix::{ModelMatrix, ModelTerm};
use super::sweep::{correlations, sweep};
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};
use crate::number::as_f64;

/// How terms are selected.
#[derive(Debug, Clone, PartialEq)]
pub struct TermSelection {
    /// γ of the extended criterion: 0 is the plain BIC, which among hundreds of candidates lets some in by chance; 1,
    /// the default, hardly any.
    pub strictness: f64,
    /// Terms that are never dropped, such as blocks and covariates; by default only the intercept.
    pub forced: Vec<ModelTerm>,
}

impl Default for TermSelection {
    fn default() -> Self {
        Self {
            strictness: 1.0,
            forced: Vec::new(),
        }
    }
}

/// Selects terms forwards and backwards by the extended Bayesian information criterion, and returns them in the matrix's
/// order, with the intercept.
///
/// EBIC = n ln(RSS / n) + k ln n + 2 γ (m ln M + q ln Q) with k coefficients, m of M main effects and q of Q pairs
/// and squares, forced ones not counted. Each step makes the change that lowers it most: adding a term together with
/// the parents that it lacks, so that an interaction of two factors without effects of their own is found too, or
/// dropping one that no other needs. At most half as many coefficients as runs. A pair always has both of its factors
/// beside it (strong heredity): only then the model does not depend on what "absent" means.
///
/// Selection chooses a description. The p-values of a fit to the selected terms take no account of the choice and are
/// too small: claims need the full model with [`benjamini_hochberg`](crate::benjamini_hochberg), or other runs than
/// those that selected.
///
/// `None` when the responses are all equal.
///
/// # Errors
/// When a response is not finite, or their number is not that of the rows.
///
/// Source: Chen & Chen, *Biometrika* 2008; heredity: Chipman, *Canadian Journal of Statistics* 1996; sweeping:
/// Goodnight, *American Statistician* 1979.
///
/// ```
/// use lapwing_stats::linear_model::{FactorValues, ModelMatrix, ModelTerm, TermSelection, select_terms};
/// let sets: Vec<u128> = (0..64).collect();
/// let matrix = ModelMatrix::new(&FactorValues::treatments(&sets, 6), &ModelTerm::all_pairs(6)).expect("fits");
/// // Factors 1 and 4 save the same cost; some noise.
/// let cost = |set: u128| if set & 0b1_0010 == 0 { 10.0 } else { 4.0 } + (set * 37 % 11) as f64 / 50.0;
/// let responses: Vec<f64> = sets.iter().map(|set| cost(*set)).collect();
/// let selected = select_terms(&matrix, &responses, &TermSelection::default()).expect("finite").expect("varies");
/// let expected = [ModelTerm::Intercept, ModelTerm::Main(1), ModelTerm::Main(4), ModelTerm::Pair(1, 4)];
/// assert_eq!(selected, expected);
/// ```
pub fn select_terms(
    matrix: &ModelMatrix,
    responses: &[f64],
    options: &TermSelection,
) -> Result<Option<Vec<ModelTerm>>, LinearModelError> {
    check(matrix.rows(), responses, None)?;
    let Some(mut search) = TermSearch::new(matrix, responses, options) else {
        return Ok(None);
    };
    search.force();
    while search.step() {}
    let chosen = search.terms.iter().zip(&search.chosen);
    let chosen = chosen.filter(|(_, chosen)| **chosen).map(|(term, _)| *term);
    Ok(Some(
        std::iter::once(ModelTerm::Intercept)
            .chain(chosen)
            .collect(),
    ))
}

/// Less than this of a column, of length 1, is left when it depends on chosen ones.
const DEPENDENT: f64 = 1e-9;

pub(super) struct TermSearch<'a> {
    options: &'a TermSelection,
    rows: usize,
    pub(super) terms: Vec<ModelTerm>,
    /// Of each term, its columns in `swept`.
    pub(super) columns: Vec<Vec<usize>>,
    pub(super) chosen: Vec<bool>,
    /// The correlations of columns and response, swept on the columns of the model.
    pub(super) swept: SquareMatrix,
    is_swept: Vec<bool>,
    criterion: f64,
    main: f64,
    others: f64,
}

/// A possible step: which terms, and the criterion after it.
struct TermChange {
    terms: Vec<usize>,
    is_addition: bool,
    criterion: f64,
}

impl<'a> TermSearch<'a> {
    pub(super) fn new(
        matrix: &ModelMatrix,
        responses: &[f64],
        options: &'a TermSelection,
    ) -> Option<Self> {
        let swept = correlations(matrix, responses)?;
        let terms: Vec<ModelTerm> = matrix.terms().into_iter().skip(1).collect();
        let position = |column: usize| column - 1;
        let columns: Vec<Vec<usize>> = terms
            .iter()
            .map(|term| matrix.columns_of(*term).into_iter().map(position).collect())
            .collect();
        let count = |is_main: bool| {
            let own = |term: &&ModelTerm| {
                term.parents().is_empty() == is_main && !options.forced.contains(term)
            };
            as_f64(terms.iter().filter(own).count()).max(1.0)
        };
        Some(Self {
            options,
            rows: matrix.rows(),
            main: count(true).ln(),
            others: count(false).ln(),
            chosen: vec![false; terms.len()],
            is_swept: vec![false; swept.size - 1],
            terms,
            columns,
            swept,
            criterion: f64::INFINITY,
        })
    }

    /// The residual sum of squares as a share of the total.
    pub(super) fn residual(&self) -> f64 {
        self.swept.at(self.swept.size - 1, self.swept.size - 1)
    }

    pub(super) fn coefficients(&self) -> usize {
        1 + self.is_swept.iter().filter(|swept| **swept).count()
    }

    /// The criterion for a residual share, a number of coefficients and a change of the terms.
    fn score(
        &self,
        residual: f64,
        coefficients: usize,
        change: &[usize],
        is_addition: bool,
    ) -> f64 {
        let mut penalty = 0.0;
        for (at, term) in self.terms.iter().enumerate() {
            let stays = if change.contains(&at) {
                is_addition
            } else {
                self.chosen[at]
            };
            if stays && !self.options.forced.contains(term) {
                penalty += if term.parents().is_empty() {
                    self.main
                } else {
                    self.others
                };
            }
        }
        let runs = as_f64(self.rows);
        runs * residual.max(1e-300).ln()
            + as_f64(coefficients) * runs.ln()
            + 2.0 * self.options.strictness * penalty
    }

    fn force(&mut self) {
        for at in 0..self.terms.len() {
            if self.options.forced.contains(&self.terms[at]) {
                self.choose(at);
            }
        }
        self.criterion = self.score(self.residual(), self.coefficients(), &[], true);
    }

    /// Makes the change that lowers the criterion most; returns whether there was one.
    fn step(&mut self) -> bool {
        let additions = (0..self.terms.len()).filter(|at| !self.chosen[*at]);
        let additions = additions.filter_map(|at| self.addition(at));
        let removals = (0..self.terms.len()).filter(|at| self.is_removable(*at));
        let removals = removals.filter_map(|at| self.removal(at));
        let best = additions
            .chain(removals)
            .min_by(|one, other| one.criterion.total_cmp(&other.criterion))
            .filter(|best| best.criterion <= self.criterion - 1e-9);
        let Some(best) = best else { return false };
        for term in &best.terms {
            self.chosen[*term] = best.is_addition;
            if best.is_addition {
                self.sweep_in(*term);
            } else {
                self.sweep_out(*term);
            }
        }
        self.criterion = best.criterion;
        true
    }

    /// Returns the addition of a term, with the parents that it lacks before it.
    fn addition(&self, term: usize) -> Option<TermChange> {
        let terms = self.with_parents(term);
        let columns: Vec<usize> = terms
            .iter()
            .flat_map(|term| self.columns[*term].clone())
            .collect();
        let (factor, cross) = self.block(&columns, 1.0);
        let coefficients = self.coefficients() + factor.rank();
        if factor.rank() == 0 || 2 * coefficients > self.rows {
            return None;
        }
        let mut solved: Vec<f64> = factor.kept.iter().map(|at| cross[*at]).collect();
        factor.solve_lower(&mut solved);
        let residual = self.residual() - dot(&solved, &solved);
        Some(TermChange {
            criterion: self.score(residual, coefficients, &terms, true),
            terms,
            is_addition: true,
        })
    }

    /// Returns the parents that a term lacks, and the term.
    pub(super) fn with_parents(&self, term: usize) -> Vec<usize> {
        let parents = self.terms[term].parents();
        let mut terms: Vec<usize> = parents
            .iter()
            .filter_map(|parent| self.terms.iter().position(|other| other == parent))
            .filter(|at| !self.chosen[*at])
            .collect();
        terms.push(term);
        terms
    }

    /// Returns what a term takes of the residual beside the parents that it lacks, how many columns it has there, and
    /// the residual and the number of coefficients with all of them.
    pub(super) fn gain(&self, term: usize) -> Option<(f64, usize, f64, usize)> {
        let terms = self.with_parents(term);
        let columns: Vec<usize> = (terms.iter())
            .flat_map(|term| self.columns[*term].clone())
            .collect();
        let (factor, cross) = self.block(&columns, 1.0);
        let mut solved: Vec<f64> = factor.kept.iter().map(|at| cross[*at]).collect();
        factor.solve_lower(&mut solved);
        let first = columns.len() - self.columns[term].len();
        let own = factor
            .kept
            .iter()
            .zip(&solved)
            .filter(|(at, _)| **at >= first);
        let own: Vec<f64> = own.map(|(_, value)| *value).collect();
        (!own.is_empty()).then(|| {
            let residual = (self.residual() - dot(&solved, &solved)).max(0.0);
            let coefficients = self.coefficients() + factor.rank();
            (dot(&own, &own), own.len(), residual, coefficients)
        })
    }

    /// Returns what the residual gains without a term of the model, and the number of its columns.
    pub(super) fn loss(&self, term: usize) -> Option<(f64, usize)> {
        let swept = |column: &&usize| self.is_swept[**column];
        let columns: Vec<usize> = self.columns[term].iter().filter(swept).copied().collect();
        let (factor, mut cross) = self.block(&columns, -1.0);
        if factor.rank() < columns.len() {
            return None;
        }
        factor.solve_lower(&mut cross);
        Some((dot(&cross, &cross), columns.len()))
    }

    fn removal(&self, term: usize) -> Option<TermChange> {
        let (loss, columns) = self.loss(term)?;
        let residual = self.residual() + loss;
        Some(TermChange {
            criterion: self.score(residual, self.coefficients() - columns, &[term], false),
            terms: vec![term],
            is_addition: false,
        })
    }

    /// Returns the factor of the block of some columns, and their entries for the response.
    fn block(&self, columns: &[usize], sign: f64) -> (CholeskyFactor, Vec<f64>) {
        let block = SquareMatrix::symmetric(columns.len(), |one, other| {
            sign * self.swept.at(columns[one], columns[other])
        });
        let response = self.swept.row(self.swept.size - 1);
        let cross = columns.iter().map(|column| response[*column]).collect();
        let scales = vec![1.0; columns.len()];
        (CholeskyFactor::new(&block, &scales, DEPENDENT), cross)
    }

    fn is_removable(&self, term: usize) -> bool {
        let own = self.terms[term];
        self.chosen[term] && !self.options.forced.contains(&own) && !self.is_needed(term)
    }

    /// Returns whether another term of the model has this one as a parent.
    pub(super) fn is_needed(&self, term: usize) -> bool {
        let own = self.terms[term];
        let needs = |child: usize| self.chosen[child] && self.terms[child].parents().contains(&own);
        (0..self.terms.len()).any(needs)
    }

    /// Returns the number of runs.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes a term into the model.
    pub(super) fn choose(&mut self, term: usize) {
        self.chosen[term] = true;
        self.sweep_in(term);
    }

    /// Takes a term out of the model.
    pub(super) fn drop(&mut self, term: usize) {
        self.chosen[term] = false;
        self.sweep_out(term);
    }

    fn sweep_in(&mut self, term: usize) {
        for column in self.columns[term].clone() {
            if !self.is_swept[column] && self.swept.at(column, column) > DEPENDENT {
                sweep(&mut self.swept, column, 1.0);
                self.is_swept[column] = true;
            }
        }
    }

    fn sweep_out(&mut self, term: usize) {
        for column in self.columns[term].clone() {
            if self.is_swept[column] {
                sweep(&mut self.swept, column, -1.0);
                self.is_swept[column] = false;
            }
        }
    }
}
