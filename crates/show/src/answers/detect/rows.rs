//! Findings as rows, for JSON and CSV.

use lapwing_analyse::detect::{
    ChangeKind, EnvironmentChange, Evidence, Finding, FindingGroup, HistorySeries, Moment,
    SeriesState,
};
use serde::Serialize;

use super::DetectAnswer;
use crate::{FindingGroupText, change_text};

/// A finding.
#[derive(Default, Serialize)]
pub struct FindingFields<'a> {
    id: String,
    suite: &'a str,
    benchmark: &'a str,
    variant: Option<String>,
    metric: &'a str,
    unit: &'a str,
    direction: &'static str,
    kind: &'static str,
    before: f64,
    after: f64,
    ratio: Option<f64>,
    ratio_lower: Option<f64>,
    ratio_upper: Option<f64>,
    difference: Option<f64>,
    difference_lower: Option<f64>,
    difference_upper: Option<f64>,
    p_value: Option<f64>,
    p_adjusted: Option<f64>,
    threshold: Option<f64>,
    mean_before: Option<f64>,
    deviation_before: Option<f64>,
    latest: Option<&'a [f64]>,
    runs_before: usize,
    runs_after: usize,
    good: MomentRow,
    first: MomentRow,
    last: MomentRow,
    since: MomentRow,
    went_away: Option<MomentRow>,
    state: &'static str,
    state_reason: Option<&'a str>,
    state_by: Option<&'a str>,
    notified: bool,
    environment: Vec<EnvironmentRow>,
}

/// A version measured in a session.
#[derive(Default, Serialize)]
struct MomentRow {
    text: String,
    version: Option<String>,
    commit: Option<String>,
    date: Option<String>,
    session: String,
    started: String,
}

#[derive(Serialize)]
struct EnvironmentRow {
    text: String,
    key: String,
    before: Vec<String>,
    after: Vec<String>,
    separation: f64,
}

/// Findings with one cause.
#[derive(Serialize)]
pub struct GroupRow<'a> {
    pub text: String,
    shared: bool,
    good: MomentRow,
    first: MomentRow,
    last: MomentRow,
    suspects: String,
    commits: Option<usize>,
    findings: Vec<FindingFields<'a>>,
}

/// A series, tested or not.
#[derive(Serialize)]
pub struct SeriesRow<'a> {
    suite: &'a str,
    benchmark: &'a str,
    variant: Option<String>,
    metric: &'a str,
    unit: &'a str,
    runs: usize,
    state: &'static str,
    since: Option<MomentRow>,
}

impl<'a> FindingFields<'a> {
    pub fn new(answer: &DetectAnswer, finding: &'a Finding) -> Self {
        let row_of = |moment: usize| MomentRow::new(&answer.histories.moments[moment]);
        let size = &finding.size;
        let (test, exceeded) = match &finding.evidence {
            Evidence::Test {
                p_value,
                p_adjusted,
            } => (Some((*p_value, *p_adjusted)), None),
            Evidence::Threshold(exceeded) => (None, Some(exceeded)),
        };
        let ratio = |value: f64| size.is_ratio.then_some(value);
        let difference = |value: f64| (!size.is_ratio).then_some(value);
        let triage = finding.triage.as_ref();
        Self {
            id: answer.id(finding),
            suite: &finding.subject.suite,
            benchmark: &finding.subject.benchmark,
            variant: finding.subject.setting.variant_name(),
            metric: &finding.subject.metric,
            unit: &finding.metric.unit,
            direction: finding.direction.name(),
            kind: match finding.kind {
                ChangeKind::Step => "step",
                ChangeKind::Drift => "drift",
                ChangeKind::Alarm => "alarm",
            },
            before: size.before,
            after: size.after,
            ratio: ratio(size.change),
            ratio_lower: ratio(size.interval.lower),
            ratio_upper: ratio(size.interval.upper),
            difference: difference(size.change),
            difference_lower: difference(size.interval.lower),
            difference_upper: difference(size.interval.upper),
            p_value: test.map(|(p_value, _)| p_value),
            p_adjusted: test.map(|(_, p_adjusted)| p_adjusted),
            threshold: exceeded.map(|it| it.threshold),
            mean_before: exceeded.map(|it| it.mean),
            deviation_before: exceeded.map(|it| it.deviation),
            latest: exceeded.map(|it| &it.latest[..]),
            runs_before: finding.runs[0],
            runs_after: finding.runs[1],
            good: row_of(finding.good),
            first: row_of(*finding.range.start()),
            last: row_of(*finding.range.end()),
            since: row_of(finding.first_after),
            went_away: finding.went_away.map(row_of),
            state: triage.map_or("new", |triaged| triaged.state.name()),
            state_reason: triage.and_then(|triaged| triaged.reason.as_deref()),
            state_by: triage.map(|triaged| triaged.by.as_str()),
            notified: finding.is_notified,
            environment: finding
                .environment
                .iter()
                .map(EnvironmentRow::new)
                .collect(),
        }
    }
}

impl MomentRow {
    fn new(moment: &Moment) -> Self {
        let version = moment.version();
        Self {
            text: moment.label(),
            version: version.name.clone(),
            commit: version.commit.clone(),
            date: version.date.clone(),
            session: moment.session.id.to_string(),
            started: moment.session.started.to_string(),
        }
    }
}

impl EnvironmentRow {
    fn new(change: &EnvironmentChange) -> Self {
        Self {
            text: format!(
                "{} {} → {}",
                change.key,
                change.before.join(", "),
                change.after.join(", ")
            ),
            key: change.key.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
            separation: change.separation,
        }
    }
}

impl<'a> GroupRow<'a> {
    pub fn new(answer: &'a DetectAnswer, group: &FindingGroup) -> Self {
        let row_of = |moment: usize| MomentRow::new(&answer.histories.moments[moment]);
        let findings = group.findings.iter();
        Self {
            text: change_text(&answer.histories, &answer.detection, group),
            shared: group.is_shared,
            good: row_of(group.good),
            first: row_of(*group.range.start()),
            last: row_of(*group.range.end()),
            suspects: group.suspects_text(&answer.detection, &answer.histories),
            commits: group.commits,
            findings: findings
                .map(|at| FindingFields::new(answer, &answer.detection.findings[*at]))
                .collect(),
        }
    }
}

impl<'a> SeriesRow<'a> {
    pub fn new(answer: &DetectAnswer, series: &'a HistorySeries, state: SeriesState) -> Self {
        let (state, since) = match state {
            SeriesState::Tested => ("tested", None),
            SeriesState::TooFew { .. } => ("too_few", None),
            SeriesState::NotMeasured { since } => ("not_measured", Some(since)),
            SeriesState::NothingUsable { since } => ("nothing_usable", Some(since)),
        };
        Self {
            suite: &series.subject.suite,
            benchmark: &series.subject.benchmark,
            variant: series.subject.setting.variant_name(),
            metric: &series.subject.metric,
            unit: &series.metric.unit,
            runs: series.points.len(),
            state,
            since: since.map(|moment| MomentRow::new(&answer.histories.moments[moment])),
        }
    }
}
