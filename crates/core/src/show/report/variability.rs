//! The page that says how much each benchmark varies, where its noise lies, and what helps.

use std::collections::BTreeMap;

use lapwing_stats::Seed;
use maud::{Markup, html};
use serde::Serialize;

use super::Options;
use super::cleaning::by_use;
use super::columns::{About, columns};
use super::directory::{Directory, DirectoryError};
use super::page::url_part;
use super::side_file;
use super::site::{
    Choice, Choices, Compared, MetricRows, Metrics, NothingMore, Settings as PageSettings,
    SitePage, filters, listing, shell,
};
use crate::clean::Rules;
use crate::explain::{Effort, More, Noise, NoiseMetrics, noise};
use crate::judge::INSTANCES_FOR_A_VERDICT;
use crate::model::MetricName;
use crate::sample::{BenchmarkData, SettingChoice};
use crate::show::chart;
use crate::show::quantity::{percent, quantity};
use crate::show::sample::metric_title;
use crate::show::{NOISY, Titles, noise_advice, noise_headline};
use crate::text::{capitalised, grouped};

/// How much a variant of a benchmark varies by a metric.
#[derive(Debug, Clone, Serialize)]
pub(super) struct VariabilityRow {
    #[serde(flatten)]
    about: About,
    /// The variant and version, where they tell something.
    setting: String,
    instances: usize,
    iterations: usize,
    mean: f64,
    mean_text: String,
    cv_total: f64,
    cv_total_text: String,
    cv_within: f64,
    cv_within_text: String,
    cv_between: Option<f64>,
    cv_between_text: String,
    cv_between_interval: String,
    /// Whether the noise between instances is worth a word.
    noisy: bool,
    groups: String,
    advice: String,
    #[serde(skip)]
    noise: Noise,
}

/// Returns a row for each variant, of all runs of its latest version, and each of these metrics.
pub(super) fn rows(
    data: BenchmarkData,
    rules: &Rules,
    metrics: Vec<MetricName>,
    about: &About,
) -> Vec<VariabilityRow> {
    let metrics = NoiseMetrics::Named(metrics);
    let found = noise(&data, rules, SettingChoice::Latest, &metrics, SEED);
    let rows = found.rows.into_iter();
    rows.map(|noise| row(noise, about.clone())).collect()
}

/// Where the permutations come from that tell what goes with groups.
const SEED: Seed = Seed(7);

impl VariabilityRow {
    pub(super) fn noise(&self) -> &Noise {
        &self.noise
    }

    pub(super) fn metric(&self) -> &str {
        &self.noise.name
    }
}

fn row(noise: Noise, about: About) -> VariabilityRow {
    let it = &noise.variability;
    let unit = &noise.metric.unit;
    let between = noise.between.map(|it| it.value);
    let interval = noise.between.and_then(|it| it.interval);
    VariabilityRow {
        about,
        setting: noise.setting.text().unwrap_or_default(),
        instances: it.size.instances,
        iterations: it.size.iterations,
        mean: it.mean,
        mean_text: quantity(it.mean, unit),
        cv_total: it.cv_total,
        cv_total_text: percent(it.cv_total),
        cv_within: it.cv_instance_mean,
        cv_within_text: percent(it.cv_instance_mean),
        cv_between: between,
        cv_between_text: between.map_or_else(String::new, percent),
        cv_between_interval: interval.map_or_else(String::new, |it| {
            let lower = percent(it.lower);
            format!("{}–{}", lower.trim_end_matches(" %"), percent(it.upper))
        }),
        noisy: between.is_some_and(|cv| cv > NOISY),
        groups: groups(&noise),
        advice: advice(&noise),
        noise,
    }
}

/// Returns the groups without the name of the benchmark, which stands in the same row.
fn groups(noise: &Noise) -> String {
    let titles = Titles {
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
        return "more instances: there are too few to tell".to_owned();
    }
    match noise.effort {
        None => "more instances".to_owned(),
        Some(Effort {
            more: More::Instances,
            ..
        }) => "more instances".to_owned(),
        Some(Effort {
            more: More::Iterations,
            best_iterations: Some(best),
        }) => format!("more iterations in each instance, up to {}", grouped(best)),
        Some(Effort {
            more: More::Iterations,
            best_iterations: None,
        }) => "more iterations in each instance".to_owned(),
    }
}

/// What the page gathers while benchmarks are written.
#[derive(Debug, Default)]
pub(super) struct VariabilityPage {
    metrics: BTreeMap<String, (String, Vec<VariabilityRow>)>,
}

impl VariabilityPage {
    pub(super) fn add(&mut self, row: VariabilityRow) {
        let unit = row.noise.metric.unit.clone();
        let (_, all) = self
            .metrics
            .entry(row.metric().to_owned())
            .or_insert_with(|| (unit, Vec::new()));
        all.push(row);
    }

    /// Writes the page and its side files.
    pub(super) fn write(
        &mut self,
        directory: &Directory,
        options: &Options,
        compared: Compared,
    ) -> Result<(), DirectoryError> {
        for (_, rows) in self.metrics.values_mut() {
            rows.sort_by(|a, b| sort_key(b).total_cmp(&sort_key(a)));
        }
        self.metrics.retain(|_, (_, rows)| !rows.is_empty());
        let metrics = by_use(&self.metrics, |(_, rows)| rows.len());
        let mut files = Vec::new();
        for (number, (name, (_, rows))) in metrics.iter().enumerate() {
            let file = format!("variability.m{number}");
            let content = side_file(&file, &columns(rows));
            directory.write(&format!("data/{file}.js"), &content)?;
            let chart = format!("{file}.chart");
            let content = side_file(&chart, &chart::variability(&noises(rows)));
            directory.write(&format!("data/{chart}.js"), &content)?;
            files.push(MetricRows {
                name: (*name).clone(),
                file,
                chart: Some(chart),
            });
        }
        let settings = PageSettings {
            page: "variability",
            metrics: files,
            file: None,
            more: NothingMore {},
        };
        let main = self.main(&metrics);
        let page = shell(SitePage::Variability, compared, options, &settings, &main);
        directory.write(SitePage::Variability.file(), &page)
    }

    fn main(&self, metrics: &[(&String, &(String, Vec<VariabilityRow>))]) -> Markup {
        html! {
            @if metrics.is_empty() {
                p.answer { "Nothing has a value that counts, so nothing is known of its noise." }
            } @else {
                @for (number, (name, (_, rows))) in metrics.iter().enumerate() {
                    section.by-metric data-metric=(name) hidden[number > 0] aria-label=(format!("Noise by {}", metric_title(name))) {
                        (answer(name, rows))
                    }
                }
                (filters("Benchmarks", &self.choices(metrics), Metrics::OneOf))
                p.buttons { button type="button" data-action="overview" aria-expanded="false" { "Draw where the noise lies" } }
                div #overview hidden {}
                (listing("How much each benchmark varies, noisiest first", &[
                    ("name", "benchmark", "name"),
                    ("size", "instances", "number"),
                    ("iterations", "iterations", "number"),
                    ("mean", "mean", "number"),
                    ("total", "CV of all", "number"),
                    ("within", "CV within", "number"),
                    ("between", "CV between [95 % CI]", "number"),
                    ("", "groups", "wide"),
                    ("", "what helps", "wide"),
                ]))
                (guide())
            }
        }
    }

    fn choices(&self, metrics: &[(&String, &(String, Vec<VariabilityRow>))]) -> Choices {
        let rows = || self.metrics.values().flat_map(|(_, rows)| rows);
        let states = [
            ("noisy", "noisy between instances"),
            ("groups", "in two groups"),
            ("few", "fewer than 3 instances"),
        ];
        Choices {
            metrics: metrics
                .iter()
                .map(|(name, (unit, _))| ((*name).clone(), unit.clone()))
                .collect(),
            suites: rows().map(|it| it.about.suite.clone()).collect(),
            tags: rows().flat_map(|it| it.about.tags.clone()).collect(),
            more: vec![Choice {
                name: "state",
                label: "Show",
                values: states
                    .map(|(key, it)| (key.to_owned(), it.to_owned()))
                    .into(),
            }],
        }
    }
}

/// Returns by what rows are sorted: the noise that only more instances help against.
fn sort_key(row: &VariabilityRow) -> f64 {
    row.cv_between.unwrap_or(row.cv_total)
}

fn noises(rows: &[VariabilityRow]) -> Vec<Noise> {
    rows.iter().map(|row| row.noise.clone()).collect()
}

fn answer(metric: &str, rows: &[VariabilityRow]) -> Markup {
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
            "on fewer than 3 instances",
            number(&|it| it.instances < INSTANCES_FOR_A_VERDICT),
        ),
    ];
    html! {
        p.answer {
            "By " (metric_title(metric)) ": " strong { (noise_headline(&noises)) } "."
            @for (state, title, number) in links {
                @if number > 0 {
                    " " a href=(format!("#metric={}&state={state}", url_part(metric))) { (grouped(number)) " " (title) } "."
                }
            }
        }
        @if let Some(advice) = noise_advice(&noises) { p.hint { (capitalised(&advice)) "." } }
    }
}

fn guide() -> Markup {
    html! {
        details.guide {
            summary { "How to read this table" }
            dl {
                dt { "what is taken together" }
                dd { "All runs of the latest version of a variant; versions and variants are never mixed, since what differs between them is no noise." }
                dt { "CV of all" }
                dd { "Coefficient of variation (standard deviation divided by mean) of all values that count, whatever instance they are of." }
                dt { "CV within" }
                dd { "The mean over instances of the coefficient of variation of their own iterations." }
                dt { "CV between" }
                dd { "How much instances differ from each other beyond what their iterations explain, from the variance components of the logarithms. The interval says how well that is known." }
                dt { "groups" }
                dd { "Where the means of the instances fall into two groups with a gap between them, one number hides two behaviours." }
            }
        }
    }
}
