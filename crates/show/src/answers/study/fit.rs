//! A linear model of the factors and their pairs: `lapwing study fit`.

use lapwing_model::text::{counted, first_names};
use lapwing_stats::deltas::{DeltaPairing, MeanDelta};
use lapwing_stats::linear_model::{LinearPrediction, ModelTerm};
use lapwing_study::{
    FittedColumn, ModelChoice, StudyData, StudyFit, StudyScale, StudyViewError, measured_sets,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::StudyFields;
use super::fit_fields::{
    BaseFields, FitFigures, FitRow, PredictionFields, base, figures, prediction_fields, row,
};
use super::{StudyAnswer, StudyAnswerError, p_text};
use crate::percent;
use crate::study::{StudyMetricText, fit_charts, sorted_means};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// Number of listed columns.
const SHOWN: usize = 40;

/// The model.
#[derive(Debug, Serialize, JsonSchema)]
struct FitFields {
    /// `main`, `pairs` or `selected`.
    model: &'static str,
    fit: FitFigures,
    /// Number of factors, or of levels of them, with an effect that can be distinguished from zero.
    factor_effects: usize,
    /// Number of interactions that can be distinguished from zero.
    interactions: usize,
    /// What the model expects of the base.
    base: Option<BaseFields>,
    columns: Vec<FitRow>,
    predictions: Vec<PredictionFields>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, FitFields>>("study-fit").listing("columns");

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
                predictions.push(prediction_fields(scale, text, &prediction, measured));
            }
        }
        let columns = ranked(fit);
        let rows = columns.iter();
        let rows = rows.map(|column| row(scale, column, mean_of(column)));
        let rows: Vec<FitRow> = rows.collect();
        let [factor_effects, interactions] = clear_effects(fit);
        let fields = FitFields {
            model: match fit.options.model {
                ModelChoice::Main => "main",
                ModelChoice::Pairs => "pairs",
                ModelChoice::Selected => "selected",
            },
            fit: figures(fit),
            factor_effects,
            interactions,
            base: columns.iter().find_map(|column| base(scale, column)),
            columns: rows.clone(),
            predictions,
        };
        Ok(Self {
            headline: headline(data, fit),
            table: table(data, scale, &columns, mean_of),
            shown: Some(SHOWN),
            notes,
            charts: fit_charts(data, fit, &means),
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
}

fn prediction_text(
    data: &StudyData,
    scale: StudyScale,
    setting: &str,
    prediction: &LinearPrediction,
    measured: Option<f64>,
) -> Note {
    let value = |value: f64| data.metric.value_text(scale, value);
    let beside = match measured {
        Some(mean) => format!("measured {}", value(mean)),
        None => "not measured".to_owned(),
    };
    if prediction.is_estimable {
        let text = format!(
            "{setting}: {} (95 % CI {}–{}; a further instance {}–{}), {beside}",
            value(prediction.mean),
            value(prediction.mean_interval.lower),
            value(prediction.mean_interval.upper),
            value(prediction.run_interval.lower),
            value(prediction.run_interval.upper)
        );
        Note::new("prediction", text).with("confidence", 0.95)
    } else {
        let text = format!(
            "{setting}: cannot be predicted, as it differs in a way that was never measured, {beside}"
        );
        Note::new("not_estimable", text)
    }
}

/// Returns the number of effects of factors and of pairs that can be distinguished from zero.
fn clear_effects(fit: &StudyFit) -> [usize; 2] {
    let clear = fit.effects();
    let clear = clear.filter(|column| column.adjusted_p_value.is_some_and(|p| p <= 0.05));
    let (pairs, factors): (Vec<&FittedColumn>, Vec<&FittedColumn>) =
        clear.partition(|column| matches!(column.term, ModelTerm::Pair(..)));
    [factors.len(), pairs.len()]
}

fn headline(data: &StudyData, fit: &StudyFit) -> String {
    let [factors, pairs] = clear_effects(fit);
    let share = fit.fit.r_squared().map_or_else(String::new, |share| {
        format!(" explains {} of the variance", percent(share))
    });
    format!(
        "the model of {}{share}; {} and {} distinguishable from zero",
        data.size_text(),
        counted(factors, "factor effect"),
        counted(pairs, "interaction")
    )
}

/// Returns the columns: first the base, then factors, pairs and covariates, each by the size of their effects.
fn ranked(fit: &StudyFit) -> Vec<&FittedColumn> {
    let mut columns: Vec<&FittedColumn> = fit.columns.iter().collect();
    columns.sort_by(|one, other| {
        let rank = |column: &FittedColumn| {
            let is_pair = matches!(column.term, ModelTerm::Pair(..));
            let is_term = column.term != ModelTerm::Intercept;
            (is_term, column.is_covariate, is_pair)
        };
        let size = |column: &FittedColumn| column.coefficient.map_or(-1.0, |it| it.estimate.abs());
        let sizes = size(other).total_cmp(&size(one));
        rank(one).cmp(&rank(other)).then(sizes)
    });
    columns
}

fn table<'m>(
    data: &StudyData,
    scale: StudyScale,
    columns: &[&FittedColumn],
    mean_of: impl Fn(&FittedColumn) -> Option<&'m MeanDelta>,
) -> Table {
    let mut table = Table::new(&[
        ("term", Left),
        ("coefficient", Right),
        ("interval", Right),
        ("p adjusted", Right),
        ("mean delta", Right),
    ])
    .dispensable(&["mean delta", "p adjusted"]);
    let value = |value: f64| data.metric.value_text(scale, value);
    let change = |change: f64| data.metric.change_text(scale, change);
    for column in columns {
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

fn notes(data: &StudyData, fit: &StudyFit) -> Vec<Note> {
    let mut notes = Vec::new();
    let scale = fit.options.scale;
    if let Some(deviation) = fit.fit.residual_deviation() {
        let text = data.metric.size_text(scale, deviation);
        let freedom = fit.fit.residual_freedom();
        let text = format!("residual standard deviation {text}, {freedom} degrees of freedom");
        notes.push(Note::new("residuals", text));
    } else {
        let text = "as many coefficients as instances: no intervals; replicate, or choose fewer terms with --model";
        notes.push(Note::new("saturated", text));
    }
    let aliased: Vec<&str> = (fit
        .columns
        .iter()
        .filter(|column| column.coefficient.is_none()))
    .map(|column| column.name.as_str())
    .collect();
    if !aliased.is_empty() {
        let names = first_names(&aliased, 5);
        let text = format!("aliased, because they depend on terms before them: {names}");
        notes.push(Note::new("aliased", text).with("columns", aliased));
    }
    match fit.options.model {
        ModelChoice::Selected => notes.push(Note::new(
            "selected",
            "terms were selected by the same data, so their p-values are too small; `--model pairs` tests all",
        )),
        ModelChoice::Pairs => notes.push(Note::new(
            "pairs",
            "with pairs in the model, a factor's coefficient is its effect where all others are at their base; `study effects --show paths` attributes by Shapley values",
        )),
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
        let text =
            format!("residuals are {ratio:.1}× as large at high values as at low ones: {advice}");
        notes.push(Note::new("spread", text).with("ratio", ratio));
    }
    if let Some(p_value) = diagnostics.lack_of_fit.filter(|it| *it < 0.001) {
        let text = "settings differ more from this model than their instances from each other (lack of fit, p < 0.001): \
                    terms are missing, or a number has no such curve, so that predictions can miss by more than their intervals";
        notes.push(Note::new("lack_of_fit", text).with("p_value", p_value));
    }
    if let Some(drift) = diagnostics.autocorrelation.filter(|it| *it > 0.3) {
        let text = format!(
            "residuals that follow one another are alike (correlation {drift:.2}): the machine drifted; --covariate time or session may help"
        );
        notes.push(Note::new("drift", text).with("correlation", drift));
    }
    if diagnostics.outliers > 0 {
        let text = format!(
            "{} far from the model (standardised residual above 3.5)",
            counted(diagnostics.outliers, "instance")
        );
        let note = Note::new("outliers", text).with("instances", diagnostics.outliers);
        notes.push(note.with("largest_residual", 3.5));
    }
    notes
}
