//! Spans as the readers of traces describe them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use serde_json::Value;

use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use crate::shared::keys::put;
use crate::shared::sink::Sink;
use crate::{ImportError, Source, TraceNames};
use lapwing_model::{Id, Metric, Object, Span};
use lapwing_trace::{SpanReader, Trace};

/// The category of a piece of work in the graph.
pub(crate) const TASK: &str = "task";

/// The category of data on their way.
pub(crate) const TRANSFER: &str = "transfer";

/// The category of a piece that is neither: it has a beginning and an end.
pub(crate) const PLAIN: &str = "span";

/// The category of a duration without a place in time.
pub(crate) const MICRO: &str = "micro";

/// The category of what is known of a machine.
pub(crate) const HOST: &str = "host";

/// The clock of a source whose times are those of the calendar.
pub(crate) const WALL: &str = "wall";

/// A span before it has an instance.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct SpanDraft {
    /// The kind of piece.
    pub(crate) category: String,
    /// Its name.
    pub(crate) name: String,
    /// The lane that it ran on.
    pub(crate) lane: Option<String>,
    /// The names of the spans that it waited for; `None` if they are unknown.
    pub(crate) inputs: Option<Vec<String>>,
    /// The clock that its events were read from.
    pub(crate) clock: Option<String>,
    /// Event name to nanoseconds of that clock.
    pub(crate) events: BTreeMap<String, i64>,
    /// Whatever else is known of it.
    pub(crate) attributes: Object,
}

impl SpanDraft {
    /// Returns a span without events.
    pub(crate) fn of(category: &str, name: impl Into<String>) -> Self {
        Self {
            category: category.to_owned(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds an event, where its time is known.
    pub(crate) fn event(&mut self, name: &str, time: Option<i64>) {
        if let Some(time) = time {
            self.events.insert(name.to_owned(), time);
        }
    }

    /// Adds an attribute, where it is known.
    pub(crate) fn attribute(&mut self, key: &str, value: Option<impl Into<Value>>) {
        put(&mut self.attributes, key, value);
    }

    /// Returns the span of that instance.
    pub(crate) fn into_span(self, instance: Id, iteration: Option<u32>, index: u32) -> Span {
        Span {
            instance,
            iteration,
            index,
            category: self.category,
            name: self.name,
            lane: self.lane,
            inputs: self.inputs,
            clock: self.clock,
            events: self.events,
            attributes: self.attributes,
            extra: Object::new(),
        }
    }
}

/// Returns seconds in nanoseconds; `None` beyond their range.
pub(crate) fn nanoseconds(seconds: f64) -> Option<i64> {
    in_nanoseconds(seconds, 1_000_000_000)
}

/// Returns a time in units of so many nanoseconds in nanoseconds; `None` beyond their range.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "within the range of whole nanoseconds, and units are powers of ten"
)]
pub(crate) fn in_nanoseconds(time: f64, unit: i64) -> Option<i64> {
    const RANGE: f64 = 9e18;
    // Apart, since the product of a time of the calendar would lose its last digits once more.
    let (whole, part) = (time.trunc(), time.fract() * unit as f64);
    (time.abs() < RANGE / unit as f64).then(|| whole as i64 * unit + part.round() as i64)
}

/// Returns the instance of a trace whose whole took that many seconds, where the source says so.
pub(crate) fn traced(
    benchmark: &str,
    seconds: Option<f64>,
    mut spans: Vec<SpanDraft>,
) -> InstanceDraft {
    spans.sort_by_key(|span| span.events.values().min().copied());
    let mut reader = SpanReader::default();
    for span in &spans {
        reader.add(&span.clone().into_span(no_instance(), None, 0));
    }
    let mut draft = measured(benchmark, seconds, &reader.finish());
    draft.spans = spans;
    draft
}

/// Returns the instance of a trace without its spans.
pub(crate) fn measured(benchmark: &str, seconds: Option<f64>, trace: &Trace) -> InstanceDraft {
    let mut draft = InstanceDraft::of(benchmark);
    let seconds = seconds.filter(|seconds| *seconds > 0.0);
    let wall_time = seconds.map(|seconds| ("wall_time".to_owned(), Metric::lower("s"), seconds));
    for (name, metric, value) in lapwing_trace::metrics(trace).into_iter().chain(wall_time) {
        draft.metrics.insert(name.clone(), metric);
        draft.iterations.values.insert(name, vec![value]);
    }
    if !draft.iterations.values.is_empty() {
        draft.iterations.count = 1;
        draft.iterations.burn_in = vec![false];
    }
    draft
}

/// Returns an id for spans that have no instance yet.
pub(crate) fn no_instance() -> Id {
    Id::derived(&[])
}

/// Takes a trace that stands on a line of a source.
pub(crate) fn take_trace(
    source: &Source,
    digest: &[u8; 32],
    sink: &mut Sink<'_, '_>,
    session: SessionDraft,
    trace: InstanceDraft,
    line: u64,
) -> Result<(), ImportError> {
    take_traces(source, digest, sink, session, vec![(line, trace)])
}

/// Takes traces with their lines: instances of one run.
pub(crate) fn take_traces(
    source: &Source,
    digest: &[u8; 32],
    sink: &mut Sink<'_, '_>,
    session: SessionDraft,
    mut traces: Vec<(u64, InstanceDraft)>,
) -> Result<(), ImportError> {
    if traces.iter().all(|(_, trace)| trace.spans.is_empty()) {
        // What is bad is told at the end.
        return if sink.only_counts() {
            Ok(())
        } else {
            Err(source.without_results())
        };
    }
    let mut run = RunDraft::default();
    for (_, trace) in &mut traces {
        run = named_run(&sink.options.trace, trace);
    }
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let run = intake.run(run)?;
    for (line, trace) in traces {
        intake.instance(line, run, trace)?;
    }
    intake.finish()
}

/// Puts spans of a source that does not say where they ran on lanes with numbers: each on the first that is free when it
/// starts. Their names tell that they are no workers ([`Trace::has_numbered_lanes`]).
pub(crate) fn put_in_lanes(spans: &mut [SpanDraft]) {
    let first = |span: &SpanDraft| {
        let started = span.events.get("started");
        started.or_else(|| span.events.values().min()).copied()
    };
    spans.sort_by_key(first);
    let mut busy_until: Vec<Option<i64>> = Vec::new();
    for span in spans {
        let begin = first(span);
        let free = busy_until.iter().position(|until| *until <= begin);
        let lane = free.unwrap_or(busy_until.len());
        busy_until.resize(busy_until.len().max(lane + 1), None);
        busy_until[lane] = span.events.values().max().copied();
        span.lane = Some(format!("lane {}", lane + 1));
    }
}

/// Adds to the tasks, which are spans with links, those that stand beside them and have none: they have the parent of a
/// task, and no task within them. Spans are their ids and those of their parents.
pub(crate) fn add_tasks_without_links<'s>(tasks: &mut BTreeSet<&'s str>, spans: &[[&'s str; 2]]) {
    let parents: HashMap<&str, &str> = spans.iter().map(|[id, parent]| (*id, *parent)).collect();
    let of_tasks = tasks.iter().filter_map(|id| parents.get(id).copied());
    let of_tasks: BTreeSet<&str> = of_tasks.collect();
    let mut around: BTreeSet<&str> = BTreeSet::new();
    for first in &of_tasks {
        let mut span = *first;
        while around.insert(span)
            && let Some(parent) = parents.get(span)
        {
            span = parent;
        }
    }
    let beside = spans.iter();
    let beside = beside.filter(|[id, parent]| of_tasks.contains(parent) && !around.contains(id));
    tasks.extend(beside.map(|[id, _]| *id));
}

/// Returns a number of nanoseconds since 1970 as a time.
pub(crate) fn timestamp_of(nanoseconds: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(nanoseconds.into()).ok()
}

/// Returns a time in nanoseconds since 1970; `None` beyond their range.
pub(crate) fn since_1970(time: Timestamp) -> Option<i64> {
    i64::try_from(time.as_nanosecond()).ok()
}

/// Gives a trace the name that it is imported under, and returns its run.
pub(crate) fn named_run(names: &TraceNames, trace: &mut InstanceDraft) -> RunDraft {
    if let Some(benchmark) = &names.benchmark {
        trace.benchmark.id.clone_from(benchmark);
    }
    RunDraft {
        variant: names.variant.clone(),
        ..RunDraft::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_keep_what_a_number_of_seconds_has() {
        assert_eq!(nanoseconds(1.5e-9), Some(2));
        assert_eq!(nanoseconds(-0.25), Some(-250_000_000));
        let time = nanoseconds(1_795_466_223.185_943_8).expect("in range");
        assert_eq!(time / 1_000, 1_795_466_223_185_943);
        assert_eq!(nanoseconds(f64::NAN), None);
        assert_eq!(nanoseconds(1e10), None);
    }
}
