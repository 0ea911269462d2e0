"""pytest-benchmark, where it is active: its fixture measures by itself, and calls a function very often."""

from __future__ import annotations

import pytest

from . import benchmark_fixture

PACKAGE = "pytest_benchmark"

REFUSED = (
    "not recorded: pytest-benchmark is active, and its fixture `benchmark` calls the function as often as it likes "
    "within the test, so that the time of the test says nothing; with `-p no:benchmark` this plugin's own one measures "
    "it, and `lapwing import` reads pytest-benchmark's own results"
)


def is_used_by(item: pytest.Item) -> bool:
    """Returns whether a test's body is as long as pytest-benchmark likes."""
    return is_measuring(item.config) and benchmark_fixture.leads_to(item, PACKAGE)


def is_measuring(config: pytest.Config) -> bool:
    """Returns whether pytest-benchmark's fixture repeats what it is given; disabled, it calls the function once."""
    session = getattr(config, "_benchmarksession", None)
    return not (getattr(session, "disabled", False) or getattr(session, "skip", False))


def warn(item: pytest.Item) -> None:
    """Says that a test is not recorded."""
    item.warn(pytest.PytestWarning(f"{item.nodeid}: {REFUSED}"))
