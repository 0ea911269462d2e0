//! Hints from fresh measurements on how to measure better.
//!
//! They are not judgements; each names the number that it is based on.

use crate::clean::{CleanInstance, CleaningPolicy, clean};
use crate::judge::{INSTANCES_FOR_A_VERDICT, estimate};
use lapwing_model::{InstanceOutcome, Outcome};
use lapwing_record::InstanceData;

/// A hint on how to measure better.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    /// Too few instances for any conclusion.
    FewInstances {
        /// Number of instances.
        instances: usize,
    },
    /// The first iteration after burn-in is slower than the rest.
    SlowStart {
        /// Median over instances of first iteration / median of the others.
        ratio: f64,
        /// Number of instances that show it, and number of all.
        instances: (usize, usize),
        /// Number of iterations already planned as burn-in.
        burn_in: usize,
    },
    /// The instance means vary widely.
    Spread {
        /// Coefficient of variation of the instance means.
        cv: f64,
    },
    /// The machine was busy with other things during some instances.
    Busy {
        /// Number of disturbed instances, and number of all.
        instances: (usize, usize),
        /// The load, in processors, from which an instance is regarded as disturbed.
        load: f64,
        /// Mean of the disturbed instances / mean of the others; `None` when there are no others.
        ratio: Option<f64>,
    },
    /// Another guest of the same host took processor time away.
    Stolen {
        /// Number of affected instances, and number of all.
        instances: (usize, usize),
        /// The largest stolen share of processor time, from 0 to 1.
        share: f64,
    },
    /// Iterations failed or timed out.
    Failures {
        /// Number of these, and number of all.
        iterations: (usize, usize),
        /// The message of the first failure.
        message: Option<String>,
    },
    /// Teardowns failed, after measurements that count.
    Teardown {
        /// Number of instances with such an end, and number of all.
        instances: (usize, usize),
        /// The message of the first.
        message: String,
    },
    /// So short that starting the process is most of the time.
    Brief {
        /// The mean, in seconds.
        seconds: f64,
        /// Whether a shell starts it, which is another process.
        in_shell: bool,
    },
}

/// A coefficient of variation between instances from which a hint is given.
const WIDE: f64 = 0.1;
/// First iteration / median of the others from which a start is slow.
const SLOW_START: f64 = 1.1;
/// Other programs' load, in processors, from which an instance is regarded as disturbed.
const BUSY: f64 = 0.5;
/// Share of stolen processor time from which an instance is regarded as disturbed.
const STOLEN: f64 = 0.01;
/// A time in seconds, below which most of it is the start of a process.
const BRIEF: f64 = 0.005;

/// The metric of what is said about iterations and the start of a process.
const WALL_TIME: &str = "wall_time";

/// Returns hints on the instances of one benchmark and run, whose command a shell started or not, by the metric that is
/// compared.
pub fn advise(instances: &[&InstanceData], in_shell: bool, metric: &str) -> Vec<Advice> {
    let cleaned = clean(instances.iter().copied(), metric, CleaningPolicy::default());
    let mut advice = failures(instances);
    advice.extend(teardown(instances));
    let Some(estimate) = estimate(&cleaned) else {
        return advice;
    };
    if estimate.size.instances < INSTANCES_FOR_A_VERDICT {
        advice.push(Advice::FewInstances {
            instances: estimate.size.instances,
        });
    }
    if metric == WALL_TIME {
        advice.extend(slow_start(instances, &cleaned.instances));
    }
    if let Some(cv) = estimate.cv
        && cv > WIDE
    {
        advice.push(Advice::Spread { cv });
    }
    advice.extend(busy(instances, &cleaned.instances));
    advice.extend(stolen(instances));
    let is_brief = metric == WALL_TIME && estimate.value < BRIEF;
    if is_brief && instances.iter().any(is_command) {
        advice.push(Advice::Brief {
            seconds: estimate.value,
            in_shell,
        });
    }
    advice
}

/// Only measurements of this program include the start of a process.
fn is_command(instance: &&InstanceData) -> bool {
    instance.iterations.values.contains_key("user_time")
}

fn failures(instances: &[&InstanceData]) -> Vec<Advice> {
    let all: usize = instances.iter().map(|it| it.iterations.len()).sum();
    let bad = instances
        .iter()
        .flat_map(|it| it.iterations.outcome.iter())
        .filter(|outcome| matches!(outcome, Outcome::Failed | Outcome::TimedOut))
        .count();
    let broken = instances
        .iter()
        .filter_map(|it| it.end.as_ref()?.message.clone())
        .next();
    let first = instances
        .iter()
        .flat_map(|it| it.iterations.messages.first_key_value())
        .map(|(_, message)| message.clone())
        .next();
    if bad == 0 && (all > 0 || broken.is_none()) {
        return Vec::new();
    }
    vec![Advice::Failures {
        iterations: (bad, all),
        message: first.or(broken),
    }]
}

fn teardown(instances: &[&InstanceData]) -> Option<Advice> {
    let ends = instances.iter().filter_map(|it| it.end.as_ref());
    // Nothing else is said at the end of an instance that went well.
    let failed = ends.filter(|end| end.outcome == InstanceOutcome::Ok);
    let messages: Vec<&String> = failed.filter_map(|end| end.message.as_ref()).collect();
    Some(Advice::Teardown {
        instances: (messages.len(), instances.len()),
        message: (*messages.first()?).clone(),
    })
}

fn slow_start(instances: &[&InstanceData], cleaned: &[CleanInstance]) -> Option<Advice> {
    /// The median of fewer others is unreliable.
    const OTHERS: usize = 3;
    let ratios: Vec<f64> = cleaned
        .iter()
        .filter(|it| it.values.len() > OTHERS)
        .filter_map(|it| Some(it.values[0] / lapwing_stats::median(&it.values[1..])?))
        .collect();
    let slow = ratios.iter().filter(|ratio| **ratio > SLOW_START).count();
    let ratio = lapwing_stats::median(&ratios)?;
    let burn_in = instances
        .iter()
        .map(|it| it.iterations.burn_in.iter().filter(|it| **it).count())
        .max()
        .unwrap_or(0);
    // Two thirds of the instances: a single slow start is an outlier, not a warm-up.
    (ratio > SLOW_START && slow * 3 >= ratios.len() * 2).then_some(Advice::SlowStart {
        ratio,
        instances: (slow, ratios.len()),
        burn_in,
    })
}

fn observed(instance: &InstanceData, key: &str) -> Option<f64> {
    instance.end.as_ref()?.observed.get(key)?.as_f64()
}

fn busy(instances: &[&InstanceData], cleaned: &[CleanInstance]) -> Option<Advice> {
    let (disturbed, calm): (Vec<&CleanInstance>, Vec<&CleanInstance>) =
        cleaned.iter().partition(|it| {
            observed(instances[it.position], "other_load").is_some_and(|load| load > BUSY)
        });
    if disturbed.is_empty() {
        return None;
    }
    let centre = |side: &[&CleanInstance]| {
        lapwing_stats::mean(&side.iter().map(|it| it.mean()).collect::<Vec<_>>())
    };
    let ratio = match (centre(&disturbed), centre(&calm)) {
        (Some(disturbed), Some(calm)) if calm > 0.0 => Some(disturbed / calm),
        _ => None,
    };
    Some(Advice::Busy {
        instances: (disturbed.len(), cleaned.len()),
        load: BUSY,
        ratio,
    })
}

fn stolen(instances: &[&InstanceData]) -> Option<Advice> {
    let shares: Vec<f64> = instances
        .iter()
        .filter_map(|it| observed(it, "steal"))
        .filter(|share| *share > STOLEN)
        .collect();
    let share = shares.iter().copied().max_by(f64::total_cmp)?;
    Some(Advice::Stolen {
        instances: (shares.len(), instances.len()),
        share,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::tests::instance;

    fn steady(values: &[f64]) -> InstanceData {
        let rows: Vec<_> = values
            .iter()
            .map(|value| (false, Outcome::Ok, *value))
            .collect();
        instance(&rows)
    }

    fn advised(instances: &[InstanceData]) -> Vec<Advice> {
        advise(&instances.iter().collect::<Vec<_>>(), false, WALL_TIME)
    }

    #[test]
    fn a_calm_measurement_needs_no_advice() {
        let instances = [1.00, 1.01, 0.99].map(|it| steady(&[it; 5]));
        assert_eq!(advised(&instances), []);
    }

    #[test]
    fn slow_first_iterations_are_noticed_when_most_instances_have_them() {
        let warm_up = [1.3, 1.0, 1.0, 1.0, 1.0];
        let flat = [1.0; 5];
        assert_eq!(
            advised(&[steady(&warm_up), steady(&warm_up), steady(&flat)]),
            [Advice::SlowStart {
                ratio: 1.3,
                instances: (2, 3),
                burn_in: 0
            }]
        );
        assert_eq!(
            advised(&[steady(&warm_up), steady(&flat), steady(&flat)]),
            []
        );
    }

    #[test]
    fn one_instance_gives_no_verdict() {
        assert_eq!(
            advised(&[steady(&[1.0; 5])]),
            [Advice::FewInstances { instances: 1 }]
        );
    }

    #[test]
    fn failures_come_with_what_the_first_one_said() {
        let mut failing = instance(&[
            (false, Outcome::Ok, 1.0),
            (false, Outcome::Failed, f64::NAN),
        ]);
        failing
            .iterations
            .messages
            .insert(1, "exit code 3".to_owned());
        let calm = steady(&[1.0; 2]);
        assert_eq!(
            advised(&[failing, calm.clone(), calm]),
            [Advice::Failures {
                iterations: (1, 6),
                message: Some("exit code 3".to_owned())
            }]
        );
    }
}
