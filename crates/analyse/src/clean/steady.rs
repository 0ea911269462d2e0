//! Detection of burn-in: the first stable iteration of a benchmark, from its own values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_stats::median;
use lapwing_stats::steady::{
    BurnIn, BurnInOptions, Class, InstanceStart, SteadyOptions, burn_in, burn_in_from,
    is_long_enough, steady_state,
};

use rayon::prelude::*;

use super::SteadyFrom;
use crate::sample::Sample;
use lapwing_model::{Id, InstanceOutcome, MetricName, Outcome};
use lapwing_record::InstanceData;

/// The values of one instance and their classification.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceSteady<'a> {
    /// The instance.
    pub instance: Id,
    /// Its index among the instances of the benchmark.
    pub position: usize,
    /// The indices of the analysed iterations, or more. Instances without gaps share them.
    pub indices: Arc<[u32]>,
    /// The values of the analysed iterations: of the successful ones with a value.
    pub values: Cow<'a, [f64]>,
    /// Their classification; `None` with values that are not above zero.
    pub class: Option<Class>,
    /// The index in `values` of the first stable one; `None` without a steady state.
    pub start: Option<usize>,
    /// The number of iterations from one high to the next, for [`Class::Cyclic`].
    pub period: Option<usize>,
    /// Whether it is long enough, relative to the other instances, to be classified; otherwise [`Class::TooShort`].
    pub is_asked: bool,
}

impl InstanceSteady<'_> {
    /// Returns the indices of the analysed iterations.
    pub fn index(&self) -> &[u32] {
        &self.indices[..self.values.len()]
    }

    /// Returns the index of the first stable iteration: the one after the last unstable one, even if it failed.
    pub fn start_index(&self) -> Option<u32> {
        u32::try_from(self.as_start()?.first_steady()?).ok()
    }

    /// Returns its number of iterations up to the last with a value.
    fn iterations(&self) -> usize {
        let last = self.index().last().copied().map(usize::try_from);
        last.and_then(Result::ok).map_or(0, |last| last + 1)
    }

    fn as_start(&self) -> Option<InstanceStart<'_>> {
        Some(InstanceStart {
            index: self.index(),
            values: &self.values,
            class: self.class?,
            start: self.start,
        })
    }
}

/// The classification of a benchmark's instances.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkSteady<'a> {
    /// The metric of the values.
    pub metric: MetricName,
    /// The instances with a value.
    pub instances: Vec<InstanceSteady<'a>>,
    /// The result for the benchmark; `None` without an instance that could be classified.
    pub burn_in: Option<BurnIn>,
}

impl BenchmarkSteady<'_> {
    /// Returns it with values of its own.
    pub fn into_owned(self) -> BenchmarkSteady<'static> {
        let instances = self.instances.into_iter().map(|it| InstanceSteady {
            values: Cow::Owned(it.values.into_owned()),
            ..it
        });
        BenchmarkSteady {
            metric: self.metric,
            instances: instances.collect(),
            burn_in: self.burn_in,
        }
    }

    /// Returns the index of the first iteration to analyse; `None` if none is stable or all instances are too short.
    pub fn start_index(&self) -> Option<u32> {
        u32::try_from(self.burn_in.as_ref()?.start?).ok()
    }

    /// Returns what [`start_index`](Self::start_index) would be without caps.
    pub fn wanted_index(&self) -> Option<u32> {
        u32::try_from(self.burn_in.as_ref()?.wanted?).ok()
    }

    /// Returns the cost, and the amount of data to analyse, of a start at that index, whatever its source; `None`
    /// without an instance that could be classified.
    pub fn burn_in_from(&self, index: u32) -> Option<BurnIn> {
        burn_in_from(&starts(&self.instances), usize::try_from(index).ok()?)
    }

    /// Returns the start of the benchmark's steady state: an index, never, or, with too little data, as planned.
    pub fn steady_from(&self) -> SteadyFrom {
        match (&self.burn_in, self.start_index()) {
            (_, Some(index)) => SteadyFrom::Index(index),
            (Some(burn_in), None) if burn_in.never_steady > 0 => SteadyFrom::Never,
            (Some(_) | None, None) => SteadyFrom::Recorded,
        }
    }
}

/// Returns the metric for detecting the burn-in of a sample: the wall time, or else its first metric by name; `None`
/// without values.
pub fn burn_in_metric(sample: &Sample<'_>) -> Option<MetricName> {
    const USUAL: &str = "wall_time";
    let all = || {
        let instances = sample.instances.iter();
        instances.flat_map(|instance| instance.iterations.values.keys())
    };
    if all().any(|name| name == USUAL) {
        return Some(USUAL.to_owned());
    }
    all().min().cloned()
}

/// Returns the classification of a sample's instances, by one metric, including planned burn-in. Lost instances and
/// unsuccessful iterations are excluded.
pub fn find_steady<'a>(
    sample: &Sample<'a>,
    metric: &str,
    options: &BurnInOptions,
) -> BenchmarkSteady<'a> {
    let longest = sample.instances.iter().map(|it| it.iterations.len()).max();
    let longest = u32::try_from(longest.unwrap_or(0)).unwrap_or(u32::MAX);
    let without_gaps: Arc<[u32]> = (0..longest).collect();
    let mut instances: Vec<InstanceSteady<'a>> = sample
        .instances
        .par_iter()
        .enumerate()
        .filter_map(|(position, instance)| {
            let (indices, values) = analysed(instance, metric, &without_gaps)?;
            let found = steady_state(&values, &SteadyOptions::default());
            let found = found.as_ref();
            Some(InstanceSteady {
                instance: instance.instance.id,
                position,
                indices,
                values,
                class: found.map(|it| it.class),
                start: found.and_then(|it| it.start),
                period: found.and_then(|it| it.period),
                is_asked: true,
            })
        })
        .collect();
    mark_short(&mut instances);
    let burn_in = burn_in(&starts(&instances), options);
    BenchmarkSteady {
        metric: metric.to_owned(),
        instances,
        burn_in,
    }
}

/// Returns the instances that could be classified.
fn starts<'s>(instances: &'s [InstanceSteady]) -> Vec<InstanceStart<'s>> {
    let all = instances.iter();
    all.filter_map(InstanceSteady::as_start).collect()
}

/// Marks instances that are too short, relative to the longest, to represent the benchmark.
fn mark_short(instances: &mut [InstanceSteady]) {
    let classified = instances.iter().filter(|it| it.class.is_some());
    let longest = classified.map(InstanceSteady::iterations).max();
    for instance in instances {
        instance.is_asked = is_long_enough(instance.iterations(), longest.unwrap_or(0));
        if !instance.is_asked && instance.class.is_some() {
            instance.class = Some(Class::TooShort);
            instance.start = None;
            instance.period = None;
        }
    }
}

type IndicesAndValues<'a> = (Arc<[u32]>, Cow<'a, [f64]>);

/// Returns the successful iterations with a value, which are mostly all: then nothing is copied. `None` without any,
/// and of a lost instance.
fn analysed<'a>(
    data: &'a InstanceData,
    metric: &str,
    without_gaps: &Arc<[u32]>,
) -> Option<IndicesAndValues<'a>> {
    if data.end.as_ref().map(|end| end.outcome) == Some(InstanceOutcome::Lost) {
        return None;
    }
    let iterations = &data.iterations;
    let column = iterations.values.get(metric)?;
    let is_analysed =
        |at: &usize| iterations.outcome[*at] == Outcome::Ok && column[*at].is_finite();
    let analysed = || (0..column.len()).filter(is_analysed);
    let count = analysed().count();
    if count == 0 {
        return None;
    }
    // Numbers increase, so the last one shows whether one is missing.
    if count == column.len() && Some(&iterations.index(count - 1)) == without_gaps.get(count - 1) {
        return Some((Arc::clone(without_gaps), Cow::Borrowed(column)));
    }
    let indices = analysed().map(|at| iterations.index(at));
    let values = analysed().map(|at| column[at]);
    Some((indices.collect(), values.collect()))
}

/// Every class, in the order in which they are listed.
const CLASSES: [Class; 6] = [
    Class::WarmUp,
    Class::Flat,
    Class::Slowdown,
    Class::Cyclic,
    Class::NoSteadyState,
    Class::TooShort,
];

impl BenchmarkSteady<'_> {
    /// Returns the number of instances of each class, most frequent first. Instances without a class
    /// have a value that is not positive.
    pub fn classes(&self) -> Vec<(Option<Class>, usize)> {
        let all = CLASSES.into_iter().map(Some).chain([None]);
        let count = |class| self.instances.iter().filter(|it| it.class == class).count();
        let mut counts: Vec<(Option<Class>, usize)> = all
            .map(|class| (class, count(class)))
            .filter(|(_, count)| *count > 0)
            .collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// Returns the median over instances at each index that at least half of them have.
    pub fn medians(&self) -> Vec<(u32, f64)> {
        // A stretch at a time: together, all values may be too many for memory.
        const STRETCH: u32 = 256;
        let mut places = vec![0; self.instances.len()];
        let mut medians = Vec::new();
        loop {
            let next = self.instances.iter().zip(&places);
            let next = next.filter_map(|(instance, place)| instance.index().get(*place));
            let Some(first) = next.min().copied() else {
                return medians;
            };
            let mut at: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for (instance, place) in self.instances.iter().zip(&mut places) {
                let values = instance.index().iter().zip(instance.values.iter());
                let values = values.skip(*place);
                for (index, value) in values.take_while(|it| it.0 - first < STRETCH) {
                    at.entry(*index).or_default().push(*value);
                    *place += 1;
                }
            }
            let at = at.into_iter();
            let common = at.filter(|(_, values)| 2 * values.len() >= self.instances.len());
            medians.extend(common.filter_map(|(index, values)| Some((index, median(&values)?))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::instance;
    use super::*;
    use crate::sample::BenchmarkData;
    use lapwing_model::Benchmark;

    /// Twenty times slower in the first `slow` of 60 iterations.
    fn warming_up(slow: u32) -> InstanceData {
        let iterations: Vec<(bool, Outcome, f64)> = (0_u32..60)
            .map(|at| {
                // Some noise without a period.
                let wave = 1.0 + 0.01 * f64::from((at * at * 7 + at * 3) % 31) / 31.0;
                let level = if at < slow { 20.0 } else { 1.0 };
                (false, Outcome::Ok, level * wave)
            })
            .collect();
        instance(&iterations)
    }

    fn data(instances: Vec<InstanceData>) -> BenchmarkData {
        BenchmarkData {
            suite: "test".to_owned(),
            benchmark: Benchmark::default(),
            instances,
        }
    }

    #[test]
    fn a_slow_start_is_burn_in_by_every_instance() {
        let data = data(vec![warming_up(5), warming_up(5), warming_up(5)]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &BurnInOptions::default(),
        );
        // One more than the five: the method keeps a small margin.
        assert_eq!(found.steady_from(), SteadyFrom::Index(6));
        assert!(
            found
                .instances
                .iter()
                .all(|it| it.class == Some(Class::WarmUp))
        );
    }

    #[test]
    fn iterations_that_failed_do_not_shift_the_index() {
        let mut broken = warming_up(5);
        broken.iterations.outcome.set(0, Outcome::Failed);
        broken.iterations.outcome.set(1, Outcome::Failed);
        let data = data(vec![broken]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &BurnInOptions::default(),
        );
        assert_eq!(found.steady_from(), SteadyFrom::Index(6));
    }

    #[test]
    fn the_start_that_was_found_costs_the_same_as_if_it_were_given() {
        let mut broken = warming_up(5);
        broken.iterations.outcome.set(1, Outcome::Failed);
        let data = data(vec![broken, warming_up(5), warming_up(4)]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &BurnInOptions::default(),
        );
        let start = found.start_index().expect("steady");
        let given = found.burn_in_from(start).expect("instances");
        assert_eq!(Some(given), found.burn_in);
        assert_eq!(found.burn_in_from(0).expect("instances").cost.to_bits(), 0);
        let all = found.burn_in_from(80).expect("instances");
        assert_eq!(all.start, Some(80));
    }

    #[test]
    fn a_first_iteration_that_failed_is_no_burn_in() {
        let mut broken = warming_up(0);
        broken.iterations.outcome.set(0, Outcome::Failed);
        let data = data(vec![broken, warming_up(0)]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &BurnInOptions::default(),
        );
        assert_eq!(found.steady_from(), SteadyFrom::Index(0));
        let starts: Vec<_> = found
            .instances
            .iter()
            .map(InstanceSteady::start_index)
            .collect();
        assert_eq!(starts, [Some(0), Some(0)]);
    }

    #[test]
    fn what_is_too_short_keeps_its_plan() {
        let short = instance(&[(false, Outcome::Ok, 1.0), (false, Outcome::Ok, 1.1)]);
        let data = data(vec![short]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &BurnInOptions::default(),
        );
        assert_eq!(found.steady_from(), SteadyFrom::Recorded);
        assert_eq!(found.start_index(), None);
    }

    #[test]
    fn an_instance_that_ended_in_the_warm_up_is_too_short_to_tell() {
        let mut crashed = warming_up(20);
        for at in 12..crashed.iterations.len() {
            crashed.iterations.outcome.set(at, Outcome::Failed);
        }
        let data = data(vec![warming_up(20), crashed, warming_up(20)]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &BurnInOptions::default(),
        );
        assert_eq!(found.steady_from(), SteadyFrom::Index(21));
        let classes: Vec<(Option<Class>, bool)> = found
            .instances
            .iter()
            .map(|it| (it.class, it.is_asked))
            .collect();
        let expected = [Class::WarmUp, Class::TooShort, Class::WarmUp]
            .map(|class| (Some(class), class == Class::WarmUp));
        assert_eq!(classes, expected);
    }

    #[test]
    fn without_wall_time_the_first_metric_tells() {
        let mut other = warming_up(5);
        let column = other.iterations.values.remove("wall_time").expect("it");
        other.iterations.values.insert("rate".to_owned(), column);
        let data = data(vec![other]);
        assert_eq!(
            burn_in_metric(&Sample::of_all(&data)).as_deref(),
            Some("rate")
        );
    }

    fn with_classes(classes: &[Option<Class>]) -> BenchmarkSteady<'static> {
        let instance = |(position, class): (usize, &Option<Class>)| InstanceSteady {
            instance: Id::derived(&[&position.to_le_bytes()]),
            position,
            indices: [0, 1 + u32::try_from(position).expect("few")].into(),
            values: vec![1.0 + f64::from(u32::try_from(position).expect("few")), 9.0].into(),
            class: *class,
            start: None,
            period: None,
            is_asked: true,
        };
        BenchmarkSteady {
            metric: "wall_time".to_owned(),
            instances: classes.iter().enumerate().map(instance).collect(),
            burn_in: None,
        }
    }

    #[test]
    fn the_median_is_told_where_half_of_the_instances_have_a_value() {
        assert_eq!(with_classes(&[None; 3]).medians(), [(0, 2.0)]);
        assert_eq!(
            with_classes(&[None; 2]).medians(),
            [(0, 1.5), (1, 9.0), (2, 9.0)]
        );
    }
}
