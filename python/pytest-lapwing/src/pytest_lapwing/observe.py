"""The machine's load, pressure and stolen time around an instance, under the names that `lapwing run` gives them."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

RESOURCES = ("cpu", "io", "memory")
LONG_ENOUGH = 0.3
"""Seconds from which on a share of the kernel's ticks of 10 ms says something."""


def _load() -> float | None:
    with suppress(OSError, AttributeError):
        return os.getloadavg()[0]
    return None


def _text(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="ascii")
    return ""


def _stalled(text: str) -> float | None:
    """Returns the microseconds in which some task waited."""
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "some":
            with suppress(ValueError):
                return float(rest.rpartition("total=")[2])
    return None


def _ticks(text: str) -> tuple[float, float] | None:
    """Returns the ticks of all processors, and those that the hypervisor gave to others."""
    words = text.partition("\n")[0].split()
    with suppress(ValueError):
        ticks = [float(word) for word in words[1:9]]
        if words[:1] == ["cpu"] and len(ticks) == 8:
            return sum(ticks), ticks[7]
    return None


@dataclass
class Snapshot:
    """The machine's running totals at one moment."""

    proc: Path = Path("/proc")
    taken: float = field(init=False)
    load: float | None = field(init=False)
    ticks: tuple[float, float] | None = field(init=False)
    stalled: list[float | None] = field(init=False)

    def __post_init__(self) -> None:
        self.taken = time.monotonic()
        self.load = _load()
        self.ticks = _ticks(_text(self.proc / "stat"))
        self.stalled = [_stalled(_text(self.proc / "pressure" / name)) for name in RESOURCES]


def observed(before: Snapshot, after: Snapshot) -> dict[str, float]:
    """Returns the activity of the machine between two moments, without unknown values.

    `load_before` and `load_after` are the load average of the last minute, `pressure_cpu`, `pressure_io` and
    `pressure_memory` the share of the time in which some task waited for it, `steal` the share of all processors'
    time that the hypervisor gave to others.
    """
    found = {"load_before": before.load, "load_after": after.load}
    seconds = after.taken - before.taken
    for name, then, now in zip(RESOURCES, before.stalled, after.stalled):
        if then is not None and now is not None and seconds > 0:
            found[f"pressure_{name}"] = min(max((now - then) / 1e6 / seconds, 0.0), 1.0)
    if before.ticks and after.ticks and seconds >= LONG_ENOUGH and after.ticks[0] > before.ticks[0]:
        share = (after.ticks[1] - before.ticks[1]) / (after.ticks[0] - before.ticks[0])
        found["steal"] = min(max(share, 0.0), 1.0)
    return {name: round(value, 4) for name, value in found.items() if value is not None}
