//! A study at a glance: its findings in sentences, and all of its charts.

use lapwing_model::text::counted;
use lapwing_stats::deltas::{DeltaPairing, MeanDelta, MeasuredSets, mean_deltas};
use lapwing_stats::linear_model::ModelTerm;
use lapwing_stats::{Confidence, Seed};
use lapwing_study::{
    ExplainedStudy, FindingKind, FitOptions, ModelChoice, PathOrder, Recommendation, ResponseCurve,
    SettingValues, StudyComponents, StudyData, StudyFinding, StudyFindings, StudyFit, StudyScale,
    components, findings, study_path,
};

use super::chart::{self, EffectRow, EffectSeries};
use super::{StudyMetricText, finding_title, study_finding_text};
use crate::chart::{Chart, PageSection};

/// Scatter plots among the charts.
const SCATTERS: usize = 4;
/// More findings of a kind are not shown by default.
pub const MOST_OF_A_KIND: usize = 10;
/// Sequences of treatments whose components are shown.
pub const SEQUENCES: usize = 550;

/// The findings of a study on a scale.
#[derive(Debug)]
pub struct StudyOverview {
    /// The scale: the logarithm where all costs are above zero.
    pub scale: StudyScale,
    /// The findings.
    pub findings: Vec<StudyFinding>,
    /// The most important ones in a line.
    pub headline: String,
    /// Number of treatments with an effect.
    pub with_effect: usize,
    /// Number of pairs of treatments that interact.
    pub interacting_pairs: usize,
    /// Mean of the base in the unit, if it was measured.
    pub base: Option<f64>,
    /// The setting that is expected to be best.
    pub recommended: Option<Recommendation>,
}

impl StudyOverview {
    /// Finds what a study shows, on a scale or the one that fits better.
    pub fn new(data: &StudyData, scale: Option<StudyScale>) -> Self {
        let StudyFindings { scale, findings } = findings(data, scale);
        let count = |kind: FindingKind| findings.iter().filter(|it| it.kind() == kind).count();
        let means = data.set_means(StudyScale::Time);
        let recommended = findings.iter().find_map(|finding| match finding {
            StudyFinding::Setting(own) => Some(own.clone()),
            _ => None,
        });
        let mut overview = Self {
            scale,
            headline: String::new(),
            with_effect: count(FindingKind::Effect),
            interacting_pairs: findings
                .iter()
                .filter(|it| matches!(it, StudyFinding::Pair(_)))
                .count(),
            base: means.get(&0).copied(),
            recommended,
            findings,
        };
        overview.headline = overview.headline(data);
        overview
    }

    fn headline(&self, data: &StudyData) -> String {
        if self.with_effect + self.interacting_pairs == 0 && self.recommended.is_none() {
            let treatments = counted(data.treatments.len(), "treatment");
            return format!("None of {treatments} has an effect that can be told from none");
        }
        let best = match (&self.recommended, self.best(data)) {
            (_, Some(best)) => best,
            (Some(own), None) => format!(
                "{} may be best, which these runs cannot tell",
                data.set_text(own.set)
            ),
            (None, None) => "no setting is expected to be better than the base".to_owned(),
        };
        format!("{}; {best}", self.counts(data))
    }

    /// Returns the setting to use and what it is expected to take; `None` if these runs do not tell.
    pub(crate) fn best(&self, data: &StudyData) -> Option<String> {
        let own = self.recommended.as_ref().filter(|own| own.is_told)?;
        let text = |value: f64| data.metric.value_text(self.scale, value);
        Some(format!(
            "{} is expected to take {} [{}, {}], {} against the base",
            data.set_text(own.set),
            text(own.value.0),
            text(own.value.1.lower),
            text(own.value.1.upper),
            data.metric.change_text(self.scale, own.beside_base.change)
        ))
    }

    /// Returns `3 of 4 treatments have an effect, 1 pair interacts`.
    pub(crate) fn counts(&self, data: &StudyData) -> String {
        let treatments = counted(data.treatments.len(), "treatment");
        let interact = match self.interacting_pairs {
            0 => "no pair interacts".to_owned(),
            1 => "1 pair interacts".to_owned(),
            pairs => format!("{} interact", counted(pairs, "pair")),
        };
        let have = if self.with_effect == 1 { "has" } else { "have" };
        format!(
            "{} of {treatments} {have} an effect, {interact}",
            self.with_effect
        )
    }

    /// Returns the findings of a page: the strongest of each kind, or all.
    pub fn shown(&self, has_all: bool) -> Vec<&StudyFinding> {
        let of_kind = |kind: FindingKind| {
            let own = self.findings.iter().filter(move |it| it.kind() == kind);
            own.take(if has_all { usize::MAX } else { MOST_OF_A_KIND })
        };
        FindingKind::ALL.into_iter().flat_map(of_kind).collect()
    }

    /// Returns the sentences by kind.
    pub fn sections(&self, data: &StudyData, has_all: bool) -> Vec<PageSection> {
        sections(data, self.scale, &self.shown(has_all))
    }

    /// Returns all charts by name; none if no two settings differ by one treatment alone.
    pub fn charts(&self, data: &StudyData) -> Vec<(&'static str, Chart)> {
        charts(data, self.scale, &self.findings).unwrap_or_default()
    }
}

fn sections(data: &StudyData, scale: StudyScale, found: &[&StudyFinding]) -> Vec<PageSection> {
    FindingKind::ALL
        .into_iter()
        .map(|kind| PageSection {
            title: finding_title(kind).to_owned(),
            sentences: (found.iter().filter(|own| own.kind() == kind))
                .map(|own| study_finding_text(own, data, scale).replace('`', ""))
                .collect(),
        })
        .filter(|section| !section.sentences.is_empty())
        .collect()
}

/// Returns all charts of a study; none if no two settings differ by one treatment alone.
fn charts(
    data: &StudyData,
    scale: StudyScale,
    found: &[StudyFinding],
) -> Option<Vec<(&'static str, Chart)>> {
    let natural = StudyScale::Time;
    let sets = MeasuredSets::new(&data.sets(natural))?;
    let means = sorted_means(
        data,
        scale,
        &MeasuredSets::new(&data.sets(scale))?,
        DeltaPairing::Means,
    );
    let natural_means = sorted_means(data, natural, &sets, DeltaPairing::Means);
    let all = sets.deltas(DeltaPairing::Means);
    let mut charts = Vec::new();
    for (scale, means) in [(scale, &means), (natural, &natural_means)] {
        let title = format!("Mean change of each treatment ({} scale)", scale.name());
        charts.push((
            "means",
            chart::mean_changes(data, scale, &title, &[series_of(data, "mean", means)]),
        ));
    }
    let order: Vec<usize> = natural_means.iter().map(|own| own.factor).collect();
    charts.push(("colour", chart::colour(data, &all, &order)));
    charts.extend(curves(data, scale));
    let pairs = found.iter().filter_map(|finding| match finding {
        StudyFinding::Pair(pair) => Some((pair.first.treatment, Some(pair.first.other))),
        StudyFinding::Level(level) => Some((level.treatment, None)),
        _ => None,
    });
    for (treatment, by) in pairs.take(SCATTERS) {
        charts.push((
            "scatter",
            chart::scatter(data, natural, treatment, by, &all),
        ));
    }
    let options = |scale| FitOptions {
        model: ModelChoice::usual(data),
        scale,
        ..FitOptions::default()
    };
    if let Ok(fitted) = StudyFit::new(data, options(scale)) {
        charts.extend(fit_charts(data, &fitted, &means));
    }
    let logs = StudyFit::new(data, options(StudyScale::Log)).ok();
    let best = data.recommended_set();
    for scale in [StudyScale::Time, StudyScale::Rate] {
        let values = SettingValues::new(data, scale, logs.as_ref());
        let path = study_path(&values, 0, best, &PathOrder::BestFirst);
        if !path.steps.is_empty() {
            charts.push((
                "waterfall",
                chart::waterfall(data, scale, &path, &values, "best step first"),
            ));
            charts.push((
                "treemap",
                chart::treemap(data, scale, &path, "best step first"),
            ));
        }
    }
    if let Some(found) = components(data, natural, 0, None, SEQUENCES, Seed(7)) {
        charts.extend(component_charts(data, natural, &found));
    }
    Some(charts)
}

/// Returns the curves of the numeric factors with an effect.
fn curves(data: &StudyData, scale: StudyScale) -> Vec<(&'static str, Chart)> {
    if data.factors.iter().all(|own| own.numbers().is_none()) {
        return Vec::new();
    }
    let Ok(study) = ExplainedStudy::new(data, Some(scale)) else {
        return Vec::new();
    };
    let curves = ResponseCurve::all(&study);
    let charts = curves
        .iter()
        .filter_map(|own| chart::curve(data, scale, own));
    charts.map(|chart| ("curve", chart)).collect()
}

/// Returns the charts of a fit: interactions if it has any, coefficients beside means, predictions.
pub fn fit_charts(
    data: &StudyData,
    fit: &StudyFit,
    means: &[MeanDelta],
) -> Vec<(&'static str, Chart)> {
    let mut charts = Vec::new();
    if fit
        .effects()
        .any(|own| matches!(own.term, ModelTerm::Pair(..)))
    {
        charts.push(("tiles", chart::tiles(data, fit)));
    }
    let main = fit
        .effects()
        .filter(|own| matches!(own.term, ModelTerm::Main(_)));
    let coefficients = EffectSeries {
        name: "coefficient".to_owned(),
        rows: main
            .filter_map(|own| {
                Some(EffectRow {
                    name: own.name.clone(),
                    effect: own.coefficient?.estimate,
                    interval: own.interval,
                    size: String::new(),
                })
            })
            .collect(),
    };
    let series = [coefficients, series_of(data, "mean delta", means)];
    let title = "Coefficients beside mean deltas";
    charts.push((
        "coefficients",
        chart::effects(data, fit.options.scale, title, &series),
    ));
    charts.push(("predicted", chart::predicted(data, fit)));
    if fit.fit.residual_freedom() > 0 {
        charts.push(("residuals", chart::residuals(data, fit)));
    }
    charts
}

/// Returns the charts of components.
pub fn component_charts(
    data: &StudyData,
    scale: StudyScale,
    found: &StudyComponents,
) -> Vec<(&'static str, Chart)> {
    vec![
        ("biplot", chart::biplot(data, scale, found)),
        ("scree", chart::scree(data, found)),
    ]
}

/// Returns the mean deltas, the largest gain first.
pub fn sorted_means(
    data: &StudyData,
    scale: StudyScale,
    sets: &MeasuredSets,
    pairing: DeltaPairing,
) -> Vec<MeanDelta> {
    let mut means = mean_deltas(sets, pairing, Confidence::P95);
    let sign = if data.metric.is_gain(scale, -1.0) {
        1.0
    } else {
        -1.0
    };
    means.sort_by(|one, other| (sign * one.mean).total_cmp(&(sign * other.mean)));
    means
}

/// Returns the means as rows of a chart.
pub fn series_of(data: &StudyData, name: &str, means: &[MeanDelta]) -> EffectSeries {
    let row = |own: &MeanDelta| EffectRow {
        name: data.treatments[own.factor].name.clone(),
        effect: own.mean,
        interval: own.interval,
        size: counted(own.set_pairs, "pair"),
    };
    EffectSeries {
        name: name.to_owned(),
        rows: means.iter().map(row).collect(),
    }
}
