//! The past of a history that was taken over, and that nobody has looked at yet.

use std::collections::BTreeMap;

use super::finding::{Finding, FindingGroup};
use super::search::Detection;
use super::series::Histories;

/// A change in the newest runs of this number is recent: a month of nights.
pub const RECENT_RUNS: usize = 30;
/// More changes than this, by cause, are not read one by one.
const MANY: usize = 20;

/// The past of histories that nobody has looked at: too many changes to be read one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreviewedPast {
    /// Number of changes before the newest [`RECENT_RUNS`] runs of their suites of which nobody has said anything; what a
    /// suite shares is one.
    pub changes: usize,
    /// The moment of the last of them.
    pub until: usize,
    /// The indices of the other changes in [`Detection::groups`]: those that are recent or were triaged.
    pub others: Vec<usize>,
}

impl Detection {
    /// Returns the past of histories that nobody has looked at; `None` if it has few changes.
    pub fn unreviewed_past(&self, histories: &Histories) -> Option<UnreviewedPast> {
        if self.groups.len() <= MANY {
            return None;
        }
        let mut borders = BTreeMap::new();
        for group in &self.groups {
            let suite = self.suite(group);
            borders.entry(suite).or_insert_with(|| {
                let moments = histories.moments_of_suite(suite);
                let border = moments.iter().rev().nth(RECENT_RUNS - 1);
                border.copied().unwrap_or(0)
            });
        }
        let findings = |group: &FindingGroup| -> Vec<&Finding> {
            let findings = group.findings.iter();
            findings.map(|at| &self.findings[*at]).collect()
        };
        let newest = |group: &FindingGroup| {
            let places = findings(group).into_iter().map(|it| it.first_after);
            places.max().unwrap_or(0)
        };
        let is_past = |group: &FindingGroup| {
            newest(group) < borders[self.suite(group)]
                && findings(group).iter().all(|it| it.triage.is_none())
        };
        let groups = self.groups.iter().enumerate();
        let (past, others): (Vec<_>, Vec<_>) = groups.partition(|(_, group)| is_past(group));
        let changes = past.iter().map(|(_, group)| match group.is_shared {
            true => 1,
            false => group.findings.len(),
        });
        let until = past.iter().map(|(_, group)| newest(group)).max()?;
        (past.len() > MANY).then_some(UnreviewedPast {
            changes: changes.sum(),
            until,
            others: others.into_iter().map(|(at, _)| at).collect(),
        })
    }

    fn suite(&self, group: &FindingGroup) -> &str {
        &self.findings[group.findings[0]].subject.suite
    }
}
