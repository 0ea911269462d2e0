//! The same study in two environments or workloads: `lapwing study compare`.

use lapwing_model::text::{counted, first_names, joined_with_and, plural};
use lapwing_study::{
    CarriedEffect, CarriedPrediction, CarriedVerdict, StudyCarryOver, StudyData, StudyScale,
    verdict_counts,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, EndFields, StudyFields, share};
use super::{StudyAnswer, StudyAnswerError, or_dash, p_text};
use crate::study::{StudyMetricText, chart, data_note};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// Two studies with the names of their sides.
#[derive(Debug)]
pub struct ComparedStudies {
    /// The names of the sides.
    pub names: [String; 2],
    /// The data of each side.
    pub data: [StudyData; 2],
    /// Notes on the choice of the sides.
    pub notes: Vec<Note>,
}

/// Which effects carry over.
#[derive(Debug, Serialize, JsonSchema)]
struct CarryOverFields<'d> {
    /// The names of both sides.
    sides: [&'d str; 2],
    /// What was measured on each side.
    sizes: Vec<SideSize<'d>>,
    treatments: CarriedCounts,
    interactions: CarriedCounts,
    first_predicts_second: Option<CarriedPredictionFields>,
    second_predicts_first: Option<CarriedPredictionFields>,
    /// Effects that only the first side can tell.
    only_first: &'d [String],
    /// Effects that only the second side can tell.
    only_second: &'d [String],
    /// Factors that are not compared, because their base levels differ.
    other_bases: &'d [String],
    /// Those of treatments and the clear ones of pairs first.
    effects: Vec<CarriedRow>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, CarryOverFields<'_>>>("study-compare").listing("effects");

/// What was measured on a side.
#[derive(Debug, Serialize, JsonSchema)]
struct SideSize<'d> {
    side: &'d str,
    factors: usize,
    settings: usize,
    instances: usize,
}

/// Number of effects by verdict.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct CarriedCounts {
    all: usize,
    carry_over: usize,
    differ: usize,
    reverse: usize,
    negligible: usize,
    undetermined: usize,
}

/// How well the model of one side predicts settings of the other.
#[derive(Debug, Serialize, JsonSchema)]
struct CarriedPredictionFields {
    /// Number of settings that it can predict.
    settings: usize,
    rank_correlation: Option<f64>,
    /// R² apart from a constant.
    r_squared: Option<f64>,
    /// By how much the setting that the model recommends is worse than the best one, on the scale.
    regret: f64,
    /// On the scale `log`: the same as a share.
    regret_share: Option<f64>,
}

/// An effect on both sides.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct CarriedRow {
    effect: String,
    is_pair: bool,
    first: f64,
    first_lower: Option<f64>,
    first_upper: Option<f64>,
    first_share: Option<f64>,
    first_share_lower: Option<f64>,
    first_share_upper: Option<f64>,
    second: f64,
    second_lower: Option<f64>,
    second_upper: Option<f64>,
    second_share: Option<f64>,
    second_share_lower: Option<f64>,
    second_share_upper: Option<f64>,
    difference: Option<f64>,
    #[serde(flatten)]
    change: ChangeFields,
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
    ) -> Result<Self, StudyAnswerError> {
        let [first, _] = &studies.data;
        let sides = studies.names.each_ref().map(String::as_str);
        let is_listed = |effect: &&CarriedEffect| match effect.verdict {
            CarriedVerdict::Undetermined | CarriedVerdict::Negligible => !effect.is_pair,
            CarriedVerdict::CarriesOver | CarriedVerdict::Differs | CarriedVerdict::Reverses => {
                true
            }
        };
        let (mut effects, others): (Vec<&CarriedEffect>, Vec<&CarriedEffect>) =
            carry_over.effects.iter().partition(is_listed);
        let shown = effects.len();
        effects.extend(others);
        let rows: Vec<CarriedRow> = effects.iter().map(|effect| row(scale, effect)).collect();
        let [first_predicts_second, second_predicts_first] = carry_over
            .predictions
            .map(|prediction| prediction.map(|it| prediction_fields(scale, it)));
        let sizes = sides
            .iter()
            .zip(&studies.data)
            .map(|(side, data)| SideSize {
                side,
                factors: data.factors.len(),
                settings: data.set_means(StudyScale::Time).len(),
                instances: data.instances.len(),
            });
        let fields = CarryOverFields {
            sides,
            sizes: sizes.collect(),
            treatments: CarriedCounts::of(&carry_over.effects, false),
            interactions: CarriedCounts::of(&carry_over.effects, true),
            first_predicts_second,
            second_predicts_first,
            only_first: &carry_over.only[0],
            only_second: &carry_over.only[1],
            other_bases: &carry_over.other_bases,
            effects: rows.clone(),
        };
        let mut notes = studies.notes.clone();
        notes.extend(notes_of(carry_over, studies, scale));
        let of_sides = sides.iter().zip(&studies.data).flat_map(|(side, data)| {
            data.notes.iter().map(data_note).map(move |mut note| {
                note.text = format!("{side}: {}", note.text);
                note.with("side", *side)
            })
        });
        let chart = chart::carry_over(first, scale, sides, carry_over);
        Ok(Self {
            headline: headline(carry_over, sides),
            table: table(first, scale, sides, &effects),
            shown: Some(shown),
            notes,
            data_notes: of_sides.collect(),
            charts: vec![("effects", chart)],
            ..Self::of_view(&KIND, first, scale, &rows, fields)?
        })
    }
}

impl CarriedCounts {
    fn of(effects: &[CarriedEffect], is_pair: bool) -> Self {
        let mut counts = Self::default();
        for (verdict, count) in verdict_counts(effects, is_pair) {
            counts.all += count;
            let counted = match verdict {
                CarriedVerdict::CarriesOver => &mut counts.carry_over,
                CarriedVerdict::Differs => &mut counts.differ,
                CarriedVerdict::Reverses => &mut counts.reverse,
                CarriedVerdict::Negligible => &mut counts.negligible,
                CarriedVerdict::Undetermined => &mut counts.undetermined,
            };
            *counted = count;
        }
        counts
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
) -> Vec<Note> {
    let mut notes = Vec::new();
    for (from, prediction) in carry_over.predictions.iter().enumerate() {
        let to = 1 - from;
        let [one, other] = [from, to].map(|side| studies.names[side].as_str());
        notes.push(match prediction {
            Some(prediction) => prediction_text(prediction, &studies.data[to], [one, other], scale),
            None => {
                let text =
                    format!("the model of {one} predicts fewer than three settings of {other}");
                Note::new("few_predictions", text)
            }
        });
    }
    for (name, only) in studies.names.iter().zip(&carry_over.only) {
        if !only.is_empty() {
            let effects = first_names(only, 5);
            let text = format!("only {name} tells the effects of {effects}");
            notes.push(Note::new("one_side", text).with("effects", only.clone()));
        }
    }
    if !carry_over.other_bases.is_empty() {
        let text = format!(
            "not compared, because their base levels differ: {}",
            first_names(&carry_over.other_bases, 5)
        );
        let note = Note::new("other_bases", text);
        notes.push(note.with("factors", carry_over.other_bases.clone()));
    }
    let text = "effects are means over all combinations of the others; `carries over` is the same sign on both sides without evidence of a difference, `negligible` within ±5 %";
    notes.push(Note::new("verdicts", text).with("negligible_within", 0.05));
    notes
}

fn prediction_text(
    prediction: &CarriedPrediction,
    to: &StudyData,
    [one, other]: [&str; 2],
    scale: StudyScale,
) -> Note {
    let rank = prediction
        .rank_correlation
        .map_or(String::new(), |it| format!("rank correlation {it:.2}, "));
    let share = prediction.r_squared.map_or(String::new(), |share| {
        format!("R² {share:.2} apart from a constant; ")
    });
    let regret = to.metric.size_text(scale, prediction.regret);
    let text = format!(
        "the model of {one} predicts {} of {other}: {rank}{share}the one that it recommends is {regret} worse than the best",
        counted(prediction.settings, "setting")
    );
    Note::new("prediction", text).with("settings", prediction.settings)
}

fn prediction_fields(scale: StudyScale, prediction: CarriedPrediction) -> CarriedPredictionFields {
    CarriedPredictionFields {
        settings: prediction.settings,
        rank_correlation: prediction.rank_correlation,
        r_squared: prediction.r_squared,
        regret: prediction.regret,
        regret_share: share(scale, Some(prediction.regret)),
    }
}

fn row(scale: StudyScale, effect: &CarriedEffect) -> CarriedRow {
    let [one, other] = effect.sides;
    let [first, second] = effect.sides.map(|side| EndFields::from(side.interval));
    let difference = effect.difference;
    CarriedRow {
        effect: effect.name.clone(),
        is_pair: effect.is_pair,
        first: one.effect,
        first_lower: first.lower,
        first_upper: first.upper,
        first_share: share(scale, Some(one.effect)),
        first_share_lower: share(scale, first.lower),
        first_share_upper: share(scale, first.upper),
        second: other.effect,
        second_lower: second.lower,
        second_upper: second.upper,
        second_share: share(scale, Some(other.effect)),
        second_share_lower: share(scale, second.lower),
        second_share_upper: share(scale, second.upper),
        difference: difference.map(|it| it.estimate),
        change: ChangeFields::new(
            scale,
            difference.map(|it| it.estimate),
            difference.map(|it| it.interval),
        ),
        p_value: difference.map(|it| it.p_value),
        adjusted_p_value: effect.adjusted_p_value,
        verdict: effect.verdict.name(),
    }
}
