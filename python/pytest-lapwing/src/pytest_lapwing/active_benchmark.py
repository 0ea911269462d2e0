"""pytest-benchmark, where it is active: its fixture measures by itself, and calls a function very often."""

from __future__ import annotations

import pytest

REFUSED = (
    "not recorded: pytest-benchmark is active, and its fixture `benchmark` calls the function as often as it likes "
    "within the test, so that the time of the test says nothing; with `-p no:benchmark` this plugin's own one measures "
    "it, and `lapwing import` reads pytest-benchmark's own results"
)


def measures(item: pytest.Item) -> bool:
    """Returns whether a test's body is as long as pytest-benchmark likes, and no block of it is what is timed."""
    info = getattr(item, "_fixtureinfo", None)
    definitions = info.name2fixturedefs.get("benchmark", ()) if info else ()
    if not definitions or "benchmark_time" in getattr(item, "fixturenames", ()):
        return False
    if not getattr(definitions[-1].func, "__module__", "").startswith("pytest_benchmark."):
        return False
    # Disabled, it calls the function once.
    session = getattr(item.config, "_benchmarksession", None)
    return not (getattr(session, "disabled", False) or getattr(session, "skip", False))
