//! The search: of several benchmarks in one session, each along a line of commits and into the branches of found merges.

use std::path::Path;

use lapwing_stats::{SearchLimits, SearchStage, as_f64, half_even};
use serde::{Deserialize, Serialize};

use super::SearchStep;
use super::case_search::CaseSearch;
use super::visits::{CommitVisits, VisitStep};
use crate::repository::changed_lines::changed_lines;
use crate::session::OpenMeasurement;
use crate::suite::PlannedCommit;
use crate::{RunEnd, RunError, merged_commits};

/// The options of a search, as its session keeps them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchOptions {
    /// The metric to search by.
    pub metric: String,
    /// The most instances of each side in a comparison.
    pub instances: usize,
    /// The most instances of a benchmark along a line of commits.
    pub budget: usize,
    /// The probability at which a commit is named.
    pub confidence: f64,
    /// The command that installs a commit.
    #[serde(default)]
    pub install: Option<String>,
    /// What is taken to be likely before anything is measured.
    #[serde(default)]
    pub prior: SearchPrior,
}

/// What a search takes to be likely before anything is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchPrior {
    /// All commits alike.
    Even,
    /// Commits that changed more lines of code more, with half of the probability; the other half is even.
    #[default]
    Lines,
}

/// More lines than these count as many: a file of data says little.
const MOST_LINES: f64 = 1_000.0;

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
        let mut search = Self {
            cases: Vec::new(),
            visits,
            options,
            width,
        };
        let line: Vec<usize> = (0..search.visits.plan.variants.len()).collect();
        let cases = 0..search.visits.plan.cases.len();
        let limits = search.limits();
        let likely = search.likely(&line);
        let cases = cases.map(|it| CaseSearch::new(it, line.clone(), &likely, limits));
        search.cases = cases.collect();
        search
    }

    /// Returns how likely the commits of a line are before anything is measured.
    fn likely(&self, line: &[usize]) -> Vec<f64> {
        let commits = line
            .iter()
            .map(|it| self.visits.plan.variants[*it].commit.as_ref());
        let commits: Option<Vec<&PlannedCommit>> = commits.collect();
        let (Some(commits), SearchPrior::Lines) = (commits, self.options.prior) else {
            return vec![1.0; line.len()];
        };
        let [first, .., last] = commits.as_slice() else {
            return vec![1.0; line.len()];
        };
        let changed = changed_lines(Path::new(&first.repository), first.hash(), last.hash());
        let lines = commits.iter().map(|commit| {
            let lines = changed.get(commit.hash()).copied().unwrap_or_default();
            usize::try_from(lines).map_or(MOST_LINES, |it| as_f64(it).min(MOST_LINES))
        });
        half_even(&lines.collect::<Vec<_>>())
    }

    fn limits(&self) -> SearchLimits {
        SearchLimits {
            confidence: self.options.confidence,
            most_pairs: self.options.instances,
            most: self.options.budget,
            is_dear: self.visits.share_environment(),
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
        let mut told = vec![None; self.cases.len()];
        while let Some((case, steps)) = self.next() {
            let stage = self.cases[case].line().search.stage();
            if told[case] != Some(stage) {
                told[case] = Some(stage);
                self.tell_of(case, stage);
            }
            let begin = self.visits.instances();
            let compared = self.cases[case].line().search.compared();
            let is_new = steps.iter().any(|it| !self.visits.has_measured(*it));
            if self.visits.measure(measurement, &steps)? == RunEnd::Interrupted {
                return Ok(RunEnd::Interrupted);
            }
            self.cases[case].learn(begin, &self.visits);
            let search = &self.cases[case].line().search;
            let is_comparing = stage != SearchStage::Between;
            if let Some(difference) = search
                .compared()
                .filter(|it| is_comparing && Some(*it) != compared)
            {
                let is_last = search.stage() != stage;
                self.tell(
                    case,
                    SearchStep::Compared {
                        difference,
                        is_last,
                    },
                );
            }
            match (stage, search.stage()) {
                (SearchStage::Between, _) => self.tell_measured(case, &steps, is_new),
                (SearchStage::Parent(_), SearchStage::Between) => {
                    self.tell(case, SearchStep::SearchesOn);
                }
                (SearchStage::Parent(_), SearchStage::Ends(_)) => {
                    self.tell(case, SearchStep::SearchesRest);
                }
                _ => {}
            }
            if self.cases[case].line().is_over() {
                self.search_branches(case, measurement)?;
            }
        }
        Ok(RunEnd::Complete)
    }

    /// Returns what is measured next: the comparison of a benchmark that is compared, or the most informative instance of
    /// all benchmarks, on a cluster with others of the same one.
    fn next(&self) -> Option<(usize, Vec<VisitStep>)> {
        let open = self.cases.iter().filter(|it| !it.line().is_over());
        let is_comparing = |it: &&CaseSearch| it.line().search.stage() != SearchStage::Between;
        let width = if self.visits.share_environment() {
            1
        } else {
            self.width
        };
        let next = |case: &CaseSearch| {
            let line = case.line();
            let cost = |at: usize| self.visits.cost(line.commits[at]);
            let next = line.search.next(cost, width);
            (case.case, case.steps(&next.commits), next.rate)
        };
        let compared = open.clone().find(is_comparing);
        // A resumed search goes where it went before.
        let stored = self.visits.next_stored();
        let mut repeated = open.clone().filter(|case| {
            let is_of = |step: &VisitStep| {
                case.case == step.case && case.line().commits.contains(&step.variant)
            };
            !stored.is_empty() && stored.iter().all(is_of)
        });
        match (compared, repeated.next()) {
            (Some(case), _) => Some(next(case)),
            (None, Some(case)) => Some((case.case, stored, 0.0)),
            (None, None) => {
                let steps = open.map(next);
                steps.max_by(|one, other| one.2.total_cmp(&other.2))
            }
        }
        .map(|(case, steps, _)| (case, steps))
    }

    /// Adds the commits that a found merge brought, if it is one and that is not known yet.
    fn search_branches(
        &mut self,
        case: usize,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
    ) -> Result<(), RunError> {
        while let Some((variant, is_up)) = self.cases[case].next_to_examine() {
            let Some(planned) = &self.visits.plan.variants[variant].commit else {
                continue;
            };
            let are_built = self.visits.plan.build.is_some();
            let repository = Path::new(&planned.repository);
            let merged = merged_commits(repository, planned.hash(), are_built);
            let merged: Vec<PlannedCommit> = merged.unwrap_or_default();
            if merged.len() < 2 {
                continue;
            }
            let step = SearchStep::Merge {
                merge: self.visits.label(variant),
                commits: merged.len() - 1,
            };
            self.tell(case, step);
            let line = self.visits.add_commits(merged, measurement)?;
            let (limits, likely) = (self.limits(), self.likely(&line));
            self.cases[case].add_line(line, Some((variant, is_up)), &likely, limits);
            return Ok(());
        }
        Ok(())
    }

    fn tell_of(&self, case: usize, stage: SearchStage) {
        let line = self.cases[case].line();
        let labels = |sides: [usize; 2]| sides.map(|at| self.visits.label(line.commits[at]));
        match stage {
            SearchStage::Ends(sides) => {
                let step = SearchStep::Ends {
                    ends: labels(sides),
                    later: sides[1] - sides[0],
                };
                self.tell(case, step);
            }
            SearchStage::Parent(sides) => {
                let commits = labels(sides);
                self.tell(case, SearchStep::Parent { commits });
            }
            SearchStage::Between | SearchStage::Ended(_) => {}
        }
    }

    fn tell_measured(&self, case: usize, steps: &[VisitStep], is_new: bool) {
        let searched = &self.cases[case];
        let line = searched.line();
        let Some(suspect) = line.search.suspect() else {
            return;
        };
        let mut variants: Vec<usize> = steps.iter().map(|it| it.variant).collect();
        variants.sort_unstable();
        variants.dedup();
        let commits = variants.iter().map(|variant| {
            let is_broken = searched.broken.contains_key(variant);
            (self.visits.label(*variant), !is_broken)
        });
        let step = SearchStep::Measured {
            commits: commits.collect(),
            is_new,
            suspect: self.visits.label(line.commits[suspect.last]),
            probability: suspect.probability,
        };
        self.tell(case, step);
    }

    fn tell(&self, case: usize, step: SearchStep) {
        self.visits.tell(Some(self.cases[case].case), step);
    }
}
