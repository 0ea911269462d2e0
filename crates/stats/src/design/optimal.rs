//! Optimal designs: the runs that estimate a stated model best.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::DesignModel;
use super::quadratic_form::{QuadraticForm, changed_entries};
use super::space::DesignSpace;
use crate::Seed;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};
use crate::linear_model::ModelTerm;
use crate::number::as_f64;
use crate::subset::draw_below;

/// Up to so many feasible runs all are candidates; with more, one factor of a run is exchanged at a time.
const MOST_CANDIDATES: usize = 20_000;

/// Keeps the information of a start invertible until enough runs are in.
const RIDGE: f64 = 1e-6;

/// How an optimal design is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimalDesignOptions {
    /// Runs that are measured already: they count, and stay.
    pub existing: Vec<Vec<usize>>,
    /// Terms that may matter but need not be estimable, such as pairs when there are fewer runs than columns: as if
    /// the coefficient was known to be 0 ± σ.
    pub potential: Vec<ModelTerm>,
    /// Random starts, by default 10; the best result is kept.
    pub starts: u64,
}

impl Default for OptimalDesignOptions {
    fn default() -> Self {
        Self {
            existing: Vec::new(),
            potential: Vec::new(),
            starts: 10,
        }
    }
}

/// What prevents an optimal design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OptimalDesignError {
    /// The model and the space have different factors.
    #[error("the model and the space differ in their factors")]
    Factors,
    /// Fewer runs than coefficients.
    #[error("{columns} coefficients need at least as many runs, and there are {runs}")]
    TooFewRuns {
        /// New and existing runs.
        runs: usize,
        /// Columns of the terms that are not potential.
        columns: usize,
    },
    /// No combination of levels is feasible.
    #[error("no run is feasible")]
    Infeasible,
    /// The feasible runs cannot tell the terms apart.
    #[error("no choice of feasible runs estimates all terms")]
    NotEstimable,
}

/// Returns so many new runs that estimate a model best together with the existing ones, D-optimal (|Xᵀ X| is largest)
/// as far as the search finds it. They are in no particular order, and one may occur several times.
///
/// With up to 20,000 feasible runs by exchange of runs (Fedorov; a run leaves, the best candidate enters), with more
/// by exchange of single factors (Meyer & Nachtsheim), from random starts until nothing improves. The best candidate
/// has the largest d(x) = xᵀ (Xᵀ X)⁻¹ x after the removal, which maximises Fedorov's d(in) − [d(in) d(out) −
/// d(in, out)²] − d(out). Inverses are updated by rank one.
///
/// The same seed gives the same design.
///
/// # Errors
/// When runs are too few, none is feasible, or the feasible ones cannot tell the terms apart.
///
/// Source: Fedorov, *Theory of Optimal Experiments* 1972; Cook & Nachtsheim, *Technometrics* 1980; Meyer &
/// Nachtsheim, *Technometrics* 1995; potential terms: DuMouchel & Jones, *Technometrics* 1994.
///
/// ```
/// use lapwing_stats::Seed;
/// use lapwing_stats::design::{DesignModel, DesignSpace, OptimalDesignOptions, d_efficiency, optimal_design};
/// use lapwing_stats::linear_model::ModelTerm;
/// // Seven main effects in eight runs: an orthogonal design exists.
/// let model = DesignModel::treatments(7, &ModelTerm::main_effects(7)).expect("fits");
/// let runs = optimal_design(&DesignSpace::treatments(7), &model, 8, &OptimalDesignOptions::default(), Seed(7));
/// assert!((d_efficiency(&model, &runs.expect("feasible")) - 100.0).abs() < 1e-6);
/// ```
pub fn optimal_design(
    space: &DesignSpace,
    model: &DesignModel,
    runs: usize,
    options: &OptimalDesignOptions,
    seed: Seed,
) -> Result<Vec<Vec<usize>>, OptimalDesignError> {
    let factors = space.levels().len();
    let is_known = |run: &Vec<usize>| run.len() == factors;
    if model.levels() != space.levels() || !options.existing.iter().all(is_known) {
        return Err(OptimalDesignError::Factors);
    }
    let needed = |term: &&ModelTerm| !options.potential.contains(term);
    let columns = model.column_terms().iter().filter(needed).count();
    let all = runs + options.existing.len();
    if all < columns {
        return Err(OptimalDesignError::TooFewRuns { runs: all, columns });
    }
    let search = DesignSearch::new(space, model, runs, options, seed)?;
    let starts = (0..options.starts.max(1)).map(|start| search.improved(start));
    let best = starts.max_by(|(one, _), (other, _)| one.total_cmp(other));
    let chosen = best.map(|(_, runs)| runs).unwrap_or_default();
    let all = [options.existing.as_slice(), &chosen].concat();
    if options.potential.is_empty() && CholeskyFactor::definite(&model.information(&all)).is_none()
    {
        return Err(OptimalDesignError::NotEstimable);
    }
    Ok(chosen)
}

struct DesignSearch<'a> {
    space: &'a DesignSpace,
    model: &'a DesignModel,
    count: usize,
    seed: Seed,
    /// The feasible runs, or a sample of them.
    candidates: Vec<Vec<usize>>,
    rows: Vec<Vec<f64>>,
    is_complete: bool,
    /// Information of existing runs, what is known of potential terms, and the ridge.
    base: SquareMatrix,
}

impl<'a> DesignSearch<'a> {
    fn new(
        space: &'a DesignSpace,
        model: &'a DesignModel,
        count: usize,
        options: &OptimalDesignOptions,
        seed: Seed,
    ) -> Result<Self, OptimalDesignError> {
        let all = space.feasible_runs(MOST_CANDIDATES);
        let is_complete = all.is_some();
        let mut random = seed.block(u64::MAX);
        let candidates: Vec<Vec<usize>> = all.unwrap_or_else(|| {
            (0..2_000)
                .filter_map(|_| space.random_run(&mut random))
                .collect()
        });
        if candidates.is_empty() {
            return Err(OptimalDesignError::Infeasible);
        }
        let mut base = model.information(&options.existing);
        for (at, term) in model.column_terms().iter().enumerate() {
            let known = if options.potential.contains(term) {
                1.0
            } else {
                RIDGE
            };
            base.set(at, at, base.at(at, at) + known);
        }
        Ok(Self {
            space,
            model,
            count,
            seed,
            rows: candidates.iter().map(|run| model.row(run)).collect(),
            candidates,
            is_complete,
            base,
        })
    }

    /// Returns the value of the criterion, the larger the better, and the runs of a start.
    fn improved(&self, start: u64) -> (f64, Vec<Vec<usize>>) {
        let mut random = self.seed.block(start);
        let runs = if self.is_complete {
            self.exchange_runs(&mut random)
        } else {
            self.exchange_factors(&mut random)
        };
        (self.factor(&runs).log_determinant(), runs)
    }

    /// Returns the factor of base + Xᵀ X.
    fn factor(&self, runs: &[Vec<usize>]) -> CholeskyFactor {
        let mut information = self.model.information(runs);
        for (entry, base) in information.entries.iter_mut().zip(&self.base.entries) {
            *entry += base;
        }
        CholeskyFactor::new(&information, &vec![1.0; information.size], 0.0)
    }

    fn exchange_runs(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<usize>> {
        let mut chosen: Vec<usize> = (0..self.count)
            .map(|_| draw_below(self.rows.len(), random))
            .collect();
        let runs = |chosen: &[usize]| -> Vec<Vec<usize>> {
            chosen
                .iter()
                .map(|at| self.candidates[*at].clone())
                .collect()
        };
        for _ in 0..100 {
            let factor = self.factor(&runs(&chosen));
            let (mut inverse, before) = (factor.inverse(), factor.log_determinant());
            let mut spreads: Vec<f64> = self.rows.iter().map(|row| spread(&inverse, row)).collect();
            for position in &mut chosen {
                self.move_run(&mut inverse, &mut spreads, *position, -1.0);
                let (mut best, mut most) = (*position, spreads[*position] * (1.0 + 1e-9));
                for (candidate, spread) in spreads.iter().enumerate() {
                    if *spread > most {
                        (best, most) = (candidate, *spread);
                    }
                }
                *position = best;
                self.move_run(&mut inverse, &mut spreads, best, 1.0);
            }
            let after = self.factor(&runs(&chosen)).log_determinant();
            if after <= before + 1e-9 * before.abs().max(1.0) {
                break;
            }
        }
        runs(&chosen)
    }

    /// Adds a candidate to the inverse and all d(x), or removes it with −1.
    fn move_run(
        &self,
        inverse: &mut SquareMatrix,
        spreads: &mut [f64],
        candidate: usize,
        sign: f64,
    ) {
        let direction = inverse.times(&self.rows[candidate]);
        let divisor = 1.0 + sign * spreads[candidate];
        update(inverse, &direction, sign / divisor);
        for (own, row) in spreads.iter_mut().zip(&self.rows) {
            *own -= sign * dot(row, &direction).powi(2) / divisor;
        }
    }

    fn exchange_factors(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<usize>> {
        let mut runs: Vec<Vec<usize>> = (0..self.count)
            .map(|_| self.candidates[draw_below(self.candidates.len(), random)].clone())
            .collect();
        for _ in 0..30 {
            let factor = self.factor(&runs);
            let (mut inverse, before) = (factor.inverse(), factor.log_determinant());
            for run in &mut runs {
                let row = self.model.row(run);
                let direction = inverse.times(&row);
                let divisor = 1.0 - dot(&row, &direction);
                update(&mut inverse, &direction, -1.0 / divisor);
                self.improve(run, &inverse, random);
                let row = self.model.row(run);
                let direction = inverse.times(&row);
                let divisor = 1.0 + dot(&row, &direction);
                update(&mut inverse, &direction, 1.0 / divisor);
            }
            let after = self.factor(&runs).log_determinant();
            if after <= before + 1e-6 * before.abs().max(1.0) {
                break;
            }
        }
        runs
    }

    /// Changes a run level by level, and looks at some other feasible runs, as long as d(x) grows.
    fn improve(
        &self,
        run: &mut Vec<usize>,
        inverse: &SquareMatrix,
        random: &mut Xoshiro256PlusPlus,
    ) {
        let mut row = self.model.row(run);
        let mut form = QuadraticForm::new(inverse, &row);
        let mut most = form.value * (1.0 + 1e-9);
        let mut consider = |run: &mut Vec<usize>, other: Vec<usize>| {
            let new = self.model.row(&other);
            let change = changed_entries(&row, &new);
            let value = form.after(&change);
            if value > most {
                form.apply(&change);
                (*run, row, most) = (other, new, value);
            }
        };
        // Constraints can make a run that no single change improves.
        let tries = if self.space.is_unconstrained() { 0 } else { 4 };
        for _ in 0..tries {
            if let Some(other) = self.space.random_run(random) {
                consider(run, other);
            }
        }
        for (factor, count) in self.space.levels().iter().enumerate() {
            for level in 0..*count {
                let mut other = run.clone();
                other[factor] = level;
                if level != run[factor] && self.space.is_feasible(&other) {
                    consider(run, other);
                }
            }
        }
    }
}

fn efficiency(factor: &CholeskyFactor, runs: usize) -> f64 {
    100.0 * (factor.log_determinant() / as_f64(factor.rank())).exp() / as_f64(runs)
}

/// Returns the D-efficiency of runs for a model, 100 |Xᵀ X|^(1/p) / N in percent; 0 if they cannot estimate it.
///
/// ```
/// use lapwing_stats::design::{DesignModel, d_efficiency};
/// use lapwing_stats::linear_model::ModelTerm;
/// let model = DesignModel::treatments(2, &ModelTerm::main_effects(2)).expect("fits");
/// let one_at_a_time = [vec![0, 0], vec![1, 0], vec![0, 1]];
/// assert!((d_efficiency(&model, &one_at_a_time) - 84.0).abs() < 0.1);
/// ```
pub fn d_efficiency(model: &DesignModel, runs: &[Vec<usize>]) -> f64 {
    CholeskyFactor::definite(&model.information(runs))
        .map_or(0.0, |factor| efficiency(&factor, runs.len()))
}

/// xᵀ A x.
fn spread(matrix: &SquareMatrix, row: &[f64]) -> f64 {
    (0..matrix.size)
        .map(|at| row[at] * dot(matrix.row(at), row))
        .sum()
}

/// A − f u uᵀ.
fn update(matrix: &mut SquareMatrix, direction: &[f64], factor: f64) {
    let size = matrix.size;
    for (row, own) in direction.iter().enumerate() {
        let scaled = factor * own;
        for (entry, other) in matrix.entries[row * size..(row + 1) * size]
            .iter_mut()
            .zip(direction)
        {
            *entry -= scaled * other;
        }
    }
}
