//! Visits to commits: each is checked out, built and installed as needed, and measured; what a resumed session has
//! already is taken from there.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use lapwing_model::Run as SessionRun;

use super::instances::{MeasuredInstance, SharedInstances, StoredInstance};
use super::{SearchNews, SearchStep};
use crate::execution::kept::brief;
use crate::session::{BuildResult, OpenMeasurement};
use crate::suite::{Plan, PlannedCommit, Variant};
use crate::{FixedSchedule, InstancePlan, RunEnd, RunError};

/// The measurements that a resumed session starts with.
#[derive(Debug, Default)]
pub struct StoredMeasurements {
    /// Its instances, in the order of their measurement.
    pub(super) instances: VecDeque<StoredInstance>,
    /// Its runs.
    pub(super) runs: Vec<SessionRun>,
    /// The next free position, after those of lost instances too.
    pub(super) position: u32,
    /// The next free block.
    pub(super) block: u32,
}

/// A benchmark at a commit, by their positions in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisitStep {
    /// The position of the benchmark.
    pub case: usize,
    /// The position of the commit.
    pub variant: usize,
}

/// The way in which commits get ready.
#[derive(Debug, Clone, Default)]
pub struct CommitReadiness {
    /// The command that installs a commit whenever it changes, because all commits share one environment.
    pub install: Option<String>,
    /// The top folder of the working tree, if that is measured too.
    pub working_tree: Option<PathBuf>,
}

/// The times that getting ready took, in seconds.
#[derive(Debug, Default)]
struct MeanTime {
    seconds: f64,
    count: usize,
}

impl MeanTime {
    fn add(&mut self, since: Instant) {
        self.seconds += since.elapsed().as_secs_f64();
        self.count += 1;
    }

    fn mean(&self) -> f64 {
        self.seconds / lapwing_stats::as_f64(self.count.max(1))
    }
}

/// The visits to the commits of a session.
pub struct CommitVisits<'a> {
    /// The session's plan, with the commits that were added since.
    pub plan: Plan,
    news: &'a dyn Fn(SearchNews),
    readiness: CommitReadiness,
    measured: SharedInstances,
    stored: StoredMeasurements,
    position: u32,
    block: u32,
    prepared: Vec<usize>,
    /// The commit that is installed.
    installed: Option<usize>,
    /// Why the working tree cannot be built.
    unbuilt: Option<String>,
    building: MeanTime,
    installing: MeanTime,
    measuring: MeanTime,
}

impl fmt::Debug for CommitVisits<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("CommitVisits");
        text.field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl<'a> CommitVisits<'a> {
    /// Returns the visits to the commits of a plan, whose `measured` instances its watch collects; `news` receives
    /// what is going on.
    pub fn new(
        plan: Plan,
        readiness: CommitReadiness,
        measured: SharedInstances,
        stored: StoredMeasurements,
        news: &'a dyn Fn(SearchNews),
    ) -> Self {
        Self {
            plan,
            news,
            readiness,
            measured,
            position: stored.position,
            block: stored.block,
            stored,
            prepared: Vec::new(),
            installed: None,
            unbuilt: None,
            building: MeanTime::default(),
            installing: MeanTime::default(),
            measuring: MeanTime::default(),
        }
    }

    /// Returns the number of instances that were measured.
    pub fn instances(&self) -> usize {
        self.measured.borrow().len()
    }

    /// Returns the number of commits that were visited.
    pub fn visited(&self) -> usize {
        let measured = self.measured.borrow();
        let variants: BTreeSet<usize> = measured.iter().map(|it| it.variant).collect();
        variants.len()
    }

    /// Returns what was measured since so many instances.
    pub(super) fn measured_since(&self, begin: usize) -> Vec<MeasuredInstance> {
        self.measured.borrow()[begin..].to_vec()
    }

    /// Returns whether a benchmark was measured at a commit, successfully or not.
    pub(super) fn has_measured(&self, step: VisitStep) -> bool {
        self.of_step(0, step).next().is_some()
    }

    /// Returns the means of a benchmark at a commit, both by their positions in the plan.
    pub fn means(&self, case: usize, variant: usize) -> Vec<f64> {
        let measured = self.of_step(0, VisitStep { case, variant });
        measured.filter_map(|it| it.mean).collect()
    }

    /// Returns the logarithms of the means of a benchmark at a commit, since so many instances.
    pub(super) fn logs_since(&self, begin: usize, step: VisitStep) -> Vec<f64> {
        self.of_step(begin, step)
            .filter_map(|it| it.mean.filter(|mean| *mean > 0.0))
            .map(f64::ln)
            .collect()
    }

    fn of_step(&self, begin: usize, step: VisitStep) -> impl Iterator<Item = MeasuredInstance> {
        let measured = self.measured.borrow()[begin..].to_vec();
        measured
            .into_iter()
            .filter(move |it| (it.case, it.variant) == (step.case, step.variant))
    }

    /// Returns why a benchmark has no values at a commit.
    pub(super) fn failure_at(&self, step: VisitStep) -> String {
        self.of_step(0, step)
            .filter_map(|it| it.message)
            .last()
            .map(|it| brief(&it))
            .unwrap_or_else(|| "it gave no value above 0".to_owned())
    }

    /// Returns why a benchmark has no values at a commit, by their positions in the plan.
    pub fn failure(&self, case: usize, variant: usize) -> String {
        self.failure_at(VisitStep { case, variant })
    }

    /// Returns how many instances of a benchmark at a commit failed, wholly or in part, and how many there are.
    pub fn failures(&self, case: usize, variant: usize) -> [usize; 2] {
        let measured = || self.of_step(0, VisitStep { case, variant });
        let failed = measured().filter(|it| it.message.is_some()).count();
        [failed, measured().count()]
    }

    /// Returns whether commits share one environment, so that each visit to another one costs an installation.
    pub(super) fn share_environment(&self) -> bool {
        self.readiness.install.is_some() || !self.plan.interleave
    }

    /// Returns what it costs to go to a commit, in instances.
    pub(super) fn cost(&self, variant: usize) -> f64 {
        let mut seconds = 0.0;
        let is_other = self.share_environment() && self.installed != Some(variant);
        if !self.prepared.contains(&variant) || (is_other && !self.plan.interleave) {
            seconds += self.building.mean();
        }
        if is_other {
            seconds += self.installing.mean();
        }
        seconds / self.measuring.mean().max(1e-6)
    }

    /// Returns the stored instances that come next in a resumed session: those that were measured at the same time.
    pub(super) fn next_stored(&self) -> Vec<VisitStep> {
        let block = self.stored.instances.front().map(|it| it.block);
        let stored = self.stored.instances.iter();
        let next = stored.take_while(|it| Some(it.block) == block);
        next.map_while(|it| self.step_of(it)).collect()
    }

    fn step_of(&self, next: &StoredInstance) -> Option<VisitStep> {
        let has_commit = |it: &Variant| {
            let commit = it.commit.as_ref();
            commit.is_some_and(|commit| commit.hash() == next.commit)
        };
        let mut cases = self.plan.cases.iter();
        Some(VisitStep {
            case: cases.position(|it| it.benchmark.id == next.benchmark)?,
            variant: self.plan.variants.iter().position(has_commit)?,
        })
    }

    /// Returns the positions of commits in the plan, and adds those that it lacks.
    pub(super) fn add_commits(
        &mut self,
        commits: Vec<PlannedCommit>,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
    ) -> Result<Vec<usize>, RunError> {
        let before = self.plan.variants.len();
        let mut line = Vec::with_capacity(commits.len());
        for commit in commits {
            let mut known = self.plan.variants.iter();
            let hash = commit.hash();
            let known =
                known.position(|it| it.commit.as_ref().is_some_and(|known| known.hash() == hash));
            line.push(known.unwrap_or(self.plan.variants.len()));
            if known.is_none() {
                self.plan.variants.push(Variant {
                    commit: Some(commit),
                    ..self.plan.variants[0].clone()
                });
            }
        }
        measurement.add_variants(&self.plan.variants[before..], &self.stored.runs)?;
        Ok(line)
    }

    /// Measures these in this order.
    pub(super) fn measure(
        &mut self,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        steps: &[VisitStep],
    ) -> Result<RunEnd, RunError> {
        let mut left = Vec::with_capacity(steps.len());
        let mut expected = steps.len();
        for next in steps {
            // On a cluster, instances that were submitted together may end in any order, or be cancelled.
            let mut first = self.stored.instances.iter().take(expected);
            let at = first.position(|it| self.step_of(it) == Some(*next));
            expected -= usize::from(at.is_some());
            match at.and_then(|at| self.stored.instances.remove(at)) {
                Some(stored) => self.measured.borrow_mut().push(MeasuredInstance {
                    case: next.case,
                    variant: next.variant,
                    mean: stored.mean,
                    message: stored.message,
                }),
                None => left.push(*next),
            }
        }
        let steps = left.as_slice();
        if !steps.is_empty() && !self.stored.instances.is_empty() {
            (self.news)(SearchNews {
                benchmark: None,
                step: SearchStep::Unused {
                    instances: self.stored.instances.len(),
                },
            });
            self.stored.instances.clear();
        }
        // Where commits share an environment, one after another; else they are all made ready first.
        let together = |one: &VisitStep, other: &VisitStep| {
            !self.share_environment() || one.variant == other.variant
        };
        let visits: Vec<&[VisitStep]> = steps.chunk_by(together).collect();
        for visit in visits {
            for step in visit {
                if self.make_ready(measurement, step.variant)? == RunEnd::Interrupted {
                    return Ok(RunEnd::Interrupted);
                }
            }
            let mut schedule = self.schedule(visit);
            let begin = Instant::now();
            if measurement.visit_of(&self.plan, &mut schedule)? == RunEnd::Interrupted {
                return Ok(RunEnd::Interrupted);
            }
            self.measuring.add(begin);
            self.measuring.count += visit.len() - 1;
        }
        Ok(RunEnd::Complete)
    }

    /// Returns a schedule of steps; each block has a step at most once, so that two sides that are compared stand in it
    /// together.
    fn schedule(&mut self, steps: &[VisitStep]) -> FixedSchedule {
        let mut instances: Vec<InstancePlan> = Vec::with_capacity(steps.len());
        self.block += 1;
        let mut first = 0;
        for (at, step) in steps.iter().enumerate() {
            if steps[first..at].contains(step) {
                first = at;
                self.block += 1;
            }
            instances.push(InstancePlan {
                case: step.case,
                variant: step.variant,
                block: self.block - 1,
                position: self.position,
                attempt: 0,
            });
            self.position += 1;
        }
        FixedSchedule::of(instances)
    }

    /// Checks out, builds and installs a commit, as far as that is not done.
    fn make_ready(
        &mut self,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        variant: usize,
    ) -> Result<RunEnd, RunError> {
        let is_other = self.share_environment() && self.installed != Some(variant);
        let is_prepared = self.prepared.contains(&variant);
        let planned = &self.plan.variants[variant];
        if !is_prepared || (is_other && !self.plan.interleave) {
            let begin = Instant::now();
            let went_on = match (&planned.commit, &self.readiness.working_tree) {
                (Some(commit), _) => measurement.prepare(commit)?,
                (None, Some(folder)) => match measurement.build_working_tree(folder)? {
                    BuildResult::Well => true,
                    BuildResult::Badly(reason) => {
                        self.unbuilt = Some(reason);
                        true
                    }
                    BuildResult::Interrupted => false,
                },
                (None, None) => true,
            };
            if !went_on {
                return Ok(RunEnd::Interrupted);
            }
            self.building.add(begin);
            self.prepared.push(variant);
        }
        if let Some(install) = self.readiness.install.clone().filter(|_| is_other) {
            let begin = Instant::now();
            if !measurement.install(&self.plan.variants[variant], &install)? {
                return Ok(RunEnd::Interrupted);
            }
            self.installing.add(begin);
        }
        self.installed = Some(variant);
        Ok(RunEnd::Complete)
    }

    /// Builds the working tree; returns why that failed, if it did.
    ///
    /// # Errors
    /// If building cannot be tried.
    pub fn build_working_tree(
        &mut self,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        variant: usize,
    ) -> Result<(RunEnd, Option<String>), RunError> {
        let end = self.make_ready(measurement, variant)?;
        Ok((end, self.unbuilt.take()))
    }

    /// Tells what is going on, unless it went on before this process.
    pub(super) fn tell(&self, case: Option<usize>, step: SearchStep) {
        if self.stored.instances.is_empty() {
            let case = case.filter(|_| self.plan.cases.len() > 1);
            (self.news)(SearchNews {
                benchmark: case.map(|case| self.plan.cases[case].benchmark.id.clone()),
                step,
            });
        }
    }

    /// Returns the short hash of a commit, with its name if it has one.
    pub fn label(&self, variant: usize) -> String {
        let Some(planned) = &self.plan.variants[variant].commit else {
            return "the working tree".to_owned();
        };
        let hash: String = planned.hash().chars().take(10).collect();
        match &planned.version.name {
            Some(name) => format!("{hash} ({name})"),
            None => hash,
        }
    }
}
