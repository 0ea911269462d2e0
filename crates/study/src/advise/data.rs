//! The measurements of stacks: responses for the goal, and the number of failures of each stack.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::sample::{BenchmarkData, GroupBy, Sample, samples};
use lapwing_record::InstanceData;
use lapwing_stats::Interval;
use lapwing_stats::optimise::GoalRuns;

use super::evidence::StackChange;
use super::goal::{GoalError, GoalTerm, StackGoal, goals};
use super::package_version::version_order;
use super::reader::{
    StackReader, failed, hardware, hardware_of, has_packages, no_stacks, responses, stack_of,
};
use super::requirement::{PackagePin, PackageRequirement, package_name};
use crate::data::StudyError;
use crate::gather::only_metric;
use crate::note::DataNote;

/// A package of stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackFactor {
    /// Its name.
    pub name: String,
    /// Its versions, the oldest first.
    pub versions: Vec<String>,
}

/// The ends of the instances of a stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StackOutcome {
    /// Instances, of all benchmarks.
    pub attempts: usize,
    /// Those with a failed iteration, or without any.
    pub failures: usize,
}

/// The measurements of stacks.
#[derive(Debug, Clone, PartialEq)]
pub struct StackData {
    /// The packages.
    pub factors: Vec<StackFactor>,
    /// The models of processors, the one of the latest instance last.
    pub hardware: Vec<String>,
    /// The metrics of the goal.
    pub goals: Vec<StackGoal>,
    /// The benchmarks that count for the goal.
    pub benchmarks: Vec<String>,
    /// The responses of each of them: logarithms, the lower the better; each with the number of its hardware last.
    pub responses: Vec<GoalRuns>,
    /// The ends of the instances of each stack.
    pub outcomes: BTreeMap<Vec<usize>, StackOutcome>,
    /// Notes on the data.
    pub notes: Vec<DataNote>,
}

/// Why stacks cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StackDataError {
    /// The goal does not fit.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// No metric was named, and there is not exactly one.
    #[error(transparent)]
    Metric(#[from] StudyError),
    /// No run has the packages as factors.
    #[error("no run has {} as factors", if packages.is_empty() { "packages".to_owned() } else { packages.join(", ") })]
    NoStacks {
        /// The packages that were asked for.
        packages: Vec<String>,
    },
}

impl StackData {
    /// Gathers the runs of all benchmarks whose factors include all required packages; without requirements, all runs
    /// with factors.
    ///
    /// `more` are further stacks, such as those that could be measured: their versions become levels. Values are
    /// cleaned as for every other judgement, each setting for itself, and an instance counts once, by its mean.
    ///
    /// # Errors
    /// When no run has the packages as factors, or the goal has no values.
    pub fn of(
        benchmarks: &[BenchmarkData],
        terms: &[GoalTerm],
        required: &[PackageRequirement],
        more: &[Vec<PackagePin>],
        rules: &CleaningRules,
    ) -> Result<Self, StackDataError> {
        // What other studies in the store vary is no part of these stacks.
        let is_own = |data: &&BenchmarkData| {
            let mut instances = data.instances.iter();
            instances.any(|instance| has_packages(&instance.run, required))
        };
        let benchmarks: Vec<&BenchmarkData> = benchmarks.iter().filter(is_own).collect();
        if benchmarks.is_empty() {
            return Err(no_stacks(required));
        }
        let terms = match terms {
            [] => usual_terms(&benchmarks)?,
            terms => terms.to_vec(),
        };
        let goals = goals(&terms, &benchmarks)?;
        let is_goal = |data: &&&BenchmarkData| goals.iter().any(|goal| goal.is_of(data));
        let wanted = benchmarks.iter().filter(is_goal);
        let instances: Vec<&InstanceData> = wanted.flat_map(|data| &data.instances).collect();
        let reader = StackReader::new(&instances, required, more)?;
        let mut stacks = Self {
            factors: reader.factors(&instances),
            hardware: hardware(&instances),
            goals,
            benchmarks: Vec::new(),
            responses: Vec::new(),
            outcomes: BTreeMap::new(),
            notes: Vec::new(),
        };
        let (mut skipped, mut earlier) = (0, 0);
        for data in benchmarks {
            let samples = samples(data, GroupBy::Variant);
            earlier += samples.iter().map(|it| it.earlier_epoch).sum::<usize>();
            skipped += stacks.add(data, &samples, rules);
        }
        stacks.note(skipped, earlier);
        Ok(stacks)
    }

    /// Adds the settings of a benchmark, and returns how many of its instances are no stacks.
    fn add(
        &mut self,
        data: &BenchmarkData,
        samples: &[Sample<'_>],
        rules: &CleaningRules,
    ) -> usize {
        let goals = self.goals.iter().filter(|goal| goal.is_of(data));
        let goals: Vec<&StackGoal> = goals.collect();
        let weight: f64 = goals.iter().map(|goal| goal.weight.abs()).sum();
        let (mut runs, mut skipped) = (Vec::new(), 0);
        for sample in samples {
            let instances = sample.instances.iter();
            let stacks = instances.map(|instance| stack_of(&self.factors, &instance.run));
            let stacks: Vec<Option<Vec<usize>>> = stacks.collect();
            skipped += stacks.iter().filter(|stack| stack.is_none()).count();
            for (instance, stack) in sample.instances.iter().zip(&stacks) {
                if let (Some(stack), Some(failed)) = (stack, failed(instance)) {
                    let outcome = self.outcomes.entry(stack.clone()).or_default();
                    outcome.attempts += 1;
                    outcome.failures += usize::from(failed);
                }
            }
            for (position, response) in responses(sample, &goals, rules) {
                if let Some(mut run) = stacks[position].clone() {
                    run.push(hardware_of(sample.instances[position], &self.hardware));
                    runs.push((run, response / weight));
                }
            }
        }
        if weight > 0.0 {
            self.benchmarks.push(data.benchmark.id.clone());
            self.responses.push(GoalRuns { weight, runs });
        }
        skipped
    }

    /// Counts stacks that could not be resolved or built as failed once more.
    pub fn add_failed(&mut self, failed: &[Vec<PackagePin>]) {
        let stacks: BTreeSet<Vec<usize>> = failed.iter().filter_map(|it| self.pinned(it)).collect();
        for stack in stacks {
            let outcome = self.outcomes.entry(stack).or_default();
            outcome.attempts += 1;
            outcome.failures += 1;
        }
    }

    fn note(&mut self, skipped: usize, earlier: usize) {
        if skipped > 0 {
            self.notes.push(DataNote::LacksVersions {
                instances: skipped,
                packages: self.factors.iter().map(|own| own.name.clone()).collect(),
            });
        }
        if earlier > 0 {
            let instances = earlier;
            self.notes.push(DataNote::EarlierMeaning { instances });
        }
        let failed = self.outcomes.iter().filter(|(_, it)| it.failures > 0);
        let stacks: Vec<(String, StackOutcome)> = failed
            .map(|(stack, outcome)| (self.text(stack), *outcome))
            .collect();
        if !stacks.is_empty() {
            self.notes.push(DataNote::FailedStacks { stacks });
        }
    }

    /// Returns a stack as text: `numpy==1.26.4 scipy==1.11.4`.
    pub fn text(&self, stack: &[usize]) -> String {
        let pins = self.factors.iter().zip(stack);
        let pins: Vec<String> = pins
            .map(|(factor, level)| format!("{}=={}", factor.name, factor.versions[*level]))
            .collect();
        pins.join(" ")
    }

    /// Returns the metric of the goal, if there is only one.
    pub fn only_goal(&self) -> Option<&StackGoal> {
        match self.goals.as_slice() {
            [goal] => Some(goal),
            _ => None,
        }
    }

    /// Returns a change of the response as one of the logarithm of what is shown: the only metric, or the cost of
    /// several.
    pub fn shown(&self, change: StackChange) -> StackChange {
        let direction = self.only_goal().map_or(1.0, StackGoal::direction);
        if direction > 0.0 {
            return change;
        }
        let Interval { lower, upper } = change.interval;
        StackChange {
            change: -change.change,
            interval: Interval {
                lower: -upper,
                upper: -lower,
            },
        }
    }

    /// Returns the stack with these pins, other packages being ignored; `None` if a package has no pin, or one that
    /// is no level. A package with one version needs no pin.
    pub fn pinned(&self, pins: &[PackagePin]) -> Option<Vec<usize>> {
        let level = |factor: &StackFactor| {
            let name = package_name(&factor.name);
            match pins.iter().find(|pin| pin.package == name) {
                Some(pin) => (factor.versions.iter())
                    .position(|own| version_order(own, &pin.version).is_eq()),
                None => (factor.versions.len() == 1).then_some(0),
            }
        };
        self.factors.iter().map(level).collect()
    }

    /// Returns the number of instances of a stack that have a response, on some hardware; of the benchmark with the
    /// fewest.
    pub fn instances(&self, stack: &[usize], hardware: usize) -> usize {
        let count = |part: &GoalRuns| {
            let is_own = |run: &[usize]| {
                run.split_last()
                    .is_some_and(|(last, own)| *last == hardware && own == stack)
            };
            part.runs.iter().filter(|(run, _)| is_own(run)).count()
        };
        self.responses.iter().map(count).min().unwrap_or(0)
    }

    /// Returns the different stacks with a response, on any hardware.
    pub fn measured(&self) -> BTreeSet<Vec<usize>> {
        let runs = self.responses.iter().flat_map(|part| &part.runs);
        runs.filter_map(|(run, _)| Some(run.split_last()?.1.to_vec()))
            .collect()
    }
}

/// Returns the only metric with a direction, which all benchmarks with one have in common.
fn usual_terms(benchmarks: &[&BenchmarkData]) -> Result<Vec<GoalTerm>, StackDataError> {
    let mut names = BTreeSet::new();
    for data in benchmarks {
        let benchmark = data.benchmark.id.clone();
        names.insert(only_metric(&Sample::of_all(data), benchmark)?);
    }
    if names.len() > 1 {
        return Err(StackDataError::Metric(StudyError::SeveralMetrics {
            benchmark: "the benchmarks".to_owned(),
            candidates: names.into_iter().collect(),
        }));
    }
    let term = |metric: String| GoalTerm {
        benchmark: None,
        metric,
        weight: 1.0,
    };
    Ok(names.into_iter().map(term).collect())
}
