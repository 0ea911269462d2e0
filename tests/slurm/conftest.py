"""Instances as jobs of a real, small Slurm, through the program."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from needs import skip_or_fail
from small_cluster import SmallCluster, missing

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("LAPWING", ROOT / "target/debug/lapwing"))
LIMIT = 50


def pytest_configure():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} not found: build it first, or name it in LAPWING", returncode=2)


@pytest.fixture(scope="session")
def cluster():
    if absent := missing():
        skip_or_fail(f"{', '.join(absent)} not found", "install slurm-wlm and munge")
    # Sockets have short paths.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = SmallCluster(folder / "c")
    try:
        yield cluster.start()
    finally:
        cluster.stop()
        time.sleep(0.5)
        shutil.rmtree(folder, ignore_errors=True)


class Client:
    """The program in a folder with a suite."""

    def __init__(self, cluster, folder, suite):
        self.cluster, self.folder = cluster, folder
        folder.mkdir(exist_ok=True)
        (folder / "lapwing.toml").write_text(suite)

    def start(self, *arguments):
        return subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env=self.cluster.environment,
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


@pytest.fixture
def client(cluster, tmp_path):
    return lambda suite: Client(cluster, tmp_path, suite)


TROUBLE = """
suite = "trouble"
[defaults]
instances = 1
burn_in = 0
iterations = 2
[executor.slurm]
exclusive = false
memory = "300M"
time = "1m"
# Other tests take the other node down.
options = ["--nodelist=n1"]
[benchmark.fine]
command = "true"
[benchmark.killed-once]
command = "[ -e killed ] && exit; if [ -e second ]; then touch killed; kill -9 $SLURM_TASK_PID; sleep 9; fi; touch second"
[benchmark.killed-always]
command = "kill -9 $SLURM_TASK_PID; sleep 9"
[benchmark.memory]
command = "[ -e small ] || { touch small; exit; }; python3 -c 'import time; x = bytearray(900 << 20); time.sleep(60)'"
[benchmark.time]
command = "[ -e quick ] || { touch quick; exit; }; touch job-time-${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID; sleep 300"
[benchmark.cancelled]
command = "touch job-cancelled-${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID; sleep 300"
[benchmark.broken]
command = "exit 3"
"""


@pytest.fixture(scope="session", autouse=True)
def trouble(cluster, tmp_path_factory):
    """Starts a run in which everything goes wrong, first: Slurm looks at time limits only every 30 s."""
    client = Client(cluster, tmp_path_factory.mktemp("trouble"), TROUBLE)
    process = client.start("run", "--executor", "slurm", "--name", "trouble")

    def job(name):
        cluster.wait_for(lambda: list(client.folder.glob(f"job-{name}-*")))
        return next(client.folder.glob(f"job-{name}-*")).name.rsplit("-", 1)[1]

    cluster.run("scontrol", "update", f"job={job('time')}", "EndTime=now+2")
    cluster.run("scancel", job("cancelled"))
    yield client, process
    process.kill()
