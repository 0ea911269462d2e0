//! Reads stacks, their hardware and their responses from instances.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::clean::{CleaningRules, clean};
use lapwing_analyse::sample::Sample;
use lapwing_model::{Level, Outcome, Run};
use lapwing_record::InstanceData;

use super::data::{StackDataError, StackFactor};
use super::goal::StackGoal;
use super::package_version::version_order;
use super::requirement::{PackagePin, PackageRequirement, package_name};

/// The name of a hardware that was not recorded.
const UNKNOWN: &str = "unknown hardware";

/// Reads stacks from the factors of runs.
pub(super) struct StackReader<'a> {
    names: Vec<String>,
    required: &'a [PackageRequirement],
    more: &'a [Vec<PackagePin>],
}

pub(super) fn no_stacks(required: &[PackageRequirement]) -> StackDataError {
    let packages = required.iter().map(|own| own.package.clone());
    StackDataError::NoStacks {
        packages: packages.collect(),
    }
}

/// Returns whether a run has all of these packages as factors; without any, whether it has factors.
pub(super) fn has_packages(run: &Run, required: &[PackageRequirement]) -> bool {
    let has = |one: &PackageRequirement| {
        let mut names = run.factors.keys();
        names.any(|name| package_name(name) == one.package)
    };
    !run.factors.is_empty() && required.iter().all(has)
}

/// Returns whether a run is of a stack: all of its factors have versions, as texts, for levels.
pub fn is_stack(run: &Run) -> bool {
    let is_version = |level: &Level| match level {
        Level::Text(text) => text.starts_with(|it: char| it.is_ascii_digit()) && text.contains('.'),
        Level::Bool(_) | Level::Integer(_) | Level::Number(_) => false,
    };
    !run.factors.is_empty() && run.factors.values().all(is_version)
}

impl<'a> StackReader<'a> {
    pub fn new(
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

    pub fn factors(&self, instances: &[&InstanceData]) -> Vec<StackFactor> {
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
}

/// Returns the stack of a run; `None` if it lacks a package.
pub(super) fn stack_of(factors: &[StackFactor], run: &Run) -> Option<Vec<usize>> {
    let level = |factor: &StackFactor| {
        let version = run.factors.get(&factor.name)?.to_string();
        (factor.versions.iter()).position(|known| version_order(known, &version).is_eq())
    };
    factors.iter().map(level).collect()
}

/// Returns the models of processors in the order of their latest instance.
pub(super) fn hardware(instances: &[&InstanceData]) -> Vec<String> {
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

pub(super) fn hardware_of(instance: &InstanceData, known: &[String]) -> usize {
    let name = hardware_name(instance);
    known.iter().position(|own| *own == name).unwrap_or(0)
}

/// Returns whether an instance failed; `None` if it was not run on purpose.
pub fn failed(instance: &InstanceData) -> Option<bool> {
    let outcomes = &instance.iterations.outcome;
    let all = || (0..instance.iterations.len()).map(|at| outcomes[at]);
    if !instance.iterations.is_empty() && all().all(|own| own == Outcome::Skipped) {
        return None;
    }
    let is_failure = |own: Outcome| matches!(own, Outcome::Failed | Outcome::TimedOut);
    Some(instance.iterations.is_empty() || all().any(is_failure))
}

/// Returns the response of each instance that has a positive value of every metric, by its position in the sample.
pub(super) fn responses(
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
