//! The page of one benchmark.

use crate::EstimateText;
use maud::{Markup, html};
use serde::Serialize;

use super::environment::environments;
use super::frame::{PageFrame, SitePage, trace_part, url_part};
use super::headline::{Headline, News};
use super::index_parts::health::BenchmarkHealth;
use super::index_parts::row::{IndexRow, MetricIndexRows};
use super::index_parts::verdicts;
use super::parametrised::{test_name, test_slug};
use super::provenance::marked;
use super::sections::burn_in::BurnInRow;
use super::sections::detection::{self, DetectionRow};
use super::sections::environment_part::environment_part;
use super::sections::failures::{self, failures};
use super::sections::metric::{self, MetricSideFile};
use super::sections::raw::RawFileName;
use super::sections::remarks::remarks_part;
use super::source::source_part;
use super::{MetricView, ReportSite, changes};
use crate::quantity::round_percent;
use crate::sample::metric_title;
use crate::{CommitPages, NOISY};
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::text::{counted, grouped, plural};
use lapwing_model::{Id, InstanceOutcome, Outcome};
use lapwing_record::InstanceData;

/// The number of characters that the page shows of a text.
const SHOWN_CHARACTERS: usize = 160;

/// With more variants, a page has its first chart and the others folded.
const MANY_VARIANTS: usize = 6;

/// The content of a page.
#[derive(Debug)]
pub(super) struct BenchmarkPage<'a> {
    pub(super) data: &'a BenchmarkData,
    pub(super) slug: &'a str,
    pub(super) views: &'a [MetricView<'a>],
    pub(super) metrics: &'a [MetricIndexRows],
    pub(super) files: &'a [MetricSideFile],
    pub(super) raw_files: &'a [RawFileName],
    pub(super) run_files: &'a [String],
    pub(super) health: &'a BenchmarkHealth,
    pub(super) burn_in: Option<&'a BurnInRow>,
    pub(super) detection: &'a [DetectionRow],
    pub(super) site: &'a ReportSite,
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

/// Returns the page.
pub(super) fn page(page: &BenchmarkPage<'_>) -> String {
    let benchmark = &page.data.benchmark;
    let settings = BenchmarkPageSettings {
        page: "benchmark",
        benchmark: &benchmark.id,
        slug: page.slug,
        named: names_matter(page),
        folded: (page.metrics.iter()).any(|metric| metric.rows.len() > MANY_VARIANTS),
        metrics: page.files,
        raw: page.raw_files,
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
        headline: &Headline::new(News::Nothing, html! { (benchmark.id) }),
        class: "inner benchmark",
        skip: ("#metrics", "Skip to the numbers"),
        scripts: &[
            "echarts.js",
            "chart.js",
            "app.js",
            "charts.js",
            "run.js",
            "benchmark.js",
        ],
        data: None,
    };
    let main = html! {
        (description(page))
        p.hint #all-parametrisations hidden { a href=(format!("../test/{}.html", test_slug(&page.data.suite, &benchmark.id))) { "All parameters of " (test_name(&benchmark.id)) } }
        @if let Some(view) = &page.site.changes { (changes::section(view, page.slug)) }
        @if let Some(shown) = &page.site.comparisons { (verdicts::section(shown, page.slug, &benchmark.id)) }
        (sentence(page))
        @if let Some(first) = page.metrics.first() { (detection::sentence(page.detection, &first.name, page.site.options.detect)) }
        (elsewhere(page))
        (metric_part(page))
        (raw_part(page))
        (failure_part(page))
        (remarks_part(&page.site.remarks, page.data))
        (environment_part(&page.views.first().map_or_else(Vec::new, |it| environments(page.data, &it.sample))))
        (source_part(page.data))
    };
    let dialog = html! {
        dialog #trace aria-labelledby="trace-title" {
            h2 #trace-title {}
            div {}
            form method="dialog" { button { "Close" } }
        }
    };
    frame.html(page.site, &settings, &main, &dialog)
}

/// Returns links to the rows about the benchmark on the pages about all.
fn elsewhere(page: &BenchmarkPage<'_>) -> Markup {
    let fragment = format!(
        "#q={}&suite={}",
        url_part(&page.data.benchmark.id),
        url_part(&page.data.suite)
    );
    let pages = [
        SitePage::Variability,
        SitePage::Detection,
        SitePage::BurnIn,
        SitePage::Cleaning,
    ];
    html! {
        p.hint.elsewhere {
            "Among all benchmarks: "
            @for (at, it) in pages.into_iter().filter(|it| page.site.has(*it)).enumerate() {
                @if at > 0 { " · " }
                a href=(format!("../{}{fragment}", it.file())) { (it.title().to_lowercase()) }
            }
        }
    }
}

fn description(page: &BenchmarkPage<'_>) -> Markup {
    let benchmark = &page.data.benchmark;
    html! {
        p.description {
            span { "suite " a href=(format!("../index.html#suite={}", url_part(&page.data.suite))) { (page.data.suite) } }
            @for tag in &benchmark.tags {
                " · " a href=(format!("../index.html#tag={}", url_part(tag))) { "#" (tag) }
            }
            @for (name, value) in &benchmark.params {
                " · " span { (name) " = " (value.as_str().map_or_else(|| value.to_string(), str::to_owned)) }
            }
        }
    }
}

/// Returns what the latest runs say by the first metric, in words.
fn sentence(page: &BenchmarkPage<'_>) -> Markup {
    let Some(MetricIndexRows {
        name: metric,
        unit,
        rows,
    }) = page.metrics.first()
    else {
        return html! {};
    };
    let mut rows: Vec<&IndexRow> = rows.iter().collect();
    rows.sort_by_key(|row| row.urgency());
    let sentence = |row: &IndexRow| {
        html! {
            p.answer {
                @if row.named { span.dot data-colour=(row.colour) {} strong { (row.variant) } ": " }
                @let estimate = page.views.first().and_then(|view| {
                    view.latest(&row.variant).and_then(|(_, estimate)| estimate)
                });
                @if let Some(estimate) = estimate {
                    (metric_title(metric)) " " strong { (estimate.text(unit)) } " in the run of " (row.run)
                    @if !row.change_text.is_empty() {
                        ", " strong { (row.change_text) } " " (row.change_interval) " " (row.change_against)
                    } @else if !row.change_against.is_empty() {
                        ", " (row.change_against)
                    }
                    "."
                    @if !row.left_out.is_empty() { " Excluded: " (row.left_out) "." }
                } @else if !row.summary.is_empty() {
                    (metric_title(metric)) " " strong { (row.value_text) } " " (row.spread_text)
                    " in the run of " (row.run) ": " (row.summary) "; the source kept no samples."
                } @else if row.skipped {
                    "The run of " (row.run) " was " strong { "skipped" }
                    @if let Some(message) = skipped_because(page.data, &row.run_id) { ": " (message) }
                    "."
                } @else if row.left_out.is_empty() {
                    "The run of " (row.run) " has no value."
                    @if row.failures > 0 { " " a href="#failures" { "What failed" } }
                } @else {
                    "No iteration of the run of " (row.run) " gave a value ("
                    (row.left_out) "). " a href="#failures" { "What failed" }
                }
            }
        }
    };
    let sentences: Vec<Markup> = rows.into_iter().map(sentence).collect();
    html! {
        (first_open(&sentences, OPEN_VARIANTS, "more variant"))
        (advice(page))
    }
}

/// The number of variants whose latest results are in sentences of their own; those of others are folded.
const OPEN_VARIANTS: usize = 3;

/// Returns the first parts, and the others folded under their number.
pub(super) fn first_open(parts: &[Markup], open: usize, others: &str) -> Markup {
    let (first, folded) = parts.split_at(parts.len().min(open));
    html! {
        @for part in first { (part) }
        @if !folded.is_empty() {
            details { summary { (counted(folded.len(), others)) } @for part in folded { (part) } }
        }
    }
}

/// Returns what a run says of why it was skipped.
fn skipped_because(data: &BenchmarkData, run: &Id) -> Option<String> {
    let instances = data.instances.iter().filter(|it| it.run.id == *run);
    let mut messages = instances.filter_map(|instance| {
        let ended = instance.end.as_ref().and_then(|end| end.message.as_deref());
        ended.or(instance
            .iterations
            .messages
            .first_key_value()
            .map(|(_, text)| text.as_str()))
    });
    let message = messages.find(|text| !text.trim().is_empty())?;
    let last = message.trim().lines().last().unwrap_or_default();
    // pytest begins so.
    let last = last.strip_prefix("Skipped: ").unwrap_or(last);
    Some(
        last.trim_end_matches('.')
            .chars()
            .take(SHOWN_CHARACTERS)
            .collect(),
    )
}

/// Returns what stands in the way of trusting the numbers, and what helps.
fn advice(page: &BenchmarkPage<'_>) -> Markup {
    let health = page.health;
    let imported = page.views.first().is_some_and(|view| {
        let last = view.sample.runs.last();
        last.is_some_and(|run| run.imported_from.is_some())
    });
    let notes = page.views.first().map(metric::notes).unwrap_or_default();
    html! {
        ul.advice {
            @if health.few_instances {
                li { "Fewer than 3 instances: two runs cannot be compared, only longer histories. "
                    code { "lapwing run --instances 5" } " measures enough for a first answer." }
            }
            @for note in &notes {
                li { (marked(note)) }
            }
            @if health.noisy {
                li { "Noisy: it varies by more than " (round_percent(NOISY)) " between instances. More instances narrow the interval; "
                    code { "lapwing doctor" } " checks the machine." }
            }
            @if health.failures > 0 {
                li { (grouped(health.failures)) (plural(health.failures, " failure", " failures")) " in the latest runs: " a href="#failures" { "failed or timed out" } ". Such values don't count." }
            }
            @if health.lost > 0 {
                li {
                    (grouped(health.lost)) (plural(health.lost, " instance of the latest runs was", " instances of the latest runs were"))
                    " cut short, because the machine or the session ended: not counted."
                }
            }
            @if page.views.first().is_some_and(|view| view.sample.runs.len() == 1) {
                li {
                    "One run so far: a history appears with the next "
                    @if imported { "import" } @else { code { "lapwing run" } } "."
                }
            }
        }
    }
}

fn names_matter(page: &BenchmarkPage<'_>) -> bool {
    let mut rows = page.metrics.iter().flat_map(|metric| &metric.rows);
    rows.any(|row| row.named)
}

/// A table of more metrics is folded.
const OPEN_METRICS: usize = 4;
const OPEN_ROWS: usize = 12;

/// Returns the table of all metrics, whose names choose what is drawn below.
fn metric_table(page: &BenchmarkPage<'_>) -> Markup {
    let named = names_matter(page);
    let rows: usize = page.metrics.iter().map(|metric| metric.rows.len()).sum();
    html! {
        section aria-labelledby="metrics" {
            h2 #metrics tabindex="-1" { "Metrics" }
            details open[page.metrics.len() <= OPEN_METRICS && rows <= OPEN_ROWS] {
            summary { (counted(page.metrics.len(), "metric")) " of the latest runs" }
            div.scroll tabindex="0" role="region" aria-label="Table of metrics" {
            table {
                thead { tr {
                    th scope="col" { @if named { "metric, variant" } @else { "metric" } }
                    th.number scope="col" { "latest value" } th.number scope="col" { "95 % CI" }
                    th.number scope="col" { "change" } th.number scope="col" { "cv" } th.number scope="col" { "instances × iterations" }
                } }
                tbody {
                    @for MetricIndexRows { name, rows, .. } in page.metrics {
                        @for (position, row) in rows.iter().enumerate() {
                            tr {
                                td {
                                    @if position == 0 { a data-metric=(name) href=(format!("#metric={}", url_part(name))) { (metric_title(name)) } }
                                    @if named { span.of-variant { span.dot data-colour=(row.colour) {} (row.variant) } }
                                }
                                td.number {
                                    @if row.value.is_some() {
                                        a.trace href=(format!("#{}", trace_part(name, &row.run_id))) { (row.value_text) }
                                    } @else { (row.value_text) }
                                    @if !row.spread_text.is_empty() { " " (row.spread_text) }
                                    @if row.retired { small.attention { " retired" } }
                                }
                                td.number { (row.interval_text) }
                                td.number title=(row.change_against) { (row.change_words()) }
                                td.number { (row.cv_text) }
                                @if row.summary.is_empty() {
                                    td.number title=(if row.left_out.is_empty() { "nothing was excluded".to_owned() } else { format!("excluded: {}", row.left_out) }) { (row.size) }
                                } @else {
                                    td.number title="a summary of the source, which kept no samples" { span.summary { "summary" } " " (row.summary) }
                                }
                            }
                        }
                    }
                }
            }
            }
            p.hint { "Changes are judged here from this benchmark alone. The index and " code { "lapwing compare" } " judge all benchmarks together, whose common noise makes intervals narrower or wider." }
            }
        }
    }
}

/// Returns how charts are zoomed, with a mouse and keys or with fingers.
pub(super) fn zoom_hint() -> Markup {
    html! {
        p.hint.zoom {
            span.with-mouse { "Zoom in with Shift and the wheel, up and down with Ctrl and the wheel; a double click shows everything again. In a chart that has the focus, + and − zoom, arrows move, 0 shows everything." }
            span.with-fingers { "Zoom in with two fingers, or with + and − above a chart; Reset zoom shows everything again." }
        }
    }
}

fn metric_part(page: &BenchmarkPage<'_>) -> Markup {
    html! {
        section #charts aria-labelledby="charts-title" {
            h2 #charts-title tabindex="-1" { (page.files.first().map_or_else(String::new, |file| metric_title(&file.name))) }
            @if page.metrics.len() > 1 {
                p.hint.choose-metric { "Metric: "
                    @for (at, it) in page.metrics.iter().enumerate() {
                        @if at > 0 { " · " }
                        a data-metric=(it.name) href=(format!("#metric={}", url_part(&it.name))) { (metric_title(&it.name)) }
                    }
                }
            }
            (zoom_hint())
            div.notes {}
            div.charts {}
            noscript { p { "Charts and tables below need JavaScript." } }
        }
        (metric_table(page))
        section #runs aria-labelledby="runs-title" {
            h2 #runs-title { "Runs" }
            p.hint { "Click an underlined number for details: its instances, their iterations, and what was excluded." }
            div.content {}
        }
    }
}

fn raw_part(page: &BenchmarkPage<'_>) -> Markup {
    let total = super::iterations(page.data);
    html! {
        section #iterations aria-labelledby="iterations-title" {
            h2 #iterations-title { "Iterations" }
            @if total == 0 {
                @let summarised = page.data.instances.iter().any(|it| !it.summaries.is_empty());
                p.hint { @if summarised { "None: the source kept summaries and no samples." } @else { "None: nothing came to an iteration." } }
            } @else if page.raw_files.is_empty() {
                p.hint { "Of " (counted(total, "iteration")) ", this report has the results and no table: " code { "lapwing report --raw" } " adds one, " code { "lapwing export" } " exports them." }
            } @else {
                p.hint { "All " (grouped(total)) " iterations, newest run first, as they were measured." }
                p.buttons {
                    button type="button" data-action="show-raw" { "Show the table" } " "
                    button type="button" data-action="save-raw" { "Save as CSV" }
                }
            }
            div.content {}
        }
    }
}

fn failure_part(page: &BenchmarkPage<'_>) -> Markup {
    let (failures, total) = failures(page.data);
    html! {
        section #failures aria-labelledby="failures-title" {
            h2 #failures-title { "Failures" }
            @if failures.is_empty() {
                p.hint { (nothing_failed(page.data)) }
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
        }
    }
}

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
        "No failures.".to_owned()
    } else {
        format!("None; {}.", parts.join(", and "))
    }
}
