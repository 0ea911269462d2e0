"""Stores with sessions, and servers to share them. All servers listen on this machine only."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("LAPWING", ROOT / "target/debug/lapwing"))


def pytest_configure():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} not found: build it first, or name it in LAPWING", returncode=2)


class Store:
    """A store and the program's commands on it."""

    def __init__(self, folder, name, environment):
        self.path = folder / f"{name}.db"
        self.environment = environment

    def command(self, *arguments):
        return [PROGRAM, "--store", self.path, *arguments]

    def start(self, *arguments):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(self.command(*arguments), env=self.environment, text=True, **pipes)

    def run(self, *arguments):
        """Returns the program's output and exit code."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        return f"{out}{err}exit {process.returncode}"

    def add(self, *sessions):
        """Imports sessions, each with an instance of two iterations."""
        lines = [line for session in sessions for line in records(session)]
        source = self.path.with_suffix(".jsonl")
        source.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert self.run("import", source).endswith("exit 0")

    def records(self):
        """Returns all records; checks that none is there twice."""
        out = subprocess.check_output(self.command("export", "--to", "record"), env=self.environment, text=True)
        lines = out.splitlines()
        assert len(set(lines)) == len(lines)
        return set(lines)


def records(session):
    name = str(session)
    ids = [str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name} {kind}")) for kind in ("session", "run", "instance")]
    started = "2026-11-20T10:00:00Z"
    yield {"v": 1, "kind": "session", "id": ids[0], "suite": "s", "started": started, "tool": "t", "name": name}
    yield {"v": 1, "kind": "run", "id": ids[1], "session": ids[0]}
    yield {"v": 1, "kind": "instance", "id": ids[2], "run": ids[1], "benchmark": {"id": "b"}}
    for index in range(2):
        yield {"v": 1, "kind": "iteration", "instance": ids[2], "index": index, "metrics": {"wall_time": 1.5}}


#: Records of such a session.
RECORDS = 5


@pytest.fixture
def environment():
    """Environment variables of the program: no proxy, no credentials."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {name: value for name, value in kept.items() if "proxy" not in name.lower()}


@pytest.fixture
def store(tmp_path, environment):
    return lambda name: Store(tmp_path, name, environment)


@pytest.fixture
def signer(tmp_path):
    """A key, and a file that allows its owner to sign."""
    key, allowed = tmp_path / "key", tmp_path / "allowed"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    allowed.write_text(f"ann@team {key.with_suffix('.pub').read_text()}")
    return key, allowed


def push_all(stores, url, *options):
    """Pushes from all stores at once; returns the output of each push that failed."""
    pushing = [store.start("db", "push", url, *options) for store in stores]
    said = [(process.communicate(timeout=300), process.returncode) for process in pushing]
    return [out + err for (out, err), code in said if code != 0]


@pytest.fixture(scope="session")
def moto():
    """The URL of an S3-compatible server. It answers one request after the other: moto's check of `If-None-Match`
    and what it writes then are two steps, between which another request could write the same key."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = (
        "from moto.server import DomainDispatcherApplication, create_backend_app\n"
        "from werkzeug.serving import run_simple\n"
        f"run_simple('127.0.0.1', {port}, DomainDispatcherApplication(create_backend_app), threaded=False)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{url}/moto-api/", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < until, "moto does not come up"
                time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait()
