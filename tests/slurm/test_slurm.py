"""Instances as jobs of Slurm: nothing lost, nothing twice, and each trouble recorded as what it was."""

import json
import os
import signal
import stat
import time
from collections import Counter

import pytest

SUITE = """
suite = "arrival"
[defaults]
instances = 10
burn_in = 1
iterations = 2
[executor.slurm]
exclusive = false
spread = true
set_up = ["export COLOUR='deep blue'"]
[benchmark.a]
command = "echo a $COLOUR >> executed"
[benchmark.b]
command = "sleep 0.01; echo b $COLOUR >> executed"
[variant.one]
[variant.two]
"""


def shape(value):
    """Returns the keys of a record and the types of its values."""
    return {key: type(it).__name__ for key, it in value.items() if key not in ("host", "job", "environment")}


def test_forty_instances_over_two_nodes_arrive_whole(cluster, client):
    client = client(SUITE)
    said = client.run("run", "--executor", "slurm", "--name", "there", "--seed", "3")
    assert "40 done" in said
    instances = client.instances("there")
    assert len(instances) == 40
    assert all(it["end"]["outcome"] == "ok" and len(it["iterations"]) == 3 for it in instances)
    assert Counter(client.executed()) == {"a deep blue": 60, "b deep blue": 60}
    # Dealt evenly: five instances of each benchmark and variant on each node, both variants of a block on the same one.
    cells = Counter((it["benchmark"]["id"], it["run"], it["host"]) for it in instances)
    assert len(cells) == 8 and set(cells.values()) == {5}
    assert len({(it["benchmark"]["id"], it["block"], it["host"]) for it in instances}) == 20
    for it in instances:
        assert {"batch_id", "job_id", "array_index", "partition"} <= it["job"].keys()
        assert it["environment"]["cpu_model"]
        assert "load_before" in it["end"]["observed"]
    assert not any(client.folder.glob(".lapwing/cluster/*"))
    client.run("run", "--name", "here", "--seed", "3")
    here = client.instances("here")
    key = lambda it: it["position"]
    pairs = list(zip(sorted(instances, key=key), sorted(here, key=key), strict=True))
    for one, other in pairs:
        assert shape(one) == shape(other)
        assert one["benchmark"] == other["benchmark"] and one["block"] == other["block"]
    said = client.run("compare", "variant:one", "variant:two", "--where", "session=there", codes=(0, 3))
    assert "block: 10 pairs" in said


SLOW = """
suite = "slow"
[defaults]
instances = 12
burn_in = 0
iterations = 2
[executor.slurm]
exclusive = false
in_flight = 4
[benchmark.a]
command = "sleep 0.3; echo a >> executed"
"""


def in_mid_run(client, process):
    """Waits until some instances are measured."""
    client.cluster.wait_for(lambda: len(client.executed()) >= 5)
    assert process.poll() is None


def test_a_killed_client_is_resumed_while_the_cluster_goes_on(cluster, client):
    client = client(SLOW)
    process = client.start("run", "--executor", "slurm", "--name", "killed")
    in_mid_run(client, process)
    folder = next(client.folder.glob(".lapwing/cluster/*"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    job = (folder / "batch-1.jobs").read_text().split('"')[1].split("_")[0]
    assert len([it for it in cluster.queue() if it.startswith(f"{job}_") and "RUNNING" in it]) <= 4
    process.kill()
    process.wait()
    before = len(client.executed())
    cluster.wait_for(lambda: len(client.executed()) > before)
    # As if the client had been killed before it could write down what it had just submitted.
    (folder / "batch-1.jobs").unlink()
    client.run("run", "--resume", "killed")
    instances = client.instances("killed")
    assert len(instances) == 12
    assert all(it["end"]["outcome"] == "ok" and len(it["iterations"]) == 2 for it in instances)
    assert len(client.executed()) == 24
    assert "complete" in client.run("run", "--resume", "killed")


def test_ctrl_c_cancels_and_resume_measures_the_rest(cluster, client):
    client = client(SLOW)
    process = client.start("run", "--executor", "slurm", "--name", "stopped")
    in_mid_run(client, process)
    client.interrupt(process)
    said = client.finish(process, codes=(130,))
    assert "cancelled" in said
    folder = next(client.folder.glob(".lapwing/cluster/*"))
    job = (folder / "batch-1.jobs").read_text().split('"')[1].split("_")[0]
    assert not [it for it in cluster.queue() if it.startswith(f"{job}_")]
    client.run("run", "--resume")
    instances = client.instances("stopped")
    well = [it for it in instances if it["end"]["outcome"] == "ok"]
    assert sorted(it["block"] for it in well) == list(range(12))
    assert all(it["end"]["observed"]["job_state"] == "CANCELLED" for it in instances if it not in well)


NODE = """
suite = "node"
[defaults]
instances = 4
burn_in = 0
iterations = 2
[executor.slurm]
exclusive = false
options = ["--nodelist=n2"]
[benchmark.a]
command = "echo a >> executed; [ -e again ] || mkdir first 2> /dev/null || sleep 60"
"""


def test_a_node_that_goes_down_is_no_failure_of_the_benchmark(cluster, client):
    client = client(NODE)
    process = client.start("run", "--executor", "slurm", "--name", "node")
    cluster.wait_for(lambda: len(client.executed()) == 5)
    (client.folder / "again").touch()
    cluster.run("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    cluster.wait_for(lambda: not any("RUNNING n2" in it for it in cluster.queue()))
    cluster.run("scontrol", "update", "nodename=n2", "state=idle", check=False)
    client.finish(process)
    attempts = {}
    for it in client.instances("node"):
        state = it["end"]["observed"].get("job_state")
        attempts.setdefault(it["attempt"], []).append((it["end"]["outcome"], state, len(it["iterations"])))
    # The one iteration that was measured before the node went down is kept.
    assert {attempt: sorted(ends) for attempt, ends in attempts.items()} == {
        0: [("lost", "NODE_FAIL", 0)] * 3 + [("lost", "NODE_FAIL", 1)],
        1: [("ok", None, 2)] * 4,
    }


COMMAND = """
suite = "commands"
[defaults]
instances = 2
burn_in = 0
iterations = 1
[executor.command]
submit = "setsid sh {script} {index} > {log} 2>&1 < /dev/null & echo $!"
state = "for job in {jobs}; do if kill -0 $job 2> /dev/null; then echo $job RUNNING; else echo $job COMPLETED; fi; done"
cancel = "kill {jobs}"
[benchmark.a]
command = "echo a >> executed"
"""


def test_any_scheduler_does_by_its_commands(client):
    client = client(COMMAND)
    client.run("run", "--executor", "command", "--name", "commands")
    assert len(client.instances("commands")) == 2
    assert len(client.executed()) == 2


def test_each_trouble_is_recorded_as_what_it_was(cluster, trouble):
    client, process = trouble
    client.finish(process, codes=(0, 4))
    found = {}
    for it in client.instances("trouble"):
        end = it["end"]
        state = end.get("observed", {}).get("job_state")
        found.setdefault(it["benchmark"]["id"], []).append(
            (it["attempt"], end["outcome"], state, len(it["iterations"]))
        )
    assert {name: sorted(attempts) for name, attempts in found.items()} == {
        "fine": [(0, "ok", None, 2)],
        # Not the cluster's doing: its iterations failed, and the job is fine.
        "broken": [(0, "ok", None, 2)],
        "killed-once": [(0, "lost", "FAILED", 1), (1, "ok", None, 2)],
        "killed-always": [(attempt, "lost", "FAILED", 0) for attempt in range(3)],
        "memory": [(0, "failed", "OUT_OF_MEMORY", 1)],
        "time": [(0, "timed_out", "TIMEOUT", 1)],
        "cancelled": [(0, "lost", "CANCELLED", 0)],
    }
    ends = {it["benchmark"]["id"]: it["end"].get("message", "") for it in client.instances("trouble")}
    assert "signal 9" in ends["killed-always"]
    assert cluster.queue() == []


def stand_in(client, folder, **programs):
    """Puts programs in the place of those of Slurm, for one client."""
    folder.mkdir()
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    path = client.environment["PATH"]
    client.environment = {**client.environment, "PATH": f"{folder}:{path}"}


def test_a_scheduler_that_never_answers_does_not_keep_ctrl_c_waiting(cluster, client, tmp_path):
    client = client(SLOW)
    stand_in(client, tmp_path / "bin", squeue="touch asked; sleep 600", scancel="exec sleep 600")
    process = client.start("run", "--executor", "slurm", "--name", "silent")
    cluster.wait_for(lambda: (client.folder / "asked").exists())
    start = time.monotonic()
    client.interrupt(process)
    said = client.finish(process, codes=(130,))
    # A moment for each of the two commands.
    assert time.monotonic() - start < 25
    assert "the scheduler does not answer (`squeue` does not answer: it was ended after" in said
    assert "may still be in the queue: `scancel` does not answer" in said and "--resume" in said
    start = time.monotonic()
    client.environment = cluster.environment
    client.run("run", "--resume", "silent")
    well = [it for it in client.instances("silent") if it["end"]["outcome"] == "ok"]
    assert sorted(it["block"] for it in well) == list(range(12))
    assert len(client.executed()) == 24


def test_a_submission_that_hangs_is_ended_by_a_second_ctrl_c(cluster, client, tmp_path):
    client = client(SLOW)
    stand_in(client, tmp_path / "bin", sbatch="touch asked; sleep 600")
    process = client.start("run", "--executor", "slurm", "--name", "never")
    cluster.wait_for(lambda: (client.folder / "asked").exists())
    start = time.monotonic()
    client.interrupt(process)
    time.sleep(0.5)
    client.interrupt(process)
    said = client.finish(process, codes=(2, 130))
    assert time.monotonic() - start < 4
    assert "`sbatch` does not answer" in said and "nothing was stored" in said


LIMITS = """
suite = "limits"
[defaults]
instances = 1
burn_in = 0
iterations = 2
[executor.slurm]
exclusive = false
[benchmark.memory]
command = "[ -e small ] || { touch small; exit; }; kill -9 $SLURM_TASK_PID; sleep 9"
[benchmark.time]
command = "[ -e quick ] || { touch quick; exit; }; kill -9 $SLURM_TASK_PID; sleep 9"
"""

# Slurm forgets a job that has ended, and accounting knows why it did.
FORGETFUL = """"{squeue}" "$@" > said || exit
grep -v FAILED said; touch ended
sed -n 's/^ *\\([0-9]*\\)[| ]*\\([0-9]*\\)[| ]*FAILED.*/\\1_\\2/p' said >> forgotten; exit 0"""
ACCOUNTING = """sort -u forgotten 2> /dev/null | while read -r job; do
case $job in *_0) echo "$job|OUT_OF_MEMORY|0:125|n1" ;; *) echo "$job|TIMEOUT|0:15|n1" ;; esac; done"""


def test_limits_that_only_accounting_knows_are_outcomes(cluster, client, tmp_path):
    client = client(LIMITS)
    squeue = cluster.run("sh", "-c", "command -v squeue").strip()
    stand_in(client, tmp_path / "bin", squeue=FORGETFUL.replace("{squeue}", squeue), sacct=ACCOUNTING)
    client.run("run", "--executor", "slurm", "--name", "limits", codes=(0, 3, 4))
    ends = {}
    for it in client.instances("limits"):
        end = it["end"]
        ends[it["job"]["array_index"]] = (end["outcome"], end["observed"]["job_state"], len(it["iterations"]))
    assert ends == {0: ("failed", "OUT_OF_MEMORY", 1), 1: ("timed_out", "TIMEOUT", 1)}


SIMULATED = """
suite = "simulated"
[defaults]
instances = 10
burn_in = 0
iterations = 10
[benchmark.a]
command = "true"
[benchmark.b]
command = ["true"]
[executor.slurm]
exclusive = false
set_up = ["touch begun-$SLURM_ARRAY_TASK_ID"]
"""


GRID = ["--full", "--grid=instances=5,10 iterations=5,10"]


def simulate(cluster, client):
    """Starts a long simulation, kills its client while jobs run, and returns its folder and the number of its jobs."""
    client = client(SIMULATED)
    client.run("run", "--name", "measured")
    words = ["mds", "--executor", "slurm", "--cluster", "jobs=3", "--experiments", "1000000", "--replicates", "10000"]
    process = client.start(*words, *GRID)
    cluster.wait_for(lambda: len(list(client.folder.glob("begun-*"))) == 3)
    cluster.wait_for(lambda: len(list(client.folder.glob(".lapwing/cluster/*/alive-*"))) == 3)
    (folder,) = client.folder.glob(".lapwing/cluster/shares-*")
    process.kill()
    process.wait()
    return client, folder


def has_jobs(cluster, folder):
    names = cluster.run("squeue", "--noheader", "--format=%j").split()
    return any(folder.name in it for it in names)


def make_old(folder):
    """Makes the last sign of life of a client an hour old."""
    hour_ago = time.time() - 3600
    os.utime(folder / "heartbeat", (hour_ago, hour_ago))


def test_jobs_of_a_simulation_notice_that_the_client_is_gone(cluster, client):
    client, folder = simulate(cluster, client)
    assert has_jobs(cluster, folder)
    make_old(folder)
    cluster.wait_for(lambda: not has_jobs(cluster, folder))
    assert not folder.exists()


def test_the_next_simulation_removes_what_a_killed_client_left(cluster, client):
    client, folder = simulate(cluster, client)
    # It may be there still.
    client.run("run", "--executor", "slurm", "--name", "beside")
    assert has_jobs(cluster, folder)
    make_old(folder)
    client.run("mds", "--executor", "slurm", "--cluster", "jobs=1", "--experiments", "80", *GRID)
    cluster.wait_for(lambda: not has_jobs(cluster, folder))
    assert not any(client.folder.glob(".lapwing/cluster/*"))


def test_histories_are_searched_by_jobs_as_by_one_machine(client):
    client = client(SIMULATED)
    lines = []
    add = lambda **record: lines.append(json.dumps({"v": 1, **record}))
    for night in range(40):
        session, run = identity(night, 1), identity(night, 2)
        date = f"2026-{1 + night // 28:02}-{1 + night % 28:02}T02:00:00Z"
        add(kind="session", id=session, suite="simulated", started=date, tool="made up")
        add(kind="run", id=run, session=session, version={"name": f"v{night}", "date": date},
            metrics={"wall_time": {"unit": "s", "better": "lower"}})
        for place in range(7):
            instance = identity(night, 3 + place)
            add(kind="instance", id=instance, run=run, benchmark={"id": f"b{place}"})
            slower = 1.3 if place == 2 and night >= 25 else 1.0
            add(kind="iteration", instance=instance, index=0,
                metrics={"wall_time": slower * (1 + (night * 37 + place * 11) % 23 / 2300)})
    (client.folder / "nights.jsonl").write_text("\n".join(lines) + "\n")
    client.run("import", "nights.jsonl")
    here = client.run("detect", "--quiet", "--format", "json")
    assert "b2" in here
    # What changes is the command alone.
    shared = client.run("detect", "--quiet", "--format", "json", "--executor", "slurm", "--cluster", "jobs=4")
    assert without_command(shared) == without_command(here)
    assert len(list(client.folder.glob("begun-*"))) == 4
    assert not any(client.folder.glob(".lapwing/cluster/*"))


def identity(night, number):
    return f"0197a000-0000-7000-8000-{night:06}{number:06}"


def without_command(text):
    answer = json.loads(text)
    del answer["command"]
    return json.dumps(answer)
