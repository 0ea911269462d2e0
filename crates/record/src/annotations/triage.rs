//! What people say about changes in the history of a benchmark.

use jiff::Timestamp;

use super::change::{is_exact, means, put, text_of};
use lapwing_model::{Annotation, Id, MetricName, Object};

/// What is known about changes of a benchmark, so that they raise no alarm any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Triage {
    /// The suite of the benchmark; every one where there is none.
    pub suite: Option<String>,
    /// The id of the benchmark, or a pattern.
    pub benchmark: String,
    /// Whether `benchmark` is an id though it looks like a pattern.
    pub exactly: bool,
    /// Only this metric; every one where there is none.
    pub metric: Option<MetricName>,
    /// What is said.
    pub state: TriageState,
    /// The session that measured the change first; every place where there is neither session nor version. Of what was
    /// accepted the last session.
    pub session: Option<Id>,
    /// The version at which it happened: its label, its name, or the beginning of its commit. Of what was accepted the
    /// last such version: it is about all changes up to and including that one.
    pub version: Option<String>,
    /// Only changes before this time, of what was accepted: none of runs whose order is not one of time.
    pub before: Option<Timestamp>,
}

/// What is said about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TriageState {
    /// Somebody knows of it.
    Acknowledged,
    /// Its cause is known and accepted.
    Explained,
    /// It was announced before it was found.
    Expected,
    /// Changes of the benchmark are of no interest.
    Muted,
    /// It lies in the past of a history that was taken over: it is counted, and not listed.
    Accepted,
    /// It was reported, so that it is not reported again: no judgement.
    Notified,
}

impl TriageState {
    const ALL: [Self; 6] = [
        Self::Acknowledged,
        Self::Explained,
        Self::Expected,
        Self::Muted,
        Self::Accepted,
        Self::Notified,
    ];

    /// Returns its name: `acknowledged`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::Explained => "explained",
            Self::Expected => "expected",
            Self::Muted => "muted",
            Self::Accepted => "accepted",
            Self::Notified => "notified",
        }
    }
}

impl Triage {
    /// The action of its annotation.
    pub(super) const ACTION: &'static str = "triage";

    /// Returns the triage of an annotation's target; `None` if a field is missing or unknown.
    pub(super) fn of(annotation: &Annotation) -> Option<Self> {
        let text = |key: &str| text_of(&annotation.target, key);
        let state = text("state")??;
        let session = match text("session")? {
            Some(session) => Some(session.parse().ok()?),
            None => None,
        };
        let before = match text("before")? {
            Some(before) => Some(before.parse().ok()?),
            None => None,
        };
        let state = TriageState::ALL.into_iter().find(|it| it.name() == state)?;
        let version = text("version")?;
        // Without an end it would accept whatever comes.
        let has_end = session.is_some() || version.is_some() || before.is_some();
        if state == TriageState::Accepted && !has_end {
            return None;
        }
        Some(Self {
            suite: text("suite")?,
            benchmark: text("benchmark")?.filter(|benchmark| !benchmark.is_empty())?,
            exactly: is_exact(&annotation.target),
            metric: text("metric")?,
            state,
            session,
            version,
            before,
        })
    }

    /// Puts its fields into the target of an annotation.
    pub(super) fn put(&self, target: &mut Object) {
        let mut put = |key: &str, text: Option<String>| put(target, key, text);
        put("suite", self.suite.clone());
        put("benchmark", Some(self.benchmark.clone()));
        put("metric", self.metric.clone());
        put("state", Some(self.state.name().to_owned()));
        put("session", self.session.map(|session| session.to_string()));
        put("version", self.version.clone());
        put("before", self.before.map(|before| before.to_string()));
    }

    /// Returns whether it is about a benchmark that has, or once had, one of these ids.
    pub fn is_about(&self, suite: &str, ids: &[&str]) -> bool {
        let of_suite = self.suite.as_deref();
        means(of_suite, &self.benchmark, self.exactly, suite, ids)
    }
}
