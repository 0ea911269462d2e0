//! Changes in a history: where each may have begun, and the levels before and after it.

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::super::VariantColours;
use super::super::history::HistoryPoint;
use crate::quantity::UnitScale;
use lapwing_analyse::sample::HistoryPosition;

/// A change of the level of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelMark {
    /// The variant of the line.
    pub variant: String,
    /// The first run at the level before, and the last one at the level after.
    pub span: [HistoryPosition; 2],
    /// The last run at the level before, and the first one at the level after.
    pub change: [HistoryPosition; 2],
    /// The first and the last run that may be the first one at the level after.
    pub range: [HistoryPosition; 2],
    /// The levels, in the metric's unit; no numbers where it has none.
    pub levels: [f64; 2],
    /// The tone of its colour: `worse`, `better` or `muted`.
    pub tone: &'static str,
    /// The text beside it.
    pub label: String,
    /// The text on hover.
    pub text: String,
}

/// The width of a label as a share of that of the chart, on a narrow page.
const LABEL_WIDTH: f64 = 0.2;

/// The columns of a mark.
const COLUMNS: [&str; 9] = [
    "change",
    "from",
    "last",
    "next",
    "to",
    "first",
    "end",
    "level",
    "new_level",
];

/// Returns the series that draws the marks, below everything else.
pub(in crate::chart) fn level_series(
    marks: &[LevelMark],
    points: &[HistoryPoint],
    scale: &UnitScale,
    colours: &VariantColours,
) -> Option<Value> {
    if marks.is_empty() {
        return None;
    }
    let mut places: Vec<HistoryPosition> = points.iter().map(|point| point.place).collect();
    places.dedup();
    let last = places.len().saturating_sub(1);
    let place = |at: HistoryPosition| {
        // The place of a session in the history of a benchmark is that of when it measured the benchmark.
        let is_same = |it: &HistoryPosition| it.key() == at.key();
        let is_before = |it: &HistoryPosition| it.between_histories() < at.between_histories();
        let same = places.iter().position(is_same);
        // A run without any point here belongs to the next one.
        as_f64(same.unwrap_or_else(|| places.partition_point(is_before).min(last)))
    };
    let rows: Vec<Value> = marks
        .iter()
        .enumerate()
        .map(|(number, mark)| {
            let [from, to] = mark.span.map(place);
            let [before, after] = mark.change.map(place);
            let [first, end] = mark.range.map(place);
            let [level, new_level] = mark.levels.map(|level| level / scale.factor);
            json!([
                number, from, before, after, to, first, end, level, new_level
            ])
        })
        .collect();
    let looks: Vec<Value> = marks
        .iter()
        .zip(lines_of_labels(marks, place, last))
        .map(|(mark, line)| {
            let colour = colours.get(&mark.variant);
            json!({"label": mark.label, "line": line, "tone": mark.tone, "colour": colour})
        })
        .collect();
    Some(json!({
        "name": "changes",
        "type": "custom",
        "dimensions": COLUMNS,
        "data": rows,
        "encode": {"x": ["last", "next"], "y": ["level", "new_level"]},
        "renderItem": {"$function": "levelChange", "looks": looks},
        "clip": true,
        "z": 1,
    }))
}

/// Returns the number of the line in which each label is written: the first where none is near it.
fn lines_of_labels(
    marks: &[LevelMark],
    place: impl Fn(HistoryPosition) -> f64,
    last: usize,
) -> Vec<usize> {
    let width = as_f64(last) * LABEL_WIDTH;
    // The place of the last label of each line.
    let mut lines: Vec<f64> = Vec::new();
    let mut found = Vec::new();
    for mark in marks {
        let at = place(mark.change[1]);
        let free = lines.iter().position(|taken| (at - taken).abs() >= width);
        let line = free.unwrap_or(lines.len());
        match lines.get_mut(line) {
            Some(taken) => *taken = at,
            None => lines.push(at),
        }
        found.push(line);
    }
    found
}

/// Returns the line of the tooltip about a change.
pub(in crate::chart) fn level_field(marks: &[LevelMark]) -> Value {
    let texts: Vec<&str> = marks.iter().map(|mark| mark.text.as_str()).collect();
    json!({"label": "change", "column": "change", "names": texts})
}

/// Returns what the marks mean, where there are any.
pub(in crate::chart) fn level_sentence(marks: &[LevelMark]) -> Option<String> {
    let what = "Thick: the level before and after a change; shaded: where a step may have been (95 % confidence), or a whole drift.";
    let is_grey = marks.iter().any(|mark| mark.tone == "muted");
    let grey = if is_grey {
        " Grey changes are known, undone later, or neither better nor worse."
    } else {
        ""
    };
    (!marks.is_empty()).then(|| format!("{what}{grey}"))
}
