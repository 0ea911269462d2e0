//! The studies of the report: a page for each benchmark that was measured at combinations of factors, and a list of
//! them.

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::text::counted;
use lapwing_study::StudyData;
use lapwing_study::design::StudyDesign;
use maud::{Markup, html};
use serde_json::json;

use super::ReportSite;
use super::contrasts::contrast_table;
use super::directory::{DirectoryError, STUDY};
use super::frame::{PageFrame, SitePage, write_list_page};
use super::headline::{Headline, News};
use super::index_parts::columns::BenchmarkLink;
use crate::study::{StudyOverview, data_note};

/// A study on the list.
#[derive(Debug)]
pub(super) struct StudyRow {
    benchmark: BenchmarkLink,
    size: String,
    headline: Headline,
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
    let file = format!("study-{slug}");
    let settings = json!({
        "page": "study",
        "slug": slug,
        "charts": site.write_data(&file, &charts)?,
    });
    let main = html! {
        (contrast_table(&overview.shown(false), &study, overview.scale))
        @if !study.notes.is_empty() {
            h2 { "Notes" }
            ul { @for note in &study.notes { li { (data_note(note).text) } } }
        }
        h2 { "Charts" }
        div.charts #charts {}
        noscript { p { "Charts need JavaScript." } }
    };
    let name = format!("Study of {}", benchmark.id);
    let size = study.size_text();
    let headline = headline(&overview, &study);
    let frame = PageFrame {
        page: None,
        name: &name,
        headline: &Headline {
            about: Some(html! {
                "Study of " a href=(format!("../benchmark/{slug}.html")) { (benchmark.id) }
                " · " (study.metric.name.replace('_', " ")) " · " (size)
            }),
            ..headline.clone()
        },
        class: "inner study",
        skip: ("#charts", "Skip to the charts"),
        scripts: &["echarts.js", "chart.js", "app.js", "charts.js", "study.js"],
    };
    let page = frame.html(site, &settings, &main, &html! {});
    site.directory.write_in(STUDY, slug, &page)?;
    Ok(Some(StudyRow {
        benchmark: benchmark.clone(),
        size,
        headline,
    }))
}

/// Returns the answer of a study: the setting to use, else what was found at all.
fn headline(overview: &StudyOverview, study: &StudyData) -> Headline {
    match overview.best(study) {
        None => Headline::new(News::Nothing, html! { (overview.headline) }),
        Some(best) => Headline {
            facts: vec![html! { (overview.counts(study)) "." }],
            ..Headline::new(News::Nothing, html! { (best) })
        },
    }
}

/// Returns the answer of the only study, with a link to it; of several their number.
pub(super) fn answer(rows: &[StudyRow]) -> Headline {
    match rows {
        [row] => Headline {
            about: Some(
                html! { "Study of " a href=(page_of(row)) { (row.benchmark.id) } " · " (row.size) },
            ),
            ..row.headline.clone()
        },
        [] => {
            let none = "No study can be analysed: each needs values of one metric at several combinations of factors";
            Headline::new(News::Nothing, html! { (none) })
        }
        _ => Headline {
            facts: rows.iter().take(LISTED).map(line).collect(),
            ..Headline::new(News::Nothing, html! { (counted(rows.len(), "study")) })
        },
    }
}

/// More studies are only on the page that lists them.
const LISTED: usize = 4;

fn page_of(row: &StudyRow) -> String {
    format!("study/{}.html", row.benchmark.slug)
}

fn line(row: &StudyRow) -> Markup {
    html! { a href=(page_of(row)) { (row.benchmark.id) } ": " (row.headline.answer) " (" (row.size) ")" }
}

/// Writes the list of studies, if there are any.
pub(super) fn write_list(site: &ReportSite, rows: &[StudyRow]) -> Result<(), DirectoryError> {
    if !site.contents.studies {
        return Ok(());
    }
    let headline = match rows {
        [_, _, ..] => Headline::new(News::Nothing, html! { (counted(rows.len(), "study")) }),
        _ => answer(rows),
    };
    let main = html! {
        ul.studies { @for row in rows { li { (line(row)) } } }
    };
    write_list_page(site, SitePage::Studies, &headline, &main)
}
