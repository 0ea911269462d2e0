//! The recommended setting by fresh instances: `lapwing study confirm`.

use lapwing_model::text::{counted, first_names};
use lapwing_stats::{Interval, mean};
use lapwing_study::{ConfirmationResult, ConfirmedSetting, StudyScale};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::design::ConfigurationFields;
use super::optimise::{RatioFields, is_sure};
use super::or_dash;
use crate::study::StudyMetricText;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// With fewer instances of a setting nothing is concluded.
pub const FEWEST_INSTANCES: usize = 3;

/// The recommended setting beside the base and the next best one.
#[derive(Debug)]
pub struct ConfirmationAnswer {
    /// The settings and how they compare.
    pub result: ConfirmationResult,
    /// The change against the base that the study expected, on the scale of its model, and its interval.
    pub expected: (StudyScale, f64, Option<Interval>),
}

/// The recommended setting beside the base and the next best one.
#[derive(Debug, Serialize, JsonSchema)]
struct ConfirmationFields<'a> {
    metric: &'a str,
    unit: String,
    recommended: ConfigurationFields<'a>,
    /// The recommended setting beside the base.
    comparison: Option<RatioFields>,
    /// The change against the base that the findings expected: a share, or of a model that adds the difference in the unit.
    expected_change: f64,
    expected_lower: Option<f64>,
    expected_upper: Option<f64>,
    expected_is_share: bool,
    /// The recommended setting, the base, and the next best setting.
    settings: Vec<ConfirmedRow>,
}

/// A setting with its fresh instances, values in the unit.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct ConfirmedRow {
    configuration: String,
    instances: usize,
    mean: Option<f64>,
    /// The recommended setting against this one, as a share, and its interval.
    recommended_against: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    p_value: Option<f64>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<ConfirmationFields<'_>>("study-confirm").listing("settings");

impl ConfirmationAnswer {
    fn recommended(&self) -> &ConfirmedSetting {
        &self.result.settings[0]
    }

    fn base(&self) -> &ConfirmedSetting {
        &self.result.settings[1]
    }

    fn rows_of_settings(&self) -> Vec<ConfirmedRow> {
        let rows = self.result.settings.iter().map(|own| {
            let ratio = own.ratio.as_ref();
            ConfirmedRow {
                configuration: own.configuration.name.clone(),
                instances: own.costs.len(),
                mean: self.mean(own),
                recommended_against: ratio.map(|it| it.ratio - 1.0),
                lower: ratio.map(|it| it.interval.lower - 1.0),
                upper: ratio.map(|it| it.interval.upper - 1.0),
                p_value: ratio.map(|it| it.p_value),
            }
        });
        rows.collect()
    }

    /// Returns the mean of a setting in the unit.
    fn mean(&self, own: &ConfirmedSetting) -> Option<f64> {
        mean(&own.costs).map(|cost| StudyScale::Log.cost(cost.ln()))
    }

    /// Returns the change by the recommended setting against another as text.
    fn change(&self, against: &ConfirmedSetting) -> Option<String> {
        let ratio = against.ratio.as_ref()?;
        let interval = ratio.interval.map(f64::ln);
        let metric = &self.result.metric;
        Some(metric.change_with_interval(StudyScale::Log, ratio.ratio.ln(), Some(interval)))
    }

    /// Returns what the instances conclude against another setting: a gain or a loss; `None` if they cannot tell.
    fn is_better(&self, against: &ConfirmedSetting) -> Option<bool> {
        let fewest = against.costs.len().min(self.recommended().costs.len());
        let ratio = against.ratio.as_ref()?;
        let change = ratio.ratio.ln();
        (fewest >= FEWEST_INSTANCES && is_sure(ratio))
            .then(|| self.result.metric.is_gain(StudyScale::Log, change))
    }

    fn headline(&self) -> String {
        let own = self.recommended();
        let name = &own.configuration.name;
        let sizes = format!(
            "{} and {} fresh instances, in turn",
            own.costs.len(),
            self.base().costs.len()
        );
        let Some(change) = self.change(self.base()) else {
            return format!("not confirmed: too few instances of {name} or of the base ({sizes})");
        };
        match self.is_better(self.base()) {
            Some(true) => format!("confirmed: {name}, {change} against the base ({sizes})"),
            Some(false) => {
                format!("not confirmed: {name} is worse than the base, {change} ({sizes})")
            }
            None => {
                format!("not confirmed: {name} cannot be told from the base, {change} ({sizes})")
            }
        }
    }

    fn notes(&self) -> Vec<Note> {
        let (scale, change, interval) = self.expected;
        let metric = &self.result.metric;
        let expected = metric.change_with_interval(scale, change, interval);
        let mut notes = vec![Note::new(
            "expected",
            format!("the findings expected {expected} against the base"),
        )];
        if let Some(next) = self.result.settings.get(2) {
            let name = &next.configuration.name;
            if let Some(change) = self.change(next) {
                let text = match self.is_better(next) {
                    Some(true) => {
                        format!("better than the next best setting {name}, too: {change}")
                    }
                    Some(false) => format!("the next best setting {name} is better: {change}"),
                    None => format!("cannot be told from the next best setting {name}: {change}"),
                };
                notes.push(Note::new("next_best", text));
            }
        }
        let failed = self
            .result
            .settings
            .iter()
            .filter(|own| own.costs.is_empty());
        let failed: Vec<&str> = failed.map(|own| own.configuration.name.as_str()).collect();
        if !failed.is_empty() {
            let text = format!(
                "{} without a usable value: {}",
                counted(failed.len(), "setting"),
                first_names(&failed, 5)
            );
            notes.push(Note::new("failed", text).with("settings", failed));
        }
        notes
    }
}

impl Answer for ConfirmationAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let metric = &self.result.metric;
        let mut table = Table::new(&[
            ("setting", Left),
            ("instances", Right),
            ("mean", Right),
            ("recommended against it", Right),
        ]);
        for own in &self.result.settings {
            let value = |cost: f64| metric.value_text(StudyScale::Log, cost.ln());
            table.row(vec![
                own.configuration.name.clone(),
                own.costs.len().to_string(),
                or_dash(mean(&own.costs).map(value)),
                or_dash(self.change(own)),
            ]);
        }
        TextAnswer {
            headline: self.headline(),
            table,
            notes: self.notes(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let (scale, change, interval) = self.expected;
        let is_share = scale == StudyScale::Log;
        let own = |change: f64| if is_share { change.exp_m1() } else { change };
        Ok(serde_json::to_value(ConfirmationFields {
            metric: &self.result.metric.name,
            unit: self.result.metric.unit_of(StudyScale::Time),
            recommended: ConfigurationFields::new(&self.recommended().configuration),
            comparison: self.base().ratio.as_ref().map(|ratio| {
                let instances = [self.base(), self.recommended()].map(|it| it.costs.len());
                RatioFields::new(ratio, instances)
            }),
            expected_change: own(change),
            expected_lower: interval.map(|it| own(it.lower)),
            expected_upper: interval.map(|it| own(it.upper)),
            expected_is_share: is_share,
            settings: self.rows_of_settings(),
        })?)
    }

    fn verdict(&self) -> Option<&'static str> {
        Some(match self.is_better(self.base()) {
            Some(true) => "improvement",
            Some(false) => "regression",
            None => "inconclusive",
        })
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.rows_of_settings())
    }
}
