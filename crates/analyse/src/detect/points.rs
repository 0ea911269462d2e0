//! Series from the history points of a store, without reading every iteration.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lapwing_record::{
    BenchmarkPoints, Filter, HistoryPoint, NO_POINTS, PointRun, Store, StoreError,
};

use super::series::{Histories, HistorySeries, SeriesPoint};
use crate::clean::{CleaningRules, plans_any_auto, was_planned_auto};
use crate::judge::{MetricChoice, stated_metric};
use crate::sample::{
    History, Setting, Subject, each_with_all_metrics_but, variant_settings, with_metrics,
};
use lapwing_model::{MetricName, Run};

impl Histories {
    /// Returns the series of a store, whose runs are in this order, before [`Histories::sort`]: those of benchmarks whose history points say everything from
    /// these, those of the others from their iterations.
    ///
    /// # Errors
    /// If an entry of the filter has no match; if the store cannot be read.
    pub fn read(
        store: &mut Store,
        filter: &Filter,
        order: History,
        rules: &CleaningRules,
        metrics: &MetricChoice,
    ) -> Result<Self, StoreError> {
        let mut histories = Self::in_order(order);
        let mut known = BTreeSet::new();
        // Points are means without planned burn-in and failures.
        let has_none = |name: &MetricName| NO_POINTS.contains(&&**name);
        let has_points = match metrics {
            MetricChoice::Named(names) => !names.iter().any(has_none),
            MetricChoice::Directed | MetricChoice::Reported => true,
        };
        if has_points && *rules == CleaningRules::default() {
            let asked = with_metrics(store, filter)?;
            let points = store.history_points(&Filter {
                metrics: Vec::new(),
                ..filter.clone()
            })?;
            let mut sets = RunSets::of(&points.runs);
            for benchmark in &points.benchmarks {
                let key = (benchmark.suite.clone(), benchmark.id.clone());
                let is_asked = asked.as_ref().is_none_or(|asked| asked.contains(&key));
                if !is_asked || histories.add_points(benchmark, &mut sets, metrics) {
                    known.insert(key);
                }
            }
        }
        each_with_all_metrics_but(&known, store, filter, |data| {
            histories.add(&data, rules, metrics);
            Ok::<(), StoreError>(())
        })?;
        Ok(histories)
    }

    /// Adds the series of a benchmark. Returns whether its points say everything.
    fn add_points(
        &mut self,
        benchmark: &BenchmarkPoints,
        sets: &mut RunSets<'_>,
        metrics: &MetricChoice,
    ) -> bool {
        if sets.is_left_to_judging(benchmark) {
            return false;
        }
        let set = sets.of_benchmark(benchmark, self);
        let is_mixed = |name: &MetricName| set.mixed_units.contains(name);
        if benchmark.metrics.keys().any(is_mixed) {
            return false;
        }
        for (setting, of_setting) in &set.settings {
            let is_here = |point: &&HistoryPoint| of_setting.has[point.run as usize];
            let measured = benchmark.metrics.iter();
            let measured = measured.filter(|(_, points)| points.iter().any(|it| is_here(&it)));
            let names: BTreeSet<MetricName> = measured.map(|(name, _)| name.clone()).collect();
            let latest_first = of_setting
                .latest_first
                .iter()
                .map(|at| &*sets.runs[*at].run);
            for name in metrics.among(names, latest_first.clone()) {
                let Some(points) = benchmark.metrics.get(&name) else {
                    continue;
                };
                let points = series_points(points.iter().filter(is_here), &set.moments);
                if points.is_empty() {
                    continue;
                }
                self.series.push(HistorySeries {
                    subject: Subject {
                        suite: benchmark.suite.clone(),
                        benchmark: benchmark.id.clone(),
                        setting: setting.clone(),
                        metric: name.clone(),
                    },
                    metric: stated_metric(latest_first.clone(), &name),
                    smallest_effect: None,
                    fail_on: None,
                    recorded_ids: BTreeSet::from([benchmark.id.clone()]),
                    points,
                    tried: of_setting.tried.clone(),
                });
            }
        }
        true
    }
}

/// The runs of a benchmark, which many benchmarks have in common.
struct RunSet {
    /// The indices of the runs.
    runs: Vec<u32>,
    /// The moment of each run of the store, if it is one of these.
    moments: Vec<Option<usize>>,
    settings: Vec<(Setting, RunsOfSetting)>,
    /// Metrics that are in several units.
    mixed_units: BTreeSet<MetricName>,
}

/// The runs of a benchmark in one setting.
struct RunsOfSetting {
    /// Whether each run of the store is one of them.
    has: Vec<bool>,
    latest_first: Vec<usize>,
    /// Their moments, in no order.
    tried: Vec<usize>,
}

/// The sets of runs of benchmarks.
struct RunSets<'p> {
    runs: &'p [PointRun],
    latest: Option<Rc<RunSet>>,
    /// Whether a session leaves the burn-in of some benchmarks to judging.
    is_any_auto: bool,
    /// The moments around which a run was observed.
    observed: BTreeSet<(usize, u32)>,
}

impl<'p> RunSets<'p> {
    fn of(runs: &'p [PointRun]) -> Self {
        Self {
            is_any_auto: runs.iter().any(|it| plans_any_auto(&it.session)),
            runs,
            latest: None,
            observed: BTreeSet::new(),
        }
    }

    /// Returns whether the burn-in of a benchmark is to be found from its values.
    fn is_left_to_judging(&self, benchmark: &BenchmarkPoints) -> bool {
        let is_auto = |run: &u32| {
            let session = &self.runs[*run as usize].session;
            was_planned_auto(session, &benchmark.id)
        };
        self.is_any_auto && benchmark.tried.iter().any(is_auto)
    }

    /// Returns the runs of a benchmark, with their moments in the histories.
    fn of_benchmark(
        &mut self,
        benchmark: &BenchmarkPoints,
        histories: &mut Histories,
    ) -> Rc<RunSet> {
        let same = self.latest.clone();
        if let Some(same) = same.filter(|latest| latest.runs == benchmark.tried) {
            return same;
        }
        let set = Rc::new(self.arrange(&benchmark.tried, histories));
        self.latest = Some(Rc::clone(&set));
        set
    }

    fn arrange(&mut self, tried: &[u32], histories: &mut Histories) -> RunSet {
        let all = self.runs;
        let of_set: Vec<(u32, &PointRun)> =
            tried.iter().map(|at| (*at, &all[*at as usize])).collect();
        let history = histories.history.clone().unwrap_or_default();
        let mut moments = vec![None; all.len()];
        for (at, run) in &of_set {
            let Some(position) = history.position(&run.run.id) else {
                continue;
            };
            let moment = histories.moment_at(position, &run.session, &run.run);
            if self.observed.insert((moment, *at)) {
                histories.observe_run(moment, run);
            }
            moments[*at as usize] = Some(moment);
        }
        let mut latest_first = of_set.clone();
        latest_first.sort_by_key(|(at, it)| Reverse((it.session.started, it.session.id, *at)));
        let settings_of = variant_settings(of_set.iter().map(|(_, it)| &*it.run));
        let mut settings: BTreeMap<Setting, RunsOfSetting> = BTreeMap::new();
        for (at, run) in latest_first {
            let at = at as usize;
            let setting = settings_of.get(&run.run.id).cloned().unwrap_or_default();
            let of_setting = settings.entry(setting).or_insert_with(|| RunsOfSetting {
                has: vec![false; all.len()],
                latest_first: Vec::new(),
                tried: Vec::new(),
            });
            of_setting.has[at] = true;
            of_setting.latest_first.push(at);
            of_setting.tried.extend(moments[at]);
        }
        for of_setting in settings.values_mut() {
            of_setting.tried.sort_unstable();
            of_setting.tried.dedup();
        }
        RunSet {
            runs: tried.to_vec(),
            moments,
            settings: settings.into_iter().collect(),
            mixed_units: mixed_units(of_set.iter().map(|(_, it)| &*it.run)),
        }
    }
}

/// Returns the metrics that these runs have in several units.
fn mixed_units<'r>(runs: impl Iterator<Item = &'r Run>) -> BTreeSet<MetricName> {
    let mut units: BTreeMap<&MetricName, &str> = BTreeMap::new();
    let mut mixed = BTreeSet::new();
    for (name, metric) in runs.flat_map(|run| &run.metrics) {
        if metric.unit.is_empty() {
            continue;
        }
        if *units.entry(name).or_insert(&metric.unit) != metric.unit {
            mixed.insert(name.clone());
        }
    }
    mixed
}

/// Returns one point per moment, in the order of the moments.
fn series_points<'p>(
    points: impl Iterator<Item = &'p HistoryPoint>,
    moments: &[Option<usize>],
) -> Vec<SeriesPoint> {
    let mut placed: Vec<(usize, HistoryPoint)> = points
        .filter(|point| point.mean.is_finite())
        .filter_map(|point| Some((moments[point.run as usize]?, *point)))
        .collect();
    placed.sort_by_key(|(moment, point)| (*moment, point.run));
    let is_positive = placed.iter().all(|(_, point)| !point.mean_log.is_nan());
    let of_moments = placed.chunk_by(|one, other| one.0 == other.0);
    let points = of_moments.map(|of_moment| {
        let instances: u32 = of_moment.iter().map(|(_, point)| point.instances).sum();
        let mean = |of: fn(&HistoryPoint) -> f64| {
            let sums = of_moment.iter();
            let sums = sums.map(|(_, point)| f64::from(point.instances) * of(point));
            sums.sum::<f64>() / f64::from(instances)
        };
        SeriesPoint {
            moment: of_moment[0].0,
            value: if is_positive {
                mean(|point| point.mean_log).exp()
            } else {
                mean(|point| point.mean)
            },
            instances: instances as usize,
        }
    });
    points.collect()
}
