//! A run's value with its interval, run after run.

use serde_json::{Value, json};

use super::columns::Columns;
use super::{Chart, Colours, WIDTH, colour, grid, value_axis};
use crate::judge::Estimate;
use crate::model::{Id, MetricName};
use crate::show::quantity::Scale;
use crate::show::sample::{as_f64, metric_title};

/// One run's number.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPoint {
    /// Its session; points of one session stand above each other.
    pub session: Id,
    /// What its session is called at the axis: a date or a version.
    pub place: String,
    /// What tells the run from others.
    pub label: String,
    /// Its variant.
    pub variant: String,
    /// Its value.
    pub estimate: Estimate,
    /// What its value leaves out: `5 burn-in`.
    pub left_out: String,
}

const COLUMNS: [&str; 6] = ["place", "value", "lower", "upper", "run", "instances"];

/// Returns the chart of these runs, oldest first, with a line per variant and an interval
/// per run. Points of one session stand above each other.
pub fn history(
    metric: &MetricName,
    unit: &str,
    points: &[HistoryPoint],
    colours: &Colours,
) -> Chart {
    let scale = Scale::of_all(points.iter().map(|point| point.estimate.value), unit);
    let mut places: Vec<&str> = Vec::new();
    let mut variants: Vec<&str> = Vec::new();
    let mut previous: Option<Id> = None;
    for point in points {
        if previous != Some(point.session) {
            places.push(&point.place);
        }
        previous = Some(point.session);
        if !variants.contains(&point.variant.as_str()) {
            variants.push(&point.variant);
        }
    }
    let without_interval = points
        .iter()
        .filter(|point| point.estimate.interval.is_none())
        .count();
    let mut subtitle =
        "Mean of the instances' means per run; the bar is its 95 % confidence interval.".to_owned();
    if points.is_empty() {
        "Nothing to draw: no run has a value.".clone_into(&mut subtitle);
    }
    if without_interval > 0 {
        subtitle.push_str(&format!(
            " {without_interval} of {} runs have a single instance and so no interval.",
            points.len()
        ));
    }
    Chart {
        id: "history",
        title: format!("{}: run by run", metric_title(metric)),
        subtitle,
        width: WIDTH,
        height: 300,
        option: option(metric, unit, &scale, points, &places, &variants, colours),
        views: Vec::new(),
    }
}

fn option(
    metric: &str,
    unit: &str,
    scale: &Scale,
    points: &[HistoryPoint],
    places: &[&str],
    variants: &[&str],
    colours: &Colours,
) -> Value {
    let mut tables: Vec<Columns> = variants.iter().map(|_| Columns::new(&COLUMNS)).collect();
    let mut place = 0_usize;
    let mut previous: Option<Id> = None;
    for (at, point) in points.iter().enumerate() {
        if previous.is_some_and(|previous| previous != point.session) {
            place += 1;
        }
        previous = Some(point.session);
        let table = variants
            .iter()
            .position(|variant| *variant == point.variant)
            .and_then(|at| tables.get_mut(at));
        if let Some(table) = table {
            table.push(&[
                as_f64(place),
                point.estimate.value / scale.factor,
                point.estimate.interval.map_or(f64::NAN, |it| it.lower) / scale.factor,
                point.estimate.interval.map_or(f64::NAN, |it| it.upper) / scale.factor,
                as_f64(at),
                as_f64(point.estimate.size.instances),
            ]);
        }
    }
    let few = points.len() <= 60;
    let mut series = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        let colour = colour(colours.get(variant));
        series.push(json!({
            "name": variant,
            "type": "custom",
            "datasetIndex": at,
            "encode": {"x": "place", "y": ["lower", "upper"]},
            "renderItem": {"$function": "interval", "along": "y", "cap": if few { 3 } else { 0 }},
            "itemStyle": {"color": colour, "opacity": 0.6},
            "silent": true,
            "clip": true,
        }));
        series.push(json!({
            "name": variant,
            "type": "line",
            "datasetIndex": at,
            "encode": {"x": "place", "y": "value"},
            "symbol": "circle",
            "symbolSize": if few { 7 } else { 4 },
            "showAllSymbol": true,
            "color": colour,
            "lineStyle": {"width": 1.25, "opacity": 0.6},
            "emphasis": {"disabled": true},
        }));
    }
    let several = variants.len() > 1;
    let names: Vec<&str> = points.iter().map(|point| point.label.as_str()).collect();
    let values: Vec<String> = points
        .iter()
        .map(|point| point.estimate.text(unit))
        .collect();
    let left_out: Vec<&str> = points
        .iter()
        .map(|point| {
            if point.left_out.is_empty() {
                "nothing"
            } else {
                point.left_out.as_str()
            }
        })
        .collect();
    json!({
        "dataset": tables.into_iter().map(Columns::into_dataset).collect::<Vec<_>>(),
        "grid": grid(if several { 30 } else { 4 }),
        "legend": {"show": several, "top": 0, "left": 12, "type": "scroll"},
        "xAxis": {
            "type": "category",
            "data": places,
            "axisLabel": {"hideOverlap": true},
            "axisTick": {"alignWithLabel": true},
            "axisLine": {"onZero": false},
        },
        "yAxis": value_axis(metric, scale),
        "tooltip": {"trigger": "item", "formatter": {"$function": "tooltip", "fields": [
            {"label": "run", "column": "run", "names": names},
            {"label": metric_title(metric), "column": "run", "names": values},
            {"label": "left out", "column": "run", "names": left_out},
        ]}},
        "series": series,
    })
}
