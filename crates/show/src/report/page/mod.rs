//! The page of one benchmark.

mod answer;
mod metrics;
mod rest;

use maud::{Markup, html};
use serde::Serialize;

use super::data_pack::DataPack;
use super::directory::DirectoryError;
use super::frame::{PageFrame, url_part};
use super::index_parts::health::BenchmarkHealth;
use super::index_parts::row::MetricIndexRows;
use super::index_parts::verdicts;
use super::parametrised::test_slug;
use super::sections::burn_in::BurnInRow;
use super::sections::detection::DetectionRow;
use super::sections::failures::{self, failures};
use super::sections::metric::MetricSideFile;
use super::sections::raw::RawFileName;
use super::{MetricView, ReportSite, changes};
use crate::CommitPages;
use crate::sample::metric_title;
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::text::{counted, grouped, plural};
use lapwing_model::{InstanceOutcome, Outcome};
use lapwing_record::InstanceData;

/// With more variants, a page has its first chart and the others folded.
const MANY_VARIANTS: usize = 6;

/// The content of a page.
#[derive(Debug)]
pub(in crate::report) struct BenchmarkPage<'a> {
    pub(in crate::report) data: &'a BenchmarkData,
    pub(in crate::report) slug: &'a str,
    pub(in crate::report) views: &'a [MetricView<'a>],
    pub(in crate::report) metrics: &'a [MetricIndexRows],
    pub(in crate::report) files: &'a [MetricSideFile],
    pub(in crate::report) raw_files: &'a [RawFileName],
    pub(in crate::report) run_files: &'a [String],
    pub(in crate::report) health: &'a BenchmarkHealth,
    pub(in crate::report) burn_in: Option<&'a BurnInRow>,
    pub(in crate::report) detection: &'a [DetectionRow],
    pub(in crate::report) site: &'a ReportSite,
}

/// Settings of the page's script.
#[derive(Serialize)]
struct BenchmarkPageSettings<'a> {
    page: &'static str,
    benchmark: &'a str,
    slug: &'a str,
    /// Whether the names of variants are shown.
    named: bool,
    /// Whether there are so many variants that charts besides the first are folded.
    folded: bool,
    metrics: &'a [MetricSideFile],
    raw: &'a [RawFileName],
    /// The parts that are read last, as HTML.
    rest: &'a str,
    /// The side files with details of runs, newest first.
    runs: &'a [String],
    /// The page of all parametrisations of the test, should there be one.
    #[serde(skip_serializing_if = "String::is_empty")]
    test: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    burn_in: Option<BurnInFile<'a>>,
    /// The web pages of its commits, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    commits: Option<&'a CommitPages>,
}

/// The chart of how the benchmark gets steady.
#[derive(Serialize)]
struct BurnInFile<'a> {
    metric: &'a str,
    file: &'a str,
}

/// Returns the page; its content is in a side file, and so is what is read last.
///
/// # Errors
/// When the side file cannot be written.
pub(in crate::report) fn page(
    page: &BenchmarkPage<'_>,
    pack: &mut DataPack,
) -> Result<String, DirectoryError> {
    let benchmark = &page.data.benchmark;
    let rest = pack.add(
        &format!("{}.rest", page.slug),
        &rest::rest(page).into_string(),
    )?;
    let settings = BenchmarkPageSettings {
        page: "benchmark",
        benchmark: &benchmark.id,
        slug: page.slug,
        named: names_matter(page),
        folded: (page.metrics.iter()).any(|metric| metric.rows.len() > MANY_VARIANTS),
        metrics: page.files,
        raw: page.raw_files,
        rest: &rest,
        runs: page.run_files,
        test: test_slug(&page.data.suite, &benchmark.id),
        burn_in: page
            .burn_in
            .filter(|it| !it.chart().is_empty())
            .map(|it| BurnInFile {
                metric: it.metric(),
                file: it.chart(),
            }),
        commits: (page.site.changes.as_ref()).and_then(|it| it.commit_pages(&page.data.suite)),
    };
    let frame = PageFrame {
        page: None,
        name: &benchmark.id,
        headline: &answer::headline(page),
        class: "inner benchmark",
        skip: ("#metrics", "Skip to the numbers"),
        scripts: &[
            "echarts.js",
            "chart.js",
            "charts.js",
            "run.js",
            "benchmark.js",
        ],
    };
    let main = html! {
        (chart_part(page))
        (metrics::table(page))
        (found_part(page))
        section #more-charts hidden aria-label="More charts" { div.charts {} }
        section #runs aria-labelledby="runs-title" {
            h2 #runs-title { "Runs" }
            div.content {}
        }
        (failure_part(page))
        div #rest {}
    };
    let dialog = html! {
        dialog #trace aria-labelledby="trace-title" {
            h2 #trace-title {}
            div {}
            form method="dialog" { button { "Close" } }
        }
    };
    let name = format!("{}.page", page.slug);
    frame.short_html(page.site, &settings, (&main, &dialog), (pack, &name))
}

/// Returns all that the history and the comparisons say, where that is more than the headline.
fn found_part(page: &BenchmarkPage<'_>) -> Markup {
    let in_history = (page.site.changes.as_ref()).map(|it| changes::section(it, page.slug));
    let compared = (page.site.comparisons.as_ref())
        .map(|it| verdicts::section(it, page.slug, &page.data.benchmark.id));
    let parts: Vec<Markup> = [compared, in_history].into_iter().flatten().collect();
    // A single open change is the headline already.
    let is_more = page.site.comparisons.is_some()
        || (page.site.changes.as_ref()).is_some_and(|it| it.has_more_than_headline(page.slug));
    let is_more = is_more && parts.iter().any(|it| !it.0.is_empty());
    html! {
        @if is_more {
            section #found aria-labelledby="found-title" {
                h2 #found-title { "Verdicts" }
                @for part in &parts { (part) }
            }
        }
    }
}

/// Returns the first parts, and the others folded under their number.
pub(in crate::report) fn first_open(parts: &[Markup], open: usize, others: &str) -> Markup {
    let (first, folded) = parts.split_at(parts.len().min(open));
    html! {
        @for part in first { (part) }
        @if !folded.is_empty() {
            details { summary { (counted(folded.len(), others)) } @for part in folded { (part) } }
        }
    }
}

fn names_matter(page: &BenchmarkPage<'_>) -> bool {
    let mut rows = page.metrics.iter().flat_map(|metric| &metric.rows);
    rows.any(|row| row.named)
}

/// Returns the section of the first charts.
fn chart_part(page: &BenchmarkPage<'_>) -> Markup {
    html! {
        section #charts aria-labelledby="charts-title" {
            h2.unseen #charts-title tabindex="-1" { (page.files.first().map_or_else(String::new, |file| metric_title(&file.name))) }
            @if page.metrics.len() > 1 {
                p.hint.choose-metric {
                    @for (at, it) in page.metrics.iter().enumerate() {
                        @if at > 0 { " · " }
                        a data-metric=(it.name) href=(format!("#metric={}", url_part(&it.name))) { (metric_title(&it.name)) }
                    }
                }
            }
            div.notes {}
            div.charts {}
        }
    }
}

fn failure_part(page: &BenchmarkPage<'_>) -> Markup {
    let (failures, total) = failures(page.data);
    let ended = nothing_failed(page.data);
    html! {
        @if !failures.is_empty() || ended != NO_FAILURES { section #failures aria-labelledby="failures-title" {
            h2 #failures-title { "Failures" }
            @if failures.is_empty() {
                p.hint { (ended) }
            } @else {
                @if total > failures::SHOWN {
                    p.hint { "The latest " (failures::SHOWN) " of " (grouped(total))
                        @if !page.raw_files.is_empty() { "; the table of iterations has them all" } "." }
                }
                @for failure in &failures {
                    details {
                        summary { strong { (failure.what) } ", " (failure.place) }
                        @if failure.message.is_empty() {
                            p.hint { "It left no message." }
                        } @else {
                            pre tabindex="0" { (failure.message) }
                        }
                    }
                }
            }
        } }
    }
}

const NO_FAILURES: &str = "No failures.";

/// Returns how what did not fail ended.
fn nothing_failed(data: &BenchmarkData) -> String {
    let number =
        |test: fn(&InstanceData) -> bool| data.instances.iter().filter(|it| test(it)).count();
    let skipped = number(|instance| {
        let iterations = instance.iterations.outcome.contains(&Outcome::Skipped);
        let ended = instance.end.as_ref();
        iterations || ended.is_some_and(|end| end.outcome == InstanceOutcome::Skipped)
    });
    let without_end = number(|it| it.end.is_none());
    let mut parts = Vec::new();
    if skipped > 0 {
        let what = counted(skipped, "instance");
        parts.push(format!("{what} {} skipped", plural(skipped, "was", "were")));
    }
    if without_end > 0 {
        parts.push(format!(
            "{} {} no end, because {} under way or the writer died",
            counted(without_end, "instance"),
            plural(without_end, "has", "have"),
            plural(without_end, "it is", "they are"),
        ));
    }
    if parts.is_empty() {
        NO_FAILURES.to_owned()
    } else {
        format!("None; {}.", parts.join(", and "))
    }
}
