//! Charts of advice: stacks against the advised one, and what each version changes.

use crate::study::StudyMetricText;
use std::collections::{BTreeMap, BTreeSet};

use crate::Chart;
use crate::chart::build::{ChangeCell, ChangeTable, MOST_SHADES};
use lapwing_model::text::counted;

use super::effects::{EffectRow, EffectSeries, percentages};
use crate::study::stack_change_text;
use lapwing_study::{Advice, StackChange, StackData, StackModel};
use serde_json::json;

/// Returns the chart of the best stacks and the compared ones against the advised one.
pub fn stack_changes(model: &StackModel<'_>, advice: &Advice) -> Chart {
    let advised = &advice.advised.stack;
    let compared = advice
        .against
        .iter()
        .map(|(name, own, _)| (format!("{name}: "), own));
    let best = advice.best.iter().map(|own| (String::new(), own));
    let mut series: Vec<EffectSeries> = ["measured", "inferred"]
        .map(|name| EffectSeries {
            name: name.to_owned(),
            rows: Vec::new(),
        })
        .into();
    let mut seen = vec![advised];
    let mut versions: BTreeMap<String, String> = BTreeMap::new();
    for (prefix, own) in compared.chain(best) {
        if seen.contains(&&own.stack) {
            continue;
        }
        seen.push(&own.stack);
        let change = model.data.shown(model.against(&own.stack, advised));
        let name = format!("{prefix}{}", model.data.text(&own.stack));
        versions.insert(name.clone(), short_text(model.data, &own.stack));
        series[usize::from(own.instances == 0)]
            .rows
            .push(EffectRow {
                name,
                effect: change.change,
                interval: Some(change.interval),
                size: counted(own.instances, "instance"),
            });
    }
    series.retain(|own| !own.rows.is_empty());
    let title = format!("Other stacks against {}", model.data.text(advised));
    let mut chart = percentages(&title, is_left_better(model), &series);
    // A phone has room for the versions alone; the rows are in the order of the series.
    let rows = series.iter().flat_map(|it| &it.rows);
    let narrow: Vec<&String> = rows.filter_map(|it| versions.get(&it.name)).collect();
    chart.option["yAxis"]["axisLabel"]["formatter"]["narrow"] = json!(narrow);
    chart
}

/// Returns the versions of a stack, of the packages with several.
fn short_text(data: &StackData, stack: &[usize]) -> String {
    let factors = data.factors.iter().zip(stack);
    let versions = factors.filter(|(factor, _)| factor.versions.len() > 1);
    let versions: Vec<&str> = versions
        .map(|(factor, level)| factor.versions[*level].as_str())
        .collect();
    versions.join(" ")
}

/// Returns the map of what every version changes in the advised stack, for each benchmark of the goal and for the
/// goal as a whole.
pub fn version_map(model: &StackModel<'_>, advice: &Advice) -> Chart {
    let data = model.data;
    let advised = &advice.advised.stack;
    let mut columns = short_names(&data.benchmarks);
    let mut all: Vec<Vec<(usize, usize, StackChange, usize)>> = Vec::new();
    if columns.len() > 1 {
        all.extend(model.parts().iter().map(|part| effects(part, advised)));
        columns.push("goal".to_owned());
    }
    all.push(effects(model, advised));
    let sizes = all.iter().flatten().map(|own| own.2.change.abs());
    let largest = sizes.fold(0.0, f64::max);
    let rows: Vec<String> = (all[0].iter())
        .map(|(factor, level, ..)| {
            let own = &data.factors[*factor];
            format!("{}=={}", own.name, own.versions[*level])
        })
        .collect();
    let mut cells = Vec::new();
    for (x, column) in all.iter().enumerate() {
        for (y, (factor, level, change, instances)) in column.iter().enumerate() {
            let is_own = advised[*factor] == *level;
            let text = if is_own {
                "advised".to_owned()
            } else {
                let metric = &data.goals[0].metric;
                metric.change_text(lapwing_study::StudyScale::Log, data.shown(*change).change)
            };
            let basis = match instances {
                0 => "inferred".to_owned(),
                some => format!("measured, {}", counted(*some, "instance")),
            };
            let cell = ChangeCell {
                shade: if largest > 0.0 {
                    (MOST_SHADES * change.change / largest).round()
                } else {
                    0.0
                },
                is_framed: !is_own && change.is_distinguishable(),
                told: vec![
                    ("", rows[y].clone()),
                    ("change", stack_change_text(data, *change)),
                    ("", basis),
                ],
                text,
            };
            cells.push(((x, y), cell));
        }
    }
    let table = ChangeTable {
        rows,
        columns,
        columns_name: "",
        cells,
    };
    Chart::new(
        "versions",
        "What another version of one package changes in the advised stack".to_owned(),
        "Blue is better, orange worse than the advised version. Framed: the 95 % interval does not include zero.".to_owned(),
        table.height(),
        table.into_option(),
    )
}

/// Returns the ids of benchmarks without their parameters, if these are not needed to tell them apart.
fn short_names(ids: &[String]) -> Vec<String> {
    let short = |id: &String| id.split('[').next().unwrap_or(id).to_owned();
    let names: Vec<String> = ids.iter().map(short).collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    if distinct.len() == names.len() {
        names
    } else {
        ids.to_vec()
    }
}

fn effects(model: &StackModel<'_>, stack: &[usize]) -> Vec<(usize, usize, StackChange, usize)> {
    let own = model.version_effects(stack).into_iter();
    own.map(|it| (it.factor, it.level, it.change, it.instances))
        .collect()
}

fn is_left_better(model: &StackModel<'_>) -> bool {
    let goal = model.data.only_goal();
    goal.is_none_or(|goal| goal.direction() > 0.0)
}
