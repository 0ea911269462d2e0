//! The index: one line that says whether anything is wrong, and a table of everything.

use std::collections::{BTreeMap, BTreeSet};

use maud::{DOCTYPE, Markup, html};
use serde::Serialize;

use super::columns::{About, columns};
use super::compare::Shown;
use super::directory::{Directory, DirectoryError};
use super::health::{Health, NOISY_FROM};
use super::page::{foot, head, json_script, theme_switch};
use super::parametrised::TestPages;
use super::provenance::{back_to_back_note, marked};
use super::remarks::{Remarks, retired_sentence};
use super::row::Row;
use super::site::{Compared, MetricRows, Settings, SitePage, header, navigation};
use super::{Options, side_file};
use crate::judge::Verdict;
use crate::show::quantity::percent;
use crate::show::sample::{FIRST_METRIC, metric_title};
use crate::text::{grouped, plural};

/// What the index gathers while benchmarks are written.
#[derive(Debug, Default)]
pub(super) struct Index {
    health: Vec<Health>,
    /// How many retired instances are in the report.
    retired: usize,
    suites: BTreeSet<String>,
    tags: BTreeSet<String>,
    variants: BTreeSet<String>,
    metrics: BTreeMap<String, Metric>,
}

#[derive(Debug, Default)]
struct Metric {
    unit: String,
    rows: Vec<Row>,
}

/// The signs and words of verdicts, where sides were compared.
#[derive(Debug, Serialize)]
struct Verdicts {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    verdicts: BTreeMap<&'static str, [&'static str; 2]>,
}

impl Verdicts {
    fn of(shown: Option<&Shown>) -> Self {
        let all = match shown {
            Some(_) => Verdict::ALL.as_slice(),
            None => &[],
        };
        let look = |verdict: &Verdict| (verdict.name(), [verdict.symbol(), verdict.title()]);
        Self {
            verdicts: all.iter().map(look).collect(),
        }
    }
}

impl Index {
    pub(super) fn note_retired(&mut self, instances: usize) {
        self.retired += instances;
    }

    pub(super) fn benchmarks(&self) -> usize {
        self.health.len()
    }

    pub(super) fn add(
        &mut self,
        about: &About,
        metrics: Vec<(String, String, Vec<Row>)>,
        health: Health,
    ) {
        self.health.push(health);
        self.suites.insert(about.suite.clone());
        self.tags.extend(about.tags.iter().cloned());
        for (name, unit, rows) in metrics {
            self.variants
                .extend(rows.iter().map(|row| row.variant.clone()));
            let metric = self.metrics.entry(name).or_default();
            metric.unit = unit;
            metric.rows.extend(rows);
        }
    }

    /// Writes the side files and returns the page.
    pub(super) fn write(
        &mut self,
        directory: &Directory,
        options: &Options,
        shown: Option<&Shown>,
        tests: &TestPages,
        remarks: &Remarks,
    ) -> Result<String, DirectoryError> {
        for row in self.metrics.values_mut().flat_map(|it| &mut it.rows) {
            if !tests.has(&row.test) {
                row.test.clear();
            }
        }
        let mut metrics: Vec<(&String, &Metric)> = self.metrics.iter().collect();
        // The usual metric first, then those that most benchmarks have.
        metrics
            .sort_by_key(|(name, metric)| (*name != FIRST_METRIC, usize::MAX - metric.rows.len()));
        let mut settings = Settings {
            page: "index",
            metrics: Vec::new(),
            file: None,
            more: Verdicts::of(shown),
        };
        for (number, (name, metric)) in metrics.iter().enumerate() {
            let file = format!("index.m{number}");
            directory.write(
                &format!("data/{file}.js"),
                &side_file(&file, &columns(&metric.rows)),
            )?;
            settings.metrics.push(MetricRows {
                name: (*name).clone(),
                file,
                chart: None,
            });
        }
        Ok(self.page(&metrics, &settings, options, shown, remarks))
    }

    fn page(
        &self,
        metrics: &[(&String, &Metric)],
        settings: &Settings<Verdicts>,
        options: &Options,
        shown: Option<&Shown>,
        remarks: &Remarks,
    ) -> String {
        let compared = match shown {
            Some(_) => Compared::Yes,
            None => Compared::No,
        };
        let first_file = settings.metrics.first().map(|metric| metric.file.as_str());
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(&options.title, ""))
                body.index {
                    a.skip href="#benchmarks" { "Skip to the table" }
                    header {
                        div { h1 { (options.title) } (navigation(Some(SitePage::Index), "", compared)) }
                        (theme_switch())
                    }
                    main {
                        (self.sentence())
                        @if let Some(Shown { view, .. }) = shown {
                            p.compared { (view.sides()) ": " a href=(SitePage::Compare.file()) { strong { (view.verdicts()) } } "." }
                        }
                        (self.back_to_back())
                        (retired_sentence(remarks, self.retired))
                        @if self.health.is_empty() {
                            p { "Nothing was measured yet, or the filters left nothing." }
                            p { "Measure a command with " code { "lapwing run -- COMMAND" } ", then write the report again." }
                        } @else {
                            (self.controls(metrics))
                            p #shown role="status" {}
                            table.listing #benchmarks role="table" tabindex="-1" {
                                caption.unseen { "Benchmarks, by their latest run" }
                                thead role="rowgroup" { tr role="row" {
                                    (header("name", "benchmark", "name"))
                                    th.history role="columnheader" scope="col" { "history" }
                                    (header("value", "latest value [95 % CI]", "number"))
                                    (header("change", "change", "number"))
                                    @if compared == Compared::Yes { (header("verdict", "verdict", "verdict")) }
                                    (header("noise", "noise", "number"))
                                    (header("size", "instances × iterations", "number"))
                                    (header("failures", "failures", "number"))
                                } }
                                tbody role="rowgroup" {}
                            }
                            p #more hidden { button type="button" { "Show more" } }
                            (reading_guide())
                            noscript { p { "The table needs JavaScript. The pages are in the folder " code { "benchmark" } "." } }
                        }
                    }
                    (foot(options))
                    (json_script("settings", settings))
                    script src="assets/app.js" {}
                    script src="assets/listing.js" {}
                    script src="assets/pages.js" {}
                    @if let Some(file) = first_file {
                        script src=(format!("data/{file}.js")) {}
                    }
                }
            }
        }
        .into_string()
    }

    /// Returns the answer to "is anything wrong?".
    fn sentence(&self) -> Markup {
        let number = |test: fn(&Health) -> bool| self.health.iter().filter(|it| test(it)).count();
        let failing = number(|it| it.failures > 0);
        let without_value = number(|it| it.without_value);
        let skipped = number(|it| it.skipped);
        let new_epoch = number(|it| it.new_epoch);
        let lost = number(|it| it.lost > 0);
        let summarised = number(|it| it.summarised);
        let changed = number(|it| it.changed);
        let few = number(|it| it.few_instances);
        let noisy = number(|it| it.noisy);
        let all = self.health.len();
        let benchmarks = plural(all, "benchmark", "benchmarks");
        let remarks: Vec<(usize, &str, String)> = vec![
            (failing, "failures", "had failures".to_owned()),
            (without_value, "nothing", "gave no value at all".to_owned()),
            (
                skipped,
                "skipped",
                format!("{} skipped", plural(skipped, "was", "were")),
            ),
            (
                lost,
                "lost",
                "had instances cut short, which do not count".to_owned(),
            ),
            (
                changed,
                "changed",
                plural(
                    changed,
                    "differs from its run before (the interval of the change leaves 1× out)",
                    "differ from their runs before (the interval of the change leaves 1× out)",
                )
                .to_owned(),
            ),
            (
                new_epoch,
                "epoch",
                plural(
                    new_epoch,
                    "is not compared with its run before, because the benchmark itself changed",
                    "are not compared with their runs before, because the benchmarks themselves changed",
                )
                .to_owned(),
            ),
            (
                few,
                "few",
                plural(
                    few,
                    "rests on fewer than 3 instances, too few to judge a change",
                    "rest on fewer than 3 instances, too few to judge a change",
                )
                .to_owned(),
            ),
            (
                summarised,
                "summary",
                plural(
                    summarised,
                    "is known only by a summary of its source, which kept no samples to judge by",
                    "are known only by summaries of their source, which kept no samples to judge by",
                )
                .to_owned(),
            ),
            (
                noisy,
                "noisy",
                format!(
                    "{} noisy (instances vary by more than {})",
                    plural(noisy, "is", "are"),
                    percent(NOISY_FROM)
                ),
            ),
        ];
        let remarks: Vec<_> = remarks
            .into_iter()
            .filter(|(number, _, _)| *number > 0)
            .collect();
        html! {
            p.answer {
                @if all == 0 {
                    "There is nothing to report."
                } @else if remarks.is_empty() {
                    strong { "Nothing is wrong" } " with the latest runs of "
                    (grouped(all)) " " (benchmarks) ": no failures, no change from the runs before that shows, at least 3 instances each, little noise."
                } @else {
                    "Of " (grouped(all)) " " (benchmarks) ", in their latest runs: "
                    @for (position, (number, state, text)) in remarks.iter().enumerate() {
                        @if position > 0 { "; " }
                        a href=(format!("#state={state}")) { strong { (grouped(*number)) } " " (text) }
                    }
                    "."
                    @if failing == 0 && lost == 0 && without_value == 0 { " Nothing failed." }
                }
            }
        }
    }

    /// Returns what to know of sources that measure everything back to back, once for all.
    fn back_to_back(&self) -> Markup {
        let mut sources: BTreeMap<String, usize> = BTreeMap::new();
        for health in &self.health {
            for note in health.back_to_back.iter().filter_map(back_to_back_note) {
                *sources.entry(note).or_default() += 1;
            }
        }
        html! {
            @for (note, number) in &sources {
                p.hint {
                    @if *number < self.health.len() {
                        (grouped(*number)) (plural(*number, " benchmark: ", " benchmarks: "))
                    }
                    (marked(note))
                }
            }
        }
    }

    fn controls(&self, metrics: &[(&String, &Metric)]) -> Markup {
        let options = |names: &BTreeSet<String>| {
            html! { @for name in names { option value=(name) { (name) } } }
        };
        html! {
            form #filters role="search" aria-label="Benchmarks" {
                label.wide { span { "Search" } input type="search" name="q" placeholder="part of a name" autocomplete="off"; }
                label { span { "Metric" } select name="metric" {
                    @for (name, metric) in metrics {
                        option value=(name) { (metric_title(name)) @if !metric.unit.is_empty() && metric.unit != "1" { " (" (metric.unit) ")" } }
                    }
                } }
                @if self.suites.len() > 1 {
                    label { span { "Suite" } select name="suite" { option value="" { "all" } (options(&self.suites)) } }
                }
                @if !self.tags.is_empty() {
                    label { span { "Tag" } select name="tag" { option value="" { "all" } (options(&self.tags)) } }
                }
                @if self.variants.len() > 1 {
                    label { span { "Variant" } select name="variant" { option value="" { "all" } (options(&self.variants)) } }
                }
                label { span { "Show" } select name="state" {
                    option value="" { "all" }
                    option value="failures" { "with failures" }
                    option value="nothing" { "without a value" }
                    option value="skipped" { "skipped" }
                    option value="lost" { "with lost instances" }
                    option value="few" { "fewer than 3 instances" }
                    option value="summary" { "summaries without samples" }
                    option value="noisy" { "noisy" }
                    option value="changed" { "changed since the run before" }
                    option value="epoch" { "the benchmark itself changed" }
                    option value="moved" { "changed (interval leaves out 1×)" }
                } }
                button type="reset" { "Clear" }
            }
        }
    }
}

/// Returns what the columns mean, for those who do not work with such numbers every day.
fn reading_guide() -> Markup {
    html! {
        details.guide {
            summary { "How to read this table" }
            dl {
                dt { "history" }
                dd { "A line: the value of run after run. Dots: there is one run only, and these are its instances." }
                dt { "latest value [95 % CI]" }
                dd { "The mean of the latest run's instances. Were everything measured again, intervals like the one in brackets would contain the true mean 95 times out of 100: the narrower, the surer." }
                dt { "change" }
                dd { "The value divided by that of the run it is compared with (point at it to see which): 1.10× is 10 % more. Bold where the interval leaves 1 out, so that chance alone hardly explains it. “New epoch”: the benchmark itself changed, its definition or a parameter (point at it to see which), so that it is not compared with what it was." }
                dt { "noise" }
                dd { "How much the instances of a run differ from each other (their standard deviation divided by their mean). Small changes hide in large noise; from 10 % on it is marked." }
                dt { "summary" }
                dd { "The source kept a number, such as the median of 30 samples, and not the samples. It is shown with the source's own spread (± and which one). There is no interval, and nothing is concluded from it." }
                dt { "instances × iterations" }
                dd { "What the value rests on. An instance is one visit to the benchmark, an iteration one execution that counts." }
            }
        }
    }
}
