//! Ratios of many benchmarks below each other: a dot with its interval each, on an axis on
//! which twice as slow is as far from 1 as twice as fast.

use crate::ComparisonText;
use crate::EstimateText;
use crate::RatioText;
use std::collections::BTreeSet;

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::marks::columns::ChartColumns;
use super::parts::{
    grid, not_drawn_text, number_axis, right_labels, row_axis, row_intervals, row_names,
    rows_height, tooltip,
};
use super::{Chart, colour, named_colour};
use crate::quantity::round_percent;
use crate::sample::metric_title;
use lapwing_analyse::judge::{CompareOptions, ComparedRatio, Comparison, Verdict};
use lapwing_model::Better;
use lapwing_model::text::grouped;

/// More rows than this would be illegible.
const MOST_ROWS: usize = 50;

/// An interval is drawn at most so far from its ratio; one that says nothing would leave no room for
/// the others.
const WIDEST: f64 = 4.0;

/// Possible labels of the axis: 1 and round numbers on both sides of it.
const TICKS: [f64; 36] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998,
    0.999, 1.0, 1.001, 1.002, 1.005, 1.01, 1.02, 1.03, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0,
    20.0, 50.0, 100.0, 1000.0,
];

/// Labels nearer than this share of the axis would touch.
const CLOSEST_TICKS: f64 = 0.07;

/// A comparison that can be drawn.
struct RatioRow<'a> {
    comparison: &'a Comparison,
    ratio: ComparedRatio,
}

impl RatioRow<'_> {
    /// Returns how much worse the candidate is, as a logarithm: negative where it is better.
    fn worse(&self) -> f64 {
        let change = self.ratio.value.ln();
        match self.comparison.metric.better {
            Some(Better::Higher) => -change,
            Some(Better::Lower) | None => change,
        }
    }

    /// Returns the ends of its interval as they are drawn.
    fn ends(&self) -> Option<(f64, f64)> {
        let interval = self.ratio.interval?;
        let value = self.ratio.value;
        Some((
            interval.lower.max(value / WIDEST),
            interval.upper.min(value * WIDEST),
        ))
    }
}

/// Returns the chart of the ratios of these comparisons, worst first; of very many the ones
/// that changed most.
pub fn ratios(comparisons: &[Comparison], options: &CompareOptions) -> Chart {
    let drawable: Vec<RatioRow<'_>> = comparisons
        .iter()
        .filter_map(|comparison| {
            let ratio = comparison.ratio?;
            let is_positive = ratio.value > 0.0 && ratio.value.is_finite();
            is_positive.then_some(RatioRow { comparison, ratio })
        })
        .collect();
    let total = drawable.len();
    let shown = most_changed(drawable);
    Chart::new(
        "ratios",
        title(&shown),
        subtitle(comparisons.len(), total, &shown, options),
        96 + rows_height(shown.len(), 26),
        option(&shown, options),
    )
}

/// Returns the rows to draw, worst first. What is sure comes before what is not where there
/// is no room for all.
fn most_changed(mut rows: Vec<RatioRow<'_>>) -> Vec<RatioRow<'_>> {
    let is_sure = |row: &RatioRow<'_>| {
        matches!(
            row.comparison.verdict,
            Verdict::Regression | Verdict::Improvement
        )
    };
    rows.sort_by(|a, b| {
        let by_change = || b.worse().abs().total_cmp(&a.worse().abs());
        is_sure(b).cmp(&is_sure(a)).then_with(by_change)
    });
    rows.truncate(MOST_ROWS);
    rows.sort_by(|a, b| b.worse().total_cmp(&a.worse()));
    rows
}

fn title(shown: &[RatioRow<'_>]) -> String {
    let distinct = |of: fn(&Comparison) -> &str| -> BTreeSet<String> {
        shown
            .iter()
            .map(|row| of(row.comparison).to_owned())
            .collect()
    };
    let only = |names: BTreeSet<String>, otherwise: &str| {
        let mut names = names.into_iter();
        match (names.next(), names.next()) {
            (Some(name), None) => name,
            (_, _) => otherwise.to_owned(),
        }
    };
    let metric = only(distinct(|it| &it.subject.metric), "all metrics");
    let candidate = only(distinct(|it| &it.candidate), "candidates");
    let baseline = only(distinct(|it| &it.baseline), "baselines");
    format!("{}: {candidate} / {baseline}", metric_title(&metric))
}

fn subtitle(
    all: usize,
    drawable: usize,
    shown: &[RatioRow<'_>],
    options: &CompareOptions,
) -> String {
    if shown.is_empty() {
        return "Nothing to draw: no comparison has a ratio.".to_owned();
    }
    let mut text = format!(
        "A dot is the ratio, the bar its {} interval; right of 1× the candidate has more.",
        round_percent(options.confidence.level())
    );
    text.push_str(&format!(
        " Shaded: changes below {}.",
        round_percent(options.band())
    ));
    if shown.len() < drawable {
        text.push_str(&format!(
            " The {} most changed of {} are drawn.",
            grouped(shown.len()),
            grouped(drawable)
        ));
    }
    text.push_str(&not_drawn_text(all - drawable, "comparison", "a ratio"));
    text
}

/// A triangle on its tip.
const DOWN: &str = "path://M0,0L10,0L5,10Z";

/// Returns the colour and the symbol of a verdict: told apart without colours too.
fn look(verdict: Verdict) -> (Value, Value) {
    match verdict {
        Verdict::Regression | Verdict::WorseInRuns => (colour(1), json!("triangle")),
        Verdict::Improvement | Verdict::BetterInRuns => (colour(2), json!(DOWN)),
        Verdict::Equivalent | Verdict::UnchangedInRuns => (colour(6), json!("rect")),
        Verdict::Changed => (colour(6), json!("diamond")),
        Verdict::Inconclusive => (colour(6), json!({"$function": "ring"})),
        Verdict::NotMeasured => (colour(6), json!("none")),
    }
}

fn option(shown: &[RatioRow<'_>], options: &CompareOptions) -> Value {
    let verdicts: Vec<Verdict> = Verdict::ALL
        .into_iter()
        .filter(|verdict| shown.iter().any(|row| row.comparison.verdict == *verdict))
        .collect();
    let range = range(shown, options);
    let mut series = Vec::new();
    let mut datasets = Vec::new();
    for (at, verdict) in verdicts.iter().enumerate() {
        datasets.push(dataset(shown, *verdict));
        series.extend(series_of(at, *verdict, (at == 0).then_some(options)));
    }
    if datasets.is_empty() {
        datasets.push(dataset(shown, Verdict::Inconclusive));
    }
    let numbers: Vec<String> = shown
        .iter()
        .map(|row| match row.ratio.interval_text() {
            Some(interval) => format!("{}  {interval}", row.ratio.value_text()),
            None => row.ratio.value_text(),
        })
        .collect();
    let names = row_names(shown.iter().map(|row| name(row.comparison, shown)));
    series.push(right_labels("log_ratio"));
    json!({
        "dataset": datasets,
        "grid": grid(34),
        "legend": {"show": true, "top": 0, "left": 12, "type": "scroll", "selectedMode": false,
            "itemWidth": 11, "itemHeight": 11,
            "data": verdicts.iter().map(legend_entry).collect::<Vec<_>>()},
        "xAxis": ratio_axis(range),
        "yAxis": [row_axis(&names, "left"), row_axis(&numbers, "right")],
        "tooltip": tooltip(&told(shown)),
        "series": series,
    })
}

fn legend_entry(verdict: &Verdict) -> Value {
    let (_, symbol) = look(*verdict);
    json!({"name": verdict.title(), "icon": symbol})
}

fn dataset(shown: &[RatioRow<'_>], verdict: Verdict) -> Value {
    let mut columns = ChartColumns::new(&[
        "place",
        "ratio",
        "ratio_lower",
        "ratio_upper",
        "log_ratio",
        "lower",
        "upper",
    ]);
    for (place, row) in shown.iter().enumerate() {
        if row.comparison.verdict != verdict {
            continue;
        }
        let exact = row
            .ratio
            .interval
            .map_or((f64::NAN, f64::NAN), |it| (it.lower, it.upper));
        let drawn = row.ends().unwrap_or((f64::NAN, f64::NAN));
        columns.push(&[
            as_f64(place),
            row.ratio.value,
            exact.0,
            exact.1,
            row.ratio.value.ln(),
            drawn.0.ln(),
            drawn.1.ln(),
        ]);
    }
    columns.into_dataset()
}

/// Returns what draws the rows of one verdict; the first also draws the line at 1 and the band.
fn series_of(at: usize, verdict: Verdict, background: Option<&CompareOptions>) -> [Value; 2] {
    let (colour, symbol) = look(verdict);
    let band: Vec<Value> = background
        .map(|options| {
            let end = super::six_digits(options.band().ln_1p());
            json!([{"xAxis": -end}, {"xAxis": end}])
        })
        .into_iter()
        .collect();
    let line: Vec<Value> = background
        .map(|_| json!({"xAxis": 0}))
        .into_iter()
        .collect();
    [
        row_intervals(verdict.title(), at, 4, &colour),
        json!({
            "name": verdict.title(),
            "type": "scatter",
            "datasetIndex": at,
            "encode": {"x": "log_ratio", "y": "place"},
            "symbol": symbol,
            "symbolSize": 11,
            "itemStyle": {"color": colour, "opacity": 1},
            "emphasis": {"scale": 1.3},
            "markLine": {
                "silent": true, "z": 1, "symbol": "none", "label": {"show": false},
                "lineStyle": {"color": named_colour("line"), "type": "solid", "width": 1.5},
                "data": line,
            },
            "markArea": {"silent": true, "itemStyle": {"color": named_colour("shade")}, "data": band},
        }),
    ]
}

/// Returns the ends of the axis as logarithms: all rows, the band and 1 are in it.
fn range(shown: &[RatioRow<'_>], options: &CompareOptions) -> (f64, f64) {
    let band = options.band().ln_1p();
    let (low, high) = shown
        .iter()
        .map(|row| row.ends().unwrap_or((row.ratio.value, row.ratio.value)))
        .map(|(lower, upper)| (lower.ln(), upper.ln()))
        .fold((-band, band), |(low, high), (lower, upper)| {
            (low.min(lower), high.max(upper))
        });
    let room = 0.04 * (high - low);
    (low - room, high + room)
}

/// Returns the labels of the axis: 1 first, then outwards what has room.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let mut candidates: Vec<f64> = TICKS
        .into_iter()
        .filter(|tick| (low..=high).contains(&tick.ln()))
        .collect();
    // The outer ones tell most: those near 1 go where there is no room.
    candidates.sort_by(|a, b| b.ln().abs().total_cmp(&a.ln().abs()));
    let closest = CLOSEST_TICKS * (high - low);
    let mut kept: Vec<f64> = vec![0.0];
    for candidate in candidates {
        let place = candidate.ln();
        if kept.iter().all(|other| (other - place).abs() >= closest) {
            kept.push(place);
        }
    }
    kept.sort_by(f64::total_cmp);
    kept.into_iter().map(super::six_digits).collect()
}

fn ratio_axis(range: (f64, f64)) -> Value {
    let ticks = ticks(range);
    let mut axis = number_axis("candidate / baseline (logarithmic)");
    axis["min"] = json!(super::six_digits(range.0));
    axis["max"] = json!(super::six_digits(range.1));
    axis["axisTick"] = json!({"customValues": ticks});
    axis["axisLabel"] =
        json!({"$function": "ratioOfLog", "customValues": ticks, "hideOverlap": true});
    axis
}

/// Returns the label of a row: the benchmark, and its other distinguishing properties.
fn name(comparison: &Comparison, shown: &[RatioRow<'_>]) -> String {
    let differs = |of: fn(&Comparison) -> &str| {
        let mine = of(comparison);
        shown.iter().any(|row| of(row.comparison) != mine)
    };
    let mut name = comparison.subject.benchmark.clone();
    if let Some(setting) = comparison.subject.setting.text() {
        name.push_str(&format!(" · {setting}"));
    }
    if differs(|it| &it.subject.metric) {
        name.push_str(&format!(" · {}", metric_title(&comparison.subject.metric)));
    }
    if differs(|it| &it.candidate) {
        name.push_str(&format!(" · {}", comparison.candidate));
    }
    name
}

/// Returns the fields of the tooltip.
fn told(shown: &[RatioRow<'_>]) -> Value {
    let names: Vec<String> = shown.iter().map(|it| name(it.comparison, shown)).collect();
    let values = |of: fn(&Comparison) -> Option<lapwing_analyse::judge::Estimate>| -> Vec<String> {
        shown
            .iter()
            .map(|row| {
                of(row.comparison).map_or_else(String::new, |estimate| {
                    estimate.text(&row.comparison.metric.unit)
                })
            })
            .collect()
    };
    let texts: Vec<String> = shown
        .iter()
        .map(|row| crate::ratio_text(row.ratio.value, row.ratio.interval))
        .collect();
    let verdicts: Vec<String> = shown
        .iter()
        .map(|row| row.comparison.verdict_text())
        .collect();
    json!([
        {"label": "", "column": "place", "names": names},
        {"label": "ratio", "column": "place", "names": texts},
        {"label": "baseline", "column": "place", "names": values(|it| it.baseline_estimate)},
        {"label": "candidate", "column": "place", "names": values(|it| it.candidate_estimate)},
        {"label": "verdict", "column": "place", "names": verdicts},
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_the_axis_have_room_and_one_is_among_them() {
        let told = |low: f64, high: f64| -> Vec<f64> {
            let ticks = ticks((low.ln(), high.ln()));
            let round = |tick: f64| (tick.exp() * 1000.0).round() / 1000.0;
            ticks.into_iter().map(round).collect()
        };
        assert_eq!(told(0.89, 1.12), [0.9, 0.95, 0.97, 1.0, 1.03, 1.05, 1.1]);
        assert_eq!(told(0.4, 12.0), [0.5, 0.67, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0]);
    }
}
