"""A small Slurm on this machine: a controller, two nodes and munge, on loopback, without systemd.

`python small_cluster.py FOLDER` starts it, prints the setting that its programs need, and stops it on Ctrl-C.
Both nodes share this machine's kernel: good for protocols, not for timings.
"""

import contextlib
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo"]
NODES = ["n1", "n2"]
CPUS = 4

CONFIGURATION = """\
ClusterName=small
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
# What ends a job that uses more memory than it may: accounting looks at its processes each second.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=500
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
ReturnToService=2
SlurmdParameters=config_overrides
MaxArraySize=10001
MaxJobCount=20000
KillWait=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus} RealMemory=4000 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus} RealMemory=4000 State=UNKNOWN
PartitionName=small Nodes=n1,n2 Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
"""


def missing():
    """Returns the programs that are not installed."""
    return [it for it in PROGRAMS if shutil.which(it, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None]


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


class SmallCluster:
    """A controller and two nodes, with their files in a folder of their own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        self.environment = {**os.environ, "PATH": path, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self):
        (self.folder / "state").mkdir(parents=True)
        for node in NODES:
            (self.folder / f"spool-{node}").mkdir()
        host = socket.gethostname().split(".")[0]
        text = CONFIGURATION.format(
            folder=self.folder, host=host, user=getpass.getuser(), ports=free_ports(3), cpus=CPUS
        )
        (self.folder / "slurm.conf").write_text(text)
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self.run("munged", "--force", *(f"--{option}={self.folder}/munge.{end}" for option, end in files.items()))
        self.run("slurmctld")
        for node in NODES:
            self.run("slurmd", "-N", node)
        self.wait_for(lambda: self.run("sinfo", "-h", "-N", "-o", "%t").split() == ["idle"] * len(NODES))
        return self

    def stop(self):
        """Ends the daemons that were started here."""
        self.run("scancel", "--user", getpass.getuser(), check=False)
        end = time.monotonic() + 10
        while self.run("squeue", "--noheader", check=False) and time.monotonic() < end:
            time.sleep(0.2)
        for name in [*(f"slurmd-{node}" for node in NODES), "slurmctld", "munge"]:
            file = self.folder / f"{name}.pid"
            if file.exists():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(file.read_text()), signal.SIGTERM)

    def run(self, *command, check=True):
        done = subprocess.run(
            list(map(str, command)), env=self.environment, capture_output=True, text=True, timeout=60
        )
        assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def queue(self):
        """Returns the jobs that wait or run."""
        return self.run("squeue", "--noheader", "--array", "--format=%i %T %N").splitlines()

    @staticmethod
    def wait_for(condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it never came true"
            time.sleep(0.1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    cluster = SmallCluster(Path(sys.argv[1]).absolute()).start()
    try:
        print(f"export SLURM_CONF={cluster.environment['SLURM_CONF']}", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        cluster.stop()
