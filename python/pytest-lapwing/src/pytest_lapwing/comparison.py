"""The comparison that `--benchmark-compare` and `--benchmark-compare-fail` ask for, made by `lapwing compare`."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from . import stand_in_options as benchmark_options


@dataclass
class Comparison:
    """A comparison of the session under way with an earlier one."""

    command: list[str]
    """Without the sides."""

    old: str | None
    """The id of the earlier session, if there is one."""

    gate: str
    """The option with the limit; empty if there is none."""

    def against(self, new: str) -> tuple[list[str], str | None]:
        """Returns the lines of the answer for a session that is complete, and why the gate is closed, if it is."""
        if self.old is None:
            why = "there is no earlier session of this suite to compare with"
            return ([], f"{self.gate}: {why}") if self.gate else ([why], None)
        program, compare, *options = self.command
        command = [program, compare, f"session:{self.old}", f"session:{new}", *options]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        # Otherwise it says how many records it took in.
        lines = (done.stdout or done.stderr).splitlines()
        if not self.gate or done.returncode == 0:
            return lines, None
        statistic = self.gate.partition("=")[2].partition(":")[0]
        instead = "" if statistic == "mean" else f" (means are judged, not {statistic})"
        return lines, f"{self.gate}{instead}: {'a mean is worse' if done.returncode == 1 else 'nothing could be judged; more rounds or a larger limit would tell'}"


def asked_for(config: pytest.Config, facts: dict[str, Any]) -> Comparison | None:
    """Returns the comparison that options of pytest-benchmark ask for."""
    name, share, gate = benchmark_options.compared(config)
    if name is None and not gate:
        return None
    option = gate or "--benchmark-compare"
    if facts["output"]:
        raise pytest.UsageError(f"{option} compares sessions of a store: leave out --lapwing-output")
    program = os.environ.get("LAPWING") or shutil.which("lapwing")
    if program is None:
        raise pytest.UsageError(f"{option} needs the program `lapwing`, which is not in a folder of PATH")
    store = ["--store", facts["store"]]
    stored = _sessions([program, "list", "sessions", *store], facts)
    sessions = [it for it in stored if it["id"] != facts["session"]["id"]]
    if isinstance(name, str):
        sessions = [it for it in sessions if it["name"] == name or it["id"] == name]
        if not sessions:
            where = "`lapwing list sessions` names those that there are, --lapwing-name=NAME names one"
            raise pytest.UsageError(f"--benchmark-compare={name}: there is no such session: {where}")
    else:
        sessions = [it for it in sessions if it["suite"] == facts["session"]["suite"]]
    limit = ["--fail-on", "worse-in-runs", "--smallest-effect", f"{share:g}%"] if gate else []
    return Comparison([program, "compare", *store, *limit], sessions[0]["id"] if sessions else None, gate)


def _sessions(command: list[str], facts: dict[str, Any]) -> list[dict[str, str]]:
    """Returns the sessions of the store, the latest first."""
    if not (os.path.exists(facts["store"]) or os.path.exists(facts["inbox"])):
        return []
    command = [*command, "--format", "csv", "--fields", "id,name,suite"]
    listed = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if listed.returncode:
        raise pytest.UsageError(f"the sessions of {facts['store']} cannot be listed: {listed.stderr.strip()}")
    return list(csv.DictReader(listed.stdout.splitlines()))
