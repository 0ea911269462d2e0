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

/// Exchanges of single factors go on as long as a sweep over all runs gains this share of the D-efficiency.
const SMALLEST_GAIN: f64 = 2e-4;

/// Starts are so many that their sweeps take at most so many steps (columns² × runs) together, but at least two.
const MOST_STEPS: usize = 100_000_000;

/// How an optimal design is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimalDesignOptions {
    /// Runs that are measured already: they count, and stay.
    pub existing: Vec<Vec<usize>>,
    /// Terms that may matter but need not be estimable, such as pairs when there are fewer runs than columns: as if
    /// the coefficient was known to be 0 ± σ.
    pub potential: Vec<ModelTerm>,
    /// Random starts, by default 10, fewer where the design is large; the best result is kept.
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
    let starts = (0..search.starts(options.starts)).map(|start| search.improved(start));
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

    /// Returns the number of starts, of which large designs get fewer: they differ less.
    fn starts(&self, most: u64) -> u64 {
        let steps = self.base.size * self.base.size * self.count;
        let affordable = (MOST_STEPS / steps.max(1)).max(2) as u64;
        if self.is_complete {
            most.max(1)
        } else {
            most.clamp(1, affordable)
        }
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
        let mut factor = self.factor(&runs(&chosen));
        for _ in 0..100 {
            let (mut inverse, before) = (factor.inverse(), factor.log_determinant());
            let mut spreads: Vec<f64> = self.rows.iter().map(|row| spread(&inverse, row)).collect();
            for position in &mut chosen {
                self.exchange_run(position, &mut inverse, &mut spreads);
            }
            factor = self.factor(&runs(&chosen));
            let after = factor.log_determinant();
            if after <= before + 1e-9 * before.abs().max(1.0) {
                break;
            }
        }
        runs(&chosen)
    }

    /// Replaces a run by the candidate with the largest d(x) without it, and updates the inverse and all d(x).
    fn exchange_run(&self, position: &mut usize, inverse: &mut SquareMatrix, spreads: &mut [f64]) {
        let old = inverse.times(&self.rows[*position]);
        let of_old = 1.0 / (1.0 - spreads[*position]);
        let rest: Vec<f64> = (spreads.iter().zip(&self.rows))
            .map(|(own, row)| own + of_old * dot(row, &old).powi(2))
            .collect();
        let (mut best, mut most) = (*position, rest[*position] * (1.0 + 1e-9));
        for (candidate, spread) in rest.iter().enumerate() {
            if *spread > most {
                (best, most) = (candidate, *spread);
            }
        }
        if best == *position {
            return;
        }
        *position = best;
        let row = &self.rows[best];
        let (mut new, along) = (inverse.times(row), of_old * dot(row, &old));
        for (entry, old) in new.iter_mut().zip(&old) {
            *entry += along * old;
        }
        let of_new = 1.0 / (1.0 + rest[best]);
        for ((own, rest), row) in spreads.iter_mut().zip(rest).zip(&self.rows) {
            *own = rest - of_new * dot(row, &new).powi(2);
        }
        exchange(inverse, (&old, of_old), (&new, of_new));
    }

    fn exchange_factors(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<usize>> {
        let mut runs: Vec<Vec<usize>> = (0..self.count)
            .map(|_| self.candidates[draw_below(self.candidates.len(), random)].clone())
            .collect();
        let mut factor = self.factor(&runs);
        for _ in 0..30 {
            let (mut inverse, before) = (factor.inverse(), factor.log_determinant());
            for run in &mut runs {
                self.exchange(run, &mut inverse, random);
            }
            factor = self.factor(&runs);
            let after = factor.log_determinant();
            if after <= before + SMALLEST_GAIN * as_f64(factor.rank()) {
                break;
            }
        }
        runs
    }

    /// Changes a run level by level, and looks at some other feasible runs, as long as d(x) grows without the run as it
    /// was.
    fn exchange(
        &self,
        run: &mut Vec<usize>,
        inverse: &mut SquareMatrix,
        random: &mut Xoshiro256PlusPlus,
    ) {
        let mut form = QuadraticForm::without(inverse, &self.model.row(run));
        let mut most = form.value * (1.0 + 1e-9);
        let mut is_changed = false;
        // Constraints can make a run that no single change improves.
        let tries = if self.space.is_unconstrained() { 0 } else { 4 };
        for _ in 0..tries {
            let Some(other) = self.space.random_run(random) else {
                break;
            };
            let change = changed_entries(&self.model.row(run), &self.model.row(&other));
            let value = form.after(&change);
            if value > most {
                form.apply(&change);
                (*run, most, is_changed) = (other, value, true);
            }
        }
        let mut change = Vec::new();
        for (factor, count) in self.space.levels().iter().enumerate() {
            for level in 0..*count {
                let before = run[factor];
                if level == before {
                    continue;
                }
                self.model.changes(run, factor, level, &mut change);
                let value = form.after(&change);
                if value <= most {
                    continue;
                }
                run[factor] = level;
                if self.space.is_feasible(run) {
                    form.apply(&change);
                    (most, is_changed) = (value, true);
                } else {
                    run[factor] = before;
                }
            }
        }
        if is_changed {
            let gain = 1.0 + form.value;
            let (old, factor, new) = form.into_parts();
            exchange(inverse, (&old, factor), (&new, 1.0 / gain));
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

/// A + f u uᵀ − g v vᵀ.
fn exchange(matrix: &mut SquareMatrix, (old, of_old): (&[f64], f64), (new, of_new): (&[f64], f64)) {
    let size = matrix.size;
    for (entries, (u, v)) in matrix.entries.chunks_mut(size).zip(old.iter().zip(new)) {
        let (u, v) = (of_old * u, of_new * v);
        for (entry, (old, new)) in entries.iter_mut().zip(old.iter().zip(new)) {
            *entry += u * old - v * new;
        }
    }
}
