"""Stores that are killed, filled up and damaged, through the program.

Small by default; `LAPWING_RELIABILITY=full` takes the sizes of docs/reliability.md. What was counted is
listed at the end.
"""

import json
import os
import random
import sqlite3
import subprocess
import time
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("LAPWING", ROOT / "target/debug/lapwing"))
FULL = os.environ.get("LAPWING_RELIABILITY") == "full"
# A command that takes longer hangs.
LIMIT = 120


def pytest_configure():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} not found: build it first, or name it in LAPWING", returncode=2)


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, counted in report.user_properties:
            terminalreporter.write_line(f"{name}: {counted}")


class Lapwing:
    """The program with one store."""

    def __init__(self, store, cwd=None):
        self.store = Path(store)
        self.cwd = cwd or self.store.parent

    def start(self, *arguments, **options):
        command = [PROGRAM, "--store", self.store, *arguments]
        options = {"stdin": subprocess.DEVNULL, "cwd": self.cwd, **options}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)

    def run(self, *arguments, codes=(0,)):
        """Returns what the program said; checks its exit code. A panic and a signal have others."""
        process = self.start(*arguments)
        try:
            said, _ = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
        said = said.decode(errors="replace")
        assert process.returncode in codes, f"{arguments}: exit {process.returncode}\n{said}"
        return said

    def kill(self, *arguments, after):
        """Starts the program and kills it after so many seconds; returns whether it was still at work."""
        process = self.start(*arguments)
        try:
            process.communicate(timeout=after)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return True

    def seconds(self, *arguments):
        begin = time.monotonic()
        self.run(*arguments)
        return time.monotonic() - begin

    def lines(self):
        """Returns all records; checks that none is there twice."""
        # Texts may have other line separators, such as U+2028.
        lines = self.run("--quiet", "export", "--to", "record").removesuffix("\n").split("\n")
        assert len(set(lines)) == len(lines)
        return set(lines)

    def query(self, sql, *values):
        if not self.store.is_file():
            return 0
        connection = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return connection.execute(sql, values).fetchone()[0]
        finally:
            connection.close()


def record_lines(instances, iterations):
    """Returns a session with all kinds of records."""
    chance = random.Random(18)
    name = lambda *parts: str(uuid.uuid5(uuid.NAMESPACE_OID, repr(parts)))
    lines = []
    for run in range(4):
        session = name("session", run // 2)
        if run % 2 == 0:
            lines.append({"kind": "session", "id": session, "suite": "s", "tool": "t", "name": f"n{run}",
                          "started": "2026-11-20T10:00:00Z", "attributes": {"text": "x" * 2000}})
        lines.append({"kind": "run", "id": name("run", run), "session": session, "variant": f"v{run % 2}"})
        for number in range(instances):
            instance = name("instance", run, number)
            lines.append({"kind": "instance", "id": instance, "run": name("run", run), "position": number,
                          "benchmark": {"id": f"b{number % 5}"}})
            for index in range(iterations):
                lines.append({"kind": "iteration", "instance": instance, "index": index,
                              "metrics": {"wall_time": chance.uniform(1, 2), "user_time": chance.random()}})
            lines.append({"kind": "span", "instance": instance, "index": 0, "name": "task",
                          "events": {"started": 1}})
            lines.append({"kind": "instance_end", "instance": instance})
    lines.append({"kind": "annotation", "id": name("annotation"), "by": "me", "at": "2026-11-20T11:00:00Z",
                  "action": "retire", "target": {"benchmark": "b0"}})
    return "".join(json.dumps({"v": 1, **line}) + "\n" for line in lines)


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """A store with 4 runs, and the file that it was made of."""
    folder = tmp_path_factory.mktemp("source")
    records = folder / "records.jsonl"
    records.write_text(record_lines(instances=20, iterations=150))
    program = Lapwing(folder / "lapwing.db")
    program.run("import", records)
    program.records = records
    return program
