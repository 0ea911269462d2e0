"""What pytest calls: options, choice of benchmarks, several workers, exit code, what is said in the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import __version__, describe, environment, fixtures, hookspecs, ids, metrics, options, stand_in, timing
from . import stand_in_options as benchmark_options
from .fixtures import (  # noqa: F401
    benchmark_all,
    benchmark_memory,
    benchmark_record,
    benchmark_task_durations,
    benchmark_time,
    get_cluster_info,
)
from .loop import PLAN, Loop, Plan
from .recorder import Recorder, RecordFile

SESSION = pytest.StashKey["Session"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the plugin's own options."""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declares the plugin's own hooks."""
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser) -> None:
    """Declares what pytest-benchmark would, once it is known that it is not there."""
    if benchmark_options.stands_in(early_config):
        benchmark_options.add_options(parser)
        early_config.pluginmanager.add_hookspecs(benchmark_options.Hooks)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Gets ready to record, where that is asked for."""
    config.addinivalue_line("markers", options.MARKER)
    if benchmark_options.stands_in(config):
        config.addinivalue_line("markers", "benchmark: settings of the fixture `benchmark`")
        config.pluginmanager.register(stand_in, "lapwing-benchmark-fixture")
    if options.is_recording(config):
        session = config.stash[SESSION] = Session(config)
        config.pluginmanager.register(session, "lapwing-session")
        # Registered last, it goes first.
        loop = Loop(session.recorder, keep_gc=bool(options.option(config, "gc")))
        config.pluginmanager.register(loop, "lapwing-loop")
    else:
        for name in ("store", "output"):
            if config.getoption(f"lapwing_{name}") and not config.getoption("collectonly"):
                raise pytest.UsageError(f"--lapwing-{name} needs --lapwing, which asks for recording")
    if config.getoption("lapwing_driven"):
        config.pluginmanager.register(Driven(), "lapwing-driven")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Says which tests are benchmarks, and how each is measured."""
    if benchmark_options.stands_in(config):
        _skip_as_asked(config, items)
    if SESSION not in config.stash and not config.getoption("lapwing_collect"):
        return
    paths = options.all_paths(config)
    for item in items:
        plan = _plan(config, item, paths)
        if plan is not None:
            item.stash[PLAN] = plan


def pytest_collection_finish(session: pytest.Session) -> None:
    """Declares the metrics that markers name, and lists the benchmarks where that is asked for."""
    config = session.config
    recording = config.stash.get(SESSION, None)
    if recording is not None:
        for item in session.items:
            if PLAN in item.stash:
                recording.declare(item)
    path = config.getoption("lapwing_collect")
    if path and not hasattr(config, "workerinput"):
        lines = [_line(item) for item in session.items if PLAN in item.stash]
        (config.invocation_params.dir / path).write_text("".join(lines), encoding="utf-8")


def _plan(config: pytest.Config, item: pytest.Item, paths: list[Path]) -> Plan | None:
    if not isinstance(item, pytest.Function):
        return None
    names = set(getattr(item, "fixturenames", ()))
    repeats_itself = stand_in.is_used_by(item)
    if repeats_itself and any(benchmark_options.flag(config, name) for name in ("skip", "disable")):
        only = benchmark_options.flag(config, "only") or benchmark_options.flag(config, "enable")
        if not only:
            return None
    chosen = item.get_closest_marker("lapwing") is not None or _is_below(item.path, paths)
    if not chosen and not repeats_itself and not names & fixtures.MAKE_BENCHMARKS:
        return None
    return Plan(
        options.settings(config, item, only_by_fixture=not chosen),
        repeats_itself=repeats_itself,
        may_surprise=repeats_itself or "benchmark_record" in names,
    )


def _is_below(path: Path, folders: list[Path]) -> bool:
    path = path.resolve()
    return any(path == folder or folder in path.parents for folder in folders)


def _skip_as_asked(config: pytest.Config, items: list[pytest.Item]) -> None:
    only = benchmark_options.flag(config, "only")
    skip = benchmark_options.flag(config, "skip") and not only
    for item in items:
        if stand_in.is_used_by(item):
            if skip:
                item.add_marker(pytest.mark.skip(reason="--benchmark-skip"))
        elif only and item.get_closest_marker("lapwing") is None:
            item.add_marker(pytest.mark.skip(reason="--benchmark-only"))


def _line(item: pytest.Item) -> str:
    """Returns what `lapwing run` wants to know of a benchmark."""
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
    }
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


class Session:
    """The recording of one call of pytest, in its only process, in its controller, or in one of its workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._worker: str | None = None
        given = getattr(config, "workerinput", {}).get("lapwing")
        if given:
            self._worker = config.workerinput["workerid"]  # type: ignore[attr-defined]
            self.facts = json.loads(given)
        else:
            self.facts = _facts(config)
        self.recorder = Recorder(self.facts["session"], self.facts["run"], self._open, self._worker)
        self._counts = dict(self.recorder.counts)

    def _open(self) -> RecordFile:
        if self.facts["output"]:
            return RecordFile.plain(Path(self.facts["output"]))
        name = self.facts["session"]["id"] + (f"-{self._worker}" if self._worker else "")
        return RecordFile.in_inbox(Path(self.facts["inbox"]), name)

    def declare(self, item: pytest.Item) -> None:
        """Declares the metrics that a test's marker names."""
        try:
            for name, description in (options.marker_arguments(item).get("metrics") or {}).items():
                metrics.declare(self.recorder.metrics, name, metrics.described(name, description))
        except (AttributeError, TypeError, ValueError) as error:
            raise pytest.UsageError(f"{item.nodeid}: marker lapwing: {error}") from error

    def pytest_report_header(self) -> str:
        """Says where measurements go."""
        session, run = self.facts["session"], self.facts["run"]
        return f"lapwing: recording suite {session['suite']}, variant {run['variant']}, to {self._target()}"

    def _target(self) -> str:
        path = Path(self.facts["output"] or self.facts["inbox"])
        try:
            return str(path.relative_to(self._config.invocation_params.dir))
        except ValueError:
            return str(path)

    def pytest_runtestloop(self) -> None:
        """Measures what measuring costs."""
        if self.recorder.loop_cost is None:
            self.recorder.loop_cost = timing.loop_cost()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Gives a worker of xdist what all must agree on."""
        node.workerinput["lapwing"] = json.dumps(self.facts)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Adds up what a worker of xdist did."""
        for name, count in getattr(node, "workeroutput", {}).get("lapwing", {}).items():
            self._counts[name] += count

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Leaves the records for the store."""
        self.recorder.close()
        counts = self.recorder.counts
        if self._worker:
            self._config.workeroutput["lapwing"] = counts  # type: ignore[attr-defined]
        self._counts = {name: count + counts[name] for name, count in self._counts.items()}

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Says what was recorded, and where it is."""
        terminalreporter.section("lapwing", "-")
        counts = self._counts
        if counts["instances"] == 0:
            terminalreporter.line(
                "nothing was recorded: no benchmark was executed (mark one with @pytest.mark.lapwing)"
            )
        else:
            failed = f", {counts['failed']} of them failed" if counts["failed"] else ""
            benchmarks = f"{counts['instances']} benchmark{'s' if counts['instances'] > 1 else ''}"
            terminalreporter.line(f"{benchmarks}, {counts['iterations']} iterations{failed}, in {self._target()}")
            if not self.facts["output"]:
                terminalreporter.line("`lapwing report` takes them in and shows them")
        ignored = benchmark_options.ignored(self._config) if benchmark_options.stands_in(self._config) else []
        if ignored:
            terminalreporter.line(f"ignored, as pytest-benchmark is not active: {', '.join(ignored)}")


def _facts(config: pytest.Config) -> dict[str, Any]:
    """Returns what all workers must agree on: session and run, and where the records go."""
    store, output = options.option(config, "store"), options.option(config, "output")
    if store and output:
        raise pytest.UsageError("--lapwing-store and --lapwing-output exclude each other")
    session = {
        "id": ids.measured_id(),
        "suite": options.option(config, "suite") or config.rootpath.name or "pytest",
        "started": ids.now(),
        "tool": f"pytest-lapwing {__version__}",
        "name": options.option(config, "name") or ids.session_name(),
        "attributes": {
            "pytest": pytest.__version__,
            "arguments": [str(it) for it in config.invocation_params.args],
            **environment.ci(),
        },
    }
    run = {
        "id": ids.measured_id(),
        "session": session["id"],
        "variant": options.option(config, "variant") or "default",
        "factors": options.factors(config),
        "version": _version(config),
        "metrics": options.declared_metrics(config),
        "environment": environment.environment(),
    }
    path = config.invocation_params.dir / output if output else None
    if path is not None and not path.parent.is_dir():
        raise pytest.UsageError(f"--lapwing-output: there is no folder {path.parent}")
    inbox = None if path else options.inbox(config)
    return {"session": session, "run": run, "inbox": inbox and str(inbox), "output": path and str(path)}


def _version(config: pytest.Config) -> dict[str, Any]:
    package, repository = options.option(config, "version-of"), options.option(config, "repository")
    if package and repository:
        raise pytest.UsageError("--lapwing-version-of and --lapwing-repository exclude each other")
    try:
        if package:
            return environment.package_version(package)
    except LookupError as error:
        raise pytest.UsageError(f"--lapwing-version-of: {error}") from error
    if not repository:
        return environment.repository_version(config.rootpath)
    folder = config.invocation_params.dir / repository
    version = environment.repository_version(folder) if folder.is_dir() else {}
    if not version:
        raise pytest.UsageError(f"--lapwing-repository: {folder} is in no Git repository with a commit")
    return version


class Driven:
    """Exits with 0 although tests failed, because a failed benchmark is data to whoever drives pytest."""

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
