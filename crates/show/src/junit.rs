//! The findings of change detection as JUnit XML, which CI systems show as tests.

use crate::{ChangeCounts, FindingText, reason_words};
use maud::{Markup, PreEscaped, html};

use super::words::finding::environment_text;
use lapwing_analyse::detect::{
    Detection, Direction, Finding, Histories, HistorySeries, SeriesState, UnjudgedReason,
};

/// Returns a test suite per suite with a test case per history of a measured metric. It fails for a regression that is
/// neither undone nor triaged, with a failure for each, and is skipped if it was not judged. A property has the number of
/// regressions of a suite, of which a history may have several. Failures have a test case where there are more of
/// them than before.
pub fn junit(histories: &Histories, detection: &Detection) -> String {
    let mut suites: Vec<&str> = histories
        .series
        .iter()
        .map(|series| series.subject.suite.as_str())
        .collect();
    suites.dedup();
    // A file without any test case is an error to some CI systems.
    let is_empty = suites.is_empty();
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name="lapwing detect" {
            @for suite in suites { (test_suite(suite, histories, detection)) }
            @if is_empty { (nothing_judged()) }
        }
    };
    document.into_string() + "\n"
}

/// Returns the test suite of a store without histories.
fn nothing_judged() -> Markup {
    html! {
        testsuite name="lapwing detect" tests="1" failures="0" errors="0" skipped="1" {
            testcase classname="lapwing detect" name="histories" {
                skipped message="nothing judged: no benchmark has a usable value" {}
            }
        }
    }
}

/// What a test case says: its failures, or why it was skipped.
struct HistoryCase<'d> {
    name: String,
    failures: Vec<&'d Finding>,
    skipped: Option<String>,
}

impl<'d> HistoryCase<'d> {
    fn of(at: usize, histories: &Histories, detection: &'d Detection) -> Self {
        let fails = |it: &&Finding| {
            it.series == at && it.direction == Direction::Regression && it.is_open()
        };
        let failures: Vec<&Finding> = detection.findings.iter().filter(fails).collect();
        let untested = untested(histories, detection.states[at]);
        Self {
            name: name(&histories.series[at]),
            skipped: untested.filter(|_| failures.is_empty()),
            failures,
        }
    }
}

fn test_suite(suite: &str, histories: &Histories, detection: &Detection) -> Markup {
    let series = histories.series.iter().enumerate();
    let cases: Vec<HistoryCase> = series
        .filter(|(_, series)| series.subject.suite == suite)
        .map(|(at, series)| (HistoryCase::of(at, histories, detection), series))
        .filter(|(case, series)| series.is_measured() || !case.failures.is_empty())
        .map(|(case, _)| case)
        .collect();
    let failed = cases.iter().filter(|case| !case.failures.is_empty());
    let skipped = cases.iter().filter(|case| case.skipped.is_some());
    let of_suite = detection.groups.iter().filter(|group| {
        let first = group.findings.first();
        first.is_some_and(|at| detection.findings[*at].subject.suite == suite)
    });
    let regressions = ChangeCounts::among(detection, &of_suite.collect::<Vec<_>>()).regressions();
    let suite = valid(suite);
    html! {
        testsuite name=(suite) tests=(cases.len()) failures=(failed.count()) errors="0" skipped=(skipped.count()) {
            @if regressions > 0 {
                properties { property name="regressions" value=(regressions) {} }
            }
            @for case in &cases {
                testcase classname=(suite) name=(valid(&case.name)) {
                    @for finding in &case.failures { (failure(histories, finding)) }
                    @if let Some(why) = &case.skipped { skipped message=(valid(why)) {} }
                }
            }
        }
    }
}

fn failure(histories: &Histories, finding: &Finding) -> Markup {
    let [before, after] = finding.level_texts();
    let message = format!(
        "{}: {before} → {after}, {}",
        finding.kind_text(histories),
        finding.change_text()
    );
    let mut text = format!("in {}", finding.suspects_text(histories));
    if let Some(environment) = environment_text(&finding.environment) {
        text.push('\n');
        text.push_str(&environment);
    }
    html! {
        failure type="regression" message=(valid(&message)) { (valid(&text)) }
    }
}

fn name(series: &HistorySeries) -> String {
    let subject = &series.subject;
    match subject.setting.text() {
        Some(setting) => format!("{} ({setting}) {}", subject.benchmark, subject.metric),
        None => format!("{} {}", subject.benchmark, subject.metric),
    }
}

/// Returns why a series could not be tested.
fn untested(histories: &Histories, state: SeriesState) -> Option<String> {
    let place = |moment: usize| histories.moments[moment].label();
    match state {
        SeriesState::Tested => None,
        SeriesState::Wanders => Some("it wanders: not judged".to_owned()),
        SeriesState::TooFew { runs } => Some(format!("too few runs to test: {runs}")),
        SeriesState::NotMeasured { since } => Some(format!("not measured since {}", place(since))),
        SeriesState::NothingUsable { since } => {
            Some(format!("no usable value since {}", place(since)))
        }
        SeriesState::NoOrder => Some(reason_words(UnjudgedReason::NoOrder).to_owned()),
        SeriesState::NeverUsable => Some(reason_words(UnjudgedReason::NeverUsable).to_owned()),
    }
}

/// Returns a text without the characters that XML does not permit, even escaped.
fn valid(text: &str) -> String {
    let is_valid = |letter: char| {
        matches!(letter, '\t' | '\n' | '\r')
            || !letter.is_control() && !matches!(letter, '\u{FFFE}' | '\u{FFFF}')
    };
    let letters = text.chars();
    letters
        .map(|letter| if is_valid(letter) { letter } else { '\u{FFFD}' })
        .collect()
}
