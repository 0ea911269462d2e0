//! Several values of one metric beside each other: a dot with its interval each.

use crate::EstimateText;
use lapwing_stats::as_f64;
use serde_json::json;

use super::Chart;
use super::marks::columns::ChartColumns;
use super::parts::{
    axis_below_rows, axis_name, drawn_text, grid, right_labels, row_axis, row_intervals, row_names,
    rows_height, tooltip,
};
use crate::quantity::UnitScale;
use crate::sample::metric_title;
use lapwing_analyse::judge::Estimate;
use lapwing_model::MetricName;

/// More rows than this would be illegible.
const MOST_ROWS: usize = 200;

/// From this ratio of largest to smallest on, the axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 20.0;

/// Values this close together are compared without zero on the axis.
const ZERO_FROM: f64 = 1.5;

/// One row of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedValue {
    /// The name of the row.
    pub name: String,
    /// The number of its colour ([`VariantColours::number`](super::VariantColours::number)).
    pub colour: usize,
    /// The value.
    pub estimate: Estimate,
}

/// Returns the chart that compares these values, in their order from the top.
pub fn comparison(metric: &MetricName, unit: &str, values: &[ComparedValue]) -> Chart {
    let shown: Vec<&ComparedValue> = values
        .iter()
        .filter(|value| value.estimate.value.is_finite())
        .take(MOST_ROWS)
        .collect();
    let numbers = || shown.iter().map(|value| value.estimate.value);
    let smallest = numbers().fold(f64::INFINITY, f64::min);
    let largest = numbers().fold(f64::NEG_INFINITY, f64::max);
    let positive = shown.iter().all(|value| {
        value
            .estimate
            .interval
            .map_or(value.estimate.value, |it| it.lower)
            > 0.0
    });
    let logarithmic = positive && largest / smallest > LOGARITHMIC_FROM;
    let scale = if logarithmic {
        // One unit for the whole range: that of the geometric middle.
        UnitScale::of((smallest * largest).sqrt(), unit)
    } else {
        UnitScale::of_all(numbers(), unit)
    };
    let mut subtitle =
        "A dot is the mean of the instances' means, the bar its 95 % confidence interval."
            .to_owned();
    if shown.is_empty() {
        "Nothing to draw: nothing has a value.".clone_into(&mut subtitle);
    }
    if logarithmic {
        subtitle.push_str(" Logarithmic axis: equal distances are equal ratios.");
    }
    subtitle.push_str(&drawn_text(shown.len(), values.len(), "rows drawn"));
    let from_zero = largest / smallest >= ZERO_FROM && positive;
    Chart::new(
        "comparison",
        format!("{}: comparison", metric_title(metric)),
        subtitle,
        76 + rows_height(shown.len(), 30),
        option(metric, unit, &shown, &scale, logarithmic, from_zero),
    )
}

fn option(
    metric: &str,
    unit: &str,
    shown: &[&ComparedValue],
    scale: &UnitScale,
    logarithmic: bool,
    from_zero: bool,
) -> serde_json::Value {
    let mut columns = ChartColumns::new(&["place", "value", "lower", "upper", "colour"]);
    for (place, value) in shown.iter().enumerate() {
        let estimate = &value.estimate;
        columns.push(&[
            as_f64(place),
            estimate.value / scale.factor,
            estimate.interval.map_or(f64::NAN, |it| it.lower) / scale.factor,
            estimate.interval.map_or(f64::NAN, |it| it.upper) / scale.factor,
            as_f64(value.colour),
        ]);
    }
    let numbers: Vec<String> = shown
        .iter()
        .map(|value| match value.estimate.interval_text(unit) {
            Some(interval) => format!("{}  [{interval}]", value.estimate.value_text(unit)),
            None => value.estimate.value_text(unit),
        })
        .collect();
    let names = row_names(shown.iter().map(|value| &value.name));
    let texts: Vec<String> = shown
        .iter()
        .map(|value| value.estimate.text(unit))
        .collect();
    let full_names: Vec<&str> = shown.iter().map(|value| value.name.as_str()).collect();
    let mut grid = grid(12);
    grid["right"] = json!(16);
    let mut axis = axis_below_rows(&axis_name(metric, scale));
    axis["scale"] = json!(!from_zero);
    if logarithmic {
        axis["type"] = json!("log");
        axis["name"] = json!(metric_title(metric));
        // Several units along one axis: every label says its own.
        axis["axisLabel"] = json!({"$function": "quantity", "unit": unit, "factor": scale.factor, "hideOverlap": true});
    }
    json!({
        "dataset": [columns.into_dataset()],
        "grid": grid,
        "xAxis": axis,
        "yAxis": [row_axis(&names, "left"), row_axis(&numbers, "right")],
        "tooltip": tooltip(&json!([
            {"label": "", "column": "place", "names": full_names},
            {"label": metric_title(metric), "column": "place", "names": texts},
        ])),
        "series": [
            row_intervals("interval", 0, 4, &json!({"$function": "colourOfRow"})),
            {
                "name": "value",
                "type": "scatter",
                "encode": {"x": "value", "y": "place"},
                "symbolSize": 10,
                "itemStyle": {"color": {"$function": "colourOfRow"}},
                "emphasis": {"scale": 1.3},
            },
            right_labels("value"),
        ],
    })
}
