//! The average change of each treatment: `lapwing study effects --show means`.

use lapwing_model::text::{counted, joined};
use lapwing_stats::PValue;
use lapwing_stats::deltas::{DeltaPairing, MeanDelta};
use lapwing_study::{StudyData, StudyScale, StudyViewError, measured_sets};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, StudyFields, share, value};
use super::{StudyAnswer, StudyAnswerError, or_dash, p_text};
use crate::study::{StudyMetricText, chart, series_of, sorted_means};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// The means.
#[derive(Debug, Serialize, JsonSchema)]
struct MeansFields<'d> {
    /// Number of treatments.
    treatments: usize,
    /// Number of treatments that change the metric on average, after correction for all of them.
    changed: usize,
    /// Confidence of the intervals.
    confidence: f64,
    /// The factors without which the restricted means are.
    without: &'d [String],
    means: Vec<StudyMeanRow>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, MeansFields<'_>>>("study-means").listing("means");

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct MeanFields {
    /// Number of pairs of instances or settings that differ by the treatment alone.
    deltas: usize,
    /// Number of pairs of settings.
    set_pairs: usize,
    /// The mean change on the scale.
    mean: f64,
    #[serde(flatten)]
    change: ChangeFields,
    /// The interval for these settings alone.
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

/// The mean change by a treatment.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct StudyMeanRow {
    treatment: String,
    #[serde(flatten)]
    all: MeanFields,
    /// The mean change without some factors.
    restricted_mean: Option<f64>,
    restricted_lower: Option<f64>,
    restricted_upper: Option<f64>,
    restricted_share: Option<f64>,
    restricted_share_lower: Option<f64>,
    restricted_share_upper: Option<f64>,
    restricted_set_pairs: Option<usize>,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the means, beside those of `rest`: the data without the factors of these names.
    pub fn means(
        data: &'d StudyData,
        without: &'d [String],
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
            rows.push(row(scale, name, mean, rest));
        }
        let mut series = vec![series_of(data, "all settings", &means)];
        if let Some((means, rest)) = &restricted {
            series.push(series_of(rest, &title, means));
        }
        let text = "intervals are 95 %, for the mean over settings like these; p-values are adjusted for all treatments (FDR)";
        let mut notes = vec![Note::new("intervals", text).with("confidence", CONFIDENCE)];
        if means.iter().any(|mean| mean.interval.is_none()) {
            let text = "– one pair of settings only: no interval";
            notes.push(Note::new("one_pair", text).with("set_pairs", 1));
        }
        let chart = chart::mean_changes(data, scale, "Mean change of each treatment", &series);
        let fields = MeansFields {
            treatments: means.len(),
            changed: means.iter().filter(|mean| is_sure(mean)).count(),
            confidence: CONFIDENCE,
            without,
            means: rows.clone(),
        };
        Ok(Self {
            headline: headline(data, scale, &means),
            table,
            notes,
            charts: vec![("means", chart)],
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
}

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

fn is_sure(mean: &MeanDelta) -> bool {
    mean.adjusted_p_value.is_some_and(|p| p.value() <= 0.05)
}

fn headline(data: &StudyData, scale: StudyScale, means: &[MeanDelta]) -> String {
    let sure: Vec<&MeanDelta> = means.iter().filter(|mean| is_sure(mean)).collect();
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

fn row(scale: StudyScale, name: &str, mean: &MeanDelta, rest: Option<&MeanDelta>) -> StudyMeanRow {
    let restricted_lower = rest.and_then(|rest| Some(rest.interval?.lower));
    let restricted_upper = rest.and_then(|rest| Some(rest.interval?.upper));
    StudyMeanRow {
        treatment: name.to_owned(),
        all: MeanFields {
            deltas: mean.deltas,
            set_pairs: mean.set_pairs,
            mean: mean.mean,
            change: ChangeFields::new(scale, Some(mean.mean), mean.interval),
            these_sets_lower: mean.interval_of_these_sets.map(|it| it.lower),
            these_sets_upper: mean.interval_of_these_sets.map(|it| it.upper),
            median: mean.median,
            sd: mean.standard_deviation,
            mean_before: value(scale, mean.mean_before),
            mean_after: value(scale, mean.mean_after),
            mean_log2_ratio: mean.mean_log2_ratio,
            p_value: mean.p_value.map(PValue::value),
            adjusted_p_value: mean.adjusted_p_value.map(PValue::value),
        },
        restricted_mean: rest.map(|rest| rest.mean),
        restricted_lower,
        restricted_upper,
        restricted_share: share(scale, rest.map(|rest| rest.mean)),
        restricted_share_lower: share(scale, restricted_lower),
        restricted_share_upper: share(scale, restricted_upper),
        restricted_set_pairs: rest.map(|rest| rest.set_pairs),
    }
}
