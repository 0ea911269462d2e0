//! The expected value along a numeric factor.

use crate::Chart;
use crate::chart::build::{ChartColumns, colour, grid};
use lapwing_model::text::counted;
use lapwing_stats::as_f64;
use lapwing_study::{ResponseCurve, StudyData, StudyScale};
use serde_json::json;

use super::spread::SpreadAxis;
use super::{AxisScale, metric_name};

/// Levels that span such a ratio are on an axis of logarithms.
const WIDE: f64 = 8.0;

/// Returns the chart of a factor's curve, on the scale of its model; `None` without an effect.
pub fn curve(data: &StudyData, scale: StudyScale, curve: &ResponseCurve) -> Option<Chart> {
    let (first, last) = (curve.points.first()?, curve.points.last()?);
    let factor = &data.factors[curve.factor];
    let numbers = || curve.points.iter().map(|point| point.number);
    let x = if first.number > 0.0 && last.number / first.number >= WIDE {
        SpreadAxis::new(numbers())
    } else {
        SpreadAxis::even(numbers())
    };
    let values = curve.points.iter().map(|point| point.value);
    let axis = AxisScale::of_values(data, scale, values);
    let names = ["row", "place", "value", "lower", "upper"];
    let mut columns = ChartColumns::new(&names);
    let (mut levels, mut sizes) = (Vec::new(), Vec::new());
    for (row, point) in curve.points.iter().enumerate() {
        let ends = point.interval.map_or([f64::NAN; 2], |it| {
            [it.lower, it.upper].map(|end| axis.value(end))
        });
        columns.push(&[
            as_f64(row),
            x.place(point.number),
            axis.value(point.value),
            ends[0],
            ends[1],
        ]);
        levels.push(factor.treatment_name(point.level));
        sizes.push(counted(point.instances, "instance"));
    }
    let places: Vec<f64> = numbers().map(|number| x.place(number)).collect();
    let mut y = crate::chart::build::number_axis(&axis.name(&metric_name(data, scale)));
    y["nameGap"] = json!(40);
    y["axisLabel"] = json!({"$function": "plainNumber"});
    let option = json!({
        "dataset": [columns.into_dataset()], "grid": grid(12),
        "xAxis": x.with_labels(&factor.name, 26, &places), "yAxis": y, "tooltip": {"trigger": "item"},
        "series": [
            {"name": "expected", "type": "line", "encode": {"x": "place", "y": "value"},
             "symbol": "circle", "symbolSize": 9, "showAllSymbol": true,
             "itemStyle": {"color": colour(0)}, "lineStyle": {"color": colour(0), "width": 2},
             "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                {"label": "", "column": "row", "names": levels},
                {"label": "expected", "column": "value", "unit": axis.unit.unit},
                {"label": "lower", "column": "lower", "unit": axis.unit.unit},
                {"label": "upper", "column": "upper", "unit": axis.unit.unit},
                {"label": "", "column": "row", "names": sizes},
             ]}}},
            {"name": "95 % interval", "type": "custom", "encode": {"x": "place", "y": ["value", "lower", "upper"]},
             "renderItem": {"$function": "interval", "along": "y", "cap": 5},
             "itemStyle": {"color": colour(0)}, "clip": true, "silent": true},
        ],
    });
    Some(Chart::new(
        "curve",
        format!("Expected value along {}", factor.name),
        "By the model of the findings, averaged over all combinations of the other factors; bars are 95 % intervals."
            .to_owned(),
        380,
        option,
    ))
}
