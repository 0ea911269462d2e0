//! The table of all metrics by the latest runs; the names choose what is drawn.

use maud::{Markup, html};

use super::{BenchmarkPage, names_matter};
use crate::report::frame::{trace_part, url_part};
use crate::report::index_parts::row::{IndexRow, MetricIndexRows};
use crate::sample::metric_title;
use lapwing_analyse::judge::INSTANCES_FOR_A_VERDICT;
use lapwing_model::text::counted;

/// A table of more metrics is folded.
const OPEN_METRICS: usize = 8;
const OPEN_ROWS: usize = 12;

/// More variants than this have rows of their own and no columns.
const MOST_COLUMNS: usize = 3;

/// The explanation of the column of noise.
const CV: &str = "coefficient of variation of the instances' means";

/// Returns the table: a row per metric, with the variants in columns where there are a few.
pub(super) fn table(page: &BenchmarkPage<'_>) -> Markup {
    let variants = variants(page);
    let rows: usize = page.metrics.iter().map(|metric| metric.rows.len()).sum();
    let in_columns = names_matter(page) && (2..=MOST_COLUMNS).contains(&variants.len());
    let shown = if in_columns { page.metrics.len() } else { rows };
    html! {
        section aria-labelledby="metrics" {
            h2 #metrics tabindex="-1" { "Metrics" }
            details open[page.metrics.len() <= OPEN_METRICS && shown <= OPEN_ROWS] {
                summary { (counted(page.metrics.len(), "metric")) " of the latest runs" }
                div.scroll tabindex="0" role="region" aria-label="Table of metrics" {
                    @if in_columns { (by_variant(page, &variants)) } @else { (by_row(page)) }
                }
            }
        }
    }
}

/// Returns the names and colours of the variants, as the metrics have them.
fn variants<'a>(page: &BenchmarkPage<'a>) -> Vec<(&'a str, usize)> {
    let mut variants: Vec<(&str, usize)> = Vec::new();
    for row in page.metrics.iter().flat_map(|it| &it.rows) {
        if !variants.iter().any(|it| it.0 == row.variant) {
            variants.push((&row.variant, row.colour));
        }
    }
    variants
}

fn metric_link(name: &str) -> Markup {
    html! { a data-metric=(name) href=(format!("#metric={}", url_part(name))) { (metric_title(name)) } }
}

fn by_row(page: &BenchmarkPage<'_>) -> Markup {
    let named = names_matter(page);
    let has_since = page.site.changes.is_some();
    html! {
        table {
            thead { tr {
                th scope="col" { @if named { "metric, variant" } @else { "metric" } }
                th.number scope="col" { "latest [95 % CI]" }
                th.number scope="col" { "change" }
                @if has_since { th scope="col" { "since" } }
                th.number scope="col" title=(CV) { "CV of means" }
                th.number scope="col" { "instances × iterations" }
            } }
            tbody {
                @for MetricIndexRows { name, rows, .. } in page.metrics {
                    @for (position, row) in rows.iter().enumerate() {
                        tr {
                            td {
                                @if position == 0 { (metric_link(name)) }
                                @if named { span.of-variant { span.dot data-colour=(row.colour) {} (row.variant) } }
                            }
                            td.number { (latest(name, row)) }
                            td.number title=[against(row)] { (row.change_words()) }
                            @if has_since { td { (since(row)) } }
                            td.number { (row.cv_text) }
                            td.number title=[left_out(row)] { (size(row)) }
                        }
                    }
                }
            }
        }
    }
}

fn by_variant(page: &BenchmarkPage<'_>, variants: &[(&str, usize)]) -> Markup {
    html! {
        table.variants {
            thead { tr {
                th scope="col" { "metric" }
                @for (name, colour) in variants { th scope="col" { span.dot data-colour=(colour) {} (name) } }
            } }
            tbody {
                @for MetricIndexRows { name, rows, .. } in page.metrics {
                    tr {
                        td { (metric_link(name)) }
                        @for (variant, _) in variants {
                            td {
                                @if let Some(row) = rows.iter().find(|it| it.variant == *variant) {
                                    (latest(name, row))
                                    @let change = row.change_words();
                                    @if !change.trim().is_empty() { small title=[against(row)] { (change) } }
                                    @if !row.since.since.is_empty() { small { (since(row)) } }
                                    small title=[left_out(row)] {
                                        @if !row.cv_text.is_empty() { span title=(CV) { "CV of means " (row.cv_text) } ", " }
                                        (size(row))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the latest value with its interval, with a link to what it rests on.
fn latest(metric: &str, row: &IndexRow) -> Markup {
    html! {
        @if row.value.is_some() {
            a.trace href=(format!("#{}", trace_part(metric, &row.run_id))) { (row.value_text) }
        } @else { (row.value_text) }
        @if !row.interval_text.is_empty() { " [" (row.interval_text) "]" }
        @if !row.spread_text.is_empty() { " " (row.spread_text) }
        @if row.retired { small { " retired" } }
    }
}

fn since(row: &IndexRow) -> Markup {
    let since = &row.since;
    html! {
        @if !since.since.is_empty() {
            a class=(format!("since {}", since.since_direction)) href=(format!("../{}", since.since_link)) title=(since.since_title) { (since.since) }
        }
    }
}

fn size(row: &IndexRow) -> Markup {
    html! {
        @if row.summary.is_empty() { (row.size) } @else { span.summary { "summary" } " " (row.summary) }
    }
}

/// Returns what the change is against; of what rests on few instances the table of runs says it at length.
fn against(row: &IndexRow) -> Option<&str> {
    let is_compared = row.instances >= INSTANCES_FOR_A_VERDICT || row.new_epoch;
    is_compared.then_some(row.change_against.as_str())
}

fn left_out(row: &IndexRow) -> Option<String> {
    if !row.summary.is_empty() {
        return Some("a summary of the source, which kept no samples".to_owned());
    }
    (!row.left_out.is_empty()).then(|| format!("excluded: {}", row.left_out))
}
