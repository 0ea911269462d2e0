//! The linear model of a study: main effects, covariates and pairs.

use std::collections::BTreeMap;

use lapwing_stats::linear_model::{
    Coefficient, FactorValues, LeastSquares, LinearFit, LinearModelError, LinearPrediction,
    ModelMatrix, ModelMatrixError, ModelTerm, RobustErrors, RunDiagnostics, TermSelection,
    select_terms,
};
use lapwing_stats::{Confidence, Interval, PValue, adjusted_p_values, as_f64, median};

use crate::covariates::{Covariate, StudyCovariate};
use crate::data::{StudyData, StudyInstance};
use crate::scale::StudyScale;

/// Which terms the model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelChoice {
    /// Every factor.
    Main,
    /// Every factor and every pair of factors.
    Pairs,
    /// Those of all factors and pairs that the data speak for, a pair only with both of its factors.
    Selected,
}

impl ModelChoice {
    /// Returns all pairs if there are twice as many instances as columns, else the selected terms.
    pub fn usual(data: &StudyData) -> Self {
        if has_room_for_pairs(data.treatments.len(), data.instances.len()) {
            Self::Pairs
        } else {
            Self::Selected
        }
    }
}

/// Returns whether there are twice as many instances as columns of a model with all pairs of treatments.
pub(crate) fn has_room_for_pairs(treatments: usize, instances: usize) -> bool {
    let columns = 1 + treatments + treatments * treatments.saturating_sub(1) / 2;
    instances >= 2 * columns
}

/// Returns the costs of instances on a scale.
pub(crate) fn responses(
    instances: &[StudyInstance],
    scale: StudyScale,
) -> Result<Vec<f64>, StudyFitError> {
    let responses = instances.iter().map(|instance| scale.of(instance.cost));
    let responses: Vec<f64> = responses.collect();
    let missing = responses.iter().filter(|value| !value.is_finite()).count();
    if missing > 0 {
        return Err(StudyFitError::Scale {
            count: missing,
            all: responses.len(),
            scale: scale.name(),
        });
    }
    Ok(responses)
}

/// How a study is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// The terms.
    pub model: ModelChoice,
    /// The scale.
    pub scale: StudyScale,
    /// What is beside the factors.
    pub covariates: Vec<StudyCovariate>,
    /// Whether standard errors allow for a different variance of each instance (HC3).
    pub is_robust: bool,
    /// Whether an instance counts by its number of iterations.
    pub is_weighted: bool,
    /// The level of intervals.
    pub confidence: Confidence,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            model: ModelChoice::Main,
            scale: StudyScale::Log,
            covariates: Vec::new(),
            is_robust: false,
            is_weighted: false,
            confidence: Confidence::P95,
        }
    }
}

/// Why a study cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum StudyFitError {
    /// The factors give no matrix.
    #[error(transparent)]
    Matrix(#[from] ModelMatrixError),
    /// Responses do not fit.
    #[error(transparent)]
    Fit(#[from] LinearModelError),
    /// A cost has no value on the scale.
    #[error("{count} of {all} instances have no value on the {scale} scale")]
    Scale {
        /// The number of such instances.
        count: usize,
        /// Of so many.
        all: usize,
        /// The scale.
        scale: &'static str,
    },
    /// All values are equal.
    #[error("all values are equal")]
    Equal,
}

/// A column of the fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedColumn {
    /// `(Intercept)`, `cfg_encrypted`, `prefetch=100`, `cfg_encrypted:cfg_poll_100`.
    pub name: String,
    /// Its term.
    pub term: ModelTerm,
    /// Whether it is a covariate.
    pub is_covariate: bool,
    /// The coefficient; `None` if the column is aliased.
    pub coefficient: Option<Coefficient>,
    /// Its interval.
    pub interval: Option<Interval>,
    /// The p-value adjusted for all columns of factors and pairs (Benjamini–Hochberg).
    pub adjusted_p_value: Option<f64>,
}

/// What the residuals say of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitDiagnostics {
    /// Instances with a standardised residual above 3.5.
    pub outliers: usize,
    /// The largest of Cook's distances; `None` without any.
    pub largest_cooks_distance: Option<f64>,
    /// The median size of residuals in the upper third of fitted values, over that in the lower third: near 1 if
    /// noise does not depend on the level.
    pub spread_ratio: Option<f64>,
    /// The correlation of residuals that follow one another in time: near 0 without drift.
    pub autocorrelation: Option<f64>,
    /// The p-value of lack of fit: settings differ more from the model than their instances from each other. `None`
    /// without replicates, and with weights or covariates.
    pub lack_of_fit: Option<f64>,
}

/// A fitted study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFit {
    /// The fit itself.
    pub fit: LinearFit,
    /// Its columns.
    pub columns: Vec<FittedColumn>,
    /// The observed values on the scale.
    pub observed: Vec<f64>,
    /// What each instance says of the model; empty without residual degrees of freedom.
    pub runs: Vec<RunDiagnostics>,
    /// What the residuals say.
    pub diagnostics: FitDiagnostics,
    /// How it was fitted.
    pub options: FitOptions,
    terms: Vec<ModelTerm>,
    covariates: Vec<Covariate>,
}

impl StudyFit {
    /// Fits the model.
    ///
    /// # Errors
    /// When an instance has no value on the scale, or there is nothing to explain.
    pub fn new(data: &StudyData, options: FitOptions) -> Result<Self, StudyFitError> {
        let observed = responses(&data.instances, options.scale)?;
        let all: Vec<Vec<usize>> = data.instances.iter().map(|it| it.levels.clone()).collect();
        let mut factors = factor_values(data, &all);
        let varied = factors.len();
        let covariates = options.covariates.iter().flat_map(|kind| kind.of(data));
        let covariates: Vec<Covariate> = covariates.collect();
        factors.extend(covariates.iter().map(|covariate| covariate.values.clone()));
        let mut terms = match options.model {
            ModelChoice::Main => ModelTerm::main_effects(varied),
            ModelChoice::Pairs | ModelChoice::Selected => ModelTerm::all_pairs(varied),
        };
        // A number with more than two levels may have its best one in the middle.
        let numeric = (0..varied).filter(|at| matches!(factors[*at], FactorValues::Numbers(_)));
        terms.extend(numeric.map(ModelTerm::Square));
        let forced: Vec<ModelTerm> = (varied..factors.len()).map(ModelTerm::Main).collect();
        terms.extend(&forced);
        let mut matrix = ModelMatrix::new(&factors, &terms)?;
        if options.model == ModelChoice::Selected {
            let selection = TermSelection {
                forced: [vec![ModelTerm::Intercept], forced].concat(),
                ..TermSelection::default()
            };
            let selected =
                select_terms(&matrix, &observed, &selection)?.ok_or(StudyFitError::Equal)?;
            matrix = matrix.with_terms(|term| selected.contains(&term));
        }
        let weights = data.instances.iter().map(|it| as_f64(it.iterations));
        let weights: Vec<f64> = weights.collect();
        let least_squares = LeastSquares {
            weights: options.is_weighted.then_some(weights.as_slice()),
        };
        let fit = LinearFit::new(&matrix, &observed, least_squares)?;
        let runs = fit.diagnostics();
        let mut known: BTreeMap<&Vec<usize>, usize> = BTreeMap::new();
        let settings = all.iter().map(|own| {
            let next = known.len();
            *known.entry(own).or_insert(next)
        });
        let settings: Vec<usize> = settings.collect();
        let is_plain = !options.is_weighted && options.covariates.is_empty();
        let lack_of_fit = is_plain.then(|| fit.lack_of_fit(&settings)).flatten();
        Ok(Self {
            columns: columns(data, &matrix, &fit, &options, &covariates),
            diagnostics: FitDiagnostics {
                lack_of_fit,
                ..diagnostics(&fit, &runs)
            },
            runs,
            terms: matrix.terms(),
            fit,
            observed,
            options,
            covariates,
        })
    }

    /// Predicts settings: the number of the level of each factor.
    ///
    /// Covariates have their mean, a session that of the latest.
    ///
    /// # Errors
    /// When the settings do not have as many levels as there are factors.
    pub fn predict(
        &self,
        data: &StudyData,
        settings: &[Vec<usize>],
    ) -> Result<Vec<LinearPrediction>, StudyFitError> {
        let matrix = self.matrix_of(data, settings)?;
        Ok(self.fit.predict(&matrix, self.options.confidence))
    }

    /// Returns the matrix of settings with the terms of this model.
    pub(crate) fn matrix_of(
        &self,
        data: &StudyData,
        settings: &[Vec<usize>],
    ) -> Result<ModelMatrix, ModelMatrixError> {
        let mut factors = factor_values(data, settings);
        let covariates = self.covariates.iter();
        factors.extend(covariates.map(|covariate| covariate.references(settings.len())));
        ModelMatrix::new(&factors, &self.terms)
    }

    /// Returns the columns of factors and pairs.
    pub fn effects(&self) -> impl Iterator<Item = &FittedColumn> {
        self.columns.iter().filter(|column| column.is_effect())
    }
}

impl FittedColumn {
    fn is_effect(&self) -> bool {
        self.term != ModelTerm::Intercept && !self.is_covariate
    }
}

fn factor_values(data: &StudyData, settings: &[Vec<usize>]) -> Vec<FactorValues> {
    let factors = data.factors.iter().enumerate();
    factors
        .map(|(at, factor)| factor.values(settings.iter().map(|levels| levels[at])))
        .collect()
}

fn columns(
    data: &StudyData,
    matrix: &ModelMatrix,
    fit: &LinearFit,
    options: &FitOptions,
    covariates: &[Covariate],
) -> Vec<FittedColumn> {
    let robust = options.is_robust.then(|| RobustErrors::by_run(fit));
    let robust = robust.flatten();
    let freedom = robust.as_ref().map(RobustErrors::freedom);
    let freedom = as_f64(freedom.unwrap_or(fit.residual_freedom()));
    let varied = data.factors.len();
    let name = |factor: usize, level: usize| match data.factors.get(factor) {
        Some(factor) if factor.numbers().is_some() => factor.name.clone(),
        Some(factor) => factor.treatment_name(level),
        None => covariates[factor - varied].level_name(level),
    };
    let mut columns: Vec<FittedColumn> = (matrix.meanings().iter().enumerate())
        .map(|(at, meaning)| {
            let coefficient = match &robust {
                Some(robust) => robust.coefficient(fit, at),
                None => fit.coefficient(at),
            };
            let [first, second] = meaning.levels;
            FittedColumn {
                name: match meaning.term {
                    ModelTerm::Intercept => "(Intercept)".to_owned(),
                    ModelTerm::Main(factor) => name(factor, first),
                    ModelTerm::Square(factor) => format!("{}²", name(factor, first)),
                    ModelTerm::Pair(one, other) => {
                        format!("{}:{}", name(one, first), name(other, second))
                    }
                },
                term: meaning.term,
                is_covariate: matches!(meaning.term, ModelTerm::Main(factor) if factor >= varied),
                interval: coefficient.and_then(|it| it.interval(freedom, options.confidence)),
                coefficient,
                adjusted_p_value: None,
            }
        })
        .collect();
    let p_value = |column: &FittedColumn| {
        let coefficient = column.coefficient.filter(|_| column.is_effect())?;
        PValue::new(coefficient.p_value?).ok()
    };
    let p_values: Vec<Option<PValue>> = columns.iter().map(p_value).collect();
    for (column, adjusted) in columns.iter_mut().zip(adjusted_p_values(&p_values)) {
        column.adjusted_p_value = adjusted.map(PValue::value);
    }
    columns
}

fn diagnostics(fit: &LinearFit, runs: &[RunDiagnostics]) -> FitDiagnostics {
    const OUTLIER: f64 = 3.5;
    let outliers = runs.iter().filter_map(|run| run.standardised_residual);
    let distances = runs.iter().filter_map(|run| run.cooks_distance);
    let mut order: Vec<usize> = (0..fit.fitted.len()).collect();
    order.sort_by(|one, other| fit.fitted[*one].total_cmp(&fit.fitted[*other]));
    let third = order.len() / 3;
    let spread = |part: &[usize]| {
        let sizes: Vec<f64> = part.iter().map(|at| fit.residuals[*at].abs()).collect();
        median(&sizes)
    };
    let ratio = || {
        let [lower, upper] = [&order[..third], &order[order.len() - third..]].map(spread);
        Some(upper? / lower?).filter(|ratio| ratio.is_finite())
    };
    let squares = fit.residuals.iter().map(|residual| residual * residual);
    let squares: f64 = squares.sum();
    let products: f64 = fit.residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    FitDiagnostics {
        outliers: outliers.filter(|residual| residual.abs() > OUTLIER).count(),
        largest_cooks_distance: distances.max_by(f64::total_cmp),
        spread_ratio: if third >= 5 { ratio() } else { None },
        autocorrelation: (squares > 0.0 && fit.residual_freedom() > 0).then(|| products / squares),
        lack_of_fit: None,
    }
}
