//! What to measure more of: instances or iterations.

use lapwing_stats::{best_iterations, mean};

use crate::clean::Cleaned;
use crate::judge::Variability;
use crate::record::InstanceData;

/// The metric that says how long an iteration takes.
const TIME: &str = "wall_time";

/// What to measure more of, so that means get surer for the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
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
    instances: &[InstanceData],
    cleaned: &Cleaned,
) -> Option<Effort> {
    let components = variability.components?;
    let (between, within) = (components.between, components.within);
    let iterations = as_f64(variability.size.iterations) / as_f64(variability.size.instances);
    let best = costs(instances, cleaned)
        .and_then(|costs| best_iterations(within, between, costs.instance, costs.iteration));
    let helps = match best {
        Some(best) => iterations < as_f64(best),
        None => within / iterations > between,
    };
    Some(Effort {
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
fn costs(instances: &[InstanceData], cleaned: &Cleaned) -> Option<Costs> {
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
    (costs.instance > 0.0 && costs.iteration > 0.0).then_some(costs)
}

#[expect(clippy::cast_precision_loss, reason = "no sample has 2^53 values")]
fn as_f64(count: usize) -> f64 {
    count as f64
}
