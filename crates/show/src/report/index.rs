//! The index: the answer, the map of a history or the plot of a comparison, and a table of everything.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde_json::json;

use super::directory::DirectoryError;
use super::frame::SitePage;
use super::headline::{Headline, News};
use super::index_parts::columns::columns;
use super::index_parts::forest;
use super::index_parts::health::BenchmarkHealth;
use super::index_parts::listing::{
    Filters, ListingPage, MetricFilter, MetricRows, sorted, unsorted,
};
use super::index_parts::map;
use super::index_parts::row::{IndexRow, MetricIndexRows};
use super::index_parts::verdicts::looks;
use super::parametrised::{TestCurve, TestPages};
use super::provenance::{back_to_back_note, marked};
use super::sections::remarks::retired_sentence;
use super::{ReportSite, changes, compare, indicators};
use crate::NOISY;
use crate::quantity::round_percent;
use lapwing_model::text::{counted, grouped, plural};

/// States that rows can be filtered by: keys of the script, and titles.
const STATES: [(&str, &str); 12] = [
    ("failures", "with failures"),
    ("before", "with failures in earlier runs only"),
    ("nothing", "without a value"),
    ("skipped", "skipped"),
    ("lost", "with interrupted instances"),
    ("few", "fewer than 3 instances"),
    ("summary", "summaries without samples"),
    ("noisy", "noisy"),
    ("unusual", "unusual against earlier single runs"),
    ("regressed", "regression in the history"),
    ("shifted", "change in the history"),
    ("epoch", "the benchmark itself changed"),
];

/// The rows of the index, collected while benchmarks are written.
#[derive(Debug, Default)]
pub(super) struct IndexPage {
    health: Vec<BenchmarkHealth>,
    /// The number of retired instances that are in the report.
    retired: usize,
    metrics: MetricRows<IndexRow>,
}

/// The words for noisy benchmarks: those with more than [`NOISY`] between instances.
const NOISY_WORDS: [&str; 2] = [
    "varies by more than 5 % between instances.",
    "vary by more than 5 % between instances.",
];

/// More variants are rows of the table and not columns.
const VARIANT_COLUMNS: usize = 4;

/// A number of benchmarks with something that is not as it should be.
struct Remark {
    number: usize,
    /// The key of the rows in the table.
    state: &'static str,
    /// The words for one benchmark and for several.
    words: [&'static str; 2],
}

impl Remark {
    fn new(number: usize, state: &'static str, words: [&'static str; 2]) -> Self {
        Self {
            number,
            state,
            words,
        }
    }
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

    /// Writes the side files and returns the page. Where nothing is compared and no history judged, its answer is
    /// that of a study or of a trace.
    pub(super) fn write(
        &mut self,
        site: &ReportSite,
        tests: &TestPages,
        of_other: Option<Headline>,
    ) -> Result<String, DirectoryError> {
        for rows in self.metrics.rows_by_metric() {
            for row in rows.iter_mut().filter(|row| !tests.has(&row.test)) {
                row.test.clear();
            }
            rows.sort_by_key(IndexRow::urgency);
        }
        let lead = indicators::lead(&self.metrics);
        let has_lead = lead.is_some();
        if let Some(lead) = lead {
            self.metrics.lead_with(lead);
        }
        let variants: BTreeSet<&String> = self.metrics.rows().map(|row| &row.variant).collect();
        let is_judged = site.comparisons.is_some()
            || site
                .changes
                .as_ref()
                .is_some_and(super::ChangesView::has_answer);
        let is_of_stacks = site.contents.stacks && !is_judged && variants.len() > VARIANT_COLUMNS;
        let mut settings = json!({});
        if has_lead {
            settings["lead"] = json!(true);
        }
        let mut table = vec![
            sorted("name", "benchmark", "name"),
            unsorted("history", "history"),
        ];
        if (2..=VARIANT_COLUMNS).contains(&variants.len()) {
            // A row for each benchmark, with its variants side by side.
            let names: Vec<&String> = variants.iter().copied().collect();
            let titled = names.iter().enumerate();
            table.extend(titled.map(|(at, name)| sorted(format!("value{at}"), *name, "number")));
            settings["variants"] = json!(names);
        } else if is_of_stacks {
            // A row for each benchmark, with its stacks as dots and the ends of their values.
            table[1] = unsorted("stacks", "history");
            table.push(sorted("low", "lowest [95 % CI]", "number"));
            table.push(sorted("high", "highest [95 % CI]", "number"));
            settings["stacks"] = json!(true);
        } else {
            table.push(sorted("value", "latest [95 % CI]", "number"));
        }
        let has_change = |row: &IndexRow| !row.change_text.is_empty() || row.new_epoch;
        // Settings of a study are compared with its base, not with the setting that ran before.
        let is_of_settings = is_of_stacks || site.contents.studies;
        if !is_judged && !is_of_settings && self.metrics.rows().any(has_change) {
            table.push(sorted("change", "change", "number"));
            settings["changes"] = json!(true);
        }
        if self.metrics.rows().any(|row| !row.since.since.is_empty()) {
            table.push(sorted("since", "in the history", "since"));
            settings["since"] = json!(true);
        }
        if site.comparisons.is_some() {
            table.push(sorted("verdict", "verdict", "verdict"));
            settings["verdicts"] = json!(looks());
        }
        if self.metrics.rows().any(|row| row.cv.is_some()) {
            table.push(sorted("noise", "cv", "number"));
            settings["cv"] = json!(true);
        }
        table.extend([
            sorted("size", "instances × iterations", "number"),
            sorted("failures", "failures", "number"),
        ]);
        let other = match &site.comparisons {
            Some(shown) if !shown.view.comparisons.is_empty() => {
                Some(forest::write(site, shown, &mut settings)?)
            }
            Some(_) | None => map::write(site, &mut settings)?,
        };
        let has_other = other.is_some();
        // A row of stacks has all of them.
        let names_of_variants = (!is_of_stacks)
            .then_some(variants)
            .into_iter()
            .flatten()
            .cloned();
        let page = ListingPage {
            page: SitePage::Index,
            headline: self.headline(site, has_other, of_other, tests),
            above: html! {},
            other,
            below: site.missing_pages(),
            filters: Filters::of("Benchmarks", self.metrics.rows().map(|row| &row.benchmark))
                .by_metric(self.metrics.units(), MetricFilter::One)
                .by_name("variant", "Variant", names_of_variants)
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
        page.html(site, &files, settings)
    }

    /// Returns the answer: of the comparison, else of the history, else of stacks, a study or a trace, else of the latest runs. What failed is worse news
    /// than that nothing changed.
    fn headline(
        &self,
        site: &ReportSite,
        has_other: bool,
        of_other: Option<Headline>,
        tests: &TestPages,
    ) -> Headline {
        if self.health.is_empty() {
            return Headline {
                facts: vec![html! {
                    "Nothing was measured yet, or the filters left nothing. Measure a command with " code { "lapwing run -- COMMAND" }
                    ", then write the report again."
                }],
                ..Headline::new(News::Nothing, html! { "There is nothing to report" })
            };
        }
        let mut remarks = self.remarks();
        let mut is_of_stacks = false;
        let mut headline = match (&site.comparisons, &site.changes) {
            (Some(shown), _) => compare::headline(&shown.view),
            (None, Some(view)) if view.has_answer() || view.has_enough_runs() => {
                changes::headline(view)
            }
            (None, _) => {
                // Its answer tells which stacks failed, and the others can still be used.
                is_of_stacks = site.contents.stacks;
                of_other.unwrap_or_else(|| self.measured(tests))
            }
        };
        let link = |it: &Remark| {
            let view = if has_other { "view=table&" } else { "" };
            let Remark {
                number,
                state,
                words: [one, several],
            } = it;
            html! { a href=(format!("#{view}state={state}")) { (grouped(*number)) " " (plural(*number, one, several)) } }
        };
        let failing = remarks.iter().position(|it| it.state == "failures");
        let is_less = matches!(headline.news, News::Nothing | News::Suspected);
        if let Some(at) = failing.filter(|_| is_less && !is_of_stacks) {
            let failing = remarks.remove(at);
            let all = counted(self.health.len(), "benchmark");
            let number = grouped(failing.number);
            let view = if has_other { "view=table&" } else { "" };
            let answer = html! { a href=(format!("#{view}state=failures")) { (number) " of " (all) } " failed" };
            let answer = std::mem::replace(&mut headline.answer, answer);
            headline.facts.insert(0, html! { (answer) "." });
            headline.facts.insert(0, self.failing());
            headline.news = News::Worse;
            headline.picture = None;
        }
        if !remarks.is_empty() {
            headline.facts.push(html! {
                "Of " (counted(self.health.len(), "benchmark")) ", in their latest runs: "
                @for (at, it) in remarks.iter().enumerate() { @if at > 0 { "; " } (link(it)) }
                "."
            });
        }
        if let (Some(_), Some(view)) = (&site.comparisons, &site.changes)
            && view.has_answer()
            && let Some(summary) = changes::summary(view)
        {
            headline.facts.push(
                html! { "In the history: " a href=(SitePage::Changes.file()) { (summary) } "." },
            );
        }
        let explanations = self.explanations().into_iter();
        headline.explained.extend(explanations.map(|it| link(&it)));
        if let Some(changes) = &site.changes {
            headline.explained.push(changes::run_notes(changes));
        }
        headline.explained.extend(self.ended());
        headline.explained.push(self.back_to_back());
        headline
            .explained
            .push(retired_sentence(&site.remarks, self.retired));
        headline.explained.retain(|it| !it.0.is_empty());
        headline
    }

    /// Returns the headline of benchmarks of which nothing can be compared.
    fn measured(&self, tests: &TestPages) -> Headline {
        /// More curves are only on their pages.
        const CURVES: usize = 3;
        let all = self.health.len();
        let failing = self.number(|it| it.failures > 0);
        let answer = if failing == 0 {
            html! { (counted(all, "benchmark")) " measured, " (plural(all, "without failures", "none failed")) }
        } else {
            html! { (counted(all, "benchmark")) " measured" }
        };
        let few = self.number(|it| it.few_instances);
        let rows = || self.metrics.rows();
        let variants: BTreeSet<&String> = rows().map(|row| &row.variant).collect();
        let several = variants.len() > 1 || rows().any(|row| !row.change_text.is_empty());
        let fact = if several {
            html! { "Nothing is compared here: " code { "lapwing report --compare A B" } " compares two variants or sessions, and a history is judged from 10 runs on." }
        } else if few > 0 {
            html! { "There is nothing to compare them with yet: two runs are compared from 3 instances each, and a history is judged from 10 runs on." }
        } else {
            html! { "There is nothing to compare them with yet: the next run can be, and a history is judged from 10 runs on." }
        };
        let link =
            |it: &TestCurve| html! { a href=(format!("test/{}.html", it.slug)) { (it.test) } };
        match tests.curves() {
            [only] if only.members == all && failing == 0 => Headline {
                about: Some(html! { (link(only)) " · " (counted(all, "parametrisation")) }),
                facts: vec![fact],
                ..Headline::new(News::Nothing, html! { (only.text) })
            },
            curves => {
                let shown = curves.iter().take(CURVES);
                let facts = shown.map(|it| html! { (link(it)) ": " (it.text) "." });
                Headline {
                    facts: facts.chain([fact]).collect(),
                    ..Headline::new(News::Nothing, answer)
                }
            }
        }
    }

    /// Returns the first benchmarks that failed, with links.
    fn failing(&self) -> Markup {
        const NAMED: usize = 3;
        let failing: Vec<&BenchmarkHealth> =
            self.health.iter().filter(|it| it.failures > 0).collect();
        html! {
            @for (at, it) in failing.iter().take(NAMED).enumerate() {
                @let [name, slug] = &it.name;
                @if at > 0 { ", " }
                a href=(format!("benchmark/{slug}.html")) { (name) }
            }
            @if failing.len() > NAMED { " and " (failing.len() - NAMED) " more" }
            " failed in the latest run."
        }
    }

    fn number(&self, test: impl Fn(&BenchmarkHealth) -> bool) -> usize {
        self.health.iter().filter(|it| test(it)).count()
    }

    /// Returns what is wrong with the latest runs.
    fn remarks(&self) -> Vec<Remark> {
        let mut remarks = vec![
            Remark::new(
                self.number(|it| it.failures > 0),
                "failures",
                ["failed", "failed"],
            ),
            Remark::new(
                self.number(|it| it.without_value && it.failures == 0),
                "nothing",
                ["gave no value", "gave no value"],
            ),
            Remark::new(
                self.number(|it| it.lost > 0),
                "lost",
                [
                    "had instances cut short, which do not count",
                    "had instances cut short, which do not count",
                ],
            ),
            Remark::new(
                self.number(|it| it.skipped),
                "skipped",
                ["was skipped", "were skipped"],
            ),
            Remark::new(
                self.number(|it| it.new_epoch),
                "epoch",
                [
                    "has a new definition or parameters, and is not compared with the run before",
                    "have a new definition or parameters, and are not compared with the run before",
                ],
            ),
        ];
        remarks.retain(|it| it.number > 0);
        remarks
    }

    /// Returns what to know of the numbers of the latest runs.
    fn explanations(&self) -> Vec<Remark> {
        let mut remarks = vec![
            Remark::new(
                self.number(|it| it.failed_before),
                "before",
                [
                    "failed in earlier runs only.",
                    "failed in earlier runs only.",
                ],
            ),
            Remark::new(
                self.number(|it| it.unusual),
                "unusual",
                [
                    "differs from its earlier runs by more than they differ: single runs, so no verdict.",
                    "differ from their earlier runs by more than they differ: single runs, so no verdict.",
                ],
            ),
            Remark::new(
                self.number(|it| it.few_instances),
                "few",
                [
                    "has fewer than 3 instances in its latest run: two such runs are not compared, only histories are judged.",
                    "have fewer than 3 instances in their latest run: two such runs are not compared, only histories are judged.",
                ],
            ),
            Remark::new(
                self.number(|it| it.summarised),
                "summary",
                [
                    "has only a summary of its source, which kept no samples: only the history is judged.",
                    "have only summaries of their source, which kept no samples: only the history is judged.",
                ],
            ),
            Remark::new(self.number(|it| it.noisy), "noisy", NOISY_WORDS),
        ];
        remarks.retain(|it| it.number > 0);
        remarks
    }

    /// Returns what is not measured any more, by the metric that is shown first.
    fn ended(&self) -> Option<Markup> {
        let metrics = self.metrics.by_use();
        let rows = metrics.first().into_iter().flat_map(|(_, it)| &it.rows);
        let ended = rows.filter(|row| row.ended).count();
        (ended > 0).then(|| {
            html! {
                (counted(ended, "setting")) " of benchmarks " (plural(ended, "is", "are")) " not measured any more, and "
                (plural(ended, "comes", "come")) " last in the table."
            }
        })
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
