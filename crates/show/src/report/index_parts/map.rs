//! The map of a history: a row for each benchmark, a column for each night, coloured by how far a value is from the
//! level before. The page's script draws it (`assets/map.js`).

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{as_f64, median};
use maud::{Markup, html};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::ReportSite;
use super::super::changes::ChangesView;
use super::super::data_pack::DataPack;
use super::super::directory::DirectoryError;
use super::super::slug::slug;
use super::listing::OtherView;
use crate::MomentText;
use crate::packed::compact;
use lapwing_analyse::detect::{FAILURES, Finding, HistorySeries};
use lapwing_model::{Better, Id, Run, Session, Version};

/// A value this far from the level has the strongest colour: half or double.
const STRONGEST: f64 = std::f64::consts::LN_2;
/// The number of colours for each direction.
const STEPS: f64 = 30.0;
/// The character of a cell at its level; those before it are better, those after it worse.
const LEVEL: u8 = b'@';
/// A benchmark that was not measured.
const GAP: u8 = b' ';
/// A benchmark that gave no usable value.
const NO_VALUE: u8 = b'!';
/// Values nearer to their level than so many robust standard deviations are as usual.
const USUAL: f64 = 3.0;
/// Smaller deviations are never shown.
const LEAST: f64 = 0.005;
/// A normal distribution's standard deviation is so many times the median absolute deviation.
const NORMAL: f64 = 1.4826;

/// The runs of a report by session, version and variant, for links from cells.
#[derive(Debug, Default)]
pub(in crate::report) struct RunsByPlace(BTreeMap<Id, Vec<(Version, String, Id)>>);

impl RunsByPlace {
    pub(in crate::report) fn add(&mut self, run: &Run, session: &Session, variant: &str) {
        let known = self.0.entry(session.id).or_default();
        if known.iter().all(|(_, _, id)| *id != run.id) {
            known.push((run.version.clone(), variant.to_owned(), run.id));
        }
    }

    /// Returns the run of a version in a session; an empty variant is the only one.
    fn of(&self, session: &Session, version: &Version, variant: &str) -> Option<Id> {
        let mut known = self.0.get(&session.id)?.iter();
        let found = known.find(|(its, name, _)| {
            its == version && (variant.is_empty() || name.as_str() == variant)
        });
        found.map(|(_, _, id)| *id)
    }
}

/// The columns of all maps of a report.
#[derive(Debug)]
struct Nights {
    /// The moments of each column.
    moments: Vec<Vec<usize>>,
    /// The column of each moment, and its place in it.
    places: Vec<(usize, usize)>,
}

impl Nights {
    /// Returns a column for each moment; jobs of one day that share no benchmark share a column.
    fn of(view: &ChangesView) -> Self {
        let histories = view.histories();
        let mut measured: Vec<BTreeSet<(&str, &str)>> =
            vec![BTreeSet::new(); histories.moments.len()];
        for series in &histories.series {
            for at in &series.tried {
                if let Some(known) = measured.get_mut(*at) {
                    known.insert((&series.subject.suite, &series.subject.benchmark));
                }
            }
        }
        let day = |at: usize| histories.moments[at].date_text();
        let mut moments: Vec<Vec<usize>> = Vec::new();
        let mut shared: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (at, own) in measured.into_iter().enumerate() {
            let column = moments.last_mut().filter(|column| {
                let first = column.first().copied().unwrap_or(at);
                day(first).is_some() && day(first) == day(at) && shared.is_disjoint(&own)
            });
            if let Some(column) = column {
                column.push(at);
                shared.extend(own);
            } else {
                moments.push(vec![at]);
                shared = own;
            }
        }
        let mut places = vec![(0, 0); histories.moments.len()];
        for (column, of_column) in moments.iter().enumerate() {
            for (place, at) in of_column.iter().enumerate() {
                places[*at] = (column, place);
            }
        }
        Self { moments, places }
    }
}

/// A column as the script needs it.
#[derive(Debug, Serialize)]
struct NightColumn {
    /// The version and date of each of its moments.
    moments: Vec<NightMoment>,
}

#[derive(Debug, Serialize)]
struct NightMoment {
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// Its runs, by variant.
    runs: BTreeMap<String, Id>,
}

/// A map: the rows of one metric.
#[derive(Debug, Serialize)]
struct MapFile {
    /// The rows in columns: `suite`, `id`, `slug`, `variant`, `setting`.
    rows: BTreeMap<&'static str, Value>,
    /// For each row a character per column.
    cells: Vec<String>,
    /// For each row the place of its moment in each column that has several; left out if no column has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    places: Vec<String>,
    /// The changes: row, column, direction, whether it is open, and the words.
    changes: Vec<(usize, usize, &'static str, bool, String)>,
    unit: String,
    /// Whether nothing is known of what is better.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    neutral: bool,
}

/// The map of a metric, for the script of the page.
#[derive(Debug, Serialize)]
struct MapEntry {
    name: String,
    file: String,
    /// The exact values, by row and column.
    values: String,
}

/// Writes the maps of a history, if it has any, and returns the part of the page.
pub(in crate::report) fn write(
    site: &ReportSite,
    settings: &mut Value,
) -> Result<Option<OtherView>, DirectoryError> {
    let Some(view) = site.changes.as_ref().filter(|it| it.is_history()) else {
        return Ok(None);
    };
    let nights = Nights::of(view);
    let columns = columns(site, view, &nights);
    let mut pack = DataPack::new(&site.directory, "map");
    let mut of_values = DataPack::new(&site.directory, "map-values");
    let mut entries = Vec::new();
    let mut metrics: BTreeMap<&str, Vec<(usize, &HistorySeries)>> = BTreeMap::new();
    for (at, series) in view.histories().series.iter().enumerate() {
        let metric = series.subject.metric.as_str();
        if metric != FAILURES && !series.tried.is_empty() {
            metrics.entry(metric).or_default().push((at, series));
        }
    }
    settings["nights"] = json!(pack.add("map.nights", &columns)?);
    for (number, (name, series)) in metrics.iter().enumerate() {
        let (map, values) = map_of(view, &nights, series);
        entries.push(MapEntry {
            name: (*name).to_owned(),
            file: pack.add(&format!("map.m{number}"), &map)?,
            values: of_values.add(&format!("map-values.m{number}"), &values)?,
        });
    }
    pack.finish()?;
    of_values.finish()?;
    settings["maps"] = json!(entries);
    Ok(Some(OtherView {
        name: "map",
        title: "Map",
        script: "map.js",
        part: part(view),
    }))
}

fn part(view: &ChangesView) -> Markup {
    let open = view.open_list();
    html! {
        div.map-and-findings {
            div.map {
                div.map-legend {
                    span { span.swatch.better {} "better" }
                    span { span.swatch.usual {} "as usual" }
                    span { span.swatch.worse {} "worse" }
                    span { span.swatch.failed { "×" } "no value" }
                    span { span.swatch.step {} "change" }
                    span.hint #map-range {}
                    span.buttons {
                        button type="button" data-action="closer" aria-label="Zoom in" title="Zoom in (+)" { "+" }
                        button type="button" data-action="wider" aria-label="Zoom out" title="Zoom out (−)" { "−" }
                        button type="button" data-action="whole" title="Show everything (0)" { "All" }
                    }
                }
                canvas #history-map tabindex="0" role="img" aria-label="Map of all benchmarks by night; arrow keys move, Enter opens a benchmark" {}
                p.hint #map-cell role="status" aria-live="polite" { "\u{a0}" }
            }
            aside aria-label="Open changes" {
                @if open.0.is_empty() {
                    p.hint { "No open change." }
                } @else {
                    h2 { "Open changes" }
                    (open)
                }
            }
        }
        noscript { p { "The map needs JavaScript. The pages of the benchmarks are in the folder " code { "benchmark" } "." } }
    }
}

fn columns(site: &ReportSite, view: &ChangesView, nights: &Nights) -> Vec<NightColumn> {
    let histories = view.histories();
    let variants: BTreeSet<String> = histories.series.iter().map(variant_of).collect();
    let moment = |at: &usize| {
        let moment = &histories.moments[*at];
        let runs = variants.iter().filter_map(|variant| {
            let run = site.runs.of(&moment.session, moment.version(), variant)?;
            Some((variant.clone(), run))
        });
        NightMoment {
            label: moment.label(),
            date: moment.date_text().filter(|date| *date != moment.label()),
            runs: runs.collect(),
        }
    };
    let columns = nights.moments.iter().map(|of_column| NightColumn {
        moments: of_column.iter().map(moment).collect(),
    });
    columns.collect()
}

fn variant_of(series: &HistorySeries) -> String {
    series.subject.setting.variant_name().unwrap_or_default()
}

/// Returns the map of a metric, and its values with the digits that are shown.
fn map_of(
    view: &ChangesView,
    nights: &Nights,
    series: &[(usize, &HistorySeries)],
) -> (MapFile, Vec<Vec<Option<f64>>>) {
    let width = nights.moments.len();
    let has_shared = nights.moments.iter().any(|it| it.len() > 1);
    let mut of_series: BTreeMap<usize, Vec<&Finding>> = BTreeMap::new();
    for finding in &view.detection().findings {
        of_series.entry(finding.series).or_default().push(finding);
    }
    let mut names: BTreeMap<&'static str, Vec<Value>> = BTreeMap::new();
    let (mut cells, mut places, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    let mut values = Vec::new();
    for (row, (at, series)) in series.iter().enumerate() {
        let subject = &series.subject;
        for (name, value) in [
            ("suite", subject.suite.clone()),
            ("id", subject.benchmark.clone()),
            ("slug", slug(&subject.suite, &subject.benchmark)),
            ("variant", variant_of(series)),
            ("setting", subject.setting.text().unwrap_or_default()),
        ] {
            names.entry(name).or_default().push(Value::from(value));
        }
        let mut findings = of_series.remove(at).unwrap_or_default();
        findings.sort_by_key(|it| it.first_after);
        let mut own = vec![GAP; width];
        let mut place = vec![b'0'; width];
        let mut exact = vec![None; width];
        for moment in &series.tried {
            let (column, within) = nights.places[*moment];
            own[column] = NO_VALUE;
            place[column] = b'0' + u8::try_from(within.min(74)).unwrap_or(0);
        }
        for (point, cell) in series.points.iter().zip(deviations(series, &findings)) {
            let (column, within) = nights.places[point.moment];
            own[column] = cell;
            place[column] = b'0' + u8::try_from(within.min(74)).unwrap_or(0);
            exact[column] = Some(short(point.value));
        }
        for finding in &findings {
            let (column, _) = nights.places[finding.first_after];
            changes.push((
                row,
                column,
                finding.direction.name(),
                finding.is_open(),
                view.change_words(finding),
            ));
        }
        cells.push(String::from_utf8_lossy(&own).into_owned());
        if has_shared {
            places.push(String::from_utf8_lossy(&place).into_owned());
        }
        values.push(exact);
    }
    let first = series.first().map(|(_, it)| &it.metric);
    let map = MapFile {
        rows: names
            .into_iter()
            .map(|(name, it)| (name, compact(it)))
            .collect(),
        cells,
        places,
        changes,
        unit: first.map_or_else(String::new, |it| it.unit.clone()),
        neutral: first.is_some_and(|it| it.better.is_none()),
    };
    (map, values)
}

/// Returns the cell of each point: how far it is from the level before the last change, or from its own level where
/// nothing changed before. What is as usual for the series is at its level.
fn deviations(series: &HistorySeries, findings: &[&Finding]) -> Vec<u8> {
    let values: Vec<f64> = series.points.iter().map(|it| it.value).collect();
    let centre = median(&values).unwrap_or(f64::NAN);
    let levels = |moment: usize| {
        let before = findings
            .iter()
            .filter(|it| it.first_after <= moment)
            .count();
        let first = findings.first().map_or(centre, |it| it.size.before);
        let last = |at: usize| findings.get(at).map(|it| it.size);
        match before.checked_sub(1).and_then(last) {
            None => [first, first],
            Some(size) => [size.before, size.after],
        }
    };
    let distance = |value: f64, level: f64| {
        if value > 0.0 && level > 0.0 {
            (value / level).ln()
        } else if (value - level).abs() < f64::EPSILON {
            0.0
        } else {
            STRONGEST * (value - level).signum()
        }
    };
    let own = series
        .points
        .iter()
        .map(|it| distance(it.value, levels(it.moment)[1]).abs());
    let spread = NORMAL * median(&own.collect::<Vec<_>>()).unwrap_or(0.0);
    // Few points say little of what is usual.
    let usual = USUAL * spread * (1.0 + 3.0 / as_f64(values.len().max(1)));
    let sign = match series.metric.better {
        Some(Better::Higher) => -1.0,
        Some(Better::Lower) | None => 1.0,
    };
    let cell = |moment: usize, value: f64| {
        let [before, own] = levels(moment);
        // A value as usual for its level shows how far that is from the one before, so that a step is seen whole.
        let is_usual = distance(value, own).abs() <= usual.max(LEAST);
        let far = sign * distance(if is_usual { own } else { value }, before);
        if far.abs() < f64::EPSILON {
            return LEVEL;
        }
        let step = (STEPS * (far.abs() / STRONGEST).min(1.0).sqrt()).ceil();
        shifted(step * far.signum())
    };
    series
        .points
        .iter()
        .map(|it| cell(it.moment, it.value))
        .collect()
}

/// Returns the character so many steps from that of the level.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a whole number of at most 30"
)]
fn shifted(steps: f64) -> u8 {
    LEVEL.saturating_add_signed(steps as i8)
}

/// Returns a number with the digits that are shown.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_analyse::detect::SeriesPoint;
    use lapwing_analyse::sample::{Setting, Subject};
    use lapwing_model::Metric;

    fn series(values: &[f64], metric: Metric) -> HistorySeries {
        let points = values.iter().enumerate();
        HistorySeries {
            subject: Subject {
                suite: "s".to_owned(),
                benchmark: "b".to_owned(),
                setting: Setting::default(),
                metric: "m".to_owned(),
            },
            metric,
            smallest_effect: None,
            fail_on: None,
            recorded_ids: BTreeSet::new(),
            points: points
                .map(|(moment, value)| SeriesPoint {
                    moment,
                    value: *value,
                    instances: 1,
                })
                .collect(),
            tried: (0..values.len()).collect(),
        }
    }

    fn cells(values: &[f64], metric: Metric) -> String {
        let cells = deviations(&series(values, metric), &[]);
        String::from_utf8(cells).expect("ASCII")
    }

    #[test]
    fn usual_noise_has_no_colour_and_a_speckle_has() {
        let mut values = vec![1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0];
        assert_eq!(cells(&values, Metric::lower("s")), "@@@@@@@@@@");
        values[4] = 1.5;
        assert_eq!(cells(&values, Metric::lower("s")), "@@@@W@@@@@");
        let higher = Metric {
            better: Some(Better::Higher),
            ..Metric::lower("1/s")
        };
        assert_eq!(cells(&values, higher), "@@@@)@@@@@");
    }

    #[test]
    fn half_and_double_have_the_strongest_colours() {
        let mut values = vec![1.0; 12];
        (values[3], values[7]) = (2.5, 0.4);
        assert_eq!(cells(&values, Metric::lower("s")), "@@@^@@@\"@@@@");
    }
}
