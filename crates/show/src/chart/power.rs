//! Power curves: how probably each slowdown is detected.

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::marks::columns::ChartColumns;
use super::{colour, named_colour};
use crate::quantity::round_percent;
use crate::words::detection::DetectionView;
use lapwing_analyse::judge::DetectionCell;

/// The number of segments of a curve.
const STRETCHES: usize = 100;

/// Returns the data of the curves of these configurations, and what draws them in the plot of that number.
///
/// They go on until all detect nearly everything, but not beyond `most`, and in any case beyond the target.
pub(super) fn power_curves(
    cells: &[&DetectionCell],
    view: DetectionView,
    most: f64,
    plot: usize,
) -> (Vec<Value>, Vec<Value>) {
    let end = end(cells, view, most);
    let datasets = cells.iter().map(|cell| curve(cell, end)).collect();
    let series = cells.iter().enumerate().map(|(number, cell)| {
        let marks = (number == 0).then(|| marks(view));
        json!({
            "name": cell.configuration.to_string(),
            "type": "line",
            "datasetIndex": number + 1,
            "xAxisIndex": plot,
            "yAxisIndex": plot,
            "encode": {"x": "slowdown", "y": "rate"},
            "showSymbol": false,
            "symbol": "circle",
            // Told apart without colours too: the more is measured, the thicker.
            "lineStyle": {"width": 1.25 + 0.6 * as_f64(number), "color": colour(number)},
            "itemStyle": {"color": colour(number)},
            "emphasis": {"disabled": true},
            "markLine": marks.unwrap_or_else(|| json!({"data": []})),
        })
    });
    (datasets, series.collect())
}

/// Returns the last slowdown that is drawn.
fn end(cells: &[&DetectionCell], view: DetectionView, most: f64) -> f64 {
    const NEARLY_ALL: f64 = 0.99;
    let least = 1.0 + 1.5 * (view.target - 1.0);
    let reached = cells
        .iter()
        .filter_map(|it| it.detectable(NEARLY_ALL.max(view.power)));
    let reached = reached.map(|it| it.slowdown).fold(1.0, f64::max);
    reached.min(most).max(least)
}

fn curve(cell: &DetectionCell, end: f64) -> Value {
    let mut columns = ChartColumns::new(&["slowdown", "rate", "lower", "upper"]);
    for step in 0..=STRETCHES {
        let share = (end - 1.0) * as_f64(step) / as_f64(STRETCHES);
        let rate = cell.rate(1.0 + share);
        let interval = rate.and_then(|it| it.interval);
        let row = [
            rate.map(|it| it.value),
            interval.map(|it| it.lower),
            interval.map(|it| it.upper),
        ];
        let [value, lower, upper] = row.map(|it| it.map_or(f64::NAN, |it| it * 100.0));
        columns.push(&[share * 100.0, value, lower, upper]);
    }
    columns.into_dataset()
}

/// Dashed lines at the wanted power and at the slowdown that matters.
fn marks(view: DetectionView) -> Value {
    let label = |text: String, position: &str| json!({"formatter": text, "position": position, "color": named_colour("muted")});
    json!({
        "silent": true,
        "symbol": "none",
        "lineStyle": {"color": named_colour("muted"), "type": "dashed", "width": 1},
        "data": [
            {"yAxis": view.power * 100.0, "label": label(
                format!("wanted power {}", round_percent(view.power)), "insideEndBottom")},
            {"xAxis": (view.target - 1.0) * 100.0, "label": label(view.target_text(), "end")},
        ],
    })
}

/// Returns the axes of the plot of that number.
pub(super) fn power_axes(plot: usize) -> (Value, Value) {
    let x = json!({
        "type": "value",
        "gridIndex": plot,
        "name": "slowdown (%)",
        "nameLocation": "middle",
        "nameGap": 28,
        "min": 0,
        "max": "dataMax",
        "axisLabel": {"$function": "plainNumber", "showMaxLabel": false},
        "splitLine": {"show": false},
    });
    let y = json!({
        "type": "value",
        "gridIndex": plot,
        "name": "detection rate (%)",
        // Above the axis it would meet the label of the line at the target.
        "nameLocation": "middle",
        "nameGap": 36,
        "min": 0,
        "max": 100,
        "axisLabel": {"$function": "plainNumber"},
    });
    (x, y)
}
