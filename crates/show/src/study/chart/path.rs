//! Paths as waterfalls and as areas.

use crate::Chart;
use crate::chart::build::{
    ChartColumns, axis_below_rows, colour, grid, row_axis, row_names, rows_height,
};
use crate::study::StudyMetricText;
use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::{AxisScale, metric_name};
use lapwing_study::StudyData;
use lapwing_study::StudyScale;
use lapwing_study::{SettingValues, StudyPath};

/// Returns the waterfall of a path; `story` is its order in words.
pub fn waterfall(
    data: &StudyData,
    scale: StudyScale,
    path: &StudyPath,
    values: &SettingValues<'_>,
    story: &str,
) -> Chart {
    let ends = || path.steps.iter().flat_map(|step| [step.before, step.after]);
    let axis = AxisScale::of_values(data, scale, ends());
    let mut names = Vec::new();
    let mut texts = Vec::new();
    let mut datasets: Vec<ChartColumns> = (0..3)
        .map(|_| ChartColumns::new(&["place", "lower", "upper"]))
        .collect();
    let mut predicted = 0;
    let mut add = |name: String, text: String, group: usize, [from, to]: [f64; 2]| {
        datasets[group].push(&[as_f64(names.len()), from, to]);
        names.push(name);
        texts.push(text);
    };
    if let Some(first) = path.steps.first() {
        let value = axis.value(first.before);
        add(
            "start".to_owned(),
            data.metric.value_text(scale, first.before),
            2,
            [0.0, value],
        );
    }
    for step in &path.steps {
        let ends = [step.before, step.after].map(|value| axis.value(value));
        let group = usize::from(!data.metric.is_gain(scale, step.delta()));
        let mut text = data.metric.change_text(scale, step.delta());
        if !values.is_measured(step.set) {
            predicted += 1;
            text.push_str(" (predicted)");
        }
        add(step_name(data, step.factor, step.set), text, group, ends);
    }
    if let Some(last) = path.steps.last() {
        add(
            "end".to_owned(),
            data.metric.value_text(scale, last.after),
            2,
            [0.0, axis.value(last.after)],
        );
    }
    let mut subtitle =
        "Each bar is what the treatment changes when it is added to those above it. Another order \
                        tells another story; Shapley values are the mean over all orders."
            .to_owned();
    if predicted > 0 {
        subtitle.push_str(&format!(
            " {predicted} settings on the way were not measured: predicted by the model."
        ));
    }
    let series: Vec<Value> = [("better", 2), ("worse", 1), ("value", 6)].into_iter().enumerate()
        .map(|(at, (name, tone))| json!({
            "name": name, "type": "custom", "datasetIndex": at, "encode": {"x": ["lower", "upper"], "y": "place"},
            "renderItem": {"$function": "floatingBar", "names": texts}, "itemStyle": {"color": colour(tone)}, "clip": true,
        }))
        .collect();
    let datasets: Vec<Value> = datasets
        .into_iter()
        .map(ChartColumns::into_dataset)
        .collect();
    let option = json!({
        "dataset": datasets, "grid": grid(32),
        "legend": {"show": true, "top": 0, "left": 12, "data": ["better", "worse"]},
        "xAxis": axis_below_rows(&axis.name(&metric_name(data, scale))),
        "yAxis": row_axis(&row_names(&names), "left"),
        "tooltip": {"trigger": "item", "formatter": {"$function": "tooltip", "fields": [
            {"label": "", "column": "place", "names": names},
            {"label": "change", "column": "place", "names": texts},
            {"label": "from", "column": "lower", "unit": axis.unit.unit},
            {"label": "to", "column": "upper", "unit": axis.unit.unit},
        ]}},
        "series": series,
    });
    let height = 90 + rows_height(names.len(), 28);
    Chart::new(
        "paths",
        format!(
            "From {} to {}, {story}",
            ends_text(data, path)[0],
            ends_text(data, path)[1]
        ),
        subtitle,
        height,
        option,
    )
}

/// Returns the treemap of a path: the area is the size of the change.
pub fn treemap(data: &StudyData, scale: StudyScale, path: &StudyPath, story: &str) -> Chart {
    let mut nodes: Vec<Value> = path
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| {
            let is_gain = data.metric.is_gain(scale, step.delta());
            let change = data.metric.change_text(scale, step.delta());
            json!({
                "name": format!("{}. {}\n{change}", at + 1, step_name(data, step.factor, step.set)),
                "value": step.delta().abs(),
                "itemStyle": {"color": colour(if is_gain { 2 } else { 1 })},
            })
        })
        .collect();
    let rest = path
        .steps
        .last()
        .filter(|_| scale == StudyScale::Time)
        .map(|last| {
            json!({
                "name": format!("what is left\n{}", data.metric.value_text(scale, last.after)),
                "value": last.after, "itemStyle": {"color": colour(6)},
            })
        });
    nodes.extend(rest);
    let option = json!({
        "series": [{
            "type": "treemap", "top": 8, "left": 16, "right": 16, "bottom": 12, "roam": false, "nodeClick": false,
            "breadcrumb": {"show": false}, "data": nodes,
            "label": {"show": true, "color": "#ffffff", "fontSize": 12, "lineHeight": 16, "overflow": "truncate"},
            "itemStyle": {"borderColor": {"$color": "background"}, "borderWidth": 1, "gapWidth": 2},
        }],
        "tooltip": {"show": false},
    });
    Chart::new(
        "treemap",
        format!("What the steps change, {story}"),
        "The area is the size of the change; green is better, orange worse, grey what is left."
            .to_owned(),
        420,
        option,
    )
}

fn step_name(data: &StudyData, treatment: usize, after: u128) -> String {
    let name = &data.treatments[treatment].name;
    if after >> treatment & 1 == 1 {
        name.clone()
    } else {
        format!("without {name}")
    }
}

fn ends_text(data: &StudyData, path: &StudyPath) -> [String; 2] {
    let first = path
        .steps
        .first()
        .map_or(0, |step| step.set ^ (1 << step.factor));
    let last = path.steps.last().map_or(first, |step| step.set);
    [first, last].map(|set| match set.count_ones() {
        0..=2 => data.set_text(set),
        several => format!("{several} treatments"),
    })
}
