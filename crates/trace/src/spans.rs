//! Traces as spans of records, and spans as traces.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lapwing_model::{Id, Object, Span};
use serde_json::Value;

use crate::calls::SpanPlace;
use crate::durations::float;
use crate::names::{FastMap, Name};
use crate::read::builder::{class_of, host_of};
use crate::trace::{
    InputsSource, MISSING, Micro, OtherSpan, Phase, Pressure, Resource, Task, TaskEvent, Trace,
    Transfer, TransferEvent, TransferMode,
};

const TASK: &str = "task";
const TRANSFER: &str = "transfer";
const CONTROLLER: &str = "controller";
const MICRO: &str = "micro";
const HOST: &str = "host";
const PROCESS: &str = "process";
const PRESSURE: &str = "pressure";
const MACHINE: &str = "machine";

/// Makes a trace of spans, one after the other.
///
/// `docs/traces.md` has their meaning. Where none is a task, every span with a beginning and an end is taken for one.
#[derive(Debug, Default)]
pub struct SpanReader {
    trace: Trace,
    attempts: FastMap<Name, u32>,
    /// Of the other spans.
    places: Vec<SpanPlace>,
    /// The number of cores of each machine.
    cores: BTreeMap<Name, f64>,
    /// The time of the tasks of each worker whose times are unknown, and that multiplied by the cores that they use.
    demand: BTreeMap<Name, [f64; 2]>,
}

impl SpanReader {
    /// Adds a span.
    pub fn add(&mut self, span: &Span) {
        let trace = &mut self.trace;
        trace.lines += 1;
        match span.category.as_str() {
            TASK => {
                if span.inputs.is_some() {
                    trace.inputs_from = InputsSource::Trace;
                }
                let mut task = trace.task_of(span);
                let attempt = self.attempts.entry(task.name).or_default();
                task.attempt = *attempt;
                *attempt += 1;
                if let Some(duration) = task.duration.filter(|it| *it > 0) {
                    let duration = float(duration);
                    let used = task.cpu.map(|cpu| float(cpu) / duration);
                    let cores = number(span, "cores").or(used).map_or(1.0, |it| it.max(1.0));
                    let demand = self.demand.entry(task.worker).or_default();
                    *demand = [demand[0] + duration, demand[1] + duration * cores];
                }
                trace.tasks.push(task);
            }
            TRANSFER => {
                let transfer = trace.transfer_of(span);
                trace.transfers.push(transfer);
            }
            CONTROLLER => {
                let phase = trace.phase_of(span);
                trace.phases.push(phase);
            }
            MICRO => {
                let whole = |key: &str| integer(&span.attributes, key).unwrap_or_default();
                let micro = Micro {
                    count: u64::try_from(whole("count")).unwrap_or_default(),
                    sum: whole("sum"),
                    max: whole("max"),
                };
                trace.micros.insert(span.name.clone(), micro);
            }
            HOST if span.name == PRESSURE => trace.add_pressure(span),
            HOST if span.name == MACHINE => {
                let worker = span.lane.as_deref().unwrap_or_default();
                let cores = number(span, "cores");
                let worker = trace.names.intern(worker);
                self.cores.extend(cores.map(|cores| (worker, cores)));
            }
            PROCESS => trace.add_sample(span),
            _other => self.places.extend(trace.add_other(span)),
        }
    }

    /// Returns the trace.
    pub fn finish(mut self) -> Trace {
        self.trace.phases.sort_by_key(|phase| phase.start);
        if self.trace.tasks.is_empty() {
            self.trace.take_calls(&self.places);
            self.trace.take_others_for_tasks();
        }
        if self.trace.tasks.is_empty() {
            self.trace.take_processes_for_tasks();
        }
        let open = self.trace.others.iter_mut();
        for other in open.filter(|other| other.end == MISSING) {
            other.end = other.start;
        }
        if self.trace.range().is_none() {
            self.trace.slots = self.slots();
        }
        self.trace.align_clocks();
        self.trace
    }

    /// Returns how many tasks each worker has cores for at once: of the mean size by time, and at least one. Where tasks
    /// do not say on which machine they ran, the cores of all are theirs.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 1 to the number of tasks"
    )]
    fn slots(&self) -> BTreeMap<Name, usize> {
        let most = float(i64::try_from(self.trace.tasks.len()).unwrap_or(i64::MAX));
        let all: f64 = self.cores.values().sum();
        let slots = self.demand.iter().filter_map(|(worker, [time, cores])| {
            let of_all = (*worker == Name::EMPTY && all > 0.0).then_some(all);
            let known = self.cores.get(worker).copied().or(of_all)?;
            let at_once = (known * time / cores).floor().min(most).max(1.0);
            Some((*worker, at_once as usize))
        });
        slots.collect()
    }
}

impl Trace {
    /// Returns the trace that spans are, as [`SpanReader`] makes it.
    pub fn of_spans<'s>(spans: impl IntoIterator<Item = &'s Span>) -> Self {
        let mut reader = SpanReader::default();
        for span in spans {
            reader.add(span);
        }
        reader.finish()
    }

    fn task_of(&mut self, span: &Span) -> Task {
        let class = match span.attributes.get("class").and_then(Value::as_str) {
            Some(class) => class,
            None => class_of(&span.name),
        };
        let worker = span.lane.as_deref().unwrap_or_default();
        let names = &mut self.names;
        let number = |key| integer(&span.attributes, key);
        let inputs = span.inputs.iter().flatten();
        Task {
            host: names.intern(host(worker)),
            events: TaskEvent::ALL.map(|event| at(span, event.name())),
            inputs: inputs.map(|input| names.intern(input)).collect(),
            duration: number("duration"),
            cpu: number("cpu"),
            run_delay: number("run_delay"),
            process: number("pid"),
            bytes: number("bytes"),
            has_failed: span.attributes.get("status").and_then(Value::as_str) == Some("error"),
            ..Task::new(
                names.intern(&span.name),
                names.intern(class),
                names.intern(worker),
            )
        }
    }

    fn transfer_of(&mut self, span: &Span) -> Transfer {
        let text = |key: &str| span.attributes.get(key).and_then(Value::as_str);
        let attempt = integer(&span.attributes, "attempt").unwrap_or_default();
        let names = &mut self.names;
        Transfer {
            dataset: names.intern(&span.name),
            source: names.intern(text("source").unwrap_or_default()),
            target: names.intern(span.lane.as_deref().unwrap_or_default()),
            mode: text("mode")
                .and_then(TransferMode::named)
                .unwrap_or_default(),
            attempt: u32::try_from(attempt).unwrap_or_default(),
            events: TransferEvent::ALL.map(|event| at(span, event.name())),
        }
    }

    fn phase_of(&mut self, span: &Span) -> Phase {
        let names = &mut self.names;
        let counts = span.attributes.iter();
        let counts = counts.filter_map(|(key, value)| Some((names.intern(key), value.as_i64()?)));
        Phase {
            counts: counts.collect(),
            name: names.intern(&span.name),
            start: span.events.get("begin").copied().unwrap_or_default(),
            end: at(span, "end"),
        }
    }

    /// Adds a span that is neither task nor transfer, and returns its place among others; `None` without times.
    fn add_other(&mut self, span: &Span) -> Option<SpanPlace> {
        let events = span.events.values();
        let (start, last) = (*events.clone().min()?, *events.max()?);
        let begin = span.events.get("begin").copied();
        let end = span.events.get("end").copied();
        let worker = span.lane.as_deref().unwrap_or_default();
        self.others.push(OtherSpan {
            name: self.names.intern(&span.name),
            worker: self.names.intern(worker),
            start: begin.unwrap_or(start),
            // Without tasks it becomes one, which has no end.
            end: match begin {
                Some(_) => end.unwrap_or(MISSING),
                None => last,
            },
        });
        let mut text = |key: &str| {
            let text = span.attributes.get(key).and_then(Value::as_str);
            self.names.intern(text.unwrap_or_default())
        };
        Some(SpanPlace {
            id: text("span"),
            parent: text("parent"),
            group: text("async"),
        })
    }

    fn add_pressure(&mut self, span: &Span) {
        let [start, end] = ["begin", "end"].map(|event| at(span, event));
        if start == MISSING || end == MISSING {
            return;
        }
        let share = |resource: Resource| {
            let share = span.attributes.get(resource.share_name());
            share.and_then(Value::as_f64).unwrap_or_default()
        };
        let worker = span.lane.as_deref().unwrap_or_default();
        self.pressures.push(Pressure {
            worker: self.names.intern(worker),
            host: self.names.intern(host(worker)),
            start,
            end,
            shares: Resource::ALL.map(share),
        });
    }

    fn take_others_for_tasks(&mut self) {
        for other in std::mem::take(&mut self.others) {
            let class = class_of(self.names.text(other.name)).trim_end().to_owned();
            let class = self.names.intern(&class);
            let mut task = Task::new(other.name, class, other.worker);
            let host = host(self.names.text(other.worker)).to_owned();
            task.host = self.names.intern(&host);
            task.events[TaskEvent::Started as usize] = other.start;
            task.events[TaskEvent::Computed as usize] = other.end;
            self.tasks.push(task);
        }
    }

    /// Returns the trace as spans of an instance, by their beginnings. Events keep their clock.
    pub fn spans(&self, instance: Id) -> TraceSpans<'_> {
        let trace = if self.shifts.is_empty() {
            Cow::Borrowed(self)
        } else {
            Cow::Owned(self.as_measured())
        };
        TraceSpans {
            has_graph: trace.has_graph(),
            places: places(&trace).into_iter(),
            instance,
            index: 0,
            trace,
        }
    }
}

/// When a span begins, the number of its kind, and its place among those.
type TracePlace = (Option<i64>, u8, usize);

fn places(trace: &Trace) -> Vec<TracePlace> {
    let first = |events: &[i64]| events.iter().copied().filter(|at| *at != MISSING).min();
    let tasks = trace.tasks.iter().map(Task::begin);
    let transfers = trace.transfers.iter().map(|it| first(&it.events));
    let phases = trace.phases.iter().map(|it| first(&[it.start, it.end]));
    let micros = trace.micros.iter().map(|_| None);
    let others = trace.others.iter().map(|it| first(&[it.start, it.end]));
    let pressures = trace.pressures.iter();
    let pressures = pressures.map(|it| first(&[it.start, it.end]));
    let numbered = |(at, begin)| (begin, at);
    let kind = |kind: u8| move |(begin, at)| (begin, kind, at);
    let mut places = Vec::new();
    places.extend(tasks.enumerate().map(numbered).map(kind(0)));
    places.extend(transfers.enumerate().map(numbered).map(kind(1)));
    places.extend(phases.enumerate().map(numbered).map(kind(2)));
    places.extend(micros.enumerate().map(numbered).map(kind(3)));
    places.extend(others.enumerate().map(numbered).map(kind(4)));
    places.extend(pressures.enumerate().map(numbered).map(kind(5)));
    places.sort_unstable();
    places
}

/// The spans of a trace, by their beginnings: [`Trace::spans`].
#[derive(Debug)]
pub struct TraceSpans<'t> {
    trace: Cow<'t, Trace>,
    instance: Id,
    has_graph: bool,
    places: std::vec::IntoIter<TracePlace>,
    index: u32,
}

impl ExactSizeIterator for TraceSpans<'_> {}

impl Iterator for TraceSpans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let (_, kind, at) = self.places.next()?;
        let span = match kind {
            0 => self.task(at),
            1 => self.transfer(at),
            2 => self.phase(at),
            3 => self.micro(at)?,
            4 => {
                let it = &self.trace.others[at];
                let name = self.trace.text(it.name);
                self.between("span", name, Some(it.worker), [it.start, it.end])
            }
            _ => {
                let it = &self.trace.pressures[at];
                let worker = Some(it.worker);
                let mut span = self.between(HOST, PRESSURE, worker, [it.start, it.end]);
                for (resource, share) in Resource::ALL.iter().zip(it.shares) {
                    put(&mut span, resource.share_name(), Some(share));
                }
                span
            }
        };
        self.index += 1;
        Some(span)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl TraceSpans<'_> {
    fn span(&self, category: &str, name: &str, lane: Option<Name>, events: &[(&str, i64)]) -> Span {
        let known = events.iter().filter(|(_, at)| *at != MISSING);
        Span {
            instance: self.instance,
            iteration: None,
            index: self.index,
            category: category.to_owned(),
            name: name.to_owned(),
            lane: lane.map(|lane| self.trace.text(lane).to_owned()),
            inputs: None,
            clock: None,
            events: known
                .map(|(event, at)| ((*event).to_owned(), *at))
                .collect(),
            attributes: Object::new(),
            extra: Object::new(),
        }
    }

    fn between(
        &self,
        category: &str,
        name: &str,
        lane: Option<Name>,
        [begin, end]: [i64; 2],
    ) -> Span {
        self.span(category, name, lane, &[("begin", begin), ("end", end)])
    }

    fn task(&self, at: usize) -> Span {
        let task = &self.trace.tasks[at];
        let text = |name: Name| self.trace.text(name);
        let events = TaskEvent::ALL.map(|event| (event.name(), task.events[event as usize]));
        let mut span = self.span(TASK, text(task.name), Some(task.worker), &events);
        if self.has_graph {
            let inputs = task.inputs.iter();
            span.inputs = Some(inputs.map(|name| text(*name).to_owned()).collect());
        }
        put(&mut span, "class", Some(text(task.class)));
        put(&mut span, "duration", task.duration);
        put(&mut span, "cpu", task.cpu);
        put(&mut span, "run_delay", task.run_delay);
        put(&mut span, "pid", task.process);
        put(&mut span, "bytes", task.bytes);
        put(&mut span, "status", task.has_failed.then_some("error"));
        span
    }

    fn transfer(&self, at: usize) -> Span {
        let transfer = &self.trace.transfers[at];
        let text = |name: Name| self.trace.text(name);
        let events = TransferEvent::ALL;
        let events = events.map(|event| (event.name(), transfer.events[event as usize]));
        let (name, target) = (text(transfer.dataset), Some(transfer.target));
        let mut span = self.span(TRANSFER, name, target, &events);
        let source = Some(text(transfer.source)).filter(|source| !source.is_empty());
        put(&mut span, "source", source);
        let mode = Some(transfer.mode).filter(|mode| *mode != TransferMode::Unknown);
        put(&mut span, "mode", mode.map(TransferMode::name));
        let attempt = Some(transfer.attempt).filter(|attempt| *attempt > 0);
        put(&mut span, "attempt", attempt);
        span
    }

    fn phase(&self, at: usize) -> Span {
        let phase = &self.trace.phases[at];
        let name = self.trace.text(phase.name);
        let mut span = self.between(CONTROLLER, name, None, [phase.start, phase.end]);
        for (name, count) in &phase.counts {
            put(&mut span, self.trace.text(*name), Some(*count));
        }
        span
    }

    fn micro(&self, at: usize) -> Option<Span> {
        let (kind, micro) = self.trace.micros.iter().nth(at)?;
        let mut span = self.span(MICRO, kind, None, &[]);
        put(&mut span, "count", Some(micro.count));
        put(&mut span, "sum", Some(micro.sum));
        put(&mut span, "max", Some(micro.max));
        Some(span)
    }
}

fn put(span: &mut Span, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        span.attributes.insert(key.to_owned(), value.into());
    }
}

pub(crate) fn at(span: &Span, event: &str) -> i64 {
    span.events.get(event).copied().unwrap_or(MISSING)
}

pub(crate) fn integer(attributes: &Object, key: &str) -> Option<i64> {
    attributes.get(key)?.as_i64()
}

fn number(span: &Span, key: &str) -> Option<f64> {
    let number = span.attributes.get(key)?.as_f64()?;
    Some(number).filter(|it| *it > 0.0)
}

/// Returns the host of a lane: of an address such as `10.0.0.1:41234` and of `tcp://…` too.
pub(crate) fn host(lane: &str) -> &str {
    match lane.rsplit_once(':') {
        Some((host, _)) => host,
        None => host_of(lane).unwrap_or_default(),
    }
}
