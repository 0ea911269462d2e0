//! Effects of treatments below each other, each with its interval; several series side by side.

use crate::chart::build::{
    ChartColumns, axis_below_rows, colour, grid, named_colour, row_axis, row_intervals, row_names,
    rows_height,
};
use crate::{Chart, UnitScale};
use lapwing_stats::{Interval, as_f64};
use serde_json::{Value, json};

use super::AxisScale;
use lapwing_study::StudyData;
use lapwing_study::StudyScale;

/// The effect of a treatment.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectRow {
    /// Its name.
    pub name: String,
    /// The effect on the scale.
    pub effect: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// How many it comes from: `8 pairs`.
    pub size: String,
}

/// Effects of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectSeries {
    /// Its name in the legend.
    pub name: String,
    /// The effects; those of one treatment are in one row of the chart.
    pub rows: Vec<EffectRow>,
}

/// The dots and bars of a chart of a model's terms, in words.
const EFFECTS: &str = "A dot is the effect, the bar its 95 % interval";

/// The dots and bars of a chart of mean changes, in words. Without a model, interactions between treatments widen the intervals.
const MEANS: &str = "A dot is the mean change over all pairs of settings that differ in it alone; the bar is the 95 % interval of the mean over settings like these, wide where others change the effect";

/// Returns the chart of the terms of a model; rows are in the order of the first series.
pub fn effects(data: &StudyData, scale: StudyScale, title: &str, series: &[EffectSeries]) -> Chart {
    on_scale(data, scale, (title, EFFECTS), series)
}

/// Returns the chart of mean changes; rows are in the order of the first series.
pub fn mean_changes(
    data: &StudyData,
    scale: StudyScale,
    title: &str,
    series: &[EffectSeries],
) -> Chart {
    on_scale(data, scale, (title, MEANS), series)
}

fn on_scale(
    data: &StudyData,
    scale: StudyScale,
    titles: (&str, &str),
    series: &[EffectSeries],
) -> Chart {
    let all = series.iter().flat_map(|own| &own.rows);
    let axis = AxisScale::of_changes(data, scale, all.map(|row| row.effect));
    let is_left = data.metric.is_gain(scale, -1.0);
    rows(&axis, is_left, titles, series)
}

/// Returns the chart of changes of logarithms, as percentages.
pub(super) fn percentages(title: &str, is_left_better: bool, series: &[EffectSeries]) -> Chart {
    let axis = AxisScale {
        scale: StudyScale::Log,
        unit: UnitScale::of(1.0, "%"),
    };
    rows(&axis, is_left_better, (title, EFFECTS), series)
}

fn rows(
    axis: &AxisScale,
    is_left_better: bool,
    (title, shown): (&str, &str),
    series: &[EffectSeries],
) -> Chart {
    let mut names: Vec<String> = Vec::new();
    for row in series.iter().flat_map(|own| &own.rows) {
        if !names.contains(&row.name) {
            names.push(row.name.clone());
        }
    }
    let each = 24 + if series.len() > 1 { 10 } else { 0 };
    let direction = if is_left_better { "left" } else { "right" };
    Chart::new(
        "means",
        title.to_owned(),
        format!("{shown}; {direction} of the line is better."),
        86 + rows_height(names.len(), each),
        option(axis, &names, series),
    )
}

fn option(axis: &AxisScale, names: &[String], series: &[EffectSeries]) -> Value {
    let mut datasets = Vec::new();
    let mut drawn = Vec::new();
    for (number, own) in series.iter().enumerate() {
        let beside = if series.len() > 1 {
            (as_f64(number) - 0.5) * 0.3
        } else {
            0.0
        };
        let mut columns = ChartColumns::new(&["row", "place", "value", "lower", "upper"]);
        for (at, row) in own.rows.iter().enumerate() {
            let place = names.iter().position(|name| *name == row.name).unwrap_or(0);
            let ends = row
                .interval
                .map_or([f64::NAN; 2], |it| [it.lower, it.upper]);
            let [lower, upper] = ends.map(|end| axis.change(end));
            columns.push(&[
                as_f64(at),
                as_f64(place) + beside,
                axis.change(row.effect),
                lower,
                upper,
            ]);
        }
        datasets.push(columns.into_dataset());
        let rows: Vec<&str> = own.rows.iter().map(|row| row.name.as_str()).collect();
        let sizes: Vec<&str> = own.rows.iter().map(|row| row.size.as_str()).collect();
        drawn.push(row_intervals(&own.name, number, 4, &colour(number)));
        let line: Vec<Value> = (number == 0)
            .then(|| json!({"xAxis": 0}))
            .into_iter()
            .collect();
        drawn.push(json!({
            "name": own.name, "type": "scatter", "datasetIndex": number,
            "encode": {"x": "value", "y": "place"},
            "symbol": if number == 0 { "circle" } else { "diamond" }, "symbolSize": 10,
            "itemStyle": {"color": colour(number)},
            "markLine": {
                "silent": true, "z": 1, "symbol": "none", "label": {"show": false},
                "lineStyle": {"color": named_colour("line"), "type": "solid", "width": 1.5}, "data": line,
            },
            "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                {"label": "", "column": "row", "names": rows},
                {"label": "effect", "column": "value", "unit": axis.unit.unit},
                {"label": "lower", "column": "lower", "unit": axis.unit.unit},
                {"label": "upper", "column": "upper", "unit": axis.unit.unit},
                {"label": "", "column": "row", "names": sizes},
            ]}},
        }));
    }
    let legend: Vec<&str> = series.iter().map(|own| own.name.as_str()).collect();
    json!({
        "dataset": datasets,
        "grid": grid(if series.len() > 1 { 32 } else { 8 }),
        "legend": {"show": series.len() > 1, "top": 0, "left": 12, "data": legend},
        "xAxis": axis_below_rows(&axis.name("effect")),
        "yAxis": row_axis(&row_names(names), "left"),
        "tooltip": {"trigger": "item"},
        "series": drawn,
    })
}
