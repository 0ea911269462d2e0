"""Simulated runs as the files that real programs write: earthkit's JSON Lines, records with spans, OTLP."""

import json
import uuid

from simulator import TASK_EVENTS

# Nanoseconds of the wall clock at which the runs begin.
BEGIN = 1_795_467_339 * 10**9
# The events that each format has; a makespan is between the first and the last of them.
EVENTS = {
    "earthkit": TASK_EVENTS,
    "record": tuple(event for event in TASK_EVENTS if event != "published"),
    "otlp": ("started", "computed"),
}


def write(run, folder, name, form):
    """Writes the trace of a run and returns its name and that of its graph, if it needs one."""
    rows, graph = {"earthkit": earthkit, "record": record, "otlp": otlp}[form](run), None
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if form == "earthkit":
        graph = f"{name}.graph.json"
        (folder / graph).write_text(json.dumps({task.name: list(task.inputs) for task in run.tasks}))
    return f"{name}.jsonl", graph


def earthkit(run):
    """What `cascade.low.tracing` logs, without the time and the logger of each line."""
    rows = []

    def mark(action, at, host, **labels):
        rows.append({"action": action, "at": BEGIN + at, **labels, "host": host})

    for it in run.attempts:
        for event, at in it.events.items():
            host = "controller" if event in ("planned", "completed") else it.worker.host
            mark(f"task_{event}", at, host, task=it.task.name, worker=it.worker.name)
    by_host = run.setting.memory == "host"
    for it in run.transfers:
        source, target = (side.host if by_host else side.name for side in (it.source, it.target))
        labels = {"dataset": f"{it.dataset}.0", "target": target}
        hosts = dict.fromkeys(("planned", "completed"), "controller") | dict.fromkeys(
            ("started", "loaded"), it.source.host
        )
        for event, at in it.events.items():
            more = {"planned": {"source": source}, "loaded": {"mode": "remote"}, "unloaded": {"mode": it.mode}}
            mark(f"transmit_{event}", at, hosts.get(event, it.target.host), **labels, **more.get(event, {}))
    return sorted(rows, key=lambda row: row["at"])


def record(run):
    """What pytest-lapwing's `trace_dask` writes: a worker that died no longer tells when its tasks began."""
    spans = []
    for it in run.attempts:
        told = ("planned",) if it.lost else EVENTS["record"]
        attributes = {"class": it.task.group, **({"status": "released"} if it.lost else {"bytes": 28})}
        events = {event: BEGIN + it.events[event] for event in told}
        spans.append(span("task", it.task.name, it.worker, events, attributes, inputs=list(it.task.inputs)))
    for it in run.transfers:
        attributes = {"source": it.source.name, "mode": "remote", "task": it.task, "bytes": 64_000_000}
        events = {"started": BEGIN + it.events["started"], "completed": BEGIN + it.events["unloaded"]}
        spans.append(span("transfer", it.dataset, it.target, events, attributes))
    spans.sort(key=lambda it: min(it["events"].values()))
    session, of_session, instance = (
        str(uuid.uuid5(uuid.NAMESPACE_OID, kind + json.dumps(spans))) for kind in ("session", "run", "instance")
    )
    started, wall = "2026-11-23T20:55:39Z", {"wall_time": {"unit": "s", "better": "lower"}}
    rows = [
        {"kind": "session", "id": session, "suite": "planted", "started": started, "tool": "pytest-lapwing 0.1.0"},
        {"kind": "run", "id": of_session, "session": session, "metrics": wall},
        {
            "kind": "instance",
            "id": instance,
            "run": of_session,
            "benchmark": {"id": "planted"},
            "host": "h0",
            "started": started,
        },
        {
            "kind": "iteration",
            "instance": instance,
            "index": 0,
            "metrics": {"wall_time": run.makespan(EVENTS["record"])},
        },
        *({"kind": "span", "instance": instance, "index": at, "iteration": 0, **it} for at, it in enumerate(spans)),
        {"kind": "instance_end", "instance": instance, "ended": started},
    ]
    return [{"v": 1, **row} for row in rows]


def span(category, name, worker, events, attributes, **inputs):
    told = {"category": category, "name": name, "lane": worker.name, **inputs, "clock": "wall"}
    return {**told, "events": events, "attributes": attributes}


def otlp(run):
    """What the file exporter of an OpenTelemetry collector writes: a span per task with links to its inputs."""
    trace = "94f4d0faf352a4bc4bcb0282d75b5ece"
    ids = {task.name: f"{at + 1:016x}" for at, task in enumerate(run.tasks)}
    rows = []
    for it in sorted(run.attempts, key=lambda it: it.events["computed"]):
        links = [{"traceId": trace, "spanId": ids[name]} for name in it.task.inputs]
        told = {
            "traceId": trace,
            "spanId": ids[it.task.name],
            "name": it.task.name,
            "kind": 1,
            "startTimeUnixNano": str(BEGIN + it.events["started"]),
            "endTimeUnixNano": str(BEGIN + it.events["computed"]),
            **({"links": links} if links else {}),
            "status": {},
        }
        host, instance = it.worker.name.split(":")
        resource = {"service.name": "planted", "service.instance.id": instance, "host.name": host}
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in resource.items()]
        scope = {"scope": {"name": "planted"}, "spans": [told]}
        rows.append({"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [scope]}]})
    return rows
