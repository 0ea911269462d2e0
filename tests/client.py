"""The program in a folder with a suite, as a client of other machines."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = Path(os.environ.get("LAPWING", ROOT / "target/debug/lapwing"))
LIMIT = 50


def check_program():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} not found: build it first, or name it in LAPWING", returncode=2)


class Client:
    """Calls the program, and reads what it measured."""

    def __init__(self, folder, suite, environment=None):
        self.folder = folder
        self.environment = os.environ if environment is None else environment
        folder.mkdir(exist_ok=True)
        (folder / "lapwing.toml").write_text(suite)

    def start(self, *arguments):
        return subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def finish(self, process, codes=(0,), seconds=LIMIT):
        try:
            said, _ = process.communicate(timeout=seconds)
        finally:
            process.kill()
        assert process.returncode in codes, f"exit {process.returncode}\n{said}"
        return said

    def run(self, *arguments, codes=(0,)):
        return self.finish(self.start(*arguments), codes)

    def interrupt(self, process):
        process.send_signal(signal.SIGINT)

    def records(self, session):
        """Returns the records of a session, by kind."""
        output = self.folder / f"{session}.jsonl"
        self.run("export", "--to", "record", "--where", f"session={session}", "--output", str(output))
        records = {}
        for line in output.read_text().splitlines():
            record = json.loads(line)
            records.setdefault(record["kind"], []).append(record)
        return records

    def instances(self, session):
        """Returns each instance with its end and its iterations."""
        records = self.records(session)
        found = {it["id"]: {**it, "iterations": []} for it in records["instance"]}
        for it in records.get("iteration", []):
            found[it["instance"]]["iterations"].append(it)
        for it in records["instance_end"]:
            found[it["instance"]]["end"] = it
        return list(found.values())

    def executed(self):
        """Returns the lines that commands appended to the file `executed`."""
        file = self.folder / "executed"
        return file.read_text().splitlines() if file.exists() else []
