//! The heat map of Coiled's A/B tests: benchmarks against thresholds of change.

use super::Chart;
use super::change_cells::{ChangeCell, ChangeTable, MOST_SHADES};
use crate::sample::metric_title;
use lapwing_analyse::judge::ComparisonAsCoiled;
use lapwing_model::Better;
use lapwing_model::text::grouped;

/// More rows than this would be illegible.
const MOST_ROWS: usize = 100;

/// Returns Coiled's heat map: for each threshold, how many of the resamples change by more.
pub fn threshold_map(comparisons: &[ComparisonAsCoiled]) -> Chart {
    let shown = &comparisons[..comparisons.len().min(MOST_ROWS)];
    let differ =
        |of: fn(&ComparisonAsCoiled) -> String| shown.iter().any(|it| of(it) != of(&shown[0]));
    let sides = |it: &ComparisonAsCoiled| format!("{} / {}", it.candidate, it.baseline);
    let metric = |it: &ComparisonAsCoiled| metric_title(&it.subject.metric);
    let name = |it: &ComparisonAsCoiled| {
        let mut name = it.subject.benchmark.clone();
        if let Some(setting) = it.subject.setting.text() {
            name.push_str(&format!(" · {setting}"));
        }
        if differ(sides) {
            name.push_str(&format!(" · {}", sides(it)));
        }
        if differ(metric) {
            name.push_str(&format!(" · {}", metric(it)));
        }
        name
    };
    let columns = shown.first().map_or(Vec::new(), |it| {
        let texts = it.shares.iter().map(threshold_text);
        texts.collect()
    });
    let table = ChangeTable {
        rows: shown.iter().map(name).collect(),
        columns,
        columns_name: "change of the mean of resamples",
        cells: shown
            .iter()
            .enumerate()
            .flat_map(|(y, it)| {
                let cells = it.shares.iter().enumerate();
                cells.map(move |(x, share)| ((x, y), cell(it, *share)))
            })
            .collect(),
    };
    let of = |part: String, several: &str, differ: bool| match differ || part.is_empty() {
        true => several.to_owned(),
        false => part,
    };
    let first = shown.first();
    let mut subtitle = "As Coiled's A/B tests: the stronger the colour, the more of 10,000 bootstrap resamples change by more than the threshold;          orange is worse, blue is better. Few instances make it overconfident, and many comparisons are not corrected for."
        .to_owned();
    if shown.len() < comparisons.len() {
        subtitle.push_str(&format!(
            " {} of {} rows drawn.",
            grouped(shown.len()),
            grouped(comparisons.len())
        ));
    }
    Chart::new(
        "thresholds",
        format!(
            "{}: {}",
            of(
                first.map(metric).unwrap_or_default(),
                "all metrics",
                differ(metric)
            ),
            of(
                first.map(sides).unwrap_or_default(),
                "candidates / baselines",
                differ(sides)
            ),
        ),
        subtitle,
        table.height() + 30,
        table.into_option(),
    )
}

fn threshold_text(share: &lapwing_stats::ThresholdShare) -> String {
    let sign = if share.is_above { ">" } else { "<" };
    // A minus would be shown before zero.
    let percent = 100.0 * share.threshold + 0.0;
    format!("{sign}{percent:.0} %").replace('-', "−")
}

fn cell(it: &ComparisonAsCoiled, share: lapwing_stats::ThresholdShare) -> ChangeCell {
    let is_worse = match it.metric.better {
        Some(Better::Higher) => !share.is_above,
        Some(Better::Lower) | None => share.is_above,
    };
    let strength = (MOST_SHADES * share.share).round();
    ChangeCell {
        shade: if is_worse { strength } else { -strength },
        is_framed: false,
        text: String::new(),
        told: vec![
            ("", it.subject.benchmark.clone()),
            ("threshold", threshold_text(&share)),
            ("share of resamples", format!("{:.3}", share.share)),
            (
                "instances",
                format!("{} / {}", it.instances[0], it.instances[1]),
            ),
        ],
    }
}
