//! The studies of the report: a page for each benchmark that was measured at combinations of factors, and a list of
//! them.

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::text::counted;
use lapwing_study::StudyData;
use lapwing_study::design::StudyDesign;
use maud::{Markup, PreEscaped, html};
use serde_json::json;

use super::ReportSite;
use super::directory::DirectoryError;
use super::frame::{PageFrame, SitePage, write_list_page};
use super::headline::{Headline, News};
use super::index_parts::columns::BenchmarkLink;
use crate::chart::{DRAW_IN_VIEW, chart_grid};
use crate::study::{StudyOverview, data_note};

/// A study on the list.
#[derive(Debug)]
pub(super) struct StudyRow {
    benchmark: BenchmarkLink,
    size: String,
    headline: String,
}

/// Returns whether some of these measurements are of a study.
pub(super) fn has_study(data: &BenchmarkData) -> bool {
    let mut instances = data.instances.iter();
    instances.any(|it| it.session.attributes.contains_key(StudyDesign::ATTRIBUTE))
}

/// Writes the page of a benchmark's study; `None` if it has none that can be analysed.
pub(super) fn write_page(
    site: &ReportSite,
    data: &BenchmarkData,
    rules: &CleaningRules,
    benchmark: &BenchmarkLink,
) -> Result<Option<StudyRow>, DirectoryError> {
    if !has_study(data) {
        return Ok(None);
    }
    let Ok(study) = StudyData::of(data, None, rules) else {
        return Ok(None);
    };
    let overview = StudyOverview::new(&study, None);
    let charts = overview.charts(&study);
    let charts: Vec<_> = charts.into_iter().map(|(_, chart)| chart).collect();
    let slug = &benchmark.slug;
    let main = html! {
        @for section in overview.sections(&study, false) {
            h2 { (section.title) }
            ul { @for sentence in &section.sentences { li { (sentence) } } }
        }
        @if !study.notes.is_empty() {
            h2 { "Notes" }
            ul { @for note in &study.notes { li { (data_note(note).text) } } }
        }
        (chart_grid(&charts))
    };
    // No text can close the script element.
    let data = json!(charts).to_string().replace('<', "\\u003c");
    let script = format!(
        "const charts={data};addEventListener(\"DOMContentLoaded\",()=>{{{DRAW_IN_VIEW}}});"
    );
    let below: Markup = html! { script { (PreEscaped(script)) } };
    let name = format!("Study of {}", benchmark.id);
    let frame = PageFrame {
        page: None,
        name: &name,
        headline: &Headline {
            about: Some(html! {
                "Study of " a href=(format!("../benchmark/{slug}.html")) { (benchmark.id) }
                " · " (study.metric.name.replace('_', " ")) " · " (study.size_text())
            }),
            ..Headline::new(News::Nothing, html! { (overview.headline) })
        },
        class: "study",
        skip: ("#charts", "Skip to the charts"),
        scripts: &["echarts.js", "chart.js", "app.js"],
        data: None,
    };
    let page = frame.html(site, &json!({}), &main, &below);
    site.directory.write_study(slug, &page)?;
    Ok(Some(StudyRow {
        benchmark: benchmark.clone(),
        size: study.size_text(),
        headline: overview.headline,
    }))
}

/// Writes the list of studies, if there are any.
pub(super) fn write_list(site: &ReportSite, rows: &[StudyRow]) -> Result<(), DirectoryError> {
    if !site.contents.studies {
        return Ok(());
    }
    let answer = if rows.is_empty() {
        "No study can be analysed: each needs values of one metric at several combinations of factors".to_owned()
    } else {
        counted(rows.len(), "study")
    };
    let headline = Headline::new(News::Nothing, html! { (answer) });
    let main = html! {
        ul.studies {
            @for row in rows {
                li {
                    a href=(format!("study/{}.html", row.benchmark.slug)) { (row.benchmark.id) }
                    ": " (row.headline) " (" (row.size) ")"
                }
            }
        }
    };
    write_list_page(site, SitePage::Studies, &headline, &main)
}
