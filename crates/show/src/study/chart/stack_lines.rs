//! Measured stacks as lines across their versions, down to what each costs.

use serde_json::{Map, Value, json};

use crate::chart::build::{colour, named_colour};
use crate::study::stack_change_text;
use crate::{Chart, UnitScale, quantity};
use lapwing_model::text::counted;
use lapwing_study::{Advice, StackModel, StudyMetric, StudyScale};

/// A line: its versions, its place on the last axis, and what is told of it on hover.
struct StackLine {
    stack: Vec<usize>,
    value: f64,
    told: String,
    size: String,
}

/// Returns the chart of the measured stacks, an axis for each package with several versions and one for the goal;
/// `None` if fewer than two were measured.
pub fn stack_lines(model: &StackModel<'_>, advice: &Advice) -> Option<Chart> {
    let data = model.data;
    let advised = &advice.advised.stack;
    let packages: Vec<usize> = (0..data.factors.len())
        .filter(|at| data.factors[*at].versions.len() > 1)
        .collect();
    let goal = data.only_goal();
    // Groups that are drawn in this order: the advised one on top.
    let mut groups: [(&str, Vec<StackLine>); 3] = [
        ("worse", Vec::new()),
        ("as good as the advised", Vec::new()),
        ("advised", Vec::new()),
    ];
    for stack in data.measured() {
        let instances = model.instances(&stack);
        if instances == 0 {
            continue;
        }
        let change = model.against(&stack, advised);
        let (value, told) = match goal {
            Some(goal) => {
                let value = goal.value(model.expectation(&stack).response);
                (value, quantity(value, &unit_of(&goal.metric)))
            }
            None => (
                100.0 * data.shown(change).change.exp_m1(),
                stack_change_text(data, change),
            ),
        };
        let group = match (stack == *advised, change.is_distinguishable()) {
            (true, _) => 2,
            (false, false) => 1,
            (false, true) => 0,
        };
        let size = counted(instances, "instance");
        groups[group].1.push(StackLine {
            stack,
            value,
            told,
            size,
        });
    }
    if groups.iter().map(|(_, lines)| lines.len()).sum::<usize>() < 2 {
        return None;
    }
    let values = groups
        .iter()
        .flat_map(|(_, lines)| lines.iter().map(|it| it.value));
    let (metric, scale) = match goal {
        Some(goal) => (
            goal.metric.name.replace('_', " "),
            UnitScale::of_all(values, &unit_of(&goal.metric)),
        ),
        None => ("change".to_owned(), UnitScale::of(1.0, "%")),
    };
    let mut axes: Vec<Value> = (packages.iter().enumerate())
        .map(|(dimension, at)| {
            let package = &data.factors[*at];
            json!({
                "dim": dimension, "name": package.name, "type": "category", "data": package.versions, "z": 10,
                "axisLabel": {"color": named_colour("text"), "backgroundColor": named_colour("background"), "padding": [1, 3], "margin": 4},
            })
        })
        .collect();
    let name = match scale.unit.is_empty() {
        true => metric.clone(),
        false => format!("{metric} ({})", scale.unit),
    };
    axes.push(json!({
        "dim": packages.len(), "name": name, "type": "value", "scale": true,
        "axisLabel": {"$function": "plainNumber"},
    }));
    let looks = [
        (named_colour("line"), 1.5, 0.8),
        (named_colour("muted"), 1.5, 0.8),
        (colour(0), 3.5, 1.0),
    ];
    let mut datasets = Vec::new();
    let mut series = Vec::new();
    for ((name, lines), (tone, width, opacity)) in groups.iter().zip(looks) {
        if lines.is_empty() {
            continue;
        }
        let mut source = Map::new();
        let mut dimensions: Vec<String> = Vec::new();
        let mut add = |name: String, column: Vec<Value>| {
            dimensions.push(name.clone());
            source.insert(name, Value::Array(column));
        };
        for at in &packages {
            let package = &data.factors[*at];
            let versions = lines
                .iter()
                .map(|it| json!(package.versions[it.stack[*at]]));
            add(package.name.clone(), versions.collect());
        }
        let values = lines.iter().map(|it| json!(it.value / scale.factor));
        add(metric.clone(), values.collect());
        let rows = 0..lines.len();
        add("row".to_owned(), rows.map(|row| json!(row)).collect());
        let texts = |text: fn(&StackLine) -> &String| -> Vec<String> {
            lines.iter().map(|it| text(it).clone()).collect()
        };
        let stacks: Vec<String> = lines.iter().map(|it| data.text(&it.stack)).collect();
        series.push(json!({
            "name": name, "type": "parallel", "datasetIndex": datasets.len(),
            "lineStyle": {"color": tone, "width": width, "opacity": opacity},
            "color": tone,
            "emphasis": {"lineStyle": {"width": 4, "opacity": 1}},
            "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                {"label": "", "column": "row", "names": stacks},
                {"label": metric, "column": "row", "names": texts(|it| &it.told)},
                {"label": "", "column": "row", "names": texts(|it| &it.size)},
            ]}},
        }));
        datasets.push(json!({"dimensions": dimensions, "source": source}));
    }
    let option = json!({
        "dataset": datasets,
        "legend": {"show": series.len() > 1, "top": 0, "left": 12},
        "parallel": {
            "left": 56, "right": 64, "top": 60, "bottom": 24,
            "parallelAxisDefault": {"nameLocation": "end", "nameGap": 14, "nameTextStyle": {"color": named_colour("text")}},
        },
        "parallelAxis": axes,
        "tooltip": {"trigger": "item"},
        "series": series,
    });
    Some(Chart::new(
        "parallel",
        "Measured stacks across their versions".to_owned(),
        "A line is a stack. Drag along an axis to keep the lines that pass there.".to_owned(),
        340,
        option,
    ))
}

/// Returns the unit of the metric itself.
fn unit_of(metric: &StudyMetric) -> String {
    metric.unit_of(match metric.is_rate {
        true => StudyScale::Rate,
        false => StudyScale::Time,
    })
}
