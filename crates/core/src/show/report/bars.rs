//! The page with bars: of each benchmark with several variants one for each of them, or of each
//! variant one for every benchmark.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use maud::html;
use serde::Serialize;

use super::columns::{About, columns};
use super::directory::{Directory, DirectoryError};
use super::site::{
    Choice, Choices, Compared, MetricRows, Metrics, NothingMore, Settings, SitePage, filters, shell,
};
use super::{MetricView, Options, side_file};
use crate::show::Colours;
use crate::show::chart::{Bar, Chart, bars};

/// Runs of so many days before the latest run of a benchmark count.
const DAYS: i64 = 7;

/// So many bars stand in one chart, and so many charts in one file.
const BARS: usize = 60;
const CHARTS: usize = 24;

/// A bar by one metric.
#[derive(Debug, Clone)]
pub(super) struct BarRow {
    about: About,
    metric: String,
    unit: String,
    variant: String,
    bar: Bar,
}

/// Returns a bar for each variant and metric of a benchmark.
pub(super) fn rows(about: &About, views: &[MetricView], colours: &Colours) -> Vec<BarRow> {
    views
        .iter()
        .flat_map(|view| of_metric(about, view, colours))
        .collect()
}

fn of_metric(about: &About, view: &MetricView, colours: &Colours) -> Vec<BarRow> {
    let sample = &view.sample;
    let with_value = || {
        sample
            .runs
            .iter()
            .filter(|run| !run.instance_means().is_empty())
    };
    let Some(latest) = with_value().max_by_key(|run| run.started) else {
        return Vec::new();
    };
    let week = SignedDuration::from_hours(24 * DAYS);
    let counts = |run: &&crate::show::sample::RunSample| {
        latest.started.duration_since(run.started) <= week && run.means_the_same_as(latest)
    };
    let variants = sample.variants().into_iter();
    variants
        .filter_map(|variant| {
            let runs: Vec<_> = with_value()
                .filter(counts)
                .filter(|run| run.variant == variant)
                .collect();
            let means: Vec<f64> = runs.iter().flat_map(|run| run.instance_means()).collect();
            let bar = Bar::new(variant.to_owned(), colours.get(variant), &means)?;
            let mut versions: Vec<&str> = Vec::new();
            for version in runs.iter().filter_map(|run| run.version.as_deref()) {
                if !versions.contains(&version) {
                    versions.push(version);
                }
            }
            let times: BTreeSet<String> = runs.iter().map(|run| run.time_text()).collect();
            Some(BarRow {
                about: about.clone(),
                metric: sample.name.clone(),
                unit: sample.metric.unit.clone(),
                variant: variant.to_owned(),
                bar: Bar {
                    versions: ends(&versions),
                    when: ends(&times.iter().map(String::as_str).collect::<Vec<_>>()),
                    link: format!(
                        "benchmark/{}.html#metric={}",
                        about.slug,
                        super::page::url_part(&sample.name)
                    ),
                    ..bar
                },
            })
        })
        .collect()
}

/// Returns the only one, or the first and the last.
fn ends(texts: &[&str]) -> String {
    match texts {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first, .., last] => format!("{first} to {last}"),
    }
}

/// What the page gathers while benchmarks are written.
#[derive(Debug, Default)]
pub(super) struct BarsPage {
    metrics: BTreeMap<String, Vec<BarRow>>,
}

/// A chart of the page; its fields are the columns of the side file.
#[derive(Debug, Serialize)]
struct ChartRow {
    /// `benchmark` or `variant`.
    group: &'static str,
    title: String,
    slug: String,
    suite: String,
    category: String,
    tags: Vec<String>,
    /// The side file that holds the chart, and its place there.
    file: String,
    at: usize,
}

impl BarsPage {
    pub(super) fn add(&mut self, rows: Vec<BarRow>) {
        for row in rows {
            self.metrics
                .entry(row.metric.clone())
                .or_default()
                .push(row);
        }
    }

    /// Writes the page and its side files.
    pub(super) fn write(
        &self,
        directory: &Directory,
        options: &Options,
        compared: Compared,
    ) -> Result<(), DirectoryError> {
        let all = || self.metrics.values().flatten();
        let mut metrics: Vec<(&String, &Vec<BarRow>)> = self.metrics.iter().collect();
        metrics.sort_by_key(|(name, rows)| {
            let first = name.as_str() != crate::show::sample::FIRST_METRIC;
            (first, usize::MAX - rows.len())
        });
        let mut settings = Settings {
            page: "bars",
            metrics: Vec::new(),
            file: None,
            more: NothingMore {},
        };
        for (number, (name, rows)) in metrics.iter().enumerate() {
            let file = format!("bars.m{number}");
            let rows = write_metric(directory, &file, rows)?;
            directory.write(
                &format!("data/{file}.js"),
                &side_file(&file, &columns(&rows)),
            )?;
            settings.metrics.push(MetricRows {
                name: (*name).clone(),
                file,
                chart: None,
            });
        }
        let categories: BTreeSet<String> = all().map(|row| category(&row.about.id)).collect();
        let compares = self
            .metrics
            .values()
            .any(|rows| of_benchmarks(rows).next().is_some());
        let mut groups = vec![("variant", "by variant")];
        if compares {
            groups.insert(0, ("benchmark", "by benchmark"));
        }
        let choices = Choices {
            metrics: metrics
                .iter()
                .map(|(name, rows)| {
                    let unit = rows
                        .first()
                        .map_or_else(String::new, |row| row.unit.clone());
                    ((*name).clone(), unit)
                })
                .collect(),
            suites: all().map(|row| row.about.suite.clone()).collect(),
            tags: all().flat_map(|row| row.about.tags.clone()).collect(),
            more: if categories.len() > 1 {
                vec![Choice {
                    name: "category",
                    label: "Category",
                    values: categories
                        .into_iter()
                        .map(|name| (name.clone(), name))
                        .collect(),
                }]
            } else {
                Vec::new()
            },
        };
        let main = html! {
            @if self.metrics.is_empty() {
                p.answer { "Nothing to draw: no benchmark has samples." }
            } @else {
                p.answer {
                    "The latest values beside each other: of each benchmark the runs of the " (DAYS) " days up to its latest run, all their instances together."
                }
                p.hint {
                    "A bar ends at the median of the instances' means; the thick tick is their mean, the line one standard deviation to each side of it. "
                    "This is no interval and no verdict: "
                    code { "lapwing compare" } " says what differs. A click leads to the benchmark."
                }
                (filters("Bars", &choices, Metrics::OneOf))
                p.tabs role="group" aria-label="Charts" {
                    @for (name, title) in &groups {
                        button type="button" data-group=(name) hidden[groups.len() < 2] { (title) } " "
                    }
                }
                p #shown role="status" {}
                div #bars {}
                noscript { p { "Charts need JavaScript." } }
            }
        };
        directory.write(
            SitePage::Bars.file(),
            &shell(SitePage::Bars, compared, options, &settings, &main),
        )
    }
}

/// Returns the first folder of a benchmark's id, what Coiled calls its category; empty without.
fn category(id: &str) -> String {
    let place = id.split(['[', ':']).next().unwrap_or_default();
    let is_name = |text: &&str| {
        !text.is_empty()
            && text
                .chars()
                .all(|it| it.is_alphanumeric() || "_-".contains(it))
    };
    let folder = place.split_once('/').map(|(folder, _)| folder);
    folder.filter(is_name).unwrap_or_default().to_owned()
}

/// Returns the bars of each benchmark with several variants; a single one beside nothing tells nothing.
fn of_benchmarks(rows: &[BarRow]) -> impl Iterator<Item = &[BarRow]> {
    rows.chunk_by(|a, b| a.about.slug == b.about.slug)
        .filter(|of_one| of_one.len() > 1)
}

/// Writes the charts of a metric in files of some, and returns what they are.
fn write_metric(
    directory: &Directory,
    file: &str,
    rows: &[BarRow],
) -> Result<Vec<ChartRow>, DirectoryError> {
    let mut found: Vec<(ChartRow, Chart)> = Vec::new();
    let row = |group, title: &str, slug: &str, about: &About| ChartRow {
        group,
        title: title.to_owned(),
        slug: slug.to_owned(),
        suite: about.suite.clone(),
        category: category(&about.id),
        tags: about.tags.clone(),
        file: String::new(),
        at: 0,
    };
    for of_one in of_benchmarks(rows) {
        let Some(BarRow {
            about,
            metric,
            unit,
            ..
        }) = of_one.first()
        else {
            continue;
        };
        let all: Vec<Bar> = of_one.iter().map(|row| row.bar.clone()).collect();
        found.push((
            row("benchmark", &about.id, &about.slug, about),
            bars(metric, unit, &about.id, &all),
        ));
    }
    let mut by_variant: BTreeMap<(&str, String, &str), Vec<&BarRow>> = BTreeMap::new();
    for row in rows {
        let key = (
            row.variant.as_str(),
            category(&row.about.id),
            row.about.suite.as_str(),
        );
        by_variant.entry(key).or_default().push(row);
    }
    for ((variant, category, suite), of_one) in by_variant {
        let pieces = of_one.len().div_ceil(BARS);
        for (number, piece) in of_one.chunks(BARS).enumerate() {
            let Some(BarRow {
                about,
                metric,
                unit,
                ..
            }) = piece.first()
            else {
                continue;
            };
            let place = if category.is_empty() {
                suite
            } else {
                &category
            };
            let mut title = format!("{variant}: {place}");
            if pieces > 1 {
                title.push_str(&format!(", {} of {pieces}", number + 1));
            }
            let all: Vec<Bar> = piece
                .iter()
                .map(|row| Bar {
                    name: within_category(&row.about.id, &category),
                    ..row.bar.clone()
                })
                .collect();
            found.push((
                row("variant", &title, "", about),
                bars(metric, unit, &title, &all),
            ));
        }
    }
    let mut rows = Vec::new();
    let mut charts: Vec<Chart> = Vec::new();
    let mut files = 0;
    for (mut row, chart) in found {
        row.file = format!("{file}.charts{files}");
        row.at = charts.len();
        charts.push(chart);
        rows.push(row);
        if charts.len() >= CHARTS {
            write_charts(directory, file, files, &std::mem::take(&mut charts))?;
            files += 1;
        }
    }
    if !charts.is_empty() {
        write_charts(directory, file, files, &charts)?;
    }
    Ok(rows)
}

fn write_charts(
    directory: &Directory,
    file: &str,
    number: usize,
    charts: &[Chart],
) -> Result<(), DirectoryError> {
    let name = format!("{file}.charts{number}");
    directory.write(&format!("data/{name}.js"), &side_file(&name, &charts))
}

/// Returns the id without the folder that the title of the chart has.
fn within_category(id: &str, category: &str) -> String {
    let rest = id.strip_prefix(category);
    rest.and_then(|rest| rest.strip_prefix('/'))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(id)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_the_first_folder() {
        assert_eq!(category("benchmarks/test_a.py::test[x/y]"), "benchmarks");
        assert_eq!(category("test_a.py::test[x/y]"), "");
        for without in ["gzip[level=6]", "gzip -d /dev/null", "../x", "/bin/true"] {
            assert_eq!(category(without), "");
        }
        assert_eq!(
            within_category("benchmarks/test_a.py::test", "benchmarks"),
            "test_a.py::test"
        );
        assert_eq!(within_category("gzip", ""), "gzip");
    }
}
