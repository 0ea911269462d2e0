"""Writes records immediately, so that a killed pytest loses at most the current iteration."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Callable

import pytest

from . import ids, metrics
from .metrics import Metric
from .record_file import Record, RecordFile, Unusable


class Recorder:
    """The records of one process: a session, its run, and an instance for every benchmark."""

    def __init__(
        self,
        session: Record,
        run: Record,
        open_file: Callable[[], RecordFile],
        worker: str | None = None,
        *,
        block: int = 0,
        agree: Callable[[str, Metric | None], Metric] | None = None,
    ) -> None:
        self.worker = worker
        self.counts = {"instances": 0, "iterations": 0, "failed": 0}
        self.results: dict[str, list[float]] = {}
        """The wall times of usable iterations, by benchmark."""
        self.loop_cost: float | None = None
        self.gave_up: str | None = None
        """Why nothing can be recorded any more."""
        self._session = session
        self._run = run
        self._open_file = open_file
        self._file: RecordFile | None = None
        self._told: Record | None = None
        self._block = block
        self._agree = agree
        self._position = 0

    @property
    def path(self) -> Path | None:
        """Path of the records, once there are any."""
        return self._file.path if self._file else None

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._run["id"]

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics that the run declares."""
        return self._run["metrics"]

    def begin(self, benchmark: Record, attributes: Record, *, waits: bool = False) -> InstanceRecorder:
        """Begins an instance.

        One that `waits` is written with its first iteration, because that may bring metrics: who reads an
        instance then knows what its run declares.
        """
        self.counts["instances"] += 1
        attributes = dict(attributes)
        if self.worker:
            attributes["worker"] = self.worker
        if self.loop_cost is not None:
            attributes["loop_cost"] = self.loop_cost
        record = {
            "benchmark": benchmark,
            "block": self._block,
            "position": self._position,
            "host": socket.gethostname(),
            "started": ids.now(),
            "attributes": attributes,
        }
        self._position += 1
        instance = InstanceRecorder(self, record)
        if not waits:
            instance.write_start({})
        return instance

    def described(self, declared: dict[str, Metric], name: str, description: Metric | None) -> Metric:
        """Returns what a metric is; ValueError where `description` is other than what was declared."""
        if name not in declared:
            return self._agree(name, description) if self._agree else description or {"unit": "1"}
        if description is not None:
            metrics.declare({name: declared[name]}, name, description)
        return declared[name]

    def declare(self, new: dict[str, Metric]) -> None:
        """Has the run declare these metrics too; it is told of again before the next record."""
        missing = {name: it for name, it in new.items() if name not in self.metrics}
        if missing:
            self._run = {**self._run, "metrics": {**self.metrics, **missing}}

    def write(self, kind: str, content: Record) -> None:
        """Writes a record, after the file, the session and the run that it belongs to.

        Where that fails, because the disk is full or gone, there is no use in measuring on: pytest exits, and
        nothing more is written.
        """
        if self.gave_up:
            return
        try:
            if self._file is None:
                self._file = self._open_file()
                self._append("session", self._session)
            if self._run is not self._told:
                self._append("run", self._run)
                self._told = self._run
            self._append(kind, content)
        except (OSError, Unusable) as error:
            why = (error.strerror or error) if isinstance(error, OSError) else error
            self.gave_up = f"lapwing: cannot record any more: {why}"
            pytest.exit(self.gave_up)

    def _append(self, kind: str, content: Record) -> None:
        assert self._file is not None
        self._file.append({"v": 1, "kind": kind, **content})

    def close(self) -> None:
        """Closes the file, so that it can be read into the store."""
        if self._file is not None:
            self._file.close()


class InstanceRecorder:
    """One visit to a benchmark."""

    def __init__(self, recorder: Recorder, record: Record) -> None:
        self.id = ids.measured_id()
        self.begun = time.perf_counter()
        self.ended = False
        self.index = 0
        self.failures = 0
        self.attributes: Record = record["attributes"]
        self._recorder = recorder
        self._record = record
        self._started = False
        self._spans = 0

    def write_start(self, new_metrics: dict[str, Metric]) -> None:
        """Writes the instance itself, unless it is written."""
        if self._started:
            return
        self._started = True
        self._recorder.declare(new_metrics)
        self._recorder.write("instance", {"id": self.id, "run": self._recorder.run_id, **self._record})

    def iteration(
        self,
        metrics: Mapping[str, float | None],
        *,
        declared: dict[str, Metric] | None = None,
        offset: float | None = None,
        burn_in: bool = False,
        loops: int = 1,
        outcome: str = "ok",
        message: str | None = None,
        attributes: Record | None = None,
        artifacts: Record | None = None,
        spans: Iterable[Record] = (),
    ) -> None:
        """Writes one iteration with its spans; `declared` says what the metrics are that the run may not know."""
        self.write_start(declared or {})
        self._recorder.declare(declared or {})
        record: Record = {"instance": self.id, "index": self.index}
        if offset is not None:
            record["offset"] = round(offset, 9)
        record["burn_in"] = burn_in
        if loops != 1:
            record["loops"] = loops
        record["outcome"] = outcome
        if message:
            record["message"] = message
        record["metrics"] = {
            name: value for name, value in metrics.items() if value is not None and math.isfinite(value)
        }
        for key, content in (("attributes", attributes), ("artifacts", artifacts)):
            if content:
                record[key] = content
        self._recorder.write("iteration", record)
        for span in spans:
            place = {"instance": self.id, "iteration": self.index, "index": self._spans}
            self._recorder.write("span", {**place, **span})
            self._spans += 1
        self.index += 1
        self._recorder.counts["iterations"] += 1
        if outcome == "ok" and not burn_in and "wall_time" in record["metrics"]:
            values = self._recorder.results.setdefault(self._record["benchmark"]["id"], [])
            values.append(record["metrics"]["wall_time"])
        failed = outcome in ("failed", "timed_out")
        self.failures += failed
        self._recorder.counts["failed"] += failed

    def drop(self) -> None:
        """Has the instance never have been, if nothing of it is written."""
        if not self._started and not self.ended:
            self.ended = True
            self._recorder.counts["instances"] -= 1

    def end(self, outcome: str, message: str | None = None, observed: Record | None = None) -> None:
        """Writes how the instance ended, once."""
        if self.ended:
            return
        self.ended = True
        self.write_start({})
        record: Record = {"instance": self.id, "ended": ids.now(), "outcome": outcome}
        if message:
            record["message"] = message
        if observed:
            record["observed"] = observed
        self._recorder.write("instance_end", record)
