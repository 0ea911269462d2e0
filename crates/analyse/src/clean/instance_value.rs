//! The value of an instance: the mean of its iterations, or what a source without samples states of it.

use std::collections::BTreeMap;

use super::{CleanInstance, Cleaned, CleaningPolicy, SteadyFrom, clean};
use crate::sample::is_void;
use lapwing_model::{InstanceOutcome, Summary};
use lapwing_record::InstanceData;

/// The one number that an instance contributes to a history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InstanceValue {
    /// The index of the instance among the given ones.
    pub position: usize,
    /// The mean of its iterations that count, or the centre of its summary; in the metric's unit, and finite.
    pub value: f64,
}

/// The centres that summaries of a metric state, such as `median`, in the order in which they are preferred: that
/// which most summaries have first, and of equally many a median, which one slow sample does not move.
///
/// A history of one statistic can be read; one that jumps between means and medians cannot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreferredCentres(Vec<String>);

impl PreferredCentres {
    /// Returns those of all summaries of a metric.
    pub fn of<'a>(instances: impl IntoIterator<Item = &'a InstanceData>, metric: &str) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let summaries = instances.into_iter().flat_map(|it| &it.summaries);
        for summary in summaries.filter(|it| it.metric == metric) {
            *counts.entry(centre_name(summary)).or_default() += 1;
        }
        let mut names: Vec<(&str, usize)> = counts.into_iter().collect();
        names.sort_by_key(|(name, count)| (usize::MAX - count, *name != "median", *name));
        Self(names.into_iter().map(|it| it.0.to_owned()).collect())
    }

    /// Returns the summary that stands for an instance without samples of a metric: that whose centre comes first.
    pub fn summary<'a>(&self, instance: &'a InstanceData, metric: &str) -> Option<&'a Summary> {
        if !is_summarised(instance, metric) {
            return None;
        }
        let of_metric = instance.summaries.iter();
        let of_metric = of_metric.filter(|it| it.metric == metric && it.centre.is_finite());
        let place = |summary: &&Summary| self.0.iter().position(|it| it == centre_name(summary));
        of_metric.min_by_key(|summary| place(summary).unwrap_or(usize::MAX))
    }
}

/// Returns the name of the centre of a summary: `median` of `median/iqr`.
pub(crate) fn centre_name(summary: &Summary) -> &str {
    let statistic = summary.statistic.as_str();
    statistic.split_once('/').map_or(statistic, |it| it.0)
}

/// Returns the same as [`clean`], and for an instance of which the source kept no samples of the metric, the centre of
/// its summary as its only value. `centres` are those of all instances that are looked at together
/// ([`PreferredCentres::of`]). A policy's fewest instances count both.
///
/// The spread and the number of samples of a summary are not used: they say how much the samples of one process vary,
/// and nothing about other runs.
pub fn clean_with_summaries(
    instances: &[&InstanceData],
    metric: &str,
    policy: CleaningPolicy,
    centres: &PreferredCentres,
) -> Cleaned {
    let mut cleaned = clean(instances.iter().copied(), metric, policy);
    let has_steady_state = match policy.burn_in {
        SteadyFrom::Recorded | SteadyFrom::Index(_) => true,
        SteadyFrom::Never | SteadyFrom::Unknown => false,
    };
    if centres.0.is_empty() || !has_steady_state {
        return cleaned;
    }
    let summarised = instances.iter().enumerate().filter_map(|(position, it)| {
        let values = vec![centres.summary(it, metric)?.centre];
        Some(CleanInstance {
            position,
            values,
            without_value: 0,
            host: None,
        })
    });
    cleaned.instances.extend(summarised);
    if cleaned.instances.len() < policy.min_instances {
        cleaned.instances.clear();
    }
    cleaned.instances.sort_by_key(|it| it.position);
    cleaned.number_hosts(|position| instances[position].instance.host.as_deref());
    cleaned
}

/// Returns the values of instances of one benchmark, one for each: the mean of the iterations that remain under
/// `policy`, or, if the source kept none of the metric, the centre of its summary.
pub fn instance_values(
    instances: &[&InstanceData],
    metric: &str,
    policy: CleaningPolicy,
    centres: &PreferredCentres,
) -> Vec<InstanceValue> {
    let cleaned = clean_with_summaries(instances, metric, policy, centres);
    let value = |it: &CleanInstance| InstanceValue {
        position: it.position,
        value: it.mean(),
    };
    cleaned.instances.iter().map(value).collect()
}

/// Returns whether an instance ended well and has no iteration with a value of the metric: what was measured of it is
/// in its summary.
fn is_summarised(instance: &InstanceData, metric: &str) -> bool {
    let mut values = instance.iterations.values.get(metric).into_iter().flatten();
    let end = instance.end.as_ref();
    !values.any(|value| value.is_finite())
        && end.is_none_or(|end| end.outcome == InstanceOutcome::Ok && !is_void(end))
}

#[cfg(test)]
mod tests {
    use super::super::tests::instance;
    use super::*;
    use lapwing_model::{Id, InstanceEnd, Object, Outcome};

    fn summarised(statistics: &[(&str, f64)]) -> InstanceData {
        let mut it = instance(&[]);
        it.summaries = statistics
            .iter()
            .map(|(statistic, centre)| Summary {
                instance: it.instance.id,
                metric: "wall_time".to_owned(),
                n: Some(1_000_000),
                centre: *centre,
                spread: Some(1e-9),
                statistic: (*statistic).to_owned(),
                extra: Object::new(),
            })
            .collect();
        it
    }

    fn values(instances: &[InstanceData], policy: CleaningPolicy) -> Vec<(usize, f64)> {
        let centres = PreferredCentres::of(instances, "wall_time");
        let instances: Vec<&InstanceData> = instances.iter().collect();
        let values = instance_values(&instances, "wall_time", policy, &centres);
        values.iter().map(|it| (it.position, it.value)).collect()
    }

    #[test]
    fn samples_come_before_summaries_and_the_commonest_centre_before_others() {
        let mut both = summarised(&[("median/iqr", 9.0)]);
        both.iterations =
            instance(&[(false, Outcome::Ok, 1.0), (false, Outcome::Ok, 3.0)]).iterations;
        let all = [
            both,
            summarised(&[("mean/sd", 5.0), ("median/iqr", 4.0)]),
            summarised(&[("mean", 6.0)]),
            summarised(&[("mean/sd", 7.0), ("max", 8.0)]),
        ];
        let expected = [(0, 2.0), (1, 5.0), (2, 6.0), (3, 7.0)];
        assert_eq!(values(&all, CleaningPolicy::default()), expected);
        // Of equally many, the median.
        assert_eq!(values(&all[1..2], CleaningPolicy::default()), [(0, 4.0)]);
    }

    #[test]
    fn what_failed_or_was_excluded_has_no_value_by_its_summary() {
        let ended = |outcome: InstanceOutcome| {
            let mut it = summarised(&[("median", 1.0)]);
            it.end = Some(InstanceEnd {
                instance: Id::derived(&[b"test"]),
                ended: None,
                outcome,
                message: None,
                observed: Object::new(),
                extra: Object::new(),
            });
            it
        };
        let mut burned_in = summarised(&[("median", 1.0)]);
        burned_in.iterations = instance(&[(true, Outcome::Ok, 1.0)]).iterations;
        let all = [
            ended(InstanceOutcome::Failed),
            ended(InstanceOutcome::Lost),
            burned_in,
            summarised(&[("median", f64::NAN)]),
            ended(InstanceOutcome::Ok),
        ];
        assert_eq!(values(&all, CleaningPolicy::default()), [(4, 1.0)]);
        let never = CleaningPolicy {
            burn_in: SteadyFrom::Never,
            ..CleaningPolicy::default()
        };
        assert_eq!(values(&all, never), []);
        let two = CleaningPolicy {
            min_instances: 2,
            ..CleaningPolicy::default()
        };
        assert_eq!(values(&all, two), []);
    }
}
