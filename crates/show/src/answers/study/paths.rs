//! From one setting to another, step by step: `lapwing study effects --show paths`.

use lapwing_model::text::counted;
use lapwing_stats::{Confidence, Interval};
use lapwing_study::{
    Attribution, AttributionSource, FitOptions, ModelChoice, PathOrder, SettingValues, StudyData,
    StudyError, StudyFit, StudyPath, StudyScale, StudyViewError, attribution, study_path,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{EndFields, StudyAnswer, StudyAnswerError, or_dash};
use crate::percent;
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

/// A question about the way from one setting to another.
#[derive(Debug)]
pub struct PathQuestion<'a> {
    /// The setting to start from.
    pub from: &'a str,
    /// The setting to end at; `None` for the best measured one.
    pub to: Option<&'a str>,
    /// The order of the steps.
    pub order: PathOrder,
    /// Whether settings that were not measured have no value; else a model predicts it.
    pub measured_only: bool,
}

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

impl<'d> StudyAnswer<'d> {
    /// Returns the steps beside Shapley values, which are the means over all orders.
    pub fn paths(
        data: &'d StudyData,
        scale: StudyScale,
        question: &PathQuestion<'_>,
    ) -> Result<Self, StudyAnswerError> {
        let named = |text: &str| -> Result<u128, StudyViewError> {
            data.named_set(text)
                .map_err(|error: StudyError| error.into())
        };
        let from = named(question.from)?;
        let to = match question.to {
            Some(text) => named(text)?,
            None => data.best_set(),
        };
        if from == to {
            return Err(StudyViewError::SameEnds.into());
        }
        let fit_on = |scale: StudyScale| {
            let options = FitOptions {
                model: ModelChoice::usual(data),
                scale,
                ..FitOptions::default()
            };
            let fit = StudyFit::new(data, options).ok();
            fit.filter(|_| !question.measured_only)
        };
        let logs = fit_on(StudyScale::Log);
        let values = SettingValues::new(data, scale, logs.as_ref());
        let path = study_path(&values, from, to, &question.order);
        if path.steps.is_empty() {
            let from = data.set_text(from);
            return Err(StudyViewError::NoStep { from }.into());
        }
        let fit = fit_on(scale);
        let shares = attribution(data, scale, from, to, fit.as_ref(), Confidence::P95);
        let shares = shares.as_ref();
        let story = match question.order {
            PathOrder::BestFirst => "best step first",
            PathOrder::NicestFirst(_) => "nicest first",
            PathOrder::Given(_) => "in the given order",
        };
        let mut table = Table::new(&[
            ("step", Left),
            ("after it", Right),
            ("change", Right),
            ("Shapley value", Right),
        ]);
        let mut rows = Vec::new();
        for step in &path.steps {
            let treatment = &data.treatments[step.factor].name;
            let share = shares.and_then(|shares| share_of(data, shares, step.factor));
            let is_measured = values.is_measured(step.set);
            let after = data.metric.value_text(scale, step.after);
            let share_text = share
                .map(|(value, interval)| data.metric.change_with_interval(scale, value, interval));
            table.row(vec![
                treatment.clone(),
                if is_measured {
                    after
                } else {
                    format!("≈ {after}")
                },
                data.metric.change_text(scale, step.delta()),
                or_dash(share_text),
            ]);
            rows.push(StepRow {
                treatment: treatment.clone(),
                before: Some(step.before),
                after: Some(step.after),
                change: Some(step.delta()),
                is_measured: Some(is_measured),
                shapley: share.map(|(value, _)| value),
                ends: share.and_then(|(_, interval)| interval).into(),
            });
        }
        let more = json!({
            "from": data.set_text(from),
            "to": data.set_text(to),
            "order": story,
            "is_complete": path.is_complete,
            "shapley_from": shares.map(|shares| match shares.source {
                AttributionSource::Measured => "measured",
                AttributionSource::Model => "model",
            }),
            "shapley": shares.map(shares_json),
        });
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
        notes.push(shares_note(shares));
        Ok(Self {
            headline: headline(data, scale, &path, story),
            table,
            notes,
            charts: vec![
                (
                    "waterfall",
                    chart::waterfall(data, scale, &path, &values, story),
                ),
                ("treemap", chart::treemap(data, scale, &path, story)),
            ],
            ..Self::of_rows(data, scale, ("steps", &rows), more)?
        })
    }
}

fn headline(data: &StudyData, scale: StudyScale, path: &StudyPath, story: &str) -> String {
    let first = path.steps.first().map_or(f64::NAN, |step| step.before);
    let last = path.steps.last().map_or(f64::NAN, |step| step.after);
    let largest = path
        .steps
        .iter()
        .max_by(|one, other| one.delta().abs().total_cmp(&other.delta().abs()));
    let largest = largest.map_or_else(String::new, |step| {
        let name = &data.treatments[step.factor].name;
        let share = percent(step.delta() / (last - first));
        format!("; {name} alone is {share} of the change")
    });
    format!(
        "{} → {} in {}, {story}{largest}",
        data.metric.value_text(scale, first),
        data.metric.value_text(scale, last),
        counted(path.steps.len(), "step")
    )
}

/// Returns the Shapley value of a treatment, or of its factor.
fn share_of(
    data: &StudyData,
    shares: &Attribution,
    treatment: usize,
) -> Option<(f64, Option<Interval>)> {
    let treatment = &data.treatments[treatment];
    let factor = &data.factors[treatment.factor].name;
    let mut shares = shares.shares.iter();
    let (_, value, interval) =
        shares.find(|(name, ..)| *name == treatment.name || name == factor)?;
    Some((*value, *interval))
}

fn shares_json(shares: &Attribution) -> Vec<Value> {
    let shares = shares.shares.iter();
    let shares = shares.map(|(name, value, interval)| {
        json!({
            "name": name,
            "value": value,
            "lower": interval.map(|ends| ends.lower),
            "upper": interval.map(|ends| ends.upper),
        })
    });
    shares.collect()
}

fn shares_note(shares: Option<&Attribution>) -> String {
    match shares.map(|shares| shares.source) {
        Some(AttributionSource::Measured) => "Shapley values: the mean over all orders, from the means of all settings between the two, with 95 % intervals",
        Some(AttributionSource::Model) => "Shapley values: the mean over all orders, from the model, as not all settings between the two were measured",
        None => "no Shapley values: not all settings between the two were measured, and there is no model",
    }
    .to_owned()
}
