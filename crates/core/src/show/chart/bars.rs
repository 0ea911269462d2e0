//! Bars beside each other: the median, the mean, and the spread around it.

use serde_json::{Value, json};

use super::columns::Columns;
use super::{Chart, WIDTH, grid};

/// One bar: what a sample of instances' means comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// How many instances there are.
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

impl Bar {
    /// Returns what the means of instances come to; `None` where there are none.
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
    Chart {
        id: "bars",
        title: String::new(),
        subtitle: String::new(),
        width: WIDTH,
        height: 76,
        option: option(),
        views: Vec::new(),
        links: Vec::new(),
    }
}

/// Names of what is told on hover that is not a column of its own.
const TOLD: [&str; 7] = ["sd", "min", "median", "mean", "max", "versions", "measured"];

fn option() -> Value {
    let columns = Columns::new(&[
        "place", "median", "mean", "low", "high", "count", "pale", "run", "colour",
    ]);
    let mut fields = vec![
        json!({"label": "", "column": "run", "names": []}),
        json!({"label": "instances", "column": "count"}),
    ];
    fields.extend(TOLD.map(|label| json!({"label": label, "column": "run", "names": []})));
    // Long charts have the axis at both ends, so that it can be read without scrolling.
    let axis = |position: &str| {
        json!({
            "type": "value",
            "position": position,
            "name": "",
            "nameLocation": "middle",
            "nameGap": 8,
            "axisLine": {"onZero": false},
            "axisLabel": {"$function": "plainNumber", "hideOverlap": true},
        })
    };
    let encode = json!({"x": ["median", "mean", "low", "high"], "y": "place"});
    json!({
        "dataset": [columns.into_dataset()],
        "grid": grid(4),
        "xAxis": [axis("bottom"), axis("top")],
        "yAxis": {
            "type": "value",
            "inverse": true,
            "min": -0.5,
            "interval": 0.5,
            "axisLine": {"onZero": false},
            "axisLabel": {"formatter": {"$function": "category", "names": []}, "color": {"$color": "text"}},
            "axisTick": {"show": false},
            "splitLine": {"show": false},
        },
        "tooltip": {"trigger": "item", "formatter": {"$function": "tooltip", "fields": fields}},
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
