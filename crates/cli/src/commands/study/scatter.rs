//! `lapwing study effects --show scatter`: one treatment, before against after, by the presence of another.

use lapwing_show::study::{StudyMetricText, chart};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::deltas::{
    Delta, DeltaPairing, EffectModifier, effect_crossover, effect_modifiers, strongest_modifiers,
};
use lapwing_stats::{Confidence, FiellerInterval, PValue};
use lapwing_study::{StudyData, StudyScale};
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::{EndFields, StudyAnswer, p_text};
use super::deltas::measured;
use super::effects::StudyEffects;
use super::means::no_deltas;
use super::options::with_hint;
use crate::error::CliError;

#[derive(Default, Serialize)]
pub struct ModifierRow {
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

impl StudyEffects {
    /// Returns the modifiers of the treatment, and where its effect changes its sign.
    pub fn scatter(
        &self,
        data: &StudyData,
        scale: StudyScale,
    ) -> Result<StudyAnswer<ModifierRow>, CliError> {
        let sets = measured(data, scale)?;
        let deltas = sets.deltas(DeltaPairing::Means);
        let all = effect_modifiers(&sets, Confidence::P95);
        let strongest = strongest_modifiers(&all);
        let treatment = match &self.factor {
            Some(name) => data.treatment(name).map_err(with_hint)?,
            None => {
                let sizes = strongest
                    .iter()
                    .map(|it| (it.factor, it.difference().abs()));
                let most = sizes.max_by(|one, other| one.1.total_cmp(&other.1));
                most.map_or(0, |(factor, _)| factor)
            }
        };
        let own: Vec<Delta> = deltas
            .iter()
            .copied()
            .filter(|it| it.factor == treatment)
            .collect();
        if own.is_empty() {
            return Err(no_deltas());
        }
        let by = match &self.by {
            Some(name) => Some(data.treatment(name).map_err(with_hint)?),
            None => strongest
                .iter()
                .find(|it| it.factor == treatment)
                .map(|it| it.other),
        };
        let mut modifiers: Vec<&EffectModifier> =
            all.iter().filter(|it| it.factor == treatment).collect();
        let evidence = |it: &EffectModifier| it.p_value.map_or(2.0, PValue::value);
        modifiers.sort_by(|one, other| {
            let sizes = other.difference().abs().total_cmp(&one.difference().abs());
            evidence(one).total_cmp(&evidence(other)).then(sizes)
        });
        let mut table = Table::new(&[
            ("by", Left),
            ("without it", Right),
            ("with it", Right),
            ("difference", Right),
            ("quadruples", Right),
            ("p adjusted", Right),
        ])
        .dispensable(&["quadruples"]);
        for it in &modifiers {
            table.row(vec![
                data.treatments[it.other].name.clone(),
                data.metric.change_text(scale, it.without),
                data.metric.change_text(scale, it.with),
                data.metric
                    .change_with_interval(scale, it.difference(), it.interval),
                it.quadruples.to_string(),
                p_text(it.adjusted_p_value.map(PValue::value)),
            ]);
        }
        let (crossover, notes) = crossover(data, scale, &own);
        let chosen = modifiers.iter().find(|it| Some(it.other) == by);
        Ok(StudyAnswer {
            headline: headline(data, scale, treatment, chosen.copied(), &own),
            table,
            notes,
            rows: modifiers.iter().map(|it| row(data, it)).collect(),
            key: "modifiers",
            more: json!({"treatment": data.treatments[treatment].name, "crossover": crossover, "pairs": own.len()}),
            charts: vec![(
                "scatter",
                chart::scatter(data, scale, treatment, by, &deltas),
            )],
        })
    }
}

fn headline(
    data: &StudyData,
    scale: StudyScale,
    treatment: usize,
    by: Option<&EffectModifier>,
    own: &[Delta],
) -> String {
    let name = &data.treatments[treatment].name;
    let better = own
        .iter()
        .filter(|it| data.metric.is_gain(scale, it.change()))
        .count();
    let first = format!(
        "{name} is better in {better} of {} pairs of settings",
        own.len()
    );
    let Some(by) = by else {
        return first;
    };
    let other = &data.treatments[by.other].name;
    let [without, with] = [by.without, by.with].map(|it| data.metric.change_text(scale, it));
    let doubt = if by.adjusted_p_value.is_some_and(|p| p.value() <= 0.05) {
        ""
    } else {
        " (not distinguishable from chance)"
    };
    format!("{first}; {without} without {other}, {with} with it{doubt}")
}

/// Returns the crossover for programs and in words.
fn crossover(data: &StudyData, scale: StudyScale, own: &[Delta]) -> (Value, Vec<String>) {
    let Some(found) = effect_crossover(own, Confidence::P95) else {
        return (Value::Null, Vec::new());
    };
    let ends = match found.level_interval {
        FiellerInterval::Bounded(interval) => Some(interval),
        FiellerInterval::Unbounded => None,
    };
    let value = |it: f64| data.metric.value_text(scale, it);
    let text = match (found.p_value <= 0.05, ends) {
        (true, Some(ends)) if found.is_measured => format!(
            "the effect depends on how slow a setting is: it changes its sign at {} [{}, {}]",
            value(found.level),
            value(ends.lower),
            value(ends.upper)
        ),
        (true, _) => "the effect depends on how slow a setting is, without a change of its sign among the measured ones".to_owned(),
        (false, _) => "the effect does not depend on how slow a setting is, as far as can be distinguished".to_owned(),
    };
    let json = json!({
        "slope": found.slope,
        "slope_lower": found.slope_interval.lower,
        "slope_upper": found.slope_interval.upper,
        "p_value": found.p_value,
        "level": found.level,
        "level_lower": ends.map(|it| it.lower),
        "level_upper": ends.map(|it| it.upper),
        "is_measured": found.is_measured,
    });
    (json, vec![text])
}

fn row(data: &StudyData, it: &EffectModifier) -> ModifierRow {
    ModifierRow {
        treatment: data.treatments[it.factor].name.clone(),
        other: data.treatments[it.other].name.clone(),
        without: it.without,
        with: it.with,
        difference: it.difference(),
        ends: it.interval.into(),
        quadruples: it.quadruples,
        flips: it.flips(),
        p_value: it.p_value.map(PValue::value),
        adjusted_p_value: it.adjusted_p_value.map(PValue::value),
    }
}
