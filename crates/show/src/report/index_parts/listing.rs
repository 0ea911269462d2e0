//! A page with a listing: a conclusion, filters, a table whose rows are in side files, and a
//! guide to its columns. All pages about all benchmarks but the one with bars are such pages.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::ReportSite;
use super::super::data_pack::DataPack;
use super::super::directory::DirectoryError;
use super::super::frame::{PageFrame, SitePage};
use super::super::headline::{Headline, News};
use super::columns::{BenchmarkLink, columns};
use crate::Chart;
use crate::sample::{FIRST_METRIC, metric_title};
use lapwing_model::MetricName;

/// A page with a listing. Its script says how each row is drawn (`assets/pages.js`).
#[derive(Debug)]
pub(in crate::report) struct ListingPage {
    pub(in crate::report) page: SitePage,
    pub(in crate::report) headline: Headline,
    /// The evidence above the table.
    pub(in crate::report) above: Markup,
    pub(in crate::report) filters: Filters,
    /// Another view of the same, which is shown first.
    pub(in crate::report) other: Option<OtherView>,
    /// A button that draws the rows: its action and its text.
    pub(in crate::report) draw: Option<(&'static str, &'static str)>,
    pub(in crate::report) caption: &'static str,
    pub(in crate::report) columns: Vec<ListingColumn>,
    /// The end of the page, below the table.
    pub(in crate::report) below: Markup,
    /// Terms and what they mean.
    pub(in crate::report) guide: Markup,
}

/// A view of a page besides its table.
#[derive(Debug)]
pub(in crate::report) struct OtherView {
    /// Its name in the address.
    pub(in crate::report) name: &'static str,
    pub(in crate::report) title: &'static str,
    /// The script that draws it.
    pub(in crate::report) script: &'static str,
    pub(in crate::report) part: Markup,
}

impl ListingPage {
    /// Writes the page.
    pub(in crate::report) fn write(
        &self,
        site: &ReportSite,
        files: &ListingFiles,
        settings: Value,
    ) -> Result<(), DirectoryError> {
        let page = self.html(site, files, settings)?;
        site.directory.write(&self.page.file(), &page)
    }

    /// Writes its pictures and returns the page; `settings` are what its script has to know besides its files.
    pub(in crate::report) fn html(
        &self,
        site: &ReportSite,
        files: &ListingFiles,
        mut settings: Value,
    ) -> Result<String, DirectoryError> {
        let is_index = self.page == SitePage::Index;
        let (class, table) = if is_index {
            ("index", "benchmarks")
        } else {
            ("about-all", "rows")
        };
        files.describe(self.page, &mut settings);
        let mut scripts = self.page.scripts().to_vec();
        if let Some(other) = &self.other {
            scripts.insert(scripts.len() - 1, other.script);
            settings["view"] = json!(other.name);
        }
        let frame = PageFrame {
            page: Some(self.page),
            name: self.page.title(),
            headline: &self.headline,
            class,
            skip: (&format!("#{table}"), "Skip to the table"),
            scripts: &scripts,
        };
        let main = html! {
            (self.above)
            @if files.has_rows() {
                (self.filters.form(self.other.as_ref()))
                @if let Some(other) = &self.other {
                    section data-view=(other.name) aria-label=(other.title) { (other.part) }
                }
                section data-view="table" aria-label="Table" hidden[self.other.is_some()] {
                    div.above-table {
                        p #shown role="status" {}
                        @if let Some((action, text)) = self.draw {
                            button type="button" data-action=(action) aria-expanded="false" { (text) }
                        }
                    }
                    @if let Some((action, _)) = self.draw { div.charts #(action) hidden {} }
                    (self.table(table))
                    @if !self.guide.0.is_empty() {
                        details.guide { summary { "How to read this table" } dl { (self.guide) } }
                    }
                }
            }
            (self.below)
        };
        frame.write_previews(site)?;
        Ok(frame.html(site, &settings, &main, &html! {}))
    }

    fn table(&self, id: &str) -> Markup {
        html! {
            table.listing #(id) role="table" tabindex="-1" {
                caption.unseen { (self.caption) }
                thead role="rowgroup" { tr role="row" {
                    @for column in &self.columns {
                        th class=(column.class) role="columnheader" scope="col" data-sort=[&column.sorted_by] {
                            @if column.sorted_by.is_some() { button type="button" { (column.title) } }
                            @else { (column.title) }
                        }
                    }
                } }
                tbody role="rowgroup" {}
            }
            p #more hidden { button type="button" { "Show more" } }
            noscript { p { "The table needs JavaScript. The pages of the benchmarks are in the folder " code { "benchmark" } "." } }
        }
    }
}

/// A column of a listing.
#[derive(Debug)]
pub(in crate::report) struct ListingColumn {
    /// The key in the script that rows are sorted by; `None` where they are not.
    sorted_by: Option<String>,
    title: String,
    class: &'static str,
}

/// Returns a column by which rows can be sorted.
pub(in crate::report) fn sorted(
    key: impl Into<String>,
    title: impl Into<String>,
    class: &'static str,
) -> ListingColumn {
    ListingColumn {
        sorted_by: Some(key.into()),
        ..unsorted(title, class)
    }
}

/// Returns a column by which rows cannot be sorted.
pub(in crate::report) fn unsorted(title: impl Into<String>, class: &'static str) -> ListingColumn {
    ListingColumn {
        sorted_by: None,
        title: title.into(),
        class,
    }
}

/// The side files with the rows of a listing.
#[derive(Debug)]
pub(in crate::report) enum ListingFiles {
    /// A file with this many rows, named like the page.
    One(&'static str, usize),
    /// A file for each metric.
    ByMetric(Vec<MetricRowsFile>),
}

/// A side file with rows of a metric.
#[derive(Debug, Serialize)]
pub(in crate::report) struct MetricRowsFile {
    name: MetricName,
    file: String,
    /// The side file with a chart of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    chart: Option<String>,
}

impl ListingFiles {
    /// Writes all rows of a page to one file.
    pub(in crate::report) fn write(
        site: &ReportSite,
        page: SitePage,
        rows: &[impl Serialize],
    ) -> Result<Self, DirectoryError> {
        site.write_data(page.name(), &columns(rows))?;
        Ok(Self::One(page.name(), rows.len()))
    }

    /// Adds to the settings of a page what its script has to know of its files.
    pub(in crate::report) fn describe(&self, page: SitePage, settings: &mut Value) {
        settings["page"] = json!(page.name());
        match self {
            Self::One(file, _) => settings["file"] = json!(file),
            Self::ByMetric(files) if files.is_empty() => {}
            Self::ByMetric(files) => settings["metrics"] = json!(files),
        }
    }

    fn has_rows(&self) -> bool {
        match self {
            Self::One(_, rows) => *rows > 0,
            Self::ByMetric(files) => !files.is_empty(),
        }
    }
}

/// Rows by metric, collected while benchmarks are written.
#[derive(Debug)]
pub(in crate::report) struct MetricRows<R> {
    of: BTreeMap<MetricName, RowsOfMetric<R>>,
    /// The metric that comes first.
    lead: MetricName,
}

#[derive(Debug)]
pub(in crate::report) struct RowsOfMetric<R> {
    pub(in crate::report) unit: String,
    pub(in crate::report) rows: Vec<R>,
}

impl<R> Default for MetricRows<R> {
    fn default() -> Self {
        Self {
            of: BTreeMap::new(),
            lead: FIRST_METRIC.to_owned(),
        }
    }
}

impl<R> MetricRows<R> {
    pub(in crate::report) fn add(
        &mut self,
        metric: &str,
        unit: &str,
        rows: impl IntoIterator<Item = R>,
    ) {
        let of_metric = self.of.entry(metric.to_owned());
        let of_metric = of_metric.or_insert_with(|| RowsOfMetric {
            unit: unit.to_owned(),
            rows: Vec::new(),
        });
        of_metric.rows.extend(rows);
    }

    /// Puts a metric first.
    pub(in crate::report) fn lead_with(&mut self, metric: MetricName) {
        self.lead = metric;
    }

    pub(in crate::report) fn rows(&self) -> impl Iterator<Item = &R> {
        self.of.values().flat_map(|of_metric| &of_metric.rows)
    }

    /// Returns the rows of each metric.
    pub(in crate::report) fn rows_by_metric(&mut self) -> impl Iterator<Item = &mut Vec<R>> {
        self.of.values_mut().map(|of_metric| &mut of_metric.rows)
    }

    pub(in crate::report) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    pub(in crate::report) fn sort_by(&mut self, order: impl Fn(&R, &R) -> Ordering) {
        for of_metric in self.of.values_mut() {
            of_metric.rows.sort_by(&order);
        }
    }

    /// Returns the metrics in the order in which people look at them: the leading one, then by
    /// their number of rows.
    pub(in crate::report) fn by_use(&self) -> Vec<(&MetricName, &RowsOfMetric<R>)> {
        let mut metrics: Vec<_> = self.of.iter().collect();
        metrics.sort_by_key(|(name, of_metric)| {
            (**name != self.lead, usize::MAX - of_metric.rows.len())
        });
        metrics
    }

    /// Returns the metrics with their units.
    pub(in crate::report) fn units(&self) -> Vec<(String, String)> {
        let metrics = self.by_use().into_iter();
        metrics
            .map(|(name, of_metric)| (name.clone(), of_metric.unit.clone()))
            .collect()
    }

    /// Returns a part for each metric, of which the page shows that of the chosen one.
    pub(in crate::report) fn parts(
        &self,
        label: &str,
        part: impl Fn(&str, &[R]) -> Markup,
    ) -> Markup {
        html! {
            @for (number, (name, of_metric)) in self.by_use().into_iter().enumerate() {
                section.by-metric data-metric=(name) hidden[number > 0] aria-label=(format!("{label} by {}", metric_title(name))) {
                    (part(name, &of_metric.rows))
                }
            }
        }
    }

    /// Returns a headline with the answers of all metrics, of which the page shows those of the chosen one.
    pub(in crate::report) fn headline(
        &self,
        of_metric: impl Fn(&str, &[R]) -> Headline,
    ) -> Headline {
        let metrics = self.by_use().into_iter();
        let all: Vec<(&MetricName, Headline)> = metrics
            .map(|(name, rows)| (name, of_metric(name, &rows.rows)))
            .collect();
        let choice = |text: &dyn Fn(&Headline) -> Markup| {
            html! {
                @for (number, (name, it)) in all.iter().enumerate() {
                    span.by-metric data-metric=(name) hidden[number > 0] { (text(it)) }
                }
            }
        };
        let sentences = |parts: &[Markup]| html! { @for part in parts { (part) " " } };
        let has =
            |parts: fn(&Headline) -> &Vec<Markup>| all.iter().any(|(_, it)| !parts(it).is_empty());
        let mut headline = Headline::new(News::Nothing, choice(&|it| it.answer.clone()));
        if has(|it| &it.facts) {
            headline.facts.push(choice(&|it| sentences(&it.facts)));
        }
        if has(|it| &it.explained) {
            headline
                .explained
                .push(choice(&|it| sentences(&it.explained)));
        }
        headline
    }

    /// Writes a file for each metric.
    pub(in crate::report) fn write_files<F: Serialize>(
        &self,
        site: &ReportSite,
        page: SitePage,
        content: impl Fn(&[R]) -> F,
        chart: impl Fn(&[R]) -> Option<Chart>,
    ) -> Result<ListingFiles, DirectoryError> {
        let mut files = Vec::new();
        let mut pack = DataPack::new(&site.directory, page.name());
        for (number, (name, RowsOfMetric { rows, .. })) in self.by_use().into_iter().enumerate() {
            let file = format!("{}.m{number}", page.name());
            let entry = pack.add(&file, &content(rows))?;
            let chart = chart(rows);
            let chart = chart.map(|chart| pack.add(&format!("{file}.chart"), &chart));
            files.push(MetricRowsFile {
                name: name.clone(),
                file: entry,
                chart: chart.transpose()?,
            });
        }
        pack.finish()?;
        Ok(ListingFiles::ByMetric(files))
    }
}

/// The fields above a listing by which its rows are filtered.
#[derive(Debug)]
pub(in crate::report) struct Filters {
    /// The name of the form.
    label: &'static str,
    metrics: Vec<(String, String)>,
    metric_choice: MetricFilter,
    suites: BTreeSet<String>,
    tags: BTreeSet<String>,
    choices: Vec<FilterChoice>,
}

/// The rows that can be shown: of one metric at a time, or also of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum MetricFilter {
    One,
    OneOrAll,
}

/// A field with a list of values.
#[derive(Debug)]
struct FilterChoice {
    /// Its name in the address.
    name: &'static str,
    label: &'static str,
    /// The values and their titles.
    values: Vec<(String, String)>,
}

impl Filters {
    /// Returns the filters of rows about these benchmarks.
    pub(in crate::report) fn of<'a>(
        label: &'static str,
        benchmarks: impl IntoIterator<Item = &'a BenchmarkLink>,
    ) -> Self {
        let mut filters = Self {
            label,
            metrics: Vec::new(),
            metric_choice: MetricFilter::One,
            suites: BTreeSet::new(),
            tags: BTreeSet::new(),
            choices: Vec::new(),
        };
        for benchmark in benchmarks {
            filters.suites.insert(benchmark.suite.clone());
            filters.tags.extend(benchmark.tags.iter().cloned());
        }
        filters
    }

    /// Adds a choice among metrics, given with their units.
    pub(in crate::report) fn by_metric(
        mut self,
        metrics: Vec<(String, String)>,
        choice: MetricFilter,
    ) -> Self {
        self.metrics = metrics;
        self.metric_choice = choice;
        self
    }

    /// Adds a choice among values, given with their titles.
    pub(in crate::report) fn by<V: Into<String>, T: Into<String>>(
        mut self,
        name: &'static str,
        label: &'static str,
        values: impl IntoIterator<Item = (V, T)>,
    ) -> Self {
        let values = values.into_iter();
        self.choices.push(FilterChoice {
            name,
            label,
            values: values
                .map(|(value, title)| (value.into(), title.into()))
                .collect(),
        });
        self
    }

    /// Adds a choice among names, where there are several.
    pub(in crate::report) fn by_name(
        self,
        name: &'static str,
        label: &'static str,
        names: impl IntoIterator<Item = String>,
    ) -> Self {
        let names: Vec<String> = names.into_iter().collect();
        match names.len() {
            0 | 1 => self,
            _ => self.by(name, label, names.into_iter().map(|it| (it.clone(), it))),
        }
    }

    /// Returns the form, with a choice between the table and another view if there is one.
    pub(in crate::report) fn form(&self, other: Option<&OtherView>) -> Markup {
        let options = |names: &BTreeSet<String>| {
            html! { option value="" { "all" } @for name in names { option value=(name) { (name) } } }
        };
        html! {
            form #filters role="search" aria-label=(self.label) {
                @if let Some(other) = other {
                    input type="hidden" name="view" value="";
                    span.views role="group" aria-label="View" {
                        button type="button" data-show="" aria-pressed="true" { (other.title) }
                        button type="button" data-show="table" aria-pressed="false" { "Table" }
                    }
                }
                label.wide { span { "Search" } input type="search" name="q" placeholder="part of a name" autocomplete="off"; }
                // On narrow screens the other fields would push the data off the screen.
                button type="button" data-action="fields" aria-expanded="false" aria-controls="fields" { "Filters" }
                div #fields {
                @if !self.metrics.is_empty() {
                    label { span { "Metric" } select name="metric" {
                        @if self.metric_choice == MetricFilter::OneOrAll { option value="" { "all" } }
                        @for (name, unit) in &self.metrics {
                            option value=(name) { (metric_title(name)) @if !unit.is_empty() && unit != "1" { " (" (unit) ")" } }
                        }
                    } }
                }
                @if self.suites.len() > 1 {
                    label { span { "Suite" } select name="suite" { (options(&self.suites)) } }
                }
                @if !self.tags.is_empty() {
                    label.of-table { span { "Tag" } select name="tag" { (options(&self.tags)) } }
                }
                @for FilterChoice { name, label, values } in &self.choices {
                    label.of-table { span { (label) } select name=(name) {
                        option value="" { "all" }
                        @for (value, title) in values { option value=(value) { (title) } }
                    } }
                }
                button type="reset" { "Clear" }
                }
            }
        }
    }
}
