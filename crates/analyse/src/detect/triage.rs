//! What people said about findings.

use super::finding::{Finding, FindingGroup};
use super::search::Detection;
use super::series::{Histories, HistorySeries, Moment};
use crate::sample::Subject;
use lapwing_model::{Id, Version};
use lapwing_record::{Change, NameHistory, Remark, Triage, TriageState};

/// A judgement of a finding by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triaged {
    /// The judgement.
    pub state: TriageState,
    /// The person.
    pub by: String,
    /// The reason.
    pub reason: Option<String>,
    /// The annotation.
    pub annotation: Id,
}

impl Detection {
    /// Marks the findings that active annotations are about; the latest judgement counts. Those that were accepted
    /// come last.
    pub fn triage(&mut self, histories: &Histories, remarks: &[Remark]) {
        let names = NameHistory::of(remarks);
        let mut accepted = None;
        for finding in &mut self.findings {
            let series = &histories.series[finding.series];
            for remark in remarks {
                let Some(Change::Triage(triage)) = remark.active() else {
                    continue;
                };
                if !is_about(remark, triage, series, &names) || !covers(triage, finding, histories)
                {
                    continue;
                }
                if triage.state == TriageState::Notified {
                    finding.is_notified = true;
                    continue;
                }
                if triage.state == TriageState::Accepted {
                    accepted = accepted.max(Some(finding.first_after));
                }
                finding.triage = Some(Triaged {
                    state: triage.state,
                    by: remark.annotation.by.clone(),
                    reason: remark.annotation.reason.clone(),
                    annotation: remark.annotation.id,
                });
            }
        }
        self.accepted_until = accepted;
        // Findings that are not triaged come first.
        let findings = &self.findings;
        for group in &mut self.groups {
            let place = |at: &usize| (findings[*at].is_accepted(), !findings[*at].is_open());
            group.findings.sort_by_key(place);
        }
        let is_accepted = |group: &FindingGroup| findings[group.findings[0]].is_accepted();
        self.groups.sort_by_key(is_accepted);
    }

    /// Returns whether all findings of a group were accepted.
    pub fn is_accepted(&self, group: &FindingGroup) -> bool {
        let mut findings = group.findings.iter();
        findings.all(|at| self.findings[*at].is_accepted())
    }
}

fn is_about(remark: &Remark, triage: &Triage, series: &HistorySeries, names: &NameHistory) -> bool {
    let subject = &series.subject;
    let metric = triage.metric.as_ref();
    metric.is_none_or(|metric| *metric == subject.metric)
        && series
            .recorded_ids
            .iter()
            .any(|recorded| remark.is_about(names, &subject.suite, recorded))
}

/// Returns whether the place of a triage may be that of a finding: within the range of its first moments, as later
/// runs may move the best estimate. What was accepted until a version, run or time covers what happened until then by
/// the best estimate: of a change that may be newer nothing was known.
pub(super) fn covers(triage: &Triage, finding: &Finding, histories: &Histories) -> bool {
    let is_place = |moment: &Moment| {
        let session = triage
            .session
            .is_none_or(|session| session == moment.session.id);
        let version = triage.version.as_ref();
        session && version.is_none_or(|version| moment.is_of_version(version))
    };
    let has_place = triage.session.is_some() || triage.version.is_some();
    if triage.state == TriageState::Accepted {
        let first = &histories.moments[finding.first_after];
        // Names of files and places in a file tell no order among suites.
        let is_comparable = |moment: &Moment| {
            let times = [moment, first].map(Moment::time_in_order);
            moment.session.suite == first.session.suite || times.iter().all(Option::is_some)
        };
        let mut moments = histories.moments.iter();
        let until = moments.rposition(|moment| is_place(moment) && is_comparable(moment));
        let is_before = |end| first.time_in_order().is_some_and(|time| time < end);
        return (!has_place || until.is_some_and(|until| finding.first_after <= until))
            && triage.before.is_none_or(is_before);
    }
    if !has_place {
        return true;
    }
    let mut places = finding.range.clone().chain([finding.first_after]);
    places.any(|moment| is_place(&histories.moments[moment]))
}

/// Returns a short name for a change of a subject at a moment, which stays the same as long as the place does.
pub fn change_id(subject: &Subject, moment: &Moment) -> String {
    let setting = subject.setting.text().unwrap_or_default();
    let version = moment.version().label().unwrap_or_default();
    let id = Id::derived(&[
        subject.suite.as_bytes(),
        subject.benchmark.as_bytes(),
        setting.as_bytes(),
        subject.metric.as_bytes(),
        moment.session.id.as_bytes(),
        version.as_bytes(),
    ]);
    let text = id.to_string();
    text[text.len() - 8..].to_owned()
}

impl Histories {
    /// Returns what accepts all changes of all benchmarks up to and including the last moment that an answer calls by this
    /// text: that of its version, or else of its session. `None` if there is none.
    pub fn acceptance_until(&self, text: &str) -> Option<Triage> {
        let moment = &self.moments[self.last_called(text)?];
        let Version { name, commit, .. } = moment.version().clone();
        // Not a part of its commit, which a later one may begin with as well.
        let version = name.or(commit).filter(|_| moment.is_of_version(text));
        Some(Triage {
            suite: None,
            benchmark: "*".to_owned(),
            exactly: false,
            metric: None,
            state: TriageState::Accepted,
            session: Some(moment.session.id).filter(|_| version.is_none()),
            version,
            before: None,
        })
    }
}

impl Moment {
    /// Returns a triage of a change of a subject at this moment.
    pub fn triage_of(&self, subject: &Subject, state: TriageState) -> Triage {
        Triage {
            suite: Some(subject.suite.clone()),
            benchmark: subject.benchmark.clone(),
            exactly: true,
            metric: Some(subject.metric.clone()),
            state,
            session: Some(self.session.id),
            version: self.version().label(),
            before: None,
        }
    }
}
