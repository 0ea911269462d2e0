//! A treatment, before against after, by the presence of another: `lapwing study effects --show scatter`.

use lapwing_model::text::grouped;
use lapwing_study::{
    ConditionalEffect, LevelEffect, StudyContrast, StudyData, StudyFinding, StudyScale,
    TreatmentScatter,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, ContrastFields, StudyFields, value};
use super::{StudyAnswer, StudyAnswerError, p_text};
use crate::study::{StudyMetricText, base_text, chart, study_finding_text};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// The effect of a treatment and its dependence on others, by the model of the findings.
#[derive(Debug, Serialize, JsonSchema)]
struct ScatterFields<'d> {
    treatment: &'d str,
    /// The other treatment that distinguishes the settings.
    by: Option<&'d str>,
    /// Number of pairs of settings that differ by the treatment alone.
    pairs: usize,
    /// Number of those that are better with it.
    better: usize,
    /// The effect averaged over all combinations, if there is one.
    average: Option<ContrastFields>,
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
    /// A low value in the unit, one setting in ten is below, and the effect there.
    low_value: f64,
    low: ContrastFields,
    /// A high value in the unit, one setting in ten is above, and the effect there.
    high_value: f64,
    high: ContrastFields,
    /// The value at which the effect changes its sign, in the unit, if both sides are proven.
    level: Option<f64>,
    level_lower: Option<f64>,
    level_upper: Option<f64>,
}

/// The effect of a treatment without and with another.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct ModifierRow {
    treatment: String,
    other: String,
    without: ContrastFields,
    with: ContrastFields,
    difference: f64,
    #[serde(flatten)]
    change: ChangeFields,
}

impl<'d> StudyAnswer<'d> {
    /// Returns what changes the effect of a treatment, and where it changes its sign: see [`TreatmentScatter::new`].
    pub fn scatter(
        data: &'d StudyData,
        scale: Option<StudyScale>,
        treatment: Option<&str>,
        by: Option<&str>,
    ) -> Result<Self, StudyAnswerError> {
        let natural = scale.unwrap_or(StudyScale::Time);
        let scatter = TreatmentScatter::new(data, scale, treatment, by)?;
        let pairs = scatter.own_deltas();
        let scale = scatter.scale;
        let mut table = Table::new(&[
            ("by", Left),
            ("without it, or at the base", Right),
            ("p", Right),
            ("with it", Right),
            ("p", Right),
        ]);
        let change = |own: &StudyContrast| {
            data.metric
                .change_with_interval(scale, own.change, own.interval)
        };
        for own in &scatter.modifiers {
            table.row(vec![
                data.treatments[own.other].name.clone(),
                change(&own.without),
                p_text(Some(own.without.p_value)),
                change(&own.with),
                p_text(Some(own.with.p_value)),
            ]);
        }
        let rows: Vec<ModifierRow> = (scatter.modifiers.iter())
            .map(|own| row(data, scale, own))
            .collect();
        let gains = pairs
            .iter()
            .filter(|it| data.metric.is_gain(natural, it.change()));
        let fields = ScatterFields {
            treatment: &data.treatments[scatter.treatment].name,
            by: scatter.by.map(|by| data.treatments[by].name.as_str()),
            pairs: pairs.len(),
            better: gains.count(),
            average: scatter.average.map(|own| ContrastFields::new(scale, &own)),
            crossover: scatter.level.as_ref().map(|own| crossover(scale, own)),
            modifiers: rows.clone(),
        };
        let notes = scatter.level.clone().map(|level| {
            let text = study_finding_text(&StudyFinding::Level(level), data, scale);
            Note::new("crossover", text)
        });
        let (treatment, by) = (scatter.treatment, scatter.by);
        let chart = chart::scatter(data, natural, treatment, by, &scatter.deltas);
        Ok(Self {
            headline: headline(data, &scatter, &fields),
            table,
            notes: notes.into_iter().collect(),
            charts: vec![("scatter", chart)],
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
}

fn headline(data: &StudyData, scatter: &TreatmentScatter, fields: &ScatterFields<'_>) -> String {
    let first = format!(
        "{} is better in {} of {} pairs of settings",
        fields.treatment,
        grouped(fields.better),
        grouped(fields.pairs)
    );
    let change = |own: &StudyContrast| {
        (data.metric).change_with_interval(scatter.scale, own.change, own.interval)
    };
    let modifier = scatter
        .modifiers
        .iter()
        .find(|own| Some(own.other) == scatter.by);
    match (modifier, fields.by, scatter.average) {
        (Some(own), Some(by), _) => format!(
            "{first}; {} {}, {} {}",
            change(&own.without),
            base_text(data, own.other)
                .map_or_else(|| format!("without {by}"), |base| format!("at {base}")),
            change(&own.with),
            base_text(data, own.other).map_or_else(|| "with it".to_owned(), |_| format!("at {by}"))
        ),
        (None, _, Some(average)) if scatter.level.is_some() => format!(
            "{first}; {} on average, and it depends on how slow a setting is",
            change(&average)
        ),
        (None, Some(by), Some(average)) => format!(
            "{first}; {} on average, and {by} does not change that as far as can be told",
            change(&average)
        ),
        (None, None, Some(average)) => format!(
            "{first}; {} on average, and no other factor changes that as far as can be told",
            change(&average)
        ),
        (_, _, None) => format!("{first}; no effect can be told from none"),
        (Some(_), None, Some(_)) => first,
    }
}

fn crossover(scale: StudyScale, own: &LevelEffect) -> CrossoverFields {
    CrossoverFields {
        low_value: value(scale, own.low.0),
        low: ContrastFields::new(scale, &own.low.1),
        high_value: value(scale, own.high.0),
        high: ContrastFields::new(scale, &own.high.1),
        level: own.crossing.map(|own| value(scale, own.0)),
        level_lower: own.crossing.map(|own| value(scale, own.1.lower)),
        level_upper: own.crossing.map(|own| value(scale, own.1.upper)),
    }
}

fn row(data: &StudyData, scale: StudyScale, own: &ConditionalEffect) -> ModifierRow {
    ModifierRow {
        treatment: data.treatments[own.treatment].name.clone(),
        other: data.treatments[own.other].name.clone(),
        without: ContrastFields::new(scale, &own.without),
        with: ContrastFields::new(scale, &own.with),
        difference: own.difference(),
        change: ChangeFields::new(scale, Some(own.difference()), None),
    }
}
