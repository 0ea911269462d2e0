//! Predicted against real values, and what the model leaves.

use crate::Chart;
use crate::chart::build::{ChartColumns, colour, grid, named_colour, number_axis};
use lapwing_model::text::grouped;
use lapwing_stats::as_f64;
use serde_json::json;

use super::{AxisScale, MOST_POINTS, metric_name};
use lapwing_study::StudyData;
use lapwing_study::StudyFit;

/// Returns the chart of what the model predicts against what was measured.
pub fn predicted(data: &StudyData, fit: &StudyFit) -> Chart {
    let scale = fit.options.scale;
    let values = || fit.observed.iter().chain(&fit.fit.fitted).copied();
    let axis = AxisScale::of_values(data, scale, values());
    let stride = fit.observed.len().div_ceil(MOST_POINTS).max(1);
    let mut columns = ChartColumns::new(&["row", "real", "predicted"]);
    let mut sets = Vec::new();
    let pairs = fit
        .observed
        .iter()
        .zip(&fit.fit.fitted)
        .zip(&data.instances);
    for (row, ((real, predicted), instance)) in pairs.step_by(stride).enumerate() {
        columns.push(&[as_f64(row), axis.value(*real), axis.value(*predicted)]);
        sets.push(data.set_text(instance.set));
    }
    let all = || values().map(|value| axis.value(value));
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    let share = fit
        .fit
        .r_squared()
        .map_or_else(String::new, |own| format!("R² = {own:.3}. "));
    let mut subtitle = format!("{share}On the line the model predicts what was measured.");
    if sets.len() < fit.observed.len() {
        let [drawn, all] = [sets.len(), fit.observed.len()].map(grouped);
        subtitle.push_str(&format!(" {drawn} of {all} instances drawn."));
    }
    let name = metric_name(data, scale);
    let mut x = number_axis(&axis.name(&format!("{name}, measured")));
    x["nameGap"] = json!(26);
    x["axisLabel"] = json!({"$function": "plainNumber", "hideOverlap": true});
    let mut y = number_axis(&axis.name(&format!("{name}, predicted")));
    y["nameGap"] = json!(40);
    y["axisLabel"] = json!({"$function": "plainNumber"});
    let option = json!({
        "dataset": [columns.into_dataset()], "grid": grid(8), "xAxis": x, "yAxis": y,
        "tooltip": {"trigger": "item", "formatter": {"$function": "tooltip", "fields": [
            {"label": "", "column": "row", "names": sets},
            {"label": "measured", "column": "real", "unit": axis.unit.unit},
            {"label": "predicted", "column": "predicted", "unit": axis.unit.unit},
        ]}},
        "series": [
            {"name": "instances", "type": "scatter", "encode": {"x": "real", "y": "predicted"}, "symbolSize": 8,
             "itemStyle": {"color": colour(0), "opacity": 0.7}},
            {"name": "equal", "type": "line", "data": [[low, low], [high, high]], "showSymbol": false, "silent": true,
             "lineStyle": {"color": named_colour("muted"), "type": "dashed", "width": 1.5}},
        ],
    });
    Chart::new(
        "predicted",
        "Predicted against measured".to_owned(),
        subtitle,
        480,
        option,
    )
}

/// Returns the chart of standardised residuals against predicted values.
pub fn residuals(data: &StudyData, fit: &StudyFit) -> Chart {
    let scale = fit.options.scale;
    let axis = AxisScale::of_values(data, scale, fit.fit.fitted.iter().copied());
    let stride = fit.observed.len().div_ceil(MOST_POINTS).max(1);
    let mut columns = ChartColumns::new(&["row", "predicted", "residual"]);
    let mut sets = Vec::new();
    let rows = fit.runs.iter().zip(&fit.fit.fitted).zip(&data.instances);
    for ((own, predicted), instance) in rows.step_by(stride) {
        let Some(residual) = own.standardised_residual else {
            continue;
        };
        columns.push(&[as_f64(sets.len()), axis.value(*predicted), residual]);
        sets.push(data.set_text(instance.set));
    }
    let mut subtitle = "Without a pattern the model is right; beyond ±3.5 are outliers.".to_owned();
    if sets.len() < fit.observed.len() {
        let [drawn, all] = [sets.len(), fit.observed.len()].map(grouped);
        subtitle.push_str(&format!(" {drawn} of {all} instances drawn."));
    }
    let mut x = number_axis(&axis.name(&format!("{}, predicted", metric_name(data, scale))));
    x["nameGap"] = json!(26);
    x["axisLabel"] = json!({"$function": "plainNumber", "hideOverlap": true});
    let mut y = number_axis("standardised residual");
    y["nameGap"] = json!(40);
    y["axisLabel"] = json!({"$function": "plainNumber"});
    let lines: Vec<serde_json::Value> = [-3.5, 0.0, 3.5].map(|at| json!({"yAxis": at})).to_vec();
    let option = json!({
        "dataset": [columns.into_dataset()], "grid": grid(8), "xAxis": x, "yAxis": y,
        "tooltip": {"trigger": "item", "formatter": {"$function": "tooltip", "fields": [
            {"label": "", "column": "row", "names": sets},
            {"label": "predicted", "column": "predicted", "unit": axis.unit.unit},
            {"label": "residual", "column": "residual"},
        ]}},
        "series": [{
            "name": "instances", "type": "scatter", "encode": {"x": "predicted", "y": "residual"}, "symbolSize": 8,
            "itemStyle": {"color": colour(0), "opacity": 0.7},
            "markLine": {
                "silent": true, "z": 1, "symbol": "none", "label": {"show": false},
                "lineStyle": {"color": named_colour("muted"), "type": "dashed", "width": 1.25}, "data": lines,
            },
        }],
    });
    Chart::new(
        "residuals",
        "What the model leaves".to_owned(),
        subtitle,
        480,
        option,
    )
}
