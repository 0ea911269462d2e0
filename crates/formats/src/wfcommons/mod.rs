//! Workflow instances of WfCommons: the graph, how long each task took, and mostly not when.

mod older;

use jiff::Timestamp;
use regex::Regex;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use self::older::OlderWorkflow;

use crate::shared::detect::has_own_key;
use crate::shared::intake::SessionDraft;
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::sink::Sink;
use crate::shared::spans::{
    HOST, MICRO, SpanDraft, TASK, WALL, nanoseconds, since_1970, take_trace, traced,
};
use crate::{BadLine, Format, ImportError, Source};

pub(super) const FORMAT: Format = Format {
    takes_names: true,
    is_trace: true,
    ..Format::new(
        "wfcommons",
        "WfCommons workflow instance (WfFormat)",
        looks_like,
        read,
    )
    .with_keys(&["schemaVersion", "workflow", "tasks"])
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    ["schemaVersion", "workflow"]
        .iter()
        .all(|key| has_own_key(head, key))
        .then_some("it has `schemaVersion` and `workflow`")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorkflowInstance<'d> {
    name: Option<String>,
    schema_version: String,
    runtime_system: Option<RuntimeSystem>,
    #[serde(borrow)]
    workflow: &'d RawValue,
}

#[derive(Deserialize)]
struct RuntimeSystem {
    name: String,
    version: Option<String>,
}

#[derive(Deserialize)]
struct Workflow<'d> {
    specification: Specification,
    #[serde(borrow)]
    execution: Execution<'d>,
}

#[derive(Deserialize)]
struct Specification {
    tasks: Vec<SpecifiedTask>,
    #[serde(default)]
    files: Vec<SpecifiedFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecifiedTask {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(default)]
    output_files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecifiedFile {
    id: String,
    #[serde(default)]
    size_in_bytes: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Execution<'d> {
    makespan_in_seconds: Option<f64>,
    executed_at: Option<String>,
    #[serde(borrow)]
    tasks: Vec<&'d RawValue>,
    #[serde(default)]
    machines: Vec<Machine>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Machine {
    node_name: Option<String>,
    cpu: Option<Processor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Processor {
    #[serde(alias = "count")]
    core_count: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecutedTask {
    // Before 1.5 the id may be missing, and the name takes its place.
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(alias = "runtime")]
    runtime_in_seconds: f64,
    executed_at: Option<String>,
    #[serde(default)]
    machines: Vec<String>,
    machine: Option<String>,
    #[serde(rename = "avgCPU")]
    average_cpu: Option<f64>,
    #[serde(alias = "cores")]
    core_count: Option<f64>,
    #[serde(alias = "bytesRead")]
    read_bytes: Option<u64>,
    #[serde(alias = "bytesWritten")]
    written_bytes: Option<u64>,
    #[serde(alias = "memory")]
    memory_in_bytes: Option<u64>,
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let instance: WorkflowInstance<'_> = document.parse()?;
    let workflow = match instance.schema_version.as_str() {
        "1.3" | "1.4" => document
            .value("workflow", instance.workflow)
            .and_then(|older: OlderWorkflow<'_>| older.into_workflow(&document)),
        version if version < "1.5" => {
            let reason = format!("WfFormat {version} is older than 1.3, the oldest that is read");
            return Err(document.wrong_document(reason));
        }
        _newer => document.value("workflow", instance.workflow),
    };
    let workflow: Workflow<'_> = workflow.map_err(|bad| document.refused(bad))?;
    let graph = Graph::of(&workflow.specification);
    let mut spans = Vec::with_capacity(workflow.execution.tasks.len());
    for raw in &workflow.execution.tasks {
        let task = document.element::<ExecutedTask>(raw);
        match task.and_then(|task| graph.span(&document, raw, task)) {
            Ok(span) => spans.push(span),
            Err(bad) => sink.bad(bad),
        }
    }
    let makespan = workflow.execution.makespan_in_seconds;
    if !spans.is_empty() {
        add_surroundings(&mut spans, makespan, workflow.execution.machines);
    }
    let tool = match instance.runtime_system {
        Some(RuntimeSystem { name, version }) => match version {
            Some(version) => format!("{name} {version}"),
            None => name,
        },
        None => "wfcommons".to_owned(),
    };
    let session = SessionDraft {
        started: workflow.execution.executed_at.as_deref().and_then(time_of),
        tool,
        ..SessionDraft::default()
    };
    let name = instance.name.filter(|name| !name.is_empty());
    let benchmark = name.unwrap_or_else(|| source.stem().to_owned());
    let trace = traced(&benchmark, makespan, spans);
    take_trace(source, document.sha256(), sink, session, trace, 1)
}

/// Adds how long the run took, and the machines with their cores. If there is only one, all tasks ran on it.
fn add_surroundings(spans: &mut Vec<SpanDraft>, makespan: Option<f64>, machines: Vec<Machine>) {
    if let [
        Machine {
            node_name: Some(name),
            ..
        },
    ] = &machines[..]
    {
        for task in &mut *spans {
            task.lane.get_or_insert_with(|| name.clone());
        }
    }
    let makespan = makespan.and_then(nanoseconds).filter(|it| *it > 0);
    if let Some(makespan) = makespan {
        let mut span = SpanDraft::of(MICRO, "makespan");
        span.attribute("count", Some(1));
        span.attribute("sum", Some(makespan));
        span.attribute("max", Some(makespan));
        spans.push(span);
    }
    for machine in machines {
        let mut span = SpanDraft::of(HOST, "machine");
        span.lane = machine.node_name;
        span.attribute("cores", machine.cpu.and_then(|cpu| cpu.core_count));
        spans.push(span);
    }
}

/// The specifications of the tasks, by their ids.
struct Graph<'s> {
    tasks: BTreeMap<&'s str, &'s SpecifiedTask>,
    sizes: BTreeMap<&'s str, u64>,
    number: Option<Regex>,
}

impl<'s> Graph<'s> {
    fn of(specification: &'s Specification) -> Self {
        let tasks = specification.tasks.iter();
        let files = specification.files.iter();
        Self {
            tasks: tasks.map(|task| (task.id.as_str(), task)).collect(),
            sizes: files.map(|it| (it.id.as_str(), it.size_in_bytes)).collect(),
            number: Regex::new("[-_.](ID)?[0-9]+$").ok(),
        }
    }

    fn span(
        &self,
        document: &Document,
        raw: &RawValue,
        task: ExecutedTask,
    ) -> Result<SpanDraft, BadLine> {
        let duration = nanoseconds(task.runtime_in_seconds).filter(|it| *it >= 0);
        let Some(duration) = duration else {
            return Err(document.wrong(raw, "`runtimeInSeconds` is out of range"));
        };
        let id = match task.id.is_empty() {
            true => task.name,
            false => task.id,
        };
        let mut span = SpanDraft::of(TASK, id);
        if let Some(specified) = self.tasks.get(span.name.as_str()) {
            span.inputs = Some(specified.parents.clone());
            let sizes = specified.output_files.iter();
            let sizes = sizes.filter_map(|file| self.sizes.get(file.as_str()));
            let bytes = sizes.copied().try_fold(0_u64, u64::checked_add);
            let bytes = bytes.ok_or_else(|| document.wrong(raw, "its files are too large"))?;
            span.attribute("bytes", Some(bytes).filter(|it| *it > 0));
            span.attribute("class", Some(self.class(specified)));
        }
        span.lane = task.machines.into_iter().next().or(task.machine);
        span.attribute("duration", Some(duration));
        // Percent of one core.
        let cpu = task
            .average_cpu
            .map(|it| it / 100.0 * task.runtime_in_seconds);
        span.attribute("cpu", cpu.and_then(nanoseconds));
        span.attribute("cores", task.core_count);
        span.attribute("bytes_read", task.read_bytes);
        span.attribute("bytes_written", task.written_bytes);
        span.attribute("peak_memory", task.memory_in_bytes);
        let started = task.executed_at.as_deref().and_then(time_of);
        let started = started.and_then(since_1970);
        if let Some(started) = started {
            span.clock = Some(WALL.to_owned());
            span.event("started", Some(started));
            span.event("computed", started.checked_add(duration));
        }
        Ok(span)
    }

    /// The name that tasks of a kind share; many writers number it.
    fn class(&self, task: &SpecifiedTask) -> String {
        let name = if task.name.is_empty() {
            &task.id
        } else {
            &task.name
        };
        match &self.number {
            Some(number) => number.replace(name, "").into_owned(),
            None => name.clone(),
        }
    }
}

/// Reads a time as the writers of instances have it, besides those of the standard.
fn time_of(text: &str) -> Option<Timestamp> {
    let compact = || {
        let parsed = jiff::fmt::strtime::parse("%Y%m%dT%H%M%S%z", text).ok()?;
        parsed.to_timestamp().ok()
    };
    // Month first.
    let pegasus = || {
        let parsed = jiff::fmt::strtime::parse("%m-%d-%yT%H:%M:%SZ", text).ok()?;
        let zoned = parsed.to_datetime().ok()?.to_zoned(jiff::tz::TimeZone::UTC);
        zoned.ok().map(|zoned| zoned.timestamp())
    };
    moment(text).or_else(compact).or_else(pegasus)
}

#[cfg(test)]
mod tests;
