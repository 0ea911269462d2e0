//! Before against after of one treatment, coloured by the presence of another.

use crate::Chart;
use crate::chart::build::{ChartColumns, colour, grid, named_colour, number_axis};
use crate::study::StudyMetricText;
use lapwing_model::text::grouped;
use lapwing_stats::deltas::Delta;
use serde_json::{Value, json};

use super::{AxisScale, MOST_POINTS, metric_name};
use lapwing_study::StudyData;
use lapwing_study::StudyScale;

/// Returns the chart of the deltas of a treatment, with the line of no effect.
pub fn scatter(
    data: &StudyData,
    scale: StudyScale,
    treatment: usize,
    by: Option<usize>,
    deltas: &[Delta],
) -> Chart {
    let own: Vec<&Delta> = deltas
        .iter()
        .filter(|delta| delta.factor == treatment)
        .collect();
    let stride = own.len().div_ceil(MOST_POINTS).max(1);
    let shown: Vec<&Delta> = own.iter().copied().step_by(stride).collect();
    let name = &data.treatments[treatment].name;
    let values = || shown.iter().flat_map(|delta| [delta.before, delta.after]);
    let axis = AxisScale::of_values(data, scale, values());
    let is_below = data.metric.is_gain(scale, -1.0);
    let mut subtitle = format!(
        "Each dot is a pair of settings that differ by {name} alone; on the line it has no effect, {} it the setting is better.",
        if is_below { "below" } else { "above" }
    );
    if shown.len() < own.len() {
        subtitle.push_str(&format!(
            " {} of {} dots drawn.",
            grouped(shown.len()),
            grouped(own.len())
        ));
    }
    let title = match by {
        Some(other) => format!("{name}, by {}", data.treatments[other].name),
        None => name.clone(),
    };
    Chart::new(
        "scatter",
        title,
        subtitle,
        520,
        option(data, scale, &axis, &shown, by),
    )
}

fn option(
    data: &StudyData,
    scale: StudyScale,
    axis: &AxisScale,
    shown: &[&Delta],
    by: Option<usize>,
) -> Value {
    let values = || {
        shown
            .iter()
            .flat_map(|delta| [delta.before, delta.after])
            .map(|it| axis.value(it))
    };
    let (low, high) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    );
    let groups: Vec<(String, Vec<&&Delta>)> = match by {
        None => vec![("deltas".to_owned(), shown.iter().collect())],
        Some(other) => {
            let name = &data.treatments[other].name;
            let part = |is_with: bool| {
                shown
                    .iter()
                    .filter(move |delta| (delta.set >> other & 1 == 1) == is_with)
                    .collect()
            };
            vec![
                (format!("without {name}"), part(false)),
                (format!("with {name}"), part(true)),
            ]
        }
    };
    let sets: Vec<String> = shown.iter().map(|delta| data.set_text(delta.set)).collect();
    let changes: Vec<String> = (shown.iter())
        .map(|delta| data.metric.change_text(scale, delta.change()))
        .collect();
    let mut datasets = Vec::new();
    let mut series = Vec::new();
    for (number, (name, deltas)) in groups.iter().enumerate() {
        let mut columns = ChartColumns::new(&["row", "before", "after"]);
        for delta in deltas {
            let row = shown
                .iter()
                .position(|own| std::ptr::eq(*own, **delta))
                .unwrap_or(0);
            columns.push(&[
                lapwing_stats::as_f64(row),
                axis.value(delta.before),
                axis.value(delta.after),
            ]);
        }
        datasets.push(columns.into_dataset());
        series.push(json!({
            "name": name, "type": "scatter", "datasetIndex": number,
            "encode": {"x": "before", "y": "after"},
            "symbol": if number == 0 { "circle" } else { "triangle" }, "symbolSize": 9,
            "itemStyle": {"color": colour(number), "opacity": 0.75},
            "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                {"label": "", "column": "row", "names": sets},
                {"label": "before", "column": "before", "unit": axis.unit.unit},
                {"label": "after", "column": "after", "unit": axis.unit.unit},
                {"label": "change", "column": "row", "names": changes},
            ]}},
        }));
    }
    series.push(json!({
        "name": "no effect", "type": "line", "data": [[low, low], [high, high]], "showSymbol": false, "silent": true,
        "lineStyle": {"color": named_colour("muted"), "type": "dashed", "width": 1.5}, "tooltip": {"show": false},
        "itemStyle": {"color": named_colour("muted")},
    }));
    let value_name = metric_name(data, scale);
    let mut y = number_axis(&axis.name(&format!("{value_name} after")));
    y["nameGap"] = json!(40);
    y["axisLabel"] = json!({"$function": "plainNumber"});
    let mut x = number_axis(&axis.name(&format!("{value_name} before")));
    x["nameGap"] = json!(26);
    x["axisLabel"] = json!({"$function": "plainNumber", "hideOverlap": true});
    let legend: Vec<&str> = groups
        .iter()
        .map(|(name, _)| name.as_str())
        .chain(["no effect"])
        .collect();
    json!({
        "dataset": datasets, "grid": grid(32),
        "legend": {"show": true, "top": 0, "left": 12, "data": legend},
        "xAxis": x, "yAxis": y, "tooltip": {"trigger": "item"}, "series": series,
    })
}
