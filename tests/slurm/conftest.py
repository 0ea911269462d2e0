"""Instances as jobs of a real, small Slurm, through the program."""

import shutil
import tempfile
import time
from pathlib import Path

import pytest
from client import Client, check_program
from needs import skip_or_fail
from small_cluster import SmallCluster, missing


def pytest_configure():
    check_program()


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


class SlurmClient(Client):
    """The program on the login node."""

    def __init__(self, cluster, folder, suite):
        super().__init__(folder, suite, cluster.environment)
        self.cluster = cluster


@pytest.fixture
def client(cluster, tmp_path):
    return lambda suite: SlurmClient(cluster, tmp_path, suite)


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
    client = SlurmClient(cluster, tmp_path_factory.mktemp("trouble"), TROUBLE)
    process = client.start("run", "--executor", "slurm", "--name", "trouble")

    def job(name):
        cluster.wait_for(lambda: list(client.folder.glob(f"job-{name}-*")))
        return next(client.folder.glob(f"job-{name}-*")).name.rsplit("-", 1)[1]

    cluster.run("scontrol", "update", f"job={job('time')}", "EndTime=now+2")
    cluster.run("scancel", job("cancelled"))
    yield client, process
    process.kill()
