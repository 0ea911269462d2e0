//! Effects of one side against those of the other.

use crate::Chart;
use crate::chart::build::{ChartColumns, colour, grid, named_colour, number_axis};
use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::AxisScale;
use lapwing_study::StudyData;
use lapwing_study::StudyScale;
use lapwing_study::{CarriedEffect, CarriedVerdict, StudyCarryOver};

/// More dots are not named, the largest effects first.
const NAMED: usize = 16;

/// Returns the chart of the effects on the first side against those on the second, with intervals; on the diagonal
/// they are equal.
pub fn carry_over(
    data: &StudyData,
    scale: StudyScale,
    sides: [&str; 2],
    found: &StudyCarryOver,
) -> Chart {
    let values = || {
        found
            .effects
            .iter()
            .flat_map(|own| own.sides.map(|side| side.effect))
    };
    let axis = AxisScale::of_changes(data, scale, values());
    let (low, high) = values()
        .map(|value| axis.change(value))
        .fold((0.0_f64, 0.0_f64), |(low, high), it| {
            (low.min(it), high.max(it))
        });
    let room = 0.2 * (high - low).max(f64::MIN_POSITIVE);
    let ends = [low - room, high + room];
    let mut datasets = Vec::new();
    let mut series = Vec::new();
    let mut legend = Vec::new();
    for (number, verdict) in CarriedVerdict::ALL.into_iter().enumerate() {
        let own: Vec<&CarriedEffect> = found
            .effects
            .iter()
            .filter(|own| own.verdict == verdict)
            .collect();
        if own.is_empty() {
            continue;
        }
        let mut dots = ChartColumns::new(&["row", "x", "y"]);
        let mut across = ChartColumns::new(&["place", "lower", "upper"]);
        let mut along = ChartColumns::new(&["place", "lower", "upper"]);
        for (row, effect) in own.iter().enumerate() {
            let [(x, left, right), (y, lower, upper)] = effect.sides.map(|side| {
                let [low, high] = side.interval.map_or([f64::NAN; 2], |it| {
                    [it.lower, it.upper].map(|end| axis.change(end).clamp(ends[0], ends[1]))
                });
                (axis.change(side.effect), low, high)
            });
            dots.push(&[as_f64(row), x, y]);
            across.push(&[y, left, right]);
            along.push(&[x, lower, upper]);
        }
        let dataset = datasets.len();
        legend.push(verdict.name());
        datasets.extend([dots, across, along].map(ChartColumns::into_dataset));
        let tone = match verdict {
            CarriedVerdict::Negligible | CarriedVerdict::Undetermined => colour(6),
            CarriedVerdict::CarriesOver | CarriedVerdict::Differs | CarriedVerdict::Reverses => {
                colour(number)
            }
        };
        for (number, along, encode) in [
            (1, "x", json!({"x": ["lower", "upper"], "y": "place"})),
            (2, "y", json!({"x": "place", "y": ["lower", "upper"]})),
        ] {
            series.push(json!({
                "name": verdict.name(), "type": "custom", "datasetIndex": dataset + number, "encode": encode,
                "renderItem": {"$function": "interval", "along": along, "cap": 0},
                "itemStyle": {"color": tone, "opacity": 0.5}, "silent": true, "clip": true,
            }));
        }
        let names: Vec<&str> = own.iter().map(|own| own.name.as_str()).collect();
        series.push(json!({
            "name": verdict.name(), "type": "scatter", "datasetIndex": dataset, "encode": {"x": "x", "y": "y"},
            "symbol": if number.is_multiple_of(2) { "circle" } else { "diamond" }, "symbolSize": 9, "itemStyle": {"color": tone},
            "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                {"label": "", "column": "row", "names": names},
                {"label": sides[0], "column": "x", "unit": axis.unit.unit},
                {"label": sides[1], "column": "y", "unit": axis.unit.unit},
            ]}},
        }));
    }
    series.push(names_of(found, &axis));
    series.push(json!({
        "name": "equal", "type": "line", "data": [[ends[0], ends[0]], [ends[1], ends[1]]], "showSymbol": false, "silent": true,
        "lineStyle": {"color": named_colour("muted"), "type": "dashed", "width": 1.5},
        "markLine": {
            "silent": true, "z": 1, "symbol": "none", "label": {"show": false},
            "lineStyle": {"color": named_colour("line"), "type": "solid", "width": 1.25}, "data": [{"xAxis": 0}, {"yAxis": 0}],
        },
    }));
    let axis_of = |side: &str, gap: u32| {
        let mut own = number_axis(&axis.name(&format!("effect in {side}")));
        own["nameGap"] = json!(gap);
        own["min"] = json!(ends[0]);
        own["max"] = json!(ends[1]);
        own["axisLabel"] = json!({"$function": "plainNumber", "hideOverlap": true, "showMinLabel": false, "showMaxLabel": false});
        own
    };
    Chart::new(
        "carry_over",
        format!("Effects in {} against those in {}", sides[1], sides[0]),
        "A dot is the mean effect of a treatment or of a pair, bars are 95 % intervals; on the diagonal both are equal.".to_owned(),
        540,
        json!({
            "dataset": datasets, "grid": grid(36), "legend": {"top": 0, "left": 12, "data": legend},
            "xAxis": axis_of(sides[0], 26), "yAxis": axis_of(sides[1], 44),
            "tooltip": {"trigger": "item"}, "series": series,
        }),
    )
}

/// Returns the names of the largest effects as a series beside their dots.
fn names_of(found: &StudyCarryOver, axis: &AxisScale) -> Value {
    let size = |own: &CarriedEffect| own.sides[0].effect.abs().max(own.sides[1].effect.abs());
    let mut named: Vec<&CarriedEffect> = found.effects.iter().collect();
    named.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let label = |own: &&CarriedEffect| {
        // Away from the edge of the chart.
        let position = if own.sides[0].effect > 0.0 {
            "left"
        } else {
            "right"
        };
        let place = own.sides.map(|side| axis.change(side.effect));
        json!({"value": place, "label": {"formatter": own.name, "position": position}})
    };
    json!({
        "name": "names", "type": "scatter", "data": named.iter().take(NAMED).map(label).collect::<Vec<Value>>(),
        "symbolSize": 1, "silent": true, "labelLayout": {"hideOverlap": true},
        "label": {"show": true, "position": "right", "distance": 8, "fontSize": 11, "color": named_colour("text")},
    })
}
