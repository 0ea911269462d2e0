//! The fields of a linear model for programs.

use lapwing_stats::deltas::MeanDelta;
use lapwing_stats::linear_model::{LinearPrediction, ModelTerm};
use lapwing_study::{FittedColumn, StudyFit, StudyScale};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, EndFields, share, value};

/// The quality of a model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FitFigures {
    instances: usize,
    rank: usize,
    residual_freedom: usize,
    /// Share of the variance that the model explains.
    r_squared: Option<f64>,
    adjusted_r_squared: Option<f64>,
    /// Standard deviation of the residuals, on the scale.
    residual_deviation: Option<f64>,
    /// On the scale `log`: the standard deviation of the residuals as a share.
    residual_share: Option<f64>,
    residual_sum_of_squares: f64,
    diagnostics: DiagnosticFields,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct DiagnosticFields {
    /// Number of instances far from the model.
    outliers: usize,
    largest_cooks_distance: Option<f64>,
    /// Size of residuals at high values, relative to that at low ones.
    spread_ratio: Option<f64>,
    /// Correlation of residuals that follow one another.
    autocorrelation: Option<f64>,
    /// p-value of lack of fit: settings differ more from the model than their instances from each other.
    lack_of_fit: Option<f64>,
}

/// The expected value of the base, in the unit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BaseFields {
    value: f64,
    #[serde(flatten)]
    ends: EndFields,
}

/// The prediction of a setting, in the unit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredictionFields {
    setting: String,
    /// The expected mean.
    value: Option<f64>,
    #[serde(flatten)]
    ends: EndFields,
    /// Ends of the interval of a further instance.
    run_lower: Option<f64>,
    run_upper: Option<f64>,
    is_estimable: bool,
    measured: Option<f64>,
}

/// A column of the model.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct FitRow {
    column: String,
    /// The coefficient, on the scale.
    estimate: Option<f64>,
    standard_error: Option<f64>,
    #[serde(flatten)]
    change: ChangeFields,
    t: Option<f64>,
    p_value: Option<f64>,
    adjusted_p_value: Option<f64>,
    aliased: bool,
    /// The mean of deltas of the treatment.
    mean_delta: Option<f64>,
    mean_delta_share: Option<f64>,
    mean_delta_lower: Option<f64>,
    mean_delta_upper: Option<f64>,
}

/// Returns the prediction of a setting, in the unit.
pub fn prediction_fields(
    scale: StudyScale,
    setting: &str,
    prediction: &LinearPrediction,
    measured: Option<f64>,
) -> PredictionFields {
    let known = |it: f64| prediction.is_estimable.then(|| value(scale, it));
    PredictionFields {
        setting: setting.to_owned(),
        value: known(prediction.mean),
        ends: EndFields {
            lower: known(prediction.mean_interval.lower),
            upper: known(prediction.mean_interval.upper),
        },
        run_lower: known(prediction.run_interval.lower),
        run_upper: known(prediction.run_interval.upper),
        is_estimable: prediction.is_estimable,
        measured: measured.map(|it| value(scale, it)),
    }
}

/// Returns the quality of a model.
pub fn figures(fit: &StudyFit) -> FitFigures {
    let diagnostics = fit.diagnostics;
    let deviation = fit.fit.residual_deviation();
    FitFigures {
        instances: fit.observed.len(),
        rank: fit.fit.rank(),
        residual_freedom: fit.fit.residual_freedom(),
        r_squared: fit.fit.r_squared(),
        adjusted_r_squared: fit.fit.adjusted_r_squared(),
        residual_deviation: deviation,
        residual_share: share(fit.options.scale, deviation),
        residual_sum_of_squares: fit.fit.residual_sum_of_squares,
        diagnostics: DiagnosticFields {
            outliers: diagnostics.outliers,
            largest_cooks_distance: diagnostics.largest_cooks_distance,
            spread_ratio: diagnostics.spread_ratio,
            lack_of_fit: diagnostics.lack_of_fit,
            autocorrelation: diagnostics.autocorrelation,
        },
    }
}

/// Returns what the model expects of the base, if that is what a column is about.
pub fn base(scale: StudyScale, column: &FittedColumn) -> Option<BaseFields> {
    let coefficient = column.coefficient?;
    (column.term == ModelTerm::Intercept).then(|| BaseFields {
        value: value(scale, coefficient.estimate),
        ends: EndFields {
            lower: column.interval.map(|it| value(scale, it.lower)),
            upper: column.interval.map(|it| value(scale, it.upper)),
        },
    })
}

/// Returns the row of a column, beside the mean of deltas of its treatment.
pub fn row(scale: StudyScale, column: &FittedColumn, mean: Option<&MeanDelta>) -> FitRow {
    let coefficient = column.coefficient;
    let interval = mean.and_then(|mean| mean.interval);
    let estimate = coefficient.map(|it| it.estimate);
    // The base is a value and no change.
    let change = match column.term {
        ModelTerm::Intercept => ChangeFields::new(StudyScale::Time, estimate, column.interval),
        _ => ChangeFields::new(scale, estimate, column.interval),
    };
    FitRow {
        column: column.name.clone(),
        estimate,
        standard_error: coefficient.map(|it| it.standard_error),
        change,
        t: coefficient.map(|it| it.t),
        p_value: coefficient.and_then(|it| it.p_value),
        adjusted_p_value: column.adjusted_p_value,
        aliased: coefficient.is_none(),
        mean_delta: mean.map(|mean| mean.mean),
        mean_delta_share: share(scale, mean.map(|mean| mean.mean)),
        mean_delta_lower: interval.map(|ends| ends.lower),
        mean_delta_upper: interval.map(|ends| ends.upper),
    }
}
