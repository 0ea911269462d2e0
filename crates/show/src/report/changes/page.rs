//! The page of changes: the causes with their evidence, what was not tested, and every finding.

use crate::FindingText;
use crate::MomentText;
use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;

use super::ChangesView;
use super::causes::causes;
use super::self_test::self_test_section;
use super::words::{state_key, state_text};
use crate::quantity::round_percent;
use crate::report::ReportSite;
use crate::report::directory::DirectoryError;
use crate::report::frame::SitePage;
use crate::report::headline::{Headline, News};
use crate::report::index_parts::columns::BenchmarkLink;
use crate::report::index_parts::listing::{
    Filters, ListingColumn, ListingFiles, ListingPage, MetricFilter, sorted, unsorted,
};
use crate::report::provenance::marked;
use crate::report::slug::slug;
use crate::words::detected::few_runs_text;
use crate::{FIRST_METRIC, detection_text, names_histories, tested_text};
use lapwing_analyse::detect::{Direction, UnjudgedReason, measured};
use lapwing_model::text::{capitalised, counted, first_names, shell_word};

/// Of more benchmarks that were not tested only so many are named.
const NAMED: usize = 100;
/// Of more muted benchmarks only so many are named.
const SHOWN_MUTED: usize = 5;

/// A finding in the table.
#[derive(Debug, Serialize)]
struct FindingRow {
    #[serde(flatten)]
    benchmark: BenchmarkLink,
    setting: String,
    metric: String,
    /// The number of its cause.
    cause: usize,
    /// Whether the cause has a section.
    has_section: bool,
    before_text: String,
    after_text: String,
    /// The size, to sort by: larger is worse.
    size: Option<f64>,
    change_text: String,
    /// The place in the order of all runs.
    since: usize,
    since_text: String,
    date: String,
    suspects: String,
    /// The address of the difference that they make, where it is known.
    suspects_link: String,
    /// Its short name, to search for.
    change: String,
    runs: String,
    direction: &'static str,
    verdict: String,
    /// `new`, `known` or `undone`.
    state: &'static str,
    state_text: String,
}

/// Returns the changes in a sentence: `2 regressions and 1 change shared by a whole suite`, or what was not judged; `None`
/// if there is a single run, or no change in any history.
pub(in crate::report) fn summary(view: &ChangesView) -> Option<String> {
    let detection = &view.detection;
    let has_any = !detection.findings.is_empty() || !detection.suspicions.is_empty();
    let has_unjudged = view.histories.moments.len() > 1 && !detection.judged.is_complete();
    (has_any || has_unjudged).then(|| detection_text(&view.histories, detection))
}

/// Returns the notes on the runs that are judged and on their order.
pub(in crate::report) fn run_notes(view: &ChangesView) -> Markup {
    html! { @for note in &view.notes { (marked(&capitalised(note))) ". " } }
}

/// Writes the page and the rows of its table, if changes were looked for; `written` has the tags of each benchmark
/// with a page, by slug.
pub(in crate::report) fn write(
    site: &ReportSite,
    written: &BTreeMap<String, Vec<String>>,
) -> Result<(), DirectoryError> {
    let Some(view) = site.changes.as_ref().filter(|it| it.is_history()) else {
        return Ok(());
    };
    let groups = view.detection.groups.iter();
    let in_order = groups.flat_map(|group| group.findings.iter().copied());
    let rows: Vec<FindingRow> = in_order.map(|at| row(view, at, written)).collect();
    let files = ListingFiles::write(site, SitePage::Changes, &rows)?;
    let page = ListingPage {
        page: SitePage::Changes,
        headline: headline(view),
        above: above(view, written),
        other: None,
        below: html! {},
        filters: filters(view, &rows),
        draw: None,
        caption: "All changes, by cause",
        columns: table_columns(),
        guide: guide(view),
    };
    page.write(site, &files, json!({}))
}

fn row(view: &ChangesView, at: usize, written: &BTreeMap<String, Vec<String>>) -> FindingRow {
    let finding = view.finding(at);
    let subject = &finding.subject;
    let slug = slug(&subject.suite, &subject.benchmark);
    let [before_text, after_text] = finding.level_texts();
    let moment = &view.histories.moments[finding.first_after];
    let cause = view.cause_of[at] + 1;
    let sign = match finding.direction {
        Direction::Regression => 1.0,
        Direction::Improvement | Direction::Neither => -1.0,
    };
    FindingRow {
        setting: subject.setting.text().unwrap_or_default(),
        metric: subject.metric.clone(),
        cause,
        has_section: cause <= view.sections(),
        before_text,
        after_text,
        size: Some(sign * finding.size.relative()).filter(|it| it.is_finite()),
        change_text: finding.change_text(),
        since: finding.first_after,
        since_text: moment.night_text(),
        date: moment.date_text().unwrap_or_default(),
        suspects: finding.suspects_text(&view.histories),
        suspects_link: view
            .difference_link(finding.good, *finding.range.end())
            .unwrap_or_default(),
        change: view.id(finding),
        runs: format!("{} / {}", finding.runs[0], finding.runs[1]),
        direction: finding.direction.name(),
        verdict: finding.kind_text(&view.histories),
        state: state_key(finding),
        state_text: state_text(view, finding),
        benchmark: BenchmarkLink {
            suite: subject.suite.clone(),
            id: subject.benchmark.clone(),
            tags: written.get(&slug).cloned().unwrap_or_default(),
            slug: if written.contains_key(&slug) {
                slug
            } else {
                String::new()
            },
        },
    }
}

/// Returns the answer of the histories.
pub(in crate::report) fn headline(view: &ChangesView) -> Headline {
    let rate = round_percent(view.options.false_discovery_rate);
    if view.detection.findings.is_empty() {
        return nothing_found(view);
    }
    Headline {
        facts: view.worst_fact().into_iter().collect(),
        picture: view.picture(),
        next: view.next_step(),
        explained: vec![
            html! { "Of all findings together at most " (rate) " are false." },
            html! {
                "One value per run, compared with those before and after: one instance per run is enough. "
                "Changes at the same place are one cause. New ones come first, regressions before improvements, "
                "and then those that change most wall time per run."
            },
        ],
        ..Headline::new(view.news(), answer(view))
    }
}

/// Returns what is below the headline and above the table.
fn above(view: &ChangesView, written: &BTreeMap<String, Vec<String>>) -> Markup {
    html! {
        @if view.detection.findings.is_empty() { (view.open_list()) }
        (causes(view))
        @if !view.notes.is_empty() { p.hint { (run_notes(view)) } }
        (not_shown(view))
        (untested(view, written))
        (self_test_section(view))
        @if !view.detection.findings.is_empty() { h2 { "All changes" } }
    }
}

/// Returns the changes in a sentence, and in how many histories and runs they were looked for.
fn answer(view: &ChangesView) -> Markup {
    let (histories, detection) = (&view.histories, &view.detection);
    html! {
        (capitalised(&detection_text(histories, detection)))
        @if names_histories(detection) {
            " (" (counted(histories.moments.len(), "run")) ")"
        } @else if !detection.judged.is_complete() {
            "; judged: " (tested_text(histories, detection))
        } @else {
            " in " (tested_text(histories, detection))
        }
    }
}

/// Returns what it means that nothing was found, and what helps.
fn nothing_found(view: &ChangesView) -> Headline {
    let judged = &view.detection.judged;
    let longest = measured(&view.histories, &view.detection.states);
    let longest = longest.map(|(series, _)| series.points.len()).max();
    let is_too_short = judged.unjudged_for(UnjudgedReason::TooFew) == judged.histories;
    if judged.judged > 0 {
        let meaning = html! {
            "A change is a level that differs from the one before by more than the noise explains, such as 14 % slower since a commit. "
            "If nothing changed, there is a finding in at most " (round_percent(view.options.false_discovery_rate))
            " of such reports. Small changes need more runs: each night adds to what can be seen."
        };
        let few = few_runs_text(&view.histories, &view.detection, &view.options);
        let few = few.map(|text| html! { (capitalised(&text)) "." });
        return Headline {
            facts: few.into_iter().collect(),
            explained: vec![meaning],
            ..Headline::new(view.news(), answer(view))
        };
    }
    if !is_too_short {
        return Headline::new(News::Nothing, answer(view));
    }
    let needed = html! {
        "A change needs at least 10 runs of a benchmark, such as one per night or per commit; the longest history has "
        (longest.unwrap_or(0)) ". " code { "lapwing run" } " adds a run, " code { "lapwing run --commits" }
        " measures past commits, " code { "lapwing import" } " reads the results of other tools. "
        "To compare two versions now, use " code { "lapwing compare" } "."
    };
    Headline {
        facts: vec![needed],
        ..Headline::new(
            News::Nothing,
            html! { "No history is long enough yet to look for changes" },
        )
    }
}

fn not_shown(view: &ChangesView) -> Markup {
    let small = view.detection.small;
    let past = view.detection.unreviewed_past(&view.histories);
    let acceptance = past.and_then(|past| view.detection.acceptance(&view.histories, &past));
    let until = acceptance.map(|it| shell_word(&it.until));
    html! {
        @if let Some(until) = until {
            p.hint { "The changes of the past were not triaged: " code { (view.program) " triage accept --until " (until) }
                " accepts them at once. They are only in the table." }
        }
        @if small > 0 {
            p.hint { "Not shown: " (counted(small, "change")) " below the smallest effect"
                @if let Some(effect) = view.options.smallest_effect { " of " (round_percent(effect)) } "." }
        }
    }
}

/// Returns what was not judged, with links, by reason.
fn untested(view: &ChangesView, written: &BTreeMap<String, Vec<String>>) -> Markup {
    /// The number of histories, and suite and name of their benchmarks.
    type Unjudged<'a> = (usize, BTreeSet<(&'a str, &'a str)>);
    let mut reasons: BTreeMap<UnjudgedReason, Unjudged> = BTreeMap::new();
    for (series, state) in measured(&view.histories, &view.detection.states) {
        if let Some(reason) = state.unjudged() {
            let benchmark = (&*series.subject.suite, &*series.subject.benchmark);
            let (histories, benchmarks) = reasons.entry(reason).or_default();
            *histories += 1;
            benchmarks.insert(benchmark);
        }
    }
    let words = |reason: UnjudgedReason| match reason {
        UnjudgedReason::NotMeasured => "not measured in the latest 3 runs",
        UnjudgedReason::NothingUsable => "without a usable value in the latest 3 runs",
        UnjudgedReason::NeverUsable => "that failed from the first run on",
        UnjudgedReason::TooFew => "with too few runs to test (10 are needed)",
        UnjudgedReason::Wanders => "not judged, as the level wanders",
        UnjudgedReason::NoOrder => "whose runs are in no known order",
    };
    let muted: BTreeSet<&str> = view.muted.iter().map(|it| &*it.benchmark).collect();
    html! {
        @if !muted.is_empty() {
            p.hint { "Muted in the suite file: " (first_names(muted, SHOWN_MUTED)) "." }
        }
        @for (reason, (histories, benchmarks)) in &reasons {
            details.untested {
                summary { (counted(*histories, "history")) " " (words(*reason)) }
                ul {
                    @for (suite, id) in benchmarks.iter().take(NAMED) {
                        @let slug = slug(suite, id);
                        li { @if written.contains_key(&slug) { a href=(format!("benchmark/{slug}.html")) { (id) } } @else { (id) } }
                    }
                    @if benchmarks.len() > NAMED { li { "and " (benchmarks.len() - NAMED) " more" } }
                }
            }
        }
    }
}

fn filters(view: &ChangesView, rows: &[FindingRow]) -> Filters {
    let mut metrics: BTreeMap<&str, &str> = BTreeMap::new();
    for finding in &view.detection.findings {
        metrics.insert(&finding.subject.metric, &finding.metric.unit);
    }
    let mut metrics: Vec<(String, String)> = metrics
        .into_iter()
        .map(|(name, unit)| (name.to_owned(), unit.to_owned()))
        .collect();
    metrics.sort_by_key(|(name, _)| name != FIRST_METRIC);
    if metrics.len() == 1 {
        metrics.clear();
    }
    let causes = 1..=view.listed_causes().len();
    let directions: BTreeSet<&str> = rows.iter().map(|row| row.direction).collect();
    Filters::of("Changes", rows.iter().map(|row| &row.benchmark))
        .by_metric(metrics, MetricFilter::OneOrAll)
        .by(
            "direction",
            "Verdict",
            directions.into_iter().rev().map(|it| (it, it)),
        )
        .by(
            "state",
            "State",
            [
                ("new", "new"),
                ("known", "known"),
                ("explained", "explained by surroundings"),
                ("undone", "undone later"),
            ],
        )
        .by(
            "cause",
            "Cause",
            causes.map(|it| (it.to_string(), format!("cause {it}"))),
        )
}

fn table_columns() -> Vec<ListingColumn> {
    vec![
        sorted("cause", "cause", ""),
        sorted("name", "benchmark", "name"),
        unsorted("before", "number"),
        unsorted("after", "number"),
        sorted("size", "change [95 % CI]", "number"),
        unsorted("runs", "number"),
        sorted("since", "since", ""),
        sorted("verdict", "verdict", "verdict"),
        unsorted("state", ""),
    ]
}

fn guide(view: &ChangesView) -> Markup {
    html! {
        dt { "change" }
        dd { "The level after divided by the level before, with its 95 % interval; a difference where levels can be 0. A level is the mean of a stretch of runs, in which single outliers hardly count." }
        dt { "since" }
        dd { "The first run at the new level by the best estimate. The suspects are all versions that may have made the change, with 95 % confidence." }
        dt { "runs" }
        dd { "The number of runs at the level before / after." }
        dt { "cause" }
        dd { "Changes at the same place are taken for one cause. If most of a suite changes, that is one cause too, and likely the machine." }
        dt { "verdict" }
        dd { "Of all tests together at most " (round_percent(view.options.false_discovery_rate)) " of the findings are false. A drift is a slow change over several runs." }
        dt { "state" }
        dd { "New: the level is still what it changed to, and nobody has said anything about it. Until: a later change undid it. "
            code { (view.program) " triage acknowledge ID" } " marks a change as known; " code { "explain" } ", " code { "expect" } " and " code { "mute" } " are the others." }
    }
}
