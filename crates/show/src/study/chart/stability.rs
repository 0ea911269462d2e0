//! Estimates of effects against the number of instances.

use crate::Chart;
use crate::chart::build::{ChartColumns, colour, grid, named_colour, number_axis};
use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::AxisScale;
use lapwing_study::StudyData;
use lapwing_study::StudyScale;
use lapwing_study::StudyStability;

/// More treatments are not drawn.
const SHOWN: usize = 8;

/// Returns the chart of the strongest effects after so many instances, each with its interval.
pub fn stability(data: &StudyData, scale: StudyScale, found: &StudyStability) -> Chart {
    let shown: Vec<usize> = found.ranking.iter().copied().take(SHOWN).collect();
    let effects = || {
        let checks = found.checks.iter();
        checks.flat_map(|check| shown.iter().filter_map(|own| check.effects[*own]))
    };
    let axis = AxisScale::of_changes(data, scale, effects().map(|(estimate, _)| estimate));
    // Intervals of the first few instances would hide all later ones.
    let farthest = effects().map(|(estimate, _)| axis.change(estimate));
    let (low, high) = farthest.fold((0.0_f64, 0.0_f64), |(low, high), it| {
        (low.min(it), high.max(it))
    });
    let room = 0.15 * (high - low).max(f64::MIN_POSITIVE);
    let ends = [low - room, high + room];
    let apart = found.checks.last().map_or(1.0, |it| as_f64(it.instances)) / 400.0;
    let mut datasets = Vec::new();
    let mut series = Vec::new();
    for (number, treatment) in shown.iter().enumerate() {
        let mut columns = ChartColumns::new(&["place", "value", "lower", "upper"]);
        let beside = (as_f64(number) - as_f64(shown.len() - 1) / 2.0) * apart;
        for check in &found.checks {
            let Some((estimate, interval)) = check.effects[*treatment] else {
                continue;
            };
            let [lower, upper] = interval
                .map_or([f64::NAN; 2], |it| [it.lower, it.upper])
                .map(|end| axis.change(end).clamp(ends[0], ends[1]));
            columns.push(&[
                as_f64(check.instances) + beside,
                axis.change(estimate),
                lower,
                upper,
            ]);
        }
        datasets.push(columns.into_dataset());
        let name = &data.treatments[*treatment].name;
        series.push(json!({
            "name": name, "type": "custom", "datasetIndex": number,
            "encode": {"x": "place", "y": ["lower", "upper"]},
            "renderItem": {"$function": "interval", "along": "y", "cap": 0},
            "itemStyle": {"color": colour(number), "opacity": 0.5}, "silent": true, "clip": true,
        }));
        series.push(json!({
            "name": name, "type": "line", "datasetIndex": number,
            "encode": {"x": "place", "y": "value"}, "symbolSize": 5, "showAllSymbol": true, "color": colour(number),
            "lineStyle": {"width": 1.5}, "emphasis": {"disabled": true},
            "markLine": if number == 0 { marks(found) } else { Value::Null },
            "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                {"label": name, "column": "value", "unit": axis.unit.unit},
                {"label": "lower", "column": "lower", "unit": axis.unit.unit},
                {"label": "upper", "column": "upper", "unit": axis.unit.unit},
            ]}},
        }));
    }
    let mut x = number_axis("instances");
    x["nameGap"] = json!(26);
    let mut y = number_axis(&axis.name("mean effect"));
    y["nameGap"] = json!(44);
    y["min"] = json!(ends[0]);
    y["max"] = json!(ends[1]);
    y["axisLabel"] =
        json!({"$function": "plainNumber", "showMinLabel": false, "showMaxLabel": false});
    let names: Vec<&str> = shown
        .iter()
        .map(|own| data.treatments[*own].name.as_str())
        .collect();
    let subtitle = match found.stable_since() {
        Some(since) => format!("Stable since {since} instances. Bars are 95 % intervals."),
        None => "Not stable yet. Bars are 95 % intervals.".to_owned(),
    };
    Chart::new(
        "stability",
        "Effects against the number of instances".to_owned(),
        subtitle,
        500,
        json!({
            "dataset": datasets, "grid": grid(36),
            "legend": {"top": 0, "left": 12, "type": "scroll", "data": names},
            "xAxis": x, "yAxis": y, "tooltip": {"trigger": "item"}, "series": series,
        }),
    )
}

/// The line of no effect, and where the effects became stable.
fn marks(found: &StudyStability) -> Value {
    let mut lines = vec![json!({"yAxis": 0, "label": {"show": false}})];
    if let Some(since) = found.stable_since() {
        lines.push(json!({"xAxis": since, "label": {"formatter": "stable", "position": "insideEndTop", "color": named_colour("muted")}}));
    }
    json!({
        "silent": true, "z": 1, "symbol": "none",
        "lineStyle": {"color": named_colour("muted"), "type": "dashed", "width": 1.25}, "data": lines,
    })
}
