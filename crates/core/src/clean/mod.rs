//! Decides which iterations count, and says which do not and why.
//!
//! Nothing is deleted: cleaning returns the values to judge beside an account of
//! every iteration that it left out.

mod state;

use crate::record::InstanceData;

pub use state::{IterationState, LeftOut};

/// Which iterations count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// Where the steady state is taken to begin.
    pub burn_in: SteadyFrom,
}

/// Where the steady state of an instance is taken to begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SteadyFrom {
    /// After the iterations that the runner planned as burn-in.
    #[default]
    Recorded,
    /// At that index.
    Index(u32),
}

/// The values of one metric that count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cleaned {
    /// Instances with at least one value that counts.
    pub instances: Vec<CleanInstance>,
    /// What was left out, and why.
    pub left_out: LeftOut,
}

/// One instance's values that count.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanInstance {
    /// Its place among the instances that were given.
    pub position: usize,
    /// The values in the order of iterations, in the metric's unit; never empty, never NaN.
    pub values: Vec<f64>,
}

impl CleanInstance {
    /// Returns the mean of the values.
    pub fn mean(&self) -> f64 {
        // A clean instance is never empty, so the mean is always there.
        lapwing_stats::mean(&self.values).unwrap_or(f64::NAN)
    }
}

/// Returns the values of `metric` that count under `policy`.
pub fn clean<'a>(
    instances: impl IntoIterator<Item = &'a InstanceData>,
    metric: &str,
    policy: Policy,
) -> Cleaned {
    let mut cleaned = Cleaned::default();
    for (position, instance) in instances.into_iter().enumerate() {
        let values = clean_instance(instance, metric, policy, &mut cleaned.left_out);
        if !values.is_empty() {
            cleaned.instances.push(CleanInstance { position, values });
        }
    }
    cleaned
}

fn clean_instance(
    instance: &InstanceData,
    metric: &str,
    policy: Policy,
    left_out: &mut LeftOut,
) -> Vec<f64> {
    let column = instance.iterations.values.get(metric);
    let mut kept = Vec::with_capacity(instance.iterations.len());
    for position in 0..instance.iterations.len() {
        let value = column.map_or(f64::NAN, |column| column[position]);
        match IterationState::of(instance, position, value, policy) {
            IterationState::Steady => kept.push(value),
            state => left_out.note(state),
        }
    }
    kept
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::model::{
        Benchmark, Id, Instance, InstanceEnd, InstanceOutcome, Object, Outcome, Run, Session,
        Version,
    };
    use crate::record::Iterations;

    /// Returns an instance of these iterations: burn-in, outcome, wall time.
    pub(crate) fn instance(iterations: &[(bool, Outcome, f64)]) -> InstanceData {
        let id = Id::derived(&[b"test"]);
        let count = u32::try_from(iterations.len()).expect("few");
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
            iterations: Iterations {
                index: (0..count).collect(),
                offset: vec![f64::NAN; iterations.len()],
                burn_in: iterations.iter().map(|it| it.0).collect(),
                loops: vec![1; iterations.len()],
                outcome: iterations.iter().map(|it| it.1).collect(),
                messages: Vec::new(),
                printed: Vec::new(),
                values: BTreeMap::from([(
                    "wall_time".to_owned(),
                    iterations.iter().map(|it| it.2).collect(),
                )]),
            },
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
        let cleaned = clean([&lost, &mixed], "wall_time", Policy::default());
        let expected = Cleaned {
            instances: vec![CleanInstance {
                position: 1,
                values: vec![1.0, 2.0],
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
    fn another_start_of_the_steady_state_overrides_the_planned_one() {
        let all = instance(&[(true, Outcome::Ok, 1.0), (false, Outcome::Ok, 2.0)]);
        let policy = Policy {
            burn_in: SteadyFrom::Index(0),
        };
        assert_eq!(
            clean([&all], "wall_time", policy).instances[0].values,
            [1.0, 2.0]
        );
    }
}
