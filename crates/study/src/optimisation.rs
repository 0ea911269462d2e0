//! The search for a good configuration, round by round, and the final comparison of it with the base.
//!
//! It measures nothing itself: [`StudyOptimisation::next_step`] and [`StudyOptimisation::confirmation_round`] return
//! designs to measure, given the results in the store.

use std::cell::Cell;
use std::collections::BTreeSet;

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::sample::SampleFilter;
use lapwing_model::Level;
use lapwing_record::{InstanceData, Store};
use lapwing_stats::design::DesignSpaceError;
use lapwing_stats::{Confidence, Ratio, ratio_of_means};
use serde::Serialize;

use crate::data::StudyData;
use crate::design::{
    DesignKind, DesignRequest, MeasuredSettings, PlannedFactor, SettingSummary, StudyConfiguration,
    StudyDesign, StudyDesignError, StudySearch,
};
use crate::read::StudyReadError;
use crate::rounds::{CHECK, CONFIRMATION, ROUND_PURPOSE, SEARCH};
use crate::scale::{StudyMetric, StudyScale};

/// A model that expects nothing more is checked by a round of one random configuration per so many measured ones.
const CHECKED_SHARE: usize = 4;

/// Limits of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptimisationRules {
    /// Maximum number of instances before the final comparison, earlier ones included.
    pub runs: usize,
    /// Configurations per round after the first ones.
    pub batch: usize,
    /// Instances of the best configuration and of the base in the final comparison.
    pub confirmations: usize,
    /// Seed of the order of measuring.
    pub seed: u64,
}

/// Reason for the end of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimisationEnd {
    /// No configuration is expected to be better, and a round of random ones has not changed that.
    NoImprovement,
    /// The number of runs is reached.
    Runs,
    /// The time is over.
    Budget,
    /// Every feasible configuration was measured.
    Exhausted,
}

/// The measurements of a search in the store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptimisationState {
    /// The measured configurations, and those that failed.
    pub measured: MeasuredSettings,
    /// The metric, if there are values.
    pub metric: Option<StudyMetric>,
    /// The number of instances and failed configurations of the search, without the final comparison.
    pub runs: usize,
    /// The latest round was of random configurations, as a check of the model.
    pub is_checked: bool,
}

/// Next step of a search.
#[derive(Debug)]
pub enum OptimisationStep {
    /// Measure this design, for this purpose.
    Measure(Box<StudyDesign>, &'static str),
    /// The search is over.
    End(OptimisationEnd),
}

/// Reason why a search cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum OptimisationError {
    /// The results cannot be read.
    #[error(transparent)]
    Read(#[from] StudyReadError),
    /// Failed configurations leave nothing.
    #[error(transparent)]
    Space(#[from] DesignSpaceError),
    /// A round has no design.
    #[error(transparent)]
    Design(#[from] StudyDesignError),
}

/// The best configuration, and its final comparison with the base.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimisationResult {
    /// The factors.
    pub factors: Vec<PlannedFactor>,
    /// The measurements.
    pub state: OptimisationState,
    /// The metric.
    pub metric: StudyMetric,
    /// The best configuration, which was compared with the base.
    pub best: StudyConfiguration,
    /// The measured configurations, the one with the lowest expected response first.
    pub summaries: Vec<SettingSummary>,
    /// The number of instances of the base and of the best configuration in the final comparison.
    pub compared: [usize; 2],
    /// best / base in the final comparison.
    pub ratio: Option<Ratio>,
}

impl OptimisationResult {
    /// Returns the name of a configuration.
    pub fn name(&self, run: &[usize]) -> String {
        StudyConfiguration::new(&self.factors, run).name
    }
}

/// A search for a good configuration of a benchmark.
#[derive(Debug)]
pub struct StudyOptimisation {
    /// The name of the suite, and its file.
    pub suite: [String; 2],
    /// The id of the benchmark.
    pub benchmark: String,
    /// The search among the configurations.
    pub search: StudySearch,
    /// Its limits.
    pub rules: OptimisationRules,
    /// The instances that count.
    pub filter: SampleFilter,
    /// The rules of cleaning.
    pub cleaning: CleaningRules,
    /// Its progress.
    pub progress: OptimisationProgress,
}

/// What a search has done.
#[derive(Debug, Default)]
pub struct OptimisationProgress {
    /// Configurations that could not be measured at all.
    lost: Vec<Vec<usize>>,
    /// The configurations of the latest round, and the number of instances of each before it.
    latest: Vec<(Vec<usize>, usize)>,
    /// The best configuration at the end of the search, which the final comparison is about.
    best: Option<SettingSummary>,
}

impl StudyOptimisation {
    /// Returns the next step, given what was measured until now; `is_late` says whether so many more instances, the
    /// final comparison included, would take too long.
    ///
    /// # Errors
    /// When failed configurations leave nothing.
    pub fn next_step(
        &mut self,
        state: &mut OptimisationState,
        is_late: impl Fn(usize) -> bool,
    ) -> Result<OptimisationStep, OptimisationError> {
        if !self.progress.latest.is_empty()
            && state.metric.is_none()
            && state.measured.failed.is_empty()
        {
            // No configuration has a usable value.
            return Ok(OptimisationStep::End(OptimisationEnd::Exhausted));
        }
        self.count_lost(state);
        let left = self.rules.runs.saturating_sub(state.runs);
        if left == 0 {
            return Ok(OptimisationStep::End(OptimisationEnd::Runs));
        }
        let first = self.search.first_runs;
        let first = first.saturating_sub(state.measured.tried());
        let count = first.max(self.rules.batch).min(left);
        if is_late(count + 2 * self.rules.confirmations) {
            return Ok(OptimisationStep::End(OptimisationEnd::Budget));
        }
        let Some(step) = self.search.next(&state.measured, count)? else {
            return Ok(OptimisationStep::End(OptimisationEnd::Exhausted));
        };
        let base = vec![0; self.search.factors.len()];
        let has_base = !state.measured.of_run(&base).is_empty();
        let is_base_open = !has_base && !state.measured.failed.contains(&base);
        let proposed = step.proposed.into_iter().map(|proposed| proposed.run);
        let (mut purpose, mut proposed) = (SEARCH, proposed.collect::<Vec<_>>());
        if step.is_done && !is_base_open {
            // A model that expects nothing more may be wrong: random configurations say so.
            let checked = count.max(state.measured.tried() / CHECKED_SHARE).min(left);
            let random = self.search.random(&state.measured, checked)?;
            if state.is_checked || random.is_empty() {
                return Ok(OptimisationStep::End(OptimisationEnd::NoImprovement));
            }
            (purpose, proposed) = (CHECK, random);
        }
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for run in is_base_open.then_some(base).into_iter().chain(proposed) {
            if (runs.len() < count || purpose == CHECK) && !runs.contains(&run) {
                runs.push(run);
            }
        }
        let known = |run: &Vec<usize>| (run.clone(), state.measured.of_run(run).len());
        self.progress.latest = runs.iter().map(known).collect();
        let design = self.design(runs, 1, state.runs)?;
        Ok(OptimisationStep::Measure(Box::new(design), purpose))
    }

    /// Counts the configurations of the latest round that left neither a value nor a failure as failed.
    fn count_lost(&mut self, state: &mut OptimisationState) {
        for (run, before) in self.progress.latest.drain(..) {
            let is_new = state.measured.of_run(&run).len() > before;
            if !is_new && state.measured.failed.insert(run.clone()) {
                state.runs += 1;
                self.progress.lost.push(run);
            }
        }
    }

    /// Returns the rest of the final comparison: the base and the best configuration, alternately. `None` if it is
    /// complete, or the base is the best one.
    ///
    /// # Errors
    /// When the results cannot be read.
    pub fn confirmation_round(
        &mut self,
        store: Option<&Store>,
    ) -> Result<Option<StudyDesign>, OptimisationError> {
        let state = self.state(store)?;
        self.progress.best = self.search.summaries(&state.measured).into_iter().next();
        let best = self
            .progress
            .best
            .as_ref()
            .map(|summary| summary.run.clone());
        let Some(best) = best.filter(|run| run.iter().any(|level| *level > 0)) else {
            return Ok(None);
        };
        let compared = self.compared(&best, store)?;
        let fewest = compared.iter().map(Vec::len).min().unwrap_or(0);
        let more = self.rules.confirmations.saturating_sub(fewest);
        if more == 0 {
            return Ok(None);
        }
        let runs = vec![vec![0; best.len()], best];
        let replicates = u32::try_from(more).unwrap_or(1);
        Ok(Some(self.design(runs, replicates, fewest)?))
    }

    fn design(
        &self,
        runs: Vec<Vec<usize>>,
        replicates: u32,
        measured: usize,
    ) -> Result<StudyDesign, StudyDesignError> {
        let request = DesignRequest {
            kind: Some(DesignKind::List),
            listed: runs,
            replicates,
            // Another order in each round.
            seed: self.rules.seed.wrapping_add(measured as u64),
            ..DesignRequest::default()
        };
        let [suite, file] = &self.suite;
        StudyDesign::new((suite, file), self.search.factors.clone(), &request)
    }

    /// Reads what was measured until now; nothing without a store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn state(&self, store: Option<&Store>) -> Result<OptimisationState, StudyReadError> {
        let latest = Cell::new(None);
        let data = self.read(store, |instance| {
            let started = Some(instance.session.started);
            if !is_confirmation(instance) && latest.get().is_none_or(|(own, _)| own <= started) {
                latest.set(Some((started, is_round(instance, CHECK))));
            }
            true
        })?;
        let mut measured = data.as_ref().map_or_else(Default::default, |data| {
            MeasuredSettings::of(data, &self.search.factors)
        });
        measured.failed.extend(self.progress.lost.iter().cloned());
        let compared = self.read(store, is_confirmation)?;
        let compared = compared.map_or(0, |data| data.instances.len());
        Ok(OptimisationState {
            runs: measured.attempts().saturating_sub(compared),
            measured,
            metric: data.map(|data| data.metric),
            is_checked: latest.get().is_some_and(|(_, is_check)| is_check),
        })
    }

    /// Returns the result of the search; `None` if no configuration has a usable value.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn result(
        &self,
        store: Option<&Store>,
    ) -> Result<Option<OptimisationResult>, StudyReadError> {
        let state = self.state(store)?;
        let (Some(best), Some(metric)) = (&self.progress.best, &state.metric) else {
            return Ok(None);
        };
        let responses = self.compared(&best.run, store)?;
        let [base, best_costs] = responses.each_ref().map(|responses| {
            let logarithms = responses.iter();
            let costs = logarithms.map(|response| metric.response_logarithm(*response).exp());
            costs.collect::<Vec<f64>>()
        });
        Ok(Some(OptimisationResult {
            ratio: ratio_of_means(&base, &best_costs, Confidence::P95),
            compared: [base.len(), best_costs.len()],
            best: StudyConfiguration::new(&self.search.factors, &best.run),
            summaries: self.search.summaries(&state.measured),
            factors: self.search.factors.clone(),
            metric: metric.clone(),
            state,
        }))
    }

    /// Reads the responses of the final comparison: of the base, and of the best configuration.
    fn compared(
        &self,
        best: &[usize],
        store: Option<&Store>,
    ) -> Result<[Vec<f64>; 2], StudyReadError> {
        let mut sides = [Vec::new(), Vec::new()];
        let Some(data) = self.read(store, is_confirmation)? else {
            return Ok(sides);
        };
        let sessions: BTreeSet<usize> = data.instances.iter().map(|it| it.session).collect();
        for session in sessions {
            let instances = data.instances.iter().filter(|it| it.session == session);
            let part = StudyData {
                instances: instances.cloned().collect(),
                ..data.clone()
            };
            // Other sessions compared the base with another configuration.
            let measured = MeasuredSettings::of(&part, &self.search.factors);
            let of_best = measured.of_run(best);
            if !of_best.is_empty() {
                sides[0].extend(measured.of_run(&vec![0; best.len()]));
                sides[1].extend(of_best);
            }
        }
        Ok(sides)
    }

    /// Reads the instances with the factors of the suite as they are now.
    fn read(
        &self,
        store: Option<&Store>,
        is_wanted: impl Fn(&InstanceData) -> bool,
    ) -> Result<Option<StudyData>, StudyReadError> {
        let is_current = |instance: &InstanceData| {
            self.search.factors.iter().all(|factor| {
                let known = instance.run.definitions.get(&factor.name);
                let is_absent = instance.run.factors.get(&factor.name) == Some(&Level::Bool(false));
                is_absent || known.is_none_or(|definition| *definition == factor.definition)
            })
        };
        let benchmark = (self.suite[0].as_str(), self.benchmark.as_str());
        StudyData::read_instances(store, &self.filter, benchmark, &self.cleaning, |instance| {
            is_current(instance) && is_wanted(instance)
        })
    }
}

fn is_confirmation(instance: &InstanceData) -> bool {
    is_round(instance, CONFIRMATION)
}

/// Returns whether an instance was measured in a round of this purpose.
pub fn is_round(instance: &InstanceData, purpose: &str) -> bool {
    let design = instance.session.attributes.get(StudyDesign::ATTRIBUTE);
    design.is_some_and(|design| design[ROUND_PURPOSE] == purpose)
}

impl StudyMetric {
    /// Returns the logarithm of the cost that has a response of [`MeasuredSettings`].
    pub fn response_logarithm(&self, response: f64) -> f64 {
        if self.is_gain(StudyScale::Log, -1.0) {
            response
        } else {
            -response
        }
    }
}
