//! `lapwing study effects --show paths`: from one setting to another, step by step, and what each step is responsible for.

use std::collections::BTreeSet;

use lapwing_model::text::counted;
use lapwing_show::study::{StudyMetricText, chart};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::Confidence;
use lapwing_study::{
    AttributionSource, FitOptions, ModelChoice, PathOrder, SettingValues, StudyData, StudyFit,
    StudyPath, StudyScale, attribution, study_path,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::{EndFields, StudyAnswer};
use super::effects::StudyEffects;
use super::factors::StudySuite;
use super::options::with_hint;
use crate::error::CliError;

/// The order of the steps of a path: each tells another story.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StoryOrder {
    /// Always the step that improves most.
    #[default]
    BestFirst,
    /// By `nice` of the factors in the suite file; among equals the step that improves most.
    NicestFirst,
    /// These treatments.
    Given(Vec<String>),
}

impl From<String> for StoryOrder {
    fn from(text: String) -> Self {
        match text.as_str() {
            "best-first" => Self::BestFirst,
            "nicest-first" => Self::NicestFirst,
            names => Self::Given(names.split(',').map(|it| it.trim().to_owned()).collect()),
        }
    }
}

#[derive(Default, Serialize)]
pub struct StepRow {
    treatment: String,
    before: Option<f64>,
    after: Option<f64>,
    change: Option<f64>,
    is_measured: Option<bool>,
    shapley: Option<f64>,
    #[serde(flatten)]
    ends: EndFields,
}

impl StudyEffects {
    /// Returns the steps beside Shapley values, which are the means over all orders.
    pub fn paths(
        &self,
        data: &StudyData,
        scale: StudyScale,
    ) -> Result<StudyAnswer<StepRow>, CliError> {
        let from = data
            .named_set(self.from.as_deref().unwrap_or_default())
            .map_err(with_hint)?;
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
                model: ModelChoice::usual(data),
                scale,
                ..FitOptions::default()
            };
            StudyFit::new(data, options)
                .ok()
                .filter(|_| !self.measured_only)
        };
        let logs = fit_on(StudyScale::Log);
        let values = SettingValues::new(data, scale, logs.as_ref());
        let (order, story) = self.story(data)?;
        let path = study_path(&values, from, to, &order);
        if path.steps.is_empty() {
            return Err(CliError::not_enough(format!(
                "no step from {} has a value",
                data.set_text(from)
            ))
            .hint("measure it, or start elsewhere with --from"));
        }
        let fit = fit_on(scale);
        let shares = attribution(data, scale, from, to, fit.as_ref(), Confidence::P95);
        let rows = rows(data, &path, &values, shares.as_ref());
        Ok(StudyAnswer {
            headline: headline(data, scale, &path, &story),
            table: table(data, scale, &rows),
            notes: notes(
                data,
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
                    chart::waterfall(data, scale, &path, &values, &story),
                ),
                ("treemap", chart::treemap(data, scale, &path, &story)),
            ],
        })
    }

    fn story(&self, data: &StudyData) -> Result<(PathOrder, String), CliError> {
        match self.order.clone().unwrap_or_default() {
            StoryOrder::Given(names) => {
                let steps: Result<Vec<usize>, _> =
                    names.iter().map(|name| data.treatment(name)).collect();
                let order = PathOrder::Given(steps.map_err(with_hint)?);
                Ok((order, "in the given order".to_owned()))
            }
            StoryOrder::BestFirst => Ok((PathOrder::BestFirst, "best step first".to_owned())),
            StoryOrder::NicestFirst => {
                let study = StudySuite::load(self.study.data.cleaning.suite().as_deref())?;
                let factors = study.suite.factors();
                let nice: BTreeSet<i64> = factors.iter().filter_map(|it| it.nice).collect();
                if nice.is_empty() {
                    return Err(CliError::input("no factor of the suite file has `nice`")
                        .hint("add `nice = 1` and so on to [factor.NAME], the nicest lowest"));
                }
                let rank = |factor: usize| {
                    let name = &data.factors[factor].name;
                    let own = factors
                        .iter()
                        .find(|it| it.name == *name)
                        .and_then(|it| it.nice);
                    nice.iter()
                        .position(|it| Some(*it) == own)
                        .unwrap_or(nice.len())
                };
                let ranks = data.treatments.iter().map(|own| rank(own.factor)).collect();
                Ok((PathOrder::NicestFirst(ranks), "nicest first".to_owned()))
            }
        }
    }
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
