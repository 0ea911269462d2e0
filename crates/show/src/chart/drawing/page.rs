//! Charts on one page that needs no other file and no network.

use std::path::Path;

use maud::{Markup, PreEscaped, html};
use serde_json::json;

use super::super::Chart;
use super::engine::{CHART_SCRIPT, ECHARTS};
use super::picture::{SaveError, write};
use crate::document::{html_document, theme_script};

/// The style of a page of charts.
const PAGE_STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}\
@media(prefers-color-scheme:dark){body{background:#15181c;color:#e4e7eb}}\
h1{font-size:1.25rem;margin:0;overflow-wrap:anywhere}p{margin:.25rem 0 1rem}\
.chart-tooltip{display:grid;grid-template-columns:auto auto;gap:0 .75rem;margin:0}.chart-tooltip dt{opacity:.75}.chart-tooltip dd{margin:0}\
.chart-tooltip dt:empty{display:none}.chart-tooltip dt:empty+dd{grid-column:1/-1;font-weight:600}";

/// The style of a page of several charts.
const SEVERAL_STYLE: &str = "body{max-width:110rem}h2{font-size:1rem;margin:0;overflow-wrap:anywhere}\
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(36rem,100%),1fr));gap:1.5rem}\
section{min-width:0}section p{font-size:.85rem}";

/// Saves charts as one HTML page, side by side where there is room.
///
/// # Errors
/// When the file cannot be written.
pub fn save_page(path: &Path, title: &str, charts: &[Chart]) -> Result<(), SaveError> {
    write(path, charts_page(title, charts).as_bytes())
}

/// Sentences of a page, under a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSection {
    /// The title.
    pub title: String,
    /// The sentences, one per item.
    pub sentences: Vec<String>,
}

/// Saves a page with sentences first, and charts below them. It needs no other file and no network.
///
/// # Errors
/// When the file cannot be written.
pub fn save_page_with(
    path: &Path,
    title: &str,
    lead: &str,
    sections: &[PageSection],
    charts: &[Chart],
) -> Result<(), SaveError> {
    let main = html! {
        h1 { (title) }
        p { (lead) }
        @for section in sections {
            h2 { (section.title) }
            ul { @for sentence in &section.sentences { li { (sentence) } } }
        }
        (chart_grid(charts))
    };
    let page = chart_page(title, SEVERAL_STYLE, &main, charts, DRAW_IN_VIEW);
    write(path, page.as_bytes())
}

/// A chart is drawn once it comes into view: hundreds at once would take a while.
const DRAW_IN_VIEW: &str = "const seen=new IntersectionObserver((entries)=>{for(const entry of entries){\
if(!entry.isIntersecting)continue;seen.unobserve(entry.target);\
lapwingChart.show(entry.target,charts[Number(entry.target.dataset.chart)]);}},{rootMargin:\"400px\"});\
for(const element of document.querySelectorAll(\"[data-chart]\"))seen.observe(element);";

/// Returns a page with charts side by side where there is room. It needs no other file and no network.
pub fn charts_page(title: &str, charts: &[Chart]) -> String {
    let main = html! {
        h1 { (title) }
        p { (charts.len()) " charts. Shift and the wheel zoom, a double click shows everything." }
        (chart_grid(charts))
    };
    chart_page(title, SEVERAL_STYLE, &main, charts, DRAW_IN_VIEW)
}

/// Returns places for charts, which [`DRAW_IN_VIEW`] draws from a list `charts`.
fn chart_grid(charts: &[Chart]) -> Markup {
    html! {
        div.charts #charts {
            @for (at, chart) in charts.iter().enumerate() {
                section {
                    h2 { (chart.title) }
                    p { (chart.subtitle) }
                    div role="img" data-chart=(at)
                        aria-label=(format!("{}. {}", chart.title, chart.subtitle))
                        style=(format!("height:{}px", chart.height)) {}
                }
            }
        }
    }
}

/// Returns a page with these charts, which `script` draws.
pub(in crate::chart) fn chart_page(
    title: &str,
    style: &str,
    main: &Markup,
    charts: &[Chart],
    script: &str,
) -> String {
    // No text can close the script element.
    let data = json!(charts).to_string().replace('<', "\\u003c");
    let style = html! { style { (PreEscaped(PAGE_STYLE)) (PreEscaped(style)) } (theme_script()) };
    let body = html! {
        main { (main) }
        script { (PreEscaped(ECHARTS)) }
        script { (PreEscaped(CHART_SCRIPT)) }
        script { (PreEscaped(format!("const charts={data};{script}"))) }
    };
    html_document(title, &style, "", &body)
}
