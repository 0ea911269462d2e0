//! The search: the ends first, then the commits between them, and at last the commit and its parent; of several
//! benchmarks in one session.

use std::path::Path;

use lapwing_measure::suite::PlannedCommit;
use lapwing_measure::{RunEnd, RunError, merged_commits};
use lapwing_model::text::counted;
use serde::{Deserialize, Serialize};

use super::case_search::{CaseSearch, FoundMerge, SearchStage};
use super::comparison::{CommitComparison, ComparisonEnd, SideComparison};
use super::visits::{CommitVisits, VisitStep};
use lapwing_measure::session::OpenMeasurement;
use lapwing_show::percent;

/// The most comparisons of commits with their parents along one line.
const CONFIRMATIONS: usize = 3;
/// How many standard errors apart the ends are measured, so that the search knows both levels well enough.
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
pub struct CommitSearch<'a> {
    pub visits: CommitVisits<'a>,
    pub cases: Vec<CaseSearch>,
    options: SearchOptions,
    /// How many instances are measured at the same time.
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
        self.visits.say(&format!(
            "{}comparing {} with {}, {} later",
            self.prefix(case),
            self.visits.label(commits[0]),
            self.visits.label(commits[1]),
            counted(self.cases[case].line.len() - 1, "commit")
        ));
        let begin = self.visits.instances();
        let is_far = |it: &CommitComparison| it.is_certain && it.standard_errors() >= APART;
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
                    format!("{label}, an end of its branch, cannot be measured"),
                );
                return Ok(RunEnd::Complete);
            }
            ComparisonEnd::Compared(compared) => compared,
        };
        let search = &mut self.cases[case];
        search.ends = Some(compared);
        search.learn(&commits, begin, &self.visits);
        // A branch whose change is the other way did not bring that of its merge.
        let is_same_way = search.merges.last().is_none_or(|merge| {
            (merge.parent.difference.value > 0.0) == (compared.difference.value > 0.0)
        });
        search.stage = SearchStage::Between;
        if !compared.is_certain || !is_same_way {
            let labels = commits.map(|it| self.visits.label(it));
            search.give_up(
                SearchStage::NoDifference,
                format!(
                    "its branch, from {} to {}, does not show the difference by {}: {}",
                    labels[0],
                    labels[1],
                    compared.instances_text(),
                    compared.text()
                ),
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
            cases.any(|it| {
                let is_its =
                    |step: &VisitStep| it.case == step.case && it.line.contains(&step.variant);
                it.case == first.case && stored.iter().all(is_its)
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
        if is_new || self.visits.is_verbose() {
            let broken = &self.cases[next.case].broken;
            let labels = variants.iter().map(|it| {
                let label = self.visits.label(*it);
                match broken.get(it) {
                    Some(_) => format!("{label} cannot be measured"),
                    None => label,
                }
            });
            self.visits.say(&format!(
                "{}{}; most likely {} ({})",
                self.prefix(next.case),
                labels.collect::<Vec<_>>().join(", "),
                self.visits.label(self.cases[next.case].suspect()),
                percent(self.cases[next.case].suspects().probability)
            ));
        }
        Ok(RunEnd::Complete)
    }

    fn compare_with_parent(
        &mut self,
        case: usize,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
    ) -> Result<RunEnd, RunError> {
        let found = self.cases[case].suspect();
        let commits = [self.cases[case].parent_of_suspects(), found];
        self.visits.say(&format!(
            "{}comparing {} with {}",
            self.prefix(case),
            self.visits.label(commits[0]),
            self.visits.label(found)
        ));
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
        let is_certain = compared.is_some_and(|it| {
            let ends = search.ends.map(|ends| ends.difference.value > 0.0);
            it.is_certain && ends == Some(it.difference.value > 0.0)
        });
        let is_other = search.suspect() != found || !search.is_found(self.options.confidence);
        if let Some(parent) = compared.filter(|_| is_certain) {
            return self.descend(
                case,
                FoundMerge {
                    variant: found,
                    parent,
                },
                measurement,
            );
        }
        if is_other && search.confirmations < CONFIRMATIONS {
            search.stage = SearchStage::Between;
            self.visits.say(&format!(
                "{}they do not differ as the ends do: searching on",
                self.prefix(case)
            ));
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
        let label = self.visits.label(merge.variant);
        self.visits.say(&format!(
            "{}{label} is a merge: searching the {} that it brought",
            self.prefix(case),
            counted(merged.len() - 1, "commit")
        ));
        let line = self.visits.add_commits(merged, measurement)?;
        self.cases[case].descend(merge, line);
        Ok(RunEnd::Complete)
    }

    fn compare(
        &mut self,
        case: usize,
        commits: [usize; 2],
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        is_enough: impl Fn(&CommitComparison) -> bool,
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

    /// Returns the name of a benchmark with a colon, where there are several.
    fn prefix(&self, case: usize) -> String {
        match self.cases.len() {
            1 => String::new(),
            _ => format!("{}: ", self.visits.plan.cases[case].benchmark.id),
        }
    }
}
