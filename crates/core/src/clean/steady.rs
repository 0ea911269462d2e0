//! From which iteration on a benchmark is steady, as its own values tell.

use lapwing_stats::Seed;
use lapwing_stats::steady::krun::{Krun, krun};
use lapwing_stats::steady::traini::{Traini, traini};
use lapwing_stats::steady::{
    BurnIn, BurnInOptions, Class, InstanceStart, SteadyOptions, burn_in, burn_in_from,
    is_long_enough, mser5, steady_state,
};

use rayon::prelude::*;

use super::SteadyFrom;
use crate::model::{Id, InstanceOutcome, MetricName, Outcome};
use crate::record::InstanceData;
use crate::sample::Sample;

/// How the start of the steady state of an instance is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SteadyMethod {
    /// Ours.
    #[default]
    Default,
    /// That of Krun's `warmup_stats` (Barrett et al. 2017).
    Krun,
    /// That of Traini et al. 2023.
    Traini,
    /// The simple rule MSER-5, which knows no classes.
    Mser5,
}

impl SteadyMethod {
    /// Every method.
    pub const ALL: [Self; 4] = [Self::Default, Self::Krun, Self::Traini, Self::Mser5];

    /// Returns what it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Krun => "krun",
            Self::Traini => "traini",
            Self::Mser5 => "mser5",
        }
    }
}

/// How the burn-in of a benchmark is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadySearch {
    /// How the start of each instance is found.
    pub method: SteadyMethod,
    /// How one burn-in comes of them.
    pub burn_in: BurnInOptions,
    /// Where the resamples of Traini's method come from.
    pub seed: Seed,
}

impl Default for SteadySearch {
    fn default() -> Self {
        Self {
            method: SteadyMethod::Default,
            burn_in: BurnInOptions::default(),
            seed: Seed(7),
        }
    }
}

/// What one instance does before it is steady.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceSteady {
    /// The instance.
    pub instance: Id,
    /// Its place among the instances of the benchmark.
    pub position: usize,
    /// The indices of the iterations that were looked at: the successful ones with a value.
    pub index: Vec<u32>,
    /// Their values.
    pub values: Vec<f64>,
    /// What they do; `None` where the method cannot tell.
    pub class: Option<Class>,
    /// The place in `values` of the first steady one; `None` without a steady state.
    pub start: Option<usize>,
    /// The iterations from one high to the next, for [`Class::Cyclic`].
    pub period: Option<usize>,
    /// Whether it is long enough beside the others to be asked; [`Class::TooShort`] otherwise.
    pub is_asked: bool,
}

impl InstanceSteady {
    /// Returns the index of the first steady iteration: the one after the last that is not, whatever
    /// failed from there on.
    pub fn start_index(&self) -> Option<u32> {
        u32::try_from(self.as_start()?.first_steady()?).ok()
    }

    /// Returns how many iterations it has up to the last with a value.
    fn iterations(&self) -> usize {
        let last = self.index.last().copied().map(usize::try_from);
        last.and_then(Result::ok).map_or(0, |last| last + 1)
    }

    fn as_start(&self) -> Option<InstanceStart<'_>> {
        Some(InstanceStart {
            index: &self.index,
            values: &self.values,
            class: self.class?,
            start: self.start,
        })
    }
}

/// What the instances of a benchmark do before they are steady.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkSteady {
    /// The metric that was looked at.
    pub metric: MetricName,
    /// The instances with a value.
    pub instances: Vec<InstanceSteady>,
    /// What comes of them for the benchmark; `None` without an instance that could be classified.
    pub burn_in: Option<BurnIn>,
}

impl BenchmarkSteady {
    /// Returns the index of the first iteration to judge; `None` when none is steady or all are
    /// too short to tell.
    pub fn start_index(&self) -> Option<u32> {
        u32::try_from(self.burn_in.as_ref()?.start?).ok()
    }

    /// Returns what [`start_index`](Self::start_index) would be without caps.
    pub fn wanted_index(&self) -> Option<u32> {
        u32::try_from(self.burn_in.as_ref()?.wanted?).ok()
    }

    /// Returns what it costs and leaves to judge from the iteration of that index on, whoever chose it;
    /// `None` without an instance that could be classified.
    pub fn burn_in_from(&self, index: u32) -> Option<BurnIn> {
        burn_in_from(&starts(&self.instances), usize::try_from(index).ok()?)
    }

    /// Returns where the benchmark is steady: at an index, never, or, where too little was measured
    /// to tell, as planned.
    pub fn steady_from(&self) -> SteadyFrom {
        match (&self.burn_in, self.start_index()) {
            (_, Some(index)) => SteadyFrom::Index(index),
            (Some(burn_in), None) if burn_in.never_steady > 0 => SteadyFrom::Never,
            (Some(_) | None, None) => SteadyFrom::Recorded,
        }
    }
}

/// Returns the metric by which the burn-in of a sample is found: the wall time, or else its first metric by
/// name; `None` without values.
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

/// Returns what the instances of a sample do before they are steady, by one metric, burn-in that was
/// planned included. Lost instances and iterations that did not end well are left out.
pub fn find_steady(sample: &Sample<'_>, metric: &str, search: &SteadySearch) -> BenchmarkSteady {
    let seed = search.seed.split(sample.suite).split(&sample.benchmark.id);
    let mut instances: Vec<InstanceSteady> = sample
        .instances
        .par_iter()
        .enumerate()
        .filter_map(|(position, instance)| of_instance(instance, position, metric, search, seed))
        .collect();
    mark_short(&mut instances);
    let burn_in = burn_in(&starts(&instances), &search.burn_in);
    BenchmarkSteady {
        metric: metric.to_owned(),
        instances,
        burn_in,
    }
}

/// Returns the instances that could be classified.
fn starts(instances: &[InstanceSteady]) -> Vec<InstanceStart<'_>> {
    let all = instances.iter();
    all.filter_map(InstanceSteady::as_start).collect()
}

/// Marks instances that are too short beside the longest to tell anything of the benchmark.
fn mark_short(instances: &mut [InstanceSteady]) {
    let classified = instances.iter().filter(|it| it.class.is_some());
    let longest = classified.map(InstanceSteady::iterations).max();
    for it in instances {
        it.is_asked = is_long_enough(it.iterations(), longest.unwrap_or(0));
        if !it.is_asked && it.class.is_some() {
            it.class = Some(Class::TooShort);
            it.start = None;
            it.period = None;
        }
    }
}

fn of_instance(
    data: &InstanceData,
    position: usize,
    metric: &str,
    search: &SteadySearch,
    seed: Seed,
) -> Option<InstanceSteady> {
    if data.end.as_ref().map(|end| end.outcome) == Some(InstanceOutcome::Lost) {
        return None;
    }
    let column = data.iterations.values.get(metric)?;
    let (index, values): (Vec<u32>, Vec<f64>) = column
        .iter()
        .enumerate()
        .filter(|(at, value)| data.iterations.outcome[*at] == Outcome::Ok && value.is_finite())
        .map(|(at, value)| (data.iterations.index[at], *value))
        .unzip();
    if values.is_empty() {
        return None;
    }
    let found = by_method(&values, search.method, seed, data.instance.id);
    Some(InstanceSteady {
        instance: data.instance.id,
        position,
        index,
        values,
        class: found.class,
        start: found.start,
        period: found.period,
        is_asked: true,
    })
}

/// What a method says.
#[derive(Default)]
struct FoundStart {
    class: Option<Class>,
    start: Option<usize>,
    period: Option<usize>,
}

fn by_method(values: &[f64], method: SteadyMethod, seed: Seed, instance: Id) -> FoundStart {
    match method {
        SteadyMethod::Default => match steady_state(values, &SteadyOptions::default()) {
            Some(state) => FoundStart {
                class: Some(state.class),
                start: state.start,
                period: state.period,
            },
            None => FoundStart::default(),
        },
        SteadyMethod::Krun => {
            let state = krun(values, &Krun::default());
            FoundStart {
                class: Some(state.class),
                start: state.start,
                period: None,
            }
        }
        SteadyMethod::Traini => {
            let mut random = seed.stream(&instance.to_string());
            let state = traini(values, &Traini::default(), &mut random);
            // They know steady and not steady, and count the last iteration that differs.
            FoundStart {
                class: Some(match state.start {
                    None => Class::NoSteadyState,
                    Some(0) => Class::Flat,
                    Some(_) => Class::WarmUp,
                }),
                start: state.start,
                period: None,
            }
        }
        SteadyMethod::Mser5 => {
            let start = mser5(values);
            FoundStart {
                class: Some(match start {
                    None => Class::TooShort,
                    Some(0) => Class::Flat,
                    Some(_) => Class::WarmUp,
                }),
                start,
                period: None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::instance;
    use super::*;
    use crate::model::Benchmark;
    use crate::sample::BenchmarkData;

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
            &SteadySearch::default(),
        );
        // One more than the five: the method leaves a little out for doubt.
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
        broken.iterations.outcome[0] = Outcome::Failed;
        broken.iterations.outcome[1] = Outcome::Failed;
        let found = find_steady(
            &Sample::of_all(&data(vec![broken])),
            "wall_time",
            &SteadySearch::default(),
        );
        assert_eq!(found.steady_from(), SteadyFrom::Index(6));
    }

    #[test]
    fn the_start_that_was_found_costs_the_same_as_if_it_were_given() {
        let mut broken = warming_up(5);
        broken.iterations.outcome[1] = Outcome::Failed;
        let data = data(vec![broken, warming_up(5), warming_up(4)]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &SteadySearch::default(),
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
        broken.iterations.outcome[0] = Outcome::Failed;
        let data = data(vec![broken, warming_up(0)]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &SteadySearch::default(),
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
        let found = find_steady(
            &Sample::of_all(&data(vec![short])),
            "wall_time",
            &SteadySearch::default(),
        );
        assert_eq!(found.steady_from(), SteadyFrom::Recorded);
        assert_eq!(found.start_index(), None);
    }

    #[test]
    fn an_instance_that_ended_in_the_warm_up_is_too_short_to_tell() {
        let mut crashed = warming_up(20);
        for outcome in &mut crashed.iterations.outcome[12..] {
            *outcome = Outcome::Failed;
        }
        let data = data(vec![warming_up(20), crashed, warming_up(20)]);
        let found = find_steady(
            &Sample::of_all(&data),
            "wall_time",
            &SteadySearch::default(),
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
}
