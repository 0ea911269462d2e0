//! A page for each test that was measured with several parametrisations: all of them together.

use std::collections::BTreeMap;

use maud::html;
use serde::Serialize;

use super::data_pack::DataPack;
use super::directory::DirectoryError;
use super::frame::{PageFrame, url_part};
use super::headline::{Headline, News};
use super::index_parts::columns::BenchmarkLink;
use super::index_parts::row::{IndexRow, MetricIndexRows};
use super::indicators::{is_of_indicator, own_time};
use super::sections::metric::history_points;
use super::slug::slug;
use super::sweep::TestLevels;
use super::{MetricView, ReportSite, together};
use crate::chart::{Chart, HistoryPoint};
use crate::sample::metric_title;
use lapwing_analyse::sample::RunMoment;
use lapwing_model::text::{capitalised, counted, plural};

/// The side file that says which tests have a page.
const LIST: &str = "tests";

/// What a benchmark without brackets is called among parametrisations of its test, and one with
/// nothing in them.
const WITHOUT: &str = "(no parameters)";
const EMPTY: &str = "(empty)";

/// Returns the test of a benchmark's id and what stands in its brackets; `None` without any.
pub(super) fn parts(id: &str) -> Option<(&str, String)> {
    let (test, rest) = id.strip_suffix(']')?.split_once('[')?;
    (!test.is_empty()).then(|| (test, rest.replace("][", ", ")))
}

/// Returns the name of the page of a benchmark's test, should it get one.
pub(super) fn test_slug(suite: &str, id: &str) -> String {
    slug(suite, parts(id).map_or(id, |(test, _)| test))
}

/// A parametrisation on the page of its test.
#[derive(Debug)]
pub(super) struct TestMember {
    pub(super) benchmark: BenchmarkLink,
    /// Its name among the others.
    pub(super) name: String,
    pub(super) metrics: Vec<MemberMetric>,
}

#[derive(Debug)]
pub(super) struct MemberMetric {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) points: Vec<MemberPoint>,
    /// The rows of its latest runs.
    pub(super) rows: Vec<IndexRow>,
}

#[derive(Debug)]
pub(super) struct MemberPoint {
    pub(super) moment: RunMoment,
    pub(super) point: HistoryPoint,
}

impl TestMember {
    /// Returns what is to be kept of a benchmark; `rows` are what its latest runs say by each metric.
    pub(super) fn of(
        benchmark: &BenchmarkLink,
        views: &[MetricView],
        metrics: &[MetricIndexRows],
    ) -> Self {
        let name = match parts(&benchmark.id) {
            Some((_, name)) if name.is_empty() => EMPTY.to_owned(),
            Some((_, name)) => name,
            None => WITHOUT.to_owned(),
        };
        let metrics = views.iter().zip(metrics).map(|(view, metric)| {
            let points = history_points(view)
                .into_iter()
                .map(|(run, point)| MemberPoint {
                    moment: run.moment(),
                    point,
                });
            MemberMetric {
                name: metric.name.clone(),
                unit: metric.unit.clone(),
                points: points.collect(),
                rows: metric.rows.clone(),
            }
        });
        Self {
            benchmark: benchmark.clone(),
            name,
            metrics: metrics.collect(),
        }
    }

    fn test(&self) -> &str {
        parts(&self.benchmark.id).map_or(&self.benchmark.id, |(test, _)| test)
    }

    fn is_of_the_test_of(&self, other: &Self) -> bool {
        (self.benchmark.suite.as_str(), self.test())
            == (other.benchmark.suite.as_str(), other.test())
    }

    fn has_brackets(&self) -> bool {
        parts(&self.benchmark.id).is_some()
    }

    /// Returns whether the other one may stand between this one and its parametrisations, as
    /// benchmarks are ordered.
    fn begins_as(&self, other: &Self) -> bool {
        self.benchmark.suite == other.benchmark.suite
            && other.benchmark.id.starts_with(&self.benchmark.id)
    }
}

/// Gathers parametrisations while benchmarks are written. Those of a test come one after
/// another, as the store gives them, so that only one test is held at a time; what has no brackets
/// is held until it is clear whether it gained a parameter.
#[derive(Debug, Default)]
pub(super) struct TestPages {
    without_brackets: Vec<TestMember>,
    held: Vec<TestMember>,
    /// The pages that were written, each with the entry of its curves of levels.
    written: BTreeMap<String, String>,
    /// The data of the pages.
    pack: Option<DataPack>,
    curves: Vec<TestCurve>,
}

/// A test whose parametrisations are levels of one number, from the smallest to the largest.
#[derive(Debug)]
pub(super) struct TestCurve {
    pub(super) test: String,
    pub(super) slug: String,
    /// The number of its levels.
    pub(super) members: usize,
    /// `Elapsed: 3.54 ms at rounds 50, 14.1 ms at rounds 200`
    pub(super) text: String,
}

/// Settings of the page's script.
#[derive(Serialize)]
struct TestPageSettings<'a> {
    page: &'static str,
    slug: &'a str,
    metrics: &'a [MetricCharts],
    /// The entry of the curves of levels.
    sweeps: &'a str,
}

#[derive(Serialize)]
struct MetricCharts {
    name: String,
    file: String,
}

impl TestPages {
    /// Takes in the next benchmark.
    pub(super) fn add(
        &mut self,
        member: TestMember,
        site: &ReportSite,
    ) -> Result<(), DirectoryError> {
        let other_test = |first: &TestMember| !first.is_of_the_test_of(&member);
        if self.held.first().is_some_and(other_test) {
            self.write_held(site)?;
        }
        self.without_brackets.retain(|it| it.begins_as(&member));
        if !member.has_brackets() {
            self.without_brackets.push(member);
            return Ok(());
        }
        if self.held.is_empty() {
            let others = std::mem::take(&mut self.without_brackets);
            let (same, others) = others
                .into_iter()
                .partition(|it| it.is_of_the_test_of(&member));
            self.held = same;
            self.without_brackets = others;
        }
        self.held.push(member);
        Ok(())
    }

    /// Writes what is left and the list of all.
    pub(super) fn finish(&mut self, site: &ReportSite) -> Result<(), DirectoryError> {
        self.write_held(site)?;
        self.pack.take().map_or(Ok(()), DataPack::finish)?;
        site.write_data(LIST, &self.written)?;
        Ok(())
    }

    /// Returns the tests that have a curve.
    pub(super) fn curves(&self) -> &[TestCurve] {
        &self.curves
    }

    /// Returns whether a test has a page.
    pub(super) fn has(&self, slug: &str) -> bool {
        self.written.contains_key(slug)
    }

    fn write_held(&mut self, site: &ReportSite) -> Result<(), DirectoryError> {
        let members = std::mem::take(&mut self.held);
        let Some(first) = members.first().filter(|_| members.len() > 1) else {
            return Ok(());
        };
        let slug = test_slug(&first.benchmark.suite, &first.benchmark.id);
        let mut names: Vec<&str> = Vec::new();
        for metric in members.iter().flat_map(|member| &member.metrics) {
            if !names.contains(&metric.name.as_str()) {
                names.push(&metric.name);
            }
        }
        let lead = lead(&members);
        names.sort_by_key(|it| Some(*it) != lead);
        let names_of_members: Vec<&str> = members.iter().map(|it| it.name.as_str()).collect();
        let levels = TestLevels::of(&names_of_members);
        let mut sweeps: BTreeMap<&str, Chart> = BTreeMap::new();
        for name in &names {
            let chart = (levels.as_ref()).and_then(|it| it.chart(&members, name, &site.colours));
            if let Some(chart) = chart {
                sweeps.insert(name, chart);
            }
        }
        let mut metrics = Vec::new();
        let pack = (self.pack).get_or_insert_with(|| DataPack::new(&site.directory, "test-data"));
        let sweeps = pack.add(&format!("test-{slug}.sweeps"), &sweeps)?;
        for (number, name) in names.iter().enumerate() {
            let file = format!("test-{slug}.m{number}");
            metrics.push(MetricCharts {
                name: (*name).to_owned(),
                file: together::write(pack, &file, &members, name)?,
            });
        }
        let settings = TestPageSettings {
            page: "test",
            slug: &slug,
            metrics: &metrics,
            sweeps: &sweeps,
        };
        let page = page(site, &members, levels.as_ref(), &settings);
        site.directory.write(&format!("test/{slug}.html"), &page)?;
        if let Some(text) = levels.and_then(|it| ends_text(&members, &it)) {
            self.curves.push(TestCurve {
                test: first.test().to_owned(),
                slug: slug.clone(),
                members: members.len(),
                text,
            });
        }
        self.written.insert(slug, sweeps);
        Ok(())
    }
}

/// Returns the metric that is shown first: of an indicator a time that it reports itself, since its wall time is
/// mostly that of starting it.
fn lead(members: &[TestMember]) -> Option<&str> {
    let first = members.first()?;
    let usual = first.metrics.first().map(|it| it.name.as_str());
    if !is_of_indicator(&first.benchmark) {
        return usual;
    }
    let all = first.metrics.iter();
    own_time(all.map(|it| (it.name.as_str(), it.unit.as_str()))).or(usual)
}

/// Returns the rows of the latest runs of each parametrisation, by the metric that is shown first.
fn leading_rows<'m>(members: &'m [TestMember]) -> Vec<&'m [IndexRow]> {
    let lead = lead(members);
    let rows = |member: &'m TestMember| {
        let of_lead = member
            .metrics
            .iter()
            .find(|it| Some(it.name.as_str()) == lead);
        of_lead.map_or(&[][..], |it| &it.rows)
    };
    members.iter().map(rows).collect()
}

/// Returns the values at the smallest and at the largest level.
fn ends_text(members: &[TestMember], levels: &TestLevels) -> Option<String> {
    let rows = leading_rows(members);
    let value = |at: usize| {
        let row = rows.get(at)?.iter().find(|it| it.value.is_some())?;
        Some(&row.value_text)
    };
    let mut title = metric_title(lead(members)?);
    let mut named = rows.iter().copied().flatten().filter(|it| it.named);
    if let Some(row) = named.next() {
        title = format!("{title} of {}", row.variant);
    }
    let parameter = &levels.parameter;
    let [low, high] = levels
        .ends()?
        .map(|(level, at)| Some(format!("{} at {parameter} {level}", value(at)?)));
    Some(capitalised(&format!("{title}: {}, {}", low?, high?)))
}

/// Returns the answer about all parametrisations: what got slower, else how they compare.
fn headline(members: &[TestMember], levels: Option<&TestLevels>) -> Headline {
    let rows = leading_rows(members);
    let number = members.len();
    let slower: Vec<(&TestMember, &IndexRow)> = (members.iter().zip(&rows))
        .filter_map(|(member, rows)| {
            Some((member, rows.iter().find(|it| it.since.is_regression())?))
        })
        .collect();
    let size = |row: &IndexRow| row.since.since_size.unwrap_or(f64::INFINITY);
    let worst = (slower.iter()).max_by(|one, other| size(one.1).total_cmp(&size(other.1)));
    let range = levels.and_then(|it| ends_text(members, it));
    match worst {
        Some((member, row)) => Headline {
            facts: std::iter::once(html! {
                a href=(format!("../{}", row.since.since_link)) { (member.name) ": " (row.since.since) } "."
            })
            .chain(range.map(|it| html! { (it) "." }))
            .collect(),
            ..Headline::new(
                News::Worse,
                html! { (slower.len()) " of " (counted(number, "parametrisation")) " " (plural(slower.len(), "has", "have")) " a regression" },
            )
        },
        None => Headline::new(
            News::Nothing,
            html! { @match range { Some(range) => (range), None => (counted(number, "parametrisation")) } },
        ),
    }
}

fn page(
    site: &ReportSite,
    members: &[TestMember],
    levels: Option<&TestLevels>,
    settings: &TestPageSettings<'_>,
) -> String {
    let (name, suite) = (members.first()).map_or(("", ""), |first| {
        (first.test(), first.benchmark.suite.as_str())
    });
    let frame = PageFrame {
        page: None,
        name,
        headline: &Headline {
            about: Some(html! {
                strong.of { (name) }
                " · suite " a href=(format!("../index.html#suite={}", url_part(suite))) { (suite) }
                " · " (counted(members.len(), "parametrisation"))
            }),
            ..headline(members, levels)
        },
        class: "inner test",
        skip: ("#charts-title", "Skip to the charts"),
        scripts: &["echarts.js", "chart.js", "app.js", "charts.js", "test.js"],
    };
    let main = html! {
        section #charts aria-labelledby="charts-title" {
            h2.unseen #charts-title tabindex="-1" { "History" }
            @if settings.metrics.len() > 1 {
                p.tabs { @for metric in settings.metrics {
                    a data-metric=(metric.name) href=(format!("#metric={}", url_part(&metric.name))) { (metric_title(&metric.name)) } " "
                } }
            }
            div.notes {}
            div #sweep hidden {}
            div.charts {}
            form #filters role="search" aria-label="Which parametrisations" {
                label.wide { span { "Search" } input type="search" name="q" placeholder="part of a parametrisation" autocomplete="off"; }
                label { span { "Draw" } select name="draw" {} }
            }
            p #shown role="status" {}
            noscript { p { "Charts and the table need JavaScript. The pages of the benchmarks are in the folder " code { "benchmark" } "." } }
        }
        section #members aria-labelledby="members-title" {
            h2 #members-title { "Parametrisations" }
            div.content {}
        }
    };
    frame.html(site, settings, &main, &html! {})
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
