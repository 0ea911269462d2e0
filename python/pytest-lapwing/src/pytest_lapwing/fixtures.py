"""The fixtures. Without `--lapwing` they exist and do nothing.

They have function scope: a benchmark that is executed several times gets fresh ones each time.
"""

from __future__ import annotations

from typing import Any, Callable

import pytest

from . import collectors
from .collectors import Block, Record
from .visit import VISIT

MAKE_BENCHMARKS = {
    "benchmark_record",
    "benchmark_time",
    "benchmark_memory",
    "benchmark_task_durations",
    "benchmark_process_time",
    "get_cluster_info",
    "benchmark_all",
    "trace_dask",
}
"""A test that uses one of these is a benchmark, by default executed once."""

INTERVAL = 0.1
"""Seconds between two samples of memory."""


def _record(request: pytest.FixtureRequest) -> Record:
    return Record(request.node.stash.get(VISIT, None))


@pytest.fixture
def benchmark_record(request: pytest.FixtureRequest) -> Record:
    """Record a benchmark's own measurements: `.record(name, value, unit=…, better=…)`, `.attribute`, `.artifact`."""
    return _record(request)


@pytest.fixture
def benchmark_time(request: pytest.FixtureRequest) -> Block:
    """Measure the wall time of a block: `with benchmark_time: …`; it replaces the time of the test's body."""
    record = _record(request)
    record.takes_wall_time()
    return Block(lambda: collectors.wall_time(record))


@pytest.fixture
def benchmark_memory(request: pytest.FixtureRequest) -> Callable[..., Block]:
    """Measure average and peak memory of a block: of a Dask cluster, or of this process and its children."""
    record = _record(request)

    def benchmark_memory(client: Any | None = None) -> Block:
        if client is None:
            return Block(lambda: collectors.process_memory(record, INTERVAL))
        from . import dask

        return dask.memory(record, client, INTERVAL)

    return benchmark_memory


@pytest.fixture
def benchmark_task_durations(request: pytest.FixtureRequest) -> Callable[[Any], Block]:
    """Measure the durations of Dask's tasks in a block: `with benchmark_task_durations(client): …`."""
    record = _record(request)

    def benchmark_task_durations(client: Any) -> Block:
        from . import dask

        return dask.task_durations(record, client)

    return benchmark_task_durations


@pytest.fixture
def benchmark_process_time(request: pytest.FixtureRequest) -> Callable[[Any], Block]:
    """Measure the processor time of a Dask cluster's workers in a block: `with benchmark_process_time(client): …`."""
    record = _record(request)

    def benchmark_process_time(client: Any) -> Block:
        from . import dask

        return dask.process_time(record, client)

    return benchmark_process_time


@pytest.fixture
def get_cluster_info(request: pytest.FixtureRequest) -> Callable[[Any], Block]:
    """Record the Dask cluster used: `with get_cluster_info(cluster): …`."""
    record = _record(request)

    def get_cluster_info(cluster: Any) -> Block:
        from . import dask

        return dask.cluster_info(record, cluster)

    return get_cluster_info


@pytest.fixture
def benchmark_all(request: pytest.FixtureRequest, benchmark_time: Block) -> Callable[[Any], Block]:
    """Measure wall time, processor time, memory and task durations of a block on a Dask cluster: `with benchmark_all(client): …`."""
    record = _record(request)

    def benchmark_all(client: Any) -> Block:
        from . import dask

        return dask.everything(record, client, INTERVAL, benchmark_time)

    return benchmark_all


@pytest.fixture
def trace_dask(request: pytest.FixtureRequest) -> Callable[[Any], Block]:
    """Record each task and transfer of a block on a Dask cluster: `with trace_dask(client): …`."""
    record = _record(request)

    def trace_dask(client: Any) -> Block:
        from . import dask_trace

        return dask_trace.trace(record, client)

    return trace_dask
