//! The distribution of the values of each run: every value as a dot, quartiles as a box.

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::drawing::font::shorten;
use super::marks::columns::ChartColumns;
use super::parts::{axis_below_rows, axis_name, drawn_text, grid, row_axis, rows_height};
use super::{Chart, LABEL_SIZE, VariantColours, named_colour, thin};
use crate::quantity::UnitScale;
use crate::sample::{InstanceSample, MetricSample, RunSample, metric_title};
use lapwing_analyse::clean::IterationState;
use lapwing_model::Run;
use lapwing_model::text::counted;

/// More runs than this would make the chart longer than a screen.
const MOST_GROUPS: usize = 12;
const MOST_POINTS: usize = 3_000;
const FEWEST_IN_A_BOX: usize = 5;
const LABEL_WIDTH: f64 = 250.0;

/// Returns the chart of the iterations that count of the latest of these runs, a row per run, newest first,
/// coloured by variant.
pub fn distribution(sample: &MetricSample, runs: &[&RunSample], colours: &VariantColours) -> Chart {
    let newest_first = runs.iter().rev().copied();
    let all: Vec<&RunSample> = newest_first.filter(|run| count(run) > 0).collect();
    let groups = all.get(..MOST_GROUPS.min(all.len())).unwrap_or(&all);
    let scale = UnitScale::of_all(
        groups.iter().flat_map(|run| steady(run)).map(|it| it.0),
        &sample.metric.unit,
    );
    let limit = MOST_POINTS / groups.len().max(1);
    let total: usize = groups.iter().map(|run| count(run)).sum();
    let drawn: usize = groups.iter().map(|run| count(run).min(limit)).sum();
    let mut subtitle = if groups.is_empty() {
        "Nothing to draw: no iteration counts.".to_owned()
    } else {
        "A dot is an iteration; the box spans the middle half, its line is the median. Two clusters suggest two modes.".to_owned()
    };
    if all.len() > groups.len() {
        let latest = groups.len();
        subtitle.push_str(&format!(
            " The latest {latest} of {}.",
            counted(all.len(), "run")
        ));
    }
    subtitle.push_str(&drawn_text(
        drawn,
        total,
        "dots drawn, evenly by rank, extremes among them",
    ));
    Chart::new(
        "distribution",
        format!("{}: distribution", metric_title(&sample.name)),
        subtitle,
        84 + rows_height(groups.len(), 46),
        option(sample, groups, &scale, limit, colours),
    )
}

/// Returns the values of a run that count, with the number of the instance.
fn steady(run: &RunSample) -> impl Iterator<Item = (f64, usize)> {
    let instances = run.instances.iter().enumerate();
    instances.flat_map(|(number, instance)| {
        let points = instance.points();
        let steady = points.filter(|point| point.state == IterationState::Steady);
        steady.map(move |point| (point.value, number))
    })
}

fn count(run: &RunSample) -> usize {
    run.instances.iter().map(InstanceSample::steady_count).sum()
}

fn option(
    sample: &MetricSample,
    groups: &[&RunSample],
    scale: &UnitScale,
    limit: usize,
    colours: &VariantColours,
) -> Value {
    let mut dots = ChartColumns::new(&["value", "place", "instance", "colour"]);
    let mut boxes = ChartColumns::new(&[
        "place", "low", "q1", "median", "q3", "high", "count", "colour",
    ]);
    let mut instances: Vec<String> = Vec::new();
    for (place, run) in groups.iter().enumerate() {
        // Of one run at a time: a history has many more values than are drawn.
        let mut values: Vec<(f64, usize)> = steady(run).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let first = instances.len();
        instances.extend(
            run.instances
                .iter()
                .map(|instance| format!("{}, {}", instance.short_id(), run.label())),
        );
        let ascending: Vec<f64> = values
            .iter()
            .map(|(value, _)| value / scale.factor)
            .collect();
        let number = as_f64(colours.get(&run.variant));
        let five = box_of(&ascending);
        // Quartiles of fewer values would pretend to know more than the dots show.
        if ascending.len() >= FEWEST_IN_A_BOX {
            boxes.push(&[
                as_f64(place),
                five[0],
                five[1],
                five[2],
                five[3],
                five[4],
                as_f64(ascending.len()),
                number,
            ]);
        }
        for at in thin(&ascending, limit) {
            if let Some((value, instance)) = values.get(at) {
                dots.push(&[
                    value / scale.factor,
                    as_f64(place) + scatter(at),
                    as_f64(first + instance),
                    number,
                ]);
            }
        }
    }
    let names: Vec<String> = groups.iter().map(|run| label(run)).collect();
    let narrow: Vec<String> = groups.iter().map(|run| narrow_label(run)).collect();
    let title = metric_title(&sample.name);
    let mut x = axis_below_rows(&axis_name(&sample.name, scale));
    x["scale"] = json!(true);
    let mut y = row_axis(&names, "left");
    y["axisLabel"] = json!({
        "formatter": {"$function": "category", "names": names, "narrow": narrow},
        "lineHeight": 15,
    });
    json!({
        "dataset": [dots.into_dataset(), boxes.into_dataset()],
        "grid": grid(12),
        "xAxis": x,
        "yAxis": y,
        "tooltip": {"trigger": "item"},
        "series": [
            {
                "name": "iterations",
                "type": "scatter",
                "datasetIndex": 0,
                "encode": {"x": "value", "y": "place"},
                "symbolSize": if groups.iter().any(|run| count(run) > 100) { 4 } else { 6 },
                "itemStyle": {"color": {"$function": "colourOfRow"}, "opacity": 0.5},
                "emphasis": {"scale": 1.5},
                "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                    {"label": "instance", "column": "instance", "names": instances},
                    {"label": title, "column": "value", "unit": scale.unit},
                ]}},
            },
            {
                "name": "quartiles",
                "type": "custom",
                "datasetIndex": 1,
                "encode": {"x": ["low", "q1", "median", "q3", "high"], "y": "place"},
                "renderItem": {"$function": "box"},
                "itemStyle": {"color": named_colour("text")},
                "z": 4,
                "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                    {"label": "run", "column": "place", "names": groups.iter().map(|run| run.label()).collect::<Vec<_>>()},
                    {"label": "median", "column": "median", "unit": scale.unit},
                    {"label": "middle half from", "column": "q1", "unit": scale.unit},
                    {"label": "to", "column": "q3", "unit": scale.unit},
                    {"label": "iterations", "column": "count"},
                ]}},
            },
        ],
    })
}

/// Returns what a row is called, in lines that fit beside it: when and in which session it was, and behind
/// that the variant and version.
fn label(run: &RunSample) -> String {
    let variant = Some(&run.variant).filter(|it| *it != Run::DEFAULT_VARIANT);
    let what: Vec<&str> = variant
        .into_iter()
        .chain(&run.version)
        .map(String::as_str)
        .collect();
    let lines = [run.session_text(), what.join(", ") + retired(run)];
    let lines = lines.iter().map(|it| it.trim_start_matches(", "));
    let lines = lines.filter(|it| !it.is_empty());
    let shortened: Vec<String> = lines
        .map(|it| shorten(it, LABEL_SIZE, LABEL_WIDTH))
        .collect();
    shortened.join("\n")
}

/// Returns what it is called on a narrow page, where each line is cut to some 17 characters. A row has room for
/// three of them.
fn narrow_label(run: &RunSample) -> String {
    let variant = Some(&run.variant).filter(|it| *it != Run::DEFAULT_VARIANT);
    let version = run.version.as_ref();
    let session = Some(&run.session_name);
    // The session last: when it was tells the same.
    let what: Vec<&str> = [variant, version, session]
        .into_iter()
        .flatten()
        .take(2)
        .map(String::as_str)
        .collect();
    format!("{}\n{}{}", run.time_text(), what.join("\n"), retired(run))
}

fn retired(run: &RunSample) -> &'static str {
    if run.retired { ", retired" } else { "" }
}

/// Returns how far beside the middle of its row a dot is drawn, between -0.27 and 0.27. The
/// rank is mixed first: neighbours in rank would form stripes otherwise.
fn scatter(rank: usize) -> f64 {
    let mixed = rank.wrapping_mul(2_654_435_761) ^ (rank.wrapping_mul(40_503) >> 7);
    (as_f64(mixed % 1_009) / 1_009.0 - 0.5) * 0.54
}

/// Returns the five numbers of a box: the ends of the whiskers (the furthest values within
/// 1.5 box lengths), the quartiles and the median.
fn box_of(ascending: &[f64]) -> [f64; 5] {
    let q1 = quantile(ascending, 0.25);
    let median = quantile(ascending, 0.5);
    let q3 = quantile(ascending, 0.75);
    let reach = 1.5 * (q3 - q1);
    let inside = || {
        ascending
            .iter()
            .copied()
            .filter(|value| *value >= q1 - reach && *value <= q3 + reach)
    };
    [
        inside().next().unwrap_or(q1).min(q1),
        q1,
        median,
        q3,
        inside().next_back().unwrap_or(q3).max(q3),
    ]
}

/// Returns the quantile by linear interpolation between order statistics (type 7 of Hyndman
/// and Fan 1996); NaN of nothing.
fn quantile(ascending: &[f64], share: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = as_f64(last) * share;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the number of values"
    )]
    let below = position.floor() as usize;
    let value = |at: usize| ascending.get(at.min(last)).copied().unwrap_or(f64::NAN);
    value(below) + (value(below + 1) - value(below)) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_the_quartiles_and_whiskers_that_leave_outliers_out() {
        // numpy 2.1: quantile([1, 2, 3, 4, 100], [.25, .5, .75]) is [2, 3, 4].
        let shown = |values: &[f64]| format!("{:?}", box_of(values));
        assert_eq!(
            shown(&[1.0, 2.0, 3.0, 4.0, 100.0]),
            "[1.0, 2.0, 3.0, 4.0, 4.0]"
        );
        assert_eq!(shown(&[7.0]), "[7.0, 7.0, 7.0, 7.0, 7.0]");
    }
}
