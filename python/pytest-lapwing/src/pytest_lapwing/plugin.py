"""Hooks of pytest: options, selection of benchmarks, workers, exit code, final summary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import (
    benchmark_fixture,
    describe,
    fixtures,
    foreign_timeout,
    hookspecs,
    options,
    root,
    stand_in,
)
from . import stand_in_options as benchmark_options
from .fixtures import (  # noqa: F401
    benchmark_all,
    benchmark_process_time,
    benchmark_memory,
    benchmark_record,
    benchmark_task_durations,
    benchmark_time,
    get_cluster_info,
    trace_dask,
)
from .late import Late
from .loop import Loop
from .metrics import Metric
from .session import SESSION, Session
from .visit import PLAN, Plan


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the plugin's own options."""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declares the plugin's own hooks."""
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Refuses to record under another root folder; declares the options of pytest-benchmark if it is absent."""
    root.check(early_config, args, options.flags_with_value())
    if benchmark_options.stands_in(early_config):
        benchmark_options.add_options(parser)
        early_config.pluginmanager.add_hookspecs(benchmark_options.Hooks)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Iterator[object]:
    """Disables workers if another program drives pytest, and pytest-benchmark while its tests are recorded."""
    if options.option(config, "") or config.getoption("lapwing_collect"):
        benchmark_options.take_over(config)
    if config.getoption("lapwing_driven") and hasattr(config.option, "numprocesses"):
        config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Prepares recording, if requested."""
    config.addinivalue_line("markers", options.MARKER)
    if benchmark_options.stands_in(config):
        config.addinivalue_line("markers", "benchmark: settings of the fixture `benchmark`")
        config.pluginmanager.register(stand_in, "lapwing-benchmark-fixture")
        is_driven = config.getoption("lapwing_driven") or config.getoption("lapwing_collect")
        if not is_driven and not hasattr(config, "workerinput"):
            benchmark_options.refuse(config, recording=bool(options.option(config, "")))
    if options.is_recording(config):
        if pytest.version_tuple < (8,):
            raise pytest.UsageError(f"--lapwing needs pytest 8 or later, and this is pytest {pytest.__version__}")
        session = config.stash[SESSION] = Session(config)
        config.pluginmanager.register(session, "lapwing-session")
        keep_gc = bool(options.option(config, "gc"))
        config.pluginmanager.register(Late(session.recorder, keep_gc=keep_gc), "lapwing-late")
        config.pluginmanager.register(foreign_timeout.Timers(), "lapwing-timers")
        # Registered last, it goes first.
        config.pluginmanager.register(Loop(session.recorder, keep_gc=keep_gc), "lapwing-loop")
    else:
        for name in ("store", "output"):
            if config.getoption(f"lapwing_{name}") and not options.option(config, ""):
                raise pytest.UsageError(f"--lapwing-{name} requires --lapwing")
    if config.getoption("lapwing_driven"):
        config.pluginmanager.register(Driven(), "lapwing-driven")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Selects the benchmarks, and how each is measured."""
    if benchmark_options.stands_in(config):
        _skip_as_asked(config, items)
    if SESSION not in config.stash and not config.getoption("lapwing_collect"):
        return
    paths = options.all_paths(config)
    for item in items:
        plan = _plan(config, item, paths)
        if plan is None:
            continue
        item.stash[PLAN] = plan
        if plan.repeats_itself and SESSION in config.stash:
            config.stash[SESSION].ignore(benchmark_options.ignored_of_marker(item.get_closest_marker("benchmark")))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Declares the metrics of markers, and lists the benchmarks if requested."""
    config = session.config
    recording = config.stash.get(SESSION, None)
    if recording is not None:
        for item in session.items:
            if PLAN in item.stash:
                recording.declare(item)
    path = config.getoption("lapwing_collect")
    if path and not hasattr(config, "workerinput"):
        known = options.declared_metrics(config)
        lines = [_line(item, known) for item in session.items if PLAN in item.stash]
        (config.invocation_params.dir / path).write_text("".join(lines), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says which options of pytest-benchmark have no effect because nothing is measured."""
    if benchmark_options.stands_in(config) and not options.option(config, ""):
        names = benchmark_options.without_effect(config)
        if names:
            terminalreporter.line(f"without effect, as nothing is measured without --lapwing: {', '.join(names)}")


def _plan(config: pytest.Config, item: pytest.Item, paths: list[Path]) -> Plan | None:
    if not isinstance(item, pytest.Function):
        return None
    names = set(getattr(item, "fixturenames", ()))
    repeats_itself = stand_in.is_used_by(item)
    if repeats_itself and benchmark_options.is_off(config):
        return None
    chosen = item.get_closest_marker("lapwing") is not None or _is_below(item.path, paths)
    if not chosen and not repeats_itself and not names & fixtures.MAKE_BENCHMARKS:
        return None
    return Plan(
        options.settings(config, item, only_by_fixture=not chosen),
        repeats_itself=repeats_itself,
        may_surprise=repeats_itself or "benchmark_record" in names or benchmark_fixture.may_be_asked_late(item),
    )


def _is_below(path: Path, folders: list[Path]) -> bool:
    path = path.resolve()
    return any(path == folder or folder in path.parents for folder in folders)


def _skip_as_asked(config: pytest.Config, items: list[pytest.Item]) -> None:
    only = benchmark_options.flag(config, "only")
    skip = benchmark_options.are_skipped(config)
    for item in items:
        if stand_in.is_used_by(item):
            if skip:
                item.add_marker(pytest.mark.skip(reason="--benchmark-skip"))
        elif only and item.get_closest_marker("lapwing") is None:
            item.add_marker(pytest.mark.skip(reason="--benchmark-only"))


def _line(item: pytest.Item, known: dict[str, Metric]) -> str:
    """Returns the description of a benchmark for `lapwing run`."""
    plan = item.stash[PLAN]
    settings, iterations = plan.settings, plan.settings.iterations
    if plan.repeats_itself and not settings.iterations_given:
        iterations = stand_in.fewest_rounds(item)
    found = {
        "params": {},
        "tags": [],
        "fingerprint": None,
        **describe.benchmark(item),
        "source": describe.source(item),
        "burn_in": settings.burn_in,
        "iterations": iterations,
        "time_limit": settings.time_limit,
        "max_failures": settings.max_failures,
        "metrics": {**known, **options.marker_metrics(item)},
        "root": str(item.config.rootpath),
    }
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


class Driven:
    """Exits with 0 even if tests failed, because a failed benchmark is data for the driving program."""

    def __init__(self) -> None:
        self._collection_failed = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Notes that something could not be collected, which is no benchmark's failure."""
        self._collection_failed |= report.failed

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Changes the exit code."""
        yield
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and not self._collection_failed:
            session.exitstatus = pytest.ExitCode.OK
