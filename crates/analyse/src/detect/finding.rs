//! Findings: changes of one series or of a whole suite.

use std::ops::RangeInclusive;

use super::drift::DriftRate;
use super::environment::EnvironmentChange;
use super::size::ChangeSize;
use super::triage::Triaged;
use crate::sample::Subject;
use lapwing_model::{Better, Metric};
use lapwing_record::TriageState;

/// The shape of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// From one run to the next.
    Step,
    /// Slowly, over several runs.
    Drift,
    /// The newest runs exceed a threshold; when the level changed is not estimated.
    Alarm,
}

/// Whether a change is for the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// For the worse.
    Regression,
    /// For the better.
    Improvement,
    /// The metric has no direction.
    Neither,
}

impl Direction {
    /// Returns the direction of a level that rises or falls.
    pub fn of(metric: &Metric, rises: bool) -> Self {
        match (metric.better, rises) {
            (None, _) => Self::Neither,
            (Some(Better::Lower), true) | (Some(Better::Higher), false) => Self::Regression,
            (Some(Better::Lower), false) | (Some(Better::Higher), true) => Self::Improvement,
        }
    }

    /// Returns its name: `regression`, `improvement` or `change`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::Neither => "change",
        }
    }
}

/// The evidence for a finding.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// A test of the values before and after.
    Test {
        /// The probability of a change as clear as this in noise alone.
        p_value: f64,
        /// The same, corrected for the number of series.
        p_adjusted: f64,
    },
    /// A threshold that the newest runs exceed.
    Threshold(ExceededThreshold),
}

/// A threshold that the newest runs of a series exceed, in the metric's unit.
#[derive(Debug, Clone, PartialEq)]
pub struct ExceededThreshold {
    /// The mean of the runs before.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// The threshold.
    pub threshold: f64,
    /// The newest values, the newest first: three or all that had to exceed it, if they are more.
    pub latest: Vec<f64>,
}

/// A change of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The index of its series in [`super::Histories::series`].
    pub series: usize,
    /// The subject of the change.
    pub subject: Subject,
    /// The metric's unit and direction.
    pub metric: Metric,
    /// Its shape.
    pub kind: ChangeKind,
    /// Whether it is for the worse.
    pub direction: Direction,
    /// The last moment at the level before, by the best estimate: for a drift, where it begins.
    pub last_before: usize,
    /// The first moment at the level after: for a drift, where it ends.
    pub first_after: usize,
    /// The first moments at the new level that are possible with 95 % confidence; for a drift, all of its moments;
    /// for an alarm, the first of the runs that exceed the threshold.
    pub range: RangeInclusive<usize>,
    /// The last moment before the range: what is certainly older than the change.
    pub good: usize,
    /// Its size.
    pub size: ChangeSize,
    /// Of a drift its rate, or if that changed the rates before and after.
    pub rates: Vec<DriftRate>,
    /// Its evidence.
    pub evidence: Evidence,
    /// Number of runs before, back to the change before, and after, up to the next change.
    pub runs: [usize; 2],
    /// The first moment at which the level was back; `None` if it still is what it changed to, or changed further.
    pub went_away: Option<usize>,
    /// Other differences between the runs before and after, those that tell them apart best first.
    pub environment: Vec<EnvironmentChange>,
    /// The difference in the surroundings that explains it; `None` if none does.
    pub explained: Option<EnvironmentChange>,
    /// A person's judgement; `None` if it is news.
    pub triage: Option<Triaged>,
    /// Whether it was reported before.
    pub is_notified: bool,
}

impl Finding {
    /// Returns the moment since which it holds: the first at the new level, or that at which a drift begins.
    pub fn since(&self) -> usize {
        match self.kind {
            ChangeKind::Step | ChangeKind::Alarm => self.first_after,
            ChangeKind::Drift => *self.range.start(),
        }
    }

    /// Returns whether it may need attention: it still holds, no surroundings explain it, and no triage is about it.
    pub fn is_open(&self) -> bool {
        self.went_away.is_none() && self.triage.is_none() && self.explained.is_none()
    }

    /// Returns whether it lies in the past that was accepted as a whole: it is counted, and not listed.
    pub fn is_accepted(&self) -> bool {
        let triage = self.triage.as_ref();
        triage.is_some_and(|triage| triage.state == TriageState::Accepted)
    }
}

/// Findings with one cause: changes of several series at the same place, or one that a whole suite shares.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingGroup {
    /// The indices of its findings in [`super::Detection::findings`], the largest first; of those that no suite
    /// shares, what is open before what is known, and regressions before the others.
    pub findings: Vec<usize>,
    /// Whether most of the suite changed there.
    pub is_shared: bool,
    /// The possible first moments after the change that all members have in common.
    pub range: RangeInclusive<usize>,
    /// The last moment before the range.
    pub good: usize,
    /// Number of commits after that moment up to the end of the range, if it is known.
    pub commits: Option<usize>,
}

impl FindingGroup {
    /// Returns the finding that stands for all. The largest comes first, but of those that a suite shares the middle
    /// one says what they have in common.
    pub fn lead(&self) -> usize {
        let middle = self.findings.len() / 2;
        self.findings[if self.is_shared { middle } else { 0 }]
    }
}

/// A possible change that only the newest run shows, or the newest two. The third confirms it or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspicion {
    /// The finding that it becomes if it is confirmed. If several histories share it, that of the one with the median
    /// change.
    pub finding: Finding,
    /// Number of histories that share it: those of a suite, or one.
    pub histories: usize,
}
