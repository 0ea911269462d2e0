//! The side file of one metric of a benchmark: its charts, and its runs with their instances.

use crate::RatioText;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::super::data_pack::DataPack;
use super::super::directory::DirectoryError;
use super::super::frame::trace_part;
use super::super::index_parts::row::{self, RunChange, RunTexts};
use super::super::provenance::{back_to_back_note, summary_note};
use super::super::{MetricView, ReportSite, changes};
use crate::VariantColours;
use crate::chart::{
    Chart, HistoryPoint, RunName, RunNumber, distribution, history, instance_means, iterations,
    place_names,
};
use crate::packed::{packed, table};
use crate::quantity::UnitScale;
use crate::sample::{InstanceSample, RunSample, metric_title, short_run};
use crate::words::summary::{RunSummary, figures};
use lapwing_analyse::judge::Estimate;
use lapwing_analyse::sample::{HistoryPosition, RunOrder};
use lapwing_model::text::grouped;
use lapwing_model::{Id, InstanceOutcome};

/// The largest numbers of runs and of points whose iterations are drawn at a time.
const RUNS_AT_A_TIME: usize = 10;
const POINTS_AT_A_TIME: usize = 4_000;

/// About how many characters a side file holds, and the part of it that a page loads at once with
/// the newest runs.
pub(in crate::report) const CHARACTERS: usize = 150_000;
const NEWEST_RUNS: usize = 10_000;

const NOTHING_TO_DRAW: &str =
    "Nothing to draw yet: a chart takes several runs, instances or iterations with values.";

/// The side files of a metric, for the script of the page.
#[derive(Debug, Serialize)]
pub(in crate::report) struct MetricSideFile {
    pub(in crate::report) name: String,
    pub(in crate::report) file: String,
    /// The side files with the iterations of older runs, if the report has every iteration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::report) older: Vec<String>,
    /// The label of the first chart of iterations, if there are older ones.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(in crate::report) latest: String,
}

#[derive(Serialize)]
struct MetricContent {
    /// Notes on the charts that are not on the page already.
    notes: Vec<String>,
    charts: Vec<Chart>,
    /// The ends of the ids of all runs, newest first; left out where the history has them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_ids: Option<Value>,
    /// The table of the newest runs.
    runs: Value,
    /// The side files with the others, each with the position of its first run.
    more_runs: Vec<(String, usize)>,
}

#[derive(Serialize)]
struct OlderGroup {
    label: String,
    chart: Chart,
}

/// A run in the table of runs. What it has not is left out: histories are long.
#[derive(Serialize)]
struct TraceRun {
    id: String,
    time: String,
    session: String,
    variant: String,
    colour: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
    #[serde(skip_serializing_if = "is_false")]
    retired: bool,
    /// Whether it has no value.
    #[serde(skip_serializing_if = "is_false")]
    without_value: bool,
    value: String,
    /// The unit that it is counted in, where that cannot be compared with the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_unit: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    interval: String,
    /// The kind of value of a source that kept no samples.
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    spread: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    size: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    cv: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    change: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    change_against: String,
    /// Whether the benchmark itself changed since the run before.
    #[serde(skip_serializing_if = "is_false")]
    new_epoch: bool,
    #[serde(skip_serializing_if = "is_zero")]
    failures: usize,
    #[serde(skip_serializing_if = "is_zero")]
    lost: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    left_out: String,
    instances: Vec<TraceInstance>,
    /// The summaries of the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    summaries: Vec<TraceSummary>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "what serde calls it with"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "what serde calls it with"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// An instance among those that a run's number rests on.
#[derive(Serialize)]
struct TraceInstance {
    id: String,
    host: String,
    mean: String,
    used: usize,
    left_out: String,
    outcome: &'static str,
}

/// A summary among those of a run.
#[derive(Serialize)]
struct TraceSummary {
    instance: String,
    host: String,
    what: String,
    value: String,
    spread: String,
    /// Further figures of the source.
    figures: String,
}

/// Writes the side files of the metric of that number.
pub(in crate::report) fn write(
    site: &ReportSite,
    pack: &mut DataPack,
    slug: &str,
    number: usize,
    views: &[MetricView],
) -> Result<MetricSideFile, DirectoryError> {
    let view = &views[number];
    let told = notes(&views[0]);
    let (sample, colours) = (&view.sample, &site.colours);
    let groups = groups(&sample.runs);
    let (latest, older) = match groups.split_first() {
        Some((latest, older)) => (*latest, older),
        None => (sample.runs.as_slice(), groups.as_slice()),
    };
    let mut charts = Vec::new();
    // Summaries have neither iterations nor instances that could be drawn, and what failed has no values.
    let has_samples = view.estimates.iter().any(Option::is_some);
    let mut instances = latest.iter().flat_map(|run| &run.instances);
    let has_courses = instances.any(|it| {
        let mut with_value = it.points().filter(|point| point.value.is_finite());
        with_value.nth(1).is_some()
    });
    let has_instances = (sample.runs.iter().zip(&view.estimates))
        .any(|(run, estimate)| estimate.is_some() && run.instances.len() > 1);
    // Where every variant has one run, other charts show more, if there are any.
    let are_histories = (sample.variants().iter()).any(|it| view.of_variant(it).nth(1).is_some());
    let mut in_history = false;
    if are_histories || sample.runs.len() > 1 && !has_courses && !has_instances {
        let points: Vec<HistoryPoint> = history_points(view).into_iter().map(|it| it.1).collect();
        in_history = points.len() == sample.runs.len();
        let marks = changes::level_marks(site.changes.as_ref(), slug, view, number == 0);
        let unit = &sample.metric.unit;
        charts.push(history(&sample.name, unit, &points, &marks, colours));
    }
    if has_samples && (has_courses || has_instances) {
        charts.push(distribution(sample, &latest_and_before(view), colours));
    }
    if has_courses {
        let mut chart = iterations(sample, latest, colours);
        if !older.is_empty() && !site.options.raw {
            let drawn = group_label(latest);
            chart.subtitle.push_str(&format!(
                " Drawn: {drawn}; lapwing report --raw adds older ones."
            ));
        }
        charts.push(chart);
    }
    if has_instances {
        charts.push(instance_means(sample, &sample.runs, colours));
    }
    let mut notes: Vec<String> = notes(view)
        .into_iter()
        .filter(|note| !told.contains(note))
        .collect();
    if charts.is_empty() {
        notes.push(NOTHING_TO_DRAW.to_owned());
    }
    let file = format!("{slug}.m{number}");
    let ids = sample.runs.iter().rev().map(|run| short_run(&run.id));
    let mut pieces = pieces(run_rows(view, colours), NEWEST_RUNS).into_iter();
    let runs = pieces.next().unwrap_or_default();
    let mut more_runs = Vec::new();
    let mut position = runs.len();
    for (at, piece) in pieces.enumerate() {
        let name = format!("{file}.more{at}");
        more_runs.push((pack.add(&name, &table(&piece))?, position));
        position += piece.len();
    }
    let content = MetricContent {
        notes,
        charts,
        run_ids: (!in_history).then(|| packed(&ids.collect::<Vec<_>>())),
        runs: table(&runs),
        more_runs,
    };
    let entry = pack.add(&file, &content)?;
    let has_older = has_courses && site.options.raw;
    let groups = older.iter().filter(|_| has_older).map(|runs| OlderGroup {
        label: group_label(runs),
        chart: iterations(sample, runs, colours),
    });
    let mut older_files = Vec::new();
    for (at, piece) in self::pieces(groups.collect(), CHARACTERS)
        .iter()
        .enumerate()
    {
        let name = format!("{file}.older{at}");
        older_files.push(pack.add(&name, piece)?);
    }
    Ok(MetricSideFile {
        name: sample.name.clone(),
        file: entry,
        latest: if older_files.is_empty() {
            String::new()
        } else {
            group_label(latest)
        },
        older: older_files,
    })
}

/// Returns the latest run of each variant and the one before it, in the order of all runs.
fn latest_and_before<'a>(view: &'a MetricView<'a>) -> Vec<&'a RunSample<'a>> {
    let mut chosen: BTreeSet<Id> = BTreeSet::new();
    for variant in view.sample.variants() {
        if let Some((latest, _)) = view.latest(variant) {
            chosen.insert(latest.id);
            chosen.extend(view.sample.before(latest).map(|it| it.id));
        }
    }
    let runs = view.sample.runs.iter();
    runs.filter(|run| chosen.contains(&run.id)).collect()
}

/// Returns the rows in pieces that stay small as files: the first of about so many characters,
/// the others of [`CHARACTERS`].
pub(in crate::report) fn pieces<T: Serialize>(rows: Vec<T>, first: usize) -> Vec<Vec<T>> {
    let mut pieces: Vec<Vec<T>> = Vec::new();
    let mut room = 0;
    for row in rows {
        // Structs of numbers and texts, which cannot fail.
        let length = serde_json::to_string(&row).map_or(0, |json| json.len());
        if length > room || pieces.is_empty() {
            room = if pieces.is_empty() { first } else { CHARACTERS };
            pieces.push(Vec::new());
        }
        room = room.saturating_sub(length);
        if let Some(piece) = pieces.last_mut() {
            piece.push(row);
        }
    }
    pieces
}

/// Returns what to know of the latest run of each variant before reading anything else.
pub(in crate::report) fn notes(view: &MetricView) -> Vec<String> {
    let mut notes = Vec::new();
    for variant in view.sample.variants() {
        let Some((latest, estimate)) = view.latest(variant) else {
            continue;
        };
        let note = match (estimate, view.summary(latest)) {
            (Some(_), _) => latest.imported_from.as_ref().and_then(back_to_back_note),
            (None, Some(_)) => Some(summary_note(latest)),
            (None, None) => None,
        };
        if let Some(note) = note
            && !notes.contains(&note)
        {
            notes.push(note);
        }
    }
    notes.extend(other_units(view));
    notes
}

/// Returns which runs count in a unit that cannot be converted.
fn other_units(view: &MetricView) -> Option<String> {
    let runs = || view.sample.runs.iter();
    let others: BTreeSet<&str> = runs().filter_map(|it| it.other_unit.as_deref()).collect();
    if others.is_empty() {
        return None;
    }
    let number = runs().filter(|it| it.other_unit.is_some()).count();
    let (subject, verb) = match number {
        1 => ("1 run".to_owned(), "counts"),
        _ => (format!("{} runs", grouped(number)), "count"),
    };
    let others: Vec<&str> = others.into_iter().collect();
    Some(format!(
        "{}: {subject} {verb} in {}, the latest in {}: such values cannot be compared, so the history starts again after the change of unit, and theirs are listed only among the iterations (`lapwing report --raw`).",
        metric_title(&view.sample.name),
        others.join(", "),
        view.sample.metric.unit,
    ))
}

/// Returns the runs in groups to be drawn together, newest group first.
fn groups<'a, 'd>(runs: &'a [RunSample<'d>]) -> Vec<&'a [RunSample<'d>]> {
    let mut groups = Vec::new();
    let mut end = runs.len();
    while end > 0 {
        let mut begin = end;
        let mut points = 0;
        while begin > 0 && end - begin < RUNS_AT_A_TIME {
            let more: usize = runs.get(begin - 1).map_or(0, |run| {
                run.instances.iter().map(|it| it.points().len()).sum()
            });
            if begin < end && points + more > POINTS_AT_A_TIME {
                break;
            }
            points += more;
            begin -= 1;
        }
        groups.extend(runs.get(begin..end));
        end = begin;
    }
    groups
}

fn group_label(runs: &[RunSample]) -> String {
    let first = runs.iter().min_by_key(|run| run.started);
    let last = runs.iter().max_by_key(|run| run.started);
    match (first, last) {
        (Some(first), Some(last)) if runs.len() > 1 => format!(
            "{} runs, {} to {}",
            runs.len(),
            first.time_text(),
            last.time_text()
        ),
        (Some(only), _) => format!("the run of {}", only.label()),
        (None, _) => "no run".to_owned(),
    }
}

/// Returns the runs with anything to draw, and their points.
pub(in crate::report) fn history_points<'a>(
    view: &'a MetricView,
) -> Vec<(&'a RunSample<'a>, HistoryPoint)> {
    let runs = &view.sample.runs;
    let places: Vec<HistoryPosition> = runs.iter().map(|run| run.place).collect();
    runs.iter()
        .zip(&view.estimates)
        .zip(place_names(&places))
        .filter_map(|((run, estimate), time)| {
            let place_name = own_name(run).unwrap_or(time);
            let number = match estimate {
                Some(estimate) => Some(RunNumber::Estimate(*estimate)),
                None => view.summary(run).map(RunNumber::Summary),
            };
            let failures = run.failures();
            let point = (number.is_some() || failures > 0).then(|| HistoryPoint {
                place: run.place,
                place_name,
                retired: run.retired,
                undated: run.version_date.is_none(),
                run: RunName {
                    id: short_run(&run.id),
                    started: run.started.to_string(),
                    session: run.session_name.clone(),
                    version: run.version.clone().unwrap_or_default(),
                },
                variant: run.variant.clone(),
                number,
                left_out: run.left_out().text(),
                failures,
                release: run.release.clone().filter(|name| is_release(name)),
                meaning: run.meaning.clone(),
                link: format!("#{}", trace_part(&view.sample.name, &short_run(&run.id))),
            })?;
            Some((run, point))
        })
        .collect()
}

/// Returns what the axis calls a run that does not stand in order of time.
fn own_name(run: &RunSample) -> Option<String> {
    match run.place.order {
        RunOrder::VersionNames | RunOrder::FileOrder => run.version.clone(),
        RunOrder::FileNames | RunOrder::FileTimes | RunOrder::Unknown => {
            Some(run.session_name.clone())
        }
        RunOrder::Commits | RunOrder::VersionDates | RunOrder::StartTimes => None,
    }
}

/// Returns whether a version's name is that of a release: `2026.9.0`, but not what lies between two
/// (`2026.9.0+12.gab12cd3`, `2026.10.0.dev4`).
fn is_release(name: &str) -> bool {
    !name.contains('+') && !name.contains("dev")
}

fn run_rows(view: &MetricView, colours: &VariantColours) -> Vec<TraceRun> {
    let unit = &view.sample.metric.unit;
    view.sample
        .runs
        .iter()
        .zip(&view.estimates)
        .rev()
        .map(|(run, estimate)| {
            let change = RunChange::of(view, run);
            let ratio = change.ratio();
            let summary = view.summary(run).filter(|_| estimate.is_none());
            let summary = summary.as_ref();
            let texts = RunTexts::of(run, estimate.as_ref(), summary, unit);
            TraceRun {
                id: run.id.to_string(),
                time: run.time_text(),
                session: run.session_name.clone(),
                variant: run.variant.clone(),
                colour: colours.get(&run.variant),
                version: run.version.clone().unwrap_or_default(),
                retired: run.retired,
                without_value: estimate.is_none() && summary.is_none(),
                value: texts.value,
                other_unit: run.other_unit.clone(),
                summary: texts.summary,
                spread: texts.spread,
                interval: texts.interval,
                size: texts.size,
                cv: texts.cv,
                change: ratio.map_or_else(String::new, |judged| judged.ratio.text()),
                change_against: change.against(),
                new_epoch: row::is_new_epoch(view, run),
                failures: run.failures(),
                lost: run.lost(),
                left_out: run.left_out().text(),
                instances: run
                    .instances
                    .iter()
                    .filter(|_| summary.is_none())
                    .map(|instance| instance_row(instance, estimate.as_ref(), unit))
                    .collect(),
                summaries: run
                    .instances
                    .iter()
                    .flat_map(|instance| summary_rows(instance, unit))
                    .collect(),
            }
        })
        .collect()
}

fn summary_rows(instance: &InstanceSample, unit: &str) -> impl Iterator<Item = TraceSummary> {
    instance.summaries.iter().filter_map(move |summary| {
        let alone = [summary.statistic.clone()];
        let number = RunSummary::of([summary], &alone)?;
        Some(TraceSummary {
            instance: instance.short_id(),
            host: instance.host.clone().unwrap_or_default(),
            what: number.what(),
            value: number.value_text(unit),
            spread: number.spread_text(unit).unwrap_or_default(),
            figures: figures(summary, unit),
        })
    })
}

fn instance_row(
    instance: &InstanceSample,
    estimate: Option<&Estimate>,
    unit: &str,
) -> TraceInstance {
    let mean = instance.mean();
    let scale = UnitScale::of(estimate.map_or(0.0, |estimate| estimate.value), unit);
    TraceInstance {
        id: instance.short_id(),
        host: instance.host.clone().unwrap_or_default(),
        mean: mean.map_or_else(|| "–".to_owned(), |mean| scale.text(mean)),
        used: instance.steady_count(),
        left_out: instance.left_out().text(),
        outcome: instance.outcome.map_or("", InstanceOutcome::name),
    }
}
