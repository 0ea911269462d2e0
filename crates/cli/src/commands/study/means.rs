//! `lapwing study effects --show means`: what each treatment changes on average.

use lapwing_model::text::{counted, joined};
use lapwing_show::study::chart;
use lapwing_show::study::{StudyMetricText, series_of, sorted_means};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::PValue;
use lapwing_stats::deltas::MeanDelta;
use lapwing_study::{StudyData, StudyScale};
use serde::Serialize;
use serde_json::json;

use super::answer::{EndFields, StudyAnswer, p_text};
use super::deltas::measured;
use super::effects::StudyEffects;
use crate::error::CliError;

#[derive(Default, Serialize)]
struct MeanFields {
    deltas: usize,
    set_pairs: usize,
    mean: f64,
    #[serde(flatten)]
    ends: EndFields,
    these_sets_lower: Option<f64>,
    these_sets_upper: Option<f64>,
    median: f64,
    sd: Option<f64>,
    mean_before: f64,
    mean_after: f64,
    mean_log2_ratio: Option<f64>,
    p_value: Option<f64>,
    adjusted_p_value: Option<f64>,
}

#[derive(Default, Serialize)]
pub struct MeanRow {
    treatment: String,
    #[serde(flatten)]
    all: MeanFields,
    restricted_mean: Option<f64>,
    restricted_lower: Option<f64>,
    restricted_upper: Option<f64>,
    restricted_set_pairs: Option<usize>,
}

impl StudyEffects {
    /// Returns the means, beside those of the settings without some factors.
    pub fn means(
        &self,
        data: &StudyData,
        scale: StudyScale,
    ) -> Result<StudyAnswer<MeanRow>, CliError> {
        let pairing = self.pairing();
        let means = sorted_means(data, scale, &measured(data, scale)?, pairing);
        if means.is_empty() {
            return Err(no_deltas());
        }
        let restricted = if self.study.without.is_empty() {
            None
        } else {
            let rest = self.study.restricted(data)?;
            Some((
                sorted_means(&rest, scale, &measured(&rest, scale)?, pairing),
                rest,
            ))
        };
        let of_rest = |name: &str| {
            let (means, rest) = restricted.as_ref()?;
            means
                .iter()
                .find(|own| rest.treatments[own.factor].name == name)
        };
        let is_restricted = restricted.is_some();
        let without = format!("without {}", joined(&self.study.without));
        let mut table = Table::of_shown(&[
            (true, "treatment", Left),
            (true, "mean change", Right),
            (true, "interval", Right),
            (is_restricted, without.as_str(), Right),
            (is_restricted, "its interval", Right),
            (true, "pairs", Right),
            (true, "p adjusted", Right),
        ])
        .dispensable(&["p adjusted", "pairs"]);
        let interval = |own: &MeanDelta| {
            own.interval.map_or("–".to_owned(), |it| {
                data.metric.interval_text(scale, own.mean, it)
            })
        };
        for own in &means {
            let name = &data.treatments[own.factor].name;
            let rest = of_rest(name);
            table.row(vec![
                name.clone(),
                data.metric.change_text(scale, own.mean),
                interval(own),
                rest.map_or("–".to_owned(), |it| {
                    data.metric.change_text(scale, it.mean)
                }),
                rest.map_or("–".to_owned(), interval),
                own.set_pairs.to_string(),
                p_text(own.adjusted_p_value.map(PValue::value)),
            ]);
        }
        let mut series = vec![series_of(data, "all settings", &means)];
        if let Some((own, rest)) = &restricted {
            series.push(series_of(rest, &without, own));
        }
        let mut notes = vec![
            "intervals are 95 %, for the mean over settings like these; p-values are adjusted for all treatments (FDR)".to_owned(),
        ];
        if means.iter().any(|own| own.interval.is_none()) {
            notes.push("– one pair of settings only: no interval".to_owned());
        }
        Ok(StudyAnswer {
            headline: headline(data, scale, &means),
            table,
            notes,
            rows: means
                .iter()
                .map(|own| {
                    let name = &data.treatments[own.factor].name;
                    row(name, own, of_rest(name))
                })
                .collect(),
            key: "means",
            more: json!({"without": self.study.without}),
            charts: vec![(
                "means",
                chart::effects(data, scale, "Mean change of each treatment", &series),
            )],
        })
    }
}

/// Returns the error if no two settings differ by one treatment.
pub fn no_deltas() -> CliError {
    CliError::not_enough("no two settings differ by one treatment alone")
        .hint("`lapwing study fit` needs no such pairs")
}

fn headline(data: &StudyData, scale: StudyScale, means: &[MeanDelta]) -> String {
    let is_sure = |own: &&MeanDelta| own.adjusted_p_value.is_some_and(|p| p.value() <= 0.05);
    let sure: Vec<&MeanDelta> = means.iter().filter(is_sure).collect();
    let strongest = sure
        .iter()
        .max_by(|one, other| one.mean.abs().total_cmp(&other.mean.abs()));
    let strongest = strongest.map_or_else(String::new, |own| {
        let change = data
            .metric
            .change_with_interval(scale, own.mean, own.interval);
        format!(
            "; {} changes most: {change}",
            data.treatments[own.factor].name
        )
    });
    format!(
        "{} of {} change {} on average{strongest}",
        sure.len(),
        counted(means.len(), "treatment"),
        data.metric.name
    )
}

fn row(name: &str, own: &MeanDelta, rest: Option<&MeanDelta>) -> MeanRow {
    MeanRow {
        treatment: name.to_owned(),
        all: MeanFields {
            deltas: own.deltas,
            set_pairs: own.set_pairs,
            mean: own.mean,
            ends: own.interval.into(),
            these_sets_lower: own.interval_of_these_sets.map(|it| it.lower),
            these_sets_upper: own.interval_of_these_sets.map(|it| it.upper),
            median: own.median,
            sd: own.standard_deviation,
            mean_before: own.mean_before,
            mean_after: own.mean_after,
            mean_log2_ratio: own.mean_log2_ratio,
            p_value: own.p_value.map(PValue::value),
            adjusted_p_value: own.adjusted_p_value.map(PValue::value),
        },
        restricted_mean: rest.map(|it| it.mean),
        restricted_lower: rest.and_then(|it| Some(it.interval?.lower)),
        restricted_upper: rest.and_then(|it| Some(it.interval?.upper)),
        restricted_set_pairs: rest.map(|it| it.set_pairs),
    }
}
