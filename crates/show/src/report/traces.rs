//! The traces of the report: a timeline for each, and a list of them with what each found.

use std::io::Write;

use lapwing_model::Run;
use lapwing_model::text::counted;
use lapwing_record::TraceHead;
use lapwing_trace::{Trace, find};
use maud::html;

use super::ReportSite;
use super::directory::DirectoryError;
use super::frame::{SitePage, write_list_page};
use super::headline::{Headline, News};
use super::slug::slug;
use crate::trace::{LanesPage, finding_text, headline, no_finding, path_notes};

/// A trace on the list.
#[derive(Debug)]
pub(super) struct TraceRow {
    title: String,
    /// Its page; `None` without times.
    page: Option<String>,
    headline: String,
    sentences: Vec<String>,
}

/// Writes the timeline of a trace.
pub(super) fn write_page(
    site: &ReportSite,
    head: &TraceHead,
    trace: &Trace,
) -> Result<TraceRow, DirectoryError> {
    let title = title(head);
    let Some(found) = find(trace) else {
        return Ok(TraceRow {
            title,
            page: None,
            headline: "its tasks have no times".to_owned(),
            sentences: Vec::new(),
        });
    };
    let sentences = found.causes.findings.iter();
    let sentences = sentences.map(|finding| finding_text(trace, &found, finding).replace('`', ""));
    let none = found.causes.findings.is_empty().then(|| no_finding(&found));
    let headline = headline(trace, &found);
    let page = LanesPage {
        trace,
        found: &found,
        title: &title,
        summary: &headline,
        list: Some("../traces.html"),
        other: None,
    };
    let name = slug(&head.instance.to_string(), &head.benchmark);
    site.directory
        .write_trace(&name, |file: &mut dyn Write| page.write(file))?;
    Ok(TraceRow {
        page: Some(name),
        headline: headline.clone(),
        sentences: sentences
            .chain(none)
            .chain(path_notes(&found).into_iter().map(|note| note.text))
            .collect(),
        title,
    })
}

/// Returns what a trace is of: its benchmark, its variant and version if it has any, and when it was made.
fn title(head: &TraceHead) -> String {
    /// A commit is known by its first digits.
    const DIGITS: usize = 10;
    let version = head.version.as_deref().unwrap_or_default();
    let is_commit = version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = if is_commit {
        &version[..DIGITS]
    } else {
        version
    };
    let variant = match head.variant.as_str() {
        Run::DEFAULT_VARIANT => "",
        variant => variant,
    };
    let day = head.started.strftime("%Y-%m-%d %H:%M").to_string();
    let parts = [head.benchmark.as_str(), variant, version, day.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// Writes the list of traces, if there are any.
pub(super) fn write_list(site: &ReportSite, rows: &[TraceRow]) -> Result<(), DirectoryError> {
    if !site.contents.traces {
        return Ok(());
    }
    let main = html! {
        @for row in rows {
            h2 {
                @match &row.page {
                    Some(page) => a href=(format!("trace/{page}.html")) { (row.title) },
                    None => (row.title),
                }
            }
            p { (row.headline) "." }
            ul { @for sentence in &row.sentences { li { (sentence) } } }
        }
    };
    let headline = Headline::new(News::Nothing, html! { (counted(rows.len(), "trace")) });
    write_list_page(site, SitePage::Traces, &headline, &main)
}
