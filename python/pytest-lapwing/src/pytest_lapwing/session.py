"""The recording of one invocation of pytest: data shared by workers, destination of records, final summary."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from . import __version__, comparison, environment, ids, metrics, options, results_table, shared_session, timing
from . import stand_in_options as benchmark_options
from .metrics import Metric
from .record_file import CAN_LOCK, RecordFile, Unusable, check_file, check_folder, check_store, count
from .recorder import Recorder

SESSION = pytest.StashKey["Session"]()


class Session:
    """The recording of one invocation of pytest, in its only process, in its controller, or in one of its workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._worker: str | None = None
        given = getattr(config, "workerinput", {}).get("lapwing")
        if given:
            self._worker = config.workerinput["workerid"]  # type: ignore[attr-defined]
            self.facts = json.loads(given)
        else:
            self.facts = _facts(config)
        self.recorder = Recorder(
            self.facts["session"],
            self.facts["run"],
            self._open,
            self._worker,
            block=self.facts["block"],
            agree=self._agree if self._worker or self.facts["shared"] else None,
        )
        self._counts = dict(self.recorder.counts)
        self._results: dict[str, list[float]] = {}
        self._gave_up: set[str] = set()
        self._ignored: set[str] = set()
        self._workers_died = False
        is_asked = not (self._worker or config.getoption("lapwing_driven"))
        self._comparison = comparison.asked_for(config, self.facts) if is_asked else None
        self._file = comparison.file_asked_for(config, self.facts) if is_asked else None
        self._compared: list[str] = []
        self._refused: list[str] = []
        output = self.facts["output"]
        self._offset = os.path.getsize(output) if output and os.path.exists(output) else 0

    def _open(self) -> RecordFile:
        if self.facts["output"]:
            return RecordFile.plain(Path(self.facts["output"]))
        name = self.facts["file"] + (f"-{self._worker}" if self._worker else "")
        return RecordFile.in_inbox(Path(self.facts["inbox"]), name)

    def _book(self) -> Path:
        """Returns where those who share the run keep the metrics that nobody declared."""
        output, inbox = self.facts["output"], self.facts["inbox"]
        name = f".run-{self.facts['run']['id']}.json"
        return Path(inbox) / name if inbox else Path(output).with_name(f".{Path(output).name}{name}")

    def _agree(self, name: str, description: Metric | None) -> Metric:
        return shared_session.agree(self._book(), name, description)

    def declare(self, item: pytest.Item) -> None:
        """Declares the metrics that a test's marker names."""
        try:
            named = options.marker_metrics(item)
            if self.facts["shared"]:
                for name, description in named.items():
                    self._agree(name, description)
            metrics.declare_all(self.recorder.metrics, named.items())
        except ValueError as error:
            raise pytest.UsageError(f"{item.nodeid}: marker lapwing: {error}") from error

    def ignore(self, arguments: Iterable[str]) -> None:
        """Notes arguments of the marker `benchmark` that have no meaning here, for the summary."""
        self._ignored |= {f"{name} of the marker benchmark" for name in arguments}

    def pytest_report_header(self) -> str:
        """Shows where measurements are recorded."""
        session, run = self.facts["session"], self.facts["run"]
        shared = f"session {session['name']}, " if self.facts["shared"] else ""
        return f"lapwing: recording suite {session['suite']}, {shared}variant {run['variant']}, to {self._target()}"

    def _target(self) -> str:
        path = Path(self.facts["output"] or self.facts["inbox"])
        try:
            return str(path.relative_to(self._config.invocation_params.dir))
        except ValueError:
            return str(path)

    def pytest_runtestloop(self) -> None:
        """Measures the overhead of timing."""
        if self.recorder.loop_cost is None:
            self.recorder.loop_cost = timing.loop_cost()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Passes the shared data to a worker of xdist."""
        node.workerinput["lapwing"] = json.dumps(self.facts)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Adds the numbers of a worker of xdist."""
        done = getattr(node, "workeroutput", {}).get("lapwing")
        if done is None:
            self._workers_died = True
            return
        for name, many in done["counts"].items():
            self._counts[name] += many
        self._add_results(done["results"])
        self._ignored |= set(done["ignored"])
        if done["gave_up"]:
            self._gave_up.add(done["gave_up"])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Leaves the records for the store, and compares them if that is asked for."""
        self.recorder.close()
        counts = self.recorder.counts
        if self._worker:
            done = {
                "counts": counts,
                "gave_up": self.recorder.gave_up,
                "results": self.recorder.results,
                "ignored": sorted(self._ignored),
            }
            self._config.workeroutput["lapwing"] = done  # type: ignore[attr-defined]
        elif not self.facts["shared"]:
            self._book().unlink(missing_ok=True)
        self._add_results(self.recorder.results)
        self._counts = {name: many + counts[name] for name, many in self._counts.items()}
        if self._workers_died:
            # It could not report its numbers; the files contain them.
            output, inbox = self.facts["output"], self.facts["inbox"]
            paths = [Path(output)] if output else sorted(Path(inbox).glob(f"{self.facts['file']}-*.jsonl"))
            self._counts = count(paths, self.recorder.run_id, offset=self._offset)
        is_complete = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if self._comparison is not None and is_complete and self._counts["instances"]:
            self._tell(*self._comparison.against(self.facts["session"]["id"]))
        if self._file is not None and is_complete and self._counts["instances"]:
            self._tell(*self._file.write(self.facts["session"]["id"]))
        if self._refused:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _tell(self, lines: list[str], why: str | None) -> None:
        self._compared += lines
        if why:
            self._refused.append(why)

    def _add_results(self, results: dict[str, list[float]]) -> None:
        for name, values in results.items():
            self._results.setdefault(name, []).extend(values)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Shows what was recorded, and where."""
        terminalreporter.section("lapwing", "-")
        counts = self._counts
        if not self._config.getoption("lapwing_driven"):
            for line in results_table.lines(self._results):
                terminalreporter.line(line)
        if counts["instances"] == 0:
            why = benchmark_options.why_off(self._config)
            why = why or "no benchmark was executed (mark one with @pytest.mark.lapwing)"
            terminalreporter.line(f"nothing was recorded: {why}")
        else:
            failed = f", {counts['failed']} of them failed" if counts["failed"] else ""
            benchmarks = f"{counts['instances']} benchmark{'s' if counts['instances'] > 1 else ''}"
            terminalreporter.line(f"{benchmarks}, {counts['iterations']} iterations{failed}, in {self._target()}")
            if not self.facts["output"]:
                terminalreporter.line("`lapwing show` prints the results of a session, `lapwing report` shows all")
        for line in self._compared:
            terminalreporter.line(line)
        for why in [*self._refused, *sorted(self._gave_up)]:
            terminalreporter.line(why, red=True)
        stands_in = benchmark_options.stands_in(self._config)
        kept = benchmark_options.kept(self._config) if stands_in and counts["instances"] else []
        if kept:
            line = f"every run is stored with all rounds, also without {' and '.join(kept)}; --lapwing-name=NAME names it"
            terminalreporter.line(line)
        ignored = benchmark_options.ignored(self._config) if stands_in else []
        ignored += sorted(self._ignored)
        if ignored:
            terminalreporter.line(f"ignored by pytest-lapwing: {', '.join(ignored)}")


def _facts(config: pytest.Config) -> dict[str, Any]:
    """Returns the data shared by all workers: session, run, and destination of the records."""
    if not CAN_LOCK:
        raise pytest.UsageError("--lapwing: this system does not support the file locks that record files need")
    _, output = options.either(config, "store", "output")
    shared, name = options.names_of_session(config)
    session = {
        "id": ids.measured_id(),
        "suite": options.option(config, "suite")
        or environment.repository_name(config.rootpath)
        or config.rootpath.name
        or "pytest",
        "started": ids.now(),
        "tool": f"pytest-lapwing {__version__}",
        "name": shared or name or benchmark_options.saved_as(config) or ids.session_name(),
        "attributes": {
            "pytest": pytest.__version__,
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
    store, inbox = (None, None) if path else options.store(config)
    _check(path, store, inbox)
    file, block = session["id"], 0
    if shared:
        kept = shared_session.place(session["suite"], shared, inbox=inbox, output=path)
        try:
            session, run, block = shared_session.join(kept, session, run)
        except OSError as error:
            raise pytest.UsageError(f"--lapwing-session: {kept}: {error.strerror}") from error
        # Each call has a file of its own.
        file = f"{session['id']}-{file}"
    return {
        "session": session,
        "run": run,
        "shared": bool(shared),
        "block": block,
        "file": file,
        "store": store and str(store),
        "inbox": inbox and str(inbox),
        "output": path and str(path),
    }


def _check(output: Path | None, store: Path | None, inbox: Path | None) -> None:
    """Refuses a destination that cannot be written to."""
    try:
        if output is not None:
            check_file(output)
        if store is not None:
            check_store(store)
        if inbox is not None:
            if inbox.is_symlink():
                raise Unusable(f"{inbox} is a link")
            check_folder(inbox)
    except Unusable as error:
        where = "--lapwing-output" if output else "--lapwing-store"
        raise pytest.UsageError(f"{where}: {error}") from error


def _version(config: pytest.Config) -> dict[str, Any]:
    package, repository = options.either(config, "version-of", "repository")
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
        raise pytest.UsageError(f"--lapwing-repository: {folder} is not in a Git repository with a commit")
    return version
