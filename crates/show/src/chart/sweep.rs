//! A metric against the levels of a parameter that is a number.

use lapwing_stats::as_f64;
use serde_json::json;

use super::history::RunNumber;
use super::marks::columns::ChartColumns;
use super::parts::{grid_below_legend, number_axis, tooltip, value_axis, variants_legend};
use super::{Chart, VariantColours, colour};
use crate::EstimateText;
use crate::packed::packed;
use crate::quantity::UnitScale;
use crate::sample::metric_title;

/// The latest value of a variant at a level.
#[derive(Debug, Clone)]
pub struct SweepPoint {
    /// The level of the parameter.
    pub level: f64,
    /// The variant.
    pub variant: String,
    /// The value.
    pub number: RunNumber,
    /// The target of a click.
    pub link: String,
}

/// From this ratio of the largest level to the smallest on, the axis is logarithmic.
const WIDE: f64 = 50.0;

const COLUMNS: [&str; 5] = ["place", "value", "lower", "upper", "run"];

/// Returns the chart: a curve for each variant, with the interval of each value.
pub fn sweep(
    metric: &str,
    unit: &str,
    parameter: &str,
    points: &[SweepPoint],
    colours: &VariantColours,
) -> Chart {
    let scale = UnitScale::of_all(points.iter().map(|it| it.number.value()), unit);
    let mut variants: Vec<&str> = Vec::new();
    for it in points {
        if !variants.contains(&it.variant.as_str()) {
            variants.push(&it.variant);
        }
    }
    let mut datasets = Vec::new();
    let mut series = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        let of_variant = points.iter().enumerate();
        let mut of_variant: Vec<(usize, &SweepPoint)> = of_variant
            .filter(|(_, it)| it.variant == *variant)
            .collect();
        of_variant.sort_by(|one, other| one.1.level.total_cmp(&other.1.level));
        let mut table = ChartColumns::new(&COLUMNS);
        for (number, it) in of_variant {
            let interval = it.number.interval();
            table.push(&[
                it.level,
                it.number.value() / scale.factor,
                interval.map_or(f64::NAN, |it| it.lower) / scale.factor,
                interval.map_or(f64::NAN, |it| it.upper) / scale.factor,
                as_f64(number),
            ]);
        }
        datasets.push(table.into_dataset());
        let colour = colour(colours.get(variant));
        series.push(json!({
            "name": variant,
            "type": "custom",
            "datasetIndex": at,
            "encode": {"x": "place", "y": ["lower", "upper"]},
            "renderItem": {"$function": "interval", "along": "y", "cap": 3},
            "itemStyle": {"color": colour, "opacity": 0.6},
            "silent": true,
            "clip": true,
        }));
        series.push(json!({
            "name": variant,
            "type": "line",
            "datasetIndex": at,
            "encode": {"x": "place", "y": "value"},
            "symbol": "circle",
            "symbolSize": 7,
            "color": colour,
            "emphasis": {"disabled": true},
        }));
    }
    let levels = || points.iter().map(|it| it.level);
    let smallest = levels().fold(f64::INFINITY, f64::min);
    let largest = levels().fold(f64::NEG_INFINITY, f64::max);
    let mut axis = number_axis(parameter);
    if smallest > 0.0 && largest / smallest >= WIDE {
        axis["type"] = json!("log");
    }
    let texts = points.iter().map(|it| match &it.number {
        RunNumber::Estimate(estimate) => estimate.text(unit),
        RunNumber::Summary(summary) => summary.text(unit),
    });
    let option = json!({
        "dataset": datasets,
        "grid": grid_below_legend(variants.len()),
        "legend": variants_legend(variants.len()),
        "xAxis": axis,
        "yAxis": value_axis(metric, &scale),
        "tooltip": tooltip(&json!([
            {"label": parameter, "column": "place"},
            {"label": metric_title(metric), "column": "run", "names": packed(&texts.collect::<Vec<_>>())},
        ])),
        "series": series,
    });
    let title = format!("{} by {parameter}", metric_title(metric));
    let subtitle = "The latest values with their 95 % confidence intervals.".to_owned();
    let mut chart = Chart::new("sweep", title, subtitle, 300, option);
    chart.links = points.iter().map(|it| it.link.clone()).collect();
    chart
}
