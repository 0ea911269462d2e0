//! A treatment, before against after, by the presence of another: `lapwing study effects --show scatter`.

use lapwing_stats::deltas::{Delta, EffectModifier, effect_crossover};
use lapwing_stats::{Confidence, FiellerInterval, PValue};
use lapwing_study::{StudyData, StudyScale, TreatmentScatter};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, StudyFields, share, value};
use super::{StudyAnswer, StudyAnswerError, p_text};
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// What the effect of a treatment depends on.
#[derive(Debug, Serialize, JsonSchema)]
struct ScatterFields<'d> {
    treatment: &'d str,
    /// The other treatment that distinguishes the settings.
    by: Option<&'d str>,
    /// Number of pairs of settings that differ by the treatment alone.
    pairs: usize,
    /// Number of those that are better with it.
    better: usize,
    /// Where the effect changes its sign.
    crossover: Option<CrossoverFields>,
    modifiers: Vec<ModifierRow>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, ScatterFields<'_>>>("study-scatter").listing("modifiers");

/// How the effect of a treatment depends on the value of the setting.
#[derive(Debug, Serialize, JsonSchema)]
struct CrossoverFields {
    slope: f64,
    slope_lower: f64,
    slope_upper: f64,
    p_value: f64,
    /// The value at which the effect changes its sign, in the unit.
    level: f64,
    level_lower: Option<f64>,
    level_upper: Option<f64>,
    /// Whether the level is among the measured values.
    is_measured: bool,
}

/// The effect of a treatment without and with another.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct ModifierRow {
    treatment: String,
    other: String,
    without: f64,
    without_share: Option<f64>,
    with: f64,
    with_share: Option<f64>,
    difference: f64,
    #[serde(flatten)]
    change: ChangeFields,
    /// Number of quadruples of settings with and without both.
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
        let rows: Vec<ModifierRow> = modifiers.iter().map(|it| row(data, scale, it)).collect();
        let gains = pairs
            .iter()
            .filter(|it| data.metric.is_gain(scale, it.change()));
        let fields = ScatterFields {
            treatment: &data.treatments[treatment].name,
            by: by.map(|by| data.treatments[by].name.as_str()),
            pairs: pairs.len(),
            better: gains.count(),
            crossover,
            modifiers: rows.clone(),
        };
        let chart = chart::scatter(data, scale, treatment, by, &deltas);
        Ok(Self {
            headline: headline(data, scale, chosen, &fields),
            table,
            notes,
            charts: vec![("scatter", chart)],
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
}

fn headline(
    data: &StudyData,
    scale: StudyScale,
    by: Option<&EffectModifier>,
    fields: &ScatterFields<'_>,
) -> String {
    let first = format!(
        "{} is better in {} of {} pairs of settings",
        fields.treatment, fields.better, fields.pairs
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
fn crossover(
    data: &StudyData,
    scale: StudyScale,
    deltas: &[Delta],
) -> (Option<CrossoverFields>, Vec<Note>) {
    let Some(crossover) = effect_crossover(deltas, Confidence::P95) else {
        return (None, Vec::new());
    };
    let ends = match crossover.level_interval {
        FiellerInterval::Bounded(interval) => Some(interval),
        FiellerInterval::Unbounded => None,
    };
    let level_text = |level: f64| data.metric.value_text(scale, level);
    let text = match (crossover.p_value <= 0.05, ends) {
        (true, Some(ends)) if crossover.is_measured => format!(
            "the effect depends on how slow a setting is: it changes its sign at {} [{}, {}]",
            level_text(crossover.level),
            level_text(ends.lower),
            level_text(ends.upper)
        ),
        (true, _) => "the effect depends on how slow a setting is, without a change of its sign among the measured ones".to_owned(),
        (false, _) => "the effect does not depend on how slow a setting is, as far as can be distinguished".to_owned(),
    };
    let fields = CrossoverFields {
        slope: crossover.slope,
        slope_lower: crossover.slope_interval.lower,
        slope_upper: crossover.slope_interval.upper,
        p_value: crossover.p_value,
        level: value(scale, crossover.level),
        level_lower: ends.map(|ends| value(scale, ends.lower)),
        level_upper: ends.map(|ends| value(scale, ends.upper)),
        is_measured: crossover.is_measured,
    };
    (Some(fields), vec![Note::new("crossover", text)])
}

fn row(data: &StudyData, scale: StudyScale, modifier: &EffectModifier) -> ModifierRow {
    let difference = modifier.difference();
    ModifierRow {
        treatment: data.treatments[modifier.factor].name.clone(),
        other: data.treatments[modifier.other].name.clone(),
        without: modifier.without,
        without_share: share(scale, Some(modifier.without)),
        with: modifier.with,
        with_share: share(scale, Some(modifier.with)),
        difference,
        change: ChangeFields::new(scale, Some(difference), modifier.interval),
        quadruples: modifier.quadruples,
        flips: modifier.flips(),
        p_value: modifier.p_value.map(PValue::value),
        adjusted_p_value: modifier.adjusted_p_value.map(PValue::value),
    }
}
