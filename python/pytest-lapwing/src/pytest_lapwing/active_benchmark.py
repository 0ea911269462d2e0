"""Tests measured by an active pytest-benchmark, whose fixture calls a function many times."""

from __future__ import annotations

import pytest

from . import benchmark_fixture

PACKAGE = "pytest_benchmark"

REFUSED = (
    "not recorded: pytest-benchmark is active, and its fixture `benchmark` decides how often it calls the function "
    "within the test, so the time of the test is meaningless; with `-p no:benchmark` pytest-lapwing's own fixture "
    "measures it, and `lapwing import` reads pytest-benchmark's own results"
)


def is_used_by(item: pytest.Item) -> bool:
    """Returns whether pytest-benchmark determines the duration of a test's body."""
    return is_measuring(item.config) and benchmark_fixture.leads_to(item, PACKAGE)


def is_measuring(config: pytest.Config) -> bool:
    """Returns whether pytest-benchmark's fixture repeats the function; if disabled, it calls the function once."""
    session = getattr(config, "_benchmarksession", None)
    return not (getattr(session, "disabled", False) or getattr(session, "skip", False))


def warn(item: pytest.Item) -> None:
    """Warns that a test is not recorded."""
    item.warn(pytest.PytestWarning(f"{item.nodeid}: {REFUSED}"))
