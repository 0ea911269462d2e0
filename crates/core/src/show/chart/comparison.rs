//! Several values of one metric beside each other: a dot with its interval each.

use lapwing_stats::as_f64;
use serde_json::json;

use super::columns::Columns;
use super::font::shorten;
use super::{Chart, LABEL_SIZE, WIDTH, axis_name, grid};
use crate::judge::Estimate;
use crate::model::MetricName;
use crate::show::quantity::Scale;
use crate::show::sample::metric_title;
use crate::text::grouped;

/// More rows than this would make a picture that nobody can read.
const MOST_ROWS: usize = 200;

/// From this ratio of largest to smallest on, the axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 20.0;

/// Values this close together are compared without zero on the axis.
const ZERO_FROM: f64 = 1.5;

/// One row of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedValue {
    /// What the value belongs to.
    pub name: String,
    /// The number of its colour ([`Colours::number`](super::Colours::number)).
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
        Scale::of((smallest * largest).sqrt(), unit)
    } else {
        Scale::of_all(numbers(), unit)
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
    if shown.len() < values.len() {
        subtitle.push_str(&format!(
            " {} of {} rows drawn.",
            grouped(shown.len()),
            grouped(values.len())
        ));
    }
    Chart {
        id: "comparison",
        title: format!("{}: comparison", metric_title(metric)),
        subtitle,
        width: WIDTH,
        height: 76 + 30 * u32::try_from(shown.len().max(1)).unwrap_or(1),
        option: option(
            metric,
            unit,
            &shown,
            &scale,
            logarithmic,
            largest / smallest >= ZERO_FROM && positive,
        ),
        views: Vec::new(),
        links: Vec::new(),
    }
}

fn option(
    metric: &str,
    unit: &str,
    shown: &[&ComparedValue],
    scale: &Scale,
    logarithmic: bool,
    from_zero: bool,
) -> serde_json::Value {
    let mut columns = Columns::new(&["place", "value", "lower", "upper", "colour"]);
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
    let names: Vec<String> = shown
        .iter()
        .map(|value| shorten(&value.name, LABEL_SIZE, f64::from(WIDTH) * 0.36))
        .collect();
    let texts: Vec<String> = shown
        .iter()
        .map(|value| value.estimate.text(unit))
        .collect();
    let full_names: Vec<&str> = shown.iter().map(|value| value.name.as_str()).collect();
    let mut grid = grid(12);
    if let Some(grid) = grid.as_object_mut() {
        grid.insert("right".to_owned(), json!(16));
    }
    let labels = if logarithmic {
        // Several units along one axis: every label says its own.
        json!({"$function": "quantity", "unit": unit, "factor": scale.factor, "hideOverlap": true})
    } else {
        json!({"$function": "plainNumber", "hideOverlap": true})
    };
    let place_axis = |names: &[String], position: &str| {
        json!({
            "type": "value",
            "position": position,
            "inverse": true,
            "min": -0.5,
            "max": as_f64(shown.len().max(1)) - 0.5,
            "interval": 0.5,
            "axisLabel": {"formatter": {"$function": "category", "names": names}, "color": {"$color": "text"}},
            "axisLine": {"show": position == "left"},
            "axisTick": {"show": false},
            "splitLine": {"show": false},
        })
    };
    json!({
        "dataset": [columns.into_dataset()],
        "grid": grid,
        "xAxis": {
            "type": if logarithmic { "log" } else { "value" },
            "name": if logarithmic { metric_title(metric) } else { axis_name(metric, scale) },
            "nameLocation": "middle",
            "nameGap": 8,
            "scale": !from_zero,
            "axisLine": {"onZero": false},
            "axisLabel": labels,
        },
        "yAxis": [place_axis(&names, "left"), place_axis(&numbers, "right")],
        "tooltip": {"trigger": "item", "formatter": {"$function": "tooltip", "fields": [
            {"label": "", "column": "place", "names": full_names},
            {"label": metric_title(metric), "column": "place", "names": texts},
        ]}},
        "series": [
            {
                "name": "interval",
                "type": "custom",
                "encode": {"x": ["lower", "upper"], "y": "place"},
                "renderItem": {"$function": "interval", "along": "x", "cap": 4},
                "itemStyle": {"color": {"$function": "colourOfRow"}},
                "silent": true,
            },
            {
                "name": "value",
                "type": "scatter",
                "encode": {"x": "value", "y": "place"},
                "symbolSize": 10,
                "itemStyle": {"color": {"$function": "colourOfRow"}},
                "emphasis": {"scale": 1.3},
            },
            // The right axis is drawn only when something belongs to it.
            {"name": "labels", "type": "scatter", "yAxisIndex": 1, "encode": {"x": "value", "y": "place"}, "symbolSize": 0, "silent": true},
        ],
    })
}
