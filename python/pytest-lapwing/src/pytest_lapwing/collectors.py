"""Measurements around a block of code: wall time, and the memory of a process and its children."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Callable

from . import metrics as known
from . import timing
from .measurement import Measurement
from .memory import Sampled
from .visit import Visit


class Record:
    """Destination of measurements. Does nothing if nothing is recorded.

    A metric that the run does not declare (see `pytest_lapwing_metrics`) is declared by `unit` and `better`.
    """

    def __init__(self, visit: Visit | None) -> None:
        self._visit = visit

    @property
    def enabled(self) -> bool:
        """Whether measurements are recorded."""
        return self._visit is not None

    @property
    def burn_in(self) -> bool:
        """Whether the current iteration is burn-in."""
        return self._visit is not None and self._visit.burn_in

    def record(self, name: str, value: float, *, unit: str | None = None, better: str | None = None) -> None:
        """Records a value of the current iteration, in base units (s, B, 1, 1/s); `better` is lower, higher or None."""
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a metric must be a text, not {name!r}")
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"{name} is {number}: omit values that could not be measured")
        if name in known.KNOWN and number < 0:
            raise ValueError(f"{name} is negative: {number}")
        measurement = self._measurement()
        described = None if unit is None and better is None else known.metric(unit or "1", better)
        if measurement is None:
            return
        assert self._visit is not None
        declared = {**measurement.declared, **measurement.new}
        description = self._visit.recorder.described(declared, name, described)
        if name not in measurement.declared:
            measurement.new[name] = description
        measurement.metrics[name] = number

    def add(self, name: str, value: float) -> None:
        """Adds to a value, so that several blocks of an iteration are summed."""
        measurement = self._measurement()
        if measurement is not None:
            measurement.metrics[name] = measurement.metrics.get(name, 0.0) + value

    def add_memory(self, begin: float, samples: Iterable[tuple[float, float]]) -> None:
        """Adds the memory of a block that just ended: samples of seconds, on `timing.clock`, and bytes.

        What several blocks had at once adds up. The peak is that of all blocks, the average that over their time.
        """
        end, measurement = timing.clock() / 1e9, self._measurement()
        values = [(min(moment, end), size) for moment, size in samples if size]
        if measurement is None or not values:
            return
        measurement.memory.add(Sampled(begin, end, values))
        measurement.metrics["average_memory"] = measurement.memory.average
        measurement.metrics["peak_memory"] = measurement.memory.peak

    @contextmanager
    def outermost(self, kind: str, cluster: str | None = None) -> Iterator[bool]:
        """Yields whether a block is to be measured: something is recorded, and it is not within one of its kind.

        Blocks of different clusters are apart. This process may be the parent of a cluster's: it is not apart.
        """
        measurement = self._measurement()
        same = [it for it in measurement.open_blocks if it[0] == kind] if measurement else []
        if measurement is None or any(cluster is None or it[1] in (None, cluster) for it in same):
            yield False
            return
        measurement.open_blocks.add((kind, cluster))
        try:
            yield True
        finally:
            measurement.open_blocks.discard((kind, cluster))

    def attribute(self, name: str, value: Any) -> None:
        """Records an attribute of the current iteration: anything that JSON can represent."""
        measurement = self._measurement()
        if measurement is not None:
            measurement.attributes[str(name)] = plain(value)

    def artifact(self, name: str, path: Any) -> None:
        """Records the path or URL of a file of the current iteration."""
        text = os.fspath(path)
        if not isinstance(text, str):
            raise TypeError(f"the path of an artifact must be a text or a path, not {path!r}")
        measurement = self._measurement()
        if measurement is not None:
            measurement.artifacts[str(name)] = text

    def add_spans(self, spans: Iterable[dict[str, Any]]) -> None:
        """Adds spans of the record format, without instance and index, to the current iteration."""
        measurement = self._measurement()
        if measurement is not None:
            measurement.spans.extend(spans)

    def takes_wall_time(self) -> None:
        """Marks the wall time as measured here, instead of the test's body."""
        measurement = self._measurement()
        if measurement is not None:
            measurement.times_itself = True

    def _measurement(self) -> Measurement | None:
        return self._visit.measurement if self._visit else None


def plain(value: Any) -> Any:
    """Returns a value for JSON; unsupported parts become text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, dict):
        return {str(key): plain(it) for key, it in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(it) for it in value]
    return str(value)


class Block:
    """A block of code to measure, for `with` and, where that differs, `async with`."""

    def __init__(
        self, plain: Callable[[], AbstractContextManager[Any]], asynchronous: Callable[[], Any] | None = None
    ) -> None:
        self._plain = plain
        self._asynchronous = asynchronous
        self._entered: list[Any] = []

    def __call__(self) -> Block:
        """Returns itself: `with benchmark_time:` and `with benchmark_time():` are the same."""
        return self

    def __enter__(self) -> Any:
        if self._asynchronous is not None:
            raise TypeError("the client is asynchronous: use `async with`")
        context = self._plain()
        self._entered.append(context)
        return context.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return self._entered.pop().__exit__(*error)

    async def __aenter__(self) -> Any:
        if self._asynchronous is None:
            return self.__enter__()
        context = self._asynchronous()
        self._entered.append(context)
        return await context.__aenter__()

    async def __aexit__(self, *error: Any) -> Any:
        context = self._entered.pop()
        if self._asynchronous is None:
            return context.__exit__(*error)
        return await context.__aexit__(*error)


@contextmanager
def wall_time(record: Record) -> Iterator[None]:
    """Measures wall time and processor time of a completed block. Several blocks are summed, nested ones count once."""
    with record.outermost("time") as measured:
        computed = timing.processor_time()
        begin = timing.clock()
        yield
        end = timing.clock()
        if measured:
            record.add("wall_time", (end - begin) / 1e9)
            record.add("process_time", timing.processor_time() - computed)


@contextmanager
def process_memory(record: Record, interval: float) -> Iterator[None]:
    """Samples the resident memory of this process and its descendants while a block runs."""
    with record.outermost("memory") as measured:
        if not measured:
            yield
            return
        samples: list[tuple[float, float]] = []
        done = threading.Event()

        def sample() -> None:
            samples.append((timing.clock() / 1e9, resident_memory(os.getpid())))

        def keep_sampling() -> None:
            while not done.wait(interval):
                sample()

        begin = timing.clock() / 1e9
        sample()
        thread = threading.Thread(target=keep_sampling, name="lapwing-memory", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            sample()
        record.add_memory(begin, samples)


def resident_memory(pid: int) -> int:
    """Returns the resident memory in bytes of a process and its descendants; shared pages count in each."""
    try:
        import psutil
    except ImportError:
        return sum(map(_resident, _tree(pid)))
    total = 0
    try:
        process = psutil.Process(pid)
        for it in [process, *process.children(recursive=True)]:
            try:
                total += it.memory_info().rss
            except psutil.Error:
                continue
    except psutil.Error:
        return total
    return total


def _tree(pid: int) -> list[int]:
    """Returns a process and its descendants, from /proc."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name of the program, in brackets, may hold anything.
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            children.setdefault(parent, []).append(int(name))
    found = [pid]
    for it in found:
        found.extend(children.get(it, []))
    return found


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
