//! The past of a history that was taken over, and that nobody has looked at yet.

use std::collections::BTreeMap;

use super::finding::{Finding, FindingGroup};
use super::search::Detection;
use super::series::Histories;

/// A change in the newest runs of this number is recent: a month of nights.
pub const RECENT_RUNS: usize = 30;
/// More changes than this, by cause, are not read one by one.
const MANY: usize = 20;

/// The changes of a history of which none was ever triaged or reported, and most lie in its past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreviewedPast {
    /// Number of changes before the newest [`RECENT_RUNS`] runs of their suites; what a suite shares is one.
    pub changes: usize,
    /// The moment of the last of them.
    pub until: usize,
    /// The indices of the other changes in [`Detection::groups`].
    pub recent: Vec<usize>,
}

impl Detection {
    /// Returns the past of histories that nobody has looked at; `None` if a change was triaged or reported, or if the
    /// past has few changes.
    pub fn unreviewed_past(&self, histories: &Histories) -> Option<UnreviewedPast> {
        let is_reviewed = |finding: &Finding| finding.triage.is_some() || finding.is_notified;
        if self.groups.len() <= MANY || self.findings.iter().any(is_reviewed) {
            return None;
        }
        let mut borders = BTreeMap::new();
        for group in &self.groups {
            let suite = self.suite(group);
            borders.entry(suite).or_insert_with(|| {
                let moments = histories.moments_of_suite(suite);
                moments
                    .iter()
                    .rev()
                    .nth(RECENT_RUNS - 1)
                    .copied()
                    .unwrap_or(0)
            });
        }
        let newest = |group: &FindingGroup| {
            let places = group
                .findings
                .iter()
                .map(|at| self.findings[*at].first_after);
            places.max().unwrap_or(0)
        };
        let groups = || self.groups.iter().enumerate();
        let is_recent = |group: &FindingGroup| newest(group) >= borders[self.suite(group)];
        let recent = groups().filter(|(_, group)| is_recent(group));
        let recent: Vec<usize> = recent.map(|(at, _)| at).collect();
        let past = groups().map(|(_, group)| group);
        let past: Vec<&FindingGroup> = past.filter(|group| !is_recent(group)).collect();
        let until = past.iter().map(|group| newest(group)).max()?;
        let changes = |group: &&FindingGroup| match group.is_shared {
            true => 1,
            false => group.findings.len(),
        };
        (past.len() > MANY).then_some(UnreviewedPast {
            changes: past.iter().map(changes).sum(),
            until,
            recent,
        })
    }

    fn suite(&self, group: &FindingGroup) -> &str {
        &self.findings[group.findings[0]].subject.suite
    }
}
