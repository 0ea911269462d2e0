//! Bars side by side: the median, the mean, and the spread around it.

use serde_json::{Value, json};

use super::Chart;
use super::marks::columns::ChartColumns;
use super::parts::{axis_below_rows, grid, row_axis, tooltip};

/// One bar: what a sample of instances' means comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarFigures {
    /// The number of instances.
    pub count: usize,
    /// Their standard deviation; `None` of a single one.
    pub sd: Option<f64>,
    /// The smallest mean of an instance.
    pub min: f64,
    /// The median, where the bar ends.
    pub median: f64,
    /// The mean, where the tick is.
    pub mean: f64,
    /// The largest mean of an instance.
    pub max: f64,
}

impl BarFigures {
    /// Returns what the means of instances come to; `None` if there are none.
    pub fn new(means: &[f64]) -> Option<Self> {
        Some(Self {
            count: means.len(),
            sd: lapwing_stats::standard_deviation(means),
            min: means.iter().copied().min_by(f64::total_cmp)?,
            median: lapwing_stats::median(means)?,
            mean: lapwing_stats::mean(means)?,
            max: means.iter().copied().max_by(f64::total_cmp)?,
        })
    }
}

/// Returns the chart of bars without any: the page puts in those that its filters let pass.
///
/// What is missing are the columns of the dataset, the names beside the bars, the ends of the
/// vertical axis, the names of the horizontal axes, and the texts on hover.
pub fn bars() -> Chart {
    Chart::new("bars", String::new(), String::new(), 76, option())
}

/// Names of what is told on hover that is not a column of its own.
const TOLD: [&str; 7] = ["sd", "min", "median", "mean", "max", "versions", "measured"];

fn option() -> Value {
    let columns = ChartColumns::new(&[
        "place", "median", "mean", "low", "high", "count", "pale", "run", "colour",
    ]);
    let mut fields = vec![
        json!({"label": "", "column": "run", "names": []}),
        json!({"label": "instances", "column": "count"}),
    ];
    fields.extend(TOLD.map(|label| json!({"label": label, "column": "run", "names": []})));
    // Long charts have the axis at both ends, so that it can be read without scrolling.
    let axis = |position: &str| {
        let mut axis = axis_below_rows("");
        axis["position"] = json!(position);
        axis
    };
    // The page knows how many rows there are.
    let mut rows = row_axis(&[], "left");
    rows["max"] = Value::Null;
    let encode = json!({"x": ["median", "mean", "low", "high"], "y": "place"});
    json!({
        "dataset": [columns.into_dataset()],
        "grid": grid(4),
        "xAxis": [axis("bottom"), axis("top")],
        "yAxis": rows,
        "tooltip": tooltip(&json!(fields)),
        "series": [
            {
                "name": "bars",
                "type": "custom",
                "clip": true,
                "encode": encode,
                "renderItem": {"$function": "barOfRow"},
                "itemStyle": {"color": {"$function": "colourOfRow"}},
            },
            // Gives the upper axis the ends of the lower one.
            {
                "name": "bars",
                "type": "custom",
                "xAxisIndex": 1,
                "encode": encode,
                "renderItem": {"$function": "nothing"},
                "silent": true,
            },
        ],
    })
}
