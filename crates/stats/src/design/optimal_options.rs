//! What an optimal design is asked for, and what comes out.

use crate::linear_model::ModelTerm;

/// What an optimal design makes small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DesignCriterion {
    /// D: the volume of the confidence region of all coefficients, |Xᵀ X|^−1/p.
    #[default]
    Determinant,
    /// I: the mean variance of predictions over the candidates.
    PredictionVariance,
}

/// How an optimal design is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimalDesignOptions {
    /// The criterion; by default D.
    pub criterion: DesignCriterion,
    /// Runs that are measured already: they count, and stay.
    pub existing: Vec<Vec<usize>>,
    /// Terms that may matter but need not be estimable, such as pairs when there are fewer runs than columns: as if
    /// the coefficient was known to be 0 ± σ.
    pub potential: Vec<ModelTerm>,
    /// Random starts, by default 10; the best result is kept.
    pub starts: usize,
}

impl Default for OptimalDesignOptions {
    fn default() -> Self {
        Self {
            criterion: DesignCriterion::Determinant,
            existing: Vec::new(),
            potential: Vec::new(),
            starts: 10,
        }
    }
}

/// A design made for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimalDesign {
    /// The new runs, without the existing ones, in no particular order. A run may occur several times.
    pub runs: Vec<Vec<usize>>,
    /// 100 |Xᵀ X|^(1/p) / N of all runs, in percent: 100 for an orthogonal design. 0 if it cannot estimate all terms,
    /// which only potential ones allow.
    pub d_efficiency: f64,
    /// The mean variance of predictions of the feasible runs (of a sample, if they are many), in σ²; infinite if it
    /// cannot estimate all terms.
    pub mean_prediction_variance: f64,
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
