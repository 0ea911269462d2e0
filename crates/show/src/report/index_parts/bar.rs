//! The sample of one bar: the newest version of one setting, measured recently.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::super::MetricView;
use super::columns::BenchmarkLink;
use crate::VariantColours;
use crate::chart::BarFigures;
use crate::sample::RunSample;
use lapwing_model::natural_order;

/// Runs of this number of days up to the latest run of a setting count.
pub(in crate::report) const DAYS: i64 = 7;

/// The bars of a benchmark.
#[derive(Debug)]
pub(in crate::report) struct BenchmarkBars {
    pub(in crate::report) benchmark: BenchmarkLink,
    /// The start of its last session.
    pub(in crate::report) newest: Option<Timestamp>,
    pub(in crate::report) bars: Vec<MetricBar>,
}

/// A bar by one metric.
#[derive(Debug)]
pub(in crate::report) struct MetricBar {
    pub(in crate::report) metric: String,
    pub(in crate::report) unit: String,
    pub(in crate::report) setting: String,
    pub(in crate::report) colour: usize,
    pub(in crate::report) bar: BarFigures,
    /// The version, or the first and the last.
    pub(in crate::report) versions: (String, String),
    /// The starts of its first and its last session.
    pub(in crate::report) from: Timestamp,
    pub(in crate::report) until: Timestamp,
}

/// Returns a bar for each setting and metric of a benchmark.
pub(in crate::report) fn of_benchmark(
    benchmark: &BenchmarkLink,
    views: &[MetricView],
    colours: &VariantColours,
) -> BenchmarkBars {
    let runs = || views.iter().flat_map(|view| &view.sample.runs);
    BenchmarkBars {
        benchmark: benchmark.clone(),
        newest: runs().map(|run| run.started).max(),
        bars: views
            .iter()
            .flat_map(|view| of_metric(view, colours))
            .collect(),
    }
}

fn of_metric(view: &MetricView, colours: &VariantColours) -> Vec<MetricBar> {
    let sample = &view.sample;
    let mut settings = sample.variants();
    settings.sort_by(|one, other| natural_order(one, other));
    settings
        .into_iter()
        .filter_map(|setting| {
            let of_setting = sample.runs.iter().filter(|run| run.variant == setting);
            let (judged, others): (Vec<_>, Vec<_>) = of_setting.partition(|run| run.is_judged);
            let runs = runs_of_bar(if judged.is_empty() { &others } else { &judged });
            let means: Vec<f64> = runs.iter().flat_map(|run| run.instance_means()).collect();
            let version = |run: &&&RunSample| run.version.clone().unwrap_or_default();
            Some(MetricBar {
                metric: sample.name.clone(),
                unit: sample.metric.unit.clone(),
                setting: setting.to_owned(),
                colour: colours.get(setting),
                bar: BarFigures::new(&means)?,
                versions: (
                    runs.first().as_ref().map(version)?,
                    runs.last().as_ref().map(version)?,
                ),
                from: runs.iter().map(|run| run.started).min()?,
                until: runs.iter().map(|run| run.started).max()?,
            })
        })
        .collect()
}

/// Returns those of a setting's runs, given in the order of its history, that its bar is of: the
/// latest one with a value, and of the days before it the runs of the same version, or of other
/// nightly builds of the same release.
fn runs_of_bar<'a>(of_setting: &[&'a RunSample<'a>]) -> Vec<&'a RunSample<'a>> {
    let has_value = |run: &RunSample| !run.instance_means().is_empty();
    let Some(latest) = of_setting.iter().rfind(|run| has_value(run)) else {
        return Vec::new();
    };
    // Who measures several versions in one session (a backfill, say) wants them apart.
    let alone = |run: &RunSample| {
        let session = of_setting.iter().filter(|it| it.session == run.session);
        let versions: BTreeSet<_> = session.map(|it| &it.version).collect();
        versions.len() == 1
    };
    let lately = SignedDuration::ZERO..=SignedDuration::from_hours(24 * DAYS);
    let mut runs: Vec<&RunSample> = of_setting
        .iter()
        .rev()
        // A benchmark that became another thing and came back is not what it was before.
        .take_while(|run| run.means_the_same_as(latest))
        .filter(|run| has_value(run))
        .filter(|run| lately.contains(&latest.started.duration_since(run.started)))
        .filter(|run| {
            run.version == latest.version
                || (nightly_of(run).is_some()
                    && nightly_of(run) == nightly_of(latest)
                    && alone(run)
                    && alone(latest))
        })
        .copied()
        .collect();
    runs.reverse();
    runs
}

/// Returns the release of which a run's version is a nightly build: `2026.9` of `2026.9+3.g1a2b`.
fn nightly_of<'a>(run: &'a RunSample) -> Option<&'a str> {
    let (release, _) = run.release.as_deref()?.split_once('+')?;
    (!release.is_empty()).then_some(release)
}
