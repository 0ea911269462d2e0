"""Options, marker and hooks of pytest-benchmark, provided if that plugin is absent or disabled.

A suite that was written for it, with its command line, goes on working. What has no meaning here is accepted
and ignored, and one notice says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

PLUGINS = ("benchmark", "pytest_benchmark.plugin", "pytest-benchmark", "codspeed", "pytest_codspeed.plugin")
"""Plugins with a fixture `benchmark` of their own."""

FLAGS = ["skip", "only", "disable", "enable"]
NUMBERS = {"min-time": 0.000005, "max-time": 1.0, "min-rounds": 5}
IGNORED_FLAGS = ["disable-gc", "autosave", "save-data", "verbose", "quiet"]
IGNORED_VALUES = [
    "precision", "confidence", "timer", "calibration-precision", "warmup-iterations", "save", "json", "storage",
    "cprofile", "cprofile-loops", "cprofile-top", "sort", "group-by", "columns", "name", "time-unit", "project-name",
]  # fmt: skip
IGNORED_OPTIONAL_VALUES = ["compare", "netrc", "cprofile-dump", "histogram", "csv"]
IGNORED_LISTS = ["compare-fail"]


def stands_in(config: pytest.Config) -> bool:
    """Returns whether no other plugin has the fixture `benchmark`."""
    return not any(config.pluginmanager.hasplugin(name) for name in PLUGINS)


def add_options(parser: pytest.Parser) -> None:
    """Declares the command-line options."""
    group = parser.getgroup("benchmark", "options of pytest-benchmark (provided by pytest-lapwing)")
    for name in FLAGS:
        group.addoption(f"--benchmark-{name}", action="store_true", default=False, help=f"{name} benchmarks")
    for name, default in NUMBERS.items():
        group.addoption(f"--benchmark-{name}", type=type(default), default=None, help=f"default: {default:g}")
    group.addoption("--benchmark-warmup", nargs="?", const="on", default=None, help="on, off or auto")
    for names, arguments in (
        (IGNORED_FLAGS, {"action": "store_true", "default": None}),
        (IGNORED_VALUES, {"default": None}),
        (IGNORED_OPTIONAL_VALUES, {"nargs": "?", "const": True, "default": None}),
        (IGNORED_LISTS, {"nargs": "+", "default": None}),
    ):
        for name in names:
            group.addoption(f"--benchmark-{name}", help="ignored", **arguments)  # type: ignore[arg-type]


def ignored(config: pytest.Config) -> list[str]:
    """Returns the options that were given and have no meaning here."""
    names = [*IGNORED_FLAGS, *IGNORED_VALUES, *IGNORED_OPTIONAL_VALUES, *IGNORED_LISTS]
    given = [name for name in names if _value(config, name) is not None]
    return [f"--benchmark-{name}" for name in given]


def ignored_of_marker(marker: pytest.Mark | None) -> set[str]:
    """Returns the arguments of a marker `benchmark` that have no meaning here."""
    if marker is None:
        return set()
    heeded = {"group", "warmup", *(name.replace("-", "_") for name in NUMBERS)}
    # The garbage collector is off anyway.
    return {name for name, value in marker.kwargs.items() if (name, value) != ("disable_gc", True)} - heeded


def flag(config: pytest.Config, name: str) -> bool:
    """Returns whether a flag is given."""
    return bool(_value(config, name))


def are_skipped(config: pytest.Config) -> bool:
    """Returns whether tests that use `benchmark` are to be skipped."""
    return flag(config, "skip") and not flag(config, "only")


def is_off(config: pytest.Config) -> bool:
    """Returns whether `benchmark` has no rounds, because it is skipped or disabled."""
    switched_on = flag(config, "only") or flag(config, "enable")
    return (flag(config, "skip") or flag(config, "disable")) and not switched_on


def number(config: pytest.Config, marker: Mapping[str, Any], name: str) -> float:
    """Returns a number: that of the test's marker, else of the command line, else the default."""
    for value in (marker.get(name.replace("-", "_")), _value(config, name)):
        if value is not None:
            return float(value)
    return NUMBERS[name]


def warms_up(config: pytest.Config, marker: Mapping[str, Any]) -> bool:
    """Returns whether warm-up is asked for."""
    asked = marker.get("warmup")
    if asked is None:
        asked = _value(config, "warmup")
    return asked is True or asked == "on"


def _value(config: pytest.Config, name: str) -> Any:
    return config.getoption(f"benchmark_{name.replace('-', '_')}", None)


class Hooks:
    """The hooks that its users may implement; they are not called here."""

    @pytest.hookspec(firstresult=True)
    def pytest_benchmark_scale_unit(self, config, unit, benchmarks, best, worst, sort): ...

    @pytest.hookspec(firstresult=True)
    def pytest_benchmark_generate_machine_info(self, config): ...

    @pytest.hookspec
    def pytest_benchmark_update_machine_info(self, config, machine_info): ...

    @pytest.hookspec(firstresult=True)
    def pytest_benchmark_generate_commit_info(self, config): ...

    @pytest.hookspec
    def pytest_benchmark_update_commit_info(self, config, commit_info): ...

    @pytest.hookspec(firstresult=True)
    def pytest_benchmark_group_stats(self, config, benchmarks, group_by): ...

    @pytest.hookspec(firstresult=True)
    def pytest_benchmark_generate_json(self, config, benchmarks, include_data, machine_info, commit_info): ...

    @pytest.hookspec
    def pytest_benchmark_update_json(self, config, benchmarks, output_json): ...

    @pytest.hookspec
    def pytest_benchmark_compare_machine_info(self, config, benchmarksession, machine_info, compared_benchmark): ...
