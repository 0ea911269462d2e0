//! The same study in two environments or workloads: `lapwing study compare`.

use lapwing_model::text::{counted, first_names, joined_with_and, plural};
use lapwing_study::{
    CarriedEffect, CarriedPrediction, CarriedVerdict, StudyCarryOver, StudyData, StudyScale,
    verdict_counts,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{EndFields, StudyAnswer, StudyAnswerError, or_dash, p_text};
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

/// Two studies with the names of their sides.
#[derive(Debug)]
pub struct ComparedStudies {
    /// The names of the sides.
    pub names: [String; 2],
    /// The data of each side.
    pub data: [StudyData; 2],
    /// Notes on the choice of the sides.
    pub notes: Vec<String>,
}

/// Effects that the table lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedEffects {
    /// Those of treatments, and clear ones of pairs.
    Clear,
    /// All.
    All,
}

#[derive(Default, Serialize)]
struct CarriedRow {
    effect: String,
    is_pair: bool,
    first: f64,
    first_lower: Option<f64>,
    first_upper: Option<f64>,
    second: f64,
    second_lower: Option<f64>,
    second_upper: Option<f64>,
    difference: Option<f64>,
    #[serde(flatten)]
    ends: EndFields,
    p_value: Option<f64>,
    adjusted_p_value: Option<f64>,
    verdict: &'static str,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the effects of both sides, and how well each predicts the other.
    pub fn carry_over(
        studies: &'d ComparedStudies,
        scale: StudyScale,
        carry_over: &StudyCarryOver,
        listed: ListedEffects,
    ) -> Result<Self, StudyAnswerError> {
        let [first, _] = &studies.data;
        let sides = studies.names.each_ref().map(String::as_str);
        let is_listed = |effect: &&CarriedEffect| match effect.verdict {
            CarriedVerdict::Undetermined | CarriedVerdict::Negligible => {
                listed == ListedEffects::All || !effect.is_pair
            }
            CarriedVerdict::CarriesOver | CarriedVerdict::Differs | CarriedVerdict::Reverses => {
                true
            }
        };
        let shown: Vec<&CarriedEffect> = carry_over.effects.iter().filter(is_listed).collect();
        let mut notes = studies.notes.clone();
        notes.extend(notes_of(carry_over, studies, scale));
        if shown.len() < carry_over.effects.len() {
            let rest = counted(carry_over.effects.len() - shown.len(), "pair");
            notes.push(format!(
                "{rest} without a clear effect not shown; --all lists all"
            ));
        }
        for (name, data) in sides.iter().zip(&studies.data) {
            notes.extend(data.notes.iter().map(|note| format!("{name}: {note}")));
        }
        let rows: Vec<CarriedRow> = carry_over.effects.iter().map(row).collect();
        let [first_predicts, second_predicts] = carry_over
            .predictions
            .map(|prediction| prediction.map(prediction_json));
        let more = json!({
            "sides": sides,
            "sizes": studies.data.each_ref().map(StudyData::size_text),
            "first_predicts_second": first_predicts,
            "second_predicts_first": second_predicts,
            "only_first": carry_over.only[0],
            "only_second": carry_over.only[1],
            "notes": notes,
        });
        let chart = chart::carry_over(first, scale, sides, carry_over);
        Ok(Self {
            headline: headline(carry_over, sides),
            table: table(first, scale, sides, &shown),
            notes,
            data_notes: &[],
            charts: vec![("effects", chart)],
            ..Self::of_rows(first, scale, ("effects", &rows), more)?
        })
    }
}

fn headline(carry_over: &StudyCarryOver, sides: [&str; 2]) -> String {
    let part = |is_pair: bool, what: &str| {
        let counts = verdict_counts(&carry_over.effects, is_pair);
        let all: usize = counts.iter().map(|(_, count)| count).sum();
        let texts: Vec<String> = counts
            .iter()
            .map(|(verdict, count)| format!("{count} {}", words(*verdict, *count)))
            .collect();
        format!("of {} {}", counted(all, what), joined_with_and(&texts))
    };
    let has_pairs = carry_over.effects.iter().any(|effect| effect.is_pair);
    let pairs = has_pairs.then(|| format!("; {}", part(true, "interaction")));
    let [one, other] = sides;
    let pairs = pairs.unwrap_or_default();
    format!("{one} → {other}: {}{pairs}", part(false, "treatment"))
}

fn words(verdict: CarriedVerdict, count: usize) -> &'static str {
    let (one, several) = match verdict {
        CarriedVerdict::CarriesOver => ("carries over", "carry over"),
        CarriedVerdict::Differs => ("differs", "differ"),
        CarriedVerdict::Reverses => ("reverses", "reverse"),
        CarriedVerdict::Negligible => (
            "is negligible on both sides",
            "are negligible on both sides",
        ),
        CarriedVerdict::Undetermined => ("is undetermined", "are undetermined"),
    };
    plural(count, one, several)
}

fn table(data: &StudyData, scale: StudyScale, sides: [&str; 2], shown: &[&CarriedEffect]) -> Table {
    let mut table = Table::new(&[
        ("effect", Left),
        (sides[0], Right),
        (sides[1], Right),
        ("difference", Right),
        ("p adjusted", Right),
        ("verdict", Left),
    ])
    .dispensable(&["p adjusted"]);
    let change = |change, interval| data.metric.change_with_interval(scale, change, interval);
    for effect in shown {
        let [one, other] = effect.sides.map(|side| change(side.effect, side.interval));
        let difference = effect.difference;
        table.row(vec![
            effect.name.clone(),
            one,
            other,
            or_dash(difference.map(|it| change(it.estimate, Some(it.interval)))),
            p_text(effect.adjusted_p_value),
            effect.verdict.name().to_owned(),
        ]);
    }
    table
}

fn notes_of(
    carry_over: &StudyCarryOver,
    studies: &ComparedStudies,
    scale: StudyScale,
) -> Vec<String> {
    let mut notes = Vec::new();
    for (from, prediction) in carry_over.predictions.iter().enumerate() {
        let to = 1 - from;
        let [one, other] = [from, to].map(|side| studies.names[side].as_str());
        notes.push(match prediction {
            Some(prediction) => prediction_text(prediction, &studies.data[to], [one, other], scale),
            None => format!("the model of {one} predicts fewer than three settings of {other}"),
        });
    }
    for (name, only) in studies.names.iter().zip(&carry_over.only) {
        if !only.is_empty() {
            let effects = first_names(only, 5);
            notes.push(format!("only {name} tells the effects of {effects}"));
        }
    }
    if !carry_over.other_bases.is_empty() {
        notes.push(format!(
            "not compared, because their base levels differ: {}",
            first_names(&carry_over.other_bases, 5)
        ));
    }
    notes.push("effects are means over all combinations of the others; `carries over` is the same sign on both sides without evidence of a difference, `negligible` within ±5 %".to_owned());
    notes
}

fn prediction_text(
    prediction: &CarriedPrediction,
    to: &StudyData,
    [one, other]: [&str; 2],
    scale: StudyScale,
) -> String {
    let rank = prediction
        .rank_correlation
        .map_or(String::new(), |it| format!("rank correlation {it:.2}, "));
    let share = prediction.r_squared.map_or(String::new(), |share| {
        format!("R² {share:.2} apart from a constant; ")
    });
    let regret = to.metric.size_text(scale, prediction.regret);
    format!(
        "the model of {one} predicts {} of {other}: {rank}{share}the one that it recommends is {regret} worse than the best",
        counted(prediction.settings, "setting")
    )
}

fn prediction_json(prediction: CarriedPrediction) -> Value {
    json!({
        "settings": prediction.settings,
        "rank_correlation": prediction.rank_correlation,
        "r_squared": prediction.r_squared,
        "regret": prediction.regret,
    })
}

fn row(effect: &CarriedEffect) -> CarriedRow {
    let [one, other] = effect.sides;
    CarriedRow {
        effect: effect.name.clone(),
        is_pair: effect.is_pair,
        first: one.effect,
        first_lower: one.interval.map(|it| it.lower),
        first_upper: one.interval.map(|it| it.upper),
        second: other.effect,
        second_lower: other.interval.map(|it| it.lower),
        second_upper: other.interval.map(|it| it.upper),
        difference: effect.difference.map(|it| it.estimate),
        ends: effect.difference.map(|it| it.interval).into(),
        p_value: effect.difference.map(|it| it.p_value),
        adjusted_p_value: effect.adjusted_p_value,
        verdict: effect.verdict.name(),
    }
}
