//! The search of one benchmark: along a line of commits, and from there into branches that were merged.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{DriftingSearch, FoundChange, SearchEnd, SearchLimits};

use super::visits::{CommitVisits, VisitStep};

/// The search along a line of commits, each the first parent of the next.
#[derive(Debug)]
pub struct LineSearch {
    /// The commits, by their positions in the plan.
    pub commits: Vec<usize>,
    /// The search.
    pub search: DriftingSearch,
    /// The merge that brought these commits, by its position in the plan.
    pub merge: Option<usize>,
    /// The direction of the merge's change.
    is_up: Option<bool>,
}

impl LineSearch {
    /// Returns the changes that were found.
    pub fn found(&self) -> Vec<FoundChange> {
        if self.is_other_way() {
            return Vec::new();
        }
        self.search.found()
    }

    /// Returns whether there is nothing left to measure.
    pub fn is_over(&self) -> bool {
        self.search.end().is_some() || self.is_other_way()
    }

    /// Returns whether the branch's change is the other way than its merge's, which it then did not bring.
    fn is_other_way(&self) -> bool {
        let is_compared = !matches!(self.search.stage(), lapwing_stats::SearchStage::Ends(_));
        let ends = self.search.ends().filter(|_| is_compared);
        let ends = ends.map(|ends| ends.value > 0.0);
        self.is_up.is_some() && ends.is_some() && ends != self.is_up
    }
}

/// A commit that changed a benchmark, or several of which one did.
#[derive(Debug)]
pub struct FoundCommit {
    /// The line of its search.
    pub line: usize,
    /// What was found there.
    pub change: FoundChange,
    /// The merges whose branches were searched, as their lines and what was found there, the first one first.
    pub merges: Vec<(usize, FoundChange)>,
}

/// The search of one benchmark.
#[derive(Debug)]
pub struct CaseSearch {
    /// The position of the benchmark in the plan.
    pub case: usize,
    /// The lines that were searched: that between the ends, then those of merges.
    pub lines: Vec<LineSearch>,
    /// Why commits cannot be measured, by their positions in the plan.
    pub broken: BTreeMap<usize, String>,
    /// The commits of which is known whether they are merges.
    examined: BTreeSet<usize>,
}

impl CaseSearch {
    pub(super) fn new(
        case: usize,
        commits: Vec<usize>,
        likely: &[f64],
        limits: SearchLimits,
    ) -> Self {
        let mut search = Self {
            case,
            lines: Vec::new(),
            broken: BTreeMap::new(),
            examined: BTreeSet::new(),
        };
        search.add_line(commits, None, likely, limits);
        search
    }

    /// Adds a line to search, which a merge brought with a change in this direction.
    pub(super) fn add_line(
        &mut self,
        commits: Vec<usize>,
        merge: Option<(usize, bool)>,
        likely: &[f64],
        limits: SearchLimits,
    ) {
        self.lines.push(LineSearch {
            search: DriftingSearch::new(likely, limits),
            commits,
            merge: merge.map(|(merge, _)| merge),
            is_up: merge.map(|(_, is_up)| is_up),
        });
    }

    /// Returns the line that is searched.
    pub(super) fn line(&self) -> &LineSearch {
        &self.lines[self.lines.len() - 1]
    }

    /// Returns the next commit that was found and may be a merge, with the direction of its change.
    pub(super) fn next_to_examine(&mut self) -> Option<(usize, bool)> {
        let found = self.lines.iter().flat_map(|line| {
            let single = line.found().into_iter();
            let single = single.filter(|it| it.commits.first == it.commits.last);
            single.map(|it| (line.commits[it.commits.last], it.difference.value > 0.0))
        });
        let mut found = found.collect::<Vec<_>>().into_iter();
        found.find(|(commit, _)| self.examined.insert(*commit))
    }

    /// Returns how the search of the ends' line ended; `None` if anything is left to measure.
    pub fn end(&self) -> Option<SearchEnd> {
        self.lines[0].search.end().filter(|_| self.line().is_over())
    }

    /// Returns the commits that were found, those of branches in the place of their merges.
    pub fn found(&self) -> Vec<FoundCommit> {
        self.found_in(0, &[])
    }

    fn found_in(&self, line: usize, merges: &[(usize, FoundChange)]) -> Vec<FoundCommit> {
        let found = self.lines[line].found().into_iter();
        let found = found.flat_map(|change| {
            let inner = self.branch_of(self.lines[line].commits[change.commits.last]);
            let inner = inner.map_or_else(Vec::new, |inner| {
                self.found_in(inner, &[merges, &[(line, change)]].concat())
            });
            if inner.is_empty() {
                let merges = merges.to_vec();
                return vec![FoundCommit {
                    line,
                    change,
                    merges,
                }];
            }
            inner
        });
        found.collect()
    }

    /// Returns the line that a merge brought, if that was searched.
    pub fn branch_of(&self, merge: usize) -> Option<usize> {
        self.lines.iter().position(|line| line.merge == Some(merge))
    }

    /// Returns a step for each of these commits of the line that is searched.
    pub(super) fn steps(&self, commits: &[usize]) -> Vec<VisitStep> {
        let step = |at: &usize| VisitStep {
            case: self.case,
            variant: self.line().commits[*at],
        };
        commits.iter().map(step).collect()
    }

    /// Uses what was measured since so many instances.
    pub(super) fn learn(&mut self, begin: usize, visits: &CommitVisits<'_>) {
        let case = self.case;
        let Some(line) = self.lines.last_mut() else {
            return;
        };
        let measured = visits.measured_since(begin).into_iter();
        let measured = measured.filter(|it| it.case == case).filter_map(|it| {
            let at = line
                .commits
                .iter()
                .position(|commit| *commit == it.variant)?;
            Some((at, it.mean.filter(|mean| *mean > 0.0).map(f64::ln)))
        });
        line.search.add(&measured.collect::<Vec<_>>());
        for at in line.search.broken() {
            let variant = line.commits[at];
            let reason = || visits.failure(case, variant);
            self.broken.entry(variant).or_insert_with(reason);
        }
    }
}
