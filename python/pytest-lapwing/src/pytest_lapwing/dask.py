"""Measurements of a Dask cluster while a block runs: memory, task durations, processor time, description of the cluster.

Clients may be synchronous or asynchronous. What runs on the scheduler is sent there by value, so that
the scheduler does not need this package.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import Any, Callable

from . import timing
from .collectors import Block, Record

ACTIONS = {
    "compute": "compute_time",
    "transfer": "transfer_time",
    "disk-read": "disk_spill_time",
    "disk-write": "disk_spill_time",
    "deserialize": "serializing_time",
}
"""Metric of each action of a task."""


def memory(record: Record, client: Any, interval: float) -> Block:
    """Samples the total memory of all workers' processes: average and peak."""
    from distributed.diagnostics import MemorySampler

    def done(sampler: Any, begin: float) -> None:
        samples = sampler.samples.get("benchmark", [])
        # The scheduler's clock may be another one: only how long after its first sample another one was taken counts.
        record.add_memory(begin, [(begin + moment - samples[0][0], size) for moment, size in samples])

    def arguments() -> dict[str, Any]:
        return {"client": client, "measure": "process", "interval": interval}

    @contextmanager
    def plain() -> Iterator[None]:
        with record.outermost("memory", _cluster(client)) as measured:
            if not measured:
                yield
                return
            sampler, begin = MemorySampler(), timing.clock() / 1e9
            with sampler.sample("benchmark", **arguments()):
                yield
            done(sampler, begin)

    @asynccontextmanager
    async def asynchronous() -> AsyncIterator[None]:
        with record.outermost("memory", _cluster(client)) as measured:
            if not measured:
                yield
                return
            sampler, begin = MemorySampler(), timing.clock() / 1e9
            async with sampler.sample("benchmark", **arguments()):
                yield
            done(sampler, begin)

    return _block(record, client, plain, asynchronous)


def task_durations(record: Record, client: Any) -> Block:
    """Sums the time of tasks by action, over all tasks and workers."""
    start, stop = _on_scheduler()

    def done(before: dict[str, float], after: dict[str, float]) -> None:
        seconds = {action: after[action] - before.get(action, 0.0) for action in after}
        for name in dict.fromkeys(ACTIONS.values()):
            record.add(name, sum(seconds.get(action, 0.0) for action, it in ACTIONS.items() if it == name))

    @contextmanager
    def plain() -> Iterator[None]:
        with record.outermost("tasks", _cluster(client)) as measured:
            if not measured:
                yield
                return
            before = client.run_on_scheduler(start)
            try:
                yield
            finally:
                after = client.run_on_scheduler(stop)
            done(before, after)

    @asynccontextmanager
    async def asynchronous() -> AsyncIterator[None]:
        with record.outermost("tasks", _cluster(client)) as measured:
            if not measured:
                yield
                return
            before = await client.run_on_scheduler(start)
            try:
                yield
            finally:
                after = await client.run_on_scheduler(stop)
            done(before, after)

    return _block(record, client, plain, asynchronous)


def process_time(record: Record, client: Any) -> Block:
    """Sums the processor time of all workers' processes.

    Workers that start meanwhile count from their start. If one ends, what it took is unknown, and nothing is recorded.
    """
    times = _of_process()

    def done(before: dict[str, Any], after: dict[str, Any]) -> None:
        begun = {(host, pid): seconds for host, pid, seconds in before.values()}
        ended = {(host, pid): seconds for host, pid, seconds in after.values()}
        if begun.keys() <= ended.keys():
            seconds = sum(it - begun.get(process, 0.0) for process, it in ended.items())
            record.add("worker_process_time", max(seconds, 0.0))

    @contextmanager
    def plain() -> Iterator[None]:
        with record.outermost("cpu", _cluster(client)) as measured:
            if not measured:
                yield
                return
            before = client.run(times)
            yield
            done(before, client.run(times))

    @asynccontextmanager
    async def asynchronous() -> AsyncIterator[None]:
        with record.outermost("cpu", _cluster(client)) as measured:
            if not measured:
                yield
                return
            before = await client.run(times)
            yield
            done(before, await client.run(times))

    return _block(record, client, plain, asynchronous)


def _of_process() -> Callable[[], tuple[str, int, float]]:
    """Returns a function that goes to workers by value: it returns host, process and its processor time so far."""

    def times() -> tuple[str, int, float]:
        import os
        import socket
        import time

        return socket.gethostname(), os.getpid(), time.process_time()

    return times


def _cluster(client: Any) -> str:
    """Returns the identity of a client's cluster: a nested block on the same cluster is already measured."""
    return client.scheduler.address if client.scheduler else client.id


def _on_scheduler() -> tuple[Callable[..., dict[str, float]], Callable[..., dict[str, float]]]:
    """Returns what begins and what ends the counting, as functions that go to the scheduler by value.

    Both return the seconds by action so far: several blocks, of several clients too, may be under way at once.
    """
    name = "lapwing-task-durations"

    def start(dask_scheduler: Any) -> dict[str, float]:
        from distributed.diagnostics.plugin import SchedulerPlugin

        class TaskDurations(SchedulerPlugin):
            def __init__(self) -> None:
                self.blocks = 0
                self.seconds: dict[str, float] = {}

            def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
                if self.blocks > 0 and start == "processing" and finish == "memory":
                    for it in kwargs.get("startstops") or ():
                        took = max(it["stop"] - it["start"], 0.0)
                        self.seconds[it["action"]] = self.seconds.get(it["action"], 0.0) + took

        if name not in dask_scheduler.plugins:
            dask_scheduler.add_plugin(TaskDurations(), name=name)
        plugin = dask_scheduler.plugins[name]
        if plugin.blocks == 0:
            plugin.seconds = {}
        plugin.blocks += 1
        return dict(plugin.seconds)

    def stop(dask_scheduler: Any) -> dict[str, float]:
        plugin = dask_scheduler.plugins[name]
        plugin.blocks -= 1
        return dict(plugin.seconds)

    return start, stop


def cluster_info(record: Record, cluster: Any) -> Block:
    """Records the description of the cluster, as the iteration's attribute `cluster`, after the block."""

    @contextmanager
    def plain() -> Iterator[None]:
        yield
        found = {key: getattr(cluster, key, None) for key in ("name", "cluster_id", "details_url", "dashboard_link")}
        workers = (getattr(cluster, "scheduler_info", None) or {}).get("workers", {})
        found["workers"] = len(workers) or None
        found["threads"] = sum(it.get("nthreads", 0) for it in workers.values()) or None
        record.attribute("cluster", {key: value for key, value in found.items() if value is not None})

    return Block(plain)


def everything(record: Record, client: Any, interval: float, time: Block) -> Block:
    """Memory, task durations, processor time and cluster; the time innermost: it does not include the others."""
    blocks = [memory(record, client, interval), task_durations(record, client), process_time(record, client)]
    if client.cluster is not None:
        blocks.append(cluster_info(record, client.cluster))
    blocks.append(time)

    @contextmanager
    def plain() -> Iterator[None]:
        with ExitStack() as stack:
            for block in blocks:
                stack.enter_context(block)
            yield

    @asynccontextmanager
    async def asynchronous() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for block in blocks:
                await stack.enter_async_context(block)
            yield

    return _block(record, client, plain, asynchronous)


def _block(record: Record, client: Any, plain: Callable[[], Any], asynchronous: Callable[[], Any]) -> Block:
    if not record.enabled:
        # Nothing is asked of the cluster; `async with` works all the same.
        return Block(_nothing, _nothing_asynchronous if client.asynchronous else None)
    return Block(plain, asynchronous if client.asynchronous else None)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@asynccontextmanager
async def _nothing_asynchronous() -> AsyncIterator[None]:
    yield
