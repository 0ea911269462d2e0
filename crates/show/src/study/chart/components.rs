//! Principal components: the sequences and treatments on the first two, and the variance of each.

use crate::Chart;
use crate::chart::build::{
    ChartColumns, axis_below_rows, colour, grid, named_colour, number_axis, row_axis, rows_height,
};
use lapwing_model::text::counted;
use lapwing_stats::as_f64;
use serde_json::json;

use super::AxisScale;
use lapwing_study::StudyComponents;
use lapwing_study::StudyData;
use lapwing_study::StudyScale;

/// Loadings shorter than this share of the longest have no name.
const NAMED: f64 = 0.2;

/// Returns the biplot of the first two components: a dot per sequence, a line per treatment.
pub fn biplot(data: &StudyData, scale: StudyScale, found: &StudyComponents) -> Chart {
    let zeros = vec![0.0; found.sequences];
    let scores = |at: usize| found.components.get(at).map_or(&zeros, |own| &own.scores);
    let loading =
        |at: usize, of: usize| found.components.get(at).map_or(0.0, |own| own.loadings[of]);
    let axis = AxisScale::of_changes(data, scale, scores(0).iter().copied());
    // A score of logarithms is no percentage: it is a sum of several changes.
    let shown = |value: f64| {
        if scale == StudyScale::Log {
            value
        } else {
            axis.change(value)
        }
    };
    let mut columns = ChartColumns::new(&["x", "y"]);
    for (x, y) in scores(0).iter().zip(scores(1)) {
        columns.push(&[shown(*x), shown(*y)]);
    }
    let farthest = scores(0)
        .iter()
        .chain(scores(1))
        .map(|it| shown(*it).abs())
        .fold(0.0, f64::max);
    let lengths: Vec<f64> = (0..found.treatments.len())
        .map(|of| loading(0, of).hypot(loading(1, of)))
        .collect();
    let longest = lengths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut series = vec![json!({
        "name": "sequences", "type": "scatter", "encode": {"x": "x", "y": "y"}, "symbolSize": 6,
        "itemStyle": {"color": colour(6), "opacity": 0.6},
    })];
    for (of, treatment) in found.treatments.iter().enumerate() {
        let reach = |at: usize| loading(at, of) / longest * farthest;
        let is_named = lengths[of] > NAMED * longest;
        series.push(json!({
            "name": data.treatments[*treatment].name, "type": "line",
            "data": [{"value": [0, 0], "symbol": "none"}, {"value": [reach(0), reach(1)], "label": {
                "show": is_named, "formatter": "{a}", "position": if reach(0) < 0.0 { "left" } else { "right" },
                "color": named_colour("text"), "fontSize": 12,
            }}],
            "symbol": "circle", "symbolSize": 7, "silent": true,
            "lineStyle": {"color": colour(0), "width": 1.75}, "itemStyle": {"color": colour(0)},
        }));
    }
    let name = |at: usize| {
        let share = found.components.get(at).map_or(0.0, |own| own.share);
        format!("component {} ({:.0} % of variance)", at + 1, share * 100.0)
    };
    let mut y = number_axis(&name(1));
    y["nameGap"] = json!(44);
    let mut x = number_axis(&name(0));
    x["nameGap"] = json!(26);
    for axis in [&mut x, &mut y] {
        axis["axisLabel"] = json!({"$function": "plainNumber", "hideOverlap": true});
    }
    // Room for the names of arrows.
    x["min"] = json!(-1.35 * farthest);
    x["max"] = json!(1.35 * farthest);
    x["axisLabel"]["showMinLabel"] = json!(false);
    x["axisLabel"]["showMaxLabel"] = json!(false);
    Chart::new(
        "biplot",
        "Which treatments take each other's place".to_owned(),
        format!(
            "{} from {} to {}: a dot per sequence, a line per treatment. Opposite lines: whichever comes first has the effect.",
            counted(found.sequences, "sequence"),
            data.set_text(found.from),
            end_text(data, found)
        ),
        540,
        json!({"dataset": [columns.into_dataset()], "grid": grid(8), "xAxis": x, "yAxis": y, "tooltip": {"show": false}, "series": series}),
    )
}

/// Returns the share of variance of each component.
pub fn scree(data: &StudyData, found: &StudyComponents) -> Chart {
    const MOST: usize = 20;
    let mut columns = ChartColumns::new(&["place", "lower", "upper"]);
    let shares = found.components.iter().map(|own| own.share * 100.0);
    let shown: Vec<f64> = shares.filter(|share| *share > 0.05).take(MOST).collect();
    for (place, share) in shown.iter().enumerate() {
        columns.push(&[as_f64(place), 0.0, *share]);
    }
    let names: Vec<String> = (1..=shown.len())
        .map(|at| format!("component {at}"))
        .collect();
    let mut sum = 0.0;
    let texts: Vec<String> = shown
        .iter()
        .map(|share| {
            sum += share;
            format!("{share:.1} % ({sum:.0} % together)")
        })
        .collect();
    Chart::new(
        "study_scree",
        "Variance of the components".to_owned(),
        format!(
            "The deltas of {} to {}.",
            counted(found.sequences, "sequence"),
            end_text(data, found)
        ),
        90 + rows_height(shown.len(), 26),
        json!({
            "dataset": [columns.into_dataset()], "grid": grid(8),
            "xAxis": axis_below_rows("share of variance (%)"), "yAxis": row_axis(&names, "left"), "tooltip": {"show": false},
            "series": [{
                "name": "share", "type": "custom", "encode": {"x": ["lower", "upper"], "y": "place"},
                "renderItem": {"$function": "floatingBar", "names": texts}, "itemStyle": {"color": colour(0)},
            }],
        }),
    )
}

fn end_text(data: &StudyData, found: &StudyComponents) -> String {
    match found.to.count_ones() {
        0..=3 => data.set_text(found.to),
        several => format!("a setting of {several} treatments"),
    }
}
