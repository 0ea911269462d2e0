"""Traces of Dask computations: each task and each fetched dependency as a span of the record format.

The scheduler tells when a task was planned and completed and what it depends on, the workers tell the rest.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Callable

from .collectors import Block, Record
from .dask import _block, _cluster
from .dask_plugins import Rows, plugins
from .record_file import check_file
from .trace_file import Span, write_trace

TASK_EVENTS = ("planned", "enqueued", "started", "loaded", "computed", "completed")


def trace(record: Record, client: Any) -> Block:
    """Records the tasks and transfers of a block as spans of the current iteration."""

    @contextmanager
    def plain() -> Iterator[None]:
        with record.outermost("trace", _cluster(client)) as measured:
            if not measured:
                yield
                return
            with _traced(client, record.add_spans):
                yield

    @asynccontextmanager
    async def asynchronous() -> AsyncIterator[None]:
        with record.outermost("trace", _cluster(client)) as measured:
            if not measured:
                yield
                return
            async with _traced_asynchronously(client, record.add_spans):
                yield

    return _block(record, client, plain, asynchronous)


def trace_to_file(client: Any, path: str | os.PathLike[str], benchmark: str | None = None) -> Block:
    """Writes the tasks and transfers of a block to a record file of its own, which replaces an older one.

    Raises Unusable where the file cannot be written, or is something else than records.
    """
    path = Path(path)
    check_file(path)
    name = benchmark or path.stem

    @contextmanager
    def plain() -> Iterator[None]:
        with write_trace(path, name) as traced, _traced(client, traced.spans.extend), traced.timed():
            yield

    @asynccontextmanager
    async def asynchronous() -> AsyncIterator[None]:
        with write_trace(path, name) as traced:
            async with _traced_asynchronously(client, traced.spans.extend):
                with traced.timed():
                    yield

    return Block(plain, asynchronous if client.asynchronous else None)


@contextmanager
def _traced(client: Any, deliver: Callable[[list[Span]], None]) -> Iterator[None]:
    """Delivers the spans of a block, also if it raises."""
    sent, workers = plugins(), {}
    client.run_on_scheduler(sent.start)
    try:
        client.register_plugin(sent.worker)
        try:
            yield
        finally:
            workers = client.run(sent.collect, on_error="ignore")
            client.unregister_worker_plugin(sent.name)
    finally:
        deliver(_spans(client.run_on_scheduler(sent.stop), workers))


@asynccontextmanager
async def _traced_asynchronously(client: Any, deliver: Callable[[list[Span]], None]) -> AsyncIterator[None]:
    """The same for an asynchronous client."""
    sent, workers = plugins(), {}
    await client.run_on_scheduler(sent.start)
    try:
        await client.register_plugin(sent.worker)
        try:
            yield
        finally:
            workers = await client.run(sent.collect, on_error="ignore")
            await client.unregister_worker_plugin(sent.name)
    finally:
        deliver(_spans(await client.run_on_scheduler(sent.stop), workers))


def _spans(tasks: Rows, workers: dict[str, dict[str, Rows]]) -> list[Span]:
    """Returns what the scheduler and the workers recorded as spans, in the order of their first events."""
    computed = {
        (address, it["key"], it["run"]): {field: value for field, value in it.items() if value is not None}
        for address, report in workers.items()
        for it in report["tasks"]
    }
    # The worker's own clock and the failures are better known there; a worker that is gone tells nothing.
    found = [{**it, **computed.get((it["worker"], it["key"], it["run"]), {})} for it in tasks]
    lanes = _lanes(found)
    spans = [_task(it, lanes) for it in found]
    for address, report in workers.items():
        spans += [_transfer(it, address) for it in report["transfers"]]
        spans += [_pressure(it, address) for it in report["pressure"]]
    return sorted(spans, key=lambda span: min(span["events"].values(), default=0))


def _lanes(tasks: Rows) -> dict[tuple[str, Any], str]:
    """Returns the name of each worker's thread: one of several has the number of its first task's order."""
    threads: dict[str, list[Any]] = {}
    for task in sorted(tasks, key=lambda it: it.get("loaded", 0)):
        known = threads.setdefault(task["worker"], [])
        if task.get("thread") is not None and task["thread"] not in known:
            known.append(task["thread"])
    return {
        (worker, thread): _address(worker) + (f"/{number}" if len(known) > 1 else "")
        for worker, known in threads.items()
        for number, thread in enumerate(known)
    }


def _task(task: dict[str, Any], lanes: dict[tuple[str, Any], str]) -> Span:
    measured = {field: task.get(field) for field in ("cpu", "run_delay", "bytes")}
    attributes = {"class": task["class"], **measured}
    finish = task.get("finish")
    if task.get("error") is not None or finish == "erred":
        attributes["status"], attributes["error"] = "error", task.get("error")
    elif finish not in (None, "memory"):
        attributes["status"] = "released"
    worker = task["worker"]
    lane = lanes.get((worker, task.get("thread"))) or (worker and _address(worker))
    events = {event: task[event] for event in TASK_EVENTS if task.get(event) is not None}
    return _span("task", task["key"], lane, events, attributes, inputs=task["inputs"])


def _transfer(transfer: dict[str, Any], target: str) -> Span:
    attributes = {
        "source": transfer["source"] and _address(transfer["source"]),
        "mode": "remote",
        "task": transfer["task"],
        "bytes": transfer["bytes"],
    }
    events = {event: transfer[event] for event in ("started", "completed")}
    return _span("transfer", transfer["key"], _address(target), events, attributes)


def _pressure(sample: dict[str, Any], worker: str) -> Span:
    events = {event: sample.pop(event) for event in ("begin", "end")}
    return _span("host", "pressure", _address(worker), events, sample)


def _span(
    category: str,
    name: str,
    lane: str | None,
    events: dict[str, int],
    attributes: dict[str, Any],
    inputs: list[str] | None = None,
) -> Span:
    span = {
        "category": category,
        "name": name,
        "lane": lane,
        "inputs": inputs,
        "clock": "wall",
        "events": events,
        "attributes": {key: value for key, value in attributes.items() if value is not None},
    }
    return {key: value for key, value in span.items() if value is not None}


def _address(worker: str) -> str:
    return worker.partition("://")[2] or worker
