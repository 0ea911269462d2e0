//! `lapwing study findings`: what was learnt, in sentences.

use clap::Args;
use lapwing_model::text::counted;
use lapwing_show::Chart;
use lapwing_show::chart::PageSection;
use lapwing_show::study::StudyMetricText;
use lapwing_show::study::{chart, finding_title, study_finding_text};
use lapwing_stats::deltas::{DeltaPairing, effect_modifiers, strongest_modifiers};
use lapwing_stats::{Confidence, Seed};
use lapwing_study::{FindingKind, StudyFinding, findings};
use lapwing_study::{
    FitOptions, ModelChoice, PathOrder, SettingValues, StudyData, StudyFit, StudyScale, components,
    study_path,
};
use serde::Serialize;
use serde_json::json;

use super::answer::StudyAnswer;
use super::deltas::{deltas, measured};
use super::means::{series_of, sorted_means};
use super::options::StudyOptions;
use super::{fit, pca};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::table::Align::{Left, Right};
use crate::table::Table;

/// Scatter plots on the page.
const SCATTERS: usize = 4;

/// Tell what a study found in sentences: strongest factors and interactions, what depends on what,
/// what is undecided, what to measure next
///
/// By default on logarithms, so that effects are percentages. `--plot FILE.html` writes a page with
/// the findings and all charts.
#[derive(Debug, Args)]
pub struct StudyFindings {
    #[command(flatten)]
    study: StudyOptions,
}

#[derive(Default, Serialize)]
struct StudyFindingRow {
    kind: &'static str,
    text: String,
    treatments: Vec<String>,
    size: Option<f64>,
}

impl StudyFindings {
    /// Shows the findings, and writes the page.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let data = self.study.read(context)?;
        let is_positive = data.instances.iter().all(|own| own.cost > 0.0);
        let usual = if is_positive {
            StudyScale::Log
        } else {
            StudyScale::Time
        };
        let scale = self.study.scale.unwrap_or(usual);
        let found = findings(&data, scale, Confidence::P95);
        let text = |finding: &StudyFinding| study_finding_text(finding, &data, scale);
        let headline = headline(&data, &found);
        let mut table = Table::new(&[("about", Left), ("size", Right), ("finding", Left)]);
        for own in &found {
            table.row(vec![
                finding_title(own.kind()).to_owned(),
                own.size()
                    .map_or_else(String::new, |size| data.metric.change_text(scale, size)),
                text(own),
            ]);
        }
        let names = |own: &StudyFinding| {
            own.treatments()
                .into_iter()
                .map(|at| data.treatments[at].name.clone())
                .collect()
        };
        let rows = found.iter().map(|own| StudyFindingRow {
            kind: own.kind().key(),
            text: text(own),
            treatments: names(own),
            size: own.size(),
        });
        let answer = StudyAnswer {
            headline,
            table,
            notes: Vec::new(),
            rows: rows.collect(),
            key: "findings",
            more: json!({}),
            charts: match self.study.plot.is_wanted() {
                true => charts(&data, scale)?,
                false => Vec::new(),
            },
        };
        answer.write_with(
            sections(&data, scale, &found),
            &data,
            scale,
            &self.study,
            context,
        )
    }
}

fn headline(data: &StudyData, found: &[StudyFinding]) -> String {
    let count = |kind: FindingKind| found.iter().filter(|own| own.kind() == kind).count();
    let best = data.best_set();
    let first = data.set_means(StudyScale::Time);
    let text = |value: f64| data.metric.value_text(StudyScale::Time, value);
    let best = match (first.get(&0), first.get(&best)) {
        (Some(base), Some(own)) if data.metric.is_gain(StudyScale::Time, own - base) => {
            format!(
                "; the best measured setting takes {} instead of {}: {}",
                text(*own),
                text(*base),
                data.set_text(best)
            )
        }
        (Some(_), Some(_)) => "; no measured setting is better than the base".to_owned(),
        (_, _) => String::new(),
    };
    format!(
        "{} of {} have an effect, {} interact{best}",
        count(FindingKind::Effect),
        counted(data.treatments.len(), "treatment"),
        counted(
            count(FindingKind::Interaction) + count(FindingKind::Sign),
            "pair"
        )
    )
}

fn sections(data: &StudyData, scale: StudyScale, found: &[StudyFinding]) -> Vec<PageSection> {
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

/// Returns all charts of a study.
fn charts(data: &StudyData, scale: StudyScale) -> Result<Vec<(&'static str, Chart)>, CliError> {
    let natural = StudyScale::Time;
    let means = sorted_means(data, scale, DeltaPairing::Means)?;
    let natural_means = sorted_means(data, natural, DeltaPairing::Means)?;
    let all = deltas(data, natural, DeltaPairing::Means)?;
    let mut charts = Vec::new();
    for (scale, means) in [(scale, &means), (natural, &natural_means)] {
        let title = format!("Mean change of each treatment ({} scale)", scale.name());
        charts.push((
            "means",
            chart::effects(data, scale, &title, &[series_of(data, "mean", means)]),
        ));
    }
    let order: Vec<usize> = natural_means.iter().map(|own| own.factor).collect();
    charts.push(("colour", chart::colour(data, &all, &order)));
    let strongest = strongest_modifiers(&effect_modifiers(
        &measured(data, natural)?,
        Confidence::P95,
    ));
    let mut by_size: Vec<_> = strongest.iter().collect();
    by_size.sort_by(|one, other| other.difference().abs().total_cmp(&one.difference().abs()));
    for own in by_size.into_iter().take(SCATTERS) {
        charts.push((
            "scatter",
            chart::scatter(data, natural, own.factor, Some(own.other), &all),
        ));
    }
    let options = |scale| FitOptions {
        model: ModelChoice::usual(data),
        scale,
        ..FitOptions::default()
    };
    if let Ok(fitted) = StudyFit::new(data, options(scale)) {
        charts.extend(fit::charts(data, &fitted, &means));
    }
    let logs = StudyFit::new(data, options(StudyScale::Log)).ok();
    let best = data.best_set();
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
    if let Some(found) = components(data, natural, 0, None, pca::SEQUENCES, Seed(7)) {
        charts.extend(pca::charts(data, natural, &found));
    }
    Ok(charts)
}
