//! The start of the steady state of each benchmark, as detected and as decided.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lapwing_model::Id;
use lapwing_stats::mean;
use lapwing_stats::steady::{BurnIn, BurnInOptions, Class, MaxCost};

use crate::clean::{
    BenchmarkSteady, BurnInSource, InstanceSteady, SteadyFrom, burn_in_metric, find_steady, listed,
    was_planned_auto,
};
use crate::sample::Sample;

/// The search for starts.
#[derive(Debug)]
pub struct SteadyStartSearch {
    /// How the starts of all instances are combined.
    pub burn_in: BurnInOptions,
    /// What to keep of the results.
    pub keep: KeptValues,
}

/// Kept results of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptValues {
    /// The starts of its instances.
    Starts,
    /// Their values too, for charts.
    Values,
}

/// The start of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceBurnIn {
    /// The instance.
    pub id: Id,
    /// Its class; `None` if its values are not above zero.
    pub class: Option<Class>,
    /// Its first steady iteration.
    pub start: Option<u32>,
    /// The number of its iterations.
    pub iterations: usize,
    /// Whether it has enough iterations in comparison with the others.
    pub is_asked: bool,
}

impl InstanceBurnIn {
    fn new(instance: &InstanceSteady) -> Self {
        Self {
            id: instance.instance,
            class: instance.class,
            start: instance.start_index(),
            iterations: instance.values.len(),
            is_asked: instance.is_asked,
        }
    }
}

/// The burn-in of a benchmark.
#[derive(Debug, Clone)]
pub struct BenchmarkBurnIn {
    /// The suite of the benchmark.
    pub suite: String,
    /// Its id.
    pub benchmark: String,
    /// The unit of its values.
    pub unit: String,
    /// The number of planned burn-in iterations; `None` if they are found from the data.
    pub planned: Option<u32>,
    /// The steady states of its instances, with their values if these are kept.
    pub steady: BenchmarkSteady<'static>,
    /// The starts of its instances.
    pub instances: Vec<InstanceBurnIn>,
    /// The detected start.
    pub found: Option<u32>,
    /// The detected start without limits.
    pub wanted: Option<u32>,
    /// The first iteration that counts; `None` if none does.
    pub start: Option<u32>,
    /// The source of that start.
    pub source: BurnInSource,
    /// Cost and remaining bias of that start.
    pub effect: Option<BurnIn>,
    /// The bias without any burn-in; `None` without a steady instance.
    pub bias_without: Option<f64>,
    /// The sum of all values, on average over the instances that have enough iterations.
    pub total: f64,
}

/// A limit on the time of burn-in where the metric is no time.
#[derive(Debug, thiserror::Error)]
#[error("--max-cost is a time, but `{metric}` of {benchmark} is not")]
pub struct NoTimeError {
    metric: String,
    benchmark: String,
}

/// Returns the burn-in of a benchmark; `None` if it has no values. `starts` are those that were chosen by hand.
///
/// # Errors
///
/// If the cost of burn-in is limited to a time, and the metric is no time.
pub fn burn_in_of(
    sample: &Sample<'_>,
    search: &SteadyStartSearch,
    starts: &BTreeMap<String, u32>,
) -> Result<Option<BenchmarkBurnIn>, NoTimeError> {
    let Some(metric) = burn_in_metric(sample) else {
        return Ok(None);
    };
    let unit = metric_unit(sample, &metric);
    if let Some(MaxCost::Sum(_)) = search.burn_in.max_cost
        && unit != "s"
    {
        let benchmark = sample.benchmark.id.clone();
        return Err(NoTimeError { metric, benchmark });
    }
    let steady = find_steady(sample, &metric, &search.burn_in);
    if steady.instances.is_empty() {
        return Ok(None);
    }
    let planned = planned(sample);
    let found = steady.start_index();
    let compared = steady.instances.iter().filter(|it| it.is_asked);
    let sums: Vec<f64> = compared.map(|it| it.values.iter().sum()).collect();
    let is_any_steady = steady.instances.iter().any(|it| it.start.is_some());
    let without = steady.burn_in_from(0).filter(|_| is_any_steady);
    let mut row = BenchmarkBurnIn {
        suite: sample.suite.to_owned(),
        benchmark: sample.benchmark.id.clone(),
        unit,
        planned,
        instances: steady.instances.iter().map(InstanceBurnIn::new).collect(),
        found,
        wanted: steady.wanted_index(),
        start: found,
        source: BenchmarkBurnIn::FOUND,
        effect: None,
        bias_without: without.map(|it| it.remaining_bias),
        total: mean(&sums).unwrap_or(0.0),
        steady: steady.into_owned(),
    };
    match (listed(starts, &row.benchmark), row.steady.steady_from()) {
        (Some(start), _) => row.decide(Some(start), BurnInSource::Listed),
        (None, SteadyFrom::Recorded | SteadyFrom::Unknown) => {
            row.decide(Some(planned.unwrap_or(0)), BurnInSource::Recorded);
        }
        (None, SteadyFrom::Index(_) | SteadyFrom::Never) => {
            row.decide(found, BenchmarkBurnIn::FOUND);
        }
    }
    if search.keep == KeptValues::Starts {
        for instance in &mut row.steady.instances {
            instance.values = Cow::default();
        }
    }
    Ok(Some(row))
}

/// Returns the unit of a metric in the latest instance that has it; empty if it has none.
pub fn metric_unit(sample: &Sample<'_>, metric: &str) -> String {
    let instances = sample.instances.iter().rev();
    let mut units = instances.filter_map(|it| Some(it.run.metrics.get(metric)?.unit.clone()));
    units.next().unwrap_or_default()
}

fn planned(sample: &Sample<'_>) -> Option<u32> {
    let last = sample.instances.last();
    if last.is_some_and(|it| was_planned_auto(&it.session, &sample.benchmark.id)) {
        return None;
    }
    let counts = sample.instances.iter().map(|instance| {
        let iterations = instance.iterations.burn_in.iter();
        iterations.filter(|burn_in| **burn_in).count()
    });
    Some(u32::try_from(counts.max().unwrap_or(0)).unwrap_or(u32::MAX))
}

impl BenchmarkBurnIn {
    /// The source of a detected start; the wanted one is a field.
    pub const FOUND: BurnInSource = BurnInSource::Found { wanted: None };

    /// Sets the first iteration that counts.
    pub fn decide(&mut self, start: Option<u32>, source: BurnInSource) {
        self.start = start;
        self.source = source;
        self.effect = match start {
            Some(start) => self.steady.burn_in_from(start),
            None => self.steady.burn_in.clone(),
        };
    }

    /// Returns the start of the steady state.
    pub fn steady_from(&self) -> SteadyFrom {
        match (self.start, self.source) {
            (_, BurnInSource::Recorded) => SteadyFrom::Recorded,
            (Some(start), _) => SteadyFrom::Index(start),
            (None, _) => SteadyFrom::Never,
        }
    }

    /// Returns the start, if it was detected or chosen.
    pub fn known_start(&self) -> Option<u32> {
        match self.steady_from() {
            SteadyFrom::Index(start) => Some(start),
            SteadyFrom::Recorded | SteadyFrom::Never | SteadyFrom::Unknown => None,
        }
    }

    /// Returns whether most, but not all instances never reach a steady state.
    pub fn is_mostly_unsteady(&self) -> bool {
        self.source == Self::FOUND && self.start.is_some() && self.most_never_do()
    }

    /// Returns whether the start was chosen by hand although the values show none.
    pub fn is_steady_by_hand_alone(&self) -> bool {
        let by_hand = matches!(self.source, BurnInSource::Listed | BurnInSource::Reviewed);
        by_hand && (self.found.is_none() || self.most_never_do())
    }

    /// Returns whether every instance has values that are not above zero.
    pub fn is_not_positive(&self) -> bool {
        self.instances.iter().all(|it| it.class.is_none())
    }

    fn most_never_do(&self) -> bool {
        2 * self.count(Class::NoSteadyState) > self.instances.len() - self.not_used()
    }

    /// Returns whether instances drift in different directions.
    pub fn drifts(&self) -> bool {
        self.steady.burn_in.as_ref().is_some_and(|it| it.drifting)
    }

    /// Returns whether a limit shortened the burn-in.
    pub fn is_shortened(&self) -> bool {
        self.source == Self::FOUND && self.wanted > self.start
    }

    /// Returns the number of instances of a class.
    pub fn count(&self, class: Class) -> usize {
        let instances = self.instances.iter();
        instances.filter(|it| it.class == Some(class)).count()
    }

    /// Returns the number of instances with too few iterations in comparison with the others.
    pub fn not_used(&self) -> usize {
        self.instances.iter().filter(|it| !it.is_asked).count()
    }

    /// Returns one more than the index of the last iteration of all instances.
    pub fn longest(&self) -> u32 {
        let instances = self.steady.instances.iter();
        let last = instances.filter_map(|it| it.index().last().copied()).max();
        last.map_or(0, |last| last.saturating_add(1))
    }

    /// Returns the number of iterations of the shortest instance with enough of them.
    pub fn fewest_iterations(&self) -> usize {
        let instances = self.instances.iter().filter(|it| it.is_asked);
        instances.map(|it| it.iterations).min().unwrap_or(0)
    }
}
