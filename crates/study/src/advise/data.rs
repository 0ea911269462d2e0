//! The measurements of stacks: responses for the goal, and the number of failures of each stack.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::clean::{CleaningRules, clean};
use lapwing_analyse::sample::{BenchmarkData, GroupBy, Sample, samples};
use lapwing_model::text::{counted, first_names};
use lapwing_model::{Outcome, Run};
use lapwing_record::InstanceData;
use lapwing_stats::Interval;
use lapwing_stats::optimise::GoalRuns;

use super::evidence::StackChange;
use super::goal::{GoalError, GoalTerm, StackGoal, goals};
use super::package_version::version_order;
use super::requirement::{PackagePin, PackageRequirement, package_name};
use crate::data::StudyError;
use crate::gather::only_metric;

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
    pub notes: Vec<String>,
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

/// Reads stacks from the factors of runs.
struct StackReader<'a> {
    names: Vec<String>,
    required: &'a [PackageRequirement],
    more: &'a [Vec<PackagePin>],
}

/// The metric of a hardware that was not recorded.
const UNKNOWN: &str = "unknown hardware";

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
            let mut runs = data.instances.iter().map(|own| &own.run);
            runs.any(|run| has_packages(run, required))
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
        let is_goal = |data: &&&BenchmarkData| {
            let mut goals = goals.iter();
            goals.any(|goal| goal.suite == data.suite && goal.benchmark == data.benchmark.id)
        };
        let instances: Vec<&InstanceData> = (benchmarks.iter().filter(is_goal))
            .flat_map(|data| &data.instances)
            .collect();
        let reader = StackReader::new(&instances, required, more)?;
        let mut found = Self {
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
            let mut runs = Vec::new();
            let own: Vec<&StackGoal> = (found.goals.iter())
                .filter(|goal| goal.suite == data.suite && goal.benchmark == data.benchmark.id)
                .collect();
            let weight: f64 = own.iter().map(|goal| goal.weight.abs()).sum();
            for sample in samples(data, GroupBy::Variant) {
                earlier += sample.earlier_epoch;
                let stacks: Vec<Option<Vec<usize>>> = (sample.instances.iter())
                    .map(|instance| reader.stack(&found.factors, &instance.run))
                    .collect();
                skipped += stacks.iter().filter(|stack| stack.is_none()).count();
                for (instance, stack) in sample.instances.iter().zip(&stacks) {
                    if let (Some(stack), Some(failed)) = (stack, failed(instance)) {
                        let outcome = found.outcomes.entry(stack.clone()).or_default();
                        outcome.attempts += 1;
                        outcome.failures += usize::from(failed);
                    }
                }
                for (position, response) in responses(&sample, &own, rules) {
                    if let Some(mut run) = stacks[position].clone() {
                        run.push(hardware_of(sample.instances[position], &found.hardware));
                        runs.push((run, response / weight));
                    }
                }
            }
            if weight > 0.0 {
                found.benchmarks.push(data.benchmark.id.clone());
                found.responses.push(GoalRuns { weight, runs });
            }
        }
        found.note(skipped, earlier);
        Ok(found)
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
            let names: Vec<&str> = self.factors.iter().map(|own| own.name.as_str()).collect();
            self.notes.push(format!(
                "{} without a version of each of {} excluded",
                counted(skipped, "instance"),
                first_names(names, 5)
            ));
        }
        if earlier > 0 {
            let count = counted(earlier, "instance");
            self.notes.push(format!(
                "{count} of an earlier meaning of a benchmark excluded"
            ));
        }
        let failed: Vec<String> = (self.outcomes.iter())
            .filter(|(_, outcome)| outcome.failures > 0)
            .map(|(stack, outcome)| {
                let StackOutcome { attempts, failures } = outcome;
                format!("{} ({failures} of {attempts})", self.text(stack))
            })
            .collect();
        if !failed.is_empty() {
            let names = first_names(&failed, 3);
            let count = counted(failed.len(), "stack");
            self.notes.push(format!("{count} failed: {names}"));
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

fn no_stacks(required: &[PackageRequirement]) -> StackDataError {
    let packages = required
        .iter()
        .map(|requirement| requirement.package.clone());
    StackDataError::NoStacks {
        packages: packages.collect(),
    }
}

/// Returns whether a run has all of these packages as factors; without any, whether it has factors.
fn has_packages(run: &Run, required: &[PackageRequirement]) -> bool {
    let has = |one: &PackageRequirement| {
        let mut names = run.factors.keys();
        names.any(|name| package_name(name) == one.package)
    };
    !run.factors.is_empty() && required.iter().all(has)
}

impl<'a> StackReader<'a> {
    fn new(
        instances: &[&InstanceData],
        required: &'a [PackageRequirement],
        more: &'a [Vec<PackagePin>],
    ) -> Result<Self, StackDataError> {
        let names_of = |instance: &&InstanceData| -> BTreeSet<String> {
            instance.run.factors.keys().cloned().collect()
        };
        let all = instances
            .iter()
            .filter(|it| has_packages(&it.run, required));
        let matching: Vec<BTreeSet<String>> = all.map(names_of).collect();
        // With requirements, what all of these runs have; without, what any has.
        let together = |one: BTreeSet<String>, other: &BTreeSet<String>| match required {
            [] => &one | other,
            _ => &one & other,
        };
        let mut rest = matching.iter();
        let first = rest.next().ok_or_else(|| no_stacks(required))?;
        let names = rest.fold(first.clone(), together);
        Ok(Self {
            names: names.into_iter().collect(),
            required,
            more,
        })
    }

    fn factors(&self, instances: &[&InstanceData]) -> Vec<StackFactor> {
        let factor = |name: &String| {
            let measured = (instances.iter()).filter_map(|it| it.run.factors.get(name));
            let mut versions: Vec<String> = measured.map(ToString::to_string).collect();
            let own = package_name(name);
            let further = self.more.iter().flatten().filter(|pin| pin.package == own);
            versions.extend(further.map(|pin| pin.version.clone()));
            versions.sort_by(|one, other| version_order(one, other));
            versions.dedup_by(|one, other| version_order(one, other).is_eq());
            StackFactor {
                name: name.clone(),
                versions,
            }
        };
        let mut factors: Vec<StackFactor> = self.names.iter().map(factor).collect();
        // In the order of the requirements, others behind, the interpreter last.
        let place = |own: &StackFactor| {
            let name = package_name(&own.name);
            let asked = self.required.iter().position(|it| it.package == name);
            (asked.unwrap_or(self.required.len()), name == "python")
        };
        factors.sort_by_key(place);
        factors
    }

    /// Returns the stack of a run; `None` if it lacks a package.
    fn stack(&self, factors: &[StackFactor], run: &Run) -> Option<Vec<usize>> {
        let level = |factor: &StackFactor| {
            let own = run.factors.get(&factor.name)?.to_string();
            (factor.versions.iter()).position(|version| version_order(version, &own).is_eq())
        };
        factors.iter().map(level).collect()
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

/// Returns the models of processors in the order of their latest instance.
fn hardware(instances: &[&InstanceData]) -> Vec<String> {
    let mut latest = BTreeMap::new();
    for instance in instances {
        let time = instance.session.started;
        let entry = latest.entry(hardware_name(instance)).or_insert(time);
        *entry = (*entry).max(time);
    }
    let mut names: Vec<(String, jiff::Timestamp)> = latest.into_iter().collect();
    names.sort_by_key(|(_, time)| *time);
    names.into_iter().map(|(name, _)| name).collect()
}

fn hardware_name(instance: &InstanceData) -> String {
    let own = [&instance.instance.environment, &instance.run.environment];
    let model = own.iter().find_map(|it| it.get("cpu_model")?.as_str());
    model.map_or_else(|| UNKNOWN.to_owned(), str::to_owned)
}

fn hardware_of(instance: &InstanceData, known: &[String]) -> usize {
    let name = hardware_name(instance);
    known.iter().position(|own| *own == name).unwrap_or(0)
}

/// Returns whether an instance failed; `None` if it was not run on purpose.
fn failed(instance: &InstanceData) -> Option<bool> {
    let outcomes = &instance.iterations.outcome;
    let all = || (0..instance.iterations.len()).map(|at| outcomes[at]);
    if !instance.iterations.is_empty() && all().all(|own| own == Outcome::Skipped) {
        return None;
    }
    let is_failure = |own: Outcome| matches!(own, Outcome::Failed | Outcome::TimedOut);
    Some(instance.iterations.is_empty() || all().any(is_failure))
}

/// Returns the response of each instance that has a positive value of every metric, by its position in the sample.
fn responses(
    sample: &Sample<'_>,
    goals: &[&StackGoal],
    rules: &CleaningRules,
) -> Vec<(usize, f64)> {
    let (policy, _) = rules.policy(sample);
    let mut sums: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    for goal in goals {
        let cleaned = clean(sample.instances.iter().copied(), &goal.metric.name, policy);
        for own in &cleaned.instances {
            let response = goal.weight * goal.metric.cost(own.mean()).ln();
            if response.is_finite() {
                let sum = sums.entry(own.position).or_default();
                *sum = (sum.0 + 1, sum.1 + response);
            }
        }
    }
    let whole = sums.into_iter().filter(|(_, sum)| sum.0 == goals.len());
    whole.map(|(position, (_, sum))| (position, sum)).collect()
}
