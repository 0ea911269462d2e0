//! The tables of what was measured: iterations, instances, runs and exclusions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lapwing_analyse::clean::{CleaningRules, IterationState, states};
use lapwing_analyse::sample::{BenchmarkData, GroupBy, SettingChoice, samples};
use lapwing_model::{Better, Id, Metric, MetricName, Outcome};
use lapwing_record::{Filter, InstanceData, RecordedBenchmark, Store};

use crate::TableError;
use crate::batch::{FULL, RowBlock};
use crate::columns::TableName;
use crate::sink::{Partition, TableSink};

/// Why instances are excluded that are of an earlier epoch of their benchmark: they have no states.
const EARLIER_EPOCH: &str = "earlier_epoch";

/// The states of an instance's iterations by metric.
type InstanceStates = BTreeMap<MetricName, Vec<IterationState>>;

/// Writes a table of iterations, instances, runs or exclusions that pass a filter; the rules say what is analysed. Rows are
/// in the order of benchmarks, their instances, and metrics.
///
/// # Errors
/// When an entry of the filter fits nothing (then nothing is written), the store cannot be read, or the table not be
/// written.
pub fn write_measured<W: Write + Send, O: FnMut(&Partition) -> io::Result<W> + Send>(
    table: TableName,
    store: &Store,
    filter: &Filter,
    rules: &CleaningRules,
    sink: &mut TableSink<W, O>,
) -> Result<(), TableError> {
    store.catalogue().check_filter(filter)?;
    let is_of_metrics = !filter.metrics.is_empty();
    // What was read is written while the next is read.
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<RecordedBenchmark>(WAITING);
        let writer = scope.spawn(move || {
            let mut writer = TableWriter {
                table,
                rules,
                is_of_metrics,
                runs: BTreeSet::new(),
                sink,
            };
            receiver.into_iter().try_for_each(|it| writer.write(it))
        });
        let read = store.each_recorded(filter, |recorded| {
            let sent = sender.send(recorded);
            // The writer ends before it has everything only if it fails: its own error is returned below.
            sent.map_err(|_unwritten| TableError::Output(io::ErrorKind::BrokenPipe.into()))
        });
        drop(sender);
        let written = writer
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(read)
    })
}

/// Benchmarks that were read and not written yet.
const WAITING: usize = 2;

/// Writes the rows of benchmarks.
struct TableWriter<'t, W: Write + Send, O: FnMut(&Partition) -> io::Result<W>> {
    table: TableName,
    rules: &'t CleaningRules,
    is_of_metrics: bool,
    /// The runs that have a row.
    runs: BTreeSet<Id>,
    sink: &'t mut TableSink<W, O>,
}

impl<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>> TableWriter<'_, W, O> {
    fn write(&mut self, recorded: RecordedBenchmark) -> Result<(), TableError> {
        if self.table == TableName::Runs {
            for it in &recorded.instances {
                if self.runs.insert(it.run.id) {
                    write_run(&recorded, it, self.sink)?;
                }
            }
            return Ok(());
        }
        let raw = recorded.clone();
        let Some(data) = BenchmarkData::of(recorded) else {
            return Ok(());
        };
        let mut states = states_of(&data, self.rules);
        for it in &raw.instances {
            let of_instance = states.remove(&it.instance.id).unwrap_or_default();
            let row = InstanceRows {
                raw: &raw,
                it,
                states: of_instance,
                is_of_metrics: self.is_of_metrics,
            };
            match self.table {
                TableName::Instances => row.write_means(self.sink)?,
                TableName::Exclusions => row.write_exclusions(self.sink)?,
                _ => row.write_values(self.sink)?,
            }
        }
        Ok(())
    }
}

/// Returns the states of all iterations of a benchmark, by instance.
fn states_of(data: &BenchmarkData, rules: &CleaningRules) -> BTreeMap<Id, InstanceStates> {
    let mut all: BTreeMap<Id, InstanceStates> = BTreeMap::new();
    for sample in samples(data, GroupBy::Setting(SettingChoice::Each)) {
        let (policy, _) = rules.policy(&sample);
        let names = sample
            .instances
            .iter()
            .flat_map(|it| it.iterations.values.keys());
        for name in names.collect::<BTreeSet<_>>() {
            for (it, states) in states(sample.instances.iter().copied(), name, policy) {
                let of_instance = all.entry(it.instance.id).or_default();
                of_instance.insert(name.clone(), states.states);
            }
        }
    }
    all
}

/// The rows of an instance.
struct InstanceRows<'d> {
    raw: &'d RecordedBenchmark,
    it: &'d InstanceData,
    states: InstanceStates,
    is_of_metrics: bool,
}

impl InstanceRows<'_> {
    fn write_values<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>>(
        &self,
        sink: &mut TableSink<W, O>,
    ) -> Result<(), TableError> {
        let it = self.it;
        let all = 0..it.iterations.len();
        for (name, values) in &it.iterations.values {
            let states = self.states.get(name);
            let places: Vec<usize> = all.clone().filter(|at| !values[*at].is_nan()).collect();
            for places in places.chunks(FULL) {
                self.write_block(places, sink, |row| {
                    row.text(name).text(unit(it.run.metrics.get(name)));
                    row.numbers(places.iter().map(|at| values[*at]));
                    row.none().none().none();
                    row.text(better(it.run.metrics.get(name)));
                    self.begin_columns(places, row);
                    let why = |at: &usize| match states {
                        Some(states) => Some(states[*at])
                            .filter(|it| *it != IterationState::Steady)
                            .map(IterationState::key),
                        None => Some(EARLIER_EPOCH),
                    };
                    row.flags(places.iter().map(|at| Some(why(at).is_none())));
                    if places.iter().all(|at| why(at).is_none()) {
                        row.none();
                    } else {
                        row.texts(places.iter().map(why));
                    }
                })?;
            }
        }
        // A failure is data: it has a row although it has no value.
        let is_without = |at: &usize| {
            let mut columns = it.iterations.values.values();
            columns.all(|values| values[*at].is_nan())
                && (!self.is_of_metrics || it.iterations.outcome[*at] != Outcome::Ok)
        };
        let without: Vec<usize> = all.filter(is_without).collect();
        for places in without.chunks(FULL) {
            self.write_block(places, sink, |row| {
                row.none().none().none().none().none().none().none();
                self.begin_columns(places, row);
                row.flags(places.iter().map(|_| Some(false)));
                // As in the audit: what fails during burn-in is burn-in.
                let why = |at: &usize| {
                    let states = self.states.values().map(|it| it[*at]);
                    let known = { states }.find(|it| *it != IterationState::Steady);
                    match (known, it.iterations.outcome[*at]) {
                        (Some(state), _) => state.key(),
                        (None, Outcome::Ok) => "no_value",
                        (None, Outcome::Failed) => "failed",
                        (None, Outcome::TimedOut) => "timed_out",
                        (None, Outcome::Skipped) => "skipped",
                    }
                };
                row.texts(places.iter().map(|at| Some(why(at))));
            })?;
        }
        for summary in &it.summaries {
            let suite = &self.raw.suite;
            sink.rows(
                suite,
                || month(it),
                1,
                |row| {
                    self.identity(row);
                    row.none().none().none().none();
                    row.text(&summary.metric);
                    row.text(unit(it.run.metrics.get(&summary.metric)));
                    row.numbers([summary.centre].into_iter())
                        .text(&summary.statistic);
                    row.numbers([summary.spread.unwrap_or(f64::NAN)].into_iter());
                    row.whole(summary.n.and_then(|n| i64::try_from(n).ok()));
                    row.text(better(it.run.metrics.get(&summary.metric)));
                    row.time(it.instance.started).none().none().none();
                },
            )?;
        }
        Ok(())
    }

    /// Writes rows of iterations; `fill` fills the columns after their message.
    fn write_block<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>>(
        &self,
        places: &[usize],
        sink: &mut TableSink<W, O>,
        fill: impl FnOnce(&mut RowBlock<'_>),
    ) -> Result<(), TableError> {
        let iterations = &self.it.iterations;
        sink.rows(
            &self.raw.suite,
            || month(self.it),
            places.len(),
            |row| {
                self.identity(row);
                row.wholes(
                    places
                        .iter()
                        .map(|at| Some(i64::from(iterations.index(*at)))),
                );
                row.flags(places.iter().map(|at| Some(iterations.burn_in[*at])));
                let outcomes = || places.iter().map(|at| iterations.outcome[*at]);
                match outcomes().next() {
                    Some(first) if outcomes().all(|it| it == first) => row.text(outcome(first)),
                    _ => row.texts(outcomes().map(|it| Some(outcome(it)))),
                };
                let messages = &iterations.messages;
                if messages.is_empty() {
                    row.none();
                } else {
                    row.texts(places.iter().map(|at| messages.get(at).map(String::as_str)));
                }
                fill(row);
            },
        )
    }

    /// Fills the columns that identify the instance.
    fn identity(&self, row: &mut RowBlock<'_>) {
        let it = self.it;
        row.text(&self.raw.suite);
        row.text(it.session.name.as_deref().unwrap_or_default());
        row.text(&it.session.id.to_string())
            .text(&it.run.id.to_string());
        row.text(&self.raw.id);
        row.text(it.run.version.name.as_deref().unwrap_or_default());
        row.text(it.run.version.commit.as_deref().unwrap_or_default());
        row.text(&it.run.variant).text(&it.instance.id.to_string());
        row.text(it.instance.host.as_deref().unwrap_or_default());
        row.whole(Some(i64::from(it.instance.block)));
        row.whole(Some(i64::from(it.instance.position)));
        row.whole(Some(i64::from(it.instance.attempt)));
    }

    /// Fills the columns of when an iteration began.
    fn begin_columns(&self, places: &[usize], row: &mut RowBlock<'_>) {
        row.time(self.it.instance.started);
        row.numbers(places.iter().map(|at| self.it.iterations.offset[*at]));
    }

    fn write_means<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>>(
        &self,
        sink: &mut TableSink<W, O>,
    ) -> Result<(), TableError> {
        let it = self.it;
        let end = it.end.as_ref();
        let of_end = |row: &mut RowBlock<'_>| {
            self.identity(row);
            row.text(&end.map(|it| it.outcome.to_string()).unwrap_or_default());
            row.text(end.and_then(|it| it.message.as_deref()).unwrap_or_default());
            row.time(it.instance.started)
                .time(end.and_then(|it| it.ended));
        };
        for (name, values) in &it.iterations.values {
            let states = self.states.get(name);
            let is_used = |at: usize| states.is_some_and(|it| it[at] == IterationState::Steady);
            let used: Vec<f64> = (0..values.len())
                .filter(|at| is_used(*at) && !values[*at].is_nan())
                .map(|at| values[at])
                .collect();
            let sum: f64 = used.iter().sum();
            let mean = sum / f64::from(u32::try_from(used.len()).unwrap_or(u32::MAX));
            sink.rows(
                &self.raw.suite,
                || month(it),
                1,
                |row| {
                    of_end(row);
                    row.text(name).text(unit(it.run.metrics.get(name)));
                    row.text(better(it.run.metrics.get(name)));
                    row.numbers([mean].into_iter());
                    row.whole(i64::try_from(used.len()).ok());
                    row.whole(i64::try_from(values.len() - used.len()).ok());
                },
            )?;
        }
        if it.iterations.values.is_empty() && !self.is_of_metrics {
            sink.rows(
                &self.raw.suite,
                || month(it),
                1,
                |row| {
                    of_end(row);
                    row.none().none().none().none().whole(Some(0));
                    row.whole(i64::try_from(it.iterations.len()).ok());
                },
            )?;
        }
        Ok(())
    }

    fn write_exclusions<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>>(
        &self,
        sink: &mut TableSink<W, O>,
    ) -> Result<(), TableError> {
        let it = self.it;
        let all: BTreeSet<&MetricName> = self
            .states
            .keys()
            .chain(it.iterations.values.keys())
            .collect();
        for name in all {
            let values = it.iterations.values.get(name);
            let states = self.states.get(name);
            let why = |at: &usize| states.map_or(EARLIER_EPOCH, |it| it[*at].key());
            let is_out = |at: &usize| states.is_none_or(|it| it[*at] != IterationState::Steady);
            let places: Vec<usize> = (0..it.iterations.len()).filter(is_out).collect();
            for places in places.chunks(FULL) {
                sink.rows(
                    &self.raw.suite,
                    || month(it),
                    places.len(),
                    |row| {
                        row.text(&self.raw.suite).text(&it.session.id.to_string());
                        row.text(&it.run.id.to_string())
                            .text(&self.raw.id)
                            .text(&it.run.variant);
                        row.text(&it.instance.id.to_string());
                        let iterations = &it.iterations;
                        row.wholes(
                            places
                                .iter()
                                .map(|at| Some(i64::from(iterations.index(*at)))),
                        );
                        row.text(name);
                        let value = |at: &usize| values.map_or(f64::NAN, |values| values[*at]);
                        row.numbers(places.iter().map(value));
                        row.texts(
                            places
                                .iter()
                                .map(|at| Some(outcome(iterations.outcome[*at]))),
                        );
                        let messages = &iterations.messages;
                        row.texts(places.iter().map(|at| messages.get(at).map(String::as_str)));
                        row.texts(places.iter().map(|at| Some(why(at))));
                    },
                )?;
            }
        }
        Ok(())
    }
}

fn write_run<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>>(
    recorded: &RecordedBenchmark,
    it: &InstanceData,
    sink: &mut TableSink<W, O>,
) -> Result<(), TableError> {
    let (session, run) = (&it.session, &it.run);
    let json = |value: serde_json::Result<String>| value.unwrap_or_default();
    sink.rows(
        &recorded.suite,
        || month(it),
        1,
        |row| {
            row.text(&recorded.suite)
                .text(session.name.as_deref().unwrap_or_default());
            row.text(&session.id.to_string())
                .time(Some(session.started))
                .text(&session.tool);
            row.text(&run.id.to_string());
            row.text(run.version.name.as_deref().unwrap_or_default());
            row.text(run.version.commit.as_deref().unwrap_or_default());
            row.text(run.version.branch.as_deref().unwrap_or_default());
            row.flags([run.version.dirty].into_iter())
                .text(&run.variant);
            row.text(&json(serde_json::to_string(&run.factors)));
            row.text(&json(serde_json::to_string(&run.environment)));
            row.text(&json(serde_json::to_string(&run.attributes)));
        },
    )
}

/// Returns the month in which the session of an instance began.
fn month(it: &InstanceData) -> String {
    month_of(it.session.started)
}

pub(crate) fn month_of(time: Timestamp) -> String {
    let date = time.to_zoned(TimeZone::UTC).date();
    format!("{:04}-{:02}", date.year(), date.month())
}

pub(crate) fn unit(metric: Option<&Metric>) -> &str {
    metric.map_or("", |it| it.unit.as_str())
}

pub(crate) fn better(metric: Option<&Metric>) -> &'static str {
    match metric.and_then(|it| it.better) {
        Some(Better::Lower) => "lower",
        Some(Better::Higher) => "higher",
        None => "",
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::TimedOut => "timed_out",
        Outcome::Skipped => "skipped",
    }
}
