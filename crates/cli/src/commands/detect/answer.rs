//! The findings for programs: JSON and CSV (`docs/detect.md` describes both).

use std::io::Write;

use lapwing_analyse::detect::{
    ChangeKind, DetectRule, EnvironmentChange, Evidence, Finding, FindingGroup, HistorySeries,
    Moment, SeriesState,
};
use lapwing_show::{FindingGroupText, change_text, suspicion_text};
use serde::Serialize;
use serde_json::{Value, json};

use super::{DetectAnswer, rule};
use crate::answer::{write_csv, write_json};
use crate::error::CliError;

pub(super) fn json(answer: &DetectAnswer, out: &mut impl Write) -> Result<(), CliError> {
    let groups = answer.detection.groups.iter();
    let groups: Vec<GroupRow> = groups.map(|group| GroupRow::of(answer, group)).collect();
    let series = answer.histories.series.iter().zip(&answer.detection.states);
    let series: Vec<SeriesRow> = series
        .map(|(series, state)| SeriesRow::of(answer, series, *state))
        .collect();
    let suspected = answer.detection.suspicions.iter().map(|suspicion| {
        json!({
            "text": suspicion_text(&answer.histories, suspicion),
            "runs": suspicion.finding.runs[1],
            "histories": suspicion.histories,
            "finding": FindingRow::of(answer, &suspicion.finding),
        })
    });
    let suspected: Vec<serde_json::Value> = suspected.collect();
    let muted = answer.muted.iter().map(|subject| {
        json!({
            "suite": subject.suite,
            "benchmark": subject.benchmark,
            "variant": subject.setting.variant_name(),
            "metric": subject.metric,
        })
    });
    let muted: Vec<serde_json::Value> = muted.collect();
    let answer = json!({
        "rule": rule::name(answer.options.rule),
        "false_discovery_rate": (answer.options.rule == DetectRule::ChangePoint)
            .then_some(answer.options.false_discovery_rate),
        "smallest_effect": answer.options.smallest_effect,
        "findings": rows(answer),
        "changes": groups,
        "suspected": suspected,
        "series": series,
        "muted": muted,
        "changed_since": answer.changed_since,
        "earlier": answer.detection.earlier,
        "below_smallest_effect": answer.detection.small,
        "notes": answer.notes,
    });
    write_json(&answer, out)
}

/// Returns the changes for `--notify`, in words and in rows, with those of their findings that are wanted.
pub(super) fn changes(answer: &DetectAnswer, is_wanted: impl Fn(&Finding) -> bool) -> Value {
    let mut rows = Vec::new();
    for group in &answer.detection.groups {
        let mut wanted = group.clone();
        wanted
            .findings
            .retain(|at| is_wanted(&answer.detection.findings[*at]));
        if !wanted.findings.is_empty() {
            rows.push(GroupRow::of(answer, &wanted));
        }
    }
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    json!({"text": texts.join("\n"), "changes": rows})
}

pub(super) fn csv(answer: &DetectAnswer, out: &mut impl Write) -> Result<(), CliError> {
    write_csv(&rows(answer), out)
}

fn rows(answer: &DetectAnswer) -> Vec<FindingRow<'_>> {
    let findings = answer.detection.findings.iter();
    findings
        .map(|finding| FindingRow::of(answer, finding))
        .collect()
}

/// A finding.
#[derive(Default, Serialize)]
struct FindingRow<'a> {
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
    good: PlaceRow,
    first: PlaceRow,
    last: PlaceRow,
    since: PlaceRow,
    went_away: Option<PlaceRow>,
    state: &'static str,
    state_reason: Option<&'a str>,
    state_by: Option<&'a str>,
    notified: bool,
    environment: Vec<EnvironmentRow>,
}

/// A version measured in a session.
#[derive(Default, Serialize)]
struct PlaceRow {
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
struct GroupRow<'a> {
    text: String,
    shared: bool,
    good: PlaceRow,
    first: PlaceRow,
    last: PlaceRow,
    suspects: String,
    commits: Option<usize>,
    findings: Vec<FindingRow<'a>>,
}

/// A series, tested or not.
#[derive(Serialize)]
struct SeriesRow<'a> {
    suite: &'a str,
    benchmark: &'a str,
    variant: Option<String>,
    metric: &'a str,
    unit: &'a str,
    runs: usize,
    state: &'static str,
    since: Option<PlaceRow>,
}

impl<'a> FindingRow<'a> {
    fn of(answer: &DetectAnswer, finding: &'a Finding) -> Self {
        let place = |moment: usize| PlaceRow::of(&answer.histories.moments[moment]);
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
            good: place(finding.good),
            first: place(*finding.range.start()),
            last: place(*finding.range.end()),
            since: place(finding.first_after),
            went_away: finding.went_away.map(place),
            state: triage.map_or("new", |triaged| triaged.state.name()),
            state_reason: triage.and_then(|triaged| triaged.reason.as_deref()),
            state_by: triage.map(|triaged| triaged.by.as_str()),
            notified: finding.is_notified,
            environment: finding.environment.iter().map(EnvironmentRow::of).collect(),
        }
    }
}

impl PlaceRow {
    fn of(moment: &Moment) -> Self {
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
    fn of(change: &EnvironmentChange) -> Self {
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
    fn of(answer: &'a DetectAnswer, group: &FindingGroup) -> Self {
        let place = |moment: usize| PlaceRow::of(&answer.histories.moments[moment]);
        let findings = group.findings.iter();
        Self {
            text: change_text(&answer.histories, &answer.detection, group),
            shared: group.is_shared,
            good: place(group.good),
            first: place(*group.range.start()),
            last: place(*group.range.end()),
            suspects: group.suspects_text(&answer.detection, &answer.histories),
            commits: group.commits,
            findings: findings
                .map(|at| FindingRow::of(answer, &answer.detection.findings[*at]))
                .collect(),
        }
    }
}

impl<'a> SeriesRow<'a> {
    fn of(answer: &DetectAnswer, series: &'a HistorySeries, state: SeriesState) -> Self {
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
            since: since.map(|moment| PlaceRow::of(&answer.histories.moments[moment])),
        }
    }
}
