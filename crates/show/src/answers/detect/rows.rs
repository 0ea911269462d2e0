//! Findings as rows, for JSON and CSV.

use lapwing_analyse::detect::{
    ChangeKind, Detection, DriftRate, EnvironmentChange, Evidence, Finding, FindingGroup, Moment,
    SeriesState, Suspicion, UnjudgedReason, measured,
};
use lapwing_analyse::sample::Subject;
use schemars::JsonSchema;
use serde::Serialize;

use super::DetectAnswer;
use crate::writing::View;
use crate::{
    FindingGroupText, FindingText, MomentText, NAMED_ENVIRONMENT_CHANGES, change_text,
    suspicion_text,
};

/// A finding.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FindingFields<'a> {
    /// Names the change in `lapwing triage`.
    id: String,
    suite: &'a str,
    benchmark: &'a str,
    variant: Option<String>,
    metric: &'a str,
    unit: &'a str,
    /// `regression`, `improvement`, or `change` if the metric has no direction.
    direction: &'static str,
    /// `step`, `drift` or `alarm`.
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
    /// Of a drift its rate, or if that changed the rates before and after.
    rates: Vec<DriftRateRow>,
    runs_before: usize,
    runs_after: usize,
    /// The last version before the change; `null`: that of all its findings.
    good: Option<MomentRow>,
    /// The first version that may be the first after the change; `null`: that of all its findings.
    first: Option<MomentRow>,
    /// The last version that may be the first after the change; `null`: that of all its findings.
    last: Option<MomentRow>,
    /// The first version at the new level, by the best estimate; of a drift the first one of it.
    since: MomentRow,
    /// From when on the level was back.
    went_away: Option<MomentRow>,
    /// `new`, `explained` by a surrounding, or what was said in triage.
    state: &'static str,
    state_reason: Option<&'a str>,
    state_by: Option<&'a str>,
    notified: bool,
    /// The surrounding that explains it.
    explained: Option<EnvironmentRow>,
    /// Number of other differences between the runs before and after.
    environment_changes: usize,
    /// The clearest of them; all with `--full`.
    environment: Vec<EnvironmentRow>,
}

/// A version measured in a session.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
struct MomentRow {
    text: String,
    version: Option<String>,
    commit: Option<String>,
    date: Option<String>,
    session: String,
    /// `null` if only the time of a file is known.
    started: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EnvironmentRow {
    text: String,
    key: String,
    before: Vec<String>,
    after: Vec<String>,
    /// How well it tells the runs before from those after: 1 is completely.
    separation: f64,
}

/// The rate of a drift.
#[derive(Debug, Serialize, JsonSchema)]
struct DriftRateRow {
    text: String,
    /// The ratio, or the difference, in the period.
    change: f64,
    lower: f64,
    upper: f64,
    /// The period: `week` or `run`.
    per: &'static str,
}

impl DriftRateRow {
    fn new(finding: &Finding, rate: &DriftRate) -> Self {
        Self {
            text: finding.rate_words(rate),
            change: rate.change,
            lower: rate.interval.lower,
            upper: rate.interval.upper,
            per: rate.per.name(),
        }
    }
}

/// Findings with one cause.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GroupRow<'a> {
    pub text: String,
    /// Whether most of the suite changed there.
    shared: bool,
    /// The last version that is certainly older.
    good: MomentRow,
    /// The first version that may be the first at the new level.
    first: MomentRow,
    /// The last version that may be the first at the new level.
    last: MomentRow,
    suspects: String,
    /// Number of suspected commits, if known.
    commits: Option<usize>,
    /// Number of histories that changed.
    histories: usize,
    /// Those that changed most; all with `--full`.
    findings: Vec<FindingFields<'a>>,
}

/// A possible change that only the newest run or the newest two show.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SuspicionRow<'a> {
    text: String,
    runs: usize,
    /// Number of histories that share it.
    histories: usize,
    /// What it becomes if it is confirmed.
    finding: FindingFields<'a>,
}

/// A series, tested or not.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SeriesRow<'a> {
    #[serde(flatten)]
    subject: SubjectFields<'a>,
    unit: &'a str,
    runs: usize,
    /// `tested`, `wanders`, `too_few`, `not_measured`, `nothing_usable` or `never_usable`.
    state: &'static str,
    since: Option<MomentRow>,
}

/// A history.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SubjectFields<'a> {
    suite: &'a str,
    benchmark: &'a str,
    variant: Option<String>,
    metric: &'a str,
}

impl<'a> SubjectFields<'a> {
    pub fn new(subject: &'a Subject) -> Self {
        Self {
            suite: &subject.suite,
            benchmark: &subject.benchmark,
            variant: subject.setting.variant_name(),
            metric: &subject.metric,
        }
    }
}

/// Histories that were not tested, for one reason.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UntestedRow<'a> {
    /// `wanders`, `too_few`, `not_measured`, `nothing_usable` or `never_usable`.
    pub state: &'static str,
    #[serde(skip)]
    pub reason: UnjudgedReason,
    /// Number of histories.
    pub histories: usize,
    /// Number of benchmarks.
    pub benchmarks: usize,
    /// The first benchmarks.
    pub first_benchmarks: Vec<&'a str>,
}

impl<'a> UntestedRow<'a> {
    /// More names than this are a number.
    const NAMED: usize = 3;

    /// Returns the histories that were not tested, by reason.
    pub fn all(answer: &'a DetectAnswer) -> Vec<Self> {
        let Detection { states, judged, .. } = &answer.detection;
        let rows = judged.unjudged.keys().map(|reason| {
            let series = measured(&answer.histories, states);
            let of_reason = series.filter(|(_, state)| state.unjudged() == Some(*reason));
            let mut names: Vec<&str> = of_reason
                .map(|(series, _)| series.subject.benchmark.as_str())
                .collect();
            let histories = names.len();
            names.dedup();
            let benchmarks = names.len();
            names.truncate(Self::NAMED);
            Self {
                state: reason.name(),
                reason: *reason,
                histories,
                benchmarks,
                first_benchmarks: names,
            }
        });
        rows.collect()
    }
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
            rates: (finding.rates.iter())
                .map(|rate| DriftRateRow::new(finding, rate))
                .collect(),
            runs_before: finding.runs[0],
            runs_after: finding.runs[1],
            good: Some(row_of(finding.good)),
            first: Some(row_of(*finding.range.start())),
            last: Some(row_of(*finding.range.end())),
            since: row_of(finding.since()),
            went_away: finding.went_away.map(row_of),
            state: match triage {
                Some(triaged) => triaged.state.name(),
                None if finding.explained.is_some() => "explained",
                None => "new",
            },
            state_reason: triage.and_then(|triaged| triaged.reason.as_deref()),
            state_by: triage.map(|triaged| triaged.by.as_str()),
            notified: finding.is_notified,
            explained: finding.explained.as_ref().map(EnvironmentRow::new),
            environment_changes: finding.environment.len(),
            environment: finding
                .environment
                .iter()
                .map(EnvironmentRow::new)
                .collect(),
        }
    }
}

impl<'a> FindingFields<'a> {
    /// Returns the fields of a finding that are not those of its change, and of its environment what a view lists.
    fn of_change(mut self, change: &GroupRow<'_>, view: View) -> Self {
        self.good = self.good.filter(|it| *it != change.good);
        self.first = self.first.filter(|it| *it != change.first);
        self.last = self.last.filter(|it| *it != change.last);
        self.within(view)
    }

    fn within(mut self, view: View) -> Self {
        if !view.full {
            self.environment.truncate(NAMED_ENVIRONMENT_CHANGES);
        }
        self
    }
}

impl MomentRow {
    fn new(moment: &Moment) -> Self {
        let version = moment.version();
        Self {
            text: moment.night_text(),
            version: version.name.clone(),
            commit: version.commit.clone(),
            date: version.date.clone(),
            session: moment.session.id.to_string(),
            started: (moment.has_start()).then(|| moment.session.started.to_string()),
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
    /// Returns a change with those of its findings that are listed.
    pub fn new(
        answer: &'a DetectAnswer,
        group: &FindingGroup,
        listed: &[usize],
        view: View,
    ) -> Self {
        let row_of = |moment: usize| MomentRow::new(&answer.histories.moments[moment]);
        let mut row = Self {
            text: change_text(&answer.histories, &answer.detection, group),
            shared: group.is_shared,
            good: row_of(group.good),
            first: row_of(*group.range.start()),
            last: row_of(*group.range.end()),
            suspects: group.suspects_text(&answer.detection, &answer.histories),
            commits: group.commits,
            histories: group.findings.len(),
            findings: Vec::new(),
        };
        let findings = listed.iter().map(|at| {
            let finding = &answer.detection.findings[*at];
            FindingFields::new(answer, finding).of_change(&row, view)
        });
        row.findings = findings.collect();
        row
    }
}

impl<'a> SuspicionRow<'a> {
    pub fn new(answer: &'a DetectAnswer, suspicion: &'a Suspicion, view: View) -> Self {
        Self {
            text: suspicion_text(&answer.histories, suspicion),
            runs: suspicion.finding.runs[1],
            histories: suspicion.histories,
            finding: FindingFields::new(answer, &suspicion.finding).within(view),
        }
    }
}

impl<'a> SeriesRow<'a> {
    /// Returns all series.
    pub fn all(answer: &'a DetectAnswer) -> Vec<Self> {
        let series = answer.histories.series.iter();
        let rows = series.zip(&answer.detection.states).map(|(series, state)| {
            let since = match *state {
                SeriesState::Tested
                | SeriesState::TooFew { .. }
                | SeriesState::NeverUsable
                | SeriesState::NoOrder
                | SeriesState::Wanders => None,
                SeriesState::NotMeasured { since } | SeriesState::NothingUsable { since } => {
                    Some(since)
                }
            };
            Self {
                subject: SubjectFields::new(&series.subject),
                unit: &series.metric.unit,
                runs: series.points.len(),
                state: state.name(),
                since: since.map(|moment| MomentRow::new(&answer.histories.moments[moment])),
            }
        });
        rows.collect()
    }
}
