//! The frame of the pages of a report: the links to the other pages, the foot and the scripts.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::ReportSite;
use super::data_pack::DataPack;
use super::directory::DirectoryError;
use super::headline::Headline;
use super::preview::{PreviewTheme, plain, preview};
use crate::document::{html_document, without_controls};

/// A page about all benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SitePage {
    /// The table of all benchmarks.
    Index,
    /// The changes in the history, if they were looked for.
    Changes,
    /// The changes between two sides, if sides were compared.
    Compare,
    /// The studies, if there are any.
    Studies,
    /// The stacks, if there are any.
    Stacks,
    /// The traces, if there are any.
    Traces,
    /// The latest values side by side.
    Bars,
    /// The noise of each benchmark.
    Variability,
    /// The detectable slowdowns of each benchmark.
    Detection,
    /// The burn-in of each benchmark.
    BurnIn,
    /// The iterations that were excluded.
    Cleaning,
}

impl SitePage {
    const ALL: [Self; 11] = [
        Self::Index,
        Self::Changes,
        Self::Compare,
        Self::Studies,
        Self::Stacks,
        Self::Traces,
        Self::Bars,
        Self::Variability,
        Self::Detection,
        Self::BurnIn,
        Self::Cleaning,
    ];

    /// Returns the name by which its files and its script know it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Changes => "changes",
            Self::Compare => "compare",
            Self::Studies => "studies",
            Self::Stacks => "stacks",
            Self::Traces => "traces",
            Self::Bars => "bars",
            Self::Variability => "variability",
            Self::Detection => "detection",
            Self::BurnIn => "burn-in",
            Self::Cleaning => "cleaning",
        }
    }

    /// Returns its file in the directory of the report.
    pub(super) fn file(self) -> String {
        format!("{}.html", self.name())
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Index => "Benchmarks",
            Self::Changes => "Changes",
            Self::Compare => "Compare",
            Self::Studies => "Studies",
            Self::Stacks => "Stacks",
            Self::Traces => "Traces",
            Self::Bars => "Side by side",
            Self::Variability => "Noise",
            Self::Detection => "Sensitivity",
            Self::BurnIn => "Warm-up",
            Self::Cleaning => "Data quality",
        }
    }

    /// Returns the question that it answers.
    fn question(self) -> &'static str {
        match self {
            Self::Index => "Is anything wrong?",
            Self::Changes => "What changed in the history?",
            Self::Compare => "What changed between two sides?",
            Self::Studies => "Which settings matter?",
            Self::Stacks => "Which versions of packages are the best?",
            Self::Traces => "Where inside a run does the time go?",
            Self::Bars => "How do the latest values compare?",
            Self::Variability => "How much does each benchmark vary?",
            Self::Detection => "How small a slowdown can each benchmark detect?",
            Self::BurnIn => "When does each benchmark become steady?",
            Self::Cleaning => "What was excluded, and why?",
        }
    }

    /// Returns the files of the pages besides the index.
    pub(super) fn files() -> impl Iterator<Item = String> {
        let pages = Self::ALL.into_iter().filter(|page| *page != Self::Index);
        pages.map(Self::file)
    }

    /// Returns its scripts; ECharts, which is large, only where charts are drawn.
    pub(super) fn scripts(self) -> &'static [&'static str] {
        match self {
            Self::Index | Self::Cleaning => &["app.js", "charts.js", "listing.js", "pages.js"],
            Self::Studies | Self::Traces => &["app.js"],
            Self::Stacks => &["echarts.js", "chart.js", "app.js", "charts.js", "study.js"],
            Self::Bars => &["echarts.js", "chart.js", "app.js", "charts.js", "bars.js"],
            Self::Changes | Self::Compare | Self::Variability | Self::Detection | Self::BurnIn => {
                &[
                    "echarts.js",
                    "chart.js",
                    "app.js",
                    "charts.js",
                    "listing.js",
                    "pages.js",
                ]
            }
        }
    }
}

/// Writes the page that lists the things of one kind, such as studies, which have a page each.
pub(super) fn write_list_page(
    site: &ReportSite,
    page: SitePage,
    headline: &Headline,
    main: &Markup,
) -> Result<(), DirectoryError> {
    let frame = PageFrame {
        page: Some(page),
        name: page.title(),
        headline,
        class: page.name(),
        skip: ("#main", "Skip to the list"),
        scripts: page.scripts(),
    };
    frame.write_previews(site)?;
    let html = frame.html(site, &serde_json::json!({}), main, &html! {});
    site.directory.write(&page.file(), &html)
}

/// A page without its content.
#[derive(Debug)]
pub(super) struct PageFrame<'a> {
    /// The page about all benchmarks that it is; `None` for a page about one thing, in a folder
    /// of its own.
    pub(super) page: Option<SitePage>,
    /// Its name, for the title of the window.
    pub(super) name: &'a str,
    pub(super) headline: &'a Headline,
    /// The class of its body.
    pub(super) class: &'a str,
    /// The target and the text of its first link, which skips the navigation.
    pub(super) skip: (&'a str, &'a str),
    pub(super) scripts: &'a [&'a str],
}

impl PageFrame<'_> {
    /// Returns the page with this content; `below` comes after its foot.
    pub(super) fn html(
        &self,
        site: &ReportSite,
        settings: &impl Serialize,
        main: &Markup,
        below: &Markup,
    ) -> String {
        let body = html! {
            (self.content(site, settings, main, below))
            @for script in self.scripts { script src=(self.asset(script)) {} }
        };
        html_document(&self.title(site), &self.head(), self.class, &body)
    }

    /// Returns the page as a file that is little more than its name: its content is an entry of this name of the pack,
    /// which `assets/app.js` shows. So a report of thousands of pages stays small.
    pub(super) fn short_html(
        &self,
        site: &ReportSite,
        settings: &impl Serialize,
        (main, below): (&Markup, &Markup),
        (pack, name): (&mut DataPack, &str),
    ) -> Result<String, DirectoryError> {
        let content = html! {
            (self.content(site, settings, main, below))
            @for script in self.scripts { script src=(self.asset(script)) {} }
        };
        let entry = pack.add(name, &without_controls(&content.into_string()))?;
        let body = html! {
            noscript {
                h1 { (self.headline.answer) }
                @if let Some(fact) = self.headline.facts.first() { p { (fact) } }
                p { "The rest of this page needs JavaScript." }
            }
            script #content data-entry=(entry) src=(self.asset("app.js")) {}
        };
        Ok(html_document(
            &self.title(site),
            &self.head(),
            self.class,
            &body,
        ))
    }

    fn root(&self) -> &'static str {
        match self.page {
            Some(_) => "",
            None => "../",
        }
    }

    fn asset(&self, name: &str) -> String {
        format!("{}assets/{name}", self.root())
    }

    fn title(&self, site: &ReportSite) -> String {
        let report = &site.options.title;
        match self.page {
            Some(SitePage::Index) => report.clone(),
            _ => format!("{} · {report}", self.name),
        }
    }

    fn head(&self) -> Markup {
        html! {
            link rel="stylesheet" href=(self.asset("style.css"));
            script src=(self.asset("theme.js")) {}
            meta property="og:title" content=(plain(&self.headline.answer));
            meta property="og:description" content=(self.headline.facts.first().map(plain).unwrap_or_default());
            @if let Some(page) = self.page {
                meta property="og:image" content=(format!("assets/{}-light.svg", page.name()));
            }
        }
    }

    /// Returns what the body holds besides scripts.
    fn content(
        &self,
        site: &ReportSite,
        settings: &impl Serialize,
        main: &Markup,
        below: &Markup,
    ) -> Markup {
        let (report, root) = (&site.options.title, self.root());
        html! {
            a.skip href=(self.skip.0) { (self.skip.1) }
            header {
                p.site { a href=(format!("{root}index.html")) { (report) } }
                (self.navigation(site, root))
                button.theme type="button" data-action="theme" { "Theme" }
            }
            main {
                (self.headline.part())
                (main)
            }
            footer { p { (site.options.made) } }
            (below)
            (json_script("settings", settings))
        }
    }

    /// Writes the pictures of a page about all, for link previews and for Markdown: light, and of the index dark too.
    pub(super) fn write_previews(&self, site: &ReportSite) -> Result<(), DirectoryError> {
        let Some(page) = self.page else {
            return Ok(());
        };
        let themes = [PreviewTheme::Light, PreviewTheme::Dark];
        let wanted = if page == SitePage::Index { 2 } else { 1 };
        for theme in themes.into_iter().take(wanted) {
            let svg = preview(&site.options.title, self.headline, theme);
            let name = format!("assets/{}-{}.svg", page.name(), theme.name());
            site.directory.write(&name, &svg)?;
        }
        Ok(())
    }

    /// Returns links to all pages.
    fn navigation(&self, site: &ReportSite, root: &str) -> Markup {
        html! {
            nav.pages aria-label="Pages of the report" {
                @for page in SitePage::ALL.into_iter().filter(|page| site.has(*page)) {
                    a href=(format!("{root}{}", page.file())) title=(page.question()) aria-current=[(self.page == Some(page)).then_some("page")] {
                        (page.title())
                    }
                }
            }
        }
    }
}

/// Returns data for a script in a form that no content can break out of.
fn json_script(id: &str, value: &impl Serialize) -> Markup {
    // Structs of numbers and texts, which cannot fail.
    let json = serde_json::to_string(value).unwrap_or_else(|_impossible| "null".to_owned());
    html! { script id=(id) type="application/json" { (PreEscaped(json.replace('<', "\\u003c"))) } }
}

/// Returns the part of an address that opens what a number rests on.
pub(super) fn trace_part(metric: &str, run: &impl std::fmt::Display) -> String {
    format!("metric={}&trace={run}", url_part(metric))
}

/// Returns the text as it may stand in the query of an address.
pub(super) fn url_part(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
