//! Bars beside each other: the median, the mean, and the spread around it.

use serde_json::{Value, json};

use super::columns::Columns;
use super::font::shorten;
use super::{Chart, LABEL_SIZE, WIDTH, axis_name, grid};
use crate::show::quantity::{Scale, quantity};
use crate::show::sample::as_f64;

/// One bar: what a sample of instances' means comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What stands beside it.
    pub name: String,
    /// The number of its colour.
    pub colour: usize,
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
    /// The versions that were measured, and when.
    pub versions: String,
    /// When they were measured.
    pub when: String,
    /// Where a click leads; may be empty.
    pub link: String,
}

impl Bar {
    /// Returns what the means of instances come to; `None` where there are none.
    pub fn new(name: String, colour: usize, means: &[f64]) -> Option<Self> {
        Some(Self {
            name,
            colour,
            count: means.len(),
            sd: lapwing_stats::standard_deviation(means),
            min: means.iter().copied().min_by(f64::total_cmp)?,
            median: lapwing_stats::median(means)?,
            mean: lapwing_stats::mean(means)?,
            max: means.iter().copied().max_by(f64::total_cmp)?,
            versions: String::new(),
            when: String::new(),
            link: String::new(),
        })
    }
}

/// Returns the chart of these bars, in their order.
pub fn bars(metric: &str, unit: &str, title: &str, bars: &[Bar]) -> Chart {
    let ends = bars.iter().map(|bar| bar.mean + bar.sd.unwrap_or(0.0));
    let scale = Scale::of_all(ends, unit);
    let rows = u32::try_from(bars.len().max(1)).unwrap_or(1);
    Chart {
        id: "bars",
        title: title.to_owned(),
        subtitle: if bars.is_empty() {
            "Nothing to draw: nothing has a value.".to_owned()
        } else {
            String::new()
        },
        width: WIDTH,
        height: 76 + 26 * rows,
        option: option(metric, unit, &scale, bars),
        views: Vec::new(),
        links: if bars.iter().any(|bar| !bar.link.is_empty()) {
            bars.iter().map(|bar| bar.link.clone()).collect()
        } else {
            Vec::new()
        },
    }
}

fn option(metric: &str, unit: &str, scale: &Scale, bars: &[Bar]) -> Value {
    let mut columns = Columns::new(&[
        "place", "median", "mean", "low", "high", "count", "run", "colour",
    ]);
    for (place, bar) in bars.iter().enumerate() {
        let sd = bar.sd.unwrap_or(f64::NAN);
        // Nothing is measured below nothing, but what has no spread stays without one.
        let low = if sd > bar.mean { 0.0 } else { bar.mean - sd };
        columns.push(&[
            as_f64(place),
            bar.median / scale.factor,
            bar.mean / scale.factor,
            low / scale.factor,
            (bar.mean + sd) / scale.factor,
            as_f64(bar.count),
            as_f64(place),
            as_f64(bar.colour),
        ]);
    }
    let texts = |of: fn(&Bar) -> f64| -> Vec<String> {
        bars.iter().map(|bar| quantity(of(bar), unit)).collect()
    };
    let names: Vec<String> = bars
        .iter()
        .map(|bar| shorten(&bar.name, LABEL_SIZE, f64::from(WIDTH) * 0.36))
        .collect();
    let full_names: Vec<&str> = bars.iter().map(|bar| bar.name.as_str()).collect();
    let sd: Vec<String> = bars
        .iter()
        .map(|bar| {
            bar.sd
                .map_or_else(|| "–".to_owned(), |sd| quantity(sd, unit))
        })
        .collect();
    let versions: Vec<&str> = bars.iter().map(|bar| bar.versions.as_str()).collect();
    let when: Vec<&str> = bars.iter().map(|bar| bar.when.as_str()).collect();
    json!({
        "dataset": [columns.into_dataset()],
        "grid": grid(4),
        "xAxis": {
            "type": "value",
            "name": axis_name(metric, scale),
            "nameLocation": "middle",
            "nameGap": 8,
            "min": 0,
            "axisLine": {"onZero": false},
            "axisLabel": {"$function": "plainNumber", "hideOverlap": true},
        },
        "yAxis": {
            "type": "value",
            "inverse": true,
            "min": -0.5,
            "max": as_f64(bars.len().max(1)) - 0.5,
            "interval": 0.5,
            "axisLabel": {"formatter": {"$function": "category", "names": names}, "color": {"$color": "text"}},
            "axisTick": {"show": false},
            "splitLine": {"show": false},
        },
        "tooltip": {"trigger": "item", "formatter": {"$function": "tooltip", "fields": [
            {"label": "", "column": "run", "names": full_names},
            {"label": "instances", "column": "count"},
            {"label": "sd", "column": "run", "names": sd},
            {"label": "min", "column": "run", "names": texts(|bar| bar.min)},
            {"label": "median", "column": "run", "names": texts(|bar| bar.median)},
            {"label": "mean", "column": "run", "names": texts(|bar| bar.mean)},
            {"label": "max", "column": "run", "names": texts(|bar| bar.max)},
            {"label": "versions", "column": "run", "names": versions},
            {"label": "measured", "column": "run", "names": when},
        ]}},
        "series": [{
            "name": "bars",
            "type": "custom",
            "encode": {"x": ["median", "mean", "low", "high"], "y": "place"},
            "renderItem": {"$function": "barOfRow"},
            "itemStyle": {"color": {"$function": "colourOfRow"}},
        }],
    })
}
