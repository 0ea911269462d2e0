//! The start of each benchmark, as detected and as decided.

use std::collections::BTreeMap;

use std::borrow::Cow;

use lapwing_analyse::clean::{
    BenchmarkAudit, BenchmarkSteady, BurnInSource, CleaningPolicy, InstanceSteady, SteadyFrom,
    burn_in_metric, find_steady, listed, was_planned_auto,
};
use lapwing_analyse::sample::{BenchmarkData, Sample, each_benchmark};
use lapwing_measure::suite::BurnIn as PlannedBurnIn;
use lapwing_model::Id;
use lapwing_record::{Filter, Store};
use lapwing_show::FIRST_METRIC;
use lapwing_show::answers::earlier_note;
use lapwing_show::answers::not_judged::NotJudged;
use lapwing_stats::steady::{BurnIn, BurnInOptions, Class, MaxCost};
use rayon::prelude::*;

use crate::error::CliError;
use crate::options::Context;
use crate::progress::bar_of_many;

/// The search for starts.
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

/// The source of a detected start; the row has the wanted one.
pub const FOUND: BurnInSource = BurnInSource::Found { wanted: None };

/// The start of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceRow {
    pub id: Id,
    pub class: Option<Class>,
    pub start: Option<u32>,
    pub iterations: usize,
    /// Whether it has enough iterations in comparison with the others.
    pub is_asked: bool,
}

impl InstanceRow {
    fn of(instance: &InstanceSteady) -> Self {
        Self {
            id: instance.instance,
            class: instance.class,
            start: instance.start_index(),
            iterations: instance.values.len(),
            is_asked: instance.is_asked,
        }
    }
}

/// One benchmark.
#[derive(Debug, Clone)]
pub struct BurnInRow {
    pub suite: String,
    pub benchmark: String,
    pub unit: String,
    pub planned: PlannedBurnIn,
    /// The steady states of its instances, with their values if these are kept.
    pub steady: BenchmarkSteady<'static>,
    pub instances: Vec<InstanceRow>,
    /// The detected start.
    pub found: Option<u32>,
    /// The detected start without limits.
    pub wanted: Option<u32>,
    /// The first iteration that counts; `None` if none does.
    pub start: Option<u32>,
    pub source: BurnInSource,
    /// Cost and remaining bias of that start.
    pub effect: Option<BurnIn>,
    /// The bias without any burn-in; `None` without a steady instance.
    pub bias_without: Option<f64>,
    /// The sum of all values, on average over the instances that have enough iterations.
    pub total: f64,
}

/// Number of benchmarks per batch: enough for all processors.
const BATCH: usize = 64;

/// Returns a row for each benchmark that has a value, by suite and id, and the others with their reasons.
pub fn read(
    store: &Store,
    filter: &Filter,
    search: &SteadyStartSearch,
    starts: &BTreeMap<String, u32>,
    context: &Context,
) -> Result<(Vec<BurnInRow>, Vec<NotJudged>), CliError> {
    let bar = bar_of_many(
        "looking",
        store.catalogue().benchmarks(filter)?.len(),
        context,
    );
    let (mut rows, mut others) = (Vec::new(), Vec::new());
    let mut batch: Vec<BenchmarkData> = Vec::new();
    let mut earlier = 0;
    let mut look = |batch: &mut Vec<BenchmarkData>| -> Result<(), CliError> {
        let samples: Vec<Sample<'_>> = batch.iter().map(Sample::of_newest_epoch).collect();
        let found: Vec<Option<BurnInRow>> = samples
            .par_iter()
            .map(|sample| row(sample, search, starts))
            .collect::<Result<_, _>>()?;
        bar.inc(samples.len() as u64);
        for (sample, found) in samples.iter().zip(found) {
            earlier += sample.earlier_epoch;
            match found {
                Some(row) => rows.push(row),
                None => others.push(without_value(sample)),
            }
        }
        batch.clear();
        Ok(())
    };
    each_benchmark(store, filter, |data| {
        batch.push(data);
        if batch.len() < BATCH {
            return Ok(());
        }
        look(&mut batch)
    })?;
    look(&mut batch)?;
    bar.finish_and_clear();
    context.terminal.notes(earlier_note(earlier));
    Ok((rows, others))
}

/// Returns why a benchmark has no values.
fn without_value(sample: &Sample<'_>) -> NotJudged {
    let metric = burn_in_metric(sample).unwrap_or_else(|| FIRST_METRIC.to_owned());
    let audit = BenchmarkAudit::of(
        sample,
        &metric,
        CleaningPolicy::default(),
        BurnInSource::Recorded,
    );
    let nothing = || "no successful iteration has a value".to_owned();
    NotJudged {
        suite: sample.suite.to_owned(),
        benchmark: sample.benchmark.id.clone(),
        setting: None,
        metric,
        reason: audit.reason().unwrap_or_else(nothing),
    }
}

fn row(
    sample: &Sample<'_>,
    search: &SteadyStartSearch,
    starts: &BTreeMap<String, u32>,
) -> Result<Option<BurnInRow>, CliError> {
    let Some(metric) = burn_in_metric(sample) else {
        return Ok(None);
    };
    let unit = unit(sample, &metric);
    if let Some(MaxCost::Sum(_)) = search.burn_in.max_cost
        && unit != "s"
    {
        let id = &sample.benchmark.id;
        return Err(CliError::input(format!(
            "--max-cost is a time, but `{metric}` of {id} is not"
        ))
        .hint("give it as a number of iterations, `--max-cost '5 iterations'`, or choose a time with --metric"));
    }
    let steady = find_steady(sample, &metric, &search.burn_in);
    if steady.instances.is_empty() {
        return Ok(None);
    }
    let planned = planned(sample);
    let found = steady.start_index();
    let sums: Vec<f64> = steady
        .instances
        .iter()
        .filter(|it| it.is_asked)
        .map(|it| it.values.iter().sum())
        .collect();
    let mut row = BurnInRow {
        suite: sample.suite.to_owned(),
        benchmark: sample.benchmark.id.clone(),
        unit,
        planned,
        instances: steady.instances.iter().map(InstanceRow::of).collect(),
        found,
        wanted: steady.wanted_index(),
        start: found,
        source: FOUND,
        effect: None,
        bias_without: steady
            .burn_in_from(0)
            .filter(|_| steady.instances.iter().any(|it| it.start.is_some()))
            .map(|it| it.remaining_bias),
        total: lapwing_stats::mean(&sums).unwrap_or(0.0),
        steady: steady.into_owned(),
    };
    match (listed(starts, &row.benchmark), row.steady.steady_from()) {
        (Some(start), _) => row.decide(Some(start), BurnInSource::Listed),
        (None, SteadyFrom::Recorded | SteadyFrom::Unknown) => {
            row.decide(Some(planned.planned()), BurnInSource::Recorded);
        }
        (None, SteadyFrom::Index(_) | SteadyFrom::Never) => row.decide(found, FOUND),
    }
    if search.keep == KeptValues::Starts {
        for instance in &mut row.steady.instances {
            instance.values = Cow::default();
        }
    }
    Ok(Some(row))
}

fn unit(sample: &Sample<'_>, metric: &str) -> String {
    let instances = sample.instances.iter().rev();
    let mut units = instances.filter_map(|it| Some(it.run.metrics.get(metric)?.unit.clone()));
    units.next().unwrap_or_default()
}

fn planned(sample: &Sample<'_>) -> PlannedBurnIn {
    let is_auto = sample
        .instances
        .last()
        .is_some_and(|it| was_planned_auto(&it.session, &sample.benchmark.id));
    if is_auto {
        return PlannedBurnIn::Auto;
    }
    let flagged = sample.instances.iter().map(|instance| {
        let iterations = instance.iterations.burn_in.iter();
        iterations.filter(|burn_in| **burn_in).count()
    });
    PlannedBurnIn::Fixed(u32::try_from(flagged.max().unwrap_or(0)).unwrap_or(u32::MAX))
}

impl BurnInRow {
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
        self.source == FOUND && self.start.is_some() && self.most_never_do()
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
        self.source == FOUND && self.wanted > self.start
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
