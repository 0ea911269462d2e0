//! All deltas: a row for each treatment, the value before along it, and the change as colour.

use crate::Chart;
use crate::chart::build::{
    ChartColumns, MOST_SHADES, axis_below_rows, grid, row_axis, row_names, rows_height,
};
use crate::study::StudyMetricText;
use lapwing_model::text::grouped;
use lapwing_stats::as_f64;
use lapwing_stats::deltas::Delta;
use serde_json::{Value, json};

use super::{AxisScale, MOST_POINTS, metric_name};
use lapwing_study::StudyData;
use lapwing_study::StudyScale;

/// A half and a double have the last shade but one: log₂(after / before) per shade.
const PER_SHADE: f64 = 0.25;

/// Returns the chart of all deltas of costs, with the treatments in this order.
pub fn colour(data: &StudyData, deltas: &[Delta], order: &[usize]) -> Chart {
    let stride = deltas.len().div_ceil(MOST_POINTS).max(1);
    let shown: Vec<&Delta> = deltas
        .iter()
        .step_by(stride)
        .filter(|delta| delta.before > 0.0 && delta.after > 0.0)
        .collect();
    let mut subtitle = "Each mark is a pair of settings, placed by the value before. Blue: less after it, orange: more; \
                        the strongest shades are a half and a double (log₂ of after / before)."
        .to_owned();
    if shown.len() < deltas.len() {
        subtitle.push_str(&format!(
            " {} of {} marks drawn.",
            grouped(shown.len()),
            grouped(deltas.len())
        ));
    }
    let axis = AxisScale::of_values(
        data,
        StudyScale::Time,
        shown.iter().map(|delta| delta.before),
    );
    Chart::new(
        "colour",
        "What each treatment changes, by the value before".to_owned(),
        subtitle,
        70 + rows_height(order.len(), 26),
        option(data, &axis, &shown, order),
    )
}

fn option(data: &StudyData, axis: &AxisScale, shown: &[&Delta], order: &[usize]) -> Value {
    let names: Vec<String> = order
        .iter()
        .map(|at| data.treatments[*at].name.clone())
        .collect();
    let shade = |delta: &Delta| {
        let shades = (delta.after / delta.before).log2() / PER_SHADE;
        shades.round().clamp(-MOST_SHADES, MOST_SHADES) + MOST_SHADES
    };
    let told: Vec<String> = shown
        .iter()
        .map(|delta| {
            format!(
                "{} {}",
                data.treatments[delta.factor].name,
                data.set_text(delta.set)
            )
        })
        .collect();
    let changes: Vec<String> = (shown.iter())
        .map(|delta| {
            data.metric
                .change_text(StudyScale::Log, (delta.after / delta.before).ln())
        })
        .collect();
    let mut datasets = Vec::new();
    let mut series = Vec::new();
    // From the middle outwards, so that the strongest are on top.
    for number in [5_usize, 4, 6, 3, 7, 2, 8, 1, 9, 0, 10] {
        let mut columns = ChartColumns::new(&["row", "before", "place"]);
        for (row, delta) in shown.iter().enumerate() {
            let place = order.iter().position(|at| *at == delta.factor);
            if let Some(place) = place.filter(|_| (shade(delta) - as_f64(number)).abs() < 0.5) {
                columns.push(&[as_f64(row), axis.value(delta.before), as_f64(place)]);
            }
        }
        series.push(json!({
            "name": "deltas", "type": "scatter", "datasetIndex": datasets.len(),
            "encode": {"x": "before", "y": "place"}, "symbol": "rect", "symbolSize": [5, 17],
            "itemStyle": {"color": {"$color": {"change": number}}, "opacity": 0.9},
        }));
        datasets.push(columns.into_dataset());
    }
    let name = format!("{} before", metric_name(data, StudyScale::Time));
    let mut x = axis_below_rows(&axis.name(&name));
    x["scale"] = json!(true);
    json!({
        "dataset": datasets, "grid": grid(8), "xAxis": x, "yAxis": row_axis(&row_names(&names), "left"),
        "tooltip": {"trigger": "item", "formatter": {"$function": "tooltip", "fields": [
            {"label": "", "column": "row", "names": told},
            {"label": "before", "column": "before", "unit": axis.unit.unit},
            {"label": "change", "column": "row", "names": changes},
        ]}},
        "series": series,
    })
}
