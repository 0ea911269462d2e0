//! The index: one line that says whether anything is wrong, and a table of everything.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde_json::json;

use super::directory::DirectoryError;
use super::frame::SitePage;
use super::index_parts::columns::columns;
use super::index_parts::health::BenchmarkHealth;
use super::index_parts::listing::{
    Filters, ListingPage, MetricFilter, MetricRows, sorted, unsorted,
};
use super::index_parts::row::{IndexRow, MetricIndexRows, mark_moved};
use super::index_parts::verdicts::looks;
use super::parametrised::TestPages;
use super::provenance::{back_to_back_note, marked};
use super::sections::remarks::retired_sentence;
use super::{ReportSite, changes};
use crate::NOISY;
use crate::quantity::round_percent;
use lapwing_analyse::judge::{Comparison, Verdict};
use lapwing_model::text::{counted, grouped, plural};

/// States that rows can be filtered by: keys of the script, and titles.
const STATES: [(&str, &str); 14] = [
    ("failures", "with failures"),
    ("before", "with failures in earlier runs only"),
    ("nothing", "without a value"),
    ("skipped", "skipped"),
    ("lost", "with interrupted instances"),
    ("few", "fewer than 3 instances"),
    ("summary", "summaries without samples"),
    ("noisy", "noisy"),
    ("changed", "changed since the run before"),
    ("unusual", "unusual against earlier single runs"),
    ("regressed", "regression in the history"),
    ("shifted", "change in the history"),
    ("epoch", "the benchmark itself changed"),
    (
        "moved",
        "changed (after correction for multiple comparisons)",
    ),
];

/// The rows of the index, collected while benchmarks are written.
#[derive(Debug, Default)]
pub(super) struct IndexPage {
    health: Vec<BenchmarkHealth>,
    /// The number of retired instances that are in the report.
    retired: usize,
    metrics: MetricRows<IndexRow>,
}

impl IndexPage {
    pub(super) fn note_retired(&mut self, instances: usize) {
        self.retired += instances;
    }

    pub(super) fn benchmarks(&self) -> usize {
        self.health.len()
    }

    pub(super) fn add(&mut self, metrics: Vec<MetricIndexRows>, health: BenchmarkHealth) {
        self.health.push(health);
        for MetricIndexRows { name, unit, rows } in metrics {
            self.metrics.add(&name, &unit, rows);
        }
    }

    /// Writes the side files and returns the page.
    pub(super) fn write(
        &mut self,
        site: &ReportSite,
        tests: &TestPages,
    ) -> Result<String, DirectoryError> {
        for rows in self.metrics.rows_by_metric() {
            for row in rows.iter_mut().filter(|row| !tests.has(&row.test)) {
                row.test.clear();
            }
            mark_moved(rows);
            rows.sort_by_key(IndexRow::urgency);
        }
        let variants: BTreeSet<&String> = self.metrics.rows().map(|row| &row.variant).collect();
        let mut table = vec![
            sorted("name", "benchmark", "name"),
            unsorted("history", "history"),
            sorted("value", "latest value [95 % CI]", "number"),
            sorted("change", "change", "number"),
        ];
        let mut settings = json!({});
        if self.metrics.rows().any(|row| !row.since.since.is_empty()) {
            table.push(sorted("since", "in the history", "since"));
            settings["since"] = json!(true);
        }
        if site.comparisons.is_some() {
            table.push(sorted("verdict", "verdict", "verdict"));
            settings["verdicts"] = json!(looks());
        }
        table.extend([
            sorted("noise", "cv", "number"),
            sorted("size", "instances × iterations", "number"),
            sorted("failures", "failures", "number"),
        ]);
        let page = ListingPage {
            page: SitePage::Index,
            conclusion: self.conclusion(site),
            filters: Filters::of("Benchmarks", self.metrics.rows().map(|row| &row.benchmark))
                .by_metric(self.metrics.units(), MetricFilter::One)
                .by_name("variant", "Variant", variants.into_iter().cloned())
                .by("state", "Show", STATES),
            draw: None,
            caption: "Benchmarks, by their latest run",
            columns: table,
            guide: guide(),
        };
        let rows = |rows: &[IndexRow]| columns(rows);
        let files = self
            .metrics
            .write_files(site, SitePage::Index, rows, |_| None)?;
        Ok(page.html(site, &files, settings))
    }

    fn conclusion(&self, site: &ReportSite) -> Markup {
        html! {
            @let differing = self.differing();
            (self.sentence(differing == 0 && is_all_well(site), unjudged(site)))
            @if differing > 0 {
                p.compared { strong { (grouped(differing)) } " " (plural(differing, "benchmark differs", "benchmarks differ")) " between variants (bold in the table)." }
            }
            @if let Some(comparisons) = &site.comparisons {
                p.compared { (comparisons.view.sides()) ": " a href=(SitePage::Compare.file()) { strong { (comparisons.view.verdicts()) } } "." }
            }
            @if unjudged(site).is_none() && let Some(summary) = site.changes.as_ref().and_then(changes::summary) {
                p.compared { "In the history: " a href=(SitePage::Changes.file()) { strong { (summary) } } "." }
            }
            @if let Some(changes) = &site.changes { (changes::run_notes(changes)) }
            (self.ended())
            (self.back_to_back())
            (retired_sentence(&site.remarks, self.retired))
            @if self.health.is_empty() {
                p { "Nothing was measured yet, or the filters left nothing." }
                p { "Measure a command with " code { "lapwing run -- COMMAND" } ", then write the report again." }
            }
        }
    }

    /// Returns the answer to "is anything wrong?"; `is_all_well` says whether comparisons and the history are good news, and
    /// `unjudged` that no history was judged.
    fn sentence(&self, is_all_well: bool, unjudged: Option<String>) -> Markup {
        let number =
            |test: fn(&BenchmarkHealth) -> bool| self.health.iter().filter(|it| test(it)).count();
        let failing = number(|it| it.failures > 0);
        let without_value = number(|it| it.without_value);
        let lost = number(|it| it.lost > 0);
        let all = self.health.len();
        let noisy = format!(
            "noisy (by more than {} between instances)",
            round_percent(NOISY)
        );
        // How many, the state that filters them, and what is said of one and of several.
        let remarks = [
            (failing, "failures", ["had", "had"], "failures"),
            (
                number(|it| it.failed_before),
                "before",
                ["had", "had"],
                "failures in earlier runs only",
            ),
            (
                without_value,
                "nothing",
                ["gave", "gave"],
                "no value at all",
            ),
            (
                number(|it| it.skipped),
                "skipped",
                ["was", "were"],
                "skipped",
            ),
            (
                lost,
                "lost",
                ["had", "had"],
                "instances cut short, which do not count",
            ),
            (
                self.changed(),
                "changed",
                ["differs from its run", "differ from their runs"],
                "before (after correction for multiple comparisons)",
            ),
            (
                number(|it| it.unusual),
                "unusual",
                ["is", "are"],
                "unusual against earlier runs (single runs, so no verdict)",
            ),
            (
                number(|it| it.regressed),
                "regressed",
                ["has", "have"],
                "a regression in the history that was not undone",
            ),
            (
                number(|it| it.new_epoch),
                "epoch",
                ["is", "are"],
                "not compared with the run before, because the benchmark itself changed",
            ),
            (
                number(|it| it.few_instances),
                "few",
                ["has", "have"],
                "fewer than 3 instances, too few to compare two runs",
            ),
            (
                number(|it| it.summarised),
                "summary",
                ["has only a summary of its", "have only summaries of their"],
                "source, which kept no samples: only the history is judged",
            ),
            (number(|it| it.noisy), "noisy", ["is", "are"], &noisy),
        ];
        let remarks: Vec<_> = remarks.iter().filter(|(number, ..)| *number > 0).collect();
        html! {
            p.answer {
                @if all == 0 {
                    "There is nothing to report."
                } @else if remarks.is_empty() {
                    @if is_all_well {
                        strong { "Nothing is wrong" } " with the latest runs of " (counted(all, "benchmark"))
                    } @else {
                        "The latest runs of " (counted(all, "benchmark")) " by themselves"
                    }
                    ": no failures, no change from the run before that shows, at least 3 instances each"
                    @if self.is_quiet() { ", little noise" }
                    "."
                } @else {
                    "Of " (counted(all, "benchmark")) ", in their latest runs: "
                    @for (position, (number, state, [one, several], text)) in remarks.iter().enumerate() {
                        @if position > 0 { "; " }
                        a href=(format!("#state={state}")) { strong { (grouped(*number)) } " " (plural(*number, one, several)) " " (text) }
                    }
                    "."
                    @if failing == 0 && lost == 0 && without_value == 0 { " Nothing failed in these runs." }
                }
                @if let Some(unjudged) = unjudged {
                    " In the history " a href=(SitePage::Changes.file()) { strong { (unjudged) } } "."
                }
            }
        }
    }

    /// Returns what is not measured any more, by the metric that is shown first.
    fn ended(&self) -> Markup {
        let metrics = self.metrics.by_use();
        let rows = metrics.first().into_iter().flat_map(|(_, it)| &it.rows);
        let ended = rows.filter(|row| row.ended).count();
        html! {
            @if ended > 0 {
                p.hint { (counted(ended, "setting")) " of benchmarks " (plural(ended, "is", "are")) " not measured any more, and "
                    (plural(ended, "comes", "come")) " last in the table." }
            }
        }
    }

    /// Returns the number of benchmarks of which a variant differs from its run before.
    fn changed(&self) -> usize {
        self.count_rows(|row| row.moved && row.since_before && !row.ended)
    }

    /// Returns the number of benchmarks of which variants differ by any metric.
    fn differing(&self) -> usize {
        let metrics = self.metrics.by_use();
        let rows = metrics.iter().flat_map(|(_, of_metric)| &of_metric.rows);
        let differ = rows.filter(|row| row.moved && !row.since_before);
        let names = differ.map(|row| (&row.benchmark.suite, &row.benchmark.id));
        names.collect::<BTreeSet<_>>().len()
    }

    /// Returns whether no benchmark varies much, by the number that the table shows.
    fn is_quiet(&self) -> bool {
        let metrics = self.metrics.by_use();
        let first = metrics.first().into_iter();
        let mut rows = first.flat_map(|(_, of_metric)| &of_metric.rows);
        rows.all(|row| row.cv.is_some_and(|cv| cv <= NOISY))
    }

    /// Returns the number of benchmarks with such a row, by the metric that is shown first.
    fn count_rows(&self, is_such: impl Fn(&IndexRow) -> bool) -> usize {
        let mut found: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        for (_, of_metric) in self.metrics.by_use() {
            let mut by_this_metric: BTreeMap<(&str, &str), bool> = BTreeMap::new();
            for row in &of_metric.rows {
                let benchmark = (row.benchmark.suite.as_str(), row.benchmark.id.as_str());
                *by_this_metric.entry(benchmark).or_default() |= is_such(row);
            }
            for (benchmark, is_found) in by_this_metric {
                found.entry(benchmark).or_insert(is_found);
            }
        }
        found.values().filter(|is_found| **is_found).count()
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
                        (grouped(number)) (plural(*number, " benchmark: ", " benchmarks: "))
                    }
                    (marked(note))
                }
            }
        }
    }
}

/// Returns whether neither comparisons nor the history say anything but that nothing got worse.
fn is_all_well(site: &ReportSite) -> bool {
    let is_good = |it: &Comparison| match it.verdict {
        Verdict::Equivalent
        | Verdict::UnchangedInRuns
        | Verdict::Improvement
        | Verdict::BetterInRuns => true,
        Verdict::Regression
        | Verdict::WorseInRuns
        | Verdict::Changed
        | Verdict::Inconclusive
        | Verdict::NotMeasured => false,
    };
    let shown = site.comparisons.as_ref();
    let compared = shown.is_none_or(|shown| shown.view.comparisons.iter().all(is_good));
    let changed = site.changes.as_ref().is_some_and(changes::has_regressions);
    let unjudged = site.changes.as_ref().is_some_and(changes::is_unjudged);
    compared && !changed && !unjudged
}

/// Returns `nothing judged: too few runs` if there is a history and nothing is known of it.
fn unjudged(site: &ReportSite) -> Option<String> {
    let view = site.changes.as_ref()?;
    changes::summary(view).filter(|_| view.judged_nothing())
}

/// Returns what the columns mean, for those who do not work with such numbers every day.
fn guide() -> Markup {
    html! {
        dt { "history" }
        dd { "A line: the values of successive runs. Dots: the instances of the only run." }
        dt { "latest value [95 % CI]" }
        dd { "The geometric mean of the latest run's instances. If everything were measured again and again, 95 of 100 intervals like the one in brackets would contain the true mean: the narrower, the more precise." }
        dt { "change" }
        dd { "The value divided by that of the run it is compared with (hover to see which): 1.10× is 10 % more. Bold if the interval excludes 1, so that chance alone hardly explains it. ≈ marks a description: the latest run has too few instances for a comparison, so it is divided by the median of the runs before, with the usual difference of these beside it; coloured if it differs by more than three times that. “New epoch”: the benchmark itself changed, its definition or a parameter (hover to see which), so it is not compared with earlier runs." }
        dt { "in the history" }
        dd { "The latest change of its level that was not undone, and the first version with it: one value per run is compared with those before and after. A click leads to the suspects and to what else changed there." }
        dt { "cv" }
        dd { "How much the instances of the latest run differ from each other: the coefficient of variation of their means, the noise of their iterations included. Noise hides small changes. It is highlighted where the benchmark is noisy: where it varies by more than " (round_percent(NOISY)) " between instances, without the noise of iterations, as on the page " a href=(SitePage::Variability.file()) { (SitePage::Variability.title()) } ", which shows what helps." }
        dt { "summary" }
        dd { "The source kept only a number, such as the median of 30 samples. It is shown with the source's own spread (± and its name), without an interval, and nothing is concluded from it." }
        dt { "instances × iterations" }
        dd { "The sample size. An instance is one round of a benchmark: setup, several iterations, teardown. Rounds are spread over the session in random order, so they sample different moments of the machine; iterations within a round do not. The first iteration of each (burn-in) is not counted." }
    }
}
