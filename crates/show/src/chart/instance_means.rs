//! The mean of each instance, in the order of measuring or by host.

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::drawing::font::shorten;
use super::marks::columns::ChartColumns;
use super::parts::{
    drawn_text, grid_below_legend, not_drawn_text, number_axis, tooltip, value_axis,
    variants_legend, whole_numbers,
};
use super::{Chart, ChartView, LABEL_SIZE, VariantColours, colour, thin};
use crate::packed::packed;
use crate::quantity::UnitScale;
use crate::sample::{InstanceSample, MetricSample, RunSample, metric_title};
use lapwing_model::text::grouped;

const MOST_POINTS: usize = 800;
const MOST_HOSTS: usize = 24;
const COLUMNS: [&str; 6] = ["order", "place", "value", "iterations", "host", "instance"];

struct InstanceMean<'a> {
    order: usize,
    run: &'a RunSample<'a>,
    value: f64,
    iterations: usize,
    host: Option<usize>,
    label: String,
}

/// Returns the chart of the mean of each instance of these runs, coloured by variant.
pub fn instance_means(
    sample: &MetricSample,
    runs: &[RunSample],
    colours: &VariantColours,
) -> Chart {
    let hosts = sample.hosts();
    let all = means(runs, &hosts);
    let scale = UnitScale::of_all(all.iter().map(|mean| mean.value), &sample.metric.unit);
    let values: Vec<f64> = all.iter().map(|mean| mean.value).collect();
    let kept: Vec<&InstanceMean<'_>> = thin(&values, MOST_POINTS)
        .into_iter()
        .filter_map(|at| all.get(at))
        .collect();
    let by_host = hosts.len() > 1 && hosts.len() <= MOST_HOSTS;
    let mut subtitle = match all.len() {
        0 => "Nothing to draw: no instance has an iteration that counts.".to_owned(),
        1 => "One instance: its mean says nothing about how much instances differ. Measure at least 3.".to_owned(),
        several => format!(
            "One dot per instance ({}), in the order of measuring. A step or slope suggests that the machine changed; the intervals are computed from this spread.",
            grouped(several)
        ),
    };
    let without = runs
        .iter()
        .map(|run| run.instances.len())
        .sum::<usize>()
        .saturating_sub(all.len());
    subtitle.push_str(&not_drawn_text(without, "instance", "a value"));
    subtitle.push_str(&drawn_text(
        kept.len(),
        all.len(),
        "dots drawn, extremes among them",
    ));
    let title = format!("{}: mean of each instance", metric_title(&sample.name));
    let option = option(sample, &kept, &hosts, &scale, colours);
    let mut chart = Chart::new("instances", title, subtitle, 320, option);
    if by_host {
        chart.views = views(&kept, &hosts);
    }
    chart
}

fn means<'a>(runs: &'a [RunSample<'a>], hosts: &[&str]) -> Vec<InstanceMean<'a>> {
    let mut instances: Vec<(&RunSample, &InstanceSample, f64)> = runs
        .iter()
        .flat_map(|run| run.instances.iter().map(move |instance| (run, instance)))
        .filter_map(|(run, instance)| Some((run, instance, instance.mean()?)))
        .collect();
    // Runs of one session are interleaved: what counts is the place in its order.
    instances.sort_by_key(|(run, instance, _)| {
        let session = (run.version_date, run.started, run.session);
        (session, instance.position)
    });
    instances
        .into_iter()
        .enumerate()
        .map(|(order, (run, instance, value))| InstanceMean {
            order,
            run,
            value,
            iterations: instance.steady_count(),
            host: instance
                .host
                .as_deref()
                .and_then(|host| hosts.iter().position(|known| *known == host)),
            label: instance.short_id(),
        })
        .collect()
}

fn variants_of<'a>(means: &[&'a InstanceMean<'_>]) -> Vec<&'a str> {
    let mut variants: Vec<&str> = Vec::new();
    for mean in means {
        if !variants.contains(&mean.run.variant.as_str()) {
            variants.push(&mean.run.variant);
        }
    }
    variants
}

fn option(
    sample: &MetricSample,
    means: &[&InstanceMean<'_>],
    hosts: &[&str],
    scale: &UnitScale,
    colours: &VariantColours,
) -> Value {
    let variants = variants_of(means);
    let mut datasets = Vec::new();
    let mut series = Vec::new();
    let mut labels: Vec<&str> = Vec::new();
    let mut runs: Vec<String> = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        let mut columns = ChartColumns::new(&COLUMNS);
        for mean in means.iter().filter(|mean| mean.run.variant == *variant) {
            let host = mean.host.map_or(f64::NAN, as_f64);
            columns.push(&[
                as_f64(mean.order + 1),
                host + jitter(mean.order),
                mean.value / scale.factor,
                as_f64(mean.iterations),
                host,
                as_f64(labels.len()),
            ]);
            labels.push(&mean.label);
            runs.push(match &mean.run.version {
                Some(version) => format!("{}, {version}", mean.run.time_text()),
                None => mean.run.time_text(),
            });
        }
        datasets.push(columns.into_dataset());
        series.push(json!({
            "id": format!("dots-{at}"),
            "name": variant,
            "type": "scatter",
            "datasetIndex": at,
            "encode": {"x": "order", "y": "value"},
            "symbolSize": if means.len() > 300 { 5 } else { 8 },
            "itemStyle": {"color": colour(colours.get(variant)), "opacity": 0.8},
            "emphasis": {"scale": 1.4},
        }));
    }
    let axis = whole_numbers(number_axis("instance, in the order of measuring"));
    json!({
        "dataset": datasets,
        "grid": grid_below_legend(variants.len()),
        "legend": variants_legend(variants.len()),
        "xAxis": axis,
        "yAxis": value_axis(&sample.name, scale),
        "tooltip": tooltip(&json!([
            {"label": "instance", "column": "instance", "names": packed(&labels)},
            {"label": "run", "column": "instance", "names": packed(&runs)},
            {"label": "host", "column": "host", "names": hosts},
            {"label": format!("mean {}", metric_title(&sample.name)), "column": "value", "unit": scale.unit},
            {"label": "of iterations", "column": "iterations"},
        ])),
        "series": series,
    })
}

fn views(means: &[&InstanceMean<'_>], hosts: &[&str]) -> Vec<ChartView> {
    let variants = variants_of(means).len();
    let series = |column: &str| -> Vec<Value> {
        (0..variants)
            .map(|at| json!({"id": format!("dots-{at}"), "encode": {"x": column, "y": "value"}}))
            .collect()
    };
    let width = 760.0 / as_f64(hosts.len());
    let names: Vec<String> = hosts
        .iter()
        .map(|host| shorten(host, LABEL_SIZE, width.max(40.0)))
        .collect();
    vec![
        ChartView {
            label: "in order".to_owned(),
            patch: json!({
                "xAxis": {
                    "name": "instance, in the order of measuring",
                    "min": null, "max": null, "interval": null, "minInterval": 1,
                    "axisLabel": {"formatter": null},
                },
                "series": series("order"),
            }),
        },
        ChartView {
            label: "by host".to_owned(),
            patch: json!({
                "xAxis": {
                    "name": "host",
                    "min": -0.5, "max": as_f64(hosts.len()) - 0.5, "interval": 0.5, "minInterval": null,
                    "axisLabel": {"formatter": {"$function": "category", "names": names}},
                },
                "series": series("place"),
            }),
        },
    ]
}

/// Returns how far beside its place the dot is drawn, between -0.3 and 0.3: the golden ratio
/// spreads dots evenly and is the same every time.
fn jitter(number: usize) -> f64 {
    let place = (as_f64(number) * 0.618_033_988_749_895).fract() * 0.6 - 0.3;
    (place * 100.0).round() / 100.0
}
