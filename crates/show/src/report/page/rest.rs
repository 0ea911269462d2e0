//! The parts of the page that are read last: a script inserts them.

use maud::{Markup, html};

use super::BenchmarkPage;
use crate::report::environment::environments;
use crate::report::frame::{SitePage, url_part};
use crate::report::iterations;
use crate::report::sections::detection;
use crate::report::sections::environment_part::environment_part;
use crate::report::sections::remarks::remarks_part;
use crate::report::source::source_part;
use lapwing_model::text::{counted, grouped};

/// Returns what can be detected, the annotations, the environment and the source.
pub(super) fn rest(page: &BenchmarkPage<'_>) -> Markup {
    let observed = page
        .views
        .first()
        .map_or_else(Vec::new, |it| environments(page.data, &it.sample));
    html! {
        (raw_part(page))
        section #sensitivity aria-labelledby="sensitivity-title" {
            h2 #sensitivity-title { "Sensitivity" }
            @if let Some(first) = page.metrics.first() {
                (detection::sentence(page.detection, &first.name, page.site.options.detect))
            }
            (elsewhere(page))
        }
        (remarks_part(&page.site.remarks, page.data))
        (environment_part(&observed))
        (source_part(page.data))
    }
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

fn raw_part(page: &BenchmarkPage<'_>) -> Markup {
    let total = iterations(page.data);
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
