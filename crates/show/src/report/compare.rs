//! The page that says what changed between two sides or more.

use crate::ComparisonText;
use crate::EstimateText;
use crate::MethodText;
use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde::Serialize;
use serde_json::{Value, json};

use super::ReportSite;
use super::directory::DirectoryError;
use super::frame::SitePage;
use super::headline::{Headline, News};
use super::index_parts::columns::BenchmarkLink;
use super::index_parts::forest;
use super::index_parts::listing::{
    Filters, ListingColumn, ListingFiles, ListingPage, MetricFilter, sorted, unsorted,
};
use super::index_parts::verdicts::{chip, looks};
use super::picture::{SideValue, sides_picture};
use super::slug::slug;
use crate::quantity::round_percent;
use crate::sample::{FIRST_METRIC, metric_title};
use crate::words::verdict::{news_rank, worst_verdict};
use crate::writing::NextStep;
use crate::{caution_text, comparison_sentence, news_first, suite_ratio_text, verdicts_text};
use lapwing_analyse::judge::{
    CompareOptions, Comparison, Estimate, INSTANCES_FOR_A_VERDICT, SuiteComparison, Verdict,
};
use lapwing_model::text::{capitalised, counted, joined};
use lapwing_model::{Better, Metric};

/// The comparisons that a report shows.
#[derive(Debug, Clone, Default)]
pub struct ComparisonView {
    /// The comparisons with their verdicts, in the order in which they are to stand.
    pub comparisons: Vec<Comparison>,
    /// The options of the comparisons.
    pub options: CompareOptions,
    /// The geometric means over suites.
    pub suites: Vec<SuiteComparison>,
    /// Notes on the choice of the sides.
    pub notes: Vec<String>,
    /// The command that continues.
    pub next: Option<NextStep>,
}

/// A view whose comparisons are found by benchmark.
#[derive(Debug)]
pub(super) struct ComparisonIndex {
    pub(super) view: ComparisonView,
    /// Places among the comparisons, by slug.
    places: BTreeMap<String, Vec<usize>>,
}

impl ComparisonIndex {
    pub(super) fn new(view: ComparisonView) -> Self {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, it) in view.comparisons.iter().enumerate() {
            let slug = slug(&it.subject.suite, &it.subject.benchmark);
            places.entry(slug).or_default().push(place);
        }
        Self { view, places }
    }

    /// Returns the comparisons of a benchmark.
    pub(super) fn of(&self, slug: &str) -> impl Iterator<Item = &Comparison> {
        let places = self.places.get(slug).into_iter().flatten();
        places.filter_map(|place| self.view.comparisons.get(*place))
    }
}

/// Returns the worst verdict of all comparisons.
pub(super) fn worst(site: &ReportSite) -> Option<Verdict> {
    let all = site.comparisons.iter().flat_map(|it| &it.view.comparisons);
    worst_verdict(all.map(|it| it.verdict))
}

impl ComparisonView {
    /// Returns the names of the sides.
    pub(super) fn sides(&self) -> String {
        let candidates = joined(&self.candidates());
        let baselines = joined(&self.baselines());
        format!("{candidates} against {baselines}")
    }

    /// Returns `2 regressions, 4 inconclusive`.
    pub(super) fn verdicts(&self) -> String {
        verdicts_text(&self.comparisons)
    }

    /// Returns the names of the baselines.
    pub(super) fn baselines(&self) -> Vec<&String> {
        self.names(|it| &it.baseline)
    }

    /// Returns the names of the candidates.
    pub(super) fn candidates(&self) -> Vec<&String> {
        self.names(|it| &it.candidate)
    }

    fn names(&self, of: fn(&Comparison) -> &String) -> Vec<&String> {
        let mut names: Vec<&String> = Vec::new();
        for name in self.comparisons.iter().map(of) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// One comparison in the table.
#[derive(Debug, Serialize)]
struct CompareRow {
    #[serde(flatten)]
    benchmark: BenchmarkLink,
    setting: String,
    metric: String,
    candidate: String,
    baseline_value: Option<f64>,
    candidate_value: Option<f64>,
    baseline_text: String,
    baseline_interval: String,
    candidate_text: String,
    candidate_interval: String,
    ratio: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    ratio_text: String,
    interval_text: String,
    /// The logarithm of the ratio in the worse direction: negative if it is better.
    worse: Option<f64>,
    p_value: Option<f64>,
    p_text: String,
    p_adjusted: Option<f64>,
    p_adjusted_text: String,
    instances: String,
    fewest: usize,
    verdict: &'static str,
    why: String,
    cautions: Vec<String>,
}

/// Returns the row; `written` has the tags of each benchmark with a page, by slug.
fn row(comparison: &Comparison, written: &BTreeMap<String, Vec<String>>) -> CompareRow {
    let subject = &comparison.subject;
    let unit = &comparison.metric.unit;
    let slug = slug(&subject.suite, &subject.benchmark);
    let ratio = comparison.ratio;
    let described = comparison.descriptive.as_ref();
    let value_of_ratio = ratio.map(|it| it.value).or(described.map(|it| it.value));
    let interval = ratio
        .and_then(|it| it.interval)
        .or(described.and_then(|it| it.interval));
    let [ratio_text, interval_text] = comparison.change_texts();
    let value = |of: Option<Estimate>| of.map_or_else(|| "–".to_owned(), |it| it.value_text(unit));
    let range = |of: Option<Estimate>| of.and_then(|it| it.interval_text(unit)).unwrap_or_default();
    let size = |of: Option<Estimate>| of.map_or(0, |it| it.size.instances);
    let sizes = [comparison.baseline_estimate, comparison.candidate_estimate].map(size);
    CompareRow {
        setting: subject.setting.text().unwrap_or_default(),
        metric: subject.metric.clone(),
        candidate: comparison.candidate.clone(),
        baseline_value: comparison.baseline_estimate.map(|it| it.value),
        candidate_value: comparison.candidate_estimate.map(|it| it.value),
        baseline_text: value(comparison.baseline_estimate),
        baseline_interval: range(comparison.baseline_estimate),
        candidate_text: value(comparison.candidate_estimate),
        candidate_interval: range(comparison.candidate_estimate),
        ratio: value_of_ratio,
        lower: finite(interval.map(|it| it.lower)),
        upper: finite(interval.map(|it| it.upper)),
        ratio_text: if ratio_text.is_empty() {
            "–".to_owned()
        } else {
            ratio_text
        },
        interval_text,
        worse: finite(value_of_ratio.map(|value| match comparison.metric.better {
            Some(Better::Higher) => -value.ln(),
            Some(Better::Lower) | None => value.ln(),
        })),
        p_value: ratio.map(|it| it.p_value),
        p_text: ratio.map_or_else(String::new, |it| p_text(it.p_value)),
        p_adjusted: comparison.p_adjusted,
        p_adjusted_text: comparison.p_adjusted.map_or_else(String::new, p_text),
        instances: format!("{} / {}", sizes[0], sizes[1]),
        fewest: sizes[0].min(sizes[1]),
        verdict: comparison.verdict.name(),
        why: comparison.why_text(),
        cautions: comparison.cautions.iter().map(caution_text).collect(),
        benchmark: BenchmarkLink {
            suite: subject.suite.clone(),
            id: subject.benchmark.clone(),
            tags: written.get(&slug).cloned().unwrap_or_default(),
            slug: if written.contains_key(&slug) {
                slug
            } else {
                String::new()
            },
        },
    }
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|it| it.is_finite())
}

/// Returns a p-value with two digits; very small ones say no more than that.
fn p_text(p: f64) -> String {
    if p < 0.0001 {
        "<0.0001".to_owned()
    } else if p < 0.001 {
        format!("{p:.5}")
    } else if p < 0.095 {
        format!("{p:.3}")
    } else {
        format!("{p:.2}")
    }
}

/// Writes the page and its side files, where sides were compared; `written` has the tags of each
/// benchmark with a page, by slug.
pub(super) fn write(
    site: &ReportSite,
    written: &BTreeMap<String, Vec<String>>,
) -> Result<(), DirectoryError> {
    let Some(ComparisonIndex { view, .. }) = &site.comparisons else {
        return Ok(());
    };
    let mut comparisons: Vec<&Comparison> = view.comparisons.iter().collect();
    comparisons.sort_by(|one, other| news_first(one, other));
    // Of the same kind of news, wall time first.
    comparisons.sort_by_key(|it| (news_rank(it.verdict), it.subject.metric != FIRST_METRIC));
    let rows = comparisons.into_iter().map(|it| row(it, written));
    let rows: Vec<CompareRow> = rows.collect();
    let files = ListingFiles::write(site, SitePage::Compare, &rows)?;
    let page = ListingPage {
        page: SitePage::Compare,
        headline: headline(view),
        above: html! {},
        other: None,
        below: suites(view),
        filters: filters(view, &rows),
        draw: None,
        caption: "What changed, worst first",
        columns: table_columns(view),
        guide: guide(&view.options),
    };
    page.write(site, &files, axis(view))
}

/// Returns the axis that all rows share.
fn axis(view: &ComparisonView) -> Value {
    let band = view.options.band().ln_1p();
    let end = forest::axis(view.comparisons.iter(), band);
    json!({
        "low": -end,
        "high": end,
        "band": band,
        "verdicts": looks(),
        "several_candidates": view.names(|it| &it.candidate).len() > 1,
        "several_metrics": view.names(|it| &it.subject.metric).len() > 1,
    })
}

/// Returns the answer of the comparisons.
pub(super) fn headline(view: &ComparisonView) -> Headline {
    if view.comparisons.is_empty() {
        let nothing =
            "There is nothing to compare: the sides have no benchmark and metric in common";
        return Headline::new(News::Nothing, html! { (nothing) });
    }
    let mut sorted: Vec<&Comparison> = view.comparisons.iter().collect();
    sorted.sort_by(|one, other| news_first(one, other));
    sorted.sort_by_key(|it| news_rank(it.verdict));
    let first = sorted[0];
    let news = news_of(first.verdict);
    let benchmarks: BTreeSet<(&String, &String)> = view
        .comparisons
        .iter()
        .map(|it| (&it.subject.suite, &it.subject.benchmark))
        .collect();
    let mut facts = Vec::new();
    if news != News::Nothing {
        facts.push(worst_fact(first));
    }
    facts.extend(
        view.suites
            .iter()
            .filter(|it| it.metric == FIRST_METRIC)
            .take(OPEN_SUITES)
            .map(suite_fact),
    );
    let size = html! {
        (view.sides()) ": " (counted(view.comparisons.len(), "comparison")) " of " (counted(benchmarks.len(), "benchmark"))
        ", false discoveries at most " (round_percent(view.options.false_discovery_rate))
        ". Up to " (round_percent(view.options.band())) " counts as no change."
    };
    Headline {
        about: Some(
            html! { strong { (joined(&view.candidates())) } " against " strong { (joined(&view.baselines())) } },
        ),
        facts,
        picture: (news != News::Nothing).then(|| picture(first)).flatten(),
        next: view.next.clone(),
        explained: std::iter::once(size)
            .chain(
                view.notes
                    .iter()
                    .map(|note| html! { (capitalised(note)) "." }),
            )
            .collect(),
        ..Headline::new(news, html! { (capitalised(&view.verdicts())) })
    }
}

pub(super) fn news_of(verdict: Verdict) -> News {
    match verdict {
        Verdict::Regression => News::Worse,
        Verdict::WorseInRuns => News::Suspected,
        Verdict::Improvement | Verdict::BetterInRuns => News::Better,
        Verdict::Changed
        | Verdict::NotMeasured
        | Verdict::Inconclusive
        | Verdict::UnchangedInRuns
        | Verdict::Equivalent => News::Nothing,
    }
}

/// Returns a comparison in a sentence, with a link to its benchmark.
fn worst_fact(it: &Comparison) -> Markup {
    let subject = &it.subject;
    let slug = slug(&subject.suite, &subject.benchmark);
    let Metric { unit, better } = &it.metric;
    let said = it
        .ratio
        .and_then(|ratio| comparison_sentence(&it.candidate, &it.baseline, unit, *better, &ratio));
    let said = said
        .unwrap_or_else(|| format!("{}, {} against {}", sentence(it), it.candidate, it.baseline));
    let metric = (subject.metric != FIRST_METRIC).then(|| metric_title(&subject.metric));
    html! {
        a href=(format!("benchmark/{slug}.html")) {
            (subject.benchmark)
            @if let Some(setting) = subject.setting.text() { " (" (setting) ")" }
            @if let Some(metric) = metric { ", " (metric) }
        }
        ": " (said) "."
    }
}

/// Returns the values of both sides with their intervals.
pub(super) fn picture(it: &Comparison) -> Option<Markup> {
    let value = |name: &str, estimate: Estimate| SideValue {
        name: name.to_owned(),
        text: estimate.value_text(&it.metric.unit),
        value: estimate.value,
        interval: estimate.interval.map(|it| [it.lower, it.upper]),
    };
    let sides = [
        value(&it.baseline, it.baseline_estimate?),
        value(&it.candidate, it.candidate_estimate?),
    ];
    Some(sides_picture(&sides, news_of(it.verdict)))
}

fn suite_fact(it: &SuiteComparison) -> Markup {
    html! {
        "Suite " (it.suite)
        @if let Some(setting) = &it.setting { ", " (setting) }
        ": " (suite_ratio_text(it)) " (geometric mean of " (counted(it.ratio.benchmarks, "benchmark")) ")."
    }
}

fn table_columns(view: &ComparisonView) -> Vec<ListingColumn> {
    let mut columns = vec![sorted("name", "benchmark", "name")];
    if view.names(|it| &it.candidate).len() > 1 {
        columns.push(sorted("candidate", "candidate", ""));
    }
    columns.extend([
        unsorted("", "forest"),
        sorted("ratio", "ratio", "number"),
        sorted("value", "baseline → candidate", "number"),
        sorted("p", "p (adjusted)", "number on-demand"),
        sorted("size", "instances", "number on-demand"),
        sorted("verdict", "verdict", "verdict"),
    ]);
    columns
}

/// The number of suites' means above the table; the others are folded.
const OPEN_SUITES: usize = 2;

fn suites(view: &ComparisonView) -> Markup {
    let several_candidates = view.names(|it| &it.candidate).len() > 1;
    let list = |suites: &[&SuiteComparison]| {
        html! {
            ul.suites {
                @for it in suites {
                    li {
                        "Suite " strong { (it.suite) } ", " (metric_title(&it.metric))
                        @if several_candidates { ", " (it.candidate) }
                        @if let Some(setting) = &it.setting { ", " (setting) }
                        ": " strong { (suite_ratio_text(it)) }
                        " (geometric mean of " (counted(it.ratio.benchmarks, "benchmark")) ")"
                    }
                }
            }
        }
    };
    let mut suites: Vec<&SuiteComparison> = view.suites.iter().collect();
    suites.sort_by_key(|it| it.metric != FIRST_METRIC);
    let (shown, folded) = suites.split_at(suites.len().min(OPEN_SUITES));
    html! {
        @if !shown.is_empty() { (list(shown)) }
        @if !folded.is_empty() {
            details { summary { (counted(folded.len(), "more geometric mean")) } (list(folded)) }
        }
    }
}

fn filters(view: &ComparisonView, rows: &[CompareRow]) -> Filters {
    let mut metrics: Vec<(String, String)> = Vec::new();
    for it in &view.comparisons {
        if !metrics.iter().any(|(name, _)| *name == it.subject.metric) {
            metrics.push((it.subject.metric.clone(), it.metric.unit.clone()));
        }
    }
    if metrics.len() == 1 {
        metrics.clear();
    }
    let used: BTreeSet<Verdict> = view.comparisons.iter().map(|it| it.verdict).collect();
    let candidates = view.names(|it| &it.candidate).into_iter().cloned();
    let filters = Filters::of("Comparisons", rows.iter().map(|row| &row.benchmark))
        .by_metric(metrics, MetricFilter::OneOrAll)
        .by(
            "verdict",
            "Verdict",
            used.into_iter().map(|it| (it.name(), it.title())),
        )
        .by_name("candidate", "Candidate", candidates);
    if view.comparisons.iter().all(|it| it.cautions.is_empty()) {
        return filters;
    }
    filters.by("caution", "Cautions", [("some", "with cautions")])
}

fn guide(options: &CompareOptions) -> Markup {
    html! {
        dt { "ratio" }
        dd { "Candidate divided by baseline: 1.10× is 10 % more. In brackets its " (round_percent(options.confidence.level())) " interval, by " (options.method.title()) ". All rows share one logarithmic axis with a line at 1×, so that half and double are equally far from it; what is further away is an arrow." }
        dt { "p (adjusted)" }
        dd { "Shown on request. The probability of a ratio at least this far from 1 if nothing had changed; in parentheses corrected for the number of comparisons (Benjamini and Hochberg), which decides the verdict." }
        dt { "verdict" }
        dd { (chip(Verdict::Regression)) " significantly worse, " (chip(Verdict::Improvement)) " significantly better"
            @if options.smallest_effect.is_some() { " by more than the smallest effect that matters" }
            ". " (chip(Verdict::Equivalent)) " the whole interval is within " (round_percent(options.band())) ". " (chip(Verdict::Inconclusive)) " neither; the table says how many instances would be enough. " (chip(Verdict::Changed)) " the metric does not say whether more is better. " (chip(Verdict::NotMeasured)) " a side has no value, which is never a pass. "
            (chip(Verdict::WorseInRuns)) " and " (chip(Verdict::BetterInRuns)) " hold for one process per side; another may differ."
        }
        dt { "instances" }
        dd { "Instances of the sides: baseline / candidate. A verdict needs " (INSTANCES_FOR_A_VERDICT) " per side." }
    }
}

/// Returns a ratio in words for the page of its benchmark.
pub(super) fn sentence(comparison: &Comparison) -> String {
    let [ratio, interval] = comparison.change_texts();
    match (ratio.as_str(), interval.as_str()) {
        ("", _) => "no ratio".to_owned(),
        (ratio, "") => ratio.to_owned(),
        (ratio, interval) => format!("{ratio} {interval}"),
    }
}
