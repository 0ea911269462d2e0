//! The search of one benchmark: along a line of commits, and from there into a branch that was merged.

use std::collections::BTreeMap;

use lapwing_stats::{Bisection, LookedDifference, Suspects};

use super::comparison::CommitComparison;
use super::visits::{CommitVisits, VisitStep};

/// The stage of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStage {
    /// The ends are to be compared.
    Ends,
    /// The commits between the ends are measured.
    Between,
    /// A commit is to be compared with its parent.
    Parent,
    /// The ends do not differ enough.
    NoDifference,
    /// An end, by its position in the plan, cannot be measured.
    BrokenEnd(usize),
    /// The budget ended before a commit was found.
    OutOfBudget,
    /// A commit was found.
    Found,
}

/// A merge that was found to bring the change, before what it merged was searched.
#[derive(Debug, Clone, Copy)]
pub struct FoundMerge {
    /// Its position in the plan.
    pub variant: usize,
    /// Its comparison with its first parent.
    pub parent: CommitComparison,
}

/// The reason why the branch of a merge gives no answer.
#[derive(Debug, Clone)]
pub enum UnsearchedBranch {
    /// This end of it cannot be measured.
    BrokenEnd(String),
    /// Its ends do not show the difference.
    NoDifference {
        /// The labels of both ends.
        ends: [String; 2],
        /// Their comparison.
        looked: Box<LookedDifference>,
    },
}

/// The search of one benchmark.
#[derive(Debug)]
pub struct CaseSearch {
    /// The position of the benchmark in the plan.
    pub case: usize,
    /// The commits, by their positions in the plan.
    pub line: Vec<usize>,
    search: Bisection,
    /// Why commits cannot be measured, by their positions in the plan.
    pub broken: BTreeMap<usize, String>,
    /// The stage.
    pub stage: SearchStage,
    /// The comparison of the ends.
    pub ends: Option<CommitComparison>,
    /// The comparison of the commit that was found with its parent.
    pub parent: Option<CommitComparison>,
    /// The number of comparisons with a parent along this line.
    pub confirmations: usize,
    /// The instances that were measured between the ends.
    pub between: usize,
    /// The merges whose branches were searched, the first one first.
    pub merges: Vec<FoundMerge>,
    /// Why the branch of the merge that was found has no answer.
    pub unsearched: Option<UnsearchedBranch>,
    /// The search that found the last merge.
    outer: Option<Box<CaseSearch>>,
}

impl CaseSearch {
    pub(super) fn new(case: usize, line: Vec<usize>) -> Self {
        Self {
            case,
            search: Bisection::new(line.len()),
            line,
            broken: BTreeMap::new(),
            stage: SearchStage::Ends,
            ends: None,
            parent: None,
            confirmations: 0,
            between: 0,
            merges: Vec::new(),
            unsearched: None,
            outer: None,
        }
    }

    /// Begins anew in the branch of a merge.
    pub(super) fn descend(&mut self, merge: FoundMerge, line: Vec<usize>) {
        let inner = Self {
            merges: self.merges.iter().copied().chain([merge]).collect(),
            ..Self::new(self.case, line)
        };
        let outer = std::mem::replace(self, inner);
        self.outer = Some(Box::new(outer));
    }

    /// Ends a search whose ends give none, for this reason; in the branch of a merge, the merge is the answer.
    pub(super) fn give_up(&mut self, stage: SearchStage, reason: UnsearchedBranch) {
        match self.outer.take() {
            Some(outer) => {
                *self = *outer;
                self.unsearched = Some(reason);
            }
            None => self.stage = stage,
        }
    }

    /// Returns the first and the last commit, by their positions in the plan.
    pub(super) fn end_commits(&self) -> [usize; 2] {
        [self.line[0], self.line[self.line.len() - 1]]
    }

    /// Returns the most likely commit, with skipped commits before it that may be the one instead, as positions in
    /// the line.
    pub fn suspects(&self) -> Suspects {
        self.search.suspects()
    }

    /// Returns the likeliest commit, by its position in the plan.
    pub fn suspect(&self) -> usize {
        self.line[self.suspects().last]
    }

    /// Returns the commit before the suspects, by its position in the plan.
    pub(super) fn parent_of_suspects(&self) -> usize {
        self.line[self.suspects().first - 1]
    }

    /// Returns whether the likeliest commit is likely enough.
    pub(super) fn is_found(&self, confidence: f64) -> bool {
        self.search.is_found(confidence)
    }

    /// Returns the probability of each commit of the line.
    pub fn posterior(&self) -> Vec<f64> {
        self.search.posterior()
    }

    /// Returns the logarithms that the search used of a commit of the line.
    pub fn logs(&self, at: usize) -> &[f64] {
        self.search.logs(at)
    }

    /// Returns the most informative step for its cost, and its information per cost.
    pub(super) fn next_step(&self, visits: &CommitVisits<'_>) -> (VisitStep, f64) {
        let next = self.search.next_visit(|at| visits.cost(self.line[at]));
        (self.step(self.line[next.commit]), next.rate)
    }

    /// Returns a step with others to measure at the same time, up to `width` in all.
    pub(super) fn with_others(&self, best: VisitStep, width: usize) -> Vec<VisitStep> {
        match self.line.iter().position(|it| *it == best.variant) {
            Some(at) => {
                let commits = self.search.with_others(at, width).into_iter();
                commits.map(|at| self.step(self.line[at])).collect()
            }
            None => vec![best],
        }
    }

    /// Returns whether the search has no value of a commit, given by its position in the plan.
    pub(super) fn is_new(&self, variant: usize) -> bool {
        let at = self.line.iter().position(|it| *it == variant);
        at.is_some_and(|at| self.logs(at).is_empty())
    }

    pub(super) fn step(&self, variant: usize) -> VisitStep {
        VisitStep {
            case: self.case,
            variant,
        }
    }

    /// Uses the values that were measured of commits since so many instances; a commit without any cannot be measured.
    pub(super) fn learn(&mut self, commits: &[usize], begin: usize, visits: &CommitVisits<'_>) {
        for variant in commits {
            let Some(at) = self.line.iter().position(|it| it == variant) else {
                continue;
            };
            let step = self.step(*variant);
            for log in visits.logs_since(begin, step) {
                self.search.add(at, log);
            }
            // An instance can fail by chance where others did not.
            if self.search.logs(at).is_empty() {
                self.set_broken(*variant, visits);
            }
        }
    }

    /// Marks a commit as one that cannot be measured.
    pub(super) fn set_broken(&mut self, variant: usize, visits: &CommitVisits<'_>) {
        self.broken
            .insert(variant, visits.failure(self.case, variant));
        if let Some(at) = self.line.iter().position(|it| *it == variant) {
            self.search.set_broken(at);
        }
    }
}
