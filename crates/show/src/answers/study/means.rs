//! The average change of each treatment: `lapwing study effects --show means`.

use lapwing_model::text::{counted, joined};
use lapwing_stats::PValue;
use lapwing_stats::deltas::{DeltaPairing, MeanDelta};
use lapwing_study::{StudyData, StudyScale, StudyViewError, measured_sets};
use serde::Serialize;
use serde_json::json;

use super::{EndFields, StudyAnswer, StudyAnswerError, or_dash, p_text};
use crate::study::{StudyMetricText, chart, series_of, sorted_means};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

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
struct StudyMeanRow {
    treatment: String,
    #[serde(flatten)]
    all: MeanFields,
    restricted_mean: Option<f64>,
    restricted_lower: Option<f64>,
    restricted_upper: Option<f64>,
    restricted_set_pairs: Option<usize>,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the means, beside those of `rest`: the data without the factors of these names.
    pub fn means(
        data: &'d StudyData,
        without: &[String],
        rest: Option<&StudyData>,
        scale: StudyScale,
        pairing: DeltaPairing,
    ) -> Result<Self, StudyAnswerError> {
        let means_of = |data: &StudyData| -> Result<Vec<MeanDelta>, StudyViewError> {
            Ok(sorted_means(
                data,
                scale,
                &measured_sets(data, scale)?,
                pairing,
            ))
        };
        let means = means_of(data)?;
        if means.is_empty() {
            return Err(StudyViewError::NoDeltas.into());
        }
        let restricted = match rest {
            Some(rest) => Some((means_of(rest)?, rest)),
            None => None,
        };
        let of_rest = |name: &str| {
            let (means, rest) = restricted.as_ref()?;
            let mut means = means.iter();
            means.find(|mean| rest.treatments[mean.factor].name == name)
        };
        let is_restricted = restricted.is_some();
        let title = format!("without {}", joined(without));
        let mut table = Table::of_shown(&[
            (true, "treatment", Left),
            (true, "mean change", Right),
            (true, "interval", Right),
            (is_restricted, &title, Right),
            (is_restricted, "its interval", Right),
            (true, "pairs", Right),
            (true, "p adjusted", Right),
        ])
        .dispensable(&["p adjusted", "pairs"]);
        let change = |mean: &MeanDelta| data.metric.change_text(scale, mean.mean);
        let interval =
            |mean: &MeanDelta| Some(data.metric.interval_text(scale, mean.mean, mean.interval?));
        let mut rows = Vec::new();
        for mean in &means {
            let name = &data.treatments[mean.factor].name;
            let rest = of_rest(name);
            table.row(vec![
                name.clone(),
                change(mean),
                or_dash(interval(mean)),
                or_dash(rest.map(change)),
                or_dash(rest.and_then(interval)),
                mean.set_pairs.to_string(),
                p_text(mean.adjusted_p_value.map(PValue::value)),
            ]);
            rows.push(row(name, mean, rest));
        }
        let mut series = vec![series_of(data, "all settings", &means)];
        if let Some((means, rest)) = &restricted {
            series.push(series_of(rest, &title, means));
        }
        let mut notes = vec![
            "intervals are 95 %, for the mean over settings like these; p-values are adjusted for all treatments (FDR)".to_owned(),
        ];
        if means.iter().any(|mean| mean.interval.is_none()) {
            notes.push("– one pair of settings only: no interval".to_owned());
        }
        let chart = chart::effects(data, scale, "Mean change of each treatment", &series);
        Ok(Self {
            headline: headline(data, scale, &means),
            table,
            notes,
            charts: vec![("means", chart)],
            ..Self::of_rows(data, scale, ("means", &rows), json!({"without": without}))?
        })
    }
}

fn headline(data: &StudyData, scale: StudyScale, means: &[MeanDelta]) -> String {
    let is_sure = |mean: &&MeanDelta| mean.adjusted_p_value.is_some_and(|p| p.value() <= 0.05);
    let sure: Vec<&MeanDelta> = means.iter().filter(is_sure).collect();
    let strongest = sure
        .iter()
        .max_by(|one, other| one.mean.abs().total_cmp(&other.mean.abs()));
    let strongest = strongest.map_or_else(String::new, |mean| {
        let change = data
            .metric
            .change_with_interval(scale, mean.mean, mean.interval);
        let name = &data.treatments[mean.factor].name;
        format!("; {name} changes most: {change}")
    });
    format!(
        "{} of {} change {} on average{strongest}",
        sure.len(),
        counted(means.len(), "treatment"),
        data.metric.name
    )
}

fn row(name: &str, mean: &MeanDelta, rest: Option<&MeanDelta>) -> StudyMeanRow {
    StudyMeanRow {
        treatment: name.to_owned(),
        all: MeanFields {
            deltas: mean.deltas,
            set_pairs: mean.set_pairs,
            mean: mean.mean,
            ends: mean.interval.into(),
            these_sets_lower: mean.interval_of_these_sets.map(|it| it.lower),
            these_sets_upper: mean.interval_of_these_sets.map(|it| it.upper),
            median: mean.median,
            sd: mean.standard_deviation,
            mean_before: mean.mean_before,
            mean_after: mean.mean_after,
            mean_log2_ratio: mean.mean_log2_ratio,
            p_value: mean.p_value.map(PValue::value),
            adjusted_p_value: mean.adjusted_p_value.map(PValue::value),
        },
        restricted_mean: rest.map(|rest| rest.mean),
        restricted_lower: rest.and_then(|rest| Some(rest.interval?.lower)),
        restricted_upper: rest.and_then(|rest| Some(rest.interval?.upper)),
        restricted_set_pairs: rest.map(|rest| rest.set_pairs),
    }
}
