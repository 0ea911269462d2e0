//! The search: the ends first, then the commits between them, and at last the commit and its parent; of several
//! benchmarks in one session.

use std::path::Path;

use lapwing_stats::LookedDifference;
use serde::{Deserialize, Serialize};

use super::SearchStep;
use super::case_search::{CaseSearch, FoundMerge, SearchStage, UnsearchedBranch};
use super::comparison::{ComparisonEnd, SideComparison};
use super::visits::{CommitVisits, VisitStep};
use crate::session::OpenMeasurement;
use crate::suite::PlannedCommit;
use crate::{RunEnd, RunError, merged_commits};

/// The most comparisons of commits with their parents along one line.
const CONFIRMATIONS: usize = 3;
/// Number of standard errors apart that the ends are measured, so that the search knows both levels well enough.
const APART: f64 = 4.0;

/// The options of a search, as its session keeps them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchOptions {
    /// The metric to search by.
    pub metric: String,
    /// The most instances of each side in a comparison.
    pub instances: usize,
    /// The most instances of a benchmark between the comparisons.
    pub budget: usize,
    /// The probability at which a commit is named.
    pub confidence: f64,
    /// The command that installs a commit.
    #[serde(default)]
    pub install: Option<String>,
}

/// A search for the commits that changed benchmarks.
#[derive(Debug)]
pub struct CommitSearch<'a> {
    /// The visits to commits.
    pub visits: CommitVisits<'a>,
    /// The search of each benchmark.
    pub cases: Vec<CaseSearch>,
    options: SearchOptions,
    /// Number of instances that are measured at the same time.
    width: usize,
}

impl<'a> CommitSearch<'a> {
    /// Returns a search along all commits of the plan.
    pub fn new(visits: CommitVisits<'a>, options: SearchOptions, width: usize) -> Self {
        let line: Vec<usize> = (0..visits.plan.variants.len()).collect();
        let cases = 0..visits.plan.cases.len();
        Self {
            cases: cases.map(|it| CaseSearch::new(it, line.clone())).collect(),
            visits,
            options,
            width,
        }
    }

    /// Searches until each benchmark has an answer or the limits are reached.
    ///
    /// # Errors
    /// If measuring fails.
    pub fn search(
        &mut self,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
    ) -> Result<RunEnd, RunError> {
        loop {
            let in_stage = |stage| self.cases.iter().position(|it| it.stage == stage);
            let end = if let Some(case) = in_stage(SearchStage::Ends) {
                self.compare_ends(case, measurement)?
            } else if in_stage(SearchStage::Between).is_some() {
                self.go_between(measurement)?
            } else if let Some(case) = in_stage(SearchStage::Parent) {
                self.compare_with_parent(case, measurement)?
            } else {
                return Ok(RunEnd::Complete);
            };
            if end == RunEnd::Interrupted {
                return Ok(end);
            }
        }
    }

    fn compare_ends(
        &mut self,
        case: usize,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
    ) -> Result<RunEnd, RunError> {
        let commits = self.cases[case].end_commits();
        let labels = commits.map(|commit| self.visits.label(commit));
        let step = SearchStep::Ends {
            ends: labels.clone(),
            later: self.cases[case].line.len() - 1,
        };
        self.tell(case, step);
        let begin = self.visits.instances();
        let is_far =
            |looked: &LookedDifference| looked.is_certain && looked.standard_errors() >= APART;
        let compared = match self.compare(case, commits, measurement, is_far)? {
            ComparisonEnd::Interrupted => return Ok(RunEnd::Interrupted),
            ComparisonEnd::Broken(broken) => {
                let search = &mut self.cases[case];
                for commit in &broken {
                    search.set_broken(*commit, &self.visits);
                }
                let broken = broken.first().copied().unwrap_or(commits[0]);
                let label = self.visits.label(broken);
                search.give_up(
                    SearchStage::BrokenEnd(broken),
                    UnsearchedBranch::BrokenEnd(label),
                );
                return Ok(RunEnd::Complete);
            }
            ComparisonEnd::Compared(compared) => compared,
        };
        let search = &mut self.cases[case];
        search.ends = Some(compared);
        search.learn(&commits, begin, &self.visits);
        // A branch whose change is the other way did not bring that of its merge.
        let looked = compared.looked;
        let is_same_way = search.merges.last().is_none_or(|merge| {
            (merge.parent.looked.difference.value > 0.0) == (looked.difference.value > 0.0)
        });
        search.stage = SearchStage::Between;
        if !looked.is_certain || !is_same_way {
            search.give_up(
                SearchStage::NoDifference,
                UnsearchedBranch::NoDifference {
                    ends: labels,
                    looked: Box::new(looked),
                },
            );
        }
        Ok(RunEnd::Complete)
    }

    /// Measures the most informative instance of all searches that are between their ends; on a cluster with others
    /// of the same search.
    fn go_between(
        &mut self,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
    ) -> Result<RunEnd, RunError> {
        let mut is_any_left = false;
        for search in &mut self.cases {
            if search.stage != SearchStage::Between {
                continue;
            }
            if search.is_found(self.options.confidence) {
                search.stage = SearchStage::Parent;
            } else if search.between >= self.options.budget {
                search.stage = SearchStage::OutOfBudget;
            } else {
                is_any_left = true;
            }
        }
        if !is_any_left {
            return Ok(RunEnd::Complete);
        }
        let open = |it: &&CaseSearch| it.stage == SearchStage::Between;
        // A resumed search goes where it went before.
        let stored = self.visits.next_stored();
        let fits = stored.first().is_some_and(|first| {
            let mut cases = self.cases.iter().filter(open);
            cases.any(|search| {
                let is_of = |step: &VisitStep| {
                    search.case == step.case && search.line.contains(&step.variant)
                };
                search.case == first.case && stored.iter().all(is_of)
            })
        });
        let best = || {
            let steps = self.cases.iter().filter(open);
            let steps = steps.map(|it| it.next_step(&self.visits));
            steps.max_by(|one, other| one.1.total_cmp(&other.1))
        };
        let steps = if fits {
            stored
        } else {
            let Some((next, _)) = best() else {
                return Ok(RunEnd::Complete);
            };
            let left = self.options.budget - self.cases[next.case].between;
            let width = if self.visits.share_environment() {
                1
            } else {
                self.width.min(left)
            };
            self.cases[next.case].with_others(next, width)
        };
        let next = steps[0];
        let begin = self.visits.instances();
        let search = &mut self.cases[next.case];
        let mut variants: Vec<usize> = steps.iter().map(|it| it.variant).collect();
        variants.sort_unstable();
        variants.dedup();
        let is_new = variants.iter().any(|it| search.is_new(*it));
        if self.visits.measure(measurement, &steps)? == RunEnd::Interrupted {
            return Ok(RunEnd::Interrupted);
        }
        search.between += steps.len();
        search.learn(&variants, begin, &self.visits);
        let search = &self.cases[next.case];
        let commits = variants.iter().map(|variant| {
            let is_broken = search.broken.contains_key(variant);
            (self.visits.label(*variant), !is_broken)
        });
        let step = SearchStep::Measured {
            commits: commits.collect(),
            is_new,
            suspect: self.visits.label(search.suspect()),
            probability: search.suspects().probability,
        };
        self.tell(next.case, step);
        Ok(RunEnd::Complete)
    }

    fn compare_with_parent(
        &mut self,
        case: usize,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
    ) -> Result<RunEnd, RunError> {
        let suspect = self.cases[case].suspect();
        let commits = [self.cases[case].parent_of_suspects(), suspect];
        let labels = commits.map(|commit| self.visits.label(commit));
        self.tell(case, SearchStep::Parent { commits: labels });
        let begin = self.visits.instances();
        // The search chose them by its own measurements, so only fresh ones count.
        let compared = match self.compare(case, commits, measurement, |it| it.is_certain)? {
            ComparisonEnd::Interrupted => return Ok(RunEnd::Interrupted),
            ComparisonEnd::Broken(_) => None,
            ComparisonEnd::Compared(compared) => Some(compared),
        };
        let search = &mut self.cases[case];
        search.parent = compared;
        search.confirmations += 1;
        search.learn(&commits, begin, &self.visits);
        search.stage = SearchStage::Found;
        let is_certain = compared.is_some_and(|compared| {
            let looked = compared.looked;
            let ends = search.ends.map(|ends| ends.looked.difference.value > 0.0);
            looked.is_certain && ends == Some(looked.difference.value > 0.0)
        });
        let is_other = search.suspect() != suspect || !search.is_found(self.options.confidence);
        if let Some(parent) = compared.filter(|_| is_certain) {
            let merge = FoundMerge {
                variant: suspect,
                parent,
            };
            return self.descend(case, merge, measurement);
        }
        if is_other && search.confirmations < CONFIRMATIONS {
            search.stage = SearchStage::Between;
            self.tell(case, SearchStep::SearchesOn);
        }
        Ok(RunEnd::Complete)
    }

    /// Goes on in the branch that a commit merged, if it is a merge.
    fn descend(
        &mut self,
        case: usize,
        merge: FoundMerge,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
    ) -> Result<RunEnd, RunError> {
        let suspects = self.cases[case].suspects();
        let planned = self.visits.plan.variants[merge.variant].commit.as_ref();
        let (Some(planned), true) = (planned, suspects.first == suspects.last) else {
            return Ok(RunEnd::Complete);
        };
        let are_built = self.visits.plan.build.is_some();
        let repository = Path::new(&planned.repository);
        let merged = merged_commits(repository, planned.hash(), are_built);
        let merged: Vec<PlannedCommit> = merged.unwrap_or_default();
        if merged.is_empty() {
            return Ok(RunEnd::Complete);
        }
        let step = SearchStep::Merge {
            merge: self.visits.label(merge.variant),
            commits: merged.len() - 1,
        };
        self.tell(case, step);
        let line = self.visits.add_commits(merged, measurement)?;
        self.cases[case].descend(merge, line);
        Ok(RunEnd::Complete)
    }

    fn compare(
        &mut self,
        case: usize,
        commits: [usize; 2],
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        is_enough: impl Fn(&LookedDifference) -> bool,
    ) -> Result<ComparisonEnd, RunError> {
        let comparison = SideComparison {
            case: self.cases[case].case,
            commits,
            baseline: None,
            history: Vec::new(),
            most: self.options.instances,
            alpha: 1.0 - self.options.confidence,
        };
        comparison.measure(&mut self.visits, measurement, is_enough)
    }

    fn tell(&self, case: usize, step: SearchStep) {
        self.visits.tell(Some(self.cases[case].case), step);
    }
}
