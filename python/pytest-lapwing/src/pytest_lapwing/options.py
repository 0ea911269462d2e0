"""Options on the command line, in the configuration file and on markers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import pytest

from . import metrics
from .metrics import Metric

MARKER = (
    "lapwing(burn_in, iterations, time_limit, max_failures, epoch, metrics): makes the test a benchmark, "
    "which pytest-lapwing repeats and records with --lapwing"
)
MORE_TIME = 1.0
MOST_ITERATIONS = 100
"""Without a given number, there are further iterations until so many seconds have passed, at most so many."""

LONGEST_LIMIT = 1e9
"""Seconds, within the range of the system's alarm."""

MARKER_KEYS = {"burn_in", "iterations", "time_limit", "max_failures", "epoch", "metrics"}

# Option, ini type, arguments of the option. The ini key of `--lapwing-x-y` is `lapwing_x_y`.
OPTIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("", "bool", {"action": "store_true", "help": "Repeat benchmarks and record every iteration"}),
    ("store", "string", {"metavar": "PATH", "help": "Store to record for [default: .lapwing/lapwing.db]"}),
    ("output", "string", {"metavar": "FILE", "help": "Append the records to this file instead"}),
    ("suite", "string", {"metavar": "NAME", "help": "Suite of the benchmarks [default: name of the repository, else of the root folder]"}),
    ("name", "string", {"metavar": "NAME", "help": "Name of the session"}),
    (
        "session",
        "string",
        {
            "metavar": "NAME",
            "help": "Join the session of this name: several invocations form one session [env: LAPWING_SESSION]",
        },
    ),
    ("variant", "string", {"metavar": "NAME", "help": "Name of the setting under test [default: default]"}),
    ("factor", "linelist", {"metavar": "K=V", "action": "append", "help": "Factor and its level; can be repeated"}),
    ("version-of", "string", {"metavar": "PACKAGE", "help": "Version under test: version of this package"}),
    (
        "repository",
        "string",
        {"metavar": "DIR", "help": "Version under test: commit of this repository [default: root's]"},
    ),
    ("burn-in", "number", {"metavar": "N", "help": "Burn-in iterations [default: 1]"}),
    ("iterations", "number", {"metavar": "N", "help": "Iterations after burn-in [default: 3, and more for 1 s]"}),
    ("time-limit", "number", {"metavar": "S", "help": "End an iteration after S seconds [default: none]"}),
    (
        "max-failures",
        "number",
        {"metavar": "K", "help": "Abandon a benchmark after K consecutive failures; 0: never [default: 3]"},
    ),
    ("all", "linelist", {"metavar": "PATH", "action": "append", "help": "All tests under this path are benchmarks"}),
    ("gc", "bool", {"action": "store_true", "help": "Keep the garbage collector enabled while measuring"}),
]
INI_TYPES: dict[str, Any] = {
    # TOML has numbers. Earlier versions of pytest refuse values that are not text.
    "number": Union[str, int, float] if pytest.version_tuple >= (9, 2) else "string"
}

VARIABLES = {"session": "LAPWING_SESSION"}
"""Environment variables equivalent to options."""

LINES = {"metrics": "Metrics that benchmarks record: lines of NAME UNIT [lower|higher]"}


def add_options(parser: pytest.Parser) -> None:
    """Declares options and ini keys."""
    group = parser.getgroup("lapwing", "benchmarks for Lapwing")
    for name, kind, arguments in OPTIONS:
        flag = f"--lapwing-{name}".rstrip("-")
        default = {"default": None} if "action" in arguments else {}
        group.addoption(flag, dest=_destination(name), **default, **arguments)
        parser.addini(_destination(name), arguments["help"], type=INI_TYPES.get(kind, kind), default=None)
    for name, about in LINES.items():
        parser.addini(_destination(name), about, type="linelist", default=None)
    group.addoption(
        "--lapwing-collect",
        metavar="FILE",
        help="With --collect-only: write one line of JSON per benchmark to this file",
    )
    group.addoption(
        "--lapwing-driven",
        action="store_true",
        help="Exit with 0 even if tests failed: a failed benchmark is data",
    )


def flags_with_value() -> set[str]:
    """Returns the options that have a value."""
    return {"--lapwing-collect", *(f"--lapwing-{name}" for name, _, it in OPTIONS if it.get("action") != "store_true")}


def _destination(name: str) -> str:
    return f"lapwing_{name.replace('-', '_')}".rstrip("_")


def option(config: pytest.Config, name: str) -> Any:
    """Returns the value from the command line, else from the configuration file, else None."""
    key = _destination(name)
    given = config.getoption(key)
    if given is not None:
        return given
    ini = config.getini(key)
    return None if ini in (None, "", []) else ini


def either(config: pytest.Config, first: str, second: str) -> tuple[Any, Any]:
    """Returns the values of two options that exclude each other: at least one of both is None.

    The source with precedence decides: command line, environment, configuration file.
    """
    keys = [_destination(name) for name in (first, second)]
    flags = [f"--lapwing-{name}" for name in (first, second)]
    variables = [VARIABLES.get(name, "") for name in (first, second)]
    for names, values in (
        (flags, [config.getoption(key) for key in keys]),
        (variables, [os.environ.get(name) for name in variables]),
        (keys, [config.getini(key) for key in keys]),
    ):
        given = [value or None for value in values]
        if all(given):
            raise pytest.UsageError(f"{names[0]} and {names[1]} cannot be used together")
        if any(given):
            return given[0], given[1]
    return None, None


def names_of_session(config: pytest.Config) -> tuple[str | None, str | None]:
    """Returns the name of a session that several invocations share, or the name of this invocation's own session."""
    if config.getoption("lapwing_driven"):
        # The driving program provides the session.
        return None, option(config, "name")
    return either(config, "session", "name")


def is_recording(config: pytest.Config) -> bool:
    """Returns whether measurements are to be recorded."""
    executes_nothing = any(config.getoption(name, False) for name in ("collectonly", "setuponly", "setupplan"))
    return bool(option(config, "")) and not executes_nothing


@dataclass(frozen=True)
class Settings:
    """Numbers of iterations of a benchmark, and its limits."""

    burn_in: int = 1
    iterations: int = 3
    time_limit: float | None = None
    max_failures: int = 3
    # Seconds in which further iterations begin, set-up and teardown included.
    max_time: float = 0.0
    # Whether the numbers were given, as opposed to the defaults.
    burn_in_given: bool = False
    iterations_given: bool = False


def settings(config: pytest.Config, item: pytest.Item, *, only_by_fixture: bool) -> Settings:
    """Returns the settings of a benchmark: command line, then marker, then configuration file, then defaults.

    By default a test that is a benchmark only by the fixtures that it asks for is executed once.
    """
    marker = marker_arguments(item)
    values: dict[str, Any] = {}
    for name, default in (
        ("burn_in", 0 if only_by_fixture else 1),
        ("iterations", 1 if only_by_fixture else 3),
        ("time_limit", None),
        ("max_failures", 3),
    ):
        value, where = _first(config, item, name, marker)
        values[name] = default if value is None else _number(name, value, where)
        if name in ("burn_in", "iterations"):
            values[f"{name}_given"] = value is not None
    # Additional iterations of a quick test are cheap. The driving program plans its own, and makes more instances.
    if not (only_by_fixture or values["iterations_given"] or config.getoption("lapwing_driven")):
        values["max_time"] = MORE_TIME
    return Settings(**values)


def _first(config: pytest.Config, item: pytest.Item, name: str, marker: dict[str, Any]) -> tuple[Any, str]:
    flag = "--lapwing-" + name.replace("_", "-")
    given = config.getoption(f"lapwing_{name}")
    if given is not None:
        return given, flag
    if marker.get(name) is not None:
        return marker[name], f"{item.nodeid}: marker lapwing: {name}"
    ini = config.getini(f"lapwing_{name}")
    return (None, "") if ini in (None, "") else (ini, f"lapwing_{name}")


def marker_arguments(item: pytest.Item) -> dict[str, Any]:
    """Returns the arguments of the test's markers `lapwing`, those of the nearest first."""
    merged: dict[str, Any] = {}
    for mark in item.iter_markers("lapwing"):
        unknown = set(mark.kwargs) - MARKER_KEYS
        if mark.args or unknown:
            what = repr(sorted(unknown)[0]) if unknown else "positional arguments"
            raise pytest.UsageError(f"{item.nodeid}: the marker lapwing does not accept {what}")
        for key, value in mark.kwargs.items():
            merged.setdefault(key, value)
    return merged


def marker_metrics(item: pytest.Item) -> dict[str, Metric]:
    """Returns the metrics that a test's marker names."""
    try:
        named = (marker_arguments(item).get("metrics") or {}).items()
        return {name: metrics.described(name, description) for name, description in named}
    except (AttributeError, TypeError, ValueError) as error:
        raise pytest.UsageError(f"{item.nodeid}: marker lapwing: {error}") from error


def _number(name: str, value: Any, where: str) -> Any:
    try:
        if isinstance(value, bool):
            raise ValueError
        if name == "time_limit":
            seconds = float(str(value).strip().removesuffix("s"))
            if not 0 < seconds <= LONGEST_LIMIT:
                raise ValueError
            return seconds
        number = int(value)
        if number != float(value) or number < (1 if name == "iterations" else 0):
            raise ValueError
    except (TypeError, ValueError) as error:
        wanted = {"time_limit": "a number of seconds above 0, at most 1e9", "iterations": "a whole number from 1"}
        raise pytest.UsageError(f"{where}: {value!r} is not {wanted.get(name, 'a whole number from 0')}") from error
    return number


def factors(config: pytest.Config) -> dict[str, Any]:
    """Returns the factors and their levels: booleans, numbers, else texts."""
    found: dict[str, Any] = {}
    for text in option(config, "factor") or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise pytest.UsageError(f"--lapwing-factor: `{text}` must be K=V")
        found[key.strip()] = _level(value.strip())
    return found


def _level(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if abs(number) < 2**63:
            return number
    return text


def declared_metrics(config: pytest.Config) -> dict[str, Metric]:
    """Returns the metrics known before tests are collected: the plugin's own, and those of configuration and hooks."""
    declared = dict(metrics.KNOWN)
    try:
        lines = [line for line in option_lines(config, "metrics") if line.strip()]
        metrics.declare_all(declared, map(metrics.parse_line, lines))
        for answer in config.hook.pytest_lapwing_metrics(config=config):
            for name, description in (answer or {}).items():
                metrics.declare(declared, name, metrics.described(name, description))
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"lapwing_metrics: {error}") from error
    return declared


def option_lines(config: pytest.Config, name: str) -> list[str]:
    """Returns the lines of an ini key that has no option."""
    return list(config.getini(_destination(name)) or [])


def store(config: pytest.Config) -> tuple[Path, Path]:
    """Returns the store and its inbox: that of `--lapwing-store`, else of the nearest folder `.lapwing`."""
    given, _ = either(config, "store", "output")
    start = config.invocation_params.dir
    if given:
        path = start / given
        return path, path.parent / ("inbox" if path.name == "lapwing.db" else f"{path.name}.inbox")
    folder = start
    while folder != config.rootpath and config.rootpath in folder.parents:
        if (folder / ".lapwing").is_dir():
            break
        folder = folder.parent
    if folder != start and not (folder / ".lapwing").is_dir():
        folder = config.rootpath
    return folder / ".lapwing" / "lapwing.db", folder / ".lapwing" / "inbox"


def all_paths(config: pytest.Config) -> list[Path]:
    """Returns the paths under which every test is a benchmark."""
    start = config.invocation_params.dir
    given = config.getoption("lapwing_all")
    if given is None:
        start = config.inipath.parent if config.inipath else config.rootpath
        given = config.getini("lapwing_all") or []
    paths = [(start / path).resolve() for path in given]
    for path in paths:
        if not path.exists():
            raise pytest.UsageError(f"--lapwing-all: {path} does not exist")
    return paths
