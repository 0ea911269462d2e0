//! From one setting to another, step by step: `lapwing study effects --show paths`.

use lapwing_model::text::counted;
use lapwing_stats::shapley::PathStep;
use lapwing_stats::{Confidence, Interval};
use lapwing_study::{
    Attribution, AttributionSource, FitOptions, ModelChoice, PathOrder, SettingValues, StudyData,
    StudyError, StudyFit, StudyPath, StudyScale, StudyViewError, attribution, study_path,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, StudyFields, share, value};
use super::{StudyAnswer, StudyAnswerError, or_dash};
use crate::percent;
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// A question about the way from one setting to another.
#[derive(Debug)]
pub struct PathQuestion<'a> {
    /// The setting to start from.
    pub from: &'a str,
    /// The setting to end at; `None` for the recommended one, of measured settings alone for the best.
    pub to: Option<&'a str>,
    /// The order of the steps.
    pub order: PathOrder,
    /// Whether settings that were not measured have no value; else a model predicts it.
    pub measured_only: bool,
}

/// The path.
#[derive(Debug, Serialize, JsonSchema)]
struct StudyPathFields {
    from: String,
    to: String,
    /// The order of the steps.
    order: &'static str,
    /// Whether the path ends where it should; else a setting on the way has no value.
    is_complete: bool,
    number_of_steps: usize,
    /// Value before the first step, in the unit.
    first: Option<f64>,
    /// Value after the last step, in the unit.
    last: Option<f64>,
    /// What Shapley values are from: `measured` or `model`.
    shapley_from: Option<&'static str>,
    /// What each treatment or factor is responsible for: the mean over all orders.
    shapley: Vec<ShapleyFields>,
    steps: Vec<StepRow>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, StudyPathFields>>("study-paths").listing("steps");

/// What a treatment or factor is responsible for.
#[derive(Debug, Serialize, JsonSchema)]
struct ShapleyFields {
    name: String,
    value: f64,
    #[serde(flatten)]
    change: ChangeFields,
}

/// A step of a path.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct StepRow {
    treatment: String,
    /// Value before the step, in the unit.
    before: f64,
    /// Value after the step, in the unit.
    after: f64,
    /// The change on the scale.
    change: f64,
    /// On the scale `log`: the change as a share.
    change_share: Option<f64>,
    /// The part of the whole change that the step makes.
    part: Option<f64>,
    /// Whether the value after the step was measured; else a model predicts it.
    is_measured: bool,
    /// The Shapley value of the treatment.
    shapley: Option<f64>,
    #[serde(flatten)]
    shapley_change: ChangeFields,
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
            None if question.measured_only => data.best_set(),
            None => data.recommended_set(),
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
            let own = shares.and_then(|shares| share_of(data, shares, step.factor));
            let is_measured = values.is_measured(step.set);
            let after = data.metric.value_text(scale, step.after);
            let share_text = own
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
                before: value(scale, step.before),
                after: value(scale, step.after),
                change: step.delta(),
                change_share: share(scale, Some(step.delta())),
                part: part_of(&path, step),
                is_measured,
                shapley: own.map(|(value, _)| value),
                shapley_change: ChangeFields::new(
                    scale,
                    own.map(|(value, _)| value),
                    own.and_then(|(_, interval)| interval),
                ),
            });
        }
        let fields = StudyPathFields {
            from: data.set_text(from),
            to: data.set_text(to),
            order: story,
            is_complete: path.is_complete,
            number_of_steps: rows.len(),
            first: rows.first().map(|row| row.before),
            last: rows.last().map(|row| row.after),
            shapley_from: shares.map(|shares| match shares.source {
                AttributionSource::Measured => "measured",
                AttributionSource::Model => "model",
            }),
            shapley: shares.map_or_else(Vec::new, |shares| shapley_rows(scale, shares)),
            steps: rows.clone(),
        };
        let mut notes = Vec::new();
        if path.steps.iter().any(|step| !values.is_measured(step.set)) {
            let text = "≈ not measured: predicted by the model of logarithms";
            notes.push(Note::new("predicted", text));
        }
        if !path.is_complete {
            let to = data.set_text(to);
            let text = format!("the path ends before {to}: no step from there has a value");
            notes.push(Note::new("incomplete", text));
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
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
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
        match part_of(path, step) {
            // Steps in both directions are no parts of a whole.
            Some(part) if (0.0..=1.0).contains(&part) => {
                format!("; {name} alone is {} of the change", percent(part))
            }
            Some(_) | None => {
                let change = data.metric.change_text(scale, step.delta());
                format!("; {name} changes most: {change}")
            }
        }
    });
    format!(
        "{} → {} in {}, {story}{largest}",
        data.metric.value_text(scale, first),
        data.metric.value_text(scale, last),
        counted(path.steps.len(), "step")
    )
}

/// Returns the part of the whole change that a step makes.
fn part_of(path: &StudyPath, step: &PathStep) -> Option<f64> {
    let whole = path.steps.last()?.after - path.steps.first()?.before;
    (whole != 0.0).then(|| step.delta() / whole)
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

fn shapley_rows(scale: StudyScale, shares: &Attribution) -> Vec<ShapleyFields> {
    let shares = shares.shares.iter();
    let rows = shares.map(|(name, value, interval)| ShapleyFields {
        name: name.clone(),
        value: *value,
        change: ChangeFields::new(scale, Some(*value), *interval),
    });
    rows.collect()
}

fn shares_note(shares: Option<&Attribution>) -> Note {
    let note = |text: &str| Note::new("shapley", text);
    match shares.map(|shares| shares.source) {
        Some(AttributionSource::Measured) => note(
            "Shapley values: the mean over all orders, from the means of all settings between the two, with 95 % intervals",
        )
        .with("confidence", 0.95),
        Some(AttributionSource::Model) => note(
            "Shapley values: the mean over all orders, from the model, as not all settings between the two were measured",
        ),
        None => note(
            "no Shapley values: not all settings between the two were measured, and there is no model",
        ),
    }
}
