//! The untriaged past of an old history.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Finding, FindingGroup};
use super::search::Detection;
use super::series::Histories;
use super::triage::covers;

/// A change in the newest runs of this number is recent: a month of nights.
pub const RECENT_RUNS: usize = 30;
/// More changes than this, by cause, are not read one by one.
const MANY: usize = 20;

/// The untriaged past of histories: too many changes to be read one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreviewedPast {
    /// Number of changes before the newest [`RECENT_RUNS`] runs of their suites that were not triaged; what a
    /// suite shares is one.
    pub changes: usize,
    /// The indices of the other changes in [`Detection::groups`]: those that are recent or were triaged.
    pub others: Vec<usize>,
}

/// An acceptance of an unreviewed past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastAcceptance {
    /// The last version or run of it, by a name that means just that.
    pub until: String,
    /// Number of changes that it covers.
    pub changes: usize,
}

impl Detection {
    /// Returns the untriaged past of histories; `None` if it has few changes.
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
        (past.len() > MANY).then_some(UnreviewedPast {
            changes: changes.sum(),
            others: others.into_iter().map(|(at, _)| at).collect(),
        })
    }

    /// Returns the acceptance of as many changes of a past as possible, and of no other untriaged one; `None`
    /// if there is none, as no name means a place where it could end.
    pub fn acceptance(
        &self,
        histories: &Histories,
        past: &UnreviewedPast,
    ) -> Option<PastAcceptance> {
        let groups = self.groups.iter().enumerate();
        let (others, past): (Vec<_>, Vec<_>) = groups.partition(|(at, _)| past.others.contains(at));
        let finding = |at: &usize| &self.findings[*at];
        let of_past = || past.iter().flat_map(|(_, group)| &group.findings);
        let others = others.iter().flat_map(|(_, group)| &group.findings);
        let others: Vec<&Finding> = others
            .map(finding)
            .filter(|it| it.triage.is_none())
            .collect();
        let ends: BTreeSet<usize> = of_past().map(|at| finding(at).first_after).collect();
        let names = ends.iter().rev().flat_map(|end| {
            let moment = &histories.moments[*end];
            [moment.label(), moment.session.id.to_string()]
        });
        names.into_iter().find_map(|until| {
            let triage = histories.acceptance_until(&until)?;
            if others.iter().any(|it| covers(&triage, it, histories)) {
                return None;
            }
            let changes = past.iter().map(|(_, group)| {
                let findings = group.findings.iter();
                let covered = findings.filter(|at| covers(&triage, finding(at), histories));
                match (group.is_shared, covered.count()) {
                    (true, covered) => covered.min(1),
                    (false, covered) => covered,
                }
            });
            let changes = changes.sum();
            (changes > 0).then_some(PastAcceptance { until, changes })
        })
    }

    fn suite(&self, group: &FindingGroup) -> &str {
        &self.findings[group.findings[0]].subject.suite
    }
}
