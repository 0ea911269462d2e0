//! Expected values along numeric factors: `lapwing study effects --show curves`.

use lapwing_model::text::joined;
use lapwing_stats::Interval;
use lapwing_study::{
    CurvePoint, ExplainedStudy, ResponseCurve, StudyData, StudyScale, StudyViewError,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::fields::{EndFields, StudyFields, value};
use super::{StudyAnswer, StudyAnswerError, or_dash};
use crate::UnitScale;
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// The expected values along numeric factors, by the model of the findings.
#[derive(Debug, Serialize, JsonSchema)]
struct CurveFields<'d> {
    /// The numeric factors that have no effect in the model.
    flat: Vec<&'d str>,
    curves: Vec<CurveRow<'d>>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, CurveFields<'_>>>("study-curves").listing("curves");

/// The expected value at a level of a factor, averaged over all combinations of the others.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct CurveRow<'d> {
    factor: &'d str,
    level: Value,
    /// The value in the unit, and the ends of its 95 % confidence interval.
    value: f64,
    #[serde(flatten)]
    ends: EndFields,
    /// Number of measured instances with the level.
    instances: usize,
}

impl<'d> StudyAnswer<'d> {
    /// Returns a row for each level of the numeric factors.
    ///
    /// # Errors
    /// When the study has no model, or no factor is numeric with three levels or more.
    pub fn curves(
        data: &'d StudyData,
        scale: Option<StudyScale>,
    ) -> Result<Self, StudyAnswerError> {
        if data.factors.iter().all(|own| own.numbers().is_none()) {
            return Err(StudyViewError::NoCurves.into());
        }
        let study = ExplainedStudy::new(data, scale);
        let study = study.map_err(|error| StudyViewError::NoModel {
            reason: error.to_string(),
        })?;
        let scale = study.scale;
        let curves = ResponseCurve::all(&study);
        let name = |curve: &ResponseCurve| data.factors[curve.factor].name.as_str();
        let mut table = Table::new(&[
            ("factor", Left),
            ("level", Right),
            ("expected", Right),
            ("95 % CI", Right),
            ("instances", Right),
        ]);
        let mut rows = Vec::new();
        for curve in &curves {
            for point in &curve.points {
                let level = &data.factors[curve.factor].levels[point.level];
                let mean = value(scale, point.value);
                let ends = point.interval.map(|it| Interval {
                    lower: value(scale, it.lower),
                    upper: value(scale, it.upper),
                });
                let unit = UnitScale::of(mean, &data.metric.unit_of(scale));
                let interval = ends.map(|it| {
                    unit.with_unit(&format!(
                        "{}–{}",
                        unit.number(it.lower),
                        unit.number(it.upper)
                    ))
                });
                table.row(vec![
                    name(curve).to_owned(),
                    level.to_string(),
                    unit.text(mean),
                    or_dash(interval),
                    point.instances.to_string(),
                ]);
                rows.push(CurveRow {
                    factor: name(curve),
                    level: json!(level),
                    value: mean,
                    ends: EndFields::from(ends),
                    instances: point.instances,
                });
            }
        }
        let flat: Vec<&str> = (curves.iter())
            .filter(|curve| curve.points.is_empty())
            .map(name)
            .collect();
        let mut notes = Vec::new();
        if !flat.is_empty() {
            let names = joined(flat.iter().map(|name| format!("`{name}`")));
            let text = format!("{names}: no effect that can be told from none");
            notes.push(Note::new("flat", text));
        }
        let charts = curves.iter();
        let charts = charts.filter_map(|curve| chart::curve(data, scale, curve));
        let fields = CurveFields {
            flat,
            curves: rows.clone(),
        };
        Ok(Self {
            headline: headline(data, scale, &curves),
            table,
            notes,
            charts: charts.map(|chart| ("curve", chart)).collect(),
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
}

/// Returns the sentence about the factor along which the value changes most.
fn headline(data: &StudyData, scale: StudyScale, curves: &[ResponseCurve]) -> String {
    let spread = |[least, most]: [&CurvePoint; 2]| most.value - least.value;
    let ends = curves.iter().filter_map(|own| Some((own, own.ends()?)));
    let strongest = ends.max_by(|(_, one), (_, other)| spread(*one).total_cmp(&spread(*other)));
    let Some((curve, [least, most])) = strongest else {
        return "No numeric factor has an effect that can be told from none".to_owned();
    };
    let factor = &data.factors[curve.factor];
    let text = |point: &CurvePoint| {
        let value = data.metric.value_text(scale, point.value);
        format!("{value} at {}", factor.levels[point.level])
    };
    format!(
        "{}: from {} to {}, averaged over all combinations of the other factors",
        factor.name,
        text(least),
        text(most)
    )
}
