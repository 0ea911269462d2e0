"""Memory that was sampled while blocks ran: that of this process, or of any number of clusters."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sampled:
    """The memory of processes that belong together while a block ran."""

    begin: float
    end: float
    samples: list[tuple[float, float]]
    """Seconds, on the clock of begin and end, and bytes: in order, at least one."""

    @property
    def average(self) -> float:
        """The mean of the samples."""
        return sum(size for _, size in self.samples) / len(self.samples)

    def at(self, moment: float) -> float:
        """Returns the memory at a moment, from the sample before it; zero before and after the block."""
        if not self.begin <= moment < self.end:
            return 0.0
        return self.samples[max(bisect_right(self.samples, (moment, math.inf)) - 1, 0)][1]

    def overlaps(self, other: Sampled) -> bool:
        """Returns whether the two overlap."""
        return min(self.end, other.end) > max(self.begin, other.begin)


@dataclass
class Memory:
    """The memory of an iteration's blocks. Simultaneous blocks are summed."""

    blocks: list[Sampled] = field(default_factory=list)
    peak: float = 0.0

    def add(self, block: Sampled) -> None:
        """Adds a block."""
        at_once = [block, *(it for it in self.blocks if it.overlaps(block))]
        for one in at_once:
            for moment, size in one.samples:
                # What the others have had among themselves is known.
                if one is block or block.at(moment):
                    self.peak = max(self.peak, size + sum(it.at(moment) for it in at_once if it is not one))
        self.blocks.append(block)

    @property
    def average(self) -> float:
        """The blocks' averages, each weighted by its time, over the time in which at least one ran."""
        seconds = _covered((it.begin, it.end) for it in self.blocks)
        if len(self.blocks) == 1 or seconds <= 0:
            return sum(it.average for it in self.blocks) / len(self.blocks)
        return sum((it.end - it.begin) * it.average for it in self.blocks) / seconds


def _covered(intervals: Iterable[tuple[float, float]]) -> float:
    """Returns how long at least one of some intervals lasts."""
    covered, reached = 0.0, -math.inf
    for begin, end in sorted(intervals):
        covered += max(end - max(begin, reached), 0.0)
        reached = max(reached, end)
    return covered
