//! Earlier sessions: they show the noise of a benchmark that is judged alone, and how much sessions differ.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lapwing_stats::Replicates;

use super::INSTANCES_FOR_A_VERDICT;
use super::compare::{Comparison, SideSample};
use super::replication::unit::{Replication, ReplicationUnit, log_means};
use super::session_knowledge::SessionKnowledge;
use super::session_noise::{EarlierSession, SessionNoise};
use crate::clean::CleaningRules;
use crate::sample::{
    BenchmarkData, GroupBy, Setting, SidePlace, Subject, USUAL_BRANCHES, each_benchmark, samples,
};
use lapwing_model::{Id, MetricName, Version};
use lapwing_record::{Filter, InstanceData, Store, StoreError};

/// In larger families the other members show the noise.
pub(super) const LARGEST_FAMILY: usize = 2;
/// Number of earlier sessions of a suite that are read.
const MOST_SESSIONS: usize = 60;
/// From so many sessions of a benchmark, how much they differ is known without its suite.
const ENOUGH_SESSIONS: usize = 6;
/// Instances of a session with a single run from which it is divided in two.
const DIVIDED_FROM: usize = 4;

/// A benchmark and metric, by suite, id and name.
type EarlierKey = (String, String, MetricName);

/// Comparisons within earlier sessions, by benchmark and metric. Their differences do not matter, only their noise.
#[derive(Debug, Clone, Default)]
pub struct EarlierComparisons {
    by_benchmark: BTreeMap<EarlierKey, Vec<EarlierComparison>>,
    /// The sessions, in order.
    pub(super) sessions: BTreeMap<EarlierKey, Vec<EarlierSession>>,
}

/// A comparison within a session.
#[derive(Debug, Clone)]
struct EarlierComparison {
    sides: Option<Replicates>,
    /// In pairs of blocks, where the sides share three.
    pairs: Option<Replicates>,
}

impl EarlierComparisons {
    /// Reads the sessions of some benchmarks before the compared ones.
    ///
    /// A session with several runs gives the comparison of its first two, in pairs of blocks where they share three;
    /// one with a single run of four instances or more its odd instances against the even ones.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(super) fn read(
        &mut self,
        store: &Store,
        benchmarks: BTreeMap<(String, String), BTreeSet<MetricName>>,
        compared: &BTreeSet<Id>,
        rules: &CleaningRules,
    ) -> Result<(), StoreError> {
        let mut filters = vec![Filter::default()];
        if benchmarks.len() <= LARGEST_FAMILY {
            let of_benchmark = |(_, id): &(String, String)| Filter {
                benchmarks: vec![id.clone()],
                ..Filter::default()
            };
            filters = benchmarks.keys().map(of_benchmark).collect();
        } else {
            let suites = benchmarks.keys().map(|(suite, _)| suite.as_str());
            filters[0].sessions = Some(latest_sessions(store, &suites.collect(), compared)?);
        }
        for filter in filters {
            let read = each_benchmark(store, &filter, |data| {
                let key = (data.suite.clone(), data.benchmark.id.clone());
                for metric in benchmarks.get(&key).into_iter().flatten() {
                    self.add(&data, metric, compared, rules);
                }
                Ok::<(), StoreError>(())
            });
            match read {
                // It was never measured in this store.
                Ok(()) | Err(StoreError::NoMatch { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what the suites of some benchmarks say of how much sessions differ by a metric, if the sessions of the
    /// benchmarks are too few for that.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(super) fn read_suites(
        &mut self,
        store: &Store,
        wanted: &BTreeMap<(String, String), BTreeSet<MetricName>>,
        compared: &BTreeSet<Id>,
        rules: &CleaningRules,
    ) -> Result<(), StoreError> {
        let mut metrics: BTreeMap<&str, BTreeSet<&MetricName>> = BTreeMap::new();
        for ((suite, id), of_benchmark) in wanted {
            for metric in of_benchmark {
                let key = (suite.clone(), id.clone(), metric.clone());
                let known = self.sessions.get(&key).map_or(0, Vec::len);
                if known < ENOUGH_SESSIONS {
                    metrics.entry(suite).or_default().insert(metric);
                }
            }
        }
        if metrics.is_empty() {
            return Ok(());
        }
        let suites = metrics.keys().copied().collect();
        let filter = Filter {
            sessions: Some(latest_sessions(store, &suites, compared)?),
            ..Filter::default()
        };
        let read = each_benchmark(store, &filter, |data| {
            for metric in metrics.get(data.suite.as_str()).into_iter().flatten() {
                let id = data.benchmark.id.clone();
                let key = (data.suite.clone(), id, (*metric).clone());
                if !self.sessions.contains_key(&key) {
                    self.add(&data, metric, compared, rules);
                }
            }
            Ok::<(), StoreError>(())
        });
        match read {
            Ok(()) | Err(StoreError::NoMatch { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn add(
        &mut self,
        data: &BenchmarkData,
        metric: &MetricName,
        compared: &BTreeSet<Id>,
        rules: &CleaningRules,
    ) {
        let key = (
            data.suite.clone(),
            data.benchmark.id.clone(),
            metric.clone(),
        );
        let earlier = earlier_instances(data, compared);
        let found = comparisons(data, &earlier, metric, rules);
        self.by_benchmark
            .entry(key.clone())
            .or_default()
            .extend(found);
        let found = sessions(data, &earlier, metric, rules);
        self.sessions.entry(key).or_default().extend(found);
    }

    /// Returns those of some benchmarks of a suite by one metric, but for the sessions that are compared; none of
    /// more benchmarks than need it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn of_few(
        store: &Store,
        suite: &str,
        benchmarks: &BTreeSet<String>,
        metric: &MetricName,
        compared: &BTreeSet<Id>,
    ) -> Result<Self, StoreError> {
        let mut earlier = Self::default();
        if benchmarks.len() <= LARGEST_FAMILY {
            let key = |id: &String| (suite.to_owned(), id.clone());
            let metrics = BTreeSet::from([metric.clone()]);
            let wanted = benchmarks.iter().map(|id| (key(id), metrics.clone()));
            earlier.read(store, wanted.collect(), compared, &CleaningRules::default())?;
        }
        Ok(earlier)
    }

    /// Returns how much the earlier sessions of a benchmark, or of its suite, differ on one host, but for those that are
    /// compared; `None` if they do not show it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn session_noise_of(
        store: &Store,
        suite: &str,
        benchmark: &str,
        metric: &MetricName,
        compared: &BTreeSet<Id>,
        rules: &CleaningRules,
    ) -> Result<Option<SessionNoise>, StoreError> {
        let mut earlier = Self::default();
        let key = (suite.to_owned(), benchmark.to_owned());
        let wanted = BTreeMap::from([(key, BTreeSet::from([metric.clone()]))]);
        earlier.read(store, wanted.clone(), compared, rules)?;
        earlier.read_suites(store, &wanted, compared, rules)?;
        let subject = Subject {
            suite: suite.to_owned(),
            benchmark: benchmark.to_owned(),
            metric: metric.clone(),
            setting: Setting::default(),
        };
        Ok(SessionKnowledge::of(&earlier).of_benchmark(&subject))
    }

    /// Returns the earlier comparisons for a family, in the design of its first member; none if it is large enough
    /// without.
    pub(super) fn of_family<'c>(
        &self,
        family: impl ExactSizeIterator<Item = &'c Comparison>,
    ) -> Vec<Replicates> {
        if family.len() > LARGEST_FAMILY {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut paired = None;
        let mut seen = BTreeSet::new();
        for comparison in family {
            let Some(replication) = &comparison.replication else {
                continue;
            };
            let is_of_blocks = match replication.unit {
                ReplicationUnit::Block => true,
                ReplicationUnit::Instance => false,
                ReplicationUnit::Session | ReplicationUnit::Pair | ReplicationUnit::Host => {
                    return Vec::new();
                }
            };
            let Subject {
                suite,
                benchmark,
                metric,
                ..
            } = comparison.subject.clone();
            let key = (suite, benchmark, metric);
            if !seen.insert(key.clone()) || comparison.difference.is_some() {
                continue;
            }
            let wanted = *paired.get_or_insert(is_of_blocks);
            let earlier = self.by_benchmark.get(&key).into_iter().flatten();
            found.extend(earlier.filter_map(|comparison| {
                if wanted {
                    comparison.pairs.clone()
                } else {
                    comparison.sides.clone()
                }
            }));
        }
        found
    }
}

/// Returns the latest sessions of some suites, and the compared ones.
fn latest_sessions(
    store: &Store,
    suites: &BTreeSet<&str>,
    compared: &BTreeSet<Id>,
) -> Result<BTreeSet<Id>, StoreError> {
    let mut heads = store.catalogue().session_heads()?;
    heads.retain(|it| suites.contains(it.suite.as_str()) && !compared.contains(&it.id));
    heads.sort_by_key(|it| (it.started, it.id));
    let latest = heads.iter().rev().take(MOST_SESSIONS * suites.len());
    Ok(latest
        .map(|it| it.id)
        .chain(compared.iter().copied())
        .collect())
}

/// Returns the instances of the sessions before the compared ones.
fn earlier_instances<'d>(
    data: &'d BenchmarkData,
    compared: &BTreeSet<Id>,
) -> Vec<&'d InstanceData> {
    let start = |instance: &InstanceData| (instance.session.started, instance.session.id);
    let is_compared = |instance: &&InstanceData| compared.contains(&instance.session.id);
    let last = data.instances.iter().filter(is_compared).map(start).max();
    let of_compared = data.instances.iter().filter(is_compared);
    let branches = of_compared.filter_map(|it| it.run.version.branch.as_deref());
    let branches: BTreeSet<&str> = branches.chain(USUAL_BRANCHES).collect();
    // Those of other branches and of uncommitted changes differ by what was changed there, too.
    let is_alike = |version: &Version| {
        let branch = version.branch.as_deref();
        version.dirty != Some(true) && branch.is_none_or(|it| branches.contains(it))
    };
    let is_earlier = |instance: &InstanceData| {
        !compared.contains(&instance.session.id)
            && last.is_none_or(|last| start(instance) <= last)
            && is_alike(&instance.run.version)
    };
    data.instances.iter().filter(|it| is_earlier(it)).collect()
}

/// Returns the sessions of each setting and version, in order.
fn sessions(
    data: &BenchmarkData,
    earlier: &[&InstanceData],
    metric: &MetricName,
    rules: &CleaningRules,
) -> Vec<EarlierSession> {
    let key_of = |instance: &InstanceData| {
        let run = &instance.run;
        let session = (instance.session.started, instance.session.id);
        (
            session,
            run.variant.clone(),
            run.levels(),
            run.version.label(),
        )
    };
    let mut groups = BTreeMap::new();
    for instance in earlier {
        groups.entry(key_of(instance)).or_insert(0);
    }
    for (number, group) in groups.values_mut().enumerate() {
        *group = number;
    }
    let ids: BTreeSet<Id> = earlier.iter().map(|it| it.instance.id).collect();
    let places_of = |instance: &InstanceData| {
        let group = ids
            .contains(&instance.instance.id)
            .then(|| groups.get(&key_of(instance)));
        let place = group.flatten().map(|group| SidePlace {
            group: *group,
            ..SidePlace::default()
        });
        place.into_iter().collect()
    };
    let keys: Vec<_> = groups.keys().collect();
    let samples = samples(data, GroupBy::Side(&places_of)).into_iter();
    let mut found: Vec<(usize, EarlierSession)> = samples
        .filter_map(|sample| {
            let (policy, _) = rules.policy(&sample);
            let side = SideSample::of(&sample, metric, policy);
            let (_, variant, levels, version) = keys[sample.place.group];
            let names = [Some(variant.clone()), version.clone()];
            let session = EarlierSession::of(&side, names, levels.clone())?;
            Some((sample.place.group, session))
        })
        .collect();
    found.sort_by_key(|(group, _)| *group);
    found.into_iter().map(|(_, session)| session).collect()
}

/// Returns the comparisons within sessions.
fn comparisons(
    data: &BenchmarkData,
    earlier: &[&InstanceData],
    metric: &MetricName,
    rules: &CleaningRules,
) -> Vec<EarlierComparison> {
    let mut runs: BTreeMap<Id, (usize, usize)> = BTreeMap::new();
    let mut sessions: BTreeMap<(Timestamp, Id), usize> = BTreeMap::new();
    for instance in earlier {
        let next = sessions.len();
        let start = (instance.session.started, instance.session.id);
        let session = *sessions.entry(start).or_insert(next);
        let of_session = runs.values().filter(|(other, _)| *other == session).count();
        runs.entry(instance.run.id).or_insert((session, of_session));
    }
    let places_of = |instance: &InstanceData| {
        let place = runs.get(&instance.run.id).map(|(session, run)| SidePlace {
            group: *session,
            side: *run,
            ..SidePlace::default()
        });
        place.into_iter().collect()
    };
    let mut by_session: BTreeMap<usize, Vec<SideSample>> = BTreeMap::new();
    for sample in samples(data, GroupBy::Side(&places_of)) {
        if sample.place.side < 2 {
            let (policy, _) = rules.policy(&sample);
            let side = SideSample::of(&sample, metric, policy);
            if side.cleaned.instances.len() >= INSTANCES_FOR_A_VERDICT {
                by_session.entry(sample.place.group).or_default().push(side);
            }
        }
    }
    by_session
        .into_values()
        .filter_map(|sides| match sides.as_slice() {
            [one, other, ..] => {
                let sides = [one, other];
                let logs = log_means(sides)?;
                let found = Replication::of(sides, &logs)?;
                let is_of_blocks = found.unit == ReplicationUnit::Block;
                Some(EarlierComparison {
                    sides: Some(Replicates::Sides(logs)),
                    pairs: is_of_blocks.then_some(found.replicates),
                })
            }
            [one] => Some(EarlierComparison {
                sides: Some(halves(one)?),
                pairs: None,
            }),
            [] => None,
        })
        .collect()
}

/// Returns the odd instances against the even ones.
fn halves(side: &SideSample) -> Option<Replicates> {
    let [logs, _] = log_means([side, side])?;
    if logs.len() < DIVIDED_FROM {
        return None;
    }
    let half = |first: usize| logs.iter().skip(first).step_by(2).copied().collect();
    Some(Replicates::Sides([half(0), half(1)]))
}
