//! Earlier sessions of a benchmark that is judged alone: they show its noise where no family does.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lapwing_stats::Replicates;

use super::INSTANCES_FOR_A_VERDICT;
use super::compare::{Comparison, SideSample};
use super::replication::unit::{Replication, ReplicationUnit, log_means};
use crate::clean::CleaningRules;
use crate::sample::{BenchmarkData, GroupBy, SidePlace, Subject, each_benchmark, samples};
use lapwing_model::{Id, MetricName};
use lapwing_record::{Change, Filter, InstanceData, Remark, Store, StoreError, TriageState};

/// In larger families the other members show the noise.
pub(super) const LARGEST_FAMILY: usize = 2;
/// Instances of a session with a single run from which it is divided in two.
const DIVIDED_FROM: usize = 4;

/// A benchmark and metric, by suite, id and name.
type EarlierKey = (String, String, MetricName);

/// Comparisons within earlier sessions, by benchmark and metric. Their differences do not matter, only their noise.
#[derive(Debug, Clone, Default)]
pub struct EarlierComparisons {
    by_benchmark: BTreeMap<EarlierKey, Vec<EarlierComparison>>,
}

/// A comparison within a session.
#[derive(Debug, Clone)]
struct EarlierComparison {
    sides: Option<Replicates>,
    /// In pairs of blocks, where the sides share three.
    pairs: Option<Replicates>,
}

impl EarlierComparisons {
    /// Reads the sessions of some benchmarks before the compared ones, and since the last change of each that was
    /// accepted by a triage.
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
        let remarks = store.annotations().all()?;
        for ((suite, id), metrics) in benchmarks {
            let filter = Filter {
                benchmarks: vec![id.clone()],
                ..Filter::default()
            };
            let read = each_benchmark(store, &filter, |data| {
                if data.suite == suite && data.benchmark.id == id {
                    let since = accepted(&data, &remarks);
                    for metric in &metrics {
                        let found = comparisons(&data, metric, compared, since, rules);
                        let key = (suite.clone(), id.clone(), metric.clone());
                        self.by_benchmark.entry(key).or_default().extend(found);
                    }
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

    /// Returns the comparisons of two sides within the sessions of a benchmark, but for those that are compared.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn sides_of(
        store: &Store,
        suite: &str,
        benchmark: &str,
        metric: &MetricName,
        compared: &BTreeSet<Id>,
        rules: &CleaningRules,
    ) -> Result<Vec<Replicates>, StoreError> {
        let mut earlier = Self::default();
        let key = (suite.to_owned(), benchmark.to_owned());
        let metrics = BTreeSet::from([metric.clone()]);
        let wanted = BTreeMap::from([(key, metrics)]);
        earlier.read(store, wanted, compared, rules)?;
        let found = earlier.by_benchmark.into_values().flatten();
        Ok(found.filter_map(|it| it.sides).collect())
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

/// Returns the start of the last session of a benchmark at which people accepted a change.
fn accepted(data: &BenchmarkData, remarks: &[Remark]) -> Option<Timestamp> {
    let starts: BTreeMap<Id, Timestamp> = data
        .instances
        .iter()
        .map(|instance| (instance.session.id, instance.session.started))
        .collect();
    let sessions = remarks.iter().filter_map(|remark| {
        let Some(Change::Triage(triage)) = remark.active() else {
            return None;
        };
        let is_accepted = match triage.state {
            TriageState::Acknowledged | TriageState::Explained | TriageState::Expected => true,
            TriageState::Muted | TriageState::Notified => false,
        };
        // A triage that names a metric may be of another one: fewer sessions do no harm.
        let is_about = triage.is_about(&data.suite, &[&data.benchmark.id]);
        starts
            .get(&triage.session?)
            .filter(|_| is_accepted && is_about)
    });
    sessions.max().copied()
}

/// Returns the comparisons of the sessions since a moment, and before the compared ones.
fn comparisons(
    data: &BenchmarkData,
    metric: &MetricName,
    compared: &BTreeSet<Id>,
    since: Option<Timestamp>,
    rules: &CleaningRules,
) -> Vec<EarlierComparison> {
    let start = |instance: &InstanceData| (instance.session.started, instance.session.id);
    let is_compared = |instance: &&InstanceData| compared.contains(&instance.session.id);
    let last = data.instances.iter().filter(is_compared).map(start).max();
    let is_earlier = |instance: &InstanceData| {
        !compared.contains(&instance.session.id)
            && last.is_none_or(|last| start(instance) <= last)
            && since.is_none_or(|since| instance.session.started >= since)
    };
    let mut runs: BTreeMap<Id, (usize, usize)> = BTreeMap::new();
    let mut sessions: BTreeMap<(Timestamp, Id), usize> = BTreeMap::new();
    for instance in data.instances.iter().filter(|it| is_earlier(it)) {
        let next = sessions.len();
        let session = *sessions.entry(start(instance)).or_insert(next);
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
