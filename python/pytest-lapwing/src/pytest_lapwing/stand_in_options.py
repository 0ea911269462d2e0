"""Options, marker and hooks of pytest-benchmark, whose fixture is provided while recording, or if it is absent.

A suite that was written for it, with its command line, goes on working. Options about its table and its way of
measuring are accepted and ignored, and one notice says so. Options that promise a file or a verdict are refused.
"""

from __future__ import annotations

import argparse
import importlib
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, Callable

import pytest

from .stand_in_stats import COLUMNS

PLUGINS = ("benchmark", "pytest_benchmark.plugin", "pytest-benchmark", "codspeed", "pytest_codspeed.plugin")
"""Plugins with a fixture `benchmark` of their own."""

FLAGS = ["skip", "only", "disable", "enable"]
NUMBERS = {"min-time": 0.000005, "max-time": 1.0, "min-rounds": 5, "precision": None, "confidence": 0.99}


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _from_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return number


def _fraction(text: str) -> float:
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return number


def _warmup(text: str) -> str:
    for meaning, names in (("auto", ["auto"]), ("off", ["off", "false", "no"]), ("on", ["on", "true", "yes", ""])):
        if text.strip().lower() in names:
            return meaning
    raise argparse.ArgumentTypeError(f"{text!r} is not on, off or auto")


def _timer(text: str) -> str:
    module, _, name = text.rpartition(".")
    try:
        getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a function, such as time.time") from error
    return text


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.strip().lower() not in names:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(names)}")
        return text.strip().lower()

    return read


def _columns(text: str) -> list[str]:
    return [_one_of(*COLUMNS)(name) for name in text.split(",")]


def _save(text: str) -> str:
    if not text or set(text) & set("\\/:*?<>|"):
        raise argparse.ArgumentTypeError(f"{text!r} is empty or has one of the characters \\ / : * ? < > |")
    return text


def _gate(text: str) -> str:
    if not re.match(r"(min|max|mean|median|stddev|iqr):(\d+%|\d*\.?\d+([eE][-+]?\d+)?)$", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a limit such as mean:5% or min:0.001")
    return text


def _loops(text: str) -> str | int:
    return text if text == "auto" else _from_one(text)


_STATISTICS = ("ncalls_recursion", "ncalls", "tottime", "tottime_per", "cumtime", "cumtime_per", "function_name")

VALUES: dict[str, tuple[Callable[[str], Any], Any]] = {
    "min-time": (_seconds, None),
    "max-time": (_seconds, None),
    "min-rounds": (_from_one, None),
    "precision": (_fraction, None),
    "confidence": (_fraction, 0.99),
    "timer": (_timer, "time.perf_counter"),
    "calibration-precision": (int, 10),
    "warmup-iterations": (int, 100000),
    "storage": (str, "file://./.benchmarks"),
    "project-name": (str, None),
    "sort": (_one_of("min", "max", "mean", "stddev", "name", "fullname"), "min"),
    "group-by": (str, "group"),
    "columns": (_columns, list(COLUMNS)),
    "name": (_one_of("short", "normal", "long", "trial"), "normal"),
    "time-unit": (_one_of("ns", "us", "ms", "s", "auto"), None),
    "cprofile-loops": (_loops, 1),
    "cprofile-top": (int, 25),
    "save": (_save, None),
    "json": (str, None),
    "cprofile": (_one_of(*_STATISTICS), None),
}
"""Options with a value: how it is read, and what it is by default."""

OPTIONAL_VALUES = ["netrc", "compare", "histogram", "cprofile-dump"]
IGNORED_FLAGS = ["disable-gc", "verbose", "quiet"]
KEPT_FLAGS = ["autosave", "save-data"]

IGNORED = [
    *IGNORED_FLAGS, "calibration-precision", "warmup-iterations", "storage", "netrc", "project-name", "sort", "group-by",
    "columns", "name", "time-unit", "cprofile-top",
]  # fmt: skip

KEPT = ["save", *KEPT_FLAGS]
"""What these ask for is done while recording anyway."""

COMPARED = ["compare", "compare-fail"]

AFTERWARDS = [*COMPARED, "json"]
"""What these ask for is done after recording."""

_PROFILE = "`benchmark.cprofile_stats` in a test with the marker `benchmark(cprofile=True)` is the profile"
REFUSED = {
    **dict.fromkeys(KEPT, "every round is kept"),
    "json": "`lapwing export --to pytest-benchmark` writes this file",
    **dict.fromkeys(COMPARED, "this option compares with an earlier session"),
    "histogram": "`lapwing report` has charts",
    "cprofile": _PROFILE,
    "cprofile-dump": _PROFILE,
}
"""Options that promise a file or a verdict, with what does the same after recording."""

MARKER_ARGUMENTS = {
    "max_time", "min_rounds", "min_time", "precision", "confidence", "timer", "group", "disable_gc", "warmup",
    "warmup_iterations", "calibration_precision", "cprofile",
}  # fmt: skip


def stands_in(config: pytest.Config) -> bool:
    """Returns whether no other plugin has the fixture `benchmark`."""
    return not any(config.pluginmanager.hasplugin(name) for name in PLUGINS)


def take_over(config: pytest.Config) -> None:
    """Disables pytest-benchmark, so that its tests can be recorded; its options stay what they are."""
    for name in ("benchmark", "pytest_benchmark.plugin"):
        if config.pluginmanager.hasplugin(name):
            config.pluginmanager.unregister(name=name)


def add_options(parser: pytest.Parser) -> None:
    """Declares the command-line options."""
    group = parser.getgroup("benchmark", "options of pytest-benchmark (provided by pytest-lapwing)")
    for name in [*FLAGS, *IGNORED_FLAGS, *KEPT_FLAGS]:
        group.addoption(f"--benchmark-{name}", action="store_true", default=False, help=_help(name))
    group.addoption("--benchmark-warmup", nargs="?", const="on", default=None, type=_warmup, help="on, off or auto")
    for name, (read, default) in VALUES.items():
        group.addoption(f"--benchmark-{name}", type=read, default=default, help=_help(name))
    for name in OPTIONAL_VALUES:
        group.addoption(f"--benchmark-{name}", nargs="?", const=True, default=None, help=_help(name))
    group.addoption("--benchmark-compare-fail", nargs="+", type=_gate, default=None, help=_help("compare-fail"))


def _help(name: str) -> str:
    if name in FLAGS:
        return f"{name} benchmarks"
    if name in COMPARED:
        return "compare with an earlier session (--lapwing)"
    if name == "json":
        return "write the results into this file (--lapwing)"
    if name in REFUSED:
        return f"not provided: {REFUSED[name]}"
    return "ignored" if name in IGNORED else "as in pytest-benchmark"


def refuse(config: pytest.Config, *, recording: bool) -> None:
    """Refuses options that promise what nobody does here: a gate that is always open is worse than none."""
    given = _given(config, REFUSED)
    wrong = next((name for name in given if not (recording and name in [*KEPT, *AFTERWARDS])), None)
    if wrong is not None:
        state, first = "absent or disabled", "record with `pytest --lapwing`"
        if recording:
            state, first = "not active with --lapwing", "leave it out"
        text = f"--benchmark-{wrong} is an option of pytest-benchmark, which is {state}: {first}, then {REFUSED[wrong]}"
        raise pytest.UsageError(text)


def compared(config: pytest.Config) -> tuple[str | bool | None, float, str]:
    """Returns the name of the run to compare with (true for the last one), and the limit in percent with its option.

    Without a comparison the name is `None`; without a limit its option is empty.
    """
    name, gates = _value(config, "compare") or None, _value(config, "compare-fail") or []
    limits = [_limit(gate) for gate in gates]
    share, text = min(limits, default=(0.0, ""))
    return name, share, f"--benchmark-compare-fail={text}" if text else ""


def _limit(gate: Any) -> tuple[float, str]:
    """Returns the limit of a gate in percent, and its text: `mean:5%`."""
    if not isinstance(gate, str):
        # pytest-benchmark's own are objects of two classes.
        unit = "%" if type(gate).__name__.startswith("Percentage") else ""
        gate = f"{gate.field}:{gate.threshold:g}{unit}"
    statistic, _, limit = gate.partition(":")
    share = float(limit[:-1]) if limit.endswith("%") else 0
    if statistic in ("stddev", "iqr") or not 0 < share < 100:
        why = "with --lapwing the limit is a share of the time, above 0% and below 100%, such as mean:5%"
        raise pytest.UsageError(f"--benchmark-compare-fail={gate}: {why}")
    return share, gate


def results_file(config: pytest.Config) -> str | None:
    """Returns the path of the file that is to get the results."""
    given = _value(config, "json") or None
    # pytest-benchmark's own is an open file.
    name = getattr(given, "name", given)
    return name and str(config.invocation_params.dir / name)


def saved_file(config: pytest.Config, name: str) -> str | None:
    """Returns the file of a run that pytest-benchmark saved under this number or name."""
    storage = config.invocation_params.dir / str(_value(config, "storage") or "").removeprefix("file://")
    files = sorted(it for it in storage.glob("**/*.json") if name in (it.stem, it.stem.partition("_")[0]))
    return str(files[-1]) if files else None


def ignored(config: pytest.Config) -> list[str]:
    """Returns the options that were given and have no meaning here."""
    return [f"--benchmark-{name}" for name in _given(config, IGNORED)]


def kept(config: pytest.Config) -> list[str]:
    """Returns the options that were given for what is done anyway."""
    return [f"--benchmark-{name}" for name in _given(config, KEPT_FLAGS)]


def saved_as(config: pytest.Config) -> str | None:
    """Returns the name that `--benchmark-save` gives to what is recorded."""
    return _value(config, "save") or None


def without_effect(config: pytest.Config) -> list[str]:
    """Returns the options that were given about measuring, for where nothing is measured."""
    if flag(config, "disable") or flag(config, "skip"):
        return []
    return [f"--benchmark-{name}" for name in _given(config, ["enable", "warmup", "timer", *NUMBERS, *IGNORED])]


def _given(config: pytest.Config, names: Iterable[str]) -> list[str]:
    defaults = {name: default for name, (_, default) in VALUES.items()}
    # By default pytest-benchmark's own are None, false or empty.
    return [name for name in names if _value(config, name) not in (None, False, "", [], defaults.get(name))]


def check_marker(item: pytest.Item) -> None:
    """Refuses a marker `benchmark` as pytest-benchmark does."""
    marker = item.get_closest_marker("benchmark")
    if marker is None:
        return
    if marker.args:
        raise ValueError("the marker benchmark does not accept positional arguments")
    for name in marker.kwargs:
        if name not in MARKER_ARGUMENTS:
            raise ValueError(f"the marker benchmark does not accept {name!r}")


def ignored_of_marker(marker: pytest.Mark | None) -> set[str]:
    """Returns the arguments of a marker `benchmark` that have no meaning here."""
    if marker is None:
        return set()
    heeded = {"group", "warmup", "cprofile", "timer", *(name.replace("-", "_") for name in NUMBERS)}
    # The garbage collector is off anyway.
    named = {name for name, value in marker.kwargs.items() if (name, value) != ("disable_gc", True)}
    return (named & MARKER_ARGUMENTS) - heeded


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


def why_off(config: pytest.Config) -> str | None:
    """Returns why `benchmark` has no rounds, if an option says so."""
    if not is_off(config):
        return None
    if flag(config, "skip"):
        return "--benchmark-skip skips tests that use `benchmark`"
    return "--benchmark-disable calls each function once, untimed; leave it out to record"


def number(config: pytest.Config, marker: Mapping[str, Any], name: str) -> float | None:
    """Returns a number: that of the test's marker, else of the command line, else the default."""
    for value in (marker.get(name.replace("-", "_")), _value(config, name)):
        if value is not None:
            return float(value)
    return NUMBERS[name]


def timer(config: pytest.Config, marker: Mapping[str, Any]) -> Callable[[], float] | None:
    """Returns the function that `stats` are measured with, if another one than `time.perf_counter` is asked for."""
    given = marker.get("timer") or _value(config, "timer")
    if given is not None and not callable(given):
        module, _, name = str(given).rpartition(".")
        given = getattr(importlib.import_module(module), name)
    return None if given is time.perf_counter else given


def profiled_calls(config: pytest.Config, marker: Mapping[str, Any], loops: int) -> int:
    """Returns how many calls of the function are profiled after its rounds; none unless the marker asks for it."""
    if not marker.get("cprofile"):
        return 0
    given = _value(config, "cprofile-loops")
    # None is pytest-benchmark's `auto`.
    return loops if given in (None, "auto") else int(given)


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
