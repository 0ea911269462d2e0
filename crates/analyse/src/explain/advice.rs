//! Hints from fresh measurements on how to measure better.
//!
//! They are not judgements; each names the number that it is based on.

use crate::clean::{CleanInstance, CleaningPolicy, clean};
use crate::judge::{INSTANCES_FOR_A_VERDICT, estimate};
use lapwing_model::{InstanceOutcome, Outcome};
use lapwing_record::InstanceData;
use lapwing_stats::{Confidence, DetectionMethod, Noise, Strategy, as_f64, instances_needed};

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
    /// A processor time of the same instances varies far less.
    Steadier {
        /// The processor time.
        metric: &'static str,
        /// The instances per side that find a change of 5 % with a probability of 80 %: by the compared metric, and by
        /// this one.
        instances: [usize; 2],
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
    if metric == WALL_TIME {
        advice.extend(steadier(instances, &cleaned.instances));
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

/// Processor times, the one of most work first.
const PROCESSOR_TIMES: [&str; 3] = ["worker_process_time", "process_time", "user_time"];
/// The change that is to be found, as a ratio, and the probability.
const CHANGE: f64 = 1.05;
const POWER: f64 = 0.8;
/// Fewer instances do not show how much a metric varies.
const ENOUGH_FOR_NOISE: usize = 5;
/// The wall time needs at least so many instances, and so many times as many.
const MANY: usize = 10;
const TIMES_AS_MANY: usize = 4;
/// By so many standard errors the logarithms of the variances differ.
const CERTAIN: f64 = 3.0;
/// A processor time is at least this share of the wall time; what mostly waits is not measured by it.
const LEAST_SHARE: f64 = 0.5;

/// Returns a processor time that certainly needs far fewer instances than the wall time.
fn steadier(instances: &[&InstanceData], by_wall: &[CleanInstance]) -> Option<Advice> {
    let noise = |cleaned: &[CleanInstance]| {
        let means: Vec<f64> = cleaned.iter().map(CleanInstance::mean).collect();
        let logs: Option<Vec<f64>> = means
            .iter()
            .map(|it| (*it > 0.0).then(|| it.ln()))
            .collect();
        let variance = lapwing_stats::standard_deviation(&logs?)?.powi(2);
        let needed = instances_needed(
            Noise {
                between: variance,
                within: 0.0,
            },
            1,
            Strategy::DifferentInstances,
            DetectionMethod::Paired,
            CHANGE,
            POWER,
            Confidence::P95,
        )?;
        Some((lapwing_stats::mean(&means)?, variance, needed))
    };
    let count = by_wall.len();
    let (wall, variance, needed) = noise(by_wall).filter(|_| count >= ENOUGH_FOR_NOISE)?;
    let found = PROCESSOR_TIMES.into_iter().find_map(|metric| {
        let cleaned = clean(instances.iter().copied(), metric, CleaningPolicy::default());
        let same = cleaned.instances.len() == count;
        let (mean, own, by_it) = noise(&cleaned.instances).filter(|_| same)?;
        // A normal approximation; both are of the same instances, and so more alike.
        let error = (4.0 / (as_f64(count) - 1.0)).sqrt();
        let is_certain = (variance / own.max(f64::MIN_POSITIVE)).ln() >= CERTAIN * error;
        (is_certain && mean >= LEAST_SHARE * wall).then_some((metric, by_it))
    });
    let (metric, by_it) = found?;
    (needed >= MANY && needed >= TIMES_AS_MANY * by_it).then_some(Advice::Steadier {
        metric,
        instances: [needed, by_it],
    })
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
    use lapwing_stats::Seed;
    use rand::RngExt;

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

    /// Returns how often of 300 sessions a processor time is told to be steadier, with these standard deviations of wall
    /// time and processor time, and this share of it.
    fn told(count: usize, noise: [f64; 2], share: f64) -> usize {
        let told = (0..300).filter(|session| {
            let random = &mut Seed(3).block(*session);
            let instances: Vec<InstanceData> = (0..count)
                .map(|_| {
                    let drawn: [f64; 2] = [(); 2].map(|()| random.random());
                    let radius = (-2.0 * (1.0 - drawn[0]).ln()).sqrt();
                    let angle = std::f64::consts::TAU * drawn[1];
                    let mut it = steady(&[(noise[0] * radius * angle.cos()).exp(); 3]);
                    let processor = share * (noise[1] * radius * angle.sin()).exp();
                    let values = vec![processor; 3];
                    it.iterations
                        .values
                        .insert("process_time".to_owned(), values);
                    it
                })
                .collect();
            let advice = advised(&instances);
            advice
                .iter()
                .any(|it| matches!(it, Advice::Steadier { .. }))
        });
        told.count()
    }

    #[test]
    fn a_processor_time_is_recommended_if_it_varies_far_less() {
        for count in [5, 10, 30] {
            for noise in [0.3, 0.02] {
                let equal = told(count, [noise, noise], 0.9);
                assert!(equal <= 3, "{equal} of 300, {count}");
            }
            // Nothing is gained where the wall time needs few, nor by a metric that does not see most of the time.
            let idle = [
                told(count, [0.02, 0.002], 0.9),
                told(count, [0.4, 0.04], 0.1),
            ];
            assert!(idle[0] <= 3 && idle[1] == 0, "{idle:?} of 300, {count}");
            let found = told(count, [0.4, 0.04], 0.9);
            assert!(found >= 270, "{found} of 300, {count}");
        }
    }
}
