//! Iteration against its number (or its time), one line per instance.

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::marks::columns::ChartColumns;
use super::parts::{
    axis_name, drawn_text, grid_below_legend, not_drawn_text, number_axis, tooltip, value_axis,
    variants_legend, whole_numbers,
};
use super::{Chart, ChartView, LABEL_SIZE, VariantColours, colour, named_colour, thin};
use crate::quantity::UnitScale;
use crate::sample::{InstanceSample, MetricSample, Point, RunSample, metric_title};
use lapwing_analyse::clean::IterationState;
use lapwing_model::text::grouped;

/// More dots than this could not be told apart.
const MOST_POINTS: usize = 4_000;

/// Returns the chart of every iteration of these runs: a line per instance, coloured by
/// variant, the part that was planned as burn-in shaded and its dots hollow.
pub fn iterations(sample: &MetricSample, runs: &[RunSample], colours: &VariantColours) -> Chart {
    let instances: Vec<(&RunSample, &InstanceSample)> = runs
        .iter()
        .flat_map(|run| run.instances.iter().map(move |instance| (run, instance)))
        .filter(|(_, instance)| instance.points().any(|point| is_drawn(&point)))
        .collect();
    let points = || instances.iter().flat_map(|(_, instance)| instance.points());
    let scale = UnitScale::of_all(
        points().filter(is_drawn).map(|point| point.value),
        &sample.metric.unit,
    );
    let mut lines = IterationLines::new(runs, scale, instances.len());
    for (run, instance) in &instances {
        lines.add(run, instance);
    }
    let drawn_hollow =
        points().any(|point| is_drawn(&point) && point.state == IterationState::BurnIn);
    let without_value = runs
        .iter()
        .flat_map(|run| &run.instances)
        .flat_map(|instance| instance.points())
        .filter(|point| !is_drawn(point))
        .count();
    let mut chart = Chart::new(
        "iterations",
        format!("{}: every iteration", metric_title(&sample.name)),
        subtitle(&instances, drawn_hollow, without_value, &lines),
        360,
        lines.option(sample, &instances, colours),
    );
    chart.views = lines.views(&instances);
    chart
}

/// The note on lines with too many points.
pub(super) const DRAWN_BY_STRETCH: &str =
    "dots drawn; the smallest and largest of each stretch are among them";

fn is_drawn(point: &Point) -> bool {
    point.value.is_finite()
}

const TRIANGLE: &str = "triangle";

/// Returns what is drawn for such an iteration (`symbolOfState` of `chart.js`).
fn symbol(state: IterationState) -> &'static str {
    match state {
        IterationState::Steady => "circle",
        IterationState::BurnIn => "ring",
        IterationState::Failed
        | IterationState::TimedOut
        | IterationState::Skipped
        | IterationState::Lost
        | IterationState::NoValue
        | IterationState::OtherUnit => TRIANGLE,
        IterationState::Unknown
        | IterationState::Outlier
        | IterationState::Unsteady
        | IterationState::ShortInstance
        | IterationState::FewInstances => "diamond",
    }
}

fn subtitle(
    instances: &[(&RunSample, &InstanceSample)],
    drawn_hollow: bool,
    without_value: usize,
    lines: &IterationLines,
) -> String {
    let mut text = match instances.len() {
        0 => return "Nothing to draw: no iteration of these runs has a value.".to_owned(),
        1 => "One line: one instance.".to_owned(),
        several => format!(
            "One line per instance ({}). Distance between lines is noise between instances; a slope is drift.",
            grouped(several)
        ),
    };
    if drawn_hollow {
        text.push_str(" Shaded and hollow: burn-in, which does not count.");
    }
    if instances
        .iter()
        .flat_map(|(_, instance)| instance.points())
        .any(|point| is_drawn(&point) && symbol(point.state) == TRIANGLE)
    {
        text.push_str(" Triangles: failed, timed out or lost, which does not count either.");
    }
    text.push_str(&not_drawn_text(without_value, "iteration", "a value"));
    text.push_str(&drawn_text(
        lines.drawn,
        lines.drawn + lines.left_out,
        DRAWN_BY_STRETCH,
    ));
    text
}

const COLUMNS: [&str; 5] = ["index", "offset", "value", "state", "instance"];

/// The lines, one table for each variant; a row of nulls stands between instances.
struct IterationLines {
    scale: UnitScale,
    limit: usize,
    variants: Vec<(String, ChartColumns)>,
    labels: Vec<String>,
    drawn: usize,
    left_out: usize,
}

impl IterationLines {
    fn new(runs: &[RunSample], scale: UnitScale, instances: usize) -> Self {
        let mut variants: Vec<(String, ChartColumns)> = Vec::new();
        for run in runs {
            if !variants.iter().any(|(known, _)| *known == run.variant) {
                variants.push((run.variant.clone(), ChartColumns::new(&COLUMNS)));
            }
        }
        Self {
            scale,
            limit: (MOST_POINTS / instances.max(1)).max(4),
            variants,
            labels: Vec::new(),
            drawn: 0,
            left_out: 0,
        }
    }

    fn add(&mut self, run: &RunSample, instance: &InstanceSample) {
        let points: Vec<Point> = instance.points().filter(is_drawn).collect();
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        let kept = thin(&values, self.limit);
        self.drawn += kept.len();
        self.left_out += points.len() - kept.len();
        let label = as_f64(self.labels.len());
        let host = instance
            .host
            .as_ref()
            .map_or_else(String::new, |host| format!(" on {host}"));
        self.labels
            .push(format!("{}{host}, {}", instance.short_id(), run.label()));
        let Some((_, columns)) = self
            .variants
            .iter_mut()
            .find(|(variant, _)| *variant == run.variant)
        else {
            return;
        };
        if columns.len() > 0 {
            columns.push_gap();
        }
        for point in kept.into_iter().filter_map(|at| points.get(at)) {
            let state = IterationState::ALL
                .iter()
                .position(|state| *state == point.state)
                .unwrap_or_default();
            columns.push(&[
                f64::from(point.index),
                point.offset,
                point.value / self.scale.factor,
                as_f64(state),
                label,
            ]);
        }
    }

    fn option(
        &mut self,
        sample: &MetricSample,
        instances: &[(&RunSample, &InstanceSample)],
        colours: &VariantColours,
    ) -> Value {
        let variants = self.variants.len();
        let unit = &self.scale.unit;
        let burn_in = burn_in_area(burn_in_end_by_index(instances));
        let series: Vec<Value> = self
            .variants
            .iter()
            .enumerate()
            .map(|(at, (variant, _))| {
                json!({
                    "id": format!("line-{at}"),
                    "name": variant,
                    "type": "line",
                    "datasetIndex": at,
                    "encode": {"x": "index", "y": "value"},
                    "symbol": {"$function": "symbolOfState", "symbols": IterationState::ALL.map(symbol)},
                    "symbolSize": if self.drawn > 2_000 { 3 } else if self.drawn > 600 { 4 } else { 6 },
                    "showAllSymbol": true,
                    "color": colour(colours.get(variant)),
                    "lineStyle": {"width": 1.25, "opacity": 0.55},
                    "itemStyle": {"opacity": 0.85},
                    "emphasis": {"disabled": true},
                    // On the first series only: shading twice would be darker.
                    "markArea": if at == 0 { burn_in.clone() } else { Value::Null },
                })
            })
            .collect();
        let datasets: Vec<Value> = std::mem::take(&mut self.variants)
            .into_iter()
            .map(|(_, columns)| columns.into_dataset())
            .collect();
        json!({
            "dataset": datasets,
            "grid": grid_below_legend(variants),
            "legend": variants_legend(variants),
            "xAxis": whole_numbers(number_axis("iteration within its instance")),
            "yAxis": value_axis(&sample.name, &self.scale),
            "tooltip": tooltip(&json!([
                {"label": "instance", "column": "instance", "names": self.labels},
                {"label": "iteration", "column": "index"},
                {"label": axis_name(&sample.name, &UnitScale::of(1.0, "")), "column": "value", "unit": unit},
                {"label": "counts", "column": "state", "names": IterationState::ALL.map(counts)},
            ])),
            "series": series,
        })
    }

    fn views(&self, instances: &[(&RunSample, &InstanceSample)]) -> Vec<ChartView> {
        let has_offsets = instances
            .iter()
            .flat_map(|(_, instance)| instance.points())
            .any(|point| point.offset.is_finite());
        if !has_offsets {
            return Vec::new();
        }
        let variants = instances
            .iter()
            .map(|(run, _)| run.variant.as_str())
            .collect::<std::collections::BTreeSet<_>>()
            .len();
        let view = |label: &str, column: &str, axis: &str, end: Option<f64>| ChartView {
            label: label.to_owned(),
            patch: json!({
                "xAxis": {"name": axis, "minInterval": if column == "index" { json!(1) } else { Value::Null }},
                "series": (0..variants.max(1)).map(|at| json!({
                    "id": format!("line-{at}"),
                    "encode": {"x": column, "y": "value"},
                    "markArea": if at == 0 { burn_in_area(end) } else { Value::Null },
                })).collect::<Vec<_>>(),
            }),
        };
        vec![
            view(
                "by number",
                "index",
                "iteration within its instance",
                burn_in_end_by_index(instances),
            ),
            view(
                "by time",
                "offset",
                "start of the iteration, seconds from the start of its instance",
                burn_in_end_by_offset(instances),
            ),
        ]
    }
}

fn counts(state: IterationState) -> String {
    match state {
        IterationState::Steady => "yes".to_owned(),
        IterationState::BurnIn
        | IterationState::Failed
        | IterationState::TimedOut
        | IterationState::Skipped
        | IterationState::Lost
        | IterationState::NoValue
        | IterationState::OtherUnit
        | IterationState::Unknown
        | IterationState::Outlier
        | IterationState::Unsteady
        | IterationState::ShortInstance
        | IterationState::FewInstances => format!("no: {}", state.name()),
    }
}

fn burn_in_end_by_index(instances: &[(&RunSample, &InstanceSample)]) -> Option<f64> {
    instances
        .iter()
        .flat_map(|(_, instance)| instance.points())
        .filter(|point| point.state == IterationState::BurnIn && is_drawn(point))
        .map(|point| f64::from(point.index) + 0.5)
        .max_by(f64::total_cmp)
}

/// Returns when the last of the instances begins its first iteration after burn-in.
fn burn_in_end_by_offset(instances: &[(&RunSample, &InstanceSample)]) -> Option<f64> {
    instances
        .iter()
        .filter_map(|(_, instance)| {
            let last = instance
                .points()
                .rposition(|point| point.state == IterationState::BurnIn)?;
            let burnt_in = instance
                .points()
                .nth(last + 1)
                .or(instance.points().nth(last))?;
            Some(burnt_in.offset)
        })
        .filter(|offset| offset.is_finite())
        .max_by(f64::total_cmp)
}

fn burn_in_area(end: Option<f64>) -> Value {
    let data: Vec<Value> = end
        .into_iter()
        .map(|end| json!([{"name": "burn-in"}, {"xAxis": super::six_digits(end)}]))
        .collect();
    json!({
        "silent": true,
        "itemStyle": {"color": named_colour("shade")},
        "label": {"position": "insideTopLeft", "fontSize": LABEL_SIZE, "color": named_colour("muted")},
        "data": data,
    })
}
