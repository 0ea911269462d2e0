//! Traces as Chrome's trace events, for Perfetto and other viewers.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lapwing_trace::{MISSING, Name, TaskDuration, TaskEvent, TaskGraph, Trace};
use serde_json::{Value, json};

/// Writes a process for each host, a thread for each worker, and a slice for each part of a task, transfer or phase,
/// and a flow from each task to those that need its result.
///
/// # Errors
///
/// Returns the error of the output.
pub fn write_events(trace: &Trace, mut out: impl Write) -> io::Result<()> {
    let trace = &*trace.with_whole_calls();
    let start = trace.range().map_or(0, |(start, _)| start);
    let mut threads: BTreeMap<Name, (usize, usize)> = BTreeMap::new();
    let mut processes: BTreeMap<Name, usize> = BTreeMap::new();
    let mut events = Events {
        out: &mut out,
        is_first: true,
        start,
    };
    events
        .out
        .write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let tasks = trace.tasks.iter().map(|task| (task.worker, task.host));
    let targets = trace.transfers.iter().map(|it| (it.target, Name::EMPTY));
    let others = trace.others.iter().map(|it| (it.worker, Name::EMPTY));
    for (worker, host) in tasks.chain(targets).chain(others) {
        if threads.contains_key(&worker) {
            continue;
        }
        let next = processes.len() + 1;
        let process = *processes.entry(host).or_insert(next);
        let thread = threads.len() + 1;
        threads.insert(worker, (process, thread));
        if process == next {
            let host = match trace.text(host) {
                "" => "workers",
                host => host,
            };
            events.write(
                &json!({"ph": "M", "name": "process_name", "pid": process, "args": {"name": host}}),
            )?;
        }
        let worker = trace.text(worker);
        events.write(&json!({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": worker}}))?;
    }
    for task in &trace.tasks {
        let place = threads[&task.worker];
        let name = trace.text(task.name);
        if let Some((from, to)) = task.at(TaskEvent::Started).zip(task.released()) {
            let args = json!({"class": trace.text(task.class), "attempt": task.attempt, "cpu_ns": task.cpu, "bytes": task.bytes});
            events.slice(name, "task", place, [from, to], &args)?;
        }
        // A call has no parts but those within it, which are calls.
        if !trace.calls.is_empty() {
            continue;
        }
        // Parts on the worker lie within the task.
        let computing = task.computing().map(|(from, _)| from);
        for (part, from) in [
            (TaskDuration::Load, task.at(TaskEvent::Started)),
            (TaskDuration::Compute, computing),
            (TaskDuration::Publish, task.at(TaskEvent::Computed)),
        ] {
            if let Some((from, duration)) = from.zip(part.of(task)) {
                events.slice(
                    part.name(),
                    "part",
                    place,
                    [from, from + duration],
                    &json!({}),
                )?;
            }
        }
    }
    if let Some(graph) = TaskGraph::of(trace).filter(|_| trace.calls.is_empty()) {
        events.flows(trace, &graph, &threads)?;
    }
    for transfer in &trace.transfers {
        let known = transfer.events.iter().copied().filter(|at| *at != MISSING);
        if let Some((from, to)) = known.clone().min().zip(known.max()) {
            let args = json!({"mode": transfer.mode.name(), "source": trace.text(transfer.source), "target": trace.text(transfer.target)});
            events.asynchronous(
                trace.text(transfer.dataset),
                threads[&transfer.target],
                [from, to],
                &args,
            )?;
        }
    }
    let controller = (processes.len() + 1, threads.len() + 1);
    for phase in trace.phases.iter().filter(|phase| phase.end != MISSING) {
        events.slice(
            trace.text(phase.name),
            "controller",
            controller,
            [phase.start, phase.end],
            &json!({}),
        )?;
    }
    if !trace.phases.is_empty() {
        events.write(&json!({"ph": "M", "name": "process_name", "pid": controller.0, "args": {"name": "controller"}}))?;
    }
    for sample in &trace.samples {
        let Some((process, _)) = threads.get(&sample.lane) else {
            continue;
        };
        let name = format!("memory of {} {}", trace.text(sample.name), sample.process);
        let at = events.microseconds(sample.end);
        let args = json!({"bytes": sample.memory});
        events.write(&json!({"ph": "C", "name": name, "pid": process, "ts": at, "args": args}))?;
    }
    for other in &trace.others {
        let place = threads[&other.worker];
        events.slice(
            trace.text(other.name),
            "span",
            place,
            [other.start, other.end],
            &json!({}),
        )?;
    }
    events.out.write_all(b"\n]}\n")?;
    out.flush()
}

struct Events<'o, W> {
    out: &'o mut W,
    is_first: bool,
    start: i64,
}

impl<W: Write> Events<'_, W> {
    fn write(&mut self, event: &Value) -> io::Result<()> {
        let separator: &[u8] = if self.is_first { b"\n" } else { b",\n" };
        self.is_first = false;
        self.out.write_all(separator)?;
        serde_json::to_writer(&mut *self.out, event)?;
        Ok(())
    }

    /// Microseconds from the first event of a task.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
    fn microseconds(&self, at: i64) -> f64 {
        (at - self.start) as f64 / 1e3
    }

    fn slice(
        &mut self,
        name: &str,
        category: &str,
        (process, thread): (usize, usize),
        [from, to]: [i64; 2],
        args: &Value,
    ) -> io::Result<()> {
        let (begin, end) = (self.microseconds(from), self.microseconds(to));
        self.write(&json!({
            "ph": "X", "name": name, "cat": category, "pid": process, "tid": thread,
            "ts": begin, "dur": (end - begin).max(0.0), "args": args,
        }))
    }

    /// Writes an arrow from the end of each input of a task to its start.
    fn flows(
        &mut self,
        trace: &Trace,
        graph: &TaskGraph,
        threads: &BTreeMap<Name, (usize, usize)>,
    ) -> io::Result<()> {
        let mut id = 0;
        for (task, inputs) in trace.tasks.iter().zip(&graph.inputs) {
            for input in inputs.iter().map(|input| &trace.tasks[*input]) {
                let ends = input.at(TaskEvent::Started).zip(input.released());
                let Some(((from, end), to)) = ends.zip(task.at(TaskEvent::Started)) else {
                    continue;
                };
                if task.released().is_none() {
                    continue;
                }
                id += 1;
                // An arrow belongs to the slice in which it begins: the end is no longer in it.
                let from = (end - 1).max(from);
                for (phase, at, task) in [("s", from, input), ("f", to, task)] {
                    let (process, thread) = threads[&task.worker];
                    let mut event = json!({
                        "ph": phase, "name": "input", "cat": "input", "id": id, "pid": process,
                        "tid": thread, "ts": self.microseconds(at),
                    });
                    if phase == "f" {
                        event["bp"] = "e".into();
                    }
                    self.write(&event)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a slice that may overlap others of its thread.
    fn asynchronous(
        &mut self,
        name: &str,
        (process, thread): (usize, usize),
        [from, to]: [i64; 2],
        args: &Value,
    ) -> io::Result<()> {
        let id = format!("{name}→{thread}@{from}");
        for (phase, at) in [("b", from), ("e", to)] {
            let at = self.microseconds(at);
            self.write(&json!({
                "ph": phase, "name": name, "cat": "transfer", "id": id, "pid": process,
                "tid": thread, "ts": at, "args": args,
            }))?;
        }
        Ok(())
    }
}
