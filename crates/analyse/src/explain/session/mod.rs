//! The results of one session: each benchmark in each variant, and their comparisons.

mod comparisons;
mod looks;

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::{
    Benchmark, COUNTED, Id, InstanceOutcome, JudgeSettings, Metric, MetricName, Run,
};
use lapwing_record::{Filter, InstanceData, Store, StoreError};

use super::advice::{Advice, advise};
use crate::clean::{CleaningPolicy, PreferredCentres, centre_name, clean, clean_with_summaries};
use crate::judge::{EarlierComparisons, Estimate, SideSample, estimate};
use crate::sample::{GroupBy, Sample, SidePlace, each_benchmark, samples};

pub use comparisons::SessionComparison;
pub use looks::{LookResult, additional_instances};

/// The metric that variants are compared by where none is named.
const WALL_TIME: &str = "wall_time";
/// The name of the peak memory.
const PEAK_MEMORY: &str = "peak_memory";

/// A measured session, as its plan describes it.
pub struct PlannedResults<'a> {
    /// The id of the session.
    pub session: Id,
    /// The suite of its benchmarks.
    pub suite: &'a str,
    /// Whether a shell starts each of its benchmarks.
    pub in_shell: Vec<bool>,
    /// Its variants; the first one is the baseline.
    pub variants: Vec<ResultVariant>,
    /// Returns the positions of a benchmark, and of the variant of a run.
    pub positions: &'a ResultPositions<'a>,
    /// What the suite says about judging.
    pub limits: &'a JudgeSettings,
    /// The smallest effect that was asked for, as a share.
    pub smallest_effect: Option<f64>,
}

/// Returns the positions of a benchmark and of the variant of a run in the plan; `None` if it has none.
type ResultPositions<'a> = dyn Fn(&str, &Run) -> Option<(usize, usize)> + 'a;

/// A variant of a session.
#[derive(Debug, Clone)]
pub struct ResultVariant {
    /// The label that tells it from the others.
    pub label: String,
    /// Whether it is the copy of another variant.
    pub is_control: bool,
    /// Whether it has a Python environment of its own.
    pub has_environment: bool,
}

/// The result of one benchmark in one variant.
#[derive(Debug)]
pub struct SessionResult {
    /// The id of the benchmark.
    pub benchmark: String,
    /// The label of the variant.
    pub variant: String,
    /// The wall time.
    pub wall: Option<Estimate>,
    /// The figures of all executions of its command.
    pub executions: Option<ExecutionFigures>,
    /// The metric that variants are compared by.
    pub metric: Metric,
    /// The estimate of that metric.
    pub compared: Option<Estimate>,
    /// The values of that metric.
    pub side: SideSample,
    /// Whether it is the copy of another variant.
    pub is_control: bool,
    /// Whether its Python environment could not be built.
    pub is_unbuilt: bool,
    /// The peak memory.
    pub memory: Option<Estimate>,
    /// The centres that a source kept instead of samples, such as `median`.
    pub centres: BTreeSet<String>,
    /// The scheduler's words for instances whose jobs did not end well, and were not measured in another attempt.
    pub job_states: Vec<String>,
    /// All metrics that have values.
    pub known: BTreeSet<MetricName>,
    /// Metrics that the program reported itself.
    pub reported: Vec<(MetricName, Metric, Estimate)>,
    /// The metrics with a direction that an indicator reported, by which its variants are compared as well.
    pub own: Vec<(MetricName, Metric, SideSample)>,
    /// Hints on how to measure better.
    pub advice: Vec<Advice>,
}

/// Figures of the executions of a command, whatever instance they belong to. Times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExecutionFigures {
    /// Number of executions.
    pub count: usize,
    /// The arithmetic mean of their wall times.
    pub mean: f64,
    /// The standard deviation; `None` of one execution.
    pub sd: Option<f64>,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// The arithmetic mean of the processor times in user mode, if known.
    pub user: Option<f64>,
    /// The same in the kernel.
    pub system: Option<f64>,
}

impl ExecutionFigures {
    /// Returns the figures of instances; `None` without a wall time.
    fn of(instances: &[&InstanceData]) -> Option<Self> {
        let values = |metric: &str| -> Vec<f64> {
            let cleaned = clean(instances.iter().copied(), metric, CleaningPolicy::default());
            let counted = cleaned.instances.into_iter();
            counted.flat_map(|instance| instance.values).collect()
        };
        let times = values(WALL_TIME);
        Some(Self {
            count: times.len(),
            mean: lapwing_stats::mean(&times)?,
            sd: lapwing_stats::standard_deviation(&times),
            min: times.iter().copied().min_by(f64::total_cmp)?,
            max: times.iter().copied().max_by(f64::total_cmp)?,
            user: lapwing_stats::mean(&values("user_time")),
            system: lapwing_stats::mean(&values("system_time")),
        })
    }
}

/// The results of a session.
#[derive(Debug)]
pub struct SessionResults {
    /// The results, by benchmark and variant.
    pub rows: Vec<SessionResult>,
    /// The suite of the benchmarks.
    pub suite: String,
    /// The metric that variants are compared by.
    pub metric: MetricName,
    /// Earlier sessions of the benchmarks, if these are few.
    history: EarlierComparisons,
    /// Number of instances of earlier epochs, which are excluded.
    pub earlier: usize,
    /// Number of variants.
    pub variants: usize,
    /// What the suite says about judging.
    limits: JudgeSettings,
    /// The smallest effect that was asked for, as a share.
    smallest_effect: Option<f64>,
}

impl SessionResults {
    /// Reads the results of a session; its variants are compared by a metric, or by wall time.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub fn read(
        store: &Store,
        planned: &PlannedResults<'_>,
        metric: Option<&str>,
    ) -> Result<Self, StoreError> {
        let metric = metric.unwrap_or(WALL_TIME);
        let mut rows: BTreeMap<(usize, usize), SessionResult> = BTreeMap::new();
        let mut earlier = 0;
        let filter = Filter::of_session(planned.session).with_retired();
        each_benchmark(store, &filter, |data| {
            let places_of = |instance: &InstanceData| {
                let id = &instance.instance.benchmark.id;
                let positions = (planned.positions)(id, &instance.run);
                let place = positions.map(|(case, variant)| SidePlace {
                    group: case,
                    side: variant,
                    ..SidePlace::default()
                });
                place.into_iter().collect()
            };
            for sample in samples(&data, GroupBy::Side(&places_of)) {
                // The benchmark may have been changed before the session was resumed.
                earlier += sample.earlier_epoch;
                let (case, variant) = (sample.place.group, sample.place.side);
                let row = SessionResult::new(
                    &sample,
                    &planned.variants[variant],
                    planned.in_shell[case],
                    metric,
                );
                rows.insert((case, variant), row);
            }
            Ok::<(), StoreError>(())
        })?;
        let rows: Vec<SessionResult> = rows.into_values().collect();
        let benchmarks: BTreeSet<String> = match planned.variants.len() {
            0 | 1 => BTreeSet::new(),
            _ => rows.iter().map(|row| row.benchmark.clone()).collect(),
        };
        let metric = metric.to_owned();
        let sessions = BTreeSet::from([planned.session]);
        Ok(Self {
            history: EarlierComparisons::of_few(
                store,
                planned.suite,
                &benchmarks,
                &metric,
                &sessions,
            )?,
            rows,
            suite: planned.suite.to_owned(),
            metric,
            earlier,
            variants: planned.variants.len(),
            limits: planned.limits.clone(),
            smallest_effect: planned.smallest_effect,
        })
    }

    /// Returns whether a benchmark failed in every iteration.
    pub fn has_failed(&self) -> bool {
        self.rows
            .iter()
            .any(|row| row.has_nothing() && (row.side.failures > 0 || row.is_unbuilt))
    }

    /// Returns whether a teardown failed.
    pub fn has_failed_teardown(&self) -> bool {
        let advice = self.rows.iter().flat_map(|row| &row.advice);
        advice
            .into_iter()
            .any(|it| matches!(it, Advice::Teardown { .. }))
    }

    /// Returns whether another metric than the wall time was asked for.
    pub fn is_of_other_metric(&self) -> bool {
        self.metric != WALL_TIME
    }

    /// Returns the metrics that have values.
    pub fn known_metrics(&self) -> BTreeSet<MetricName> {
        let rows = self.rows.iter();
        rows.flat_map(|row| row.known.iter().cloned()).collect()
    }

    /// Returns the estimates of a row: that of the metric that was asked for, or of the wall time, the peak memory and
    /// those that the program reported.
    pub fn estimates<'a>(&'a self, row: &'a SessionResult) -> Vec<(&'a str, &'a str, Estimate)> {
        let is_known = |row: &SessionResult| row.known.contains(&self.metric);
        if self.is_of_other_metric() && self.rows.iter().any(is_known) {
            let asked = row.compared;
            let asked = asked.map(|it| (self.metric.as_str(), row.metric.unit.as_str(), it));
            return asked.into_iter().collect();
        }
        let wall = row.wall.map(|it| (WALL_TIME, "s", it));
        let memory = row.memory.map(|it| (PEAK_MEMORY, "B", it));
        let reported = row.reported.iter();
        let reported =
            reported.map(|(name, metric, it)| (name.as_str(), metric.unit.as_str(), *it));
        wall.into_iter().chain(memory).chain(reported).collect()
    }

    /// Returns whether no iteration succeeded.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(SessionResult::has_nothing)
    }
}

impl SessionResult {
    fn new(sample: &Sample<'_>, variant: &ResultVariant, in_shell: bool, compared: &str) -> Self {
        let instances = &sample.instances;
        let side = SideSample::of(sample, compared, CleaningPolicy::default());
        let declared = |name: &str| {
            // A later run declares metrics that appeared later.
            let mut declared = instances.iter().map(|it| it.run.metrics.get(name));
            declared.find_map(Option::<&Metric>::cloned)
        };
        let metric = match compared {
            WALL_TIME => Metric::lower("s"),
            _ => declared(compared).unwrap_or_default(),
        };
        let estimated = |metric: &str| {
            let centres = PreferredCentres::of(instances.iter().copied(), metric);
            estimate(&clean_with_summaries(
                instances,
                metric,
                CleaningPolicy::default(),
                &centres,
            ))
        };
        let is_reported = |name: &&String| {
            // Time per unit of work is the inverse of the throughput.
            ![WALL_TIME, PEAK_MEMORY].contains(&name.as_str())
                && !COUNTED.contains(&name.as_str())
                && !name.starts_with("seconds_per_")
        };
        let names = instances
            .iter()
            .flat_map(|instance| instance.iterations.values.keys());
        let summaries = instances.iter().flat_map(|instance| &instance.summaries);
        let summarised = summaries.clone().map(|summary| &summary.metric);
        let names: BTreeSet<&String> = names.chain(summarised).collect();
        let known = names.iter().map(|name| (*name).clone()).collect();
        let reported = names.into_iter().filter(is_reported);
        let reported = reported.filter_map(|name| {
            let metric = declared(name).unwrap_or_default();
            Some((name.clone(), metric, estimated(name)?))
        });
        let is_indicator = |instance: &&InstanceData| {
            let mut tags = instance.instance.benchmark.tags.iter();
            tags.any(|tag| tag == Benchmark::INDICATOR)
        };
        let reported: Vec<(MetricName, Metric, Estimate)> = reported.collect();
        // A metric that was asked for stands alone.
        let judged = reported.iter().filter(|(_, metric, _)| {
            compared == WALL_TIME && metric.better.is_some() && instances.iter().any(is_indicator)
        });
        let own = judged.map(|(name, metric, _)| {
            let side = SideSample::of(sample, name, CleaningPolicy::default());
            (name.clone(), metric.clone(), side)
        });
        let own = own.collect();
        let mut row = Self {
            benchmark: instances
                .first()
                .map_or_else(String::new, |it| it.instance.benchmark.id.clone()),
            variant: variant.label.clone(),
            wall: estimated(WALL_TIME),
            executions: ExecutionFigures::of(instances),
            compared: estimate(&side.cleaned),
            metric,
            is_control: variant.is_control,
            is_unbuilt: false,
            side,
            memory: estimated(PEAK_MEMORY),
            known,
            reported,
            own,
            centres: summaries
                .filter(|summary| summary.metric == compared)
                .map(|summary| centre_name(summary).to_owned())
                .collect(),
            job_states: job_states(instances),
            advice: advise(instances, in_shell, compared),
        };
        row.is_unbuilt = variant.has_environment && row.has_nothing();
        row
    }

    /// Returns whether there is no value.
    fn has_nothing(&self) -> bool {
        self.wall.is_none() && self.reported.is_empty()
    }
}

/// Returns the scheduler's words for the last attempts that did not end well.
fn job_states(instances: &[&InstanceData]) -> Vec<String> {
    let mut last: BTreeMap<u32, &InstanceData> = BTreeMap::new();
    for instance in instances {
        let known = last.entry(instance.instance.block).or_insert(instance);
        if instance.instance.attempt >= known.instance.attempt {
            *known = instance;
        }
    }
    let ends = last.into_values().filter_map(|it| it.end.as_ref());
    let bad = ends.filter(|end| end.outcome != InstanceOutcome::Ok);
    bad.filter_map(|end| Some(end.observed.get("job_state")?.as_str()?.to_owned()))
        .collect()
}
