//! The noise of a benchmark, its level (within or between instances), and what it is associated with.

use std::collections::BTreeMap;

use lapwing_stats::{Confidence, Interval, Modes, Seed, variance_components};

use super::costs::{RunCosts, burn_in, run_costs};
use super::effort::{EffortEstimate, effort};
use super::groups::{Association, associations};
use super::samples::{BySetting, MetricOfSample, NoiseMetrics, by_setting};
use crate::clean::{Cleaned, CleaningRules};
use crate::judge::{Variability, metric};
use crate::sample::{BenchmarkData, Sample, Setting, SettingChoice};
use lapwing_model::{Metric, MetricName};

/// The noise of one metric of a benchmark in one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// The benchmark's suite.
    pub suite: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The variant and version.
    pub setting: Setting,
    /// The metric's name.
    pub name: MetricName,
    /// Its unit and direction.
    pub metric: Metric,
    /// The variability of its values.
    pub variability: Variability,
    /// The standard deviation between instances, as a share; `None` if unknown.
    pub between: Option<NoisePart>,
    /// The standard deviation within instances, as a share; `None` if unknown.
    pub within: Option<NoisePart>,
    /// The share of the variance between instances that lies between hosts; `None` for a single host, or if no host
    /// has two instances.
    pub between_hosts: Option<NoisePart>,
    /// The number of hosts that are known.
    pub hosts: usize,
    /// The properties associated with the groups, if the instances fall into two.
    pub associations: Vec<Association>,
    /// Whether to measure more instances or more iterations.
    pub effort: Option<EffortEstimate>,
    /// The costs of running it; `None` if no time is known.
    pub costs: Option<RunCosts>,
}

/// A relative standard deviation: 0.03 for 3 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisePart {
    /// The estimate.
    pub value: f64,
    /// Its 95 % interval; `None` if nothing varies.
    pub interval: Option<Interval>,
}

impl NoisePart {
    fn of(variance: f64, interval: Option<Interval>) -> Self {
        Self {
            value: variance.sqrt(),
            interval: interval.map(|it| Interval {
                lower: it.lower.sqrt(),
                upper: it.upper.sqrt(),
            }),
        }
    }
}

impl Noise {
    /// Returns whether the instances fall into two groups.
    pub fn has_two_groups(&self) -> bool {
        matches!(self.variability.modes, Modes::Two { .. })
    }
}

/// Returns the noise of a benchmark, per setting.
pub fn noise(
    data: &BenchmarkData,
    rules: &CleaningRules,
    which: SettingChoice,
    metrics: &NoiseMetrics,
    seed: Seed,
) -> BySetting<Noise> {
    by_setting(data, rules, which, metrics, |of_metric, variability| {
        row(of_metric, variability, seed)
    })
}

fn row(of_metric: &MetricOfSample<'_>, variability: Variability, seed: Seed) -> Noise {
    let MetricOfSample {
        sample,
        name,
        cleaned,
        ..
    } = *of_metric;
    let components = variability.components;
    let associations = match variability.modes {
        Modes::Two { split, .. } => {
            let upper = cleaned.instances.iter().map(|it| it.mean() >= split.gap.1);
            let upper: Vec<bool> = upper.collect();
            let instances: Vec<_> = cleaned
                .instances
                .iter()
                .filter_map(|it| sample.instances.get(it.position).copied())
                .collect();
            let seed = seed
                .split(sample.suite)
                .split(&sample.benchmark.id)
                .split(name);
            associations(&instances, &upper, seed)
        }
        Modes::TooFew | Modes::One { .. } => Vec::new(),
    };
    let of_hosts = by_host(sample, cleaned);
    Noise {
        suite: sample.suite.to_owned(),
        benchmark: sample.benchmark.id.clone(),
        setting: sample.setting.clone(),
        metric: metric(sample, name),
        name: name.clone(),
        between: components.map(|it| NoisePart::of(it.between, it.between_interval)),
        within: components.map(|it| NoisePart::of(it.within, it.within_interval)),
        between_hosts: host_share(&of_hosts),
        hosts: of_hosts.len(),
        associations,
        effort: effort(&variability, &sample.instances, cleaned),
        costs: run_costs(of_metric, burn_in(of_metric)),
        variability,
    }
}

/// Returns the logarithms of the instance means of each host. Instances without a host, or whose mean is not
/// positive, are left out.
fn by_host(sample: &Sample<'_>, cleaned: &Cleaned) -> BTreeMap<String, Vec<f64>> {
    let mut hosts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for instance in &cleaned.instances {
        let data = sample.instances.get(instance.position);
        let host = data.and_then(|it| it.instance.host.clone());
        if let (Some(host), true) = (host, instance.mean() > 0.0) {
            hosts.entry(host).or_default().push(instance.mean().ln());
        }
    }
    hosts
}

/// Returns σ_H² / (σ_H² + σ_I²), with σ_H² the variance between hosts and σ_I² that of the instance means of one host.
fn host_share(hosts: &BTreeMap<String, Vec<f64>>) -> Option<NoisePart> {
    let rows: Vec<&[f64]> = hosts.values().map(Vec::as_slice).collect();
    let found = variance_components(&rows, Confidence::P95)?;
    Some(NoisePart {
        value: found.share_between?,
        interval: found.share_interval,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_differ_more_than_their_instances_have_most_of_the_variance() {
        // By hand: two hosts of three instances; MS_B = 3 × 0.125 = 0.375 and MS_W = 0.01, so σ_H² = 0.365 / 3, and the
        // share is 0.121667 / 0.131667.
        let hosts = BTreeMap::from([
            ("n1".to_owned(), vec![0.0, 0.1, 0.2]),
            ("n2".to_owned(), vec![0.5, 0.6, 0.7]),
        ]);
        let share = host_share(&hosts).expect("two hosts");
        assert!((share.value - 0.924_050_632_911).abs() < 1e-9, "{share:?}");
        let interval = share.interval.expect("instances vary");
        assert!(interval.lower < share.value && share.value < interval.upper);
    }

    #[test]
    fn one_host_or_single_instances_have_no_share() {
        let one = BTreeMap::from([("n1".to_owned(), vec![0.0, 0.1])]);
        let single = BTreeMap::from([("n1".to_owned(), vec![0.0]), ("n2".to_owned(), vec![0.1])]);
        assert_eq!(host_share(&one), None);
        assert_eq!(host_share(&single), None);
    }
}
