//! What to measure more of: instances or iterations.

use lapwing_stats::as_f64;
use lapwing_stats::{best_iterations, mean};

use crate::clean::Cleaned;
use crate::judge::Variability;
use crate::record::InstanceData;

/// The metric that says how long an iteration takes.
const TIME: &str = "wall_time";

/// What is less of an iteration is no cost.
const ROUNDED: f64 = 1e-6;

/// What to measure more of, so that means get surer for the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffortEstimate {
    /// What helps more.
    pub more: More,
    /// The number of iterations of each instance that gives the narrowest interval for its time;
    /// `None` where the costs are unknown, or instances do not differ.
    pub best_iterations: Option<usize>,
}

/// What to measure more of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// The noise of a mean lies between the instances.
    Instances,
    /// Most of it still lies within them.
    Iterations,
}

/// Seconds that measuring takes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Costs {
    /// Of one more instance besides its iterations that count.
    instance: f64,
    /// Of one more iteration.
    iteration: f64,
}

/// Returns what to measure more of; `None` where it is not known how the variance is split.
///
/// With J iterations an instance's mean varies by σ_B² + σ_W² / J: more iterations help while the second
/// part is the larger one. Where it is known what instances and iterations cost, they help
/// up to Kalibera and Jones' number instead ([`best_iterations`]).
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

/// Returns what measuring took, as far as the instances tell: an instance costs the time from its
/// start to its end without its iterations that count, or else its burn-in.
fn costs(instances: &[&InstanceData], cleaned: &Cleaned) -> Option<Costs> {
    let (mut own, mut iterations) = (Vec::new(), Vec::new());
    for it in &cleaned.instances {
        let data = instances.get(it.position)?;
        let Some(times) = data.iterations.values.get(TIME) else {
            continue;
        };
        let known: Vec<f64> = times.iter().copied().filter(|it| it.is_finite()).collect();
        let total: f64 = known.iter().sum();
        let each = mean(&known)?;
        let counted = each * as_f64(it.values.len());
        let ended = data.end.as_ref().and_then(|end| end.ended);
        let whole = match (data.instance.started, ended) {
            (Some(started), Some(ended)) => ended.duration_since(started).as_secs_f64(),
            (None, _) | (_, None) => total,
        };
        own.push((whole - counted).max(0.0));
        iterations.push(each);
    }
    let costs = Costs {
        instance: mean(&own)?,
        iteration: mean(&iterations)?,
    };
    // Without burn-in or times of start and end nothing is left but what was rounded.
    let is_known = costs.instance > ROUNDED * costs.iteration && costs.iteration > 0.0;
    is_known.then_some(costs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::tests::instance;
    use crate::clean::{CleaningPolicy, clean};
    use crate::judge::variability;
    use crate::model::{Id, InstanceEnd, InstanceOutcome, Object, Outcome};

    /// Instances around these centres: so many iterations of two values around each, after as many
    /// of burn-in as are wanted.
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
        // An instance costs one iteration of burn-in, and σ_W is a tenth of σ_B.
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
