//! `lapwing study effects --show stability`: estimates against the number of runs.

use lapwing_model::text::{counted, first_names, grouped};
use lapwing_record::Filter;
use lapwing_show::percent;
use lapwing_show::study::{StudyMetricText, chart};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::{Seed, as_f64};
use lapwing_study::{StabilityOptions, StabilityOrder, StudyData, StudyScale, StudyStability};
use serde::Serialize;
use serde_json::json;

use super::answer::{EndFields, StudyAnswer};
use super::effects::StudyEffects;
use super::options::each_known_benchmark;
use crate::cleaning::CleaningOptions;
use crate::error::CliError;
use crate::options::Context;

/// The effect of a treatment after so many instances.
#[derive(Default, Serialize)]
pub struct StabilityRow {
    instances: usize,
    treatment: String,
    effect: Option<f64>,
    #[serde(flatten)]
    ends: EndFields,
    is_precise: bool,
    is_ordered: bool,
}

impl StudyEffects {
    /// Returns the mean effects estimated from ever more runs. They are stable when every interval is within the
    /// tolerance and the order of the strongest ones no longer changes.
    pub fn stability(
        &self,
        data: &StudyData,
        scale: StudyScale,
    ) -> Result<StudyAnswer<StabilityRow>, CliError> {
        let usual = StabilityOptions::default();
        let share = self.within.unwrap_or(usual.within);
        let options = StabilityOptions {
            scale,
            within: share,
            strongest: self.strongest.unwrap_or(usual.strongest),
            order: match self.seed {
                Some(seed) => StabilityOrder::Random(Seed(seed)),
                None => StabilityOrder::Measured,
            },
            ..usual
        };
        let found = StudyStability::new(data, &options).map_err(|error| {
            CliError::not_enough(error).hint("--scale time takes the values as they are")
        })?;
        let mut table = Table::new(&[
            ("treatment", Left),
            ("mean effect", Right),
            ("interval", Right),
            ("known within", Right),
            ("since", Right),
        ]);
        let reaches = found.reaches();
        let last = found.checks.last();
        for own in &found.ranking {
            let effect = last.and_then(|check| check.effects[*own]);
            let interval = effect
                .and_then(|(change, ends)| Some(data.metric.interval_text(scale, change, ends?)));
            table.row(vec![
                data.treatments[*own].name.clone(),
                effect.map_or("–".to_owned(), |it| data.metric.change_text(scale, it.0)),
                interval.unwrap_or_else(|| "–".to_owned()),
                reaches[*own].map_or("–".to_owned(), |it| reach_text(data, scale, it)),
                found
                    .treatment_since(*own)
                    .map_or("–".to_owned(), |it| counted(it, "instance")),
            ]);
        }
        let rows = found.checks.iter().flat_map(|check| {
            (data.treatments.iter().zip(&check.effects)).map(|(treatment, effect)| StabilityRow {
                instances: check.instances,
                treatment: treatment.name.clone(),
                effect: effect.map(|(change, _)| change),
                ends: effect.and_then(|(_, ends)| ends).into(),
                is_precise: check.is_precise,
                is_ordered: check.is_ordered,
            })
        });
        let text = stability_text(data, scale, &found, share);
        Ok(StudyAnswer {
            headline: text,
            table,
            notes: vec![
                "effects are means over all combinations of the others; `since` is the number of instances from which on the interval is within the tolerance".to_owned(),
            ],
            rows: rows.collect(),
            key: "checks",
            more: json!({
                "is_stable": found.stable_since().is_some(),
                "stable_since": found.stable_since(),
                "ordered_since": found.ordered_since,
                "precise_since": found.precise_since,
                "more_instances": found.more_instances,
                "tolerance": found.tolerance,
                "ranking": found.ranking.iter().map(|own| &data.treatments[*own].name).collect::<Vec<_>>(),
            }),
            charts: vec![("stability", chart::stability(data, scale, &found))],
        })
    }
}

fn reach_text(data: &StudyData, scale: StudyScale, reach: f64) -> String {
    format!("±{}", data.metric.size_text(scale, reach))
}

/// Returns since when effects are stable, or what is missing.
fn stability_text(
    data: &StudyData,
    scale: StudyScale,
    found: &StudyStability,
    share: f64,
) -> String {
    let all = data.instances.len();
    if let Some(since) = found.stable_since() {
        return format!(
            "stable since {since} of {}: every effect is known within ±{}, and the order of the strongest is settled",
            counted(all, "instance"),
            percent(share)
        );
    }
    let first = format!("not yet stable after {}", counted(all, "instance"));
    let reaches = found.reaches();
    let unknown: Vec<&str> = (found.ranking.iter())
        .filter(|own| reaches[**own].is_none())
        .map(|own| data.treatments[*own].name.as_str())
        .collect();
    if !unknown.is_empty() {
        return format!(
            "{first}: these runs cannot tell the effects of {}",
            first_names(unknown, 5)
        );
    }
    let widest = (reaches.iter().zip(&data.treatments))
        .filter_map(|(reach, own)| Some(((*reach)?, own)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match (found.more_instances, widest) {
        (Some(more), Some((reach, own))) if more > 0.0 => format!(
            "{first}: the effect of {} is known within {}; about {} more instances like these would bring every effect within ±{}",
            own.name,
            reach_text(data, scale, reach),
            grouped(format_args!("{more:.0}")),
            percent(share)
        ),
        (_, _) => {
            let checks = as_f64(found.checks.len().saturating_sub(1)).max(1.0);
            let step = (as_f64(all) / checks).ceil();
            format!(
                "{first}: intervals or the order of the strongest effects were settled in the last check only; about {} more instances would confirm them",
                grouped(format_args!("{step:.0}"))
            )
        }
    }
}

/// Whether the effects of a benchmark are stable, in words.
pub struct BenchmarkStability {
    pub benchmark: String,
    pub text: String,
    pub is_stable: bool,
}

/// Returns whether the effects of each benchmark of a suite are stable; without those that have no usable values.
pub fn suite_stability(
    suite: &str,
    metric: Option<&str>,
    share: f64,
    context: &Context,
) -> Result<Vec<BenchmarkStability>, CliError> {
    let mut found = Vec::new();
    let rules = CleaningOptions::default().rules()?;
    let options = StabilityOptions {
        within: share,
        ..StabilityOptions::default()
    };
    each_known_benchmark(&Filter::default(), context, |data| {
        if data.suite == suite
            && let Ok(study) = StudyData::of(&data, metric, &rules)
            && let Ok(own) = StudyStability::new(&study, &options)
        {
            found.push(BenchmarkStability {
                text: stability_text(&study, options.scale, &own, share),
                is_stable: own.stable_since().is_some(),
                benchmark: study.benchmark,
            });
        }
    })?;
    Ok(found)
}
