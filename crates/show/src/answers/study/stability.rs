//! Estimates against the number of runs: `lapwing study effects --show stability`.

use lapwing_model::text::{counted, first_names, grouped};
use lapwing_stats::as_f64;
use lapwing_study::design::StudyModel;
use lapwing_study::{StabilityOptions, StudyData, StudyScale, StudyStability};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, StudyFields, share as share_on};
use super::{StudyAnswer, StudyAnswerError, or_dash};
use crate::percent;
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// Whether the effects are stable.
#[derive(Debug, Serialize, JsonSchema)]
struct StabilityFields<'d> {
    is_stable: bool,
    /// Number of instances from which on the effects are stable.
    stable_since: Option<usize>,
    /// Number of instances from which on the order of the strongest effects is settled.
    ordered_since: Option<usize>,
    /// Number of instances from which on every interval is within the tolerance.
    precise_since: Option<usize>,
    /// Number of further instances that would bring every effect within the tolerance; `null` if unknown.
    more_instances: Option<f64>,
    /// Number of further instances that would confirm effects that the last check settled.
    confirming_instances: Option<f64>,
    /// The largest reach of an interval, on the scale.
    tolerance: f64,
    /// The largest reach of an interval, as a share.
    within: f64,
    /// Whether pairs are assumed to have no effect.
    assumes_no_pairs: bool,
    /// The treatments, the strongest first.
    ranking: Vec<&'d str>,
    /// The effects after ever more instances, the last check first.
    checks: Vec<StabilityRow<'d>>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, StabilityFields<'_>>>("study-stability").listing("checks");

/// The effect of a treatment after so many instances.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct StabilityRow<'d> {
    instances: usize,
    treatment: &'d str,
    /// The mean effect over all combinations of the others, on the scale.
    effect: Option<f64>,
    #[serde(flatten)]
    change: ChangeFields,
    /// Half width of the interval, on the scale: only in the last check.
    known_within: Option<f64>,
    /// On the scale `log`: the half width as a share.
    known_within_share: Option<f64>,
    /// Number of instances from which on the interval is within the tolerance: only in the last check.
    since: Option<usize>,
    is_precise: bool,
    is_ordered: bool,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the mean effects estimated from ever more runs, which are stable if every interval is within the
    /// tolerance, a share, and the order of the strongest ones no longer changes.
    pub fn stability(
        data: &'d StudyData,
        options: &StabilityOptions,
        stability: &StudyStability,
    ) -> Result<Self, StudyAnswerError> {
        let scale = options.scale;
        let mut table = Table::new(&[
            ("treatment", Left),
            ("mean effect", Right),
            ("interval", Right),
            ("known within", Right),
            ("since", Right),
        ]);
        let reaches = stability.reaches();
        let last = stability.checks.last();
        for at in &stability.ranking {
            let effect = last.and_then(|check| check.effects[*at]);
            let interval = effect
                .and_then(|(change, ends)| Some(data.metric.interval_text(scale, change, ends?)));
            let since = stability.treatment_since(*at);
            table.row(vec![
                data.treatments[*at].name.clone(),
                or_dash(effect.map(|(change, _)| data.metric.change_text(scale, change))),
                or_dash(interval),
                or_dash(reaches[*at].map(|reach| reach_text(data, scale, reach))),
                or_dash(since.map(|count| counted(count, "instance"))),
            ]);
        }
        let rows = checks(data, scale, stability);
        let ranking = stability.ranking.iter();
        let fields = StabilityFields {
            is_stable: stability.stable_since().is_some(),
            stable_since: stability.stable_since(),
            ordered_since: stability.ordered_since,
            precise_since: stability.precise_since,
            more_instances: stability.more_instances,
            confirming_instances: confirming(data, stability),
            tolerance: stability.tolerance,
            within: options.within,
            assumes_no_pairs: options.model == StudyModel::Main,
            ranking: ranking
                .map(|at| data.treatments[*at].name.as_str())
                .collect(),
            checks: rows.clone(),
        };
        let note = "effects are means over all combinations of the others; `since` is the number of instances from which on the interval is within the tolerance";
        let mut notes = vec![Note::new("average", note)];
        if !stability.aliased.is_empty() {
            let names = names(data, &stability.aliased);
            let text = format!(
                "{} could be the effects of pairs: `lapwing study design --augment --unalias` chooses configurations that \
                 tell them apart where they matter, and `--model main` assumes that pairs have none",
                first_names(&names, 5)
            );
            notes.push(Note::new("aliased", text).with("treatments", names));
        }
        Ok(Self {
            headline: stability_text(data, options, stability),
            table,
            shown: Some(stability.ranking.len()),
            verdict: Some(if fields.is_stable {
                "stable"
            } else {
                "not_stable"
            }),
            notes,
            charts: vec![("stability", chart::stability(data, scale, stability))],
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
}

/// Returns the effects of all checks, the last one first and its strongest effects first.
fn checks<'d>(
    data: &'d StudyData,
    scale: StudyScale,
    stability: &StudyStability,
) -> Vec<StabilityRow<'d>> {
    let reaches = stability.reaches();
    let is_last = |number: usize| number + 1 == stability.checks.len();
    let checks = stability.checks.iter().enumerate().rev();
    let rows = checks.flat_map(|(number, check)| {
        let reaches = &reaches;
        stability.ranking.iter().map(move |&at| {
            let effect = check.effects[at];
            let change = effect.map(|(change, _)| change);
            let known_within = reaches[at].filter(|_| is_last(number));
            StabilityRow {
                instances: check.instances,
                treatment: &data.treatments[at].name,
                effect: change,
                change: ChangeFields::new(scale, change, effect.and_then(|(_, ends)| ends)),
                known_within,
                known_within_share: share_on(scale, known_within),
                since: stability.treatment_since(at).filter(|_| is_last(number)),
                is_precise: check.is_precise,
                is_ordered: check.is_ordered,
            }
        })
    });
    rows.collect()
}

/// Returns the number of further instances that would confirm effects that only the last check settled.
fn confirming(data: &StudyData, stability: &StudyStability) -> Option<f64> {
    let is_settled = stability.more_instances.is_none_or(|more| more <= 0.0);
    if stability.stable_since().is_some() || !is_settled {
        return None;
    }
    let checks = as_f64(stability.checks.len().saturating_sub(1)).max(1.0);
    Some((as_f64(data.instances.len()) / checks).ceil())
}

fn reach_text(data: &StudyData, scale: StudyScale, reach: f64) -> String {
    format!("±{}", data.metric.size_text(scale, reach))
}

/// Returns since when the effects on a benchmark are stable, or what is missing.
pub fn stability_note(
    data: &StudyData,
    options: &StabilityOptions,
    stability: &StudyStability,
) -> Note {
    let (scale, within) = (options.scale, options.within);
    let text = stability_text(data, options, stability);
    let reaches = stability.reaches().into_iter().flatten();
    let widest = reaches.max_by(f64::total_cmp);
    Note::new("stability", format!("{}: {text}", data.benchmark))
        .with("benchmark", data.benchmark.as_str())
        .with("instances", data.instances.len())
        .with("stable_since", stability.stable_since())
        .with("more_instances", stability.more_instances)
        .with("confirming_instances", confirming(data, stability))
        .with("known_within", widest)
        .with("known_within_share", share_on(scale, widest))
        .with("within", within)
        .with("assumes_no_pairs", options.model == StudyModel::Main)
        .with("aliased", names(data, &stability.aliased))
}

fn names<'d>(data: &'d StudyData, treatments: &[usize]) -> Vec<&'d str> {
    let names = treatments
        .iter()
        .map(|at| data.treatments[*at].name.as_str());
    names.collect()
}

/// Returns since when effects are stable, or what is missing.
fn stability_text(
    data: &StudyData,
    options: &StabilityOptions,
    stability: &StudyStability,
) -> String {
    let StabilityOptions {
        scale,
        within: share,
        ..
    } = *options;
    let all = data.instances.len();
    if let Some(since) = stability.stable_since() {
        let assumption = match options.model {
            StudyModel::Main => ", if pairs have no effect",
            StudyModel::Pairs => "",
        };
        return format!(
            "stable since {since} of {}: every effect is known within ±{}, and the order of the strongest is settled{assumption}",
            counted(all, "instance"),
            percent(share)
        );
    }
    let first = format!("not yet stable after {}", counted(all, "instance"));
    let reaches = stability.reaches();
    let unknown: Vec<&str> = (stability.ranking.iter())
        .filter(|at| reaches[**at].is_none())
        .map(|at| data.treatments[*at].name.as_str())
        .collect();
    if !unknown.is_empty() {
        let from = if stability.aliased.is_empty() {
            ""
        } else {
            " from those of pairs"
        };
        return format!(
            "{first}: these runs cannot tell the effects of {}{from}",
            first_names(unknown, 5)
        );
    }
    let widest = (reaches.iter().zip(&data.treatments))
        .filter_map(|(reach, treatment)| Some(((*reach)?, treatment)))
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match (stability.more_instances, widest) {
        (Some(more), Some((reach, treatment))) if more > 0.0 => format!(
            "{first}: the effect of {} is known within {}; about {} more instances like these would bring every effect within ±{}",
            treatment.name,
            reach_text(data, scale, reach),
            grouped(format_args!("{more:.0}")),
            percent(share)
        ),
        (_, _) => {
            let step = confirming(data, stability).unwrap_or_default();
            format!(
                "{first}: intervals or the order of the strongest effects were settled in the last check only; about {} more instances would confirm them",
                grouped(format_args!("{step:.0}"))
            )
        }
    }
}
