//! `lapwing study fit`: a linear model of the factors and their pairs.

use clap::Args;
use lapwing_model::text::{counted, first_names};
use lapwing_show::study::{StudyMetricText, fit_charts, sorted_means};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::Confidence;
use lapwing_stats::deltas::{DeltaPairing, MeanDelta};
use lapwing_stats::linear_model::ModelTerm;
use lapwing_study::{
    FitOptions, FittedColumn, ModelChoice, StudyCovariate, StudyData, StudyFit, StudyScale,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::{EndFields, StudyAnswer, p_text};
use super::deltas::measured;
use super::options::{StudyOptions, with_hint};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, one_of};

/// Fit a linear model: the effect of each factor and of each pair, when all others are taken into
/// account
///
/// By default on logarithms, so that effects are percentages. A coefficient is the effect where the
/// other factors are at their base; that of a pair is what having both changes beyond the sum.
#[derive(Debug, Args)]
pub struct StudyFitCommand {
    /// Terms of the model [default: all pairs if there are enough instances, else selected]
    #[arg(long, value_name = "TERMS", value_parser = one_of(&MODELS))]
    model: Option<ModelChoice>,
    /// Add a covariate; separate several with commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = one_of(&COVARIATES))]
    covariate: Vec<StudyCovariate>,
    /// Allow for a different variance of each instance (HC3)
    #[arg(long)]
    robust: bool,
    /// Let an instance count by its number of iterations
    #[arg(long)]
    weighted: bool,
    /// Predict a setting, measured or not: `a=1,b=0`; factors that are not named have their base
    #[arg(long, value_name = "SETTING")]
    predict: Vec<String>,
    #[command(flatten)]
    study: StudyOptions,
}

const MODELS: [NamedValue<ModelChoice>; 3] = [
    ("main", "Every factor", ModelChoice::Main),
    ("pairs", "Every factor and every pair", ModelChoice::Pairs),
    (
        "selected",
        "The factors and pairs that the data speak for, a pair only with both factors",
        ModelChoice::Selected,
    ),
];

const COVARIATES: [NamedValue<StudyCovariate>; 3] = [
    ("time", "The time of measurement", StudyCovariate::Time),
    ("time-of-day", "One turn per day", StudyCovariate::TimeOfDay),
    (
        "session",
        "The session, as a block",
        StudyCovariate::Session,
    ),
];

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

impl StudyFitCommand {
    /// Shows the coefficients beside the mean deltas.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let data = self.study.read(context)?;
        let scale = self.study.scale.unwrap_or(StudyScale::Log);
        let options = FitOptions {
            model: self.model.unwrap_or_else(|| ModelChoice::usual(&data)),
            scale,
            covariates: self.covariate.clone(),
            is_robust: self.robust,
            is_weighted: self.weighted,
            confidence: Confidence::P95,
        };
        let fit = StudyFit::new(&data, options).map_err(|error| {
            CliError::not_enough(error).hint("--scale time fits the values as they are")
        })?;
        let means = sorted_means(&data, scale, &measured(&data, scale)?, DeltaPairing::Means);
        let mean_of = |column: &FittedColumn| {
            means
                .iter()
                .find(|own| data.treatments[own.factor].name == column.name)
        };
        let predictions = self.predictions(&data, &fit)?;
        let mut notes = notes(&data, &fit);
        notes.extend(predictions.iter().map(|(text, _)| text.clone()));
        let answer = StudyAnswer {
            headline: headline(&data, &fit),
            table: table(&data, &fit, mean_of),
            notes,
            rows: fit
                .columns
                .iter()
                .map(|own| row(own, mean_of(own)))
                .collect(),
            key: "columns",
            more: json!({
                "fit": figures(&fit),
                "predictions": predictions.into_iter().map(|(_, json)| json).collect::<Vec<Value>>(),
            }),
            charts: fit_charts(&data, &fit, &means),
        };
        answer.write(&data, scale, &self.study, context)
    }

    fn predictions(
        &self,
        data: &StudyData,
        fit: &StudyFit,
    ) -> Result<Vec<(String, Value)>, CliError> {
        let scale = fit.options.scale;
        let mut told = Vec::new();
        for text in &self.predict {
            let setting = data.setting(text).map_err(with_hint)?;
            let set = data.named_set(text).map_err(with_hint)?;
            let found = fit.predict(data, &[setting])?;
            let Some(own) = found.first() else { continue };
            let value = |it: f64| data.metric.value_text(scale, it);
            let measured = data.set_means(scale).get(&set).copied();
            let beside = match measured {
                Some(mean) => format!(", measured {}", value(mean)),
                None => ", not measured".to_owned(),
            };
            let sentence = if own.is_estimable {
                format!(
                    "{}: {} (95 % CI {}–{}; a further instance {}–{}){beside}",
                    data.set_text(set),
                    value(own.mean),
                    value(own.mean_interval.lower),
                    value(own.mean_interval.upper),
                    value(own.run_interval.lower),
                    value(own.run_interval.upper)
                )
            } else {
                format!(
                    "{}: cannot be predicted, as it differs in a way that was never measured{beside}",
                    data.set_text(set)
                )
            };
            let json = json!({
                "setting": text,
                "value": own.is_estimable.then_some(own.mean),
                "lower": own.mean_interval.lower,
                "upper": own.mean_interval.upper,
                "run_lower": own.run_interval.lower,
                "run_upper": own.run_interval.upper,
                "is_estimable": own.is_estimable,
                "measured": measured,
            });
            told.push((sentence, json));
        }
        Ok(told)
    }
}

fn headline(data: &StudyData, fit: &StudyFit) -> String {
    let is_sure = |own: &&FittedColumn| own.adjusted_p_value.is_some_and(|p| p <= 0.05);
    let sure: Vec<&FittedColumn> = fit.effects().filter(is_sure).collect();
    let pairs = sure
        .iter()
        .filter(|own| matches!(own.term, ModelTerm::Pair(..)))
        .count();
    let share = fit.fit.r_squared().map_or_else(String::new, |own| {
        format!(" explains {} of the variance", lapwing_show::percent(own))
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
    const SHOWN: usize = 40;
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
    let is_pair = |own: &FittedColumn| matches!(own.term, ModelTerm::Pair(..));
    let size = |own: &FittedColumn| own.coefficient.map_or(-1.0, |it| it.estimate.abs());
    shown.sort_by(|one, other| {
        let rank = |own: &FittedColumn| {
            (
                own.term != ModelTerm::Intercept,
                own.is_covariate,
                is_pair(own),
            )
        };
        rank(one)
            .cmp(&rank(other))
            .then(size(other).total_cmp(&size(one)))
    });
    for own in shown.into_iter().take(SHOWN) {
        let is_value = own.term == ModelTerm::Intercept;
        let interval = own
            .interval
            .zip(own.coefficient)
            .map(|(it, coefficient)| match is_value {
                true => format!(
                    "[{}, {}]",
                    data.metric.value_text(scale, it.lower),
                    data.metric.value_text(scale, it.upper)
                ),
                false => data.metric.interval_text(scale, coefficient.estimate, it),
            });
        table.row(vec![
            if is_value {
                "base".to_owned()
            } else {
                own.name.clone()
            },
            own.coefficient
                .map_or("aliased".to_owned(), |it| match is_value {
                    true => data.metric.value_text(scale, it.estimate),
                    false => data.metric.change_text(scale, it.estimate),
                }),
            interval.unwrap_or_default(),
            if is_value || own.is_covariate {
                String::new()
            } else {
                p_text(own.adjusted_p_value)
            },
            mean_of(own).map_or_else(String::new, |it| data.metric.change_text(scale, it.mean)),
        ]);
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
    let aliased: Vec<&str> = (fit.columns.iter().filter(|own| own.coefficient.is_none()))
        .map(|own| own.name.as_str())
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
    let own = fit.diagnostics;
    if let Some(ratio) = own
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
    if let Some(drift) = own.autocorrelation.filter(|it| *it > 0.3) {
        notes.push(format!(
            "residuals that follow one another are alike (correlation {drift:.2}): the machine drifted; --covariate time or session may help"
        ));
    }
    if own.outliers > 0 {
        notes.push(format!(
            "{} far from the model (standardised residual above 3.5)",
            counted(own.outliers, "instance")
        ));
    }
    notes
}

fn figures(fit: &StudyFit) -> Value {
    let own = fit.diagnostics;
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
            "outliers": own.outliers,
            "largest_cooks_distance": own.largest_cooks_distance,
            "spread_ratio": own.spread_ratio,
            "autocorrelation": own.autocorrelation,
        },
    })
}

fn row(own: &FittedColumn, mean: Option<&MeanDelta>) -> FitRow {
    let interval = mean.and_then(|it| it.interval);
    FitRow {
        column: own.name.clone(),
        estimate: own.coefficient.map(|it| it.estimate),
        standard_error: own.coefficient.map(|it| it.standard_error),
        ends: own.interval.into(),
        t: own.coefficient.map(|it| it.t),
        p_value: own.coefficient.and_then(|it| it.p_value),
        adjusted_p_value: own.adjusted_p_value,
        aliased: own.coefficient.is_none(),
        mean_delta: mean.map(|it| it.mean),
        mean_delta_lower: interval.map(|it| it.lower),
        mean_delta_upper: interval.map(|it| it.upper),
    }
}
