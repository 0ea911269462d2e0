//! The page with bars: of each benchmark with several settings one for each of them, or of each
//! setting one for every benchmark. The page's script puts together what its filters let pass.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use maud::html;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::ReportSite;
use super::super::directory::DirectoryError;
use super::super::frame::{PageFrame, SitePage};
use super::super::headline::{Headline, News};
use super::bar::{BenchmarkBars, DAYS, MetricBar};
use super::columns::BenchmarkLink;
use super::listing::{Filters, MetricFilter, MetricRows};
use crate::chart::{Chart, bars as empty_bars};
use crate::quantity::UnitScale;
use crate::sample::minute_text;

/// The bars of all benchmarks, collected while these are written.
#[derive(Debug, Default)]
pub(in crate::report) struct BarsPage {
    benchmarks: Vec<BenchmarkLink>,
    metrics: MetricRows<PlacedBar>,
    /// For each suite when its last session began.
    newest: BTreeMap<String, Timestamp>,
}

/// A bar with the position of its benchmark.
type PlacedBar = (usize, MetricBar);

/// A side file: the bars of one metric (`docs/report.md`).
#[derive(Debug, Serialize)]
struct BarFile<'a> {
    /// The chart without bars.
    chart: Chart,
    units: Vec<BarUnit>,
    settings: Vec<BarSetting>,
    benchmarks: BarBenchmarks<'a>,
    /// Versions and times of measurement.
    origins: Vec<(String, String)>,
    bars: BarColumns,
}

#[derive(Debug, PartialEq, Serialize)]
struct BarUnit {
    unit: String,
    /// Magnitude, factor and what stands after a number, from small to large.
    scales: Vec<(f64, f64, String)>,
}

#[derive(Debug, PartialEq, Serialize)]
struct BarSetting {
    name: String,
    colour: usize,
}

/// The benchmarks of the bars, in columns.
#[derive(Debug, Default, Serialize)]
struct BarBenchmarks<'a> {
    suite: Vec<&'a str>,
    id: Vec<&'a str>,
    slug: Vec<&'a str>,
    tags: Vec<&'a [String]>,
    category: Vec<String>,
}

/// The bars in columns; `benchmark`, `unit`, `setting` and `origin` are places in the lists of the
/// file.
#[derive(Debug, Default, Serialize)]
struct BarColumns {
    benchmark: Vec<usize>,
    setting: Vec<usize>,
    unit: Vec<usize>,
    count: Vec<usize>,
    sd: Vec<Value>,
    min: Vec<Value>,
    median: Vec<Value>,
    mean: Vec<Value>,
    max: Vec<Value>,
    origin: Vec<usize>,
    /// The day of its last run, where that is long before the last one of the suite; else empty.
    old: Vec<String>,
}

impl BarsPage {
    pub(in crate::report) fn add(&mut self, of_one: BenchmarkBars) {
        if let Some(newest) = of_one.newest {
            let known = self.newest.entry(of_one.benchmark.suite.clone());
            let known = known.or_insert(newest);
            *known = newest.max(*known);
        }
        for bar in of_one.bars {
            let (metric, unit) = (bar.metric.clone(), bar.unit.clone());
            let placed = (self.benchmarks.len(), bar);
            self.metrics.add(&metric, &unit, [placed]);
        }
        self.benchmarks.push(of_one.benchmark);
    }

    /// Writes the page and its side files.
    pub(in crate::report) fn write(&self, site: &ReportSite) -> Result<(), DirectoryError> {
        let content = |bars: &[PlacedBar]| self.file(bars);
        let files = self
            .metrics
            .write_files(site, SitePage::Bars, content, |_| None)?;
        let mut settings = json!({});
        files.describe(SitePage::Bars, &mut settings);
        let metrics = self.metrics.by_use();
        let compares = metrics.iter().any(|(_, of_metric)| {
            let mut neighbours = of_metric.rows.windows(2);
            neighbours.any(|two| two[0].0 == two[1].0)
        });
        let mut groups = vec![("variant", "by variant")];
        if compares {
            groups.insert(0, ("benchmark", "by benchmark"));
        }
        let headline = if self.metrics.is_empty() {
            Headline::new(
                News::Nothing,
                html! { "Nothing to draw: no benchmark has samples" },
            )
        } else {
            let compare = html! {
                "A bar ends at the median of the instances' means; the thick tick is their mean, the line one standard deviation to each side of it. "
                "This is neither an interval nor a verdict: "
                "for differences use " code { "lapwing compare" } ". A click opens the page of the benchmark."
            };
            let values = html! {
                "For each variant of a benchmark its newest version, all instances of the "
                (DAYS) " days up to its latest run together. Nightly builds of one release count as one version."
            };
            Headline {
                explained: vec![values, compare],
                ..Headline::new(News::Nothing, html! { "The latest values side by side" })
            }
        };
        let main = html! {
            @if !self.metrics.is_empty() {
                (self.filters().form(None))
                p.tabs role="group" aria-label="Charts" {
                    @for (name, title) in &groups {
                        button type="button" data-group=(name) hidden[groups.len() < 2] { (title) } " "
                    }
                }
                h2.unseen { "Charts" }
                p #shown role="status" {}
                div #bars {}
                noscript { p { "Charts need JavaScript." } }
            }
        };
        let frame = PageFrame {
            page: Some(SitePage::Bars),
            name: SitePage::Bars.title(),
            headline: &headline,
            class: "about-all",
            skip: ("#bars", "Skip to the charts"),
            scripts: SitePage::Bars.scripts(),
        };
        frame.write_previews(site)?;
        let page = frame.html(site, &settings, &main, &html! {});
        site.directory.write(&SitePage::Bars.file(), &page)
    }

    fn filters(&self) -> Filters {
        let drawn: BTreeSet<usize> = self.metrics.rows().map(|(at, _)| *at).collect();
        let drawn = || drawn.iter().filter_map(|&at| self.benchmarks.get(at));
        let metrics = self.metrics.by_use().into_iter();
        let metrics =
            metrics.map(|(name, of_metric)| (name.clone(), units(&of_metric.rows).join(", ")));
        let categories: BTreeSet<String> = drawn().map(|it| category(&it.id)).collect();
        let filters = Filters::of("Bars", drawn()).by_metric(metrics.collect(), MetricFilter::One);
        if categories.len() < 2 {
            return filters;
        }
        let named = categories.into_iter().filter(|name| !name.is_empty());
        filters.by(
            "category",
            "Category",
            named.map(|name| (name.clone(), name)),
        )
    }

    /// Returns the side file of a metric. What many bars share stands in it once.
    fn file<'a>(&'a self, of_metric: &[PlacedBar]) -> BarFile<'a> {
        let units = units(of_metric);
        let mut settings: Vec<BarSetting> = Vec::new();
        let mut origins: Vec<(String, String)> = Vec::new();
        let mut benchmarks = BarBenchmarks::default();
        let mut bars = BarColumns::default();
        let mut last = None;
        for (at, it) in of_metric {
            let Some(benchmark) = self.benchmarks.get(*at) else {
                continue;
            };
            if last != Some(*at) {
                last = Some(*at);
                benchmarks.add(benchmark);
            }
            let setting = BarSetting {
                name: it.setting.clone(),
                colour: it.colour,
            };
            let until = minute_text(it.until);
            let origin = (
                ends(&it.versions.0, &it.versions.1),
                ends(&minute_text(it.from), &until),
            );
            let newest = self.newest.get(&benchmark.suite).unwrap_or(&it.until);
            let old = newest.duration_since(it.until) > SignedDuration::from_hours(24 * DAYS);
            let day = until.get(..10).filter(|_| old).unwrap_or_default();
            bars.benchmark.push(benchmarks.id.len() - 1);
            bars.setting.push(place(&mut settings, setting));
            let unit = units.iter().position(|unit| *unit == it.unit);
            bars.unit.push(unit.unwrap_or(0));
            bars.count.push(it.bar.count);
            bars.sd.push(short(it.bar.sd.unwrap_or(f64::NAN)));
            bars.min.push(short(it.bar.min));
            bars.median.push(short(it.bar.median));
            bars.mean.push(short(it.bar.mean));
            bars.max.push(short(it.bar.max));
            bars.origin.push(place(&mut origins, origin));
            bars.old.push(day.to_owned());
        }
        BarFile {
            chart: empty_bars(),
            units: units.into_iter().map(BarUnit::new).collect(),
            settings,
            benchmarks,
            origins,
            bars,
        }
    }
}

impl<'a> BarBenchmarks<'a> {
    fn add(&mut self, benchmark: &'a BenchmarkLink) {
        self.suite.push(&benchmark.suite);
        self.id.push(&benchmark.id);
        self.slug.push(&benchmark.slug);
        self.tags.push(&benchmark.tags);
        self.category.push(category(&benchmark.id));
    }
}

impl BarUnit {
    fn new(unit: &str) -> Self {
        let ladder = UnitScale::ladder(unit).into_iter();
        Self {
            unit: unit.to_owned(),
            scales: ladder
                .map(|(from, scale)| (from, scale.factor, scale.suffix()))
                .collect(),
        }
    }
}

/// Returns the units that bars are in, in order of the first bar of each.
fn units(bars: &[PlacedBar]) -> Vec<&str> {
    let mut units: Vec<&str> = Vec::new();
    for (_, it) in bars {
        if !units.contains(&it.unit.as_str()) {
            units.push(&it.unit);
        }
    }
    units
}

/// Returns where the thing stands in the list, to which it is added where it is not yet in it.
fn place<T: PartialEq>(list: &mut Vec<T>, thing: T) -> usize {
    list.iter()
        .rposition(|known| *known == thing)
        .unwrap_or_else(|| {
            list.push(thing);
            list.len() - 1
        })
}

/// Returns a number with the five digits that a picture and three digits on hover need.
fn short(value: f64) -> Value {
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(f64::NAN);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number below ten quadrillions"
    )]
    if rounded.fract() == 0.0 && rounded.abs() < 1e9 {
        return Value::from(rounded as i64);
    }
    Value::from(rounded)
}

/// Returns the only one, or the first and the last.
fn ends(first: &str, last: &str) -> String {
    if first == last {
        first.to_owned()
    } else {
        format!("{first} to {last}")
    }
}

/// Returns the first folder of a benchmark's id, what Coiled calls its category; empty without.
fn category(id: &str) -> String {
    let place = id.split(['[', ':']).next().unwrap_or_default();
    let is_name = |text: &&str| {
        !text.is_empty()
            && text
                .chars()
                .all(|it| it.is_alphanumeric() || "_-".contains(it))
    };
    let folder = place.split_once('/').map(|(folder, _)| folder);
    folder.filter(is_name).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_the_first_folder() {
        assert_eq!(category("benchmarks/test_a.py::test[x/y]"), "benchmarks");
        assert_eq!(category("test_a.py::test[x/y]"), "");
        for without in ["gzip[level=6]", "gzip -d /dev/null", "../x", "/bin/true"] {
            assert_eq!(category(without), "");
        }
    }

    #[test]
    fn five_digits_are_kept() {
        let texts =
            [1.234_567_8, 1_234_567.8, 2.0, -0.001, f64::NAN].map(|it| short(it).to_string());
        assert_eq!(texts, ["1.2346", "1234600", "2", "-0.001", "null"]);
    }
}
