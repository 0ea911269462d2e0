//! Whether to measure more instances or more iterations.

use lapwing_stats::as_f64;
use lapwing_stats::{best_iterations, mean};

use crate::clean::Cleaned;
use crate::judge::Variability;
use lapwing_record::InstanceData;

/// The metric for the duration of an iteration.
const TIME: &str = "wall_time";

/// Smaller shares of an iteration's time are ignored as a cost.
const ROUNDED: f64 = 1e-6;

/// The most efficient way to narrow the interval of a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffortEstimate {
    /// Whether instances or iterations help more.
    pub more: More,
    /// The number of iterations per instance that gives the narrowest interval for its time; `None` if the costs are
    /// unknown, or instances do not differ.
    pub best_iterations: Option<usize>,
}

/// Whether to measure more instances or more iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// Most noise of a mean is between the instances.
    Instances,
    /// Most noise is within the instances.
    Iterations,
}

/// The costs of measuring, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Costs {
    /// Per instance, without its analysed iterations.
    instance: f64,
    /// Per iteration.
    iteration: f64,
}

/// Returns the better of instances and iterations; `None` if the variance components are unknown.
///
/// With J iterations an instance's mean varies by σ_B² + σ_W² / J: more iterations help while the second part is the
/// larger one. If the costs of instances and iterations are known, they help up to Kalibera and Jones' number instead
/// ([`best_iterations`]).
pub fn effort(
    variability: &Variability,
    instances: &[&InstanceData],
    cleaned: &Cleaned,
) -> Option<EffortEstimate> {
    let components = variability.components?;
    let (between, within) = (components.between, components.within);
    let iterations = as_f64(variability.size.iterations) / as_f64(variability.size.instances);
    let best = costs(instances, cleaned)
        .and_then(|costs| best_iterations(within, between, costs.instance, costs.iteration));
    let helps = match best {
        Some(best) => iterations < as_f64(best),
        None => within / iterations > between,
    };
    Some(EffortEstimate {
        more: if helps {
            More::Iterations
        } else {
            More::Instances
        },
        best_iterations: best,
    })
}

/// Returns the costs as far as the instances show them: the cost of an instance is the time from its start to its end
/// without its analysed iterations, or else its burn-in.
fn costs(instances: &[&InstanceData], cleaned: &Cleaned) -> Option<Costs> {
    let (mut instance_costs, mut iteration_costs) = (Vec::new(), Vec::new());
    for clean in &cleaned.instances {
        let data = instances.get(clean.position)?;
        let Some(times) = data.iterations.values.get(TIME) else {
            continue;
        };
        let known: Vec<f64> = times.iter().copied().filter(|it| it.is_finite()).collect();
        let total: f64 = known.iter().sum();
        let each = mean(&known)?;
        let counted = each * as_f64(clean.values.len());
        let ended = data.end.as_ref().and_then(|end| end.ended);
        let total_time = match (data.instance.started, ended) {
            (Some(started), Some(ended)) => ended.duration_since(started).as_secs_f64(),
            (None, _) | (_, None) => total,
        };
        instance_costs.push((total_time - counted).max(0.0));
        iteration_costs.push(each);
    }
    let costs = Costs {
        instance: mean(&instance_costs)?,
        iteration: mean(&iteration_costs)?,
    };
    // Without burn-in or times of start and end, only rounding errors would be left.
    let is_known = costs.instance > ROUNDED * costs.iteration && costs.iteration > 0.0;
    is_known.then_some(costs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::tests::instance;
    use crate::clean::{CleaningPolicy, clean};
    use crate::judge::variability;
    use lapwing_model::{Id, InstanceEnd, InstanceOutcome, Object, Outcome};

    /// Returns instances around these centres, each with this number of iterations, alternating between two values,
    /// after this number of burn-in iterations.
    fn measured(centres: &[f64], burn_in: usize, pairs: usize) -> Vec<InstanceData> {
        let one = |centre: &f64| {
            let mut all = vec![(true, Outcome::Ok, *centre); burn_in];
            for _ in 0..pairs {
                all.push((false, Outcome::Ok, centre * 0.98));
                all.push((false, Outcome::Ok, centre * 1.02));
            }
            instance(&all)
        };
        centres.iter().map(one).collect()
    }

    fn of(instances: &[InstanceData]) -> Option<EffortEstimate> {
        let cleaned = clean(instances, "wall_time", CleaningPolicy::default());
        effort(
            &variability(&cleaned)?,
            &instances.iter().collect::<Vec<_>>(),
            &cleaned,
        )
    }

    #[test]
    fn instances_that_differ_ask_for_more_of_them() {
        let found = of(&measured(&[1.0, 1.3, 0.8, 1.1], 1, 5)).expect("enough");
        assert_eq!(found.more, More::Instances);
        // The cost of an instance is one iteration of burn-in, and σ_W is a tenth of σ_B.
        assert_eq!(found.best_iterations, Some(1));
    }

    #[test]
    fn instances_that_are_alike_ask_for_more_iterations() {
        let found = of(&measured(&[1.0, 1.0, 1.0, 1.0], 0, 1)).expect("enough");
        let expected = EffortEstimate {
            more: More::Iterations,
            best_iterations: None,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_long_start_is_worth_more_iterations() {
        let mut instances = measured(&[1.0, 1.02, 0.98, 1.01], 0, 2);
        for it in &mut instances {
            let started = jiff::Timestamp::UNIX_EPOCH;
            it.instance.started = Some(started);
            it.end = Some(InstanceEnd {
                instance: Id::derived(&[b"test"]),
                ended: Some(started + jiff::SignedDuration::from_secs(104)),
                outcome: InstanceOutcome::Ok,
                message: None,
                observed: Object::new(),
                extra: Object::new(),
            });
        }
        let found = of(&instances).expect("enough");
        let components = variability(&clean(&instances, "wall_time", CleaningPolicy::default()))
            .and_then(|it| it.components)
            .expect("four instances");
        // 104 s without four iterations of a second each.
        let best = (100.0 * components.within / components.between)
            .sqrt()
            .ceil();
        let found_best = found.best_iterations.map(as_f64).expect("costs are known");
        assert!((found_best - best).abs() <= 1.0, "{found_best} {best}");
        assert_eq!(found.more, More::Iterations);
    }

    #[test]
    fn what_an_instance_costs_may_be_unknown() {
        let found = of(&measured(&[1.0, 1.3, 0.8, 1.1], 0, 5)).expect("enough");
        let expected = EffortEstimate {
            more: More::Instances,
            best_iterations: None,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn one_instance_says_nothing() {
        assert_eq!(of(&measured(&[1.0], 1, 3)), None);
    }
}
