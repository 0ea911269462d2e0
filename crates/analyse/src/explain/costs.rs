//! The time to run a benchmark.

use lapwing_stats::as_f64;
use lapwing_stats::{Configuration, mean};

use super::samples::MetricOfSample;
use crate::clean::SteadyFrom;
use lapwing_record::InstanceData;

/// The metric for the duration of an iteration.
const TIME: &str = "wall_time";

/// The costs of running a benchmark, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunCosts {
    /// Per instance, without its iterations.
    pub start: f64,
    /// Burn-in, per instance.
    pub burn_in: f64,
    /// Per analysed iteration.
    pub iteration: f64,
}

impl RunCosts {
    /// Returns the seconds for this number of instances and iterations, on one side of a comparison.
    pub fn of(self, configuration: Configuration) -> f64 {
        let Configuration {
            instances,
            iterations,
        } = configuration;
        as_f64(instances) * (self.start + self.burn_in + as_f64(iterations) * self.iteration)
    }
}

/// Returns the number of burn-in iterations per instance.
pub(super) fn burn_in(of_metric: &MetricOfSample<'_>) -> u32 {
    match of_metric.steady {
        SteadyFrom::Index(first) => first,
        SteadyFrom::Recorded => {
            let planned =
                |it: &&InstanceData| it.iterations.burn_in.iter().filter(|it| **it).count();
            let most = of_metric.sample.instances.iter().map(planned).max();
            u32::try_from(most.unwrap_or_default()).unwrap_or(u32::MAX)
        }
        SteadyFrom::Never | SteadyFrom::Unknown => 0,
    }
}

/// Returns the mean costs of the instances; `None` if no time is known.
pub(super) fn run_costs(of_metric: &MetricOfSample<'_>, burn_in: u32) -> Option<RunCosts> {
    let (mut start, mut first, mut each) = (Vec::new(), Vec::new(), Vec::new());
    for clean in &of_metric.cleaned.instances {
        let data = of_metric.sample.instances.get(clean.position)?;
        let Some(times) = data.iterations.values.get(TIME) else {
            continue;
        };
        let known = || {
            let times = data.iterations.indices().zip(times);
            times.filter(|(_, time)| time.is_finite())
        };
        let sum = |of: &dyn Fn(u32) -> bool| -> f64 {
            known()
                .filter(|(index, _)| of(*index))
                .map(|(_, time)| time)
                .sum()
        };
        let steady: Vec<f64> = known()
            .filter(|(index, _)| *index >= burn_in)
            .map(|(_, time)| *time)
            .collect();
        each.extend(mean(&steady));
        first.push(sum(&|index| index < burn_in));
        let ended = data.end.as_ref().and_then(|end| end.ended);
        let besides = match (data.instance.started, ended) {
            (Some(started), Some(ended)) => {
                ended.duration_since(started).as_secs_f64() - sum(&|_| true)
            }
            (None, _) | (_, None) => 0.0,
        };
        start.push(besides.max(0.0));
    }
    Some(RunCosts {
        start: mean(&start)?,
        burn_in: mean(&first)?,
        iteration: mean(&each)?,
    })
}
