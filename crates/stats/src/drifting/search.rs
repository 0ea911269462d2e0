//! The search of all changes between two commits: what the first find leaves unexplained is searched on both sides of it.

use std::collections::BTreeSet;

use super::filter::ChangeFilter;
use super::part::PartSearch;
use super::speed::SpeedGrid;
use super::{
    FoundChange, NextMeasurements, PairDifference, SearchEnd, SearchLimits, SearchStage,
    SuspectedCommits,
};
use crate::number::as_f64;

/// Standard deviations by which a find may miss the difference of the ends; beyond them the rest is searched.
const REST: f64 = 1.7;
/// The same of all finds together, at which the rest is told to be unexplained.
const UNEXPLAINED: f64 = 2.5;
/// A second change that is likelier than this by what was measured already is searched.
const SECOND: f64 = 0.3;
/// Its probability before anything was measured, and the shares of the ends' difference that it may have.
const SECOND_PRIOR: f64 = 0.2;
const SECOND_SHARES: [f64; 7] = [-1.0, -0.5, 0.25, 0.4, 0.5, 0.6, 0.75];
/// Numbers of sizes of both changes together, and how far they reach around the ends' difference in its standard deviations.
const TOTALS: usize = 5;
const TOTALS_REACH: f64 = 2.0;
/// Other changes have at least this share of the ends' difference.
const LEAST_SHARE: f64 = 0.25;
/// A part of a search leaves the rest of the instances to others from so many on.
const MOST_OF_A_PART: usize = 300;
/// How often what is left is divided again.
const DEPTH: usize = 3;

/// A search of the commits that changed a metric, which asks for one measurement after the other.
///
/// Values are logarithms of means of fresh instances. The ends are compared first; then the posterior says which commit
/// to measure; a commit that is likely enough is compared with its parent, and accepted if the difference fits that of the
/// ends and it is still likely with all that was measured, or if the difference is certain. Where it leaves a part of the
/// ends' difference, both sides of it are searched.
#[derive(Debug, Clone)]
pub struct DriftingSearch {
    limits: SearchLimits,
    /// How likely each commit is before anything was measured.
    likely: Vec<f64>,
    parts: Vec<SearchedPart>,
    /// The finds whose sides are being searched, the first one first.
    open: Vec<OpenFind>,
    is_over: bool,
    count: usize,
}

/// A search between two commits.
#[derive(Debug, Clone)]
struct SearchedPart {
    first: usize,
    last: usize,
    search: PartSearch,
}

/// A find that leaves a part of the difference.
#[derive(Debug, Clone)]
struct OpenFind {
    /// The difference of the ends of its search.
    ends: PairDifference,
    /// The part of it that is not explained, and its standard deviation.
    rest: f64,
    deviation: f64,
    /// The sides that were not searched yet.
    sides: Vec<[usize; 2]>,
}

impl DriftingSearch {
    /// Returns a search over commits that are likely in these proportions before anything was measured; the first is
    /// before the change, and its weight does not count.
    ///
    /// # Panics
    /// When there are fewer than two commits, or a weight is not above 0.
    #[must_use]
    pub fn new(likely: &[f64], limits: SearchLimits) -> Self {
        assert!(likely.len() >= 2, "two ends");
        assert!(likely.iter().all(|it| *it > 0.0), "all are possible");
        let mut search = Self {
            limits,
            likely: likely.to_vec(),
            parts: Vec::new(),
            open: Vec::new(),
            is_over: false,
            count: 0,
        };
        search.begin([0, likely.len() - 1]);
        search
    }

    fn begin(&mut self, [first, last]: [usize; 2]) {
        let left = self.limits.most.saturating_sub(self.count);
        let limits = SearchLimits {
            most: left.min(MOST_OF_A_PART.max(self.limits.most / 2)),
            ..self.limits
        };
        let whole = self.parts.first().and_then(|it| it.search.ends);
        let least = whole.map_or(0.0, |ends| LEAST_SHARE * ends.value.abs());
        let broken = self.broken().into_iter();
        let broken = broken.filter(|it| (first..=last).contains(it));
        let broken = broken.map(|it| it - first).collect();
        self.parts.push(SearchedPart {
            first,
            last,
            search: PartSearch::new(self.likely[first..=last].to_vec(), limits, least, broken),
        });
    }

    fn current(&self) -> &SearchedPart {
        &self.parts[self.parts.len() - 1]
    }

    /// Returns how the search ended; `None` if it goes on. If it found a change, [`Self::found`] has all.
    #[must_use]
    pub fn end(&self) -> Option<SearchEnd> {
        match self.parts[0].search.stage() {
            SearchStage::Ended(end) if self.is_over => Some(end),
            _ => None,
        }
    }

    /// Returns the part of the search that is under way, or that was the last.
    #[must_use]
    pub fn stage(&self) -> SearchStage {
        let part = self.current();
        match part.search.stage() {
            SearchStage::Ends(sides) => SearchStage::Ends(sides.map(|it| it + part.first)),
            SearchStage::Parent(sides) => SearchStage::Parent(sides.map(|it| it + part.first)),
            SearchStage::Between => SearchStage::Between,
            SearchStage::Ended(end) => SearchStage::Ended(part.moved_end(end)),
        }
    }

    /// Returns the number of instances, with those that failed.
    #[must_use]
    pub fn measurements(&self) -> usize {
        self.count
    }

    /// Returns what to measure next, up to `width` instances at the same time, where going to a commit costs so many
    /// instances; nothing at the end.
    #[must_use]
    pub fn next(&self, cost: impl Fn(usize) -> f64, width: usize) -> NextMeasurements {
        let part = self.current();
        let mut next = part.search.next(|commit| cost(commit + part.first), width);
        next.commits.iter_mut().for_each(|it| *it += part.first);
        next
    }

    /// Adds the logarithms of instances that were measured as [`Self::next`] asked for; `None` for one that failed. A
    /// commit of which none succeeded cannot be measured.
    pub fn add(&mut self, measured: &[(usize, Option<f64>)]) {
        self.count += measured.len();
        if let Some(part) = self.parts.last_mut() {
            let measured = measured
                .iter()
                .map(|(commit, log)| (commit - part.first, *log));
            part.search.add(&measured.collect::<Vec<_>>());
        }
        self.go_on();
    }

    /// Begins the next part if the last one is over.
    fn go_on(&mut self) {
        let part = self.current();
        let SearchStage::Ended(end) = part.search.stage() else {
            return;
        };
        let (first, last) = (part.first, part.last);
        let mut explained = part.search.ends.map(|ends| (ends, false));
        if let (SearchEnd::Found(found), Some(ends)) = (end, part.search.ends) {
            let rest = ends.value - found.difference.value;
            let deviation = ends.gap(&found.difference);
            let is_share = !found.is_whole || rest.abs() > REST * deviation;
            let is_other = is_share
                || part.search.filter.as_ref().is_some_and(|filter| {
                    second_change(filter, &part.search.likely, found.commits.last, ends) > SECOND
                });
            explained = Some((ends, true));
            if is_other && self.open.len() < DEPTH {
                let found = part.moved(found.commits);
                let mut sides = vec![[first, found.first - 1], [found.last, last]];
                sides.retain(|[first, last]| first < last);
                // The longer one is the first to be taken.
                sides.sort_by_key(|[first, last]| last - first);
                self.open.push(OpenFind {
                    ends,
                    rest,
                    deviation,
                    sides,
                });
                explained = None;
            }
        }
        loop {
            let Some(open) = self.open.last_mut() else {
                self.is_over = true;
                return;
            };
            if let Some((ends, is_found)) = explained {
                open.rest -= ends.value;
                open.deviation = open.deviation.hypot(ends.deviation);
                if is_found && open.rest.abs() <= REST * open.deviation {
                    open.sides.clear();
                }
            }
            match open.sides.pop() {
                Some(side) if self.count < self.limits.most => return self.begin(side),
                _ => {
                    explained = Some((open.ends, true));
                    self.open.pop();
                }
            }
        }
    }

    /// Returns the changes that were found, in the order of commits.
    #[must_use]
    pub fn found(&self) -> Vec<FoundChange> {
        let mut found: Vec<FoundChange> = self
            .parts
            .iter()
            .filter_map(|part| match part.search.stage() {
                SearchStage::Ended(SearchEnd::Found(found)) => Some(FoundChange {
                    commits: part.moved(found.commits),
                    ..found
                }),
                _ => None,
            })
            .collect();
        found.sort_by_key(|it| it.commits.last);
        found
    }

    /// Returns the difference of the ends at the last look.
    #[must_use]
    pub fn ends(&self) -> Option<PairDifference> {
        self.parts[0].search.ends
    }

    /// Returns the last comparison.
    #[must_use]
    pub fn compared(&self) -> Option<PairDifference> {
        let parts = self.parts.iter().rev();
        let mut compared = parts.map(|it| it.search.parent.or(it.search.ends));
        compared.find_map(|it| it)
    }

    /// Returns the part of the ends' difference that the found changes do not explain; `None` if they explain it all, as
    /// far as can be told.
    #[must_use]
    pub fn unexplained(&self) -> Option<f64> {
        let ends = self.ends()?;
        let (mut rest, mut deviation) = (ends.value, ends.deviation);
        for found in self.found() {
            rest -= found.difference.value;
            deviation = deviation.hypot(found.difference.deviation);
        }
        (rest.abs() > UNEXPLAINED * deviation).then_some(rest)
    }

    /// Returns the number of commits that were compared with their parents without being the one.
    #[must_use]
    pub fn refuted(&self) -> usize {
        let of_part = |part: &SearchedPart| {
            let commits = part.search.compared_commits();
            commits
                .map(|commit| part.first + commit)
                .collect::<Vec<_>>()
        };
        let compared: BTreeSet<usize> = self.parts.iter().flat_map(of_part).collect();
        let found = self.found();
        let is_found = |commit: &&usize| found.iter().any(|it| it.commits.last == **commit);
        compared.iter().filter(|commit| !is_found(commit)).count()
    }

    /// Returns the most likely commit as things stand, with broken ones before it that may be the one instead.
    #[must_use]
    pub fn suspect(&self) -> Option<SuspectedCommits> {
        let part = self.current();
        part.search.suspect().map(|it| part.moved(it))
    }

    /// Returns for each commit the probability that it changed the metric, by the last search among these commits.
    #[must_use]
    pub fn probabilities(&self) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.parts[0].last + 1];
        for part in &self.parts {
            let of_part = part.search.probabilities();
            probabilities[part.first + 1..=part.last].copy_from_slice(&of_part[1..]);
        }
        for found in self.found() {
            if found.commits.first == found.commits.last {
                probabilities[found.commits.last] = found.commits.probability;
            }
        }
        probabilities
    }

    /// Returns the commits that cannot be measured.
    #[must_use]
    pub fn broken(&self) -> BTreeSet<usize> {
        let of_part = |part: &SearchedPart| {
            let broken = part.search.broken().iter();
            broken.map(|it| it + part.first).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }
}

impl SearchedPart {
    fn moved(&self, commits: SuspectedCommits) -> SuspectedCommits {
        SuspectedCommits {
            first: commits.first + self.first,
            last: commits.last + self.first,
            ..commits
        }
    }

    fn moved_end(&self, end: SearchEnd) -> SearchEnd {
        match end {
            SearchEnd::Alike => end,
            SearchEnd::BrokenEnd(commit) => SearchEnd::BrokenEnd(commit + self.first),
            SearchEnd::NotFound(commits) => SearchEnd::NotFound(self.moved(commits)),
            SearchEnd::Found(found) => SearchEnd::Found(FoundChange {
                commits: self.moved(found.commits),
                ..found
            }),
        }
    }
}

/// Returns how likely commits are of which half is as likely each, and half in proportion to weights such as numbers of
/// changed lines: weights that tell nothing cost at most one bit.
#[must_use]
pub fn half_even(weights: &[f64]) -> Vec<f64> {
    let all: f64 = weights.iter().skip(1).sum();
    let each = 1.0 / as_f64(weights.len().max(2) - 1);
    let of_weight = |weight: &f64| if all > 0.0 { weight / all } else { each };
    weights
        .iter()
        .map(|weight| each + of_weight(weight))
        .collect()
}

/// Returns the probability of a second change beside that of a commit, by what was measured.
fn second_change(
    filter: &ChangeFilter,
    likely: &[f64],
    commit: usize,
    ends: PairDifference,
) -> f64 {
    let shares = as_f64(SECOND_SHARES.len());
    let mut sizes = Vec::with_capacity(TOTALS * (SECOND_SHARES.len() + 1));
    for at in 0..TOTALS {
        let around = as_f64(at) / as_f64(TOTALS - 1) * 2.0 - 1.0;
        let total = ends.value + TOTALS_REACH * around * ends.deviation;
        sizes.push((total, 0.0, 1.0 - SECOND_PRIOR));
        let others = SECOND_SHARES
            .map(|share| (total * (1.0 - share), total * share, SECOND_PRIOR / shares));
        sizes.extend(others);
    }
    let grid = SpeedGrid::new(filter.grid.centre(), filter.grid.reach(), filter.sigma);
    let mut both = ChangeFilter::beside(commit, likely, filter.sigma, &sizes, grid);
    for (commit, value) in &filter.data {
        both.add(*commit, *value);
    }
    let shares = both.size_shares();
    let all: f64 = shares.iter().sum();
    let none: f64 = shares.iter().step_by(SECOND_SHARES.len() + 1).sum();
    1.0 - none / all
}
