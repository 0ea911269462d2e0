//! Findings grouped by cause: those that happened at the same place.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use lapwing_stats::median;

use super::finding::{ChangeKind, Finding, FindingGroup};
use super::search::Detection;
use super::series::Histories;
use super::shared::{NORMAL_DEVIATION, SharedChange};

/// Returns the findings grouped by cause, those that change most first.
///
/// Findings of one suite belong together if their possible places have one in common and their likeliest places are
/// [near](are_near) each other; those with the narrowest range come first, and every later one narrows the range of its
/// group. Changes that the suite shares are groups of their own.
pub(super) fn groups(
    histories: &Histories,
    findings: &[Finding],
    shared: &BTreeMap<(&str, &str), Vec<SharedChange>>,
) -> Vec<FindingGroup> {
    let with_suite = with_suite(findings, shared);
    let mut order: Vec<usize> = (0..findings.len()).collect();
    let width = |at: usize| findings[at].range.end() - findings[at].range.start();
    order.sort_by_key(|at| (findings[*at].kind, width(*at), *findings[*at].range.start()));
    let mut groups: Vec<FindingGroup> = Vec::new();
    for at in order {
        let finding = &findings[at];
        let is_shared = with_suite.contains(&at);
        let fits = |group: &&mut FindingGroup| {
            let first = &findings[group.findings[0]];
            first.subject.suite == finding.subject.suite
                && first.kind == finding.kind
                && first.explained == finding.explained
                && group.is_shared == is_shared
                && common(&group.range, &finding.range).is_some()
                && (is_shared || are_near(first, finding))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => {
                group.findings.push(at);
                if let Some(range) = common(&group.range, &finding.range)
                    && finding.kind == ChangeKind::Step
                {
                    group.range = range;
                }
            }
            None => groups.push(FindingGroup {
                findings: vec![at],
                is_shared,
                range: finding.range.clone(),
                good: finding.good,
                commits: None,
            }),
        }
    }
    let relative = |at: usize| findings[at].size.relative();
    let mut suites: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for group in &mut groups {
        let rank = |at: usize| {
            let finding = &findings[at];
            (!group.is_shared).then(|| (!finding.is_open(), finding.direction))
        };
        group.findings.sort_by(|one, other| {
            let by_rank = rank(*one).cmp(&rank(*other));
            by_rank.then_with(|| relative(*other).total_cmp(&relative(*one)))
        });
        let suite = findings[group.findings[0]].subject.suite.as_str();
        let moments = suites.entry(suite);
        let moments = moments.or_insert_with(|| histories.moments_of_suite(suite));
        let first = *group.range.start();
        group.good = moments.range(..first).next_back().copied().unwrap_or(first);
    }
    let largest = |group: &FindingGroup| {
        let all = group.findings.iter().map(|at| relative(*at));
        all.fold(0.0, f64::max)
    };
    groups.sort_by(|one, other| largest(other).total_cmp(&largest(one)));
    groups
}

impl Detection {
    /// Sets the number of commits of each range, which `count` returns for the commits before it and at its end.
    pub fn count_commits(
        &mut self,
        histories: &Histories,
        count: impl Fn(&str, &str) -> Option<usize>,
    ) {
        let commit = |moment: usize| histories.moments[moment].version().commit.as_deref();
        let mut known: BTreeMap<[&str; 2], Option<usize>> = BTreeMap::new();
        for group in &mut self.groups {
            let ends = commit(group.good).zip(commit(*group.range.end()));
            let ends = ends.filter(|(good, last)| good != last);
            group.commits = ends.and_then(|(good, last)| {
                *known
                    .entry([good, last])
                    .or_insert_with(|| count(good, last))
            });
        }
    }
}

/// A change beside that of its suite differs from the median by more than so many robust standard deviations.
const BESIDES: f64 = 5.0;

/// Returns the findings that are changes of their suite: not those that differ from the median of the others at that
/// place by more than the suite moved, and by more than the others vary. These changed besides.
fn with_suite(
    findings: &[Finding],
    shared: &BTreeMap<(&str, &str), Vec<SharedChange>>,
) -> BTreeSet<usize> {
    /// Suite, metric and moment.
    type SharedKey<'f> = (&'f str, &'f str, usize);
    let mut changes: BTreeMap<SharedKey<'_>, Vec<(usize, f64)>> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        let Some(moment) = shared_moment(finding, shared) else {
            continue;
        };
        let size = &finding.size;
        let shift = if size.is_ratio {
            size.change.ln()
        } else {
            size.change
        };
        let subject = &finding.subject;
        let key = (subject.suite.as_str(), subject.metric.as_str(), moment);
        changes.entry(key).or_default().push((at, shift));
    }
    let mut with_suite = BTreeSet::new();
    for members in changes.into_values() {
        let shifts: Vec<f64> = members.iter().map(|(_, shift)| *shift).collect();
        let centre = median(&shifts).unwrap_or(0.0);
        let deviations: Vec<f64> = shifts.iter().map(|shift| (shift - centre).abs()).collect();
        let spread = NORMAL_DEVIATION * median(&deviations).unwrap_or(0.0);
        let most = centre.abs().max(BESIDES * spread);
        let is_near = |(_, shift): &&(usize, f64)| (shift - centre).abs() <= most;
        with_suite.extend(members.iter().filter(is_near).map(|(at, _)| *at));
    }
    with_suite
}

/// Returns the moment of the change of the suite that a finding is at.
fn shared_moment(
    finding: &Finding,
    shared: &BTreeMap<(&str, &str), Vec<SharedChange>>,
) -> Option<usize> {
    let subject = &finding.subject;
    let key = (subject.suite.as_str(), subject.metric.as_str());
    let of_family = shared.get(&key).map_or(&[][..], Vec::as_slice);
    // The first run of a series after a shared change may be later than that of others.
    let is_there = |change: &&SharedChange| {
        finding.last_before < change.moment && change.moment <= finding.first_after
    };
    let there = of_family.iter().find(is_there)?;
    (finding.kind == ChangeKind::Step).then_some(there.moment)
}

/// Returns whether the likeliest places of two changes differ by no more than their ranges explain: a range of 95 %
/// is four standard deviations wide, and two places may differ by two. A change that may be anywhere within much of its
/// history is near no other.
#[expect(clippy::cast_precision_loss, reason = "numbers of runs")]
fn are_near(one: &Finding, other: &Finding) -> bool {
    if one.kind == ChangeKind::Drift {
        return one.direction == other.direction && is_same_drift(one, other);
    }
    let width = |it: &Finding| it.range.end() - it.range.start();
    let is_somewhere = |it: &Finding| width(it) <= it.runs.iter().sum::<usize>() / 4;
    let apart = one.first_after.abs_diff(other.first_after) as f64;
    is_somewhere(one)
        && is_somewhere(other)
        && apart <= (width(one) as f64).hypot(width(other) as f64) / 2.0
}

/// Returns whether two drifts begin and end at nearly the same places, in terms of the longer one.
fn is_same_drift(one: &Finding, other: &Finding) -> bool {
    let [one, other] = [&one.range, &other.range];
    let longer = (one.end() - one.start()).max(other.end() - other.start());
    let apart = one.start().abs_diff(*other.start()) + one.end().abs_diff(*other.end());
    4 * apart <= longer
}

fn common(
    one: &RangeInclusive<usize>,
    other: &RangeInclusive<usize>,
) -> Option<RangeInclusive<usize>> {
    let common = *one.start().max(other.start())..=*one.end().min(other.end());
    (!common.is_empty()).then_some(common)
}
