//! What the pages about all benchmarks share: the way from one to another, filters, and a table that
//! the page's script fills from a side file.

use std::collections::BTreeSet;

use maud::{DOCTYPE, Markup, html};
use serde::Serialize;

use super::Options;
use super::page::{foot, head, json_script, theme_switch};
use crate::show::sample::metric_title;

/// A page about all benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SitePage {
    /// The table of everything.
    Index,
    /// What changed between two sides; only where sides were compared.
    Compare,
    /// The latest values beside each other.
    Bars,
    /// How much everything varies.
    Variability,
    /// What could be detected.
    Detection,
    /// When everything gets steady.
    BurnIn,
    /// What was left out.
    Cleaning,
}

impl SitePage {
    const ALL: [Self; 7] = [
        Self::Index,
        Self::Compare,
        Self::Bars,
        Self::Variability,
        Self::Detection,
        Self::BurnIn,
        Self::Cleaning,
    ];

    /// Returns its file in the directory of the report.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Index => "index.html",
            Self::Compare => "compare.html",
            Self::Bars => "bars.html",
            Self::Variability => "variability.html",
            Self::Detection => "detection.html",
            Self::BurnIn => "burn-in.html",
            Self::Cleaning => "cleaning.html",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Index => "Benchmarks",
            Self::Compare => "Comparison",
            Self::Bars => "Bars",
            Self::Variability => "Variability",
            Self::Detection => "Detection",
            Self::BurnIn => "Burn-in",
            Self::Cleaning => "Cleaning",
        }
    }

    /// Returns the files of the pages besides the index.
    pub(super) fn files() -> impl Iterator<Item = &'static str> {
        let pages = Self::ALL.into_iter().filter(|it| *it != Self::Index);
        pages.map(Self::file)
    }
}

/// Whether the report has a page of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    Yes,
    No,
}

/// Returns links to all pages; `root` leads from the page to the report's directory.
pub(super) fn navigation(here: Option<SitePage>, root: &str, compared: Compared) -> Markup {
    let pages = SitePage::ALL
        .into_iter()
        .filter(|it| *it != SitePage::Compare || compared == Compared::Yes);
    html! {
        nav.pages aria-label="Pages of the report" {
            @for page in pages {
                a href=(format!("{root}{}", page.file())) aria-current=[(here == Some(page)).then_some("page")] {
                    (page.title())
                }
            }
        }
    }
}

/// A side file with rows of a metric.
#[derive(Debug, Serialize)]
pub(super) struct MetricRows {
    pub(super) name: String,
    pub(super) file: String,
    /// The side file with a chart of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chart: Option<String>,
}

/// What the script of such a page has to know.
#[derive(Debug, Serialize)]
pub(super) struct Settings<More: Serialize> {
    pub(super) page: &'static str,
    /// Where there is a file for each metric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) metrics: Vec<MetricRows>,
    /// Where one file has all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<&'static str>,
    #[serde(flatten)]
    pub(super) more: More,
}

/// Nothing besides.
#[derive(Debug, Serialize)]
pub(super) struct NothingMore {}

/// A page about one thing, in a folder of its own.
#[derive(Debug)]
pub(super) struct InnerPage<'a> {
    /// The class of the page.
    pub(super) kind: &'static str,
    /// What it is about.
    pub(super) name: &'a str,
    /// Where the first link leads, and its words.
    pub(super) skip: (&'static str, &'static str),
    /// Its scripts, besides those that draw.
    pub(super) scripts: &'static [&'static str],
}

/// Returns a page about one thing; `below` comes after its foot.
pub(super) fn inner_shell(
    page: &InnerPage<'_>,
    compared: Compared,
    options: &Options,
    settings: &impl Serialize,
    main: &Markup,
    below: &Markup,
) -> String {
    let title = format!("{} · {}", page.name, options.title);
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, "../"))
            body class=(format!("inner {}", page.kind)) {
                a.skip href=(page.skip.0) { (page.skip.1) }
                header {
                    div { p.site { a href="../index.html" { (options.title) } } (navigation(None, "../", compared)) }
                    (theme_switch())
                }
                main { h1 { (page.name) } (main) }
                (foot(options))
                (below)
                (json_script("settings", settings))
                @for script in ["echarts.js", "chart.js", "app.js", "charts.js"].iter().chain(page.scripts) {
                    script src=(format!("../assets/{script}")) {}
                }
            }
        }
    }
    .into_string()
}

/// Returns a page; `files` are the side files that it needs at once.
pub(super) fn shell<More: Serialize>(
    page: SitePage,
    compared: Compared,
    options: &Options,
    settings: &Settings<More>,
    main: &Markup,
) -> String {
    let title = format!("{} · {}", page.title(), options.title);
    let first = settings.metrics.first().map(|it| it.file.as_str());
    let draws_charts = matches!(
        page,
        SitePage::Bars
            | SitePage::BurnIn
            | SitePage::Variability
            | SitePage::Detection
            | SitePage::Compare
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, ""))
            body.about-all {
                @if page == SitePage::Bars {
                    a.skip href="#bars" { "Skip to the charts" }
                } @else {
                    a.skip href="#rows" { "Skip to the table" }
                }
                header {
                    div { p.site { a href="index.html" { (options.title) } } (navigation(Some(page), "", compared)) }
                    (theme_switch())
                }
                main { h1 { (page.title()) } (main) }
                (foot(options))
                (json_script("settings", settings))
                @if draws_charts {
                    script src="assets/echarts.js" {}
                    script src="assets/chart.js" {}
                }
                script src="assets/app.js" {}
                script src="assets/charts.js" {}
                @if page == SitePage::Bars {
                    script src="assets/bars.js" {}
                } @else {
                    script src="assets/listing.js" {}
                    script src="assets/pages.js" {}
                }
                @if let Some(file) = first.or(settings.file) {
                    script src=(format!("data/{file}.js")) {}
                }
            }
        }
    }
    .into_string()
}

/// What the rows of a page can be filtered by.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) metrics: Vec<(String, String)>,
    pub(super) suites: BTreeSet<String>,
    pub(super) tags: BTreeSet<String>,
    pub(super) more: Vec<Choice>,
}

/// Something else that rows can be filtered by.
#[derive(Debug)]
pub(super) struct Choice {
    /// Its name in the address.
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    /// The values and what they are called.
    pub(super) values: Vec<(String, String)>,
}

/// Whether one metric is looked at, or all of them may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metrics {
    OneOf,
    AllOr,
}

/// Returns the filters above a table.
pub(super) fn filters(label: &str, choices: &Choices, metrics: Metrics) -> Markup {
    let options = |names: &BTreeSet<String>| {
        html! { option value="" { "all" } @for name in names { option value=(name) { (name) } } }
    };
    html! {
        form #filters role="search" aria-label=(label) {
            label.wide { span { "Search" } input type="search" name="q" placeholder="part of a name" autocomplete="off"; }
            @if !choices.metrics.is_empty() {
                label { span { "Metric" } select name="metric" {
                    @if metrics == Metrics::AllOr { option value="" { "all" } }
                    @for (name, unit) in &choices.metrics {
                        option value=(name) { (metric_title(name)) @if !unit.is_empty() && unit != "1" { " (" (unit) ")" } }
                    }
                } }
            }
            @if choices.suites.len() > 1 {
                label { span { "Suite" } select name="suite" { (options(&choices.suites)) } }
            }
            @if !choices.tags.is_empty() {
                label { span { "Tag" } select name="tag" { (options(&choices.tags)) } }
            }
            @for Choice { name, label, values } in &choices.more {
                label { span { (label) } select name=(name) {
                    option value="" { "all" }
                    @for (value, title) in values { option value=(value) { (title) } }
                } }
            }
            button type="reset" { "Clear" }
        }
    }
}

/// A column of a table: the key it is sorted by (empty for none), its head, its class.
pub(super) type Column<'a> = (&'static str, &'a str, &'static str);

/// Returns a table that the script fills.
pub(super) fn listing(caption: &str, columns: &[Column<'_>]) -> Markup {
    html! {
        p #shown role="status" {}
        table.listing #rows role="table" tabindex="-1" {
            caption.unseen { (caption) }
            thead role="rowgroup" { tr role="row" {
                @for (key, text, class) in columns {
                    @if key.is_empty() {
                        th class=(class) role="columnheader" scope="col" { (text) }
                    } @else {
                        (header(key, text, class))
                    }
                }
            } }
            tbody role="rowgroup" {}
        }
        p #more hidden { button type="button" { "Show more" } }
        noscript { p { "The table needs JavaScript. The pages of the benchmarks are in the folder " code { "benchmark" } "." } }
    }
}

/// Returns the head of a column that sorts.
pub(super) fn header(key: &str, text: &str, class: &str) -> Markup {
    html! {
        th class=(class) role="columnheader" scope="col" data-sort=(key) {
            button type="button" { (text) }
        }
    }
}
