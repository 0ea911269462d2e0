//! The plot of a comparison on the index: a row for each benchmark, in which the decided ones set the axis; what is
//! unchanged or undecided is folded. The page's script draws it (`assets/forest.js`).

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::ReportSite;
use super::super::compare::ComparisonIndex;
use super::super::directory::DirectoryError;
use super::super::slug::slug;
use super::listing::OtherView;
use super::verdicts::looks;
use crate::sample::{FIRST_METRIC, metric_title};
use crate::words::verdict::{news_rank, shift_text};
use crate::{ComparisonText, EstimateText, news_first, verdicts_text};
use lapwing_analyse::judge::{Comparison, Estimate, Verdict};
use lapwing_model::Better;
use lapwing_model::text::counted;

/// The room that an axis leaves beside what it shows.
const ROOM: f64 = 1.15;
/// The shortest and the longest axis, as logarithms.
const ENDS: [f64; 2] = [0.02, 2.0];

/// A comparison of a row, by one metric.
#[derive(Debug, Serialize)]
struct ForestCell {
    verdict: &'static str,
    ratio: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    ratio_text: String,
    interval_text: String,
    /// The verdict in words, and why there is no other.
    words: String,
    /// The values of both sides.
    values: [String; 2],
}

/// A row: a benchmark in a setting, against one candidate.
#[derive(Debug, Serialize)]
struct ForestRow {
    suite: String,
    id: String,
    slug: String,
    setting: String,
    candidate: String,
    /// `decided`, `undecided`, or `unchanged`.
    group: &'static str,
    /// The worst news of its metrics.
    verdict: &'static str,
    /// By metric, in the order of the columns.
    cells: Vec<Option<ForestCell>>,
}

/// Rows that are folded into a line.
#[derive(Debug, Serialize)]
struct ForestFold {
    group: &'static str,
    text: String,
}

/// The plot.
#[derive(Debug, Serialize)]
struct ForestFile {
    metrics: Vec<String>,
    rows: Vec<ForestRow>,
    folds: Vec<ForestFold>,
    /// The logarithm of the largest ratio on the axis.
    end: f64,
    /// That of the largest change that is none.
    band: f64,
    several_candidates: bool,
    verdicts: BTreeMap<&'static str, [&'static str; 2]>,
}

/// Writes the plot, and returns the part of the page.
pub(in crate::report) fn write(
    site: &ReportSite,
    shown: &ComparisonIndex,
    settings: &mut Value,
) -> Result<OtherView, DirectoryError> {
    let view = &shown.view;
    let mut metrics: Vec<&str> = Vec::new();
    for it in &view.comparisons {
        let metric = it.subject.metric.as_str();
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics.sort_by_key(|it| *it != FIRST_METRIC);
    let mut rows = by_benchmark(&view.comparisons);
    rows.sort_by(|one, other| news_first(worst(one), worst(other)));
    let folds = ["undecided", "unchanged"].into_iter().filter_map(|group| {
        let folded = rows.iter().filter(|it| self::group(it) == group);
        let folded: Vec<&Vec<&Comparison>> = folded.collect();
        let all = || folded.iter().flat_map(|it| it.iter().copied());
        let between = undecided_between(all());
        let benchmarks = counted(folded.len(), "benchmark");
        let text = format!("{benchmarks}: {}{between}", verdicts_of(all()));
        (!folded.is_empty()).then_some(ForestFold { group, text })
    });
    let band = view.options.band().ln_1p();
    let first = metrics.first().copied().unwrap_or_default();
    let of_first = view
        .comparisons
        .iter()
        .filter(|it| it.subject.metric == first);
    let file = ForestFile {
        end: axis(of_first, band),
        band,
        several_candidates: view.candidates().len() > 1,
        folds: folds.collect(),
        rows: rows.iter().map(|it| row(it, &metrics)).collect(),
        metrics: metrics.iter().map(|it| metric_title(it)).collect(),
        verdicts: looks(),
    };
    settings["forest"] = json!(site.write_data("forest", &file)?);
    Ok(OtherView {
        name: "plot",
        title: "Plot",
        script: "forest.js",
        part: part(&file.metrics),
    })
}

/// Returns ` (undecided: between −2 % and +3 %)`, the range of all undecided intervals; empty without any.
fn undecided_between<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> String {
    let undecided = comparisons.filter(|it| it.verdict == Verdict::Inconclusive);
    let ends = undecided.filter_map(|it| {
        let [_, lower, upper] = numbers(it);
        Some((lower?, upper?))
    });
    let range = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    range.map_or_else(String::new, |(lower, upper)| {
        let [lower, upper] = [lower, upper].map(shift_text);
        format!(" (undecided: between {lower} and {upper})")
    })
}

/// Returns the verdicts of folded rows without the words on regressions, of which there is none among them.
fn verdicts_of<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> String {
    let text = verdicts_text(comparisons);
    let mut beginnings = ["no regression found, ", "no verdict, "].into_iter();
    let rest = beginnings.find_map(|it| text.strip_prefix(it));
    rest.map(str::to_owned).unwrap_or(text)
}

fn part(metrics: &[String]) -> Markup {
    html! {
        div.above-table {
            p.hint { "Ratio candidate / baseline" @if let Some(first) = metrics.first() { " of " (first) } " with its 95 % interval; right of 1× is more." }
            button type="button" data-action="values" aria-pressed="false" { "Values" }
        }
        table #forest tabindex="-1" {
            caption.unseen { "What differs, worst first" }
            thead {} tbody {}
        }
        p.hint { a href="compare.html" { "All comparisons, with p-values and sample sizes" } }
        noscript { p { "The plot needs JavaScript. The pages of the benchmarks are in the folder " code { "benchmark" } "." } }
    }
}

/// Returns the comparisons of each row, by first appearance.
fn by_benchmark(comparisons: &[Comparison]) -> Vec<Vec<&Comparison>> {
    let mut places: BTreeMap<(&str, &str, String, &str), usize> = BTreeMap::new();
    let mut rows: Vec<Vec<&Comparison>> = Vec::new();
    for it in comparisons {
        let subject = &it.subject;
        let setting = subject.setting.text().unwrap_or_default();
        let key = (
            &*subject.suite,
            &*subject.benchmark,
            setting,
            &*it.candidate,
        );
        let place = *places.entry(key).or_insert_with(|| {
            rows.push(Vec::new());
            rows.len() - 1
        });
        rows[place].push(it);
    }
    rows
}

/// Returns the comparison of a row that is the most important news.
fn worst<'a>(row: &[&'a Comparison]) -> &'a Comparison {
    let mut worst = row[0];
    for it in row {
        if news_rank(it.verdict) < news_rank(worst.verdict) {
            worst = it;
        }
    }
    worst
}

fn group(row: &[&Comparison]) -> &'static str {
    group_of(worst(row).verdict)
}

fn group_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regression
        | Verdict::Improvement
        | Verdict::WorseInRuns
        | Verdict::BetterInRuns
        | Verdict::Changed
        | Verdict::NotMeasured => "decided",
        Verdict::Inconclusive => "undecided",
        Verdict::UnchangedInRuns | Verdict::Equivalent => "unchanged",
    }
}

/// Returns the end of an axis on which the intervals of all decided comparisons are, whichever is furthest away; where
/// nothing is decided, those of all.
pub(in crate::report) fn axis<'a>(
    comparisons: impl Iterator<Item = &'a Comparison> + Clone,
    band: f64,
) -> f64 {
    let furthest = |is_meant: &dyn Fn(&Comparison) -> bool| {
        let ends = comparisons
            .clone()
            .filter(|it| is_meant(it))
            .filter_map(|it| {
                let [ratio, lower, upper] = numbers(it);
                let ends = [ratio?, lower.unwrap_or(ratio?), upper.unwrap_or(ratio?)];
                Some(ends.map(|it| it.ln().abs()).into_iter().fold(0.0, f64::max))
            });
        ends.filter(|it| it.is_finite()).fold(0.0, f64::max)
    };
    let decided = furthest(&|it| group_of(it.verdict) == "decided");
    let most = if decided > 0.0 {
        decided
    } else {
        furthest(&|_| true)
    };
    (most.max(band * 1.5) * ROOM).clamp(ENDS[0], ENDS[1])
}

/// Returns the ratio and its interval, or those that only describe.
fn numbers(comparison: &Comparison) -> [Option<f64>; 3] {
    let described = comparison.descriptive.as_ref();
    let value = comparison.ratio.map(|it| it.value);
    let value = value.or(described.map(|it| it.value));
    let interval = comparison.ratio.and_then(|it| it.interval);
    let interval = interval.or(described.and_then(|it| it.interval));
    let usable = |it: f64| Some(it).filter(|it| it.is_finite() && *it > 0.0);
    [
        value.and_then(usable),
        interval.and_then(|it| usable(it.lower)),
        interval.and_then(|it| usable(it.upper)),
    ]
}

fn row(of_row: &[&Comparison], metrics: &[&str]) -> ForestRow {
    let worst = worst(of_row);
    let subject = &worst.subject;
    let cells = metrics.iter().map(|metric| {
        let mut own = of_row.iter();
        own.find(|it| it.subject.metric == *metric)
            .map(|it| cell(it))
    });
    ForestRow {
        suite: subject.suite.clone(),
        id: subject.benchmark.clone(),
        slug: slug(&subject.suite, &subject.benchmark),
        setting: subject.setting.text().unwrap_or_default(),
        candidate: worst.candidate.clone(),
        group: group(of_row),
        verdict: worst.verdict.name(),
        cells: cells.collect(),
    }
}

fn cell(comparison: &Comparison) -> ForestCell {
    let [ratio, lower, upper] = numbers(comparison);
    let unit = &comparison.metric.unit;
    let value = |of: Option<Estimate>| of.map_or_else(|| "–".to_owned(), |it| it.value_text(unit));
    let [ratio_text, interval_text] = comparison.change_texts();
    // Where more is better, the words say so; the place on the axis is that of the ratio.
    let direction = match comparison.metric.better {
        Some(Better::Higher) => " (more is better)",
        Some(Better::Lower) | None => "",
    };
    ForestCell {
        verdict: comparison.verdict.name(),
        ratio,
        lower,
        upper,
        ratio_text,
        interval_text,
        words: format!("{}{direction}", comparison.verdict_text()),
        values: [
            value(comparison.baseline_estimate),
            value(comparison.candidate_estimate),
        ],
    }
}
