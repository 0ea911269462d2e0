"""Metrics with their units and directions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

Metric = dict[str, str]
"""`{"unit": "s", "better": "lower"}`; without `better` the metric has no direction."""

KNOWN: dict[str, Metric] = {
    "wall_time": {"unit": "s", "better": "lower"},
    "benchmark_time": {"unit": "s", "better": "lower"},
    "process_time": {"unit": "s", "better": "lower"},
    "worker_process_time": {"unit": "s", "better": "lower"},
    "average_memory": {"unit": "B", "better": "lower"},
    "peak_memory": {"unit": "B", "better": "lower"},
    "compute_time": {"unit": "s", "better": "lower"},
    "transfer_time": {"unit": "s", "better": "lower"},
    "disk_spill_time": {"unit": "s", "better": "lower"},
    "serializing_time": {"unit": "s", "better": "lower"},
}
"""Metrics of the plugin's own fixtures.

`benchmark_time` is what the fixture of this name measures in a test that uses `benchmark`: there `wall_time` is that of
one call in a round. `process_time` is the processor time of this process and its children, `worker_process_time` that of the
workers of a Dask cluster.
"""


def metric(unit: str = "1", better: str | None = None) -> Metric:
    """Returns a checked description of a metric.

    Raises ValueError when `better` is neither `lower`, `higher` nor None.
    """
    if not isinstance(unit, str):
        raise ValueError(f"a unit must be a text, not {unit!r}")
    if better not in (None, "lower", "higher"):
        raise ValueError(f"better must be 'lower', 'higher' or None, not {better!r}")
    return {"unit": unit} if better is None else {"unit": unit, "better": better}


def parse_line(line: str) -> tuple[str, Metric]:
    """Reads a line of the ini key `lapwing_metrics`: `NAME UNIT [lower|higher]`, colons and commas allowed."""
    words = [word for word in re.split(r"[\s:,=]+", line.strip()) if word]
    if not 2 <= len(words) <= 3:
        raise ValueError(f"`{line}` must be NAME UNIT [lower|higher]")
    return words[0], metric(words[1], words[2] if len(words) == 3 else None)


def described(name: str, description: Any) -> Metric:
    """Reads the description of a metric from a hook or a marker: a unit, `(unit, better)`, or a mapping of both."""
    if isinstance(description, str):
        return metric(description)
    if isinstance(description, Mapping):
        unknown = set(description) - {"unit", "better"}
        if unknown:
            raise ValueError(f"metric {name}: unknown key {sorted(unknown)[0]!r}")
        return metric(**description)
    if isinstance(description, (tuple, list)) and 1 <= len(description) <= 2:
        return metric(*description)
    raise ValueError(f"metric {name}: {description!r} must be (unit, better)")


def declare(declared: dict[str, Metric], name: str, description: Metric) -> None:
    """Adds a metric; ValueError when the name has another unit or direction already."""
    before = declared.setdefault(name, description)
    if before != description:
        raise ValueError(f"metric {name} is declared as {_words(before)} and as {_words(description)}")


def declare_all(declared: dict[str, Metric], described_by: Iterable[tuple[str, Metric]]) -> None:
    """Adds several metrics."""
    for name, description in described_by:
        declare(declared, name, description)


def _words(description: Metric) -> str:
    return f"{description['unit']} ({description.get('better', 'no direction')})"
