//! A page for each test that was measured with several parametrisations: all of them together.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde::Serialize;

use super::columns::About;
use super::directory::{Directory, DirectoryError};
use super::metric::{history_points, place_names};
use super::page::url_part;
use super::row::Row;
use super::site::{Compared, InnerPage, counted, inner_shell};
use super::slug::slug;
use super::{MetricView, Options, side_file};
use crate::model::Run;
use crate::record::{Moment, Order, Place};
use crate::show::Colours;
use crate::show::chart::{Chart, HistoryPoint, history};
use crate::show::sample::metric_title;

/// The side file that says which tests have a page.
const LIST: &str = "tests";

/// Returns the test of a benchmark's id and what stands in its brackets; `None` without any.
pub(super) fn parts(id: &str) -> Option<(&str, String)> {
    let (test, rest) = id.strip_suffix(']')?.split_once('[')?;
    (!test.is_empty()).then(|| (test, rest.replace("][", ", ")))
}

/// Returns the name of the page of a benchmark's test, should it get one.
pub(super) fn test_slug(suite: &str, id: &str) -> String {
    parts(id).map_or_else(String::new, |(test, _)| slug(suite, test))
}

/// What a page about a test has to know of one of its parametrisations.
#[derive(Debug)]
pub(super) struct Member {
    about: About,
    parametrisation: String,
    metrics: Vec<MemberMetric>,
    /// What the latest runs say by the first metric.
    rows: Vec<Row>,
}

#[derive(Debug)]
struct MemberMetric {
    name: String,
    unit: String,
    points: Vec<MemberPoint>,
}

#[derive(Debug)]
struct MemberPoint {
    moment: Moment,
    point: HistoryPoint,
}

impl Member {
    /// Returns what is to be kept of a benchmark whose id has brackets.
    pub(super) fn of(about: &About, views: &[MetricView], rows: &[Row]) -> Option<Self> {
        let (_, parametrisation) = parts(&about.id)?;
        let metrics = views.iter().map(|view| {
            let points = history_points(view).into_iter().map(|(run, mut point)| {
                point.link = format!("../benchmark/{}.html{}", about.slug, point.link);
                MemberPoint {
                    moment: run.moment(),
                    point,
                }
            });
            MemberMetric {
                name: view.sample.name.clone(),
                unit: view.sample.metric.unit.clone(),
                points: points.collect(),
            }
        });
        Some(Self {
            about: about.clone(),
            parametrisation,
            metrics: metrics.collect(),
            rows: rows.to_vec(),
        })
    }

    fn test(&self) -> &str {
        parts(&self.about.id).map_or(&self.about.id, |(test, _)| test)
    }

    fn is_of_the_test_of(&self, other: &Self) -> bool {
        (self.about.suite.as_str(), self.test()) == (other.about.suite.as_str(), other.test())
    }
}

/// Gathers parametrisations while benchmarks are written. Those of a test come one after
/// another, as the store gives them, so that only one test is held at a time.
#[derive(Debug, Default)]
pub(super) struct TestPages {
    held: Vec<Member>,
    /// The pages that were written.
    written: BTreeSet<String>,
}

/// What the page's script has to know.
#[derive(Serialize)]
struct Settings<'a> {
    page: &'static str,
    slug: &'a str,
    metrics: &'a [MetricCharts],
}

#[derive(Serialize)]
struct MetricCharts {
    name: String,
    file: String,
}

/// A chart and the variant that it is about.
#[derive(Serialize)]
struct VariantChart {
    variant: String,
    chart: Chart,
}

impl TestPages {
    /// Takes in the next benchmark; one without brackets is none of anybody's parametrisations.
    pub(super) fn add(
        &mut self,
        member: Option<Member>,
        directory: &Directory,
        options: &Options,
        compared: Compared,
    ) -> Result<(), DirectoryError> {
        let Some(member) = member else {
            return Ok(());
        };
        if self
            .held
            .first()
            .is_some_and(|first| !first.is_of_the_test_of(&member))
        {
            self.write_held(directory, options, compared)?;
        }
        self.held.push(member);
        Ok(())
    }

    /// Writes what is left and the list of all.
    pub(super) fn finish(
        &mut self,
        directory: &Directory,
        options: &Options,
        compared: Compared,
    ) -> Result<(), DirectoryError> {
        self.write_held(directory, options, compared)?;
        directory.write(
            &format!("data/{LIST}.js"),
            &side_file(LIST, &self.written.iter().collect::<Vec<_>>()),
        )
    }

    /// Returns whether a test has a page.
    pub(super) fn has(&self, slug: &str) -> bool {
        self.written.contains(slug)
    }

    fn write_held(
        &mut self,
        directory: &Directory,
        options: &Options,
        compared: Compared,
    ) -> Result<(), DirectoryError> {
        let members = std::mem::take(&mut self.held);
        let Some(first) = members.first().filter(|_| members.len() > 1) else {
            return Ok(());
        };
        let slug = test_slug(&first.about.suite, &first.about.id);
        let mut names: Vec<&str> = Vec::new();
        for metric in members.iter().flat_map(|member| &member.metrics) {
            if !names.contains(&metric.name.as_str()) {
                names.push(&metric.name);
            }
        }
        let mut metrics = Vec::new();
        for (number, name) in names.into_iter().enumerate() {
            let file = format!("test-{slug}.m{number}");
            let charts = charts(&members, name);
            directory.write(&format!("data/{file}.js"), &side_file(&file, &charts))?;
            metrics.push(MetricCharts {
                name: name.to_owned(),
                file,
            });
        }
        let settings = Settings {
            page: "test",
            slug: &slug,
            metrics: &metrics,
        };
        let page = page(first, &members, &settings, options, compared);
        directory.write(&format!("test/{slug}.html"), &page)?;
        self.written.insert(slug);
        Ok(())
    }
}

/// Returns a chart for each variant, with a line for each parametrisation.
fn charts(members: &[Member], metric: &str) -> Vec<VariantChart> {
    let mut colours = Colours::default();
    let mut points: Vec<(&MemberPoint, &str)> = Vec::new();
    let mut unit = "";
    for member in members {
        colours.number(&member.parametrisation);
        for it in member.metrics.iter().filter(|it| it.name == metric) {
            unit = &it.unit;
            points.extend(it.points.iter().map(|at| (at, &*member.parametrisation)));
        }
    }
    // Which versions were measured before a run is known only of all together.
    let order = Order::among(points.iter().map(|(it, _)| it.moment.clone()));
    let place = |it: &MemberPoint| order.place(&it.moment.run).unwrap_or(it.point.place);
    points.sort_by_key(|(it, _)| place(it));
    let places: Vec<Place> = points.iter().map(|(it, _)| place(it)).collect();
    let names = place_names(&places);
    let mut variants: Vec<&str> = Vec::new();
    for (it, _) in &points {
        if !variants.contains(&it.point.variant.as_str()) {
            variants.push(&it.point.variant);
        }
    }
    variants
        .iter()
        .map(|variant| {
            let of_variant: Vec<HistoryPoint> = points
                .iter()
                .zip(places.iter().zip(&names))
                .filter(|((it, _), _)| it.point.variant == *variant)
                .map(|((it, parametrisation), (place, name))| HistoryPoint {
                    variant: (*parametrisation).to_owned(),
                    place: *place,
                    place_name: name.clone(),
                    label: format!("{parametrisation}, {}", it.point.label),
                    ..it.point.clone()
                })
                .collect();
            let mut chart = history(&metric.to_owned(), unit, &of_variant, &colours);
            chart.height = 360;
            if variants.len() > 1 || *variant != Run::DEFAULT_VARIANT {
                chart.title = format!("{}: {variant}", metric_title(metric));
            }
            VariantChart {
                variant: (*variant).to_owned(),
                chart,
            }
        })
        .collect()
}

fn page(
    first: &Member,
    members: &[Member],
    settings: &Settings<'_>,
    options: &Options,
    compared: Compared,
) -> String {
    let page = InnerPage {
        kind: "test",
        name: first.test(),
        skip: ("#charts-title", "Skip to the charts"),
        scripts: &["test.js"],
    };
    let main = html! {
        p.description {
            span { "suite " a href=(format!("../index.html#suite={}", url_part(&first.about.suite))) { (first.about.suite) } }
            " · " (counted(members.len(), "parametrisation"))
        }
        section #charts aria-labelledby="charts-title" {
            h2 #charts-title tabindex="-1" { "History" }
            @if settings.metrics.len() > 1 {
                p.tabs { @for metric in settings.metrics {
                    a data-metric=(metric.name) href=(format!("#metric={}", url_part(&metric.name))) { (metric_title(&metric.name)) } " "
                } }
            }
            p.hint.zoom { "Zoom in with Shift and the wheel, up and down with Ctrl and the wheel; a double click shows everything again." }
            div.charts {}
            noscript { p { "Charts need JavaScript." } }
        }
        (members_part(members))
    };
    inner_shell(&page, compared, options, settings, &main, &html! {})
}

/// Returns the table of the parametrisations, which leads to their pages.
fn members_part(members: &[Member]) -> Markup {
    let rows = || members.iter().flat_map(|member| &member.rows);
    let named = rows().any(|row| row.named);
    let metric = members.first().and_then(|member| member.metrics.first());
    let title = metric.map_or_else(String::new, |metric| metric_title(&metric.name));
    html! {
        section aria-labelledby="members" {
            h2 #members { "Parametrisations" }
            div.scroll tabindex="0" role="region" aria-labelledby="members" {
                table {
                    thead { tr {
                        th scope="col" { "parametrisation" }
                        @if named { th scope="col" { "variant" } }
                        th.number scope="col" { "latest " (title) " [95 % CI]" }
                        th.number scope="col" { "change" }
                        th.number scope="col" { "instances × iterations" }
                    } }
                    tbody {
                        @for member in members {
                            @for (position, row) in member.rows.iter().enumerate() {
                                tr {
                                    td { @if position == 0 { a href=(format!("../benchmark/{}.html", member.about.slug)) { (member.parametrisation) } } }
                                    @if named { td { (row.variant) } }
                                    td.number { (row.value_text) @if !row.interval_text.is_empty() { " [" (row.interval_text) "]" } }
                                    td.number title=(row.change_against) { (row.change_text) " " (row.change_interval) }
                                    td.number { (row.size) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_what_stands_before_the_brackets() {
        let text = |id| parts(id).map(|(test, rest)| format!("{test} | {rest}"));
        assert_eq!(
            text("b/t.py::test[10-a]").as_deref(),
            Some("b/t.py::test | 10-a")
        );
        assert_eq!(text("sort[1][stable]").as_deref(), Some("sort | 1, stable"));
        assert_eq!(
            text("t.py::test[a.py::b]").as_deref(),
            Some("t.py::test | a.py::b")
        );
        for without in ["test", "test[1", "[1]", "test[1]x"] {
            assert_eq!(text(without), None);
        }
    }
}
