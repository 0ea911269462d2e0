"""Measurements of fixtures in the current iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .memory import Memory
from .metrics import Metric


@dataclass
class Measurement:
    """Measurements of fixtures in the current iteration."""

    declared: dict[str, Metric]
    metrics: dict[str, float] = field(default_factory=dict)
    new: dict[str, Metric] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    artifacts: dict[str, str] = field(default_factory=dict)
    spans: list[dict[str, Any]] = field(default_factory=list)
    # The wall time is what `benchmark_time` measures, not the test's body.
    times_itself: bool = False
    # Blocks that are under way: what kind of thing they measure, and of which cluster, or None for this process.
    open_blocks: set[tuple[str, str | None]] = field(default_factory=set)
    memory: Memory = field(default_factory=Memory)
