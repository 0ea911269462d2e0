//! A linear model of the factors and their pairs: `lapwing study fit`.

use lapwing_model::text::{counted, first_names};
use lapwing_stats::deltas::{DeltaPairing, MeanDelta};
use lapwing_stats::linear_model::{LinearPrediction, ModelTerm};
use lapwing_study::{
    FittedColumn, ModelChoice, StudyData, StudyFit, StudyScale, StudyViewError, measured_sets,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{EndFields, StudyAnswer, StudyAnswerError, p_text};
use crate::percent;
use crate::study::{StudyMetricText, fit_charts, sorted_means};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

/// Maximum number of rows of the table.
const SHOWN: usize = 40;

#[derive(Default, Serialize)]
struct FitRow {
    column: String,
    estimate: Option<f64>,
    standard_error: Option<f64>,
    #[serde(flatten)]
    ends: EndFields,
    t: Option<f64>,
    p_value: Option<f64>,
    adjusted_p_value: Option<f64>,
    aliased: bool,
    mean_delta: Option<f64>,
    mean_delta_lower: Option<f64>,
    mean_delta_upper: Option<f64>,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the coefficients beside the mean deltas, and predictions of these settings.
    pub fn fit(
        data: &'d StudyData,
        fit: &StudyFit,
        settings: &[String],
    ) -> Result<Self, StudyAnswerError> {
        let scale = fit.options.scale;
        let means = sorted_means(
            data,
            scale,
            &measured_sets(data, scale)?,
            DeltaPairing::Means,
        );
        let mean_of = |column: &FittedColumn| {
            means
                .iter()
                .find(|mean| data.treatments[mean.factor].name == column.name)
        };
        let mut notes = notes(data, fit);
        let mut predictions = Vec::new();
        for text in settings {
            let levels = data.setting(text).map_err(StudyViewError::from)?;
            let set = data.named_set(text).map_err(StudyViewError::from)?;
            let measured = data.set_means(scale).get(&set).copied();
            for prediction in fit.predict(data, &[levels])? {
                let set = data.set_text(set);
                notes.push(prediction_text(data, scale, &set, &prediction, measured));
                predictions.push(json!({
                    "setting": text,
                    "value": prediction.is_estimable.then_some(prediction.mean),
                    "lower": prediction.mean_interval.lower,
                    "upper": prediction.mean_interval.upper,
                    "run_lower": prediction.run_interval.lower,
                    "run_upper": prediction.run_interval.upper,
                    "is_estimable": prediction.is_estimable,
                    "measured": measured,
                }));
            }
        }
        let columns = fit.columns.iter();
        let rows: Vec<FitRow> = columns.map(|column| row(column, mean_of(column))).collect();
        let more = json!({"fit": figures(fit), "predictions": predictions});
        Ok(Self {
            headline: headline(data, fit),
            table: table(data, fit, mean_of),
            notes,
            charts: fit_charts(data, fit, &means),
            ..Self::of_rows(data, scale, ("columns", &rows), more)?
        })
    }
}

fn prediction_text(
    data: &StudyData,
    scale: StudyScale,
    setting: &str,
    prediction: &LinearPrediction,
    measured: Option<f64>,
) -> String {
    let value = |value: f64| data.metric.value_text(scale, value);
    let beside = match measured {
        Some(mean) => format!("measured {}", value(mean)),
        None => "not measured".to_owned(),
    };
    if prediction.is_estimable {
        format!(
            "{setting}: {} (95 % CI {}–{}; a further instance {}–{}), {beside}",
            value(prediction.mean),
            value(prediction.mean_interval.lower),
            value(prediction.mean_interval.upper),
            value(prediction.run_interval.lower),
            value(prediction.run_interval.upper)
        )
    } else {
        format!(
            "{setting}: cannot be predicted, as it differs in a way that was never measured, {beside}"
        )
    }
}

fn headline(data: &StudyData, fit: &StudyFit) -> String {
    let is_sure = |column: &&FittedColumn| column.adjusted_p_value.is_some_and(|p| p <= 0.05);
    let sure: Vec<&FittedColumn> = fit.effects().filter(is_sure).collect();
    let pairs = sure
        .iter()
        .filter(|column| matches!(column.term, ModelTerm::Pair(..)))
        .count();
    let share = fit.fit.r_squared().map_or_else(String::new, |share| {
        format!(" explains {} of the variance", percent(share))
    });
    format!(
        "the model of {}{share}; {} and {} distinguishable from zero",
        data.size_text(),
        counted(sure.len() - pairs, "factor effect"),
        counted(pairs, "interaction")
    )
}

fn table<'m>(
    data: &StudyData,
    fit: &StudyFit,
    mean_of: impl Fn(&FittedColumn) -> Option<&'m MeanDelta>,
) -> Table {
    let scale = fit.options.scale;
    let mut table = Table::new(&[
        ("term", Left),
        ("coefficient", Right),
        ("interval", Right),
        ("p adjusted", Right),
        ("mean delta", Right),
    ])
    .dispensable(&["mean delta", "p adjusted"]);
    let mut shown: Vec<&FittedColumn> = fit.columns.iter().collect();
    shown.sort_by(|one, other| {
        let rank = |column: &FittedColumn| {
            let is_pair = matches!(column.term, ModelTerm::Pair(..));
            let is_term = column.term != ModelTerm::Intercept;
            (is_term, column.is_covariate, is_pair)
        };
        let size = |column: &FittedColumn| column.coefficient.map_or(-1.0, |it| it.estimate.abs());
        let sizes = size(other).total_cmp(&size(one));
        rank(one).cmp(&rank(other)).then(sizes)
    });
    let value = |value: f64| data.metric.value_text(scale, value);
    let change = |change: f64| data.metric.change_text(scale, change);
    for column in shown.into_iter().take(SHOWN) {
        let estimate = column.coefficient.map(|coefficient| coefficient.estimate);
        let mean = mean_of(column).map(|mean| change(mean.mean));
        table.row(if column.term == ModelTerm::Intercept {
            let ends = column.interval.filter(|_| estimate.is_some());
            vec![
                "base".to_owned(),
                estimate.map_or("aliased".to_owned(), value),
                ends.map_or_else(String::new, |ends| {
                    format!("[{}, {}]", value(ends.lower), value(ends.upper))
                }),
                String::new(),
                mean.unwrap_or_default(),
            ]
        } else {
            let interval = column
                .interval
                .zip(estimate)
                .map(|(interval, estimate)| data.metric.interval_text(scale, estimate, interval));
            let p_value = (!column.is_covariate).then(|| p_text(column.adjusted_p_value));
            vec![
                column.name.clone(),
                estimate.map_or("aliased".to_owned(), change),
                interval.unwrap_or_default(),
                p_value.unwrap_or_default(),
                mean.unwrap_or_default(),
            ]
        });
    }
    table
}

fn notes(data: &StudyData, fit: &StudyFit) -> Vec<String> {
    let mut notes = Vec::new();
    let scale = fit.options.scale;
    if let Some(deviation) = fit.fit.residual_deviation() {
        let text = data.metric.size_text(scale, deviation);
        let freedom = fit.fit.residual_freedom();
        notes.push(format!(
            "residual standard deviation {text}, {freedom} degrees of freedom"
        ));
    } else {
        notes.push("as many coefficients as instances: no intervals; replicate, or choose fewer terms with --model".to_owned());
    }
    let aliased: Vec<&str> = (fit
        .columns
        .iter()
        .filter(|column| column.coefficient.is_none()))
    .map(|column| column.name.as_str())
    .collect();
    if !aliased.is_empty() {
        let names = first_names(aliased, 5);
        notes.push(format!(
            "aliased, because they depend on terms before them: {names}"
        ));
    }
    match fit.options.model {
        ModelChoice::Selected => notes.push(
            "terms were selected by the same data, so their p-values are too small; `--model pairs` tests all".to_owned(),
        ),
        ModelChoice::Pairs => notes.push(
            "with pairs in the model, a factor's coefficient is its effect where all others are at their base; `study effects --show paths` attributes by Shapley values".to_owned(),
        ),
        ModelChoice::Main => {}
    }
    let diagnostics = fit.diagnostics;
    if let Some(ratio) = diagnostics
        .spread_ratio
        .filter(|ratio| !(0.5..=2.0).contains(ratio))
    {
        let advice = match scale {
            StudyScale::Log => "--robust allows for that",
            StudyScale::Time | StudyScale::Rate => "--scale log or --robust allow for that",
        };
        notes.push(format!(
            "residuals are {ratio:.1}× as large at high values as at low ones: {advice}"
        ));
    }
    if let Some(drift) = diagnostics.autocorrelation.filter(|it| *it > 0.3) {
        notes.push(format!(
            "residuals that follow one another are alike (correlation {drift:.2}): the machine drifted; --covariate time or session may help"
        ));
    }
    if diagnostics.outliers > 0 {
        notes.push(format!(
            "{} far from the model (standardised residual above 3.5)",
            counted(diagnostics.outliers, "instance")
        ));
    }
    notes
}

fn figures(fit: &StudyFit) -> Value {
    let diagnostics = fit.diagnostics;
    json!({
        "instances": fit.observed.len(),
        "rank": fit.fit.rank(),
        "residual_freedom": fit.fit.residual_freedom(),
        "r_squared": fit.fit.r_squared(),
        "adjusted_r_squared": fit.fit.adjusted_r_squared(),
        "residual_deviation": fit.fit.residual_deviation(),
        "residual_sum_of_squares": fit.fit.residual_sum_of_squares,
        "model": match fit.options.model {
            ModelChoice::Main => "main",
            ModelChoice::Pairs => "pairs",
            ModelChoice::Selected => "selected",
        },
        "diagnostics": {
            "outliers": diagnostics.outliers,
            "largest_cooks_distance": diagnostics.largest_cooks_distance,
            "spread_ratio": diagnostics.spread_ratio,
            "autocorrelation": diagnostics.autocorrelation,
        },
    })
}

fn row(column: &FittedColumn, mean: Option<&MeanDelta>) -> FitRow {
    let coefficient = column.coefficient;
    let interval = mean.and_then(|mean| mean.interval);
    FitRow {
        column: column.name.clone(),
        estimate: coefficient.map(|it| it.estimate),
        standard_error: coefficient.map(|it| it.standard_error),
        ends: column.interval.into(),
        t: coefficient.map(|it| it.t),
        p_value: coefficient.and_then(|it| it.p_value),
        adjusted_p_value: column.adjusted_p_value,
        aliased: coefficient.is_none(),
        mean_delta: mean.map(|mean| mean.mean),
        mean_delta_lower: interval.map(|ends| ends.lower),
        mean_delta_upper: interval.map(|ends| ends.upper),
    }
}
