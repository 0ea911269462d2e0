//! The page that says how much each benchmark varies, where its noise is, and what helps.

use crate::NoiseText;
use lapwing_stats::Seed;
use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;

use super::super::ReportSite;
use super::super::directory::DirectoryError;
use super::super::frame::{SitePage, url_part};
use super::super::headline::{Headline, News};
use super::super::index_parts::columns::{BenchmarkLink, columns};
use super::super::index_parts::listing::{
    Filters, ListingPage, MetricFilter, MetricRows, sorted, unsorted,
};
use crate::chart;
use crate::quantity::{percent, quantity, round_percent};
use crate::sample::{FIRST_METRIC, metric_title};
use crate::{NOISY, RowTitles, noise_advice, noise_headline};
use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::explain::{EffortEstimate, More, Noise, NoiseMetrics, NoisePart, noise};
use lapwing_analyse::judge::INSTANCES_FOR_A_VERDICT;
use lapwing_analyse::sample::{BenchmarkData, SettingChoice};
use lapwing_model::MetricName;
use lapwing_model::text::{capitalised, counted, grouped};

/// The variability of a metric of a benchmark in one variant.
#[derive(Debug, Clone, Serialize)]
pub(in crate::report) struct VariabilityRow {
    #[serde(flatten)]
    benchmark: BenchmarkLink,
    /// The variant and version, if there are several.
    setting: String,
    instances: usize,
    size: String,
    value: f64,
    value_text: String,
    cv_total: f64,
    cv_total_text: String,
    cv_within: Option<f64>,
    cv_within_text: String,
    cv_within_interval: String,
    pub(in crate::report) cv_between: Option<f64>,
    pub(in crate::report) cv_between_text: String,
    cv_between_interval: String,
    /// Whether the noise between instances is high enough to be highlighted.
    pub(in crate::report) noisy: bool,
    groups: String,
    advice: String,
    #[serde(skip)]
    pub(in crate::report) noise: Noise,
}

impl VariabilityRow {
    /// Returns whether this is about a variant by a metric.
    pub(in crate::report) fn is_about(&self, metric: &MetricName, variant: &str) -> bool {
        let named = self.noise.setting.variant_name();
        // One row may be about all variants.
        self.noise.name == *metric && named.is_none_or(|it| it == variant)
    }
}

/// Returns a row for each variant, of all runs of its latest version, and each of these metrics.
pub(in crate::report) fn rows(
    data: &BenchmarkData,
    rules: &CleaningRules,
    metrics: Vec<MetricName>,
    benchmark: &BenchmarkLink,
) -> Vec<VariabilityRow> {
    let metrics = NoiseMetrics::Named(metrics);
    let found = noise(data, rules, SettingChoice::Latest, &metrics, SEED);
    let rows = found.rows.into_iter();
    rows.map(|noise| row(noise, benchmark.clone())).collect()
}

/// The seed of the permutation tests that relate groups to attributes.
const SEED: Seed = Seed(7);

fn row(noise: Noise, benchmark: BenchmarkLink) -> VariabilityRow {
    let it = &noise.variability;
    let unit = &noise.metric.unit;
    let between = noise.between.map(|it| it.value);
    let within = noise.within.map(|it| it.value);
    VariabilityRow {
        benchmark,
        setting: noise.setting.text().unwrap_or_default(),
        instances: it.size.instances,
        size: it.size.short(),
        value: it.value,
        value_text: quantity(it.value, unit),
        cv_total: it.cv_total,
        cv_total_text: percent(it.cv_total),
        cv_within: within,
        cv_within_text: within.map_or_else(String::new, percent),
        cv_within_interval: interval_text(noise.within),
        cv_between: between,
        cv_between_text: between.map_or_else(String::new, percent),
        cv_between_interval: interval_text(noise.between),
        noisy: between.is_some_and(|cv| cv > NOISY),
        groups: groups(&noise),
        advice: advice(&noise),
        noise,
    }
}

/// Returns `9.2–19 %`; empty where there is no interval.
fn interval_text(part: Option<NoisePart>) -> String {
    let Some(interval) = part.and_then(|it| it.interval) else {
        return String::new();
    };
    let lower = percent(interval.lower);
    format!(
        "{}–{}",
        lower.trim_end_matches(" %"),
        percent(interval.upper)
    )
}

/// Returns the groups without the name of the benchmark, which stands in the same row.
fn groups(noise: &Noise) -> String {
    let titles = RowTitles {
        suites: false,
        settings: false,
        metrics: false,
    };
    let Some(text) = noise.groups_text(titles) else {
        return String::new();
    };
    let beginning = format!("{} falls into two groups: ", noise.benchmark);
    text.strip_prefix(&beginning).unwrap_or(&text).to_owned()
}

/// Returns what would make the mean of the benchmark surer.
fn advice(noise: &Noise) -> String {
    if noise.variability.size.instances < INSTANCES_FOR_A_VERDICT {
        return "more instances: too few for an estimate".to_owned();
    }
    match noise.effort {
        None => "more instances".to_owned(),
        Some(EffortEstimate {
            more: More::Instances,
            ..
        }) => "more instances".to_owned(),
        Some(EffortEstimate {
            more: More::Iterations,
            best_iterations: Some(best),
        }) => format!("more iterations in each instance, up to {}", grouped(best)),
        Some(EffortEstimate {
            more: More::Iterations,
            best_iterations: None,
        }) => "more iterations in each instance".to_owned(),
    }
}

/// Writes the page and its side files.
pub(in crate::report) fn write(
    site: &ReportSite,
    mut metrics: MetricRows<VariabilityRow>,
) -> Result<(), DirectoryError> {
    metrics.sort_by(|one, other| sort_key(other).total_cmp(&sort_key(one)));
    let states = [
        ("noisy", "noisy between instances"),
        ("groups", "in two groups"),
        ("few", "fewer than 3 instances"),
    ];
    let page = ListingPage {
        page: SitePage::Variability,
        headline: if metrics.is_empty() {
            let nothing = "No benchmark has a usable value, so nothing is known about noise";
            Headline::new(News::Nothing, html! { (nothing) })
        } else {
            metrics.headline(headline)
        },
        above: html! {},
        other: None,
        below: html! {},
        filters: Filters::of("Benchmarks", metrics.rows().map(|row| &row.benchmark))
            .by_metric(metrics.units(), MetricFilter::One)
            .by("state", "Show", states),
        draw: Some(("overview", "Plot noise sources")),
        caption: "How much each benchmark varies, noisiest first",
        columns: vec![
            sorted("name", "benchmark", "name"),
            sorted("size", "instances × iterations", "number"),
            sorted("value", "value", "number"),
            sorted("total", "CV of all", "number"),
            sorted("within", "CV within [95 % CI]", "number"),
            sorted("between", "CV between [95 % CI]", "number"),
            unsorted("groups", "wide"),
            unsorted("what helps", "wide"),
        ],
        guide: guide(),
    };
    let chart = |rows: &[VariabilityRow]| Some(chart::variability(&noises(rows)));
    let files = metrics.write_files(site, SitePage::Variability, columns, chart)?;
    page.write(site, &files, json!({}))
}

/// Returns by what rows are sorted: the noise that only more instances help against.
fn sort_key(row: &VariabilityRow) -> f64 {
    row.cv_between.unwrap_or(row.cv_total)
}

fn noises(rows: &[VariabilityRow]) -> Vec<Noise> {
    rows.iter().map(|row| row.noise.clone()).collect()
}

fn headline(metric: &str, rows: &[VariabilityRow]) -> Headline {
    let noises = noises(rows);
    let number = |test: &dyn Fn(&VariabilityRow) -> bool| rows.iter().filter(|it| test(it)).count();
    let links = [
        ("noisy", "noisy", number(&|it| it.noisy)),
        (
            "groups",
            "in two groups",
            number(&|it| !it.groups.is_empty()),
        ),
        (
            "few",
            "with fewer than 3 instances",
            number(&|it| it.instances < INSTANCES_FOR_A_VERDICT),
        ),
    ];
    let rows_of = links.into_iter().filter(|(_, _, number)| *number > 0);
    let rows_of = rows_of.map(|(state, title, number)| {
        let address = format!("#metric={}&state={state}", url_part(metric));
        html! { a href=(address) { (counted(number, "row")) " " (title) } "." }
    });
    Headline {
        facts: rows_of.collect(),
        explained: noise_advice(&noises)
            .map(|advice| html! { (capitalised(&advice.text)) "." })
            .into_iter()
            .collect(),
        ..Headline::new(
            News::Nothing,
            html! { (capitalised(&noise_headline(&noises))) @if metric != FIRST_METRIC { ", by " (metric_title(metric)) } },
        )
    }
}

fn guide() -> Markup {
    html! {
        dt { "runs" }
        dd { "All runs of the latest version of a variant; versions and variants are never mixed, since differences between them are not noise." }
        dt { "CV of all" }
        dd { "Coefficient of variation (standard deviation divided by mean) of all values that count, whatever instance they are of." }
        dt { "CV within" }
        dd { "How much the iterations of an instance differ from each other: " em { "within" } " as shown by " code { "lapwing variability" } ", the variance component of the logarithms, with a confidence interval." }
        dt { "CV between" }
        dd { "How much instances differ from each other beyond the differences of their iterations: " em { "between instances" } " as shown by " code { "lapwing variability" } ", the other variance component. Above " (round_percent(NOISY)) " it is highlighted, and the benchmark is called noisy." }
        dt { "groups" }
        dd { "Where the means of the instances fall into two groups with a gap between them, one number hides two behaviours." }
    }
}
