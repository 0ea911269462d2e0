//! Cleaning: selects the iterations to analyse, and lists the exclusions with their reasons.
//!
//! Nothing is deleted: cleaning returns the values to analyse and a list of every excluded iteration.
//! [`CleaningRules`] are the user's request; for each benchmark they resolve to a [`CleaningPolicy`], which [`clean`]
//! applies.

mod audit;
mod instance_value;
mod left_out;
mod outlier;
mod rules;
mod state;
mod steady;

use std::collections::BTreeMap;

pub use lapwing_model::bare_name;
use lapwing_record::InstanceData;

pub use audit::{Audit, AuditStage, BenchmarkAudit, Exclusion, Funnel, Remaining, UnusableReason};
pub(crate) use instance_value::centre_name;
pub use instance_value::{InstanceValue, PreferredCentres, clean_with_summaries, instance_values};
pub use left_out::LeftOut;
pub use outlier::{OutlierMetrics, OutlierRule};
pub use rules::{
    BurnInRule, BurnInSource, CleaningRules, listed, plans_any_auto, was_planned_auto,
};
pub(crate) use rules::{SteadyStart, found_in};
pub use state::IterationState;
pub use steady::{BenchmarkSteady, InstanceSteady, burn_in_metric, find_steady};

use state::replace_steady;

/// The rules that select the iterations of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CleaningPolicy {
    /// The start of the steady state.
    pub burn_in: SteadyFrom,
    /// The rule for unsuccessful iterations.
    pub failures: FailureRule,
    /// The rule for outliers; `None` to keep all values.
    pub outliers: Option<OutlierRule>,
    /// The fewest remaining iterations of an instance to be analysed.
    pub min_iterations: usize,
    /// The fewest remaining instances of a benchmark to be analysed.
    pub min_instances: usize,
}

impl Default for CleaningPolicy {
    fn default() -> Self {
        Self {
            burn_in: SteadyFrom::Recorded,
            failures: FailureRule::Drop,
            outliers: None,
            min_iterations: 1,
            min_instances: 0,
        }
    }
}

/// The start of the steady state of a benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SteadyFrom {
    /// After the planned burn-in iterations.
    #[default]
    Recorded,
    /// At that index.
    Index(u32),
    /// None: the benchmark reaches no steady state, so all of it is excluded.
    Never,
    /// Unknown, if only benchmarks with a known start are requested: all of it is excluded.
    Unknown,
}

/// The rule for unsuccessful iterations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailureRule {
    /// All that failed, timed out or were skipped, and all without a value.
    #[default]
    Drop,
    /// As in Hail's notebook: only time-outs with a message are excluded. Other failures remain, mostly without a
    /// value, and are included in numbers of iterations.
    AsHail,
}

/// The values of one metric after cleaning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cleaned {
    /// Instances with at least one remaining value.
    pub instances: Vec<CleanInstance>,
    /// The numbers of exclusions, by reason.
    pub left_out: LeftOut,
}

impl Cleaned {
    /// Returns the values of each instance.
    pub(crate) fn rows(&self) -> Vec<&[f64]> {
        let instances = self.instances.iter();
        instances
            .map(|instance| instance.values.as_slice())
            .collect()
    }

    /// Numbers the hosts of the instances in order of appearance.
    fn number_hosts<'h>(&mut self, host: impl Fn(usize) -> Option<&'h str>) {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        for instance in &mut self.instances {
            let next = numbers.len();
            instance.host = host(instance.position).map(|it| *numbers.entry(it).or_insert(next));
        }
    }

    /// Returns the values of each instance, and a NaN for every remaining iteration without one.
    pub(crate) fn rows_with_gaps(&self) -> Vec<Vec<f64>> {
        let row = |instance: &CleanInstance| {
            let gaps = std::iter::repeat_n(f64::NAN, instance.without_value);
            instance.values.iter().copied().chain(gaps).collect()
        };
        self.instances.iter().map(row).collect()
    }
}

/// The values of one instance after cleaning.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanInstance {
    /// Its index among the given instances.
    pub position: usize,
    /// The values in the order of iterations, in the metric's unit; never empty, never NaN.
    pub values: Vec<f64>,
    /// Number of remaining iterations without a value: 0, except with [`FailureRule::AsHail`].
    pub without_value: usize,
    /// The number of its host among those of the given instances; `None` if unknown.
    pub host: Option<usize>,
}

impl CleanInstance {
    /// Returns the mean of the values.
    pub fn mean(&self) -> f64 {
        // A cleaned instance is never empty, so the mean is defined.
        lapwing_stats::mean(&self.values).unwrap_or(f64::NAN)
    }
}

/// Returns the values of `metric` in the instances of one benchmark that remain under `policy`.
pub fn clean<'a>(
    instances: impl IntoIterator<Item = &'a InstanceData>,
    metric: &str,
    policy: CleaningPolicy,
) -> Cleaned {
    let mut cleaned = Cleaned::default();
    let states = states(instances, metric, policy);
    for (instance, states) in &states {
        let column = instance.iterations.values.get(metric);
        let mut values = Vec::with_capacity(states.states.len());
        let mut without_value = 0;
        for (at, state) in states.states.iter().enumerate() {
            cleaned.left_out.note(*state);
            if *state == IterationState::Steady {
                match column.map_or(f64::NAN, |column| column[at]) {
                    value if value.is_nan() => without_value += 1,
                    value => values.push(value),
                }
            }
        }
        if !values.is_empty() {
            cleaned.instances.push(CleanInstance {
                position: states.position,
                values,
                without_value,
                host: None,
            });
        }
    }
    cleaned.number_hosts(|position| states[position].0.instance.host.as_deref());
    cleaned
}

/// The states of the iterations of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceStates {
    /// Its index among the given instances.
    pub position: usize,
    /// The state of each iteration, in order.
    pub states: Vec<IterationState>,
}

/// Returns the states of all iterations of the instances of one benchmark, in order of time.
pub fn states<'a>(
    instances: impl IntoIterator<Item = &'a InstanceData>,
    metric: &str,
    policy: CleaningPolicy,
) -> Vec<(&'a InstanceData, InstanceStates)> {
    let mut all: Vec<_> = instances
        .into_iter()
        .enumerate()
        .map(|(position, instance)| {
            let states = IterationState::of_instance(instance, metric, policy);
            (instance, InstanceStates { position, states })
        })
        .collect();
    leave_out_other_units(&mut all, metric);
    let counts = |states: &InstanceStates| states.states.contains(&IterationState::Steady);
    let left = all.iter().filter(|(_, states)| counts(states)).count();
    if left < policy.min_instances {
        for (_, it) in &mut all {
            replace_steady(&mut it.states, IterationState::FewInstances);
        }
    }
    all
}

/// Excludes values in another unit than that of the latest run that names one.
///
/// The reader has already converted convertible units; any other unit measures another quantity.
fn leave_out_other_units(all: &mut [(&InstanceData, InstanceStates)], metric: &str) {
    let unit_of = |it: &&InstanceData| {
        let unit = &it.run.metrics.get(metric)?.unit;
        (!unit.is_empty()).then(|| unit.clone())
    };
    let Some(latest) = all.iter().rev().find_map(|(it, _)| unit_of(it)) else {
        return;
    };
    for (it, states) in all {
        if unit_of(it).is_some_and(|unit| unit != latest) {
            replace_steady(&mut states.states, IterationState::OtherUnit);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use lapwing_model::{
        Benchmark, Id, Instance, InstanceEnd, InstanceOutcome, Metric, Object, Outcome, Run,
        Session, Version,
    };
    use lapwing_record::Iterations;

    /// Returns an instance of these iterations: burn-in, outcome, wall time.
    pub(crate) fn instance(iterations: &[(bool, Outcome, f64)]) -> InstanceData {
        let id = Id::derived(&[b"test"]);
        let count = u32::try_from(iterations.len()).expect("few");
        let mut columns = Iterations::default();
        columns.offset = iterations.iter().map(|_| f64::NAN).collect();
        columns.burn_in = iterations.iter().map(|it| it.0).collect();
        columns.loops = iterations.iter().map(|_| 1).collect();
        columns.outcome = iterations.iter().map(|it| it.1).collect();
        let values = iterations.iter().map(|it| it.2).collect();
        columns.values.insert("wall_time".to_owned(), values);
        columns.push_indices(0..count);
        InstanceData {
            session: Arc::new(Session {
                id,
                suite: "test".to_owned(),
                started: jiff::Timestamp::UNIX_EPOCH,
                seed: None,
                tool: "test".to_owned(),
                name: None,
                attributes: Object::new(),
                artifacts: Object::new(),
                extra: Object::new(),
            }),
            run: Arc::new(Run {
                id,
                session: id,
                variant: Run::DEFAULT_VARIANT.to_owned(),
                factors: BTreeMap::new(),
                definitions: BTreeMap::new(),
                version: Version::default(),
                metrics: BTreeMap::new(),
                environment: Object::new(),
                attributes: Object::new(),
                artifacts: Object::new(),
                extra: Object::new(),
            }),
            recorded_fingerprint: None,
            instance: Instance {
                id,
                run: id,
                benchmark: Benchmark::default(),
                block: 0,
                position: 0,
                attempt: 0,
                host: None,
                started: None,
                environment: Object::new(),
                job: Object::new(),
                attributes: Object::new(),
                artifacts: Object::new(),
                extra: Object::new(),
            },
            end: None,
            iterations: columns,
            summaries: Vec::new(),
        }
    }

    #[test]
    fn every_iteration_is_kept_or_accounted_for() {
        let mixed = instance(&[
            (true, Outcome::Ok, 9.0),
            (true, Outcome::Failed, f64::NAN),
            (false, Outcome::Ok, 1.0),
            (false, Outcome::Failed, 5.0),
            (false, Outcome::TimedOut, 6.0),
            (false, Outcome::Skipped, f64::NAN),
            (false, Outcome::Ok, f64::NAN),
            (false, Outcome::Ok, 2.0),
        ]);
        let mut lost = instance(&[(false, Outcome::Ok, 3.0)]);
        lost.end = Some(InstanceEnd {
            instance: lost.instance.id,
            ended: None,
            outcome: InstanceOutcome::Lost,
            message: None,
            observed: Object::new(),
            extra: Object::new(),
        });
        let cleaned = clean([&lost, &mixed], "wall_time", CleaningPolicy::default());
        let expected = Cleaned {
            instances: vec![CleanInstance {
                position: 1,
                values: vec![1.0, 2.0],
                without_value: 0,
                host: None,
            }],
            left_out: LeftOut::of([
                IterationState::Lost,
                IterationState::BurnIn,
                IterationState::BurnIn,
                IterationState::Failed,
                IterationState::TimedOut,
                IterationState::Skipped,
                IterationState::NoValue,
            ]),
        };
        assert_eq!(cleaned, expected);
        assert_eq!(cleaned.left_out.total() + 2, 9);
    }

    #[test]
    fn values_in_a_unit_that_the_latest_run_does_not_have_are_left_out() {
        let [bytes, unknown, seconds] = ["B", "", "s"].map(|unit| {
            let mut it = instance(&[(true, Outcome::Ok, 9.0), (false, Outcome::Ok, 1.0)]);
            let metric = Metric::lower(unit);
            Arc::make_mut(&mut it.run).metrics = [("wall_time".to_owned(), metric)].into();
            it
        });
        let cleaned = clean(
            [&bytes, &unknown, &seconds],
            "wall_time",
            CleaningPolicy::default(),
        );
        let kept: Vec<usize> = cleaned.instances.iter().map(|it| it.position).collect();
        assert_eq!(kept, [1, 2]);
        assert_eq!(cleaned.left_out.count(IterationState::OtherUnit), 1);
        assert_eq!(cleaned.left_out.count(IterationState::BurnIn), 3);
    }

    #[test]
    fn another_start_of_the_steady_state_overrides_the_planned_one() {
        let all = instance(&[(true, Outcome::Ok, 1.0), (false, Outcome::Ok, 2.0)]);
        let policy = CleaningPolicy {
            burn_in: SteadyFrom::Index(0),
            ..CleaningPolicy::default()
        };
        assert_eq!(
            clean([&all], "wall_time", policy).instances[0].values,
            [1.0, 2.0]
        );
    }
}
