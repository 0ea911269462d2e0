//! Parts of options that several charts have: axes, grids, legends, tooltips and sentences.

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::drawing::font::shorten;
use super::{LABEL_SIZE, WIDTH};
use crate::quantity::UnitScale;
use crate::sample::metric_title;
use lapwing_model::text::grouped;

/// Returns the space around the plot; `top` holds the legend and the name of the vertical axis.
pub fn grid(top: u32) -> Value {
    json!({"left": 16, "right": 24, "top": top, "bottom": 12, "outerBoundsMode": "same", "outerBoundsContain": "all"})
}

/// Returns the title of an axis: `wall time (ms)`.
pub(super) fn axis_name(metric: &str, scale: &UnitScale) -> String {
    let title = metric_title(metric);
    if scale.unit.is_empty() {
        title
    } else {
        format!("{title} ({})", scale.unit)
    }
}

/// Returns the vertical axis of a metric.
pub(super) fn value_axis(metric: &str, scale: &UnitScale) -> Value {
    json!({
        "type": "value",
        "name": axis_name(metric, scale),
        "nameLocation": "end",
        "nameGap": 12,
        "nameTextStyle": {"align": "left"},
        "scale": true,
        "axisLine": {"onZero": false},
        "axisLabel": {"$function": "plainNumber"},
    })
}

/// Returns the horizontal axis of a number that belongs in the middle below it.
pub fn number_axis(name: &str) -> Value {
    json!({
        "type": "value",
        "name": name,
        "nameLocation": "middle",
        "nameGap": 12,
        "scale": true,
        "axisLine": {"onZero": false},
        "splitLine": {"show": false},
    })
}

/// Returns the axis with labels at whole numbers only.
pub(super) fn whole_numbers(mut axis: Value) -> Value {
    if let Some(axis) = axis.as_object_mut() {
        axis.insert("minInterval".to_owned(), json!(1));
    }
    axis
}

/// Returns the horizontal axis below rows.
pub fn axis_below_rows(name: &str) -> Value {
    json!({
        "type": "value",
        "name": name,
        "nameLocation": "middle",
        "nameGap": 8,
        "axisLine": {"onZero": false},
        "axisLabel": {"$function": "plainNumber", "hideOverlap": true},
    })
}

/// Returns the vertical axis of rows from the top, with a label for each: their names on the left, or
/// their values on the right.
pub fn row_axis(labels: &[String], position: &str) -> Value {
    json!({
        "type": "value",
        "position": position,
        "inverse": true,
        "min": -0.5,
        "max": as_f64(labels.len().max(1)) - 0.5,
        "interval": 0.5,
        "axisLabel": {"formatter": {"$function": "category", "names": labels}, "color": {"$color": "text"}},
        "axisLine": {"show": position == "left", "onZero": false},
        "axisTick": {"show": false},
        "splitLine": {"show": false},
    })
}

/// Returns the names of rows, shortened to a third of the width.
pub fn row_names(names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let names = names.into_iter();
    names
        .map(|name| shorten(name.as_ref(), LABEL_SIZE, f64::from(WIDTH) * 0.36))
        .collect()
}

/// Returns the height of this number of rows of this height each; without rows, that of one.
pub fn rows_height(rows: usize, each: u32) -> u32 {
    each * u32::try_from(rows.max(1)).unwrap_or(1)
}

/// Returns the series that draws the intervals of rows.
pub fn row_intervals(name: &str, dataset: usize, cap: u32, colour: &Value) -> Value {
    json!({
        "name": name,
        "type": "custom",
        "datasetIndex": dataset,
        "encode": {"x": ["lower", "upper"], "y": "place"},
        "renderItem": {"$function": "interval", "along": "x", "cap": cap},
        "itemStyle": {"color": colour},
        "clip": true,
        "silent": true,
    })
}

/// Returns the invisible series without which the right axis would not be drawn.
pub(super) fn right_labels(value: &str) -> Value {
    json!({
        "name": "labels",
        "type": "scatter",
        "yAxisIndex": 1,
        "encode": {"x": value, "y": "place"},
        "symbolSize": 0,
        "silent": true,
    })
}

/// Returns the legend of the variants, where there are several.
pub(super) fn variants_legend(variants: usize) -> Value {
    json!({"show": variants > 1, "top": 0, "left": 12, "type": "scroll"})
}

/// Returns the space around a plot below such a legend.
pub(super) fn grid_below_legend(variants: usize) -> Value {
    grid(if variants > 1 { 30 } else { 4 })
}

/// Returns the tooltip of one item with these fields.
pub fn tooltip(fields: &Value) -> Value {
    json!({"trigger": "item", "formatter": {"$function": "tooltip", "fields": fields}})
}

/// Returns how many of all are drawn, as a further sentence: ` 40 of 2,000 dots drawn, extremes among
/// them.`; empty where all are.
pub(super) fn drawn_text(drawn: usize, all: usize, what: &str) -> String {
    if drawn == all {
        return String::new();
    }
    format!(" {} of {} {what}.", grouped(drawn), grouped(all))
}

/// Returns how many are not drawn, as a further sentence; empty where all are.
pub(super) fn not_drawn_text(number: usize, noun: &str, without: &str) -> String {
    match number {
        0 => String::new(),
        1 => format!(" 1 {noun} without {without} is not drawn."),
        several => format!(
            " {} {noun}s without {without} are not drawn.",
            grouped(several)
        ),
    }
}

/// Returns the space of a plot of this height.
pub(super) fn plot(top: u32, height: u32) -> Value {
    json!({"left": 16, "right": 24, "top": top, "height": height, "outerBoundsMode": "same", "outerBoundsContain": "all"})
}

/// Returns an axis of names; its own name is in the middle beyond them, or at its end.
pub(super) fn names_axis(name: &str, location: &str, names: &[String]) -> Value {
    // In the middle the name stands beyond the labels.
    let (align, gap) = match location {
        "middle" => ("center", 28),
        _ => ("left", 12),
    };
    json!({
        "type": "category",
        "data": names,
        "name": name,
        "nameLocation": location,
        "nameGap": gap,
        "nameTextStyle": {"align": align},
        "axisLine": {"show": false},
        "axisTick": {"show": false},
        "axisLabel": {"interval": 0},
    })
}
