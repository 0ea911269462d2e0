"""The template of `examples/kubernetes` with a stand-in for `kubectl`, which checks manifests and runs pods."""

import os
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest
from client import PROGRAM, ROOT, Client
from small_hosts import running, wait_for

TEMPLATE = ROOT / "examples/kubernetes"
STAND_IN = Path(__file__).with_name("stand_in_kubectl.py")


@pytest.fixture
def cluster(tmp_path):
    """Makes a client of a cluster whose suite is that of the template, with another benchmark."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    kubectl = binaries / "kubectl"
    kubectl.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} "$@"\n')
    kubectl.chmod(0o755)
    state = tmp_path / "state"
    directory = tmp_path / "inside"
    directory.mkdir()

    def make(command, instances=6, iterations=2, more="", **variables):
        suite = (TEMPLATE / "lapwing.toml").read_text()
        for old, new in {
            "/usr/local/bin/lapwing": str(PROGRAM),
            'directory = "/tmp"': f'directory = "{directory}"\n{more}',
            "instances = 10": f"instances = {instances}",
            "burn_in = 1": "burn_in = 0",
            "iterations = 5": f"iterations = {iterations}",
            '"seq 200000 | sort -R | sort -n > /dev/null"': f"'''{command}'''",
        }.items():
            assert old in suite
            suite = suite.replace(old, new)
        environment = {
            **os.environ,
            "PATH": f"{binaries}:{os.environ['PATH']}",
            "KUBECTL_STATE": str(state),
            "IMAGE": "example.org/benchmarks:1",
            **variables,
        }
        client = Client(tmp_path / "work", suite, environment)
        shutil.copy(TEMPLATE / "kubernetes-job", client.folder)
        client.state, client.inside = state, directory
        return client

    yield make
    for file in state.glob("logs/*.pid"):
        assert not Path(f"/proc/{file.read_text()}").exists()


def executed(client):
    file = client.inside / "executed"
    return file.read_text().splitlines() if file.exists() else []


def test_instances_arrive_from_the_logs_of_pods(cluster):
    set_up = """set_up = ["echo loading", "echo more >&2"]"""
    client = cluster(
        "echo a >> executed; head -c 100000 /dev/zero | tr '\\\\0' x", more=set_up, NODE_SELECTOR="pool=benchmarks", CPUS="500m"
    )
    said = client.run("run", "--executor", "command", "--name", "pods")
    assert "6 done" in said
    instances = client.instances("pods")
    assert len(instances) == 6
    for it in instances:
        assert it["end"]["outcome"] == "ok" and len(it["iterations"]) == 2
        assert it["host"].startswith("worker-") and it["environment"]["cpu_model"]
        assert it["job"]["batch_id"].startswith("lapwing-")
    assert executed(client) == ["a"] * 12
    assert not any(client.folder.glob(".lapwing/cluster/*"))
    # Each secret goes with its Job, which Kubernetes deletes after a day.
    jobs = {it.stem for it in client.state.glob("jobs/*.json")}
    assert len(jobs) == 6 and jobs == {it.stem for it in client.state.glob("secrets/*.json")}
    kept = (client.state / "secrets" / f"{min(jobs)}.json").read_text()
    assert "ownerReferences" in kept and "executed" in kept


def test_each_trouble_is_recorded_as_what_it_was(cluster):
    text = """[ -e "$LAPWING_JOB" ] || { touch "$LAPWING_JOB"; exit 0; }
case $LAPWING_JOB in *-1-0) sleep 60 ;; *-1-1) kill -9 $POD_PID; sleep 9 ;; esac"""
    client = cluster(text, instances=3, TIME="3")
    client.run("run", "--executor", "command", "--name", "trouble")
    ends = Counter()
    for it in client.instances("trouble"):
        state = it["end"].get("observed", {}).get("job_state")
        ends[(it["end"]["outcome"], state, len(it["iterations"]))] += 1
    # Each keeps the iteration that it had.
    assert ends == {("timed_out", "TIMEOUT", 1): 1, ("failed", "OUT_OF_MEMORY", 1): 1, ("ok", None, 2): 1}


def test_a_pod_that_is_gone_is_tried_again(cluster):
    client = cluster("echo a >> executed; [ -e again ] || sleep 60", instances=2)
    process = client.start("run", "--executor", "command", "--name", "gone")
    wait_for(lambda: len(executed(client)) == 2)
    (client.inside / "again").touch()
    # As a node that was taken away, with its pods and their logs.
    pod = next(client.state.glob("pods/*.json"))
    pod.unlink()
    os.killpg(int((client.state / "logs" / f"{pod.stem}.pid").read_text()), signal.SIGKILL)
    (client.state / "logs" / pod.stem).unlink()
    job = client.state / "jobs" / pod.name
    job.write_text(job.read_text().replace('"status": {}', '"status": {"conditions": [{"type": "Failed"}]}'))
    other = next(client.state.glob("pods/*.json")).stem
    os.killpg(int((client.state / "logs" / f"{other}.pid").read_text()), signal.SIGTERM)
    client.finish(process)
    instances = client.instances("gone")
    lost = [it for it in instances if it["end"]["outcome"] == "lost"]
    states = sorted(it["end"]["observed"]["job_state"] for it in lost)
    assert states == ["FAILED", "NODE_FAIL"]
    assert "its output cannot be fetched" in next(
        it["end"]["message"] for it in lost if it["end"]["observed"]["job_state"] == "NODE_FAIL"
    )
    assert len([it for it in instances if it["end"]["outcome"] == "ok"]) == 2


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_client_that_ends_is_resumed(cluster, how):
    client = cluster("echo a >> executed; sleep 2", instances=8)
    process = client.start("run", "--executor", "command", "--name", "stopped")
    wait_for(lambda: len(executed(client)) >= 4 and list(client.folder.glob(".lapwing/cluster/*/batch-1.jobs")))
    process.send_signal(how)
    said = client.finish(process, codes=(130, -signal.SIGKILL), seconds=150)
    if how == signal.SIGINT:
        assert "cancelled" in said
        kept = {it.stem: it.read_text() for it in client.state.glob("jobs/*.json")}
        assert all('"Complete"' in it for it in kept.values()) and len(kept) < 8
        assert kept.keys() == {it.stem for it in client.state.glob("secrets/*.json")}
        wait_for(lambda: not running(str(client.inside)))
    client.run("run", "--resume", "stopped")
    instances = client.instances("stopped")
    well = [it for it in instances if it["end"]["outcome"] == "ok"]
    assert sorted(it["block"] for it in well) == list(range(8))
    if how == signal.SIGKILL:
        assert len(instances) == 8 and len(executed(client)) == 16
    else:
        # What pods had measured before they were deleted is kept.
        lost = [it for it in instances if it not in well]
        assert all(it["end"]["observed"]["job_state"] == "CANCELLED" for it in lost)


def test_what_the_cluster_refuses_is_said_and_nothing_is_stored(cluster):
    client = cluster("true", MEMORY="lots")
    said = client.run("run", "--executor", "command", codes=(2,))
    assert "quantities must match the regular expression: 'lots'" in said
    assert "no job was submitted, and nothing was stored" in said
    assert not any(client.state.glob("secrets/*.json"))
    del client.environment["IMAGE"]
    assert "name the image in IMAGE" in client.run("run", "--executor", "command", codes=(2,))
