//! Decides which iterations count, and says which do not and why.
//!
//! Nothing is deleted: cleaning returns the values to judge beside an account of
//! every iteration that it left out.

use crate::model::{InstanceOutcome, Outcome};
use crate::record::InstanceData;

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

/// How many iterations were left out, by the first rule that applied to each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Of instances that were lost and measured anew.
    pub lost: usize,
    /// Before the steady state.
    pub burn_in: usize,
    /// Failed.
    pub failed: usize,
    /// Ended at the time limit.
    pub timed_out: usize,
    /// Not run on purpose.
    pub skipped: usize,
    /// Without a value of this metric.
    pub no_value: usize,
}

impl LeftOut {
    /// Returns how many were left out in all.
    pub fn total(&self) -> usize {
        self.lost + self.burn_in + self.failed + self.timed_out + self.skipped + self.no_value
    }

    /// Adds another account to this one.
    pub fn add(&mut self, other: &Self) {
        self.lost += other.lost;
        self.burn_in += other.burn_in;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.skipped += other.skipped;
        self.no_value += other.no_value;
    }

    /// Returns the reasons that occurred, with their counts, in the order of the rules.
    pub fn reasons(&self) -> Vec<(&'static str, usize)> {
        [
            ("in lost instances", self.lost),
            ("burn-in", self.burn_in),
            ("failed", self.failed),
            ("timed out", self.timed_out),
            ("skipped", self.skipped),
            ("without a value", self.no_value),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
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
    let iterations = &instance.iterations;
    if instance.end.as_ref().map(|end| end.outcome) == Some(InstanceOutcome::Lost) {
        left_out.lost += iterations.len();
        return Vec::new();
    }
    let column = iterations.values.get(metric);
    let mut kept = Vec::with_capacity(iterations.len());
    for position in 0..iterations.len() {
        let before_steady = match policy.burn_in {
            SteadyFrom::Recorded => iterations.burn_in[position],
            SteadyFrom::Index(first) => iterations.index[position] < first,
        };
        let value = column.map_or(f64::NAN, |column| column[position]);
        let counter = match iterations.outcome[position] {
            _ if before_steady => &mut left_out.burn_in,
            Outcome::Failed => &mut left_out.failed,
            Outcome::TimedOut => &mut left_out.timed_out,
            Outcome::Skipped => &mut left_out.skipped,
            Outcome::Ok if value.is_nan() => &mut left_out.no_value,
            Outcome::Ok => {
                kept.push(value);
                continue;
            }
        };
        *counter += 1;
    }
    kept
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::model::{Benchmark, Id, Instance, InstanceEnd, Object, Run, Session, Version};
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
                outcome: iterations.iter().map(|it| it.1).collect(),
                messages: Vec::new(),
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
            left_out: LeftOut {
                lost: 1,
                burn_in: 2,
                failed: 1,
                timed_out: 1,
                skipped: 1,
                no_value: 1,
            },
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
