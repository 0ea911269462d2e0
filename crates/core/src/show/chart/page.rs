//! Several charts on one page that needs no other file and no network.

use std::path::Path;

use maud::{DOCTYPE, PreEscaped, html};
use serde_json::json;

use super::Chart;
use super::engine::{CHART_SCRIPT, ECHARTS};
use super::picture::{PAGE_STYLE, SaveError, script_json, write};

/// Saves charts as one HTML page, side by side where there is room.
///
/// # Errors
/// When the file cannot be written.
pub fn save_page(path: &Path, title: &str, charts: &[Chart]) -> Result<(), SaveError> {
    write(path, page(title, charts).as_bytes())
}

/// A chart is drawn once it comes into view: hundreds at once would take a while.
const DRAW_IN_VIEW: &str = "const seen=new IntersectionObserver((entries)=>{for(const entry of entries){\
if(!entry.isIntersecting)continue;seen.unobserve(entry.target);\
lapwingChart.show(entry.target,charts[Number(entry.target.dataset.chart)]);}},{rootMargin:\"400px\"});\
for(const element of document.querySelectorAll(\"[data-chart]\"))seen.observe(element);";

fn page(title: &str, charts: &[Chart]) -> String {
    let data = script_json(&json!(charts));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style {
                    (PreEscaped(PAGE_STYLE))
                    "body{max-width:110rem}h2{font-size:1rem;margin:0;overflow-wrap:anywhere}"
                    ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(36rem,100%),1fr));gap:1.5rem}"
                    "section{min-width:0}section p{font-size:.85rem}"
                }
            }
            body {
                main {
                    h1 { (title) }
                    p { (charts.len()) " charts. The wheel with Shift zooms, a double click shows all." }
                    div.charts {
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
                script { (PreEscaped(ECHARTS)) }
                script { (PreEscaped(CHART_SCRIPT)) }
                script { (PreEscaped(format!("const charts={data};{DRAW_IN_VIEW}"))) }
            }
        }
    }
    .into_string()
}
