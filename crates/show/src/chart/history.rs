//! A run's value with its interval, run after run.

use crate::EstimateText;
use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{Interval, as_f64};
use serde_json::{Value, json};

use super::marks::columns::ChartColumns;
use super::marks::history_marks as marks;
use super::marks::level_marks::{LevelMark, level_field, level_sentence, level_series};
use super::parts::{grid_below_legend, tooltip, value_axis, variants_legend};
use super::{Chart, VariantColours, colour};
use crate::packed::{compact, packed};
use crate::quantity::UnitScale;
use crate::sample::metric_title;
use crate::words::meaning::BenchmarkMeaning;
use crate::words::summary::RunSummary;
use lapwing_analyse::judge::Estimate;
use lapwing_analyse::sample::{HistoryPosition, RunOrder};
use lapwing_model::MetricName;
use lapwing_model::text::grouped;

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPoint {
    /// Its position; points of one position are drawn above each other.
    pub place: HistoryPosition,
    /// The label of the position on the axis: a date.
    pub place_name: String,
    /// Whether it is retired.
    pub retired: bool,
    /// Whether its version has no date.
    pub undated: bool,
    /// The names of the run.
    pub run: RunName,
    /// Its variant.
    pub variant: String,
    /// Its value; `None` if no iteration counts.
    pub number: Option<RunNumber>,
    /// The iterations that its value leaves out: `5 burn-in`.
    pub left_out: String,
    /// The number of failures and timeouts.
    pub failures: usize,
    /// The name of the version, where it is a release.
    pub release: Option<String>,
    /// The definition of the benchmark.
    pub meaning: BenchmarkMeaning,
    /// The target of a click; may be empty.
    pub link: String,
}

/// Names that distinguish a run from others of its variant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunName {
    /// The run's id, or the end of it.
    pub id: String,
    /// The start of its session, as RFC 3339.
    pub started: String,
    /// The name of its session.
    pub session: String,
    /// The version of the software under test; empty where unknown.
    pub version: String,
}

/// The value of a run: estimates and summaries are drawn separately, and no line joins them.
#[derive(Debug, Clone, PartialEq)]
pub enum RunNumber {
    /// Computed from samples.
    Estimate(Estimate),
    /// The summary of a source that kept no samples.
    Summary(RunSummary),
}

impl RunNumber {
    pub(crate) fn value(&self) -> f64 {
        match self {
            Self::Estimate(estimate) => estimate.value,
            Self::Summary(summary) => summary.value,
        }
    }

    pub(crate) fn interval(&self) -> Option<Interval> {
        match self {
            Self::Estimate(estimate) => estimate.interval,
            Self::Summary(_) => None,
        }
    }

    pub(crate) fn instances(&self) -> usize {
        match self {
            Self::Estimate(estimate) => estimate.size.instances,
            Self::Summary(summary) => summary.instances,
        }
    }

    fn text(&self, unit: &str) -> String {
        match self {
            Self::Estimate(estimate) => estimate.text(unit),
            Self::Summary(summary) => summary.text(unit),
        }
    }

    fn statistic(&self) -> Option<&str> {
        match self {
            Self::Estimate(_) => None,
            Self::Summary(summary) => Some(&summary.statistic),
        }
    }
}

/// Returns what the axis calls each place, by what they stand in order: the dates of versions, or of
/// one version the times of measurement. Several times of one day are told with the clock; places of
/// one version are called alike.
pub fn place_names(places: &[HistoryPosition]) -> Vec<String> {
    let one_version = places
        .windows(2)
        .all(|pair| pair[0].version_date == pair[1].version_date);
    let times: Vec<String> = places
        .iter()
        .map(|place| match place.version_date {
            Some(date) if !one_version => date.to_string(),
            Some(_) | None => place.measured.to_string(),
        })
        .collect();
    fn day(time: &str) -> &str {
        time.get(..10).unwrap_or(time)
    }
    let mut of_day: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
    for time in &times {
        of_day.entry(day(time)).or_default().insert(time);
    }
    let one_day = of_day.len() == 1;
    let one_time = times.windows(2).all(|pair| pair[0] == pair[1]);
    times
        .iter()
        .map(|time| {
            let several = of_day.get(day(time)).is_some_and(|it| it.len() > 1);
            let clock = |to: usize| time.get(11..to).unwrap_or_default();
            match (one_day, several) {
                (true, _) if one_time => format!("{} {}", day(time), clock(16)),
                (true, _) => clock(19).to_owned(),
                (false, true) => format!("{} {}", day(time), clock(16)),
                (false, false) => day(time).to_owned(),
            }
        })
        .collect()
}

/// One line of the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HistoryLine<'a> {
    variant: &'a str,
    of_summaries: bool,
    /// Whether its runs are retired.
    retired: bool,
}

impl HistoryLine<'_> {
    fn of<'a>(point: &'a HistoryPoint, number: &RunNumber) -> HistoryLine<'a> {
        HistoryLine {
            variant: &point.variant,
            of_summaries: number.statistic().is_some(),
            retired: point.retired,
        }
    }

    /// Returns the label in the legend, which distinguishes it from the others.
    fn name(self, lines: &[Self]) -> String {
        let name = self.name_in_use(lines);
        if self.retired {
            format!("{name}, retired")
        } else {
            name
        }
    }

    fn name_in_use(self, lines: &[Self]) -> String {
        let one_variant = lines.iter().all(|line| line.variant == self.variant);
        let all_alike = lines
            .iter()
            .all(|line| line.of_summaries == self.of_summaries);
        match (self.of_summaries, one_variant) {
            // The title says it of all of them.
            (true, false) if all_alike => self.variant.to_owned(),
            (true, true) => "summaries".to_owned(),
            (true, false) => format!("{}, summaries", self.variant),
            (false, true) if !all_alike => "means of samples".to_owned(),
            (false, true | false) => self.variant.to_owned(),
        }
    }
}

/// The heads of the names of a run, in the order of the tooltip.
const RUN_HEADS: [&str; 5] = ["started", "session", "variant", "version", "run"];

/// A further head if there are retired runs.
const RETIRED_HEAD: &str = "retired";

/// The pixels between the lines of a history with a single place, and the most between the outermost.
const APART: f64 = 24.0;
const ALL_APART: f64 = 240.0;

const COLUMNS: [&str; 6] = ["place", "value", "lower", "upper", "run", "instances"];

/// Returns the chart of these runs, oldest first, with a line per variant and an interval
/// per run. Points of one place stand above each other. Summaries of sources that kept no
/// samples are hollow, have no interval, and lines of their own. Runs with failures have a cross
/// at the foot; releases and epochs are marked where they were measured first, changes of the level
/// where they may have begun.
pub fn history(
    metric: &MetricName,
    unit: &str,
    points: &[HistoryPoint],
    changes: &[LevelMark],
    colours: &VariantColours,
) -> Chart {
    let scale = UnitScale::of_all(numbers(points).map(RunNumber::value), unit);
    let mut lines: Vec<HistoryLine<'_>> = Vec::new();
    for point in points {
        if let Some(number) = &point.number
            && !lines.contains(&HistoryLine::of(point, number))
        {
            lines.push(HistoryLine::of(point, number));
        }
    }
    let only_summaries = !lines.is_empty() && lines.iter().all(|line| line.of_summaries);
    let title = if only_summaries {
        "run by run, as the source summarised it"
    } else {
        "run by run"
    };
    let title = format!("{}: {title}", metric_title(metric));
    let mut option = option(metric, unit, &scale, points, &lines, colours);
    if let Some(series) = level_series(changes, points, &scale, colours) {
        push(&mut option["series"], series);
        push(
            &mut option["tooltip"]["formatter"]["fields"],
            level_field(changes),
        );
    }
    let mut sentences = sentences(points);
    sentences.extend(level_sentence(changes));
    if points.iter().any(|point| !point.link.is_empty()) {
        sentences.push("Click a point to see its run.".to_owned());
    }
    let mut chart = Chart::new("history", title, sentences.join(" "), 300, option);
    chart.times = times(points);
    if points.iter().any(|point| !point.link.is_empty()) && common_link(points).is_none() {
        chart.links = points.iter().map(|point| point.link.clone()).collect();
    }
    chart
}

/// Returns the time of each place: of its version, or of the measurement where all have the same. None where a time
/// axis would say no more than their order, or something else.
fn times(points: &[HistoryPoint]) -> Vec<i64> {
    const FEWEST: usize = 3;
    let dates = || points.iter().map(|it| it.place.version_date);
    let one_version = dates().all(|it| it == dates().next().flatten());
    let mut times: Vec<i64> = Vec::new();
    for (point, place) in points.iter().zip(places_of(points)) {
        let measured = point.place.measured;
        let date = point.place.version_date.filter(|_| !one_version);
        if place == times.len() {
            times.push(date.unwrap_or(measured).as_second());
        }
    }
    let in_order = times.windows(2).all(|pair| pair[0] <= pair[1]);
    let is_long = times.first() < times.last() && times.len() >= FEWEST;
    if in_order && is_long {
        times
    } else {
        Vec::new()
    }
}

fn push(list: &mut Value, item: Value) {
    if let Some(list) = list.as_array_mut() {
        list.push(item);
    }
}

/// Returns the text before the run's id in every link, if the links differ in that alone.
fn common_link(points: &[HistoryPoint]) -> Option<&str> {
    let before = |point: &'_ HistoryPoint| -> Option<usize> {
        let id = Some(&point.run.id).filter(|id| !id.is_empty())?;
        Some(point.link.strip_suffix(id.as_str())?.len())
    };
    let first = points.first()?;
    let common = first.link.get(..before(first)?)?;
    let same = |it: &HistoryPoint| before(it) == Some(common.len()) && it.link.starts_with(common);
    (points.iter().all(same) && !common.is_empty()).then_some(common)
}

/// Returns the line of the tooltip that says a run's number. The page writes an estimate from the
/// numbers that are drawn; what a source says of its summaries is told in its words.
fn value_field(metric: &str, unit: &str, scale: &UnitScale, points: &[HistoryPoint]) -> Value {
    let texts =
        |of: &dyn Fn(&HistoryPoint) -> String| packed(&points.iter().map(of).collect::<Vec<_>>());
    if numbers(points).all(|number| number.statistic().is_none()) {
        let size = |point: &HistoryPoint| match &point.number {
            Some(RunNumber::Estimate(estimate)) => estimate.size.text(),
            Some(RunNumber::Summary(_)) | None => String::new(),
        };
        return json!({"label": metric_title(metric), "column": "value", "unit": scale.unit, "sizes": texts(&size)});
    }
    let value = |point: &HistoryPoint| match &point.number {
        Some(number) => number.text(unit),
        None => "no value".to_owned(),
    };
    json!({"label": metric_title(metric), "column": "run", "names": texts(&value)})
}

fn numbers(points: &[HistoryPoint]) -> impl Iterator<Item = &RunNumber> {
    points.iter().filter_map(|point| point.number.as_ref())
}

/// Returns the number of each point's place.
fn places_of(points: &[HistoryPoint]) -> Vec<usize> {
    let mut place = 0_usize;
    let mut previous: Option<HistoryPosition> = None;
    points
        .iter()
        .map(|point| {
            if previous.is_some_and(|previous| previous != point.place) {
                place += 1;
            }
            previous = Some(point.place);
            place
        })
        .collect()
}

/// Returns the order of the runs in words; `None` if there is only one position.
pub(crate) fn order(points: &[HistoryPoint]) -> Option<String> {
    let first = points.first()?;
    let dates = || points.iter().map(|it| it.place.version_date);
    if points.iter().all(|it| it.place == first.place) {
        return None;
    }
    if dates().all(|date| date == first.place.version_date) {
        let text = match first.place.order {
            RunOrder::VersionNames => "In order of versions' names.",
            RunOrder::FileNames => "In order of the dates or numbers in the files' names.",
            RunOrder::FileOrder => "In the order of the file.",
            RunOrder::FileTimes => "In order of the files' times.",
            RunOrder::Unknown => "In no known order.",
            RunOrder::Commits | RunOrder::VersionDates | RunOrder::StartTimes => {
                "In order of time."
            }
        };
        return Some(text.to_owned());
    }
    let undated = points.iter().filter(|it| it.undated).count();
    Some(match undated {
        0 => "In order of versions' dates.".to_owned(),
        1 => "In order of versions' dates; a run whose version has none follows the newest \
              version measured before it."
            .to_owned(),
        _ => format!(
            "In order of versions' dates; {} runs whose version has none follow the newest \
             version measured before them.",
            grouped(undated)
        ),
    })
}

/// Returns what is drawn, and what is not.
fn sentences(points: &[HistoryPoint]) -> Vec<String> {
    if points.is_empty() {
        return vec!["Nothing to draw: no run has a value.".to_owned()];
    }
    let statistics: BTreeSet<&str> = numbers(points).filter_map(RunNumber::statistic).collect();
    let summaries = numbers(points)
        .filter(|number| number.statistic().is_some())
        .count();
    let estimates = numbers(points).count() - summaries;
    let without_interval = estimates
        - numbers(points)
            .filter(|number| number.interval().is_some())
            .count();
    let failed = points.iter().filter(|point| point.failures > 0).count();
    let mut sentences = Vec::new();
    if estimates + summaries == 0 {
        sentences.push("No run has a value.".to_owned());
    }
    if estimates > 0 {
        sentences.push(
            "Geometric mean of the instances' means per run; the bar is its 95 % confidence interval."
                .to_owned(),
        );
    }
    if without_interval > 0 {
        sentences.push(format!(
            "{without_interval} of {estimates} runs have a single instance and so no interval."
        ));
    }
    if summaries > 0 {
        let statistics: Vec<&str> = statistics.into_iter().collect();
        sentences.push(format!(
            "Hollow: {} that the source kept instead of samples ({}), without an interval{}.",
            if summaries == 1 {
                "a summary".to_owned()
            } else {
                format!("{} summaries", grouped(summaries))
            },
            statistics.join(", "),
            if estimates > 0 {
                "; a summary and a mean of samples may differ"
            } else {
                ""
            }
        ));
    }
    sentences.extend(order(points));
    let retired = points.iter().filter(|point| point.retired).count();
    if retired > 0 {
        sentences.push(format!(
            "Pale and dotted: {}, which {} excluded from analysis.",
            if retired == 1 {
                "a retired run".to_owned()
            } else {
                format!("{} retired runs", grouped(retired))
            },
            if retired == 1 { "is" } else { "are" }
        ));
    }
    if failed > 0 {
        let crosses = if failed == 1 {
            "is a run".to_owned()
        } else {
            format!("are {} runs", grouped(failed))
        };
        sentences.push(format!("× at the foot {crosses} with failures."));
    }
    sentences.extend(marks::sentence(points, &places_of(points)));
    sentences
}

fn option(
    metric: &str,
    unit: &str,
    scale: &UnitScale,
    points: &[HistoryPoint],
    lines: &[HistoryLine<'_>],
    colours: &VariantColours,
) -> Value {
    let mut tables: Vec<ChartColumns> = lines.iter().map(|_| ChartColumns::new(&COLUMNS)).collect();
    let place_of = places_of(points);
    let mut places: Vec<&str> = Vec::new();
    for (at, (point, &place)) in points.iter().zip(&place_of).enumerate() {
        if place == places.len() {
            places.push(&point.place_name);
        }
        let Some(number) = &point.number else {
            continue;
        };
        let table = lines
            .iter()
            .position(|line| *line == HistoryLine::of(point, number))
            .and_then(|at| tables.get_mut(at));
        if let Some(table) = table {
            let interval = number.interval();
            table.push(&[
                as_f64(place),
                number.value() / scale.factor,
                interval.map_or(f64::NAN, |it| it.lower) / scale.factor,
                interval.map_or(f64::NAN, |it| it.upper) / scale.factor,
                as_f64(at),
                as_f64(number.instances()),
            ]);
        }
    }
    let few = points.len() <= 60;
    // Lines of so many runs would hide the points.
    let many = points.len() > 1_000;
    let mut series = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let number = colours.get(line.variant);
        let colour = colour(number);
        let name = line.name(lines);
        // At a single place lines would hide each other.
        let shift = if places.len() == 1 {
            let apart = APART.min(ALL_APART / as_f64(lines.len()));
            apart * (as_f64(at) - as_f64(lines.len() - 1) / 2.0)
        } else {
            0.0
        };
        if !line.of_summaries {
            series.push(json!({
                "name": name,
                "type": "custom",
                "datasetIndex": at,
                "encode": {"x": "place", "y": ["lower", "upper"]},
                "renderItem": {"$function": "interval", "along": "y", "cap": if few { 3 } else { 0 }, "shift": shift},
                "itemStyle": {"color": colour, "opacity": if line.retired { 0.25 } else { 0.6 }},
                "silent": true,
                "clip": true,
            }));
        }
        let (symbol, stroke) = if line.retired {
            (json!("emptyCircle"), "dotted")
        } else if line.of_summaries {
            (json!({"$function": "ring"}), "dashed")
        } else {
            (json!(shape(number)), "solid")
        };
        series.push(json!({
            "name": name,
            "type": "line",
            "datasetIndex": at,
            "encode": {"x": "place", "y": "value"},
            "symbol": symbol,
            "symbolSize": if few { 7 } else if many { 3 } else { 4 },
            "symbolOffset": [shift, 0],
            "showAllSymbol": true,
            "color": colour,
            "itemStyle": {"opacity": if line.retired { 0.5 } else { 1.0 }},
            "lineStyle": {"width": 1.25, "opacity": if many { 0.2 } else if line.retired { 0.35 } else { 0.6 }, "type": stroke},
            "emphasis": {"disabled": true},
        }));
    }
    let mut datasets: Vec<Value> = tables.into_iter().map(ChartColumns::into_dataset).collect();
    if let Some(failures) = marks::failures(points, &place_of, colours) {
        series.push(marks::failure_series(datasets.len()));
        datasets.push(failures.into_dataset());
    }
    series.extend(marks::mark_series(points, &place_of));
    let mut legend = variants_legend(lines.len());
    legend["data"] = lines.iter().map(|line| line.name(lines)).collect();
    let of_run =
        |text: fn(&HistoryPoint) -> &str| packed(&points.iter().map(text).collect::<Vec<_>>());
    let mut heads = RUN_HEADS.to_vec();
    let mut names = vec![
        of_run(|it| &it.run.started),
        of_run(|it| &it.run.session),
        of_run(|it| &it.variant),
        of_run(|it| &it.run.version),
        of_run(|it| &it.run.id),
    ];
    if points.iter().any(|point| point.retired) {
        heads.push(RETIRED_HEAD);
        names.push(of_run(|it| if it.retired { RETIRED_HEAD } else { "" }));
    }
    let left_out = points.iter().map(|point| match point.left_out.as_str() {
        "" => Value::from("nothing"),
        text => Value::from(text),
    });
    json!({
        "dataset": datasets,
        "grid": grid_below_legend(lines.len()),
        "legend": legend,
        "xAxis": {
            "type": "category",
            "data": packed(&places),
            "axisLabel": {"hideOverlap": true},
            "axisTick": {"alignWithLabel": true},
            "axisLine": {"onZero": false},
        },
        "yAxis": value_axis(metric, scale),
        "tooltip": tooltip(&json!([
            {"label": "run", "column": "run", "unit": scale.unit, "heads": heads, "joined": names, "link": common_link(points)},
            value_field(metric, unit, scale, points),
            {"label": "excluded", "column": "run", "names": compact(left_out.collect())},
            {"label": "failures", "column": "failures"},
        ])),
        "series": series,
    })
}

/// Returns the shape of a line's dots: colours come round again after seven lines.
fn shape(number: usize) -> &'static str {
    const SHAPES: [&str; 4] = ["circle", "rect", "triangle", "diamond"];
    SHAPES[number / 7 % SHAPES.len()]
}
