"""Files of one trace: a complete record file with the spans of a block."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import __version__, environment, ids
from .outcomes import one_line
from .record_file import RecordFile, Unusable

Span = dict[str, Any]
"""A span of the record format, without instance and index."""


class TracedBlock:
    """What a file tells of a block."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
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
def write_trace(path: Path, benchmark: str) -> Iterator[TracedBlock]:
    """Writes the spans of a block and its wall time, however it ends."""
    traced = TracedBlock()
    try:
        yield traced
    finally:
        _write(path, list(_records(path.stem, benchmark, traced)))


def _records(name: str, benchmark: str, traced: TracedBlock) -> Iterator[dict[str, Any]]:
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
