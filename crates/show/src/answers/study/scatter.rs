//! A treatment, before against after, by the presence of another: `lapwing study effects --show scatter`.

use lapwing_stats::deltas::{Delta, EffectModifier, effect_crossover};
use lapwing_stats::{Confidence, FiellerInterval, PValue};
use lapwing_study::{StudyData, StudyScale, TreatmentScatter};
use serde::Serialize;
use serde_json::{Value, json};

use super::{EndFields, StudyAnswer, StudyAnswerError, p_text};
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

#[derive(Default, Serialize)]
struct ModifierRow {
    treatment: String,
    other: String,
    without: f64,
    with: f64,
    difference: f64,
    #[serde(flatten)]
    ends: EndFields,
    quadruples: usize,
    flips: bool,
    p_value: Option<f64>,
    adjusted_p_value: Option<f64>,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the modifiers of a treatment, and where its effect changes its sign: see [`TreatmentScatter::new`].
    pub fn scatter(
        data: &'d StudyData,
        scale: StudyScale,
        treatment: Option<&str>,
        by: Option<&str>,
    ) -> Result<Self, StudyAnswerError> {
        let scatter = TreatmentScatter::new(data, scale, treatment, by)?;
        let pairs = scatter.own_deltas();
        let TreatmentScatter {
            treatment,
            by,
            modifiers,
            deltas,
        } = scatter;
        let mut table = Table::new(&[
            ("by", Left),
            ("without it", Right),
            ("with it", Right),
            ("difference", Right),
            ("quadruples", Right),
            ("p adjusted", Right),
        ])
        .dispensable(&["quadruples"]);
        for modifier in &modifiers {
            let difference = modifier.difference();
            table.row(vec![
                data.treatments[modifier.other].name.clone(),
                data.metric.change_text(scale, modifier.without),
                data.metric.change_text(scale, modifier.with),
                data.metric
                    .change_with_interval(scale, difference, modifier.interval),
                modifier.quadruples.to_string(),
                p_text(modifier.adjusted_p_value.map(PValue::value)),
            ]);
        }
        let (crossover, notes) = crossover(data, scale, &pairs);
        let chosen = modifiers.iter().find(|modifier| Some(modifier.other) == by);
        let rows: Vec<ModifierRow> = modifiers.iter().map(|it| row(data, it)).collect();
        let more = json!({
            "treatment": data.treatments[treatment].name,
            "crossover": crossover,
            "pairs": pairs.len(),
        });
        let chart = chart::scatter(data, scale, treatment, by, &deltas);
        Ok(Self {
            headline: headline(data, scale, treatment, chosen, &pairs),
            table,
            notes,
            charts: vec![("scatter", chart)],
            ..Self::of_rows(data, scale, ("modifiers", &rows), more)?
        })
    }
}

fn headline(
    data: &StudyData,
    scale: StudyScale,
    treatment: usize,
    by: Option<&EffectModifier>,
    deltas: &[Delta],
) -> String {
    let name = &data.treatments[treatment].name;
    let better = deltas
        .iter()
        .filter(|delta| data.metric.is_gain(scale, delta.change()))
        .count();
    let first = format!(
        "{name} is better in {better} of {} pairs of settings",
        deltas.len()
    );
    let Some(by) = by else {
        return first;
    };
    let other = &data.treatments[by.other].name;
    let [without, with] =
        [by.without, by.with].map(|change| data.metric.change_text(scale, change));
    let doubt = if by.adjusted_p_value.is_some_and(|p| p.value() <= 0.05) {
        ""
    } else {
        " (not distinguishable from chance)"
    };
    format!("{first}; {without} without {other}, {with} with it{doubt}")
}

/// Returns the crossover for programs and in words.
fn crossover(data: &StudyData, scale: StudyScale, deltas: &[Delta]) -> (Value, Vec<String>) {
    let Some(crossover) = effect_crossover(deltas, Confidence::P95) else {
        return (Value::Null, Vec::new());
    };
    let ends = match crossover.level_interval {
        FiellerInterval::Bounded(interval) => Some(interval),
        FiellerInterval::Unbounded => None,
    };
    let value = |level: f64| data.metric.value_text(scale, level);
    let text = match (crossover.p_value <= 0.05, ends) {
        (true, Some(ends)) if crossover.is_measured => format!(
            "the effect depends on how slow a setting is: it changes its sign at {} [{}, {}]",
            value(crossover.level),
            value(ends.lower),
            value(ends.upper)
        ),
        (true, _) => "the effect depends on how slow a setting is, without a change of its sign among the measured ones".to_owned(),
        (false, _) => "the effect does not depend on how slow a setting is, as far as can be distinguished".to_owned(),
    };
    let json = json!({
        "slope": crossover.slope,
        "slope_lower": crossover.slope_interval.lower,
        "slope_upper": crossover.slope_interval.upper,
        "p_value": crossover.p_value,
        "level": crossover.level,
        "level_lower": ends.map(|ends| ends.lower),
        "level_upper": ends.map(|ends| ends.upper),
        "is_measured": crossover.is_measured,
    });
    (json, vec![text])
}

fn row(data: &StudyData, modifier: &EffectModifier) -> ModifierRow {
    ModifierRow {
        treatment: data.treatments[modifier.factor].name.clone(),
        other: data.treatments[modifier.other].name.clone(),
        without: modifier.without,
        with: modifier.with,
        difference: modifier.difference(),
        ends: modifier.interval.into(),
        quadruples: modifier.quadruples,
        flips: modifier.flips(),
        p_value: modifier.p_value.map(PValue::value),
        adjusted_p_value: modifier.adjusted_p_value.map(PValue::value),
    }
}
