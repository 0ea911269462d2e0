//! `lapwing study paths`: from one setting to another, step by step, and what each step is responsible for.

use lapwing_show::study::StudyMetricText;
use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use lapwing_model::text::counted;
use lapwing_show::study::chart;
use lapwing_stats::Confidence;
use lapwing_study::{
    AttributionSource, FitOptions, ModelChoice, PathOrder, SettingValues, StudyData, StudyFit,
    StudyPath, StudyScale, attribution, study_path,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::{EndFields, StudyAnswer, StudyPlotOptions};
use super::options::{StudyOptions, with_hint};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, one_of};
use crate::table::Align::{Left, Right};
use crate::table::Table;

/// Show what each treatment contributes on the way from one setting to another
///
/// The order of steps is a choice, and each tells another story; Shapley values are the mean over
/// all orders. By default from the base to the best measured setting.
#[derive(Debug, Args)]
pub struct StudyPaths {
    /// Setting to start from: `a=1,b=0` [default: all factors at their base]
    #[arg(long, value_name = "SETTING", default_value = "")]
    from: String,
    /// Setting to end at [default: the best measured one]
    #[arg(long, value_name = "SETTING")]
    to: Option<String>,
    /// Order of the steps
    #[arg(long, value_name = "ORDER", value_parser = one_of(&ORDERS), default_value = "best-first")]
    order: StoryOrder,
    /// Treatments in the given order, separated by commas
    #[arg(
        long,
        value_name = "FACTORS",
        value_delimiter = ',',
        conflicts_with = "order"
    )]
    steps: Vec<String>,
    /// Use measured settings only, no predictions
    #[arg(long)]
    measured_only: bool,
    #[command(flatten)]
    plot: StudyPlotOptions,
    #[command(flatten)]
    study: StudyOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoryOrder {
    BestFirst,
    NicestFirst,
}

const ORDERS: [NamedValue<StoryOrder>; 2] = [
    (
        "best-first",
        "Always the step that improves most",
        StoryOrder::BestFirst,
    ),
    (
        "nicest-first",
        "By `nice` of the factors in the suite file, the lowest first; among equals the step that improves most",
        StoryOrder::NicestFirst,
    ),
];

#[derive(Default, Serialize)]
struct StepRow {
    treatment: String,
    before: Option<f64>,
    after: Option<f64>,
    change: Option<f64>,
    is_measured: Option<bool>,
    shapley: Option<f64>,
    #[serde(flatten)]
    ends: EndFields,
}

impl StudyPaths {
    /// Shows the steps beside Shapley values.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.plot.check()?;
        let data = self.study.read(context)?;
        let scale = self.study.scale.unwrap_or(StudyScale::Time);
        let from = data.named_set(&self.from).map_err(with_hint)?;
        let to = match &self.to {
            Some(text) => data.named_set(text).map_err(with_hint)?,
            None => data.best_set(),
        };
        if from == to {
            return Err(CliError::input("start and end are the same setting")
                .hint("name another one with --from or --to"));
        }
        let fit_on = |scale: StudyScale| {
            let options = FitOptions {
                model: ModelChoice::usual(&data),
                scale,
                ..FitOptions::default()
            };
            StudyFit::new(&data, options)
                .ok()
                .filter(|_| !self.measured_only)
        };
        let logs = fit_on(StudyScale::Log);
        let values = SettingValues::new(&data, scale, logs.as_ref());
        let (order, story) = self.order(&data)?;
        let path = study_path(&values, from, to, &order);
        if path.steps.is_empty() {
            return Err(CliError::not_enough(format!(
                "no step from {} has a value",
                data.set_text(from)
            ))
            .hint("measure it, or start elsewhere with --from"));
        }
        let fit = fit_on(scale);
        let shares = attribution(&data, scale, from, to, fit.as_ref(), Confidence::P95);
        let rows = rows(&data, &path, &values, shares.as_ref());
        let answer = StudyAnswer {
            headline: headline(&data, scale, &path, &story),
            table: table(&data, scale, &rows),
            notes: notes(
                &data,
                &path,
                &values,
                shares.as_ref().map(|own| own.source),
                to,
            ),
            rows,
            key: "steps",
            more: json!({
                "from": data.set_text(from),
                "to": data.set_text(to),
                "order": story,
                "is_complete": path.is_complete,
                "shapley_from": shares.as_ref().map(|own| source(own.source)),
                "shapley": shares.as_ref().map(|own| own.shares.iter().map(|(name, value, interval)| {
                    json!({"name": name, "value": value, "lower": interval.map(|it| it.lower), "upper": interval.map(|it| it.upper)})
                }).collect::<Vec<Value>>()),
            }),
            charts: vec![
                (
                    "waterfall",
                    chart::waterfall(&data, scale, &path, &values, &story),
                ),
                ("treemap", chart::treemap(&data, scale, &path, &story)),
            ],
        };
        answer.write(&data, scale, self.study.format, &self.plot, context)
    }

    fn order(&self, data: &StudyData) -> Result<(PathOrder, String), CliError> {
        if !self.steps.is_empty() {
            let steps: Result<Vec<usize>, _> =
                self.steps.iter().map(|name| data.treatment(name)).collect();
            return Ok((
                PathOrder::Given(steps.map_err(with_hint)?),
                "in the given order".to_owned(),
            ));
        }
        match self.order {
            StoryOrder::BestFirst => Ok((PathOrder::BestFirst, "best step first".to_owned())),
            StoryOrder::NicestFirst => {
                let ranks = match self.study.data.cleaning.suite() {
                    Some(path) => nice(&path)?,
                    None => BTreeMap::new(),
                };
                if ranks.is_empty() {
                    return Err(CliError::input("no factor of a suite file has `nice`")
                        .hint("add `nice = 1` and so on to [factor.NAME], the nicest lowest, and name the file with --suite"));
                }
                let last = ranks.values().max().map_or(0, |most| most + 1);
                let rank = |factor: usize| {
                    ranks
                        .get(&data.factors[factor].name)
                        .copied()
                        .unwrap_or(last)
                };
                let ranks = data.treatments.iter().map(|own| rank(own.factor)).collect();
                Ok((PathOrder::NicestFirst(ranks), "nicest first".to_owned()))
            }
        }
    }
}

/// Returns the `nice` of each factor of a suite file.
fn nice(path: &Path) -> Result<BTreeMap<String, usize>, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CliError::input(format!("cannot read `{}`: {error}", path.display())))?;
    let suite: toml_edit::DocumentMut = text.parse()?;
    let factors = suite.get("factor").and_then(|it| it.as_table_like());
    let ranks = factors
        .into_iter()
        .flat_map(|table| table.iter())
        .filter_map(|(name, factor)| {
            let nice = factor.as_table_like()?.get("nice")?.as_integer()?;
            Some((name.to_owned(), usize::try_from(nice.max(0)).ok()?))
        });
    Ok(ranks.collect())
}

fn headline(data: &StudyData, scale: StudyScale, path: &StudyPath, story: &str) -> String {
    let [first, last] = [
        path.steps.first().map(|it| it.before),
        path.steps.last().map(|it| it.after),
    ]
    .map(|value| value.unwrap_or(f64::NAN));
    let largest = path
        .steps
        .iter()
        .max_by(|one, other| one.delta().abs().total_cmp(&other.delta().abs()));
    let largest = largest.map_or_else(String::new, |step| {
        let name = &data.treatments[step.factor].name;
        let share = lapwing_show::percent(step.delta() / (last - first));
        format!("; {name} alone is {share} of the change")
    });
    format!(
        "{} → {} in {}, {story}{largest}",
        data.metric.value_text(scale, first),
        data.metric.value_text(scale, last),
        counted(path.steps.len(), "step")
    )
}

fn rows(
    data: &StudyData,
    path: &StudyPath,
    values: &SettingValues<'_>,
    shares: Option<&lapwing_study::Attribution>,
) -> Vec<StepRow> {
    let share_of = |treatment: usize| {
        let own = &data.treatments[treatment];
        let factor = &data.factors[own.factor].name;
        let mut all = shares?.shares.iter();
        all.find(|(name, ..)| *name == own.name || name == factor)
    };
    let steps = path.steps.iter().map(|step| {
        let share = share_of(step.factor);
        StepRow {
            treatment: data.treatments[step.factor].name.clone(),
            before: Some(step.before),
            after: Some(step.after),
            change: Some(step.delta()),
            is_measured: Some(values.is_measured(step.set)),
            shapley: share.map(|it| it.1),
            ends: share.and_then(|it| it.2).into(),
        }
    });
    steps.collect()
}

fn table(data: &StudyData, scale: StudyScale, rows: &[StepRow]) -> Table {
    let mut table = Table::new(&[
        ("step", Left),
        ("after it", Right),
        ("change", Right),
        ("Shapley value", Right),
    ]);
    for row in rows {
        let change = row
            .change
            .map_or(String::new(), |it| data.metric.change_text(scale, it));
        let predicted = if row.is_measured == Some(false) {
            "≈ "
        } else {
            ""
        };
        table.row(vec![
            row.treatment.clone(),
            row.after.map_or(String::new(), |it| {
                format!("{predicted}{}", data.metric.value_text(scale, it))
            }),
            change,
            row.shapley.map_or("–".to_owned(), |it| {
                data.metric
                    .change_with_interval(scale, it, row.ends.interval())
            }),
        ]);
    }
    table
}

fn source(from: AttributionSource) -> &'static str {
    match from {
        AttributionSource::Measured => "measured",
        AttributionSource::Model => "model",
    }
}

fn notes(
    data: &StudyData,
    path: &StudyPath,
    values: &SettingValues<'_>,
    from: Option<AttributionSource>,
    to: u128,
) -> Vec<String> {
    let mut notes = Vec::new();
    if path.steps.iter().any(|step| !values.is_measured(step.set)) {
        notes.push("≈ not measured: predicted by the model of logarithms".to_owned());
    }
    if !path.is_complete {
        notes.push(format!(
            "the path ends before {}: no step from there has a value",
            data.set_text(to)
        ));
    }
    notes.push(match from {
        Some(AttributionSource::Measured) => {
            "Shapley values: the mean over all orders, from the means of all settings between the two, with 95 % intervals".to_owned()
        }
        Some(AttributionSource::Model) => {
            "Shapley values: the mean over all orders, from the model, as not all settings between the two were measured".to_owned()
        }
        None => "no Shapley values: not all settings between the two were measured, and there is no model".to_owned(),
    });
    notes
}
