//! Marks of a history besides values: failures, releases and epochs.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::super::history::HistoryPoint;
use super::super::{VariantColours, named_colour};
use super::columns::ChartColumns;
use crate::words::meaning::{BenchmarkMeaning, MeaningChange};

/// The largest number of labels; more of them would be illegible.
const LABELS: usize = 24;

/// A mark at a position.
struct HistoryMark<'a> {
    place: usize,
    what: MarkReason<'a>,
}

enum MarkReason<'a> {
    /// The first run of a release.
    Release(&'a str),
    /// The benchmark itself changed.
    Epoch(MeaningChange),
}

impl HistoryMark<'_> {
    fn is_epoch(&self) -> bool {
        self.changed().is_some()
    }

    fn changed(&self) -> Option<&MeaningChange> {
        match &self.what {
            MarkReason::Release(_) => None,
            MarkReason::Epoch(changed) => Some(changed),
        }
    }

    fn label(&self) -> String {
        match &self.what {
            MarkReason::Release(name) => (*name).to_owned(),
            MarkReason::Epoch(changed) => changed.label(),
        }
    }
}

/// Returns what the marks mean, where there are any.
pub(crate) fn sentence(points: &[HistoryPoint], places: &[usize]) -> Option<String> {
    let marks = marks(points, places);
    let epochs: Vec<&MeaningChange> = marks.iter().filter_map(HistoryMark::changed).collect();
    let releases = marks.len() - epochs.len();
    // Of several changes each says at its line what it is.
    let which = match epochs.as_slice() {
        [only] => only.in_brackets(),
        [] | [_, _, ..] => String::new(),
    };
    match (releases, epochs.len()) {
        (0, 0) => None,
        (_, 0) => Some("Dotted: the first run of a version.".to_owned()),
        (0, _) => Some(format!("Solid: the benchmark itself changed{which}.")),
        (_, _) => Some(format!(
            "Dotted: the first run of a version; solid: the benchmark itself changed{which}."
        )),
    }
}

/// Returns the rows of runs with failures.
pub(in crate::chart) fn failures(
    points: &[HistoryPoint],
    places: &[usize],
    colours: &VariantColours,
) -> Option<ChartColumns> {
    let mut columns = ChartColumns::new(&["place", "value", "run", "failures", "above", "colour"]);
    let mut crossed = (0, 0);
    for (at, (point, &place)) in points.iter().zip(places).enumerate() {
        if point.failures > 0 {
            // Crosses of one place stand above each other.
            crossed = match crossed {
                (before, number) if before == place => (place, number + 1),
                _ => (place, 1),
            };
            columns.push(&[
                as_f64(place),
                // It stands at the foot whatever the values are, and must not widen their axis.
                f64::NAN,
                as_f64(at),
                as_f64(point.failures),
                as_f64(crossed.1 - 1_usize),
                as_f64(colours.get(&point.variant)),
            ]);
        }
    }
    (columns.len() > 0).then_some(columns)
}

/// Returns the series that draws them.
pub(in crate::chart) fn failure_series(dataset: usize) -> Value {
    json!({
        "name": "failures",
        "type": "custom",
        "datasetIndex": dataset,
        "encode": {"x": "place", "y": "value"},
        "renderItem": {"$function": "cross"},
        "itemStyle": {"color": {"$function": "colourOfRow"}},
        "clip": true,
        "z": 4,
    })
}

/// Returns the series with lines where releases and epochs begin.
pub(crate) fn mark_series(points: &[HistoryPoint], places: &[usize]) -> Option<Value> {
    let marks = marks(points, places);
    if marks.is_empty() {
        return None;
    }
    let lines: Vec<Value> = marks
        .iter()
        .zip(labelled(&marks, places))
        .map(|(mark, shown)| {
            // A release at the place of an epoch stands in the label of that.
            let with = marks
                .iter()
                .find(|it| mark.is_epoch() && !it.is_epoch() && it.place == mark.place);
            let label = with.map_or_else(
                || mark.label(),
                |release| format!("{}, {}", release.label(), mark.label()),
            );
            json!({
                "xAxis": mark.place,
                "label": {"show": shown, "formatter": label},
                "lineStyle": {"type": if mark.is_epoch() { "solid" } else { "dotted" }},
            })
        })
        .collect();
    Some(json!({
        "name": "marks",
        "type": "line",
        "data": [],
        "markLine": {
            "silent": true,
            "symbol": "none",
            "animation": false,
            "lineStyle": {"color": named_colour("muted"), "width": 1},
            "label": {"position": "insideEndTop", "color": named_colour("muted"), "fontSize": 11},
            "data": lines,
        },
    }))
}

/// Returns where a release was measured first, and where the benchmark itself became another thing within a line. The
/// only release of all runs is no news. Where hardly any run is not the first of a release, that is no news, and
/// lines would hide the points.
fn marks<'a>(points: &'a [HistoryPoint], places: &[usize]) -> Vec<HistoryMark<'a>> {
    let mut marks: Vec<HistoryMark<'a>> = Vec::new();
    let mut releases: BTreeSet<&str> = BTreeSet::new();
    let mut known: BTreeMap<&str, &BenchmarkMeaning> = BTreeMap::new();
    for (point, &place) in points.iter().zip(places) {
        if point.meaning.epoch.is_some()
            && let Some(before) = known.insert(&point.variant, &point.meaning)
            && !point.meaning.is_that_of(before)
            && !marks
                .iter()
                .any(|mark| mark.is_epoch() && mark.place == place)
        {
            marks.push(HistoryMark {
                place,
                what: MarkReason::Epoch(point.meaning.changed_since(before)),
            });
        }
        if let Some(release) = point.release.as_deref()
            && releases.insert(release)
        {
            marks.push(HistoryMark {
                place,
                what: MarkReason::Release(release),
            });
        }
    }
    // The only version of all runs is no news.
    if releases.len() == 1 && points.iter().all(|it| it.release.is_some()) {
        marks.retain(HistoryMark::is_epoch);
    }
    let of_releases = marks.iter().filter(|mark| !mark.is_epoch()).count();
    let all = places.iter().collect::<BTreeSet<_>>().len();
    if of_releases > LABELS && 2 * of_releases > all {
        marks.retain(HistoryMark::is_epoch);
    }
    marks
}

/// Returns which marks have a label: epochs before releases, and none so near another that they would
/// be printed over each other.
fn labelled(marks: &[HistoryMark<'_>], places: &[usize]) -> Vec<bool> {
    let apart = (places.last().map_or(0, |last| last / LABELS)).max(1);
    let mut taken: Vec<usize> = Vec::new();
    let mut shown = vec![false; marks.len()];
    for epochs in [true, false] {
        for (mark, shown) in marks.iter().zip(&mut shown) {
            let free = taken.iter().all(|it| it.abs_diff(mark.place) >= apart);
            if mark.is_epoch() == epochs && free {
                *shown = true;
                taken.push(mark.place);
            }
        }
    }
    shown
}
