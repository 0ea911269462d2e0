//! Reads studies and their past from the store.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::clean::{CleaningPolicy, CleaningRules, clean};
use lapwing_analyse::sample::{BenchmarkData, SampleFilter, each_benchmark};
use lapwing_model::text::first_names;
use lapwing_record::{Filter, InstanceData, Store, StoreError};
use lapwing_stats::{as_f64, mean};

use crate::data::{StudyData, StudyError};
use crate::design::{PlannedFactor, StudyDesign};
use crate::stability::{StabilityOptions, StudyStability};

/// Reason why a study could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StudyReadError {
    /// Several benchmarks pass the filters.
    #[error(
        "a study is about one benchmark, and several pass the filters: {}",
        first_names(names.iter().map(|name| format!("`{name}`")), 10)
    )]
    Benchmarks {
        /// Their ids.
        names: Vec<String>,
    },
    /// Several metrics are named.
    #[error("a study is about one metric, not `{}` and `{}`", metrics[0], metrics[1])]
    Metrics {
        /// The first two.
        metrics: [String; 2],
    },
    /// No benchmark passes the filters.
    #[error("no benchmark passes all of these filters")]
    Nothing,
    /// The benchmark is no study.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the only one of the named metrics; `None` if there is none.
///
/// # Errors
/// When there are several.
pub fn only_named_metric(metrics: &[String]) -> Result<Option<&str>, StudyReadError> {
    match metrics {
        [] => Ok(None),
        [metric] => Ok(Some(metric)),
        [one, other, ..] => Err(StudyReadError::Metrics {
            metrics: [one.clone(), other.clone()],
        }),
    }
}

impl StudyData {
    /// Reads the data of the only benchmark that passes a filter.
    ///
    /// # Errors
    /// When that is no study.
    pub fn read(
        store: &Store,
        mut filter: Filter,
        rules: &CleaningRules,
    ) -> Result<Self, StudyReadError> {
        let found = store.catalogue().benchmarks(&filter)?;
        if found.len() > 1 {
            let names = found.into_iter().map(|row| row.benchmark).collect();
            return Err(StudyReadError::Benchmarks { names });
        }
        // All metrics are read, because burn-in is detected from the wall time.
        let metrics = std::mem::take(&mut filter.metrics);
        let metric = only_named_metric(&metrics)?;
        let mut study = None;
        each_benchmark(store, &filter, |data| {
            study = Some(Self::of(&data, metric, rules));
            Ok::<(), StoreError>(())
        })?;
        Ok(study.ok_or(StudyReadError::Nothing)??)
    }

    /// Reads the data of some instances of a benchmark, by its suite and id; `None` if they have no value.
    ///
    /// # Errors
    /// When the store cannot be read, or several metrics could be meant.
    pub fn read_instances(
        store: Option<&Store>,
        filter: &SampleFilter,
        (suite, benchmark): (&str, &str),
        rules: &CleaningRules,
        is_wanted: impl Fn(&InstanceData) -> bool,
    ) -> Result<Option<Self>, StudyReadError> {
        let Some(store) = store else { return Ok(None) };
        let named = SampleFilter {
            benchmarks: vec![benchmark.to_owned()],
            metrics: Vec::new(),
            ..filter.clone()
        };
        let named = match named.resolve(store) {
            Err(StoreError::NoMatch { .. }) => return Ok(None),
            resolved => resolved?,
        };
        let metric = filter.metrics.first().map(String::as_str);
        let mut study = None;
        each_known(Some(store), &named, |mut data| {
            if data.suite == suite && data.benchmark.id == benchmark {
                data.instances.retain(&is_wanted);
                study = Some(Self::of(&data, metric, rules));
            }
        })?;
        match study {
            None | Some(Err(StudyError::NoFactors { .. } | StudyError::NoValues { .. })) => {
                Ok(None)
            }
            Some(study) => Ok(Some(study?)),
        }
    }
}

/// Passes each benchmark that passes a filter; none without a store.
fn each_known(
    store: Option<&Store>,
    filter: &Filter,
    mut take: impl FnMut(BenchmarkData),
) -> Result<(), StoreError> {
    let Some(store) = store else { return Ok(()) };
    let read = each_benchmark(store, filter, |data| {
        take(data);
        Ok::<(), StoreError>(())
    });
    match read {
        Err(StoreError::NoMatch { .. }) => Ok(()),
        read => read,
    }
}

/// Returns the configurations in the store that have the factors of a design with the same definitions, as numbers of
/// levels.
///
/// # Errors
/// When the store cannot be read.
pub fn measured_configurations(
    store: Option<&Store>,
    design: &StudyDesign,
) -> Result<Vec<Vec<usize>>, StoreError> {
    let mut runs: BTreeSet<Vec<usize>> = BTreeSet::new();
    each_known(store, &Filter::default(), |data| {
        let instances = data.instances.iter();
        for instance in instances.filter(|_| data.suite == design.suite) {
            let level = |factor: &PlannedFactor| {
                let definition = instance.run.definitions.get(&factor.name);
                let level = instance.run.factors.get(&factor.name);
                let level = level.filter(|_| definition == Some(&factor.definition))?;
                factor.levels.iter().position(|known| known == level)
            };
            runs.extend(design.factors.iter().map(level).collect::<Option<_>>());
        }
    })?;
    Ok(runs.into_iter().collect())
}

/// Returns the stability of the effects on each benchmark of a suite; without those that have no usable values.
///
/// # Errors
/// When the store cannot be read.
pub fn suite_stability(
    store: Option<&Store>,
    suite: &str,
    metric: Option<&str>,
    rules: &CleaningRules,
    options: &StabilityOptions,
) -> Result<Vec<(StudyData, StudyStability)>, StoreError> {
    let mut stabilities = Vec::new();
    each_known(store, &Filter::default(), |data| {
        if data.suite == suite
            && let Ok(study) = StudyData::of(&data, metric, rules)
            && let Ok(stability) = StudyStability::new(&study, options)
        {
            stabilities.push((study, stability));
        }
    })?;
    Ok(stabilities)
}

/// Returns the error of a benchmark of a suite of which several metrics could be studied, if there is one.
///
/// # Errors
/// When the store cannot be read.
pub fn several_metrics(
    store: Option<&Store>,
    suite: &str,
    is_chosen: impl Fn(&str) -> bool,
    rules: &CleaningRules,
) -> Result<Option<StudyError>, StoreError> {
    let mut found = None;
    each_known(store, &Filter::default(), |data| {
        if data.suite == suite
            && is_chosen(&data.benchmark.id)
            && let Err(error @ StudyError::SeveralMetrics { .. }) =
                StudyData::of(&data, None, rules)
        {
            found.get_or_insert(error);
        }
    })?;
    Ok(found)
}

/// Returns the largest noise between instances of some benchmarks of a suite: the standard deviation of the logarithms
/// of instance means within a run; `None` if none has several instances.
///
/// # Errors
/// When the store cannot be read.
pub fn noise_between_instances(
    store: Option<&Store>,
    suite: &str,
    metric: &str,
    is_chosen: impl Fn(&str) -> bool,
) -> Result<Option<f64>, StoreError> {
    let filter = Filter {
        metrics: vec![metric.to_owned()],
        ..Filter::default()
    };
    let mut largest: Option<f64> = None;
    each_known(store, &filter, |data| {
        if data.suite != suite || !is_chosen(&data.benchmark.id) {
            return;
        }
        let mut logarithms: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for instance in &data.instances {
            let cleaned = clean([instance], metric, CleaningPolicy::default());
            let means = cleaned.instances.iter().map(|instance| instance.mean());
            let of_run = logarithms.entry(instance.run.id.to_string()).or_default();
            of_run.extend(means.filter(|mean| *mean > 0.0).map(f64::ln));
        }
        let noise = pooled_deviation(logarithms.values());
        largest = [largest, noise].into_iter().flatten().reduce(f64::max);
    })?;
    Ok(largest)
}

/// Returns the standard deviation within groups; `None` without degrees of freedom or spread.
fn pooled_deviation<'a>(groups: impl Iterator<Item = &'a Vec<f64>>) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0_usize);
    for group in groups {
        if let Some(mean) = mean(group) {
            squares += group.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
            freedom += group.len() - 1;
        }
    }
    let deviation = (squares / as_f64(freedom.max(1))).sqrt();
    (freedom > 0 && deviation > 0.0).then_some(deviation)
}
