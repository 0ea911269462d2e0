//! Estimates against the number of runs: `lapwing study effects --show stability`.

use lapwing_model::text::{counted, first_names, grouped};
use lapwing_stats::as_f64;
use lapwing_study::{StudyData, StudyScale, StudyStability};
use serde::Serialize;
use serde_json::json;

use super::{EndFields, StudyAnswer, StudyAnswerError, or_dash};
use crate::percent;
use crate::study::{StudyMetricText, chart};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

/// The effect of a treatment after so many instances.
#[derive(Default, Serialize)]
struct StabilityRow<'d> {
    instances: usize,
    treatment: &'d str,
    effect: Option<f64>,
    #[serde(flatten)]
    ends: EndFields,
    is_precise: bool,
    is_ordered: bool,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the mean effects estimated from ever more runs, which are stable if every interval is within the
    /// tolerance, a share, and the order of the strongest ones no longer changes.
    pub fn stability(
        data: &'d StudyData,
        scale: StudyScale,
        stability: &StudyStability,
        share: f64,
    ) -> Result<Self, StudyAnswerError> {
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
        let rows = stability.checks.iter().flat_map(|check| {
            (data.treatments.iter().zip(&check.effects)).map(|(treatment, effect)| StabilityRow {
                instances: check.instances,
                treatment: &treatment.name,
                effect: effect.map(|(change, _)| change),
                ends: effect.and_then(|(_, ends)| ends).into(),
                is_precise: check.is_precise,
                is_ordered: check.is_ordered,
            })
        });
        let rows: Vec<StabilityRow<'_>> = rows.collect();
        let ranking = stability.ranking.iter();
        let ranking: Vec<&String> = ranking.map(|at| &data.treatments[*at].name).collect();
        let more = json!({
            "is_stable": stability.stable_since().is_some(),
            "stable_since": stability.stable_since(),
            "ordered_since": stability.ordered_since,
            "precise_since": stability.precise_since,
            "more_instances": stability.more_instances,
            "tolerance": stability.tolerance,
            "ranking": ranking,
        });
        Ok(Self {
            headline: stability_text(data, scale, stability, share),
            table,
            notes: vec![
                "effects are means over all combinations of the others; `since` is the number of instances from which on the interval is within the tolerance".to_owned(),
            ],
            charts: vec![("stability", chart::stability(data, scale, stability))],
            ..Self::of_rows(data, scale, ("checks", &rows), more)?
        })
    }
}

fn reach_text(data: &StudyData, scale: StudyScale, reach: f64) -> String {
    format!("±{}", data.metric.size_text(scale, reach))
}

/// Returns since when effects are stable, or what is missing.
pub fn stability_text(
    data: &StudyData,
    scale: StudyScale,
    stability: &StudyStability,
    share: f64,
) -> String {
    let all = data.instances.len();
    if let Some(since) = stability.stable_since() {
        return format!(
            "stable since {since} of {}: every effect is known within ±{}, and the order of the strongest is settled",
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
        return format!(
            "{first}: these runs cannot tell the effects of {}",
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
            let checks = as_f64(stability.checks.len().saturating_sub(1)).max(1.0);
            let step = (as_f64(all) / checks).ceil();
            format!(
                "{first}: intervals or the order of the strongest effects were settled in the last check only; about {} more instances would confirm them",
                grouped(format_args!("{step:.0}"))
            )
        }
    }
}
