//! The noise of a benchmark, within and between instances.

use lapwing_stats::{
    Confidence, Interval, Modes, Pilot, PilotNoise, VarianceComponents, modes, variance_components,
};

use super::{SampleSize, centre, hosts_as_units, instance_means, size};
use crate::clean::{CleanInstance, Cleaned, UnusableReason};

/// The variability of a benchmark's values, within its instances and between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Variability {
    /// The number of instances and iterations.
    pub size: SampleSize,
    /// The centre, as in [`Estimate`](super::Estimate), in the metric's unit.
    pub value: f64,
    /// Mean of all values pooled, as in Hail's notebook.
    pub mean: f64,
    /// Coefficient of variation of all values pooled (population standard deviation).
    pub cv_total: f64,
    /// Mean over instances of the coefficient of variation within each; `None` if no instance has two iterations.
    pub cv_instance_mean: Option<f64>,
    /// Population standard deviation of those coefficients.
    pub cv_instance_sd: Option<f64>,
    /// Variance of the logarithms, between instances and within them; `None` below two instances, without a second
    /// iteration, or if a value is not positive.
    pub components: Option<VarianceComponents>,
    /// The noise of instance means, for power; `None` below three instances, without a second iteration, or if a value
    /// is not positive.
    pub pilot: Option<PilotNoise>,
    /// Whether the instance means fall into two groups.
    pub modes: Modes,
}

/// Returns the variability of the values; `None` if there are none.
///
/// The coefficients of variation are Hail's: population standard deviations; instances have equal weight in the mean
/// and deviation of their coefficients.
///
/// Source: `variability` of Hail's benchmarks; components as [`variance_components`], on
/// logarithms, so that they are relative.
pub fn variability(cleaned: &Cleaned) -> Option<Variability> {
    let rows = cleaned.rows();
    let pooled = lapwing_stats::variability(&rows)?;
    let size = size(cleaned);
    let several = size.most_iterations > 1;
    let hosts = hosts_as_units(cleaned);
    let pilot = pilot(cleaned).map(|it| it.noise());
    let components = components(cleaned);
    Some(Variability {
        size,
        value: centre(&instance_means(cleaned), hosts.as_deref())?.0,
        mean: pooled.mean,
        cv_total: pooled.total,
        cv_instance_mean: several.then_some(pooled.instance_mean),
        cv_instance_sd: several.then_some(pooled.instance_deviation),
        components: match (hosts, &pilot) {
            (Some(_), Some(pilot)) => components.map(|it| between_hosts(it, pilot)),
            _ => components,
        },
        pilot,
        modes: modes(&instance_means(cleaned)),
    })
}

/// Returns the variability of the values, as [`variability`] does.
///
/// # Errors
/// If there is no usable data, with the reason.
pub fn usable_variability(cleaned: &Cleaned) -> Result<Variability, UnusableReason> {
    let found = variability(cleaned).filter(|it| it.mean.is_finite());
    found.ok_or_else(|| {
        let mut values = cleaned.instances.iter().flat_map(|it| &it.values);
        let mut means = cleaned.instances.iter().map(CleanInstance::mean);
        if cleaned.instances.is_empty() {
            UnusableReason::NoValue
        } else if values.all(|it| *it == 0.0) {
            UnusableReason::AllZero
        } else if means.any(|it| it == 0.0) {
            UnusableReason::MeanOfZero
        } else {
            UnusableReason::NoMean
        }
    })
}

/// Returns the noise of the instances, of those on hosts of their own where hosts are the units of replication.
pub(crate) fn pilot(cleaned: &Cleaned) -> Option<Pilot> {
    let rows = cleaned.rows();
    match hosts_as_units(cleaned) {
        Some(hosts) => Pilot::on_hosts(&rows, &hosts),
        None => Pilot::new(&rows),
    }
}

/// Returns variance components with the variance between instances on hosts of their own, as the pilot shows it.
fn between_hosts(components: VarianceComponents, pilot: &PilotNoise) -> VarianceComponents {
    let between = pilot.estimate().between;
    let tail = Confidence::P95.tail();
    // In means of so many iterations none of their noise is left.
    let end = |probability: f64| pilot.limit(probability, usize::MAX).between;
    VarianceComponents {
        between,
        between_interval: components.between_interval.map(|_| Interval {
            lower: end(tail),
            upper: end(1.0 - tail),
        }),
        ..components
    }
}

/// Returns the variance components of the logarithms.
pub(super) fn components(cleaned: &Cleaned) -> Option<VarianceComponents> {
    let logs = cleaned.instances.iter().map(|it| logarithms(&it.values));
    let logs: Vec<Vec<f64>> = logs.collect::<Option<_>>()?;
    let rows: Vec<&[f64]> = logs.iter().map(Vec::as_slice).collect();
    variance_components(&rows, Confidence::P95)
}

fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let positive = values.iter().all(|value| *value > 0.0);
    positive.then(|| values.iter().map(|value| value.ln()).collect())
}
