//! The traces of the report: a timeline for each, and a list of them with what each found.

use lapwing_model::Run;
use lapwing_model::text::counted;
use lapwing_record::TraceHead;
use lapwing_trace::{Trace, find};
use maud::html;
use serde_json::json;

use super::ReportSite;
use super::directory::DirectoryError;
use super::directory::TRACE;
use super::frame::{PageFrame, SitePage, write_list_page};
use super::headline::{Headline, News};
use super::slug::slug;
use crate::trace::{LanesPage, trace_answer};

/// A trace on the list.
#[derive(Debug)]
pub(super) struct TraceRow {
    title: String,
    /// Its page; `None` without times.
    page: Option<String>,
    /// Its most important finding.
    answer: String,
    facts: Vec<String>,
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
            answer: "Its tasks have no times".to_owned(),
            facts: Vec::new(),
        });
    };
    let (answer, facts) = trace_answer(trace, &found);
    let name = slug(&head.instance.to_string(), &head.benchmark);
    let row = TraceRow {
        page: Some(name.clone()),
        answer,
        facts,
        title,
    };
    let page = LanesPage {
        trace,
        found: &found,
        title: &row.title,
        answer: &row.answer,
        facts: &row.facts,
        other: None,
    };
    let stage = page.stage().map_err(|source| DirectoryError::Io {
        path: name.clone().into(),
        source,
    })?;
    let frame = PageFrame {
        page: None,
        name: &row.title,
        headline: &Headline {
            about: Some(html! { "Trace of " (row.title) }),
            ..row.answer()
        },
        class: "inner lanes",
        skip: ("#canvas", "Skip to the timeline"),
        scripts: &["app.js", "lanes.js"],
    };
    let html = frame.html(site, &json!({"page": "trace"}), &stage, &html! {});
    site.directory.write_in(TRACE, &name, &html)?;
    Ok(row)
}

/// Returns the answer of the newest trace, with a link to it.
pub(super) fn answer(rows: &[TraceRow]) -> Headline {
    let Some(row) = rows.first() else {
        return Headline::default();
    };
    let name = html! {
        @match &row.page {
            Some(page) => a href=(format!("trace/{page}.html")) { (row.title) },
            None => (row.title),
        }
    };
    Headline {
        about: Some(html! {
            @if rows.len() > 1 { (counted(rows.len(), "trace")) "; the newest: " } @else { "Trace of " }
            (name)
        }),
        ..row.answer()
    }
}

impl TraceRow {
    fn answer(&self) -> Headline {
        Headline {
            facts: self
                .facts
                .first()
                .map(|it| html! { (it) "." })
                .into_iter()
                .collect(),
            ..Headline::new(News::Nothing, html! { (self.answer) })
        }
    }
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
            p { (row.answer) "." }
            ul { @for fact in &row.facts { li { (fact) } } }
        }
    };
    let headline = Headline::new(News::Nothing, html! { (counted(rows.len(), "trace")) });
    write_list_page(site, SitePage::Traces, &headline, &main)
}
