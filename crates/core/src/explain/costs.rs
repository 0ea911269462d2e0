//! What running a benchmark takes.

use lapwing_stats::as_f64;
use lapwing_stats::{Configuration, mean};

use super::samples::MetricOfSample;
use crate::clean::SteadyFrom;
use crate::record::InstanceData;

/// The metric that says how long an iteration takes.
const TIME: &str = "wall_time";

/// Seconds that one run of a benchmark takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunCosts {
    /// Each instance, besides its iterations.
    pub start: f64,
    /// The burn-in of each instance.
    pub burn_in: f64,
    /// Each iteration that counts.
    pub iteration: f64,
}

impl RunCosts {
    /// Returns the seconds that so many instances of so many iterations take: those of one
    /// side of a comparison.
    pub fn of(self, configuration: Configuration) -> f64 {
        let Configuration {
            instances,
            iterations,
        } = configuration;
        as_f64(instances) * (self.start + self.burn_in + as_f64(iterations) * self.iteration)
    }
}

/// Returns how many iterations an instance has before those that count.
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

/// Returns what the instances took, on average; `None` where no time is known.
pub(super) fn run_costs(of_metric: &MetricOfSample<'_>, burn_in: u32) -> Option<RunCosts> {
    let (mut start, mut first, mut each) = (Vec::new(), Vec::new(), Vec::new());
    for clean in &of_metric.cleaned.instances {
        let data = of_metric.sample.instances.get(clean.position)?;
        let Some(times) = data.iterations.values.get(TIME) else {
            continue;
        };
        let known = || {
            let times = data.iterations.index.iter().zip(times);
            times.filter(|(_, time)| time.is_finite())
        };
        let sum = |of: &dyn Fn(u32) -> bool| -> f64 {
            known()
                .filter(|(index, _)| of(**index))
                .map(|(_, time)| time)
                .sum()
        };
        let steady: Vec<f64> = known()
            .filter(|(index, _)| **index >= burn_in)
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
