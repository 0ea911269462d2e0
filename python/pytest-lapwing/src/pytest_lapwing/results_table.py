"""The table of results at the end of a run: mean, interval, spread and number of iterations of each benchmark."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping

HEADINGS = ("mean", "95 % interval", "fastest", "slowest", "spread", "iterations")
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
WIDEST = 10.0
NAME = 60
"""Longer names are cut off at their beginning, because their ends tell tests apart."""


def lines(values: Mapping[str, list[float]]) -> Iterator[str]:
    """Returns the lines of the table, the slowest benchmark first; none without values."""
    there = {name: them for name, them in values.items() if them}
    if not there:
        return
    ordered = sorted(there, key=lambda name: -statistics.fmean(there[name]))
    rows = [("", *HEADINGS), *((_short(name), *_cells(there[name])) for name in ordered)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for name, *cells in rows:
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths[1:]))
        yield f"{name.ljust(widths[0])}  {numbers}".rstrip()
    yield "intervals are of iterations within this run: they say nothing about other runs; `lapwing run` makes several"


def t_quantile(freedom: int) -> float:
    """Returns the 97.5 % quantile of Student's t: exact for 1 and 2 degrees of freedom, else within 0.2 %.

    Source: Cornish and Fisher's expansion, Abramowitz and Stegun 26.7.5.
    """
    if freedom < 3:
        return (12.706204736, 4.302652730)[freedom - 1]
    z = statistics.NormalDist().inv_cdf(0.975)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def _short(name: str) -> str:
    return name if len(name) <= NAME else "…" + name[-NAME + 1 :]


def _cells(values: list[float]) -> tuple[str, ...]:
    mean, many = statistics.fmean(values), len(values)
    interval, spread = "–", "–"
    scale, unit = next((it for it in UNITS if abs(mean) >= it[0]), UNITS[-1])
    if many > 1:
        deviation = statistics.stdev(values)
        half = t_quantile(many - 1) * deviation / many**0.5
        ends = _interval(mean, half)
        if many > 2 and ends is not None:
            interval = "–".join(_number(it / scale) for it in ends)
        if mean > 0:
            spread = f"{100 * deviation / mean:.1f} %"
    ends = (f"{_number(it / scale)}" for it in (min(values), max(values)))
    return (f"{_number(mean / scale)} {unit}", interval, *ends, spread, str(many))


def _interval(mean: float, half: float) -> tuple[float, float] | None:
    """Returns the interval of a mean; None if it reaches beyond so many times the mean that it bounds nothing.

    That of a positive mean is the interval of its logarithm, whose standard error is that of the mean divided by the
    mean (delta method), so that it is positive.
    """
    if mean <= 0:
        return mean - half, mean + half
    factor = math.exp(min(half / mean, 99.0))
    return None if factor > WIDEST else (mean / factor, mean * factor)


def _number(value: float) -> str:
    """Returns three significant digits."""
    size = abs(value)
    return f"{value:.0f}" if size >= 99.95 else f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"
