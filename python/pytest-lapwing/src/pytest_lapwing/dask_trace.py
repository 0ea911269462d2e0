"""Traces of Dask computations: each task and each fetched dependency as a span of the record format.

A plugin of the scheduler sees when a task is planned and completed and what it depends on, a plugin of the workers sees
the rest. Both are sent by value, so that neither the scheduler nor the workers need this package.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Callable, NamedTuple

from . import __version__, environment, ids
from .collectors import Block, Record
from .dask import _block, _cluster
from .outcomes import one_line
from .record_file import RecordFile, Unusable, check_file

Span = dict[str, Any]
Spans = list[Span]

PRESSURE_INTERVAL = 0.5
"""Seconds between two looks at what the host's processes wait for."""


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
        with _file(path, name) as traced, _traced(client, traced.spans.extend), traced.timed():
            yield

    @asynccontextmanager
    async def asynchronous() -> AsyncIterator[None]:
        with _file(path, name) as traced:
            async with _traced_asynchronously(client, traced.spans.extend):
                with traced.timed():
                    yield

    return Block(plain, asynchronous if client.asynchronous else None)


class _Traced:
    """What a block brought."""

    def __init__(self) -> None:
        self.spans: Spans = []
        self.started = ids.now()
        self.end: dict[str, Any] = {"outcome": "ok"}
        self.metrics: dict[str, float] = {}

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measures the wall time of a block; one that fails has none."""
        begin = time.perf_counter()
        try:
            yield
        except BaseException as error:
            self.end = {"outcome": "failed", "message": one_line(error)}
            raise
        self.metrics["wall_time"] = time.perf_counter() - begin


@contextmanager
def _file(path: Path, benchmark: str) -> Iterator[_Traced]:
    """Writes what a block brings, however it ends."""
    traced = _Traced()
    try:
        yield traced
    finally:
        _write(path, list(_records(path.stem, benchmark, traced)))


def _records(name: str, benchmark: str, traced: _Traced) -> Iterator[dict[str, Any]]:
    folder = Path.cwd()
    session, run, instance = ids.measured_id(), ids.measured_id(), ids.measured_id()
    yield {
        "kind": "session",
        "id": session,
        "suite": environment.repository_name(folder) or folder.name or "dask",
        "started": traced.started,
        "tool": f"pytest-lapwing {__version__}",
        "name": name,
    }
    yield {
        "kind": "run",
        "id": run,
        "session": session,
        "version": environment.repository_version(folder),
        "metrics": {"wall_time": {"unit": "s", "better": "lower"}},
        "environment": environment.environment(),
    }
    yield {
        "kind": "instance",
        "id": instance,
        "run": run,
        "benchmark": {"id": benchmark},
        "host": socket.gethostname(),
        "started": traced.started,
    }
    yield {"kind": "iteration", "instance": instance, "index": 0, **traced.end, "metrics": traced.metrics}
    for index, span in enumerate(traced.spans):
        yield {"kind": "span", "instance": instance, "index": index, "iteration": 0, **span}
    yield {"kind": "instance_end", "instance": instance, "ended": ids.now(), **traced.end}


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    # A reader never sees a part of it, and an older trace stays if this one cannot be written.
    unborn = path.with_name(f".{path.name}.new")
    try:
        unborn.unlink(missing_ok=True)
        file = RecordFile.plain(unborn)
        try:
            for record in records:
                file.append({"v": 1, **record})
        finally:
            file.close()
        os.replace(unborn, path)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from error


@contextmanager
def _traced(client: Any, deliver: Callable[[Spans], None]) -> Iterator[None]:
    """Delivers the spans of a block, also if it raises."""
    sent, workers = _plugins(), {}
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
async def _traced_asynchronously(client: Any, deliver: Callable[[Spans], None]) -> AsyncIterator[None]:
    """The same for an asynchronous client."""
    sent, workers = _plugins(), {}
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


class _Sent(NamedTuple):
    """What goes to the scheduler and the workers, by value."""

    name: str
    worker: Any
    start: Callable[..., None]
    stop: Callable[..., Spans]
    collect: Callable[..., dict[str, Spans]]


def _plugins() -> _Sent:
    name = f"lapwing-trace-{uuid.uuid4().hex}"
    start, stop = _on_scheduler(name)
    worker, collect = _on_workers(name, PRESSURE_INTERVAL)
    return _Sent(name, worker, start, stop, collect)


def _on_scheduler(name: str) -> tuple[Callable[..., None], Callable[..., Spans]]:
    """Returns what begins and what ends the recording of how tasks are planned and completed."""

    def start(dask_scheduler: Any) -> None:
        import time

        from dask.utils import key_split
        from distributed.diagnostics.plugin import SchedulerPlugin

        class Planned(SchedulerPlugin):
            def __init__(self) -> None:
                self.under_way: dict[Any, dict[str, Any]] = {}
                self.tasks: list[dict[str, Any]] = []

            def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
                if finish == "processing":
                    self.under_way[key] = self.planned(key)
                elif start == "processing":
                    task = self.under_way.pop(key, None) or {**self.planned(key), "planned": None}
                    self.left(task, key, finish, kwargs)

            def planned(self, key: Any) -> dict[str, Any]:
                task = dask_scheduler.tasks[key]
                return {
                    "key": key,
                    "planned": time.time_ns(),
                    "inputs": [it.key for it in task.dependencies],
                    "run": getattr(task, "run_id", None),
                    "worker": task.processing_on and task.processing_on.address,
                }

            def left(self, task: dict[str, Any], key: Any, finish: str, message: dict[str, Any]) -> None:
                task["finish"] = finish
                if finish in ("memory", "erred"):
                    task["completed"] = time.time_ns()
                # Another worker may have stolen it.
                task["run"] = getattr(dask_scheduler.tasks[key], "run_id", None)
                for name, field in (("worker", "worker"), ("thread", "thread"), ("bytes", "nbytes")):
                    if message.get(field) is not None:
                        task[name] = message[field]
                task["error"] = message.get("exception_text")
                for it in message.get("startstops") or ():
                    if it["action"] == "compute":
                        task["loaded"], task["computed"] = round(it["start"] * 1e9), round(it["stop"] * 1e9)
                self.tasks.append(task)

            def result(self) -> list[dict[str, Any]]:
                found = [*self.tasks, *self.under_way.values()]
                texts = [{"inputs": sorted(str(it) for it in task["inputs"])} for task in found]
                names = [{"key": str(task["key"]), "class": key_split(task["key"])} for task in found]
                return [{**task, **text, **name} for task, text, name in zip(found, texts, names)]

        dask_scheduler.add_plugin(Planned(), name=name)

    def stop(dask_scheduler: Any) -> Spans:
        plugin = dask_scheduler.plugins[name]
        dask_scheduler.remove_plugin(name=name)
        return plugin.result()

    return start, stop


def _on_workers(name: str, interval: float) -> tuple[Any, Callable[..., dict[str, Spans]]]:
    """Returns the plugin that records how workers fetch, start and compute, and what collects its findings."""
    from distributed.diagnostics.plugin import WorkerPlugin

    class Computed(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            import time

            from tornado.ioloop import PeriodicCallback

            self.now = time.time_ns
            self.worker = worker
            self.received: dict[Any, int] = {}
            self.flights: dict[Any, dict[str, Any]] = {}
            self.tasks: list[dict[str, Any]] = []
            self.transfers: list[dict[str, Any]] = []
            self.pressure: list[dict[str, Any]] = []
            self.stalled = self.stalls()
            self.sampler = PeriodicCallback(self.sample, interval * 1000)
            if len(self.stalled) > 1:
                self.sampler.start()
            # The hook of plugins is not called in the task's thread, and does not know the time of failures.
            self.execute = worker.execute
            self.ended = False
            worker.execute = self.traced_execute

        def teardown(self, worker: Any) -> None:
            self.ended = True
            self.sampler.stop()
            if worker.execute == self.traced_execute:
                worker.execute = self.execute

        def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
            if start == "flight" and key in self.flights:
                transfer = self.flights.pop(key)
                if finish == "memory":
                    it = self.worker.state.tasks[key]
                    task = next(iter(it.dependents), None)
                    end = {"completed": self.now(), "bytes": it.nbytes, "task": task and str(task.key)}
                    self.transfers.append({**transfer, **end})
            if finish == "flight":
                source = self.worker.state.tasks[key].coming_from
                self.flights[key] = {"key": str(key), "source": source, "started": self.now()}
            elif finish == "waiting":
                self.received[key] = self.now()
            elif finish == "ready":
                self.received.setdefault(key, self.now())
            elif finish in ("released", "forgotten"):
                self.received.pop(key, None)

        async def traced_execute(self, key: Any, *, stimulus_id: str) -> Any:
            from distributed.metrics import context_meter

            if self.ended:
                return await self.execute(key, stimulus_id=stimulus_id)
            worker, cpu = self.worker, []
            state = worker.state.tasks[key]
            task = {
                "key": str(key),
                "run": getattr(state, "run_id", None),
                "enqueued": self.received.pop(key, None),
                "started": self.now(),
            }
            # Distributed adds its estimate of how far the clock of the scheduler is ahead.
            delay = worker.scheduler_delay

            def measured(label: Any, value: float, unit: str) -> None:
                if label == "thread-cpu":
                    cpu.append(value)

            with context_meter.add_callback(measured):
                event = await self.execute(key, stimulus_id=stimulus_id)
            for field, at in (("loaded", "start"), ("computed", "stop")):
                if getattr(event, at, None) is not None:
                    task[field] = round((getattr(event, at) - delay) * 1e9)
            task["bytes"] = getattr(event, "nbytes", None)
            task["error"] = getattr(event, "exception_text", None)
            task["thread"] = worker.threads.get(key)
            task["cpu"] = round(sum(cpu) * 1e9) if cpu else None
            self.tasks.append(task)
            return event

        def stalls(self) -> dict[str, int]:
            """Returns the running totals of the time in which some process waited, in ns."""
            found = {"at": self.now()}
            for resource in ("cpu", "io", "memory"):
                try:
                    with open(f"/proc/pressure/{resource}", encoding="ascii") as file:
                        found[resource] = int(file.readline().rpartition("total=")[2]) * 1000
                except (OSError, ValueError):
                    continue
            return found

        def sample(self) -> None:
            """Adds the share of the time in which some process waited since the last look."""
            before, after = self.stalled, self.stalls()
            self.stalled = after
            took = after["at"] - before["at"]
            if took > 0 and len(after) > 1:
                share = {it: (after[it] - before[it]) / took for it in after if it != "at" and it in before}
                share = {f"{it}_some": round(min(max(value, 0.0), 1.0), 4) for it, value in share.items()}
                self.pressure.append({"begin": before["at"], "end": after["at"], **share})

        def result(self) -> dict[str, Any]:
            self.sample()
            return {"tasks": self.tasks, "transfers": self.transfers, "pressure": self.pressure}

    def collect(dask_worker: Any) -> dict[str, Spans]:
        return dask_worker.plugins[name].result()

    plugin = Computed()
    plugin.name = name
    return plugin, collect


TASK_EVENTS = ("planned", "enqueued", "started", "loaded", "computed", "completed")


def _spans(tasks: Spans, workers: dict[str, dict[str, Spans]]) -> Spans:
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


def _lanes(tasks: Spans) -> dict[tuple[str, Any], str]:
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
    attributes = {"class": task["class"], "cpu": task.get("cpu"), "bytes": task.get("bytes")}
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
