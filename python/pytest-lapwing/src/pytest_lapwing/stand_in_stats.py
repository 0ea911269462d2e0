"""The statistics of the fixture `benchmark`, under pytest-benchmark's names and by its definitions."""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from typing import Any


COLUMNS = ("min", "max", "mean", "stddev", "median", "iqr", "outliers", "ops", "rounds", "iterations")
"""The columns of pytest-benchmark's table, in its order."""


class Stats:
    """Statistics of the rounds, in seconds per call."""

    fields = (
        "min", "max", "mean", "stddev", "rounds", "median", "iqr", "q1", "q3", "iqr_outliers", "stddev_outliers",
        "outliers", "ld15iqr", "hd15iqr", "ops", "total",
    )  # fmt: skip

    def __init__(self, data: list[float]) -> None:
        self.data = data

    def __bool__(self) -> bool:
        return bool(self.data)

    sorted_data = property(lambda self: sorted(self.data))
    rounds = property(lambda self: len(self.data))
    total = property(lambda self: sum(self.data))
    min = property(lambda self: min(self.data))
    max = property(lambda self: max(self.data))
    mean = property(lambda self: statistics.mean(self.data))
    median = property(lambda self: statistics.median(self.data))
    stddev = property(lambda self: statistics.stdev(self.data) if len(self.data) > 1 else 0)
    ops = property(lambda self: self.rounds / self.total if self.total else 0)
    q1 = property(lambda self: _quartile(self.sorted_data))
    q3 = property(lambda self: _quartile(self.sorted_data[::-1]))
    iqr = property(lambda self: self.q3 - self.q1)

    @property
    def ld15iqr(self) -> float:
        """The lowest value that is no more than 1.5 times the interquartile range below the first quartile."""
        data = self.sorted_data
        return data[bisect_left(data, self._fences()[0])]

    @property
    def hd15iqr(self) -> float:
        """The highest value that is no more than 1.5 times the interquartile range above the third quartile."""
        data = self.sorted_data
        return data[bisect_right(data, self._fences()[1]) - 1]

    @property
    def iqr_outliers(self) -> int:
        """How many values are further away from the quartiles than 1.5 times the interquartile range."""
        return self._beyond(*self._fences())

    @property
    def stddev_outliers(self) -> int:
        """How many values are further away from the mean than a standard deviation."""
        return self._beyond(self.mean - self.stddev, self.mean + self.stddev)

    @property
    def outliers(self) -> str:
        """Both numbers of outliers, as a text."""
        return f"{self.stddev_outliers};{self.iqr_outliers}"

    def as_dict(self) -> dict[str, Any]:
        """Returns all statistics by name."""
        return {name: getattr(self, name) for name in self.fields}

    def _fences(self) -> tuple[float, float]:
        return self.q1 - 1.5 * self.iqr, self.q3 + 1.5 * self.iqr

    def _beyond(self, low: float, high: float) -> int:
        return sum(value < low or value > high for value in self.data)


def _quartile(data: list[float]) -> float:
    """Returns the quartile of the first half of ordered values.

    It is the median of that half where their number is even. Where it is odd, the value in the middle belongs to
    both halves by half, which comes to a mean with the weights 1 and 3 of two neighbours.
    """
    many = len(data)
    if many == 1:
        return data[0]
    if many % 2 == 0:
        return statistics.median(data[: many // 2])
    place = many // 4
    if many % 4 == 1:
        return 0.25 * data[place - 1] + 0.75 * data[place]
    return 0.75 * data[place] + 0.25 * data[place + 1]


class Metadata:
    """The object `benchmark.stats`: statistics, their subject, and how they were measured."""

    def __init__(self, fixture: Any, stats: Stats, iterations: int, options: dict[str, Any]) -> None:
        self.name = fixture.name
        self.fullname = fixture.fullname
        self.group = fixture.group
        self.param = fixture.param
        self.params = fixture.params
        self.extra_info = fixture.extra_info
        self.cprofile_stats = fixture.cprofile_stats
        self.fixture = fixture
        self.stats = stats
        self.iterations = iterations
        self.options = options

    def __bool__(self) -> bool:
        return bool(self.stats)

    @property
    def has_error(self) -> bool:
        """Whether a call raised."""
        return self.fixture.has_error

    def __getattr__(self, name: str) -> Any:
        # Only here: `benchmark.stats.mean` is `benchmark.stats.stats.mean`.
        if name == "stats":
            raise AttributeError(name)
        return getattr(self.stats, name)

    def __getitem__(self, key: str) -> Any:
        """Returns a statistic, else what else is known under this name."""
        return getattr(self.stats, key) if hasattr(self.stats, key) else getattr(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a statistic, or what else is known under this name, or something else."""
        return getattr(self.stats, key) if hasattr(self.stats, key) else getattr(self, key, default)

    def as_dict(
        self, include_data: bool = True, flat: bool = False, stats: bool = True, cprofile: Any = None
    ) -> dict[str, Any]:
        """Returns all of it, as pytest-benchmark writes it to JSON; there is no profile."""
        found: dict[str, Any] = {
            name: getattr(self, name) for name in ("group", "name", "fullname", "params", "param", "extra_info")
        }
        found["options"] = {
            name: getattr(value, "__name__", str(value)) if callable(value) else value
            for name, value in self.options.items()
        }
        if stats:
            numbers = self.stats.as_dict()
            if include_data:
                numbers["data"] = self.stats.data
            numbers["iterations"] = self.iterations
            found.update(numbers if flat else {"stats": numbers})
        return found
