//! Histories as tests: what change detection found.

use lapwing_analyse::detect::{
    Detection, Direction, Finding, FindingGroup, Histories, HistorySeries, SeriesState,
    UnjudgedReason,
};
use lapwing_model::GateCondition;
use lapwing_model::text::counted;

use super::{GateFailure, GateTest, GateTests};
use crate::words::finding::environment_text;
use crate::{ChangeCounts, FindingText, reason_words};

impl GateTests {
    /// Returns a suite of tests per suite, with a test per history of a measured metric. It fails for a regression that is
    /// neither undone nor triaged, with a failure for each, and is skipped if it was not judged. A regression that a suite
    /// shares is a test of its own, and no failure of each benchmark. Failures have a test where there are more of them than
    /// before.
    pub fn detected(histories: &Histories, detection: &Detection) -> Self {
        let mut suites: Vec<&str> = histories
            .series
            .iter()
            .map(|series| series.subject.suite.as_str())
            .collect();
        suites.dedup();
        let mut tests = Self::named("lapwing detect");
        for suite in suites {
            tests.suites.extend(of_suite(suite, histories, detection));
            let of_suite = detection.groups.iter().filter(|group| {
                let first = group.findings.first();
                first.is_some_and(|at| detection.findings[*at].subject.suite == suite)
            });
            let counts = ChangeCounts::among(detection, &of_suite.collect::<Vec<_>>());
            tests
                .regressions
                .insert(suite.to_owned(), counts.regressions());
        }
        if tests.suites.is_empty() {
            tests.suites.push(GateTest {
                suite: "lapwing detect".to_owned(),
                benchmark: String::new(),
                name: "histories".to_owned(),
                failures: Vec::new(),
                skipped: Some("nothing judged: no benchmark has a usable value".to_owned()),
            });
        }
        tests
    }
}

fn fails(histories: &Histories, finding: &Finding) -> bool {
    let own = histories.series[finding.series].fail_on.as_deref();
    let is_meant = |own: &[GateCondition]| {
        own.contains(&GateCondition::Regression) || own.contains(&GateCondition::Change)
    };
    finding.direction == Direction::Regression && finding.is_open() && own.is_none_or(is_meant)
}

/// Returns the tests of a suite: those of its histories, then those of the changes that it shares.
fn of_suite(suite: &str, histories: &Histories, detection: &Detection) -> Vec<GateTest> {
    let shared: Vec<&FindingGroup> = (detection.groups.iter())
        .filter(|group| group.is_shared && group.findings.len() > 1)
        .filter(|group| {
            let lead = &detection.findings[group.lead()];
            lead.subject.suite == suite && fails(histories, lead)
        })
        .collect();
    let is_shared = |at: usize| shared.iter().any(|group| group.findings.contains(&at));
    let series = histories.series.iter().enumerate();
    let of_histories = series.filter(|(_, series)| series.subject.suite == suite);
    let of_histories = of_histories.filter_map(|(place, series)| {
        let findings = detection.findings.iter().enumerate();
        let own = findings
            .filter(|(at, it)| it.series == place && fails(histories, it) && !is_shared(*at));
        let failures: Vec<GateFailure> = own.map(|(_, it)| failure(histories, it)).collect();
        let skipped = untested(histories, detection.states[place]);
        (series.is_measured() || !failures.is_empty()).then(|| GateTest {
            suite: suite.to_owned(),
            benchmark: series.subject.benchmark.clone(),
            name: name(series),
            skipped: skipped.filter(|_| failures.is_empty()),
            failures,
        })
    });
    let of_histories: Vec<GateTest> = of_histories.collect();
    let of_changes = shared.iter().map(|group| {
        let lead = &detection.findings[group.lead()];
        let mut failure = failure(histories, lead);
        let mut names: Vec<&str> = (group.findings.iter())
            .map(|at| detection.findings[*at].subject.benchmark.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        failure.text.push_str(&format!("\n{}", names.join(", ")));
        GateTest {
            suite: suite.to_owned(),
            benchmark: String::new(),
            name: format!(
                "{} together {}",
                counted(names.len(), "benchmark"),
                lead.subject.metric
            ),
            failures: vec![failure],
            skipped: None,
        }
    });
    of_histories.into_iter().chain(of_changes).collect()
}

fn failure(histories: &Histories, finding: &Finding) -> GateFailure {
    let [before, after] = finding.level_texts();
    let mut text = format!("in {}", finding.suspects_text(histories));
    if let Some(environment) = environment_text(&finding.environment) {
        text.push('\n');
        text.push_str(&environment);
    }
    GateFailure {
        kind: "regression",
        message: format!(
            "{}: {before} → {after}, {}",
            finding.kind_text(histories),
            finding.change_text()
        ),
        text,
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
