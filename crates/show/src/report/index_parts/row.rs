//! A row of the index: one variant of one benchmark by one metric.

use crate::EstimateText;
use crate::RatioText;
use serde::Serialize;

use super::super::changes::HistorySince;
use super::super::index_parts::verdicts;
use super::super::parametrised::test_slug;
use super::super::sections::variability::VariabilityRow;
use super::super::{MetricView, ReportSite};
use super::columns::BenchmarkLink;
use super::usual::UsualLevel;
use crate::quantity::percent;
use crate::sample::{ImportedFrom, RunSample};
use crate::sparkline::{sparkline_dots, sparkline_path};
use crate::words::summary::RunSummary;
use lapwing_analyse::judge::{self, Estimate, JudgedRatio, Verdict};
use lapwing_model::{Better, Id, MetricName, Run};

/// A row; its fields are the columns of the side file (`docs/report.md`).
#[derive(Debug, Clone, Serialize)]
pub(in crate::report) struct IndexRow {
    #[serde(flatten)]
    pub(in crate::report) benchmark: BenchmarkLink,
    /// The page of all parametrisations of its test; empty where there is none.
    pub(in crate::report) test: String,
    pub(in crate::report) variant: String,
    pub(in crate::report) colour: usize,
    /// Whether the name of the variant is shown, because there are others.
    pub(in crate::report) named: bool,
    pub(in crate::report) run: String,
    pub(in crate::report) run_id: Id,
    pub(in crate::report) sparkline: String,
    pub(in crate::report) sparkline_title: String,
    pub(in crate::report) value: Option<f64>,
    pub(in crate::report) value_text: String,
    pub(in crate::report) interval_text: String,
    /// The kind of value of a source that kept no samples: `median of 30, spread iqr`.
    pub(in crate::report) summary: String,
    /// The spread that the source states, where the value is a summary.
    pub(in crate::report) spread_text: String,
    /// The source, if it measures everything back to back.
    #[serde(skip)]
    pub(in crate::report) back_to_back: Option<ImportedFrom>,
    pub(in crate::report) change: Option<f64>,
    pub(in crate::report) change_text: String,
    pub(in crate::report) change_interval: String,
    pub(in crate::report) change_against: String,
    /// Whether it is the latest of single measurements, and differs by more than the earlier ones do.
    pub(in crate::report) unusual: bool,
    /// Whether the change is for the worse.
    #[serde(skip)]
    worse: bool,
    /// Whether the benchmark itself changed since the run before.
    pub(in crate::report) new_epoch: bool,
    #[serde(flatten)]
    pub(in crate::report) since: HistorySince,
    /// The worst verdict of the comparisons that are about it; empty for none.
    pub(in crate::report) verdict: &'static str,
    pub(in crate::report) verdict_text: String,
    pub(in crate::report) cv: Option<f64>,
    pub(in crate::report) cv_text: String,
    /// Whether its noise between instances is called noisy, as on the page of variability.
    pub(in crate::report) noisy: bool,
    pub(in crate::report) size: String,
    pub(in crate::report) instances: usize,
    /// Whether the latest run was skipped completely.
    pub(in crate::report) skipped: bool,
    /// Whether it is not measured any more, while others of its suite are.
    #[serde(skip)]
    pub(in crate::report) ended: bool,
    /// Whether the latest run is retired.
    pub(in crate::report) retired: bool,
    pub(in crate::report) failures: usize,
    /// The number of earlier runs of the variant in which it failed.
    pub(in crate::report) failed_before: usize,
    pub(in crate::report) lost: usize,
    pub(in crate::report) left_out: String,
}

impl IndexRow {
    /// Returns the change, or the reason in a word why there is none.
    pub(in crate::report) fn change_words(&self) -> String {
        if self.change_text.is_empty() && self.new_epoch {
            return "new epoch".to_owned();
        }
        format!("{} {}", self.change_text, self.change_interval)
    }

    /// Returns how urgently somebody should look at it, the most urgent first; what is not measured any more comes last.
    pub(in crate::report) fn urgency(&self) -> (bool, usize) {
        let signs = [
            self.failures > 0 || self.lost > 0,
            self.value.is_none() && !self.skipped,
            self.verdict == Verdict::Regression.name(),
            self.since.is_regression(),
            self.unusual && self.worse,
        ];
        let first = signs.iter().position(|it| *it);
        (self.ended, first.unwrap_or(signs.len()))
    }

    /// Returns whether its value was computed from samples.
    pub(in crate::report) fn rests_on_samples(&self) -> bool {
        self.value.is_some() && self.summary.is_empty()
    }
}

/// The rows of one metric of a benchmark.
#[derive(Debug)]
pub(in crate::report) struct MetricIndexRows {
    pub(in crate::report) name: MetricName,
    pub(in crate::report) unit: String,
    /// One for each variant, by its latest run.
    pub(in crate::report) rows: Vec<IndexRow>,
}

impl MetricIndexRows {
    pub(in crate::report) fn of(
        view: &MetricView,
        benchmark: &BenchmarkLink,
        site: &ReportSite,
        variability: &[VariabilityRow],
    ) -> Self {
        let variants = view.sample.variants();
        let named = variants.len() > 1 || variants.iter().any(|name| *name != Run::DEFAULT_VARIANT);
        let rows = variants.iter().filter_map(|variant| {
            let mut row = IndexRow::of(view, variant, benchmark, site)?;
            row.named = named;
            let mut about = variability.iter();
            if let Some(about) = about.find(|it| it.is_about(&view.sample.name, variant)) {
                row.noisy = about.noisy;
            }
            Some(row)
        });
        Self {
            name: view.sample.name.clone(),
            unit: view.sample.metric.unit.clone(),
            rows: rows.collect(),
        }
    }
}

/// The value of a run in words, whether it was computed from samples or is a summary.
#[derive(Debug, Default)]
pub(in crate::report) struct RunTexts {
    pub(in crate::report) value: String,
    pub(in crate::report) interval: String,
    /// The kind of value of a source that kept no samples.
    pub(in crate::report) summary: String,
    /// The spread that such a source states.
    pub(in crate::report) spread: String,
    pub(in crate::report) size: String,
    pub(in crate::report) cv: String,
}

impl RunTexts {
    pub(in crate::report) fn of(
        run: &RunSample,
        estimate: Option<&Estimate>,
        summary: Option<&RunSummary>,
        unit: &str,
    ) -> Self {
        let mut texts = Self::default();
        if let Some(estimate) = estimate {
            texts.value = estimate.value_text(unit);
            texts.interval = estimate.interval_text(unit).unwrap_or_default();
            texts.cv = estimate.cv.map_or_else(String::new, percent);
        } else if let Some(summary) = summary {
            texts.value = summary.value_text(unit);
            texts.summary = summary.what();
            texts.spread = summary.spread_text(unit).unwrap_or_default();
            return texts;
        } else {
            texts.value = if run.is_skipped() { "skipped" } else { "–" }.to_owned();
        }
        if !run.is_skipped() {
            texts.size = run.size().short();
        }
        texts
    }
}

impl IndexRow {
    /// Returns the row of a variant, by its latest run.
    fn of(
        view: &MetricView,
        variant: &str,
        benchmark: &BenchmarkLink,
        site: &ReportSite,
    ) -> Option<Self> {
        let (latest, estimate) = view.latest(variant)?;
        let change = RunChange::of(view, latest);
        let ratio = change.ratio();
        let usual = match ratio {
            Some(_) => None,
            None => UsualLevel::of(view, latest),
        };
        let [usual_text, usual_spread] = usual.map_or_else(Default::default, |it| it.texts());
        let changed = ratio.map(|it| it.ratio.value).or(usual.map(|it| it.ratio));
        let estimate = estimate.as_ref();
        let unit = &view.sample.metric.unit;
        let summary = view.summary(latest).filter(|_| estimate.is_none());
        let summary = summary.as_ref();
        let (sparkline, sparkline_title) = sparkline(view, variant, summary.is_some());
        let verdict = verdicts::of_row(
            site.comparisons.as_ref(),
            &benchmark.slug,
            &view.sample,
            variant,
        );
        let texts = RunTexts::of(latest, estimate, summary, unit);
        // What sides are compared by is the change, so that no second ratio of the same values stands beside it.
        let ([change_text, change_interval], change_against) = match (ratio, usual) {
            _ if !verdict.change[0].is_empty() => (verdict.change, verdict.against),
            (Some(judged), _) => {
                let interval = judged.ratio.interval_text().unwrap_or_default();
                ([judged.ratio.value_text(), interval], change.against())
            }
            (None, Some(usual)) => ([usual_text, usual_spread], usual.explanation()),
            (None, None) => ([usual_text, usual_spread], change.against()),
        };
        Some(Self {
            benchmark: benchmark.clone(),
            test: test_slug(&benchmark.suite, &benchmark.id),
            variant: variant.to_owned(),
            colour: site.colours.get(variant),
            named: false,
            run: latest.label_within_variant(),
            run_id: latest.id,
            sparkline,
            sparkline_title,
            value: estimate
                .map(|estimate| estimate.value)
                .or(summary.map(|summary| summary.value)),
            value_text: texts.value,
            summary: texts.summary,
            spread_text: texts.spread,
            back_to_back: latest
                .imported_from
                .clone()
                .filter(|source| source.each_run.is_some() && estimate.is_some()),
            interval_text: texts.interval,
            change: changed,
            change_text,
            change_interval,
            change_against,
            unusual: usual.is_some_and(|it| it.is_unusual()),
            worse: match view.sample.metric.better {
                Some(Better::Lower) => changed.is_some_and(|it| it > 1.0),
                Some(Better::Higher) => changed.is_some_and(|it| it < 1.0),
                None => false,
            },
            new_epoch: is_new_epoch(view, latest),
            since: HistorySince::of(
                site.changes.as_ref(),
                &benchmark.slug,
                &view.sample.name,
                variant,
            ),
            verdict: verdict.name,
            verdict_text: verdict.text,
            cv: estimate.and_then(|estimate| estimate.cv),
            cv_text: texts.cv,
            noisy: false,
            size: texts.size,
            instances: latest.size().instances,
            skipped: latest.is_skipped(),
            ended: (site.changes.as_ref()).is_some_and(|it| it.is_ended(&benchmark.slug, variant)),
            retired: latest.retired,
            failures: latest.failures(),
            failed_before: view
                .of_variant(variant)
                .filter(|(run, _)| run.id != latest.id && run.failures() > 0)
                .count(),
            lost: latest.lost(),
            left_out: latest.left_out().text(),
        })
    }
}

/// The comparison of a run.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::report) enum RunChange {
    /// The ratio to a run, and its label.
    Ratio(String, JudgedRatio),
    /// No comparison: the benchmark itself changed since the run before.
    NewEpoch {
        /// The label of that run.
        before: String,
        /// The change of the benchmark, in brackets; empty if unknown.
        what: String,
    },
    /// No comparison: one of the runs is retired; the label of the run before.
    Retired(String),
    /// No comparison: nothing to compare with, or too little.
    Unknown,
}

impl RunChange {
    /// Returns how a run compares: with the reference variant beside it, or, where it is that
    /// itself, with the run before it of the same variant.
    pub(in crate::report) fn of(view: &MetricView, run: &RunSample) -> Self {
        // Nothing is concluded from a summary, nor from nothing.
        if run.size().instances == 0 {
            return Self::Unknown;
        }
        let ratio = |against: String, other: &RunSample| {
            judge::ratio([&other.side(), &run.side()])
                .map_or(Self::Unknown, |ratio| Self::Ratio(against, ratio))
        };
        if let Some(reference) = reference_variant(view, run)
            && reference.id != run.id
        {
            return ratio(format!("against {}", reference.variant), reference);
        }
        match view.sample.before(run) {
            None => Self::Unknown,
            Some(before) if before.retired != run.retired => {
                Self::Retired(before.label_within_variant())
            }
            // A benchmark that became another thing did not get slower or faster.
            Some(before) if !before.means_the_same_as(run) => Self::NewEpoch {
                before: before.label_within_variant(),
                what: run.meaning.changed_since(&before.meaning).in_brackets(),
            },
            Some(before) => {
                let against = format!("against the run of {}", before.label_within_variant());
                ratio(against, before)
            }
        }
    }

    pub(in crate::report) fn ratio(&self) -> Option<&JudgedRatio> {
        match self {
            Self::Ratio(_, ratio) => Some(ratio),
            Self::NewEpoch { .. } | Self::Retired(_) | Self::Unknown => None,
        }
    }

    /// Returns what it is compared with, or why it is not; may be empty.
    pub(in crate::report) fn against(&self) -> String {
        match self {
            Self::Ratio(against, _) => against.clone(),
            Self::NewEpoch { before, what } => format!(
                "not compared with the run of {before}: the benchmark itself changed in between{what}"
            ),
            Self::Retired(before) => format!("not compared with the run of {before}"),
            Self::Unknown => String::new(),
        }
    }
}

/// Returns whether the benchmark itself changed since the run before of the same variant.
pub(in crate::report) fn is_new_epoch(view: &MetricView, run: &RunSample) -> bool {
    let before = view.sample.before(run);
    before.is_some_and(|before| before.retired == run.retired && !before.means_the_same_as(run))
}

/// Returns the run at the same place that others are compared with: of the variant named
/// `baseline` or `default`, else of the one that was measured first.
fn reference_variant<'a>(view: &'a MetricView, run: &RunSample) -> Option<&'a RunSample<'a>> {
    let beside = view.sample.beside(run);
    ["baseline", Run::DEFAULT_VARIANT]
        .iter()
        .find_map(|name| beside.iter().find(|run| run.variant == *name))
        .or_else(|| beside.first())
}

/// Returns a curve through the runs of a variant, or, where there is only one run, dots for
/// its instances: a curve through these would look like a history. Summaries and means of
/// samples are never joined: the curve is of the kind that the latest run has.
fn sparkline(view: &MetricView, variant: &str, of_summaries: bool) -> (String, String) {
    if of_summaries {
        let history: Vec<f64> = view
            .of_variant(variant)
            .filter(|(_, estimate)| estimate.is_none())
            .filter_map(|(run, _)| view.summary(run))
            .map(|summary| summary.value)
            .collect();
        let title = format!("the last {} summaries, oldest left", history.len());
        return (sparkline_path(&history), title);
    }
    let history: Vec<f64> = view
        .of_variant(variant)
        .map(|(_, estimate)| estimate.map_or(f64::NAN, |estimate| estimate.value))
        .collect();
    if history.len() > 1 {
        let title = format!("the last {} runs, oldest left", history.len());
        return (sparkline_path(&history), title);
    }
    let means: Vec<f64> = view
        .of_variant(variant)
        .flat_map(|(run, _)| run.instance_means())
        .collect();
    let title = format!("the {} instances of its only run", means.len());
    (sparkline_dots(&means), title)
}
