"""What options of pytest-benchmark ask of the recorded session: a comparison with an earlier one, and a file of results.

`lapwing compare` and `lapwing export` do it.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from . import stand_in_options as benchmark_options


UNDECIDED = 3
"""The exit code of a comparison without a verdict."""


@dataclass
class Comparison:
    """A comparison of the session under way with an earlier one."""

    command: list[str]
    """Without the sides."""

    old: str | None
    """The earlier session or file, if there is one."""

    gate: str
    """The option with the limit; empty if there is none."""

    def against(self, new: str) -> tuple[list[str], str | None]:
        """Returns the lines of the answer for a session that is complete, and why the gate is closed, if it is."""
        if self.old is None:
            why = "there is no earlier session of this suite to compare with: the next one is compared with this one"
            return ([], f"{self.gate}: {why}") if self.gate else ([why], None)
        program, compare, *options = self.command
        command = [program, compare, self.old, f"session:{new}", *options]
        done = _run(command)
        # Otherwise it says how many records it took in.
        lines = (done.stdout or done.stderr).splitlines()
        if not self.gate or done.returncode == 0:
            return lines, None
        statistic = self.gate.partition("=")[2].partition(":")[0]
        instead = "" if statistic == "mean" else f" (means are judged, not {statistic})"
        if done.returncode == 1:
            return lines, f"{self.gate}{instead}: a mean is worse"
        if done.returncode == UNDECIDED:
            rows = _run([*command, "--format", "csv", "--fields", "verdict,descriptive_ratio"]).stdout.splitlines()
            undecided = [row for row in csv.DictReader(rows) if row["descriptive_ratio"]]
            if undecided:
                many = f"{len(undecided)} benchmark{'s' if len(undecided) > 1 else ''} undecided"
                why = f"no mean is shown to be worse, {many}: more rounds would tell"
                return [*lines, f"{self.gate}{instead}: {why}"], None
            return lines, f"{self.gate}{instead}: nothing could be compared"
        return lines, f"{self.gate}{instead}: the comparison failed with exit code {done.returncode}"


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)


@dataclass
class ResultsFile:
    """The results of the session under way, for programs that read those of pytest-benchmark."""

    command: list[str]
    """Without the session."""

    def write(self, session: str) -> tuple[list[str], str | None]:
        """Returns what is said of it, and why it could not be written, if it could not."""
        done = _run([*self.command, "--where", f"session={session}"])
        if done.returncode:
            return [], f"--benchmark-json: {done.stderr.strip()}"
        return done.stdout.splitlines(), None


def asked_for(config: pytest.Config, facts: dict[str, Any]) -> Comparison | None:
    """Returns the comparison that options of pytest-benchmark ask for."""
    name, share, gate = benchmark_options.compared(config)
    if name is None and not gate:
        return None
    program, store = _program(gate or "--benchmark-compare", facts)
    stored = _sessions([program, "list", "sessions", *store], facts)
    sessions = [it for it in stored if it["id"] != facts["session"]["id"]]
    if isinstance(name, str):
        sessions = [it for it in sessions if it["name"] == name or it["id"] == name]
    else:
        sessions = [it for it in sessions if it["suite"] == facts["session"]["suite"]]
    old = f"session:{sessions[0]['id']}" if sessions else None
    if isinstance(name, str) and old is None:
        old = benchmark_options.saved_file(config, name)
        if old is None:
            where = "`lapwing list sessions` names those that there are, --lapwing-name=NAME names one"
            raise pytest.UsageError(f"--benchmark-compare={name}: there is no such session: {where}")
    limit = ["--fail-on", "worse-in-runs", "--smallest-effect", f"{share:g}%"] if gate else []
    return Comparison([program, "compare", *store, *limit], old, gate)


def file_asked_for(config: pytest.Config, facts: dict[str, Any]) -> ResultsFile | None:
    """Returns the file of results that `--benchmark-json` asks for."""
    path = benchmark_options.results_file(config)
    if path is None:
        return None
    program, store = _program("--benchmark-json", facts)
    return ResultsFile([program, "export", *store, "--to", "pytest-benchmark", "-o", path])


def _program(option: str, facts: dict[str, Any]) -> tuple[str, list[str]]:
    """Returns the program that an option needs, and its option for the store."""
    if facts["output"]:
        raise pytest.UsageError(f"{option} needs the sessions of a store: leave out --lapwing-output")
    program = os.environ.get("LAPWING") or shutil.which("lapwing")
    if program is None:
        raise pytest.UsageError(f"{option} needs the program `lapwing`, which is not in a folder of PATH")
    return program, ["--store", facts["store"]]


def _sessions(command: list[str], facts: dict[str, Any]) -> list[dict[str, str]]:
    """Returns the sessions of the store, the latest first."""
    if not (os.path.exists(facts["store"]) or os.path.exists(facts["inbox"])):
        return []
    command = [*command, "--format", "csv", "--fields", "id,name,suite"]
    listed = _run(command)
    if listed.returncode:
        raise pytest.UsageError(f"the sessions of {facts['store']} cannot be listed: {listed.stderr.strip()}")
    return list(csv.DictReader(listed.stdout.splitlines()))
