//! Optimal designs: the runs that estimate a stated model best.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::{DesignModel, information};
use super::optimal_options::{
    DesignCriterion, OptimalDesign, OptimalDesignError, OptimalDesignOptions,
};
use super::quadratic_form::{QuadraticForm, changed_entries};
use super::space::{DesignSpace, draw};
use crate::Seed;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};
use crate::number::as_f64;

/// Up to so many feasible runs all are candidates; with more, one factor of a run is exchanged at a time.
const MOST_CANDIDATES: usize = 20_000;

/// Keeps the information of a start invertible until enough runs are in.
const RIDGE: f64 = 1e-6;

/// Returns a design of so many new runs for a model, D- or I-optimal as far as the search finds it.
///
/// With up to 20,000 feasible runs by exchange of runs (Fedorov; a run leaves, the best candidate enters), with more
/// by exchange of single factors (Meyer & Nachtsheim), from random starts until nothing improves. For D the best
/// candidate has the largest d(x) = xᵀ (Xᵀ X)⁻¹ x after the removal, which maximises Fedorov's d(in) − [d(in) d(out)
/// − d(in, out)²] − d(out); for I the largest xᵀ F x / (1 + d(x)) with F = (Xᵀ X)⁻¹ B (Xᵀ X)⁻¹ and B the mean of x xᵀ
/// over the candidates. Inverses are updated by rank one.
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
/// use lapwing_stats::design::{DesignModel, DesignSpace, OptimalDesignOptions, optimal_design};
/// use lapwing_stats::linear_model::ModelTerm;
/// // Seven main effects in eight runs: an orthogonal design exists.
/// let model = DesignModel::treatments(7, &ModelTerm::main_effects(7)).expect("fits");
/// let design = optimal_design(&DesignSpace::treatments(7), &model, 8, &OptimalDesignOptions::default(), Seed(7));
/// assert!((design.expect("feasible").d_efficiency - 100.0).abs() < 1e-6);
/// ```
pub fn optimal_design(
    space: &DesignSpace,
    model: &DesignModel,
    runs: usize,
    options: &OptimalDesignOptions,
    seed: Seed,
) -> Result<OptimalDesign, OptimalDesignError> {
    if model.levels() != space.levels()
        || !options
            .existing
            .iter()
            .all(|run| run.len() == space.levels().len())
    {
        return Err(OptimalDesignError::Factors);
    }
    let needed = model
        .column_terms()
        .iter()
        .filter(|term| !options.potential.contains(term))
        .count();
    let all = runs + options.existing.len();
    if all < needed {
        return Err(OptimalDesignError::TooFewRuns {
            runs: all,
            columns: needed,
        });
    }
    let search = DesignSearch::new(space, model, runs, options, seed)?;
    let starts =
        (0..u64::try_from(options.starts.max(1)).unwrap_or(1)).map(|start| search.of_start(start));
    let best = starts.max_by(|one, other| one.value.total_cmp(&other.value));
    let chosen = best.map(|best| best.runs).unwrap_or_default();
    search.described(chosen)
}

struct DesignSearch<'a> {
    space: &'a DesignSpace,
    model: &'a DesignModel,
    options: &'a OptimalDesignOptions,
    count: usize,
    seed: Seed,
    /// The feasible runs, or a sample of them.
    candidates: Vec<Vec<usize>>,
    rows: Vec<Vec<f64>>,
    is_complete: bool,
    /// Information of existing runs, what is known of potential terms, and the ridge.
    base: SquareMatrix,
    /// The mean of x xᵀ over the candidates.
    moments: SquareMatrix,
}

/// Runs with the value of the criterion, larger being better.
struct ValuedDesign {
    runs: Vec<Vec<usize>>,
    value: f64,
}

impl<'a> DesignSearch<'a> {
    fn new(
        space: &'a DesignSpace,
        model: &'a DesignModel,
        count: usize,
        options: &'a OptimalDesignOptions,
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
        let rows: Vec<Vec<f64>> = candidates.iter().map(|run| model.row(run)).collect();
        let mut moments = information(&rows, model.column_terms().len());
        for entry in &mut moments.entries {
            *entry /= as_f64(rows.len());
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
            options,
            count,
            seed,
            candidates,
            rows,
            is_complete,
            base,
            moments,
        })
    }

    fn of_start(&self, start: u64) -> ValuedDesign {
        let mut random = self.seed.block(start);
        let runs = if self.is_complete {
            self.exchange_runs(&mut random)
        } else {
            self.exchange_factors(&mut random)
        };
        let value = self.value(&self.inverse(&runs));
        ValuedDesign { runs, value }
    }

    /// (base + Xᵀ X)⁻¹ with its factor.
    fn inverse(&self, runs: &[Vec<usize>]) -> (SquareMatrix, f64) {
        let mut whole = self.base.clone();
        for (entry, own) in whole
            .entries
            .iter_mut()
            .zip(&self.model.information(runs).entries)
        {
            *entry += own;
        }
        let scales = vec![1.0; whole.size];
        let factor = CholeskyFactor::new(&whole, &scales, 0.0);
        (factor.inverse(), factor.log_determinant())
    }

    fn value(&self, (inverse, log_determinant): &(SquareMatrix, f64)) -> f64 {
        match self.options.criterion {
            DesignCriterion::Determinant => *log_determinant,
            DesignCriterion::PredictionVariance => -dot(&inverse.entries, &self.moments.entries),
        }
    }

    /// What is multiplied from both sides to get the numerator of the gain: F for I; for D the gain needs none.
    fn numerator(&self, inverse: &SquareMatrix) -> Option<SquareMatrix> {
        match self.options.criterion {
            DesignCriterion::Determinant => None,
            DesignCriterion::PredictionVariance => {
                Some(product(&product(inverse, &self.moments), inverse))
            }
        }
    }

    fn exchange_runs(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<usize>> {
        let mut chosen: Vec<usize> = (0..self.count)
            .map(|_| draw(random, self.rows.len()))
            .collect();
        let runs = |chosen: &[usize]| -> Vec<Vec<usize>> {
            chosen
                .iter()
                .map(|at| self.candidates[*at].clone())
                .collect()
        };
        for _ in 0..100 {
            let (mut inverse, before) = self.inverse(&runs(&chosen));
            let before = self.value(&(inverse.clone(), before));
            let mut spreads: Vec<f64> = self.rows.iter().map(|row| spread(&inverse, row)).collect();
            for own in &mut chosen {
                self.move_run(&mut inverse, &mut spreads, *own, -1.0);
                let numerator = self.numerator(&inverse);
                let gain = |candidate: usize| match &numerator {
                    None => spreads[candidate],
                    Some(numerator) => {
                        spread(numerator, &self.rows[candidate]) / (1.0 + spreads[candidate])
                    }
                };
                let (mut best, mut most) = (*own, gain(*own) * (1.0 + 1e-9));
                for candidate in 0..self.rows.len() {
                    let other = gain(candidate);
                    if other > most {
                        (best, most) = (candidate, other);
                    }
                }
                *own = best;
                self.move_run(&mut inverse, &mut spreads, best, 1.0);
            }
            let after = self.value(&self.inverse(&runs(&chosen)));
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
            .map(|_| self.candidates[draw(random, self.candidates.len())].clone())
            .collect();
        for _ in 0..30 {
            let (mut inverse, before) = self.inverse(&runs);
            let before = self.value(&(inverse.clone(), before));
            for run in &mut runs {
                let row = self.model.row(run);
                let direction = inverse.times(&row);
                let divisor = 1.0 - dot(&row, &direction);
                update(&mut inverse, &direction, -1.0 / divisor);
                let numerator = self.numerator(&inverse);
                self.improve(run, &inverse, numerator.as_ref(), random);
                let direction = inverse.times(&self.model.row(run));
                let divisor = 1.0 + dot(&self.model.row(run), &direction);
                update(&mut inverse, &direction, 1.0 / divisor);
            }
            let after = self.value(&self.inverse(&runs));
            if after <= before + 1e-6 * before.abs().max(1.0) {
                break;
            }
        }
        runs
    }

    /// Changes a run level by level, and looks at some other feasible runs, as long as the gain grows.
    fn improve(
        &self,
        run: &mut Vec<usize>,
        inverse: &SquareMatrix,
        numerator: Option<&SquareMatrix>,
        random: &mut Xoshiro256PlusPlus,
    ) {
        let mut row = self.model.row(run);
        let mut own = QuadraticForm::new(inverse, &row);
        let mut above = numerator.map(|numerator| QuadraticForm::new(numerator, &row));
        let gain = |own: f64, above: Option<f64>| above.map_or(own, |above| above / (1.0 + own));
        let mut most = gain(own.value, above.as_ref().map(|form| form.value)) * (1.0 + 1e-9);
        // Constraints can make a run that no single change improves.
        let tries = if self.space.is_unconstrained() { 0 } else { 4 };
        let others: Vec<Vec<usize>> = (0..tries)
            .filter_map(|_| self.space.random_run(random))
            .collect();
        let single = (0..run.len())
            .flat_map(|factor| (0..self.space.levels()[factor]).map(move |level| (factor, level)));
        let single: Vec<(usize, usize)> = single.collect();
        let mut consider = |run: &mut Vec<usize>, other: Vec<usize>| {
            let new = self.model.row(&other);
            let change = changed_entries(&row, &new);
            let value = gain(
                own.after(&change),
                above.as_ref().map(|form| form.after(&change)),
            );
            if value > most {
                own.apply(&change);
                if let Some(form) = &mut above {
                    form.apply(&change);
                }
                (*run, row, most) = (other, new, value);
            }
        };
        for other in others {
            consider(run, other);
        }
        for (factor, level) in single {
            let mut other = run.clone();
            other[factor] = level;
            if level != run[factor] && self.space.is_feasible(&other) {
                consider(run, other);
            }
        }
    }

    fn described(&self, runs: Vec<Vec<usize>>) -> Result<OptimalDesign, OptimalDesignError> {
        let all = [self.options.existing.clone(), runs.clone()].concat();
        let information = self.model.information(&all);
        let factor = CholeskyFactor::definite(&information);
        if factor.is_none() && self.options.potential.is_empty() {
            return Err(OptimalDesignError::NotEstimable);
        }
        let mean = |factor: &CholeskyFactor| dot(&factor.inverse().entries, &self.moments.entries);
        Ok(OptimalDesign {
            d_efficiency: factor
                .as_ref()
                .map_or(0.0, |factor| efficiency(factor, all.len())),
            mean_prediction_variance: factor.as_ref().map_or(f64::INFINITY, mean),
            runs,
        })
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

/// A B for symmetric B.
fn product(one: &SquareMatrix, other: &SquareMatrix) -> SquareMatrix {
    let mut product = SquareMatrix::zero(one.size);
    for row in 0..one.size {
        let line = other.times(one.row(row));
        product.entries[row * one.size..(row + 1) * one.size].copy_from_slice(&line);
    }
    product
}
