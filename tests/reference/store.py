"""Lapwing's side of the comparison: runs the program and reads back what it keeps."""

import json
import os
import pathlib
import sqlite3
import subprocess
from collections import defaultdict

from reader import FAILED, OK, SKIPPED, Instance, Iteration

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("LAPWING", REPOSITORY / "target/debug/lapwing")).absolute()
OUTCOMES = {"ok": OK, "failed": FAILED, "timed_out": FAILED, "lost": FAILED, "skipped": SKIPPED}


def plain(metric):
    """The name of a metric without the unit, which follows it where a source has two of that name."""
    return metric.partition(" (")[0]


class Store:
    """A fresh store and the commands on it."""

    def __init__(self, path):
        self.path = path

    def run(self, *arguments):
        command = [PROGRAM, "--store", self.path, *arguments]
        return subprocess.run(command, cwd=self.path.parent, capture_output=True, text=True, check=False)

    def take(self, *paths):
        """Imports files and returns what was said; not every one of them needs to be accepted."""
        return self.run("import", "--quiet", *paths)

    def records(self):
        """Returns everything in the store as record v1, which is also what a second store would get."""
        done = self.run("export", "--to", "record")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def instances_of_files(self):
        """Returns by the name of the imported file the instances that came from it."""
        runs, places, instances = {}, {}, {}
        files = defaultdict(list)
        for line in self.records().splitlines():
            record = json.loads(line)
            kind = record["kind"]
            if kind == "session":
                places[record["id"]] = record["attributes"]["source"]["file"] if "attributes" in record else None
            elif kind == "run":
                runs[record["id"]] = record["session"]
            elif kind == "instance":
                it = instances[record["id"]] = Instance(record["benchmark"]["id"])
                files[places[runs[record["run"]]]].append(it)
            elif kind == "iteration":
                iteration = Iteration(
                    record.get("metrics", {}), record.get("burn_in", False), OUTCOMES[record.get("outcome", "ok")]
                )
                instances[record["instance"]].iterations.append(iteration)
            elif kind == "instance_end":
                instances[record["instance"]].outcome = OUTCOMES[record.get("outcome", "ok")]
            elif kind == "summary":
                # The first word of a statistic says what its centre is: `median/iqr`.
                name = record["statistic"].partition("/")[0]
                of_metric = instances[record["instance"]].summaries.setdefault(plain(record["metric"]), {})
                of_metric[name] = record["centre"]
        return files

    def instances_of_sessions(self):
        """Returns the same by the session's name and without the program, as docs/store.md describes."""
        sessions, instances = defaultdict(list), {}
        connection = self.connection()
        for session, instance, benchmark, outcome in connection.execute(
            "SELECT session, instance, benchmark, outcome FROM instances"
        ):
            it = instances[instance] = Instance(benchmark, outcome=OUTCOMES[outcome])
            sessions[session].append(it)
        for instance, burn_in, outcome, metrics in connection.execute(
            'SELECT instance, burn_in, outcome, metrics FROM iterations ORDER BY instance, "index"'
        ):
            iteration = Iteration(json.loads(metrics or "{}"), bool(burn_in), OUTCOMES[outcome])
            instances[instance].iterations.append(iteration)
        for instance, metric, statistic, centre in connection.execute(
            "SELECT instance.id, metric.name, statistic, centre FROM summary"
            " JOIN instance ON instance.key = summary.instance JOIN metric ON metric.key = summary.metric"
        ):
            of_metric = instances[instance].summaries.setdefault(metric, {})
            of_metric[statistic.partition("/")[0]] = centre
        connection.close()
        return sessions

    def connection(self):
        return sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)

    def rows(self):
        """Counts the rows of the views that docs/store.md promises, and of the tables that have none."""
        names = ["session", "run", "instances", "iterations", "summary"]
        if not self.path.exists():
            # A refused file makes no store.
            return dict.fromkeys(names, 0)
        connection = self.connection()
        try:
            return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
        finally:
            connection.close()
