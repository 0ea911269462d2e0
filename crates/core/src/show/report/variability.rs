//! The page that says how much each benchmark varies, where its noise lies, and what helps.

use std::collections::BTreeMap;

use lapwing_stats::Modes;
use maud::{Markup, html};
use serde::Serialize;

use super::cleaning::by_use;
use super::columns::{About, columns};
use super::directory::{Directory, DirectoryError};
use super::health::NOISY_FROM;
use super::page::url_part;
use super::side_file;
use super::site::{
    Choices, Compared, MetricRows, Metrics, NothingMore, Settings, SitePage, counted, filters,
    listing, shell, verb,
};
use super::{MetricView, Options};
use crate::clean::Cleaned;
use crate::judge::{INSTANCES_FOR_A_VERDICT, Variability, variability};
use crate::show::quantity::{count, percent, quantity};
use crate::show::sample::{RunSample, metric_title};

/// How much a variant of a benchmark varies by a metric.
#[derive(Debug, Clone, Serialize)]
pub(super) struct VariabilityRow {
    #[serde(flatten)]
    pub(super) about: About,
    /// The variant and version, where there are several.
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
    groups: String,
    advice: &'static str,
}

/// Returns a row for each variant, of all runs of its latest version.
pub(super) fn rows(view: &MetricView, about: &About) -> Vec<VariabilityRow> {
    let variants = view.sample.variants();
    let several = variants.len() > 1;
    variants
        .into_iter()
        .filter_map(|variant| {
            let runs: Vec<&RunSample> = view.of_variant(variant).map(|(run, _)| run).collect();
            let version = &runs.last()?.version;
            let latest: Vec<&RunSample> = runs
                .iter()
                .filter(|run| run.version == *version)
                .copied()
                .collect();
            let cleaned = Cleaned {
                instances: latest
                    .iter()
                    .flat_map(|run| run.cleaned().instances)
                    .collect(),
                ..Cleaned::default()
            };
            let variability = variability(&cleaned)?;
            let setting: Vec<&str> = several
                .then_some(variant)
                .into_iter()
                .chain(version.as_deref())
                .collect();
            Some(row(
                &variability,
                about.clone(),
                setting.join(", "),
                &view.sample.metric.unit,
            ))
        })
        .collect()
}

fn row(it: &Variability, about: About, setting: String, unit: &str) -> VariabilityRow {
    let between = it.components.map(|it| it.between.sqrt());
    let interval = it.components.and_then(|it| it.between_interval);
    VariabilityRow {
        about,
        setting,
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
            let lower = percent(it.lower.sqrt());
            let lower = lower.trim_end_matches(" %");
            format!("{lower}–{}", percent(it.upper.sqrt()))
        }),
        groups: groups(&it.modes, it.size.instances, unit),
        advice: advice(it),
    }
}

fn groups(modes: &Modes, instances: usize, unit: &str) -> String {
    match modes {
        Modes::TooFew | Modes::One { .. } => String::new(),
        Modes::Two { split, .. } => format!(
            "{} around {}, {} around {}",
            split.lower_count,
            quantity(split.lower_mean, unit),
            instances - split.lower_count,
            quantity(split.upper_mean, unit)
        ),
    }
}

/// Returns what would make the benchmark's mean surer.
///
/// With n iterations in each instance, the variance of an instance's mean is σ_B² + σ_W²/n: more
/// iterations make only the second part smaller.
#[expect(clippy::cast_precision_loss, reason = "a number of iterations")]
fn advice(it: &Variability) -> &'static str {
    if it.size.instances < INSTANCES_FOR_A_VERDICT {
        return "more instances: there are too few to tell";
    }
    if let Modes::Two { .. } = it.modes {
        return "find out what the groups are: hosts, settings, memory layout";
    }
    let Some(components) = it.components else {
        return "more instances";
    };
    let iterations = it.size.iterations as f64 / it.size.instances as f64;
    let within = components.within / iterations;
    if components.between + within < 1e-6 {
        "nothing: it hardly varies"
    } else if within > components.between {
        "more iterations in each instance"
    } else {
        "more instances"
    }
}

/// What the page gathers while benchmarks are written.
#[derive(Debug, Default)]
pub(super) struct VariabilityPage {
    metrics: BTreeMap<String, (String, Vec<VariabilityRow>)>,
}

impl VariabilityPage {
    pub(super) fn add(&mut self, metric: &str, unit: &str, rows: Vec<VariabilityRow>) {
        let (_, all) = self
            .metrics
            .entry(metric.to_owned())
            .or_insert_with(|| (unit.to_owned(), Vec::new()));
        all.extend(rows);
    }

    /// Writes the page and its side files.
    pub(super) fn write(
        &mut self,
        directory: &Directory,
        options: &Options,
        compared: Compared,
    ) -> Result<(), DirectoryError> {
        for (_, rows) in self.metrics.values_mut() {
            rows.sort_by(|a, b| noise(b).total_cmp(&noise(a)));
        }
        self.metrics.retain(|_, (_, rows)| !rows.is_empty());
        let metrics = by_use(&self.metrics, |(_, rows)| rows.len());
        let mut files = Vec::new();
        for (number, (name, (_, rows))) in metrics.iter().enumerate() {
            let file = format!("variability.m{number}");
            let content = side_file(&file, &columns(rows));
            directory.write(&format!("data/{file}.js"), &content)?;
            files.push(MetricRows {
                name: (*name).clone(),
                file,
            });
        }
        let settings = Settings {
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
                p.hint {
                    "Noise between instances is what more instances average out; noise within them shrinks with more iterations too. "
                    code { "lapwing run --instances 20" } " and " code { "--iterations 20" } " measure more of either."
                }
                (filters("Benchmarks", &self.choices(metrics), Metrics::OneOf))
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
            more: vec![(
                "state",
                "Show",
                states
                    .map(|(key, it)| (key.to_owned(), it.to_owned()))
                    .into(),
            )],
        }
    }
}

/// Returns by what rows are sorted: the noise that only more instances help against.
fn noise(row: &VariabilityRow) -> f64 {
    row.cv_between.unwrap_or(row.cv_total)
}

fn answer(metric: &str, rows: &[VariabilityRow]) -> Markup {
    let number = |test: &dyn Fn(&VariabilityRow) -> bool| rows.iter().filter(|it| test(it)).count();
    let noisy = number(&|it| it.cv_between.is_some_and(|cv| cv > NOISY_FROM));
    let grouped = number(&|it| !it.groups.is_empty());
    let few = number(&|it| it.instances < INSTANCES_FOR_A_VERDICT);
    let link = |state: &str| format!("#metric={}&state={state}", url_part(metric));
    html! {
        p.answer {
            "By " (metric_title(metric)) ", "
            @if noisy == 0 {
                "nothing varies by more than " (percent(NOISY_FROM)) " between instances"
            } @else {
                a href=(link("noisy")) { strong { (count(noisy)) } " of " (counted(rows.len(), "row")) " " (verb(noisy, "varies", "vary")) " by more than " (percent(NOISY_FROM)) " between instances" }
            }
            @if grouped > 0 {
                "; " a href=(link("groups")) { strong { (count(grouped)) } " " (verb(grouped, "falls", "fall")) " into two groups" }
            }
            @if few > 0 {
                "; " a href=(link("few")) { strong { (count(few)) } " " (verb(few, "rests", "rest")) " on fewer than 3 instances" }
            }
            "."
        }
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
